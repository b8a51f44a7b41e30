//! The records of a run, from its blocks.

use std::ops::Range;

use memchr::memmem;
use runtape_core::{Record, RunId};

use crate::backend::{RunKey, Tables};
use crate::error::{Result, StoreError};
use crate::format::chain::{self, Hash};
use crate::format::records::{RecordBlock, each_line, parse};

/// Calls `each` with a run's records from a sequence number on, until it returns `false`.
pub(crate) fn each_from(
    tables: &dyn Tables,
    run: &RunKey,
    id: &RunId,
    seq: u64,
    mut each: impl FnMut(Record) -> Result<bool>,
) -> Result<()> {
    let first = tables.record_block_of(run, seq)?;
    each_from_block(tables, run, id, first, seq..u64::MAX, &mut each)
}

/// Does the same with the records of a range, of which the first block is known, and maybe some after it.
pub(crate) fn each_from_block(
    tables: &dyn Tables,
    run: &RunKey,
    id: &RunId,
    first: Option<RecordBlock>,
    range: Range<u64>,
    each: &mut dyn FnMut(Record) -> Result<bool>,
) -> Result<()> {
    let mut block = first;
    while let Some(current) = block {
        for record in current.records(id)? {
            if record.seq >= range.start && !each(record)? {
                return Ok(());
            }
        }
        let next = current.first_seq + current.count.max(1);
        if next >= range.end {
            break;
        }
        block = tables.record_block_from(run, next)?;
    }
    Ok(())
}

/// Calls `each` with all of a run's records, following their chain: a record that does not fit it,
/// or a gap, is an error.
pub(crate) fn each_proved(
    tables: &dyn Tables,
    run: &RunKey,
    id: &RunId,
    mut each: impl FnMut(Record) -> Result<()>,
) -> Result<()> {
    let misfit = |seq: u64, fault: &str| {
        Err(StoreError::damaged(
            format!("run {id}: record {seq}"),
            fault,
        ))
    };
    let mut hash = chain::first_record(id);
    let (mut expected, mut from) = (0, 0);
    while let Some(block) = tables.record_block_from(run, from)? {
        from = block.first_seq + 1;
        if block.first_seq != expected {
            return misfit(expected, "it is missing, or there twice");
        }
        let lines = block.lines(id)?;
        let mut marks = block.marks.chunks(chain::MARK);
        for line in each_line(&lines) {
            let record = parse(line).map_err(|error| block.damaged(id, error.to_string()))?;
            hash = chain::next_record(&hash, line);
            let is_in_place = record.run_id == *id && record.seq == expected;
            if !is_in_place || marks.next() != Some(&chain::mark(&hash)[..]) {
                return misfit(expected, "it does not fit the hash before it");
            }
            each(record)?;
            expected += 1;
        }
        let is_whole = expected == block.first_seq + block.count;
        if !is_whole || hash != block.hash || marks.next().is_some() {
            return misfit(
                expected,
                "the block before it does not end as its hash says",
            );
        }
    }
    Ok(())
}

/// Calls `each` with those of a run's records, from a sequence number on, whose JSON has some bytes
/// in it, until it returns `false`. The others are not parsed, which takes most of the time.
pub(crate) fn each_with(
    tables: &dyn Tables,
    run: &RunKey,
    id: &RunId,
    seq: u64,
    bytes: &[u8],
    mut each: impl FnMut(Record) -> bool,
) -> Result<()> {
    let finder = memmem::Finder::new(bytes);
    let mut block = tables.record_block_of(run, seq)?;
    while let Some(current) = block {
        let lines = current.lines(id)?;
        // Most blocks have none: they are not even taken apart.
        if finder.find(&lines).is_some() {
            for line in each_line(&lines).filter(|line| finder.find(line).is_some()) {
                let parsed = parse(line);
                let record = parsed.map_err(|error| current.damaged(id, error.to_string()))?;
                if record.seq >= seq && !each(record) {
                    return Ok(());
                }
            }
        }
        let next = current.first_seq + current.count.max(1);
        block = tables.record_block_from(run, next)?;
    }
    Ok(())
}

/// Returns one record.
pub(crate) fn one(
    tables: &dyn Tables,
    run: &RunKey,
    id: &RunId,
    seq: u64,
) -> Result<Option<Record>> {
    let Some(block) = tables.record_block_of(run, seq)? else {
        return Ok(None);
    };
    let lines = block.lines(id)?;
    // Of the hundreds of records in a block, only the line of this one is parsed.
    let nth = usize::try_from(seq - block.first_seq).unwrap_or(usize::MAX);
    let line = each_line(&lines).nth(nth);
    line.map(|line| parse(line).map_err(|error| block.damaged(id, error.to_string())))
        .transpose()
}

/// Returns the chain's hash after the last record.
pub(crate) fn last_hash(tables: &dyn Tables, run: &RunKey, id: &RunId) -> Result<Hash> {
    let block = tables.record_block_of(run, u64::MAX)?;
    Ok(block.map_or_else(|| chain::first_record(id), |block| block.hash))
}
