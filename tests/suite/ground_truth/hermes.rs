//! What else must hold of a hermes capture: the rules that its formats share.

use runtape_core::{CheckpointStatus, ErrorFamily, RunSummary, SummaryToolCall};
use runtape_normalizer::Exit;
use serde_json::Value;

use crate::captures::Capture;

/// Formats with streamed boxes: all that the model said and called is printed.
const BOXES: &[&str] = &[
    "chat", "color", "skin", "tirith", "trunc", "tty", "noreason", "newmode", "offmode", "verbose",
];

/// A capture with what its ground truth says, in the words of the rules.
struct Told<'a> {
    format: &'a str,
    truth: &'a Value,
    /// Turns that the model's API answered.
    turns: Vec<&'a Value>,
    /// What was printed, without escapes and carriage returns.
    shown: String,
    /// The status of the last request that was refused, where no answer came after it.
    refused: Option<u64>,
    is_killed: bool,
    is_limited: bool,
    is_empty: bool,
}

/// Returns what differs.
pub(super) fn faults(capture: &Capture, summary: &RunSummary) -> Vec<String> {
    let told = Told::of(capture);
    let mut faults = Vec::new();
    let mut check = |what: &str, fault: Option<String>| {
        faults.extend(fault.map(|fault| format!("{what}: {fault}")));
    };
    check("format", told.format_fault(capture, summary));
    check("ending", told.ending(capture, summary));
    check("steps", told.steps(summary));
    check("calls", told.calls(summary));
    check("duration", told.duration(summary));
    check("children", told.children(summary));
    check("framing", framing(capture, summary));
    check("cut", told.cut(capture, summary));
    faults
}

fn differs<T: PartialEq + std::fmt::Debug>(expected: &T, got: &T) -> Option<String> {
    (expected != got).then(|| format!("expected {expected:?}, got {got:?}"))
}

/// What is left of a text when it was wrapped and its markdown marks were removed.
fn squashed(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && !"*`#_|─-".contains(*c))
        .collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_filled(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty()) || !list(value).is_empty()
}

/// Tells whether a call was run: unknown tools and broken arguments are not.
fn was_run(call: &Value) -> bool {
    let result = call["result"].as_str();
    result.is_some_and(|result| !result.starts_with("Tool '"))
}

impl<'a> Told<'a> {
    fn of(capture: &'a Capture) -> Self {
        let truth = capture.truth();
        let format = capture.format.as_str();
        let format = match format.split_once('-') {
            Some((version, format)) if version.starts_with("v0") => format,
            _ => format,
        };
        let both = format!(
            "{}\n{}",
            String::from_utf8_lossy(&capture.stdout),
            String::from_utf8_lossy(&capture.stderr)
        );
        let shown = runtape_normalizer::escapes::strip_escapes(&both).replace('\r', "");
        let argv = list(&capture.meta["argv"]);
        let starts = |start: &str| shown.lines().any(|line| line.starts_with(start));
        let all = list(&truth["turns"]);
        let last = all.iter().rev().find(|turn| turn["status"] != 200);
        let text = truth["final_text"].as_str();
        Self {
            format,
            truth,
            turns: all.iter().filter(|turn| turn["status"] == 200).collect(),
            refused: last
                .filter(|_| text.is_none())
                .and_then(|turn| turn["status"].as_u64()),
            is_killed: !capture.meta["kill"].is_null(),
            is_limited: starts("⚠️  Reached maximum iterations (")
                && argv.iter().any(|word| word == "--max-turns"),
            is_empty: text.is_some_and(|text| text.is_empty() || text.starts_with("⚠️ No reply")),
            shown,
        }
    }

    fn is_boxed(&self) -> bool {
        BOXES.contains(&self.format)
    }

    fn is_answer_alone(&self) -> bool {
        matches!(self.format, "quiet" | "oneshot")
    }

    fn format_fault(&self, capture: &Capture, summary: &RunSummary) -> Option<String> {
        let first = self.shown.lines().next().unwrap_or_default();
        let expected = match self.format {
            _ if capture.stdout.is_empty() => return None,
            "quiet" | "oneshot" => "quiet",
            // An answer without a call before it says nothing of who printed it.
            "lib" | "libspin" | "sample"
                if !first.trim_start().starts_with(['┊', '[', '⚠', '🧾']) =>
            {
                return None;
            }
            "lib" | "libspin" | "sample" => "lib",
            "nostream" | "acp" | "verbose" => self.format,
            _ => "chat",
        };
        differs(&Some(expected), &summary.output_format.as_deref())
    }

    fn ending(&self, capture: &Capture, summary: &RunSummary) -> Option<String> {
        let error = summary.error.as_ref();
        if (summary.status == CheckpointStatus::Completed) != error.is_none() {
            return Some("an error without a failure, or none with one".to_owned());
        }
        if self.is_killed {
            let name = error.map(|error| error.name.as_str());
            let is_named = matches!(name, Some("KilledBySignal" | "NonZeroExit"));
            return (!is_named).then(|| format!("killed, but called {name:?}"));
        }
        let is_refusal = |turn: &&Value| turn["finish"] == "content_filter";
        if self.turns.last().is_some_and(is_refusal) {
            let family = error.and_then(|error| error.family);
            let texts = summary.texts.iter().chain(&summary.final_text);
            let own = texts.filter(|text| text.contains("declined to respond"));
            return differs(&(Some(ErrorFamily::Refusal), 0), &(family, own.count()));
        }
        // Where only the answer is printed and the exit is 0, nothing shows the refusal.
        let is_silent = self.format == "oneshot" && capture.exit().is_success();
        let status = self.refused.filter(|_| !is_silent)?;
        let error = error?;
        if self.shown.contains(&format!("HTTP {status}"))
            && error.status_code.map(u64::from) != Some(status)
        {
            return Some(format!(
                "refused with {status}, but {:?}",
                error.status_code
            ));
        }
        let family = match status {
            401 => Some(ErrorFamily::Auth),
            429 => Some(ErrorFamily::RateLimit),
            _ => None,
        };
        if family.is_some() && error.family != family {
            return Some(format!("expected {family:?}, got {:?}", error.family));
        }
        if matches!(status, 400 | 401) && error.is_retryable {
            return Some("to be tried again".to_owned());
        }
        let message = &list(&self.truth["turns"]).last()?["error"]["error"]["message"];
        let message = squashed(message.as_str()?);
        if !squashed(&error.message).contains(&message) {
            return Some(format!("the message {:?}", error.message));
        }
        let said = summary
            .texts
            .iter()
            .find(|text| squashed(text).contains(&message));
        said.map(|text| format!("an error as an answer: {text:?}"))
    }

    /// Steps count the messages of the model that were printed.
    fn steps(&self, summary: &RunSummary) -> Option<String> {
        if self.is_answer_alone() && summary.status == CheckpointStatus::Completed {
            return differs(&1, &summary.steps);
        }
        let calls: Vec<&Value> = self
            .turns
            .iter()
            .flat_map(|turn| list(&turn["tool_calls"]))
            .collect();
        let is_shortened = matches!(self.format, "newmode" | "offmode");
        let is_patched = |turn: &&Value| !turn["finish"].is_null() || !turn["dropped"].is_null();
        if !self.is_boxed()
            || is_shortened
            || self.is_killed
            || self.is_limited
            || self.is_empty
            || self.turns.iter().any(is_patched)
            || !calls.into_iter().all(was_run)
        {
            return None;
        }
        let is_printed = |turn: &&&Value| {
            ["text", "reasoning", "tool_calls"]
                .iter()
                .any(|key| is_filled(&turn[*key]))
        };
        let expected = self.turns.iter().filter(is_printed).count() as u64;
        differs(&expected, &summary.steps)
    }

    /// Every call that is printed is there, with its outcome where the format tells it.
    fn calls(&self, summary: &RunSummary) -> Option<String> {
        let main = summary
            .runs
            .iter()
            .find(|run| run.parent_tool_call_id.is_none())?;
        let ours = summary.tool_calls.iter();
        let ours: Vec<&SummaryToolCall> = ours.filter(|call| call.run_id == main.run_id).collect();
        let calls = self.turns.iter().flat_map(|turn| list(&turn["tool_calls"]));
        let calls: Vec<&Value> = match self.format {
            "quiet" | "oneshot" => Vec::new(),
            _ if self.is_boxed() => calls.collect(),
            _ => calls.filter(|call| was_run(call)).collect(),
        };
        let names: Vec<_> = calls.iter().map(|call| call["name"].as_str()).collect();
        let found: Vec<_> = ours.iter().map(|call| Some(call.name.as_str())).collect();
        if names != found {
            return Some(format!("expected {names:?}, got {found:?}"));
        }
        if self.is_killed || matches!(self.format, "acp" | "newmode" | "offmode") {
            return None;
        }
        calls.iter().zip(ours).find_map(|(call, ours)| {
            let is_error = call["is_error"].as_bool().filter(|_| was_run(call));
            let fault = differs(&is_error, &ours.is_error)?;
            Some(format!("{} isError: {fault}", ours.name))
        })
    }

    fn duration(&self, summary: &RunSummary) -> Option<String> {
        if !self.is_boxed() && self.format != "nostream" {
            return None;
        }
        let line = self
            .shown
            .lines()
            .find_map(|line| line.strip_prefix("Duration:"));
        let expected = line.map(|line| {
            line.split_ascii_whitespace().fold(0, |sum, word| {
                let (number, unit) = word.split_at(word.len() - 1);
                let scale = match unit {
                    "h" => 3_600_000,
                    "m" => 60_000,
                    _ => 1000,
                };
                sum + number.parse::<i64>().unwrap() * scale
            })
        });
        differs(&expected, &summary.duration_ms)
    }

    /// Sub-agents are runs only where their own work is printed.
    fn children(&self, summary: &RunSummary) -> Option<String> {
        let calls = self.turns.iter().flat_map(|turn| list(&turn["tool_calls"]));
        let goals = calls.filter(|call| call["name"] == "delegate_task");
        let goals = goals.map(|call| list(&call["arguments"]["tasks"]).len().max(1));
        let is_shown = self.format == "libspin" && self.shown.contains("├─");
        let expected = if is_shown { goals.sum() } else { 0 };
        differs(&expected, &(summary.runs.len() - 1))
    }

    /// Without its end a run has not completed, and what it had said and called is the same.
    fn cut(&self, capture: &Capture, summary: &RunSummary) -> Option<String> {
        let has_summary = (self.is_boxed() || self.format == "nostream") && self.format != "tty";
        let find = |end: &str| last_of(&capture.stdout, end.as_bytes()).filter(|at| *at > 0);
        let end = match self.format {
            _ if self.is_killed || self.is_limited => None,
            "acp" => find("\"stopReason\"").and_then(|at| {
                let before = &capture.stdout[..at];
                last_of(before, b"{\"jsonrpc\":\"2.0\",\"id\":")
            }),
            _ if has_summary => find("\nResume this session with:"),
            _ => None,
        }?;
        let names = |summary: &RunSummary| -> Vec<String> {
            summary
                .tool_calls
                .iter()
                .map(|call| call.name.clone())
                .collect()
        };
        for (code, name) in [(0, "TruncatedOutput"), (137, "KilledBySignal")] {
            let cut = capture.summary_of(&capture.stdout[..end], &Exit::with_code(code));
            let expected = (
                CheckpointStatus::StoppedByError,
                &summary.texts,
                names(summary),
            );
            let fault = differs(&expected, &(cut.status, &cut.texts, names(&cut)));
            if fault.is_some() {
                return fault;
            }
            let error = cut.error.map(|error| error.name);
            if summary.status == CheckpointStatus::Completed && error.as_deref() != Some(name) {
                return Some(format!("expected {name}, got {error:?}"));
            }
        }
        None
    }
}

/// Returns where some bytes stand last.
fn last_of(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .rposition(|window| window == wanted)
}

/// The last newline says nothing.
fn framing(capture: &Capture, summary: &RunSummary) -> Option<String> {
    let bare = capture.stdout.strip_suffix(b"\n")?;
    if !capture.meta["kill"].is_null() {
        return None;
    }
    let again = capture.summary_of(bare, &capture.exit());
    (again != *summary).then(|| "another summary without the last newline".to_owned())
}
