//! Compressed blocks.
//!
//! A block is one byte that names the coding, then the data. Records share a vocabulary (keys,
//! types, names of runtimes), so they are compressed against a dictionary that is part of this
//! crate: that is what keeps small runs small.

use std::sync::OnceLock;

use crate::varint;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};

/// Sample records; zstd finds in it what a block has in common with them. Never edited after a
/// release: blocks in databases depend on every byte of it. A better one gets a number of its own.
const DICTIONARY: &[u8] = include_bytes!("../dictionaries/1.jsonl");

/// Not compressed.
const PLAIN: u8 = 0;
/// zstd with the dictionary.
const DICTIONARY_1: u8 = 1;
/// zstd with what the caller has at hand on both sides.
const AGAINST: u8 = 2;

/// Longest block: a damaged length must not ask for all memory.
const LONGEST: usize = 1 << 30;

/// How much time is spent on making a block small.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// While output is streaming in.
    Live,
    /// When small blocks are merged at the end of a run.
    Merge,
}

impl Effort {
    fn level(self) -> i32 {
        match self {
            Self::Live => 1,
            Self::Merge => 6,
        }
    }
}

fn encoder(effort: Effort) -> &'static EncoderDictionary<'static> {
    static LIVE: OnceLock<EncoderDictionary<'static>> = OnceLock::new();
    static MERGE: OnceLock<EncoderDictionary<'static>> = OnceLock::new();
    match effort {
        Effort::Live => &LIVE,
        Effort::Merge => &MERGE,
    }
    .get_or_init(|| EncoderDictionary::copy(DICTIONARY, effort.level()))
}

fn decoder() -> &'static DecoderDictionary<'static> {
    static DECODER: OnceLock<DecoderDictionary<'static>> = OnceLock::new();
    DECODER.get_or_init(|| DecoderDictionary::copy(DICTIONARY))
}

/// Puts a coding before the data; keeps the data plain if that is shorter.
fn coded(coding: u8, data: &[u8], compressed: std::io::Result<Vec<u8>>) -> Vec<u8> {
    let (coding, body) = match &compressed {
        Ok(compressed) if compressed.len() < data.len() => (coding, compressed.as_slice()),
        _ => (PLAIN, data),
    };
    let mut block = Vec::with_capacity(body.len() + 1);
    block.push(coding);
    block.extend_from_slice(body);
    block
}

/// Compresses a block.
pub(crate) fn encode(data: &[u8], effort: Effort) -> Vec<u8> {
    let compressed = Compressor::with_prepared_dictionary(encoder(effort))
        .and_then(|mut compressor| compressor.compress(data));
    coded(DICTIONARY_1, data, compressed)
}

/// Compresses a block against other data, which must be given again to read it.
pub(crate) fn encode_against(data: &[u8], other: &[u8]) -> Vec<u8> {
    let compressed = Compressor::with_dictionary(Effort::Merge.level(), other)
        .and_then(|mut compressor| compressor.compress(data));
    coded(AGAINST, data, compressed)
}

/// Tells whether a block can only be read together with other data.
pub(crate) fn needs_other(block: &[u8]) -> bool {
    block.first() == Some(&AGAINST)
}

/// Reads a block of a known length back; `other` is what it was compressed against.
pub(crate) fn decode(block: &[u8], length: usize, other: &[u8]) -> Result<Vec<u8>, String> {
    let (coding, body) = block.split_first().ok_or("the block is empty")?;
    if length > LONGEST {
        return Err(format!("claims to have {length} bytes"));
    }
    let data = match *coding {
        PLAIN => Ok(body.to_vec()),
        DICTIONARY_1 => Decompressor::with_prepared_dictionary(decoder())
            .and_then(|mut decompressor| decompressor.decompress(body, length)),
        AGAINST => Decompressor::with_dictionary(other)
            .and_then(|mut decompressor| decompressor.decompress(body, length)),
        unknown => return Err(format!("unknown coding {unknown}")),
    };
    let data = data.map_err(|error| format!("cannot be decompressed: {error}"))?;
    if data.len() == length {
        Ok(data)
    } else {
        Err(format!("has {} bytes, expected {length}", data.len()))
    }
}

/// Compresses data that says its own length.
pub(crate) fn pack(data: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    varint::write(&mut packed, u64::try_from(data.len()).unwrap_or(u64::MAX));
    packed.extend(encode(data, Effort::Merge));
    packed
}

/// Reads packed data back.
pub(crate) fn unpack(mut packed: &[u8]) -> Result<Vec<u8>, String> {
    let length = varint::read(&mut packed).and_then(|length| usize::try_from(length).ok());
    decode(packed, length.ok_or("has no length")?, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back() {
        let long = b"{\"type\":\"checkpoint\",\"step\":1}\n".repeat(1000);
        for data in [&b""[..], b"x", b"{\"runId\":\"a\"}", &long] {
            for effort in [Effort::Live, Effort::Merge] {
                let block = encode(data, effort);
                assert_eq!(decode(&block, data.len(), &[]).unwrap(), data);
                assert!(block.len() <= data.len() + 1);
            }
            let block = encode_against(data, &long);
            assert_eq!(decode(&block, data.len(), &long).unwrap(), data);
        }
    }

    #[test]
    fn damage_is_an_error() {
        let data = b"{\"type\":\"checkpoint\",\"step\":1}\n".repeat(100);
        let block = encode(&data, Effort::Live);
        assert!(decode(&block, data.len() - 1, &[]).is_err());
        assert!(decode(&block[..block.len() - 1], data.len(), &[]).is_err());
        assert!(decode(&[9, 9], 1, &[]).unwrap_err().contains("coding 9"));
        assert!(decode(&[], 0, &[]).is_err());
    }
}
