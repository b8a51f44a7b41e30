//! `ingest` of a pipe that has a name, as `ingest <(agent)` gives it one: it is read once, and whole.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{Runtape, stderr};
use crate::piped::Piped;
use crate::same_records::{same, streams};

/// A run that is far longer than what is looked at to tell its runtime, and than what a pipe holds.
fn long_run() -> Vec<u8> {
    let run = runtape_tests::synthetic::LongRun::new("claude-code", 7).unwrap();
    let bytes = run.write(300);
    assert!(bytes.len() > 200_000);
    bytes
}

fn make_pipe(path: &Path) {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

/// Writes to a pipe when somebody reads it.
fn write_to(path: &Path, bytes: &[u8]) -> std::thread::JoinHandle<()> {
    let (path, bytes) = (path.to_owned(), bytes.to_owned());
    std::thread::spawn(move || fs::write(path, bytes).unwrap())
}

/// Runs a command that must succeed.
fn ok(runtape: &Runtape, arguments: &[&str]) -> Vec<u8> {
    let output = runtape.run(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    output.stdout
}

#[test]
fn a_pipe_with_a_name_is_read_once_and_whole() {
    let bytes = long_run();
    let errors = b"a warning\n";
    let unnamed = Runtape::new();
    let beside = unnamed.path("run.err");
    fs::write(&beside, errors).unwrap();
    let arguments = ["ingest", "--exit-code", "0", "-", "--stderr"];
    let arguments = [&arguments[..], &[beside.to_str().unwrap()]].concat();
    let mut piped = Piped::start(unnamed.command(&arguments));
    piped.write(&bytes);
    let output = piped.close();
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = streams(unnamed.json(&["export", "last"]));
    // Either of them may be a pipe.
    for (out_is_pipe, err_is_pipe) in [(true, false), (false, true), (true, true)] {
        let runtape = Runtape::new();
        let mut writers = Vec::new();
        let mut part = |name: &str, is_pipe: bool, bytes: &[u8]| {
            let path = runtape.path(name);
            if is_pipe {
                make_pipe(&path);
                writers.push(write_to(&path, bytes));
            } else {
                fs::write(&path, bytes).unwrap();
            }
            path
        };
        let file = part("run.out", out_is_pipe, &bytes);
        let beside = part("run.err", err_is_pipe, errors);
        let given = [file.to_str().unwrap(), "--stderr", beside.to_str().unwrap()];
        ok(
            &runtape,
            &[&["ingest", "--exit-code", "0"], &given[..]].concat(),
        );
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(ok(&runtape, &["raw", "last"]), bytes);
        assert_eq!(ok(&runtape, &["raw", "last", "--stream", "stderr"]), errors);
        let found = streams(runtape.json(&["export", "last"]));
        let what = format!("pipes: {out_is_pipe}, {err_is_pipe}");
        same(&what, &found, &expected).unwrap();
        ok(&runtape, &["verify"]);
    }
}

#[test]
fn a_shell_may_name_it() {
    let runtape = Runtape::new();
    let bytes = long_run();
    let file = runtape.path("run.out");
    fs::write(&file, &bytes).unwrap();
    let ours = runtape.command(&[]);
    let mut shell = Command::new("bash");
    shell.args(["-c", r#""$0" ingest --exit-code 0 <(cat "$1")"#]);
    shell.arg(ours.get_program()).arg(&file);
    for (name, value) in ours.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(ok(&runtape, &["raw", "last"]), bytes);
    let shown = runtape.json(&["show", "last"]).remove(0);
    assert_eq!(shown["status"], "completed");
}

/// What is given for "nothing" is no pipe: the file beside it is known when it comes again.
#[test]
fn a_file_beside_nothing_is_taken_in_once() {
    let runtape = Runtape::new();
    let file = runtape.path("run.out");
    fs::write(&file, long_run()).unwrap();
    let given = [file.to_str().unwrap(), "--stderr", "/dev/null"];
    for told in ["1 run stored", "1 known already"] {
        let output = runtape.run(&[&["ingest"], &given[..]].concat());
        let said = stderr(&output);
        assert!(said.contains(told), "{said}");
    }
    assert_eq!(runtape.json(&["runs"]).len(), 1);
}

/// Nobody writes to it, and nobody asked for it by its name.
#[test]
fn a_pipe_in_a_directory_keeps_nobody_waiting() {
    let runtape = Runtape::new();
    let directory = runtape.path("captures");
    fs::create_dir(&directory).unwrap();
    make_pipe(&directory.join("a.stdout"));
    fs::write(directory.join("b.stdout"), long_run()).unwrap();
    let mut command = runtape.command(&["ingest", directory.to_str().unwrap()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it waits for the pipe");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let said = stderr(&output);
    assert!(said.contains("1 run stored"), "{said}");
    assert!(said.contains("1 other files ignored"), "{said}");
}
