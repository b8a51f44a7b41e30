//! Questions of an auditor: which tools, which files, what failed, what was used, what was not
//! understood.

use runtape_core::report::{FileUse, RunInfo, ToolCallInfo, ToolUse, UsageGroup};
use runtape_core::{RunId, Runtime};
use rusqlite::types::ValueRef;
use rusqlite::{Row, params_from_iter};
use serde_json::{Map, Value};

use crate::error::{Result, StoreError};
use crate::filter::{Condition, RunFilter};
use crate::list::sql_limit;
use crate::place::{bounded_counts, unsigned};
use crate::runs;
use crate::steps::counts;
use crate::store::Store;

/// What usage is added up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// The day, in UTC.
    Day,
    /// The runtime.
    Runtime,
    /// The model.
    Model,
    /// The job.
    Job,
}

pub(crate) fn condition(filter: &RunFilter) -> Condition {
    let mut condition = Condition::default();
    filter.apply(&mut condition);
    condition
}

pub(crate) fn run_id(row: &Row<'_>, column: usize) -> rusqlite::Result<RunId> {
    runs::run_id(row.get_ref(column)?.as_str()?)
}

pub(crate) fn runtime(row: &Row<'_>, column: usize) -> rusqlite::Result<Runtime> {
    Ok(Runtime::from_name(row.get_ref(column)?.as_str()?))
}

impl Store {
    pub(crate) fn select<T>(
        &self,
        sql: &str,
        condition: &Condition,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params_from_iter(&condition.values), read)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns the tool calls of the runs that a filter lets through, the latest first.
    pub fn tool_calls(&self, filter: &RunFilter, limit: usize) -> Result<Vec<ToolCallInfo>> {
        let mut condition = condition(filter);
        if let Some(tool) = &filter.tool {
            condition.add("tool.text = ?", tool.clone());
        }
        let sql = format!(
            "SELECT job.id, run.id, runtime.text, call.step, call.seq, call.at, tool.text,
                    call.command, json_extract(call.paths, '$[0]'), call.url, call.is_error,
                    call.duration_ms, call.result_seq
             FROM tool_call AS call
             JOIN run ON run.key = call.run
             JOIN job ON job.key = run.job
             JOIN word AS runtime ON runtime.key = run.runtime
             JOIN word AS tool ON tool.key = call.tool
             WHERE {} ORDER BY call.at DESC, call.run DESC, call.seq DESC, call.part DESC LIMIT {}",
            condition.sql(),
            sql_limit(limit) - 1,
        );
        self.select(&sql, &condition, |row| {
            Ok(ToolCallInfo {
                job_id: runs::job_id(row.get_ref(0)?.as_str()?)?,
                run_id: run_id(row, 1)?,
                runtime: runtime(row, 2)?,
                step: row.get(3).map(unsigned)?,
                seq: row.get(4).map(unsigned)?,
                at: row.get(5)?,
                tool: row.get(6)?,
                command: row.get(7)?,
                path: row.get(8)?,
                url: row.get(9)?,
                is_error: row.get(10)?,
                duration_ms: row.get(11)?,
                result_seq: row.get::<_, Option<i64>>(12)?.map(unsigned),
            })
        })
    }

    /// Returns how tools were used in the runs that a filter lets through, the most used first.
    pub fn tools(&self, filter: &RunFilter, limit: usize) -> Result<Vec<ToolUse>> {
        let mut condition = condition(filter);
        if let Some(tool) = &filter.tool {
            condition.add("tool.text = ?", tool.clone());
        }
        let sql = format!(
            "SELECT runtime.text, tool.text, count(*), coalesce(sum(call.is_error), 0),
                    sum(call.result_seq IS NULL), count(DISTINCT call.run), avg(call.duration_ms),
                    max(call.at)
             FROM tool_call AS call
             JOIN run ON run.key = call.run
             JOIN word AS runtime ON runtime.key = run.runtime
             JOIN word AS tool ON tool.key = call.tool
             WHERE {} GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT {}",
            condition.sql(),
            sql_limit(limit) - 1,
        );
        self.select(&sql, &condition, |row| {
            Ok(ToolUse {
                runtime: runtime(row, 0)?,
                tool: row.get(1)?,
                calls: row.get(2).map(unsigned)?,
                errors: row.get(3).map(unsigned)?,
                unanswered: row.get(4).map(unsigned)?,
                runs: row.get(5).map(unsigned)?,
                mean_ms: row.get(6)?,
                last_at: row.get(7)?,
            })
        })
    }

    /// Returns how files were used in the runs that a filter lets through, the latest first.
    pub fn files(&self, filter: &RunFilter, limit: usize) -> Result<Vec<FileUse>> {
        let mut condition = condition(filter);
        if let Some(tool) = &filter.tool {
            condition.add("file.tool = ?", tool.clone());
        }
        let sql = format!(
            "SELECT file.path, file.tool, count(*), coalesce(sum(file.is_error), 0),
                    count(DISTINCT file.run_id), file.run_id, max(file.at)
             FROM v_files AS file JOIN run ON run.id = file.run_id
             WHERE {} GROUP BY 1, 2 ORDER BY 7 DESC, 1, 2 LIMIT {}",
            condition.sql(),
            sql_limit(limit) - 1,
        );
        self.select(&sql, &condition, |row| {
            Ok(FileUse {
                path: row.get(0)?,
                tool: row.get(1)?,
                calls: row.get(2).map(unsigned)?,
                errors: row.get(3).map(unsigned)?,
                runs: row.get(4).map(unsigned)?,
                run_id: run_id(row, 5)?,
                last_at: row.get(6)?,
            })
        })
    }

    /// Returns the runs that failed, of those that a filter lets through, the latest first.
    pub fn errors(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunInfo>> {
        let mut condition = condition(filter);
        condition
            .terms
            .push("run.error_name IS NOT NULL".to_owned());
        let sql = format!(
            "SELECT {} FROM {} WHERE {} ORDER BY run.started_at DESC, run.key DESC LIMIT {}",
            *runs::INFO,
            runs::INFO_FROM,
            condition.sql(),
            sql_limit(limit) - 1,
        );
        self.select(&sql, &condition, runs::info)
    }

    /// Adds up what the runs that a filter lets through used, each response once.
    pub fn usage_by(&self, filter: &RunFilter, by: UsageBy) -> Result<Vec<UsageGroup>> {
        let condition = condition(filter);
        let (of_entry, of_run) = match by {
            UsageBy::Day => (
                "substr(entry.at, 1, 10)",
                "strftime('%Y-%m-%d', run.started_at / 1000, 'unixepoch')",
            ),
            UsageBy::Runtime => ("entry.runtime", "runtime.text"),
            UsageBy::Model => ("entry.model", "model.text"),
            UsageBy::Job => ("entry.job_id", "job.id"),
        };
        let sql = format!(
            "SELECT {of_entry}, count(DISTINCT coalesce(run.root, run.key)), {}
             FROM v_usage AS entry JOIN run ON run.id = entry.run_id
             WHERE NOT entry.is_repeated AND {} GROUP BY 1 ORDER BY 1",
            bounded_counts("entry"),
            condition.sql(),
        );
        let mut groups = self.select(&sql, &condition, |row| {
            Ok(UsageGroup {
                name: row.get(0)?,
                runs: row.get(1).map(unsigned)?,
                usage: counts(row, 2)?,
                cost_usd: None,
            })
        })?;
        let sql = format!(
            "SELECT {of_run}, sum(run.cost_usd) FROM run JOIN job ON job.key = run.job
             JOIN word AS runtime ON runtime.key = run.runtime
             LEFT JOIN word AS model ON model.key = run.model
             WHERE run.cost_usd IS NOT NULL AND {} GROUP BY 1",
            condition.sql(),
        );
        let costs = self.select(&sql, &condition, |row| {
            Ok((row.get::<_, Option<String>>(0)?, row.get::<_, f64>(1)?))
        })?;
        for (name, cost) in costs {
            if let Some(group) = groups.iter_mut().find(|group| group.name == name) {
                group.cost_usd = Some(cost);
            }
        }
        Ok(groups)
    }

    /// Calls `each` with the rows of a query, as objects in the order of the columns, until it
    /// returns `false`. Only reading is possible.
    pub fn query(&self, sql: &str, mut each: impl FnMut(Map<String, Value>) -> bool) -> Result<()> {
        let bad = |error: &dyn std::fmt::Display| StoreError::BadSql {
            fault: error.to_string(),
        };
        self.read(|connection| {
            let mut statement = connection.prepare(sql).map_err(|error| bad(&error))?;
            if !statement.readonly() {
                return Err(bad(
                    &"it would change the database, and only reading is allowed",
                ));
            }
            let names: Vec<String> = statement.column_names().map(Into::into).collect();
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
        })
    }
}

/// Makes JSON of a column; a blob becomes its hexadecimal digits.
fn json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => {
            use std::fmt::Write as _;
            let mut text = String::with_capacity(bytes.len() * 2);
            for byte in bytes {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
            text.into()
        }
    }
}
