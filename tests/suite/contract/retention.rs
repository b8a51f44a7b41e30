//! Deleting, dropping tapes, compacting, copying.

use crate::backend::{Options, RemovalReason, RunFilter, Store, StoreError};

use crate::backend;
use crate::synthetic::{Plan, job_id, run_id};

#[test]
fn deleting_leaves_tombstones_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    for name in ["a", "b", "c", "d"] {
        let mut plan = Plan::new(name, 200);
        plan.job = if name == "d" { "other" } else { "job" }.to_owned();
        plan.make().store(&mut store);
    }
    store.complete_search().unwrap();
    let full = store.stats().unwrap();
    store.delete_run(&run_id("a"), 11).unwrap();
    assert!(matches!(
        store.run(&run_id("a")),
        Err(StoreError::UnknownRun { .. })
    ));
    assert_eq!(store.delete_job(&job_id("job"), 12).unwrap(), 2);
    assert_eq!(store.delete_job(&job_id("job"), 13).unwrap(), 0);
    let removals = store.removals().unwrap();
    assert_eq!(removals.len(), 3);
    assert!(
        removals
            .iter()
            .all(|removal| removal.reason == RemovalReason::Deleted)
    );
    let left = store.runs(&RunFilter::default(), None, 10).unwrap();
    assert_eq!(left.items.len(), 1);
    store.compact().unwrap();
    let small = store.stats().unwrap();
    assert!(small.database_bytes < full.database_bytes / 2);
    assert_eq!((small.free_bytes, small.jobs, small.runs), (0, 1, 1));
    let report = store.verify().unwrap();
    assert_eq!(report.faults, []);
    assert_eq!(report.removals, removals);
    // The id is free again, and its new seal comes after.
    Plan::new("a", 1).make().store(&mut store);
    assert!(store.verify().unwrap().is_intact());
}

#[test]
fn tapes_are_dropped_by_date_and_records_stay() {
    let mut store = backend::fresh();
    let old = Plan::new("old", 10).make();
    let new = Plan {
        at: 1_800_000_000_000,
        ..Plan::new("new", 10)
    }
    .make();
    old.store(&mut store);
    new.store(&mut store);
    let bytes: u64 = old
        .chunks
        .iter()
        .map(|chunk| chunk.bytes.len() as u64)
        .sum();
    let dropped = store.drop_tapes_before(1_795_000_000_000, 5).unwrap();
    assert_eq!(dropped, (1, bytes));
    assert_eq!(
        store.drop_tapes_before(1_795_000_000_000, 6).unwrap(),
        (0, 0)
    );
    assert_eq!(store.tape(old.id()).unwrap(), []);
    assert_eq!(store.tape_of_record(old.id(), 5).unwrap(), Some(Vec::new()));
    assert_eq!(store.records(old.id(), 0, usize::MAX).unwrap(), old.records);
    assert_eq!(store.tape(new.id()).unwrap(), new.chunks);
    let report = store.verify().unwrap();
    assert_eq!(report.faults, []);
    assert_eq!(report.removals[0].reason, RemovalReason::TapeDropped);
}

#[test]
fn what_a_living_writer_writes_is_not_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut writer = Store::open(&path, &Options::default()).unwrap();
    let made = Plan::new("a", 1).make();
    writer.begin_run(&made.begin).unwrap();
    let mut other = Store::open(&path, &Options::default()).unwrap();
    assert!(matches!(
        other.delete_run(made.id(), 0),
        Err(StoreError::Locked { .. })
    ));
    assert!(matches!(
        other.begin_run(&made.begin),
        Err(StoreError::Locked { .. })
    ));
    assert!(other.open_runs().unwrap().is_empty());
    drop(writer);
    assert_eq!(other.open_runs().unwrap().len(), 1);
    other.delete_run(made.id(), 0).unwrap();
    assert!(other.verify().unwrap().is_intact());
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
        store.compact().unwrap();
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
