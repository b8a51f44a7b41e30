//! Bundles that somebody changed, or made to do harm.

use std::path::Path;

use runtape_store::Store;
use rusqlite::Connection;

use super::{answers, bundled, filled};

/// Tells what a changed bundle answers; `None` if it is refused.
fn answer_of_changed(path: &Path, bytes: &[u8]) -> Option<String> {
    std::fs::write(path, bytes).unwrap();
    let bundle = Store::open_bundle(path).ok()?;
    let report = bundle.verify_bundle(None).ok()?;
    if !report.is_intact() {
        return None;
    }
    let seals = report.bundle;
    Some(format!("{seals:?}{}", answers(&bundle, "chosen")))
}

#[test]
fn no_byte_of_a_bundle_can_be_changed_so_that_it_says_something_else() {
    let (directory, store) = filled(3);
    let path = bundled(&directory, &store, &["chosen"]);
    let original = std::fs::read(&path).unwrap();
    let changed = directory.path().join("changed");
    let expected = answer_of_changed(&changed, &original).unwrap();
    let stride = std::env::var("RUNTAPE_FLIP_STRIDE");
    let stride: usize = stride.map_or(1021, |stride| stride.parse().unwrap());
    let (mut refused, mut same) = (0, 0);
    // Any byte of the beginning, where the file says what it is, and some of all others.
    let offsets = (0..100)
        .step_by(3)
        .chain((100..original.len()).step_by(stride));
    for (number, offset) in offsets.enumerate() {
        let mut bytes = original.clone();
        bytes[offset] ^= [0x01, 0x80, 0xff][number % 3];
        match answer_of_changed(&changed, &bytes) {
            None => refused += 1,
            Some(answer) => {
                assert_eq!(answer, expected, "byte {offset} of {}", original.len());
                same += 1;
            }
        }
    }
    println!("{refused} changes refused, {same} without any effect");
    assert!(refused > 20);
    for length in [
        0,
        1,
        99,
        100,
        511,
        4096,
        original.len() / 2,
        original.len() - 1,
    ] {
        let cut = answer_of_changed(&changed, &original[..length]);
        assert_eq!(cut, None, "cut to {length}");
    }
    for more in [&b"x"[..], &[0; 4096]] {
        let longer = [&original, more].concat();
        assert_eq!(answer_of_changed(&changed, &longer), None);
    }
}

/// Does something to a bundle that only another tool can do.
fn hostile(original: &Path, path: &Path, sql: &str) {
    std::fs::copy(original, path).unwrap();
    let connection = Connection::open(path).unwrap();
    let sql = format!("PRAGMA writable_schema = ON; {sql}");
    connection.execute_batch(&sql).unwrap();
}

#[test]
fn a_file_that_was_made_to_do_harm_is_refused_before_anything_is_asked_of_it() {
    let (directory, source) = filled(1);
    let original = bundled(&directory, &source, &["chosen"]);
    let endless = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT";
    let view = |name: &str, columns: &str| {
        format!(
            "UPDATE sqlite_master SET type = 'view', rootpage = 0,
                sql = 'CREATE VIEW {name} AS {endless} {columns} FROM n' WHERE name = '{name}'"
        )
    };
    let cases: Vec<(&str, String, &str)> = vec![
        (
            "a view for a table",
            view("unparsed", "a AS run"),
            "no table \"unparsed\"",
        ),
        (
            "an endless view",
            view("seal_before", "a AS number"),
            "no table \"seal_before\"",
        ),
        (
            "a trigger",
            "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM step; END".into(),
            "extra trigger",
        ),
        (
            "a generated column",
            "UPDATE sqlite_master SET sql = replace(sql, 'text TEXT NOT NULL', 'text TEXT NOT NULL, more TEXT AS (text || text)') WHERE name = 'notice'".into(),
            "table \"notice\" was changed",
        ),
        (
            "a virtual table",
            "CREATE VIRTUAL TABLE v USING fts5 (a)".into(),
            "extra table \"v\"",
        ),
        (
            "another index",
            "DROP INDEX run_by_job; CREATE INDEX run_by_job ON run (hex(zeroblob(job)))".into(),
            "index \"run_by_job\" was changed",
        ),
        (
            "an extra table",
            "CREATE TABLE extra (a)".into(),
            "extra table \"extra\"",
        ),
        (
            "a changed view",
            "DROP VIEW v_runs; CREATE VIEW v_runs AS SELECT 1 AS run_id".into(),
            "view \"v_runs\" was changed",
        ),
        (
            "another program's",
            "PRAGMA application_id = 7".into(),
            "application id is 7",
        ),
        (
            "a later schema",
            "PRAGMA user_version = 9999".into(),
            "schema 9999",
        ),
        ("no schema", "PRAGMA user_version = 0".into(), "schema 0"),
        (
            "a schema that is none",
            "UPDATE sqlite_master SET sql = 'CREATE TABLE run (' WHERE name = 'run'".into(),
            "malformed",
        ),
        (
            "more records than hashes",
            "UPDATE record_block SET marks = x''".into(),
            "hashes for",
        ),
        (
            "a length beyond all",
            "UPDATE record_block SET length = 1 << 40".into(),
            "claims to have",
        ),
        (
            "a tape beyond all",
            "UPDATE tape_block SET length = 1 << 40".into(),
            "claims to have",
        ),
        (
            "a context beyond all",
            "UPDATE run SET context = x'ffffffff7f01'".into(),
            "claims to have",
        ),
    ];
    for (name, sql, expected) in cases {
        let path = directory.path().join("hostile");
        let _ = std::fs::remove_file(&path);
        hostile(&original, &path, &sql);
        let before = std::time::Instant::now();
        let refused = Store::open_bundle(&path).map(|_| ());
        let error = refused.expect_err(name).to_string();
        assert!(error.contains(expected), "{name}: {error}");
        assert!(
            error.contains("hostile"),
            "{name} does not name the file: {error}"
        );
        assert!(before.elapsed().as_secs() < 30, "{name}");
    }
    // What is no file, or has a log beside it that says something else.
    let error = Store::open_bundle(directory.path())
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("no regular file"), "{error}");
    let path = directory.path().join("text");
    std::fs::write(&path, "a text").unwrap();
    let error = Store::open_bundle(&path).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("no bundle"), "{error}");
    for log in ["-wal", "-journal"] {
        let path = directory.path().join("logged");
        std::fs::copy(&original, &path).unwrap();
        let log = directory.path().join(format!("logged{log}"));
        std::fs::write(&log, "something else").unwrap();
        let error = Store::open_bundle(&path).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("log lies beside it"), "{error}");
        std::fs::remove_file(log).unwrap();
    }
}
