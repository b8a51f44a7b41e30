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

/// Compares what commands say with what was read before.
struct Snapshots {
    sample: Sample,
    settings: insta::Settings,
}

impl Snapshots {
    fn new() -> Self {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let sample = Sample::new();
        Self { sample, settings }
    }

    fn show(&self, name: &str, arguments: &[&[&str]]) {
        let texts = arguments.iter().map(|words| says(&self.sample, words));
        let text = texts.collect::<Vec<_>>().join("\n");
        self.settings.bind(|| insta::assert_snapshot!(name, text));
    }
}

#[test]
fn every_command_reads_well() {
    let snapshots = Snapshots::new();
    runs(&snapshots);
    sums_and_audit(&snapshots);
    the_rest(&snapshots);
}

fn runs(snapshots: &Snapshots) {
    let first = snapshots.sample.first_run();
    snapshots.show(
        "runs",
        &[
            &["runs", "--exact"],
            &["runs", "--exact", "--sort", "cost", "--limit", "3"],
            &["runs", "--exact", "--children", "--runtime", "claude-code"],
        ],
    );
    snapshots.show("jobs", &[&["jobs", "--limit", "4"]]);
    snapshots.show(
        "sessions",
        &[&["sessions"], &["sessions", "--runtime", "cursor"]],
    );
    snapshots.show("show", &[&["show", "last"], &["show", first]]);
    snapshots.show("transcript", &[&["transcript", "last"]]);
    snapshots.show("events", &[&["events", "last"]]);
    snapshots.show(
        "checkpoint",
        &[&["checkpoint", "last"], &["checkpoint", first]],
    );
    snapshots.show("search", &[&["search", "file", "--limit", "3"]]);
}

fn sums_and_audit(snapshots: &Snapshots) {
    snapshots.show(
        "usage",
        &[
            &["usage"],
            &["usage", "--by", "model"],
            &["usage", "--by", "day,runtime"],
            &["usage", "--by", "day,model,job"],
        ],
    );
    snapshots.show(
        "prices",
        &[
            &[
                "prices",
                "anthropic/claude-sonnet-4.5",
                "gemini-2.5-pro",
                "m1",
            ],
            &["prices", "m1"],
            &["prices", "--prices", "/no/such/file"],
        ],
    );
    snapshots.show("ledger", &[&["usage", "--explain", "--limit", "4"]]);
    snapshots.show(
        "tools",
        &[
            &["tools"],
            &["tools", "--calls", "--limit", "5"],
            &["tools", "--class", "shell", "--failed", "--calls"],
            &["tools", "--tool", "*_file"],
        ],
    );
    snapshots.show(
        "files",
        &[
            &["files"],
            &["files", "notes.md", "--written"],
            &["files", "--directories"],
        ],
    );
    snapshots.show("commands", &[&["commands"]]);
    let audit = ["--db", "audit.db"];
    let of_audit = |words: &[&'static str]| [words, &audit].concat();
    snapshots.show(
        "network",
        &[
            &of_audit(&["network"]),
            &of_audit(&["network", "--calls"]),
            &of_audit(&["network", "*.org"]),
        ],
    );
    snapshots.show(
        "notices",
        &[
            &of_audit(&["notices"]),
            &of_audit(&["notices", "--kind", "permissionDenied"]),
        ],
    );
}

fn the_rest(snapshots: &Snapshots) {
    snapshots.show("errors", &[&["errors"]]);
    snapshots.show("drift", &[&["drift"]]);
    snapshots.show("diff", &[&["diff", "last:1", "last"]]);
    let sessions = ["claude-code", "gemini"].map(|runtime| ["session", "--runtime", runtime]);
    snapshots.show("session", &[&sessions[0], &sessions[1]]);
    snapshots.show("renormalize", &[&["renormalize", "last"]]);
    snapshots.show("runtimes", &[&["runtimes"]]);
    snapshots.show(
        "sql",
        &[&[
            "sql",
            "SELECT runtime, count(*) AS runs FROM v_runs GROUP BY 1",
        ]],
    );
    snapshots.show(
        "refusals",
        &[
            &["show", "nope"],
            &["runs", "--until", "2000-01-01"],
            &["runs", "--status", "fine"],
            &["tools", "--class", "wizardry"],
            &["notices", "--kind", "omen"],
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
