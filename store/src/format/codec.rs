//! Compressed blocks.
//!
//! A block is one byte that names the coding, then the data. Records share a vocabulary (keys,
//! types, names of runtimes), and so do tapes, so short ones are compressed against dictionaries
//! that are part of this crate: that is what keeps small runs small.

use std::cell::RefCell;
use std::io;
use std::sync::OnceLock;
use std::thread::LocalKey;

use super::varint;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};

/// Not compressed.
const PLAIN: u8 = 0;
/// zstd with nothing else.
const ALONE: u8 = 1;

/// Longest block: a damaged length must not ask for all memory, and a short block must not become
/// a long one.
pub(crate) const LONGEST: usize = 256 << 20;

/// Length up to which a block is compressed with a dictionary; a longer one is its own.
const SMALL: usize = 32 << 10;
/// Storing must keep up with what streams in: the next levels take several times as long, and
/// save less than a tenth.
const LEVEL: i32 = 1;

/// Room that a thread keeps for compressing; what a longer block takes is given back.
const MOST_ROOM: usize = 1 << 20;

/// What blocks of a kind have in common.
///
/// Trained with `zstd --train` on replicas of captures (`tests/examples/training.rs`). Never
/// edited after a release: blocks in databases depend on every byte of it. A better one gets a
/// coding and a number of its own.
pub(crate) struct Vocabulary {
    coding: u8,
    dictionary: &'static [u8],
    encoder: OnceLock<EncoderDictionary<'static>>,
    decoder: OnceLock<DecoderDictionary<'static>>,
    /// One for each thread: making one takes longer than compressing a small block.
    compressor: &'static LocalKey<RefCell<Option<Compressor<'static>>>>,
    decompressor: &'static LocalKey<RefCell<Option<Decompressor<'static>>>>,
}

thread_local! {
    /// Where blocks are compressed to: how long they become is known only then.
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static COMPRESS_RECORDS: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static COMPRESS_TAPES: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static COMPRESS_ALONE: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESS_RECORDS: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESS_TAPES: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESS_ALONE: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Records as JSON lines, and what a writer knows of a run.
pub(crate) static RECORDS: Vocabulary = Vocabulary {
    coding: 2,
    dictionary: include_bytes!("../../dictionaries/1.zdict"),
    encoder: OnceLock::new(),
    decoder: OnceLock::new(),
    compressor: &COMPRESS_RECORDS,
    decompressor: &DECOMPRESS_RECORDS,
};

/// What agent CLIs print.
pub(crate) static TAPES: Vocabulary = Vocabulary {
    coding: 3,
    dictionary: include_bytes!("../../dictionaries/2.zdict"),
    encoder: OnceLock::new(),
    decoder: OnceLock::new(),
    compressor: &COMPRESS_TAPES,
    decompressor: &DECOMPRESS_TAPES,
};

impl Vocabulary {
    /// Compresses a block.
    pub(crate) fn encode(&'static self, data: &[u8]) -> Vec<u8> {
        if data.len() > SMALL {
            let compressed = COMPRESS_ALONE.with(|slot| {
                let make = || Compressor::new(LEVEL);
                reuse(slot, make, |compressor| compress(compressor, ALONE, data))
            });
            return compressed.unwrap_or_else(|_| plain(data));
        }
        let compressed = self.compressor.with(|slot| {
            let make = || {
                let make = || EncoderDictionary::copy(self.dictionary, LEVEL);
                Compressor::with_prepared_dictionary(self.encoder.get_or_init(make))
            };
            reuse(slot, make, |compressor| {
                compress(compressor, self.coding, data)
            })
        });
        compressed.unwrap_or_else(|_| plain(data))
    }

    fn decode(&'static self, body: &[u8], length: usize) -> io::Result<Vec<u8>> {
        self.decompressor.with(|slot| {
            let make = || {
                let make = || DecoderDictionary::copy(self.dictionary);
                Decompressor::with_prepared_dictionary(self.decoder.get_or_init(make))
            };
            reuse(slot, make, |decompressor| {
                decompressor.decompress(body, length)
            })
        })
    }
}

/// Does some work with what was made the first time it was needed.
fn reuse<C, T>(
    slot: &RefCell<Option<C>>,
    make: impl FnOnce() -> io::Result<C>,
    work: impl FnOnce(&mut C) -> io::Result<T>,
) -> io::Result<T> {
    let mut slot = slot.borrow_mut();
    let tool = match &mut *slot {
        Some(tool) => tool,
        empty => empty.insert(make()?),
    };
    work(tool)
}

/// Makes a block of compressed data; keeps the data as it is if that is shorter.
fn compress(compressor: &mut Compressor<'_>, coding: u8, data: &[u8]) -> io::Result<Vec<u8>> {
    ROOM.with_borrow_mut(|room| {
        room.clear();
        room.reserve(zstd::zstd_safe::compress_bound(data.len()));
        compressor.compress_to_buffer(data, room)?;
        let block = if room.len() < data.len() {
            coded(coding, room)
        } else {
            plain(data)
        };
        room.shrink_to(MOST_ROOM);
        Ok(block)
    })
}

/// Makes a block of data as it is.
fn plain(data: &[u8]) -> Vec<u8> {
    coded(PLAIN, data)
}

/// Puts a coding before the data.
fn coded(coding: u8, body: &[u8]) -> Vec<u8> {
    let mut block = Vec::with_capacity(body.len() + 1);
    block.push(coding);
    block.extend_from_slice(body);
    block
}

/// Reads a block of a known length back.
pub(crate) fn decode(block: &[u8], length: usize) -> Result<Vec<u8>, String> {
    let (coding, body) = block.split_first().ok_or("the block is empty")?;
    if length > LONGEST {
        return Err(format!("claims to have {length} bytes"));
    }
    let data = match *coding {
        PLAIN if body.len() > length => return Err(format!("has more than {length} bytes")),
        PLAIN => Ok(body.to_vec()),
        ALONE => DECOMPRESS_ALONE.with(|slot| {
            reuse(slot, Decompressor::new, |decompressor| {
                decompressor.decompress(body, length)
            })
        }),
        coding if coding == RECORDS.coding => RECORDS.decode(body, length),
        coding if coding == TAPES.coding => TAPES.decode(body, length),
        unknown => return Err(format!("unknown coding {unknown}")),
    };
    let data = data.map_err(|error| format!("cannot be decompressed: {error}"))?;
    if data.len() == length {
        Ok(data)
    } else {
        Err(format!("has {} bytes, expected {length}", data.len()))
    }
}

/// Length up to which compressing saves nothing that is worth its time.
const TINY: usize = 512;

/// Compresses data that says its own length.
pub(crate) fn pack(data: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    varint::write(&mut packed, u64::try_from(data.len()).unwrap_or(u64::MAX));
    if data.len() <= TINY {
        packed.push(PLAIN);
        packed.extend_from_slice(data);
    } else {
        packed.extend(RECORDS.encode(data));
    }
    packed
}

/// Reads packed data back.
pub(crate) fn unpack(mut packed: &[u8]) -> Result<Vec<u8>, String> {
    let length = varint::read(&mut packed).and_then(|length| usize::try_from(length).ok());
    decode(packed, length.ok_or("has no length")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back() {
        let long = b"{\"type\":\"checkpoint\",\"step\":1}\n".repeat(2000);
        for data in [&b""[..], b"x", b"{\"runId\":\"a\"}", &long, &long[..500]] {
            for vocabulary in [&RECORDS, &TAPES] {
                let block = vocabulary.encode(data);
                assert_eq!(decode(&block, data.len()).unwrap(), data);
                assert!(block.len() <= data.len() + 1);
            }
            assert_eq!(unpack(&pack(data)).unwrap(), data);
        }
    }

    #[test]
    fn damage_is_an_error() {
        let data = b"{\"type\":\"checkpoint\",\"step\":1}\n".repeat(100);
        let block = RECORDS.encode(&data);
        assert!(decode(&block, data.len() - 1).is_err());
        assert!(decode(&block[..block.len() - 1], data.len()).is_err());
        assert!(decode(&[9, 9], 1).unwrap_err().contains("coding 9"));
        assert!(decode(&[], 0).is_err());
    }
}
