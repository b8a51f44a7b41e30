//! Roles with the least rights: a recorder that can only append, a reader that can only read.

use std::io::Write;
use std::process::{Command, Stdio};

use runtape_store::{
    CallFilter, DatabaseFault, Options, PreparedRun, RunFilter, Store, StoreError,
};
use runtape_tests::postgres::{Care, Layout, Server, Sql, own_server};
use runtape_tests::runs::{Made, Plan, child};
use serde_json::json;

use crate::writers::contents;

/// What the documentation gives.
const ROLES: &str = include_str!("../../../store/src/postgres/roles.sql");

fn set_up() -> Option<Server> {
    let server = own_server(Care::Quick, &[])?;
    server.sql("postgres").run("CREATE DATABASE history");
    Layout::Whole.migrate(&server.address("history"));
    let sql = server.sql("history");
    sql.run(ROLES);
    sql.run("CREATE ROLE ann LOGIN; GRANT runtape_recorder TO ann");
    sql.run("CREATE ROLE bob LOGIN; GRANT runtape_reader TO bob");
    Some(server)
}

fn address(server: &Server, user: &str) -> String {
    server
        .address("history")
        .replace("runtape@", &format!("{user}@"))
}

fn open(server: &Server, user: &str) -> Store {
    Store::open(address(server, user), &Options::default()).unwrap()
}

fn is_not_allowed(error: &StoreError) -> bool {
    let StoreError::Database { fault, .. } = error else {
        return false;
    };
    match fault {
        DatabaseFault::NotAllowed => error.to_string().contains("rights of the user"),
        // It was opened for reading.
        DatabaseFault::ReadOnly => error.to_string().contains("permissions"),
        _ => false,
    }
}

/// Returns the tables.
fn tables(sql: &Sql) -> Vec<String> {
    let answer = sql.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
    answer
        .rows
        .into_iter()
        .filter_map(|mut row| row.remove(0))
        .collect()
}

/// Tries what must be refused for want of rights.
fn must_be_refused(sql: &Sql, statement: &str) {
    match sql.ask(statement) {
        Ok(_) => panic!("allowed: {statement}"),
        Err(refusal) => assert_eq!(refusal.code, "42501", "{statement}: {}", refusal.text),
    }
}

#[test]
fn a_recorder_can_only_append() {
    let Some(server) = set_up() else {
        return;
    };
    let owner = server.sql("history");
    let mut store = open(&server, "ann");
    // Live, with a child, taken up again, with a note, and at once; so many that usage is added up.
    let tree = Plan::new("tree", 40).make();
    store.begin_run(&tree.begin).unwrap();
    tree.append_live(&mut store, 7);
    store
        .append(tree.id(), &child(&tree, "child"), &[])
        .unwrap();
    store
        .leave_note(tree.id(), &json!({"why": "away"}))
        .unwrap();
    drop(store);
    let mut store = open(&server, "ann");
    store.resume_run(tree.id()).unwrap();
    store.finish_run(tree.id(), &json!({"code": 0}), 1).unwrap();
    let mut runs: Vec<Made> = (0..70)
        .map(|number| {
            let plan = Plan {
                session: Some(format!("session-{}", number % 9)),
                ..Plan::new(&format!("run-{number}"), 1)
            };
            plan.make()
        })
        .collect();
    for made in &runs {
        made.store_live(&mut store, 6);
    }
    let at_once = Plan::new("at-once", 5).make();
    let output = at_once.chunks.iter();
    let output = output.map(|chunk| (chunk.stream, chunk.received_at, chunk.bytes.as_slice()));
    let prepared = PreparedRun::new(&at_once.begin, &at_once.records, &json!({"code": 0})).unwrap();
    store.put_run(prepared.with_output(output), 1).unwrap();
    runs.push(at_once);
    for made in runs.iter().chain([&tree]) {
        assert_eq!(
            store.records(made.id(), 0, usize::MAX).unwrap(),
            made.records
        );
        assert_eq!(store.tape(made.id()).unwrap(), made.chunks);
    }
    assert_eq!(store.verify().unwrap().faults, []);
    assert!(store.head().unwrap().is_some());

    let before = contents(&owner, &["lease", "epoch"]);
    let deleted = store.delete_run(tree.id(), 5);
    assert!(deleted.as_ref().is_err_and(is_not_allowed), "{deleted:?}");
    let dropped = store.drop_tapes_before(i64::MAX, 6);
    assert!(dropped.as_ref().is_err_and(is_not_allowed), "{dropped:?}");
    let replaced = store.replace_records(tree.id(), &tree.records, 6);
    assert!(replaced.as_ref().is_err_and(is_not_allowed), "{replaced:?}");
    let sql = Sql::connect(&address(&server, "ann")).unwrap();
    for table in tables(&owner) {
        if table != "lease" {
            must_be_refused(&sql, &format!("DELETE FROM {table}"));
        }
        must_be_refused(&sql, &format!("TRUNCATE {table}"));
        must_be_refused(&sql, &format!("ALTER TABLE {table} ADD more int"));
        must_be_refused(&sql, &format!("DROP TABLE {table}"));
    }
    for statement in [
        "UPDATE record_block SET body = ''",
        "UPDATE tape_block SET body = ''",
        "UPDATE tape_block SET hash = ''",
        "UPDATE seal SET at = 0",
        "UPDATE seal SET run_id = 'x'",
        "UPDATE epoch SET at = 0",
        "UPDATE run SET run_id = 'x'",
        "UPDATE run SET root_id = 'x'",
        "UPDATE run_place SET root_id = 'x'",
        "UPDATE root SET root_id = 'x'",
        "UPDATE usage SET input_tokens = 0",
        "UPDATE step SET status = 'x'",
        "UPDATE tool_call SET command = 'true'",
        "UPDATE notice SET text = 'fine'",
        "UPDATE runtape SET value = '9'",
        "INSERT INTO runtape VALUES ('x', 'y')",
        "INSERT INTO chain_head VALUES (99, 0, '')",
        "CREATE TABLE more (a int)",
        "CREATE VIEW more AS SELECT 1",
        "COPY run TO PROGRAM 'cat'",
    ] {
        must_be_refused(&sql, statement);
    }
    assert_eq!(contents(&owner, &["lease", "epoch"]), before);
    assert_eq!(store.verify().unwrap().faults, []);
}

#[test]
fn a_reader_can_only_read() {
    let Some(server) = set_up() else {
        return;
    };
    let owner = server.sql("history");
    let made = Plan::new("one", 12).make();
    {
        let mut store = open(&server, "ann");
        // The second one is in no epoch yet, and nobody has looked for words in either.
        Plan::new("zero", 1).make().store(&mut store);
        made.store(&mut store);
    }
    let before = contents(&owner, &[]);
    for options in [Options::default(), Options::read_only()] {
        let mut store = Store::open(address(&server, "bob"), &options).unwrap();
        assert_eq!(
            store
                .runs(&RunFilter::default(), None, 9)
                .unwrap()
                .items
                .len(),
            2
        );
        assert_eq!(
            store.records(made.id(), 0, usize::MAX).unwrap(),
            made.records
        );
        assert_eq!(store.tape(made.id()).unwrap(), made.chunks);
        assert_eq!(
            store.tool_calls(&CallFilter::default(), 99).unwrap().len(),
            13
        );
        assert_eq!(store.verify().unwrap().faults, []);
        assert!(store.head().unwrap().is_some());
        let found = store.search("naively", &RunFilter::default(), None, 5);
        assert_eq!(found.unwrap().items.len(), 2);
        let begun = store.begin_run(&Plan::new("two", 1).make().begin);
        assert!(begun.as_ref().is_err_and(is_not_allowed), "{begun:?}");
        let deleted = store.delete_run(made.id(), 5);
        assert!(deleted.as_ref().is_err_and(is_not_allowed), "{deleted:?}");
    }
    let sql = Sql::connect(&address(&server, "bob")).unwrap();
    for table in tables(&owner) {
        must_be_refused(&sql, &format!("DELETE FROM {table}"));
        must_be_refused(&sql, &format!("INSERT INTO {table} SELECT * FROM {table}"));
        must_be_refused(&sql, &format!("TRUNCATE {table}"));
        must_be_refused(&sql, &format!("DROP TABLE {table}"));
    }
    must_be_refused(&sql, "UPDATE run SET status = NULL");
    must_be_refused(&sql, "CREATE TABLE more (a int)");
    assert_eq!(contents(&owner, &[]), before);
}

#[test]
fn the_script_stops_where_a_right_is_missing_and_changes_nothing() {
    let is_there = Command::new("psql").arg("--version").output().is_ok();
    let Some(server) = is_there.then(|| own_server(Care::Quick, &[])).flatten() else {
        return;
    };
    server.sql("postgres").run("CREATE DATABASE history");
    Layout::Whole.migrate(&server.address("history"));
    let owner = server.sql("history");
    owner.run("CREATE ROLE plain LOGIN");
    let script = Store::roles_sql().unwrap();
    let psql = |user: &str| {
        let mut child = Command::new("psql")
            .arg(address(&server, user))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // psql may have ended already.
        let _ = stdin.write_all(script.as_bytes());
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let roles = || {
        let answer = owner.run("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'runtape\\_%'");
        answer.rows[0][0].clone().unwrap()
    };
    let (code, said) = psql("plain");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("user plain may make no roles"), "{said}");
    assert!(said.contains("ALTER ROLE plain CREATEROLE"), "{said}");
    assert_eq!(roles(), "0");
    // Who may make roles and does not own the tables gets half of it, and keeps nothing.
    owner.run("ALTER ROLE plain CREATEROLE");
    let (code, said) = psql("plain");
    assert_eq!(code, Some(3), "{said}");
    assert_eq!(roles(), "0", "{said}");
    let (code, said) = psql("runtape");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(roles(), "2");
}
