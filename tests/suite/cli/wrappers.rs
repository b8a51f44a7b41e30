//! Wrappers: a script, `make`, `ssh` that runs an agent, whose runtime only its first lines tell.
//!
//! A case prints a fixture through a real child process, and is held to what `ingest` makes of the same fixture with
//! its runtime named and the exit code that the wrapper had.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Runtape, fixtures, stderr};

/// What a case is to become.
enum Expected {
    /// What the fixture is by itself, with this exit code.
    Fixture(&'static str, i32),
    /// A generic run that ended so: `completed`, or the name of its error.
    Generic(&'static str),
}
use Expected::{Fixture, Generic};

const CLAUDE: &str = "claude-code/bash-ok.stream-json";
const CLAUDE_401: &str = "claude-code/error-401.stream-json";
const CODEX: &str = "codex/plain.json";

/// The cases: a name, the fixture that `agent` prints with its exit code, a command line for `sh`, and what it is to
/// become. In it `agent` prints the fixture and exits, `cat-agent` only prints it, and `noise N` prints N lines.
const CASES: &[(&str, (&str, i32), &str, Expected)] = &[
    ("script", (CLAUDE, 0), "./agent", Fixture(CLAUDE, 0)),
    ("sh -c", (CLAUDE, 0), "sh -c ./agent", Fixture(CLAUDE, 0)),
    (
        "script, 401",
        (CLAUDE_401, 1),
        "./agent",
        Fixture(CLAUDE_401, 1),
    ),
    (
        "sh -c, 401",
        (CLAUDE_401, 1),
        "sh -c ./agent",
        Fixture(CLAUDE_401, 1),
    ),
    (
        "401, exit lost",
        (CLAUDE_401, 1),
        "./agent; true",
        Fixture(CLAUDE_401, 0),
    ),
    (
        "401 by json",
        ("claude-code/error-401.json", 1),
        "./agent",
        Fixture("claude-code/error-401.json", 1),
    ),
    (
        "turn limit",
        ("claude-code/max-turns.stream-json", 1),
        "./agent",
        Fixture("claude-code/max-turns.stream-json", 1),
    ),
    (
        "wrapper fails after",
        (CLAUDE, 0),
        "./agent; exit 3",
        Fixture(CLAUDE, 3),
    ),
    ("make", (CLAUDE, 0), "./make ./agent", Fixture(CLAUDE, 0)),
    (
        "make, 401",
        (CLAUDE_401, 1),
        "./make ./agent",
        Fixture(CLAUDE_401, 1),
    ),
    ("npm run", (CLAUDE, 0), "./npm ./agent", Fixture(CLAUDE, 0)),
    (
        "npm run, codex",
        (CODEX, 0),
        "./npm ./agent",
        Fixture(CODEX, 0),
    ),
    (
        "docker",
        (CLAUDE, 0),
        "./docker ./agent",
        Fixture(CLAUDE, 0),
    ),
    (
        "docker, 401",
        ("codex/api_401.json", 1),
        "./docker ./agent",
        Fixture("codex/api_401.json", 1),
    ),
    (
        "docker on stdout",
        (CLAUDE, 0),
        "./docker ./agent 2>&1",
        Fixture(CLAUDE, 0),
    ),
    ("ssh", (CLAUDE, 0), "./ssh ./agent", Fixture(CLAUDE, 0)),
    (
        "ssh, 401",
        ("gemini/error-401.stream-json", 1),
        "./ssh ./agent",
        Fixture("gemini/error-401.stream-json", 1),
    ),
    (
        "xargs",
        (CLAUDE, 0),
        "echo x | xargs ./agent",
        Fixture(CLAUDE, 0),
    ),
    ("env", (CLAUDE, 0), "env A=1 ./agent", Fixture(CLAUDE, 0)),
    ("nice", (CLAUDE, 0), "nice -n 1 ./agent", Fixture(CLAUDE, 0)),
    (
        "timeout",
        (CODEX, 0),
        "timeout 60 ./agent",
        Fixture(CODEX, 0),
    ),
    (
        "sudo",
        (CLAUDE, 0),
        "./sudo -u nobody ./agent",
        Fixture(CLAUDE, 0),
    ),
    (
        "login shell",
        (CLAUDE, 0),
        "printf 'Last login: [today]\\n{motd}\\n\\n'; ./agent",
        Fixture(CLAUDE, 0),
    ),
    (
        "logs in JSON before",
        (CODEX, 0),
        "echo '{\"level\":\"info\",\"type\":\"system\"}'; ./agent",
        Fixture(CODEX, 0),
    ),
    (
        "codex",
        (CODEX, 0),
        "echo start; ./agent",
        Fixture(CODEX, 0),
    ),
    (
        "gemini",
        ("gemini/shell-ok.stream-json", 0),
        "echo start; ./agent",
        Fixture("gemini/shell-ok.stream-json", 0),
    ),
    (
        "gemini's report",
        ("gemini/plain.json", 0),
        "echo start; ./agent",
        Fixture("gemini/plain.json", 0),
    ),
    (
        "cursor",
        ("cursor/files.stream-json", 0),
        "echo start; ./agent",
        Fixture("cursor/files.stream-json", 0),
    ),
    (
        "cursor fails",
        ("cursor/error_result.stream-json", 1),
        "echo start; ./agent",
        Fixture("cursor/error_result.stream-json", 1),
    ),
    (
        "openclaw",
        ("openclaw/one_tool.frames", 0),
        "echo start; ./agent",
        Fixture("openclaw/one_tool.frames", 0),
    ),
    (
        "hermes",
        ("hermes/files.chat", 0),
        "./agent",
        Fixture("hermes/files.chat", 0),
    ),
    (
        "opencode",
        ("opencode/files.json", 0),
        "echo start; ./agent",
        Fixture("opencode/files.json", 0),
    ),
    (
        "all on stderr",
        (CLAUDE, 0),
        "./agent >&2",
        Fixture(CLAUDE, 0),
    ),
    (
        "all on stderr, 401",
        ("codex/api_401.json", 1),
        "echo start; ./agent >&2",
        Fixture("codex/api_401.json", 1),
    ),
    (
        "63 lines before",
        (CLAUDE, 0),
        "./noise 63; ./agent",
        Fixture(CLAUDE, 0),
    ),
    (
        "65 lines before",
        (CLAUDE_401, 1),
        "./noise 65; ./agent",
        Generic("NonZeroExit"),
    ),
    (
        "70 KiB before",
        (CLAUDE, 0),
        "./noise 30 2300; ./agent",
        Generic("completed"),
    ),
    (
        "one byte at a time",
        (CODEX, 0),
        "./agent | dd bs=1 2>/dev/null",
        Fixture(CODEX, 0),
    ),
    (
        "two agents",
        (CLAUDE, 0),
        "./agent; cat other",
        Fixture(CLAUDE, 0),
    ),
    (
        "lines after",
        (CLAUDE, 0),
        "./agent; echo bye",
        Fixture(CLAUDE, 0),
    ),
    (
        "nothing at all",
        (CLAUDE, 0),
        "true",
        Generic("TruncatedOutput"),
    ),
    (
        "nothing, and fails",
        (CLAUDE, 0),
        "exit 4",
        Generic("NonZeroExit"),
    ),
    (
        "text",
        (CLAUDE, 0),
        "echo hi; echo [there]; echo '⚠️ you' >&2",
        Generic("completed"),
    ),
    (
        "JSON of no agent",
        (CLAUDE, 0),
        "./noise 3; printf '{\"level\":\"info\",\"msg\":\"x\"}\\n[1]\\n'; echo done",
        Generic("completed"),
    ),
    (
        "a JSON document",
        (CLAUDE, 0),
        "printf '{\\n  \"name\": \"x\",\\n  \"type\": \"assistant\"\\n}\\n'",
        Generic("completed"),
    ),
];

/// Makes the programs of a case, in a directory that the case runs in.
fn programs(runtape: &Runtape, (fixture, exit): (&str, i32)) {
    let path = fixtures().join(format!("{fixture}.stdout"));
    let stderr = path.with_extension("stderr");
    let said = if stderr.is_file() {
        format!("cat '{}' >&2; ", stderr.display())
    } else {
        String::new()
    };
    runtape.script(
        "agent",
        &format!("cat '{}'; {said}exit {exit}", path.display()),
    );
    runtape.script(
        "make",
        "echo \"$@\"; echo 'make[1]: Entering directory {x}'; exec \"$@\"",
    );
    runtape.script(
        "npm",
        "printf '\\n> proj@1.0.0 night\\n> agent [-p]\\n\\n'; exec \"$@\"",
    );
    runtape.script("sudo", "shift 2; exec \"$@\"");
    let pull = "a1b2c3: Pulling fs layer\\na1b2c3: Download complete [====>] 3.4MB/3.4MB\\n";
    let unable = "Unable to find image agent:latest locally";
    runtape.script(
        "docker",
        &format!("printf '{unable}\\n{pull}{pull}{pull}' >&2; exec \"$@\""),
    );
    let known = "Warning: Permanently added (ED25519) to the list of known hosts.";
    runtape.script(
        "ssh",
        &format!("echo '{known}' >&2; echo '[motd] Welcome'; exec \"$@\""),
    );
    let noise =
        "i=0; while [ $i -lt $1 ]; do i=$((i + 1)); printf \"npm warn %${2:-1}s $i\\n\" x; done";
    runtape.script("noise", noise);
    let other = fixtures().join(format!("{CODEX}.stdout"));
    fs::copy(other, runtape.path("other")).unwrap();
}

/// Returns what tells how a run went, and of which runtime it is.
fn told(run: &Value) -> Value {
    let keys = [
        "runtime",
        "status",
        "sessionId",
        "model",
        "steps",
        "usage",
        "costUsd",
        "prompt",
        "toolCalls",
    ];
    let mut told: serde_json::Map<String, Value> = keys
        .iter()
        .map(|key| ((*key).to_owned(), run[*key].clone()))
        .collect();
    told.insert("error".to_owned(), run["error"]["name"].clone());
    told.into()
}

/// Returns what a fixture is by itself.
fn of_fixture(fixture: &str, exit: i32) -> Value {
    let runtape = Runtape::new();
    let runtime = fixture.split('/').next().unwrap();
    // A copy, without what is known of the fixture besides: a recorder of a wrapper is not told either.
    let path = runtape.path("copy.stdout");
    let original = fixtures().join(format!("{fixture}.stdout"));
    fs::copy(&original, &path).unwrap();
    let said = original.with_extension("stderr");
    if said.is_file() {
        fs::copy(said, path.with_extension("stderr")).unwrap();
    }
    let exit = exit.to_string();
    let words = ["ingest", "--runtime", runtime, "--exit-code", &exit];
    let output = runtape.run(&[&words[..], &[path.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    told(&runtape.json(&["runs"])[0])
}

/// Records a command line of a shell in the directory of a case.
fn record(runtape: &Runtape, line: &str) -> Value {
    let here = runtape.directory.path();
    let script = runtape.script("nightly.sh", line);
    let output = runtape
        .command(&["record", "--run-id", "night", "--", &script])
        .current_dir(here)
        .output()
        .unwrap();
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
    runtape.json(&["runs"])[0].clone()
}

fn notices(runtape: &Runtape) -> String {
    let notices = runtape.json(&["notices", "--limit", "0"]);
    let lines: Vec<String> = notices.iter().map(Value::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_wrapper_is_seen_through_by_its_first_lines() {
    assert!(CASES.len() >= 40);
    let mut faults = Vec::new();
    for (name, agent, line, expected) in CASES {
        let runtape = Runtape::new();
        programs(&runtape, *agent);
        let run = record(&runtape, line);
        let (told, wanted) = match expected {
            Fixture(fixture, exit) => (told(&run), of_fixture(fixture, *exit)),
            Generic(outcome) => {
                let error = run["error"]["name"].as_str();
                let outcome_now = error.or(run["status"].as_str());
                let told = serde_json::json!([run["runtime"], outcome_now]);
                (told, serde_json::json!(["generic", outcome]))
            }
        };
        if told != wanted {
            faults.push(format!("{name}: {told}\n    wanted {wanted}"));
        }
        let verified = runtape.run(&["verify"]);
        if !verified.status.success() {
            faults.push(format!("{name}: {}", stderr(&verified)));
        }
        let again = runtape.json(&["renormalize", "night"]);
        if (&again[0]["changed"], &again[0]["added"]) != (&0.into(), &0.into()) {
            faults.push(format!("{name}: read again {}", again[0]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_shows_late_or_second_is_told_and_can_be_repaired() {
    let runtape = Runtape::new();
    programs(&runtape, (CLAUDE_401, 1));
    assert_eq!(
        record(&runtape, "./noise 65; ./agent")["runtime"],
        "generic"
    );
    let said = notices(&runtape);
    let command = "`runtape renormalize night --runtime claude-code`";
    assert!(said.contains(command), "{said}");
    let printed = runtape.run(&["raw", "night"]).stdout;
    for runtime in ["auto", "claude-code"] {
        let output = runtape.run(&["renormalize", "night", "--runtime", runtime]);
        assert!(output.status.success(), "{}", stderr(&output));
        let run = &runtape.json(&["runs"])[0];
        assert_eq!(told(run), of_fixture(CLAUDE_401, 1), "{runtime}");
        assert_eq!(run["runId"], "night");
        assert_eq!(runtape.run(&["raw", "night"]).stdout, printed);
        assert!(runtape.run(&["verify"]).status.success());
    }
    let report = &runtape.json(&["verify"])[0];
    let removals = report["removals"].as_array().unwrap();
    assert_eq!(
        removals.len(),
        1,
        "the second reading changed nothing: {report}"
    );
    assert_eq!(removals[0]["reason"], "runtimeChanged");

    let runtape = Runtape::new();
    programs(&runtape, (CLAUDE, 0));
    record(&runtape, "./agent; cat other");
    let said = notices(&runtape);
    assert!(
        said.contains("codex's, but this run is claude-code's"),
        "{said}"
    );
}

#[test]
fn every_generic_run_is_looked_at_again_by_auto() {
    let runtape = Runtape::new();
    for (name, fixture) in [("one", CLAUDE), ("two", CODEX)] {
        let path = fixtures().join(format!("{fixture}.stdout"));
        let script = runtape.script(name, &format!("cat '{}'", path.display()));
        let output = runtape.run(&[
            "record",
            "--runtime",
            "generic",
            "--run-id",
            name,
            "--",
            &script,
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let text = runtape.script("three", "echo text");
    runtape.run(&["record", "--run-id", "three", "--", &text]);
    let output = runtape.run(&["renormalize", "--runtime", "auto"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let runtimes: Vec<String> = ["one", "two", "three"]
        .iter()
        .map(|run| {
            runtape.json(&["show", run])[0]["runtime"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(runtimes, ["claude-code", "codex", "generic"]);
    assert!(runtape.run(&["verify"]).status.success());
    let unnamed = runtape.run(&["renormalize", "--runtime", "codex"]);
    assert_eq!(unnamed.status.code(), Some(2), "{}", stderr(&unnamed));
}

#[test]
fn a_pipe_is_seen_through_too() {
    let runtape = Runtape::new();
    let file = runtape.path("piped");
    let printed = fs::read(fixtures().join(format!("{CODEX}.stdout"))).unwrap();
    fs::write(&file, [b"> banner [1]\n".as_slice(), &printed].concat()).unwrap();
    let output = runtape
        .command(&["ingest", "--exit-code", "0", "-"])
        .stdin(fs::File::open(&file).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(told(&runtape.json(&["runs"])[0]), of_fixture(CODEX, 0));
}

/// Returns how long after the first line of what is shown the last one came.
fn shown_apart(runtape: &Runtape, words: &[&str], script: &str) -> Duration {
    let mut child = runtape
        .command(&[&["record"], words, &["--", script]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut times = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        if !line.unwrap().trim().is_empty() {
            times.push(Instant::now());
        }
    }
    child.wait().unwrap();
    assert!(times.len() >= 2);
    times[times.len() - 1] - times[0]
}

#[test]
fn what_is_printed_is_shown_at_once_while_the_runtime_is_unknown() {
    const PAUSE: Duration = Duration::from_millis(700);
    const LATE: Duration = Duration::from_millis(50);
    let runtape = Runtape::new();
    let agent: PathBuf = fixtures().join(format!("{CLAUDE}.stdout"));
    let line = |after: &str| format!("echo first; sleep 0.7; {after}");
    let scripts = [
        runtape.script("wrapper", &line(&format!("cat '{}'", agent.display()))),
        runtape.script("other", &line("echo second")),
    ];
    for script in &scripts {
        for words in [&["--show", "raw"][..], &[]] {
            // The machine may be busy when the first line comes: it is shown at once if it ever is.
            let shown = (0..10)
                .map(|_| shown_apart(&runtape, words, script))
                .find(|apart| *apart + LATE >= PAUSE);
            assert!(shown.is_some(), "{script} {words:?}");
        }
    }
}

#[test]
fn a_recorder_that_is_killed_before_it_knows_the_runtime_loses_nothing() {
    let runtape = Runtape::new();
    let script = runtape.script("nightly.sh", "echo banner; echo more; sleep 60");
    let mut child = runtape
        .command(&["record", "--run-id", "night", "--", &script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    shown.read_line(&mut line).unwrap();
    let is_kept = || runtape.run(&["raw", "night"]).stdout == b"banner\nmore\n";
    let until = Instant::now() + Duration::from_secs(20);
    while !is_kept() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let recovered = runtape.run(&["recover"]);
    assert!(recovered.status.success(), "{}", stderr(&recovered));
    assert!(is_kept());
    let run = &runtape.json(&["runs"])[0];
    assert_eq!(
        (&run["runtime"], &run["error"]["name"]),
        (&"generic".into(), &"RecorderLost".into())
    );
    assert!(runtape.run(&["verify"]).status.success());
}
