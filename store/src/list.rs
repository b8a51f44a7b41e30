//! Lists of jobs, runs and steps, a page at a time.

use std::fmt;
use std::str::FromStr;

use runtape_core::report::{JobInfo, RunInfo, StepInfo};
use runtape_core::{CheckpointId, JobId, JobStatus, RunId};
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use serde::{Deserialize, Serialize};

use crate::error::{Result, StoreError};
use crate::filter::{Condition, RunFilter};
use crate::place::{COUNTERS, bounded_sum, counted_of_run, unsigned};
use crate::runs;
use crate::steps::{self, counts};
use crate::store::Store;

/// Where the next page begins. Print it, keep it, give it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Cursor {
    at: i64,
    key: i64,
}

impl Cursor {
    pub(crate) fn new(at: i64, key: i64) -> Self {
        Self { at, key }
    }

    pub(crate) fn parts(&self) -> (i64, i64) {
        (self.at, self.key)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at, self.key)
    }
}

impl FromStr for Cursor {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self> {
        let numbers = text.split_once('.');
        let numbers = numbers.and_then(|(at, key)| at.parse().ok().zip(key.parse().ok()));
        let (at, key) = numbers.ok_or_else(|| StoreError::BadCursor {
            cursor: text.chars().take(80).collect(),
        })?;
        Ok(Self { at, key })
    }
}

impl TryFrom<String> for Cursor {
    type Error = StoreError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Cursor> for String {
    fn from(cursor: Cursor) -> Self {
        cursor.to_string()
    }
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// What is on the page.
    pub items: Vec<T>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Cursor>,
}

/// Makes a page of at most `limit` items from at most one more.
fn page<T>(mut found: Vec<(T, Cursor)>, limit: usize) -> Page<T> {
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|(_, at)| at.clone());
    Page {
        items: found.into_iter().map(|(item, _)| item).collect(),
        next,
    }
}

pub(crate) fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).map_or(i64::MAX, |limit| limit.saturating_add(1))
}

impl Store {
    /// Returns the runs that a filter lets through, those that began last first.
    pub fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunInfo>> {
        let mut condition = Condition::default();
        filter.apply(&mut condition);
        if let Some(cursor) = after {
            let (at, key) = cursor.parts();
            condition.add("run.started_at <= ?", at);
            condition.add(&format!("(run.started_at < {at} OR run.key < ?)"), key);
        }
        if let Some(text) = &filter.text {
            self.add_text(&mut condition, text)?;
        }
        let sql = format!(
            "SELECT {} FROM {} WHERE {} ORDER BY run.started_at DESC, run.key DESC LIMIT {}",
            *runs::INFO,
            runs::INFO_FROM,
            condition.sql(),
            sql_limit(limit),
        );
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params_from_iter(&condition.values), |row| {
                let info = runs::info(row)?;
                let cursor = Cursor::new(info.started_at, row.get(30)?);
                Ok((info, cursor))
            })?;
            Ok(page(rows.collect::<rusqlite::Result<_>>()?, limit))
        })
    }

    /// Returns the jobs of the runs that a filter lets through, those that were first seen last
    /// first.
    pub fn jobs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<JobInfo>> {
        let mut condition = Condition::default();
        filter.apply(&mut condition);
        if let Some(text) = &filter.text {
            self.add_text(&mut condition, text)?;
        }
        let exists = condition.sql();
        let before = after.map_or(i64::MAX, |cursor| cursor.parts().1);
        let number = condition.next();
        condition.values.push(before.into());
        let sql = format!(
            "SELECT job.key FROM job
             WHERE job.key < ?{number}
                AND EXISTS (SELECT 1 FROM run WHERE run.job = job.key AND {exists})
             ORDER BY job.key DESC LIMIT {}",
            sql_limit(limit)
        );
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let keys: Vec<i64> = statement
                .query_map(params_from_iter(&condition.values), |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            let mut found = Vec::new();
            for key in keys {
                found.push((job(connection, key)?, Cursor::new(0, key)));
            }
            Ok(page(found, limit))
        })
    }

    /// Returns a job, made from its runs.
    pub fn job(&self, id: &JobId) -> Result<Option<JobInfo>> {
        self.read(|connection| {
            let key: Option<i64> = connection
                .prepare_cached("SELECT key FROM job WHERE id = ?1")?
                .query_row([id.as_str()], |row| row.get(0))
                .optional()?;
            key.map(|key| job(connection, key)).transpose()
        })
    }

    /// Returns the steps of a run after a step (0 for all), at most `limit`.
    pub fn steps(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<StepInfo>> {
        self.read(|connection| {
            let row = runs::get(connection, run)?;
            let limit = u64::try_from(limit).unwrap_or(u64::MAX);
            let found = steps::after(connection, row.key, after, limit)?;
            let steps = found.into_iter().map(|step| {
                Ok(StepInfo {
                    step: step.step,
                    checkpoint_id: CheckpointId::parse(step.checkpoint_id)?,
                    seq: step.seq,
                    status: runs::status(Some(&step.status)),
                    started_at: step.started_at,
                    finished_at: step.finished_at,
                    messages: step.messages,
                    tool_calls: step.tool_calls,
                    pending_tool_calls: step.pending,
                    usage: step.usage,
                })
            });
            steps.collect()
        })
    }
}

/// Makes a job from its runs: running while any run is open, else as its latest root run ended.
fn job(connection: &Connection, key: i64) -> Result<JobInfo> {
    let mut job = connection
        .prepare_cached(&format!(
            "SELECT job.id, sum(run.status IS NULL), {}, {},
                min(run.started_at), max(run.finished_at), sum(run.root IS NULL), sum(run.cost_usd)
             FROM job JOIN run ON run.job = job.key WHERE job.key = ?1 GROUP BY job.key",
            bounded_sum("run.steps"),
            COUNTERS
                .map(|counter| {
                    let counted = counted_of_run(counter);
                    // A run that repeats all that it says still says how much it was.
                    format!(
                        "CASE WHEN count(run.{counter}) > 0
                         THEN CAST(min(max(total({counted}), -9.2e18), 9.2e18) AS INTEGER) END"
                    )
                })
                .join(", "),
        ))?
        .query_row([key], |row| {
            let open: i64 = row.get(1)?;
            let finished_at: Option<i64> = row.get(8)?;
            let id: String = row.get(0)?;
            let id = JobId::parse(id).map_err(|error| {
                let kind = rusqlite::types::Type::Text;
                rusqlite::Error::FromSqlConversionFailure(0, kind, Box::new(error))
            })?;
            Ok(JobInfo {
                job_id: id,
                status: JobStatus::Running,
                expert_key: String::new(),
                runs: row.get(9).map(unsigned)?,
                steps: row.get(2).map(unsigned)?,
                usage: counts(row, 3)?,
                cost_usd: row.get(10)?,
                started_at: row.get(7)?,
                finished_at: finished_at.filter(|_| open == 0),
            })
        })?;
    let ends = |order: &str| {
        let sql = format!(
            "SELECT status.text, expert.text FROM run
             LEFT JOIN word AS status ON status.key = run.status
             LEFT JOIN word AS expert ON expert.key = coalesce(run.expert, run.runtime)
             WHERE run.job = ?1 AND run.root IS NULL
             ORDER BY run.started_at {order}, run.key {order} LIMIT 1"
        );
        let found: Option<(Option<String>, Option<String>)> = connection
            .prepare_cached(&sql)?
            .query_row(params![key], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok::<_, StoreError>(found.unwrap_or_default())
    };
    let (_, expert) = ends("ASC")?;
    job.expert_key = expert.unwrap_or_default();
    if job.finished_at.is_some() {
        let (status, _) = ends("DESC")?;
        job.status = runs::status(status.as_deref()).into();
    }
    Ok(job)
}
