//! Lists of runs and jobs.

use runtape_core::report::{Cost, JobInfo, RunInfo};
use runtape_core::{JobId, JobStatus, Outcome};
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::columns::{self, counts, job_id, unsigned};
use super::condition::{Condition, select};
use super::runs;
use super::sums::{bounded_sum, cost_sum, counted_of_runs};
use crate::backend::Selection;
use crate::derive::cells::{outcome, status};
use crate::error::{Result, StoreError};
use crate::page::PageMark;
use crate::period::Happening;

/// Returns runs, those that began last first.
pub(crate) fn runs(
    connection: &Connection,
    selection: Selection<'_>,
    after: Option<&PageMark>,
    limit: usize,
) -> Result<Vec<RunInfo>> {
    let mut condition = Condition::selecting(selection);
    if let Some(mark) = after {
        let at = mark.at();
        condition.add("run.started_at <= ?", at);
        let id = mark.id().to_owned();
        condition.add(&format!("(run.started_at < {at} OR run.id < ?)"), id);
    }
    latest(connection, &condition, Happening::Run, limit)
}

/// Returns the runs that a condition lets through, the latest first by when it happened to them.
pub(crate) fn latest(
    connection: &Connection,
    condition: &Condition,
    what: Happening,
    limit: usize,
) -> Result<Vec<RunInfo>> {
    let sql = format!(
        "SELECT {} WHERE {} ORDER BY {} DESC, run.id DESC LIMIT {}",
        runs::info_columns(connection)?,
        condition.sql(),
        what.time(),
        columns::limit(limit),
    );
    select(connection, &sql, condition, runs::info)
}

/// Returns the jobs of runs, those that began last first. A job is where its first run is.
pub(crate) fn jobs(
    connection: &Connection,
    selection: Selection<'_>,
    after: Option<&PageMark>,
    limit: usize,
) -> Result<Vec<JobInfo>> {
    let mut condition = Condition::selecting(selection);
    let wanted = condition.sql();
    let page = match after {
        Some(mark) => {
            let number = condition.next();
            condition.values.push(mark.at().into());
            condition.values.push(mark.id().to_owned().into());
            format!("(first.started_at, job.id) < (?{number}, ?{})", number + 1)
        }
        None => "TRUE".to_owned(),
    };
    let sql = format!(
        "SELECT job.key FROM run AS first JOIN job ON job.key = first.job
         WHERE {page}
            AND NOT EXISTS (SELECT 1 FROM run AS earlier WHERE earlier.job = first.job
                AND (earlier.started_at, earlier.id) < (first.started_at, first.id))
            AND EXISTS (SELECT 1 FROM run WHERE run.job = first.job AND {wanted})
         ORDER BY first.started_at DESC, job.id DESC LIMIT {}",
        columns::limit(limit)
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let keys: Vec<i64> = statement
        .query_map(params_from_iter(&condition.values), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    keys.into_iter().map(|key| job(connection, key)).collect()
}

/// Returns a job by its id.
pub(crate) fn job_with_id(connection: &Connection, id: &JobId) -> Result<Option<JobInfo>> {
    let key: Option<i64> = connection
        .prepare_cached("SELECT key FROM job WHERE id = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    key.map(|key| job(connection, key)).transpose()
}

/// Returns ids of a table that begin with a text.
pub(crate) fn ids_with_prefix(
    connection: &Connection,
    table: &str,
    prefix: &str,
    limit: usize,
) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id FROM {table} WHERE id >= ?1 AND id <= ?1 || char(1114111)
            AND substr(id, 1, length(?1)) = ?1
         ORDER BY id LIMIT ?2"
    ))?;
    let limit = columns::limit(limit);
    let rows = statement.query_map(params![prefix, limit], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What the first or the latest root run of a job says of it: status, expert and outcome.
type RootRun = (Option<String>, Option<String>, Option<String>);

/// Makes a job from its runs: running while any run is open, else as its latest root run ended.
fn job(connection: &Connection, key: i64) -> Result<JobInfo> {
    let mut job = connection
        .prepare_cached(&format!(
            "SELECT job.id, sum(run.status IS NULL), {}, {},
                min(run.started_at), max(run.finished_at), sum(run.root IS NULL), {}
             FROM job JOIN run ON run.job = job.key WHERE job.key = ?1 GROUP BY job.key",
            bounded_sum("run.steps"),
            counted_of_runs(),
            cost_sum("run.cost_usd"),
        ))?
        .query_row([key], |row| {
            let open: i64 = row.get(1)?;
            let finished_at: Option<i64> = row.get(8)?;
            Ok(JobInfo {
                job_id: job_id(row, 0)?,
                status: JobStatus::Running,
                outcome: Outcome::Running,
                expert_key: String::new(),
                runs: row.get(9).map(unsigned)?,
                steps: row.get(2).map(unsigned)?,
                usage: counts(row, 3)?,
                cost: Cost::of_reported(row.get(10)?),
                started_at: row.get(7)?,
                finished_at: finished_at.filter(|_| open == 0),
            })
        })?;
    let outcome_text = if runs::has_all_columns(connection)? {
        "(SELECT text FROM word WHERE word.key = run.outcome)"
    } else {
        "NULL"
    };
    let ends = |order: &str| {
        let sql = format!(
            "SELECT status.text, expert.text, {outcome_text} FROM run
             LEFT JOIN word AS status ON status.key = run.status
             LEFT JOIN word AS expert ON expert.key = coalesce(run.expert, run.runtime)
             WHERE run.job = ?1 AND run.root IS NULL
             ORDER BY run.started_at {order}, run.id {order} LIMIT 1"
        );
        let found: Option<RootRun> = connection
            .prepare_cached(&sql)?
            .query_row([key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        Ok::<_, StoreError>(found.unwrap_or_default())
    };
    let (_, expert, _) = ends("ASC")?;
    job.expert_key = expert.unwrap_or_default();
    if job.finished_at.is_some() {
        let (latest_status, _, latest_outcome) = ends("DESC")?;
        job.status = status(latest_status.as_deref()).into();
        job.outcome = outcome(latest_outcome.as_deref());
    }
    Ok(job)
}
