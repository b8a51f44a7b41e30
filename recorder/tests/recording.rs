//! Real commands, recorded for real.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use runtape_recorder::core::{CheckpointStatus, Runtime};
use runtape_recorder::normalizer::{Context, LiveItem};
use runtape_recorder::process::{Shown, Watch};
use runtape_recorder::store::{Options, Store};
use runtape_recorder::{
    Destination, Recording, RecordingOptions, SpoolDirectories, SpoolOwner, StoreHandle,
    take_in_spool,
};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn context(run: &str) -> Context {
    Context::new("job".parse().unwrap(), run.parse().unwrap())
}

fn memory() -> StoreHandle {
    Store::open_in_memory().unwrap().into()
}

fn start(command: Command, store: &StoreHandle, options: RecordingOptions) -> Recording {
    Recording::spawn(
        command,
        store.clone(),
        Runtime::ClaudeCode,
        context("run"),
        options,
    )
    .unwrap()
}

fn is_send_and_owned<T: Send + 'static>(_: &T) {}

#[test]
fn a_command_is_recorded_in_the_background_with_its_command_line() {
    let store = memory();
    let recording = start(shell("echo Hello."), &store, RecordingOptions::default());
    is_send_and_owned(&recording);
    let recorded = recording.wait();
    assert_eq!(recorded.exit.code, Some(0));
    assert!(recorded.kept.fault.is_none() && recorded.kept.spool.is_none());
    let summary = recorded.summary.unwrap();
    assert_eq!(summary.status, CheckpointStatus::Completed);
    assert_eq!(summary.final_text.as_deref(), Some("Hello."));
    let store = store.lock();
    let run = store.run(&"run".parse().unwrap()).unwrap();
    assert!(run.seal.is_some());
    let begun = store.begin_of(&run.run_id).unwrap();
    assert_eq!(begun.context["argv"][2], "echo Hello.");
    assert_eq!(store.verify().unwrap().faults, []);
}

#[test]
fn whoever_watches_sees_what_was_said_or_the_bytes_themselves() {
    for watch in [Watch::Items, Watch::Bytes] {
        let options = RecordingOptions {
            watch,
            ..RecordingOptions::default()
        };
        let recording = start(shell("echo one; echo two >&2"), &memory(), options);
        let (mut bytes, mut texts) = (Vec::new(), String::new());
        for shown in recording.shown() {
            match shown {
                Shown::Bytes(_, printed) => bytes.extend(printed),
                Shown::Unread(_) => {}
                Shown::Items { items, .. } => {
                    for item in items {
                        if let LiveItem::Transcript { entry, .. } = item {
                            texts.push_str(&serde_json::to_string(&entry).unwrap());
                        }
                    }
                }
            }
        }
        assert!(recording.wait().kept.fault.is_none());
        match watch {
            Watch::Items => assert!(texts.contains("one") && bytes.is_empty(), "{texts}"),
            _ => assert_eq!(bytes.len(), "one\ntwo\n".len()),
        }
    }
}

#[test]
fn a_command_that_nobody_watches_is_not_held_up() {
    // More than fits into what may wait for somebody who watches.
    let script = "i=0; while [ $i -lt 300 ]; do echo $i; i=$((i+1)); done; sleep 0.2; echo end";
    let options = RecordingOptions {
        watch: Watch::Items,
        ..RecordingOptions::default()
    };
    let recording = start(shell(script), &memory(), options);
    let recorded = recording.wait();
    assert_eq!(recorded.exit.code, Some(0));
    let text = recorded.summary.unwrap().final_text.unwrap();
    assert!(
        text.starts_with("0\n1\n") && text.ends_with("299\nend"),
        "{text}"
    );
}

#[test]
fn what_is_written_to_its_standard_input_reaches_the_command() {
    let mut command = shell("cat");
    command.stdin(Stdio::piped());
    let mut recording = start(command, &memory(), RecordingOptions::default());
    let mut stdin = recording.take_stdin().unwrap();
    assert!(recording.take_stdin().is_none());
    stdin.write_all(b"said").unwrap();
    drop(stdin);
    let summary = recording.wait().summary.unwrap();
    assert_eq!(summary.final_text.as_deref(), Some("said"));
}

#[test]
fn a_command_ends_when_it_is_stopped_and_after_its_time_is_over() {
    // The second one does not let itself be asked.
    for (script, signal) in [
        ("sleep 60", "SIGTERM"),
        ("trap '' TERM; while :; do sleep 0.05; done", "SIGKILL"),
    ] {
        for is_stopped in [true, false] {
            let options = RecordingOptions {
                timeout: (!is_stopped).then_some(Duration::from_millis(300)),
                grace: Duration::from_millis(300),
                ..RecordingOptions::default()
            };
            let begin = Instant::now();
            let recording = start(shell(script), &memory(), options);
            if is_stopped {
                std::thread::sleep(Duration::from_millis(300));
                recording.stop();
            }
            let recorded = recording.wait();
            assert_eq!(recorded.exit.signal.as_deref(), Some(signal), "{script}");
            assert_eq!(recorded.exit.timed_out, !is_stopped);
            assert!(begin.elapsed() < Duration::from_secs(30));
            let status = recorded.summary.unwrap().status;
            assert_eq!(status, CheckpointStatus::StoppedByError);
        }
    }
}

#[test]
fn a_command_that_is_not_there_is_an_error_and_leaves_no_run() {
    let store = memory();
    let command = Command::new("/no/such/program");
    let options = RecordingOptions::default();
    let started = Recording::spawn(
        command,
        store.clone(),
        Runtime::ClaudeCode,
        context("run"),
        options,
    );
    let error = started.err().unwrap().to_string();
    assert!(error.contains("/no/such/program"), "{error}");
    assert!(store.lock().run(&"run".parse().unwrap()).is_err());
}

#[test]
fn output_goes_to_a_spool_file_when_the_store_cannot_be_opened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("runs.db");
    let spool = directory.path().join("spool");
    let options = RecordingOptions {
        spool: SpoolDirectories {
            named: Some(spool.clone()),
            ..SpoolDirectories::default()
        },
        ..RecordingOptions::default()
    };
    let destination = Destination::opening(&path, || Err("not now"));
    let command = shell("echo Hello.");
    let recording = Recording::spawn(
        command,
        destination,
        Runtime::ClaudeCode,
        context("run"),
        options,
    );
    let kept = recording.unwrap().wait().kept;
    assert_eq!(kept.fault.as_deref(), Some("not now"));
    assert!(kept.missing.is_none());
    // The database is there again: nothing was lost.
    let mut store = Store::open(&path, &Options::default()).unwrap();
    let owner = SpoolOwner::of(&store).unwrap();
    assert_eq!(owner, SpoolOwner::at(&path));
    take_in_spool(&mut store, &kept.spool.unwrap(), 1).unwrap();
    let run = store.run(&"run".parse().unwrap()).unwrap();
    assert_eq!(run.status, CheckpointStatus::Completed);
}
