//! Whatever is changed behind the store's back, `verify` names the place.

use std::path::Path;

use runtape_store::{FaultPlace, Options, Store, VerifyReport};
use rusqlite::Connection;

use runtape_tests::runs::{Dice, Plan, child, run_id};

/// A database of three runs and a child; the big one has several blocks of each kind.
fn fill(path: &Path) -> Store {
    let mut store = Store::open(path, &Options::default()).unwrap();
    Plan::new("one", 3).make().store(&mut store);
    let big = Plan::new("big", 150).make();
    store.begin_run(&big.begin).unwrap();
    store.append(big.id(), &big.records, &big.chunks).unwrap();
    store.append(big.id(), &child(&big, "child"), &[]).unwrap();
    store
        .finish_run(big.id(), &serde_json::json!({"code": 0}), 1)
        .unwrap();
    Plan {
        fails: true,
        ..Plan::new("three", 6)
    }
    .make()
    .store(&mut store);
    store
}

/// Does something to a copy of the database, and verifies it.
fn tampered(original: &Path, sql: &str) -> VerifyReport {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy");
    std::fs::copy(original, &copy).unwrap();
    let connection = Connection::open(&copy).unwrap();
    connection
        .pragma_update(None, "foreign_keys", false)
        .unwrap();
    connection.execute_batch(sql).unwrap();
    drop(connection);
    let store = Store::open(&copy, &Options::default()).unwrap();
    store.verify().unwrap()
}

fn place(report: &VerifyReport) -> &FaultPlace {
    &report.faults.first().expect("a fault").place
}

#[test]
fn each_kind_of_change_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    drop(fill(&path));
    assert_eq!(tampered(&path, "SELECT 1").faults, []);
    let big = "(SELECT key << 32 FROM run WHERE id = 'big')";
    let one = "(SELECT key FROM run WHERE id = 'one')";
    let blocks = |table: &str, extra: &str| {
        format!(
            "UPDATE {table} SET place = -1 WHERE place = (SELECT min(place) FROM {table} WHERE place >= {big});
             UPDATE {table} SET place = place - {extra} WHERE place = (SELECT min(place) FROM {table} WHERE place >= {big});
             UPDATE {table} SET place = (SELECT max(place) + 1000 FROM {table}) WHERE place = -1;"
        )
    };
    let cases: Vec<(&str, String, &str)> = vec![
        // Records.
        ("edit a record", format!("UPDATE record_block SET body = CAST(body || x'00' AS BLOB) WHERE place = {big}"), "run big, record 0"),
        ("delete records", format!("DELETE FROM record_block WHERE place = {big}"), "run big, record 0: missing"),
        ("delete the last records", "DELETE FROM record_block WHERE place = (SELECT max(place) FROM record_block WHERE place >> 32 = (SELECT key FROM run WHERE id = 'big'))".into(), "run big, record"),
        ("insert records", "INSERT INTO record_block SELECT (SELECT max(place) + count FROM record_block), count, length, hash, marks, body FROM record_block LIMIT 1".into(), "run three, record 37: moved here"),
        ("copy records of another run", format!("INSERT INTO record_block SELECT place - (place >> 32 << 32) + ({one} << 32) + (SELECT records FROM run WHERE id = 'one'), count, length, hash, marks, body FROM record_block WHERE place = {big}"), "run one, record"),
        ("swap blocks", blocks("record_block", "100"), "run big, record"),
        ("edit a mark", format!("UPDATE record_block SET marks = zeroblob(length(marks)) WHERE place = {one} << 32"), "run one, record 0: changed"),
        ("edit a hash", format!("UPDATE record_block SET hash = zeroblob(32) WHERE place = {one} << 32"), "run one, record"),
        ("edit the count", "UPDATE run SET records = records + 1 WHERE id = 'one'".into(), "run one, record"),
        // The tape.
        ("edit the tape", format!("UPDATE tape_block SET body = CAST(body || x'00' AS BLOB) WHERE place = {big}"), "run big, tape block 0"),
        ("delete from the tape", format!("DELETE FROM tape_block WHERE place = {big}"), "run big, tape block 0: missing"),
        ("delete a whole tape", format!("DELETE FROM tape_block WHERE place >> 32 = {one}"), "run one, tape block 0: missing"),
        ("insert into the tape", format!("INSERT INTO tape_block SELECT place + 9, stdout_start, stdout_length, stderr_start, stderr_length, first_at, last_at, length, hash, body, 0, 0, 0, 0 FROM tape_block WHERE place = {one} << 32"), "run one, tape block 1"),
        ("change a receive time", format!("UPDATE tape_block SET first_at = first_at + 1 WHERE place = {one} << 32"), "run one, tape block 0"),
        // The ledger.
        ("edit the ledger", format!("UPDATE usage SET output_tokens = 1 WHERE run = {one} AND seq = (SELECT min(seq) FROM usage)"), "run one, table usage, record 6: changed"),
        ("edit its key", format!("UPDATE usage SET key = 'x' WHERE run = {one} AND seq = 6"), "run one, table usage, record 6: changed"),
        ("delete from the ledger", format!("DELETE FROM usage WHERE run = {one} AND seq = 6"), "run one, table usage, record 6: missing"),
        ("insert into the ledger", format!("INSERT INTO usage SELECT run, 7, at, key, source, step, model, 1, 1, 1, 1, NULL, 0, NULL, NULL FROM usage WHERE run = {one} AND seq = 6"), "run one, table usage, record 7: inserted"),
        ("swap in the ledger", format!("UPDATE usage SET seq = -1 WHERE run = {one} AND seq = 6; UPDATE usage SET seq = 6 WHERE run = {one} AND seq = (SELECT min(seq) FROM usage WHERE run = {one} AND seq > 6); UPDATE usage SET seq = 13 WHERE seq = -1"), "run one, table usage"),
        ("say more was written to a cache", format!("UPDATE usage SET cache_write_tokens = 1 WHERE run = {one} AND seq = 6"), "run one, table usage, record 6: changed"),
        ("hide usage", format!("UPDATE usage SET of_session = 1 WHERE run = {one} AND seq = 6"), "run one, table usage, record 6"),
        // Seals.
        ("edit a seal", "UPDATE seal SET at = at + 1 WHERE number = 2".into(), "seal 2: changed"),
        ("edit a digest", "UPDATE seal SET digest = zeroblob(32) WHERE number = 3".into(), "seal 3: changed"),
        ("delete a seal", "DELETE FROM seal WHERE number = 2".into(), "seal 2: missing"),
        ("delete the last seal", "DELETE FROM seal WHERE number = 3".into(), "run three: its seal 3 is missing"),
        ("insert a seal", "INSERT INTO seal SELECT 4, at, digest, hash, run_id, removes, reason FROM seal WHERE number = 3".into(), "seal 4: the run it covers is missing"),
        ("swap seals", "UPDATE run SET seal = 5 - seal WHERE id IN ('big', 'three')".into(), "seal 2: changed"),
        // Derived rows and runs.
        ("edit a step", format!("UPDATE step SET messages = 9 WHERE run = {one} AND step = 2"), "run one, table step"),
        ("edit a command", format!("UPDATE tool_call SET command = 'true' WHERE run = {one} AND step = 2"), "run one, table tool_call"),
        ("hide a failure", "UPDATE tool_call SET is_error = 0 WHERE is_error = 1 AND run = (SELECT key FROM run WHERE id = 'big')".into(), "run big, table tool_call"),
        ("edit a notice", format!("UPDATE notice SET text = 'fine' WHERE run = {one}"), "run one, table notice"),
        ("delete what was unparsed", format!("DELETE FROM unparsed WHERE run = {one}"), "run one, table unparsed"),
        ("edit a status", "UPDATE run SET status = (SELECT status FROM run WHERE id = 'one') WHERE id = 'three'".into(), "run three: its status was changed"),
        ("edit a cost", "UPDATE run SET cost_usd = 0 WHERE id = 'one'".into(), "run one: its cost_usd"),
        ("edit a word", "UPDATE word SET text = 'model-2' WHERE text = 'model-1'".into(), "run one: its model"),
        ("move to another job", "UPDATE run SET job = (SELECT job FROM run WHERE id = 'big') WHERE id = 'one'".into(), "run one: its job"),
        ("edit the exit", "UPDATE run SET exit = x'00' WHERE id = 'one'".into(), "run one is not as it was sealed"),
        ("edit the context", "UPDATE run SET context = x'00' WHERE id = 'one'".into(), "run one is not as it was sealed"),
        ("delete a run's row", "DELETE FROM run WHERE id = 'three'".into(), "belong to no run"),
        ("delete a run whole", format!("DELETE FROM record_block WHERE place >> 32 = {one}; DELETE FROM tape_block WHERE place >> 32 = {one}; DELETE FROM step WHERE run = {one}; DELETE FROM tool_call WHERE run = {one}; DELETE FROM notice WHERE run = {one}; DELETE FROM unparsed WHERE run = {one}; DELETE FROM usage WHERE run = {one}; DELETE FROM run WHERE id = 'one'"), "seal 1: the run it covers is missing"),
        ("delete a child whole", "DELETE FROM record_block WHERE place >> 32 = (SELECT key FROM run WHERE id = 'child'); DELETE FROM step WHERE run = (SELECT key FROM run WHERE id = 'child'); DELETE FROM tool_call WHERE run = (SELECT key FROM run WHERE id = 'child'); DELETE FROM notice WHERE run = (SELECT key FROM run WHERE id = 'child'); DELETE FROM unparsed WHERE run = (SELECT key FROM run WHERE id = 'child'); DELETE FROM usage WHERE run = (SELECT key FROM run WHERE id = 'child'); DELETE FROM run WHERE id = 'child'".into(), "run big is not as it was sealed"),
        ("forge a tombstone", "UPDATE run SET seal = NULL WHERE id = 'one'; UPDATE seal SET run_id = 'one' WHERE number = 1".into(), "seal 1: run one was removed without a word"),
        ("unseal", "UPDATE run SET seal = NULL WHERE id = 'one'".into(), "seal 1: the run it covers is missing"),
    ];
    for (name, sql, expected) in cases {
        let report = tampered(&path, &sql);
        let faults: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
        assert!(
            faults.iter().any(|fault| fault.contains(expected)),
            "{name}: expected {expected:?} in {faults:#?}"
        );
    }
}

/// Takes a block apart, changes its lines, and puts it together as the store would, with the
/// old hashes and marks.
fn rewrite(original: &Path, change: impl Fn(&mut Vec<String>)) -> VerifyReport {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy");
    std::fs::copy(original, &copy).unwrap();
    let store = Store::open(&copy, &Options::default()).unwrap();
    let id = run_id("one");
    let mut lines: Vec<String> = store
        .records(&id, 0, usize::MAX)
        .unwrap()
        .iter()
        .map(|record| serde_json::to_string(record).unwrap())
        .collect();
    change(&mut lines);
    let text = lines.join("\n") + "\n";
    // Coding 0 is plain.
    let mut body = vec![0];
    body.extend_from_slice(text.as_bytes());
    let connection = Connection::open(&copy).unwrap();
    connection
        .execute(
            "UPDATE record_block SET body = ?1, length = ?2
             WHERE place >> 32 = (SELECT key FROM run WHERE id = 'one')",
            rusqlite::params![body, i64::try_from(text.len()).unwrap()],
        )
        .unwrap();
    store.verify().unwrap()
}

#[test]
fn the_first_changed_record_of_a_block_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    drop(fill(&path));
    let at = |seq| FaultPlace::Record {
        run_id: run_id("one"),
        seq,
    };
    assert!(rewrite(&path, |_| {}).is_intact());
    let edited = rewrite(&path, |lines| lines[7] = lines[7].replace("Bash", "Bush"));
    assert_eq!(*place(&edited), at(7));
    let edited = rewrite(&path, |lines| lines[5] = "{}".to_owned());
    assert_eq!(*place(&edited), at(5));
    let deleted = rewrite(&path, |lines| drop(lines.remove(4)));
    assert_eq!(*place(&deleted), at(4));
    let cut = rewrite(&path, |lines| drop(lines.pop()));
    let FaultPlace::Record { seq, .. } = place(&cut) else {
        panic!("a record")
    };
    assert!(*seq > 4);
    let inserted = rewrite(&path, |lines| lines.insert(6, lines[6].clone()));
    assert_eq!(*place(&inserted), at(7));
    let swapped = rewrite(&path, |lines| lines.swap(8, 3));
    assert_eq!(*place(&swapped), at(3));
}

#[test]
fn a_hundred_random_edits_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    drop(fill(&path));
    let tables = [
        (
            "record_block",
            "place",
            &["count", "length", "hash", "marks", "body"][..],
        ),
        (
            "tape_block",
            "place",
            &[
                "stdout_start",
                "stdout_length",
                "stderr_start",
                "stderr_length",
                "first_at",
                "last_at",
                "length",
                "hash",
                "body",
            ][..],
        ),
        (
            "usage",
            "run * 1000000 + seq",
            &[
                "at",
                "key",
                "input_tokens",
                "output_tokens",
                "cached_input_tokens",
                "session_key",
                "of_session",
                "step",
            ][..],
        ),
        ("seal", "number", &["at", "digest", "hash"][..]),
        (
            "step",
            "run * 1000000 + step",
            &[
                "seq",
                "checkpoint_id",
                "started_at",
                "finished_at",
                "messages",
                "tool_calls",
                "pending",
            ][..],
        ),
        (
            "tool_call",
            "run * 1000000 + seq",
            &[
                "step",
                "at",
                "command",
                "paths",
                "is_error",
                "duration_ms",
                "result_seq",
                "class",
            ][..],
        ),
        (
            "run",
            "key",
            &[
                "records",
                "started_at",
                "finished_at",
                "steps",
                "messages",
                "unparsed",
                "input_tokens",
                "cost_usd",
                "status",
                "model",
                "job",
            ][..],
        ),
    ];
    let mut dice = Dice::new(42);
    let mut found = 0;
    for round in 0..100 {
        let (table, key, columns) = tables[dice.roll(tables.len() as u64) as usize];
        let column = columns[dice.roll(columns.len() as u64) as usize];
        let row = dice.roll(1000);
        let byte = dice.roll(1 << 20);
        let bit = 1 + dice.roll(255);
        // One byte of a blob or text, or a number, of one row.
        let sql = format!(
            "UPDATE {table} SET {column} = CASE typeof({column})
                WHEN 'blob' THEN CAST(substr({column}, 1, {byte} % length({column}))
                    || char({bit} % 127) || 'x' || substr({column}, {byte} % length({column}) + 2) AS BLOB)
                WHEN 'text' THEN {column} || 'x'
                WHEN 'null' THEN {column}
                ELSE {column} + {bit} END
             WHERE {key} = (SELECT {key} FROM {table} WHERE {column} IS NOT NULL
                ORDER BY 1 LIMIT 1 OFFSET {row} % (SELECT count(*) FROM {table} WHERE {column} IS NOT NULL))"
        );
        let report = tampered(&path, &sql);
        assert!(!report.is_intact(), "round {round}: {sql}");
        found += 1;
    }
    println!("{found} of 100 random edits found");
}

#[test]
fn a_head_kept_elsewhere_proves_what_was_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = fill(&path);
    let head = store.head().unwrap().unwrap();
    assert_eq!(store.verify().unwrap().head.as_ref(), Some(&head));
    Plan::new("four", 2).make().store(&mut store);
    assert!(store.verify_head(&head.hash).unwrap().is_intact());
    store.delete_run(&run_id("one"), 5).unwrap();
    let report = store.verify_head(&head.hash).unwrap();
    assert!(report.is_intact());
    assert_eq!(report.removals.len(), 1);
    // Someone cuts off the end of the history: only the head tells.
    let later = store.head().unwrap().unwrap();
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute("DELETE FROM seal WHERE number = 5", [])
        .unwrap();
    connection
        .execute("DELETE FROM seal WHERE number = 1", [])
        .unwrap();
    drop(connection);
    let store = Store::open(&path, &Options::default()).unwrap();
    assert!(!store.verify_head(&later.hash).unwrap().is_intact());
}

#[test]
fn some_runs_are_verified_without_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    drop(fill(&path));
    for (sql, expected) in [
        ("SELECT 1", ""),
        (
            "UPDATE record_block SET body = CAST(body || x'00' AS BLOB)
             WHERE place = (SELECT key << 32 FROM run WHERE id = 'big')",
            "run big, record 0",
        ),
        (
            "DELETE FROM tape_block WHERE place >> 32 = (SELECT key FROM run WHERE id = 'big')",
            "run big, tape block 0: missing",
        ),
        (
            "UPDATE run SET steps = steps + 1 WHERE id = 'big'",
            "run big",
        ),
        ("UPDATE seal SET digest = zeroblob(32)", "seal"),
    ] {
        let copy = directory.path().join("copy");
        std::fs::copy(&path, &copy).unwrap();
        let connection = Connection::open(&copy).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        let store = Store::open(&copy, &Options::default()).unwrap();
        let found = store.verify_runs(&[run_id("big")]).unwrap();
        let said = found.faults.first().map(ToString::to_string);
        let said = said.unwrap_or_default();
        assert!(said.starts_with(expected), "{sql}: {said:?}");
        assert_eq!(said.is_empty(), expected.is_empty(), "{sql}: {said:?}");
        if !expected.starts_with("seal") {
            let other = store.verify_runs(&[run_id("one")]).unwrap();
            assert_eq!(other.faults, [], "{sql}");
            assert_eq!(other.runs, 1);
        }
    }
}
