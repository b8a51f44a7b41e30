//! Any text that a person types finds what contains it, among all fixtures, in a real file.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::harness::{Runtape, stderr, stdout};

/// What is typed, what a run says that must be found by it, and what another says that must not.
const TEXTS: &[(&str, &str, &str)] = &[
    ("notes.md", "I wrote zzz-notes.md down", "notes on md"),
    ("src/main.py", "see src/main.py:12", "src and main.py"),
    (
        "no-such-flag",
        "unknown option --no-such-flag!",
        "no such flag",
    ),
    ("rm -rf", "then rm  -rf build", "rm build, rf"),
    ("don't", "I don't know", "don and t"),
    ("$HOME", "cd $HOME/x", "cd HOME"),
    ("foo(", "def foo(bar):", "foo bar"),
    (
        "https://example.com",
        "GET https://example.com/a?b=c",
        "example.com",
    ),
    ("a:b", "map a:b to c", "a b"),
    (
        "sk-ant*",
        "keys begin with sk-anthill or so",
        "sk and anthill",
    ),
    // Their siblings.
    ("\"quoted words\"", "two quoted words here", "words quoted"),
    ("say \"hi", "they say \"hi\" to me", "say hi"),
    (
        "someone@example.org",
        "mail to someone@example.org.",
        "someone at example.org",
    ),
    ("C:\\Users\\dev", "in C:\\Users\\dev\\x", "C: Users dev"),
    ("\\n", "a literal \\n in it", "a line\nbreak"),
    ("größenordnung", "die Größenordnung", "die Grosse Ordnung"),
    ("naivete", "such naïveté", "such native"),
    ("全文検索", "これは全文検索です", "これは検索です"),
    ("검색", "전문검색을 한다", "전문 한다"),
    ("🎉🎉", "done 🎉🎉!", "done 🎉!"),
    ("97%", "97% of it", "97 of it"),
    ("snake_case_q", "a snake_case_q name", "a snake case q name"),
    ("**bold", "some **bold** text", "some bold text"),
    ("x*y", "x*y is a product", "xy is a product"),
    ("{\"key\":", "it printed {\"key\": 1}", "it printed key 1"),
    ("#[test]", "add #[test] to it", "add test to it"),
    ("a && b", "run a && b now", "run a, b now"),
    ("AND NOT", "the words AND NOT together", "not and"),
    ("zzqx", "the word is abczzqxdef", "nothing of it"),
];

/// Writes what a run of claude-code prints that says one thing.
fn says(text: &str, id: usize) -> String {
    let session = format!("00000000-0000-4000-8000-{id:012}");
    let lines = [
        json!({"type": "system", "subtype": "init", "session_id": session, "cwd": "/p",
            "tools": [], "model": "m"}),
        json!({"type": "assistant", "session_id": session, "message": {"id": format!("m{id}"),
            "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 1, "output_tokens": 1}}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "session_id": session,
            "result": text, "num_turns": 1, "duration_ms": 1}),
    ];
    let [init, said, result] = lines;
    format!("{init}\n{said}\n{result}\n")
}

/// A database with all fixtures, and for each text a run that says it and one that does not; returns
/// the sessions of both.
fn database() -> (Runtape, Vec<(String, String)>) {
    let runtape = Runtape::with_fixtures();
    let directory = runtape.path("texts");
    fs::create_dir(&directory).unwrap();
    let mut sessions = Vec::new();
    for (number, (_, text, other)) in TEXTS.iter().enumerate() {
        let pair = [(number * 2, text), (number * 2 + 1, other)];
        for (id, text) in pair {
            fs::write(directory.join(format!("{id:03}.stdout")), says(text, id)).unwrap();
        }
        let session = |id| format!("00000000-0000-4000-8000-{id:012}");
        sessions.push((session(number * 2), session(number * 2 + 1)));
    }
    let output = runtape.run(&[
        "ingest",
        "--runtime",
        "claude-code",
        directory.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    (runtape, sessions)
}

fn found(runtape: &Runtape, arguments: &[&str]) -> Vec<Value> {
    // Before the text, which may look like anything.
    let (command, rest) = arguments.split_first().unwrap();
    runtape.json(&[&[*command, "--limit", "0"], rest].concat())
}

#[test]
fn any_text_that_is_typed_finds_what_contains_it() {
    let (runtape, sessions) = database();
    let runs = found(&runtape, &["runs"]);
    let run_of = |session: &str| {
        let run = runs.iter().find(|run| run["sessionId"] == session);
        run.unwrap_or_else(|| panic!("no run of {session}"))["runId"].clone()
    };
    for ((query, _, _), (with, without)) in TEXTS.iter().zip(&sessions) {
        let hits = found(&runtape, &["search", "--", query]);
        let runs: BTreeSet<&str> = hits
            .iter()
            .filter_map(|hit| hit["runId"].as_str())
            .collect();
        assert!(
            runs.contains(run_of(with).as_str().unwrap()),
            "{query}: {hits:?}"
        );
        assert!(!runs.contains(run_of(without).as_str().unwrap()), "{query}");
        let marked = |hit: &Value| {
            let parts = hit["snippet"].as_array().unwrap();
            parts.iter().any(|part| part["isMatch"] == true)
        };
        assert!(hits.iter().all(marked), "{query}");
        let scanned = found(&runtape, &["search", "--scan", "--", query]);
        assert!(scanned.len() >= hits.len(), "{query}");
    }
    // What cannot be a text is refused, and what is nowhere is said to be.
    for (arguments, code) in [
        (&["search", ""][..], 2),
        (&["search", "  "], 2),
        (&["search", "--regex", "("], 2),
        (&["search", "--regex", "--scan", "a"], 2),
        (&["search", "no such text anywhere zzz"], 1),
        (&["search", "*never*"], 1),
    ] {
        let output = runtape.run(arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_hit_leads_to_its_record() {
    let runtape = Runtape::with_a_last_run();
    let hits = found(&runtape, &["search", "file"]);
    assert!(hits.len() > 20);
    let roles: BTreeSet<&str> = hits.iter().filter_map(|hit| hit["role"].as_str()).collect();
    assert!(roles.len() >= 3, "{roles:?}");
    for hit in hits.iter().step_by(7) {
        let reference = hit["reference"].as_str().unwrap();
        let [record] = &runtape.json(&["show", reference])[..] else {
            panic!("{reference}: one record");
        };
        assert_eq!(record["seq"], hit["seq"]);
        assert_eq!(record["runId"], hit["runId"]);
        let output = runtape.run(&["transcript", reference]);
        assert!(output.status.success(), "{reference}: {}", stderr(&output));
        let step = format!("{}:{}", hit["runId"].as_str().unwrap(), hit["step"]);
        let records = runtape.json(&["show", &step]);
        assert!(
            records.iter().any(|record| record["seq"] == hit["seq"]),
            "{step}"
        );
        for arguments in [["show", &step], ["transcript", &step]] {
            let output = runtape.run(&arguments);
            assert!(
                output.status.success(),
                "{arguments:?}: {}",
                stderr(&output)
            );
        }
    }
    for (place, code) in [
        ("last#99999", 1),
        ("last:99999", 1),
        ("last#x", 2),
        ("last:", 2),
    ] {
        for command in ["show", "transcript"] {
            let output = runtape.run(&[command, place]);
            assert_eq!(output.status.code(), Some(code), "{command} {place}");
        }
    }
    // Text for people has the same references.
    let output = runtape.run(&["search", "file", "--limit", "1"]);
    let text = stdout(&output);
    let reference = text
        .split_whitespace()
        .find(|word| word.contains('#'))
        .unwrap();
    assert!(
        runtape.run(&["show", reference]).status.success(),
        "{reference}"
    );
}

#[test]
fn runs_are_told_once_with_how_much_was_found() {
    let runtape = Runtape::with_fixtures();
    let hits = found(&runtape, &["search", "file"]);
    let runs = found(&runtape, &["search", "--runs", "file"]);
    let names: BTreeSet<&str> = runs
        .iter()
        .filter_map(|run| run["runId"].as_str())
        .collect();
    assert_eq!(names.len(), runs.len());
    let count: u64 = runs.iter().filter_map(|run| run["hits"].as_u64()).sum();
    assert_eq!(count, hits.len() as u64);
    let output = runtape.run(&["search", "--runs", "file", "--limit", "2"]);
    assert!(
        stderr(&output).contains("there are more"),
        "{}",
        stderr(&output)
    );
    assert_eq!(stdout(&output).lines().count(), 4);
}

#[test]
fn errors_notices_and_error_output_are_found() {
    let runtape = Runtape::with_fixtures();
    let script = runtape.script("claude", "echo 'plimsoll line crossed' >&2; exit 3");
    runtape.run(&["record", "--quiet", "--", &script]);
    let hits = found(&runtape, &["search", "plimsoll"]);
    assert!(!hits.is_empty());
    let is_told = |hit: &Value| hit["role"] == "notice" || hit["role"] == "error";
    assert!(hits.iter().all(is_told), "{hits:?}");
    let errors = runtape.json(&["errors", "--limit", "0"]);
    let messages = errors
        .iter()
        .filter_map(|run| run["error"]["message"].as_str());
    let words =
        messages.filter_map(|message| message.split_whitespace().find(|word| word.len() > 6));
    for word in words.take(5) {
        let hits = found(&runtape, &["search", "--", word]);
        assert!(hits.iter().any(|hit| hit["role"] == "error"), "{word}");
    }
}

#[test]
fn what_was_stored_is_indexed_before_anybody_searches() {
    let runtape = Runtape::with_fixtures();
    let waiting = || {
        let sql = "SELECT count(*) AS runs FROM run WHERE searched < records";
        runtape.json(&["sql", sql])[0]["runs"].clone()
    };
    assert_eq!(waiting(), 0);
    let script = runtape.script("claude", "echo hello");
    runtape.run(&["record", "--quiet", "--", &script]);
    assert_eq!(waiting(), 0);
}
