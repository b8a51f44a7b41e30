//! Lists of sessions.

use super::Postgres;
use super::columns::{count, counts, get, kept, key, maybe_text, runtime, size, text};
use super::condition::{Condition, select};
use super::sums::{COUNTED, cost_sum, counted_of_runs};
use crate::backend::{Selection, SessionRow};
use crate::error::Result;
use crate::page::PageMark;

/// When something happened in a root run last: it ended, a step of it did, or it began.
const ACTIVITY: &str = "coalesce(main.finished_at, (
        SELECT step.finished_at FROM step
        WHERE step.root_id = main.root_id AND step.run_no = main.run_no
        ORDER BY step.step DESC LIMIT 1
    ), main.started_at)";

/// The root runs of a session, as a condition on them; what the session is stands beside.
const ROOTS: &str = "md5(main.session) = md5(asked.session) AND main.session = asked.session
    AND main.runtime = asked.runtime AND main.run_no = 0";

/// Returns the sessions of runs, the one in which something happened last first.
pub(super) fn list(
    pg: &Postgres,
    selection: Selection<'_>,
    after: Option<&PageMark>,
    limit: usize,
) -> Result<Vec<SessionRow>> {
    let mut condition = Condition::selecting(selection);
    let mut wanted = Vec::new();
    if !condition.terms.is_empty() {
        // Any run of the tree will do: a tool may have been called by a child.
        wanted.push(format!(
            "bool_or(EXISTS (SELECT 1 FROM run WHERE run.root_id = main.root_id AND {}))",
            condition.sql()
        ));
    }
    let name = "(main.runtime || '/' || main.session)";
    if let Some(mark) = after {
        let (at, id) = (condition.bind(mark.at()), condition.bind(mark.id()));
        wanted.push(format!("(max({ACTIVITY}), {name}) < ({at}, {id})"));
    }
    if wanted.is_empty() {
        wanted.push("TRUE".to_owned());
    }
    let sql = format!(
        "SELECT main.session, main.runtime, max({ACTIVITY}) AS active
         FROM run AS main WHERE main.run_no = 0 AND main.session IS NOT NULL
         GROUP BY main.session, main.runtime HAVING {}
         ORDER BY active DESC, {name} DESC LIMIT {}",
        wanted.join(" AND "),
        size(limit),
    );
    let mut sessions = Vec::new();
    let mut runtimes = Vec::new();
    let mut times = Vec::new();
    for row in pg.rows(&sql, &condition.values())? {
        sessions.push(get::<String>(&row, 0)?);
        runtimes.push(get::<String>(&row, 1)?);
        times.push(get::<i64>(&row, 2)?);
    }
    from_runs(pg, &sessions, &runtimes, &times)
}

/// Makes sessions from their runs.
fn from_runs(
    pg: &Postgres,
    sessions: &[String],
    runtimes: &[String],
    times: &[i64],
) -> Result<Vec<SessionRow>> {
    if sessions.is_empty() {
        return Ok(Vec::new());
    }
    let root = |order: &str| {
        format!(
            "SELECT main.root_id FROM run AS main WHERE {ROOTS}
             ORDER BY main.started_at {order}, main.run_id {order} LIMIT 1"
        )
    };
    let sql = format!(
        "SELECT asked.session, asked.runtime, asked.active,
            first.root_id, 0::bigint, latest.root_id, 0::bigint,
            (SELECT main.cwd FROM run AS main WHERE {ROOTS} AND main.cwd IS NOT NULL
             ORDER BY main.started_at DESC, main.run_id DESC LIMIT 1),
            sums.*
         FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY
            AS asked (session, runtime, active, place)
         CROSS JOIN LATERAL ({}) AS first
         CROSS JOIN LATERAL ({}) AS latest
         CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE run.run_no = 0), min(run.started_at), {}, {}
            FROM run AS main JOIN run ON run.root_id = main.root_id {COUNTED} WHERE {ROOTS}
         ) AS sums
         ORDER BY asked.place",
        root("ASC"),
        root("DESC"),
        cost_sum("run.cost_usd"),
        counted_of_runs(),
    );
    let rows = pg.rows(&sql, &[&sessions, &runtimes, &times])?;
    let rows = rows.iter().map(|row| {
        Ok(SessionRow {
            session: text(row, 0)?,
            runtime: runtime(row, 1)?,
            last_active_at: get(row, 2)?,
            first: key(row, 3)?,
            latest: key(row, 5)?,
            cwd: maybe_text(row, 7)?,
            runs: count(row, 8)?,
            started_at: get(row, 9)?,
            cost_usd: get(row, 10)?,
            usage: counts(row, 11)?,
        })
    });
    rows.collect()
}

/// Returns how many root runs have no session.
pub(super) fn runs_without(pg: &Postgres, selection: Selection<'_>) -> Result<u64> {
    let condition = Condition::selecting(selection);
    let sql = format!(
        "SELECT count(*) FROM run WHERE run.run_no = 0 AND run.session IS NULL AND {}",
        condition.sql()
    );
    let found = select(pg, &sql, &condition, |row| count(row, 0))?;
    Ok(found.first().copied().unwrap_or(0))
}

/// Tells whether there is a run of a session, as far as others have written it.
pub(super) fn is_known(pg: &Postgres, session: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM run WHERE md5(session) = md5($1::text) AND session = $1::text LIMIT 1";
    Ok(!pg.rows_beside(sql, &[&kept(session)])?.is_empty())
}
