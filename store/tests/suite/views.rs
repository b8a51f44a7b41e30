//! The audit views are as documented, and say what the records say.

use runtape_store::{Options, Store};
use rusqlite::Connection;

use runtape_tests::runs::Plan;

/// Returns the views and columns that VIEWS.md documents.
fn documented() -> Vec<(String, Vec<String>)> {
    let mut views: Vec<(String, Vec<String>)> = Vec::new();
    for line in include_str!("../../VIEWS.md").lines() {
        if let Some(view) = line.strip_prefix("## ") {
            views.push((view.to_owned(), Vec::new()));
        } else if let Some(rest) = line.strip_prefix("| ") {
            let column = rest.split(' ').next().unwrap().to_owned();
            if column != "column" {
                views.last_mut().unwrap().1.push(column);
            }
        }
    }
    views
}

fn database() -> (tempfile::TempDir, Connection) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    Plan::new("a", 8).make().store(&mut store);
    Plan {
        fails: true,
        ..Plan::new("b", 1)
    }
    .make()
    .store(&mut store);
    drop(store);
    let connection = Connection::open(path).unwrap();
    (directory, connection)
}

#[test]
fn the_views_are_those_of_the_documentation() {
    let (_directory, connection) = database();
    let mut statement = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")
        .unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    let found: Vec<String> = rows.map(Result::unwrap).collect();
    let mut names: Vec<String> = documented().into_iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(found, names);
    for (view, columns) in documented() {
        let statement = connection
            .prepare(&format!("SELECT * FROM {view}"))
            .unwrap();
        let found: Vec<&str> = statement.column_names().collect();
        assert_eq!(found, columns, "{view}");
    }
}

#[test]
fn the_views_say_what_the_records_say() {
    let (_directory, connection) = database();
    let one = |sql: &str| -> String {
        connection
            .query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0))
            .map(|value| format!("{value:?}"))
            .unwrap()
    };
    let cases = [
        (
            "SELECT count(*) FROM v_jobs WHERE status = 'completed'",
            "Integer(1)",
        ),
        (
            "SELECT started_at FROM v_runs WHERE run_id = 'a'",
            "Text(\"2026-09-21T14:13:20.000Z\")",
        ),
        (
            "SELECT count(*) FROM v_steps WHERE run_id = 'a'",
            "Integer(9)",
        ),
        (
            "SELECT count(DISTINCT checkpoint_id) FROM v_checkpoints",
            "Integer(11)",
        ),
        ("SELECT sum(is_error) FROM v_tool_calls", "Integer(1)"),
        (
            "SELECT count(*) FROM v_tool_calls WHERE command LIKE 'cat file%'",
            "Integer(9)",
        ),
        ("SELECT sum(duration_ms) FROM v_tool_calls", "Integer(108)"),
        (
            "SELECT count(*) FROM v_files WHERE path = 'b.txt'",
            "Integer(9)",
        ),
        (
            "SELECT family || status_code FROM v_errors",
            "Text(\"overload529\")",
        ),
        (
            "SELECT sum(output_tokens) FROM v_usage_daily",
            "Integer(180)",
        ),
        ("SELECT sum(reasoning_tokens) FROM v_usage_daily", "Null"),
        (
            "SELECT count(*) FROM v_notices WHERE kind = 'stderr'",
            "Integer(3)",
        ),
        ("SELECT tag FROM v_unparsed LIMIT 1", "Text(\"novelty\")"),
    ];
    for (sql, expected) in cases {
        assert_eq!(one(sql), expected, "{sql}");
    }
}
