//! Making anew what follows from records: the tables for queries, a run's columns, the search
//! index, the shared words. Records, tapes and seals are only read.

use std::collections::HashMap;

use runtape_core::RunId;
use runtape_core::report::RebuiltRun;

use super::kept_usage;
use crate::backend::{BareRun, Opening, RunKey, Tables};
use crate::derive::cells::{self, FIRST_WIDTH};
use crate::derive::facts::{Fact, FactFolder, RunFacts};
use crate::derive::words::Words;
use crate::error::{Result, StoreError};
use crate::read::search::Indexer;
use crate::read::{records, sealed};
use crate::store::Store;

/// Rows that are held until they are written: memory must not grow with a run.
const MOST_ROWS: usize = 4096;

impl Store {
    /// Makes anew what follows from the records of all runs of the tree that a run belongs to, in one
    /// transaction.
    ///
    /// A run whose records do not fit their chain, or are not what was sealed, is refused and left
    /// as it is.
    pub fn rebuild(&mut self, run: &RunId) -> Result<RebuiltRun> {
        let root = self.read(|tables| root_of(tables, run))?;
        self.with_lock(&root, |store| {
            store.write(|tables| {
                let rebuilt = rebuild_tree(tables, &root)?;
                // What counts of other runs follows from this one, too.
                kept_usage::renew(tables)?;
                Ok(rebuilt)
            })
        })
    }

    /// Makes anew what follows from the records of all runs, and calls `each` with what became of each
    /// tree. A tree that is refused does not keep the others from being rebuilt. Derived rows that
    /// belong to no run, and words that nothing refers to, are deleted.
    pub fn rebuild_all(&mut self, mut each: impl FnMut(&RunId, Result<RebuiltRun>)) -> Result<()> {
        self.write(|tables| {
            tables.repair_structure()?;
            // Rows that are wrong cannot be taken out of sums, so those are made anew at the end.
            tables.clear_kept_usage()?;
            // A run that cannot be read could not be put into the index again.
            if all_proved(tables)? {
                tables.clear_search()?;
            }
            Ok(())
        })?;
        for root in self.read(roots)? {
            let rebuilt = self.with_lock(&root, |store| {
                store.write(|tables| rebuild_tree(tables, &root))
            });
            each(&root, rebuilt);
        }
        self.write(|tables| {
            kept_usage::renew(tables)?;
            tables.delete_unused()
        })
    }
}

/// Returns the root of the tree that a run belongs to.
fn root_of(tables: &dyn Tables, run: &RunId) -> Result<RunId> {
    let tree = tables.bare_tree(run)?;
    let root = tree.into_iter().next();
    root.map(|root| root.id)
        .ok_or_else(|| StoreError::UnknownRun {
            run: run.to_string(),
        })
}

fn roots(tables: &dyn Tables) -> Result<Vec<RunId>> {
    let mut roots = Vec::new();
    tables.each_root(&mut |_, id| {
        roots.push(RunId::parse(id)?);
        Ok(())
    })?;
    Ok(roots)
}

/// Tells whether the records of all runs fit their chains.
fn all_proved(tables: &dyn Tables) -> Result<bool> {
    let mut is_proved = true;
    tables.each_run(&mut |key, id| {
        match records::each_proved(tables, key, id, |_| Ok(())) {
            Err(StoreError::Damaged { .. }) => is_proved = false,
            proved => proved?,
        }
        Ok(is_proved)
    })?;
    Ok(is_proved)
}

fn rebuild_tree(tables: &dyn Tables, root: &RunId) -> Result<RebuiltRun> {
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
    let members = tables.bare_tree(root)?;
    let keys: HashMap<&RunId, &RunKey> = members.iter().map(|run| (&run.id, &run.key)).collect();
    for run in &members {
        let folder = rebuild_run(tables, run, &mut rebuilt)?;
        let is_root = run.id == *root;
        let parent = folder.parent().filter(|_| !is_root);
        let parent = parent.and_then(|parent| keys.get(parent).copied());
        if let Some(opened) = &folder.run.opened {
            let (job, runtime) = (&opened.job_id, &opened.runtime);
            let opening = Opening {
                job,
                runtime,
                parent,
            };
            tables.set_opening(&run.key, &opening)?;
        }
        rebuilt.runs += 1;
    }
    let Some(BareRun {
        key,
        seal: Some(seal),
        ..
    }) = members.first()
    else {
        return Ok(rebuilt);
    };
    let digest = sealed::digest(tables, &tables.tree(key)?)?;
    if !sealed::has_digest(tables, *seal, &digest)? {
        let fault = "it is not as it was sealed";
        return Err(StoreError::damaged(format!("run {root}"), fault));
    }
    Ok(rebuilt)
}

/// Fills in the columns that were added and follow from the records of all runs. A run whose records cannot be read, or
/// whose other columns say something else than its records, stays as it is: it was changed, and `verify` names it.
pub(crate) fn fill_runs(tables: &dyn Tables) -> Result<()> {
    let mut runs = Vec::new();
    tables.each_run(&mut |key, id| {
        runs.push((key.clone(), id.clone()));
        Ok(true)
    })?;
    for (key, id) in runs {
        let mut folder = FactFolder::default();
        let mut facts = Vec::new();
        let read = records::each_proved(tables, &key, &id, |record| {
            folder.push(&record, &mut facts);
            facts.clear();
            Ok(())
        });
        match read {
            Ok(()) if is_as_written(tables, &key, &folder.run)? => {
                tables.update_run(&key, &folder.run)?;
            }
            Ok(()) | Err(StoreError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Tells whether the columns that a run always had say what its records say.
fn is_as_written(tables: &dyn Tables, key: &RunKey, facts: &RunFacts) -> Result<bool> {
    let stored = tables.stored_run(key)?.cells;
    let started_at = tables.run_at(key)?.map_or(0, |run| run.started_at);
    let expected = cells::cells(facts, started_at);
    let mut both = expected.iter().zip(&stored).take(FIRST_WIDTH);
    Ok(both.all(|(expected, stored)| expected == stored))
}

/// Makes the rows anew that follow from the records of one run.
fn rebuild_run(tables: &dyn Tables, run: &BareRun, rebuilt: &mut RebuiltRun) -> Result<FactFolder> {
    tables.delete_facts(&run.key)?;
    let mut folder = FactFolder::default();
    let mut facts = Vec::new();
    let mut words = Words::default();
    let mut indexer = Indexer::new(tables, &run.key, &mut words);
    records::each_proved(tables, &run.key, &run.id, |record| {
        folder.push(&record, &mut facts);
        if facts.len() >= MOST_ROWS {
            count(&facts, rebuilt);
            tables.insert_facts(&run.key, &facts)?;
            facts.clear();
        }
        indexer.push(&record).map(drop)
    })?;
    count(&facts, rebuilt);
    tables.insert_facts(&run.key, &facts)?;
    tables.update_run(&run.key, &folder.run)?;
    indexer.finish(folder.run.records)?;
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
            // A result stands in the row of its call.
            Fact::Result(_) => {}
        }
    }
}
