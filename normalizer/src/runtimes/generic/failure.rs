//! How a run went, in the words of the published shapes.
//!
//! Success is a `result` whose `isError` is false, whose `subtype` is `completed` or `success` and
//! whose `errors` are empty, or a `completeRun` whose checkpoint is `completed` and has no error. What
//! says less, or two things at once, is unclear.

use runtape_core::run_event::CompleteRun;
use runtape_core::transcript::RunResult;
use runtape_core::{CheckpointStatus, ErrorFamily, RunError};
use serde_json::Value;

use crate::failure::{error, family_of_status};
use crate::json::Str;
use crate::signal::{Outcome, Signal, Verdict};
use crate::verdict::{UnclearResult, VerdictWord};

/// Words for a run that ended well.
const SUCCESSES: &[&str] = &["completed", "success"];

/// Words for a run that reached its turn limit.
const TURN_LIMITS: &[&str] = &["stoppedByExceededMaxSteps", "error_max_turns", "max_turns"];

/// Words that name no failure in particular.
const PLAIN_FAILURES: &[&str] = &["", "error", "failed", "stoppedByError"];

/// The types whose lines say how a run went.
const ENDINGS: &[&str] = &[
    "result",
    "completeRun",
    "stopRunByError",
    "stopRunByExceededMaxSteps",
    "stopRunByInteractiveTool",
    "stopRunByDelegate",
];

/// Returns what a result of a transcript says.
pub(super) fn of_result(result: &RunResult, emit: impl FnMut(Signal<'_>)) -> Verdict {
    let subtype = result.subtype.as_str();
    if !result.is_error {
        if SUCCESSES.contains(&subtype) && result.errors.is_empty() {
            return Verdict::Success;
        }
        let mut unclear = UnclearResult::default();
        if !SUCCESSES.contains(&subtype) {
            unclear = unclear.with("subtype", &VerdictWord::Word(Str::from(subtype)));
        }
        if !result.errors.is_empty() {
            unclear = unclear.with(
                "errors",
                &VerdictWord::Other(Box::new(result.errors.clone().into())),
            );
        }
        let said = result.errors.join("\n");
        return Verdict::Error(unclear.report("result", Some(&said), emit));
    }
    let message = message_of(result);
    if TURN_LIMITS.contains(&subtype) {
        return Verdict::TurnLimit(error("MaxSteps", message, ErrorFamily::TurnLimit));
    }
    let name: String = if PLAIN_FAILURES.contains(&subtype) || SUCCESSES.contains(&subtype) {
        "AgentError".to_owned()
    } else {
        subtype.chars().take(80).collect()
    };
    Verdict::Error(error(&name, message, ErrorFamily::Other))
}

/// Returns what a result says went wrong.
fn message_of(result: &RunResult) -> String {
    let said = [result.errors.join("\n"), result.text.clone()];
    let said = said.into_iter().find(|text| !text.trim().is_empty());
    said.unwrap_or_else(|| format!("the agent reports a failure ({:?})", result.subtype))
}

/// Returns what an event says that ends a run with an answer.
pub(super) fn of_complete_run(end: &CompleteRun, emit: impl FnMut(Signal<'_>)) -> Verdict {
    let status = end.checkpoint.status;
    let mut unclear = UnclearResult::default();
    if status != CheckpointStatus::Completed {
        let word = VerdictWord::Word(Str::from(status.as_str()));
        unclear = unclear.with("checkpoint.status", &word);
    }
    let failure = end.checkpoint.error.as_ref();
    if let Some(failure) = failure {
        let word = VerdictWord::Word(Str::from(failure.message.as_str()));
        unclear = unclear.with("checkpoint.error", &word);
    }
    if status == CheckpointStatus::Completed && failure.is_none() {
        return Verdict::Success;
    }
    let said = failure.map(|failure| failure.message.as_str());
    Verdict::Error(unclear.report("completeRun", said, emit))
}

/// Returns the failure that a run stopped by, with what follows from what was said.
pub(super) fn of_error(printed: RunError) -> RunError {
    let by_status = printed.status_code.map(family_of_status);
    RunError {
        family: printed.family.or(by_status).or(Some(ErrorFamily::Other)),
        ..printed
    }
}

/// Returns the failure of a run that stopped for a reason that is no error of its own.
pub(super) fn stopped(name: &str, message: &str) -> RunError {
    error(name, message, ErrorFamily::Other)
}

/// Returns the turn limit that a run stopped by.
pub(super) fn turn_limit(printed: Option<RunError>) -> RunError {
    let message = "the run reached its turn limit";
    let printed = printed.unwrap_or_else(|| error("MaxSteps", message, ErrorFamily::TurnLimit));
    RunError {
        family: printed.family.or(Some(ErrorFamily::TurnLimit)),
        ..printed
    }
}

/// Returns how a run ends whose last word does not fit its shape, if the line was one.
pub(super) fn unclear(tag: &str, reason: &str, value: &Value) -> Option<Outcome<'static>> {
    if !ENDINGS.contains(&tag) {
        return None;
    }
    let message = format!("the line that says how the run went does not fit: {reason}");
    let failure = error(crate::verdict::UNCLEAR_RESULT, message, ErrorFamily::Other);
    let text = value.get("text").and_then(Value::as_str);
    let text = text.filter(|text| !text.is_empty()).map(str::to_owned);
    Some(Outcome {
        subtype: Some(tag.to_owned().into()),
        text: text.clone().map(Into::into),
        answer: text.map(Into::into),
        ..Outcome::of(Verdict::Error(failure))
    })
}
