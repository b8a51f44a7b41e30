//! The command does not outlive its recorder, and is not ended by a recorder that ends in peace.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::harness::Runtape;

const SOON: Duration = Duration::from_secs(20);

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < SOON, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Reads a process id that a script has written, once it is whole.
fn pid(path: &Path) -> Option<u32> {
    let text = fs::read_to_string(path).ok()?;
    text.strip_suffix('\n')?.parse().ok()
}

/// Tells whether a process is there and not merely waiting to be forgotten.
fn lives(pid: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = status.rsplit(") ").next().unwrap_or_default();
    !state.starts_with('Z')
}

/// A command that ignores being asked to end, and has started another that does so, too.
fn stubborn(runtape: &Runtape) -> String {
    let (own, tool) = (runtape.path("own"), runtape.path("tool"));
    let body = format!(
        "trap '' TERM HUP INT\n(trap '' TERM HUP INT; exec sleep 600) &\necho $! > '{}'\n\
         echo $$ > '{}'\nwhile :; do sleep 0.1; done",
        tool.display(),
        own.display()
    );
    runtape.script("claude", &body)
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_recorder_takes_the_command_and_its_tools_with_it() {
    for show in ["none", "raw"] {
        let runtape = Runtape::new();
        let script = stubborn(&runtape);
        let mut recorder = runtape
            .command(&["record", "--show", show, "--", &script])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let read = |name: &str| pid(&runtape.path(name));
        until("the command starts", || {
            read("own").is_some() && read("tool").is_some()
        });
        let (own, tool) = (read("own").unwrap(), read("tool").unwrap());
        assert!(lives(own) && lives(tool));
        recorder.kill().unwrap();
        recorder.wait().unwrap();
        until("the command ends", || !lives(own));
        until("what it started ends", || !lives(tool));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_recorder_that_is_asked_to_end_ends_a_command_that_would_not() {
    let runtape = Runtape::new();
    let script = stubborn(&runtape);
    let mut recorder = runtape
        .command(&[
            "record", "--show", "none", "--grace", "300ms", "--", &script,
        ])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let read = |name: &str| pid(&runtape.path(name));
    until("the command starts", || {
        read("own").is_some() && read("tool").is_some()
    });
    let (own, tool) = (read("own").unwrap(), read("tool").unwrap());
    let recorder_id = nix::unistd::Pid::from_raw(i32::try_from(recorder.id()).unwrap());
    nix::sys::signal::kill(recorder_id, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(recorder.wait().unwrap().code(), Some(137));
    assert!(!lives(own), "the command");
    assert!(!lives(tool), "what it started");
    assert_eq!(
        runtape.json(&["runs"])[0]["error"]["name"],
        "KilledBySignal"
    );
}

/// What ignores nothing but has let go of the output is ended with the command, too.
#[cfg(target_os = "linux")]
#[test]
fn a_time_out_leaves_nothing_of_the_process_group() {
    let runtape = Runtape::new();
    let tool = runtape.path("tool");
    let body = format!(
        "(trap '' TERM; exec sleep 600) >/dev/null 2>&1 &\necho $! > '{}'\nexec sleep 600",
        tool.display()
    );
    let script = runtape.script("claude", &body);
    let limits = ["--timeout", "500ms", "--grace", "300ms"];
    let output =
        runtape.run(&[&["record", "--show", "none"], &limits[..], &["--", &script]].concat());
    assert_eq!(output.status.code(), Some(143));
    assert!(!lives(pid(&tool).unwrap()));
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_command_leaves_running_lives_on_after_a_peaceful_end() {
    let runtape = Runtape::new();
    let tool = runtape.path("tool");
    let body = format!(
        "sleep 600 >/dev/null 2>&1 &\necho $! > '{}'\necho done\nexit 7",
        tool.display()
    );
    let script = runtape.script("claude", &body);
    let output = runtape.run(&["record", "--show", "none", "--", &script]);
    assert_eq!(output.status.code(), Some(7));
    let tool = pid(&tool).unwrap();
    assert!(lives(tool));
    std::thread::sleep(Duration::from_millis(200));
    assert!(lives(tool), "the watcher has let go");
    let ended = std::process::Command::new("kill")
        .arg(tool.to_string())
        .status();
    assert!(ended.unwrap().success());
}

#[test]
fn a_command_sees_the_words_and_the_name_it_was_given() {
    let runtape = Runtape::new();
    let script = runtape.script(
        "claude",
        "for word; do printf '<%s>' \"$word\"; done; exit 3",
    );
    let words = [
        "record", "--show", "raw", "--", &script, "-p", "a b", "", "--", "ü\n$x",
    ];
    let output = runtape.run(&words);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "<-p><a b><><--><ü\n$x>"
    );
}

#[test]
fn a_command_that_cannot_be_started_is_no_run() {
    let runtape = Runtape::new();
    let plain = runtape.path("plain");
    fs::write(&plain, "no program").unwrap();
    let directory = runtape.directory.path().to_str().unwrap().to_owned();
    for program in [
        "no-such-program",
        "/no/such/program",
        plain.to_str().unwrap(),
        &directory,
    ] {
        let output = runtape.run(&["record", "--runtime", "claude-code", "--", program]);
        assert_eq!(output.status.code(), Some(1), "{program}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("cannot start"), "{said}");
        assert!(!runtape.path("runtape.db").exists(), "{program}");
    }
}
