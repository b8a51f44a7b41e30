//! The server that tests start: it stops, starts and ends as it should.

use std::process::Command;
use std::time::{Duration, Instant};

use runtape_tests::postgres::{Care, Sql, own_server};

/// Starts a server, tells where it is, and waits to be killed.
#[test]
fn process() {
    if std::env::var_os("RUNTAPE_TEST_WORK").is_none_or(|work| work != "own_server") {
        return;
    }
    let server = own_server(Care::Quick, &[]).unwrap();
    println!("at {}", server.directory().display());
    std::thread::sleep(Duration::from_mins(1));
}

#[test]
fn a_server_is_gone_when_its_test_is_killed() {
    use std::io::{BufRead, BufReader};
    if !runtape_tests::postgres::is_there() || std::env::var_os("RUNTAPE_TEST_PG_URL").is_some() {
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "own_server::process", "--nocapture"])
        .env("RUNTAPE_TEST_WORK", "own_server")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let directory = lines
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once("at /")?.1.to_owned()))
        .unwrap();
    let directory = std::path::PathBuf::from(format!("/{directory}"));
    let pid = std::fs::read_to_string(directory.join("data/postmaster.pid")).unwrap();
    let pid = pid.lines().next().unwrap().to_owned();
    let is_alive = || std::path::Path::new("/proc").join(&pid).exists();
    assert!(is_alive());
    child.kill().unwrap();
    child.wait().unwrap();
    let begin = Instant::now();
    while directory.exists() || is_alive() {
        assert!(
            begin.elapsed() < Duration::from_secs(30),
            "{} is left",
            directory.display()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_server_that_was_stopped_has_what_it_acknowledged() {
    let Some(server) = own_server(Care::AsByDefault, &[]) else {
        return;
    };
    let sql = server.sql("postgres");
    sql.run("CREATE TABLE t (a int); INSERT INTO t VALUES (7)");
    server.stop_at_once();
    assert!(sql.ask("SELECT 1").is_err());
    assert!(Sql::connect(&server.tcp_address("postgres")).is_err());
    server.start_again();
    assert_eq!(server.sql("postgres").value("SELECT a FROM t"), "7");
    let over_tcp = Sql::connect(&server.tcp_address("postgres")).unwrap();
    assert_eq!(over_tcp.value("SELECT a FROM t"), "7");
}
