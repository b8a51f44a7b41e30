//! What was appended comes back, once, exactly.

use runtape_core::report::RemovalReason;
use runtape_core::{Materializer, Record, RecordKind, Runtime, Span, Stream, materialize};
use runtape_store::{RunFilter, SealName, StoreError};
use runtape_tests::runs::{Made, Plan, child, run_id};
use serde_json::json;

use crate::Backend;

fn bytes(made: &Made) -> Vec<u8> {
    made.chunks
        .iter()
        .flat_map(|chunk| chunk.bytes.clone())
        .collect()
}

pub(crate) fn records_and_tape_come_back_exactly<B: Backend>() {
    for steps in [0, 1, 3, 40, 300] {
        for batch in [1, 3, 1000] {
            let home = B::fresh();
            let mut store = home.open();
            let made = Plan::new("r", steps).make();
            made.store_live(&mut store, batch);
            let stored = store.records(made.id(), 0, usize::MAX).unwrap();
            assert_eq!(stored, made.records);
            assert_eq!(store.tape(made.id()).unwrap(), made.chunks);
            assert_eq!(store.records(made.id(), 3, 2).unwrap(), made.records[3..5]);
            let report = store.verify().unwrap();
            assert_eq!(report.faults, []);
            assert_eq!(report.records, made.records.len() as u64);
        }
    }
}

pub(crate) fn a_checkpoint_is_the_one_that_the_live_records_gave<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 30).make();
    made.store(&mut store);
    let mut live = Materializer::new();
    for record in &made.records {
        live.push(record).unwrap();
        let RecordKind::Checkpoint(head) = &record.kind else {
            continue;
        };
        let expected = live.checkpoint().unwrap();
        let by_id = store.checkpoint(&expected.id).unwrap().unwrap();
        assert_eq!(
            serde_json::to_string(&by_id).unwrap(),
            serde_json::to_string(&expected).unwrap()
        );
        let by_step = store.checkpoint_of(made.id(), Some(head.step)).unwrap();
        assert_eq!(by_step.unwrap(), expected);
        let stored = store.checkpoint_head(made.id(), Some(head.step)).unwrap();
        assert_eq!(stored.unwrap(), **head);
    }
    let latest = store.checkpoint_of(made.id(), None).unwrap();
    assert_eq!(latest, live.checkpoint());
    let mut events = Vec::new();
    store
        .each_event(made.id(), |event| {
            events.push(event);
            true
        })
        .unwrap();
    assert_eq!(events, materialize(&made.records).unwrap());
    let other = runtape_core::CheckpointId::derive(&run_id("other"), 1);
    assert!(store.checkpoint(&other).unwrap().is_none());
}

pub(crate) fn a_record_shows_the_bytes_it_came_from<B: Backend>() {
    for batch in [2, 1000] {
        let home = B::fresh();
        let mut store = home.open();
        let made = Plan::new("r", 20).make();
        made.store_live(&mut store, batch);
        let tape = bytes(&made);
        for record in &made.records {
            let shown = store.tape_of_record(made.id(), record.seq).unwrap();
            let expected = record
                .span
                .map(|span| tape[span.start as usize..span.end as usize].to_vec());
            assert_eq!(shown, expected);
        }
        let span = Span {
            stream: Stream::Stderr,
            start: 0,
            end: 10,
        };
        assert_eq!(store.tape_span(made.id(), span).unwrap(), b"");
    }
}

pub(crate) fn records_are_read_one_by_one_and_from_any_number_on<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 6).make();
    assert!(!store.has_run(made.id()).unwrap());
    made.store(&mut store);
    assert!(store.has_run(made.id()).unwrap());
    for record in &made.records {
        let found = store.record(made.id(), record.seq).unwrap();
        assert_eq!(found.as_ref(), Some(record));
    }
    let end = made.records.len() as u64;
    assert_eq!(store.record(made.id(), end).unwrap(), None);
    for from in [0, 1, end - 1, end] {
        let mut found = Vec::new();
        let each = |record| {
            found.push(record);
            found.len() < 3
        };
        store.each_record(made.id(), from, each).unwrap();
        let expected = made.records.iter().skip(from as usize).take(3);
        assert!(found.iter().eq(expected), "from {from}");
    }
}

pub(crate) fn the_last_records_and_the_end_are_written_together_or_not_at_all<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 5).make();
    let exit = json!({"code": 0});
    store.begin_run(&made.begin).unwrap();
    let (first, last) = made.records.split_at(9);
    store.append(made.id(), first, &made.chunks[..3]).unwrap();
    let unended = &last[..last.len() - 1];
    let refused = store.append_and_finish(made.id(), unended, &made.chunks, &exit, 1);
    assert!(
        matches!(refused, Err(StoreError::NotEnded { .. })),
        "{refused:?}"
    );
    let run = store.run(made.id()).unwrap();
    assert_eq!((run.records, run.seal), (9, None));
    assert_eq!(store.tape(made.id()).unwrap(), made.chunks[..3]);
    store
        .append_and_finish(made.id(), last, &made.chunks, &exit, 1)
        .unwrap();
    assert_eq!(
        store.records(made.id(), 0, usize::MAX).unwrap(),
        made.records
    );
    assert_eq!(store.tape(made.id()).unwrap(), made.chunks);
    assert!(store.verify().unwrap().is_intact());
}

pub(crate) fn the_same_again_changes_nothing_and_other_content_is_refused<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 5).make();
    store.begin_run(&made.begin).unwrap();
    store
        .append(made.id(), &made.records[..9], &made.chunks[..3])
        .unwrap();
    store
        .append(made.id(), &made.records[4..12], &made.chunks[1..5])
        .unwrap();
    store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    let counted = |store: &runtape_store::Store| {
        let stats = store.stats().unwrap();
        (
            stats.runs,
            stats.records,
            stats.record_bytes,
            stats.tape_bytes,
        )
    };
    let before = counted(&store);
    store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    assert_eq!(counted(&store), before);

    let mut other = made.records[6].clone();
    other.at += 1;
    let error = store.append(made.id(), &[other.clone()], &[]).unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
    let mut chunk = made.chunks[2].clone();
    chunk.bytes[3] ^= 1;
    let error = store.append(made.id(), &[], &[chunk]).unwrap_err();
    assert!(error.to_string().contains("stdout from byte"), "{error}");

    let seal = store.finish_run(made.id(), &json!({"code": 0}), 5).unwrap();
    // A finished run can be written again too, as long as it says the same.
    store.begin_run(&made.begin).unwrap();
    store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    assert_eq!(
        store.finish_run(made.id(), &json!({"code": 0}), 9).unwrap(),
        seal
    );
    store.begin_run(&made.begin).unwrap();
    assert!(store.append(made.id(), &[other], &[]).is_err());
    assert!(store.finish_run(made.id(), &json!({"code": 1}), 9).is_err());
    let mut begin = made.begin.clone();
    begin.context = json!({});
    store.release_run(made.id());
    assert!(matches!(
        store.begin_run(&begin),
        Err(StoreError::Conflict { .. })
    ));
    assert!(store.verify().unwrap().is_intact());
}

pub(crate) fn gaps_strangers_and_late_records_are_refused<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 2).make();
    let id = made.id();
    assert!(matches!(
        store.append(id, &[], &[]),
        Err(StoreError::NotOpen { .. })
    ));
    store.begin_run(&made.begin).unwrap();
    let error = store.append(id, &made.records[1..], &[]).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Gap {
                seq: 1,
                expected: 0,
                ..
            }
        ),
        "{error}"
    );
    assert!(store.append(id, &[], &made.chunks[1..]).is_err());
    let stranger = Plan::new("stranger", 1).make();
    assert!(store.append(id, &stranger.records, &[]).is_err());
    assert!(matches!(
        store.finish_run(id, &json!(null), 0),
        Err(StoreError::NotEnded { .. })
    ));
    store.append(id, &made.records, &[]).unwrap();
    let late = Record {
        seq: made.records.len() as u64,
        ..made.records[1].clone()
    };
    assert!(matches!(
        store.append(id, &[late], &[]),
        Err(StoreError::Ended { .. })
    ));
    // Nothing of what was refused is there.
    assert_eq!(store.records(id, 0, usize::MAX).unwrap(), made.records);
    assert!(store.verify().unwrap().is_intact());
}

pub(crate) fn children_share_the_tape_and_the_seal_of_their_root<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("root", 3).make();
    let childs = child(&made, "child");
    store.begin_run(&made.begin).unwrap();
    store
        .append(made.id(), &made.records[..8], &made.chunks)
        .unwrap();
    store.append(made.id(), &childs[..4], &[]).unwrap();
    store.append(made.id(), &made.records[8..], &[]).unwrap();
    let error = store.finish_run(made.id(), &json!(0), 0).unwrap_err();
    assert!(
        error.to_string().contains("run child has not ended"),
        "{error}"
    );
    store.append(made.id(), &childs[4..], &[]).unwrap();
    store.finish_run(made.id(), &json!(0), 0).unwrap();
    let tree = store.tree(made.id()).unwrap();
    assert_eq!(tree.len(), 2);
    assert_eq!(tree[1].parent_run_id.as_ref(), Some(made.id()));
    assert_eq!(tree[1].seal, tree[0].seal);
    assert_eq!(
        store.records(&run_id("child"), 0, usize::MAX).unwrap(),
        childs
    );
    assert_eq!(store.tape(&run_id("child")).unwrap(), made.chunks);
    let all = store.tree_records(made.id()).unwrap();
    assert_eq!(all.len(), made.records.len() + childs.len());
    assert!(store.verify().unwrap().is_intact());
}

pub(crate) fn replacing_records_keeps_the_tape_and_leaves_a_tombstone<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 4).make();
    let childs = child(&made, "child");
    store.begin_run(&made.begin).unwrap();
    store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    store.append(made.id(), &childs, &[]).unwrap();
    store.finish_run(made.id(), &json!(0), 0).unwrap();
    Plan::new("later", 4).make().store(&mut store);
    store
        .search("naively", &RunFilter::default(), None, 5)
        .unwrap();

    let mut again = Plan {
        seed: 99,
        ..Plan::new("r", 6)
    }
    .make();
    for record in &mut again.records {
        record.span = None;
    }
    let replaced = store
        .replace_records(made.id(), &again.records, 77)
        .unwrap();
    // A tombstone and a new seal, in the same chain; the other run's seal came before them if it is of that chain, too.
    let old = replaced.old_seal.unwrap();
    let later = store.run(&run_id("later")).unwrap();
    let between = u64::from(later.seal_chain == old.chain);
    assert!(old.chain < B::CHAINS);
    assert_eq!(
        (old.number, replaced.new_seal),
        (
            1,
            SealName {
                chain: old.chain,
                number: 3 + between
            }
        )
    );
    assert_eq!(
        store.records(made.id(), 0, usize::MAX).unwrap(),
        again.records
    );
    assert_eq!(store.tape(made.id()).unwrap(), made.chunks);
    assert!(store.run(&run_id("child")).is_err());
    let report = store.verify().unwrap();
    assert_eq!(report.faults, []);
    assert_eq!(report.removals.len(), 1);
    assert_eq!((report.removals[0].seal, report.removals[0].at), (1, 77));
    // All or nothing: records without an end leave everything as it was.
    let head = store.head().unwrap();
    assert!(
        store
            .replace_records(made.id(), &again.records[..5], 78)
            .is_err()
    );
    assert_eq!(store.head().unwrap(), head);
    assert_eq!(
        store.records(made.id(), 0, usize::MAX).unwrap(),
        again.records
    );
}

pub(crate) fn odd_numbers_and_deep_nesting_come_back<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let mut made = Plan::new("r", 1).make();
    let mut deep = json!(0.1);
    for _ in 0..200 {
        deep = json!([deep, 1e300, u64::MAX, -0.0, 5e-324, 0.1 + 0.2]);
    }
    if let RecordKind::Metadata(patch) = &mut made.records[1].kind {
        patch.set.set("deep", deep);
    }
    made.store(&mut store);
    assert_eq!(
        store.records(made.id(), 0, usize::MAX).unwrap(),
        made.records
    );
    assert!(store.verify().unwrap().is_intact());
}

pub(crate) fn a_live_run_of_many_small_batches_comes_back<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 200).make();
    store.begin_run(&made.begin).unwrap();
    let mut chunks = made.chunks.chunks(4);
    for records in made.records.chunks(7) {
        let chunks = chunks.next().unwrap_or_default();
        store.append(made.id(), records, chunks).unwrap();
    }
    assert!(chunks.next().is_none());
    assert_eq!(store.tape(made.id()).unwrap(), made.chunks);
    store.finish_run(made.id(), &json!(0), 1).unwrap();
    assert_eq!(store.tape(made.id()).unwrap(), made.chunks);
    assert_eq!(store.verify().unwrap().faults, []);
}

pub(crate) fn a_batch_is_all_or_nothing<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let (one, two, three) = (
        Plan::new("one", 2).make(),
        Plan::new("two", 2).make(),
        Plan::new("three", 2).make(),
    );
    store.begin_run(&one.begin).unwrap();
    store.append(one.id(), &one.records[..5], &[]).unwrap();
    let failed = store.batch(|store| {
        store.append(one.id(), &one.records, &one.chunks)?;
        two.store(store);
        store.append(three.id(), &three.records, &[])
    });
    assert!(matches!(failed, Err(StoreError::NotOpen { .. })));
    assert!(matches!(
        store.run(two.id()),
        Err(StoreError::UnknownRun { .. })
    ));
    assert_eq!(
        store.records(one.id(), 0, usize::MAX).unwrap(),
        one.records[..5]
    );
    store
        .batch(|store| {
            store.append(one.id(), &one.records, &one.chunks)?;
            store.finish_run(one.id(), &json!(0), 1)?;
            two.store(store);
            three.store(store);
            Ok(())
        })
        .unwrap();
    let report = store.verify().unwrap();
    assert_eq!((report.runs, report.faults), (3, Vec::new()));
}

pub(crate) fn a_run_that_turns_out_to_be_another_runtimes_is_that_ones_in_every_table<
    B: Backend,
>() {
    let home = B::fresh();
    let mut store = home.open();
    let right = Plan {
        runtime: Runtime::Codex,
        session: Some("session-of-codex".to_owned()),
        ..Plan::new("r", 4)
    }
    .make();
    let mut begin = right.begin.clone();
    begin.runtime = Runtime::Generic;
    let mut wrong = right.records.clone();
    for record in &mut wrong {
        if let RecordKind::Run(opened) = &mut record.kind {
            opened.runtime = Runtime::Generic;
        }
    }
    // Decided while it is open: before its first record.
    store.begin_run(&begin).unwrap();
    store.append(right.id(), &[], &right.chunks).unwrap();
    let known = json!({"runtimeFrom": "firstLines"});
    store
        .decide_runtime(right.id(), &Runtime::Hermes, &known)
        .unwrap();
    let decided = store.begin_of(right.id()).unwrap();
    assert_eq!(
        (decided.runtime, &decided.context),
        (Runtime::Hermes, &known)
    );
    store
        .decide_runtime(right.id(), &Runtime::Generic, &begin.context)
        .unwrap();
    store.append(right.id(), &wrong, &[]).unwrap();
    let late = store.decide_runtime(right.id(), &Runtime::Hermes, &known);
    assert!(matches!(late, Err(StoreError::Ended { .. })), "{late:?}");
    store.finish_run(right.id(), &json!(0), 0).unwrap();
    let other = Plan {
        at: right.begin.started_at + 1_000_000,
        run: "other".to_owned(),
        ..Plan::new("other", 2)
    };
    other.make().store(&mut store);
    assert_eq!(store.verify().unwrap().faults, []);

    // Read again when it has ended.
    store
        .replace_runtime(right.id(), &Runtime::Codex, &known, 77, |store| {
            store.append(right.id(), &right.records, &[])?;
            Ok(None)
        })
        .unwrap();
    let run = store.run(right.id()).unwrap();
    assert_eq!(run.runtime, Runtime::Codex);
    assert_eq!(store.begin_of(right.id()).unwrap().context, known);
    let report = store.verify().unwrap();
    assert_eq!(report.faults, []);
    assert_eq!(report.removals[0].reason, RemovalReason::RuntimeChanged);
    // As if it had been recorded so.
    let usual = B::fresh();
    let mut usual = usual.open();
    right.store(&mut usual);
    other.make().store(&mut usual);
    assert_eq!(
        store.usage_daily().unwrap(),
        usual.usage_daily().unwrap(),
        "the sums that are kept"
    );
    let mut of_runtime = RunFilter::default();
    of_runtime.runtime = Some(Runtime::Generic);
    let generic = store.runs(&of_runtime, None, 9).unwrap();
    assert!(generic.items.iter().all(|run| run.run_id != *right.id()));
}
