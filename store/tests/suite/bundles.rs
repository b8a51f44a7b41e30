//! Bundles: some runs and nothing else, provable elsewhere, and taken in only if they are.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use runtape_core::RunId;
use runtape_store::{Import, Options, RunFilter, Store, StoreError, Trust, VerifyReport};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use runtape_tests::runs::{Made, Plan, child, run_id};

/// A database in a directory of its own.
fn database() -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("db"), &Options::default()).unwrap();
    (directory, store)
}

/// Stores a run with a child.
fn store_with_child(store: &mut Store, made: &Made, name: &str) {
    store.begin_run(&made.begin).unwrap();
    store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    store.append(made.id(), &child(made, name), &[]).unwrap();
    store.finish_run(made.id(), &json!({"code": 0}), 1).unwrap();
}

/// Stores runs around one in the middle, which has a child.
fn filled(others: usize) -> (TempDir, Store) {
    let (directory, mut store) = database();
    let other = |number: usize| {
        let mut plan = Plan::new(&format!("other{number}"), 2);
        plan.session = Some(format!("secret-session-{number}"));
        plan.make()
    };
    let middle = others / 2;
    store
        .batch(|store| {
            for number in 0..middle {
                other(number).store(store);
            }
            Ok(())
        })
        .unwrap();
    store_with_child(&mut store, &Plan::new("chosen", 3).make(), "chosen-child");
    store
        .batch(|store| {
            for number in middle..others {
                other(number).store(store);
            }
            Ok(())
        })
        .unwrap();
    (directory, store)
}

/// Writes a bundle of some runs beside the database.
fn bundled(directory: &TempDir, store: &Store, runs: &[&str]) -> PathBuf {
    let path = directory.path().join(format!("{}.bundle", runs.join("-")));
    let runs: Vec<RunId> = runs.iter().map(|run| run_id(run)).collect();
    let seals = store.write_bundle(&runs, &path).unwrap();
    assert_eq!(seals.len(), runs.len());
    path
}

fn verified(path: &Path) -> VerifyReport {
    Store::open_bundle(path)
        .unwrap()
        .verify_bundle(None)
        .unwrap()
}

/// All that a run answers: itself, its records, its output.
fn answers(store: &Store, root: &str) -> String {
    let root = run_id(root);
    let mut answers = String::new();
    for mut run in store.tree(&root).unwrap() {
        run.seal = None;
        let mut events = Vec::new();
        store
            .each_event(&run.run_id, |event| {
                events.push(event);
                true
            })
            .unwrap();
        let steps = store.steps(&run.run_id, 0, usize::MAX).unwrap();
        write!(answers, "{run:?}{steps:?}{events:?}").unwrap();
    }
    let mut filter = RunFilter::default();
    filter.job = Some(store.run(&root).unwrap().job_id);
    let calls = store.tool_calls(&filter, 1000).unwrap();
    let records = store.tree_records(&root).unwrap();
    let tape = store.tape(&root).unwrap();
    let exit = store.exit(&root).unwrap();
    answers + &format!("{calls:?}{records:?}{tape:?}{exit:?}")
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle.as_bytes())
}

#[test]
fn a_bundle_holds_its_runs_and_nothing_of_others() {
    let (directory, store) = filled(20);
    store.complete_search().unwrap();
    let path = bundled(&directory, &store, &["chosen"]);
    let bytes = std::fs::read(&path).unwrap();
    assert!(contains(&bytes, "chosen") && contains(&bytes, "session-of-chosen"));
    for number in 0..20 {
        for secret in [
            format!("other{number}"),
            format!("job-of-other{number}"),
            format!("secret-session-{number}"),
        ] {
            assert!(!contains(&bytes, &secret), "{secret}");
        }
    }
    // What is compressed cannot be seen in the bytes: so there is nothing of it.
    let file = Connection::open(&path).unwrap();
    for (table, rows) in [
        ("run", 2),
        ("job", 1),
        ("seal", 1),
        ("seal_before", 1),
        (
            "record_block WHERE place >> 32 NOT IN (SELECT key FROM run)",
            0,
        ),
        (
            "tape_block WHERE place >> 32 NOT IN (SELECT key FROM run)",
            0,
        ),
        ("search_docsize", 0),
        ("search_data WHERE id > 10", 0),
    ] {
        let sql = format!("SELECT count(*) FROM {table}");
        let count: i64 = file.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(count, rows, "{table}");
    }
    let bundle = Store::open(&path, &Options::read_only()).unwrap();
    assert_eq!(answers(&bundle, "chosen"), answers(&store, "chosen"));
    let found = bundle.search("naïvely", &RunFilter::default(), None, 10);
    assert_eq!(found.unwrap().items.len(), 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn the_size_of_a_bundle_is_that_of_its_runs() {
    let sizes = [0, 300].map(|others| {
        let (directory, store) = filled(others);
        let path = bundled(&directory, &store, &["chosen"]);
        std::fs::metadata(path).unwrap().len()
    });
    assert!(sizes[0].abs_diff(sizes[1]) <= 4096, "{sizes:?}");
}

#[test]
fn a_bundle_proves_the_place_of_its_runs() {
    let (directory, mut store) = filled(4);
    // What became of a run before belongs to it: a tape that was dropped, records made anew.
    let made = Plan::new("changed", 2).make();
    made.store(&mut store);
    store.replace_records(made.id(), &made.records, 7).unwrap();
    let seals = |path: &Path| verified(path).bundle.unwrap();
    for runs in [
        &["chosen"][..],
        &["other0"],
        &["changed"],
        &["other1", "chosen", "changed"],
        &["chosen", "other2"],
    ] {
        let path = bundled(&directory, &store, runs);
        let report = verified(&path);
        assert_eq!(report.faults, [], "{runs:?}");
        for seal in seals(&path) {
            assert_eq!(
                store.run(&seal.run_id).unwrap().seal_name(),
                Some(seal.name)
            );
            // The chain it was taken from has it, too.
            assert!(store.verify_head(&seal.hash).unwrap().is_intact());
        }
    }
    let path = directory.path().join("changed.bundle");
    let removed = verified(&path).removals;
    assert_eq!(removed.len(), 1, "{removed:?}");
    // A bundle of a bundle says the same.
    let bundle = Store::open_bundle(&path).unwrap();
    let again = directory.path().join("again");
    bundle.write_bundle(&[run_id("changed")], &again).unwrap();
    assert_eq!(seals(&again), seals(&path));
    assert!(verified(&again).is_intact());
}

#[test]
fn a_hash_kept_elsewhere_covers_a_run_of_a_bundle_or_does_not() {
    let (directory, store) = filled(6);
    let path = bundled(&directory, &store, &["other0", "chosen", "other3"]);
    let bundle = Store::open_bundle(&path).unwrap();
    let seals = bundle.verify_bundle(None).unwrap().bundle.unwrap();
    let faults = |head: &str| -> Vec<String> {
        let report = bundle.verify_bundle(Some(head)).unwrap();
        report.faults.iter().map(ToString::to_string).collect()
    };
    // Seals 4 and 5 follow each other, 1 stands apart.
    let numbers: Vec<u64> = seals.iter().map(|seal| seal.name.number).collect();
    assert_eq!(numbers, [1, 4, 5]);
    assert!(
        faults(&seals[2].hash)
            .iter()
            .all(|fault| fault.contains("run other0"))
    );
    assert_eq!(faults(&seals[2].hash).len(), 1);
    assert_eq!(faults(&seals[1].hash).len(), 2);
    assert!(faults(&"0".repeat(64))[0].contains("no seal has the hash"));
    let alone = bundled(&directory, &store, &["chosen"]);
    let alone = Store::open_bundle(&alone).unwrap();
    assert!(
        alone
            .verify_bundle(Some(&seals[1].hash))
            .unwrap()
            .is_intact()
    );
    // The hash before a seal proves nothing of it: anybody can go on from there.
    let before: Vec<u8> = Connection::open(&path)
        .unwrap()
        .query_row("SELECT hash FROM seal_before WHERE number = 4", [], |row| {
            row.get(0)
        })
        .unwrap();
    let before = blake3::Hash::from_slice(&before)
        .unwrap()
        .to_hex()
        .to_string();
    assert!(faults(&before)[0].contains("no seal has the hash"));
}

#[test]
fn a_bundle_is_never_taken_for_a_whole_database() {
    let (directory, store) = filled(3);
    for run in ["other0", "chosen"] {
        let path = bundled(&directory, &store, &[run]);
        let bundle = Store::open(&path, &Options::read_only()).unwrap();
        let report = bundle.verify().unwrap();
        assert!(
            report.faults[0].fault.contains("a bundle"),
            "{run}: {report:?}"
        );
    }
}

#[test]
fn a_run_that_is_damaged_or_open_gives_no_bundle() {
    let (directory, mut store) = filled(2);
    let open = Plan::new("open", 2).make();
    store.begin_run(&open.begin).unwrap();
    store
        .append(open.id(), &open.records, &open.chunks)
        .unwrap();
    let path = directory.path().join("b");
    let error = store.write_bundle(&[run_id("open")], &path).unwrap_err();
    assert!(matches!(error, StoreError::Unsealed { .. }), "{error}");
    for (sql, expected) in [
        (
            "UPDATE run SET exit = x'00' WHERE id = 'chosen'",
            "as it was sealed",
        ),
        ("UPDATE seal SET at = 5 WHERE number = 2", "seal 2"),
        ("DELETE FROM tape_block", "tape block 0"),
    ] {
        let copy = directory.path().join("copy");
        let _ = std::fs::remove_file(&copy);
        store.backup(&copy).unwrap();
        Connection::open(&copy).unwrap().execute_batch(sql).unwrap();
        let damaged = Store::open(&copy, &Options::read_only()).unwrap();
        let _ = std::fs::remove_file(&path);
        let error = damaged
            .write_bundle(&[run_id("chosen")], &path)
            .unwrap_err();
        assert!(error.to_string().contains(expected), "{sql}: {error}");
    }
}

/// Tells what a changed bundle answers; `None` if it is refused.
fn answer_of_changed(path: &Path, bytes: &[u8]) -> Option<String> {
    std::fs::write(path, bytes).unwrap();
    let bundle = Store::open_bundle(path).ok()?;
    let report = bundle.verify_bundle(None).ok()?;
    if !report.is_intact() {
        return None;
    }
    let seals = report.bundle;
    Some(format!("{seals:?}{}", answers(&bundle, "chosen")))
}

#[test]
fn no_byte_of_a_bundle_can_be_changed_so_that_it_says_something_else() {
    let (directory, store) = filled(3);
    let path = bundled(&directory, &store, &["chosen"]);
    let original = std::fs::read(&path).unwrap();
    let changed = directory.path().join("changed");
    let expected = answer_of_changed(&changed, &original).unwrap();
    let stride = std::env::var("RUNTAPE_FLIP_STRIDE");
    let stride: usize = stride.map_or(1021, |stride| stride.parse().unwrap());
    let (mut refused, mut same) = (0, 0);
    // Any byte of the beginning, where the file says what it is, and some of all others.
    let offsets = (0..100)
        .step_by(3)
        .chain((100..original.len()).step_by(stride));
    for (number, offset) in offsets.enumerate() {
        let mut bytes = original.clone();
        bytes[offset] ^= [0x01, 0x80, 0xff][number % 3];
        match answer_of_changed(&changed, &bytes) {
            None => refused += 1,
            Some(answer) => {
                assert_eq!(answer, expected, "byte {offset} of {}", original.len());
                same += 1;
            }
        }
    }
    println!("{refused} changes refused, {same} without any effect");
    assert!(refused > 20);
    for length in [
        0,
        1,
        99,
        100,
        511,
        4096,
        original.len() / 2,
        original.len() - 1,
    ] {
        let cut = answer_of_changed(&changed, &original[..length]);
        assert_eq!(cut, None, "cut to {length}");
    }
    for more in [&b"x"[..], &[0; 4096]] {
        let longer = [&original, more].concat();
        assert_eq!(answer_of_changed(&changed, &longer), None);
    }
}

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

/// Does something to a bundle that only another tool can do.
fn hostile(original: &Path, path: &Path, sql: &str) {
    std::fs::copy(original, path).unwrap();
    let connection = Connection::open(path).unwrap();
    let sql = format!("PRAGMA writable_schema = ON; {sql}");
    connection.execute_batch(&sql).unwrap();
}

#[test]
fn a_file_that_was_made_to_do_harm_is_refused_before_anything_is_asked_of_it() {
    let (directory, source) = filled(1);
    let original = bundled(&directory, &source, &["chosen"]);
    let endless = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT";
    let view = |name: &str, columns: &str| {
        format!(
            "UPDATE sqlite_master SET type = 'view', rootpage = 0,
                sql = 'CREATE VIEW {name} AS {endless} {columns} FROM n' WHERE name = '{name}'"
        )
    };
    let cases: Vec<(&str, String, &str)> = vec![
        (
            "a view for a table",
            view("notice", "a AS run"),
            "no table \"notice\"",
        ),
        (
            "an endless view",
            view("seal_before", "a AS number"),
            "no table \"seal_before\"",
        ),
        (
            "a trigger",
            "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM step; END".into(),
            "extra trigger",
        ),
        (
            "a generated column",
            "UPDATE sqlite_master SET sql = replace(sql, 'text TEXT NOT NULL', 'text TEXT NOT NULL, more TEXT AS (text || text)') WHERE name = 'notice'".into(),
            "table \"notice\" was changed",
        ),
        (
            "a virtual table",
            "CREATE VIRTUAL TABLE v USING fts5 (a)".into(),
            "extra table \"v\"",
        ),
        (
            "another index",
            "DROP INDEX run_by_job; CREATE INDEX run_by_job ON run (hex(zeroblob(job)))".into(),
            "index \"run_by_job\" was changed",
        ),
        (
            "an extra table",
            "CREATE TABLE extra (a)".into(),
            "extra table \"extra\"",
        ),
        (
            "a changed view",
            "DROP VIEW v_runs; CREATE VIEW v_runs AS SELECT 1 AS run_id".into(),
            "view \"v_runs\" was changed",
        ),
        (
            "another program's",
            "PRAGMA application_id = 7".into(),
            "application id is 7",
        ),
        (
            "a later schema",
            "PRAGMA user_version = 9999".into(),
            "schema 9999",
        ),
        ("no schema", "PRAGMA user_version = 0".into(), "schema 0"),
        (
            "a schema that is none",
            "UPDATE sqlite_master SET sql = 'CREATE TABLE run (' WHERE name = 'run'".into(),
            "malformed",
        ),
        (
            "more records than hashes",
            "UPDATE record_block SET marks = x''".into(),
            "hashes for",
        ),
        (
            "a length beyond all",
            "UPDATE record_block SET length = 1 << 40".into(),
            "claims to have",
        ),
        (
            "a tape beyond all",
            "UPDATE tape_block SET length = 1 << 40".into(),
            "claims to have",
        ),
        (
            "a context beyond all",
            "UPDATE run SET context = x'ffffffff7f01'".into(),
            "claims to have",
        ),
    ];
    for (name, sql, expected) in cases {
        let path = directory.path().join("hostile");
        let _ = std::fs::remove_file(&path);
        hostile(&original, &path, &sql);
        let before = std::time::Instant::now();
        let refused = Store::open_bundle(&path).map(|_| ());
        let error = refused.expect_err(name).to_string();
        assert!(error.contains(expected), "{name}: {error}");
        assert!(
            error.contains("hostile"),
            "{name} does not name the file: {error}"
        );
        assert!(before.elapsed().as_secs() < 5, "{name}");
    }
    // What is no file, or has a log beside it that says something else.
    let error = Store::open_bundle(directory.path())
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("no regular file"), "{error}");
    let path = directory.path().join("text");
    std::fs::write(&path, "a text").unwrap();
    let error = Store::open_bundle(&path).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("no bundle"), "{error}");
    for log in ["-wal", "-journal"] {
        let path = directory.path().join("logged");
        std::fs::copy(&original, &path).unwrap();
        let log = directory.path().join(format!("logged{log}"));
        std::fs::write(&log, "something else").unwrap();
        let error = Store::open_bundle(&path).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("log lies beside it"), "{error}");
        std::fs::remove_file(log).unwrap();
    }
}
