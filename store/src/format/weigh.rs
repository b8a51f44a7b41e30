//! How much a block of a file from elsewhere would take once it is read, found out without reading
//! it as what it claims to be: a few kilobytes can stand for gigabytes.

use super::codec;
use super::depth::DEEPEST;
use super::records::{self, RecordBlock};
use super::tape::{self, TapeBlock};
use super::varint;

/// Longest block before compressing. A record holds what was printed on one line of at most
/// 32 MiB, of which each byte takes at most six in JSON.
const LONGEST_BLOCK: usize = 200 << 20;

/// Longest context or exit.
const LONGEST_VALUE: u64 = 64 << 20;

/// Most values in the records of one block: each takes some 70 bytes in memory, and two in a text.
const MOST_VALUES: usize = 4_000_000;

/// Most pieces of output in one block of a tape: one of a single byte has a quarter of that.
const MOST_PIECES: u64 = 1_000_000;

/// Looks at a block of records.
pub(crate) fn records_fit(block: &RecordBlock) -> std::result::Result<(), String> {
    bounded(block.length)?;
    let marks = block.marks.len() / super::chain::MARK;
    let lines = codec::decode(&block.body, block.length)?;
    // Each record has a mark, which is not compressed: so a file has no more of them than bytes.
    if records::each_line(&lines).nth(marks).is_some() {
        return Err(format!(
            "has more than the {marks} records it has hashes for"
        ));
    }
    values_fit(&lines)
}

/// Looks at a block of a tape.
pub(crate) fn tape_fits(block: &TapeBlock) -> std::result::Result<(), String> {
    bounded(block.length)?;
    let raw = codec::decode(&block.body, block.length)?;
    let pieces = tape::claimed_chunks(&raw);
    if pieces > MOST_PIECES {
        return Err(format!("claims to be of {pieces} pieces"));
    }
    Ok(())
}

/// Looks at a packed value.
pub(crate) fn value_fits(packed: &[u8]) -> std::result::Result<(), String> {
    let length = varint::read(&mut &*packed).unwrap_or(0);
    if length > LONGEST_VALUE {
        return Err(format!("claims to have {length} bytes"));
    }
    values_fit(&codec::unpack(packed)?)
}

fn bounded(length: usize) -> std::result::Result<(), String> {
    if length > LONGEST_BLOCK {
        return Err(format!("claims to have {length} bytes"));
    }
    Ok(())
}

/// Counts the values in JSON, and how deep they nest, without reading them.
pub(crate) fn values_fit(json: &[u8]) -> std::result::Result<(), String> {
    let (mut values, mut depth) = (0_usize, 0_usize);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'\\' => drop(bytes.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            b'[' | b'{' => {
                values += 1;
                depth += 1;
                if depth > DEEPEST {
                    return Err(format!("nests deeper than {DEEPEST} levels"));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            // Each record begins anew.
            b'\n' => depth = 0,
            _ => {}
        }
        if values > MOST_VALUES {
            return Err(format!("holds more than {MOST_VALUES} values"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_texts() {
        assert_eq!(values_fit(br#"{"a":"[[[[,,,,\"[","b":[1,2]}"#), Ok(()));
        let deep = |levels| [b"[".repeat(levels), b"]".repeat(levels)].concat();
        assert_eq!(values_fit(&deep(DEEPEST)), Ok(()));
        assert!(
            values_fit(&deep(DEEPEST + 1))
                .unwrap_err()
                .contains("deeper")
        );
        assert_eq!(
            values_fit(&[deep(200), b"\n".to_vec(), deep(200)].concat()),
            Ok(())
        );
        assert!(
            values_fit(&b"1,".repeat(MOST_VALUES + 1))
                .unwrap_err()
                .contains("values")
        );
        // What never ends is no more than what is there.
        assert_eq!(values_fit(br#""[[[\"#), Ok(()));
    }
}
