//! Runs that were read from a history, against its truth file: a list of what differs.
//!
//! Of the responses that were sent, those count that some file holds (`found_in`). A run counts that
//! left a response in a file, or a line that was written while it ran.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use runtape_core::record::{UsageEntry, UsageSource};
use runtape_core::{
    CheckpointStatus, ExpertPart, Message, Record, RecordKind, TokenCounts, UserPart,
};
use runtape_normalizer::times::iso_millis;
use serde_json::Value;

use crate::home::{FoundRun, Home};

/// In what a runtime's history differs from what its model said.
pub(crate) struct Rules {
    /// Returns the texts of a response as the history has them.
    pub(crate) texts: fn(&Value) -> Vec<Value>,
    /// Returns the reasoning of a response as the history has it.
    pub(crate) thinking: fn(&Value) -> Vec<Value>,
    /// Returns what a response used.
    pub(crate) usage: fn(&Value) -> TokenCounts,
    /// Returns whether a result of `tool_results` is one of a failed call, and its text, which the
    /// result of the run has to contain.
    pub(crate) result: fn(&Value) -> (Option<bool>, String),
}

/// What one run of the tree said and did.
#[derive(Debug, Default)]
struct Said {
    prompts: Vec<String>,
    texts: Vec<String>,
    thinking: Vec<String>,
    /// Id, name and input.
    calls: Vec<(String, String, Value)>,
}

/// Reads the truth file beside a history, if there is one.
pub(crate) fn beside(history: &Path) -> Option<Value> {
    let name = format!("{}-truth.json", history.to_str()?);
    Some(serde_json::from_slice(&fs::read(name).ok()?).unwrap())
}

/// Returns the elements of a list; of anything else, none.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Compares all runs of a home with its truth.
pub(crate) fn compare(rules: &Rules, truth: &Value, home: &Home, runs: &[FoundRun]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut taken = BTreeSet::new();
    for expected in list(&truth["runs"]) {
        let mut mine: Vec<&FoundRun> = (0..runs.len())
            .filter(|index| belongs(&runs[*index], expected) && taken.insert(*index))
            .map(|index| &runs[index])
            .collect();
        mine.sort_by_key(|run| run.segment.started_at);
        let number = expected["run"].as_i64().unwrap();
        let mut found = run_faults(rules, expected, &mine);
        let segments = segments_of(expected, home);
        if mine.len() != segments {
            found.push(format!("expected {segments} segments, got {}", mine.len()));
        }
        faults.extend(
            found
                .into_iter()
                .map(|fault| format!("run {number}: {fault}")),
        );
    }
    for (index, run) in runs.iter().enumerate() {
        if !taken.contains(&index) {
            faults.push(format!("a run that never was: {}", short(&run.segment)));
        }
    }
    faults.extend(total_faults(rules, truth, runs));
    faults
}

fn found_responses(run: &Value) -> impl Iterator<Item = &Value> {
    let responses = list(&run["responses"]).iter();
    responses.filter(|response| !list(&response["found_in"]).is_empty())
}

fn window(expected: &Value) -> (i64, i64) {
    let time = |key: &str| iso_millis(expected[key].as_str().unwrap()).unwrap();
    (time("started"), time("ended"))
}

/// Tells whether a segment is of the process that the truth speaks of.
pub(crate) fn belongs(run: &FoundRun, expected: &Value) -> bool {
    let (started, ended) = window(expected);
    let session = expected["session_id"].as_str();
    session.is_none_or(|session| run.session == session)
        && run
            .segment
            .started_at
            .is_some_and(|at| (started..=ended).contains(&at))
}

/// Returns how many segments a process left: one in each session that it wrote to.
fn segments_of(expected: &Value, home: &Home) -> usize {
    let files = list(&expected["files"]).len();
    if expected["session_id"].is_null() {
        // A session that was cleared in the terminal goes on in a new one.
        return files;
    }
    let (started, ended) = window(expected);
    let lines = home
        .files
        .values()
        .flat_map(|bytes| bytes.split(|byte| *byte == b'\n'));
    let mut objects = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let is_written = |object: &Value| {
        let written = object["timestamp"].as_str().and_then(iso_millis);
        written.is_some_and(|at| (started..=ended).contains(&at))
    };
    usize::from(files > 0 || objects.any(|object| is_written(&object)))
}

fn run_faults(rules: &Rules, expected: &Value, runs: &[&FoundRun]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut differ = |what: &str, expected: &dyn std::fmt::Debug, got: &dyn std::fmt::Debug| {
        faults.push(format!(
            "{what}: expected {}, got {}",
            short(expected),
            short(got)
        ));
    };
    let (mut main, mut children) = (Said::default(), Said::default());
    for run in runs {
        gather(&run.records, &mut main, &mut children);
    }
    let of_main = |response: &&Value| response["queue"] == "main";
    for (is_main, said) in [(true, &mut main), (false, &mut children)] {
        let responses = || found_responses(expected).filter(|r| of_main(r) == is_main);
        for (what, mut truth, mut ours) in [
            (
                "texts",
                responses()
                    .flat_map(|r| whole(r, rules.texts))
                    .collect::<Vec<_>>(),
                said.texts.clone(),
            ),
            (
                "thinking",
                responses().flat_map(|r| whole(r, rules.thinking)).collect(),
                said.thinking.clone(),
            ),
        ] {
            if !is_main {
                // Sub-agents work at the same time.
                truth.sort_by_key(|(text, _)| text.to_string());
                ours.sort_by_key(|text| Value::from(text.as_str()).to_string());
            }
            let is_same = ours.len() == truth.len();
            if !is_same || !ours.iter().zip(&truth).all(|(a, b)| same_or_cut(a, b)) {
                differ(what, &truth, &ours);
            }
        }
        let mut calls: Vec<&Value> = responses()
            .flat_map(|response| list(&response["tool_calls"]))
            .collect();
        if !is_main {
            calls.sort_by_key(|call| (call["name"].to_string(), call["input"].to_string()));
            said.calls.sort_by_key(|(_, name, input)| {
                (Value::from(name.as_str()).to_string(), input.to_string())
            });
        }
        let is_same = calls.len() == said.calls.len();
        let mut pairs = calls.iter().zip(&said.calls);
        if !is_same || !pairs.all(|(truth, (id, name, input))| same_call(truth, id, name, input)) {
            differ("calls", &calls, &said.calls);
        }
    }
    let prompts = prompts(expected);
    if !runs.is_empty() && main.prompts != prompts {
        differ("prompts", &prompts, &main.prompts);
    }
    let responses: Vec<&Value> = found_responses(expected).collect();
    let mut keys: Vec<&str> = responses
        .iter()
        .filter_map(|r| r["message_id"].as_str())
        .collect();
    let entries: Vec<&UsageEntry> = runs.iter().flat_map(|run| itemized(&run.records)).collect();
    let mut ours: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    ours.sort_unstable();
    keys.sort_unstable();
    if !keys.is_empty() && keys != ours {
        differ("responses", &keys, &ours);
    }
    let mut named: Vec<&str> = runs
        .iter()
        .flat_map(|run| &run.segment.responses)
        .map(String::as_str)
        .collect();
    named.sort_unstable();
    if named != ours {
        differ("responses of the segment", &ours, &named);
    }
    let counts = |counts: TokenCounts| {
        (
            counts.input_tokens,
            counts.cached_input_tokens,
            counts.output_tokens,
        )
    };
    let mut used: Vec<_> = responses.iter().map(|r| counts((rules.usage)(r))).collect();
    let mut got: Vec<_> = entries.iter().map(|entry| counts(entry.counts)).collect();
    used.sort_unstable();
    got.sort_unstable();
    if used != got {
        differ("usage", &used, &got);
    }
    for run in runs {
        faults.extend(result_faults(rules, expected, run));
        faults.extend(head_faults(expected, run));
    }
    faults
}

/// Returns texts of a response, and whether it was sent to its end.
fn whole(response: &Value, texts: fn(&Value) -> Vec<Value>) -> Vec<(Value, bool)> {
    let is_whole = response["complete"] != false;
    texts(response)
        .into_iter()
        .map(|text| (text, is_whole))
        .collect()
}

/// Compares a text with the truth; of a response that was cut off, any part of it may have arrived.
fn same_or_cut(ours: &str, (truth, is_whole): &(Value, bool)) -> bool {
    let is_part = truth.as_str().is_some_and(|truth| truth.starts_with(ours));
    same_text(ours, truth) || !is_whole && !ours.is_empty() && is_part
}

/// Compares what tools gave back, and what is told of the run itself.
fn result_faults(rules: &Rules, expected: &Value, run: &FoundRun) -> Vec<String> {
    let mut faults = Vec::new();
    for call in &run.summary.tool_calls {
        let Some(truth) = expected["tool_results"].get(&call.id) else {
            continue;
        };
        let (is_error, text) = (rules.result)(truth);
        let output = call.output.as_deref().unwrap_or_default();
        if is_error.is_some() && call.is_error != is_error || !output.contains(&text) {
            faults.push(format!(
                "result: expected {}, got {}",
                short(truth),
                short(call)
            ));
        }
    }
    faults
}

fn head_faults(expected: &Value, run: &FoundRun) -> Vec<String> {
    let mut faults = Vec::new();
    let summary = &run.summary;
    let session = expected["session_id"].as_str();
    if session.is_some() && summary.session_id.as_deref() != session {
        faults.push(format!(
            "session: expected {session:?}, got {:?}",
            summary.session_id
        ));
    }
    if run.segment.cwd.as_deref() != expected["cwd"].as_str() {
        faults.push(format!(
            "cwd: expected {}, got {:?}",
            expected["cwd"], run.segment.cwd
        ));
    }
    if summary.output_format.as_deref() != Some("history") {
        faults.push(format!("format: {:?}", summary.output_format));
    }
    let is_completed = summary.status == CheckpointStatus::Completed;
    if expected["exit_code"] != 0 && is_completed && !is_killed_idle(expected) {
        faults.push(format!(
            "exit code {}, and completed",
            expected["exit_code"]
        ));
    }
    // A line that was cut, before the session was taken up again, is no fault of the reader.
    let is_cut = |reason: &str| reason.contains("EOF while parsing");
    for unparsed in summary.unparsed.iter().filter(|it| !is_cut(&it.reason)) {
        faults.push(format!("unparsed: {}", short(unparsed)));
    }
    faults
}

/// Tells whether a signal ended a process after the last answer was whole, which no history tells.
fn is_killed_idle(expected: &Value) -> bool {
    let last = list(&expected["responses"]).last();
    let is_whole =
        last.is_some_and(|last| last["complete"] == true && list(&last["tool_calls"]).is_empty());
    expected["signal"].is_string() && is_whole
}

fn total_faults(rules: &Rules, truth: &Value, runs: &[FoundRun]) -> Vec<String> {
    let mut faults = Vec::new();
    let all: Vec<&Value> = list(&truth["runs"])
        .iter()
        .flat_map(found_responses)
        .collect();
    let expected = all
        .iter()
        .fold(TokenCounts::default(), |sum, r| sum.plus((rules.usage)(r)));
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sum = TokenCounts::default();
    for entry in runs.iter().flat_map(|run| itemized(&run.records)) {
        *times.entry(&entry.key).or_default() += 1;
        sum = sum.plus(entry.counts);
    }
    for (key, count) in times.iter().filter(|(_, count)| **count > 1) {
        faults.push(format!("{key} counts {count} times"));
    }
    let count = truth["totals"]["responses_in_history"].as_u64();
    if count != u64::try_from(times.len()).ok() {
        faults.push(format!("expected {count:?} responses, got {}", times.len()));
    }
    let known = |sum: TokenCounts| (sum.input_tokens, sum.cached_input_tokens, sum.output_tokens);
    if known(sum) != known(expected) {
        faults.push(format!("total: expected {expected:?}, got {sum:?}"));
    }
    faults
}

/// Returns what responses used, one by one.
fn itemized(records: &[Record]) -> impl Iterator<Item = &UsageEntry> {
    records.iter().filter_map(|record| match &record.kind {
        RecordKind::Usage(entry) if entry.source == UsageSource::Response => Some(entry),
        _ => None,
    })
}

fn gather(records: &[Record], main: &mut Said, children: &mut Said) {
    let root = records.first().map(|record| &record.run_id);
    for record in records {
        let is_main = Some(&record.run_id) == root;
        let said = if is_main { &mut *main } else { &mut *children };
        let RecordKind::Message(message) = &record.kind else {
            continue;
        };
        match &message.message {
            Message::UserMessage(user) => {
                said.prompts
                    .extend(user.contents.iter().filter_map(|part| match part {
                        UserPart::TextPart(part) => Some(part.text.clone()),
                        _ => None,
                    }));
            }
            Message::ExpertMessage(expert) => {
                for part in &expert.contents {
                    match part {
                        ExpertPart::TextPart(part) => said.texts.push(part.text.clone()),
                        ExpertPart::ThinkingPart(part) if part.thinking.is_empty() => {}
                        ExpertPart::ThinkingPart(part) => said.thinking.push(part.thinking.clone()),
                        ExpertPart::ToolCallPart(part) => said.calls.push((
                            part.tool_call_id.as_str().to_owned(),
                            part.tool_name.as_str().to_owned(),
                            part.args.clone(),
                        )),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns what was asked, as the user typed it; slash commands are no prompts.
fn prompts(expected: &Value) -> Vec<String> {
    let mut prompts: Vec<String> = list(&expected["prompts"])
        .iter()
        .filter_map(|prompt| prompt.as_str().map(str::to_owned))
        .filter(|prompt| !prompt.starts_with('/'))
        .collect();
    for message in list(&expected["stdin"]) {
        let content = &message["message"]["content"];
        prompts.extend(content.as_str().map(str::to_owned));
        let parts = list(content).iter();
        prompts.extend(parts.filter_map(|part| part["text"].as_str().map(str::to_owned)));
    }
    prompts
}

fn same_call(truth: &Value, id: &str, name: &str, input: &Value) -> bool {
    truth["name"] == name
        && truth["id"].as_str().is_none_or(|truth| truth == id)
        && covers(input, &truth["input"])
}

/// Tells whether `ours` has all of `truth`; the CLI may have filled in defaults.
fn covers(ours: &Value, truth: &Value) -> bool {
    match (ours, truth) {
        (Value::Object(ours), Value::Object(truth)) => truth
            .iter()
            .all(|(key, value)| ours.get(key).is_some_and(|our| covers(our, value))),
        (Value::String(ours), truth) => same_text(ours, truth),
        (ours, truth) => ours == truth,
    }
}

/// Compares a text with the truth, which gives long ones as length and first characters.
fn same_text(ours: &str, truth: &Value) -> bool {
    match truth {
        Value::String(text) => ours == text,
        Value::Object(long) => {
            let count = u64::try_from(ours.chars().count()).ok();
            long["head"]
                .as_str()
                .is_some_and(|head| ours.starts_with(head))
                && long["chars"].as_u64() == count
        }
        _ => false,
    }
}

fn short(value: &(impl std::fmt::Debug + ?Sized)) -> String {
    let text = format!("{value:?}");
    if text.chars().count() <= 400 {
        return text;
    }
    text.chars().take(400).chain("…".chars()).collect()
}
