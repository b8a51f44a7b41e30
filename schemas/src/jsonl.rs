//! Validation of JSON Lines, one value a line, in bounded memory.

use std::io::{BufRead, Read};

use serde_json::Value;

use crate::{Fault, SchemaError, SchemaKind, Validator, Verdict};

/// The longest line that is read unless another limit is given: 32 MiB, as everywhere in runtape.
pub const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;

/// How much of an overlong line is skipped at a time.
const SKIP_BYTES: u64 = 64 * 1024;

/// What validation says of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineVerdict {
    /// The line, counted from 1; blank lines count.
    pub line: u64,
    /// What validation says of it.
    pub verdict: Verdict,
    /// The value, if the line is JSON and not valid.
    pub value: Option<Value>,
}

/// How many lines there were of each sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Lines that fit the schema.
    pub valid: u64,
    /// Lines of a type that this version does not know.
    pub unknown: u64,
    /// Lines that are no JSON or break the schema.
    pub invalid: u64,
    /// Lines with nothing on them, which are skipped.
    pub blank: u64,
}

/// Checks every line against the schema of a kind and tells `each` what was found.
///
/// Lines come one at a time, so memory does not grow with their number. A line that is too long,
/// not UTF-8 or not JSON is an invalid line, not an error.
pub fn validate_jsonl(
    reader: impl BufRead,
    kind: SchemaKind,
    each: impl FnMut(LineVerdict),
) -> Result<LineCounts, SchemaError> {
    validate_jsonl_within(reader, kind, MAX_LINE_BYTES, each)
}

/// As [`validate_jsonl`], with a limit to the length of a line in bytes.
pub fn validate_jsonl_within(
    mut reader: impl BufRead,
    kind: SchemaKind,
    max_line_bytes: usize,
    mut each: impl FnMut(LineVerdict),
) -> Result<LineCounts, SchemaError> {
    let validator = Validator::for_kind(kind);
    let mut counts = LineCounts::default();
    let mut buffer = Vec::new();
    for line in 1.. {
        let read = read_line(&mut reader, max_line_bytes, &mut buffer);
        let (verdict, value) = match read.map_err(|error| SchemaError::Read { line, error })? {
            LineRead::End => break,
            LineRead::TooLong => (
                invalid(format!("the line is longer than {max_line_bytes} bytes")),
                None,
            ),
            LineRead::Whole => {
                let bytes = match buffer.strip_prefix(b"\xef\xbb\xbf") {
                    // A byte order mark, where it can stand.
                    Some(rest) if line == 1 => rest,
                    _ => &buffer,
                };
                let bytes = bytes.trim_ascii_end();
                if bytes.is_empty() {
                    counts.blank += 1;
                    continue;
                }
                check(validator, bytes)
            }
        };
        match verdict {
            Verdict::Valid => counts.valid += 1,
            Verdict::Unknown { .. } => counts.unknown += 1,
            Verdict::Invalid(_) => counts.invalid += 1,
        }
        each(LineVerdict {
            line,
            verdict,
            value,
        });
    }
    Ok(counts)
}

enum LineRead {
    Whole,
    TooLong,
    End,
}

/// Reads a line with its terminator; of one that is too long the rest is skipped.
fn read_line(
    reader: &mut impl BufRead,
    max_line_bytes: usize,
    buffer: &mut Vec<u8>,
) -> std::io::Result<LineRead> {
    buffer.clear();
    let limit = u64::try_from(max_line_bytes).unwrap_or(u64::MAX);
    // One byte more for the terminator, which is not counted.
    let mut within = reader.by_ref().take(limit.saturating_add(1));
    if within.read_until(b'\n', buffer)? == 0 {
        return Ok(LineRead::End);
    }
    if buffer.ends_with(b"\n") || buffer.len() <= max_line_bytes {
        return Ok(LineRead::Whole);
    }
    loop {
        buffer.clear();
        let read = reader.by_ref().take(SKIP_BYTES).read_until(b'\n', buffer)?;
        if read == 0 || buffer.ends_with(b"\n") {
            return Ok(LineRead::TooLong);
        }
    }
}

fn check(validator: &Validator, bytes: &[u8]) -> (Verdict, Option<Value>) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let verdict = invalid(format!(
                "not UTF-8 from byte {} on",
                error.valid_up_to() + 1
            ));
            return (verdict, None);
        }
    };
    match serde_json::from_str(text) {
        Ok(value) => match validator.validate(&value) {
            Verdict::Valid => (Verdict::Valid, None),
            verdict => (verdict, Some(value)),
        },
        Err(error) => {
            // serde_json counts lines too; there is only one here.
            let column = error.column();
            let message = error.to_string();
            let reason = message.split(" at line ").next().unwrap_or(&message);
            (
                invalid(format!("not JSON: {reason} at column {column}")),
                None,
            )
        }
    }
}

fn invalid(message: String) -> Verdict {
    Verdict::Invalid(vec![Fault {
        tag: None,
        path: String::new(),
        message,
        schema_path: String::new(),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: &str = r#"{"inputTokens":1,"outputTokens":2,"reasoningTokens":0,"totalTokens":3,"cachedInputTokens":0}"#;

    fn run(bytes: &[u8], limit: usize) -> (LineCounts, Vec<(u64, String)>) {
        let mut faults = Vec::new();
        // A reader of one byte at a time, so that no line comes whole.
        let reader = std::io::BufReader::with_capacity(1, bytes);
        let counts = validate_jsonl_within(reader, SchemaKind::Usage, limit, |line| {
            let found = line.verdict.faults().iter();
            faults.extend(found.map(|fault| (line.line, fault.to_string())));
        });
        (counts.unwrap(), faults)
    }

    #[test]
    fn every_line_gets_its_number_and_bad_ones_do_not_stop_the_rest() {
        let mut bytes = b"\xef\xbb\xbf".to_vec();
        for line in [USAGE, "", "  \r", "{\"inputTokens\":", "[]", USAGE] {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(b"\"\xff\"\n");
        bytes.extend_from_slice(USAGE.as_bytes());
        let (counts, faults) = run(&bytes, MAX_LINE_BYTES);
        let expected = LineCounts {
            valid: 3,
            unknown: 0,
            invalid: 3,
            blank: 2,
        };
        assert_eq!(counts, expected);
        let expected = [
            (
                4,
                "not JSON: EOF while parsing a value at column 15".to_owned(),
            ),
            (5, "expected object, found array".to_owned()),
            (7, "not UTF-8 from byte 2 on".to_owned()),
        ];
        assert_eq!(faults, expected);
    }

    #[test]
    fn a_line_at_the_limit_is_read_and_a_longer_one_skipped() {
        let limit = USAGE.len();
        let text = format!("{USAGE}\n{USAGE} \n{}\n{USAGE}", "x".repeat(200_000));
        let (counts, faults) = run(text.as_bytes(), limit);
        assert_eq!((counts.valid, counts.invalid), (2, 2));
        let message = format!("the line is longer than {limit} bytes");
        assert_eq!(faults, [(2, message.clone()), (3, message)]);
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let (_, faults) = run(deep.as_bytes(), MAX_LINE_BYTES);
        assert!(faults[0].1.contains("recursion limit"), "{faults:?}");
    }
}
