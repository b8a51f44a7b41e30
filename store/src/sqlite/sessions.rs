//! Lists of sessions.

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::columns::{self, counts, run_id, runtime, unsigned};
use super::condition::Condition;
use super::sums::{cost_sum, counted_of_runs};
use crate::backend::{RunKey, Selection, SessionRow};
use crate::error::Result;
use crate::page::PageMark;

/// When something happened in a root run last: it ended, a step of it did, or it began.
const ACTIVITY: &str = "coalesce(main.finished_at, (
        SELECT step.finished_at FROM step WHERE step.run = main.key ORDER BY step.step DESC LIMIT 1
    ), main.started_at)";

/// The root runs of a session: its words are the first two parameters.
const ROOTS: &str = "session = ?1 AND runtime = ?2 AND root IS NULL";

/// Tells whether there is a run of a session.
pub(crate) fn has_run(connection: &Connection, session: i64) -> Result<bool> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM run WHERE session = ?1")?;
    Ok(statement.exists([session])?)
}

/// Returns the sessions of runs, the one in which something happened last first.
pub(crate) fn list(
    connection: &Connection,
    selection: Selection<'_>,
    after: Option<&PageMark>,
    limit: usize,
) -> Result<Vec<SessionRow>> {
    let mut condition = Condition::selecting(selection);
    let mut wanted = Vec::new();
    if !condition.terms.is_empty() {
        // Any run of the tree will do: a tool may have been called by a child.
        wanted.push(format!(
            "max(EXISTS (SELECT 1 FROM run WHERE (run.key = main.key OR run.root = main.key) AND {}))",
            condition.sql()
        ));
    }
    if let Some(mark) = after {
        let number = condition.next();
        condition.values.push(mark.at().into());
        condition.values.push(mark.id().to_owned().into());
        wanted.push(format!("(active, name) < (?{number}, ?{})", number + 1));
    }
    if wanted.is_empty() {
        wanted.push("TRUE".to_owned());
    }
    let sql = format!(
        "SELECT main.session, main.runtime, max({ACTIVITY}) AS active,
            runtime.text || '/' || session.text AS name
         FROM run AS main
         JOIN word AS runtime ON runtime.key = main.runtime
         JOIN word AS session ON session.key = main.session
         WHERE main.root IS NULL AND main.session IS NOT NULL
         GROUP BY main.session, main.runtime HAVING {}
         ORDER BY active DESC, name DESC LIMIT {}",
        wanted.join(" AND "),
        columns::limit(limit),
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found: Vec<(i64, i64, i64)> = statement
        .query_map(params_from_iter(&condition.values), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let rows = found.into_iter();
    rows.map(|(session, runtime, active)| one(connection, session, runtime, active))
        .collect()
}

/// Makes a session from its runs.
fn one(connection: &Connection, session: i64, runtime_key: i64, active: i64) -> Result<SessionRow> {
    let words = params![session, runtime_key];
    let root = |order: &str| {
        let sql = format!(
            "SELECT key, id FROM run WHERE {ROOTS} ORDER BY started_at {order}, id {order} LIMIT 1"
        );
        connection.prepare_cached(&sql)?.query_row(words, |row| {
            Ok(RunKey {
                number: row.get(0)?,
                root: run_id(row, 1)?,
            })
        })
    };
    let sql = format!(
        "SELECT word.text FROM run JOIN word ON word.key = run.cwd WHERE {ROOTS}
         ORDER BY started_at DESC, id DESC LIMIT 1"
    );
    let cwd = connection
        .prepare_cached(&sql)?
        .query_row(words, |row| row.get(0))
        .optional()?;
    let (first, latest) = (root("ASC")?, root("DESC")?);
    let roots = format!("SELECT key FROM run WHERE {ROOTS}");
    let sql = format!(
        "SELECT sum(run.root IS NULL), min(run.started_at), {}, {},
            (SELECT text FROM word WHERE key = ?1), (SELECT text FROM word WHERE key = ?2)
         FROM run WHERE run.key IN ({roots}) OR run.root IN ({roots})",
        cost_sum("run.cost_usd"),
        counted_of_runs(),
    );
    let row = connection.prepare_cached(&sql)?.query_row(words, |row| {
        Ok(SessionRow {
            runs: row.get(0).map(unsigned)?,
            started_at: row.get(1)?,
            cost_usd: row.get(2)?,
            usage: counts(row, 3)?,
            session: row.get(7)?,
            runtime: runtime(row, 8)?,
            last_active_at: active,
            cwd,
            first,
            latest,
        })
    })?;
    Ok(row)
}

/// Returns how many root runs have no session.
pub(crate) fn runs_without(connection: &Connection, selection: Selection<'_>) -> Result<u64> {
    let condition = Condition::selecting(selection);
    let sql = format!(
        "SELECT count(*) FROM run WHERE run.root IS NULL AND run.session IS NULL AND {}",
        condition.sql()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = params_from_iter(&condition.values);
    Ok(statement.query_row(values, |row| row.get(0).map(unsigned))?)
}
