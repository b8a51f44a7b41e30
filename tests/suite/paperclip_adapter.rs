//! The adapter in `contrib/paperclip`, run by node: against a stand-in host with the real binary, and, where it is asked
//! for, against Paperclip's own server.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it saw"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Asks for the tests that install and start Paperclip's server.
const REAL: &str = "RUNTAPE_TEST_PAPERCLIP";

fn package() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib/paperclip");
    package.canonicalize().unwrap()
}

/// Runs one file of tests, and checks that it has some and leaves none out.
fn passes(name: &str) {
    let found = Command::new("node").arg("--version").output();
    assert!(
        found.is_ok_and(|output| output.status.success()),
        "\n\nnode is not installed: the adapter cannot be tested without it. Install node 20 or later.\n"
    );
    let output = Command::new("node")
        .args(["--test", "--test-reporter", "tap"])
        .arg(package().join("adapter-test").join(name))
        .env("RUNTAPE_BIN", env!("CARGO_BIN_EXE_runtape"))
        // What is written down here would be inherited by the stand-ins.
        .env_remove("RUNTAPE_DB")
        .env_remove("NODE_TEST_CONTEXT")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    assert!(said.contains("\n# fail 0\n"), "{said}");
    assert!(said.contains("\n# skipped 0\n"), "{said}");
    assert!(!said.contains("\n# pass 0\n"), "{said}");
}

#[test]
fn every_runtime_is_called_recorded_and_told_to_the_host() {
    passes("execution.test.mjs");
}

#[test]
fn sessions_are_saved_resumed_and_given_up() {
    passes("session.test.mjs");
}

#[test]
fn agents_are_stopped_with_all_that_they_started() {
    passes("stopping.test.mjs");
}

#[test]
fn no_secret_of_the_server_reaches_an_agent() {
    passes("leak.test.mjs");
}

#[test]
fn environments_forms_and_the_package_are_as_the_host_wants_them() {
    passes("environment.test.mjs");
}

#[test]
fn skills_are_where_each_cli_looks_for_them() {
    passes("skills.test.mjs");
}

#[test]
fn prompts_are_made_with_the_hosts_helpers_and_without() {
    passes("prompt.test.mjs");
}

#[test]
fn the_shim_records_what_paperclips_own_adapters_run() {
    passes("shim.test.mjs");
}

/// Takes minutes and a network the first time: `contrib/paperclip/README.md` says what it does.
#[test]
fn the_real_server_installs_runs_cancels_resumes_and_tests() {
    if std::env::var_os(REAL).is_none_or(|value| value != "1") {
        println!("left out: set {REAL}=1 to install and start Paperclip's server");
        return;
    }
    passes("real-server.test.mjs");
}
