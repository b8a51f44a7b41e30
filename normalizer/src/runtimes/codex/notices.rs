//! Warnings and retries.

use runtape_core::RuntimeEventKind;
use runtape_core::runtime_event::{ApiRetry, Warning};

use super::failure;

/// Returns what an error that is not the end stands for: a retry, if it says so, else a warning.
pub(super) fn of_error(message: String) -> RuntimeEventKind {
    let Some(rest) = message.strip_prefix("Reconnecting") else {
        return Warning { message }.into();
    };
    let (attempt, max_attempts) = tries(rest);
    ApiRetry {
        attempt,
        max_attempts,
        delay_ms: None,
        status_code: failure::status_in(&message),
        reason: Some(message),
    }
    .into()
}

/// Reads `... 2/5 (why)`.
fn tries(rest: &str) -> (Option<u64>, Option<u64>) {
    let word = rest.trim_start_matches(['.', '…', ' ']).split(' ').next();
    let (attempt, most) = word
        .and_then(|word| word.split_once('/'))
        .unwrap_or_default();
    (attempt.parse().ok(), most.parse().ok())
}
