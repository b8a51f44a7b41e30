//! The search index while `SQLite` merges its parts step by step: nothing was changed then.

use runtape_store::{Options, Store};
use runtape_tests::runs::Plan;
use rusqlite::Connection;

/// Merges as little as can be asked for.
const STEP: &str = "INSERT INTO search (search, rank) VALUES ('merge', 1)";

/// Begins to put all parts together, a little at a time.
const BEGIN: &str = "INSERT INTO search (search, rank) VALUES ('usermerge', 2);
    INSERT INTO search (search, rank) VALUES ('merge', -1)";

#[test]
fn an_index_in_the_middle_of_a_merge_is_intact() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    for number in 0..12 {
        Plan::new(&format!("r{number}"), 60)
            .make()
            .store(&mut store);
        // Each time makes a part of the index.
        store.complete_search().unwrap();
    }
    let other = Connection::open(&path).unwrap();
    other.execute_batch(BEGIN).unwrap();
    // Nobody set it before: it is as it was before anybody looks.
    other
        .execute_batch("DELETE FROM search_config WHERE k = 'usermerge'")
        .unwrap();
    let mut states = 0;
    for _ in 0..16 {
        let report = store.verify().unwrap();
        assert!(report.is_intact(), "{:?}", report.faults);
        let before = pages(&other);
        other.execute_batch(STEP).unwrap();
        states += usize::from(pages(&other) != before);
    }
    assert!(states > 0, "nothing was merged");
}

/// Returns how many pages the index has, and the highest of them.
fn pages(connection: &Connection) -> (i64, i64) {
    let sql = "SELECT count(*), max(id) FROM search_data";
    connection
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
}
