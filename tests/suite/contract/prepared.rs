//! A run that is written at once is the run that would have been written as it went.

use runtape_core::Stream;
use runtape_store::{CallFilter, PreparedRun, SealName, Store, StoreError};

use runtape_tests::runs::{Made, Plan, child, run_id};
use serde_json::{Value, json};

use crate::Backend;

fn prepare(made: &Made, exit: &Value) -> PreparedRun {
    let chunks = made.chunks.iter();
    let output = chunks.map(|chunk| (chunk.stream, chunk.received_at, chunk.bytes.as_slice()));
    let run = PreparedRun::new(&made.begin, &made.records, exit).unwrap();
    run.with_output(output)
}

fn put(store: &mut Store, made: &Made) -> SealName {
    store
        .put_run(prepare(made, &json!({"code": 0})), 1)
        .unwrap()
}

/// A run of some steps with a child, whose records come in between.
fn tree(name: &str, steps: u64) -> Made {
    let mut made = Plan::new(name, steps).make();
    let records = child(&made, &format!("{name}-child"));
    let middle = made.records.len() / 2;
    made.records.splice(middle..middle, records);
    made
}

pub(crate) fn all_that_can_be_asked_is_the_same<B: Backend>() {
    for steps in [0, 1, 3, 40, 300] {
        let made = tree("r", steps);
        let homes = (B::fresh(), B::fresh());
        let (mut at_once, mut live) = (homes.0.open(), homes.1.open());
        put(&mut at_once, &made);
        made.store_live(&mut live, 7);
        for id in [made.id().clone(), run_id("r-child")] {
            let all = |store: &Store| {
                (
                    store.records(&id, 0, usize::MAX).unwrap(),
                    store.run(&id).unwrap(),
                    store.steps(&id, 0, usize::MAX).unwrap(),
                    store.tape(&id).unwrap(),
                )
            };
            assert_eq!(all(&at_once), all(&live), "{steps} steps, {id}");
        }
        let calls = |store: &Store| {
            store
                .tool_calls(&CallFilter::default(), usize::MAX)
                .unwrap()
        };
        assert_eq!(calls(&at_once), calls(&live));
        assert_eq!(
            at_once.exit(made.id()).unwrap(),
            live.exit(made.id()).unwrap()
        );
        let report = at_once.verify().unwrap();
        assert_eq!(report.faults, []);
        assert_eq!(report.records, made.records.len() as u64);
    }
}

pub(crate) fn the_same_again_changes_nothing_and_other_content_is_refused<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = tree("r", 5);
    let seal = put(&mut store, &made);
    let head = store.verify().unwrap().head;
    assert_eq!(put(&mut store, &made), seal);
    assert_eq!(store.verify().unwrap().head, head);
    let refused = store.put_run(prepare(&made, &json!({"code": 1})), 1);
    assert!(matches!(refused, Err(StoreError::Conflict { run, .. }) if run == *made.id()));
    let mut other = made.begin.clone();
    other.run_id = run_id("other");
    // A child's id that another tree has taken.
    let mut records = Plan::new("other", 1).make().records;
    records.splice(1..1, child(&made, "r-child"));
    let other = Made {
        begin: other,
        records,
        chunks: Vec::new(),
    };
    let refused = PreparedRun::new(&other.begin, &other.records, &Value::Null)
        .and_then(|run| store.put_run(run, 1));
    assert!(refused.is_err());
    assert!(matches!(
        store.run(&run_id("other")),
        Err(StoreError::UnknownRun { .. })
    ));
    assert_eq!(store.verify().unwrap().faults, []);
}

/// Runs of one session and of several, one of them there already, one twice, one with other content.
pub(crate) fn many_at_once_are_what_they_are_one_by_one<B: Backend>() {
    let of_session = |name: &str, session: &str| {
        let plan = Plan {
            session: Some(session.to_owned()),
            ..Plan::new(name, 2)
        };
        plan.make()
    };
    let runs = [
        tree("known", 1),
        of_session("a", "one"),
        of_session("b", "two"),
        tree("c", 3),
        of_session("d", "one"),
        tree("c", 3),
        tree("taken", 1),
        of_session("e", "three"),
    ];
    let homes = (B::fresh(), B::fresh());
    let (mut together, mut single) = (homes.0.open(), homes.1.open());
    for store in [&mut together, &mut single] {
        put(store, &runs[0]);
        put(store, &of_session("before", "two"));
        let taken = prepare(&runs[6], &json!({"code": 1}));
        store.put_run(taken, 1).unwrap();
    }
    let prepared = || runs.iter().map(|made| prepare(made, &json!({"code": 0})));
    let expected: Vec<_> = prepared().map(|run| single.put_run(run, 1)).collect();
    let written = together.put_runs(prepared().collect(), 1).unwrap();
    let outcome = |sealed: &[Result<SealName, StoreError>]| -> Vec<_> {
        sealed
            .iter()
            .map(|seal| seal.as_ref().ok().copied())
            .collect()
    };
    assert_eq!(outcome(&written), outcome(&expected));
    assert!(matches!(&written[6], Err(StoreError::Conflict { run, .. }) if run == runs[6].id()));
    assert_eq!(together.put_runs(Vec::new(), 1).unwrap().len(), 0);

    let mut ids: Vec<_> = runs.iter().map(|made| made.id().clone()).collect();
    let trees = together.trees(&ids).unwrap();
    for (id, tree) in ids.iter().zip(&trees) {
        assert_eq!(*tree, together.tree(id).unwrap());
        assert_eq!(*tree, single.tree(id).unwrap());
    }
    let usage = |store: &Store| store.usage_daily().unwrap();
    assert_eq!(usage(&together), usage(&single));
    for mut begin in together.begins_of(&ids).unwrap() {
        let one = together.begin_of(&begin.run_id).unwrap();
        assert_eq!(
            (begin.job_id, begin.context.take()),
            (one.job_id, one.context.clone())
        );
    }
    let mut found = together
        .roots_of_sessions(&["two", "three", "none"])
        .unwrap();
    found.sort();
    let named = |session: &str, run: &str| (session.to_owned(), run_id(run));
    let expected = [
        named("three", "e"),
        named("two", "b"),
        named("two", "before"),
    ];
    assert_eq!(found, expected);
    together
        .begin_run(&Plan::new("open", 1).make().begin)
        .unwrap();
    ids.extend([run_id("open"), run_id("none"), run_id("c-child")]);
    let sealed = together.sealed_among(&ids).unwrap();
    assert_eq!(sealed.len(), 8);
    assert!(!sealed.contains(&run_id("open")));
    assert!(together.trees(&[run_id("none")]).is_err());
    for store in [&together, &single] {
        assert_eq!(store.verify().unwrap().faults, []);
    }
}

pub(crate) fn a_run_that_is_not_whole_is_not_prepared<B: Backend>() {
    let made = Plan::new("r", 3).make();
    let prepare = |records: &[_]| PreparedRun::new(&made.begin, records, &Value::Null).map(drop);
    let count = made.records.len();
    assert!(matches!(
        prepare(&made.records[..count - 1]),
        Err(StoreError::NotEnded { .. })
    ));
    assert!(matches!(prepare(&[]), Err(StoreError::NotEnded { .. })));
    let mut gap = made.records.clone();
    gap.remove(2);
    assert!(matches!(
        prepare(&gap),
        Err(StoreError::Gap {
            seq: 3,
            expected: 2,
            ..
        })
    ));
    assert!(prepare(&made.records[1..]).is_err());
}

pub(crate) fn a_failed_batch_leaves_none_of_its_runs<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let (one, two) = (Plan::new("one", 2).make(), Plan::new("two", 2).make());
    put(&mut store, &one);
    let failed = store.batch(|store| {
        put(store, &two);
        store.put_run(prepare(&one, &json!({"code": 9})), 1)
    });
    assert!(matches!(failed, Err(StoreError::Conflict { .. })));
    assert!(matches!(
        store.run(two.id()),
        Err(StoreError::UnknownRun { .. })
    ));
    put(&mut store, &two);
    assert_eq!(store.verify().unwrap().faults, []);
    assert!(
        store
            .tape(two.id())
            .unwrap()
            .iter()
            .any(|chunk| chunk.stream == Stream::Stdout)
    );
}
