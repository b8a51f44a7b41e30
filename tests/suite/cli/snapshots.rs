//! What people read, command by command. `INSTA_UPDATE=always` writes the snapshots anew; read
//! them before they are committed.

use std::fmt::Write as _;

use crate::harness::{stderr, stdout};
use crate::sample::Sample;

/// Runs a command and returns all that it says.
fn says(sample: &Sample, arguments: &[&str]) -> String {
    let output = sample.run(arguments);
    let mut text = format!("$ runtape {}\n{}", arguments.join(" "), stdout(&output));
    if !output.stderr.is_empty() {
        let _ = write!(text, "--- stderr\n{}", stderr(&output));
    }
    if output.status.code() != Some(0) {
        let _ = writeln!(text, "--- exit code {}", output.status.code().unwrap());
    }
    sample.plain(&text)
}

#[test]
fn every_command_reads_well() {
    let sample = Sample::new();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let show = |name: &str, arguments: &[&[&str]]| {
        let texts: Vec<String> = arguments.iter().map(|words| says(&sample, words)).collect();
        settings.bind(|| insta::assert_snapshot!(name, texts.join("\n")));
    };
    let first = sample.first_run();
    show(
        "runs",
        &[
            &["runs"],
            &["runs", "--children", "--runtime", "claude-code"],
        ],
    );
    show("jobs", &[&["jobs", "--limit", "4"]]);
    show(
        "sessions",
        &[&["sessions"], &["sessions", "--runtime", "cursor"]],
    );
    show("show", &[&["show", "last"], &["show", first]]);
    show("transcript", &[&["transcript", "last"]]);
    show("events", &[&["events", "last"]]);
    show(
        "checkpoint",
        &[&["checkpoint", "last"], &["checkpoint", first]],
    );
    show("search", &[&["search", "file", "--limit", "3"]]);
    show("usage", &[&["usage"], &["usage", "--by", "model"]]);
    show("ledger", &[&["usage", "--explain", "--limit", "4"]]);
    show(
        "tools",
        &[&["tools"], &["tools", "--calls", "--limit", "5"]],
    );
    show("files", &[&["files"]]);
    show("errors", &[&["errors"]]);
    show("drift", &[&["drift"]]);
    show("diff", &[&["diff", "last:1", "last"]]);
    let sessions = ["claude-code", "gemini"].map(|runtime| ["session", "--runtime", runtime]);
    show("session", &[&sessions[0], &sessions[1]]);
    show("renormalize", &[&["renormalize", "last"]]);
    show("runtimes", &[&["runtimes"]]);
    show(
        "sql",
        &[&[
            "sql",
            "SELECT runtime, count(*) AS runs FROM v_runs GROUP BY 1",
        ]],
    );
    show(
        "refusals",
        &[
            &["show", "nope"],
            &["runs", "--until", "2000-01-01"],
            &["runs", "--status", "fine"],
            &["checkpoint", "last:99"],
            &["raw", "last:0"],
            &["sql", "DELETE FROM run"],
            &["normalize", "/no/such/file"],
            &["record", "--", "frobnicate"],
            &["record", "--runtime", "gemini", "--", "/no/such/program"],
            &["export", "last", "--format", "bundle"],
        ],
    );
}
