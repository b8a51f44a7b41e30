//! Deleting, and dropping tapes.

use std::sync::atomic::{AtomicU64, Ordering};

use runtape_store::{DroppedTapes, RemovalReason, RunFilter, StoreError};
use runtape_tests::runs::{Plan, job_id, run_id};

use crate::Backend;

pub(crate) fn deleting_leaves_tombstones_and_nothing_else<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    for name in ["a", "b", "c", "d"] {
        let job = if name == "d" { "other" } else { "job" }.to_owned();
        let plan = Plan {
            job,
            ..Plan::new(name, 200)
        };
        plan.make().store(&mut store);
    }
    store.complete_search().unwrap();
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
    let stats = store.stats().unwrap();
    assert_eq!((stats.jobs, stats.runs), (1, 1));
    let report = store.verify().unwrap();
    assert_eq!(report.faults, []);
    assert_eq!(report.removals, removals);
    // The id is free again, and its new seal comes after.
    Plan::new("a", 1).make().store(&mut store);
    assert!(store.verify().unwrap().is_intact());
}

pub(crate) fn tapes_are_dropped_by_date_and_records_stay<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
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
    let expected = DroppedTapes {
        tapes: 1,
        bytes,
        held: Vec::new(),
    };
    assert_eq!(dropped, expected);
    let again = store.drop_tapes_before(1_795_000_000_000, 6).unwrap();
    assert_eq!(again, DroppedTapes::default());
    assert_eq!(store.tape(old.id()).unwrap(), []);
    assert_eq!(store.tape_of_record(old.id(), 5).unwrap(), Some(Vec::new()));
    assert_eq!(store.records(old.id(), 0, usize::MAX).unwrap(), old.records);
    assert_eq!(store.tape(new.id()).unwrap(), new.chunks);
    let report = store.verify().unwrap();
    assert_eq!(report.faults, []);
    assert_eq!(report.removals[0].reason, RemovalReason::TapeDropped);
}

pub(crate) fn tapes_are_dropped_by_name_and_runs_deleted_for_a_reason<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let (made, other) = (Plan::new("a", 4).make(), Plan::new("b", 2).make());
    made.store(&mut store);
    other.store(&mut store);
    let bytes: usize = made.chunks.iter().map(|chunk| chunk.bytes.len()).sum();
    let tapes = store.tapes_before(i64::MAX).unwrap();
    assert_eq!(tapes.len(), 2);
    assert!(tapes.contains(&(made.id().clone(), bytes as u64)));
    assert_eq!(store.tapes_before(0).unwrap(), []);
    let dropped = store.drop_tapes(&[made.id().clone()], 5).unwrap();
    assert_eq!((dropped.tapes, dropped.bytes), (1, bytes as u64));
    assert!(store.was_tape_dropped(made.id()).unwrap());
    assert!(!store.was_tape_dropped(other.id()).unwrap());
    let left: Vec<_> = store.tapes_before(i64::MAX).unwrap();
    assert_eq!((left.len(), &left[0].0), (1, other.id()));

    let reason = RemovalReason::Joined;
    store.delete_as(other.id(), reason.clone(), 6).unwrap();
    assert!(!store.has_run(other.id()).unwrap());
    let removals = store.removals().unwrap();
    let removed = removals
        .iter()
        .find(|removal| removal.run_id == *other.id());
    assert_eq!(removed.unwrap().reason, reason);
    assert_eq!(store.verify().unwrap().faults, []);
}

pub(crate) fn what_a_living_writer_writes_is_not_deleted<B: Backend>() {
    let home = B::fresh();
    let mut writer = home.open();
    let made = Plan::new("a", 1).make();
    writer.begin_run(&made.begin).unwrap();
    let mut other = home.open();
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

pub(crate) fn what_somebody_works_on_is_neither_deleted_nor_stripped_of_its_tape<B: Backend>() {
    let home = B::fresh();
    let mut worker = home.open();
    for name in ["a", "b"] {
        let plan = Plan {
            job: "job".to_owned(),
            ..Plan::new(name, 2)
        };
        plan.make().store(&mut worker);
    }
    // It has ended, but somebody has it in hand, as one who makes its records again would.
    worker.resume_run(&run_id("b")).unwrap();
    let mut other = home.open();
    for store in [&mut other, &mut worker] {
        let deleted = store.delete_run(&run_id("b"), 0);
        assert!(matches!(deleted, Err(StoreError::Locked { .. })));
        let deleted = store.delete_job(&job_id("job"), 0);
        assert!(matches!(deleted, Err(StoreError::Locked { .. })));
    }
    assert_eq!(other.tree(&run_id("a")).unwrap().len(), 1);
    let dropped = other.drop_tapes_before(i64::MAX, 0).unwrap();
    assert_eq!((dropped.tapes, dropped.held), (1, vec![run_id("b")]));
    assert_ne!(other.tape(&run_id("b")).unwrap(), []);
    worker.release_run(&run_id("b"));
    assert_eq!(other.delete_job(&job_id("job"), 0).unwrap(), 2);
    assert!(other.verify().unwrap().is_intact());
}

pub(crate) fn a_writer_that_opens_a_run_while_it_is_deleted_has_a_whole_run_or_none<B: Backend>() {
    let home = B::fresh();
    let made = Plan::new("a", 3).make();
    let mut deleter = home.open();
    // The scheduler decides who comes first, so both go on until each has.
    let removed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut store = home.open();
            let (mut done, mut held) = (0, 0);
            while done < 60 || removed.load(Ordering::Relaxed) == 0 {
                assert!(done < 20_000, "the run was never removed");
                match store.begin_run(&made.begin) {
                    Ok(()) => {}
                    Err(StoreError::Locked { .. }) => {
                        held += 1;
                        assert!(held < 100_000, "the lock was never given back");
                        continue;
                    }
                    // It ended, and then it was removed before it could be compared.
                    Err(StoreError::UnknownRun { .. }) => continue,
                    Err(error) => panic!("{error}"),
                }
                let run = made.id();
                // From here on nobody may delete it under our hands.
                store.append(run, &made.records[..9], &[]).unwrap();
                store.append(run, &made.records, &made.chunks).unwrap();
                store.finish_run(run, &serde_json::json!(0), 1).unwrap();
                done += 1;
                std::thread::yield_now();
            }
        });
        while !writer.is_finished() {
            match deleter.delete_run(made.id(), 1) {
                Ok(()) => drop(removed.fetch_add(1, Ordering::Relaxed)),
                Err(StoreError::Locked { .. } | StoreError::UnknownRun { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        writer.join().unwrap();
    });
    let report = deleter.verify().unwrap();
    assert_eq!(report.faults, []);
    assert!(!report.removals.is_empty());
}
