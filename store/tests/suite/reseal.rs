//! Databases from before receive times were part of the chain.

use std::path::{Path, PathBuf};

use runtape_core::CheckpointId;
use runtape_store::{Options, RemovalReason, Store, StoreError};
use rusqlite::Connection;

/// Made by the last version with schema 2: five sealed runs with tapes, one of them with a child,
/// and one that is open.
const OLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/databases/schema-2.db");

/// The head of the chain as that version printed it.
const OLD_HEAD: &str = "de4cbfa8b1d340eacb2160ebe22a20bf6669be903647f41bfd68a38c03bdde20";

/// The first of its runs.
const FIRST: &str = "e285tmg7txdds9i0miwvt81c";

fn copy(directory: &Path) -> PathBuf {
    let path = directory.join("db");
    std::fs::copy(OLD, &path).unwrap();
    path
}

fn seal(path: &Path, run: &str) -> i64 {
    let sql = "SELECT seal FROM run WHERE id = ?1";
    let connection = Connection::open(path).unwrap();
    connection.query_row(sql, [run], |row| row.get(0)).unwrap()
}

#[test]
fn an_old_database_is_sealed_anew_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = copy(directory.path());
    let error = Store::open(&path, &Options::read_only()).unwrap_err();
    assert!(
        matches!(error, StoreError::TooOld { found: 2, .. }),
        "{error}"
    );
    let store = Store::open(&path, &Options::default()).unwrap();
    let report = store.verify().unwrap();
    assert_eq!(report.faults, []);
    assert_eq!((report.runs, report.open_runs), (7, 1));
    let resealed: Vec<u64> = report
        .removals
        .iter()
        .filter(|removal| removal.reason == RemovalReason::Resealed)
        .map(|removal| removal.seal)
        .collect();
    assert_eq!(resealed, [1, 2, 3, 4, 5]);
    assert!(
        report
            .removals
            .iter()
            .all(|removal| removal.at > 1_700_000_000_000)
    );
    assert_eq!(report.head.as_ref().unwrap().name.number, 15);
    // Whoever kept the old head can still prove what was before it.
    assert_eq!(store.verify_head(OLD_HEAD).unwrap().faults, []);
    let head = report.head.unwrap().hash;
    drop(store);
    // Opening it again seals nothing again.
    let store = Store::open(&path, &Options::default()).unwrap();
    assert_eq!(store.head().unwrap().unwrap().hash, head);
    drop(store);
    let connection = Connection::open(&path).unwrap();
    let sql = "UPDATE tape_block SET first_at = first_at - 60000, last_at = last_at - 60000";
    connection.execute(sql, []).unwrap();
    drop(connection);
    let report = Store::open(&path, &Options::default())
        .unwrap()
        .verify()
        .unwrap();
    // Of the open run, too.
    assert_eq!(report.faults.len(), 6, "{:#?}", report.faults);
}

#[test]
fn damage_of_an_old_database_is_not_sealed_anew() {
    let key = format!("(SELECT key FROM run WHERE id = '{FIRST}')");
    let block = format!("WHERE place = {key} << 32");
    let cases = [
        format!(
            "UPDATE record_block SET body = CAST(substr(body, 1, length(body) - 1) || 'x' AS BLOB) {block}"
        ),
        format!("UPDATE record_block SET marks = zeroblob(length(marks)) {block}"),
        format!("DELETE FROM record_block {block}"),
        format!(
            "UPDATE tape_block SET body = CAST(substr(body, 1, length(body) - 1) || 'x' AS BLOB) {block}"
        ),
        format!("UPDATE tape_block SET last_at = last_at + 1 {block}"),
        format!("UPDATE tape_block SET hash = zeroblob(32) {block}"),
        format!("UPDATE run SET exit = x'0000' WHERE id = '{FIRST}'"),
        format!("UPDATE run SET context = x'0000' WHERE id = '{FIRST}'"),
        format!("UPDATE run SET records = records - 1 WHERE id = '{FIRST}'"),
        "UPDATE seal SET digest = zeroblob(32) WHERE number = 1".to_owned(),
        "UPDATE seal SET at = at + 1 WHERE number = 1".to_owned(),
        // What follows from records is not covered, and compared all the same.
        format!("UPDATE run SET status = NULL WHERE id = '{FIRST}'"),
        format!("DELETE FROM step WHERE run = {key}"),
    ];
    for sql in cases {
        let directory = tempfile::tempdir().unwrap();
        let path = copy(directory.path());
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(&sql).unwrap();
        assert!(connection.total_changes() > 0, "{sql}");
        drop(connection);
        let store = Store::open(&path, &Options::default()).unwrap();
        let faults = store.verify().unwrap().faults;
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert!(
            told.iter()
                .any(|fault| fault.contains(FIRST) || fault.contains("seal 1")),
            "{sql}: {told:#?}"
        );
        // Only this one: nothing was the matter with the others.
        let others = told
            .iter()
            .filter(|fault| fault.starts_with("run ") && !fault.contains(FIRST));
        assert_eq!(others.count(), 0, "{sql}: {told:#?}");
        drop(store);
        let covered = !sql.contains("status") && !sql.contains("step") && !sql.contains("SET at");
        assert_eq!(seal(&path, FIRST) == 1, covered, "{sql}");
        assert!(seal(&path, "sp9qds6898h5hih22aq6syzv") > 5, "{sql}");
    }
}

#[cfg(unix)]
#[test]
fn an_old_database_is_not_migrated_under_a_writer() {
    let directory = tempfile::tempdir().unwrap();
    let path = copy(directory.path());
    let locks = directory.path().join("db.locks");
    std::fs::create_dir(&locks).unwrap();
    let open = "wmlu7dwi4r0u1h572fkffr42";
    let lock = std::fs::File::create(locks.join(open)).unwrap();
    lock.lock().unwrap();
    let error = Store::open(&path, &Options::default()).unwrap_err();
    assert!(
        matches!(&error, StoreError::Locked { run } if run.as_str() == open),
        "{error}"
    );
    drop(lock);
    assert_eq!(
        Store::open(&path, &Options::default())
            .unwrap()
            .verify()
            .unwrap()
            .faults,
        []
    );
}

#[test]
fn checkpoints_of_an_old_database_are_named_anew_and_found_by_their_names() {
    let directory = tempfile::tempdir().unwrap();
    let path = copy(directory.path());
    let ids = |path: &Path| -> Vec<(String, u64, String)> {
        let sql = "SELECT run.id, step.step, checkpoint_id FROM step JOIN run ON run.key = step.run
                   ORDER BY run.key, step.step";
        let connection = Connection::open(path).unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| {
            let step: i64 = row.get(1)?;
            Ok((row.get(0)?, u64::try_from(step).unwrap(), row.get(2)?))
        });
        rows.unwrap().map(Result::unwrap).collect()
    };
    let before = ids(&path);
    let mut store = Store::open(&path, &Options::default()).unwrap();
    let after = ids(&path);
    assert_eq!((before.len(), after.len()), (9, 9));
    for (run, step, id) in &after {
        let derived = CheckpointId::derive(&run.parse().unwrap(), *step);
        assert_eq!(id, derived.as_str());
        assert!(!before.iter().any(|(.., old)| old == id));
        let found = store.checkpoint(&derived).unwrap().unwrap();
        assert_eq!(found.id, derived);
    }
    // A row that somebody changes is found again.
    assert_eq!(store.verify().unwrap().faults, []);
    drop(store);
    let connection = Connection::open(&path).unwrap();
    let sql = "UPDATE step SET checkpoint_id = 'another' WHERE run = 1 AND step = 1";
    connection.execute(sql, []).unwrap();
    drop(connection);
    store = Store::open(&path, &Options::default()).unwrap();
    assert_eq!(store.verify().unwrap().faults.len(), 1);
}
