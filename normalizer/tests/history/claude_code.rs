//! claude-code's histories.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use runtape_core::{RecordKind, Runtime, TokenCounts};
use runtape_normalizer::history::{Segment, segment_bytes};
use runtape_tests::recorded_histories::{histories, report};
use serde_json::Value;

use crate::home::Home;
use crate::joined;
use crate::truth::{self, Rules, list};

fn usage(response: &Value) -> TokenCounts {
    let usage = &response["usage"];
    let number = |key: &str| usage[key].as_i64();
    TokenCounts {
        input_tokens: Some(
            number("input_tokens").unwrap_or(0)
                + number("cache_creation_input_tokens").unwrap_or(0),
        ),
        cached_input_tokens: Some(number("cache_read_input_tokens").unwrap_or(0)),
        output_tokens: number("output_tokens"),
        reasoning_tokens: None,
        ..TokenCounts::default()
    }
}

const RULES: Rules = Rules {
    texts: |response| list(&response["texts"]).to_vec(),
    thinking: |response| list(&response["thinking"]).to_vec(),
    usage,
    result: |result| {
        let text = result["text"].as_str().unwrap_or_default();
        // What the CLI adds to a result when it sends it is no part of it.
        let text = text.split("\n<system-reminder>").next().unwrap_or_default();
        (result["is_error"].as_bool(), text.to_owned())
    },
};

#[test]
fn every_history_has_what_really_happened() {
    let mut compared = Vec::new();
    for path in histories("claude-code") {
        let Some(truth) = truth::beside(&path) else {
            continue;
        };
        let home = Home::read(Runtime::ClaudeCode, &path);
        let faults = truth::compare(&RULES, &truth, &home, &home.runs());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        compared.push((name, faults));
    }
    report("claude-code", &compared);
}

#[test]
fn a_run_of_both_sources_knows_no_less_than_either_and_nothing_twice() {
    let pairs = joined::all(&Runtime::ClaudeCode);
    let compared: Vec<_> = pairs
        .iter()
        .map(|pair| (pair.name.clone(), joined::faults(pair)))
        .collect();
    report("claude-code pairs", &compared);
}

/// What a process cost is printed at its end, and in the history it is the difference of two totals.
#[test]
fn the_cost_of_a_process_is_that_which_it_printed() {
    let mut compared = 0;
    for pair in joined::all(&Runtime::ClaudeCode) {
        let (Some(live), Some(history)) = (pair.live.cost_usd, pair.history.cost_usd) else {
            continue;
        };
        assert!(
            (live - history).abs() < 1e-7,
            "{}: {live} {history}",
            pair.name
        );
        compared += 1;
    }
    println!("costs compared: {compared}");
    assert!(compared > 0);
}

/// Returns the homes of which the truth is known: there, no two responses have the same id.
fn homes_with_truth() -> Vec<(String, Home)> {
    let known: BTreeSet<String> = histories("claude-code")
        .into_iter()
        .filter(|path| truth::beside(path).is_some())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let mut homes = homes();
    homes.retain(|(name, _)| known.contains(name));
    homes
}

fn homes() -> Vec<(String, Home)> {
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, Home::read(Runtime::ClaudeCode, &path))
    };
    histories("claude-code").into_iter().map(read).collect()
}

#[test]
fn every_key_of_every_line_is_known() {
    for (name, home) in homes() {
        for run in home.runs() {
            for record in &run.records {
                if let RecordKind::Metadata(patch) = &record.kind {
                    let unknown = patch.set.get("unknownKeys");
                    assert_eq!(unknown, None, "{name}");
                }
            }
            // A line that was cut is none that is not known.
            let unreadable = usize::try_from(run.segment.unreadable).unwrap();
            assert_eq!(run.summary.unparsed.len(), unreadable, "{name}");
        }
    }
}

/// Returns the segments of a home without what depends on where its files lie.
fn shapes(home: &Home) -> Vec<(String, Vec<u8>, Segment)> {
    let mut shapes = Vec::new();
    for (name, found) in home.sessions() {
        for segment in &found.session.segments {
            let tape = segment_bytes(segment, &found.sources);
            let mut bare = segment.clone();
            bare.lines.clear();
            shapes.push((name.clone(), tape, bare));
        }
    }
    shapes
}

#[test]
fn a_copy_of_the_directory_adds_nothing() {
    for (name, home) in homes() {
        let mut doubled = home.clone();
        for (path, bytes) in &home.files {
            for prefix in ["!before", "~after"] {
                doubled
                    .files
                    .insert(format!("{prefix}/{path}"), bytes.clone());
            }
        }
        assert_eq!(shapes(&home), shapes(&doubled), "{name}");
    }
}

/// Cuts every file of a home to a part of its lines.
fn cut(home: &Home, part: f64) -> Home {
    let mut cut = home.clone();
    for bytes in cut.files.values_mut() {
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        let count = (lines.len() as f64 * part) as usize;
        *bytes = lines[..count].concat();
    }
    cut
}

#[test]
fn an_older_copy_beside_a_file_adds_nothing() {
    for (name, home) in homes() {
        let mut doubled = home.clone();
        for (path, bytes) in cut(&home, 0.6).files {
            doubled.files.insert(format!("!older/{path}"), bytes);
        }
        let keys = |home: &Home| -> Vec<_> {
            let shapes = shapes(home).into_iter();
            shapes
                .map(|(session, _, segment)| (session, segment))
                .collect()
        };
        assert_eq!(keys(&home), keys(&doubled), "{name}");
    }
}

#[test]
fn a_part_of_a_history_has_a_part_of_its_responses_each_once() {
    for (name, home) in homes_with_truth() {
        let keys = |home: &Home| -> Vec<String> {
            let runs = home.runs();
            runs.into_iter()
                .flat_map(|run| run.segment.responses)
                .collect()
        };
        let all: BTreeSet<String> = keys(&home).into_iter().collect();
        for part in 0..20 {
            let keys = keys(&cut(&home, f64::from(part) / 20.0));
            let some: BTreeSet<String> = keys.iter().cloned().collect();
            assert_eq!(some.len(), keys.len(), "{name} {part}");
            assert!(some.is_subset(&all), "{name} {part}");
        }
    }
}

#[test]
fn what_was_read_of_a_growing_file_stands_when_it_has_grown() {
    for (name, home) in homes() {
        let whole: BTreeMap<_, _> = shapes(&home)
            .into_iter()
            .map(|(session, _, segment)| ((session, segment.key.clone()), segment))
            .collect();
        for part in 1..20 {
            for (session, _, segment) in shapes(&cut(&home, f64::from(part) / 20.0)) {
                let grown = whole.get(&(session, segment.key.clone()));
                let grown = grown.unwrap_or_else(|| panic!("{name} {part}: {segment:?}"));
                assert_eq!(grown.started_at, segment.started_at, "{name} {part}");
                assert_eq!(grown.is_copy, segment.is_copy, "{name} {part}");
                assert!(grown.last_at >= segment.last_at, "{name} {part}");
            }
        }
    }
}

#[test]
fn a_fork_whose_parent_is_gone_has_the_parents_runs() {
    let (_, home) = homes()
        .into_iter()
        .find(|(name, _)| name.starts_with("fork-tree"))
        .unwrap();
    let all: BTreeSet<String> = home
        .runs()
        .into_iter()
        .flat_map(|run| run.segment.responses)
        .collect();
    assert!(home.runs().iter().all(|run| !run.segment.is_copy));
    // The root of the tree: its first run is in all forks.
    let root = home.sessions().into_iter().find(|(_, found)| {
        let mut segments = found.session.segments.iter();
        segments.all(|segment| !segment.is_copy)
    });
    let (root, found) = root.unwrap();
    let own_later = &found.session.segments[1].responses;
    let mut orphaned = home.clone();
    orphaned.files.retain(|path, _| !path.contains(&root));
    let runs = orphaned.runs();
    let responses: Vec<String> = runs
        .iter()
        .flat_map(|run| run.segment.responses.clone())
        .collect();
    let some: BTreeSet<String> = responses.iter().cloned().collect();
    assert_eq!(some.len(), responses.len(), "each once");
    let lost: Vec<&String> = all.difference(&some).collect();
    assert_eq!(
        lost,
        own_later.iter().collect::<Vec<_>>(),
        "what was in the parent alone"
    );
    assert_eq!(runs.iter().filter(|run| run.segment.is_copy).count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_give_segments(bytes in proptest::collection::vec(any::<u8>(), 0..400), at in 0usize..60_000) {
        let path = histories("claude-code").into_iter()
            .find(|path| path.to_string_lossy().contains("subagents-resumed")).unwrap();
        let mut home = Home::read(Runtime::ClaudeCode, &path);
        for (index, file) in home.files.values_mut().enumerate() {
            let at = (at / (index + 1)).min(file.len());
            let end = (at + bytes.len()).min(file.len());
            file.splice(at..end, bytes.iter().copied());
        }
        prop_assert!(home.runs().iter().all(|run| !run.records.is_empty()));
    }
}
