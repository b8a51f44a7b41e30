//! Questions about calls of tools, in SQL.

use runtape_core::ToolClass;
use runtape_core::report::{ToolCallInfo, ToolUse};
use rusqlite::{Connection, Row, params_from_iter};

use super::columns::{self, job_id, run_id, runtime, unsigned};
use super::condition::{Condition, NameTerm, select};
use crate::error::Result;
use crate::filter::{CallFilter, CallSubject};

/// Makes the condition that a filter stands for, over runs, calls, tools and classes.
fn condition(filter: &CallFilter) -> Condition {
    let mut condition = Condition::of(&filter.runs);
    if let Some(tool) = &filter.runs.tool {
        let NameTerm { operator, value } = NameTerm::of(tool);
        condition.add(&format!("tool.text {operator} ?"), value);
    }
    if let Some(class) = filter.class {
        condition.add("class.text = ?", class.as_str().to_owned());
    }
    if filter.failed_only {
        condition.terms.push("call.is_error = 1".to_owned());
    }
    let subject = match filter.subject {
        None => return condition,
        // A call without a class is from before there were any: it ran what it names. One of a tool that
        // nobody knows may have.
        Some(CallSubject::Command) => {
            "call.command IS NOT NULL AND coalesce(class.text, 'shell') IN ('shell', 'mcp', 'other')"
        }
        Some(CallSubject::UntoldCommand) => "call.command IS NULL AND class.text = 'shell'",
        Some(CallSubject::Files) => "(call.paths IS NOT NULL OR call.command IS NOT NULL)",
        Some(CallSubject::Network) => {
            "(call.url IS NOT NULL OR class.text IN ('network', 'publish') OR call.command IS NOT NULL)"
        }
    };
    condition.terms.push(subject.to_owned());
    condition
}

/// Reads a class; a word that is none is as good as no class.
fn class(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<ToolClass>> {
    let name: Option<String> = row.get(column)?;
    Ok(name.as_deref().and_then(ToolClass::from_name))
}

/// Reads the paths of a call; what is no list of texts has none.
fn paths(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let paths: Option<String> = row.get(column)?;
    let paths = paths.and_then(|paths| serde_json::from_str(&paths).ok());
    Ok(paths.unwrap_or_default())
}

/// Calls `each` with calls until it returns `false`, the latest first.
pub(crate) fn each(
    connection: &Connection,
    filter: &CallFilter,
    limit: usize,
    each: &mut dyn FnMut(ToolCallInfo) -> Result<bool>,
) -> Result<()> {
    let condition = condition(filter);
    let sql = format!(
        "SELECT job.id, run.id, runtime.text, call.step, call.seq, call.at, tool.text,
                call.command, call.paths, call.url, call.is_error, call.duration_ms,
                call.result_seq, class.text, cwd.text
         FROM tool_call AS call
         JOIN run ON run.key = call.run
         JOIN job ON job.key = run.job
         JOIN word AS runtime ON runtime.key = run.runtime
         JOIN word AS tool ON tool.key = call.tool
         LEFT JOIN word AS class ON class.key = call.class
         LEFT JOIN word AS cwd ON cwd.key = run.cwd
         WHERE {} ORDER BY call.at DESC, run.id DESC, call.seq DESC, call.part DESC LIMIT {}",
        condition.sql(),
        columns::limit(limit),
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(&condition.values))?;
    while let Some(row) = rows.next()? {
        let paths = paths(row, 8)?;
        let call = ToolCallInfo {
            job_id: job_id(row, 0)?,
            run_id: run_id(row, 1)?,
            runtime: runtime(row, 2)?,
            step: row.get(3).map(unsigned)?,
            seq: row.get(4).map(unsigned)?,
            at: row.get(5)?,
            tool: row.get(6)?,
            class: class(row, 13)?,
            cwd: row.get(14)?,
            command: row.get(7)?,
            path: paths.first().cloned(),
            paths,
            url: row.get(9)?,
            is_error: row.get(10)?,
            duration_ms: row.get(11)?,
            result_seq: row.get::<_, Option<i64>>(12)?.map(unsigned),
            is_running: false,
            known_by: None,
            shell: None,
        };
        if !each(call)? {
            break;
        }
    }
    Ok(())
}

/// Returns how tools were used, the most used first.
pub(crate) fn tools(
    connection: &Connection,
    filter: &CallFilter,
    limit: usize,
) -> Result<Vec<ToolUse>> {
    let condition = condition(filter);
    let sql = format!(
        "SELECT runtime.text, tool.text, count(*), coalesce(sum(call.is_error), 0),
                sum(call.result_seq IS NULL), count(DISTINCT call.run), avg(call.duration_ms),
                max(call.at), class.text
         FROM tool_call AS call
         JOIN run ON run.key = call.run
         JOIN word AS runtime ON runtime.key = run.runtime
         JOIN word AS tool ON tool.key = call.tool
         LEFT JOIN word AS class ON class.key = call.class
         WHERE {} GROUP BY 1, 2, 9 ORDER BY 3 DESC, 1, 2, 9 LIMIT {}",
        condition.sql(),
        columns::limit(limit),
    );
    select(connection, &sql, &condition, |row| {
        Ok(ToolUse {
            runtime: runtime(row, 0)?,
            tool: row.get(1)?,
            class: class(row, 8)?,
            calls: row.get(2).map(unsigned)?,
            errors: row.get(3).map(unsigned)?,
            unanswered: row.get(4).map(unsigned)?,
            runs: row.get(5).map(unsigned)?,
            mean_ms: row.get(6)?,
            last_at: row.get(7)?,
        })
    })
}
