//! Whatever an agent prints, and however a file is called: nothing of it commands a terminal, hides,
//! or changes the order of what a person reads.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{Runtape, fixtures, stderr, stdout};

/// One of each kind: escapes, C1 controls, marks of direction, separators, zero-width characters,
/// fillers, tags.
const HARMFUL: &str = "\u{1b}]0;x\u{7}\u{9b}\u{85}\u{61c}\u{200e}\u{200f}\u{202e}\u{2066}\u{2069}\
    \u{2028}\u{2029}\u{ad}\u{34f}\u{180e}\u{200b}\u{200c}\u{200d}\u{2060}\u{2063}\u{feff}\u{fff9}\
    \u{115f}\u{1160}\u{3164}\u{ffa0}\u{2800}\u{e0001}\u{e0041}\u{e007f}";

/// Values that a parser must know to make anything of a line.
const KEPT: &[&str] = &[
    "type",
    "subtype",
    "role",
    "id",
    "tool_use_id",
    "parent_tool_use_id",
    "session_id",
    "uuid",
    "stop_reason",
    "name",
    "timestamp",
];

fn spoil(value: &mut Value) {
    match value {
        Value::String(text) => text.push_str(HARMFUL),
        Value::Array(items) => items.iter_mut().for_each(spoil),
        Value::Object(fields) => fields
            .iter_mut()
            .filter(|(key, _)| !KEPT.contains(&key.as_str()))
            .for_each(|(_, value)| spoil(value)),
        _ => {}
    }
}

/// Returns what a CLI would print if every word of it were hostile.
fn spoiled(capture: &Path) -> String {
    let text = fs::read_to_string(capture).unwrap();
    let lines = text.lines().map(|line| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        spoil(&mut value);
        format!("{value}\n")
    });
    let unknown = serde_json::json!({"type": format!("new{HARMFUL}"), "session_id": "x"});
    lines.chain([format!("{unknown}\n")]).collect()
}

/// Asserts that a text can be shown.
fn harmless(what: &str, text: &str) {
    let harmful = |character: &char| {
        !matches!(character, '\n' | '\t')
            && (character.is_control() || (*character != 'x' && HARMFUL.contains(*character)))
            && !"]0;".contains(*character)
    };
    let found: Vec<char> = text.chars().filter(harmful).collect();
    let first = found.iter().take(5).collect::<String>();
    assert!(found.is_empty(), "{what} prints {first:?}");
}

fn hostile_database() -> Runtape {
    let runtape = Runtape::new();
    for name in [
        "files",
        "bash-fail",
        "error-401",
        "subagent",
        "permission-denied",
    ] {
        let capture = fixtures().join(format!("claude-code/{name}.stream-json.stdout"));
        let path = runtape.path(&format!("{name}{HARMFUL}\n{name}.stdout"));
        fs::write(&path, spoiled(&capture)).unwrap();
        let path = path.to_str().unwrap();
        let output = runtape.run(&["ingest", "--runtime", "claude-code", path]);
        assert!(output.status.success(), "{}", stderr(&output));
        harmless("ingest", &stdout(&output));
        harmless("ingest", &stderr(&output));
    }
    runtape
}

#[test]
fn no_command_shows_what_is_harmful() {
    let runtape = hostile_database();
    let last = ["show", "transcript", "events", "checkpoint"].map(|command| [command, "last"]);
    let mut commands: Vec<Vec<&str>> = last.iter().map(|words| words.to_vec()).collect();
    for command in [
        "runs", "jobs", "tools", "files", "errors", "drift", "usage", "stats", "doctor", "verify",
        "session", "sessions",
    ] {
        commands.push(vec![command]);
    }
    commands.extend([
        vec!["tools", "--calls"],
        vec!["usage", "--by", "model"],
        vec!["search", "file"],
        vec!["diff", "last:1", "last"],
        vec!["sql", "SELECT * FROM v_runs"],
        vec!["sql", "SELECT * FROM v_tool_calls"],
        vec!["sql", "SELECT * FROM v_notices"],
        vec!["sql", "SELECT * FROM v_errors"],
    ]);
    for words in commands {
        let output = runtape.run(&words);
        assert!(!output.stdout.is_empty(), "{words:?}: {}", stderr(&output));
        harmless(&format!("{words:?}"), &stdout(&output));
        harmless(&format!("{words:?}"), &stderr(&output));
    }
}

#[test]
fn an_error_that_quotes_a_name_is_one_line() {
    let runtape = hostile_database();
    let name = format!("no{HARMFUL}\nruntape: all is well");
    for words in [
        vec!["show", &name],
        vec!["ingest", &name],
        vec!["normalize", &name],
        vec!["import", &name],
        vec!["validate", &name],
        vec!["verify", "--bundle", &name],
        vec!["--db", &name, "runs"],
        vec!["record", "--runtime", "claude-code", "--", &name],
        vec!["record", "--", &name],
    ] {
        let output = runtape.run(&words);
        assert!(!output.status.success(), "{words:?}");
        let said = stderr(&output);
        harmless(&format!("{words:?}"), &said);
        assert!(
            !said.contains("\nruntape: all is well"),
            "{words:?}: {said}"
        );
    }
}

/// Runs a command line as if a person had typed it.
fn in_a_terminal(runtape: &Runtape, words: &[&str]) -> String {
    let inner = runtape.command(words);
    let quoted: Vec<String> = std::iter::once(inner.get_program())
        .chain(inner.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''")))
        .collect();
    let mut command = Command::new("script");
    command.args(["-qec", &quoted.join(" "), "/dev/null"]);
    for (key, value) in inner.get_envs() {
        if let Some(value) = value {
            command.env(key, value);
        }
    }
    let output = command.env("NO_COLOR", "1").stdin(Stdio::null()).output();
    // The terminal makes two bytes of each line feed.
    stdout(&output.unwrap()).replace("\r\n", "\n")
}

#[test]
fn a_terminal_gets_raw_output_and_json_that_are_harmless_too() {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: there is no `script` here to make a terminal");
        return;
    }
    let runtape = hostile_database();
    let path = runtape.path(&format!("files{HARMFUL}\nfiles.stdout"));
    let normalize = [
        "normalize",
        "--runtime",
        "claude-code",
        path.to_str().unwrap(),
    ];
    for words in [&["raw", "last"][..], &["export", "last"], &normalize] {
        let shown = in_a_terminal(&runtape, words);
        assert!(shown.len() > 500, "{words:?}: {shown}");
        harmless(&format!("{words:?}"), &shown);
    }
    let shown = in_a_terminal(&runtape, &["--json", "events", "last"]);
    harmless("--json", &shown);
    let shown: Vec<Value> = shown
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(shown, runtape.json(&["events", "last"]));
}
