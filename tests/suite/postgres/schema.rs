//! A schema that somebody changed: `verify` names what.

use runtape_store::{Options, Store};
use runtape_tests::postgres::{Database, Layout};
use runtape_tests::runs::Plan;

fn faults(address: &str) -> Vec<String> {
    let store = Store::open(address, &Options::default());
    let report = store.and_then(|store| store.verify());
    match report {
        Ok(report) => report.faults.into_iter().map(|fault| fault.fault).collect(),
        Err(error) => vec![error.to_string()],
    }
}

#[test]
fn each_difference_of_a_schema_is_named() {
    let cases = [
        ("DROP VIEW v_errors", "has no view v_errors"),
        (
            "CREATE OR REPLACE VIEW v_notices AS SELECT run_id, job_id, runtime, step, seq, at, kind, upper(text) COLLATE \"C\" AS text FROM (SELECT run.run_id, run.job_id, run.runtime, notice.step, notice.seq, runtape_time(notice.at) COLLATE \"C\" AS at, notice.kind, notice.text FROM notice JOIN run USING (root_id, run_no)) AS n",
            "view v_notices was changed",
        ),
        (
            "CREATE OR REPLACE FUNCTION runtape_sum(total numeric) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 7",
            "function runtape_sum(total numeric) was changed",
        ),
        (
            "CREATE FUNCTION runtape_sum(total bigint) RETURNS bigint LANGUAGE sql RETURN 7",
            "an extra function runtape_sum(total bigint)",
        ),
        ("DROP INDEX run_by_job", "no index CREATE INDEX run_by_job"),
        (
            "CREATE INDEX more ON run (steps)",
            "an extra index CREATE INDEX more",
        ),
        (
            "ALTER TABLE notice ADD COLUMN more text",
            "an extra table notice.more text",
        ),
        (
            "ALTER TABLE lease ALTER COLUMN note TYPE varchar",
            "no table lease.note text",
        ),
        (
            "ALTER TABLE notice ALTER COLUMN text DROP NOT NULL",
            "no table notice.text text COLLATE C NOT NULL",
        ),
        (
            "ALTER TABLE root ALTER COLUMN summed SET DEFAULT 1",
            "no table root.summed smallint NOT NULL DEFAULT 0",
        ),
        (
            "ALTER TABLE notice DROP CONSTRAINT notice_pkey",
            "no key CREATE UNIQUE INDEX notice_pkey",
        ),
        (
            "CREATE RULE forget AS ON INSERT TO notice DO INSTEAD NOTHING",
            "an extra rule forget on notice",
        ),
        (
            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER drop_it BEFORE INSERT ON usage FOR EACH ROW EXECUTE FUNCTION f()",
            "an extra trigger drop_it on usage",
        ),
        (
            "ALTER TABLE run ENABLE ROW LEVEL SECURITY",
            "an extra row security on run",
        ),
        (
            "CREATE TABLE more () INHERITS (notice)",
            "an extra table more inherits from notice",
        ),
        (
            "ALTER TABLE run ADD CHECK (steps < 100)",
            "an extra constraint",
        ),
        (
            "ALTER TABLE unparsed RENAME TO gone; CREATE VIEW unparsed AS TABLE gone",
            "no table unparsed.seq",
        ),
    ];
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    let mut store = Store::open(database.address(), &Options::default()).unwrap();
    Plan::new("one", 2).make().store(&mut store);
    assert_eq!(store.verify().unwrap().faults, []);
    drop(store);
    // What others have in the same schema is theirs.
    database
        .sql()
        .run("CREATE TABLE theirs (a int); CREATE VIEW v_theirs AS SELECT 1 AS a");
    assert_eq!(faults(database.address()), Vec::<String>::new());
    for (sql, expected) in cases {
        let Some(copy) = database.copy() else {
            return;
        };
        copy.sql().run(sql);
        let found = faults(copy.address());
        assert!(
            found.iter().any(|found| found.contains(expected)),
            "{sql}: {found:#?}"
        );
    }
}

/// Changes of a view that leave its columns as they are: another condition, other brackets, the same column of another
/// table, another number.
const CHANGES: [(&str, &str); 6] = [
    (" AND ", " OR "),
    ("IS NOT NULL", "IS NULL"),
    ("(run.run_no", "(root_id"),
    (".root_id = run.root_id", ".root_id = root.root_id"),
    (" > 0", " > 1"),
    ("::integer", "::smallint::integer"),
];

#[test]
fn a_view_that_says_something_else_is_seen() {
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    drop(Store::open(database.address(), &Options::default()).unwrap());
    let sql = database.sql();
    let names = sql.value(
        "SELECT string_agg(relname, ' ') FROM pg_class WHERE relkind = 'v' AND relname ~ '^(v|counted)_'",
    );
    let mut changed = 0;
    for name in names.split(' ') {
        let told = |sql: &runtape_tests::postgres::Sql| {
            sql.value(&format!("SELECT pg_get_viewdef('{name}'::regclass)"))
        };
        let whole = told(&sql);
        for (from, to) in CHANGES {
            let other = whole.replacen(from, to, 1);
            let replace = format!("CREATE OR REPLACE VIEW {name} AS {other}");
            if sql.ask(&replace).is_err() {
                continue;
            }
            let is_other = told(&sql) != whole;
            let expected = format!("the schema's view {name} was changed");
            let found = faults(database.address());
            assert_eq!(
                found.contains(&expected),
                is_other,
                "{name}, {from} -> {to}: {found:#?}"
            );
            sql.run(&format!("CREATE OR REPLACE VIEW {name} AS {whole}"));
            changed += usize::from(is_other);
        }
    }
    assert!(changed >= 15, "only {changed} changes were made");
    assert_eq!(faults(database.address()), Vec::<String>::new());
}

#[test]
fn a_trigger_on_a_part_of_a_table_is_found() {
    let Some(database) = Database::fresh(Layout::Partitioned) else {
        return;
    };
    assert_eq!(faults(database.address()), Vec::<String>::new());
    let sql = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
               CREATE TRIGGER drop_it BEFORE INSERT ON usage_3 FOR EACH ROW EXECUTE FUNCTION f()";
    database.sql().run(sql);
    let found = faults(database.address());
    assert!(
        found
            .iter()
            .any(|found| found.contains("trigger drop_it on usage")),
        "{found:?}"
    );
}
