//! `db` and `doctor` on a server.

use runtape_schemas::{SchemaKind, Validator};
use runtape_tests::postgres::{Care, own_server};
use serde_json::Value;

use super::{OnServer, command, values};
use crate::harness::{Runtape, stderr, stdout};

fn fits(kind: SchemaKind, value: &Value) {
    let verdict = Validator::for_kind(kind).validate(value);
    assert!(verdict.is_valid(), "{:#?}\n{value}", verdict.faults());
}

#[test]
fn from_nothing_to_a_recorded_run_on_a_server_it_takes_two_commands() {
    let Some(server) = own_server(Care::Quick, &[]) else {
        return;
    };
    let runtape = Runtape::new();
    server.sql("postgres").run("CREATE DATABASE runs");
    let address = server.address("runs");
    let run = |arguments: &[&str]| command(&runtape, &address, arguments).output().unwrap();

    // Nothing is made by opening, and what to do is said.
    for arguments in [&["runs"][..], &["ingest", "-"], &["stats"]] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("db migrate"),
            "{}",
            stderr(&output)
        );
    }
    let output = run(&["--json", "db", "status"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let status = values(&output).remove(0);
    fits(SchemaKind::DatabaseStatus, &status);
    assert_eq!(status["schema"], Value::Null);
    assert!(status["fault"].as_str().unwrap().contains("db migrate"));

    let report = values(&run(&["--json", "db", "migrate"])).remove(0);
    fits(SchemaKind::MigrationReport, &report);
    assert_eq!(report["before"], Value::Null);
    assert!(report["after"].as_u64().unwrap() >= 1);
    let output = run(&["record", "--run-id", "first", "--", "echo", "hello"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = run(&["db", "migrate"]);
    assert!(
        stdout(&output).contains("up to date"),
        "{}",
        stdout(&output)
    );
    let output = run(&["transcript", "first"]);
    assert!(stdout(&output).contains("hello"), "{}", stderr(&output));
}

#[test]
fn a_server_tells_how_it_is() {
    let Some(server) = OnServer::new() else {
        return;
    };
    let status = server.json(&["db", "status"]).remove(0);
    fits(SchemaKind::DatabaseStatus, &status);
    let said = &status["server"];
    assert!(
        said["version"]
            .as_str()
            .unwrap()
            .starts_with(|c: char| c.is_ascii_digit()),
        "{said}"
    );
    assert_eq!(said["isEncrypted"], false, "{said}");
    assert_eq!(said["isStandby"], false, "{said}");
    assert_eq!(said["isSynchronous"], false, "{said}");
    assert_eq!(said["partitions"], Value::Null, "{said}");
    assert_eq!(said["isSharded"], false, "{said}");
    assert!(
        said["clockDifferenceMs"].as_i64().unwrap().abs() < 2000,
        "{said}"
    );
    assert_eq!(said["leases"], serde_json::json!([]), "{said}");
    assert!(said["tables"].as_array().unwrap().len() > 10, "{said}");
    assert!(status["bytes"].as_u64().unwrap() > 100_000, "{status}");

    // A run that goes on has a writer, and who that is can be seen.
    let script = server.runtape.waiting("echo one", "echo two");
    let mut child = server
        .command(&[
            "record", "--run-id", "going-on", "--show", "none", "--", &script,
        ])
        .spawn()
        .unwrap();
    let lease = loop {
        let status = server.json(&["db", "status"]).remove(0);
        fits(SchemaKind::DatabaseStatus, &status);
        if let Some(lease) = status["server"]["leases"].as_array().unwrap().first() {
            break lease.clone();
        }
    };
    assert_eq!(lease["runId"], "going-on");
    let left = lease["remainingMs"].as_i64().unwrap();
    assert!((30_000..=60_000).contains(&left), "{lease}");
    let text = stdout(&server.run(&["db", "status"]));
    assert!(text.contains("going-on") && text.contains("left"), "{text}");
    std::fs::write(server.runtape.path("go"), "").unwrap();
    assert!(child.wait().unwrap().success());
    let status = server.json(&["db", "status"]).remove(0);
    assert_eq!(
        status["server"]["leases"],
        serde_json::json!([]),
        "{status}"
    );

    let report = server
        .json(&["doctor", "--runtime", "claude-code"])
        .remove(0);
    fits(SchemaKind::DoctorReport, &report);
    let checks = report["checks"].as_array().unwrap();
    for code in ["version", "tls", "commits", "layout", "clock", "leases"] {
        let code = format!("runtape_server_{code}");
        assert!(
            checks.iter().any(|check| check["code"] == code.as_str()),
            "{code}: {report}"
        );
    }
    let output = server.run(&["backup", "copy.db"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("pg_dump"), "{}", stderr(&output));
    let sql = stdout(&server.run(&["db", "shard-sql"]));
    assert!(
        sql.contains("create_distributed_table('root', 'root_id')"),
        "{sql}"
    );
    let sql = stdout(&server.run(&["db", "roles-sql"]));
    let (first, rest) = sql.split_once("\\set ON_ERROR_STOP on\nBEGIN;\n").unwrap();
    assert!(first.contains("CREATEROLE"), "{sql}");
    assert!(rest.contains("CREATE ROLE runtape_recorder"), "{sql}");
    assert!(rest.ends_with("COMMIT;\n"), "{sql}");
}
