//! Runs that come from another store, whole or in another form.

use runtape_store::{Import, LeftOut, Store, StoreError, Trust};
use runtape_tests::runs::{Plan, run_id};
use serde_json::json;

use crate::Backend;

pub(crate) fn a_run_of_another_store_is_copied_once<B: Backend>() {
    let homes = (B::fresh(), B::fresh());
    let (mut from, mut to) = (homes.0.open(), homes.1.open());
    let made = Plan::new("r", 6).make();
    made.store(&mut from);
    assert!(!to.has_copy(&from, made.id()).unwrap());
    let begin = to.begin_of_copy(&from, made.id(), 9).unwrap().unwrap();
    assert_eq!(begin.run_id, *made.id());
    assert_eq!(begin.started_at, made.begin.started_at);
    assert!(!to.has_run(made.id()).unwrap());

    assert_eq!(to.copy_run(&from, made.id(), 9).unwrap(), Import::Stored);
    assert_eq!(to.copy_run(&from, made.id(), 9).unwrap(), Import::Known);
    assert!(to.has_copy(&from, made.id()).unwrap());
    assert!(to.begin_of_copy(&from, made.id(), 9).unwrap().is_none());
    assert_eq!(to.begin_of(made.id()).unwrap().context, begin.context);
    assert_eq!(to.records(made.id(), 0, usize::MAX).unwrap(), made.records);
    assert_eq!(to.tape(made.id()).unwrap(), made.chunks);
    assert!(to.origin(made.id()).unwrap().is_some());
    assert_eq!(to.verify().unwrap().faults, []);

    // What is no run there, or is not sealed, is not copied, and other content is not overwritten.
    let open = Plan::new("open", 2).make();
    from.begin_run(&open.begin).unwrap();
    for run in [run_id("nobody"), open.id().clone()] {
        assert!(to.copy_run(&from, &run, 9).is_err(), "{run}");
        assert!(!to.has_run(&run).unwrap());
    }
    let other = Plan::new("same", 3).make();
    other.store(&mut from);
    Plan::new("same", 4).make().store(&mut to);
    let refused = to.copy_run(&from, other.id(), 9);
    assert!(matches!(refused, Err(StoreError::Conflict { .. })));
    let refused = to.begin_of_copy(&from, other.id(), 9);
    assert!(matches!(refused, Err(StoreError::Conflict { .. })));
}

pub(crate) fn a_run_of_a_bundle_is_left_to_one_who_writes_it_in_another_form<B: Backend>() {
    let homes = (B::fresh(), B::fresh());
    let (mut from, mut to) = (homes.0.open(), homes.1.open());
    let (whole, other) = (Plan::new("a", 3).make(), Plan::new("b", 4).make());
    whole.store(&mut from);
    other.store(&mut from);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bundle");
    let runs = [whole.id().clone(), other.id().clone()];
    from.write_bundle(&runs, &path).unwrap();
    let bundle = Store::open_bundle(&path).unwrap();
    let leave_other = |_: &Store, bundle: &Store| {
        assert!(bundle.has_run(other.id())?);
        Ok(LeftOut {
            rewritten: vec![other.id().clone()],
            ..LeftOut::default()
        })
    };
    let imported = to
        .import_bundle_but(&bundle, Trust::Verified, 9, leave_other)
        .unwrap();
    assert_eq!(imported.runs, [(whole.id().clone(), Import::Stored)]);
    let [begin] = imported.left_out.as_slice() else {
        panic!("{:?}", imported.left_out);
    };
    assert_eq!(begin.run_id, *other.id());
    assert!(to.has_run(whole.id()).unwrap() && !to.has_run(other.id()).unwrap());

    to.begin_run(begin).unwrap();
    to.append(other.id(), &other.records, &other.chunks)
        .unwrap();
    to.finish_run(other.id(), &json!({"code": 0}), 1).unwrap();
    let mut again = to
        .import_bundle_but(&bundle, Trust::Verified, 9, leave_other)
        .unwrap();
    // Runs come in the order of their seals, which may be in several chains.
    again.runs.sort_by(|one, other| one.0.cmp(&other.0));
    let known = runs.map(|run| (run, Import::Known));
    assert_eq!(
        (again.runs.as_slice(), again.left_out.len()),
        (&known[..], 0)
    );
    assert_eq!(to.verify().unwrap().faults, []);
}
