//! Questions about calls of tools, in SQL.

use runtape_core::ToolClass;
use runtape_core::report::{ToolCallInfo, ToolUse};
use rusqlite::{Connection, Row, params_from_iter};

use super::columns::{self, job_id, run_id, runtime, unsigned};
use super::condition::{Condition, NameTerm, any_time, by_time_unless_few, select};
use super::migrate;
use crate::derive::paths::resolved_paths;
use crate::error::Result;
use crate::filter::{CallFilter, CallSubject};
use crate::period::Happening;

/// Makes the condition that a filter stands for, over runs, calls, tools and classes.
fn condition(filter: &CallFilter) -> Condition {
    let mut condition = Condition::of(&filter.runs, Happening::Call);
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

/// Reads the paths of a call whose run worked in a directory, as a user; what is no list of texts has none.
fn paths(row: &Row<'_>, [list, cwd, user]: [usize; 3]) -> rusqlite::Result<Vec<String>> {
    let Some(list) = row.get::<_, Option<String>>(list)? else {
        return Ok(Vec::new());
    };
    let named: Vec<String> = serde_json::from_str(&list).unwrap_or_default();
    let (cwd, user): (Option<String>, Option<String>) = (row.get(cwd)?, row.get(user)?);
    Ok(resolved_paths(&named, cwd.as_deref(), user.as_deref()))
}

/// Writes the question for calls, the latest first; earlier schemas know no user.
fn latest(filter: &CallFilter, condition: &Condition, limit: usize, has_user: bool) -> String {
    format!(
        "SELECT job.id, run.id, runtime.text, call.step, call.seq, call.at, tool.text,
                call.command, call.paths, call.url, call.is_error, call.duration_ms,
                call.result_seq, class.text, cwd.text, {}
         FROM tool_call AS call
         {} run ON run.key = call.run
         JOIN job ON job.key = run.job
         JOIN word AS runtime ON runtime.key = run.runtime
         JOIN word AS tool ON tool.key = call.tool
         LEFT JOIN word AS class ON class.key = call.class
         LEFT JOIN run AS main ON main.key = run.root
         LEFT JOIN word AS cwd ON cwd.key = coalesce(run.cwd, main.cwd)
         WHERE {} AND {} ORDER BY call.at DESC, run.id DESC, call.seq DESC, call.part DESC LIMIT {}",
        if has_user {
            "(SELECT text FROM word WHERE key = coalesce(run.user, main.user))"
        } else {
            "NULL"
        },
        by_time_unless_few(&filter.runs),
        any_time(&filter.runs, Happening::Call),
        condition.sql(),
        columns::limit(limit),
    )
}

/// Calls `each` with calls until it returns `false`, the latest first.
pub(crate) fn each(
    connection: &Connection,
    filter: &CallFilter,
    limit: usize,
    each: &mut dyn FnMut(ToolCallInfo) -> Result<bool>,
) -> Result<()> {
    let condition = condition(filter);
    let has_user = migrate::version(connection)? >= migrate::RUNS_TELL_ABOUT;
    let sql = latest(filter, &condition, limit, has_user);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(&condition.values))?;
    while let Some(row) = rows.next()? {
        let paths = paths(row, [8, 14, 15])?;
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
         {} run ON run.key = call.run
         JOIN word AS runtime ON runtime.key = run.runtime
         JOIN word AS tool ON tool.key = call.tool
         LEFT JOIN word AS class ON class.key = call.class
         WHERE {} GROUP BY 1, 2, 9 ORDER BY 3 DESC, 1, 2, 9 LIMIT {}",
        by_time_unless_few(&filter.runs),
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

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::filter::RunFilter;
    use crate::sqlite::Sqlite;

    /// Makes a database with so many calls of runs, of which each makes a hundred. Each run takes a while.
    fn with_calls(calls: i64) -> Sqlite {
        let sqlite = Sqlite::open_in_memory().unwrap();
        let script = "PRAGMA foreign_keys = OFF;
             INSERT INTO word (key, text) VALUES (1, 'claude-code'), (2, 'Bash'), (3, 'shell'), (4, '/home/dev');
             INSERT INTO job (key, id) VALUES (1, 'job');
             WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1 / 100)
             INSERT INTO run (key, id, job, runtime, cwd, started_at, finished_at, steps, messages, unparsed, records)
             SELECT n + 1, 'run-' || n, 1, 1, 4, n * 1000, n * 1000 + 5000, 0, 0, 0, 0 FROM number;
             WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1)
             INSERT INTO tool_call (run, seq, part, step, at, tool, command, paths, class)
             SELECT n / 100 + 1, n % 100, 0, 0, n * 10, 2, 'make', '[\"a\"]', 3 FROM number;";
        let script = script.replace("?1", &calls.to_string());
        sqlite.connection.execute_batch(&script).unwrap();
        sqlite
    }

    /// Returns how many steps the database takes for an answer, and whether it sorts more than what is of one time.
    fn steps(sqlite: &Sqlite, filter: &CallFilter, limit: usize) -> i32 {
        let condition = condition(filter);
        let sql = latest(filter, &condition, limit, true);
        let connection = &sqlite.connection;
        let plan: Vec<String> = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap()
            .query_map(params_from_iter(&condition.values), |row| row.get(3))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        assert!(
            plan.iter()
                .any(|line| line.contains("INDEX tool_call_by_time")),
            "{plan:?}"
        );
        let mut sorted = plan.iter().filter(|line| line.contains("TEMP B-TREE"));
        assert!(sorted.all(|line| line.contains("LAST 3 TERMS")), "{plan:?}");
        let mut statement = connection.prepare(&sql).unwrap();
        let rows = statement
            .query(params_from_iter(&condition.values))
            .unwrap();
        let rows: Vec<i64> = rows
            .mapped(|row| row.get(5))
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        assert_eq!(rows.len(), limit);
        assert!(rows.is_sorted_by(|a, b| a > b));
        statement.get_status(StatementStatus::VmStep)
    }

    #[test]
    fn the_last_calls_of_a_million_take_as_long_as_those_of_ten_thousand() {
        let (small, large) = (with_calls(10_000), with_calls(1_000_000));
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
        // Half of the calls, and all that a runtime made.
        let ends: [fn(&mut RunFilter); 2] = [
            |runs| runs.since = Some(50_000),
            |runs| runs.until = Some(50_000),
        ];
        for set in ends {
            let mut filter = CallFilter::default();
            set(&mut filter.runs);
            filter.runs.runtime = Some(runtape_core::Runtime::ClaudeCode);
            filters.push(filter);
        }
        for filter in &filters {
            let [few, many] = [&small, &large].map(|sqlite| steps(sqlite, filter, 20));
            assert!(many <= few * 2, "{few} and {many} steps: {filter:?}");
        }
        // Calls of a period are those of the index: a hundred of them, however many there are.
        let mut filter = CallFilter::default();
        (filter.runs.since, filter.runs.until) = (Some(50_000), Some(51_000));
        let [few, many] = [&small, &large].map(|sqlite| steps(sqlite, &filter, 100));
        assert!(many <= few * 2, "{few} and {many} steps");
    }
}
