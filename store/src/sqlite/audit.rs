//! Questions of an auditor, in SQL.

use std::fmt::{Display, Write as _};

use runtape_core::report::{Drift, DriftKind, NoticeInfo, RunInfo};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value};

use super::columns::{self, job_id, run_id, runtime, unsigned};
use super::condition::{Condition, any_time, by_time_unless_few, select};
use super::{list, runs};
use crate::backend::EndedRoot;
use crate::error::{Result, StoreError};
use crate::filter::RunFilter;
use crate::period::Happening;
use crate::read::audit::unlike;

/// Returns what runtimes reported besides, the latest first; of some kinds only if any is named.
pub(crate) fn notices(
    connection: &Connection,
    filter: &RunFilter,
    kinds: &[&str],
    limit: usize,
) -> Result<Vec<NoticeInfo>> {
    let mut condition = Condition::of(filter, Happening::Notice);
    if !kinds.is_empty() {
        let kinds = Value::from(kinds).to_string();
        condition.add("kind.text IN (SELECT value FROM json_each(?))", kinds);
    }
    let sql = format!(
        "SELECT job.id, run.id, runtime.text, notice.step, notice.seq, notice.at, kind.text,
                notice.text
         FROM notice
         {} run ON run.key = notice.run
         JOIN job ON job.key = run.job
         JOIN word AS runtime ON runtime.key = run.runtime
         JOIN word AS kind ON kind.key = notice.kind
         WHERE {} AND {} ORDER BY notice.at DESC, run.id DESC, notice.seq DESC LIMIT {}",
        by_time_unless_few(filter),
        any_time(filter, Happening::Notice),
        condition.sql(),
        columns::limit(limit),
    );
    select(connection, &sql, &condition, |row| {
        Ok(NoticeInfo {
            job_id: job_id(row, 0)?,
            run_id: run_id(row, 1)?,
            runtime: runtime(row, 2)?,
            step: row.get(3).map(unsigned)?,
            seq: row.get(4).map(unsigned)?,
            at: row.get(5)?,
            kind: row.get(6)?,
            text: row.get(7)?,
        })
    })
}

/// Returns runs that failed, the latest first.
pub(crate) fn errors(
    connection: &Connection,
    filter: &RunFilter,
    limit: usize,
) -> Result<Vec<RunInfo>> {
    let mut condition = Condition::of(filter, Happening::End);
    condition.add_failed(filter);
    list::latest(connection, &condition, Happening::End, limit)
}

/// Returns lines that were not understood, by kind, the most frequent first. The first one is shown.
pub(crate) fn unparsed_lines(
    connection: &Connection,
    filter: &RunFilter,
    limit: usize,
) -> Result<Vec<Drift>> {
    let condition = Condition::of(filter, Happening::Unparsed);
    let sql = format!(
        "WITH line AS (
            SELECT runtime.text AS runtime, cli_version.text AS cli_version, tag.text AS tag,
                output.reason, run.id AS run_id, output.seq, output.excerpt, row_number() OVER (
                    PARTITION BY run.runtime, run.cli_version, output.tag, output.reason
                    ORDER BY run.started_at, run.id, output.seq
                ) AS place
            FROM unparsed AS output JOIN run ON run.key = output.run
            JOIN word AS runtime ON runtime.key = run.runtime
            LEFT JOIN word AS tag ON tag.key = output.tag
            LEFT JOIN word AS cli_version ON cli_version.key = run.cli_version
            WHERE {}
         )
         SELECT runtime, cli_version, tag, reason, count(*), count(DISTINCT run_id),
            max(run_id) FILTER (WHERE place = 1), max(seq) FILTER (WHERE place = 1),
            max(excerpt) FILTER (WHERE place = 1)
         FROM line GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1, 2, 3, 4 LIMIT {}",
        condition.sql(),
        columns::limit(limit),
    );
    select(connection, &sql, &condition, |row| {
        Ok(Drift {
            kind: DriftKind::Line,
            runtime: runtime(row, 0)?,
            cli_version: row.get(1)?,
            tag: row.get(2)?,
            reason: row.get(3)?,
            lines: row.get(4).map(unsigned)?,
            runs: row.get(5).map(unsigned)?,
            run_id: run_id(row, 6)?,
            seq: row.get(7).map(unsigned)?,
            excerpt: row.get(8)?,
        })
    })
}

/// Returns the root runs that have ended, the latest first.
pub(crate) fn ended_roots(connection: &Connection, filter: &RunFilter) -> Result<Vec<EndedRoot>> {
    let mut condition = Condition::of(filter, Happening::End);
    condition.terms.push("run.root IS NULL".to_owned());
    condition.terms.push("run.status IS NOT NULL".to_owned());
    let sql = format!(
        "SELECT run.key, run.id, runtime.text, cli_version.text, coalesce((
            SELECT step.seq FROM step WHERE step.run = run.key
            ORDER BY step.step DESC LIMIT 1 OFFSET 1
         ), 0)
         FROM run JOIN word AS runtime ON runtime.key = run.runtime
         LEFT JOIN word AS cli_version ON cli_version.key = run.cli_version
         WHERE {} ORDER BY run.started_at DESC, run.id DESC",
        condition.sql(),
    );
    select(connection, &sql, &condition, |row| {
        Ok(EndedRoot {
            key: runs::key(row, 0, 1, 1)?,
            id: run_id(row, 1)?,
            runtime: runtime(row, 2)?,
            cli_version: row.get(3)?,
            last_step_after: row.get(4).map(unsigned)?,
        })
    })
}

/// Calls `each` with the rows of a query until it returns `false`. Only reading is possible.
pub(crate) fn query(
    connection: &Connection,
    sql: &str,
    each: &mut dyn FnMut(Map<String, Value>) -> bool,
) -> Result<()> {
    let bad = |error: &dyn Display| StoreError::BadSql {
        fault: error.to_string(),
    };
    let mut statement = connection.prepare(sql).map_err(|error| bad(&error))?;
    if !statement.readonly() {
        return Err(bad(
            &"it would change the database, and only reading is allowed",
        ));
    }
    let names = unlike(statement.column_names().map(Into::into).collect());
    let mut rows = statement.query([]).map_err(|error| bad(&error))?;
    while let Some(row) = rows.next().map_err(|error| bad(&error))? {
        let mut object = Map::new();
        for (index, name) in names.iter().enumerate() {
            object.insert(name.clone(), json(row.get_ref(index)?));
        }
        if !each(object) {
            break;
        }
    }
    Ok(())
}

/// Makes JSON of a column; a blob becomes its hexadecimal digits.
fn json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => {
            let mut text = String::with_capacity(bytes.len() * 2);
            for byte in bytes {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
            text.into()
        }
    }
}
