//! Making few blocks of many small ones when a run has ended.

use std::borrow::Cow;

use crate::backend::{RunRow, Tables, UnsealedTree};
use crate::error::Result;
use crate::format::chain::Hash;
use crate::format::records::{self, Merger};
use crate::format::tape::{PendingTape, TARGET, TapeBlock, TapeEnd};
use crate::read::tape;

/// Merges neighbouring small blocks of a run's records, given first record and length of each. The hash after the last
/// record stays.
pub(crate) fn records(tables: &dyn Tables, run: &RunRow, blocks: Vec<(u64, usize)>) -> Result<()> {
    for group in records::groups(blocks) {
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

/// Writes a root run's tape anew if its blocks are short; returns their hashes then.
pub(crate) fn tape(
    tables: &dyn Tables,
    root: &RunRow,
    tree: &UnsealedTree,
) -> Result<Option<Vec<Hash>>> {
    let count = u64::try_from(tree.tape.len()).unwrap_or(u64::MAX);
    let target = u64::try_from(TARGET).unwrap_or(u64::MAX);
    if count < 2 || tree.tape_length / count >= target / 2 {
        return Ok(None);
    }
    let mut hashes = Vec::new();
    let mut insert = |block: TapeBlock| {
        hashes.push(block.hash);
        tables.insert_tape_block(&root.key, &block)
    };
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
            insert(block)?;
        }
    }
    if let Some(block) = pending.take(&mut fresh) {
        insert(block)?;
    }
    Ok(Some(hashes))
}
