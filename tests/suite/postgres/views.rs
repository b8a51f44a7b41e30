//! The views of a server are those of a file: the same columns, and the same rows for the same runs.

use runtape_core::RecordKind;
use runtape_store::{Options, Store, StoreError};
use runtape_tests::postgres::{Database, Layout};
use runtape_tests::runs::{Made, Plan, child};
use serde_json::{Map, Value, json};

/// Returns the views and columns that VIEWS.md documents.
fn documented() -> Vec<(String, Vec<String>)> {
    let mut views: Vec<(String, Vec<String>)> = Vec::new();
    for line in include_str!("../../../store/VIEWS.md").lines() {
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

fn rows(store: &Store, sql: &str) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    let asked = store.query(sql, |row| {
        rows.push(row);
        true
    });
    asked.unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows
}

/// Gives a run a label.
fn label(made: &mut Made, value: &str) {
    let patch = made
        .records
        .iter_mut()
        .find_map(|record| match &mut record.kind {
            RecordKind::Metadata(patch) => Some(patch),
            _ => None,
        });
    let labels = json!({"team": value, "other": ""});
    patch.unwrap().set.set("labels", labels);
}

/// Runs with all that views tell of: children, failures, sessions with several runs, labels, and texts that a server
/// cannot keep as they are.
fn fill(store: &mut Store) {
    for (number, session) in [Some("s"), Some("s"), None, Some("a\0b")]
        .into_iter()
        .enumerate()
    {
        let plan = Plan {
            session: session.map(str::to_owned),
            fails: number == 2,
            at: 1_790_000_000_000 + i64::try_from(number).unwrap() * 86_400_000,
            ..Plan::new(&format!("run-{number}"), 3)
        };
        let mut made = plan.make();
        label(&mut made, "a\0\\u0000 \u{fdd0}");
        let middle = made.records.len() / 2;
        let records = child(&made, &format!("child-{number}"));
        made.records.splice(middle..middle, records);
        made.store(store);
    }
    for at in [1, 2, 3] {
        let total = runtape_tests::runs::counts(at * 100, at * 7);
        let plan = Plan {
            session: Some("totals".to_owned()),
            at: 1_790_000_000_000 + at,
            session_total: Some(total),
            ..Plan::new(&format!("total-{at}"), 0)
        };
        plan.make().store(store);
    }
}

#[test]
fn the_views_are_those_of_the_documentation() {
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    let sql = database.sql();
    for (view, mut columns) in documented() {
        if view == "v_runs" {
            columns.push("seal_chain".to_owned());
        }
        let asked = format!(
            "SELECT attname FROM pg_attribute WHERE attrelid = '{view}'::regclass AND attnum > 0 ORDER BY attnum"
        );
        let found = sql.run(&asked).rows.into_iter();
        let found: Vec<String> = found.filter_map(|mut row| row.remove(0)).collect();
        assert_eq!(found, columns, "{view}");
    }
}

#[test]
fn the_rows_are_those_of_a_file() {
    for layout in [Layout::Whole, Layout::Partitioned] {
        let Some(database) = Database::fresh(layout) else {
            return;
        };
        let directory = tempfile::tempdir().unwrap();
        let mut server = Store::open(database.address(), &Options::default()).unwrap();
        let mut file = Store::open(directory.path().join("db"), &Options::default()).unwrap();
        fill(&mut server);
        fill(&mut file);
        for (view, columns) in documented() {
            let columns = columns.into_iter().filter(|column| column != "seal");
            let columns: Vec<String> = columns.map(|column| format!("\"{column}\"")).collect();
            let columns = columns.join(", ");
            let sql = format!("SELECT {columns} FROM {view}");
            let sorted = |store: &Store| {
                let rows = rows(store, &sql).into_iter().map(Value::Object);
                let mut rows: Vec<String> = rows.map(|row| row.to_string()).collect();
                rows.sort();
                rows
            };
            let (here, there) = (sorted(&file), sorted(&server));
            assert!(!here.is_empty() || view == "v_unparsed", "{view}");
            assert_eq!(here, there, "{view}");
        }
    }
}

#[test]
fn a_query_of_ones_own_is_one_question() {
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    let mut store = Store::open(database.address(), &Options::default()).unwrap();
    fill(&mut store);
    let before = crate::writers::contents(&database.sql(), &[]);
    for bad in [
        "COMMIT",
        "SELECT 1; COMMIT; DELETE FROM run",
        "SELECT 1; SELECT 2",
        "SET TRANSACTION READ WRITE",
        "SELECT set_config('transaction_read_only', 'off', false)",
        "WITH gone AS (DELETE FROM run RETURNING *) SELECT * FROM gone",
        "EXPLAIN ANALYZE DELETE FROM run",
        "SELECT * INTO copied FROM run",
        "SELECT * FROM run FOR UPDATE",
        "COPY run TO PROGRAM 'cat'",
        "DO $$ BEGIN DELETE FROM run; END $$",
        "CALL nothing()",
        "PREPARE x AS DELETE FROM run",
        "SELECT $1",
        "SELECT 1 -- ; \n; DELETE FROM run",
        "/* SELECT */ DELETE FROM run",
        "SELECT 1\0",
        "",
    ] {
        let refused = store.query(bad, |_| true);
        assert!(
            matches!(refused, Err(StoreError::BadSql { .. })),
            "{bad}: {refused:?}"
        );
        assert_eq!(
            crate::writers::contents(&database.sql(), &[]),
            before,
            "{bad}"
        );
    }
    for missing in ["SELECT * FROM v_messages", "SELECT input FROM v_tool_calls"] {
        let refused = store.query(missing, |_| true).unwrap_err().to_string();
        assert!(refused.contains("compressed records"), "{refused}");
    }
    let sql = "SELECT 1 AS a, 2 AS a, 1.5::float8 AS b, true AS c, '\\x00ff'::bytea AS d, NULL AS e,
                   sum(n) AS f, '{1,2}'::int[] AS g, U&'a\\FDD00b' AS h FROM generate_series(1, 3) AS n -- that is all";
    let expected = json!({
        "a": 1, "a:2": 2, "b": 1.5, "c": 1, "d": "00ff", "e": null, "f": 6, "g": "{1,2}", "h": "a\0b"
    });
    assert_eq!(rows(&store, sql), [expected.as_object().unwrap().clone()]);
    let many = rows(&store, "SELECT n FROM generate_series(1, 1700) AS n");
    assert_eq!(many.len(), 1700);
    let mut seen = 0;
    let stopped = store.query("SELECT n FROM generate_series(1, 1700) AS n", |_| {
        seen += 1;
        seen < 600
    });
    stopped.unwrap();
    assert_eq!(seen, 600);
    assert!(!rows(&store, "EXPLAIN SELECT * FROM v_runs").is_empty());
    assert_eq!(rows(&store, "SHOW transaction_read_only").len(), 1);
    assert_eq!(crate::writers::contents(&database.sql(), &[]), before);
}
