//! A finished run as Paperclip's host wants it.

use chrono::{DateTime, SecondsFormat};
use runtape_core::{CheckpointStatus, ErrorFamily, RunSummary, Runtime, SummaryError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::detection::{is_quota, is_transient};
use super::session::SessionParams;
use crate::exit::Exit;
use crate::runtimes;

/// Longest summary, in characters.
const SUMMARY: usize = 2000;

/// What an adapter's `execute` returns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionResult {
    /// The exit code, if the process ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// Whether its time was up.
    pub timed_out: bool,
    /// What went wrong, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// What went wrong, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// `transient_upstream`, `provider_quota` or `model_refusal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_family: Option<String>,
    /// Not before this time, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_not_before: Option<String>,
    /// Tokens of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ExecutionUsage>,
    /// Always `per_run`: totals of a resumed session are never passed on as this run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_basis: Option<String>,
    /// The session to resume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What the session codec keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_params: Option<SessionParams>,
    /// The session's id for people: the whole id, never a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_display_id: Option<String>,
    /// The model's maker, where the runtime has only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Who sends the bill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub biller: Option<String>,
    /// `api`, `subscription`, `metered_api` or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing_type: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What this run cost; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The whole summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_json: Option<Value>,
    /// The answer, cut to a readable length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The saved session must be forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clear_session: Option<bool>,
    /// What a run that did not end well leaves behind, which the host wants to know before it starts
    /// another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_recovery: Option<Value>,
}

/// Tokens in Paperclip's three counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionUsage {
    /// Prompt tokens that were not read from a cache.
    pub input_tokens: i64,
    /// Generated tokens.
    pub output_tokens: i64,
    /// Prompt tokens that were read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<i64>,
}

impl ExecutionResult {
    /// Puts a finished run into Paperclip's shape.
    #[must_use]
    pub fn new(summary: &RunSummary, exit: &Exit) -> Self {
        let error = summary.error.as_ref();
        let family = error.and_then(|error| error.family);
        let adapter = runtimes::entry_for(&summary.runtime).map(|entry| &entry.paperclip);
        let session = summary.session_id.clone();
        let session = session.filter(|id| runtimes::is_session_id(&summary.runtime, id));
        let usage = summary.usage.as_ref();
        Self {
            exit_code: exit.code,
            signal: exit.signal.clone(),
            timed_out: exit.timed_out,
            error_message: error.map(|error| error.message.clone()),
            error_code: error.map(|error| error_code(&summary.runtime, summary.status, error)),
            error_family: error.and_then(error_family).map(str::to_owned),
            retry_not_before: error.and_then(|error| iso(error.retry_at?)),
            usage: usage.map(|usage| ExecutionUsage {
                input_tokens: usage.input_tokens.unwrap_or(0),
                output_tokens: usage.output_tokens.unwrap_or(0),
                cached_input_tokens: usage.cached_input_tokens,
            }),
            usage_basis: usage.map(|_| "per_run".to_owned()),
            session_params: session.clone().map(|session_id| SessionParams {
                session_id,
                cwd: summary.cwd.clone(),
                runtime: Some(summary.runtime.clone()),
                ..SessionParams::default()
            }),
            session_display_id: session.clone(),
            session_id: session,
            provider: adapter
                .and_then(|adapter| adapter.provider)
                .map(str::to_owned),
            biller: None,
            billing_type: None,
            model: summary.model.clone(),
            cost_usd: summary.cost_usd,
            result_json: serde_json::to_value(summary).ok(),
            summary: summary
                .final_text
                .as_ref()
                .map(|text| text.chars().take(SUMMARY).collect()),
            clear_session: family.is_some_and(ends_session).then_some(true),
            execution_recovery: None,
        }
    }
}

fn error_code(runtime: &Runtime, status: CheckpointStatus, error: &SummaryError) -> String {
    if status == CheckpointStatus::StoppedByExceededMaxSteps {
        return "max_turns_exhausted".to_owned();
    }
    let what = match error.family {
        Some(ErrorFamily::Auth) => "auth_required",
        _ if is_quota(error) => "quota_exhausted",
        Some(ErrorFamily::RateLimit | ErrorFamily::Overload) => "transient_upstream",
        Some(ErrorFamily::Network) => "network_unavailable",
        Some(ErrorFamily::Refusal) => "refusal",
        Some(ErrorFamily::UnknownSession) => "unknown_session",
        // The host's own adapters say it without a prefix, too.
        Some(ErrorFamily::ModelNotFound) => return "model_not_found".to_owned(),
        Some(ErrorFamily::ContextOverflow) => "context_overflow",
        Some(ErrorFamily::Budget) => "budget_exhausted",
        Some(ErrorFamily::TurnLimit) => return "max_turns_exhausted".to_owned(),
        Some(ErrorFamily::Process) if error.name == "TimedOut" => "timed_out",
        Some(ErrorFamily::Process) => "process_failed",
        _ => "failed",
    };
    let prefix = runtimes::entry_for(runtime).map(|entry| entry.paperclip.code_prefix);
    format!("{}_{what}", prefix.unwrap_or(runtime.as_str()))
}

fn error_family(error: &SummaryError) -> Option<&'static str> {
    if is_quota(error) {
        Some("provider_quota")
    } else if error.family == Some(ErrorFamily::Refusal) {
        Some("model_refusal")
    } else {
        is_transient(error.family).then_some("transient_upstream")
    }
}

/// Tells whether resuming the session would fail in the same way again.
fn ends_session(family: ErrorFamily) -> bool {
    matches!(
        family,
        ErrorFamily::UnknownSession | ErrorFamily::TurnLimit | ErrorFamily::ContextOverflow
    )
}

fn iso(millis: i64) -> Option<String> {
    let time = DateTime::from_timestamp_millis(millis)?;
    Some(time.to_rfc3339_opts(SecondsFormat::Millis, true))
}
