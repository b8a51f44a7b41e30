//! Blocks of records: the records of a run as compressed JSON lines.
//!
//! A row a record would cost more than many a record itself. So each append writes a block, and
//! small blocks are merged when the run ends.

use runtape_core::{Record, RunId};

use super::chain::{self, Hash};
use super::codec;
use super::depth;
use crate::error::{Result, StoreError};

/// Length from which on a block is closed. Reading one record decompresses its whole block.
pub(crate) const TARGET: usize = 128 << 10;

/// A block as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct RecordBlock {
    pub(crate) first_seq: u64,
    pub(crate) count: u64,
    pub(crate) length: usize,
    pub(crate) hash: Hash,
    pub(crate) marks: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// A block that is not compressed yet: that can be done on another thread.
#[derive(Clone, Debug)]
pub(crate) struct PlainBlock {
    first_seq: u64,
    count: u64,
    hash: Hash,
    marks: Vec<u8>,
    lines: Vec<u8>,
}

impl PlainBlock {
    /// Compresses the block.
    pub(crate) fn compress(self) -> RecordBlock {
        RecordBlock {
            first_seq: self.first_seq,
            count: self.count,
            length: self.lines.len(),
            hash: self.hash,
            marks: self.marks,
            body: codec::RECORDS.encode(&self.lines),
        }
    }
}

/// Records that are about to be written.
#[derive(Debug, Default)]
pub(crate) struct PendingBlock {
    first_seq: u64,
    count: u64,
    lines: Vec<u8>,
    marks: Vec<u8>,
}

impl PendingBlock {
    /// Adds a record and returns the chain's hash after it.
    pub(crate) fn push(&mut self, record: &Record, before: &Hash) -> Result<Hash> {
        if self.count == 0 {
            self.first_seq = record.seq;
        }
        let begin = self.lines.len();
        chain::write_canonical(&mut self.lines, record)?;
        let line = self.lines.get(begin..).unwrap_or_default();
        // What could not be read back is not written.
        if depth::is_too_deep(line) || line.len() >= codec::LONGEST / 2 {
            let seq = record.seq;
            let fault = format!("record {seq} is nested too deep or too long to be kept");
            self.lines.truncate(begin);
            return Err(StoreError::invalid(&record.run_id, fault));
        }
        let hash = chain::next_record(before, line);
        self.lines.push(b'\n');
        self.marks.extend_from_slice(&chain::mark(&hash));
        self.count += 1;
        Ok(hash)
    }

    /// Tells whether the block is long enough to be closed.
    pub(crate) fn is_full(&self) -> bool {
        self.lines.len() >= TARGET
    }

    /// Closes the block, if there is anything in it; `hash` is the chain's after its last record.
    pub(crate) fn take(&mut self, hash: &Hash) -> Option<PlainBlock> {
        if self.count == 0 {
            return None;
        }
        let pending = std::mem::take(self);
        Some(PlainBlock {
            first_seq: pending.first_seq,
            count: pending.count,
            hash: *hash,
            marks: pending.marks,
            lines: pending.lines,
        })
    }
}

impl RecordBlock {
    pub(crate) fn damaged(&self, run: &RunId, fault: impl Into<String>) -> StoreError {
        let last = self.first_seq + self.count.saturating_sub(1);
        StoreError::damaged(
            format!("run {run}: block of records {} to {last}", self.first_seq),
            fault,
        )
    }

    /// Returns the canonical JSON of the block's records, each followed by a line feed.
    pub(crate) fn lines(&self, run: &RunId) -> Result<Vec<u8>> {
        codec::decode(&self.body, self.length).map_err(|fault| self.damaged(run, fault))
    }

    /// Returns the block's records.
    pub(crate) fn records(&self, run: &RunId) -> Result<Vec<Record>> {
        let lines = self.lines(run)?;
        let mut records = Vec::with_capacity(usize::try_from(self.count).unwrap_or(0).min(4096));
        for line in each_line(&lines) {
            records.push(parse(line).map_err(|error| self.damaged(run, error.to_string()))?);
        }
        Ok(records)
    }
}

/// Returns the lines without their line feeds.
pub(crate) fn each_line(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    // Canonical JSON has no line feed inside.
    lines
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
}

/// Reads a record from its canonical JSON.
pub(crate) fn parse(line: &[u8]) -> std::result::Result<Record, serde_json::Error> {
    if depth::is_too_deep(line) {
        return Err(serde::de::Error::custom("nested too deep"));
    }
    let mut reader = serde_json::Deserializer::from_slice(line);
    // It has a limit of its own, below that of what may be written.
    reader.disable_recursion_limit();
    let record = serde::Deserialize::deserialize(&mut reader)?;
    reader.end()?;
    Ok(record)
}

/// Puts neighbouring blocks together that are one after the other.
#[derive(Debug, Default)]
pub(crate) struct Merger {
    merged: PendingBlock,
    hash: Hash,
}

impl Merger {
    /// Adds the next block.
    pub(crate) fn push(&mut self, run: &RunId, block: &RecordBlock) -> Result<()> {
        let merged = &mut self.merged;
        if merged.count == 0 {
            merged.first_seq = block.first_seq;
        }
        merged.count += block.count;
        merged.lines.extend_from_slice(&block.lines(run)?);
        merged.marks.extend_from_slice(&block.marks);
        self.hash = block.hash;
        Ok(())
    }

    /// Returns one block in the place of all.
    pub(crate) fn finish(mut self) -> Option<RecordBlock> {
        self.merged.take(&self.hash).map(PlainBlock::compress)
    }
}

/// Returns which neighbouring blocks are short enough to be put together, given first record and
/// length of each.
pub(crate) fn groups(blocks: Vec<(u64, usize)>) -> Vec<Vec<u64>> {
    let mut groups: Vec<(usize, Vec<u64>)> = Vec::new();
    for (first_seq, length) in blocks {
        match groups.last_mut() {
            Some((sum, group)) if sum.saturating_add(length) <= TARGET => {
                *sum += length;
                group.push(first_seq);
            }
            _ => groups.push((length, vec![first_seq])),
        }
    }
    let groups = groups.into_iter().map(|(_, group)| group);
    groups.filter(|group| group.len() > 1).collect()
}
