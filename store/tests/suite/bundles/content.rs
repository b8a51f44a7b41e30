//! What a bundle holds.

use runtape_store::{Options, RunFilter, Store};
use rusqlite::Connection;

use super::{answers, bundled, contains, filled};

#[test]
fn a_bundle_holds_its_runs_and_nothing_of_others() {
    let (directory, store) = filled(20);
    store.complete_search().unwrap();
    let path = bundled(&directory, &store, &["chosen"]);
    let bytes = std::fs::read(&path).unwrap();
    assert!(contains(&bytes, "chosen") && contains(&bytes, "session-of-chosen"));
    for number in 0..20 {
        for secret in [
            format!("other{number}"),
            format!("job-of-other{number}"),
            format!("secret-session-{number}"),
        ] {
            assert!(!contains(&bytes, &secret), "{secret}");
        }
    }
    // What is compressed cannot be seen in the bytes: so there is nothing of it.
    let file = Connection::open(&path).unwrap();
    for (table, rows) in [
        ("run", 2),
        ("job", 1),
        ("seal", 1),
        ("seal_before", 1),
        (
            "record_block WHERE place >> 32 NOT IN (SELECT key FROM run)",
            0,
        ),
        (
            "tape_block WHERE place >> 32 NOT IN (SELECT key FROM run)",
            0,
        ),
        ("search_docsize", 0),
        ("search_data WHERE id > 10", 0),
    ] {
        let sql = format!("SELECT count(*) FROM {table}");
        let count: i64 = file.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(count, rows, "{table}");
    }
    let bundle = Store::open(&path, &Options::read_only()).unwrap();
    assert_eq!(answers(&bundle, "chosen"), answers(&store, "chosen"));
    let found = bundle.search("naïvely", &RunFilter::default(), None, 10);
    assert_eq!(found.unwrap().items.len(), 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn the_size_of_a_bundle_is_that_of_its_runs() {
    let sizes = [0, 300].map(|others| {
        let (directory, store) = filled(others);
        let path = bundled(&directory, &store, &["chosen"]);
        std::fs::metadata(path).unwrap().len()
    });
    assert!(sizes[0].abs_diff(sizes[1]) <= 4096, "{sizes:?}");
}
