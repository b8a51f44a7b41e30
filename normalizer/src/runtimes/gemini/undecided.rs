//! Which format it is, from the output itself.

use memchr::memmem;
use serde::de::IgnoredAny;

use super::Format;
use super::text::split_banner;
use super::wire::{leading_tag, skip, tag_of};
use crate::json::{Piece, pieces};
use crate::lines::{Ending, HEAD, Line};
use crate::signal::Place;

/// How many lines, and bytes of them, may come before JSON: banners of the CLI.
///
/// With a command line that does not ask for JSON, text is taken for text at once, so that it can be
/// shown while it comes.
const MOST_LINES: usize = 32;
const MOST_BYTES: usize = 8 * 1024;

/// The types of messages, of all versions.
const TAGS: &[&str] = &[
    "init",
    "message",
    "tool_use",
    "tool_result",
    "error",
    "result",
    "system",
    "assistant",
    "user",
    "thinking",
    "tool_call",
];

/// The first key of the json format's object: `session_id`, or in older versions `response`.
const FIRST_KEYS: &[&[u8]] = &[
    b"\"session_id\"",
    b"\"response\"",
    b"\"stats\"",
    b"\"error\"",
];

/// Holds the first lines until they tell which format it is.
#[derive(Debug)]
pub(super) struct Undecided {
    is_hasty: bool,
    lines: Vec<HeldLine>,
    bytes: usize,
}

/// A line that was held back.
#[derive(Debug)]
pub(super) struct HeldLine {
    pub(super) place: Place,
    bytes: Vec<u8>,
    ending: Ending,
    start: u64,
    end: u64,
    number: u64,
    received_at: i64,
}

impl HeldLine {
    fn new(line: &Line<'_>, place: Place) -> Self {
        Self {
            place,
            bytes: line.bytes.to_vec(),
            ending: line.ending,
            start: line.start,
            end: line.end,
            number: line.number,
            received_at: line.received_at,
        }
    }

    /// Returns the line as it came.
    pub(super) fn line(&self) -> Line<'_> {
        Line {
            bytes: &self.bytes,
            ending: self.ending,
            start: self.start,
            end: self.end,
            number: self.number,
            received_at: self.received_at,
        }
    }

    /// Tells whether a newline ended it.
    pub(super) fn has_newline(&self) -> bool {
        self.ending != Ending::None
    }
}

/// What the first lines are.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) format: Format,
    /// The lines that were held back.
    pub(super) lines: Vec<HeldLine>,
    /// The first of them that is of the format.
    pub(super) start: usize,
}

impl Undecided {
    /// Creates a holder; one that is hasty takes text for text at once.
    pub(super) fn new(is_hasty: bool) -> Self {
        Self {
            is_hasty,
            lines: Vec::new(),
            bytes: 0,
        }
    }

    /// Reads one line.
    pub(super) fn push_line(&mut self, line: &Line<'_>, place: Place) -> Option<Decision> {
        let is_first = self.lines.iter().all(HeldLine::is_banner);
        let before = self.lines.last();
        let continues = before.is_some_and(|before| before.bytes.trim_ascii_end().ends_with(b"{"))
            && FIRST_KEYS.iter().any(|key| skip(line.bytes, key).is_some());
        self.bytes = self.bytes.saturating_add(line.bytes.len());
        self.lines.push(HeldLine::new(line, place));
        let last = self.lines.len() - 1;
        if begins_stream(line.bytes, is_first) {
            return Some(self.decide(Format::StreamJson, last));
        }
        if continues {
            return Some(self.decide(Format::Json, last.saturating_sub(1)));
        }
        if begins_report(line.bytes, is_first) {
            return Some(self.decide(Format::Json, last));
        }
        let is_text = self.lines.iter().any(HeldLine::is_prose);
        let most_lines = if self.is_hasty && is_text {
            0
        } else {
            MOST_LINES
        };
        if self.lines.len() > most_lines || self.bytes > MOST_BYTES {
            return Some(self.decide(Format::Text, 0));
        }
        None
    }

    /// Returns where the output is and why it is not read, if it is JSON that was cut off.
    pub(super) fn cut_json(&self) -> Option<(Place, String)> {
        let first = self.lines.iter().find(|line| !line.is_banner())?;
        let last = self.lines.last()?;
        let lines = self.lines.iter().skip_while(|line| line.is_banner());
        let text: Vec<&[u8]> = lines.map(|line| line.bytes.as_slice()).collect();
        let text = text.join(&b'\n');
        let begins_object = skip(&text, b"{")
            .is_some_and(|rest| matches!(rest.trim_ascii_start().first(), None | Some(b'"')));
        let begins = match pieces(&first.bytes).next() {
            Some(Piece::Json(_)) => begins_object || self.lines.len() == 1,
            _ => false,
        };
        let error = serde_json::from_slice::<IgnoredAny>(&text).err()?;
        (begins && error.is_eof()).then(|| {
            (
                first.place.through(last.place),
                format!("not JSON: {error}"),
            )
        })
    }

    /// Takes what is there for text; nothing if there is nothing.
    pub(super) fn give_up(&mut self) -> Option<Decision> {
        (!self.lines.is_empty()).then(|| self.decide(Format::Text, 0))
    }

    fn decide(&mut self, format: Format, start: usize) -> Decision {
        Decision {
            format,
            lines: std::mem::take(&mut self.lines),
            start,
        }
    }
}

impl HeldLine {
    /// Tells whether nothing but the CLI speaks on this line.
    fn is_banner(&self) -> bool {
        let rest = split_banner(&self.bytes).map_or(self.bytes.as_slice(), |(_, rest)| rest);
        rest.trim_ascii().is_empty()
    }

    /// Tells whether this line can be no part of JSON.
    fn is_prose(&self) -> bool {
        let rest = split_banner(&self.bytes).map_or(self.bytes.as_slice(), |(_, rest)| rest);
        let rest = rest.trim_ascii();
        !rest.is_empty() && !rest.starts_with(b"{") && !rest.ends_with(b"{")
    }
}

/// Tells whether a message is on the line: any one at its start, or behind a banner that was
/// printed without a newline one that begins a stream.
pub(super) fn begins_stream(bytes: &[u8], is_first: bool) -> bool {
    let value = split_banner(bytes).map_or(bytes, |(_, rest)| rest);
    if is_first && skip(value, b"{").is_some() {
        return tag_of(value).is_some_and(|tag| TAGS.contains(&tag.as_str()));
    }
    memmem::find_iter(bytes, b"{\"type\":\"").any(|at| {
        let value = bytes.get(at..).unwrap_or_default();
        matches!(leading_tag(value), Some("init"))
            && memmem::find(value, b"\"session_id\"").is_some()
    })
}

/// Tells whether the json format's object begins on the line, and goes on there.
fn begins_report(bytes: &[u8], is_first: bool) -> bool {
    let value = split_banner(bytes).map_or(bytes, |(_, rest)| rest);
    is_first
        && skip(value, b"{").is_some_and(|rest| {
            FIRST_KEYS
                .iter()
                .take(2)
                .any(|key| skip(rest, key).is_some())
        })
}

/// Tells how surely output is this CLI's, from its first bytes.
pub(super) fn sniff(bytes: &[u8]) -> u8 {
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    let line = head
        .split(|byte| *byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let first = line.unwrap_or_default();
    let tag = leading_tag(first);
    match tag {
        Some("init") if has("\"session_id\"") => return 95,
        Some("message") if has("\"role\"") && has("\"timestamp\"") => return 70,
        Some("tool_use") if has("\"tool_id\"") => return 80,
        // Other runtimes begin so too.
        Some("system") if has("\"model\":\"gemini") => return 30,
        Some(_) => return 0,
        None => {}
    }
    if begins_stream(first, false) {
        return 90;
    }
    let opens = memchr::memchr(b'{', head).and_then(|at| head.get(at + 1..));
    let begins_report = opens.is_some_and(|rest| skip(rest, b"\"session_id\"").is_some());
    match begins_report {
        true if has("\"response\":") => 85,
        true => 60,
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_cli_is_recognized() {
        let table = [
            (
                r#"{"type":"init","timestamp":"t","session_id":"s","model":"m"}"#,
                95,
            ),
            (
                r#"MCP issues detected.{"type":"init","session_id":"s"}"#,
                90,
            ),
            ("{\n  \"session_id\": \"s\",\n  \"response\": \"", 85),
            (r#"{"type":"system","subtype":"init","session_id":"s"}"#, 0),
            (r#"{"type":"result","subtype":"success"}"#, 0),
            ("Hello.", 0),
            ("", 0),
        ];
        for (text, expected) in table {
            assert_eq!(sniff(text.as_bytes()), expected, "{text}");
        }
    }
}
