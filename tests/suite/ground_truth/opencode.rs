//! opencode's output, and what was served to it, against its summary.

use std::collections::BTreeMap;

use runtape_core::RunSummary;
use serde_json::Value;

use super::formats::{self, Calls, Thinking};
use super::plain::Faults;
use super::served::{Served, counters, without_escapes};
use crate::captures::Capture;

/// Scenarios in which the CLI asks for a summary of its own: the requests are in the stream and in no
/// ground truth.
const COMPACTED: &[&str] = &["compaction", "api_400_context"];

pub(super) fn compare(capture: &Capture, summary: &RunSummary, faults: &mut Faults) {
    let served = Served::of(capture);
    served.compare_end(summary, faults);
    if formats::of(capture).calls == Calls::None {
        text(capture, &served, summary, faults);
    } else {
        json(capture, &served, summary, faults);
    }
}

/// What stands in an output.
struct Printed {
    events: Vec<Value>,
    is_cut: bool,
}

impl Printed {
    fn of(capture: &Capture) -> Self {
        let (mut events, mut is_cut) = (Vec::new(), false);
        for line in String::from_utf8_lossy(&capture.stdout).split('\n') {
            match serde_json::from_str::<Value>(line) {
                Ok(event) => events.push(event),
                Err(_) => is_cut |= !line.trim().is_empty(),
            }
        }
        Self { events, is_cut }
    }

    fn of_type(&self, tag: &str) -> Vec<&Value> {
        let events = self.events.iter();
        events.filter(|event| event["type"] == tag).collect()
    }

    fn parts(&self, tag: &str) -> Vec<&Value> {
        let events = self.of_type(tag).into_iter();
        events.map(|event| &event["part"]).collect()
    }

    fn texts(&self, tag: &str) -> Vec<String> {
        let parts = self.parts(tag).into_iter();
        parts
            .map(|part| part["text"].as_str().unwrap().to_owned())
            .collect()
    }

    /// What the model said in the last step.
    fn answer(&self) -> String {
        let steps = self.parts("step_start");
        let last = steps.last().map_or(&Value::Null, |step| &step["messageID"]);
        let texts = self.parts("text").into_iter();
        let texts = texts.filter(|part| part["messageID"] == *last);
        let texts = texts.map(|part| part["text"].as_str().unwrap());
        texts.filter(|text| !text.trim().is_empty()).collect()
    }
}

fn json(capture: &Capture, served: &Served<'_>, summary: &RunSummary, faults: &mut Faults) {
    let printed = Printed::of(capture);
    faults.compare(
        "unparsed",
        &usize::from(printed.is_cut),
        &summary.unparsed.len(),
    );
    if !capture.stdout.is_empty() {
        let got = summary.output_format.as_deref();
        faults.compare("outputFormat", &Some("json"), &got);
    }
    let first = printed.events.first();
    let session = first.and_then(|event| event["sessionID"].as_str());
    faults.compare("session", &session, &summary.session_id.as_deref());
    let known = [&summary.model, &summary.cwd, &summary.cli_version];
    faults.compare("model, cwd, version", &[&None; 3], &known);
    usage(capture, served, &printed, summary, faults);

    let mut texts = printed.texts("text");
    texts.retain(|text| !text.trim().is_empty() && !served.was_given_up(text));
    faults.compare("printed texts", &texts, &summary.texts);
    faults.compare(
        "printed thinking",
        &printed.texts("reasoning"),
        &summary.thinking,
    );
    let is_compacted = COMPACTED.contains(&capture.scenario.as_str());
    // Blanks around a text are not printed.
    let trimmed = |texts: &[String]| -> Vec<String> {
        let texts = texts.iter().map(|text| text.trim().to_owned());
        texts.filter(|text| !text.is_empty()).collect()
    };
    if !is_compacted {
        faults.compare(
            "texts",
            &trimmed(&served.said("text")),
            &trimmed(&summary.texts),
        );
        let thinking = match formats::of(capture).thinking {
            Thinking::All => trimmed(&served.said("reasoning")),
            Thinking::Wrapped | Thinking::Some => Vec::new(),
        };
        faults.compare("thinking", &thinking, &trimmed(&summary.thinking));
    }
    if served.is_completed() {
        let answer = printed.answer();
        faults.compare(
            "printed answer",
            &Some(answer.as_str()),
            &summary.final_text.as_deref(),
        );
        let expected = capture.truth()["final_text"].as_str().map(str::trim);
        let got = summary.final_text.as_deref().map(str::trim);
        if !is_compacted && expected.is_some() {
            faults.compare("answer", &expected, &got);
        }
    }
    let steps = printed.parts("step_start").len() as u64;
    faults.compare("steps", &steps, &summary.steps);
    calls(served, &printed, summary, faults);
    failures(capture, served, &printed, summary, faults);
}

fn usage(
    capture: &Capture,
    served: &Served<'_>,
    printed: &Printed,
    summary: &RunSummary,
    faults: &mut Faults,
) {
    let finished = printed.parts("step_finish");
    let count = |part: &Value, path: &str| part["tokens"].pointer(path).unwrap().as_i64().unwrap();
    let sum = |paths: &[&str]| -> i64 {
        let parts = finished.iter();
        parts
            .map(|part| paths.iter().map(|path| count(part, path)).sum::<i64>())
            .sum()
    };
    let stated = (!finished.is_empty()).then(|| {
        [
            sum(&["/input", "/cache/write"]),
            sum(&["/cache/read"]),
            sum(&["/output", "/reasoning"]),
            sum(&["/reasoning"]),
        ]
        .map(Some)
    });
    faults.compare("printed usage", &stated, &counters(summary));
    let cost: f64 = finished
        .iter()
        .map(|part| part["cost"].as_f64().unwrap())
        .sum();
    let cost = (!finished.is_empty()).then_some(cost);
    let is_same = match (cost, summary.cost_usd) {
        (Some(cost), Some(ours)) => (cost - ours).abs() < 1e-9,
        (cost, ours) => cost.is_none() && ours.is_none(),
    };
    faults.want("costUsd", is_same, &(cost, summary.cost_usd));
    let is_charged_otherwise = served.is_killed
        || capture.scenario == "stream_drop"
        || COMPACTED.contains(&capture.scenario.as_str());
    if !is_charged_otherwise && !finished.is_empty() {
        let used = |counter: &str| served.used("usage_main", counter);
        let cached = used("cached_tokens");
        let expected = [used("input_tokens") - cached, cached, used("output_tokens")];
        let got = counters(summary).map(|[input, cached, output, _]| [input, cached, output]);
        faults.compare("usage", &Some(expected.map(Some)), &got);
    }
}

fn calls(served: &Served<'_>, printed: &Printed, summary: &RunSummary, faults: &mut Faults) {
    let parts = printed.parts("tool_use");
    let ids: Vec<&str> = parts
        .iter()
        .map(|part| part["callID"].as_str().unwrap())
        .collect();
    let got: Vec<&str> = summary
        .tool_calls
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    faults.compare("calls", &ids, &got);
    let turns = served.turns.iter();
    let asked: BTreeMap<&str, &Value> = turns
        .flat_map(|turn| turn["tool_calls"].as_array().unwrap())
        .map(|call| (call["id"].as_str().unwrap(), call))
        .collect();
    let steps = printed.parts("step_start");
    for (part, ours) in parts.iter().zip(&summary.tool_calls) {
        let state = &part["state"];
        // A command that is a subtask calls the tool itself.
        if let Some(asked) = asked.get(ours.id.as_str()) {
            faults.compare("name", &asked["name"].as_str(), &Some(ours.name.as_str()));
            faults.compare("isError", &asked["is_error"].as_bool(), &ours.is_error);
        }
        faults.compare("input", &state["input"], &ours.input);
        let output = state["output"].as_str().or(state["error"].as_str());
        faults.compare("output", &output, &ours.output.as_deref());
        let step = steps
            .iter()
            .rposition(|step| step["messageID"] == part["messageID"]);
        if let Some(step) = step {
            faults.compare("step of a call", &(step as u64 + 1), &ours.step);
        }
    }
    if served.is_completed() && ids.iter().all(|id| asked.contains_key(id)) {
        let mut ids = ids;
        ids.sort_unstable();
        let asked: Vec<&str> = asked.keys().copied().collect();
        faults.compare("calls asked for", &asked, &ids);
    }
}

fn failures(
    capture: &Capture,
    served: &Served<'_>,
    printed: &Printed,
    summary: &RunSummary,
    faults: &mut Faults,
) {
    let error = summary.error.as_ref();
    let message = error.map_or("", |error| error.message.as_str());
    if let (Some(line), false) = (printed.of_type("error").last(), served.is_completed()) {
        let (stated, data) = (&line["error"], &line["error"]["data"]);
        faults.compare("error message", &data["message"].as_str(), &Some(message));
        let name = match stated["name"].as_str() {
            Some("APIError") => Some("ApiError"),
            name => name,
        };
        faults.compare("error name", &name, &error.map(|error| error.name.as_str()));
        let status = error.and_then(|error| error.status_code).map(u64::from);
        faults.compare("statusCode", &data["statusCode"].as_u64(), &status);
        if let Some(is_retryable) = data["isRetryable"].as_bool() {
            let got = error.map(|error| error.is_retryable);
            faults.compare("isRetryable", &Some(is_retryable), &got);
        }
        let asked = data["responseHeaders"]["retry-after"].as_str();
        let asked = asked.and_then(|text| text.parse::<i64>().ok());
        let retry_at = asked.map(|wait| line["timestamp"].as_i64().unwrap() + 1000 * wait);
        faults.compare(
            "retryAt",
            &retry_at,
            &error.and_then(|error| error.retry_at),
        );
    } else if capture.stdout.is_empty() && !served.is_killed {
        let stderr = without_escapes(&String::from_utf8_lossy(&capture.stderr));
        let line = stderr.trim().lines().next().unwrap_or_default();
        let line = line.trim_start_matches("Error: ").trim();
        faults.want("stderr in the error", message.contains(line), &message);
    }
}

fn text(capture: &Capture, served: &Served<'_>, summary: &RunSummary, faults: &mut Faults) {
    let stdout = String::from_utf8_lossy(&capture.stdout);
    if !stdout.trim().is_empty() {
        let got = summary.output_format.as_deref();
        faults.compare("outputFormat", &Some("text"), &got);
    }
    let known = [&summary.session_id, &summary.cwd, &summary.cli_version];
    faults.compare("session, cwd, version", &[&None; 3], &known);
    let stderr = without_escapes(&String::from_utf8_lossy(&capture.stderr));
    let mut lines = stderr.lines();
    let model = lines.find_map(|line| line.strip_prefix("> ")?.split_once(" · "));
    let model = model.map(|(_, model)| model);
    faults.compare("model", &model, &summary.model.as_deref());
    faults.compare("usage", &None, &counters(summary));
    faults.compare("costUsd", &None, &summary.cost_usd);
    faults.compare("calls", &0, &summary.tool_calls.len());
    if served.is_completed() {
        let is_blank = stdout.trim().is_empty();
        let printed = stdout.strip_suffix('\n').unwrap_or(&stdout);
        let texts: Vec<String> = Some(printed.to_owned())
            .filter(|_| !is_blank)
            .into_iter()
            .collect();
        faults.compare("texts", &texts, &summary.texts);
        let answer = if is_blank { "" } else { printed };
        faults.compare("answer", &Some(answer), &summary.final_text.as_deref());
        faults.compare("steps", &1, &summary.steps);
    } else if !served.is_killed {
        let lines: Vec<&str> = stderr.lines().collect();
        let last = lines
            .iter()
            .rev()
            .find_map(|line| line.strip_prefix("Error: "));
        let message = summary.error.as_ref().map_or("", |error| &error.message);
        if let Some(last) = last {
            faults.compare("error message", &last.trim(), &message);
        }
    }
}
