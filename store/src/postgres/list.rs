//! Lists of runs and jobs.

use std::collections::HashMap;

use runtape_core::report::{Cost, JobInfo, RunInfo};
use runtape_core::{JobId, JobStatus, Outcome};
use tokio_postgres::Row;

use super::columns::{count, counts, get, job_id, kept, maybe_text, size, text};
use super::condition::{Condition, select};
use super::sums::{COUNTED, bounded_sum, cost_sum, counted_of_runs};
use super::{Postgres, runs};
use crate::backend::Selection;
use crate::derive::cells::{outcome, status};
use crate::error::Result;
use crate::page::PageMark;
use crate::period::Happening;

/// Returns runs, those that began last first.
pub(super) fn runs(
    pg: &Postgres,
    selection: Selection<'_>,
    after: Option<&PageMark>,
    limit: usize,
) -> Result<Vec<RunInfo>> {
    let mut condition = Condition::selecting(selection);
    if let Some(mark) = after {
        let (at, id) = (condition.bind(mark.at()), condition.bind(mark.id()));
        let term = format!("(run.started_at, run.run_id) < ({at}, {id})");
        condition.terms.push(term);
    }
    latest(pg, &condition, Happening::Run, limit)
}

/// Returns the runs that a condition lets through, the latest first by when it happened to them.
pub(super) fn latest(
    pg: &Postgres,
    condition: &Condition,
    what: Happening,
    limit: usize,
) -> Result<Vec<RunInfo>> {
    let sql = format!(
        "SELECT {} WHERE {} ORDER BY {} DESC, run.run_id DESC LIMIT {}",
        &*runs::INFO,
        condition.sql(),
        what.time(),
        size(limit),
    );
    select(pg, &sql, condition, runs::info)
}

/// Returns the jobs of runs, those that began last first. A job is where its first run is.
pub(super) fn jobs(
    pg: &Postgres,
    selection: Selection<'_>,
    after: Option<&PageMark>,
    limit: usize,
) -> Result<Vec<JobInfo>> {
    let mut condition = Condition::selecting(selection);
    let mut terms = Vec::new();
    if !condition.terms.is_empty() {
        terms.push(format!(
            "EXISTS (SELECT 1 FROM run WHERE run.job_id = first.job_id AND {})",
            condition.sql()
        ));
    }
    if let Some(mark) = after {
        let (at, id) = (condition.bind(mark.at()), condition.bind(mark.id()));
        terms.push(format!("first.started_at <= {at}"));
        terms.push(format!("(first.started_at, first.job_id) < ({at}, {id})"));
    }
    // Compared with the one run that an index gives: it is a look for each run of the page, and no more.
    terms.push(
        "(first.started_at, first.run_id) = (SELECT run.started_at, run.run_id FROM run
            WHERE run.job_id = first.job_id ORDER BY run.started_at, run.run_id LIMIT 1)"
            .to_owned(),
    );
    let sql = format!(
        "SELECT first.job_id FROM run AS first WHERE {}
         ORDER BY first.started_at DESC, first.job_id DESC LIMIT {}",
        terms.join(" AND "),
        size(limit)
    );
    let ids = select(pg, &sql, &condition, |row| text(row, 0))?;
    with_ids(pg, &ids)
}

/// Returns a job by its id.
pub(super) fn job_with_id(pg: &Postgres, id: &JobId) -> Result<Option<JobInfo>> {
    let jobs = with_ids(pg, &[id.as_str().to_owned()])?;
    Ok(jobs.into_iter().next())
}

/// Returns ids of a table that begin with a text.
pub(super) fn ids_with_prefix(
    pg: &Postgres,
    table: &str,
    prefix: &str,
    limit: usize,
) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT DISTINCT {table}_id FROM run
         WHERE {table}_id >= $1::text AND {table}_id <= $1::text || chr(1114111)
            AND starts_with({table}_id, $1::text)
         ORDER BY {table}_id LIMIT $2"
    );
    let rows = pg.rows(&sql, &[&kept(prefix), &size(limit)])?;
    rows.iter().map(|row| text(row, 0)).collect()
}

/// Makes jobs from their runs: running while any run is open, else as its latest root run ended.
fn with_ids(pg: &Postgres, ids: &[String]) -> Result<Vec<JobInfo>> {
    let end = |order: &str, column: &str| {
        format!(
            "(SELECT {column} FROM run AS main
              WHERE main.job_id = run.job_id AND main.run_no = 0
              ORDER BY main.started_at {order}, main.run_id {order} LIMIT 1)"
        )
    };
    let sql = format!(
        "SELECT run.job_id, count(*) FILTER (WHERE run.status IS NULL), {},
            min(run.started_at), max(run.finished_at), count(*) FILTER (WHERE run.run_no = 0), {}, {}, {}, {}, {}
         FROM run {COUNTED} WHERE run.job_id = ANY($1) GROUP BY run.job_id",
        bounded_sum("run.steps"),
        cost_sum("run.cost_usd"),
        end("ASC", "coalesce(main.expert, main.runtime)"),
        end("DESC", "main.status"),
        counted_of_runs(),
        end("DESC", "main.outcome"),
    );
    let mut jobs = HashMap::new();
    for row in pg.rows(&sql, &[&ids])? {
        let job = job(&row)?;
        jobs.insert(job.job_id.to_string(), job);
    }
    Ok(ids.iter().filter_map(|id| jobs.remove(id)).collect())
}

fn job(row: &Row) -> Result<JobInfo> {
    let open: i64 = get(row, 1)?;
    let finished_at: Option<i64> = get(row, 4)?;
    let finished_at = finished_at.filter(|_| open == 0);
    let latest = maybe_text(row, 8)?;
    // Tokens are four columns.
    let latest_outcome = maybe_text(row, 13)?;
    Ok(JobInfo {
        job_id: job_id(row, 0)?,
        status: match finished_at {
            Some(_) => status(latest.as_deref()).into(),
            None => JobStatus::Running,
        },
        outcome: match finished_at {
            Some(_) => outcome(latest_outcome.as_deref()),
            None => Outcome::Running,
        },
        expert_key: maybe_text(row, 7)?.unwrap_or_default(),
        runs: count(row, 5)?,
        steps: count(row, 2)?,
        usage: counts(row, 9)?,
        cost: Cost::of_reported(get(row, 6)?),
        started_at: get(row, 3)?,
        finished_at,
    })
}
