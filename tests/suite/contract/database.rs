//! What a store says of the database it is in, and what it can do with all of it.

use runtape_store::{Options, RunFilter, Store, StoreError};
use runtape_tests::runs::{Plan, run_id};

use crate::Backend;

pub(crate) fn a_database_says_what_it_is<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    Plan::new("r", 3).make().store(&mut store);
    let reader = home.open_to_read();
    for store in [&store, &reader] {
        assert!(!store.name().is_empty());
        assert!(store.size().unwrap() > 0);
        assert_eq!(store.file_fault().unwrap(), None);
        // It is in a file or on a server, and every method is of the same opinion.
        let is_server = store.is_server();
        assert_eq!(store.path().is_none(), is_server);
        assert_eq!(store.server_place().is_some(), is_server);
        let status = store.server_status(&|| 0).unwrap();
        assert_eq!(status.is_some(), is_server);
        if let Some(path) = store.path() {
            Store::check_path(path).unwrap();
        }
    }
    assert_eq!(store.name(), reader.name());
    assert_eq!(store.database_id().unwrap(), reader.database_id().unwrap());
    let directory = tempfile::tempdir().unwrap();
    assert!(Store::check_path(directory.path()).is_err());
}

pub(crate) fn a_copy_of_a_file_is_the_same_database<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 3).make();
    made.store(&mut store);
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("copy");
    let copied = store.backup(&target);
    if store.is_server() {
        assert!(matches!(copied, Err(StoreError::OnlyFile { .. })));
        return;
    }
    copied.unwrap();
    let copy = Store::open(&target, &Options::read_only()).unwrap();
    assert_eq!(copy.records(made.id(), 0, 99).unwrap(), made.records);
    assert_eq!(copy.head().unwrap(), store.head().unwrap());
    assert!(store.backup(&target).is_err(), "nothing is overwritten");
}

pub(crate) fn erasing_what_was_deleted_changes_nothing_else<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let left = Plan::new("left", 5).make();
    left.store(&mut store);
    Plan::new("gone", 50).make().store(&mut store);
    store.delete_run(&run_id("gone"), 1).unwrap();
    let removals = store.removals().unwrap();
    assert!(store.compact().unwrap().is_complete);
    assert_eq!(store.records(left.id(), 0, 99).unwrap(), left.records);
    assert_eq!(store.tape(left.id()).unwrap(), left.chunks);
    assert_eq!(store.removals().unwrap(), removals);
    let runs = store.runs(&RunFilter::default(), None, 10).unwrap();
    assert_eq!(runs.items.len(), 1);
    assert_eq!(store.verify().unwrap().faults, []);
}

pub(crate) fn a_store_in_memory_is_gone_with_its_handle<B: Backend>() {
    let home = B::fresh();
    let mut memory = Store::open_in_memory().unwrap();
    let made = Plan::new("r", 3).make();
    made.store(&mut memory);
    assert!(memory.has_run(made.id()).unwrap() && !memory.is_server());
    assert_eq!(memory.path(), None);
    // It can give to any other store what it holds.
    let mut store = home.open();
    store.copy_run(&memory, made.id(), 9).unwrap();
    drop(memory);
    assert!(!Store::open_in_memory().unwrap().has_run(made.id()).unwrap());
    assert_eq!(store.records(made.id(), 0, 99).unwrap(), made.records);
}
