//! The `step` table: steps and their checkpoints.

use runtape_core::{CheckpointId, RunId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns::{self, counts, signed, unsigned};
use super::runs;
use super::words::WordKeys;
use crate::backend::RunKey;
use crate::derive::facts::StepFact;
use crate::error::Result;

const INSERT: &str = "INSERT INTO step (run, step, seq, checkpoint_id, status, started_at,
     finished_at, messages, tool_calls, pending, input_tokens, output_tokens, reasoning_tokens,
     cached_input_tokens)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// Adds a step.
pub(crate) fn insert(
    connection: &Connection,
    words: &mut WordKeys,
    run: i64,
    step: &StepFact,
) -> Result<()> {
    let status = words.key(connection, &step.status)?;
    connection.prepare_cached(INSERT)?.execute(params![
        run,
        signed(step.step),
        signed(step.seq),
        step.checkpoint_id,
        status,
        step.started_at,
        step.finished_at,
        signed(step.messages),
        signed(step.tool_calls),
        signed(step.pending),
        step.usage.input_tokens,
        step.usage.output_tokens,
        step.usage.reasoning_tokens,
        step.usage.cached_input_tokens,
    ])?;
    Ok(())
}

/// Derives the ids of all checkpoints again.
pub(crate) fn derive_checkpoint_ids(connection: &Connection) -> Result<()> {
    let mut runs = connection.prepare("SELECT key, id FROM run")?;
    let mut steps = connection.prepare("SELECT step FROM step WHERE run = ?1")?;
    let mut update =
        connection.prepare("UPDATE step SET checkpoint_id = ?3 WHERE run = ?1 AND step = ?2")?;
    let mut runs = runs.query([])?;
    while let Some(row) = runs.next()? {
        let key: i64 = row.get(0)?;
        // The steps of a run whose id was damaged stay as they are, and `verify` names the run.
        let Ok(run) = RunId::parse(row.get_ref(1)?.as_str().unwrap_or_default()) else {
            continue;
        };
        let numbers = steps.query_map([key], |row| row.get(0))?;
        for number in numbers.collect::<rusqlite::Result<Vec<i64>>>()? {
            let id = CheckpointId::derive(&run, unsigned(number));
            update.execute(params![key, number, id.as_str()])?;
        }
    }
    Ok(())
}

/// Columns of [`from_row`].
const SELECT: &str =
    "SELECT step, seq, checkpoint_id, coalesce(word.text, ''), started_at, finished_at,
        messages, tool_calls, pending, input_tokens, output_tokens, reasoning_tokens,
        cached_input_tokens
     FROM step LEFT JOIN word ON word.key = step.status";

fn from_row(row: &Row<'_>) -> rusqlite::Result<StepFact> {
    let number = |column| columns::not_negative(column, row.get(column)?);
    Ok(StepFact {
        step: number(0)?,
        seq: number(1)?,
        checkpoint_id: row.get(2)?,
        status: row.get(3)?,
        started_at: row.get(4)?,
        finished_at: row.get(5)?,
        messages: number(6)?,
        tool_calls: number(7)?,
        pending: number(8)?,
        usage: counts(row, 9)?,
    })
}

/// Returns steps of a run after a step, in order, at most `limit`.
pub(crate) fn after(
    connection: &Connection,
    run: i64,
    step: u64,
    limit: usize,
) -> Result<Vec<StepFact>> {
    let sql = format!("{SELECT} WHERE run = ?1 AND step > ?2 ORDER BY step LIMIT ?3");
    let mut statement = connection.prepare_cached(&sql)?;
    let limit = columns::limit(limit);
    let rows = statement.query_map(params![run, signed(step), limit], from_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns a step.
pub(crate) fn one(connection: &Connection, run: i64, step: u64) -> Result<Option<StepFact>> {
    let sql = format!("{SELECT} WHERE run = ?1 AND step = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement
        .query_row([run, signed(step)], from_row)
        .optional()?)
}

/// Returns number and record of each step.
pub(crate) fn numbers(connection: &Connection, run: i64) -> Result<Vec<(i64, i64)>> {
    let sql = "SELECT step, seq FROM step WHERE run = ?1 ORDER BY step";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the record of a step's checkpoint; of the last one if no step is named.
pub(crate) fn seq_of(connection: &Connection, run: i64, step: Option<u64>) -> Result<Option<u64>> {
    let sql = "SELECT seq FROM step WHERE run = ?1 AND (?2 IS NULL OR step = ?2)
               ORDER BY step DESC LIMIT 1";
    let seq: Option<i64> = connection
        .prepare_cached(sql)?
        .query_row(params![run, step.map(signed)], |row| row.get(0))
        .optional()?;
    Ok(seq.map(unsigned))
}

/// Returns the run and step of a checkpoint.
pub(crate) fn find(connection: &Connection, id: &CheckpointId) -> Result<Option<(RunKey, u64)>> {
    Ok(connection
        .prepare_cached(
            "SELECT run.key, run.id, root.id, step.step FROM step JOIN run ON run.key = step.run
             LEFT JOIN run AS root ON root.key = run.root
             WHERE substr(checkpoint_id, 1, 7) = substr(?1, 1, 7) AND checkpoint_id = ?1",
        )?
        .query_row([id.as_str()], |row| {
            Ok((runs::key(row, 0, 1, 2)?, row.get(3).map(unsigned)?))
        })
        .optional()?)
}

/// Returns the ids of checkpoints that begin with a text, in order, at most `limit`.
pub(crate) fn by_prefix(
    connection: &Connection,
    prefix: &str,
    limit: usize,
) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(BY_PREFIX)?;
    let rows = statement.query_map(params![prefix, columns::limit(limit)], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A range of the index: one entry of it for a long prefix, its neighbours for a short one. Ids are
/// ASCII, so nothing that begins with the prefix comes after the prefix and the last character.
const BY_PREFIX: &str = "SELECT checkpoint_id FROM step
     WHERE substr(checkpoint_id, 1, 7) >= substr(?1, 1, 7)
        AND substr(checkpoint_id, 1, 7) <= substr(?1, 1, 7) || char(1114111)
        AND substr(checkpoint_id, 1, length(?1)) = ?1
     ORDER BY substr(checkpoint_id, 1, 7), checkpoint_id LIMIT ?2";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::Sqlite;

    #[test]
    fn a_prefix_is_looked_up_in_the_index_and_in_its_order() {
        let sqlite = Sqlite::open_in_memory().unwrap();
        let plan: Vec<String> = sqlite
            .connection
            .prepare(&format!("EXPLAIN QUERY PLAN {BY_PREFIX}"))
            .unwrap()
            .query_map(params!["abc", 6], |row| row.get(3))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        let search = "SEARCH step USING INDEX step_by_checkpoint (<expr>>? AND <expr><?)";
        assert_eq!(plan.first().map(String::as_str), Some(search), "{plan:?}");
        // Only checkpoints that share all of the index are sorted: the limit stops the search.
        let sorted = plan.iter().find(|line| line.contains("TEMP B-TREE"));
        assert!(
            sorted.is_none_or(|line| line.contains("LAST TERM")),
            "{plan:?}"
        );
    }
}
