//! Events of a run.

use proptest::prelude::*;
use runtape_core::run_event::{
    AttemptCompletion, CallDelegate, CallInteractiveTool, CallTools, CompleteRun,
    CompleteStreamingReasoning, CompleteStreamingRunResult, ContinueToNextStep, FinishAllToolCalls,
    FinishToolCall, ResolveToolResults, ResumeToolCalls, Retry, StartGeneration, StartRun,
    StartStreamingReasoning, StartStreamingRunResult, StopRunByDelegate, StopRunByError,
    StopRunByExceededMaxSteps, StopRunByInteractiveTool, StreamReasoning, StreamRunResult,
};
use runtape_core::{Event, RunEvent, RunEventKind};
use serde_json::json;

use super::leaf::{count, event_id, job_id, named_object, run_id, signed, text};
use super::message::{
    answer_message, input_message, message, retry_message, spoken_message, tool_call, tool_result,
};
use super::run::{checkpoint, run_error, step, usage};
use super::runtime_event::runtime_event;
use super::{add, any_tag, build, maybe, payloads, some};

/// Any event, of either kind.
pub fn event() -> BoxedStrategy<Event> {
    prop_oneof![
        run_event().prop_map(Event::Run),
        runtime_event().prop_map(Event::Runtime)
    ]
    .boxed()
}

/// Any event of a run, now and then of an unknown type.
pub fn run_event() -> BoxedStrategy<RunEvent> {
    any_tag(RunEventKind::TAGS)
        .prop_flat_map(run_event_of)
        .boxed()
}

/// Events of a run of one type.
pub fn run_event_of(tag: &'static str) -> BoxedStrategy<RunEvent> {
    build!(RunEvent {
        id: event_id(),
        expert_key: text(),
        timestamp: signed(),
        job_id: job_id(),
        run_id: run_id(),
        step_number: count(),
        kind: run_event_kind(tag),
    })
}

fn run_event_kind(tag: &'static str) -> BoxedStrategy<RunEventKind> {
    payloads!(tag, RunEventKind {
        "startRun" => build!(StartRun {
            initial_checkpoint: checkpoint(),
            input_messages: some(input_message()),
        }),
        "startGeneration" => build!(StartGeneration { messages: some(message()) }),
        "retry" => build!(Retry {
            reason: text(),
            new_messages: some(retry_message()),
            tool_calls: maybe(some(tool_call())),
            tool_results: maybe(some(tool_result())),
            usage: usage(),
        }),
        "callTools" => build!(CallTools {
            new_message: spoken_message(),
            tool_calls: some(tool_call()),
            usage: usage(),
        }),
        "callInteractiveTool" => build!(CallInteractiveTool {
            new_message: spoken_message(),
            tool_call: tool_call(),
            usage: usage(),
        }),
        "callDelegate" => build!(CallDelegate {
            new_message: spoken_message(),
            tool_calls: some(tool_call()),
            usage: usage(),
        }),
        "resolveToolResults" => build!(ResolveToolResults { tool_results: some(tool_result()) }),
        "attemptCompletion" => build!(AttemptCompletion { tool_result: tool_result() }),
        "finishToolCall" => build!(FinishToolCall { new_messages: some(answer_message()) }),
        "resumeToolCalls" => build!(ResumeToolCalls {
            pending_tool_calls: some(tool_call()),
            partial_tool_results: some(tool_result()),
        }),
        "finishAllToolCalls" => build!(FinishAllToolCalls { new_messages: some(answer_message()) }),
        "continueToNextStep" => build!(ContinueToNextStep {
            checkpoint: checkpoint(),
            step: step(),
            next_checkpoint: checkpoint(),
        }).prop_map(Box::new),
        "stopRunByInteractiveTool" => build!(StopRunByInteractiveTool {
            checkpoint: checkpoint(),
            step: step(),
        }),
        "stopRunByDelegate" => build!(StopRunByDelegate { checkpoint: checkpoint(), step: step() }),
        "stopRunByExceededMaxSteps" => build!(StopRunByExceededMaxSteps {
            checkpoint: checkpoint(),
            step: step(),
        }),
        "stopRunByError" => build!(StopRunByError {
            checkpoint: checkpoint(),
            step: step(),
            error: run_error(),
        }),
        "completeRun" => build!(CompleteRun {
            checkpoint: checkpoint(),
            step: step(),
            text: text(),
            usage: usage(),
        }),
        "startStreamingReasoning" => Just(StartStreamingReasoning {}),
        "streamReasoning" => build!(StreamReasoning { delta: text() }),
        "completeStreamingReasoning" => build!(CompleteStreamingReasoning { text: text() }),
        "startStreamingRunResult" => Just(StartStreamingRunResult {}),
        "streamRunResult" => build!(StreamRunResult { delta: text() }),
        "completeStreamingRunResult" => build!(CompleteStreamingRunResult { text: text() }),
    } else unknown_run_event_kind)
}

/// An unknown kind can only be read, so it is: within an event.
fn unknown_run_event_kind(tag: &'static str) -> BoxedStrategy<RunEventKind> {
    named_object()
        .prop_map(move |fields| {
            let mut event = json!({
                "id": "e", "expertKey": "x", "timestamp": 0, "jobId": "j", "runId": "r",
                "stepNumber": 1, "type": tag,
            });
            add(&mut event, fields);
            let event: RunEvent = serde_json::from_value(event).expect("an unknown type is read");
            event.kind
        })
        .boxed()
}
