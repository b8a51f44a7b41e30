//! A server that goes away: nothing that an agent printed is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use runtape_tests::postgres::{Care, Server, own_server};

use super::{command, succeed, values};
use crate::harness::{Runtape, stderr, stdout};
use crate::piped::{self, Piped, assert_not_stored, recover_and_compare, wait_until_printed};

/// Starts a server of this test's own, with a database in it.
fn server(runtape: &Runtape) -> Option<(Server, String)> {
    let server = own_server(Care::AsByDefault, &[])?;
    server.sql("postgres").run("CREATE DATABASE runs");
    let address = server.tcp_address("runs");
    succeed(command(runtape, &address, &["db", "migrate"]));
    Some((server, address))
}

/// Returns all files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn spool_files(runtape: &Runtape) -> Vec<PathBuf> {
    let mut files = files(runtape.directory.path());
    files.retain(|path| {
        path.extension()
            .is_some_and(|ending| ending == "runtape-spool")
    });
    files
}

#[test]
fn an_agent_is_started_and_kept_though_its_server_is_not_there() {
    let runtape = Runtape::new();
    let Some((server, address)) = server(&runtape) else {
        return;
    };
    server.stop_at_once();
    let script = runtape.script("agent", "echo started all the same; exit 5");
    let output = command(
        &runtape,
        &address,
        &["record", "--run-id", "early", "--", &script],
    )
    .output()
    .unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("not stored"), "{said}");
    assert!(said.contains("the server cannot be reached"), "{said}");
    assert!(said.contains("runtape recover"), "{said}");
    let spooled = spool_files(&runtape);
    let [spool] = spooled.as_slice() else {
        panic!("{spooled:?}");
    };
    let place = runtape.path(".local/share/runtape/servers");
    assert!(spool.starts_with(&place), "{}", spool.display());
    for directory in [&place, spool.parent().unwrap()] {
        let mode = fs::metadata(directory).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{}", directory.display());
    }

    // Asking fails with the reason, and recovering leaves the file.
    for arguments in [&["runs"][..], &["recover"]] {
        let output = command(&runtape, &address, arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr(&output).contains("the server cannot be reached"),
            "{}",
            stderr(&output)
        );
    }
    assert!(spool.exists());

    server.start_again();
    let output = succeed(command(&runtape, &address, &["recover"]));
    assert!(
        stderr(&output).contains("1 run closed"),
        "{}",
        stderr(&output)
    );
    assert!(!spool.exists());
    let output = succeed(command(&runtape, &address, &["transcript", "early"]));
    assert!(stdout(&output).contains("started all the same"));
    let run = values(
        &command(&runtape, &address, &["--json", "show", "early"])
            .output()
            .unwrap(),
    );
    assert_eq!(run[0]["exit"]["code"], 5, "{run:?}");
    succeed(command(&runtape, &address, &["verify"]));
}

#[test]
fn what_is_printed_after_the_server_went_is_taken_in_when_it_is_back() {
    let runtape = Runtape::new();
    let Some((server, address)) = server(&runtape) else {
        return;
    };
    let script = runtape.waiting("echo before", "echo after; exit 4");
    let recorder = command(
        &runtape,
        &address,
        &["record", "--run-id", "cut", "--", &script],
    )
    .stdout(Stdio::null())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let begin = Instant::now();
    let rows = |sql: &str| server.sql("runs").value(sql);
    while rows("SELECT count(*)::text FROM tape_block") == "0" {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
    server.stop_at_once();
    fs::write(runtape.path("go"), "").unwrap();
    let output = recorder.wait_with_output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("not stored"), "{said}");
    assert_eq!(spool_files(&runtape).len(), 1, "{said}");

    server.start_again();
    // The recorder is gone without a word to the server, which would see that after a minute.
    server
        .sql("runs")
        .run("UPDATE lease SET until = now() - interval '1 s'");
    let output = succeed(command(&runtape, &address, &["recover"]));
    assert!(
        stderr(&output).contains("1 run closed"),
        "{}",
        stderr(&output)
    );
    let output = succeed(command(&runtape, &address, &["raw", "cut"]));
    assert_eq!(stdout(&output), "before\nafter\n");
    let run = values(
        &command(&runtape, &address, &["--json", "show", "cut"])
            .output()
            .unwrap(),
    );
    assert_eq!(run[0]["exit"]["code"], 4, "{run:?}");
    assert!(spool_files(&runtape).is_empty());
    succeed(command(&runtape, &address, &["verify"]));
}

#[test]
fn a_pipe_is_kept_though_its_server_is_not_there() {
    let runtape = Runtape::new();
    let Some((server, address)) = server(&runtape) else {
        return;
    };
    let (bytes, middle) = piped::bytes();
    server.stop_at_once();
    let mut piped = Piped::start(command(&runtape, &address, &["ingest", "-"]));
    piped.write(&bytes[..middle]);
    piped.write(&bytes[middle..]);
    assert_not_stored(&piped.close(), "the server cannot be reached");
    assert_eq!(spool_files(&runtape).len(), 1);
    server.start_again();
    recover_and_compare(
        |arguments| command(&runtape, &address, arguments),
        &bytes,
        &[],
    );
    assert!(spool_files(&runtape).is_empty());
}

#[test]
fn a_pipe_goes_on_when_its_server_stops_in_the_middle() {
    let runtape = Runtape::new();
    let Some((server, address)) = server(&runtape) else {
        return;
    };
    let (bytes, middle) = piped::bytes();
    let ingest = ["ingest", "-", "--exit-code", "0"];
    let mut piped = Piped::start(command(&runtape, &address, &ingest));
    piped.write(&bytes[..middle]);
    wait_until_printed(|| command(&runtape, &address, &["raw", "last"]));
    server.stop_at_once();
    piped.write(&bytes[middle..]);
    assert_not_stored(&piped.close(), "the server cannot be reached");
    assert_eq!(spool_files(&runtape).len(), 1);
    server.start_again();
    // Who wrote is gone without a word to the server, which would see that after a minute.
    let sql = server.sql("runs");
    assert_eq!(sql.value("SELECT count(*) FROM run"), "1");
    sql.run("UPDATE lease SET until = now() - interval '1 s'");
    recover_and_compare(
        |arguments| command(&runtape, &address, arguments),
        &bytes,
        &["--exit-code", "0"],
    );
    assert!(spool_files(&runtape).is_empty());
}
