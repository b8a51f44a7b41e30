//! One line: a message, several, an array of them, or something else beside them.

use runtape_core::runtime_event::StdoutText;
use serde::de::IgnoredAny;

use super::conversation::{Conversation, tag_of};
use super::verdict::is_claimed;
use super::wire::{Head, RunResult};
use crate::framing::{LinePart, pieces};
use crate::json::{DecodeError, decode};
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Signal, TapePlace};

/// Tells whether a line is made of messages, or has one behind a banner.
///
/// Only what has the ids of a message counts: an answer may well be JSON, or quote a message.
pub(super) fn is_messages(
    bytes: &[u8],
    is_first: bool,
    json_asked: bool,
    cut: &mut Option<String>,
) -> bool {
    let trimmed = bytes.trim_ascii();
    let begins = matches!(trimmed.first(), Some(b'{' | b'['));
    if !begins && memchr::memchr(b'{', trimmed).is_none() {
        return false;
    }
    let start = if begins {
        0
    } else {
        opening(trimmed).unwrap_or_default()
    };
    let json = trimmed.get(start..).unwrap_or_default();
    if let Ok(head) = first_head(inside_array(json)) {
        let is_asked = begins && head.kind.is_some() && json_asked;
        if head.is_message() || is_first && is_asked {
            return true;
        }
    }
    if !is_first || !begins {
        return false;
    }
    match decode::<IgnoredAny>(trimmed) {
        // Whatever is printed where JSON was asked for is meant to be messages.
        Ok(_) => json_asked,
        Err(error) => {
            if starts_like_json(trimmed) {
                *cut = Some(error.to_string());
            }
            false
        }
    }
}

/// Tells whether all of an output claims to be a result, though results of the CLI have more.
pub(super) fn is_claimed_result(bytes: &[u8]) -> bool {
    let trimmed = bytes.trim_ascii();
    let is_result =
        decode::<Head<'_>>(trimmed).is_ok_and(|head| head.value.kind.as_deref() == Some("result"));
    is_result && decode::<RunResult<'_>>(trimmed).is_ok_and(|line| is_claimed(&line.value))
}

/// Prose may begin with a bracket as well: `[1] a footnote`.
fn starts_like_json(text: &[u8]) -> bool {
    pieces(text)
        .next()
        .is_some_and(|piece| matches!(piece, LinePart::Json(_)))
}

/// Returns where the first value on a line seems to begin.
fn opening(line: &[u8]) -> Option<usize> {
    let object = memchr::memmem::find(line, b"{\"")?;
    let before = object
        .checked_sub(1)
        .filter(|at| line.get(*at) == Some(&b'['));
    Some(before.unwrap_or(object))
}

/// Returns where the first element starts if this is an array.
fn inside_array(json: &[u8]) -> &[u8] {
    json.strip_prefix(b"[")
        .map_or(json, <[u8]>::trim_ascii_start)
}

/// Reads the head of the first value.
fn first_head(json: &[u8]) -> Result<Head<'_>, DecodeError> {
    // Most often it is all there is.
    if let Ok(decoded) = decode::<Head<'_>>(json) {
        return Ok(decoded.value);
    }
    let length = value_length(json).ok_or_else(|| DecodeError::Syntax("cut".to_owned()))?;
    let decoded = decode::<Head<'_>>(json.get(..length).unwrap_or(json))?;
    Ok(decoded.value)
}

/// Returns how long the value is that `json` begins with.
fn value_length(json: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(json).into_iter::<IgnoredAny>();
    matches!(values.next(), Some(Ok(_))).then(|| values.byte_offset())
}

/// Reads a line of messages.
pub(super) fn on_line(line: &Line<'_>, conversation: &mut Conversation, out: &mut SignalSink<'_>) {
    let trimmed = line.bytes.trim_ascii();
    if trimmed.is_empty() {
        return;
    }
    let is_last = line.ending == Ending::None;
    if matches!(trimmed.first(), Some(b'{' | b'[')) {
        on_value(line.bytes, Some(line), is_last, conversation, out);
    } else {
        on_mixed(line.bytes, line, conversation, out);
    }
}

/// Reads one value. On a line of its own it may turn out to be several.
pub(super) fn on_value(
    bytes: &[u8],
    line: Option<&Line<'_>>,
    is_last: bool,
    conversation: &mut Conversation,
    out: &mut SignalSink<'_>,
) {
    let trimmed = bytes.trim_ascii();
    let is_array = trimmed.first() == Some(&b'[');
    let read = if is_array {
        on_array(trimmed, bytes, line, conversation, out)
    } else {
        conversation.on_message(trimmed, out)
    };
    let Err(error) = read else { return };
    if let (DecodeError::Syntax(_), Some(line), false) = (&error, line, is_array)
        && value_length(trimmed).is_some()
    {
        return on_several(trimmed, bytes, line, conversation, out);
    }
    if is_last && matches!(error, DecodeError::Syntax(_)) {
        // A line that was cut after the last result: something was going on.
        out.emit(Signal::TurnOpened);
    }
    let tag = if is_array {
        None
    } else {
        tag_of(trimmed).ok().flatten()
    };
    out.unparsed(tag.as_deref(), error.to_string());
}

/// Reads an array of messages, one after the other.
fn on_array(
    json: &[u8],
    bytes: &[u8],
    line: Option<&Line<'_>>,
    conversation: &mut Conversation,
    out: &mut SignalSink<'_>,
) -> Result<(), DecodeError> {
    let mut rest = json.get(1..).unwrap_or_default();
    let mut count = 0_usize;
    loop {
        rest = rest.trim_ascii_start();
        match rest.first() {
            Some(b',') if count > 0 => rest = rest.get(1..).unwrap_or_default().trim_ascii_start(),
            Some(b']') => break,
            _ => {}
        }
        let Some(length) = value_length(rest) else {
            let reason = "the array ends before its end".to_owned();
            return Err(DecodeError::Syntax(reason));
        };
        let (element, tail) = rest.split_at(length);
        if count == 0 && !element.starts_with(b"{") {
            let reason = "an array that holds no messages".to_owned();
            return Err(DecodeError::Shape {
                path: ".".to_owned(),
                reason,
            });
        }
        conversation.shapes.array = true;
        count += 1;
        rest = tail;
        let place = part_place(element, bytes, line, out.place());
        let out = &mut out.at(place);
        if let Err(error) = conversation.on_message(element, out) {
            out.unparsed(None, error.to_string());
        }
    }
    if count == 0 {
        out.unparsed(None, "an array without messages");
    }
    let after = rest.get(1..).unwrap_or_default();
    if !after.trim_ascii().is_empty() {
        emit_stdout(&String::from_utf8_lossy(after), out);
    }
    Ok(())
}

/// Reads a line that begins with something else: a banner that a message is glued to, or a notice.
fn on_mixed(
    bytes: &[u8],
    line: &Line<'_>,
    conversation: &mut Conversation,
    out: &mut SignalSink<'_>,
) {
    let split = opening(bytes).and_then(|start| bytes.split_at_checked(start));
    if let Some((banner, values)) = split
        && first_head(inside_array(values)).is_ok_and(|head| head.is_message())
    {
        let place = part_place(banner, bytes, Some(line), out.place());
        emit_stdout(&String::from_utf8_lossy(banner), &mut out.at(place));
        on_several(values, bytes, line, conversation, out);
    } else {
        emit_stdout(&String::from_utf8_lossy(bytes), out);
    }
}

/// Reads values that follow each other on a line. Only whole ones: inside one that was cut, a
/// tool's input may hold anything that looks like a message.
fn on_several(
    values: &[u8],
    bytes: &[u8],
    line: &Line<'_>,
    conversation: &mut Conversation,
    out: &mut SignalSink<'_>,
) {
    let mut rest = values.trim_ascii();
    while !rest.is_empty() {
        let is_value = matches!(rest.first(), Some(b'{' | b'['));
        let length = value_length(rest)
            .filter(|_| is_value)
            .unwrap_or(rest.len());
        let (part, tail) = rest.split_at(length);
        rest = tail.trim_ascii_start();
        let is_last = rest.is_empty() && line.ending == Ending::None;
        let place = part_place(part, bytes, Some(line), out.place());
        let out = &mut out.at(place);
        if is_value {
            on_value(part, None, is_last, conversation, out);
        } else {
            emit_stdout(&String::from_utf8_lossy(part), out);
        }
    }
}

/// Returns the place of a part of a line.
fn part_place(part: &[u8], whole: &[u8], line: Option<&Line<'_>>, place: TapePlace) -> TapePlace {
    let (Some(line), Some(mut span)) = (line, place.span) else {
        return place;
    };
    let offset = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize) as u64;
    let terminator = match line.ending {
        Ending::None => 0,
        Ending::Lf => 1,
        Ending::CrLf => 2,
        Ending::CrCrLf => 3,
    };
    let content = line
        .end
        .saturating_sub(terminator + line.bytes.len() as u64);
    span.start = content.saturating_add(offset).min(line.end);
    span.end = span.start.saturating_add(part.len() as u64).min(line.end);
    TapePlace {
        span: Some(span),
        ..place
    }
}

/// Reports lines that are no messages.
pub(super) fn emit_stdout(text: &str, out: &mut SignalSink<'_>) {
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let text = line.to_owned();
        out.event(StdoutText { text });
    }
}
