//! Making few blocks of many small ones when a run has ended.

use std::borrow::Cow;

use crate::backend::{RunRow, Tables};
use crate::error::Result;
use crate::format::records::{self, Merger};
use crate::format::tape::{PendingTape, TARGET, TapeEnd};
use crate::read::tape;

/// Merges neighbouring small blocks of a run's records.
pub(crate) fn records(tables: &dyn Tables, run: &RunRow) -> Result<()> {
    for group in records::groups(tables.record_block_lengths(&run.key)?) {
        let mut merger = Merger::default();
        for first_seq in group {
            if let Some(block) = tables.record_block_of(&run.key, first_seq)? {
                merger.push(&run.id, &block)?;
            }
            tables.delete_record_block(&run.key, first_seq)?;
        }
        if let Some(block) = merger.finish() {
            tables.insert_record_block(&run.key, &block)?;
        }
    }
    Ok(())
}

/// Writes a root run's tape anew if its blocks are short.
pub(crate) fn tape(tables: &dyn Tables, root: &RunRow) -> Result<()> {
    let (count, length) = tables.tape_weight(&root.key)?;
    let target = u64::try_from(TARGET).unwrap_or(u64::MAX);
    if count < 2 || length / count >= target / 2 {
        return Ok(());
    }
    // One block at a time: a tape may be longer than memory. A new block never takes the place
    // of one that was not read yet, since each holds at least one of the old ones.
    let mut fresh = TapeEnd::first(&root.id);
    let mut pending = PendingTape::default();
    for number in 0..tape::end(tables, &root.key, &root.id)?.blocks {
        let block = tape::block(tables, root, number)?;
        tables.delete_tape_block(&root.key, number)?;
        let raw = block.raw(&root.id)?;
        for chunk in block.chunks(&root.id, &raw)? {
            pending.push(chunk.stream, chunk.received_at, Cow::Owned(chunk.bytes));
        }
        if pending.len() >= TARGET
            && let Some(block) = pending.take(&mut fresh)
        {
            tables.insert_tape_block(&root.key, &block)?;
        }
    }
    match pending.take(&mut fresh) {
        Some(block) => tables.insert_tape_block(&root.key, &block),
        None => Ok(()),
    }
}
