//! What only a database file has: pages that are given back, copies, locks beside it.

use runtape_store::{Options, Store, StoreError};
use runtape_tests::runs::{Plan, job_id, run_id};

#[test]
fn what_is_deleted_gives_its_pages_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    for name in ["a", "b", "c", "d"] {
        let job = if name == "d" { "other" } else { "job" }.to_owned();
        let plan = Plan {
            job,
            ..Plan::new(name, 200)
        };
        plan.make().store(&mut store);
    }
    store.complete_search().unwrap();
    let full = store.stats().unwrap();
    assert_eq!(store.delete_job(&job_id("job"), 12).unwrap(), 3);
    assert!(store.compact().unwrap().is_complete);
    let small = store.stats().unwrap();
    assert!(small.database_bytes < full.database_bytes / 2);
    assert_eq!((small.free_bytes, small.jobs, small.runs), (0, 1, 1));
    assert_eq!(store.verify().unwrap().faults, []);
    assert_eq!(store.size().unwrap(), small.database_bytes);
    assert_eq!(store.file_fault().unwrap(), None);
}

#[test]
fn nothing_is_left_of_the_locks_of_deleted_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    for name in ["a", "b"] {
        Plan::new(name, 2).make().store(&mut store);
        store.resume_run(&run_id(name)).unwrap();
        store.release_run(&run_id(name));
        store.delete_run(&run_id(name), 0).unwrap();
    }
    let locks = std::fs::read_dir(path.with_extension("locks")).unwrap();
    assert_eq!(locks.count(), 0);
}

#[test]
fn a_backup_is_a_whole_database() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path().join("db"), &Options::default()).unwrap();
    let made = Plan::new("a", 50).make();
    made.store(&mut store);
    let open = Plan::new("b", 5).make();
    store.begin_run(&open.begin).unwrap();
    store
        .append(open.id(), &open.records[..9], &open.chunks[..2])
        .unwrap();
    let copy = directory.path().join("copy");
    store.backup(&copy).unwrap();
    assert!(matches!(store.backup(&copy), Err(StoreError::File { .. })));
    store
        .append(open.id(), &open.records, &open.chunks)
        .unwrap();
    let copied = Store::open(&copy, &Options::default()).unwrap();
    assert_eq!(
        copied.records(made.id(), 0, usize::MAX).unwrap(),
        made.records
    );
    assert_eq!(
        copied.records(open.id(), 0, usize::MAX).unwrap(),
        open.records[..9]
    );
    assert!(copied.verify().unwrap().is_intact());
    assert_eq!(copied.head().unwrap(), store.head().unwrap());
}

#[test]
fn bytes_per_step_stay_flat() {
    let mut per_step = Vec::new();
    for steps in [100, 1000, 10_000] {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(directory.path().join("db"), &Options::default()).unwrap();
        let made = Plan::new("r", steps).make();
        store.begin_run(&made.begin).unwrap();
        made.append_live(&mut store, 400);
        store
            .finish_run(made.id(), &serde_json::json!(0), 1)
            .unwrap();
        assert!(store.compact().unwrap().is_complete);
        let stats = store.stats().unwrap();
        // An empty database has its tables.
        let bytes = stats.database_bytes - stats.search_bytes - (90 << 10);
        per_step.push(bytes / steps);
        println!(
            "{steps} steps: {} bytes a step, {:.2} of {} bytes ingested",
            bytes / steps,
            bytes as f64 / stats.tape_bytes as f64,
            stats.tape_bytes
        );
        for table in &stats.tables {
            println!(
                "    {:24} {:8.1}",
                table.name,
                table.bytes as f64 / steps as f64
            );
        }
    }
    assert!(per_step[2] <= per_step[0] * 11 / 10, "{per_step:?}");
    assert!(per_step[2] <= per_step[1] * 11 / 10, "{per_step:?}");
}
