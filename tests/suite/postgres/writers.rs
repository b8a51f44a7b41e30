//! Writers, as threads and as processes, and what must be true of what they wrote.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use runtape_store::{DatabaseFault, Options, Patience, Store, StoreError};
use runtape_tests::postgres::Sql;
use runtape_tests::runs::Made;
use serde_json::json;

/// Starts this test program again to do some work on a database.
pub(crate) fn start(test: &str, work: &str, address: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("RUNTAPE_TEST_WORK", work)
        .env("RUNTAPE_TEST_DATABASE", address)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// Returns the work this process was started for, and the address of the database.
pub(crate) fn work() -> Option<(String, PathBuf)> {
    let work = std::env::var("RUNTAPE_TEST_WORK").ok()?;
    let address = std::env::var_os("RUNTAPE_TEST_DATABASE")?;
    Some((work, address.into()))
}

pub(crate) fn open(address: &str) -> Store {
    Store::open(address, &Options::default()).unwrap()
}

/// Opens a database as a recorder does that can keep elsewhere what it was to write.
pub(crate) fn open_hurried(address: &str) -> Store {
    let mut options = Options::default();
    options.patience = Patience::Seconds;
    Store::open(address, &options).unwrap()
}

/// Tells whether an error says that the server could not be reached, in words for people.
pub(crate) fn is_away(error: &StoreError) -> bool {
    let is_away = matches!(
        error,
        StoreError::Database {
            fault: DatabaseFault::Away,
            ..
        }
    );
    let text = error.to_string();
    is_away && text.contains("postgres://") && text.contains("the server cannot be reached")
}

/// Does something until it succeeds, as long as nothing but the way to the server is at fault; returns how often it failed.
pub(crate) fn insist<T>(
    store: &mut Store,
    mut what: impl FnMut(&mut Store) -> Result<T, StoreError>,
) -> (T, u32) {
    let mut failures = 0;
    loop {
        match what(store) {
            Ok(value) => return (value, failures),
            Err(error) if is_away(&error) && failures < 50 => failures += 1,
            Err(error) => panic!("after {failures} failures: {error}"),
        }
    }
}

/// Writes a run in small batches, each until it is acknowledged; returns how often that failed.
pub(crate) fn write_all(store: &mut Store, made: &Made) -> u32 {
    let mut failures = 0;
    let mut count = |(done, failed): (bool, u32)| {
        assert!(done);
        failures += failed;
    };
    count(insist(store, |store| match store.begin_run(&made.begin) {
        // It was begun, and only the answer was lost.
        Err(StoreError::Conflict { .. } | StoreError::Locked { .. }) => {
            store.resume_run(made.id()).map(|_| true)
        }
        result => result.map(|()| true),
    }));
    let mut chunks = made.chunks.chunks(4);
    for records in made.records.chunks(7) {
        let chunks = chunks.next().unwrap_or_default();
        count(insist(store, |store| {
            store.append(made.id(), records, chunks).map(|()| true)
        }));
    }
    for chunks in chunks {
        count(insist(store, |store| {
            store.append(made.id(), &[], chunks).map(|()| true)
        }));
    }
    count(insist(store, |store| {
        store
            .finish_run(made.id(), &json!({"code": 0}), 1)
            .map(|_| true)
    }));
    failures
}

/// Holds a database to what was written: all of it, nothing twice, nothing else, and all of it proven.
pub(crate) fn check_exactly(address: &str, runs: &[Made]) {
    let store = open(address);
    for made in runs {
        let stored = store.records(made.id(), 0, usize::MAX).unwrap();
        assert_eq!(stored.len(), made.records.len(), "{}", made.id());
        assert_eq!(stored, made.records, "{}", made.id());
        assert_eq!(store.tape(made.id()).unwrap(), made.chunks, "{}", made.id());
        assert!(
            store.run(made.id()).unwrap().seal.is_some(),
            "{}",
            made.id()
        );
    }
    let sql = Sql::connect(address).unwrap();
    assert_eq!(
        sql.value("SELECT count(*) FROM run"),
        runs.len().to_string()
    );
    let records: usize = runs.iter().map(|made| made.records.len()).sum();
    assert_eq!(
        sql.value("SELECT sum(count) FROM record_block"),
        records.to_string()
    );
    assert_eq!(
        sql.value("SELECT count(*) FROM seal"),
        runs.len().to_string()
    );
    let report = store.verify().unwrap();
    assert_eq!(report.faults, []);
    assert_eq!(report.records, records as u64);
    assert!(store.open_runs().unwrap().is_empty());
}

/// Returns all there is in a database's tables, each as one hash.
pub(crate) fn contents(sql: &Sql, except: &[&str]) -> Vec<(String, String)> {
    let tables = sql.run(
        "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND c.relnamespace = current_schema()::regnamespace ORDER BY 1",
    );
    let names = tables.rows.into_iter().filter_map(|mut row| row.remove(0));
    let names = names.filter(|name| !except.contains(&name.as_str()));
    names
        .map(|name| {
            let hash = sql.value(&format!(
                "SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, ' ' ORDER BY t::text)), '') FROM {name} t"
            ));
            (name, hash)
        })
        .collect()
}
