//! The `root`, `run` and `run_place` tables.

use std::sync::LazyLock;

use runtape_core::report::{RunInfo, SealName};
use runtape_core::{JobId, RunId};
use tokio_postgres::Row;

use super::columns::{
    self, count, get, hash_of, job_id, key, maybe_run_id, maybe_seal, run_id, runtime, text,
    unsigned,
};
use super::pending::{Into, RUN_CELLS, RunCells, cell};
use super::rows::{Cell, Kind};
use super::sums::{COUNTED, counted_of_run};
use super::{Postgres, Value, hold};
use crate::backend::{BareRun, NewRun, Opening, RunKey, RunRow, UnsealedRun, UnsealedTree};
use crate::derive::cells::{self, RUN_COLUMNS, RUN_WIDTH, RunNames, StoredRun};
use crate::derive::facts::RunFacts;
use crate::error::{Result, StoreError};

const ROW: &str =
    "SELECT run.root_id, run.run_no, run.run_id, run.job_id, run.runtime, run.records,
        root.seal_chain, root.seal_number, root.context, root.exit, run.started_at
     FROM run LEFT JOIN root ON root.root_id = run.root_id AND run.run_no = 0";

/// The runs of a tree as those of [`ROW`], with what a seal covers of their records, and of the tape beside the root run.
fn unsealed(fence: &str) -> String {
    format!(
        "SELECT run.root_id, run.run_no, run.run_id, run.job_id, run.runtime, run.records,
            root.seal_chain, root.seal_number, root.context, root.exit, run.started_at,
            blocks.firsts, blocks.lengths, (
                SELECT hash FROM record_block
                WHERE root_id = $1 AND run_no = run.run_no ORDER BY first_seq DESC LIMIT 1
            ), tape.length, tape.hashes
         FROM {fence} run LEFT JOIN root ON root.root_id = run.root_id AND run.run_no = 0
         CROSS JOIN LATERAL (
            SELECT array_agg(first_seq) AS firsts, array_agg(length) AS lengths FROM (
                SELECT first_seq, length FROM record_block
                WHERE root_id = $1 AND run_no = run.run_no ORDER BY first_seq
            ) AS block
         ) AS blocks
         CROSS JOIN LATERAL (
            SELECT sum(length)::bigint AS length, array_agg(hash) AS hashes FROM (
                SELECT length, hash FROM tape_block
                WHERE root_id = $1 AND run.run_no = 0 ORDER BY number
            ) AS block
         ) AS tape
         WHERE run.root_id = $1 ORDER BY run.run_no"
    )
}
static UNSEALED: LazyLock<String> = LazyLock::new(|| unsealed(""));
static FENCED_UNSEALED: LazyLock<String> = LazyLock::new(|| unsealed("fence CROSS JOIN"));

fn from_row(row: &Row) -> Result<RunRow> {
    let key = key(row, 0)?;
    Ok(RunRow {
        id: run_id(row, 2)?,
        root: (key.number != 0).then(|| root_of(&key)),
        key,
        job: job_id(row, 3)?,
        runtime: runtime(row, 4)?,
        records: count(row, 5)?,
        seal: maybe_seal(row, 6)?,
        context: get(row, 8)?,
        exit: get(row, 9)?,
        started_at: get(row, 10)?,
    })
}

/// Returns the key of the root run of a tree.
fn root_of(key: &RunKey) -> RunKey {
    RunKey {
        root: key.root.clone(),
        number: 0,
    }
}

/// Returns a run by its id. Many runs are asked for before they are stored, so those that this transaction is about to
/// write are not written for that.
pub(super) fn find(pg: &Postgres, run: &RunId) -> Result<Option<RunRow>> {
    if pg.transaction.borrow().expected.is_absent(run) {
        return Ok(None);
    }
    if pg.is_pending_run(run) {
        pg.flush()?;
    }
    let sql = format!(
        "{ROW} WHERE run.root_id = (SELECT root_id FROM run_place WHERE run_id = $1) AND run.run_id = $1"
    );
    let rows = pg.rows_beside(&sql, &[&run.as_str()])?;
    let found = rows.first().map(from_row).transpose()?;
    // Its columns may have changed.
    match found {
        Some(row) if pg.is_pending_tree(&row.key.root) => {
            pg.flush()?;
            by_key(pg, &row.key)
        }
        found => Ok(found),
    }
}

/// Returns those of these runs that there are.
pub(super) fn find_all(pg: &Postgres, runs: &[RunId]) -> Result<Vec<RunRow>> {
    let runs: Vec<&str> = runs.iter().map(RunId::as_str).collect();
    let which = "WHERE run.root_id IN (SELECT root_id FROM run_place WHERE run_id = ANY($1))
                 AND run.run_id = ANY($1)";
    select(pg, which, &[&runs])
}

/// Returns a run by its key.
pub(super) fn by_key(pg: &Postgres, key: &RunKey) -> Result<Option<RunRow>> {
    let sql = format!("{ROW} WHERE run.root_id = $1 AND run.run_no = $2");
    let row = pg.row(&sql, &[&key.root.as_str(), &key.number])?;
    row.as_ref().map(from_row).transpose()
}

fn select(pg: &Postgres, which: &str, values: &[Value<'_>]) -> Result<Vec<RunRow>> {
    let sql = format!("{ROW} {which}");
    pg.rows(&sql, values)?.iter().map(from_row).collect()
}

/// Returns a root run and its children, the root first.
pub(super) fn tree(pg: &Postgres, root: &RunKey) -> Result<Vec<RunRow>> {
    let which = "WHERE run.root_id = $1 ORDER BY run.run_no";
    select(pg, which, &[&root.root.as_str()])
}

/// Returns a root run and its children with what a seal covers, if this store may write them.
pub(super) fn unsealed_tree(pg: &Postgres, root: &RunKey) -> Result<UnsealedTree> {
    let mut tree = UnsealedTree {
        runs: Vec::new(),
        tape: Vec::new(),
        tape_length: 0,
    };
    for row in &pg.rows_to_write(&root.root, &UNSEALED, &FENCED_UNSEALED)? {
        let firsts: Vec<i64> = get::<Option<_>>(row, 11)?.unwrap_or_default();
        let lengths: Vec<i64> = get::<Option<_>>(row, 12)?.unwrap_or_default();
        let blocks = firsts.into_iter().zip(lengths);
        let blocks = blocks.map(|(first, length)| {
            (
                unsigned(first),
                usize::try_from(length).unwrap_or(usize::MAX),
            )
        });
        tree.runs.push(UnsealedRun {
            row: from_row(row)?,
            blocks: blocks.collect(),
            last_hash: get::<Option<_>>(row, 13)?.map(hash_of),
        });
        tree.tape_length += get::<Option<i64>>(row, 14)?.map_or(0, unsigned);
        let hashes: Vec<&[u8]> = get::<Option<_>>(row, 15)?.unwrap_or_default();
        tree.tape.extend(hashes.into_iter().map(hash_of));
    }
    Ok(tree)
}

/// Returns the root runs that are not sealed.
pub(super) fn open(pg: &Postgres) -> Result<Vec<RunRow>> {
    let which = "WHERE run.run_no = 0 AND root.seal_number IS NULL
                 ORDER BY run.started_at, run.run_id";
    select(pg, which, &[])
}

/// Returns the root runs in the order they were sealed in each chain.
pub(super) fn sealed_roots(pg: &Postgres) -> Result<Vec<RunRow>> {
    let which = "WHERE run.run_no = 0
                 ORDER BY root.seal_number IS NULL, root.seal_chain, root.seal_number, run.run_id";
    select(pg, which, &[])
}

/// Returns the runs of the tree that a run belongs to, the root first, without what their rows refer to.
pub(super) fn bare_tree(pg: &Postgres, run: &RunId) -> Result<Vec<BareRun>> {
    let sql = "SELECT run.root_id, run.run_no, run.run_id, root.seal_chain, root.seal_number
               FROM run LEFT JOIN root ON root.root_id = run.root_id AND run.run_no = 0
               WHERE run.root_id = (SELECT root_id FROM run_place WHERE run_id = $1)
               ORDER BY run.run_no";
    let rows = pg.rows(sql, &[&run.as_str()])?;
    let bare = rows.iter().map(|row| {
        Ok(BareRun {
            key: key(row, 0)?,
            id: run_id(row, 2)?,
            seal: maybe_seal(row, 3)?,
        })
    });
    bare.collect()
}

/// How many runs are read at once.
const PAGE: i64 = 4096;

/// Calls `each` with the trees and numbers of runs, a page at a time, and their ids.
fn each_of(
    pg: &Postgres,
    which: &str,
    each: &mut dyn FnMut(&str, i64, &str) -> Result<bool>,
) -> Result<()> {
    let sql = format!(
        "SELECT root_id, run_no, run_id FROM run WHERE (root_id, run_no) > ($1, $2) AND {which}
         ORDER BY root_id, run_no LIMIT {PAGE}"
    );
    let mut last = (String::new(), -1_i64);
    loop {
        let rows = pg.rows(&sql, &[&last.0, &last.1])?;
        for row in &rows {
            if !each(get(row, 0)?, get(row, 1)?, get(row, 2)?)? {
                return Ok(());
            }
        }
        match rows.last() {
            Some(row) => last = (get(row, 0)?, get(row, 1)?),
            None => return Ok(()),
        }
    }
}

/// Calls `each` with keys and ids of root runs.
pub(super) fn each_root(
    pg: &Postgres,
    each: &mut dyn FnMut(&RunKey, &str) -> Result<()>,
) -> Result<()> {
    each_of(pg, "run_no = 0", &mut |root, number, id| {
        // An id that is none is for the caller to complain about.
        let root = RunId::parse(root).or_else(|_| RunId::parse("unnamed"))?;
        each(&RunKey { root, number }, id)?;
        Ok(true)
    })
}

/// Calls `each` with all runs.
pub(super) fn each_run(
    pg: &Postgres,
    each: &mut dyn FnMut(&RunKey, &RunId) -> Result<bool>,
) -> Result<()> {
    each_of(pg, "TRUE", &mut |root, number, id| {
        let root = RunId::parse(root)?;
        each(&RunKey { root, number }, &RunId::parse(id)?)
    })
}

fn ids(pg: &Postgres, sql: &str, value: Value<'_>) -> Result<Vec<RunId>> {
    let rows = pg.rows(sql, &[value])?;
    rows.iter().map(|row| run_id(row, 0)).collect()
}

/// Returns the root runs of a job.
pub(super) fn roots_of_job(pg: &Postgres, job: &JobId) -> Result<Vec<RunId>> {
    let sql = "SELECT run_id FROM run WHERE job_id = $1 AND run_no = 0 ORDER BY started_at, run_id";
    ids(pg, sql, &job.as_str())
}

/// Returns the sealed root runs that ended before a time and have a tape.
pub(super) fn roots_with_tapes(pg: &Postgres, time: i64) -> Result<Vec<RunId>> {
    let sql = "SELECT run.run_id FROM run JOIN root ON root.root_id = run.root_id
               WHERE run.run_no = 0 AND root.seal_number IS NOT NULL AND run.finished_at < $1
                   AND EXISTS (SELECT 1 FROM tape_block WHERE tape_block.root_id = run.root_id)
               ORDER BY run.started_at, run.run_id";
    ids(pg, sql, &time)
}

/// Makes cells that can be kept until they are written.
fn owned(cells: [cells::Cell<'_>; RUN_WIDTH]) -> RunCells {
    cells.map(|cell| match cell {
        cells::Cell::Null => cells::Cell::Null,
        cells::Cell::Integer(number) => cells::Cell::Integer(number),
        cells::Cell::Real(number) => cells::Cell::Real(number),
        cells::Cell::Text(text) => cells::Cell::Text(text.into_owned().into()),
        cells::Cell::Word(text) => cells::Cell::Word(text.into_owned().into()),
    })
}

/// Adds a run.
pub(super) fn insert(pg: &Postgres, run: &NewRun<'_>) -> Result<RunKey> {
    let key = match run.root {
        None => RunKey {
            root: run.id.clone(),
            number: 0,
        },
        Some(root) => RunKey {
            root: root.root.clone(),
            number: pg.next_number(&root.root)?,
        },
    };
    if run.root.is_none() {
        let seal = run.seal;
        let cells = [
            Cell::maybe_bytes(run.context),
            Cell::maybe_bytes(run.exit),
            Cell::maybe(seal.map(|seal| i64::from(columns::chain(seal)))),
            Cell::maybe(seal.map(|seal| columns::signed(seal.number))),
            Cell::Integer(run.is_settled.into()),
        ];
        pg.add_root(&key.root, cells)?;
    }
    let nothing = RunFacts::default();
    let facts = run.facts.unwrap_or(&nothing);
    let names = [
        Cell::Integer(key.number),
        Cell::text(run.id.as_str()),
        Cell::text(run.job.as_str()),
        Cell::maybe(run.parent.map(|parent| parent.number)),
        Cell::text(run.runtime.as_str()),
    ];
    let cells = cells::cells(facts, run.started_at).map(cell);
    pg.add(Into::Run, &key.root, names.into_iter().chain(cells), 600)?;
    pg.add(
        Into::RunPlace,
        &key.root,
        [Cell::text(run.id.as_str())],
        100,
    )?;
    pg.note_run(run.id, facts.session.as_deref());
    Ok(key)
}

/// Writes what the records say of a run as a whole.
pub(super) fn update(pg: &Postgres, run: &RunKey, facts: &RunFacts) -> Result<()> {
    // Without records it keeps what it was begun with.
    let started_at = if let Some(at) = facts.started_at {
        at
    } else {
        let sql = "SELECT started_at FROM run WHERE root_id = $1 AND run_no = $2";
        let row = pg.row(sql, &[&run.root.as_str(), &run.number])?;
        row.as_ref().map_or(Ok(0), |row| get(row, 0))?
    };
    let session = facts.session.as_deref();
    hold(&pg.link).leases.keep_ways_of(&run.root, session);
    pg.change_run(run, owned(cells::cells(facts, started_at)));
    pg.note_session(session);
    Ok(())
}

/// Writes what the first record of a run says.
pub(super) fn set_opening(pg: &Postgres, run: &RunKey, opening: &Opening<'_>) -> Result<()> {
    let sql = "UPDATE run SET job_id = $3, runtime = $4, parent_no = $5
               WHERE root_id = $1 AND run_no = $2";
    let runtime = columns::kept(opening.runtime.as_str());
    let values: [Value<'_>; 5] = [
        &run.root.as_str(),
        &run.number,
        &opening.job.as_str(),
        &runtime.as_ref(),
        &opening.parent.map(|parent| parent.number),
    ];
    pg.change_tree(&run.root, sql, &values)
}

/// Writes a column of a root run.
pub(super) fn set(pg: &Postgres, run: &RunKey, column: &str, value: Value<'_>) -> Result<()> {
    let sql = format!("UPDATE root SET {column} = $2 WHERE root_id = $1");
    pg.change_tree(&run.root, &sql, &[&run.root.as_str(), value])
}

/// Writes how the process of a root run ended.
pub(super) fn set_exit(pg: &Postgres, run: &RunKey, exit: &[u8]) {
    let pending = &mut pg.transaction.borrow_mut().pending;
    pending.set_exit(&run.root, exit);
}

/// Writes which seal covers a root run.
pub(super) fn set_seal(pg: &Postgres, run: &RunKey, seal: Option<SealName>) {
    let (chain, number) = (
        seal.map(columns::chain),
        seal.map(|seal| columns::signed(seal.number)),
    );
    let pending = &mut pg.transaction.borrow_mut().pending;
    pending.set_seal(&run.root, chain, number);
}

/// Reads cells from neighbouring columns.
fn read_cells(row: &Row, first: usize) -> Result<RunCells> {
    let mut cells = [const { cells::Cell::Null }; RUN_WIDTH];
    let specs = RUN_CELLS.iter().zip(RUN_COLUMNS);
    for (at, (cell, ((_, kind), column))) in cells.iter_mut().zip(specs).enumerate() {
        let at = first + at;
        *cell = match kind {
            Kind::Text => match columns::maybe_text(row, at)? {
                None => cells::Cell::Null,
                Some(text) if column.is_word => cells::Cell::Word(text.into()),
                Some(text) => cells::Cell::Text(text.into()),
            },
            Kind::Double => {
                get::<Option<f64>>(row, at)?.map_or(cells::Cell::Null, cells::Cell::Real)
            }
            _ => get::<Option<i64>>(row, at)?.map_or(cells::Cell::Null, cells::Cell::Integer),
        };
    }
    Ok(cells)
}

/// Writes the columns of a run in their order.
fn columns_of(text: impl Fn(&'static str, &'static str) -> String) -> String {
    let columns = RUN_CELLS.iter().zip(RUN_COLUMNS);
    let columns = columns.map(|((name, _), column)| text(name, column.name));
    columns.collect::<Vec<_>>().join(", ")
}

/// The columns of [`info`], and the tables that they are from.
pub(super) static INFO: LazyLock<String> = LazyLock::new(|| {
    let columns = columns_of(|quoted, name| match name {
        name if name.ends_with("_tokens") => counted_of_run(name),
        _ => format!("run.{quoted}"),
    });
    format!(
        "run.job_id, run.run_id, CASE WHEN run.run_no <> 0 THEN run.root_id END, parent.run_id,
            run.runtime, root.seal_chain, root.seal_number, {columns}
         FROM run JOIN root ON root.root_id = run.root_id {COUNTED}
         LEFT JOIN run AS parent ON parent.root_id = run.root_id AND parent.run_no = run.parent_no"
    )
});

/// Reads a row of [`INFO`].
pub(super) fn info(row: &Row) -> Result<RunInfo> {
    let names = RunNames {
        job_id: job_id(row, 0)?,
        run_id: run_id(row, 1)?,
        root_run_id: maybe_run_id(row, 2)?,
        parent_run_id: maybe_run_id(row, 3)?,
        runtime: runtime(row, 4)?,
        seal: maybe_seal(row, 5)?,
    };
    Ok(cells::run_info(names, read_cells(row, 7)?))
}

/// What there should be a row for is not there.
fn missing(run: &RunKey) -> StoreError {
    let place = format!("run {} of the tree {}", run.number, run.root);
    StoreError::damaged(place, "its row is missing")
}

/// Returns what is known of a run.
pub(super) fn one_info(pg: &Postgres, run: &RunKey) -> Result<RunInfo> {
    let sql = format!(
        "SELECT {} WHERE run.root_id = $1 AND run.run_no = $2",
        &*INFO
    );
    let row = pg.row(&sql, &[&run.root.as_str(), &run.number])?;
    row.as_ref().map_or_else(|| Err(missing(run)), info)
}

static STORED: LazyLock<String> = LazyLock::new(|| {
    let columns = columns_of(|quoted, _| format!("run.{quoted}"));
    format!(
        "SELECT run.parent_no, root.context, root.exit, {columns}
         FROM run LEFT JOIN root ON root.root_id = run.root_id AND run.run_no = 0
         WHERE run.root_id = $1 AND run.run_no = $2"
    )
});

/// Returns what stands in the row of a run.
pub(super) fn stored(pg: &Postgres, run: &RunKey) -> Result<StoredRun> {
    let row = pg.row(&STORED, &[&run.root.as_str(), &run.number])?;
    let row = row.ok_or_else(|| missing(run))?;
    Ok(StoredRun {
        root: (run.number != 0).then_some(0),
        parent: get(&row, 0)?,
        context: get(&row, 1)?,
        exit: get(&row, 2)?,
        cells: read_cells(&row, 3)?,
    })
}

/// Deletes the row of a run.
pub(super) fn delete(pg: &Postgres, run: &RunKey) -> Result<()> {
    let sql = "DELETE FROM run WHERE root_id = $1 AND run_no = $2 RETURNING run_id";
    hold(&pg.link).leases.forget_ways(&run.root);
    pg.fence(&run.root)?;
    pg.begin_now()?;
    let deleted = pg.row(sql, &[&run.root.as_str(), &run.number])?;
    if let Some(row) = deleted {
        let sql = "DELETE FROM run_place WHERE run_id = $1";
        pg.execute(sql, &[&text(&row, 0)?])?;
    }
    if run.number == 0 {
        pg.execute("DELETE FROM root WHERE root_id = $1", &[&run.root.as_str()])?;
    }
    Ok(())
}
