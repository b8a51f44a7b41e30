//! A pipe into `ingest -` that a test writes to, and what must become of its bytes.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Runtape, capture, stderr, stdout};
use crate::same_records::{same, streams};

/// An `ingest -` that goes on.
pub(crate) struct Piped {
    child: Child,
}

impl Piped {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self {
            child: command.spawn().unwrap(),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let pipe = self.child.stdin.as_mut().unwrap();
        pipe.write_all(bytes).unwrap();
    }

    /// Closes the pipe, and waits until the command has ended.
    pub(crate) fn close(mut self) -> Output {
        drop(self.child.stdin.take());
        self.child.wait_with_output().unwrap()
    }
}

/// The bytes of a capture, and a place in the middle of one of its lines.
pub(crate) fn bytes() -> (Vec<u8>, usize) {
    let bytes = fs::read(capture()).unwrap();
    let middle = bytes.len() / 2;
    assert!(bytes[..middle].contains(&b'\n') && bytes[middle - 1] != b'\n');
    (bytes, middle)
}

/// Waits until a command succeeds and prints something.
pub(crate) fn wait_until_printed(command: impl Fn() -> Command) {
    let begin = Instant::now();
    loop {
        let output = command().output().unwrap();
        if output.status.success() && !output.stdout.is_empty() {
            return;
        }
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{}",
            stderr(&output)
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Checks that what could not be stored was said, and that nobody can take it for a success.
pub(crate) fn assert_not_stored(output: &Output, reason: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for words in [
        "not stored",
        reason,
        "hint: the output is in ",
        "`runtape recover` takes it in",
        "1 of 1 could not be stored",
    ] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
    assert_eq!(stdout(output), "");
}

/// Takes in what was spooled, and holds the one run that is there then to what the same bytes become where nothing
/// fails. `more` are the arguments that both were ingested with.
pub(crate) fn recover_and_compare(
    command: impl Fn(&[&str]) -> Command,
    bytes: &[u8],
    more: &[&str],
) {
    let run = |arguments: &[&str]| {
        let output = command(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        output
    };
    let values = |output: &Output| -> Vec<Value> {
        let text = stdout(output);
        let values = text.lines().map(|line| serde_json::from_str(line).unwrap());
        values.collect()
    };
    for closed in ["1 run closed", "0 runs closed"] {
        let said = stderr(&run(&["recover"]));
        assert!(said.contains(closed), "{said}");
    }
    let runs = values(&run(&["--json", "runs"]));
    let [found] = runs.as_slice() else {
        panic!("not one run: {runs:?}");
    };
    let id = found["runId"].as_str().unwrap();
    let undisturbed = Runtape::new();
    let arguments = [&["ingest", "-"], more].concat();
    let mut piped = Piped::start(undisturbed.command(&arguments));
    piped.write(bytes);
    let output = piped.close();
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = undisturbed.json(&["export", "last"]);
    assert!(!expected.is_empty());
    let recovered = values(&run(&["--json", "export", id]));
    let (recovered, expected) = (streams(recovered), streams(expected));
    same("recovered and undisturbed", &recovered, &expected).unwrap();
    assert_eq!(run(&["raw", id]).stdout, bytes);
    let exit = |shown: &Value| (shown["status"].clone(), shown["exit"].clone());
    let shown = values(&run(&["--json", "show", id])).remove(0);
    let expected = undisturbed.json(&["show", "last"]).remove(0);
    assert_eq!(exit(&shown), exit(&expected));
    run(&["verify"]);
}
