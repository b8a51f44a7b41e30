//! `record` where its own output goes nowhere: the command's exit stays the recorder's.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::harness::{Runtape, capture, stderr};

const VIEWS: [&[&str]; 5] = [
    &["--show", "transcript"],
    &["--show", "raw"],
    &["--show", "none"],
    &["--emit", "transcript"],
    &["--json"],
];

fn agent(runtape: &Runtape, code: i32) -> String {
    let body = format!("cat '{}'; exit {code}", capture().display());
    runtape.script("claude", &body)
}

#[test]
fn a_full_standard_output_is_told_and_the_exit_is_the_commands() {
    let runtape = Runtape::new();
    for code in [0, 3] {
        let script = agent(&runtape, code);
        for view in VIEWS {
            let words = [&["record"], view, &["--", &script]].concat();
            let full = File::options().write(true).open("/dev/full").unwrap();
            let output = runtape.command(&words).stdout(full).output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{view:?}");
            let said = stderr(&output);
            let is_told =
                said.contains("of output could not be shown") && said.contains("No space");
            assert_eq!(is_told, !view.contains(&"none"), "{view:?}: {said}");
        }
    }
    let runs = runtape.json(&["runs"]);
    assert_eq!(runs.len(), 2 * VIEWS.len());
    assert!(runs.iter().all(|run| run["status"] == "completed"));
}

#[test]
fn a_reader_who_goes_away_does_not_change_the_exit() {
    let runtape = Runtape::new();
    let script = agent(&runtape, 3);
    for view in VIEWS {
        let words = [&["record"], view, &["--", &script]].concat();
        let mut child = runtape
            .command(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(3), "{view:?}");
    }
}

#[test]
fn a_report_that_cannot_be_written_does_not_change_the_exit() {
    let runtape = Runtape::new();
    let script = agent(&runtape, 3);
    let missing = runtape.path("missing/report.json");
    for report in ["/dev/full", missing.to_str().unwrap()] {
        for shape in ["run", "paperclip"] {
            let words = [
                "record",
                "--show",
                "none",
                "--report",
                report,
                "--report-as",
                shape,
            ];
            let output = runtape.run(&[&words[..], &["--", &script]].concat());
            assert_eq!(output.status.code(), Some(3), "{report}");
            let said = stderr(&output);
            assert!(said.contains("failed to write"), "{said}");
        }
    }
}

#[test]
fn reports_and_directories_are_private() {
    let runtape = Runtape::new();
    let script = agent(&runtape, 0);
    let database = runtape.path("new/directory/runtape.db");
    let link = runtape.path("report.json");
    let other = runtape.path("other.json");
    fs::write(&other, "untouched").unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    let words = [
        "record",
        "--show",
        "none",
        "--report",
        link.to_str().unwrap(),
        "--",
        &script,
    ];
    let output = runtape
        .command(&words)
        .env("RUNTAPE_DB", &database)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&link), 0o600);
    let mut text = String::new();
    File::open(&link)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert!(text.contains("\"isStored\":true"), "{text}");
    // A link is replaced, not followed.
    assert_eq!(fs::read_to_string(&other).unwrap(), "untouched");
    assert_eq!(mode(&database), 0o600);
    assert_eq!(mode(database.parent().unwrap()), 0o700);
    let locks = runtape.path("new/directory/runtape.db.locks");
    assert_eq!(mode(&locks), 0o700);
    // A lock file lives as long as its run is open.
    for entry in fs::read_dir(&locks).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
    let backup = runtape.path("backup.db");
    let words = ["backup", backup.to_str().unwrap()];
    let output = runtape
        .command(&words)
        .env("RUNTAPE_DB", &database)
        .output();
    assert!(output.unwrap().status.success());
    assert_eq!(mode(&backup), 0o600);
}
