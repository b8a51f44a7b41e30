//! How much a server is asked for.

use std::fs;

use runtape_tests::postgres::{Care, own_server};

use super::command;
use crate::harness::{Runtape, capture, stderr};

/// Returns what a server was asked that writes down all of it.
fn asked(log: &str) -> Vec<&str> {
    let lines = log.lines().filter_map(|line| line.split_once("LOG:  "));
    let asked = lines.filter_map(|(_, said)| {
        let is_asked = said.starts_with("execute") || said.starts_with("statement:");
        is_asked.then_some(said)
    });
    asked.collect()
}

/// A way to a server and back takes longer than to store a short run. So what is asked for does not grow with the runs.
#[test]
fn many_short_runs_are_stored_with_few_statements() {
    let Some(server) = own_server(Care::Quick, &["log_statement=all"]) else {
        return;
    };
    let runtape = Runtape::new();
    server.sql("postgres").run("CREATE DATABASE runs");
    let address = server.address("runs");
    let run = |arguments: &[&str]| command(&runtape, &address, arguments).output().unwrap();
    assert!(run(&["db", "migrate"]).status.success());
    let line = fs::read_to_string(capture()).unwrap();
    let mut counts = Vec::new();
    for count in [8, 200] {
        let directory = tempfile::tempdir().unwrap();
        for number in 0..count {
            // Every second one is of a session of its own, the others are of none.
            let text = match number % 2 {
                0 => line.replace(
                    "session_id\":\"",
                    &format!("session_id\":\"{count}-{number}-"),
                ),
                _ => format!("plain text {count} {number}\n"),
            };
            fs::write(directory.path().join(format!("{number}.stdout")), text).unwrap();
        }
        let before = fs::read_to_string(server.log()).unwrap().len();
        let output = run(&["ingest", directory.path().to_str().unwrap()]);
        assert!(output.status.success(), "{}", stderr(&output));
        let log = fs::read_to_string(server.log()).unwrap();
        counts.push(asked(log.get(before..).unwrap()).len());
    }
    println!("statements for 8 and 200 runs: {counts:?}");
    assert!(counts[1] < counts[0] + 100, "{counts:?}");
}
