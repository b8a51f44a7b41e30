//! `record` as other programs start it: silent, with a prompt on standard input, telling whom it records.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use crate::harness::{Runtape, capture, stderr, stdout};

/// Runs the binary with something on standard input.
fn fed(runtape: &Runtape, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = runtape
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn a_quiet_recorder_says_nothing_unless_something_is_wrong() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", &format!("cat {}", capture().display()));
    for show in [
        &["--show", "raw"][..],
        &["--show", "none"],
        &["--emit", "transcript"],
    ] {
        let words = [&["record", "--quiet"], show, &["--", &script]].concat();
        let output = runtape.run(&words);
        assert!(output.status.success());
        assert_eq!(stderr(&output), "", "{show:?}");
    }
    let broken = runtape.path("broken.db");
    fs::write(
        &broken,
        "no database, though long enough to be taken for one",
    )
    .unwrap();
    let broken = broken.to_str().unwrap();
    let output = runtape.run(&[
        "--db", broken, "record", "--quiet", "--show", "none", "--", &script,
    ]);
    assert!(output.status.success(), "the command went well");
    assert!(
        stderr(&output).contains("not stored"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_prompt_on_standard_input_is_kept_and_passed_on() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", "cat; exit 3");
    let words = [
        "record",
        "--quiet",
        "--show",
        "raw",
        "--prompt-on-stdin",
        "--run-id",
        "asked",
        "--",
        &script,
        "-p",
    ];
    // More than fits into a pipe, and not all of it letters.
    let prompt = format!("Count them: é\n{}", "all of them\n".repeat(20_000));
    let output = fed(&runtape, &words, prompt.as_bytes());
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(stdout(&output), prompt, "byte for byte");
    let asked = runtape.json(&["transcript", "asked"]);
    let asked: Vec<_> = asked
        .iter()
        .filter(|entry| entry["kind"] == "user")
        .collect();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["text"], prompt);
    // Nothing is no prompt, and the one on the command line counts.
    let words = [
        "record",
        "--quiet",
        "--show",
        "raw",
        "--prompt-on-stdin",
        "--run-id",
        "told",
        "--",
        &script,
        "-p",
        "Say it.",
    ];
    let output = fed(&runtape, &words, b"");
    assert_eq!(stdout(&output), "");
    let told = runtape.json(&["transcript", "told"]);
    let told: Vec<_> = told
        .iter()
        .filter(|entry| entry["kind"] == "user")
        .collect();
    assert_eq!(told[0]["text"], "Say it.");
}

#[test]
fn an_input_that_does_not_end_reaches_the_command_all_the_same() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", "read line; echo \"got $line\"");
    let mut child = runtape
        .command(&[
            "record",
            "--quiet",
            "--show",
            "raw",
            "--prompt-on-stdin",
            "--",
            &script,
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"first\n").unwrap();
    // Its end stays open until the command has answered.
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(stdout(&output), "got first\n");
    let kinds = runtape.json(&["transcript", "last"]);
    assert!(
        kinds.iter().all(|entry| entry["kind"] != "user"),
        "half a prompt is none"
    );
}

#[test]
fn the_pid_file_names_the_command() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", "echo $$");
    let file = runtape.path("pid");
    let words = [
        "record",
        "--quiet",
        "--show",
        "raw",
        "--pid-file",
        file.to_str().unwrap(),
        "--",
        &script,
    ];
    let output = runtape.run(&words);
    assert_eq!(fs::read_to_string(&file).unwrap(), stdout(&output));
    // One that cannot be written does not keep the command from running.
    let words = [
        "record",
        "--quiet",
        "--show",
        "raw",
        "--pid-file",
        "/no/such/directory/pid",
        "--",
        &script,
    ];
    let output = runtape.run(&words);
    assert!(output.status.success());
    assert!(
        stderr(&output).contains("/no/such/directory/pid"),
        "{}",
        stderr(&output)
    );
}
