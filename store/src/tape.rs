//! The `tape_block` table: what a process printed, byte by byte, with receive times.

use runtape_core::{RunId, Stream};
use rusqlite::{Connection, Row, params};

use crate::chain::{self, Hash};
use crate::codec;
use crate::error::{Result, StoreError};
use crate::place;
use crate::varint;

/// Length from which on a block is closed.
const TARGET: usize = 256 << 10;

/// A piece of output as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapeChunk {
    /// Which stream.
    pub stream: Stream,
    /// Where in the stream the piece begins.
    pub start: u64,
    /// When it was received, in milliseconds since 1970.
    pub received_at: i64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl TapeChunk {
    /// Returns where in the stream the piece ends.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start + u64::try_from(self.bytes.len()).unwrap_or(u64::MAX)
    }
}

/// Returns a stream's place in pairs of numbers.
fn index(stream: Stream) -> usize {
    usize::from(stream == Stream::Stderr)
}

/// How far the tape of a run has been written.
#[derive(Clone, Debug)]
pub(crate) struct TapeEnd {
    /// Bytes of stdout and stderr.
    pub(crate) lengths: [u64; 2],
    /// Blocks.
    pub(crate) blocks: u64,
    /// The chain's hash.
    pub(crate) hash: Hash,
}

/// A block as it is stored.
#[derive(Debug)]
pub(crate) struct TapeBlock {
    pub(crate) number: u64,
    pub(crate) starts: [u64; 2],
    pub(crate) lengths: [u64; 2],
    pub(crate) times: [i64; 2],
    pub(crate) length: usize,
    pub(crate) hash: Hash,
    pub(crate) body: Vec<u8>,
}

const COLUMNS: &str = "place, stdout_start, stdout_length, stderr_start, stderr_length, \
                       first_at, last_at, length, hash, body";

fn from_row(row: &Row<'_>) -> rusqlite::Result<TapeBlock> {
    let unsigned = |column| row.get::<_, i64>(column).map(place::unsigned);
    let length: i64 = row.get(7)?;
    Ok(TapeBlock {
        number: place::split(row.get(0)?).1,
        starts: [unsigned(1)?, unsigned(3)?],
        lengths: [unsigned(2)?, unsigned(4)?],
        times: [row.get(5)?, row.get(6)?],
        length: usize::try_from(length).unwrap_or(usize::MAX),
        hash: row.get::<_, Vec<u8>>(8)?.try_into().unwrap_or([0; 32]),
        body: row.get(9)?,
    })
}

/// Output that is about to be written as one block.
#[derive(Debug, Default)]
struct Pending {
    /// How many chunks, then stream, length and time of each.
    table: Vec<u8>,
    chunks: u64,
    streams: [Vec<u8>; 2],
    times: Option<[i64; 2]>,
}

impl Pending {
    fn len(&self) -> usize {
        self.streams.iter().map(Vec::len).sum()
    }

    fn push(&mut self, stream: Stream, received_at: i64, bytes: &[u8]) {
        let [first, last] = self.times.unwrap_or([received_at, received_at]);
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        varint::write(
            &mut self.table,
            (length << 1) | u64::from(index(stream) == 1),
        );
        varint::write_signed(&mut self.table, received_at.wrapping_sub(last));
        self.chunks += 1;
        self.times = Some([first, received_at]);
        let [stdout, stderr] = &mut self.streams;
        let data = if index(stream) == 0 { stdout } else { stderr };
        data.extend_from_slice(bytes);
    }

    /// Returns the block's data: table, stdout, stderr.
    fn raw(&self) -> Vec<u8> {
        let mut raw = Vec::with_capacity(self.table.len() + self.len() + 4);
        varint::write(&mut raw, self.chunks);
        raw.extend_from_slice(&self.table);
        for stream in &self.streams {
            raw.extend_from_slice(stream);
        }
        raw
    }

    /// Writes the block, moves the end on, and becomes empty.
    fn flush(&mut self, connection: &Connection, run: i64, end: &mut TapeEnd) -> Result<()> {
        let Some(times) = self.times else {
            return Ok(());
        };
        let raw = self.raw();
        let lengths = self
            .streams
            .each_ref()
            .map(|stream| u64::try_from(stream.len()).unwrap_or(u64::MAX));
        let block = TapeBlock {
            number: end.blocks,
            starts: end.lengths,
            lengths,
            times,
            length: raw.len(),
            hash: chain::next_tape(&end.hash, end.lengths, &raw),
            body: codec::encode(&raw),
        };
        insert(connection, run, &block)?;
        let [stdout, stderr] = &mut end.lengths;
        *stdout += lengths[0];
        *stderr += lengths[1];
        end.blocks += 1;
        end.hash = block.hash;
        *self = Self::default();
        Ok(())
    }
}

fn insert(connection: &Connection, run: i64, block: &TapeBlock) -> Result<()> {
    let sql = format!(
        "INSERT INTO tape_block ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
    );
    let [stdout_start, stderr_start] = block.starts.map(place::signed);
    let [stdout_length, stderr_length] = block.lengths.map(place::signed);
    let [first_at, last_at] = block.times;
    connection.prepare_cached(&sql)?.execute(params![
        place::place(run, block.number)?,
        stdout_start,
        stdout_length,
        stderr_start,
        stderr_length,
        first_at,
        last_at,
        i64::try_from(block.length).unwrap_or(i64::MAX),
        block.hash,
        block.body,
    ])?;
    Ok(())
}

impl TapeBlock {
    fn damaged(&self, run: &RunId, fault: impl Into<String>) -> StoreError {
        StoreError::damaged(format!("run {run}: tape block {}", self.number), fault)
    }

    /// Returns what was compressed; `other` is the run's records, for a block that needs them.
    pub(crate) fn raw(&self, run: &RunId, other: &[u8]) -> Result<Vec<u8>> {
        codec::decode(&self.body, self.length, other).map_err(|fault| self.damaged(run, fault))
    }

    /// Takes the block's data apart.
    pub(crate) fn chunks(&self, run: &RunId, raw: &[u8]) -> Result<Vec<TapeChunk>> {
        self.split(raw)
            .ok_or_else(|| self.damaged(run, "its table of receive times is broken"))
    }

    fn split(&self, raw: &[u8]) -> Option<Vec<TapeChunk>> {
        let mut rest = raw;
        let count = varint::read(&mut rest)?;
        let mut table = Vec::new();
        let [mut at, last] = self.times;
        for _ in 0..count {
            let tagged = varint::read(&mut rest)?;
            at = at.wrapping_add(varint::read_signed(&mut rest)?);
            let stream = if tagged & 1 == 0 {
                Stream::Stdout
            } else {
                Stream::Stderr
            };
            table.push((stream, usize::try_from(tagged >> 1).ok()?, at));
        }
        let [stdout_length, stderr_length] = self.lengths.map(usize::try_from);
        let (stdout, stderr) = rest.split_at_checked(stdout_length.ok()?)?;
        if stderr.len() != stderr_length.ok()? || at != last {
            return None;
        }
        let mut streams = [stdout, stderr];
        let mut starts = self.starts;
        let mut chunks = Vec::with_capacity(table.len());
        for (stream, length, received_at) in table {
            let data = streams.get_mut(index(stream))?;
            let start = starts.get_mut(index(stream))?;
            let (bytes, after) = data.split_at_checked(length)?;
            *data = after;
            chunks.push(TapeChunk {
                stream,
                start: *start,
                received_at,
                bytes: bytes.to_vec(),
            });
            *start += u64::try_from(length).ok()?;
        }
        Some(chunks).filter(|_| streams.iter().all(|rest| rest.is_empty()))
    }
}

/// Appends chunks that follow what is there.
pub(crate) fn append(
    connection: &Connection,
    run: i64,
    end: &mut TapeEnd,
    chunks: Vec<(Stream, i64, &[u8])>,
) -> Result<()> {
    let mut pending = Pending::default();
    for (stream, received_at, bytes) in chunks {
        pending.push(stream, received_at, bytes);
        if pending.len() >= TARGET {
            pending.flush(connection, run, end)?;
        }
    }
    pending.flush(connection, run, end)
}

/// Returns where the tape of a run ends.
pub(crate) fn end(connection: &Connection, run: i64, id: &RunId) -> Result<TapeEnd> {
    let mut end = TapeEnd {
        lengths: [0; 2],
        blocks: 0,
        hash: chain::first_tape(id),
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM tape_block WHERE place BETWEEN ?1 AND ?2 ORDER BY place DESC LIMIT 1"
    );
    let (first, last) = place::range(run);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query_map([first, last], from_row)?;
    if let Some(block) = rows.next() {
        let block = block?;
        let [stdout, stderr] = block.starts;
        end.lengths = [stdout + block.lengths[0], stderr + block.lengths[1]];
        end.blocks = block.number + 1;
        end.hash = block.hash;
    }
    Ok(end)
}

/// Calls `each` with the blocks of a run in order.
pub(crate) fn each_block(
    connection: &Connection,
    run: i64,
    mut each: impl FnMut(TapeBlock) -> Result<()>,
) -> Result<()> {
    let sql =
        format!("SELECT {COLUMNS} FROM tape_block WHERE place BETWEEN ?1 AND ?2 ORDER BY place");
    let (first, last) = place::range(run);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([first, last], from_row)?;
    for block in rows {
        each(block?)?;
    }
    Ok(())
}

/// Returns the blocks that hold a range of a stream.
pub(crate) fn blocks_of(
    connection: &Connection,
    run: i64,
    stream: Stream,
    start: u64,
    end: u64,
) -> Result<Vec<TapeBlock>> {
    let name = stream.as_str();
    let sql = format!(
        "SELECT {COLUMNS} FROM tape_block
         WHERE place BETWEEN ?1 AND ?2 AND {name}_start < ?4 AND {name}_start + {name}_length > ?3
         ORDER BY place"
    );
    let (first, last) = place::range(run);
    let blocks = connection
        .prepare_cached(&sql)?
        .query_map(
            [first, last, place::signed(start), place::signed(end)],
            from_row,
        )?
        .collect::<rusqlite::Result<_>>()?;
    Ok(blocks)
}

/// Writes the tape of an ended run anew: small blocks become one, and a small tape is compressed
/// against the run's records, which say most of it already.
pub(crate) fn merge(
    connection: &Connection,
    run: i64,
    id: &RunId,
    records: Option<&[u8]>,
) -> Result<()> {
    let mut lengths = Vec::new();
    each_block(connection, run, |block| {
        lengths.push(block.length);
        Ok(())
    })?;
    let total: usize = lengths.iter().sum();
    let small = total <= TARGET / 16;
    let records = records.filter(|records| small && !records.is_empty());
    if lengths.len() < 2 && records.is_none() {
        return Ok(());
    }
    if !small && total / lengths.len().max(1) >= TARGET / 2 {
        return Ok(());
    }
    if lengths.len() > 1 {
        rewrite(connection, run, id)?;
    }
    if let Some(records) = records {
        recode(connection, run, id, &[], Some(records))?;
    }
    Ok(())
}

/// Makes few blocks of many.
fn rewrite(connection: &Connection, run: i64, id: &RunId) -> Result<()> {
    // One block at a time: a tape may be longer than memory. A new block never takes the place
    // of one that was not read yet, since each holds at least one of the old ones.
    let mut fresh = TapeEnd {
        lengths: [0; 2],
        blocks: 0,
        hash: chain::first_tape(id),
    };
    let mut pending = Pending::default();
    for number in 0..end(connection, run, id)?.blocks {
        let block = take(connection, run, number)?;
        let raw = block.raw(id, &[])?;
        for chunk in block.chunks(id, &raw)? {
            pending.push(chunk.stream, chunk.received_at, &chunk.bytes);
        }
        if pending.len() >= TARGET {
            pending.flush(connection, run, &mut fresh)?;
        }
    }
    pending.flush(connection, run, &mut fresh)
}

/// Returns a block.
pub(crate) fn one(connection: &Connection, run: i64, number: u64) -> Result<TapeBlock> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM tape_block WHERE place = ?1"
        ))?
        .query_row([place::place(run, number)?], from_row)?)
}

/// Reads a block and deletes it.
fn take(connection: &Connection, run: i64, number: u64) -> Result<TapeBlock> {
    let block = one(connection, run, number)?;
    connection
        .prepare_cached("DELETE FROM tape_block WHERE place = ?1")?
        .execute([place::place(run, number)?])?;
    Ok(block)
}

/// Compresses the blocks of a run anew, against other records or none. Hashes stay: they cover
/// what the blocks say.
pub(crate) fn recode(
    connection: &Connection,
    run: i64,
    id: &RunId,
    before: &[u8],
    after: Option<&[u8]>,
) -> Result<()> {
    let mut bodies = Vec::new();
    each_block(connection, run, |block| {
        if after.is_some() || codec::needs_other(&block.body) {
            let raw = block.raw(id, before)?;
            let body = match after {
                Some(records) => codec::encode_against(&raw, records),
                None => codec::encode(&raw),
            };
            bodies.push((block.number, body));
        }
        Ok(())
    })?;
    for (number, body) in bodies {
        connection
            .prepare_cached("UPDATE tape_block SET body = ?2 WHERE place = ?1")?
            .execute(params![place::place(run, number)?, body])?;
    }
    Ok(())
}

/// Deletes the tape of a run; returns how many bytes the streams had.
pub(crate) fn delete(connection: &Connection, run: i64) -> Result<u64> {
    let (first, last) = place::range(run);
    let bytes: i64 = connection
        .prepare_cached(
            "SELECT coalesce(sum(stdout_length + stderr_length), 0) FROM tape_block
             WHERE place BETWEEN ?1 AND ?2",
        )?
        .query_row([first, last], |row| row.get(0))?;
    connection
        .prepare_cached("DELETE FROM tape_block WHERE place BETWEEN ?1 AND ?2")?
        .execute([first, last])?;
    Ok(place::unsigned(bytes))
}
