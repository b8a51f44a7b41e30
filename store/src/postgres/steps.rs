//! The `step` table: steps and their checkpoints.

use runtape_core::CheckpointId;
use tokio_postgres::Row;

use super::Postgres;
use super::columns::{count, counts, get, key, number, signed, size, text};
use super::pending::Into;
use super::rows::Cell;
use crate::backend::RunKey;
use crate::derive::facts::StepFact;
use crate::error::Result;

/// Adds a step.
pub(super) fn insert(pg: &Postgres, run: &RunKey, step: &StepFact) -> Result<()> {
    let cells = [
        Cell::Integer(run.number),
        Cell::Integer(signed(step.step)),
        Cell::Integer(signed(step.seq)),
        Cell::text(&step.checkpoint_id),
        Cell::text(&step.status),
        Cell::Integer(step.started_at),
        Cell::Integer(step.finished_at),
        Cell::Integer(signed(step.messages)),
        Cell::Integer(signed(step.tool_calls)),
        Cell::Integer(signed(step.pending)),
        Cell::maybe(step.usage.input_tokens),
        Cell::maybe(step.usage.output_tokens),
        Cell::maybe(step.usage.reasoning_tokens),
        Cell::maybe(step.usage.cached_input_tokens),
    ];
    pg.add(Into::Step, &run.root, cells, 200)
}

/// Columns of [`from_row`].
const SELECT: &str = "SELECT step, seq, checkpoint_id, status, started_at, finished_at, messages,
        tool_calls, pending, input_tokens, output_tokens, reasoning_tokens, cached_input_tokens
     FROM step WHERE root_id = $1 AND run_no = $2";

fn from_row(row: &Row) -> Result<StepFact> {
    Ok(StepFact {
        step: number(row, 0)?,
        seq: number(row, 1)?,
        checkpoint_id: text(row, 2)?,
        status: text(row, 3)?,
        started_at: get(row, 4)?,
        finished_at: get(row, 5)?,
        messages: number(row, 6)?,
        tool_calls: number(row, 7)?,
        pending: number(row, 8)?,
        usage: counts(row, 9)?,
    })
}

/// Returns steps of a run after a step, in order, at most `limit`.
pub(super) fn after(pg: &Postgres, run: &RunKey, step: u64, limit: usize) -> Result<Vec<StepFact>> {
    let sql = format!("{SELECT} AND step > $3 ORDER BY step LIMIT $4");
    let (step, limit) = (signed(step), size(limit));
    let rows = pg.rows(&sql, &[&run.root.as_str(), &run.number, &step, &limit])?;
    rows.iter().map(from_row).collect()
}

/// Returns a step.
pub(super) fn one(pg: &Postgres, run: &RunKey, step: u64) -> Result<Option<StepFact>> {
    let sql = format!("{SELECT} AND step = $3");
    let row = pg.row(&sql, &[&run.root.as_str(), &run.number, &signed(step)])?;
    row.as_ref().map(from_row).transpose()
}

/// Returns number and record of each step.
pub(super) fn numbers(pg: &Postgres, run: &RunKey) -> Result<Vec<(i64, i64)>> {
    let sql = "SELECT step, seq FROM step WHERE root_id = $1 AND run_no = $2 ORDER BY step";
    let rows = pg.rows(sql, &[&run.root.as_str(), &run.number])?;
    rows.iter()
        .map(|row| Ok((get(row, 0)?, get(row, 1)?)))
        .collect()
}

/// Returns the record of a step's checkpoint; of the last one if no step is named.
pub(super) fn seq_of(pg: &Postgres, run: &RunKey, step: Option<u64>) -> Result<Option<u64>> {
    let sql = "SELECT seq FROM step WHERE root_id = $1 AND run_no = $2
                   AND ($3::bigint IS NULL OR step = $3) ORDER BY step DESC LIMIT 1";
    let row = pg.row(sql, &[&run.root.as_str(), &run.number, &step.map(signed)])?;
    row.map(|row| count(&row, 0)).transpose()
}

/// Returns the run and step of a checkpoint.
pub(super) fn find(pg: &Postgres, id: &CheckpointId) -> Result<Option<(RunKey, u64)>> {
    let sql = "SELECT root_id, run_no, step FROM step WHERE checkpoint_id = $1";
    let row = pg.row(sql, &[&id.as_str()])?;
    row.map(|row| Ok((key(&row, 0)?, count(&row, 2)?)))
        .transpose()
}

/// Returns the ids of checkpoints that begin with a text, in order, at most `limit`.
pub(super) fn by_prefix(pg: &Postgres, prefix: &str, limit: usize) -> Result<Vec<String>> {
    let sql = "SELECT checkpoint_id FROM step WHERE checkpoint_id >= $1
                   AND checkpoint_id < $1 || U&'\\+10FFFF' AND starts_with(checkpoint_id, $1)
               ORDER BY checkpoint_id LIMIT $2";
    let prefix = super::columns::kept(prefix);
    let rows = pg.rows(sql, &[&prefix.as_ref(), &size(limit)])?;
    rows.iter().map(|row| text(row, 0)).collect()
}
