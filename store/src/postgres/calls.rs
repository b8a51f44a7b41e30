//! Questions about calls of tools, in SQL.

use runtape_core::ToolClass;
use runtape_core::report::{ToolCallInfo, ToolUse};
use tokio_postgres::Row;

use super::Postgres;
use super::columns::{count, get, job_id, maybe_text, run_id, runtime, size, text, unsigned};
use super::condition::{Condition, NameTerm, select};
use crate::derive::paths::resolved_paths;
use crate::error::Result;
use crate::filter::{CallFilter, CallSubject};
use crate::period::Happening;

/// How many calls are read at once: those of the first page, and more where more are wanted.
const FIRST_PAGE: usize = 200;
const PAGE: usize = 2000;

/// Makes the condition that a filter stands for, over runs and calls.
fn condition(filter: &CallFilter) -> Condition {
    let mut condition = Condition::of(&filter.runs, Happening::Call);
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

/// Reads the paths of a call whose run worked in a directory, as a user; what is no list of texts has none.
fn paths(row: &Row, [list, cwd, user]: [usize; 3]) -> Result<Vec<String>> {
    let Some(list) = maybe_text(row, list)? else {
        return Ok(Vec::new());
    };
    let named: Vec<String> = serde_json::from_str(&list).unwrap_or_default();
    let (cwd, user) = (maybe_text(row, cwd)?, maybe_text(row, user)?);
    Ok(resolved_paths(&named, cwd.as_deref(), user.as_deref()))
}

fn call(row: &Row) -> Result<ToolCallInfo> {
    let paths = paths(row, [8, 14, 16])?;
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

/// Writes the question for calls, the latest first.
fn latest(condition: &Condition, limit: usize) -> String {
    format!(
        "SELECT run.job_id, run.run_id, run.runtime, call.step, call.seq, call.at, call.tool,
            call.command, call.paths, call.url, call.is_error, call.duration_ms,
            call.result_seq, call.class, coalesce(run.cwd, main.cwd), call.part,
            coalesce(run.\"user\", main.\"user\")
         FROM tool_call AS call
         JOIN run ON run.root_id = call.root_id AND run.run_no = call.run_no
         LEFT JOIN run AS main ON main.root_id = call.root_id AND main.run_no = 0
         WHERE {} ORDER BY call.at DESC, run.run_id DESC, call.seq DESC, call.part DESC LIMIT {}",
        condition.sql(),
        size(limit),
    )
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
        let rows = pg.rows(&latest(&condition, wanted), &condition.values())?;
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use runtape_tests::postgres::{Database, Layout};

    use super::*;

    /// Makes a database with so many calls of runs, of which each makes a hundred. Each run takes a while.
    fn with_calls(calls: i64) -> Option<(Database, Postgres)> {
        let database = Database::fresh(Layout::Whole)?;
        let sql = database.sql();
        sql.run(&format!(
            "INSERT INTO run (root_id, run_no, run_id, job_id, runtime, cwd, started_at, finished_at, steps, messages,
                unparsed, records)
             SELECT 'run-' || n, 0, 'run-' || n, 'job', 'claude-code', '/home/dev', n * 1000, n * 1000 + 5000, 0, 0, 0, 0
             FROM generate_series(0, {calls} / 100 - 1) AS n"
        ));
        sql.run(&format!(
            "INSERT INTO tool_call (root_id, run_no, seq, part, step, at, tool, command, paths, class)
             SELECT 'run-' || n / 100, 0, n % 100, 0, 0, n * 10, 'Bash', 'make', '[\"a\"]', 'shell'
             FROM generate_series(0, {calls} - 1) AS n"
        ));
        sql.run("ANALYZE run, tool_call");
        let pg = Postgres::open(database.address(), &crate::Options::default()).unwrap();
        Some((database, pg))
    }

    /// Returns how many rows all parts of an answer come to, those included that a filter did not let through.
    fn rows_of(pg: &Postgres, filter: &CallFilter, limit: usize) -> f64 {
        let condition = condition(filter);
        let sql = format!(
            "EXPLAIN (ANALYZE, TIMING off) {}",
            latest(&condition, limit)
        );
        let answer = pg.rows(&sql, &condition.values()).unwrap();
        let plan: Vec<String> = answer.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        assert!(
            plan.contains("tool_call_by_time") && !plan.contains("Seq Scan"),
            "{plan}"
        );
        let number = |text: &str, mark: &str| -> f64 {
            let rest = text.split(mark).nth(1).unwrap_or("0");
            let end = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
            rest.get(..end.unwrap_or(rest.len()))
                .unwrap()
                .parse()
                .unwrap()
        };
        let read = plan.lines().map(|line| {
            let actual = line.split("(actual ").nth(1).unwrap_or_default();
            number(actual, "rows=") * number(actual, "loops=")
                + number(line, "Rows Removed by Filter: ")
        });
        read.sum()
    }

    #[test]
    fn the_last_calls_of_many_are_as_quick_as_those_of_a_few() {
        let (Some((_few, small)), Some((_many, large))) = (with_calls(10_000), with_calls(200_000))
        else {
            return;
        };
        let mut filters = vec![CallFilter::default()];
        for subject in [
            CallSubject::Command,
            CallSubject::Files,
            CallSubject::Network,
        ] {
            filters.push(CallFilter {
                subject: Some(subject),
                ..CallFilter::default()
            });
        }
        let mut filter = CallFilter::default();
        filter.runs.until = Some(50_000);
        filter.runs.runtime = Some(runtape_core::Runtime::ClaudeCode);
        filters.push(filter.clone());
        filter.runs.since = Some(49_000);
        filters.push(filter);
        for filter in &filters {
            let [few, many] = [&small, &large].map(|pg| rows_of(pg, filter, 20));
            assert!(many <= few * 2.0, "{few} and {many} rows: {filter:?}");
        }
    }
}
