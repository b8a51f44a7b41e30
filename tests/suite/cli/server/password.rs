//! The password of a server: where it is found, and that it is nowhere to be seen.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use runtape_tests::postgres::{Care, own_server};

use super::{command, succeed};
use crate::harness::{Runtape, stderr, stdout};

const PASSWORD: &str = "c0rrect/horse:b@ttery";
const ENCODED: &str = "c0rrect%2Fhorse%3Ab%40ttery";

/// Returns the first file below a directory that has a text, but for the script that prints it.
fn is_in_a_file(directory: &Path, text: &str) -> Option<String> {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if let Some(found) = is_in_a_file(&path, text) {
                return Some(found);
            }
        } else if path.file_name().is_none_or(|name| name != "agent") {
            let bytes = fs::read(&path).unwrap_or_default();
            if bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
            {
                return Some(path.display().to_string());
            }
        }
    }
    None
}

#[test]
fn a_password_is_found_where_psql_finds_it_and_seen_nowhere() {
    let Some(server) = own_server(Care::Quick, &[]) else {
        return;
    };
    let runtape = Runtape::new();
    server.sql("postgres").run("CREATE DATABASE runs");
    server
        .sql("postgres")
        .run(&format!("ALTER USER runtape PASSWORD '{PASSWORD}'"));
    server.write_file(
        "data/pg_hba.conf",
        "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n",
    );
    server.sql("postgres").run("SELECT pg_reload_conf()");
    let port = server.port();
    let without = format!("postgres://runtape@127.0.0.1:{port}/runs");
    let with = format!("postgres://runtape:{ENCODED}@127.0.0.1:{port}/runs");

    // The server learns of its file a moment later.
    let refused = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let output = command(&runtape, &without, &["db", "status"])
            .output()
            .unwrap();
        output.status.code() == Some(1)
    });
    assert!(refused, "nobody asks for a password");
    let output = command(&runtape, &without, &["runs"]).output().unwrap();
    assert!(
        stderr(&output).contains("check user, password"),
        "{}",
        stderr(&output)
    );

    succeed(command(&runtape, &with, &["db", "migrate"]));
    let mut by_variable = command(&runtape, &without, &["db", "status"]);
    by_variable.env("PGPASSWORD", PASSWORD);
    succeed(by_variable);
    let file = runtape.path(".pgpass");
    let line = PASSWORD.replace(':', "\\:");
    fs::write(&file, format!("*:{port}:runs:runtape:{line}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    succeed(command(&runtape, &without, &["db", "status"]));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let output = command(&runtape, &without, &["db", "status"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("others may read the file"),
        "{}",
        stderr(&output)
    );
    fs::remove_file(&file).unwrap();

    // Whatever is asked, whatever fails: it is not said, and not kept.
    let wrong = with.replace("/runs", "/nosuchdatabase");
    let script = runtape.script("agent", &format!("echo got {PASSWORD}; env"));
    let record = ["record", "--run-id", "leak", "--", &script];
    let lost = with.replace(&port.to_string(), "1");
    let cases: [(&str, &[&str]); 12] = [
        (&with, &["db", "status"]),
        (&with, &["--json", "db", "status"]),
        (&with, &["doctor"]),
        (&with, &["--json", "doctor"]),
        (&with, &["config", "show"]),
        (&with, &["stats"]),
        (&with, &["--help"]),
        (&wrong, &["runs"]),
        (&lost, &["runs"]),
        (
            &lost,
            &[
                "record",
                "--run-id",
                "spooled",
                "--",
                &script,
                "with",
                "arguments",
            ],
        ),
        (&with, &record),
        (&with, &["--json", "show", "leak"]),
    ];
    for (address, arguments) in cases {
        let output = command(&runtape, address, arguments).output().unwrap();
        let both = format!("{}{}", stdout(&output), stderr(&output));
        assert!(!both.is_empty());
        for password in [PASSWORD, ENCODED] {
            let is_said = both.contains(password);
            // What the agent itself prints is shown as it comes.
            assert!(
                !is_said || arguments.contains(&"record"),
                "{arguments:?}: {both}"
            );
        }
    }
    let output = succeed(command(&runtape, &with, &["raw", "leak"]));
    assert!(stdout(&output).contains("got "), "{}", stdout(&output));
    for password in [PASSWORD, ENCODED] {
        assert!(!stdout(&output).contains(password), "{}", stdout(&output));
        assert_eq!(is_in_a_file(runtape.directory.path(), password), None);
    }
}
