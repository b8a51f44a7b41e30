//! Questions about calls of tools, in SQL.

use runtape_core::ToolClass;
use runtape_core::report::{ToolCallInfo, ToolUse};
use tokio_postgres::Row;

use super::Postgres;
use super::columns::{count, get, job_id, maybe_text, run_id, runtime, size, text, unsigned};
use super::condition::{Condition, NameTerm, select};
use crate::error::Result;
use crate::filter::{CallFilter, CallSubject};

/// How many calls are read at once: those of the first page, and more where more are wanted.
const FIRST_PAGE: usize = 200;
const PAGE: usize = 2000;

/// Makes the condition that a filter stands for, over runs and calls.
fn condition(filter: &CallFilter) -> Condition {
    let mut condition = Condition::of(&filter.runs);
    if let Some(tool) = &filter.runs.tool {
        let NameTerm { operator, value } = NameTerm::of(tool);
        condition.add(&format!("call.tool {operator} ?"), value.as_str());
    }
    if let Some(class) = filter.class {
        condition.add("call.class = ?", class.as_str());
    }
    if filter.failed_only {
        condition.terms.push("call.is_error".to_owned());
    }
    let subject = match filter.subject {
        None => return condition,
        // A call without a class is from before there were any: it ran what it names. One of a tool that
        // nobody knows may have.
        Some(CallSubject::Command) => {
            "call.command IS NOT NULL AND coalesce(call.class, 'shell') IN ('shell', 'mcp', 'other')"
        }
        Some(CallSubject::UntoldCommand) => "call.command IS NULL AND call.class = 'shell'",
        Some(CallSubject::Files) => "(call.paths IS NOT NULL OR call.command IS NOT NULL)",
        Some(CallSubject::Network) => {
            "(call.url IS NOT NULL OR call.class IN ('network', 'publish') OR call.command IS NOT NULL)"
        }
    };
    condition.terms.push(subject.to_owned());
    condition
}

/// Reads a class; a word that is none is as good as no class.
fn class(row: &Row, column: usize) -> Result<Option<ToolClass>> {
    let name = maybe_text(row, column)?;
    Ok(name.as_deref().and_then(ToolClass::from_name))
}

/// Reads the paths of a call; what is no list of texts has none.
fn paths(row: &Row, column: usize) -> Result<Vec<String>> {
    let paths = maybe_text(row, column)?;
    let paths = paths.and_then(|paths| serde_json::from_str(&paths).ok());
    Ok(paths.unwrap_or_default())
}

fn call(row: &Row) -> Result<ToolCallInfo> {
    let paths = paths(row, 8)?;
    Ok(ToolCallInfo {
        job_id: job_id(row, 0)?,
        run_id: run_id(row, 1)?,
        runtime: runtime(row, 2)?,
        step: count(row, 3)?,
        seq: count(row, 4)?,
        at: get(row, 5)?,
        tool: text(row, 6)?,
        command: maybe_text(row, 7)?,
        path: paths.first().cloned(),
        paths,
        url: maybe_text(row, 9)?,
        is_error: get(row, 10)?,
        duration_ms: get(row, 11)?,
        result_seq: get::<Option<i64>>(row, 12)?.map(unsigned),
        class: class(row, 13)?,
        cwd: maybe_text(row, 14)?,
        is_running: false,
        known_by: None,
        shell: None,
    })
}

/// Calls `each` with calls until it returns `false`, the latest first. They are read a page at a time: whoever gets them
/// may ask for something else meanwhile.
pub(super) fn each(
    pg: &Postgres,
    filter: &CallFilter,
    limit: usize,
    each: &mut dyn FnMut(ToolCallInfo) -> Result<bool>,
) -> Result<()> {
    let mut left = limit;
    let mut page = FIRST_PAGE;
    let mut after: Option<(i64, String, i64, i64)> = None;
    while left > 0 {
        let mut condition = condition(filter);
        if let Some((at, run, seq, part)) = &after {
            let at = condition.bind(*at);
            let place = [
                condition.bind(run.as_str()),
                condition.bind(*seq),
                condition.bind(*part),
            ];
            let place = place.join(", ");
            condition.terms.push(format!(
                "call.at <= {at} AND (call.at, run.run_id, call.seq, call.part) < ({at}, {place})"
            ));
        }
        let wanted = page.min(left);
        let sql = format!(
            "SELECT run.job_id, run.run_id, run.runtime, call.step, call.seq, call.at, call.tool,
                call.command, call.paths, call.url, call.is_error, call.duration_ms,
                call.result_seq, call.class, run.cwd, call.part
             FROM tool_call AS call
             JOIN run ON run.root_id = call.root_id AND run.run_no = call.run_no
             WHERE {} ORDER BY call.at DESC, run.run_id DESC, call.seq DESC, call.part DESC LIMIT {}",
            condition.sql(),
            size(wanted),
        );
        let rows = pg.rows(&sql, &condition.values())?;
        for row in &rows {
            if !each(call(row)?)? {
                return Ok(());
            }
        }
        let Some(last) = rows.last().filter(|_| rows.len() >= wanted) else {
            return Ok(());
        };
        after = Some((get(last, 5)?, get(last, 1)?, get(last, 4)?, get(last, 15)?));
        left -= rows.len();
        page = PAGE;
    }
    Ok(())
}

/// Returns how tools were used, the most used first.
pub(super) fn tools(pg: &Postgres, filter: &CallFilter, limit: usize) -> Result<Vec<ToolUse>> {
    let condition = condition(filter);
    let sql = format!(
        "SELECT run.runtime, call.tool, count(*), count(*) FILTER (WHERE call.is_error),
            count(*) FILTER (WHERE call.result_seq IS NULL), count(DISTINCT run.run_id),
            sum(call.duration_ms)::double precision / nullif(count(call.duration_ms), 0),
            max(call.at), call.class
         FROM tool_call AS call
         JOIN run ON run.root_id = call.root_id AND run.run_no = call.run_no
         WHERE {} GROUP BY run.runtime, call.tool, call.class
         ORDER BY 3 DESC, run.runtime, call.tool, call.class NULLS FIRST LIMIT {}",
        condition.sql(),
        size(limit),
    );
    select(pg, &sql, &condition, |row| {
        Ok(ToolUse {
            runtime: runtime(row, 0)?,
            tool: text(row, 1)?,
            class: class(row, 8)?,
            calls: count(row, 2)?,
            errors: count(row, 3)?,
            unanswered: count(row, 4)?,
            runs: count(row, 5)?,
            mean_ms: get(row, 6)?,
            last_at: get(row, 7)?,
        })
    })
}
