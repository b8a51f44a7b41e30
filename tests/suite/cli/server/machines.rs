//! The same captures taken in on different machines are the same runs, wherever they meet.

use std::fs;
use std::path::Path;
use std::process::Command;

use runtape_tests::postgres::{Database, Layout};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{command, succeed, values};
use crate::harness::{Runtape, capture, fixtures, stderr, without_times};

/// A value that one machine keeps in its environment and the capture prints.
const OWN_SECRET: &str = "correct-horse-battery-staple";

/// A machine: a user's directory, an environment and a database.
struct Machine {
    runtape: Runtape,
    address: String,
    environment: Vec<(&'static str, String)>,
    /// Kept until the end of the test.
    _database: Option<Database>,
}

impl Machine {
    fn new(database: Option<Database>, environment: &[(&'static str, &str)]) -> Self {
        let runtape = Runtape::new();
        let file = runtape.path("runs.db").to_str().unwrap().to_owned();
        let key = runtape.path("key");
        fs::write(&key, "0f".repeat(32)).unwrap();
        let value = |value: &str| value.replace("KEY", key.to_str().unwrap());
        let variables = environment.iter();
        Self {
            address: database
                .as_ref()
                .map_or(file, |database| database.address().to_owned()),
            environment: variables.map(|(name, text)| (*name, value(text))).collect(),
            runtape,
            _database: database,
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.runtape, &self.address, arguments);
        command.envs(self.environment.iter().cloned());
        command
    }

    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let output = succeed(self.command(&[&["--json"], arguments].concat()));
        values(&output)
    }

    /// Takes in fixtures, and a capture that prints secrets. Its path is a part of what it is.
    fn fill(&self, shared: &Path) {
        for name in ["cursor", "openclaw"] {
            let captures = fixtures().join(name);
            succeed(self.command(&["ingest", captures.to_str().unwrap()]));
        }
        let printed = without_times(&fs::read_to_string(capture()).unwrap());
        let token = format!("ghp_{}", "Zq7".repeat(12));
        let secrets = format!("secrets: {token} and {OWN_SECRET}");
        let printed = printed.replace("It printed two lines.", &secrets);
        assert!(printed.contains(OWN_SECRET));
        let copy = shared.join("secrets.stdout");
        if !copy.exists() {
            fs::write(&copy, printed).unwrap();
        }
        succeed(self.command(&["ingest", "--exit-code", "0", copy.to_str().unwrap()]));
    }

    /// Copies between this machine's database and another, and returns the summary.
    fn copy(&self, way: &str, other: &Self) -> Value {
        self.json(&[way, &other.address]).pop().unwrap()
    }
}

/// Returns three machines that differ in all that says how a run is recorded.
fn machines(databases: [Option<Database>; 3]) -> [Machine; 3] {
    let [one, two, three] = databases;
    [
        Machine::new(one, &[]),
        Machine::new(
            two,
            &[
                ("RUNTAPE_REDACTION_KEY_FILE", "KEY"),
                ("DEPLOY_TOKEN", "another-secret-of-this-machine"),
            ],
        ),
        Machine::new(
            three,
            &[("SERVICE_PASSWORD", OWN_SECRET), ("HOSTNAME", "elsewhere")],
        ),
    ]
}

fn hold_that_all_are_the_same(machines: &[Machine; 3]) {
    let shared = TempDir::new().unwrap();
    for machine in machines {
        machine.fill(shared.path());
    }
    let runs = machines[0].json(&["runs", "--limit", "0"]).len();
    assert!(runs > 60, "{runs}");
    let [one, two, three] = machines;
    // Both ways, and around the ring.
    for (from, to) in [
        (one, two),
        (two, one),
        (two, three),
        (three, one),
        (one, three),
    ] {
        for way in ["push", "pull"] {
            let sum = from.copy(way, to);
            let counts = [
                "stored",
                "skipped",
                "recordedDifferently",
                "differs",
                "failed",
            ];
            let counts = counts.map(|count| sum[count].clone());
            let expected = [0, runs, runs, 0, 0].map(|count| json!(count));
            assert_eq!(counts, expected, "{sum}");
        }
    }
    for machine in machines {
        assert_eq!(machine.json(&["verify"])[0]["faults"], json!([]));
    }
}

#[test]
fn captures_that_two_machines_took_in_are_the_same_runs() {
    hold_that_all_are_the_same(&machines([None, None, None]));
}

#[test]
fn captures_on_a_server_and_in_files_are_the_same_runs() {
    let Some(server) = Database::fresh(Layout::Whole) else {
        return;
    };
    hold_that_all_are_the_same(&machines([None, Some(server), None]));
}

#[test]
fn bundles_and_lines_of_another_machine_are_known_and_other_content_is_not() {
    let [one, two, _] = machines([None, None, None]);
    let shared = TempDir::new().unwrap();
    one.fill(shared.path());
    two.fill(shared.path());
    let path = |name: &str| one.runtape.path(name).to_str().unwrap().to_owned();
    let (bundle, lines) = (path("runs.bundle"), path("runs.jsonl"));
    succeed(one.command(&["export", "last", "--format", "bundle", "-o", &bundle]));
    succeed(one.command(&["export", "last", "-o", &lines]));
    for file in [&bundle, &lines] {
        let output = succeed(two.command(&["import", file]));
        let said = stderr(&output);
        assert!(
            said.contains("0 runs stored, 1 known already"),
            "{file}: {said}"
        );
    }
    // Another answer under the same id is another run.
    let changed = fs::read_to_string(&lines)
        .unwrap()
        .replacen("secrets:", "secret:", 1);
    let other = path("other.jsonl");
    fs::write(&other, changed).unwrap();
    let output = two.command(&["import", &other]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}
