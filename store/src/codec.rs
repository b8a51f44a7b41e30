//! Compressed blocks.
//!
//! A block is one byte that names the coding, then the data. Records share a vocabulary (keys,
//! types, names of runtimes), so they are compressed against a dictionary that is part of this
//! crate: that is what keeps small runs small.

use std::cell::RefCell;
use std::io;
use std::sync::OnceLock;

use crate::varint;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};

/// Trained with `zstd --train` on records of all runtimes with random words for prose. Never
/// edited after a release: blocks in databases depend on every byte of it. A better one gets a
/// number of its own.
const DICTIONARY: &[u8] = include_bytes!("../dictionaries/1.zdict");

/// Not compressed.
const PLAIN: u8 = 0;
/// zstd with the dictionary.
const DICTIONARY_1: u8 = 1;
/// zstd with nothing else.
const ALONE: u8 = 2;

/// Longest block: a damaged length must not ask for all memory.
const LONGEST: usize = 1 << 30;

/// Length up to which a block is compressed with the dictionary; a longer one is its own.
const SMALL: usize = 16 << 10;
/// Storing must keep up with what streams in: the next levels take several times as long, and
/// save less than a tenth.
const LEVEL: i32 = 1;

fn encoder() -> &'static EncoderDictionary<'static> {
    static ENCODER: OnceLock<EncoderDictionary<'static>> = OnceLock::new();
    ENCODER.get_or_init(|| EncoderDictionary::copy(DICTIONARY, LEVEL))
}

fn decoder() -> &'static DecoderDictionary<'static> {
    static DECODER: OnceLock<DecoderDictionary<'static>> = OnceLock::new();
    DECODER.get_or_init(|| DecoderDictionary::copy(DICTIONARY))
}

thread_local! {
    // Making one takes longer than compressing a small block.
    static SMALL_BLOCKS: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static LARGE_BLOCKS: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECODE: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    static DECODE_ALONE: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
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

/// Puts a coding before the data; keeps the data plain if that is shorter.
fn coded(coding: u8, data: &[u8], compressed: &io::Result<Vec<u8>>) -> Vec<u8> {
    let (coding, body) = match compressed {
        Ok(compressed) if compressed.len() < data.len() => (coding, compressed.as_slice()),
        _ => (PLAIN, data),
    };
    let mut block = Vec::with_capacity(body.len() + 1);
    block.push(coding);
    block.extend_from_slice(body);
    block
}

/// Compresses a block.
pub(crate) fn encode(data: &[u8]) -> Vec<u8> {
    if data.len() > SMALL {
        let compressed = LARGE_BLOCKS.with(|slot| {
            let make = || Compressor::new(LEVEL);
            reuse(slot, make, |compressor| compressor.compress(data))
        });
        return coded(ALONE, data, &compressed);
    }
    let compressed = SMALL_BLOCKS.with(|slot| {
        let make = || Compressor::with_prepared_dictionary(encoder());
        reuse(slot, make, |compressor| compressor.compress(data))
    });
    coded(DICTIONARY_1, data, &compressed)
}

/// Reads a block of a known length back.
pub(crate) fn decode(block: &[u8], length: usize) -> Result<Vec<u8>, String> {
    let (coding, body) = block.split_first().ok_or("the block is empty")?;
    if length > LONGEST {
        return Err(format!("claims to have {length} bytes"));
    }
    let data = match *coding {
        PLAIN => Ok(body.to_vec()),
        DICTIONARY_1 => DECODE.with(|slot| {
            let make = || Decompressor::with_prepared_dictionary(decoder());
            reuse(slot, make, |decompressor| {
                decompressor.decompress(body, length)
            })
        }),
        ALONE => DECODE_ALONE.with(|slot| {
            reuse(slot, Decompressor::new, |decompressor| {
                decompressor.decompress(body, length)
            })
        }),
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
const TINY: usize = 64;

/// Compresses data that says its own length.
pub(crate) fn pack(data: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    varint::write(&mut packed, u64::try_from(data.len()).unwrap_or(u64::MAX));
    if data.len() <= TINY {
        packed.push(PLAIN);
        packed.extend_from_slice(data);
    } else {
        packed.extend(encode(data));
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
        let long = b"{\"type\":\"checkpoint\",\"step\":1}\n".repeat(1000);
        for data in [&b""[..], b"x", b"{\"runId\":\"a\"}", &long] {
            let block = encode(data);
            assert_eq!(decode(&block, data.len()).unwrap(), data);
            assert!(block.len() <= data.len() + 1);
        }
    }

    #[test]
    fn damage_is_an_error() {
        let data = b"{\"type\":\"checkpoint\",\"step\":1}\n".repeat(100);
        let block = encode(&data);
        assert!(decode(&block, data.len() - 1).is_err());
        assert!(decode(&block[..block.len() - 1], data.len()).is_err());
        assert!(decode(&[9, 9], 1).unwrap_err().contains("coding 9"));
        assert!(decode(&[], 0).is_err());
    }
}
