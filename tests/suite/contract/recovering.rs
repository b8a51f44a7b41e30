//! Runs whose writer is gone, records that are made again, and what proves that nothing else changed.

use runtape_core::Stream;
use runtape_store::{Import, RemovalReason, RunFilter, Store, StoreError, Trust};
use runtape_tests::runs::{Plan, child, run_id};
use serde_json::json;

use crate::Backend;

pub(crate) fn a_run_whose_writer_is_gone_can_be_taken_over<B: Backend>() {
    let home = B::fresh();
    let mut writer = home.open();
    let made = Plan::new("r", 5).make();
    writer.begin_run(&made.begin).unwrap();
    writer
        .append(made.id(), &made.records[..9], &made.chunks[..3])
        .unwrap();
    writer
        .leave_note(made.id(), &json!({"why": "full"}))
        .unwrap();
    let mut other = home.open();
    // As long as somebody writes it, nobody else can.
    assert_eq!(other.unsealed_runs().unwrap(), [made.id().clone()]);
    assert!(other.open_runs().unwrap().is_empty());
    let refused = other.resume_run(made.id());
    assert!(matches!(refused, Err(StoreError::Locked { .. })));
    assert!(writer.unsealed_runs().unwrap().is_empty());
    drop(writer);

    let open = other.open_runs().unwrap();
    assert_eq!((open.len(), open[0].records), (1, 9));
    assert_eq!(open[0].begin.run_id, *made.id());
    let begin = other.resume_run(made.id()).unwrap();
    assert_eq!(begin.context, made.begin.context);
    assert_eq!(begin.started_at, made.begin.started_at);
    let note = other.left_note(made.id()).unwrap();
    assert_eq!(note, Some(json!({"why": "full"})));
    assert!(other.unsealed_runs().unwrap().is_empty());
    other
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    let exit = json!({"code": 0});
    let seal = other.finish_run(made.id(), &exit, 1).unwrap();
    assert_eq!(seal.number, 1);
    assert!(seal.chain < B::CHAINS);
    assert_eq!(other.exit(made.id()).unwrap(), Some(exit));
    assert!(other.unsealed_runs().unwrap().is_empty());
    assert!(matches!(
        other.resume_run(&run_id("none")),
        Err(StoreError::UnknownRun { .. })
    ));
    assert_eq!(other.verify().unwrap().faults, []);
}

pub(crate) fn records_are_given_up_and_made_again<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 5).make();
    let children = child(&made, "child");
    let refused = store.discard_records(made.id());
    assert!(matches!(refused, Err(StoreError::NotOpen { .. })));
    store.begin_run(&made.begin).unwrap();
    store
        .append(made.id(), &made.records[..12], &made.chunks)
        .unwrap();
    store.append(made.id(), &children[..5], &[]).unwrap();
    store.complete_search().unwrap();
    store.discard_records(made.id()).unwrap();
    let run = store.run(made.id()).unwrap();
    assert_eq!((run.records, run.steps, run.model), (0, 0, None));
    assert_eq!(run.usage, runtape_core::TokenCounts::default());
    assert_eq!(run.started_at, made.begin.started_at);
    assert!(store.run(&run_id("child")).is_err());
    assert_eq!(store.tape(made.id()).unwrap(), made.chunks);
    let found = store.search("naively", &RunFilter::default(), None, 5);
    assert!(found.unwrap().items.is_empty());
    assert_eq!(store.verify().unwrap().faults, []);
    // Others may come now.
    let again = Plan {
        seed: 77,
        ..Plan::new("r", 4)
    };
    let again = again.make();
    let records: Vec<_> = again
        .records
        .into_iter()
        .map(|mut record| {
            record.span = None;
            record
        })
        .collect();
    store.append(made.id(), &records, &[]).unwrap();
    store.finish_run(made.id(), &json!(0), 1).unwrap();
    assert_eq!(store.records(made.id(), 0, usize::MAX).unwrap(), records);
    store.resume_run(made.id()).unwrap();
    let refused = store.discard_records(made.id());
    assert!(matches!(refused, Err(StoreError::Ended { .. })));
    assert_eq!(store.verify().unwrap().faults, []);
}

pub(crate) fn a_run_is_replaced_piece_by_piece<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 30).make();
    made.store_live(&mut store, 9);
    let mut again = made.records.clone();
    again[5].at += 3;
    let mut parts = 0;
    let replaced = store
        .replace_run(made.id(), 7, |store| {
            // The tape is there to be read while the records are written.
            while let Some(chunks) = store.tape_part(made.id(), parts)? {
                assert!(chunks.iter().all(|chunk| chunk.stream == Stream::Stdout));
                parts += 1;
            }
            assert!(store.records(made.id(), 0, 1)?.is_empty());
            for records in again.chunks(11) {
                store.append(made.id(), records, &[])?;
            }
            Ok(Some(json!({"code": 3})))
        })
        .unwrap();
    assert!(parts > 0);
    let old = replaced.old_seal.unwrap();
    assert_eq!(old.number, 1);
    assert!(old.chain < B::CHAINS);
    assert_eq!(store.records(made.id(), 0, usize::MAX).unwrap(), again);
    assert_eq!(store.exit(made.id()).unwrap(), Some(json!({"code": 3})));
    let mut seen = 0;
    store
        .each_tape_chunk(made.id(), |chunk| {
            assert_eq!(chunk, made.chunks[seen]);
            seen += 1;
            seen < 5
        })
        .unwrap();
    assert_eq!(seen, 5);
    // A failure in the middle leaves what was there.
    let head = store.head().unwrap();
    let failed = store.replace_run(made.id(), 8, |store| {
        store.append(made.id(), &again[..7], &[])?;
        store.append(made.id(), &again[9..], &[])?;
        Ok(None)
    });
    assert!(matches!(failed, Err(StoreError::Gap { .. })));
    assert_eq!(store.head().unwrap(), head);
    assert_eq!(store.records(made.id(), 0, usize::MAX).unwrap(), again);
    let removals = store.removals().unwrap();
    assert_eq!(removals.len(), 1);
    assert_eq!(removals[0].reason, RemovalReason::Replaced);
    assert_eq!(store.verify().unwrap().faults, []);
}

pub(crate) fn a_head_that_was_kept_proves_what_came_before<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    assert_eq!(store.head().unwrap(), None);
    let first = store.database_id().unwrap();
    // A file has one when something is sealed in it; a database on a server from the beginning.
    assert!(B::CHAINS > 1 || first.is_none());
    Plan::new("one", 2).make().store(&mut store);
    let kept = store.head().unwrap().unwrap();
    let id = store.database_id().unwrap();
    assert!(id.is_some() && (first.is_none() || first == id));
    Plan::new("two", 2).make().store(&mut store);
    store.delete_run(&run_id("one"), 5).unwrap();
    assert_ne!(store.head().unwrap().unwrap(), kept);
    assert_eq!(store.database_id().unwrap(), id);
    let report = store.verify_head(&kept.hash).unwrap();
    assert_eq!((report.faults, report.unseen), (Vec::new(), Vec::new()));
    let strange = "0".repeat(64);
    assert_eq!(store.verify_head(&strange).unwrap().faults.len(), 1);
    let refused = store.verify_head("short");
    assert!(matches!(refused, Err(StoreError::BadHead { .. })));
}

pub(crate) fn rebuilding_changes_nothing_that_is_right<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("r", 8).make();
    made.store(&mut store);
    Plan::new("s", 2).make().store(&mut store);
    let all = |store: &Store| {
        (
            store.run(made.id()).unwrap(),
            store.steps(made.id(), 0, 100).unwrap(),
            store.usage_of(made.id()).unwrap(),
            store.head().unwrap(),
        )
    };
    let before = all(&store);
    let rebuilt = store.rebuild(made.id()).unwrap();
    assert_eq!(rebuilt.records, made.records.len() as u64);
    assert_eq!((rebuilt.runs, rebuilt.steps, rebuilt.tool_calls), (1, 9, 8));
    let mut count = 0;
    store
        .rebuild_all(|_, rebuilt| {
            rebuilt.unwrap();
            count += 1;
        })
        .unwrap();
    assert_eq!(count, 2);
    assert_eq!(all(&store), before);
    assert_eq!(store.verify().unwrap().faults, []);
}

pub(crate) fn a_run_is_open_then_sealed_and_verified_by_itself<B: Backend>() {
    let home = B::fresh();
    let (mut writer, reader) = (home.open(), home.open_to_read());
    let (made, first) = (Plan::new("r", 4).make(), Plan::new("first", 1).make());
    first.store(&mut writer);
    writer.begin_run(&made.begin).unwrap();
    assert!(writer.is_written(made.id()).unwrap() && reader.is_written(made.id()).unwrap());
    assert!(!reader.is_written(first.id()).unwrap());
    // What is not sealed comes last.
    let roots = reader.root_runs().unwrap();
    assert_eq!(roots, [first.id().clone(), made.id().clone()]);
    let begin = reader.begin_of(made.id()).unwrap();
    assert_eq!(
        (begin.run_id, begin.context),
        (made.id().clone(), made.begin.context.clone())
    );
    writer
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    writer
        .finish_run(made.id(), &json!({"code": 0}), 1)
        .unwrap();
    assert!(!reader.is_written(made.id()).unwrap());
    let roots = reader.root_runs().unwrap();
    assert_eq!(roots.len(), 2);
    assert!(roots.contains(first.id()) && roots.contains(made.id()));
    assert_eq!(reader.verify_runs(&roots).unwrap().faults, []);
    assert!(reader.verify_runs(&[run_id("nobody")]).is_err());
}

pub(crate) fn a_bundle_is_taken_in_whole<B: Backend>() {
    let homes = (B::fresh(), B::fresh());
    let (mut from, mut to) = (homes.0.open(), homes.1.open());
    let made = Plan::new("r", 8).make();
    Plan::new("other", 2).make().store(&mut from);
    made.store(&mut from);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bundle");
    let seals = from.write_bundle(&[made.id().clone()], &path).unwrap();
    assert_eq!(seals.len(), 1);
    let bundle = Store::open_bundle(&path).unwrap();
    let report = bundle.verify_bundle(Some(&seals[0].hash)).unwrap();
    assert_eq!(report.faults, []);
    let imported = to.import_bundle(&bundle, Trust::Verified, 9).unwrap();
    assert_eq!(imported, [(made.id().clone(), Import::Stored)]);
    let again = to.import_bundle(&bundle, Trust::Verified, 9).unwrap();
    assert_eq!(again, [(made.id().clone(), Import::Known)]);
    assert_eq!(to.records(made.id(), 0, usize::MAX).unwrap(), made.records);
    assert_eq!(to.tape(made.id()).unwrap(), made.chunks);
    let origin = to.origin(made.id()).unwrap().unwrap();
    assert_eq!(origin.seal.unwrap().hash, seals[0].hash);
    assert_eq!(from.origin(made.id()).unwrap(), None);
    assert_eq!(to.schema_version().unwrap(), from.schema_version().unwrap());
    assert_eq!(to.verify().unwrap().faults, []);
}
