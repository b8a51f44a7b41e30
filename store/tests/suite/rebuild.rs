//! Whatever is derived from records is made again from them, and nothing else is touched.

use std::path::Path;

use runtape_store::{Options, RunFilter, Store, StoreError};
use rusqlite::Connection;
use rusqlite::types::Value;

use runtape_tests::runs::{Plan, child, job_id, run_id};

/// The derived tables, and which of their columns name words.
const DERIVED: &[(&str, &[&str])] = &[
    ("step", &["status"]),
    ("tool_call", &["tool", "class"]),
    ("notice", &["kind"]),
    ("unparsed", &["tag"]),
    ("usage", &["source", "model"]),
    (
        "run",
        &[
            "runtime",
            "expert",
            "model",
            "session",
            "cwd",
            "cli_version",
            "status",
            "error_name",
            "error_family",
            "permission_mode",
            "host",
            "user",
            "signal",
            "git_branch",
            "outcome",
        ],
    ),
];

/// What no record tells of a run: which row it is, and what the seal covers besides.
const NOT_DERIVED: &[&str] = &["key", "id", "root", "context", "exit", "seal"];

/// A run with a child, one that failed, and one of the same session.
fn fill(path: &Path) {
    let mut store = Store::open(path, &Options::default()).unwrap();
    let parent = Plan::new("parent", 3).make();
    store.begin_run(&parent.begin).unwrap();
    store
        .append(parent.id(), &parent.records, &parent.chunks)
        .unwrap();
    store
        .append(parent.id(), &child(&parent, "child"), &[])
        .unwrap();
    store
        .finish_run(parent.id(), &serde_json::json!({"code": 0}), 1)
        .unwrap();
    for (name, fails) in [("failed", true), ("again", false)] {
        let mut plan = Plan::new(name, 3);
        plan.fails = fails;
        plan.session = Some("session-of-parent".to_owned());
        plan.make().store(&mut store);
    }
    // So that the runs are among the sums of usage, which otherwise wait for more.
    store
        .rebuild_all(|_, rebuilt| drop(rebuilt.unwrap()))
        .unwrap();
    store.complete_search().unwrap();
}

fn columns(connection: &Connection, table: &str) -> Vec<(String, String)> {
    let sql = format!("SELECT name, type FROM pragma_table_info('{table}')");
    let mut statement = connection.prepare(&sql).unwrap();
    let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    columns.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn rows(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(sql).unwrap();
    let count = statement.column_count();
    let rows = statement.query_map([], |row| (0..count).map(|at| row.get(at)).collect());
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// Returns all that is derived, with words instead of their keys: those may be others.
fn derived(connection: &Connection) -> Vec<Vec<Vec<Value>>> {
    let table = |(table, words): &(&str, &[&str])| {
        let select: Vec<String> = columns(connection, table)
            .into_iter()
            .map(|(name, _)| match name.as_str() {
                "job" => "(SELECT id FROM job WHERE key = job)".to_owned(),
                word if words.contains(&word) => {
                    format!("coalesce((SELECT text FROM word WHERE key = {table}.{word}), {word})")
                }
                _ => name,
            })
            .collect();
        let sql = format!("SELECT {} FROM {table} ORDER BY 1, 2, 3", select.join(", "));
        rows(connection, &sql)
    };
    let mut all: Vec<Vec<Vec<Value>>> = DERIVED.iter().map(table).collect();
    all.push(rows(connection, "SELECT id FROM job ORDER BY id"));
    all.push(rows(connection, "SELECT text FROM word ORDER BY text"));
    let found = "SELECT rowid FROM search WHERE search MATCH 'naively OR cat OR model' ORDER BY 1";
    all.push(rows(connection, found));
    all
}

/// Returns what nothing may touch.
fn kept(connection: &Connection) -> Vec<Vec<Vec<Value>>> {
    ["record_block", "tape_block", "seal"]
        .map(|table| rows(connection, &format!("SELECT * FROM {table} ORDER BY 1")))
        .into()
}

/// One plausible change of every derived column, and of the rows as a whole.
fn changes(connection: &Connection) -> Vec<String> {
    let mut changes = Vec::new();
    for (table, words) in DERIVED {
        for (name, kind) in columns(connection, table) {
            let is_kept = *table == "run" && NOT_DERIVED.contains(&name.as_str());
            // A row under another number is a missing one and an extra one.
            if is_kept || name == "run" {
                continue;
            }
            let new = match kind.as_str() {
                "TEXT" => format!("coalesce({name}, '') || 'x'"),
                "REAL" => format!("coalesce({name}, 0) + 0.5"),
                _ if words.contains(&name.as_str()) => {
                    let other = format!("WHERE key <> coalesce({table}.{name}, 0)");
                    format!("(SELECT max(key) FROM word {other})")
                }
                _ if name == "job" => {
                    format!("(SELECT max(key) FROM job WHERE key <> {table}.job)")
                }
                _ if name == "of_session" => "1 - of_session".to_owned(),
                // Far from any other, so that no two rows get the same.
                _ => format!("coalesce({name}, 0) + 700"),
            };
            changes.push(format!("UPDATE {table} SET {name} = {new}"));
            if *table == "run" {
                continue;
            }
            let one = format!("run = (SELECT max(run) FROM {table})");
            changes.push(format!("UPDATE {table} SET {name} = {new} WHERE {one}"));
        }
        if *table != "run" {
            changes.push(format!("DELETE FROM {table}"));
            changes.push(format!("UPDATE {table} SET run = run + 700"));
        }
    }
    changes.extend(
        [
            "UPDATE word SET text = text || 'x'",
            "UPDATE word SET key = key + 1000",
            "DELETE FROM word",
            "DELETE FROM word WHERE text = 'claude-code'",
            "INSERT INTO word (key, text) VALUES (1000, 'nobody said this')",
            "UPDATE job SET id = id || 'x'",
            "UPDATE job SET key = key + 1000",
            "DELETE FROM job",
            "INSERT INTO job (key, id) VALUES (1000, 'nobodys')",
            "DELETE FROM search WHERE rowid IN (SELECT rowid FROM search LIMIT 1)",
            "INSERT INTO search (rowid, words) VALUES (77, 'cat')",
            "INSERT INTO search (rowid, words) VALUES (4294967297, 'cat')",
            "INSERT INTO search (search) VALUES ('delete-all')",
            "DELETE FROM search_docsize",
            "DELETE FROM search_data WHERE id > 10",
        ]
        .map(str::to_owned),
    );
    changes
}

#[test]
fn every_derived_column_is_made_again_and_nothing_else_is_touched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    fill(&path);
    let original = Connection::open(&path).unwrap();
    let (whole, untouched) = (derived(&original), kept(&original));
    let changes = changes(&original);
    drop(original);
    assert!(changes.len() > 120, "{}", changes.len());
    for change in changes {
        let copy = directory.path().join("copy");
        std::fs::copy(&path, &copy).unwrap();
        let connection = Connection::open(&copy).unwrap();
        connection
            .pragma_update(None, "foreign_keys", false)
            .unwrap();
        connection.execute_batch(&change).unwrap();
        drop(connection);
        let mut store = Store::open(&copy, &Options::default()).unwrap();
        let mut rebuilt = Vec::new();
        let all = store.rebuild_all(|run, outcome| {
            let outcome = outcome.unwrap_or_else(|error| panic!("{change}: run {run}: {error}"));
            rebuilt.push((run.to_string(), outcome.runs, outcome.steps));
        });
        all.unwrap_or_else(|error| panic!("{change}: {error}"));
        let expected = [("parent", 2, 7), ("failed", 1, 4), ("again", 1, 4)];
        assert_eq!(
            rebuilt,
            expected.map(|(run, runs, steps)| (run.to_owned(), runs, steps))
        );
        let connection = Connection::open(&copy).unwrap();
        assert_eq!(derived(&connection), whole, "{change}");
        assert_eq!(kept(&connection), untouched, "{change}");
        assert_eq!(store.verify().unwrap().faults, [], "{change}");
        drop(store);
        std::fs::remove_file(&copy).unwrap();
    }
}

#[test]
fn one_tree_is_rebuilt_without_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    fill(&path);
    let mut store = Store::open(&path, &Options::default()).unwrap();
    let connection = Connection::open(&path).unwrap();
    let damage = "UPDATE step SET messages = 99; DELETE FROM notice; UPDATE run SET steps = 99;
                  UPDATE usage SET of_session = 1; UPDATE run SET parent = NULL";
    connection.execute_batch(damage).unwrap();
    let faulty = |store: &Store| {
        let report = store.verify().unwrap();
        let of = |name: &str| {
            let name = format!("run {name}");
            let places = report.faults.iter().map(|fault| fault.place.to_string());
            places.filter(|place| place.starts_with(&name)).count()
        };
        ["parent", "child", "failed", "again"].map(|run| of(run) > 0)
    };
    assert_eq!(faulty(&store), [true, true, true, true]);
    // Named by its child, a tree is rebuilt whole.
    assert_eq!(store.rebuild(&run_id("child")).unwrap().runs, 2);
    assert_eq!(faulty(&store), [false, false, true, true]);
    store.rebuild(&run_id("failed")).unwrap();
    store.rebuild(&run_id("again")).unwrap();
    assert_eq!(store.verify().unwrap().faults, []);
    let unknown = store.rebuild(&run_id("nobody"));
    assert!(matches!(unknown, Err(StoreError::UnknownRun { .. })));
}

#[test]
fn a_run_whose_records_do_not_fit_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    fill(&path);
    let parent = "place = (SELECT key << 32 FROM run WHERE id = 'parent')";
    let last = "(SELECT records - 1 FROM run WHERE id = 'parent')";
    let changes = [
        format!("UPDATE record_block SET body = CAST(body || x'00' AS BLOB) WHERE {parent}"),
        format!("UPDATE record_block SET hash = zeroblob(32) WHERE {parent}"),
        format!("UPDATE record_block SET marks = zeroblob(length(marks)) WHERE {parent}"),
        format!("UPDATE record_block SET count = count - 1 WHERE {parent}"),
        format!("UPDATE record_block SET place = place + 1 WHERE {parent}"),
        format!("DELETE FROM record_block WHERE {parent}"),
        // The chain holds, but its seal is another's.
        "UPDATE run SET seal = 2 WHERE id = 'parent'".to_owned(),
        "UPDATE run SET root = (SELECT key FROM run WHERE id = 'failed') WHERE id = 'child'"
            .to_owned(),
        format!("UPDATE run SET exit = x'00' WHERE id = 'parent' AND {last} > 0"),
    ];
    for change in changes {
        let copy = directory.path().join("copy");
        std::fs::copy(&path, &copy).unwrap();
        let connection = Connection::open(&copy).unwrap();
        connection
            .pragma_update(None, "foreign_keys", false)
            .unwrap();
        assert_eq!(connection.execute(&change, []).unwrap(), 1, "{change}");
        let (before, untouched) = (derived(&connection), kept(&connection));
        let mut store = Store::open(&copy, &Options::default()).unwrap();
        let refused = store.rebuild(&run_id("parent"));
        assert!(
            matches!(refused, Err(StoreError::Damaged { .. })),
            "{change}: {refused:?}"
        );
        assert_eq!(derived(&connection), before, "{change}");
        // The others need not wait for it, and can still be searched.
        connection.execute_batch("DELETE FROM notice").unwrap();
        let mut outcomes = Vec::new();
        store
            .rebuild_all(|run, outcome| outcomes.push((run.to_string(), outcome.is_ok())))
            .unwrap();
        let parent = ("parent".to_owned(), false);
        assert!(outcomes.contains(&parent), "{change}: {outcomes:?}");
        assert!(outcomes.contains(&("again".to_owned(), true)), "{change}");
        let mut filter = RunFilter::default();
        filter.job = Some(job_id("job-of-again"));
        let found = store.search("naively", &filter, None, 9);
        assert!(!found.unwrap().items.is_empty(), "{change}");
        assert_eq!(kept(&connection), untouched, "{change}");
        drop(store);
        drop(connection);
        std::fs::remove_file(&copy).unwrap();
    }
}

#[test]
fn a_run_that_is_being_written_is_not_rebuilt_under_its_writer() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut writer = Store::open(&path, &Options::default()).unwrap();
    let made = Plan::new("open", 4).make();
    writer.begin_run(&made.begin).unwrap();
    writer.append(made.id(), &made.records[..12], &[]).unwrap();
    let mut other = Store::open(&path, &Options::default()).unwrap();
    for store in [&mut other, &mut writer] {
        let refused = store.rebuild(made.id());
        assert!(matches!(refused, Err(StoreError::Locked { .. })));
    }
    let finished = serde_json::json!(0);
    writer
        .append_and_finish(made.id(), &made.records, &made.chunks, &finished, 1)
        .unwrap();
    other.rebuild(made.id()).unwrap();
    assert_eq!(other.verify().unwrap().faults, []);
}
