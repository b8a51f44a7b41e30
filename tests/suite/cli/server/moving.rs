//! `push` and `pull` between files and servers.

use std::process::{Command, Stdio};
use std::time::Duration;

use runtape_core::Runtime;
use runtape_store::{BeginRun, Options, Store};
use runtape_tests::postgres::{Database, Layout};
use serde_json::{Value, json};

use super::{command, succeed, values};
use crate::harness::{Runtape, fixtures, stderr};

/// A database of either kind, by what opens it.
struct AnyStore {
    address: String,
    /// Kept until the end of the test.
    _database: Option<Database>,
}

impl AnyStore {
    fn file(runtape: &Runtape, name: &str) -> Self {
        Self {
            address: runtape.path(name).to_str().unwrap().to_owned(),
            _database: None,
        }
    }

    /// None where there is no server, which was said.
    fn server() -> Option<Self> {
        let database = Database::fresh(Layout::Whole)?;
        Some(Self {
            address: database.address().to_owned(),
            _database: Some(database),
        })
    }

    fn command(&self, runtape: &Runtape, arguments: &[&str]) -> Command {
        command(runtape, &self.address, arguments)
    }

    fn json(&self, runtape: &Runtape, arguments: &[&str]) -> Vec<Value> {
        let mut command = self.command(runtape, &[&["--json"], arguments].concat());
        values(&command.output().unwrap())
    }

    /// Fills it with runs of a runtime that has trees of them, and one that has a secret.
    fn fill(&self, runtape: &Runtape) {
        let captures = fixtures().join("cursor");
        succeed(self.command(runtape, &["ingest", captures.to_str().unwrap()]));
        let trees = fixtures().join("openclaw");
        succeed(self.command(runtape, &["ingest", trees.to_str().unwrap()]));
    }

    /// Returns all runs, with all that is known of them but where their seals are.
    fn runs(&self, runtape: &Runtape) -> Vec<Value> {
        let mut runs = self.json(runtape, &["runs", "--children", "--limit", "0"]);
        for run in &mut runs {
            let run = run.as_object_mut().unwrap();
            run.shift_remove("seal");
            run.shift_remove("sealChain");
        }
        runs
    }

    /// Proves all of it, and returns its head.
    fn verified(&self, runtape: &Runtape) -> Value {
        let report = self.json(runtape, &["verify"]).remove(0);
        assert_eq!(report["faults"], json!([]), "{report}");
        report["head"].clone()
    }
}

/// Returns the last line of what `push` prints for programs.
fn summary(lines: &[Value]) -> &Value {
    let last = lines.last().unwrap();
    assert_eq!(last["type"], "summary", "{last}");
    last
}

#[test]
fn runs_go_from_any_database_to_any_other_and_twice_changes_nothing() {
    let runtape = Runtape::new();
    let place = |name: &str| AnyStore::file(&runtape, name);
    let mut pairs = vec![(place("a.db"), place("b.db"))];
    if let (Some(one), Some(two), Some(three), Some(four)) = (
        AnyStore::server(),
        AnyStore::server(),
        AnyStore::server(),
        AnyStore::server(),
    ) {
        pairs.push((place("c.db"), one));
        pairs.push((two, place("d.db")));
        pairs.push((three, four));
    }
    for (from, to) in pairs {
        from.fill(&runtape);
        let before = from.runs(&runtape);
        let lines = from.json(&runtape, &["push", &to.address]);
        let sum = summary(&lines);
        let roots = lines.len() - 1;
        assert!(roots > 60, "{roots}");
        assert_eq!(sum["stored"], roots, "{sum}");
        assert_eq!(to.runs(&runtape), before);
        from.verified(&runtape);
        let head = to.verified(&runtape);

        // What proves them there is told, and what they printed is the same.
        let root = lines[0]["runId"].as_str().unwrap();
        let [here, there] =
            [&from, &to].map(|place| place.json(&runtape, &["show", root]).remove(0));
        assert_eq!(there["origin"]["seal"]["number"], here["seal"], "{there}");
        assert_eq!(there["origin"]["isVerified"], true, "{there}");
        for question in [["export", root], ["raw", root]] {
            assert_eq!(to.json(&runtape, &question), from.json(&runtape, &question));
        }

        // Pushed again, pulled back, and pulled from the other side: all is there.
        for (place, arguments) in [
            (&from, ["push", &to.address]),
            (&to, ["pull", &from.address]),
            (&from, ["pull", &to.address]),
            (&to, ["push", &from.address]),
        ] {
            let lines = place.json(&runtape, &arguments);
            let sum = summary(&lines);
            assert_eq!(
                (&sum["stored"], &sum["skipped"]),
                (&json!(0), &json!(roots)),
                "{sum}"
            );
        }
        assert_eq!(to.verified(&runtape), head);
        assert_eq!(from.runs(&runtape), before);
    }
}

#[test]
fn filters_open_runs_and_conflicts_are_told_and_stop_nothing() {
    let runtape = Runtape::new();
    let mut targets = vec![AnyStore::file(&runtape, "target.db")];
    targets.extend(AnyStore::server());
    for (number, to) in targets.into_iter().enumerate() {
        let from = AnyStore::file(&runtape, &format!("source-{number}.db"));
        for run in ["first", "same", "last"] {
            let arguments = ["record", "--run-id", run, "--", "echo", "here"];
            succeed(from.command(&runtape, &arguments));
        }
        let arguments = ["record", "--run-id", "same", "--", "echo", "there"];
        succeed(to.command(&runtape, &arguments));
        let mut store = Store::open(&from.address, &Options::default()).unwrap();
        let begin = BeginRun {
            job_id: "open".parse().unwrap(),
            run_id: "open".parse().unwrap(),
            runtime: Runtime::Generic,
            started_at: 1,
            context: Value::Null,
        };
        store.begin_run(&begin).unwrap();
        let opened = runtape_core::record::RunOpened {
            job_id: "open".parse().unwrap(),
            runtime: Runtime::Generic,
            delegated_by: None,
        };
        let record = runtape_core::Record {
            run_id: "open".parse().unwrap(),
            seq: 0,
            at: 1,
            span: None,
            kind: opened.into(),
        };
        store.append(&begin.run_id, &[record], &[]).unwrap();

        let output = from
            .command(&runtape, &["--json", "push", "--job", "first", &to.address])
            .output()
            .unwrap();
        assert_eq!(
            summary(&values(&output))["stored"],
            1,
            "{}",
            stderr(&output)
        );
        let output = from
            .command(&runtape, &["--json", "push", &to.address])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let lines = values(&output);
        let sum = summary(&lines);
        for (outcome, count) in [
            ("stored", 1),
            ("skipped", 1),
            ("open", 1),
            ("differs", 1),
            ("failed", 0),
        ] {
            assert_eq!(sum[outcome], count, "{outcome}: {sum}");
        }
        let differs = lines
            .iter()
            .find(|line| line["outcome"] == "differs")
            .unwrap();
        assert_eq!(differs["runId"], "same");
        assert!(
            stderr(&output).contains("run same: another run is there"),
            "{}",
            stderr(&output)
        );
        let output = succeed(to.command(&runtape, &["transcript", "same"]));
        assert!(String::from_utf8_lossy(&output.stdout).contains("there"));
        to.verified(&runtape);
    }
}

#[test]
fn secrets_stay_behind_unless_somebody_says_otherwise() {
    let runtape = Runtape::new();
    let mut targets = vec![AnyStore::file(&runtape, "target.db")];
    targets.extend(AnyStore::server());
    let mut examples = runtape_normalizer::redact::examples(18).into_iter();
    let secret = examples
        .find(|example| example.rule == "github-pat")
        .unwrap()
        .secret;
    let from = AnyStore::file(&runtape, "source.db");
    let arguments = [
        "record",
        "--redact=off",
        "--run-id",
        "leak",
        "--",
        "echo",
        &secret,
    ];
    succeed(from.command(&runtape, &arguments));
    for to in targets {
        succeed(from.command(&runtape, &["push", &to.address]));
        let output = succeed(to.command(&runtape, &["raw", "leak"]));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!text.contains(&secret), "{text}");
        assert!(text.contains("github"), "{text}");
        to.verified(&runtape);
        let lines = from.json(&runtape, &["push", &to.address]);
        assert_eq!(summary(&lines)["skipped"], 1);
        let shown = to.json(&runtape, &["show", "leak"]).remove(0);
        assert_eq!(shown["origin"]["isVerified"], true, "{shown}");
    }
    let open = AnyStore::file(&runtape, "open.db");
    succeed(from.command(&runtape, &["push", "--redact=off", &open.address]));
    let output = succeed(open.command(&runtape, &["raw", "leak"]));
    assert!(String::from_utf8_lossy(&output.stdout).contains(&secret));
}

#[test]
fn who_is_killed_in_between_begins_again() {
    let runtape = Runtape::new();
    let from = AnyStore::file(&runtape, "source.db");
    from.fill(&runtape);
    let mut targets = vec![AnyStore::file(&runtape, "target.db")];
    targets.extend(AnyStore::server());
    for to in targets {
        let mut some = 0;
        for round in 0..40 {
            let mut push = from.command(&runtape, &["push", &to.address]);
            let mut child = push
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(20 + 15 * round));
            child.kill().unwrap();
            child.wait().unwrap();
            let there = to.json(&runtape, &["runs", "--limit", "0"]).len();
            assert!(there >= some, "{there} of {some}");
            let is_done = there == from.json(&runtape, &["runs", "--limit", "0"]).len();
            some = there;
            if is_done {
                break;
            }
        }
        let lines = from.json(&runtape, &["push", &to.address]);
        let sum = summary(&lines);
        assert_eq!(sum["skipped"], some, "{sum}");
        assert_eq!(to.runs(&runtape), from.runs(&runtape));
        to.verified(&runtape);
    }
}

#[test]
fn a_bundle_of_a_server_is_one_as_of_a_file() {
    let runtape = Runtape::new();
    let Some(server) = AnyStore::server() else {
        return;
    };
    let file = AnyStore::file(&runtape, "file.db");
    file.fill(&runtape);
    server.fill(&runtape);
    let mut contents = Vec::new();
    for (name, place) in [("file", &file), ("server", &server)] {
        let bundle = runtape.path(&format!("{name}.bundle"));
        let bundle = bundle.to_str().unwrap();
        succeed(place.command(
            &runtape,
            &["export", "--all", "--format", "bundle", "-o", bundle],
        ));
        let report = file
            .json(&runtape, &["verify", "--bundle", bundle])
            .remove(0);
        assert_eq!(report["faults"], json!([]), "{report}");
        // Taken in elsewhere, both are the same runs.
        let other = AnyStore::file(&runtape, &format!("{name}-imported.db"));
        succeed(other.command(&runtape, &["import", bundle]));
        other.verified(&runtape);
        contents.push((
            other.runs(&runtape),
            other.json(&runtape, &["export", "--all"]),
        ));
        // And on a server, too.
        let there = AnyStore::server().unwrap();
        succeed(there.command(&runtape, &["import", bundle]));
        there.verified(&runtape);
        contents.push((
            there.runs(&runtape),
            there.json(&runtape, &["export", "--all"]),
        ));
    }
    for other in &contents[1..] {
        assert_eq!(other.0, contents[0].0);
        assert_eq!(other.1.len(), contents[0].1.len());
        assert!(other.1 == contents[0].1, "other records");
    }
}
