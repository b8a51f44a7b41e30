//! The same captures in a file and on a server: every command answers the same.

use serde_json::Value;

use super::{OnServer, command, succeed, values};
use crate::harness::{Runtape, fixtures, stderr};

/// What may differ wherever it stands: where a run is in the chains, which are one in a file and 64 on a server.
const CHAINS: [&str; 3] = ["seal", "sealChain", "head"];
/// What may differ in what `stats` says: how the database keeps it.
const SIZES: [&str; 4] = ["databaseBytes", "freeBytes", "searchBytes", "tables"];

/// Commands that ask. Those with `RUN` are asked of a run of each runtime.
const QUESTIONS: &[&str] = &[
    "runs --children --limit 0",
    "runs --limit 7",
    "runs --sort cost --limit 20",
    "runs --outcome failed --runtime codex",
    "runs --tool Bash --limit 0",
    "runs --text session",
    "runs --family auth",
    "jobs --limit 0",
    "sessions --limit 0",
    "show RUN",
    "show --as summary RUN",
    "show --as summary --all",
    "transcript RUN",
    "events RUN",
    "events RUN --as records",
    "checkpoint RUN",
    "raw RUN",
    "wait RUN",
    "export RUN",
    "export RUN --as events",
    "usage",
    "usage --by day --utc",
    "usage --by model",
    "usage --by job",
    "usage --by day,model --utc",
    "usage --explain --limit 0",
    "prices",
    "tools --limit 0",
    "tools --calls --limit 0",
    "tools --class write --calls",
    "files --limit 0",
    "files --written",
    "files --calls",
    "commands --limit 0",
    "network --limit 0",
    "network --calls",
    "notices --limit 0",
    "errors --limit 0",
    "errors --by family",
    "drift --limit 0",
    "session --runtime claude-code",
    "session --job nosuchjob",
    "scan",
    "redact --all --dry-run",
    "stats",
    "verify",
    "runtimes",
    "config show",
    "sql SELECT~run_id,runtime,status,steps,input_tokens,cost_usd~FROM~v_runs~ORDER~BY~run_id",
    "sql SELECT~run_id,step,status~FROM~v_steps~ORDER~BY~run_id,step",
    "runs --outcome nosuchstatus",
    "show nosuchrun",
];

/// Questions whose hits have no order of their own.
const SEARCHES: &[&str] = &[
    "search file",
    "search \"exit~code\"",
    "search --regex f[io]le",
    "search --runs file",
    "search --scan essio",
    "search nosuchwordanywhere",
];

/// What people read, without the times that pass between two commands.
const TEXTS: &[&str] = &[
    "runs --fields run,runtime,outcome,steps --limit 0",
    "jobs --fields job,runs --limit 0",
    "usage --by model",
    "tools",
    "commands",
    "errors --by family",
    "transcript RUN",
    "events RUN",
];

fn scrub(value: &mut Value, keys: &[&str]) {
    match value {
        Value::Object(object) => {
            for key in keys {
                object.shift_remove(*key);
            }
            object.values_mut().for_each(|value| scrub(value, keys));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| scrub(value, keys)),
        _ => {}
    }
}

/// Takes a question apart; a `~` stands for a space inside of a word.
fn words(question: &str, run: &str) -> Vec<String> {
    let words = question.split(' ').map(|word| match word {
        "RUN" => run.to_owned(),
        word => word.replace('~', " "),
    });
    words.collect()
}

struct Pair {
    file: Runtape,
    server: OnServer,
}

impl Pair {
    /// Runs a command on both, and returns what they said.
    fn ask(&self, arguments: &[String], is_json: bool) -> [(Option<i32>, Vec<Value>, String); 2] {
        let mut all: Vec<&str> = if is_json { vec!["--json"] } else { Vec::new() };
        all.extend(arguments.iter().map(String::as_str));
        [
            self.file.command(&all),
            command(&self.file, self.server.address(), &all),
        ]
        .map(|mut command| {
            let output = command.output().unwrap();
            let text = String::from_utf8(output.stdout.clone()).unwrap();
            let values = if is_json { values(&output) } else { Vec::new() };
            let said = if is_json { stderr(&output) } else { text };
            (output.status.code(), values, said)
        })
    }

    fn same(&self, question: &str, run: &str, is_sorted: bool) {
        let [file, server] = self.ask(&words(question, run), true);
        assert_eq!(
            file.0, server.0,
            "{question} {run}: {} {}",
            file.2, server.2
        );
        let [file, server] = [file.1, server.1].map(|mut values| {
            for value in &mut values {
                scrub(value, &CHAINS);
                if question == "stats" {
                    scrub(value, &SIZES);
                }
            }
            let mut lines: Vec<String> = values.iter().map(Value::to_string).collect();
            if is_sorted {
                lines.sort();
            }
            lines
        });
        for (number, (file, server)) in file.iter().zip(&server).enumerate() {
            assert_eq!(file, server, "{question} {run}, line {}", number + 1);
        }
        assert_eq!(file.len(), server.len(), "{question} {run}");
    }
}

#[test]
fn every_command_answers_the_same_from_a_file_and_from_a_server() {
    let Some(server) = OnServer::new() else {
        return;
    };
    let file = Runtape::new();
    let fixtures = fixtures();
    let history = fixtures.join("claude-code/fork-tree.sessions.history");
    for arguments in [
        vec!["ingest", fixtures.to_str().unwrap()],
        vec![
            "sync",
            "--runtime",
            "claude-code",
            "--from",
            history.to_str().unwrap(),
        ],
    ] {
        succeed(file.command(&arguments));
        // Beside the same things: one home, one key.
        let mut command = command(&file, server.address(), &arguments);
        command.env(
            "RUNTAPE_REDACTION_KEY_FILE",
            file.path("runtape.db.redaction-key"),
        );
        succeed(command);
    }
    let pair = Pair { file, server };
    let runs = pair.file.json(&["runs", "--limit", "0"]);
    assert!(runs.len() > 500, "{}", runs.len());
    // One run of each runtime and status.
    let mut chosen: Vec<(&Value, &Value, &str)> = Vec::new();
    for run in &runs {
        let (runtime, status) = (&run["runtime"], &run["status"]);
        if !chosen
            .iter()
            .any(|known| (known.0, known.1) == (runtime, status))
        {
            chosen.push((runtime, status, run["runId"].as_str().unwrap()));
        }
    }
    assert!(chosen.len() > 12, "{chosen:?}");
    let asked_of = |question: &str| -> Vec<&str> {
        if question.contains("RUN") {
            chosen.iter().map(|chosen| chosen.2).collect()
        } else {
            vec![""]
        }
    };
    for question in QUESTIONS {
        for run in asked_of(question) {
            pair.same(question, run, false);
        }
    }
    for question in SEARCHES {
        pair.same(question, "", true);
    }
    for question in TEXTS {
        for run in asked_of(question) {
            let [file, server] = pair.ask(&words(question, run), false);
            assert_eq!(file, server, "{question} {run}");
            assert!(!file.2.is_empty(), "{question} {run}");
        }
    }
}
