//! The `job` and `run` tables.

use std::borrow::Cow;
use std::sync::LazyLock;

use runtape_core::report::RunInfo;
use runtape_core::{JobId, RunId, Runtime};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params, params_from_iter};

use super::columns::{job_id, maybe_run_id, place_of_seal, run_id, runtime, seal_name, unsigned};
use super::keys::CountedTable;
use super::migrate;
use super::sums::counted_of_run;
use super::words::WordKeys;
use crate::backend::{BareRun, NewRun, Opening, RunKey, RunRow};
use crate::derive::cells::{
    self, Cell, FIRST_WIDTH, RUN_COLUMNS, RUN_WIDTH, RunColumn, RunNames, StoredRun,
};
use crate::derive::facts::RunFacts;
use crate::error::Result;

const ROW: &str =
    "SELECT run.key, run.id, run.root, root.id, job.id, word.text, run.records, run.seal,
        run.context, run.exit, run.started_at
     FROM run JOIN job ON job.key = run.job JOIN word ON word.key = run.runtime
     LEFT JOIN run AS root ON root.key = run.root";

/// Reads the key of a run from its own, its id and its root's id.
pub(crate) fn key(row: &Row<'_>, own: usize, id: usize, root: usize) -> rusqlite::Result<RunKey> {
    Ok(RunKey {
        root: match maybe_run_id(row, root)? {
            Some(root) => root,
            None => run_id(row, id)?,
        },
        number: row.get(own)?,
    })
}

fn row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let key = key(row, 0, 1, 3)?;
    let root: Option<i64> = row.get(2)?;
    Ok(RunRow {
        id: run_id(row, 1)?,
        root: root.map(|number| RunKey {
            root: key.root.clone(),
            number,
        }),
        key,
        job: job_id(row, 4)?,
        runtime: runtime(row, 5)?,
        records: row.get(6).map(unsigned)?,
        seal: row.get::<_, Option<i64>>(7)?.map(seal_name),
        context: row.get(8)?,
        exit: row.get(9)?,
        started_at: row.get(10)?,
    })
}

/// Returns a run by its id.
pub(crate) fn find(connection: &Connection, run: &RunId) -> Result<Option<RunRow>> {
    Ok(connection
        .prepare_cached(&format!("{ROW} WHERE run.id = ?1"))?
        .query_row([run.as_str()], row)
        .optional()?)
}

/// Returns a run by its key.
pub(crate) fn by_key(connection: &Connection, key: i64) -> Result<Option<RunRow>> {
    Ok(connection
        .prepare_cached(&format!("{ROW} WHERE run.key = ?1"))?
        .query_row([key], row)
        .optional()?)
}

fn rows(connection: &Connection, which: &str, values: &[i64]) -> Result<Vec<RunRow>> {
    let mut statement = connection.prepare_cached(&format!("{ROW} {which}"))?;
    let rows = statement.query_map(params_from_iter(values), row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns a root run and its children, the root first.
pub(crate) fn tree(connection: &Connection, root: i64) -> Result<Vec<RunRow>> {
    let which = "WHERE run.key = ?1 OR run.root = ?1 ORDER BY run.key";
    rows(connection, which, &[root])
}

/// Returns the root runs that are not sealed.
pub(crate) fn open(connection: &Connection) -> Result<Vec<RunRow>> {
    let which = "WHERE run.root IS NULL AND run.seal IS NULL ORDER BY run.key";
    rows(connection, which, &[])
}

/// Returns the root runs in the order they were sealed.
pub(crate) fn sealed_roots(connection: &Connection) -> Result<Vec<RunRow>> {
    let which = "WHERE run.root IS NULL ORDER BY run.seal IS NULL, run.seal, run.key";
    rows(connection, which, &[])
}

/// Returns the runs of the tree that a run belongs to, the root first, without what their rows refer
/// to.
pub(crate) fn bare_tree(connection: &Connection, run: &RunId) -> Result<Vec<BareRun>> {
    let mut statement = connection.prepare_cached(
        "WITH tree (root) AS (
            SELECT coalesce(root.key, run.key) FROM run
            LEFT JOIN run AS root ON root.key = run.root WHERE run.id = ?1
         )
         SELECT run.key, run.id, root.id, run.seal FROM tree
         JOIN run ON run.key = tree.root OR run.root = tree.root
         JOIN run AS root ON root.key = tree.root
         ORDER BY run.key <> tree.root, run.key",
    )?;
    let rows = statement.query_map([run.as_str()], |row| {
        Ok(BareRun {
            key: key(row, 0, 1, 2)?,
            id: run_id(row, 1)?,
            seal: row.get::<_, Option<i64>>(3)?.map(seal_name),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Calls `each` with keys and ids of root runs.
pub(crate) fn each_root(
    connection: &Connection,
    each: &mut dyn FnMut(&RunKey, &str) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT key, id FROM run WHERE root IS NULL ORDER BY key";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        // An id that is none is for the caller to complain about; here the number is enough.
        let root = RunId::parse(id).or_else(|_| RunId::parse("unnamed"))?;
        let key = RunKey {
            root,
            number: row.get(0)?,
        };
        each(&key, id)?;
    }
    Ok(())
}

/// Calls `each` with all runs.
pub(crate) fn each_run(
    connection: &Connection,
    each: &mut dyn FnMut(&RunKey, &RunId) -> Result<bool>,
) -> Result<()> {
    let sql = "SELECT run.key, run.id, root.id FROM run
               LEFT JOIN run AS root ON root.key = run.root ORDER BY run.key";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if !each(&key(row, 0, 1, 2)?, &run_id(row, 1)?)? {
            break;
        }
    }
    Ok(())
}

fn ids(connection: &Connection, sql: &str, value: impl ToSql) -> Result<Vec<RunId>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([value], |row| run_id(row, 0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the root runs of a job.
pub(crate) fn roots_of_job(connection: &Connection, job: &JobId) -> Result<Vec<RunId>> {
    let sql = "SELECT run.id FROM run JOIN job ON job.key = run.job
               WHERE job.id = ?1 AND run.root IS NULL ORDER BY run.key";
    ids(connection, sql, job.as_str())
}

/// Returns the root runs of sessions, each with its session.
pub(crate) fn roots_of_sessions(
    connection: &Connection,
    sessions: &[&str],
) -> Result<Vec<(String, RunId)>> {
    let sql = "SELECT id FROM run
               WHERE session = (SELECT key FROM word WHERE text = ?1) AND root IS NULL";
    let mut found = Vec::new();
    for session in sessions {
        let roots = ids(connection, sql, session)?.into_iter();
        found.extend(roots.map(|root| ((*session).to_owned(), root)));
    }
    Ok(found)
}

/// Returns the root runs that ended before a time and have a tape.
pub(crate) fn roots_with_tapes(connection: &Connection, time: i64) -> Result<Vec<RunId>> {
    let sql = "SELECT id FROM run
               WHERE root IS NULL AND seal IS NOT NULL AND finished_at < ?1
                   AND EXISTS (SELECT 1 FROM tape_block
                       WHERE place BETWEEN run.key << 32 AND (run.key << 32) | 4294967295)
               ORDER BY key";
    ids(connection, sql, time)
}

/// Returns the key of a job, adding it if there is none.
fn job_key(connection: &Connection, job: &JobId) -> Result<i64> {
    let found: Option<i64> = connection
        .prepare_cached("SELECT key FROM job WHERE id = ?1")?
        .query_row([job.as_str()], |row| row.get(0))
        .optional()?;
    if let Some(key) = found {
        return Ok(key);
    }
    let key = CountedTable::Job.next(connection)?;
    connection
        .prepare_cached("INSERT INTO job (key, id) VALUES (?1, ?2)")?
        .execute(params![key, job.as_str()])?;
    Ok(key)
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Value::Null),
            Self::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Self::Real(number) => ToSqlOutput::Owned(Value::Real(*number)),
            Self::Text(text) | Self::Word(text) => {
                ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))
            }
        })
    }
}

/// Puts the keys of words in the place of the words.
fn keyed<'a>(
    connection: &Connection,
    words: &mut WordKeys,
    mut cells: [Cell<'a>; RUN_WIDTH],
) -> Result<[Cell<'a>; RUN_WIDTH]> {
    for cell in &mut cells {
        if let Cell::Word(word) = cell {
            *cell = Cell::Integer(words.key(connection, word)?);
        }
    }
    Ok(cells)
}

/// Columns of a run that do not follow from its records, in the order of [`insert`].
const OTHER_COLUMNS: &str = "key, id, job, root, parent, runtime, context, exit, seal, summed";
const OTHERS: usize = 10;

static INSERT: LazyLock<String> = LazyLock::new(|| {
    let names = RUN_COLUMNS.map(|column| column.name).join(", ");
    let marks: Vec<String> = (1..=OTHERS + RUN_WIDTH).map(|n| format!("?{n}")).collect();
    let marks = marks.join(", ");
    format!("INSERT INTO run ({OTHER_COLUMNS}, {names}) VALUES ({marks})")
});

static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let set = RUN_COLUMNS.iter().enumerate().map(|(at, column)| {
        let (name, number) = (column.name, at + 2);
        format!("{name} = ?{number}")
    });
    let set: Vec<String> = set.collect();
    format!("UPDATE run SET {} WHERE key = ?1", set.join(", "))
});

/// Adds a run, and its job if there is none.
pub(crate) fn insert(
    connection: &Connection,
    words: &mut WordKeys,
    run: &NewRun<'_>,
) -> Result<RunKey> {
    let job = job_key(connection, run.job)?;
    let runtime = words.key(connection, run.runtime.as_str())?;
    let key = CountedTable::Run.next(connection)?;
    let nothing = RunFacts::default();
    let cells = cells::cells(run.facts.unwrap_or(&nothing), run.started_at);
    let cells = keyed(connection, words, cells)?;
    let mut statement = connection.prepare_cached(&INSERT)?;
    let (root, parent) = (
        run.root.map(|key| key.number),
        run.parent.map(|key| key.number),
    );
    let seal = run.seal.map(place_of_seal).transpose()?;
    let others: [&dyn ToSql; OTHERS] = [
        &key,
        &run.id.as_str(),
        &job,
        &root,
        &parent,
        &runtime,
        &run.context,
        &run.exit,
        &seal,
        &run.is_settled,
    ];
    let cells = cells.iter().map(|cell| cell as &dyn ToSql);
    statement.execute(params_from_iter(others.into_iter().chain(cells)))?;
    Ok(RunKey {
        root: run.root.map_or(run.id, |root| &root.root).clone(),
        number: key,
    })
}

/// Writes what the records say of a run as a whole.
pub(crate) fn update(
    connection: &Connection,
    words: &mut WordKeys,
    run: i64,
    facts: &RunFacts,
) -> Result<()> {
    // Without records it keeps what it was begun with.
    let started_at = match facts.started_at {
        Some(at) => at,
        None => connection
            .prepare_cached("SELECT started_at FROM run WHERE key = ?1")?
            .query_row([run], |row| row.get(0))?,
    };
    let cells = keyed(connection, words, cells::cells(facts, started_at))?;
    let key = Cell::Integer(run);
    let mut statement = connection.prepare_cached(&UPDATE)?;
    statement.execute(params_from_iter(std::iter::once(&key).chain(&cells)))?;
    Ok(())
}

/// Writes what the first record of a run says.
pub(crate) fn set_opening(
    connection: &Connection,
    words: &mut WordKeys,
    run: i64,
    opening: &Opening<'_>,
) -> Result<()> {
    let job = job_key(connection, opening.job)?;
    let runtime = words.key(connection, opening.runtime.as_str())?;
    let parent = opening.parent.map(|parent| parent.number);
    connection
        .prepare_cached("UPDATE run SET job = ?2, runtime = ?3, parent = ?4 WHERE key = ?1")?
        .execute(params![run, job, runtime, parent])?;
    Ok(())
}

/// Writes a column of a run.
pub(crate) fn set(
    connection: &Connection,
    run: i64,
    column: &str,
    value: impl ToSql,
) -> Result<()> {
    connection
        .prepare_cached(&format!("UPDATE run SET {column} = ?2 WHERE key = ?1"))?
        .execute(params![run, value])?;
    Ok(())
}

/// Texts of queries: for a database whose runs have the first columns only, and for one of today.
type ByWidth = LazyLock<[String; 2]>;

/// Returns the text for a database.
fn of_width<'a>(texts: &'a ByWidth, connection: &Connection) -> Result<&'a str> {
    let [first, all] = &**texts;
    let has_all = has_all_columns(connection)?;
    Ok(if has_all { all } else { first })
}

/// Tells whether runs have all columns of today in a database.
pub(crate) fn has_all_columns(connection: &Connection) -> Result<bool> {
    Ok(migrate::version(connection)? >= migrate::RUNS_TELL_ABOUT)
}

/// Returns the columns that runs have, with whether they are of every database.
fn columns_of(width: usize) -> impl Iterator<Item = (RunColumn, bool)> {
    let columns = RUN_COLUMNS.into_iter().enumerate();
    columns.map(move |(at, column)| (column, at < width))
}

/// Writes the columns of a run in their order; nothing stands in those that it has not.
fn select(width: usize, text: impl Fn(RunColumn) -> String) -> String {
    let columns = columns_of(width).map(|(column, is_there)| {
        if is_there {
            text(column)
        } else {
            "NULL".to_owned()
        }
    });
    columns.collect::<Vec<_>>().join(", ")
}

/// Joins the words that a run refers to, each under the name of its column.
fn word_joins(width: usize) -> String {
    let words = columns_of(width).filter(|(column, is_there)| column.is_word && *is_there);
    let joins = words.map(|(RunColumn { name, .. }, _)| {
        format!("LEFT JOIN word AS {name} ON {name}.key = run.{name}")
    });
    joins.collect::<Vec<_>>().join("\n")
}

static INFO: ByWidth = LazyLock::new(|| {
    [FIRST_WIDTH, RUN_WIDTH].map(|width| {
        let columns = select(width, |column| match column.name {
            name if column.is_word => format!("{name}.text"),
            name if name.ends_with("_tokens") => counted_of_run(name),
            name => format!("run.{name}"),
        });
        let joins = word_joins(width);
        format!(
            "job.id, run.id, root.id, parent.id, runtime.text, coalesce(run.seal, root.seal), {columns}
             FROM run JOIN job ON job.key = run.job
             JOIN word AS runtime ON runtime.key = run.runtime
             LEFT JOIN run AS root ON root.key = run.root
             LEFT JOIN run AS parent ON parent.key = run.parent
             {joins}"
        )
    })
});

/// Returns the columns of [`info`], and the tables that they are from.
pub(crate) fn info_columns(connection: &Connection) -> Result<&'static str> {
    of_width(&INFO, connection)
}

/// Reads cells from neighbouring columns.
fn read_cells(row: &Row<'_>, first: usize) -> rusqlite::Result<[Cell<'static>; RUN_WIDTH]> {
    let mut cells = [const { Cell::Null }; RUN_WIDTH];
    for (at, (cell, column)) in cells.iter_mut().zip(RUN_COLUMNS).enumerate() {
        *cell = match row.get_ref(first + at)? {
            ValueRef::Null | ValueRef::Blob(_) => Cell::Null,
            ValueRef::Integer(number) => Cell::Integer(number),
            ValueRef::Real(number) => Cell::Real(number),
            ValueRef::Text(text) => {
                let text = Cow::Owned(String::from_utf8_lossy(text).into_owned());
                if column.is_word {
                    Cell::Word(text)
                } else {
                    Cell::Text(text)
                }
            }
        };
    }
    Ok(cells)
}

/// Reads a row of [`info_columns`].
pub(crate) fn info(row: &Row<'_>) -> rusqlite::Result<RunInfo> {
    let names = RunNames {
        job_id: job_id(row, 0)?,
        run_id: run_id(row, 1)?,
        root_run_id: maybe_run_id(row, 2)?,
        parent_run_id: maybe_run_id(row, 3)?,
        runtime: Runtime::from_name(row.get_ref(4)?.as_str()?),
        seal: row.get::<_, Option<i64>>(5)?.map(seal_name),
    };
    Ok(cells::run_info(names, read_cells(row, 6)?))
}

/// Returns what is known of a run.
pub(crate) fn one_info(connection: &Connection, key: i64) -> Result<RunInfo> {
    let sql = format!("SELECT {} WHERE run.key = ?1", info_columns(connection)?);
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([key], info)?)
}

static STORED: ByWidth = LazyLock::new(|| {
    [FIRST_WIDTH, RUN_WIDTH].map(|width| {
        // A reference to a word that is not there is no word, and not nothing either.
        let columns = select(width, |column| match column.name {
            name if column.is_word => format!("coalesce({name}.text, run.{name})"),
            name => format!("run.{name}"),
        });
        let joins = word_joins(width);
        format!(
            "SELECT run.root, run.parent, run.context, run.exit, {columns} FROM run {joins}
             WHERE run.key = ?1"
        )
    })
});

/// Returns what stands in the row of a run.
pub(crate) fn stored(connection: &Connection, key: i64) -> Result<StoredRun> {
    let mut statement = connection.prepare_cached(of_width(&STORED, connection)?)?;
    Ok(statement.query_row([key], |row| {
        Ok(StoredRun {
            root: row.get(0)?,
            parent: row.get(1)?,
            context: row.get(2)?,
            exit: row.get(3)?,
            cells: read_cells(row, 4)?,
        })
    })?)
}

/// Deletes the row of a run, and its job if that was the last one.
pub(crate) fn delete(connection: &Connection, run: i64) -> Result<()> {
    let job: i64 = connection
        .prepare_cached("SELECT job FROM run WHERE key = ?1")?
        .query_row([run], |row| row.get(0))?;
    connection
        .prepare_cached("DELETE FROM run WHERE key = ?1")?
        .execute([run])?;
    connection
        .prepare_cached(
            "DELETE FROM job WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE job = ?1)",
        )?
        .execute([job])?;
    Ok(())
}

/// Deletes jobs that have no run. Deleting the last run of a job deletes the job, so there are
/// none unless somebody changed a row.
pub(crate) fn delete_unused_jobs(connection: &Connection) -> Result<()> {
    connection.execute("DELETE FROM job WHERE key NOT IN (SELECT job FROM run)", [])?;
    Ok(())
}
