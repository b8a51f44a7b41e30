//! What a command is given on its standard input is passed on, kept, and known for what was asked.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Runtape, stderr, stdout};

/// Records a command that is given a text.
fn record(runtape: &Runtape, options: &[&str], command: &[&str], input: &str) -> Output {
    let arguments = [&["record", "--show", "raw"], options, &["--"], command].concat();
    let mut child = runtape
        .command(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that does not read closes its end.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn asked(runtape: &Runtape) -> Value {
    let events = runtape.json(&["events", "last"]);
    let start = events.iter().find(|event| event["type"] == "startRun");
    let message = &start.unwrap_or_else(|| panic!("{events:?}"))["inputMessages"];
    message.clone()
}

#[test]
fn a_prompt_on_standard_input_reaches_the_command_and_is_what_was_asked() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", "echo \"You said: $(cat)\"");
    let output = record(&runtape, &[], &[&script, "-p"], "Tidy the\nworkshop");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "You said: Tidy the\nworkshop\n");
    let kept = runtape.run(&["raw", "last", "--stream", "stdin"]);
    assert_eq!(stdout(&kept), "Tidy the\nworkshop");
    assert!(asked(&runtape).to_string().contains("Tidy the\\nworkshop"));
    for command in [&["verify"][..], &["renormalize", "--all"]] {
        let output = runtape.run(command);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert!(asked(&runtape).to_string().contains("Tidy the\\nworkshop"));
}

#[test]
fn making_the_records_again_changes_none_of_them() {
    let runtape = Runtape::new();
    let script = runtape.script("gemini", "cat >/dev/null; echo Done.");
    record(&runtape, &[], &[&script, "-p", "Hi"], "a file\n");
    let report = &runtape.json(&["renormalize", "last"])[0];
    assert_eq!(
        (&report["changed"], &report["added"], &report["removed"]),
        (&0.into(), &0.into(), &0.into()),
        "{report}"
    );
}

#[test]
fn secrets_on_standard_input_reach_the_command_and_no_disk() {
    let runtape = Runtape::new();
    let secret = format!("ghp_{}", "0123456789abcdefghijABCDEFGHIJ012345");
    let script = runtape.script("claude", "cat > received; echo Done.");
    let prompt = format!("Use {secret} to log in");
    let arguments = ["record", "--quiet", "--", &script, "-p"];
    let mut child = runtape
        .command(&arguments)
        .current_dir(runtape.directory.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(prompt.as_bytes())
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(
        fs::read_to_string(runtape.path("received")).unwrap(),
        prompt
    );
    let kept = stdout(&runtape.run(&["raw", "last", "--stream", "stdin"]));
    assert!(
        kept.starts_with("Use ") && kept.ends_with(" to log in"),
        "{kept}"
    );
    assert!(!kept.contains(&secret));
    assert!(!asked(&runtape).to_string().contains(&secret));
}

#[test]
fn what_nobody_wants_kept_is_passed_on_and_no_more() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", "cat");
    let output = record(&runtape, &["--no-stdin"], &[&script, "-p"], "Hush\n");
    assert_eq!(stdout(&output), "Hush\n");
    assert!(
        runtape
            .run(&["raw", "last", "--stream", "stdin"])
            .stdout
            .is_empty()
    );
}

#[test]
fn an_input_that_never_ends_or_is_never_read_holds_up_nothing() {
    let runtape = Runtape::new();
    for (name, body) in [("unread", "echo Done."), ("read", "read line; echo Done.")] {
        let script = runtape.script("claude", body);
        let begun = Instant::now();
        let mut child = runtape
            .command(&["record", "--quiet", "--", &script, "-p", "Hi"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"a line\n").unwrap();
        assert!(child.wait().unwrap().success(), "{name}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{name}");
        drop(stdin);
        assert_eq!(
            runtape.json(&["runs", "--limit", "1"])[0]["status"],
            "completed"
        );
    }
}

#[test]
fn a_long_input_is_passed_on_whole_and_its_beginning_is_kept() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", "wc -c");
    let long = "0123456789abcde\n".repeat(400_000);
    let output = record(&runtape, &[], &[&script, "-p", "Count"], &long);
    assert_eq!(stdout(&output).trim(), long.len().to_string());
    let kept = runtape.run(&["raw", "last", "--stream", "stdin"]).stdout;
    assert_eq!(kept.len(), 4 << 20);
    let notices = runtape.run(&["notices", "--json"]);
    assert!(
        stdout(&notices).contains("2205696 bytes more"),
        "{}",
        stdout(&notices)
    );
    assert!(runtape.run(&["verify"]).status.success());
}

#[test]
fn messages_on_standard_input_are_what_the_user_said() {
    let runtape = Runtape::new();
    let answer = r#"{"type":"result","subtype":"success","is_error":false,"result":"Yes.","session_id":"s","uuid":"u"}"#;
    let script = runtape.script(
        "claude",
        &format!("while read -r line; do echo '{answer}'; done"),
    );
    let line = |text: &str| {
        serde_json::json!({"type": "user", "message": {"role": "user", "content": text}})
            .to_string()
            + "\n"
    };
    let format = [
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
    ];
    let command = [&[&*script, "-p"], &format[..]].concat();
    record(
        &runtape,
        &[],
        &command,
        &(line("First?") + &line("Second?")),
    );
    let transcript = stdout(&runtape.run(&["transcript", "last"]));
    assert!(
        transcript.contains("First?") && transcript.contains("Second?"),
        "{transcript}"
    );
    assert_eq!(runtape.json(&["runs"])[0]["status"], "completed");
}
