//! The JSON values and the text on one line.

use memchr::memchr2;
use serde::de::IgnoredAny;

use crate::escapes::{ESCAPE, sequence_length};
use crate::parser::SignalSink;

/// How many times over a line may be read in search of a value.
///
/// A bracket that turns out to open nothing is read past from the next one again. On a line of
/// nothing but brackets that would be every suffix of it, so past this the search goes on from
/// where a reading failed, and may pass over a value inside of it.
const READINGS: usize = 4;

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePart<'a> {
    /// An object or an array, or what begins like one and then does not parse.
    Json(&'a [u8]),
    /// Anything else, as it stands.
    Text(&'a [u8]),
}

/// Splits a line into the JSON values and the text on it, in order.
///
/// A line that is one value is one piece. Otherwise values may follow each other or a banner, as in
/// `MCP issues detected.{"type":"init"}`, and text may follow them. Within such a line only `{"` and
/// `[{` (white space aside) can begin a value, because log lines and prose are full of `[1]` and
/// `{}`. Every byte of the line is in a piece, but for white space around values.
///
/// What does not parse and begins with `{`, or with `[` and then anything JSON has there, is given
/// as JSON too, for its decoder to refuse: it is a message cut short, not a notice. `[error] no`
/// is text.
///
/// This reads the line once more than its decoder will. Where most lines are sound, decode first.
///
/// ```
/// use runtape_normalizer::framing::{LinePart, pieces};
///
/// let found: Vec<LinePart<'_>> = pieces(b"ready.{\"a\":1} {\"b\":").collect();
/// assert_eq!(
///     found,
///     [LinePart::Text(b"ready."), LinePart::Json(b"{\"a\":1}"), LinePart::Json(b" {\"b\":")]
/// );
/// ```
#[must_use]
pub fn pieces(line: &[u8]) -> Pieces<'_> {
    let value = line.trim_ascii();
    if matches!(value.first(), Some(b'{' | b'['))
        && serde_json::from_slice::<IgnoredAny>(value).is_ok()
    {
        return Pieces {
            rest: &[],
            value: Some(value),
            budget: 0,
        };
    }
    Pieces {
        rest: line,
        value: None,
        budget: line.len().saturating_mul(READINGS),
    }
}

/// Hands out the values on a line; the text around them is reported as no message.
pub(crate) fn each_value(
    line: &[u8],
    out: &mut SignalSink<'_>,
    mut each: impl FnMut(&[u8], &mut SignalSink<'_>),
) {
    for piece in pieces(line) {
        match piece {
            LinePart::Text(text) => out.stdout_text(text),
            LinePart::Json(json) => each(json, out),
        }
    }
}

/// The pieces of one line; see [`pieces`].
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    rest: &'a [u8],
    /// A value that was found behind some text, which goes first.
    value: Option<&'a [u8]>,
    budget: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = LinePart<'a>;

    fn next(&mut self) -> Option<LinePart<'a>> {
        if let Some(value) = self.value.take() {
            return Some(LinePart::Json(value));
        }
        let (before, value) = match self.find_value() {
            Some((start, length)) => {
                let (before, from_value) = self.rest.split_at(start);
                let (value, rest) = from_value.split_at(length);
                self.rest = rest;
                (before, Some(value))
            }
            None => (std::mem::take(&mut self.rest), None),
        };
        if before.trim_ascii().is_empty() {
            return value.map(LinePart::Json);
        }
        self.value = value;
        Some(if begins_like_json(before) {
            LinePart::Json(before)
        } else {
            LinePart::Text(before)
        })
    }
}

impl Pieces<'_> {
    /// Returns where the next value starts, and its length.
    fn find_value(&mut self) -> Option<(usize, usize)> {
        let mut at = 0;
        loop {
            at += find_opening(self.rest.get(at..)?, false)?;
            match read_value(self.rest.get(at..)?) {
                Ok(length) => return Some((at, length)),
                Err(reached) if reached <= self.budget => {
                    self.budget -= reached;
                    at += 1;
                }
                Err(reached) => at += reached.max(1),
            }
        }
    }
}

/// Reads the value `bytes` begin with; returns its length, or how far it was read if it is none.
///
/// What is skipped rather than read may hold what is yet to be repaired, at any depth.
fn read_value(bytes: &[u8]) -> Result<usize, usize> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => Ok(values.byte_offset()),
        Some(Err(error)) if error.line() == 1 => Err(error.column()),
        _ => Err(bytes.len()),
    }
}

/// Returns where in `text` a value with content seems to open: at `{"` or `[{`, white space aside.
///
/// With `may_end`, a bracket that ends the text counts, as on the first line of a document.
pub(super) fn find_opening(text: &[u8], may_end: bool) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr2(b'{', b'[', text.get(at..)?)?;
        let is_sequence = at.checked_sub(1).and_then(|before| text.get(before)) == Some(&ESCAPE);
        let opens = match (text.get(at)?, second(text.get(at..)?)) {
            (b'{', Some(b'"')) | (b'[', Some(b'{')) => true,
            (_, None) => may_end,
            _ => false,
        };
        if opens && !is_sequence {
            return Some(at);
        }
        at += 1;
    }
}

/// Returns whether text that does not parse was meant to.
fn begins_like_json(text: &[u8]) -> bool {
    let mut text = text.trim_ascii_start();
    while text.first() == Some(&ESCAPE) {
        let rest = text.get(sequence_length(text)..).unwrap_or_default();
        text = rest.trim_ascii_start();
    }
    match text.first() {
        Some(b'{') => true,
        Some(b'[') => matches!(second(text), None | Some(b'{' | b'[' | b'"' | b']')),
        _ => false,
    }
}

/// Returns the first character after a bracket that is not white space.
fn second(text: &[u8]) -> Option<u8> {
    text.iter()
        .skip(1)
        .find(|byte| !byte.is_ascii_whitespace())
        .copied()
}

/// How many lines are looked at for the first value.
const FIRST_LINES: usize = 32;

/// Returns the first JSON among the first lines of an output, whole or not.
pub(crate) fn first_json(output: &[u8]) -> Option<&[u8]> {
    let lines = output.split(|byte| *byte == b'\n').take(FIRST_LINES);
    lines.flat_map(pieces).find_map(|piece| match piece {
        LinePart::Json(json) => Some(json),
        LinePart::Text(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn json(text: &str) -> LinePart<'_> {
        LinePart::Json(text.as_bytes())
    }

    fn text(text: &str) -> LinePart<'_> {
        LinePart::Text(text.as_bytes())
    }

    #[test]
    fn values_and_text_are_told_apart() {
        let table: [(&str, &[LinePart<'_>]); 27] = [
            ("", &[]),
            (" \t\r", &[]),
            (r#"{"a":1}"#, &[json(r#"{"a":1}"#)]),
            (" {\"a\":1}\r", &[json(r#"{"a":1}"#)]),
            ("{}", &[json("{}")]),
            ("[1]", &[json("[1]")]),
            ("plain text", &[text("plain text")]),
            (
                r#"{"a":1}{"b":2} [{"c":3}]"#,
                &[json(r#"{"a":1}"#), json(r#"{"b":2}"#), json(r#"[{"c":3}]"#)],
            ),
            (
                r#"MCP issues detected.{"a":"{"}"#,
                &[text("MCP issues detected."), json(r#"{"a":"{"}"#)],
            ),
            (
                r#"{"a":1} and more"#,
                &[json(r#"{"a":1}"#), text(" and more")],
            ),
            (
                r#"one {"a":"}\""} two {"b":[1]} three"#,
                &[
                    text("one "),
                    json(r#"{"a":"}\""}"#),
                    text(" two "),
                    json(r#"{"b":[1]}"#),
                    text(" three"),
                ],
            ),
            (
                r#"[info] start {"a":1}"#,
                &[text("[info] start "), json(r#"{"a":1}"#)],
            ),
            (r#"{not} {"a":1}"#, &[json("{not} "), json(r#"{"a":1}"#)]),
            (
                r#"say "hi" {"a":1}"#,
                &[text(r#"say "hi" "#), json(r#"{"a":1}"#)],
            ),
            ("foo() {} [3]", &[text("foo() {} [3]")]),
            ("[12] done", &[text("[12] done")]),
            ("[error] no", &[text("[error] no")]),
            (r#"{"a":"cut"#, &[json(r#"{"a":"cut"#)]),
            (r#"{"a":1}{"b":"#, &[json(r#"{"a":1}"#), json(r#"{"b":"#)]),
            (
                r#"{"a":"cut{"b":2}"#,
                &[json(r#"{"a":"cut"#), json(r#"{"b":2}"#)],
            ),
            (r#"[{"a":"#, &[json(r#"[{"a":"#)]),
            ("[", &[json("[")]),
            (r#"cut {"a":"#, &[text(r#"cut {"a":"#)]),
            (
                "\x1b[2K\x1b[1G{\"a\":1}\x1b[0m",
                &[text("\x1b[2K\x1b[1G"), json(r#"{"a":1}"#), text("\x1b[0m")],
            ),
            ("\x1b[0m {\"a\":", &[json("\x1b[0m {\"a\":")]),
            ("\x1b[{\"a\":1}", &[text("\x1b["), json(r#"{"a":1}"#)]),
            (
                r#"ok {"a":"\ud800","n":1e999}"#,
                &[text("ok "), json(r#"{"a":"\ud800","n":1e999}"#)],
            ),
        ];
        for (line, expected) in table {
            let found: Vec<LinePart<'_>> = pieces(line.as_bytes()).collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn a_megabyte_of_openings_is_quick() {
        let openings = [
            "{",
            "[",
            "{{",
            "[{",
            "{\"a",
            "{\"a\":",
            "[{\"a\":",
            "{\"a\":1,",
            "{\"",
            "[{\"a\":1},",
            "{\"a\":{} ",
            "\x1b[{\"",
            "{ ",
            "{\"a\\",
            "{\"a\":1}",
        ];
        for opening in openings {
            for banner in ["", "text "] {
                let line = banner.to_owned() + &opening.repeat(1_000_000 / opening.len());
                let began = Instant::now();
                assert!(pieces(line.as_bytes()).count() > 0);
                assert!(began.elapsed() < Duration::from_secs(10), "{opening:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_but_white_space_is_left_out(
            line in "([\\[\\]{},:\" \\\\]|\"a\":|\\{\"a\":1\\}|\x1b\\[0m|[a-z0-9é]){0,60}",
        ) {
            let mut rest = line.as_bytes();
            for piece in pieces(line.as_bytes()) {
                let (LinePart::Json(bytes) | LinePart::Text(bytes)) = piece;
                prop_assert!(!bytes.trim_ascii().is_empty());
                let skipped = bytes.as_ptr() as usize - rest.as_ptr() as usize;
                prop_assert!(rest[..skipped].trim_ascii().is_empty());
                prop_assert_eq!(&rest[skipped..skipped + bytes.len()], bytes);
                rest = &rest[skipped + bytes.len()..];
            }
            prop_assert!(rest.trim_ascii().is_empty());
        }

        #[test]
        fn any_bytes_have_pieces(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(pieces(&line).count() <= line.len());
        }
    }
}
