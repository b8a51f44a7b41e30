//! gemini's histories.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::{Record, Runtime, TokenCounts, summarize};
use runtape_normalizer::history::{Segment, segment_bytes};
use runtape_normalizer::times::iso_millis;
use runtape_tests::recorded_histories::{histories, report};
use serde_json::{Map, Value};

use crate::home::{FoundRun, Home, normalize};
use crate::truth::{self, Rules, list};

/// A message's text is kept in one piece, without white space around it. 0.61.0 also leaves out what
/// joins characters or turns their direction.
fn texts(response: &Value) -> Vec<Value> {
    let texts = list(&response["texts"]).iter().filter_map(Value::as_str);
    let whole: String = texts
        .flat_map(str::chars)
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}'))
        .collect();
    match whole.trim() {
        "" => Vec::new(),
        text => vec![text.into()],
    }
}

/// A thought is kept as its heading and the rest, whatever was between them.
fn thinking(response: &Value) -> Vec<Value> {
    let thoughts = list(&response["thinking"]).iter().filter_map(Value::as_str);
    let whole = |thought: &str| {
        let parts = thought
            .strip_prefix("**")
            .and_then(|it| it.split_once("**"));
        match parts {
            Some((subject, rest)) => format!("**{subject}**\n\n{}", rest.trim()),
            None => thought.to_owned(),
        }
    };
    thoughts.map(|thought| whole(thought).into()).collect()
}

fn usage(response: &Value) -> TokenCounts {
    let number = |key: &str| response["usage"][key].as_i64().unwrap_or(0);
    let cached = number("cachedContentTokenCount");
    TokenCounts {
        input_tokens: Some(number("promptTokenCount") - cached),
        cached_input_tokens: Some(cached),
        output_tokens: Some(number("candidatesTokenCount") + number("thoughtsTokenCount")),
        reasoning_tokens: None,
        ..TokenCounts::default()
    }
}

/// What a tool gave back is said to the model as an output or as an error.
fn result(result: &Value) -> (Option<bool>, String) {
    let response = &result["response"];
    if let Some(error) = response["error"].as_str() {
        return (Some(true), error.to_owned());
    }
    let text = response["output"].as_str().unwrap_or_default();
    let has_failed = result["name"] == "run_shell_command" && text.contains("\nExit Code: ");
    (Some(has_failed), text.to_owned())
}

const RULES: Rules = Rules {
    texts,
    thinking,
    usage,
    result,
};

/// Names calls and their results as the CLI does since 0.37: by the tool, too.
fn name_calls(truth: &mut Value) {
    for run in truth["runs"].as_array_mut().unwrap() {
        for response in run["responses"].as_array_mut().unwrap() {
            let calls = response.get_mut("tool_calls").and_then(Value::as_array_mut);
            for call in calls.into_iter().flatten() {
                if let (Some(name), Some(id)) = (call["name"].as_str(), call["id"].as_str()) {
                    call["id"] = format!("{name}__{id}").into();
                }
            }
        }
        let Some(results) = run["tool_results"].as_object_mut() else {
            continue;
        };
        let named: Map<String, Value> = results
            .iter()
            .map(|(id, result)| {
                let name = result["name"].as_str().unwrap();
                (format!("{name}__{id}"), result.clone())
            })
            .collect();
        results.extend(named);
    }
}

#[test]
fn every_history_has_what_really_happened() {
    let mut compared = Vec::new();
    for path in histories("gemini") {
        let Some(mut truth) = truth::beside(&path) else {
            continue;
        };
        name_calls(&mut truth);
        let home = Home::read(Runtime::Gemini, &path);
        let mut faults = truth::compare(&RULES, &truth, &home, &home.runs());
        // Documents do not say where the CLI worked.
        let is_old = list(&truth["runs"])
            .iter()
            .any(|run| run["cli_version"] == "0.27.0");
        faults.retain(|fault| !(is_old && fault.contains("cwd: ") && fault.ends_with("got None")));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        compared.push((name, faults));
    }
    report("gemini", &compared);
}

/// Returns what tells a run from others, and all of its records.
fn outline(home: &Home) -> Vec<String> {
    let runs = home.runs().into_iter();
    let show = |run: FoundRun| {
        let segment = Segment {
            lines: Vec::new(),
            ..run.segment
        };
        let records = serde_json::to_string(&run.records).unwrap();
        format!("{} {segment:?} {records}", run.session)
    };
    runs.map(show).collect()
}

#[test]
fn nothing_in_a_history_is_unknown() {
    for path in histories("gemini") {
        let home = Home::read(Runtime::Gemini, &path);
        let runs = home.runs();
        assert!(!runs.is_empty(), "{path:?}");
        for run in runs {
            assert!(run.summary.unparsed.is_empty(), "{path:?}");
            assert_eq!(run.segment.unreadable, 0, "{path:?}");
            let records = serde_json::to_string(&run.records).unwrap();
            assert!(!records.contains("unknownKeys"), "{path:?}");
        }
    }
}

#[test]
fn copies_of_a_directory_change_nothing() {
    for path in histories("gemini") {
        let home = Home::read(Runtime::Gemini, &path);
        let mut copied = home.clone();
        for (name, bytes) in &home.files {
            for place in ["0", "zz"] {
                let name = format!("{place}/{name}");
                copied.files.insert(name, bytes.clone());
            }
        }
        assert_eq!(outline(&home), outline(&copied), "{path:?}");
    }
}

/// Returns when each line of a file was written; documents were there before.
fn times(bytes: &[u8]) -> Vec<i64> {
    let mut last = 0;
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let written = lines.map(|line| {
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        let times = [
            &line["timestamp"],
            &line["startTime"],
            &line["$set"]["lastUpdated"],
        ];
        let times = times.iter().filter_map(|time| iso_millis(time.as_str()?));
        last = times.max().unwrap_or(last).max(last);
        last
    });
    written.collect()
}

/// Returns all files as they were at a time.
fn at_time(home: &Home, time: i64) -> Home {
    let mut cut = home.clone();
    for bytes in cut.files.values_mut() {
        let lines = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .zip(times(bytes));
        let before = lines.take_while(|(_, written)| *written <= time);
        *bytes = before.flat_map(|(line, _)| line).copied().collect();
    }
    cut
}

#[test]
fn a_history_that_grows_gives_what_the_whole_one_does() {
    for path in histories("gemini") {
        let whole = Home::read(Runtime::Gemini, &path);
        let sessions = whole.sessions();
        let times: BTreeSet<i64> = whole
            .files
            .values()
            .flat_map(|bytes| times(bytes))
            .collect();
        let mut grown: BTreeMap<(String, String), Vec<u8>> = BTreeMap::new();
        for time in times {
            for (name, found) in at_time(&whole, time).sessions() {
                for segment in &found.session.segments {
                    // A run has the same key from its first line on, and what is added to its tape is
                    // what is not there.
                    let key = (name.clone(), segment.key.clone());
                    let tape = grown.entry(key).or_default();
                    let bytes = segment_bytes(segment, &found.sources);
                    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                        if !tape
                            .split_inclusive(|byte| *byte == b'\n')
                            .any(|known| known == line)
                        {
                            tape.extend_from_slice(line);
                        }
                    }
                }
            }
        }
        let mut count = 0;
        for (name, found) in &sessions {
            for segment in &found.session.segments {
                let tape = grown.get(&(name.clone(), segment.key.clone())).unwrap();
                let whole = normalize(&Runtime::Gemini, &segment_bytes(segment, &found.sources));
                let grown = normalize(&Runtime::Gemini, tape);
                assert_eq!(facts(&grown), facts(&whole), "{path:?}");
                count += 1;
            }
        }
        assert_eq!(grown.len(), count, "{path:?}: a run that is gone");
    }
}

/// Returns what a run said and used, wherever it stands on the tape.
fn facts(records: &[Record]) -> (Vec<String>, Vec<String>, String, String) {
    let mut summary = summarize(records).unwrap();
    summary.texts.sort_unstable();
    summary.thinking.sort_unstable();
    summary
        .tool_calls
        .sort_by(|one, other| one.id.cmp(&other.id));
    let calls = summary.tool_calls.iter();
    let calls: Vec<_> = calls
        .map(|call| (&call.id, &call.input, &call.output, call.is_error))
        .collect();
    let rest = (
        &summary.usage,
        summary.steps,
        summary.status,
        summary.runs.len(),
    );
    (
        summary.texts,
        summary.thinking,
        format!("{calls:?}"),
        format!("{rest:?}"),
    )
}
