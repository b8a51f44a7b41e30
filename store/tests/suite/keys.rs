//! Keys that were given once are never given again.

use std::collections::BTreeSet;
use std::path::Path;

use runtape_store::{Options, Store};
use rusqlite::Connection;

use runtape_tests::runs::{Dice, Plan, run_id};

const TABLES: [&str; 3] = ["run", "job", "word"];

fn keys(path: &Path, table: &str) -> BTreeSet<i64> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection
        .prepare(&format!("SELECT key FROM {table}"))
        .unwrap();
    let keys = statement.query_map([], |row| row.get(0)).unwrap();
    keys.collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn a_key_is_never_given_twice_however_rows_come_and_go() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    let mut dice = Dice::new(7);
    let mut gone = [const { BTreeSet::new() }; 3];
    let mut there: Vec<String> = Vec::new();
    for number in 0..40 {
        let before = TABLES.map(|table| keys(&path, table));
        if there.is_empty() || dice.roll(3) > 0 {
            let name = format!("run-{number}");
            Plan::new(&name, 1).make().store(&mut store);
            there.push(name);
        } else {
            // Most often the newest one, whose keys are the highest.
            let at = if dice.roll(4) > 0 { there.len() - 1 } else { 0 };
            store.delete_run(&run_id(&there.remove(at)), 1).unwrap();
            assert!(store.compact().unwrap().is_complete);
        }
        for ((table, gone), before) in TABLES.iter().zip(&mut gone).zip(before) {
            let after = keys(&path, table);
            gone.extend(before.difference(&after).copied());
            let again: Vec<_> = after.intersection(gone).collect();
            assert!(
                again.is_empty(),
                "keys of table {table} came again: {again:?}"
            );
        }
    }
    assert!(gone.iter().all(|gone| gone.len() > 3), "{gone:?}");
    assert_eq!(store.verify().unwrap().faults, []);
}

#[test]
fn a_counter_that_was_set_back_is_found_and_does_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    for name in ["a", "b"] {
        Plan::new(name, 1).make().store(&mut store);
    }
    let connection = Connection::open(&path).unwrap();
    let changes = [
        "UPDATE key_counter SET last = last - 1 WHERE name = 'run'",
        "UPDATE key_counter SET last = 0 WHERE name = 'job'",
        "UPDATE key_counter SET last = -5 WHERE name = 'word'",
        "DELETE FROM key_counter WHERE name = 'run'",
        "UPDATE key_counter SET name = 'runs' WHERE name = 'run'",
        "INSERT INTO key_counter VALUES ('step', 9)",
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert_eq!(connection.execute(change, []).unwrap(), 1);
        let report = store.verify().unwrap();
        assert!(!report.is_intact(), "{change}");
        assert!(
            report.faults[0].fault.contains("key"),
            "{:?}",
            report.faults
        );
        // The next run has a key of its own nevertheless.
        let name = format!("run-{number}");
        Plan::new(&name, 1).make().store(&mut store);
        assert_eq!(store.run(&run_id(&name)).unwrap().run_id.as_str(), name);
        store
            .rebuild_all(|_, rebuilt| drop(rebuilt.unwrap()))
            .unwrap();
        assert_eq!(store.verify().unwrap().faults, [], "{change}");
    }
}
