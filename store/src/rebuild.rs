//! Making anew what follows from records: the tables for queries, a run's columns, the search
//! index, the shared words. Records, tapes and seals are only read.

use std::collections::HashMap;

use runtape_core::report::RebuiltRun;
use runtape_core::{JobId, RunId, Runtime};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::{Result, StoreError};
use crate::facts::{Fact, FactFolder};
use crate::store::Store;
use crate::tree::write_facts;
use crate::words::Words;
use crate::{keys, records, retention, runs, seals, search, words};

/// Rows that are held until they are written: memory must not grow with a run.
const MOST_ROWS: usize = 4096;

/// A run, by what is not derived from records. Its row may be damaged in all else, so it is read
/// without what it refers to.
struct Member {
    key: i64,
    id: RunId,
    seal: Option<i64>,
}

impl Store {
    /// Makes anew what follows from the records of a run, its root and all of its tree, in one
    /// transaction.
    ///
    /// A run whose records do not fit their chain, or are not what was sealed, is refused and left
    /// as it is.
    pub fn rebuild(&mut self, run: &RunId) -> Result<RebuiltRun> {
        let root = self.read(|connection| root_of(connection, run))?;
        let rebuilt = self.with_lock(&root, |store| {
            store.write(|connection, words| rebuild_tree(connection, words, &root))
        });
        // Words may have been found under another key, or not at all.
        self.words.forget();
        rebuilt
    }

    /// Makes anew what follows from the records of all runs, a tree at a time, and calls `each` with
    /// what became of it; one that is refused does not keep the others from it. Derived rows that
    /// belong to no run, and words that nothing refers to, are deleted.
    pub fn rebuild_all(&mut self, mut each: impl FnMut(&RunId, Result<RebuiltRun>)) -> Result<()> {
        self.write(|connection, words| {
            // Also an index may say something else than its table.
            connection.execute_batch("REINDEX")?;
            words.forget();
            delete_strays(connection)?;
            // A run that cannot be read could not be put into the index again.
            if all_proved(connection)? {
                search::clear(connection)?;
            }
            Ok(())
        })?;
        for root in self.read(roots)? {
            let rebuilt = self.rebuild(&root);
            each(&root, rebuilt);
        }
        self.write(|connection, words| {
            runs::delete_unused_jobs(connection)?;
            words::delete_unused(connection)?;
            words.forget();
            keys::restore(connection)
        })
    }
}

/// Returns the root of the tree that a run belongs to.
fn root_of(connection: &Connection, run: &RunId) -> Result<RunId> {
    let found: Option<String> = connection
        .prepare_cached(
            "SELECT coalesce(root.id, run.id) FROM run LEFT JOIN run AS root ON root.key = run.root
             WHERE run.id = ?1",
        )?
        .query_row([run.as_str()], |row| row.get(0))
        .optional()?;
    match found {
        Some(id) => Ok(RunId::parse(id)?),
        None => Err(StoreError::UnknownRun {
            run: run.to_string(),
        }),
    }
}

fn roots(connection: &Connection) -> Result<Vec<RunId>> {
    let mut statement =
        connection.prepare_cached("SELECT id FROM run WHERE root IS NULL ORDER BY key")?;
    let rows = statement.query_map([], |row| runs::run_id(row.get_ref(0)?.as_str()?))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Deletes derived rows that belong to no run.
fn delete_strays(connection: &Connection) -> Result<()> {
    for table in ["step", "tool_call", "notice", "unparsed", "usage"] {
        let sql = format!("DELETE FROM {table} WHERE run NOT IN (SELECT key FROM run)");
        connection.execute(&sql, [])?;
    }
    let sql = "DELETE FROM search WHERE rowid >> 32 NOT IN (SELECT key FROM run)";
    connection.execute(sql, [])?;
    Ok(())
}

/// Tells whether the records of all runs fit their chains.
fn all_proved(connection: &Connection) -> Result<bool> {
    let mut statement = connection.prepare_cached("SELECT key, id FROM run")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, runs::run_id(row.get_ref(1)?.as_str()?)?))
    })?;
    for row in rows {
        let (key, id) = row?;
        match records::each_proved(connection, key, &id, |_| Ok(())) {
            Err(StoreError::Damaged { .. }) => return Ok(false),
            proved => proved?,
        }
    }
    Ok(true)
}

/// Returns the runs of a tree, the root first.
fn members(connection: &Connection, root: &RunId) -> Result<Vec<Member>> {
    let mut statement = connection.prepare_cached(
        "SELECT key, id, seal FROM run WHERE key = ?1 OR root = ?1
         ORDER BY root IS NOT NULL, key",
    )?;
    let key: i64 = connection
        .prepare_cached("SELECT key FROM run WHERE id = ?1")?
        .query_row([root.as_str()], |row| row.get(0))?;
    let rows = statement.query_map([key], |row| {
        Ok(Member {
            key: row.get(0)?,
            id: runs::run_id(row.get_ref(1)?.as_str()?)?,
            seal: row.get(2)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn rebuild_tree(connection: &Connection, words: &mut Words, root: &RunId) -> Result<RebuiltRun> {
    let mut rebuilt = RebuiltRun {
        run_id: root.clone(),
        runs: 0,
        records: 0,
        steps: 0,
        tool_calls: 0,
        notices: 0,
        unparsed: 0,
        usage_entries: 0,
    };
    let members = members(connection, root)?;
    let keys: HashMap<&RunId, i64> = members.iter().map(|run| (&run.id, run.key)).collect();
    for run in &members {
        let folder = rebuild_run(connection, words, run, &mut rebuilt)?;
        let is_root = run.id == *root;
        let parent = folder.parent().filter(|_| !is_root);
        let parent = parent.and_then(|parent| keys.get(parent).copied());
        if let Some(opened) = &folder.run.opened {
            let (job, runtime) = (&opened.job_id, &opened.runtime);
            set_opening(connection, words, run.key, job, runtime, parent)?;
        }
        rebuilt.runs += 1;
    }
    let Some(Member {
        key,
        seal: Some(seal),
        ..
    }) = members.first()
    else {
        return Ok(rebuilt);
    };
    let digest = seals::digest(connection, &runs::tree(connection, *key)?)?;
    if !seals::has_digest(connection, *seal, &digest)? {
        let fault = "it is not as it was sealed";
        return Err(StoreError::damaged(format!("run {root}"), fault));
    }
    Ok(rebuilt)
}

/// Makes the rows anew that follow from the records of one run.
fn rebuild_run(
    connection: &Connection,
    words: &mut Words,
    run: &Member,
    rebuilt: &mut RebuiltRun,
) -> Result<FactFolder> {
    retention::delete_derived(connection, run.key)?;
    let mut folder = FactFolder::default();
    let mut facts = Vec::new();
    records::each_proved(connection, run.key, &run.id, |record| {
        folder.push(&record, &mut facts);
        if facts.len() >= MOST_ROWS {
            count(&facts, rebuilt);
            write_facts(connection, words, run.key, facts.drain(..))?;
        }
        search::index(connection, run.key, &record)
    })?;
    count(&facts, rebuilt);
    write_facts(connection, words, run.key, facts)?;
    runs::update(connection, words, run.key, &folder.run)?;
    search::set_searched(connection, run.key, folder.run.records)?;
    rebuilt.records += folder.run.records;
    Ok(folder)
}

fn count(facts: &[Fact], rebuilt: &mut RebuiltRun) {
    for fact in facts {
        match fact {
            Fact::Step(_) => rebuilt.steps += 1,
            Fact::Call(_) => rebuilt.tool_calls += 1,
            Fact::Notice(_) => rebuilt.notices += 1,
            Fact::Unparsed(_) => rebuilt.unparsed += 1,
            Fact::Usage(_) => rebuilt.usage_entries += 1,
            // It stands in the row of its call.
            Fact::Result(_) => {}
        }
    }
}

/// Writes what the first record of a run says.
fn set_opening(
    connection: &Connection,
    words: &mut Words,
    run: i64,
    job: &JobId,
    runtime: &Runtime,
    parent: Option<i64>,
) -> Result<()> {
    let job = runs::job_key(connection, job)?;
    let runtime = words.key(connection, runtime.as_str())?;
    connection
        .prepare_cached("UPDATE run SET job = ?2, runtime = ?3, parent = ?4 WHERE key = ?1")?
        .execute(params![run, job, runtime, parent])?;
    Ok(())
}
