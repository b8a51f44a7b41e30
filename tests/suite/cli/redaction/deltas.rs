//! Secrets that are cut over lines, as runtimes print what a model says piece by piece.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::plant::{Planted, assert_clean, assert_nothing_said, few, found_in};
use super::printer;
use crate::harness::{Runtape, fixtures, stderr, stdout};

/// A capture with deltas, and the text of one of them that is put in other words.
struct Deltas {
    command: &'static str,
    capture: &'static str,
    /// What a line has that holds a delta.
    needle: &'static str,
    /// Where its text is.
    pointer: &'static str,
}

const RUNTIMES: &[Deltas] = &[
    Deltas {
        command: "claude",
        capture: "claude-code/bash-ok.stream-json-partial",
        needle: "text_delta",
        pointer: "/event/delta/text",
    },
    Deltas {
        command: "gemini",
        capture: "gemini/files.stream-json",
        needle: "\"delta\":true",
        pointer: "/content",
    },
    Deltas {
        command: "cursor-agent",
        capture: "cursor/thinking.stream-json",
        needle: "\"subtype\":\"delta\"",
        pointer: "/text",
    },
    Deltas {
        command: "hermes",
        capture: "hermes/files.acp",
        needle: "agent_message_chunk",
        pointer: "/params/update/content/text",
    },
];

/// Returns some capture of the same runtime and format that has such deltas.
fn capture(deltas: &Deltas) -> String {
    let (runtime, name) = deltas.capture.split_once('/').unwrap();
    let ending = name.split_once('.').unwrap().1;
    let named = fixtures().join(format!("{}.stdout", deltas.capture));
    let mut files: Vec<_> = std::fs::read_dir(fixtures().join(runtime))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.to_str()
                .unwrap()
                .ends_with(&format!(".{ending}.stdout"))
        })
        .collect();
    files.sort();
    files.insert(0, named);
    let texts = files
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok());
    let mut with = texts.filter(|text| text.lines().any(|line| line.contains(deltas.needle)));
    with.next()
        .unwrap_or_else(|| panic!("no capture with {}", deltas.needle))
}

/// Puts a text in the place of the first delta: in pieces of so many characters, a line each.
fn planted(deltas: &Deltas, text: &str, size: usize) -> String {
    let mut out = String::new();
    let mut is_done = false;
    for line in capture(deltas).lines() {
        if is_done || !line.contains(deltas.needle) {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        is_done = true;
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(size) {
            let mut value: Value = serde_json::from_str(line).unwrap();
            *value.pointer_mut(deltas.pointer).unwrap() = json!(piece.iter().collect::<String>());
            writeln!(out, "{value}").unwrap();
        }
    }
    assert!(is_done, "{}", deltas.capture);
    out
}

#[test]
fn a_secret_that_is_cut_over_the_deltas_of_any_runtime_is_nowhere() {
    let secrets = few();
    let secrets: Vec<&Planted> = secrets
        .iter()
        .filter(|planted| !planted.text.contains('\n'))
        .collect();
    for deltas in RUNTIMES {
        for (number, secret) in secrets.iter().enumerate() {
            let size = [1, 3, 7, 20][number % 4];
            let text = format!("The key is {} as you see.", secret.text);
            let (runtape, outside) = (Runtape::new(), TempDir::new().unwrap());
            let program = printer(&outside, deltas.command, &planted(deltas, &text, size), "");
            let runtime = deltas.capture.split('/').next().unwrap();
            let output = runtape.run(&[
                "record",
                "--no-history",
                "--runtime",
                runtime,
                "--",
                &program,
            ]);
            let case = format!("{runtime} {} in pieces of {size}", secret.rule);
            let alone = [(*secret).clone()];
            for said in [&output.stdout, &output.stderr] {
                assert!(
                    found_in(said, &alone).is_empty(),
                    "{case}: {}",
                    stderr(&output)
                );
            }
            let raw = stdout(&runtape.run(&["raw", "last"]));
            assert!(raw.contains("[REDACTED:"), "{case}: {raw}");
            // The pieces of it, put together again.
            let values = raw
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let joined: String = values
                .filter_map(|value| Some(value.pointer(deltas.pointer)?.as_str()?.to_owned()))
                .collect();
            assert!(
                found_in(joined.as_bytes(), &alone).is_empty(),
                "{case}: {joined}"
            );
            assert!(joined.contains("The key is "), "{case}: {joined}");
            assert!(joined.contains(" as you see."), "{case}: {joined}");
            assert_clean(runtape.directory.path(), &alone);
            if number == 0 {
                assert_nothing_said(&runtape, &alone);
            }
        }
    }
}
