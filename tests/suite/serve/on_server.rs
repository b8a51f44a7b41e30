//! A database on a server: the API answers as it does for a file, and shows what is recorded there.

use std::collections::BTreeSet;
use std::process::Command;

use runtape_tests::postgres::{Database, Layout};
use serde_json::{Value, json};

use crate::harness::{Runtape, fixtures, stderr};
use crate::live::{Stream, follow, recorder};
use crate::server::Server;

/// What differs wherever it stands: where a run is in the chains, which are one in a file and 64 on a server.
const CHAINS: [&str; 4] = ["seal", "sealChain", "head", "databaseId"];

/// What is asked, by the address as the description has it. Questions with `RUN` and `JOB` are asked of one run of each
/// runtime and status, those with `SEQ` of several of its records.
const QUESTIONS: &[(&str, &[&str])] = &[
    (
        "/runs",
        &[
            "runs",
            "runs?children=1",
            "runs?outcome=failed&runtime=codex",
            "runs?text=session",
            "runs?outcome=nosuchstatus",
        ],
    ),
    ("/runs/{run}", &["runs/RUN", "runs/last", "runs/nobody"]),
    ("/runs/{run}/tree", &["runs/RUN/tree"]),
    ("/runs/{run}/steps", &["runs/RUN/steps"]),
    ("/runs/{run}/transcript", &["runs/RUN/transcript"]),
    ("/runs/{run}/records/{seq}", &["runs/RUN/records/SEQ"]),
    ("/runs/{run}/raw", &["runs/RUN/raw?seq=SEQ"]),
    ("/runs/{run}/events", &["runs/RUN/events"]),
    ("/jobs", &["jobs"]),
    ("/jobs/{job}", &["jobs/JOB", "jobs/nobody"]),
    (
        "/search",
        &["search?q=the", "search?q=%22exit+code%22", "search?q="],
    ),
    (
        "/usage",
        &["usage", "usage?by=day,model&utc=1", "usage?by=day,day"],
    ),
    (
        "/tools",
        &[
            "tools",
            "tools?calls=1&class=shell",
            "tools?calls=1&failed=1",
        ],
    ),
    (
        "/files",
        &["files", "files?written=1", "files?directories=1"],
    ),
    ("/commands", &["commands", "commands?failed=1"]),
    (
        "/network",
        &["network", "network?calls=1", "network?host=*.example"],
    ),
    ("/errors", &["errors"]),
    ("/notices", &["notices"]),
    ("/drift", &["drift"]),
    ("/head", &["head"]),
    ("/openapi.json", &["openapi.json"]),
];

/// Addresses that are asked in a way of their own, below.
const OTHERS: [&str; 3] = ["/live", "/token", "/verify"];

fn scrub(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !CHAINS.contains(&key.as_str()));
            fields.values_mut().for_each(scrub);
        }
        Value::Array(items) => items.iter_mut().for_each(scrub),
        _ => {}
    }
}

/// Takes in all fixtures. Their runs have the same ids wherever they are.
fn ingest(runtape: &Runtape, database: &str) {
    let fixtures = fixtures();
    let mut command = on(runtape, database, &["ingest", fixtures.to_str().unwrap()]);
    command.env("RUNTAPE_REDACTION_KEY_FILE", runtape.path("key"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

fn on(runtape: &Runtape, database: &str, arguments: &[&str]) -> Command {
    let mut command = runtape.command(&[&["--db", database], arguments].concat());
    for variable in ["PGPASSWORD", "PGPASSFILE", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    command
}

fn serve(runtape: &Runtape, database: &str) -> Server {
    Server::spawn(
        runtape,
        &["--json", "--db", database, "serve", "--port", "0"],
    )
}

/// Asks a question: all pages of a list, else the one answer. Hits of a search have no order of their own.
fn ask(server: &Server, question: &str) -> (u16, Value) {
    let answer = server.get(&format!("/api/v1/{question}"));
    let mut value = answer.json();
    if value["next"].is_string() {
        value["items"] = Value::Array(server.all(question, 100));
        value["next"] = json!("there");
    }
    if question.starts_with("search")
        && let Some(hits) = value["items"].as_array_mut()
    {
        hits.sort_by_key(ToString::to_string);
    }
    scrub(&mut value);
    (answer.status, value)
}

/// Makes the questions that one of the table stands for.
fn questions(question: &str, chosen: &[Value]) -> Vec<String> {
    if !question.contains("RUN") && !question.contains("JOB") {
        return vec![question.to_owned()];
    }
    let mut made = Vec::new();
    for run in chosen {
        let question = question
            .replace("RUN", run["runId"].as_str().unwrap())
            .replace("JOB", run["jobId"].as_str().unwrap());
        let records = run["records"].as_u64().unwrap();
        if question.contains("SEQ") {
            for seq in [0, records / 2, records - 1, records] {
                made.push(question.replace("SEQ", &seq.to_string()));
            }
        } else {
            made.push(question);
        }
    }
    made
}

#[test]
fn every_address_answers_the_same_from_a_file_and_from_a_server() {
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    let runtape = Runtape::new();
    let path = runtape.path("runtape.db");
    let places = [path.to_str().unwrap(), database.address()];
    let servers = places.map(|place| {
        ingest(&runtape, place);
        serve(&runtape, place)
    });
    let [file, server] = &servers;
    let runs = file.all("runs?children=1", 500);
    assert!(runs.len() > 500, "{}", runs.len());
    let mut kinds = BTreeSet::new();
    let kind = |run: &Value| format!("{} {}", run["runtime"], run["status"]);
    let chosen: Vec<Value> = runs
        .into_iter()
        .filter(|run| kinds.insert(kind(run)))
        .collect();
    assert!(chosen.len() > 12, "{kinds:?}");

    let described = file.api("openapi.json");
    let described = described["paths"].as_object().unwrap().keys();
    let described: BTreeSet<&str> = described
        .map(|address| address.strip_prefix("/api/v1").unwrap())
        .collect();
    let asked = QUESTIONS.iter().map(|(address, _)| *address);
    assert_eq!(described, asked.chain(OTHERS).collect());

    let (mut answered, mut refused) = (0, 0);
    for (address, asked) in QUESTIONS {
        for question in asked.iter().flat_map(|asked| questions(asked, &chosen)) {
            let (one, other) = (ask(file, &question), ask(server, &question));
            assert_eq!(one.0, other.0, "{question}: {} {}", one.1, other.1);
            assert!(one.0 < 500, "{question}: {}", one.1);
            if let (Some(items), Some(others)) =
                (one.1["items"].as_array(), other.1["items"].as_array())
            {
                for (number, (item, other)) in items.iter().zip(others).enumerate() {
                    assert_eq!(item, other, "{question}, item {number}");
                }
            }
            assert_eq!(one.1, other.1, "{address}: {question}");
            if one.0 == 200 {
                answered += 1;
            } else {
                refused += 1;
            }
        }
    }
    assert!(answered > 150 && refused > 4, "{answered} {refused}");

    let reports = servers.each_ref().map(|server| {
        let token = format!("Bearer {}", server.token);
        let answer = server.request("POST", "/api/v1/verify", &[("Authorization", &token)]);
        assert_eq!(answer.status, 200);
        let mut report = answer.json();
        assert_eq!(report["faults"], json!([]));
        scrub(&mut report);
        assert_eq!(server.api("token")["token"], server.token.as_str());
        report
    });
    assert_eq!(reports[0], reports[1]);
    for server in servers {
        assert!(server.end(), "it does not end when it is told to");
    }
}

#[test]
fn a_run_that_is_recorded_into_a_server_is_seen_while_it_goes_on() {
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    let runtape = Runtape::new();
    let server = serve(&runtape, database.address());
    let mut list = Stream::open(&server, "list=1", "");
    list.expect("listed");
    let mut command = recorder(&runtape, "counting", 20, "0.1");
    command.env("RUNTAPE_DB", database.address());
    let mut recorder = command.spawn().unwrap();
    let card = loop {
        let card = list.expect("run").data;
        let text = card["now"]["text"].as_str();
        if card["runId"] == "counting" && text.is_some_and(|text| text.contains("word")) {
            break card;
        }
    };
    assert_eq!(card["status"], "proceeding", "{card}");
    assert!(recorder.try_wait().unwrap().is_none(), "it goes on");
    let seen = follow(&server, "counting", 0);
    assert!(recorder.wait().unwrap().success());
    let run = server.api("runs/counting");
    assert_eq!(run["status"], "completed", "{run}");
    let records = run["records"].as_u64().unwrap();
    assert!(records > 40, "{records}");
    assert_eq!(
        seen,
        (0..records).collect::<Vec<_>>(),
        "without gap or repeat"
    );
    loop {
        let card = list.expect("run").data;
        if card["runId"] == "counting" && card["status"] == "completed" {
            break;
        }
    }
    assert!(!runtape.path("runtape.db").exists());
}
