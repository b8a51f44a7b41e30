//! gemini's output against its summary.

use runtape_core::{CheckpointStatus, ErrorFamily, RunSummary};
use serde_json::Value;

use super::compare::{same, short};
use super::plain::Faults;
use super::printed::Printed;
use crate::captures::Capture;

pub(super) fn compare(
    capture: &Capture,
    printed: &Printed,
    summary: &RunSummary,
    faults: &mut Faults,
) {
    formats(capture, printed, summary, faults);
    answers(capture, printed, summary, faults);
    streams(capture, printed, summary, faults);
    costs(capture, printed, summary, faults);
    failures(capture, printed, summary, faults);
}

fn is_streamed(capture: &Capture) -> bool {
    !matches!(capture.format.as_str(), "text" | "json")
}

fn formats(capture: &Capture, printed: &Printed, summary: &RunSummary, faults: &mut Faults) {
    if capture.stdout.is_empty() || printed.is_cut {
        return;
    }
    // A single object may be of either JSON format.
    if is_streamed(capture) && printed.objects.len() == 1 {
        return;
    }
    let got = summary.output_format.as_deref();
    faults.compare("outputFormat", &Some(capture.format.as_str()), &got);
}

/// Tells whether every request of the main run has its message in the output.
fn is_whole(capture: &Capture, printed: &Printed) -> bool {
    let requests = capture.truth()["usage_per_request"].as_array();
    let main = requests.into_iter().flatten();
    let main = main.filter(|request| request["queue"] == "main").count() as u64;
    printed.messages == main
}

fn answers(capture: &Capture, printed: &Printed, summary: &RunSummary, faults: &mut Faults) {
    let got = summary.final_text.as_deref();
    let is_completed = summary.status == CheckpointStatus::Completed;
    if capture.format == "text" {
        if is_completed {
            let stdout = String::from_utf8_lossy(&capture.stdout);
            let got = got.map(str::trim);
            faults.compare("answer", &Some(stdout.trim()), &got);
        }
    } else if capture.format == "json" {
        if !printed.is_cut {
            let report = printed.objects.first();
            let expected = report.and_then(|report| report["response"].as_str());
            faults.compare("answer", &expected, &got);
        }
    } else if printed.messages == 0 {
        faults.compare("answer", &None, &got);
    } else if is_whole(capture, printed) {
        let raw = capture.meta["argv"].to_string().contains("--raw-output");
        let expected = match &capture.truth()["final_text"] {
            // The CLI strips escapes, unless it is told not to.
            Value::String(text) if !raw => Value::from(without_escapes(text)),
            expected => expected.clone(),
        };
        let right = match got {
            None => expected.is_null(),
            Some(got) => same(got, &expected),
        };
        faults.want("answer", right, &(short(&expected), got));
    }
}

fn without_escapes(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        kept.push_str(before);
        let end = after.find(|c: char| c.is_ascii_alphabetic());
        rest = end.map_or("", |end| &after[end + 1..]);
    }
    kept + rest
}

fn streams(capture: &Capture, printed: &Printed, summary: &RunSummary, faults: &mut Faults) {
    if printed.is_cut {
        faults.compare("unparsed", &1, &summary.unparsed.len());
    } else {
        faults.compare("unparsed", &0, &summary.unparsed.len());
    }
    if !is_streamed(capture) {
        return;
    }
    faults.compare("printed texts", &printed.texts, &summary.texts);
    let ids: Vec<&str> = printed.calls.iter().map(|call| call.id.as_str()).collect();
    let got = summary.tool_calls.iter();
    let got: Vec<&str> = got.map(|call| call.id.as_str()).collect();
    faults.compare("printed calls", &ids, &got);
    for (call, ours) in printed.calls.iter().zip(&summary.tool_calls) {
        faults.compare("printed name", &call.name, &ours.name);
        faults.compare("printed input", &call.input, &ours.input);
        faults.compare("printed isError", &call.is_error, &ours.is_error);
        faults.compare("step of a call", &call.step, &ours.step);
    }
    let is_completed = summary.status == CheckpointStatus::Completed;
    if is_completed && printed.messages > 0 && is_whole(capture, printed) {
        faults.compare("steps", &printed.messages, &summary.steps);
    }
}

fn costs(capture: &Capture, printed: &Printed, summary: &RunSummary, faults: &mut Faults) {
    let is_completed = summary.status == CheckpointStatus::Completed;
    let result = printed.result();
    let results = printed.of_type("result").count();
    faults.compare("costUsd", &None, &summary.cost_usd);
    if let (true, 1, Some(result)) = (is_completed, results, result) {
        let stated = result["stats"]["duration_ms"].as_i64();
        faults.compare("durationMs", &stated, &summary.duration_ms);
    }
    // Cut requests are not counted by the CLI: what it prints is then all there is.
    let has_trouble = printed.of_type("error").next().is_some()
        || capture.truth()["errors"]
            .as_array()
            .is_some_and(|errors| !errors.is_empty());
    let is_served = capture.truth()["usage_totals_sent"]
        .as_object()
        .is_some_and(|sent| !sent.is_empty());
    if let (true, true, Some(result)) = (has_trouble, is_served, result) {
        let count = |key: &str| result["stats"][key].as_i64();
        let cached = count("cached");
        let fresh = count("input_tokens")
            .zip(cached)
            .map(|(all, cached)| all - cached);
        let output = count("total_tokens")
            .zip(count("input_tokens"))
            .map(|(total, input)| total - input);
        let got = summary.usage.as_ref().map(|usage| {
            (
                usage.input_tokens,
                usage.cached_input_tokens,
                usage.output_tokens,
            )
        });
        faults.compare("printed usage", &Some((fresh, cached, output)), &got);
    }
    // A result that disagrees with the exit code wins, and a notice says so.
    let code = capture.meta["exit_code"].as_i64();
    if let (Some(_), Some(code)) = (result, code)
        && is_completed != (code == 0)
    {
        let is_noted = summary
            .notices
            .iter()
            .any(|notice| notice.kind == "exitMismatch");
        faults.want("exit code noted", is_noted, &code);
    }
}

/// How it failed, as far as the API's last answer and the exit code tell, and what was noted.
fn failures(capture: &Capture, printed: &Printed, summary: &RunSummary, faults: &mut Faults) {
    let code = capture.meta["exit_code"].as_i64();
    let error = summary.error.as_ref();
    let message = error.map_or("", |error| error.message.as_str());
    let is_said = |text: &str| {
        let mut notices = summary.notices.iter();
        message.contains(text) || notices.any(|notice| notice.text.contains(text))
    };
    for line in printed.of_type("error") {
        let text = line["message"].as_str().unwrap_or_default();
        faults.want("error line noted", is_said(text), &text);
    }
    let report = printed.objects.first();
    let warnings = report.and_then(|report| report["warnings"].as_array());
    for warning in warnings.into_iter().flatten() {
        let text = warning.as_str().unwrap_or_default();
        faults.want("warning noted", is_said(text), &text);
    }
    let attempt = "Attempt 1 failed";
    if String::from_utf8_lossy(&capture.stderr).contains(attempt) {
        faults.want("retries noted", is_said(attempt), &attempt);
    }
    let Some(error) = error.filter(|_| capture.format != "text") else {
        return;
    };
    let refused = capture.truth()["errors"].as_array();
    let refused = refused.and_then(|errors| errors.last());
    let words = refused.map_or("", |refused| {
        refused["message"].as_str().unwrap_or_default()
    });
    let status = refused.and_then(|refused| refused["status"].as_u64());
    let family = match (code, status) {
        (Some(53), _) => Some("turnLimit"),
        _ if words.contains("maximum number of tokens") => Some("contextOverflow"),
        (_, Some(401 | 403)) | (Some(41), _) => Some("auth"),
        _ if words.contains("API key not valid") => Some("auth"),
        (Some(42), _) => Some("unknownSession"),
        (_, Some(429)) => Some("rateLimit"),
        (_, Some(503 | 529)) => Some("overload"),
        _ => None,
    };
    if let Some(family) = family {
        let got = error.family.map(ErrorFamily::as_str);
        faults.compare("family", &Some(family), &got);
    }
    // The exit code is the status modulo 256.
    if code.is_some_and(|code| (144..=255).contains(&code)) {
        let got = error.status_code.map(u64::from);
        faults.compare("statusCode", &status, &got);
    }
}
