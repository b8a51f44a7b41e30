//! What a checkpoint of a tree says, apart from the others of its run.

use runtape_core::{
    Checkpoint, CheckpointId, CheckpointStatus, DelegatedBy, Expert, JobId, Message, RunError,
    RunId, TokenCounts, Usage,
};
use serde_json::{Map, Value};

use super::extension::StepExtension;
use super::rebuild::NewIds;

/// Returns a checkpoint's metadata as an object.
pub(super) fn fields_of(checkpoint: &Checkpoint) -> Map<String, Value> {
    checkpoint.metadata.clone().unwrap_or_default().into()
}

/// Returns a checkpoint's messages without the answer that an export added.
pub(super) fn without_answer<'c>(
    checkpoint: &'c Checkpoint,
    extension: Option<&StepExtension>,
) -> &'c [Message] {
    let added = extension.and_then(|extension| extension.answer.as_ref());
    match checkpoint.messages.split_last() {
        Some((last, others)) if Some(last.id()) == added => others,
        _ => &checkpoint.messages,
    }
}

/// Returns the messages before the model's first.
pub(super) fn leading(messages: &[Message]) -> Vec<Message> {
    let given = messages.iter().take_while(|message| {
        matches!(
            message,
            Message::InstructionMessage(_) | Message::UserMessage(_)
        )
    });
    given.cloned().collect()
}

/// Returns the messages after those that were there before; `None` if it does not begin with them.
///
/// Perstack drops the time of a message when it writes a checkpoint again.
pub(super) fn messages_after<'m>(
    messages: &'m [Message],
    before: &[Message],
) -> Option<&'m [Message]> {
    let (first, rest) = messages.split_at_checked(before.len())?;
    let mut pairs = first.iter().zip(before);
    pairs
        .all(|(one, other)| is_same(one, other))
        .then_some(rest)
}

/// Tells whether two messages are the same, though one may have lost its time.
fn is_same(one: &Message, other: &Message) -> bool {
    if one == other {
        return true;
    }
    let (mut dated, other, at) = match (one.timestamp(), other.timestamp()) {
        (Some(at), None) => (other.clone(), one, at),
        (None, Some(at)) => (one.clone(), other, at),
        _ => return false,
    };
    dated.set_timestamp(at);
    dated == *other
}

/// Lets a delegation name the parent's checkpoint as the parent's records do.
pub(super) fn renamed(mut by: DelegatedBy, ids: &NewIds) -> DelegatedBy {
    if let Some(id) = ids.get(&by.checkpoint_id) {
        by.checkpoint_id = id.clone();
    }
    by
}

pub(super) fn counts(usage: &Usage) -> TokenCounts {
    let number = |tokens: u64| Some(i64::try_from(tokens).unwrap_or(i64::MAX));
    TokenCounts {
        input_tokens: number(usage.input_tokens),
        output_tokens: number(usage.output_tokens),
        reasoning_tokens: number(usage.reasoning_tokens),
        cached_input_tokens: number(usage.cached_input_tokens),
        ..TokenCounts::default()
    }
}

/// Returns why a run failed: its last event says so, and since 2025-12-20 its checkpoint.
pub(super) fn error_of(checkpoint: &Checkpoint, told: Option<&RunError>) -> Option<RunError> {
    let error = checkpoint.error.clone().or_else(|| told.cloned());
    if error.is_some() || checkpoint.status != CheckpointStatus::StoppedByError {
        return error;
    }
    Some(RunError {
        name: "Unknown".to_owned(),
        message: "the run failed".to_owned(),
        status_code: None,
        is_retryable: false,
        family: None,
        retry_at: None,
    })
}

/// Returns a checkpoint for a run that has none.
pub(super) fn nothing(job: &JobId, run: &RunId) -> Checkpoint {
    let unknown = || "unknown".to_owned();
    Checkpoint {
        id: CheckpointId::derive(run, 1),
        job_id: job.clone(),
        run_id: run.clone(),
        status: CheckpointStatus::Init,
        step_number: 1,
        messages: Vec::new(),
        expert: Expert {
            key: unknown(),
            name: unknown(),
            version: unknown(),
        },
        delegate_to: None,
        delegated_by: None,
        usage: Usage::default(),
        context_window: None,
        context_window_usage: None,
        pending_tool_calls: None,
        partial_tool_results: None,
        metadata: None,
        error: None,
        retry_count: None,
    }
}
