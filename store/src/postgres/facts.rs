//! Derived rows: writing them, and reading them back as they stand there.

use std::collections::{HashMap, HashSet};

use runtape_core::TokenCounts;
use tokio_postgres::Row;

use super::columns::{counts, get, maybe_number, maybe_text, number, signed, size, text};
use super::pending::Into;
use super::rows::Cell;
use super::{Postgres, steps};
use crate::backend::{FactPlace, FactTable, RunKey};
use crate::derive::facts::{CallFact, Fact, NoticeFact, ResultFact, UnparsedFact, UsageFact};
use crate::error::{Result, StoreError};
use crate::format::streams;

/// Adds rows. What came of a call that is among them is written with it.
pub(super) fn insert(pg: &Postgres, run: &RunKey, facts: &[Fact]) -> Result<()> {
    let mut results: HashMap<(u64, u64), &ResultFact> = HashMap::new();
    let mut calls = HashSet::new();
    for fact in facts {
        match fact {
            Fact::Call(call) => drop(calls.insert((call.seq, call.part))),
            Fact::Result(result) => drop(results.insert(result.call, result)),
            _ => {}
        }
    }
    for fact in facts {
        match fact {
            Fact::Step(step) => steps::insert(pg, run, step)?,
            Fact::Call(call) => {
                let result = results.get(&(call.seq, call.part)).copied();
                insert_call(pg, run, call, result.or(call.result.as_ref()))?;
            }
            Fact::Result(result) if calls.contains(&result.call) => {}
            Fact::Result(result) => answer(pg, run, result),
            Fact::Notice(notice) => insert_notice(pg, run, notice)?,
            Fact::Unparsed(output) => insert_unparsed(pg, run, output)?,
            Fact::Usage(usage) => insert_usage(pg, run, usage)?,
        }
    }
    Ok(())
}

fn insert_call(
    pg: &Postgres,
    run: &RunKey,
    call: &CallFact,
    result: Option<&ResultFact>,
) -> Result<()> {
    let cells = [
        Cell::Integer(run.number),
        Cell::Integer(signed(call.seq)),
        Cell::Integer(signed(call.part)),
        Cell::Integer(signed(call.step)),
        Cell::Integer(call.at),
        Cell::text(&call.tool),
        Cell::maybe_text(call.command.as_deref()),
        Cell::maybe_text(call.paths.as_deref()),
        Cell::maybe_text(call.url.as_deref()),
        Cell::maybe(result.map(|result| signed(result.seq))),
        Cell::maybe_truth(result.and_then(|result| result.is_error)),
        Cell::maybe(result.and_then(|result| result.duration_ms.map(signed))),
        Cell::maybe_text(call.class.as_deref()),
    ];
    let length = call.command.as_ref().map_or(0, String::len);
    pg.add(Into::ToolCall, &run.root, cells, 200 + length)
}

/// Notes what came of a call that is written.
fn answer(pg: &Postgres, run: &RunKey, result: &ResultFact) {
    let (seq, part) = result.call;
    let cells = [
        Cell::Integer(run.number),
        Cell::Integer(signed(seq)),
        Cell::Integer(signed(part)),
        Cell::Integer(signed(result.seq)),
        Cell::maybe_truth(result.is_error),
        Cell::maybe(result.duration_ms.map(signed)),
    ];
    pg.answer_call(&run.root, cells);
}

fn insert_notice(pg: &Postgres, run: &RunKey, notice: &NoticeFact) -> Result<()> {
    let cells = [
        Cell::Integer(run.number),
        Cell::Integer(signed(notice.seq)),
        Cell::Integer(signed(notice.step)),
        Cell::Integer(notice.at),
        Cell::text(&notice.kind),
        Cell::text(&notice.text),
    ];
    pg.add(Into::Notice, &run.root, cells, 200)
}

fn insert_unparsed(pg: &Postgres, run: &RunKey, output: &UnparsedFact) -> Result<()> {
    let cells = [
        Cell::Integer(run.number),
        Cell::Integer(signed(output.seq)),
        Cell::Integer(output.at),
        Cell::Integer(streams::number(output.stream).into()),
        Cell::Integer(signed(output.line)),
        Cell::maybe_text(output.tag.as_deref()),
        Cell::text(&output.reason),
        Cell::maybe_text(output.excerpt.as_deref()),
    ];
    pg.add(Into::Unparsed, &run.root, cells, 200)
}

fn insert_usage(pg: &Postgres, run: &RunKey, usage: &UsageFact) -> Result<()> {
    let cells = [
        Cell::Integer(run.number),
        Cell::Integer(signed(usage.seq)),
        Cell::Integer(usage.at),
        Cell::text(&usage.key),
        Cell::text(&usage.source),
        Cell::maybe(usage.step.map(signed)),
        Cell::maybe_text(usage.model.as_deref()),
        Cell::maybe(usage.counts.input_tokens),
        Cell::maybe(usage.counts.output_tokens),
        Cell::maybe(usage.counts.reasoning_tokens),
        Cell::maybe(usage.counts.cached_input_tokens),
        Cell::maybe(usage.session_key),
        Cell::Truth(usage.of_session),
        Cell::maybe(usage.counts.cache_write_tokens),
        Cell::maybe(usage.counts.cache_write_1h_tokens),
    ];
    pg.add(Into::Usage, &run.root, cells, 200)
}

/// The tables of derived rows, the search index among them.
const TABLES: [&str; 6] = ["step", "tool_call", "notice", "unparsed", "usage", "search"];

/// Deletes all rows of a run, also from the search index.
pub(super) fn delete(pg: &Postgres, run: &RunKey) -> Result<()> {
    for table in TABLES {
        let sql = format!("DELETE FROM {table} WHERE root_id = $1 AND run_no = $2");
        pg.change_tree(&run.root, &sql, &[&run.root.as_str(), &run.number])?;
    }
    let sql = "UPDATE run SET searched = 0 WHERE root_id = $1 AND run_no = $2 AND searched <> 0";
    pg.change_tree(&run.root, sql, &[&run.root.as_str(), &run.number])
}

/// Returns the columns of a table, and whether its key has a part beside the record.
fn columns(table: FactTable) -> (&'static str, bool) {
    match table {
        FactTable::Calls => (
            "seq, part, step, at, tool, command, paths, url, result_seq, is_error, duration_ms,
                class FROM tool_call",
            true,
        ),
        FactTable::Notices => ("seq, step, at, kind, text FROM notice", false),
        FactTable::Unparsed => (
            "seq, at, stream, line, tag, reason, excerpt FROM unparsed",
            false,
        ),
        FactTable::Usage => (
            "seq, at, key, source, step, model, input_tokens, output_tokens, reasoning_tokens,
                cached_input_tokens, session_key, of_session, cache_write_tokens,
                cache_write_1h_tokens FROM usage",
            false,
        ),
    }
}

/// Returns rows after a place, at most `limit`.
pub(super) fn stored(
    pg: &Postgres,
    run: &RunKey,
    table: FactTable,
    after: Option<FactPlace>,
    limit: usize,
) -> Result<Vec<(FactPlace, Fact)>> {
    let (columns, has_parts) = columns(table);
    let (key, part) = if has_parts {
        ("seq, part", "part")
    } else {
        ("seq", "0::bigint")
    };
    // Whatever number somebody put there, it comes after none.
    let sql = format!(
        "SELECT {columns} WHERE root_id = $1 AND run_no = $2
            AND ($3::bigint IS NULL OR (seq, {part}) > ($3, $4)) ORDER BY {key} LIMIT $5"
    );
    let (seq, part) = after.map(|FactPlace(seq, part)| (seq, part)).unzip();
    let values: [super::Value<'_>; 5] = [
        &run.root.as_str(),
        &run.number,
        &seq,
        &part.unwrap_or(0),
        &size(limit),
    ];
    let rows = pg.rows(&sql, &values)?;
    let read = match table {
        FactTable::Calls => call,
        FactTable::Notices => notice,
        FactTable::Unparsed => unparsed,
        FactTable::Usage => usage,
    };
    let facts = rows.iter().map(|row| {
        let part = if has_parts { get(row, 1)? } else { 0 };
        Ok((FactPlace(get(row, 0)?, part), read(row)?))
    });
    facts.collect()
}

fn call(row: &Row) -> Result<Fact> {
    let place = (number(row, 0)?, number(row, 1)?);
    let is_error: Option<bool> = get(row, 9)?;
    let duration_ms = maybe_number(row, 10)?;
    let result = match maybe_number(row, 8)? {
        None if is_error.is_some() || duration_ms.is_some() => {
            let fault = "it has a result of no record";
            return Err(StoreError::damaged("a row of tool_call", fault));
        }
        seq => seq.map(|seq| ResultFact {
            call: place,
            seq,
            is_error,
            duration_ms,
        }),
    };
    Ok(Fact::Call(CallFact {
        seq: place.0,
        part: place.1,
        step: number(row, 2)?,
        at: get(row, 3)?,
        tool: text(row, 4)?,
        command: maybe_text(row, 5)?,
        paths: maybe_text(row, 6)?,
        url: maybe_text(row, 7)?,
        class: maybe_text(row, 11)?,
        result,
    }))
}

fn notice(row: &Row) -> Result<Fact> {
    Ok(Fact::Notice(NoticeFact {
        seq: number(row, 0)?,
        step: number(row, 1)?,
        at: get(row, 2)?,
        kind: text(row, 3)?,
        text: text(row, 4)?,
    }))
}

fn unparsed(row: &Row) -> Result<Fact> {
    let stream: i16 = get(row, 2)?;
    let known = u8::try_from(stream).ok().and_then(streams::named);
    let damaged = || StoreError::damaged("a row of unparsed", format!("stream {stream} is none"));
    Ok(Fact::Unparsed(UnparsedFact {
        seq: number(row, 0)?,
        at: get(row, 1)?,
        stream: known.ok_or_else(damaged)?,
        line: number(row, 3)?,
        tag: maybe_text(row, 4)?,
        reason: text(row, 5)?,
        excerpt: maybe_text(row, 6)?,
    }))
}

fn usage(row: &Row) -> Result<Fact> {
    Ok(Fact::Usage(UsageFact {
        seq: number(row, 0)?,
        at: get(row, 1)?,
        key: text(row, 2)?,
        source: text(row, 3)?,
        step: maybe_number(row, 4)?,
        model: maybe_text(row, 5)?,
        counts: TokenCounts {
            cache_write_tokens: get(row, 12)?,
            cache_write_1h_tokens: get(row, 13)?,
            ..counts(row, 6)?
        },
        session_key: get(row, 10)?,
        of_session: get(row, 11)?,
    }))
}
