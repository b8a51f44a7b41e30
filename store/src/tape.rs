//! The `tape_block` table: what a process printed, byte by byte, with receive times.

use std::borrow::Cow;

use runtape_core::{RunId, Stream};
use rusqlite::{Connection, Row, params};

use crate::chain::{self, Hash, TapeRule};
use crate::codec;
use crate::error::{Result, StoreError};
use crate::place;
use crate::varint;

/// Length from which on a block is closed.
const TARGET: usize = 256 << 10;

/// Longest chunk that is kept in one piece: a block must not grow beyond what is read back.
const LONGEST_CHUNK: usize = 64 << 20;

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

impl TapeEnd {
    /// Returns the end of a tape that has nothing on it.
    pub(crate) fn first(run: &RunId) -> Self {
        Self {
            lengths: [0; 2],
            blocks: 0,
            hash: TapeRule::Times.first(run),
        }
    }
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

const INSERT: &str = "INSERT INTO tape_block (place, stdout_start, stdout_length, stderr_start,
     stderr_length, first_at, last_at, length, hash, body)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

fn from_row(row: &Row<'_>) -> rusqlite::Result<TapeBlock> {
    let unsigned = |column| place::not_negative(column, row.get(column)?);
    let length: i64 = row.get(7)?;
    Ok(TapeBlock {
        number: place::split(row.get(0)?).1,
        starts: [unsigned(1)?, unsigned(3)?],
        lengths: [unsigned(2)?, unsigned(4)?],
        times: [row.get(5)?, row.get(6)?],
        length: usize::try_from(length).unwrap_or(usize::MAX),
        hash: chain::from_row(row, 8)?,
        body: row.get(9)?,
    })
}

/// Output that is about to be written as one block.
#[derive(Debug, Default)]
struct Pending<'a> {
    /// How many chunks, then stream, length and time of each.
    table: Vec<u8>,
    chunks: u64,
    streams: [Vec<Cow<'a, [u8]>>; 2],
    lengths: [usize; 2],
    times: Option<[i64; 2]>,
}

impl<'a> Pending<'a> {
    fn len(&self) -> usize {
        self.lengths.iter().sum()
    }

    fn push(&mut self, stream: Stream, received_at: i64, bytes: Cow<'a, [u8]>) {
        let [first, last] = self.times.unwrap_or([received_at, received_at]);
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        varint::write(
            &mut self.table,
            (length << 1) | u64::from(index(stream) == 1),
        );
        varint::write_signed(&mut self.table, received_at.wrapping_sub(last));
        self.chunks += 1;
        self.times = Some([first, received_at]);
        let at = index(stream);
        if let (Some(pieces), Some(sum)) = (self.streams.get_mut(at), self.lengths.get_mut(at)) {
            *sum += bytes.len();
            pieces.push(bytes);
        }
    }

    /// Returns the block's data: table, stdout, stderr.
    fn raw(&self) -> Vec<u8> {
        let mut raw = Vec::with_capacity(self.table.len() + self.len() + 4);
        varint::write(&mut raw, self.chunks);
        raw.extend_from_slice(&self.table);
        for piece in self.streams.iter().flatten() {
            raw.extend_from_slice(piece);
        }
        raw
    }

    /// Closes the block, if there is anything in it, and moves the end on.
    fn take(&mut self, end: &mut TapeEnd) -> Option<TapeBlock> {
        let times = self.times?;
        let raw = self.raw();
        let lengths = self
            .lengths
            .map(|length| u64::try_from(length).unwrap_or(u64::MAX));
        let block = TapeBlock {
            number: end.blocks,
            starts: end.lengths,
            lengths,
            times,
            length: raw.len(),
            hash: TapeRule::Times.next(&end.hash, end.lengths, times, &raw),
            body: codec::TAPES.encode(&raw),
        };
        let [stdout, stderr] = &mut end.lengths;
        *stdout += lengths[0];
        *stderr += lengths[1];
        end.blocks += 1;
        end.hash = block.hash;
        *self = Self::default();
        Some(block)
    }
}

/// Adds a block.
fn insert(connection: &Connection, run: i64, block: &TapeBlock) -> Result<()> {
    let [stdout_start, stderr_start] = block.starts.map(place::signed);
    let [stdout_length, stderr_length] = block.lengths.map(place::signed);
    let [first_at, last_at] = block.times;
    connection.prepare_cached(INSERT)?.execute(params![
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

    /// Returns what was compressed.
    pub(crate) fn raw(&self, run: &RunId) -> Result<Vec<u8>> {
        codec::decode(&self.body, self.length).map_err(|fault| self.damaged(run, fault))
    }

    /// Takes the block's data apart.
    pub(crate) fn chunks(&self, run: &RunId, raw: &[u8]) -> Result<Vec<TapeChunk>> {
        let mut chunks = Vec::new();
        self.each_chunk(run, raw, |stream, start, received_at, bytes| {
            chunks.push(TapeChunk {
                stream,
                start,
                received_at,
                bytes: bytes.to_vec(),
            });
        })?;
        Ok(chunks)
    }

    /// Calls `each` with stream, start, receive time and bytes of the chunks, and holds none.
    pub(crate) fn each_chunk<'a>(
        &self,
        run: &RunId,
        raw: &'a [u8],
        each: impl FnMut(Stream, u64, i64, &'a [u8]),
    ) -> Result<()> {
        self.split(raw, each)
            .ok_or_else(|| self.damaged(run, "its table of receive times is broken"))
    }

    fn split<'a>(
        &self,
        raw: &'a [u8],
        mut each: impl FnMut(Stream, u64, i64, &'a [u8]),
    ) -> Option<()> {
        let mut table = raw;
        let count = varint::read(&mut table)?;
        // The data begins where the table ends.
        let mut rest = table;
        for _ in 0..count {
            varint::read(&mut rest)?;
            varint::read_signed(&mut rest)?;
        }
        let [stdout_length, stderr_length] = self.lengths.map(usize::try_from);
        let (stdout, stderr) = rest.split_at_checked(stdout_length.ok()?)?;
        if stderr.len() != stderr_length.ok()? {
            return None;
        }
        let [mut at, last] = self.times;
        let mut streams = [stdout, stderr];
        let mut starts = self.starts;
        for _ in 0..count {
            let tagged = varint::read(&mut table)?;
            at = at.wrapping_add(varint::read_signed(&mut table)?);
            let stream = if tagged & 1 == 0 {
                Stream::Stdout
            } else {
                Stream::Stderr
            };
            let data = streams.get_mut(index(stream))?;
            let start = starts.get_mut(index(stream))?;
            let (bytes, after) = data.split_at_checked(usize::try_from(tagged >> 1).ok()?)?;
            *data = after;
            each(stream, *start, at, bytes);
            *start = start.checked_add(tagged >> 1)?;
        }
        (at == last && streams.iter().all(|rest| rest.is_empty())).then_some(())
    }
}

/// Makes blocks of chunks that follow what is there. Takes no database, only time.
pub(crate) fn encode<'a>(
    end: &mut TapeEnd,
    chunks: impl IntoIterator<Item = (Stream, i64, &'a [u8])>,
) -> Vec<TapeBlock> {
    let mut pending = Pending::default();
    let mut blocks = Vec::new();
    for (stream, received_at, bytes) in chunks {
        // What was received at once may be longer than a block can be.
        for piece in bytes.chunks(LONGEST_CHUNK) {
            pending.push(stream, received_at, Cow::Borrowed(piece));
            if pending.len() >= TARGET {
                blocks.extend(pending.take(end));
            }
        }
    }
    blocks.extend(pending.take(end));
    blocks
}

/// Returns where the tape of a run ends.
pub(crate) fn end(connection: &Connection, run: i64, id: &RunId) -> Result<TapeEnd> {
    let mut end = TapeEnd::first(id);
    let sql = format!(
        "SELECT {COLUMNS} FROM tape_block WHERE place BETWEEN ?1 AND ?2 ORDER BY place DESC LIMIT 1"
    );
    let (first, last) = place::range(run);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query_map([first, last], from_row)?;
    if let Some(block) = rows.next() {
        let block = block?;
        let [stdout, stderr] = block.starts;
        let [more_stdout, more_stderr] = block.lengths;
        end.lengths = [
            stdout.saturating_add(more_stdout),
            stderr.saturating_add(more_stderr),
        ];
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

/// Returns the hashes of a run's blocks in order.
pub(crate) fn hashes(connection: &Connection, run: i64) -> Result<Vec<Hash>> {
    let (first, last) = place::range(run);
    let mut statement = connection.prepare_cached(
        "SELECT hash FROM tape_block WHERE place BETWEEN ?1 AND ?2 ORDER BY place",
    )?;
    let hashes = statement.query_map([first, last], |row| chain::from_row(row, 0))?;
    Ok(hashes.collect::<rusqlite::Result<_>>()?)
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

/// Makes few blocks of many small ones when a run has ended.
pub(crate) fn merge(connection: &Connection, run: i64, id: &RunId) -> Result<()> {
    let (first, last) = place::range(run);
    let (count, total): (i64, i64) = connection
        .prepare_cached(
            "SELECT count(*), coalesce(sum(length), 0) FROM tape_block WHERE place BETWEEN ?1 AND ?2",
        )?
        .query_row([first, last], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let target = i64::try_from(TARGET).unwrap_or(i64::MAX);
    if count < 2 || total / count >= target / 2 {
        return Ok(());
    }
    rewrite(connection, run, id)
}

/// Adds blocks.
pub(crate) fn insert_some(
    connection: &Connection,
    run: i64,
    blocks: impl IntoIterator<Item = TapeBlock>,
) -> Result<()> {
    blocks
        .into_iter()
        .try_for_each(|block| insert(connection, run, &block))
}

/// Makes few blocks of many.
fn rewrite(connection: &Connection, run: i64, id: &RunId) -> Result<()> {
    // One block at a time: a tape may be longer than memory. A new block never takes the place
    // of one that was not read yet, since each holds at least one of the old ones.
    let mut fresh = TapeEnd::first(id);
    let mut pending = Pending::default();
    for number in 0..end(connection, run, id)?.blocks {
        let block = take(connection, run, number)?;
        let raw = block.raw(id)?;
        for chunk in block.chunks(id, &raw)? {
            pending.push(chunk.stream, chunk.received_at, Cow::Owned(chunk.bytes));
        }
        if pending.len() >= TARGET {
            insert_some(connection, run, pending.take(&mut fresh))?;
        }
    }
    insert_some(connection, run, pending.take(&mut fresh))
}

/// Returns a block.
pub(crate) fn one(connection: &Connection, run: i64, number: u64) -> Result<TapeBlock> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM tape_block WHERE place = ?1"
        ))?
        .query_row([place::place(run, number)?], from_row)?)
}

/// Puts another hash on a block.
pub(crate) fn set_hash(connection: &Connection, run: i64, number: u64, hash: &Hash) -> Result<()> {
    connection
        .prepare_cached("UPDATE tape_block SET hash = ?2 WHERE place = ?1")?
        .execute(params![place::place(run, number)?, hash])?;
    Ok(())
}

/// Reads a block and deletes it.
fn take(connection: &Connection, run: i64, number: u64) -> Result<TapeBlock> {
    let block = one(connection, run, number)?;
    connection
        .prepare_cached("DELETE FROM tape_block WHERE place = ?1")?
        .execute([place::place(run, number)?])?;
    Ok(block)
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
