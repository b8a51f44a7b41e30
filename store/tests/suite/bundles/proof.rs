//! What a bundle proves, and what gives none.

use std::path::Path;

use runtape_store::{Options, Store, StoreError};
use runtape_tests::runs::{Plan, run_id};
use rusqlite::Connection;

use super::{bundled, filled, verified};

#[test]
fn a_bundle_proves_the_place_of_its_runs() {
    let (directory, mut store) = filled(4);
    // What became of a run before belongs to it: a tape that was dropped, records made anew.
    let made = Plan::new("changed", 2).make();
    made.store(&mut store);
    store.replace_records(made.id(), &made.records, 7).unwrap();
    let seals = |path: &Path| verified(path).bundle.unwrap();
    for runs in [
        &["chosen"][..],
        &["other0"],
        &["changed"],
        &["other1", "chosen", "changed"],
        &["chosen", "other2"],
    ] {
        let path = bundled(&directory, &store, runs);
        let report = verified(&path);
        assert_eq!(report.faults, [], "{runs:?}");
        for seal in seals(&path) {
            assert_eq!(
                store.run(&seal.run_id).unwrap().seal_name(),
                Some(seal.name)
            );
            // The chain it was taken from has it, too.
            assert!(store.verify_head(&seal.hash).unwrap().is_intact());
        }
    }
    let path = directory.path().join("changed.bundle");
    let removed = verified(&path).removals;
    assert_eq!(removed.len(), 1, "{removed:?}");
    // A bundle of a bundle says the same.
    let bundle = Store::open_bundle(&path).unwrap();
    let again = directory.path().join("again");
    bundle.write_bundle(&[run_id("changed")], &again).unwrap();
    assert_eq!(seals(&again), seals(&path));
    assert!(verified(&again).is_intact());
}

#[test]
fn a_hash_kept_elsewhere_covers_a_run_of_a_bundle_or_does_not() {
    let (directory, store) = filled(6);
    let path = bundled(&directory, &store, &["other0", "chosen", "other3"]);
    let bundle = Store::open_bundle(&path).unwrap();
    let seals = bundle.verify_bundle(None).unwrap().bundle.unwrap();
    let faults = |head: &str| -> Vec<String> {
        let report = bundle.verify_bundle(Some(head)).unwrap();
        report.faults.iter().map(ToString::to_string).collect()
    };
    // Seals 4 and 5 follow each other, 1 stands apart.
    let numbers: Vec<u64> = seals.iter().map(|seal| seal.name.number).collect();
    assert_eq!(numbers, [1, 4, 5]);
    assert!(
        faults(&seals[2].hash)
            .iter()
            .all(|fault| fault.contains("run other0"))
    );
    assert_eq!(faults(&seals[2].hash).len(), 1);
    assert_eq!(faults(&seals[1].hash).len(), 2);
    assert!(faults(&"0".repeat(64))[0].contains("no seal has the hash"));
    let alone = bundled(&directory, &store, &["chosen"]);
    let alone = Store::open_bundle(&alone).unwrap();
    assert!(
        alone
            .verify_bundle(Some(&seals[1].hash))
            .unwrap()
            .is_intact()
    );
    // The hash before a seal proves nothing of it: anybody can go on from there.
    let before: Vec<u8> = Connection::open(&path)
        .unwrap()
        .query_row("SELECT hash FROM seal_before WHERE number = 4", [], |row| {
            row.get(0)
        })
        .unwrap();
    let before = blake3::Hash::from_slice(&before)
        .unwrap()
        .to_hex()
        .to_string();
    assert!(faults(&before)[0].contains("no seal has the hash"));
}

#[test]
fn a_bundle_is_never_taken_for_a_whole_database() {
    let (directory, store) = filled(3);
    for run in ["other0", "chosen"] {
        let path = bundled(&directory, &store, &[run]);
        let bundle = Store::open(&path, &Options::read_only()).unwrap();
        let report = bundle.verify().unwrap();
        assert!(
            report.faults[0].fault.contains("a bundle"),
            "{run}: {report:?}"
        );
    }
}

#[test]
fn a_run_that_is_damaged_or_open_gives_no_bundle() {
    let (directory, mut store) = filled(2);
    let open = Plan::new("open", 2).make();
    store.begin_run(&open.begin).unwrap();
    store
        .append(open.id(), &open.records, &open.chunks)
        .unwrap();
    let path = directory.path().join("b");
    let error = store.write_bundle(&[run_id("open")], &path).unwrap_err();
    assert!(matches!(error, StoreError::Unsealed { .. }), "{error}");
    for (sql, expected) in [
        (
            "UPDATE run SET exit = x'00' WHERE id = 'chosen'",
            "as it was sealed",
        ),
        ("UPDATE seal SET at = 5 WHERE number = 2", "seal 2"),
        ("DELETE FROM tape_block", "tape block 0"),
    ] {
        let copy = directory.path().join("copy");
        let _ = std::fs::remove_file(&copy);
        store.backup(&copy).unwrap();
        Connection::open(&copy).unwrap().execute_batch(sql).unwrap();
        let damaged = Store::open(&copy, &Options::read_only()).unwrap();
        let _ = std::fs::remove_file(&path);
        let error = damaged
            .write_bundle(&[run_id("chosen")], &path)
            .unwrap_err();
        assert!(error.to_string().contains(expected), "{sql}: {error}");
    }
}
