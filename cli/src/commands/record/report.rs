//! How a recorded run went: a line for people, an object for programs, an exit code.

use std::path::Path;

use nix::sys::signal::Signal;
use runtape::RunContext;
use runtape_core::{RunSummary, SummaryError, SummaryUsage};
use runtape_normalizer::Exit;
use serde::Serialize;
use serde_json::Value;

use super::keeper::Kept;
use crate::commands::Session;
use crate::error::CliError;
use crate::exit_codes;
use crate::table::{bytes, plural, thousands};
use crate::times;

/// What `--report` writes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    run_id: &'a str,
    job_id: &'a str,
    runtime: Option<&'a str>,
    session_id: Option<&'a str>,
    model: Option<&'a str>,
    status: Option<&'a str>,
    error: Option<Value>,
    steps: Option<u64>,
    usage: Option<SummaryUsage>,
    cost_usd: Option<f64>,
    duration_ms: Option<i64>,
    final_text: Option<&'a str>,
    exit_code: Option<i32>,
    signal: Option<&'a str>,
    timed_out: bool,
    stored: bool,
    spool: Option<String>,
    lost_bytes: u64,
}

/// Returns the exit code that tells how the command ended.
pub(super) fn exit_code(exit: &Exit) -> u8 {
    let from_signal = exit.signal.as_deref().map(|name| {
        let number = name.parse::<Signal>().map(|signal| signal as i32);
        number.or_else(|_| name.parse::<i32>()).unwrap_or(0) + 128
    });
    let code = from_signal
        .or(exit.code)
        .unwrap_or(i32::from(exit_codes::FAILED));
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Writes what there is to say at the end.
pub(super) fn finish(
    session: &mut Session<'_>,
    context: &RunContext,
    summary: Option<&RunSummary>,
    kept: &Kept,
    exit: &Exit,
    file: Option<&Path>,
) -> Result<(), CliError> {
    session.note(&line(context, summary));
    if let Some(fault) = &kept.fault {
        session.warn(&format!("not stored: {fault}"));
        if let Some(spool) = &kept.spool {
            session.note(&format!(
                "hint: the output is in {}; `runtape recover` takes it in",
                spool.display()
            ));
        }
    }
    if kept.lost > 0 {
        session.warn(&format!(
            "{} of output are stored nowhere",
            bytes(kept.lost)
        ));
    }
    let Some(path) = file else {
        return Ok(());
    };
    let error = summary.and_then(|summary| summary.error.as_ref());
    let report = Report {
        run_id: context.run_id.as_str(),
        job_id: context.job_id.as_str(),
        runtime: summary.map(|summary| summary.runtime.as_str()),
        session_id: summary.and_then(|summary| summary.session_id.as_deref()),
        model: summary.and_then(|summary| summary.model.as_deref()),
        status: summary.map(|summary| summary.status.as_str()),
        error: error.map(error_value).transpose()?,
        steps: summary.map(|summary| summary.steps),
        usage: summary.and_then(|summary| summary.usage),
        cost_usd: summary.and_then(|summary| summary.cost_usd),
        duration_ms: summary.and_then(|summary| summary.duration_ms),
        final_text: summary.and_then(|summary| summary.final_text.as_deref()),
        exit_code: exit.code,
        signal: exit.signal.as_deref(),
        timed_out: exit.timed_out,
        stored: kept.fault.is_none(),
        spool: kept.spool.as_ref().map(|path| path.display().to_string()),
        lost_bytes: kept.lost,
    };
    let mut text = serde_json::to_vec(&report)?;
    text.push(b'\n');
    std::fs::write(path, text).map_err(|error| CliError::WriteFile {
        path: path.into(),
        error,
    })
}

/// Returns the error with its time as ISO 8601.
fn error_value(error: &SummaryError) -> Result<Value, CliError> {
    let mut value = serde_json::to_value(error)?;
    if let (Some(at), Value::Object(fields)) = (error.retry_at, &mut value) {
        fields.insert("retryAt".to_owned(), times::iso(at).into());
    }
    Ok(value)
}

/// Returns the run in one line.
fn line(context: &RunContext, summary: Option<&RunSummary>) -> String {
    let Some(summary) = summary else {
        return format!("run {} has no end", context.run_id);
    };
    let mut parts = vec![summary.status.as_str().to_owned()];
    if let Some(error) = &summary.error {
        parts.push(format!(
            "{}: {}",
            error.name,
            crate::plain::one_line(&error.message)
        ));
    }
    parts.push(plural(summary.steps, "step"));
    if let Some(usage) = &summary.usage {
        let counts = [
            (usage.input_tokens, "in"),
            (usage.cached_input_tokens, "cached"),
            (usage.output_tokens, "out"),
        ];
        let counts = counts
            .into_iter()
            .filter_map(|(count, name)| Some(format!("{} {name}", thousands(count?))));
        parts.extend(counts);
    }
    if let Some(cost) = summary.cost_usd {
        parts.push(format!("${cost:.4}"));
    }
    format!("run {}: {}", context.run_id, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_a_shells() {
        assert_eq!(exit_code(&Exit::with_code(3)), 3);
        assert_eq!(exit_code(&Exit::with_signal("SIGKILL")), 137);
        assert_eq!(exit_code(&Exit::with_signal("34")), 162);
        assert_eq!(exit_code(&Exit::unknown()), 1);
    }
}
