//! Taking in the runs of a bundle.

use std::path::Path;

use runtape_store::{Import, Store, StoreError, Trust};
use runtape_tests::runs::{Plan, run_id};
use rusqlite::Connection;
use serde_json::json;

use super::{answers, bundled, database, filled, store_with_child, verified};

#[test]
fn what_is_imported_is_the_same_and_says_where_it_was() {
    let (directory, mut source) = filled(2);
    let tapeless = Plan::new("tapeless", 2).make();
    tapeless.store(&mut source);
    source.drop_tapes_before(i64::MAX, 9).unwrap();
    Plan::new("taped", 400).make().store(&mut source);
    let path = bundled(&directory, &source, &["chosen", "tapeless", "taped"]);
    let (_there, mut store) = database();
    Plan::new("own", 2).make().store(&mut store);
    let bundle = Store::open_bundle(&path).unwrap();
    let imports = store.import_bundle(&bundle, Trust::Verified, 77).unwrap();
    assert_eq!(imports.len(), 3);
    assert!(imports.iter().all(|(_, import)| *import == Import::Stored));
    assert_eq!(store.verify().unwrap().faults, []);
    for run in ["chosen", "tapeless", "taped"] {
        assert_eq!(answers(&store, run), answers(&source, run), "{run}");
        let origin = store.origin(&run_id(run)).unwrap().unwrap();
        let seal = origin.seal.unwrap();
        assert_eq!(
            Some(seal.name),
            source.run(&run_id(run)).unwrap().seal_name()
        );
        assert!(source.verify_head(&seal.hash).unwrap().is_intact());
        assert!(origin.is_verified && origin.imported_at == 77);
        assert!(origin.sealed_at.is_some());
        let mut context = store.begin_of(&run_id(run)).unwrap().context;
        context.as_object_mut().unwrap().shift_remove("origin");
        assert_eq!(context, source.begin_of(&run_id(run)).unwrap().context);
    }
    assert_eq!(store.origin(&run_id("own")).unwrap(), None);
    // Again, it changes nothing, from there or from what was made of it here.
    let head = store.verify().unwrap().head;
    let onward = directory.path().join("onward");
    store.write_bundle(&[run_id("taped")], &onward).unwrap();
    for (path, into) in [(&path, &mut store), (&onward, &mut source)] {
        let bundle = Store::open_bundle(path).unwrap();
        let imports = into.import_bundle(&bundle, Trust::Verified, 99).unwrap();
        assert!(imports.iter().all(|(_, import)| *import == Import::Known));
    }
    assert_eq!(store.verify().unwrap().head, head);
    // A run that came a long way still says where it began.
    let (_third, mut third) = database();
    let bundle = Store::open_bundle(&onward).unwrap();
    third.import_bundle(&bundle, Trust::Verified, 5).unwrap();
    let context = third.begin_of(&run_id("taped")).unwrap().context;
    assert!(
        context["origin"]["origin"]["seal"]["hash"].is_string(),
        "{context}"
    );
}

type Deed = Box<dyn Fn(&mut Store)>;

#[test]
fn other_content_under_a_known_id_is_refused_and_nothing_is_stored() {
    let (directory, source) = filled(3);
    let path = bundled(&directory, &source, &["other0", "chosen"]);
    let bundle = Store::open_bundle(&path).unwrap();
    let mut other = Plan::new("chosen", 3).make();
    other.chunks[0].received_at += 1;
    let mut context = Plan::new("chosen", 3).make();
    context.begin.context = json!({"argv": ["other"]});
    let elsewhere = Plan::new("holder", 1).make();
    let cases: [(&str, Deed); 6] = [
        (
            "other records",
            Box::new(|store| Plan::new("chosen", 4).make().store(store)),
        ),
        (
            "no child",
            Box::new(|store| Plan::new("chosen", 3).make().store(store)),
        ),
        (
            "another time",
            Box::new(move |store| store_with_child(store, &other, "chosen-child")),
        ),
        (
            "another context",
            Box::new(move |store| store_with_child(store, &context, "chosen-child")),
        ),
        (
            "the child elsewhere",
            Box::new(move |store| store_with_child(store, &elsewhere, "chosen-child")),
        ),
        (
            "still open",
            Box::new(|store| {
                let made = Plan::new("chosen", 3).make();
                store.begin_run(&made.begin).unwrap();
            }),
        ),
    ];
    for (name, prepare) in cases {
        let (_there, mut store) = database();
        prepare(&mut store);
        let error = store
            .import_bundle(&bundle, Trust::Verified, 1)
            .unwrap_err();
        assert!(
            matches!(error, StoreError::Conflict { .. }),
            "{name}: {error}"
        );
        let other = store.run(&run_id("other0"));
        assert!(other.is_err(), "{name}: half of the bundle was stored");
        assert_eq!(store.verify().unwrap().faults, [], "{name}");
    }
}

#[test]
fn what_was_changed_is_refused_or_taken_in_with_a_mark() {
    let (directory, source) = filled(1);
    let path = bundled(&directory, &source, &["chosen"]);
    let cases = [
        "UPDATE seal SET digest = zeroblob(32)",
        "UPDATE seal SET at = at + 1",
        "UPDATE seal_before SET hash = randomblob(32)",
        "UPDATE record_block SET hash = zeroblob(32)",
        "UPDATE tape_block SET hash = zeroblob(32)",
        "UPDATE run SET cost_usd = 0",
        "UPDATE word SET text = 'another-model' WHERE text = 'model-1'",
        "DELETE FROM step",
        "DELETE FROM seal; DELETE FROM seal_before; UPDATE run SET seal = NULL",
        "DELETE FROM tape_block",
    ];
    for sql in cases {
        let changed = directory.path().join("changed");
        std::fs::copy(&path, &changed).unwrap();
        let connection = Connection::open(&changed).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        let bundle = Store::open_bundle(&changed).unwrap();
        let (_there, mut store) = database();
        let error = store
            .import_bundle(&bundle, Trust::Verified, 1)
            .unwrap_err();
        assert!(error.to_string().contains("changed: "), "{sql}: {error}");
        assert!(store.run(&run_id("chosen")).is_err(), "{sql}");
        store.import_bundle(&bundle, Trust::Unverified, 1).unwrap();
        let origin = store.origin(&run_id("chosen")).unwrap().unwrap();
        assert!(!origin.is_verified, "{sql}");
        assert_eq!(store.verify().unwrap().faults, [], "{sql}");
        assert_eq!(store.tree(&run_id("chosen")).unwrap().len(), 2);
        let again = store.import_bundle(&bundle, Trust::Unverified, 2);
        // Without a tape its places were given up, so it is no longer the same.
        if !sql.contains("tape_block") || sql.contains("UPDATE") {
            assert_eq!(again.unwrap(), [(run_id("chosen"), Import::Known)], "{sql}");
        }
    }
}

#[test]
fn what_an_older_version_wrote_is_verified_and_imported() {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/databases/schema-2.db");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.bundle");
    std::fs::copy(old, &path).unwrap();
    let bundle = Store::open_bundle(&path).unwrap();
    assert!(verified(&path).is_intact());
    // One of its runs never ended: there is nothing that could prove it.
    let (_there, mut store) = database();
    let error = store
        .import_bundle(&bundle, Trust::Verified, 1)
        .unwrap_err();
    assert!(matches!(error, StoreError::Unsealed { .. }), "{error}");
    drop(bundle);
    let connection = Connection::open(&path).unwrap();
    let open = "(SELECT key FROM run WHERE root IS NULL AND seal IS NULL)";
    for (table, run) in [
        ("record_block", "place >> 32"),
        ("tape_block", "place >> 32"),
        ("search", "rowid >> 32"),
        ("step", "run"),
        ("tool_call", "run"),
        ("notice", "run"),
        ("unparsed", "run"),
        ("usage", "run"),
        ("run", "key"),
    ] {
        let sql = format!("DELETE FROM {table} WHERE {run} IN {open}");
        connection.execute_batch(&sql).unwrap();
    }
    let unused = "DELETE FROM job WHERE key NOT IN (SELECT job FROM run);
                  PRAGMA journal_mode = DELETE";
    connection.execute_batch(unused).unwrap();
    drop(connection);
    let bundle = Store::open_bundle(&path).unwrap();
    let imports = store.import_bundle(&bundle, Trust::Verified, 1).unwrap();
    assert!(!imports.is_empty());
    assert_eq!(store.verify().unwrap().faults, []);
    for (run, _) in imports {
        assert!(store.origin(&run).unwrap().unwrap().is_verified);
        let old = bundle.tree_records(&run).unwrap();
        assert_eq!(store.tree_records(&run).unwrap(), old);
    }
}
