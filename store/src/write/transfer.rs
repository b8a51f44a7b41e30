//! A root run and its children, copied from one database to another.
//!
//! Blocks are copied as they are, so that the seal that covered them there still does; the rows
//! that follow from records are made anew. One block is held at a time.

use std::collections::HashMap;

use runtape_core::{Record, RecordKind, RunId};

use super::kept_usage::SessionPlace;
use crate::backend::{NewRun, RunKey, RunRow, Tables};
use crate::derive::facts::FactFolder;
use crate::error::{Result, StoreError};
use crate::format::records::{RecordBlock, each_line, parse};
use crate::read::tape;

/// Copies the runs of a tree, the root first, and its tape. Returns the root run's key there.
pub(crate) fn copy_tree(
    source: &dyn Tables,
    tree: &[RunRow],
    target: &dyn Tables,
) -> Result<RunKey> {
    let mut keys = HashMap::new();
    let mut root_key: Option<RunKey> = None;
    for run in tree {
        let key = Copy {
            source,
            target,
            run,
            root: root_key.as_ref(),
            keys: &keys,
        }
        .run()?;
        if root_key.is_none() {
            root_key = Some(key.clone());
        }
        keys.insert(run.id.clone(), key);
    }
    let (Some(root), Some(root_key)) = (tree.first(), root_key) else {
        return Err(StoreError::damaged("a tree", "it has no runs"));
    };
    tape::each_block(source, &root.key, |block| {
        target.insert_tape_block(&root_key, &block)?;
        Ok(true)
    })?;
    if let Some(exit) = &root.exit {
        target.set_exit(&root_key, exit)?;
    }
    Ok(root_key)
}

/// One run on its way.
struct Copy<'a> {
    source: &'a dyn Tables,
    target: &'a dyn Tables,
    run: &'a RunRow,
    root: Option<&'a RunKey>,
    /// The keys of those runs of the tree that came before.
    keys: &'a HashMap<RunId, RunKey>,
}

impl Copy<'_> {
    /// Copies the run; returns its key.
    fn run(&self) -> Result<RunKey> {
        let mut folder = FactFolder::default();
        let mut key = None;
        let mut from = 0;
        while let Some(block) = self.source.record_block_from(&self.run.key, from)? {
            from = block.first_seq.saturating_add(block.count.max(1));
            let key = self.block(&mut key, &block, &mut folder)?;
            self.target.insert_record_block(key, &block)?;
        }
        let Some(key) = key else {
            return Err(self.damaged("it has no records"));
        };
        if let Some(place) = SessionPlace::of(&folder.run, self.run.started_at) {
            place.make_way(self.target, &self.run.id)?;
        }
        self.target.update_run(&key, &folder.run)?;
        Ok(key)
    }

    fn damaged(&self, fault: impl Into<String>) -> StoreError {
        StoreError::damaged(format!("run {}", self.run.id), fault)
    }

    /// Writes the rows that follow from the records of a block.
    fn block<'k>(
        &self,
        key: &'k mut Option<RunKey>,
        block: &RecordBlock,
        folder: &mut FactFolder,
    ) -> Result<&'k RunKey> {
        let lines = block.lines(&self.run.id)?;
        let mut facts = Vec::new();
        for line in each_line(&lines) {
            let record = parse(line).map_err(|error| self.damaged(error.to_string()))?;
            let key = match &mut *key {
                Some(key) => key,
                empty => empty.insert(self.insert(&record)?),
            };
            folder.push(&record, &mut facts);
            self.target.insert_facts(key, &facts)?;
            facts.clear();
        }
        key.as_ref()
            .ok_or_else(|| self.damaged("a block has no records"))
    }

    /// Adds the run's row.
    fn insert(&self, first: &Record) -> Result<RunKey> {
        let RecordKind::Run(opened) = &first.kind else {
            return Err(self.damaged("its first record does not open it"));
        };
        let parent = opened.delegated_by.as_ref();
        self.target.insert_run(&NewRun {
            id: &self.run.id,
            job: &self.run.job,
            runtime: &self.run.runtime,
            root: self.root,
            parent: parent.and_then(|by| self.keys.get(&by.run_id)),
            started_at: self.run.started_at,
            context: self.run.context.as_deref(),
            facts: None,
            exit: None,
            seal: None,
            is_settled: false,
        })
    }
}
