//! Blocks of a tape: what a process printed or was given, byte by byte, with receive times.

use std::borrow::Cow;

use runtape_core::{RunId, Stream};

use super::chain::{Hash, TapeRule};
use super::codec;
use super::streams::{self, StreamLengths};
use super::varint;
use crate::error::{Result, StoreError};

/// Length from which on a block is closed.
pub(crate) const TARGET: usize = 256 << 10;

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

    /// Returns the end of a tape whose last block is this.
    pub(crate) fn after(block: &TapeBlock) -> Self {
        Self {
            lengths: block.starts.plus(block.lengths),
            blocks: block.number + 1,
            hash: block.hash,
        }
    }
}

/// A block as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct TapeBlock {
    pub(crate) number: u64,
    pub(crate) starts: StreamLengths,
    pub(crate) lengths: StreamLengths,
    pub(crate) times: [i64; 2],
    pub(crate) length: usize,
    pub(crate) hash: Hash,
    pub(crate) body: Vec<u8>,
}

/// Stands before the table of a block that has more streams than standard output and error: a
/// table never begins with none, which is how many chunks the first form counts.
const ANY_STREAM: u64 = 0;

/// Which streams a block can have, by the form of its table. An entry of the table is the length of
/// a chunk, with the stream's number in the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableForm {
    /// Standard output and error: as every block was before tapes had more streams.
    Pair,
    /// Any stream.
    Any,
}

impl TableForm {
    /// Returns how many bits of an entry name the stream.
    fn bits(self) -> u32 {
        match self {
            Self::Pair => 1,
            Self::Any => 2,
        }
    }

    /// Returns an entry of the table.
    fn entry(self, stream: Stream, length: u64) -> u64 {
        (length << self.bits()) | u64::from(streams::number(stream))
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
    TableForm::read(&mut raw).map_or(0, |(_, count)| count)
}

/// Output that is about to be written as one block.
#[derive(Debug, Default)]
pub(crate) struct PendingTape<'a> {
    /// Stream, receive time and bytes of each chunk.
    chunks: Vec<(Stream, i64, Cow<'a, [u8]>)>,
    lengths: StreamLengths,
    length: usize,
}

impl<'a> PendingTape<'a> {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn push(&mut self, stream: Stream, received_at: i64, bytes: Cow<'a, [u8]>) {
        *self.lengths.of_mut(stream) += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.length += bytes.len();
        self.chunks.push((stream, received_at, bytes));
    }

    /// Returns the block's data: a table with stream, length and time of each chunk, then the bytes
    /// of one stream after the other.
    fn raw(&self, first_at: i64) -> Vec<u8> {
        let mut streams = self.chunks.iter().map(|(stream, ..)| *stream);
        let form = if streams.all(|of| matches!(of, Stream::Stdout | Stream::Stderr)) {
            TableForm::Pair
        } else {
            TableForm::Any
        };
        // Most entries take five bytes.
        let mut raw = Vec::with_capacity(self.length + self.chunks.len() * 8 + 8);
        if form == TableForm::Any {
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
    pub(crate) fn take(&mut self, end: &mut TapeEnd) -> Option<TapeBlock> {
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
        let (form, count) = TableForm::read(&mut table)?;
        // The data begins where the table ends.
        let mut rest = table;
        for _ in 0..count {
            varint::read(&mut rest)?;
            varint::read_signed(&mut rest)?;
        }
        let mut data: [&'a [u8]; Stream::ALL.len()] = [&[]; Stream::ALL.len()];
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
    let mut pending = PendingTape::default();
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
