//! Constructors for events and checkpoints, for those who make them without a tape.
//!
//! Ids and the time are given by the caller, in a [`Stamp`]: nothing here reads a clock.

use crate::run_event::{CallTools, CompleteRun, ResolveToolResults, StartRun, StopRunByError};
use crate::runtime_event::InitializeRuntime;
use crate::{
    Checkpoint, CheckpointStatus, Expert, ExpertMessage, IdSource, InputMessage, JobId, Message,
    Metadata, RunError, RunEvent, RunEventKind, RunId, Runtime, RuntimeEvent, SpokenMessage, Step,
    TextPart, ToolCall, ToolResult, Usage,
};

/// Where new ids come from, and what time it is, in milliseconds since 1970.
pub struct Stamp<'a> {
    /// Gives new ids.
    pub ids: &'a mut dyn IdSource,
    /// The time.
    pub now: i64,
}

/// What [`create_normalized_checkpoint`] needs to know.
#[derive(Clone, Debug)]
pub struct CreateCheckpointParams {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// The expert.
    pub expert: Expert,
    /// What the runtime answered.
    pub output: String,
    /// The runtime.
    pub runtime: Runtime,
}

/// Returns a usage of nothing.
#[must_use]
pub fn create_empty_usage() -> Usage {
    Usage::default()
}

/// Creates the checkpoint of a run that answered with one text.
#[must_use]
pub fn create_normalized_checkpoint(
    stamp: &mut Stamp<'_>,
    params: CreateCheckpointParams,
) -> Checkpoint {
    let part = TextPart {
        id: stamp.ids.part_id(),
        text: params.output,
    };
    let mut message = ExpertMessage::new(stamp.ids.message_id(), vec![part.into()]);
    message.timestamp = Some(stamp.now);
    Checkpoint {
        id: stamp.ids.checkpoint_id(),
        job_id: params.job_id,
        run_id: params.run_id,
        status: CheckpointStatus::Completed,
        step_number: 1,
        messages: vec![message.into()],
        expert: params.expert,
        delegate_to: None,
        delegated_by: None,
        usage: create_empty_usage(),
        context_window: None,
        context_window_usage: None,
        pending_tool_calls: None,
        partial_tool_results: None,
        metadata: Some(Metadata::for_runtime(&params.runtime)),
        error: None,
        retry_count: None,
    }
}

/// Creates the event that a runtime is ready.
#[must_use]
pub fn create_runtime_init_event(
    stamp: &mut Stamp<'_>,
    job_id: JobId,
    run_id: RunId,
    expert_name: &str,
    runtime: &Runtime,
    query: Option<String>,
) -> RuntimeEvent {
    let kind = InitializeRuntime {
        runtime_version: format!("external:{runtime}"),
        runtime: Some(runtime.as_str().to_owned()),
        expert_name: expert_name.to_owned(),
        experts: Vec::new(),
        model: format!("{runtime}:default"),
        temperature: Some(0.0),
        max_steps: None,
        max_retries: 0,
        timeout: 0,
        query,
        interactive_tool_call: None,
    };
    RuntimeEvent {
        id: stamp.ids.event_id(),
        timestamp: stamp.now,
        job_id,
        run_id,
        kind: kind.into(),
    }
}

/// Creates an event in the run, job and step of a checkpoint.
fn run_event(
    stamp: &mut Stamp<'_>,
    expert_key: &str,
    checkpoint: &Checkpoint,
    kind: impl Into<RunEventKind>,
) -> RunEvent {
    RunEvent {
        id: stamp.ids.event_id(),
        expert_key: expert_key.to_owned(),
        timestamp: stamp.now,
        job_id: checkpoint.job_id.clone(),
        run_id: checkpoint.run_id.clone(),
        step_number: checkpoint.step_number,
        kind: kind.into(),
    }
}

/// Returns the step that a checkpoint ended, with its last message.
fn last_step(checkpoint: &Checkpoint, now: i64) -> Step {
    Step {
        step_number: checkpoint.step_number,
        input_messages: None,
        new_messages: checkpoint.messages.last().cloned().into_iter().collect(),
        tool_calls: None,
        tool_results: None,
        pending_tool_calls: None,
        partial_tool_results: None,
        usage: create_empty_usage(),
        started_at: now,
        finished_at: Some(now),
    }
}

/// Creates the event that a run began.
#[must_use]
pub fn create_start_run_event(
    stamp: &mut Stamp<'_>,
    expert_key: &str,
    initial_checkpoint: Checkpoint,
    input_messages: Vec<InputMessage>,
) -> RunEvent {
    let like = initial_checkpoint.clone();
    run_event(
        stamp,
        expert_key,
        &like,
        StartRun {
            initial_checkpoint,
            input_messages,
        },
    )
}

/// Creates the event that the model called tools; `new_message` is what it said.
#[must_use]
pub fn create_call_tools_event(
    stamp: &mut Stamp<'_>,
    expert_key: &str,
    checkpoint: &Checkpoint,
    new_message: impl Into<SpokenMessage>,
    tool_calls: Vec<ToolCall>,
    usage: Usage,
) -> RunEvent {
    let kind = CallTools {
        new_message: new_message.into(),
        tool_calls,
        usage,
    };
    run_event(stamp, expert_key, checkpoint, kind)
}

/// Creates the event that tools gave back their results.
#[must_use]
pub fn create_resolve_tool_results_event(
    stamp: &mut Stamp<'_>,
    expert_key: &str,
    checkpoint: &Checkpoint,
    tool_results: Vec<ToolResult>,
) -> RunEvent {
    run_event(
        stamp,
        expert_key,
        checkpoint,
        ResolveToolResults { tool_results },
    )
}

/// Creates the event that a run ended with an answer.
#[must_use]
pub fn create_complete_run_event(
    stamp: &mut Stamp<'_>,
    expert_key: &str,
    checkpoint: Checkpoint,
    text: &str,
) -> RunEvent {
    let step = last_step(&checkpoint, stamp.now);
    let like = checkpoint.clone();
    let usage = create_empty_usage();
    run_event(
        stamp,
        expert_key,
        &like,
        CompleteRun {
            checkpoint,
            step,
            text: text.to_owned(),
            usage,
        },
    )
}

/// Creates the event that a run failed; the checkpoint gets the status and the error.
#[must_use]
pub fn create_stop_run_by_error_event(
    stamp: &mut Stamp<'_>,
    expert_key: &str,
    mut checkpoint: Checkpoint,
    error: RunError,
) -> RunEvent {
    checkpoint.status = CheckpointStatus::StoppedByError;
    checkpoint.error = Some(error.clone());
    let step = last_step(&checkpoint, stamp.now);
    let like = checkpoint.clone();
    run_event(
        stamp,
        expert_key,
        &like,
        StopRunByError {
            checkpoint,
            step,
            error,
        },
    )
}

/// Returns the messages of a checkpoint that the model said.
#[must_use]
pub fn spoken_messages(checkpoint: &Checkpoint) -> Vec<SpokenMessage> {
    let spoken = checkpoint.messages.iter().filter_map(Message::as_expert);
    spoken.map(|message| message.clone().into()).collect()
}

#[cfg(test)]
mod tests {
    //! The customer's tests, translated.

    use super::*;
    use crate::CountingIds;

    fn ids() -> CountingIds {
        CountingIds::new(RunId::parse("seed").unwrap())
    }

    fn checkpoint(stamp: &mut Stamp<'_>, output: &str) -> Checkpoint {
        create_normalized_checkpoint(
            stamp,
            CreateCheckpointParams {
                job_id: JobId::parse("job-123").unwrap(),
                run_id: RunId::parse("run-456").unwrap(),
                expert: Expert {
                    key: "test-expert".to_owned(),
                    name: "Test".to_owned(),
                    version: "1.0.0".to_owned(),
                },
                output: output.to_owned(),
                runtime: Runtime::Cursor,
            },
        )
    }

    #[test]
    fn creates_valid_checkpoint_structure() {
        let checkpoint = checkpoint(
            &mut Stamp {
                ids: &mut ids(),
                now: 7,
            },
            "Hello World",
        );
        assert_eq!(checkpoint.job_id.as_str(), "job-123");
        assert_eq!(checkpoint.run_id.as_str(), "run-456");
        assert_eq!(checkpoint.status, CheckpointStatus::Completed);
        assert_eq!(checkpoint.step_number, 1);
        assert_eq!(checkpoint.messages.len(), 1);
        let json = serde_json::to_value(&checkpoint).unwrap();
        assert_eq!(json["messages"][0]["type"], "expertMessage");
        assert_eq!(json["messages"][0]["contents"][0]["text"], "Hello World");
        let metadata = checkpoint.metadata.unwrap();
        assert_eq!(metadata.runtime(), Some(Runtime::Cursor));
        assert_eq!(metadata.external_execution(), Some(true));
    }

    #[test]
    fn creates_valid_init_event() {
        let event = create_runtime_init_event(
            &mut Stamp {
                ids: &mut ids(),
                now: 7,
            },
            JobId::parse("job-123").unwrap(),
            RunId::parse("run-456").unwrap(),
            "Test Expert",
            &Runtime::Cursor,
            None,
        );
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(json["type"], "initializeRuntime");
        assert_eq!(json["jobId"], "job-123");
        assert_eq!(json["runId"], "run-456");
        assert_eq!(json["expertName"], "Test Expert");
        assert_eq!(json["runtimeVersion"], "external:cursor");
        assert_eq!(json.get("query"), None);
    }

    #[test]
    fn creates_valid_complete_event() {
        let mut ids = ids();
        let mut stamp = Stamp {
            ids: &mut ids,
            now: 7,
        };
        let checkpoint = checkpoint(&mut stamp, "Done");
        let id = checkpoint.id.clone();
        let event = create_complete_run_event(&mut stamp, "test-expert", checkpoint, "Done");
        assert_eq!(event.kind.tag(), "completeRun");
        let RunEventKind::CompleteRun(complete) = event.kind else {
            panic!("completeRun")
        };
        assert_eq!(complete.text, "Done");
        assert_eq!(complete.checkpoint.id, id);
    }

    #[test]
    fn an_error_event_marks_its_checkpoint() {
        let mut ids = ids();
        let mut stamp = Stamp {
            ids: &mut ids,
            now: 7,
        };
        let checkpoint = checkpoint(&mut stamp, "");
        let error = RunError {
            name: "ApiError".to_owned(),
            message: "no".to_owned(),
            status_code: Some(500),
            is_retryable: true,
            family: None,
            retry_at: None,
        };
        let event = create_stop_run_by_error_event(&mut stamp, "e", checkpoint, error.clone());
        let RunEventKind::StopRunByError(stop) = event.kind else {
            panic!("stopRunByError")
        };
        assert_eq!(stop.checkpoint.status, CheckpointStatus::StoppedByError);
        assert_eq!(
            (stop.checkpoint.error, stop.error),
            (Some(error.clone()), error)
        );
    }

    #[test]
    fn the_other_events_carry_what_they_were_given() {
        let mut ids = ids();
        let mut stamp = Stamp {
            ids: &mut ids,
            now: 7,
        };
        let checkpoint = checkpoint(&mut stamp, "x");
        let start = create_start_run_event(&mut stamp, "e", checkpoint.clone(), Vec::new());
        assert_eq!(start.kind.tag(), "startRun");
        let said = spoken_messages(&checkpoint).remove(0);
        let usage = create_empty_usage();
        let calls = create_call_tools_event(&mut stamp, "e", &checkpoint, said, Vec::new(), usage);
        assert_eq!(calls.kind.tag(), "callTools");
        let results = create_resolve_tool_results_event(&mut stamp, "e", &checkpoint, Vec::new());
        assert_eq!(results.kind.tag(), "resolveToolResults");
        assert_ne!(calls.id, results.id);
    }

    #[test]
    fn empty_usage_is_five_zeros() {
        let json = serde_json::to_string(&create_empty_usage()).unwrap();
        assert_eq!(
            json,
            r#"{"inputTokens":0,"outputTokens":0,"reasoningTokens":0,"totalTokens":0,"cachedInputTokens":0}"#
        );
    }
}
