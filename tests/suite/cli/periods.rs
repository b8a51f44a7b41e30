//! `--since` and `--until` against a scan of the same session files by a script that knows nothing of runtape
//! (`tests/tools/periods.py`), for random periods.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use runtape_core::iso_time;
use serde_json::{Value, json};

use crate::harness::{Runtape, stderr};

const START: i64 = 1_780_000_000_000;
const HOUR: i64 = 3_600_000;

/// Random periods that are asked about.
const PERIODS: u64 = 50;

/// Numbers that look random, and are the same each time.
struct Dice(u64);

impl Dice {
    /// Returns a number below that of the sides.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// The script, and whether it can be run here.
fn script() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/tools/periods.py");
    let is_there = Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: there is no python3 to scan session files with");
    }
    is_there.then(|| path.to_str().unwrap().to_owned())
}

/// What a session does in a turn: a tool and what it is asked.
fn call(dice: &mut Dice, number: u64) -> (&'static str, Value) {
    let paths = [
        "src/a.rs",
        "./src/../src/a.rs",
        "/home/dev/proj/src/a.rs",
        "~/proj/src/a.rs",
        "../proj/notes.md",
        "/home/dev/proj/notes.md",
    ];
    let path = paths[usize::try_from(dice.roll(6)).unwrap()];
    match dice.roll(6) {
        0 => ("Read", json!({"file_path": path})),
        1 => (
            "Edit",
            json!({"file_path": path, "old_string": "a", "new_string": "b"}),
        ),
        2 => ("Write", json!({"file_path": path, "content": "x"})),
        3 => (
            "WebFetch",
            json!({"url": "https://docs.example.com/page", "prompt": "?"}),
        ),
        4 => (
            "Bash",
            json!({"command": format!("curl https://host{}.example.com/{number}", dice.roll(3))}),
        ),
        _ => ("Bash", json!({"command": format!("make target{number}")})),
    }
}

/// Writes sessions of claude-code that begin and end in any order: some take minutes, some days. Returns all times.
fn sessions(projects: &Path) -> Vec<i64> {
    let mut dice = Dice(30);
    let mut times = Vec::new();
    let project = projects.join("-home-dev-proj");
    fs::create_dir_all(&project).unwrap();
    for number in 0..8_u64 {
        let session = format!("0bad5e55-0000-4000-8000-{number:012}");
        let mut at = START + i64::try_from(dice.roll(100)).unwrap() * HOUR;
        // Between two lines there are up to six hours in every other session.
        let pause = if number.is_multiple_of(2) {
            6 * HOUR
        } else {
            50_000
        };
        let mut lines = String::new();
        let mut count = 0;
        let mut line = |dice: &mut Dice, mut value: Value| {
            at += 1 + i64::try_from(dice.roll(u64::try_from(pause).unwrap())).unwrap();
            times.push(at);
            count += 1;
            let common = json!({
                "timestamp": iso_time(at), "sessionId": session, "cwd": "/home/dev/proj", "version": "2.1.325",
                "isSidechain": false, "userType": "external", "entrypoint": "cli", "gitBranch": "main",
                "uuid": format!("0bad5e55-0000-4000-{number:04}-{count:012}"), "parentUuid": null,
            });
            value
                .as_object_mut()
                .unwrap()
                .extend(common.as_object().unwrap().clone());
            writeln!(lines, "{value}").unwrap();
        };
        line(
            &mut dice,
            json!({"type": "user", "message": {"role": "user", "content": "Do it"}}),
        );
        for turn in 0..6 + dice.roll(10) {
            let id = format!("msg_{number}_{turn}");
            let word = if dice.roll(3) == 0 { "needle" } else { "hay" };
            let (tool, input) = call(&mut dice, 100 * number + turn);
            let tokens = 100 + dice.roll(900);
            let blocks = [
                json!({"type": "text", "text": format!("I see the {word} in it")}),
                json!({"type": "tool_use", "id": format!("toolu_{number}_{turn}"), "name": tool, "input": input}),
            ];
            // All of a response is of one time: it is one record.
            let content = Value::from(blocks.to_vec());
            line(
                &mut dice,
                json!({"type": "assistant", "requestId": format!("req_{id}"), "message": {
                    "id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
                    "content": content, "stop_reason": "tool_use", "stop_sequence": null,
                    "usage": {"input_tokens": tokens, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 1000,
                        "output_tokens": 50 + turn},
                }}),
            );
            line(
                &mut dice,
                json!({"type": "user", "message": {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": format!("toolu_{number}_{turn}"), "content": "done", "is_error": false},
                ]}}),
            );
        }
        fs::write(project.join(format!("{session}.jsonl")), lines).unwrap();
    }
    times
}

/// Asks the script what happened in periods.
fn scan(script: &str, projects: &Path, periods: &[[i64; 2]]) -> Vec<Value> {
    let mut scan = Command::new("python3")
        .args([script, projects.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = scan.stdin.take().unwrap();
    input
        .write_all(json!(periods).to_string().as_bytes())
        .unwrap();
    drop(input);
    let output = scan.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Adds up a count of objects by a name.
fn counted(objects: &[Value], name: &str) -> Value {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for object in objects {
        let name = object[name].as_str().unwrap().to_owned();
        *sums.entry(name).or_default() += object["calls"].as_u64().unwrap();
    }
    json!(sums)
}

/// Returns tokens by name, as the script writes them.
fn used(groups: &[Value]) -> Value {
    let mut sums = BTreeMap::new();
    for group in groups {
        let usage = &group["usage"];
        if !usage.is_null() {
            let tokens = ["inputTokens", "outputTokens", "cachedInputTokens"]
                .map(|counter| usage[counter].clone());
            sums.insert(group["name"].as_str().unwrap().to_owned(), tokens);
        }
    }
    json!(sums)
}

#[test]
fn a_period_has_what_a_scan_of_the_files_finds_in_it() {
    let Some(script) = script() else {
        return;
    };
    let runtape = Runtape::new();
    let home = runtape.path("home");
    let projects = home.join(".claude").join("projects");
    let times = sessions(&projects);
    let output = runtape.run(&["sync", "--from", home.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut dice = Dice(57);
    let mut any = || {
        let at = times[usize::try_from(dice.roll(times.len() as u64)).unwrap()];
        // The time itself, or one beside it.
        at + i64::try_from(dice.roll(3)).unwrap() - 1
    };
    let periods: Vec<[i64; 2]> = (0..PERIODS)
        .map(|_| {
            let (one, other) = (any(), any());
            [one.min(other), one.max(other)]
        })
        .collect();
    let expected = scan(&script, &projects, &periods);
    let mut found = 0;
    for ([since, until], expected) in periods.iter().zip(expected) {
        let (since, until) = (iso_time(*since), iso_time(*until));
        let ask = |words: &[&str]| {
            let period = ["--since", &since, "--until", &until, "--limit", "0"];
            runtape.json(&[words, &period].concat())
        };
        let calls = ask(&["commands"]);
        let mut commands: Vec<&str> = calls
            .iter()
            .map(|call| call["command"].as_str().unwrap())
            .collect();
        commands.sort_unstable();
        found += commands.len();
        let told = json!({
            "commands": commands,
            "tools": counted(&ask(&["tools"]), "tool"),
            "files": counted(&ask(&["files"]), "path"),
            "network": counted(&ask(&["network"]), "host"),
            "search": ask(&["search", "needle"]).len(),
            "session": used(&ask(&["usage", "--by", "session"])),
            "day": used(&ask(&["usage", "--by", "day", "--utc"])),
        });
        assert_eq!(told, expected, "{since} to {until}");
    }
    assert!(found > 100, "most periods have some of it: {found}");
}
