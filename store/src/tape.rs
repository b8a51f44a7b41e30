//! The `tape_block` table: what a process printed, byte by byte, with receive times.

use std::borrow::Cow;

use runtape_core::{RunId, Stream};
use rusqlite::{Connection, Row, params};

use crate::chain::{self, Hash, TapeRule};
use crate::codec;
use crate::error::{Result, StoreError};
use crate::migrate;
use crate::place;
use crate::stream_lengths::{self, StreamLengths};
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

/// How far the tape of a run has been written.
#[derive(Clone, Debug)]
pub(crate) struct TapeEnd {
    /// Bytes of each stream.
    pub(crate) lengths: StreamLengths,
    /// Blocks.
    pub(crate) blocks: u64,
    /// The chain's hash.
    pub(crate) hash: Hash,
}

impl TapeEnd {
    /// Returns the end of a tape that has nothing on it.
    pub(crate) fn first(run: &RunId) -> Self {
        Self {
            lengths: StreamLengths::default(),
            blocks: 0,
            hash: TapeRule::Times.first(run),
        }
    }
}

/// A block as it is stored.
#[derive(Debug)]
pub(crate) struct TapeBlock {
    pub(crate) number: u64,
    pub(crate) starts: StreamLengths,
    pub(crate) lengths: StreamLengths,
    pub(crate) times: [i64; 2],
    pub(crate) length: usize,
    pub(crate) hash: Hash,
    pub(crate) body: Vec<u8>,
}

const COLUMNS: &str = "place, first_at, last_at, length, hash, body, stdout_start, stdout_length, \
     stderr_start, stderr_length";

/// What was added when tapes got more streams.
const MORE_COLUMNS: &str = ", stdin_start, stdin_length, history_start, history_length";

/// Returns the columns that a database of a version has: one that came from elsewhere may be of an
/// earlier schema, where a tape had two streams.
fn columns(connection: &Connection) -> Result<String> {
    let version: i64 = connection
        .prepare_cached("PRAGMA user_version")?
        .query_row([], |row| row.get(0))?;
    let more = if version < migrate::TAPES_HAVE_STREAMS {
        ", 0, 0, 0, 0"
    } else {
        MORE_COLUMNS
    };
    Ok(format!("{COLUMNS}{more}"))
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<TapeBlock> {
    let unsigned = |column| place::not_negative(column, row.get(column)?);
    let each = |first: usize| -> rusqlite::Result<StreamLengths> {
        Ok(StreamLengths::from_numbers([
            unsigned(first)?,
            unsigned(first + 2)?,
            unsigned(first + 4)?,
            unsigned(first + 6)?,
        ]))
    };
    let length: i64 = row.get(3)?;
    Ok(TapeBlock {
        number: place::split(row.get(0)?).1,
        starts: each(6)?,
        lengths: each(7)?,
        times: [row.get(1)?, row.get(2)?],
        length: usize::try_from(length).unwrap_or(usize::MAX),
        hash: chain::from_row(row, 4)?,
        body: row.get(5)?,
    })
}

/// Stands before the table of a block that has more streams than standard output and error: a
/// table never begins with none, which is how many chunks the first form counts.
const ANY_STREAM: u64 = 0;

/// Which streams a block can have, by the form of its table. An entry of the table is the length of
/// a chunk, with the stream's number in the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Standard output and error: as every block was before tapes had more streams.
    Pair,
    /// Any stream.
    Any,
}

impl Form {
    /// Returns how many bits of an entry name the stream.
    fn bits(self) -> u32 {
        match self {
            Self::Pair => 1,
            Self::Any => 2,
        }
    }

    /// Returns an entry of the table.
    fn entry(self, stream: Stream, length: u64) -> u64 {
        (length << self.bits()) | u64::from(stream_lengths::number(stream))
    }

    /// Takes an entry apart.
    fn split(self, entry: u64) -> (Stream, u64) {
        let stream = match entry & ((1 << self.bits()) - 1) {
            0 => Stream::Stdout,
            1 => Stream::Stderr,
            2 => Stream::Stdin,
            _ => Stream::History,
        };
        (stream, entry >> self.bits())
    }

    /// Reads which form a table has and how many chunks are in it, and moves on to its entries.
    fn read(table: &mut &[u8]) -> Option<(Self, u64)> {
        match varint::read(table)? {
            ANY_STREAM => Some((Self::Any, varint::read(table)?)),
            count => Some((Self::Pair, count)),
        }
    }
}

/// Returns how many chunks a block claims to have.
pub(crate) fn claimed_chunks(mut raw: &[u8]) -> u64 {
    Form::read(&mut raw).map_or(0, |(_, count)| count)
}

/// Output that is about to be written as one block.
#[derive(Debug, Default)]
struct Pending<'a> {
    /// Stream, receive time and bytes of each chunk.
    chunks: Vec<(Stream, i64, Cow<'a, [u8]>)>,
    lengths: StreamLengths,
    length: usize,
}

impl<'a> Pending<'a> {
    fn len(&self) -> usize {
        self.length
    }

    fn push(&mut self, stream: Stream, received_at: i64, bytes: Cow<'a, [u8]>) {
        *self.lengths.of_mut(stream) += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.length += bytes.len();
        self.chunks.push((stream, received_at, bytes));
    }

    /// Returns the block's data: a table with stream, length and time of each chunk, then the bytes
    /// of one stream after the other.
    fn raw(&self, first_at: i64) -> Vec<u8> {
        let mut streams = self.chunks.iter().map(|(stream, ..)| *stream);
        let form = if streams.all(|of| matches!(of, Stream::Stdout | Stream::Stderr)) {
            Form::Pair
        } else {
            Form::Any
        };
        // Most entries take five bytes.
        let mut raw = Vec::with_capacity(self.length + self.chunks.len() * 8 + 8);
        if form == Form::Any {
            varint::write(&mut raw, ANY_STREAM);
        }
        varint::write(
            &mut raw,
            u64::try_from(self.chunks.len()).unwrap_or(u64::MAX),
        );
        let mut last = first_at;
        for (stream, received_at, bytes) in &self.chunks {
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            varint::write(&mut raw, form.entry(*stream, length));
            varint::write_signed(&mut raw, received_at.wrapping_sub(last));
            last = *received_at;
        }
        let streams = Stream::ALL.into_iter();
        for stream in streams.filter(|stream| self.lengths.of(*stream) > 0) {
            let of_stream = self.chunks.iter().filter(|(of, ..)| *of == stream);
            for (.., bytes) in of_stream {
                raw.extend_from_slice(bytes);
            }
        }
        raw
    }

    /// Closes the block, if there is anything in it, and moves the end on.
    fn take(&mut self, end: &mut TapeEnd) -> Option<TapeBlock> {
        let times = [self.chunks.first()?.1, self.chunks.last()?.1];
        let [first_at, _] = times;
        let raw = self.raw(first_at);
        let block = TapeBlock {
            number: end.blocks,
            starts: end.lengths,
            lengths: self.lengths,
            times,
            length: raw.len(),
            hash: TapeRule::Times.next(&end.hash, &end.lengths, times, &raw),
            body: codec::TAPES.encode(&raw),
        };
        end.lengths = end.lengths.plus(self.lengths);
        end.blocks += 1;
        end.hash = block.hash;
        *self = Self::default();
        Some(block)
    }
}

const INSERT: &str = "INSERT INTO tape_block (place, first_at, last_at, length, hash, body,
     stdout_start, stdout_length, stderr_start, stderr_length, stdin_start, stdin_length,
     history_start, history_length)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// Adds a block.
fn insert(connection: &Connection, run: i64, block: &TapeBlock) -> Result<()> {
    let start = |stream| place::signed(block.starts.of(stream));
    let length = |stream| place::signed(block.lengths.of(stream));
    let [first_at, last_at] = block.times;
    connection.prepare_cached(INSERT)?.execute(params![
        place::place(run, block.number)?,
        first_at,
        last_at,
        i64::try_from(block.length).unwrap_or(i64::MAX),
        block.hash,
        block.body,
        start(Stream::Stdout),
        length(Stream::Stdout),
        start(Stream::Stderr),
        length(Stream::Stderr),
        start(Stream::Stdin),
        length(Stream::Stdin),
        start(Stream::History),
        length(Stream::History),
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
        let (form, count) = Form::read(&mut table)?;
        // The data begins where the table ends.
        let mut rest = table;
        for _ in 0..count {
            varint::read(&mut rest)?;
            varint::read_signed(&mut rest)?;
        }
        let mut data = [&rest[..0]; Stream::ALL.len()];
        for (stream, data) in Stream::ALL.into_iter().zip(&mut data) {
            let length = usize::try_from(self.lengths.of(stream)).ok()?;
            (*data, rest) = rest.split_at_checked(length)?;
        }
        if !rest.is_empty() {
            return None;
        }
        let [mut at, last] = self.times;
        let mut starts = self.starts;
        for _ in 0..count {
            let (stream, length) = form.split(varint::read(&mut table)?);
            at = at.wrapping_add(varint::read_signed(&mut table)?);
            let mut streams = Stream::ALL.into_iter().zip(&mut data);
            let (_, data) = streams.find(|(of, _)| *of == stream)?;
            let (bytes, after) = data.split_at_checked(usize::try_from(length).ok()?)?;
            *data = after;
            let start = starts.of_mut(stream);
            each(stream, *start, at, bytes);
            *start = start.checked_add(length)?;
        }
        (at == last && data.iter().all(|rest| rest.is_empty())).then_some(())
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
        "SELECT {} FROM tape_block WHERE place BETWEEN ?1 AND ?2 ORDER BY place DESC LIMIT 1",
        columns(connection)?
    );
    let (first, last) = place::range(run);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query_map([first, last], from_row)?;
    if let Some(block) = rows.next() {
        let block = block?;
        end.lengths = block.starts.plus(block.lengths);
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
    let sql = format!(
        "SELECT {} FROM tape_block WHERE place BETWEEN ?1 AND ?2 ORDER BY place",
        columns(connection)?
    );
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
    let columns = columns(connection)?;
    let sql = format!(
        "SELECT {columns} FROM tape_block
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
            "SELECT {} FROM tape_block WHERE place = ?1",
            columns(connection)?
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
            "SELECT coalesce(sum(stdout_length + stderr_length + stdin_length + history_length), 0)
             FROM tape_block WHERE place BETWEEN ?1 AND ?2",
        )?
        .query_row([first, last], |row| row.get(0))?;
    connection
        .prepare_cached("DELETE FROM tape_block WHERE place BETWEEN ?1 AND ?2")?
        .execute([first, last])?;
    Ok(place::unsigned(bytes))
}
