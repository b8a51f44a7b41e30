//! Full disks, files that may not be written, broken files: a clear error, no panic, and nothing
//! acknowledged is lost.

use std::fs;
use std::io::{Seek, SeekFrom, Write};

use runtape_store::{DatabaseFault, Options, PreparedRun, RunFilter, Store, StoreError};

use runtape_tests::runs::{Made, Plan};

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let options = Options::default().with_max_bytes(600_000);
    let mut store = Store::open(&path, &options).unwrap();
    let made = Plan::new("r", 3000).make();
    store.begin_run(&made.begin).unwrap();
    let mut acknowledged = 0;
    let error = loop {
        let next = (acknowledged + 50).min(made.records.len());
        match store.append(made.id(), &made.records[acknowledged..next], &[]) {
            Ok(()) => acknowledged = next,
            Err(error) => break error,
        }
        assert!(
            acknowledged < made.records.len(),
            "the limit was not reached"
        );
    };
    let full = matches!(
        error,
        StoreError::Database {
            fault: DatabaseFault::Full,
            ..
        }
    );
    assert!(full, "{error}");
    assert!(error.to_string().contains("no space left"), "{error}");
    assert!(acknowledged > 0);
    let stored = store.records(made.id(), 0, usize::MAX).unwrap();
    assert_eq!(stored, made.records[..acknowledged]);
    assert!(store.verify().unwrap().is_intact());
    drop(store);
    // With room again, it goes on where it stopped.
    let mut store = Store::open(&path, &Options::default()).unwrap();
    store.resume_run(made.id()).unwrap();
    store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    store
        .finish_run(made.id(), &serde_json::json!(0), 0)
        .unwrap();
    assert!(store.verify().unwrap().is_intact());
}

#[test]
fn a_batch_in_which_a_write_failed_is_never_committed() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::default().with_max_bytes(600_000);
    let mut store = Store::open(directory.path().join("db"), &options).unwrap();
    let exit = serde_json::json!(0);
    let prepare = |made: &Made| {
        let chunks = made.chunks.iter();
        let output = chunks.map(|chunk| (chunk.stream, chunk.received_at, chunk.bytes.as_slice()));
        let run = PreparedRun::new(&made.begin, &made.records, &exit).unwrap();
        run.with_output(output)
    };
    let (short, long) = (Plan::new("short", 2).make(), Plan::new("long", 9000).make());
    let batch = store.batch(|store| {
        store.put_run(prepare(&short), 1)?;
        let full = store.put_run(prepare(&long), 1);
        assert!(full.is_err(), "the limit was not reached");
        // A caller who goes on all the same does not get half of it stored.
        Ok(())
    });
    assert!(matches!(batch, Err(StoreError::Spoiled)), "{batch:?}");
    for made in [&short, &long] {
        let found = store.run(made.id());
        assert!(matches!(found, Err(StoreError::UnknownRun { .. })));
    }
    store.put_run(prepare(&short), 1).unwrap();
    assert_eq!(store.verify().unwrap().faults, []);
}

#[test]
fn a_database_that_may_only_be_read_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let made = Plan::new("r", 3).make();
    made.store(&mut Store::open(&path, &Options::default()).unwrap());
    let mut store = Store::open(&path, &Options::read_only()).unwrap();
    assert_eq!(
        store.records(made.id(), 0, usize::MAX).unwrap(),
        made.records
    );
    assert!(store.verify().unwrap().is_intact());
    let other = Plan::new("s", 1).make();
    let error = store.begin_run(&other.begin).unwrap_err();
    assert!(error.to_string().contains("may not be written"), "{error}");
    let missing = directory.path().join("missing");
    let error = Store::open(&missing, &Options::read_only()).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
    assert!(!missing.exists());
}

#[test]
fn a_broken_page_is_a_clear_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let made = Plan::new("r", 300).make();
    made.store(&mut Store::open(&path, &Options::default()).unwrap());
    let length = fs::metadata(&path).unwrap().len();
    for page in 1..length / 4096 {
        let copy = directory.path().join("copy");
        fs::copy(&path, &copy).unwrap();
        let mut file = fs::OpenOptions::new().write(true).open(&copy).unwrap();
        file.seek(SeekFrom::Start(page * 4096)).unwrap();
        file.write_all(&[0xa5; 4096]).unwrap();
        drop(file);
        // Whatever fails, it fails with an error; and what is read is what was written.
        if let Ok(store) = Store::open(&copy, &Options::default()) {
            if let Ok(records) = store.records(made.id(), 0, usize::MAX) {
                assert_eq!(records, made.records, "page {page}");
            }
            let _ = store.tape(made.id());
            let _ = store.runs(&RunFilter::default(), None, 5);
            match store.verify() {
                Ok(report) => assert!(!report.is_intact(), "page {page}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        fs::remove_file(&copy).unwrap();
        let _ = fs::remove_file(directory.path().join("copy-wal"));
        let _ = fs::remove_file(directory.path().join("copy-shm"));
    }
}

#[test]
fn no_database_at_all_is_a_clear_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("text");
    fs::write(
        &path,
        "just some text, and long enough to be no empty file".repeat(100),
    )
    .unwrap();
    let error = Store::open(&path, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("this is no database"), "{error}");
    let error = Store::open(directory.path(), &Options::default()).unwrap_err();
    assert!(!error.to_string().is_empty());
}

#[test]
fn a_cut_log_loses_only_what_was_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    let made = Plan::new("r", 60).make();
    store.begin_run(&made.begin).unwrap();
    for records in made.records.chunks(20) {
        store.append(made.id(), records, &[]).unwrap();
    }
    let log = fs::read(directory.path().join("db-wal")).unwrap();
    assert!(log.len() > 10_000);
    for part in 0..20 {
        let copy = directory.path().join(format!("copy{part}"));
        fs::copy(&path, &copy).unwrap();
        let name = directory.path().join(format!("copy{part}-wal"));
        fs::write(name, &log[..log.len() * part / 20]).unwrap();
        let store = Store::open(&copy, &Options::default()).unwrap();
        // Batches are there whole or not at all, in order.
        if let Ok(records) = store.records(made.id(), 0, usize::MAX) {
            assert_eq!(records, made.records[..records.len()]);
            assert!(records.len() % 20 == 0 || records.len() == made.records.len());
        }
        assert!(store.verify().unwrap().is_intact());
    }
}

#[cfg(unix)]
#[test]
fn the_file_is_its_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    Plan::new("r", 1).make().store(&mut store);
    for name in ["db", "db-wal", "db-shm"] {
        let mode = fs::metadata(directory.path().join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
