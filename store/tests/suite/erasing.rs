//! What was deleted is gone from the files, byte by byte.

use std::path::Path;

use runtape_store::{Erased, Options, RunFilter, Store};
use runtape_tests::runs::{Plan, run_id};

use crate::planted::{Planted, found_in};

fn open(directory: &Path) -> Store {
    Store::open(directory.join("db"), &Options::default()).unwrap()
}

/// Stores the planted run between others, so that it shares pages with them.
fn store_among_others(store: &mut Store, planted: &[&Planted]) {
    Plan::new("before", 30).make().store_live(store, 9);
    for planted in planted {
        planted.store(store);
        Plan::new(&format!("after-{}", planted.made.id()), 30)
            .make()
            .store_live(store, 9);
    }
    store.complete_search().unwrap();
}

const COMPLETE: Erased = Erased { is_complete: true };

#[test]
fn nothing_of_a_deleted_run_is_left_in_the_files() {
    let directory = tempfile::tempdir().unwrap();
    let files = directory.path();
    let mut store = open(files);
    let (first, second) = (Planted::new("first", 1), Planted::new("second", 2));
    store_among_others(&mut store, &[&first, &second]);
    let other = store.run(&run_id("before")).unwrap();
    // Others have the database open, and are idle.
    let reader = Store::open(files.join("db"), &Options::read_only()).unwrap();
    reader.run(first.made.id()).unwrap();
    let mut writer = open(files);
    Plan::new("of-another-writer", 3).make().store(&mut writer);

    // The words are there to be found: derived tables and the search index hold most as they are.
    let there = found_in(files, first.words()).len();
    assert!(there > 60, "{there} of {}", first.words().count());
    store.delete_run(first.made.id(), 5).unwrap();
    assert_eq!(store.compact().unwrap(), COMPLETE);
    assert_eq!(found_in(files, first.words()), Vec::<&String>::new());
    assert!(found_in(files, second.words()).len() > 60);

    let job = second.made.begin.job_id.clone();
    assert_eq!(store.delete_job(&job, 6).unwrap(), 1);
    assert_eq!(store.compact().unwrap(), COMPLETE);
    assert_eq!(found_in(files, second.words()), Vec::<&String>::new());

    assert_eq!(store.run(&run_id("before")).unwrap(), other);
    let found = store.search("naively", &RunFilter::default(), None, 10);
    assert_eq!(found.unwrap().items.len(), 4);
    // Only the id is left, in the tombstone.
    let removed: Vec<_> = store.removals().unwrap();
    assert_eq!(removed.len(), 2);
    assert_eq!(removed[0].run_id, *first.made.id());
    assert_eq!(store.verify().unwrap().faults, []);
}

#[test]
fn what_a_replaced_or_dropped_part_held_is_gone_too() {
    let directory = tempfile::tempdir().unwrap();
    let files = directory.path();
    let mut store = open(files);
    let planted = Planted::new("planted", 3);
    let run = planted.made.id();
    store_among_others(&mut store, &[&planted]);
    assert!(found_in(files, &planted.in_records).len() > 60);

    let mut again = Plan::new("planted", 2);
    again.job = planted.made.begin.job_id.to_string();
    let mut again = again.make().records;
    for record in &mut again {
        record.span = None;
    }
    store.replace_records(run, &again, 4).unwrap();
    assert_eq!(store.compact().unwrap(), COMPLETE);
    assert_eq!(found_in(files, &planted.in_records), Vec::<&String>::new());
    assert_eq!(store.tape(run).unwrap(), planted.made.chunks);

    let dropped = store.drop_tapes_before(i64::MAX, 5).unwrap();
    assert_eq!((dropped.tapes, dropped.held.len()), (3, 0));
    assert_eq!(store.compact().unwrap(), COMPLETE);
    assert_eq!(found_in(files, &planted.on_tape), Vec::<&String>::new());

    store.delete_run(run, 6).unwrap();
    assert_eq!(store.compact().unwrap(), COMPLETE);
    assert_eq!(found_in(files, planted.words()), Vec::<&String>::new());
    assert_eq!(store.verify().unwrap().faults, []);
}

#[test]
fn a_log_that_a_reader_holds_is_told_and_emptied_later() {
    let directory = tempfile::tempdir().unwrap();
    let files = directory.path();
    let mut store = open(files);
    let planted = Planted::new("planted", 4);
    store_among_others(&mut store, &[&planted]);
    let reader = Store::open(files.join("db"), &Options::read_only()).unwrap();
    reader
        .each_record(&run_id("before"), 0, |_| {
            store.delete_run(planted.made.id(), 5).unwrap();
            assert_eq!(store.compact().unwrap(), Erased { is_complete: false });
            assert_ne!(found_in(files, planted.words()), Vec::<&String>::new());
            false
        })
        .unwrap();
    assert_eq!(store.compact().unwrap(), COMPLETE);
    assert_eq!(found_in(files, planted.words()), Vec::<&String>::new());
}

#[test]
fn a_name_that_was_erased_is_written_again_by_one_who_remembers_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = open(directory.path());
    let planted = Planted::new("planted", 5);
    planted.store(&mut writer);
    let known = writer.run(planted.made.id()).unwrap();
    let mut other = open(directory.path());
    other.delete_run(planted.made.id(), 5).unwrap();
    assert_eq!(other.compact().unwrap(), COMPLETE);
    planted.store(&mut writer);
    let mut again = writer.run(planted.made.id()).unwrap();
    again.seal = known.seal;
    assert_eq!(again, known);
    assert_eq!(other.verify().unwrap().faults, []);
}
