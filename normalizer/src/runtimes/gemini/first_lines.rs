//! Which format it is, from the output itself.

use std::sync::LazyLock;

use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::Format;
use super::text::split_banner;
use super::wire::{leading_tag, skip};
use crate::framing::held_lines::{HeldLine, HeldLines};
use crate::framing::{Document, LinePart, pieces};
use crate::json::{DecodeError, Str, decode, wire_struct};
use crate::lines::Line;
use crate::signal::TapePlace;
use crate::times::iso_millis;

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
///
/// Where no command line names it, JSON is a format only if it has what that format always has: the
/// stream its first line, the report its response and its numbers. Other JSON is an answer that
/// looks like it.
#[derive(Debug)]
pub(super) struct FirstLines {
    is_hasty: bool,
    lines: HeldLines,
    /// An object that may be the report, and the first line of it.
    report: Option<(Document, usize)>,
}

/// What the first lines are.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) format: Format,
    /// The lines that were held back.
    pub(super) lines: HeldLines,
    /// The first of them that is of the format.
    pub(super) start: usize,
}

impl FirstLines {
    /// Creates a holder; one that is hasty takes text for text at once. It holds `limit` bytes at
    /// the most.
    pub(super) fn new(is_hasty: bool, limit: usize) -> Self {
        Self {
            is_hasty,
            lines: HeldLines::new(limit),
            report: None,
        }
    }

    /// Reads one line.
    pub(super) fn push_line(&mut self, line: &Line<'_>, place: TapePlace) -> Option<Decision> {
        let last = self.lines.len();
        self.lines.push(line.bytes, line.ending, place);
        if begins_stream(line.bytes) {
            return Some(self.decide(Format::StreamJson, last));
        }
        let decision = self.push_report(line, last);
        if decision.is_some() || self.report.is_some() {
            return decision;
        }
        let is_text = self.lines.iter().any(|line| is_prose(line.bytes));
        // With a command line that does not ask for JSON, text is taken for text at once.
        if (self.is_hasty && is_text) || self.lines.outlasts_banners() {
            return self.give_up();
        }
        None
    }

    /// Adds a line to what may be the report, and decides if it is.
    fn push_report(&mut self, line: &Line<'_>, last: usize) -> Option<Decision> {
        if let Some((document, start)) = &mut self.report {
            // The second line of an object tells whether it may be the report.
            let is_opened = last == *start + 1 && is_opening(self.lines.get(*start)?.bytes);
            if is_opened && !has_first_key(line.bytes) {
                self.report = None;
            } else {
                document.push_line(line);
            }
        }
        if self.report.is_none() && self.may_begin_report(last) {
            // What it holds is among the lines; it only finds the end.
            let mut document = Document::new(0);
            document.push_line(line);
            self.report = document.has_begun().then_some((document, last));
        }
        let (document, start) = self.report.as_ref()?;
        let start = *start;
        if document.is_complete() {
            self.report = None;
            let is_report = is_report(&self.lines.printed_from(start));
            return is_report.then(|| self.decide(Format::Json, start));
        }
        self.lines
            .is_full()
            .then(|| self.decide(Format::Json, start))
    }

    /// Tells whether the line at `last` may begin the report: with a first key of it, or with a
    /// bracket that the next line's key follows.
    fn may_begin_report(&self, last: usize) -> bool {
        let Some(line) = self.lines.get(last) else {
            return false;
        };
        let is_first = self
            .filled()
            .next()
            .is_none_or(|first| first.place == line.place);
        is_opening(line.bytes)
            || (is_first && skip(content(line.bytes), b"{").is_some_and(has_first_key))
    }

    /// Returns where the output is and why it is not read, if it is JSON that was cut off: one line
    /// that begins like an object or a list and does not parse, or an object over many lines
    /// that does not end.
    pub(super) fn cut_json(&self) -> Option<(TapePlace, String)> {
        // The report is read as far as it goes.
        if let Some((_, start)) = &self.report
            && self.begins_report(*start)
        {
            return None;
        }
        let start = self.lines.iter().position(|line| !is_banner(line.bytes))?;
        let first = self.lines.get(start)?;
        let place = self.lines.place_from(start)?;
        let text = self.lines.printed_from(start);
        let error = serde_json::from_slice::<IgnoredAny>(&text).err()?;
        let is_single = self.filled().count() == 1;
        let is_json = matches!(pieces(first.bytes).next(), Some(LinePart::Json(_)));
        let begins = match skip(&text, b"{").map(<[u8]>::trim_ascii_start) {
            Some(rest) => matches!(rest.first(), None | Some(b'"')),
            None => is_single,
        };
        let is_cut = is_json && begins && (is_single || error.is_eof());
        is_cut.then(|| (place, format!("not JSON: {error}")))
    }

    /// Returns the lines on which anybody but the CLI speaks.
    fn filled(&self) -> impl Iterator<Item = HeldLine<'_>> {
        self.lines.iter().filter(|line| !is_banner(line.bytes))
    }

    /// Tells whether this is a stream whose first line is lost or broken: several lines, each a
    /// message with its time, or one that does not parse.
    fn is_headless_stream(&self) -> bool {
        let mut messages = 0_usize;
        let mut broken = 0_usize;
        for line in self.filled() {
            let content = content(line.bytes);
            match decode::<Message<'_>>(content) {
                Ok(message) if is_message(&message.value) => messages += 1,
                Err(DecodeError::Syntax(_)) if skip(content, b"{\"").is_some() => {
                    broken += 1;
                }
                _ => return false,
            }
        }
        messages > 0 && messages + broken > 1
    }

    /// Ends the wait for a line that decides, before the output has ended or after. Nothing if
    /// nothing was printed.
    pub(super) fn give_up(&mut self) -> Option<Decision> {
        if self.lines.is_empty() {
            return None;
        }
        if let Some((_, start)) = self.report.take()
            && self.begins_report(start)
        {
            return Some(self.decide(Format::Json, start));
        }
        let format = if self.is_headless_stream() {
            Format::StreamJson
        } else {
            Format::Text
        };
        Some(self.decide(format, 0))
    }

    /// Tells whether what begins at a line and does not end there is the report, as far as it goes.
    fn begins_report(&self, start: usize) -> bool {
        let text = self.lines.printed_from(start);
        let object = memchr::memchr(b'{', &text).and_then(|at| text.get(at + 1..));
        object.is_some_and(|rest| {
            FIRST_KEYS
                .iter()
                .take(2)
                .any(|key| skip(rest, key).is_some())
        })
    }

    fn decide(&mut self, format: Format, start: usize) -> Decision {
        Decision {
            format,
            lines: self.lines.take(),
            start,
        }
    }
}

/// Returns a line without a banner before it.
fn content(line: &[u8]) -> &[u8] {
    split_banner(line)
        .map_or(line, |(_, rest)| rest)
        .trim_ascii()
}

/// Tells whether nothing but the CLI speaks on a line.
fn is_banner(line: &[u8]) -> bool {
    content(line).is_empty()
}

/// Tells whether a line can be no part of JSON.
fn is_prose(line: &[u8]) -> bool {
    let content = content(line);
    !content.is_empty() && !content.starts_with(b"{") && !content.ends_with(b"{")
}

/// Tells whether an object over many lines may begin at the end of a line.
fn is_opening(line: &[u8]) -> bool {
    content(line).ends_with(b"{")
}

wire_struct! {
    /// What tells the first line of a stream, and a message of one, from other JSON.
    struct Message<'a> {
        "type" => tag: Option<Str<'a>>,
        "subtype" => subtype: Option<Str<'a>>,
        "timestamp" => timestamp: Option<Str<'a>>,
        "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
        ; rest skipped
    }

    /// What the report always has.
    struct Report<'a> {
        "session_id" | "sessionId" => session: Option<Str<'a>>,
        "response" => response: Option<Str<'a>>,
        "stats" => stats: Value,
        "error" => error: Value,
        ; rest skipped
    }
}

fn is_message(message: &Message<'_>) -> bool {
    let is_known = message
        .tag
        .as_deref()
        .is_some_and(|tag| TAGS.contains(&tag));
    is_known && message.timestamp.as_deref().and_then(iso_millis).is_some()
}

/// Tells whether the first line of a stream is on the line, perhaps behind a banner that was
/// printed without a newline.
pub(super) fn begins_stream(bytes: &[u8]) -> bool {
    // As it is printed since 0.37, whole or not: there is no need to read it here, too.
    let is_first = |value: &[u8]| {
        matches!(leading_tag(value), Some("init")) && SESSION_KEY.find(value).is_some()
    };
    if is_first(bytes) {
        return true;
    }
    let value = split_banner(bytes).map_or(bytes, |(_, rest)| rest);
    let is_init = |message: Message<'_>| match message.tag.as_deref() {
        Some("init") => message.session.is_some(),
        // Until 0.36.
        Some("system") => message.subtype.as_deref() == Some("init"),
        _ => false,
    };
    if skip(value, b"{").is_some()
        && decode::<Message<'_>>(value.trim_ascii()).is_ok_and(|message| is_init(message.value))
    {
        return true;
    }
    memmem::find_iter(bytes, b"{\"type\":\"").any(|at| bytes.get(at..).is_some_and(is_first))
}

/// The key that only the first line has, besides the last.
static SESSION_KEY: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(b"\"session_id\""));

fn has_first_key(bytes: &[u8]) -> bool {
    FIRST_KEYS.iter().any(|key| skip(bytes, key).is_some())
}

/// Tells whether an object is the report: an answer with its numbers, or an error of a session. One
/// that begins like it and does not parse is taken for it, too.
fn is_report(text: &[u8]) -> bool {
    let start = memchr::memchr(b'{', text).unwrap_or_default();
    let text = text.get(start..).unwrap_or_default();
    let mut pieces = pieces(text);
    let Some(LinePart::Json(object)) = pieces.next() else {
        return false;
    };
    match decode::<Report<'_>>(object.trim_ascii()) {
        Ok(report) => {
            let report = report.value;
            (report.response.is_some() && report.stats.is_object())
                || (report.session.is_some() && report.error.is_object())
        }
        Err(_) => true,
    }
}
