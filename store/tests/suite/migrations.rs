//! Databases of earlier versions are migrated, those of later ones are left alone.

use runtape_store::{Options, Store, StoreError};
use rusqlite::Connection;

use crate::synthetic::Plan;

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
