//! Databases of earlier versions are migrated, those of later ones are left alone.

use runtape_core::{Span, Stream};
use runtape_store::{Options, Store, StoreError};
use rusqlite::Connection;

use runtape_tests::runs::{Plan, run_id};

#[test]
fn a_newer_database_is_refused_unharmed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    Plan::new("r", 1)
        .make()
        .store(&mut Store::open(&path, &Options::default()).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let before = std::fs::read(&path).unwrap();
    for options in [Options::default(), Options::read_only()] {
        let error = Store::open(&path, &options).unwrap_err();
        assert!(
            matches!(error, StoreError::TooNew { found: 99, .. }),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_database_of_something_else_is_refused_unharmed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE mine (a)").unwrap();
    drop(connection);
    let before = std::fs::read(&path).unwrap();
    let error = Store::open(&path, &Options::default()).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// Made by the last version whose tapes had two streams: three sealed runs, of which one printed on
/// both.
const TWO_STREAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/databases/schema-6.db");

/// The head of its chain as that version printed it.
const ITS_HEAD: &str = "543a0f2b17f6d836ebca8a84ed5618067bc853d4a00de46c968016d20b09947c";

#[test]
fn a_tape_of_two_streams_is_read_as_it_is_and_its_seals_stay() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    std::fs::copy(TWO_STREAMS, &path).unwrap();
    let blocks = |path: &std::path::Path| -> Vec<(i64, Vec<u8>, Vec<u8>)> {
        let connection = Connection::open(path).unwrap();
        let sql = "SELECT place, hash, body FROM tape_block ORDER BY place";
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
    };
    let before = blocks(&path);
    let mut store = Store::open(&path, &Options::default()).unwrap();
    let report = store.verify().unwrap();
    assert_eq!((report.runs, report.faults), (3, Vec::new()));
    assert_eq!(store.head().unwrap().unwrap().hash, ITS_HEAD);
    assert_eq!(store.verify_head(ITS_HEAD).unwrap().faults, []);
    assert_eq!(blocks(&path), before);
    let run = run_id("eg95764bq6mda3hcv1tfcbue");
    let lengths = store.tape_lengths(&run).unwrap();
    let of = Stream::ALL.map(|stream| lengths.of(stream));
    assert_eq!(of, [3690, 4665, 0, 0]);
    for stream in Stream::ALL {
        let span = Span {
            stream,
            start: 0,
            end: u64::MAX,
        };
        let bytes = store.tape_span(&run, span).unwrap();
        assert_eq!(bytes.len() as u64, lengths.of(stream));
    }
    store.check_tape(&run).unwrap();
    // What comes after is written beside it.
    Plan::new("r", 2).make().store(&mut store);
    assert_eq!(store.verify_head(ITS_HEAD).unwrap().faults, []);
}

#[test]
fn every_earlier_schema_is_migrated() {
    let mut files: Vec<_> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let newest = files.len();
    for version in 0..newest {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("db");
        let connection = Connection::open(&path).unwrap();
        for file in &files[..version] {
            let sql = std::fs::read_to_string(file).unwrap();
            connection.execute_batch(&sql).unwrap();
        }
        if version > 0 {
            connection
                .pragma_update(None, "application_id", 0x5254_4150)
                .unwrap();
        }
        connection
            .pragma_update(None, "user_version", i64::try_from(version).unwrap())
            .unwrap();
        drop(connection);
        let mut store = Store::open(&path, &Options::default()).unwrap();
        Plan::new("r", 2).make().store(&mut store);
        assert!(store.verify().unwrap().is_intact());
        let connection = Connection::open(&path).unwrap();
        let found: usize = connection
            .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
            .map(|found| usize::try_from(found).unwrap())
            .unwrap();
        assert_eq!(found, newest);
    }
}
