//! codex's output, and what was served to it, against its summary.

use runtape_core::{RunSummary, SummaryToolCall};
use serde_json::{Value, json};

use super::formats::{self, Calls};
use super::plain::Faults;
use super::served::{Served, counters};
use crate::captures::Capture;

/// Types of items that are calls.
const TOOLS: &[&str] = &[
    "command_execution",
    "file_change",
    "mcp_tool_call",
    "web_search",
    "collab_tool_call",
    "todo_list",
];

pub(super) fn compare(capture: &Capture, summary: &RunSummary, faults: &mut Faults) {
    let served = Served::of(capture);
    served.compare_end(summary, faults);
    faults.compare("costUsd", &None, &summary.cost_usd);
    if !capture.stdout.is_empty() {
        let got = summary.output_format.as_deref();
        faults.compare("outputFormat", &Some(capture.format.as_str()), &got);
    }
    if formats::of(capture).calls == Calls::None {
        text(capture, &served, summary, faults);
    } else {
        json(capture, &served, summary, faults);
    }
}

/// The events of an output, and whether a line is none. Of two ids of an item the first counts, which
/// is the key that the item begins with.
fn events(capture: &Capture) -> (Vec<Value>, bool) {
    let (mut events, mut is_cut) = (Vec::new(), false);
    for line in String::from_utf8_lossy(&capture.stdout).split('\n') {
        match serde_json::from_str::<Value>(line) {
            Ok(mut event) => {
                let item = line.split_once("\"item\":{\"id\":\"");
                if let Some((id, _)) = item.and_then(|(_, rest)| rest.split_once('"')) {
                    event["item"]["id"] = id.into();
                }
                events.push(event);
            }
            Err(_) => is_cut |= !line.trim().is_empty(),
        }
    }
    (events, is_cut)
}

fn of_type<'e>(events: &'e [Value], tag: &str) -> impl DoubleEndedIterator<Item = &'e Value> {
    let tag = tag.to_owned();
    events.iter().filter(move |event| event["type"] == tag)
}

fn json(capture: &Capture, served: &Served<'_>, summary: &RunSummary, faults: &mut Faults) {
    let (events, is_cut) = events(capture);
    faults.compare("unparsed", &usize::from(is_cut), &summary.unparsed.len());
    let thread = of_type(&events, "thread.started").next();
    let thread = thread.and_then(|event| event["thread_id"].as_str());
    faults.compare("session", &thread, &summary.session_id.as_deref());
    if let Some(resumed) = capture.meta["resumed_session_id"].as_str() {
        let got = summary.session_id.as_deref();
        faults.compare("resumed session", &Some(resumed), &got);
    }
    let known = [&summary.model, &summary.cwd, &summary.cli_version];
    faults.compare("model, cwd, version", &[&None; 3], &known);
    usage(capture, served, summary, faults);

    let items: Vec<&Value> = of_type(&events, "item.completed")
        .map(|event| &event["item"])
        .collect();
    let printed = |kind: &str| -> Vec<String> {
        let items = items.iter().filter(|item| item["type"] == kind);
        items
            .map(|item| item["text"].as_str().unwrap().to_owned())
            .collect()
    };
    let texts = printed("agent_message");
    faults.compare("printed texts", &texts, &summary.texts);
    faults.compare("printed thinking", &printed("reasoning"), &summary.thinking);
    faults.compare("texts", &served.said("text"), &summary.texts);
    faults.compare("thinking", &served.said("reasoning"), &summary.thinking);
    if served.is_completed() {
        let served = capture.truth()["final_text"].as_str();
        let expected = served.or(texts.last().map(String::as_str));
        faults.compare("answer", &expected, &summary.final_text.as_deref());
    }
    calls(&events, summary, faults);
    if !served.is_killed {
        asked(served, summary, faults);
    }
    failures(capture, &events, summary, faults);
}

/// The thread's total so far, sub-agents not included; of a failed or killed turn nothing is known.
fn usage(capture: &Capture, served: &Served<'_>, summary: &RunSummary, faults: &mut Faults) {
    // A dropped stream is charged and not printed.
    if capture.scenario == "stream_drop" {
        return;
    }
    let total =
        |counter: &str| served.used("usage_main", counter) + served.used("usage_before", counter);
    // The tokens of a review are its own thread's: this one has used nothing.
    let is_review = capture.meta["argv"]
        .as_array()
        .is_some_and(|argv| argv.iter().any(|word| word == "review"));
    let total = |counter: &str| if is_review { 0 } else { total(counter) };
    let cached = total("cached_tokens");
    let expected = served.is_completed().then(|| {
        [
            total("input_tokens") - cached,
            cached,
            total("output_tokens"),
            total("reasoning_tokens"),
        ]
        .map(Some)
    });
    faults.compare("usage", &expected, &counters(summary));
}

/// A call as it stands in the output.
struct Printed<'e> {
    item: &'e Value,
    is_open: bool,
    step: u64,
}

/// A call is an item; a message or a thought after a call opens the next step.
fn calls(events: &[Value], summary: &RunSummary, faults: &mut Faults) {
    let (mut steps, mut has_called) = (0, false);
    let mut printed: Vec<Printed<'_>> = Vec::new();
    for event in events {
        let item = &event["item"];
        let kind = item["type"].as_str().unwrap_or_default();
        if matches!(kind, "agent_message" | "reasoning") {
            if has_called || steps == 0 {
                steps += 1;
                has_called = false;
            }
        } else if TOOLS.contains(&kind) {
            let is_open = event["type"] != "item.completed";
            let known = printed
                .iter_mut()
                .find(|call| call.item["id"] == item["id"]);
            if let Some(call) = known {
                call.item = item;
                call.is_open &= is_open;
            } else {
                steps = steps.max(1);
                has_called = true;
                let step = steps;
                printed.push(Printed {
                    item,
                    is_open,
                    step,
                });
            }
        }
    }
    faults.compare("steps", &steps, &summary.steps);
    let ids: Vec<&str> = printed
        .iter()
        .map(|call| call.item["id"].as_str().unwrap())
        .collect();
    let got: Vec<&str> = summary
        .tool_calls
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    faults.compare("calls", &ids, &got);
    for (call, ours) in printed.iter().zip(&summary.tool_calls) {
        faults.compare("step of a call", &call.step, &ours.step);
        compare_call(call, ours, faults);
    }
}

fn compare_call(call: &Printed<'_>, ours: &SummaryToolCall, faults: &mut Faults) {
    let item = call.item;
    let kind = item["type"].as_str().unwrap();
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    let name = match kind {
        "mcp_tool_call" => format!("mcp__{}__{}", text("server"), text("tool")),
        "collab_tool_call" => text("tool").to_owned(),
        kind => kind.to_owned(),
    };
    faults.compare("name", &name, &ours.name);
    let has_failed = matches!(text("status"), "failed" | "declined")
        || item["exit_code"].as_i64().is_some_and(|code| code != 0);
    let is_error = (!call.is_open).then_some(has_failed);
    faults.compare("isError", &is_error, &ours.is_error);
    let input = match kind {
        "command_execution" => Some(json!({"command": item["command"]})),
        "file_change" => Some(json!({"changes": item["changes"]})),
        "mcp_tool_call" => Some(item["arguments"].clone()),
        _ => None,
    };
    if let Some(input) = input {
        faults.compare("input", &input, &ours.input);
    }
    for key in ["query", "prompt"] {
        if let Some(text) = item[key].as_str() {
            let is_kept = ours.input[key].as_str() == Some(text) || call.is_open;
            faults.want("input", is_kept, &ours.input);
        }
    }
    if kind == "command_execution" && !call.is_open {
        let output = item["aggregated_output"].as_str();
        faults.compare("output", &output, &ours.output.as_deref());
    }
    let blocks = item["result"]["content"].as_array();
    for block in blocks.into_iter().flatten() {
        let text = block["text"].as_str().unwrap_or_default();
        let is_kept = ours
            .output
            .as_deref()
            .is_some_and(|output| output.contains(text));
        faults.want("output", is_kept, &ours.output);
    }
}

/// Every command that the model asked for and that could be routed is there once, with its outcome.
fn asked(served: &Served<'_>, summary: &RunSummary, faults: &mut Faults) {
    let refusals = [
        "failed to parse",
        "apply_patch verification failed",
        "unsupported call",
        "approval policy is",
    ];
    let turns = served.turns.iter().filter(|turn| turn["status"] == 200);
    let calls = turns.flat_map(|turn| turn["tool_calls"].as_array().unwrap());
    let asked: Vec<(&Value, &str)> = calls
        .filter_map(|call| {
            let name = match call["name"].as_str()? {
                "exec_command" => "command_execution",
                "apply_patch" => "file_change",
                _ => return None,
            };
            let result = call["result"].as_str()?;
            let is_routed = !refusals.iter().any(|start| result.starts_with(start));
            is_routed.then_some((call, name))
        })
        .collect();
    let mut names: Vec<&str> = asked.iter().map(|(_, name)| *name).collect();
    let ours = summary.tool_calls.iter().map(|call| call.name.as_str());
    let mut ours: Vec<&str> = ours
        .filter(|name| matches!(*name, "command_execution" | "file_change"))
        .collect();
    names.sort_unstable();
    ours.sort_unstable();
    faults.compare("calls asked for", &names, &ours);
    for (call, _) in asked {
        let (Some(command), Some(is_error)) = (
            call["arguments"]["cmd"].as_str(),
            call["is_error"].as_bool(),
        ) else {
            continue;
        };
        // Quoted commands are written otherwise.
        if command.len() >= 60 || command.contains('\'') {
            continue;
        }
        let has_outcome = summary.tool_calls.iter().any(|ours| {
            let printed = ours.input["command"].as_str().unwrap_or_default();
            printed.contains(command) && ours.is_error.is_none_or(|ours| ours == is_error)
        });
        faults.want("outcome of a command", has_outcome, &command);
    }
}

fn failures(capture: &Capture, events: &[Value], summary: &RunSummary, faults: &mut Faults) {
    let error = summary.error.as_ref();
    let message = error.map_or("", |error| error.message.as_str());
    let lines = of_type(events, "error").map(|event| &event["message"]);
    let items = events.iter().map(|event| &event["item"]);
    let items = items.filter(|item| item["type"] == "error");
    for text in lines.chain(items.map(|item| &item["message"])) {
        let text = text.as_str().unwrap();
        let kind = if text.starts_with("Reconnecting") {
            "retry"
        } else {
            "warning"
        };
        let mut notices = summary.notices.iter().filter(|notice| notice.kind == kind);
        let is_kept = notices.any(|notice| notice.text.contains(text));
        faults.want("error line noted", is_kept, &text);
    }
    if let Some(failed) = of_type(events, "turn.failed").next_back() {
        let said = failed["error"]["message"].as_str().unwrap();
        faults.compare("error message", &said, &message);
        let name = error.map(|error| error.name.as_str());
        faults.compare("error name", &Some("ApiError"), &name);
        let got = error.and_then(|error| error.status_code);
        faults.compare("statusCode", &status_in(said), &got);
    } else if capture.stdout.is_empty() && capture.meta["kill"].is_null() {
        let stderr = String::from_utf8_lossy(&capture.stderr);
        let mut lines = stderr
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with("Reading additional"));
        let line = lines.next().unwrap();
        let line = line
            .trim_start_matches("Error: ")
            .trim_start_matches("error: ");
        faults.want("stderr in the error", message.contains(line), &message);
    }
}

fn status_in(message: &str) -> Option<u16> {
    message.split("status").skip(1).find_map(|rest| {
        let rest = rest.strip_prefix(':').unwrap_or(rest).strip_prefix(' ')?;
        rest.get(..3)?.parse().ok()
    })
}

fn text(capture: &Capture, served: &Served<'_>, summary: &RunSummary, faults: &mut Faults) {
    let stderr = String::from_utf8_lossy(&capture.stderr);
    let header = stderr.split_once("OpenAI Codex v").map(|(_, rest)| rest);
    let version = header.and_then(|header| header.lines().next());
    let fields = header.and_then(|header| header.split("--------\n").nth(1));
    let field = |name: &str| {
        let mut lines = fields?.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    };
    let expected = [
        field("session id"),
        field("model"),
        field("workdir"),
        version,
    ];
    let got = [
        &summary.session_id,
        &summary.model,
        &summary.cwd,
        &summary.cli_version,
    ];
    let got = got.map(Option::as_deref);
    faults.compare("session, model, cwd, version", &expected, &got);
    faults.compare("usage", &None, &counters(summary));
    faults.compare("calls", &0, &summary.tool_calls.len());
    faults.compare("thinking", &0, &summary.thinking.len());
    if served.is_completed() {
        let stdout = String::from_utf8_lossy(&capture.stdout);
        let printed = stdout.strip_suffix('\n').unwrap_or(&stdout);
        faults.compare("texts", &vec![printed.to_owned()], &summary.texts);
        faults.compare("answer", &Some(printed), &summary.final_text.as_deref());
        let expected = capture.truth()["final_text"].as_str();
        if let Some(expected) = expected {
            let (expected, got) = (expected.trim_matches('\n'), printed.trim_matches('\n'));
            faults.compare("served answer", &expected, &got);
        }
        faults.compare("steps", &1, &summary.steps);
    } else if !served.is_killed {
        let last = stderr.lines().rev().find_map(|line| {
            let prefixes = ["ERROR: ", "Error: ", "error: "];
            prefixes.iter().find_map(|prefix| line.strip_prefix(prefix))
        });
        let message = summary.error.as_ref().map_or("", |error| &error.message);
        if let Some(last) = last {
            faults.want("error message", message.contains(last), &message);
        }
    }
}
