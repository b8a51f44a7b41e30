//! The tape of a root run, from its blocks.

use runtape_core::{RunId, Span};

use crate::backend::{RunKey, RunRow, Tables};
use crate::error::{Result, StoreError};
use crate::format::tape::{TapeBlock, TapeEnd};

/// Returns where the tape of a run ends.
pub(crate) fn end(tables: &dyn Tables, root: &RunKey, id: &RunId) -> Result<TapeEnd> {
    let last = tables.last_tape_block(root)?;
    Ok(last.map_or_else(|| TapeEnd::first(id), |block| TapeEnd::after(&block)))
}

/// Returns a block that must be there.
pub(crate) fn block(tables: &dyn Tables, root: &RunRow, number: u64) -> Result<TapeBlock> {
    let block = tables.tape_block(&root.key, number)?;
    block.ok_or_else(|| {
        StoreError::damaged(format!("run {}: tape block {number}", root.id), "missing")
    })
}

/// Calls `each` with the blocks of a tape in order until it returns `false`.
pub(crate) fn each_block(
    tables: &dyn Tables,
    root: &RunKey,
    mut each: impl FnMut(TapeBlock) -> Result<bool>,
) -> Result<()> {
    let mut number = 0;
    while let Some(next) = tables.next_tape_number(root, number)? {
        let Some(block) = tables.tape_block(root, next)? else {
            break;
        };
        if !each(block)? {
            break;
        }
        number = next + 1;
    }
    Ok(())
}

/// Returns a range of a root run's output.
pub(crate) fn bytes(tables: &dyn Tables, root: &RunRow, span: Span) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let blocks = tables.tape_blocks_with(&root.key, span.stream, span.start, span.end)?;
    for block in blocks {
        let raw = block.raw(&root.id)?;
        for chunk in block.chunks(&root.id, &raw)? {
            if chunk.stream != span.stream {
                continue;
            }
            let from = span.start.saturating_sub(chunk.start);
            let to = span.end.min(chunk.end()).saturating_sub(chunk.start);
            let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
            let part = range.and_then(|(from, to)| chunk.bytes.get(from..to));
            bytes.extend_from_slice(part.unwrap_or_default());
        }
    }
    Ok(bytes)
}
