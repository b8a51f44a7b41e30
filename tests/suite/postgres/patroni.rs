//! A failover under load: the server that is written to is lost for good, and another one takes its place.
//!
//! `RUNTAPE_TEST_PATRONI=1` installs what is needed and runs it, `RUNTAPE_TEST_PATRONI=DIR` takes what `.ci/patroni DIR`
//! installed. Without either it is skipped: it takes a minute, and packages that nothing else needs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use runtape_tests::postgres::{Cluster, Layout, Sql};
use runtape_tests::runs::{Made, Plan};
use tempfile::TempDir;

use crate::writers::{check_exactly, open, write_all};

const WRITERS: usize = 8;

/// Finds what `.ci/patroni` installs, or has it installed where that is wanted.
fn programs() -> Option<(PathBuf, Option<TempDir>)> {
    let wanted = std::env::var_os("RUNTAPE_TEST_PATRONI").filter(|value| !value.is_empty());
    let Some(wanted) = wanted else {
        eprintln!("skipped: RUNTAPE_TEST_PATRONI=1 tests a failover");
        return None;
    };
    if wanted != "1" {
        return Some((wanted.into(), None));
    }
    let directory = TempDir::new().unwrap();
    // The user of the servers starts what is in it.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.path(), mode).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/patroni");
    let mut install = Command::new(script);
    let programs = directory.path().join("patroni");
    let installed = install.arg(&programs).status().unwrap();
    assert!(installed.success(), "{install:?}: {installed}");
    Some((programs, Some(directory)))
}

/// What a writer did.
struct Written {
    runs: Vec<Made>,
    /// How often it was told of a failure.
    failures: u32,
    /// The longest that one of its runs took: it waited for another server then.
    longest: Duration,
}

fn write_until(is_over: &AtomicBool, done: &AtomicUsize, address: &str, writer: usize) -> Written {
    let mut store = open(address);
    let mut written = Written {
        runs: Vec::new(),
        failures: 0,
        longest: Duration::ZERO,
    };
    while !is_over.load(Ordering::Relaxed) {
        let made = Plan::new(&format!("w{writer}-{}", written.runs.len()), 20).make();
        let begin = Instant::now();
        written.failures += write_all(&mut store, &made);
        written.longest = written.longest.max(begin.elapsed());
        written.runs.push(made);
        done.fetch_add(1, Ordering::Relaxed);
    }
    written
}

#[test]
fn a_failover_under_load_loses_nothing_and_no_writer_sees_an_error() {
    let Some((programs, _installed)) = programs() else {
        return;
    };
    let cluster = Cluster::start(&programs).expect("the programs of a server");
    let sql = Sql::connect(&cluster.address("postgres")).unwrap();
    sql.run("CREATE DATABASE history");
    let before = sql.value("SELECT inet_server_port()");
    assert_eq!(
        sql.value("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"),
        "1"
    );
    let address = cluster.address("history");
    Layout::Whole.migrate(&address);

    let (is_over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let wait_for_more = || {
        let (begin, least) = (Instant::now(), done.load(Ordering::Relaxed) + 4 * WRITERS);
        while done.load(Ordering::Relaxed) < least {
            assert!(
                begin.elapsed() < Duration::from_secs(90),
                "writers stand still"
            );
            thread::sleep(Duration::from_millis(20));
        }
    };
    let (away, written) = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (is_over, done, address) = (&is_over, &done, &address);
                scope.spawn(move || write_until(is_over, done, address, writer))
            })
            .collect();
        wait_for_more();
        cluster.kill_leader();
        let away = cluster.wait_for_leader();
        wait_for_more();
        is_over.store(true, Ordering::Relaxed);
        let written: Vec<Written> = writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect();
        (away, written)
    });
    let after = Sql::connect(&address).unwrap();
    assert_ne!(after.value("SELECT inet_server_port()"), before);
    let failures: u32 = written.iter().map(|written| written.failures).sum();
    let longest: Vec<Duration> = written.iter().map(|written| written.longest).collect();
    let runs: Vec<Made> = written.into_iter().flat_map(|it| it.runs).collect();
    println!(
        "{} runs written, writable after {away:.1?}, {failures} failures were told, the longest runs took {longest:.1?}",
        runs.len()
    );
    check_exactly(&address, &runs);
    assert_eq!(
        failures, 0,
        "a writer was told of what patience would have mended"
    );
    for longest in longest {
        assert!(
            longest > Duration::from_secs(5),
            "a writer was not there when it happened"
        );
    }
}
