//! The file as a whole: its schema, its pages and indexes, and rows that nothing leads to.

use rusqlite::Connection;

use crate::error::Result;
use crate::sqlite::{keys, migrate, schema, usage_sums};

/// Compares the schema, then lets `SQLite` check its own structure, indexes against tables among it.
pub(crate) fn faults(connection: &Connection) -> Result<Vec<String>> {
    let differences = schema::differences(connection)?;
    if !differences.is_empty() {
        return Ok(differences);
    }
    let mut statement = connection.prepare("PRAGMA integrity_check(5)")?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0));
    let lines: rusqlite::Result<Vec<String>> = rows.and_then(Iterator::collect);
    Ok(match lines {
        Ok(lines) => lines.into_iter().filter(|line| line != "ok").collect(),
        Err(error) => vec![error.to_string()],
    })
}

/// Finds rows that belong to nothing, and counters that would give a key a second time.
pub(crate) fn strays(connection: &Connection) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let tables = [
        ("record_block", "place >> 32", "SELECT key FROM run"),
        (
            "tape_block",
            "place >> 32",
            "SELECT key FROM run WHERE root IS NULL",
        ),
        ("step", "run", "SELECT key FROM run"),
        ("tool_call", "run", "SELECT key FROM run"),
        ("notice", "run", "SELECT key FROM run"),
        ("unparsed", "run", "SELECT key FROM run"),
        ("usage", "run", "SELECT key FROM run"),
        ("job", "key", "SELECT job FROM run"),
    ];
    for (table, run, known) in tables {
        let sql = format!("SELECT min({run}), count(*) FROM {table} WHERE {run} NOT IN ({known})");
        let (first, count): (Option<i64>, i64) =
            connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if let Some(first) = first {
            let fault = format!("{count} rows of table {table} belong to no run (key {first})");
            faults.push(fault);
        }
    }
    let sql = "SELECT count(*) FROM run WHERE (root IS NOT NULL AND
                   root NOT IN (SELECT key FROM run WHERE root IS NULL))";
    let lost: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    if lost > 0 {
        faults.push(format!("{lost} child runs have no root run"));
    }
    // Without these a run is not even listed.
    let sql = "SELECT count(*) FROM run WHERE job NOT IN (SELECT key FROM job)
                   OR runtime NOT IN (SELECT key FROM word)";
    let lost: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    if lost > 0 {
        faults.push(format!("{lost} runs have no job or no runtime"));
    }
    if migrate::version(connection)? >= migrate::KEYS_ARE_COUNTED {
        faults.extend(keys::faults(connection)?);
    }
    if migrate::version(connection)? >= migrate::USAGE_IS_SUMMED {
        faults.extend(usage_sums::faults(connection)?);
    }
    Ok(faults)
}
