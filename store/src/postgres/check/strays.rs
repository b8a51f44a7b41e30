//! Rows that belong to nothing, and rows that must agree with others.

use crate::error::Result;
use crate::postgres::Postgres;
use crate::postgres::columns::get;
use crate::postgres::schema::NEWEST;

/// Tables whose rows are of a run, and of a root run.
const OF_RUNS: [&str; 7] = [
    "record_block",
    "step",
    "tool_call",
    "notice",
    "unparsed",
    "usage",
    "search",
];
const OF_ROOTS: [&str; 1] = ["tape_block"];

/// Writes which rows of a table belong to no run.
fn astray(table: &str) -> String {
    let is_it = if OF_ROOTS.contains(&table) {
        "run.run_no = 0".to_owned()
    } else {
        format!("run.run_no = {table}.run_no")
    };
    format!("NOT EXISTS (SELECT 1 FROM run WHERE run.root_id = {table}.root_id AND {is_it})")
}

/// What there must be none of: a number of rows, and what is said of them.
const AGREEMENTS: [(&str, &str); 9] = [
    (
        "SELECT count(*) FROM run WHERE run_no <> 0 AND NOT EXISTS (
            SELECT 1 FROM run AS main WHERE main.root_id = run.root_id AND main.run_no = 0)",
        "child runs have no root run",
    ),
    (
        "SELECT count(*) FROM run WHERE run_no < 0 OR (run_no = 0) <> (run_id = root_id)",
        "runs have a number or an id that is not theirs",
    ),
    (
        "SELECT (SELECT count(*) FROM run WHERE run_no = 0
                AND NOT EXISTS (SELECT 1 FROM root WHERE root.root_id = run.root_id))
            + (SELECT count(*) FROM root WHERE NOT EXISTS (
                SELECT 1 FROM run WHERE run.root_id = root.root_id AND run.run_no = 0))",
        "root runs are only half there",
    ),
    (
        "SELECT (SELECT count(*) FROM run WHERE NOT EXISTS (
                SELECT 1 FROM run_place AS place
                WHERE place.run_id = run.run_id AND place.root_id = run.root_id))
            + (SELECT count(*) FROM run_place AS place WHERE NOT EXISTS (
                SELECT 1 FROM run
                WHERE run.root_id = place.root_id AND run.run_id = place.run_id))",
        "runs are not where their place says",
    ),
    (
        "SELECT count(*) FROM root WHERE next_no <= (
            SELECT max(run_no) FROM run WHERE run.root_id = root.root_id)",
        "trees would give the number of a run a second time",
    ),
    (
        "SELECT count(*) FROM root WHERE (seal_chain IS NULL) <> (seal_number IS NULL)",
        "trees have half a seal",
    ),
    (
        "SELECT count(*) FROM root WHERE summed NOT IN (0, 1, 2)
            OR (summed <> 0 AND seal_number IS NULL)",
        "trees say wrongly that they are among the sums of usage",
    ),
    (
        "SELECT count(*) FROM usage_sum WHERE span NOT IN (1, 96) OR kind NOT BETWEEN 0 AND 11",
        "rows of table usage_sum are sums of nothing",
    ),
    (
        "SELECT count(*) FROM chain_head AS head
         FULL JOIN (SELECT DISTINCT ON (chain) chain, number, hash FROM seal
            ORDER BY chain, number DESC) AS last ON last.chain = head.chain
         WHERE (head.number, head.hash) IS DISTINCT FROM
            (coalesce(last.number, 0), coalesce(last.hash, decode(repeat('00', 32), 'hex')))",
        "chains of seals do not end where they are said to",
    ),
];

/// Finds rows that belong to nothing, and rows that do not agree with others.
pub(in crate::postgres) fn strays(pg: &Postgres) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let number = |sql: &str| {
        let row = pg.row(sql, &[])?;
        row.map_or(Ok(None), |row| get::<Option<i64>>(&row, 0))
    };
    for table in OF_RUNS.into_iter().chain(OF_ROOTS) {
        let sql = format!("SELECT count(*) FROM {table} WHERE {}", astray(table));
        match number(&sql)? {
            None | Some(0) => {}
            Some(count) => {
                faults.push(format!("{count} rows of table {table} belong to no run"));
            }
        }
    }
    for (sql, fault) in AGREEMENTS {
        match number(sql)? {
            None | Some(0) => {}
            Some(count) => faults.push(format!("{count} {fault}")),
        }
    }
    // Counts what the database says of itself rightly: three things, and nothing else.
    let sql = format!(
        "SELECT sum(CASE
            WHEN name = 'schema' AND value = '{NEWEST}' THEN 1
            WHEN name = 'chains' AND value = (SELECT count(*)::text FROM chain_head)
                AND (SELECT min(chain) = 0 AND max(chain) = count(*) - 1 FROM chain_head) THEN 1
            WHEN name = 'id' AND value ~ '^[0-9a-f]{{32}}$' THEN 1
            ELSE 100
         END) FROM runtape"
    );
    if number(&sql)? != Some(3) {
        faults.push("table runtape does not say what this database is".to_owned());
    }
    Ok(faults)
}

/// Makes right what follows from other rows, and deletes rows that belong to nothing.
pub(in crate::postgres) fn repair(pg: &Postgres) -> Result<()> {
    for table in OF_RUNS.into_iter().chain(OF_ROOTS) {
        pg.execute(&format!("DELETE FROM {table} WHERE {}", astray(table)), &[])?;
    }
    for sql in REPAIRS {
        pg.execute(sql, &[])?;
    }
    Ok(())
}

const REPAIRS: [&str; 5] = [
    "DELETE FROM run_place AS place WHERE NOT EXISTS (
        SELECT 1 FROM run WHERE run.root_id = place.root_id AND run.run_id = place.run_id)",
    "INSERT INTO run_place (run_id, root_id) SELECT run_id, root_id FROM run ON CONFLICT DO NOTHING",
    "UPDATE root SET next_no = greatest(next_no, 1 + (
        SELECT max(run_no) FROM run WHERE run.root_id = root.root_id))
     WHERE next_no <= (SELECT max(run_no) FROM run WHERE run.root_id = root.root_id)",
    "UPDATE root SET summed = 0 WHERE summed NOT IN (0, 1, 2)",
    "UPDATE chain_head AS head SET number = last.number, hash = last.hash
     FROM (SELECT DISTINCT ON (chain) chain, number, hash FROM seal ORDER BY chain, number DESC) AS last
     WHERE last.chain = head.chain AND (head.number, head.hash) IS DISTINCT FROM (last.number, last.hash)",
];
