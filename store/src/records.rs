//! The `record_block` table: the records of a run, as compressed JSON lines.
//!
//! A row a record would cost more than many a record itself. So each append writes a block, and
//! small blocks are merged when the run ends.

use memchr::memmem;
use runtape_core::{Record, RunId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::chain::{self, Hash};
use crate::codec;
use crate::depth;
use crate::error::{Result, StoreError};
use crate::place;

/// Length from which on a block is closed. Reading one record decompresses its whole block.
const TARGET: usize = 128 << 10;

/// A block as it is stored.
#[derive(Debug)]
pub(crate) struct RecordBlock {
    pub(crate) first_seq: u64,
    pub(crate) count: u64,
    pub(crate) length: usize,
    pub(crate) hash: Hash,
    pub(crate) marks: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// A block that is not compressed yet: that can be done on another thread.
#[derive(Debug)]
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

/// Adds a block.
pub(crate) fn insert(connection: &Connection, run: i64, block: &RecordBlock) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO record_block (place, count, length, hash, marks, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            place::place(run, block.first_seq)?,
            place::signed(block.count),
            i64::try_from(block.length).unwrap_or(i64::MAX),
            block.hash,
            block.marks,
            block.body
        ])?;
    Ok(())
}

const COLUMNS: &str = "place, count, length, hash, marks, body";

fn from_row(row: &Row<'_>) -> rusqlite::Result<RecordBlock> {
    let length: i64 = row.get(2)?;
    Ok(RecordBlock {
        first_seq: place::split(row.get(0)?).1,
        count: place::unsigned(row.get(1)?),
        length: usize::try_from(length).unwrap_or(usize::MAX),
        hash: chain::from_row(row, 3)?,
        marks: row.get(4)?,
        body: row.get(5)?,
    })
}

impl RecordBlock {
    fn damaged(&self, run: &RunId, fault: impl Into<String>) -> StoreError {
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

/// Returns the block that holds a record, or `None` if it comes after all of them.
pub(crate) fn block_of(connection: &Connection, run: i64, seq: u64) -> Result<Option<RecordBlock>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM record_block WHERE place BETWEEN ?1 AND ?2
         ORDER BY place DESC LIMIT 1"
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row(
            params![place::range(run).0, place::place(run, seq)?],
            from_row,
        )
        .optional()?)
}

/// Returns the first block after a place in a run.
pub(crate) fn block_from(
    connection: &Connection,
    run: i64,
    seq: u64,
) -> Result<Option<RecordBlock>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM record_block WHERE place BETWEEN ?1 AND ?2
         ORDER BY place LIMIT 1"
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row(
            params![place::place(run, seq)?, place::range(run).1],
            from_row,
        )
        .optional()?)
}

/// Calls `each` with a run's records from a sequence number on, until it returns `false`.
pub(crate) fn each_from(
    connection: &Connection,
    run: i64,
    id: &RunId,
    seq: u64,
    mut each: impl FnMut(Record) -> Result<bool>,
) -> Result<()> {
    let mut block = block_of(connection, run, seq)?;
    while let Some(current) = block {
        for record in current.records(id)? {
            if record.seq >= seq && !each(record)? {
                return Ok(());
            }
        }
        let next = current.first_seq + current.count.max(1);
        block = block_from(connection, run, next)?;
    }
    Ok(())
}

/// Calls `each` with all of a run's records, following their chain: a record that does not fit it,
/// or a gap, is an error.
pub(crate) fn each_proved(
    connection: &Connection,
    run: i64,
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
    while let Some(block) = block_from(connection, run, from)? {
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
    connection: &Connection,
    run: i64,
    id: &RunId,
    seq: u64,
    bytes: &[u8],
    mut each: impl FnMut(Record) -> bool,
) -> Result<()> {
    let finder = memmem::Finder::new(bytes);
    let mut block = block_of(connection, run, seq)?;
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
        block = block_from(connection, run, next)?;
    }
    Ok(())
}

/// Returns one record.
pub(crate) fn one(
    connection: &Connection,
    run: i64,
    id: &RunId,
    seq: u64,
) -> Result<Option<Record>> {
    let Some(block) = block_of(connection, run, seq)? else {
        return Ok(None);
    };
    let lines = block.lines(id)?;
    // Only its own line is read: a block holds hundreds of records.
    let nth = usize::try_from(seq - block.first_seq).unwrap_or(usize::MAX);
    let line = each_line(&lines).nth(nth);
    line.map(|line| parse(line).map_err(|error| block.damaged(id, error.to_string())))
        .transpose()
}

/// Returns the chain's hash after the last record.
pub(crate) fn last_hash(connection: &Connection, run: i64, id: &RunId) -> Result<Hash> {
    let block = block_of(connection, run, u64::from(u32::MAX))?;
    Ok(block.map_or_else(|| chain::first_record(id), |block| block.hash))
}

/// Returns the block at a place.
pub(crate) fn at(connection: &Connection, place: i64) -> Result<RecordBlock> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM record_block WHERE place = ?1"
        ))?
        .query_row([place], from_row)?)
}

/// Merges neighbouring small blocks when a run has ended.
pub(crate) fn merge(connection: &Connection, run: i64, id: &RunId) -> Result<()> {
    let (first, last) = place::range(run);
    let blocks: Vec<(i64, i64)> = connection
        .prepare_cached(
            "SELECT place, length FROM record_block WHERE place BETWEEN ?1 AND ?2 ORDER BY place",
        )?
        .query_map([first, last], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let target = i64::try_from(TARGET).unwrap_or(i64::MAX);
    let mut groups: Vec<(i64, Vec<i64>)> = Vec::new();
    for (place, length) in blocks {
        match groups.last_mut() {
            Some((sum, group)) if *sum + length <= target => {
                *sum += length;
                group.push(place);
            }
            _ => groups.push((length, vec![place])),
        }
    }
    for (_, group) in groups.into_iter().filter(|(_, group)| group.len() > 1) {
        let mut merged = PendingBlock::default();
        let mut hash = [0; 32];
        for place in group {
            let block = at(connection, place)?;
            if merged.count == 0 {
                merged.first_seq = block.first_seq;
            }
            merged.count += block.count;
            merged.lines.extend_from_slice(&block.lines(id)?);
            merged.marks.extend_from_slice(&block.marks);
            hash = block.hash;
            connection
                .prepare_cached("DELETE FROM record_block WHERE place = ?1")?
                .execute([place])?;
        }
        if let Some(block) = merged.take(&hash) {
            insert(connection, run, &block.compress())?;
        }
    }
    Ok(())
}

/// Deletes all records of a run.
pub(crate) fn delete(connection: &Connection, run: i64) -> Result<()> {
    let (first, last) = place::range(run);
    connection
        .prepare_cached("DELETE FROM record_block WHERE place BETWEEN ?1 AND ?2")?
        .execute([first, last])?;
    Ok(())
}
