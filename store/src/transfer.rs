//! A root run and its children, copied from one database to another.
//!
//! Blocks are copied as they are, so that the seal that covered them there still does; the rows
//! that follow from records are made anew. One block is held at a time.

use std::collections::HashMap;

use runtape_core::{Record, RecordKind, RunId};
use rusqlite::{Connection, params};

use crate::error::{Result, StoreError};
use crate::facts::FactFolder;
use crate::place::signed;
use crate::records::{self, RecordBlock};
use crate::runs::{self, NewRun, RunRow};
use crate::tape;
use crate::tree::write_facts;
use crate::words::Words;

/// Copies the runs of a tree, the root first, and its tape. Returns the root run's key there.
pub(crate) fn copy_tree(
    source: &Connection,
    tree: &[RunRow],
    target: &Connection,
    words: &mut Words,
) -> Result<i64> {
    let Some(root) = tree.first() else {
        return Err(StoreError::damaged("a tree", "it has no runs"));
    };
    let mut keys = HashMap::new();
    let mut root_key = None;
    for run in tree {
        let key = Copy {
            source,
            target,
            words,
            run,
            root: root_key,
            keys: &keys,
        }
        .run()?;
        root_key.get_or_insert(key);
        keys.insert(run.id.clone(), key);
    }
    let Some(root_key) = root_key else {
        return Err(StoreError::damaged("a tree", "it has no runs"));
    };
    tape::each_block(source, root.key, |block| {
        tape::insert_some(target, root_key, [block])
    })?;
    Ok(root_key)
}

/// Sets how the process of a root run ended, and the seal that covers it.
pub(crate) fn set_end(
    connection: &Connection,
    root: i64,
    exit: Option<&[u8]>,
    seal: Option<u64>,
) -> Result<()> {
    connection
        .prepare_cached("UPDATE run SET exit = ?2, seal = ?3 WHERE key = ?1")?
        .execute(params![root, exit, seal.map(signed)])?;
    Ok(())
}

/// One run on its way.
struct Copy<'a> {
    source: &'a Connection,
    target: &'a Connection,
    words: &'a mut Words,
    run: &'a RunRow,
    root: Option<i64>,
    /// The keys of those runs of the tree that came before.
    keys: &'a HashMap<RunId, i64>,
}

impl Copy<'_> {
    /// Copies the run; returns its key.
    fn run(&mut self) -> Result<i64> {
        let mut folder = FactFolder::default();
        let mut key = None;
        let mut from = 0;
        while let Some(block) = records::block_from(self.source, self.run.key, from)? {
            from = block.first_seq.saturating_add(block.count.max(1));
            let key = self.block(&mut key, &block, &mut folder)?;
            records::insert(self.target, key, &block)?;
        }
        let Some(key) = key else {
            return Err(self.damaged("it has no records"));
        };
        runs::update(self.target, self.words, key, &folder.run)?;
        Ok(key)
    }

    fn damaged(&self, fault: impl Into<String>) -> StoreError {
        StoreError::damaged(format!("run {}", self.run.id), fault)
    }

    /// Writes the rows that follow from the records of a block.
    fn block(
        &mut self,
        key: &mut Option<i64>,
        block: &RecordBlock,
        folder: &mut FactFolder,
    ) -> Result<i64> {
        let lines = block.lines(&self.run.id)?;
        let mut facts = Vec::new();
        for line in records::each_line(&lines) {
            let record = records::parse(line).map_err(|error| self.damaged(error.to_string()))?;
            let key = match *key {
                Some(key) => key,
                None => *key.insert(self.insert(&record)?),
            };
            folder.push(&record, &mut facts);
            write_facts(self.target, self.words, key, facts.drain(..))?;
        }
        key.ok_or_else(|| self.damaged("a block has no records"))
    }

    /// Adds the run's row.
    fn insert(&mut self, first: &Record) -> Result<i64> {
        let RecordKind::Run(opened) = &first.kind else {
            return Err(self.damaged("its first record does not open it"));
        };
        let parent = opened.delegated_by.as_ref();
        let new = NewRun {
            id: &self.run.id,
            job: &self.run.job,
            runtime: &self.run.runtime,
            root: self.root,
            parent: parent.and_then(|by| self.keys.get(&by.run_id).copied()),
            started_at: self.run.started_at,
            context: self.run.context.as_deref(),
        };
        runs::insert(self.target, self.words, &new)
    }
}
