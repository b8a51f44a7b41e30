//! Standard output: messages, or the text of an answer.
//!
//! Which of the two is seen from the first line that is not blank. Until a message comes, lines
//! are held: in the text format nothing but the exit code tells an answer from an error.

use std::borrow::Cow;

use runtape_core::runtime_event::StdoutText;
use runtape_core::{ErrorFamily, RunError};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::argv::Asked;
use super::conversation::{Conversation, is_session_id, tag_of, unparsed};
use super::wire::Head;
use crate::exit::{Exit, signal_name};
use crate::failure::error;
use crate::json::{DecodeError, Document, Piece, decode, pieces};
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Emitted, Outcome, Place, Scope, Signal, Verdict};

/// Lines that may be an answer.
#[derive(Debug, Default)]
struct Held {
    text: String,
    place: Option<Place>,
    /// Lines that are not blank.
    lines: u64,
    ending: Option<Ending>,
    /// The only line begins like JSON and does not parse.
    cut: Option<String>,
    /// It was more than may be held, and went on as a message.
    overflowed: bool,
}

impl Held {
    fn push(&mut self, line: &Line<'_>, place: Place) {
        self.text.push_str(&line.text());
        self.text.push_str(match line.ending {
            Ending::Lf => "\n",
            Ending::CrLf => "\r\n",
            Ending::CrCrLf => "\r\r\n",
            Ending::None => "",
        });
        self.ending = Some(line.ending);
        self.lines += u64::from(!line.bytes.trim_ascii().is_empty());
        self.place = Some(self.place.map_or(place, |first| first.through(place)));
    }

    /// Returns the text without the newline that the CLI prints behind it.
    ///
    /// If that newline was turned into CR LF on its way through a terminal, so were all others.
    fn into_text(self) -> String {
        match self.ending {
            Some(Ending::Lf) => self
                .text
                .strip_suffix('\n')
                .map_or(self.text.clone(), str::to_owned),
            Some(Ending::CrLf) => {
                let text = self.text.replace("\r\n", "\n");
                text.strip_suffix('\n').map_or(text.clone(), str::to_owned)
            }
            _ => self.text,
        }
    }
}

/// A value printed over many lines.
#[derive(Debug)]
struct Pretty {
    document: Document,
    place: Place,
    /// The bracket it began with.
    opening: u8,
}

/// What standard output was found to be.
#[derive(Debug)]
enum Mode {
    /// No message so far.
    Held(Held),
    /// Messages.
    Messages,
}

/// Standard output, line by line.
#[derive(Debug)]
pub(super) struct Output {
    mode: Mode,
    pretty: Option<Pretty>,
    limit: usize,
}

impl Output {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            mode: Mode::Held(Held::default()),
            pretty: None,
            limit,
        }
    }

    pub(super) fn push_line(
        &mut self,
        line: &Line<'_>,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        if let Mode::Held(held) = &mut self.mode
            && conversation.argv.asked == Some(Asked::Text)
        {
            held.push(line, out.place());
            return self.bound(out);
        }
        if self.pretty.is_some() {
            return self.on_pretty(line, conversation, out);
        }
        let trimmed = line.bytes.trim_ascii();
        if let &[opening @ (b'{' | b'[')] = trimmed
            && self.may_begin()
        {
            let mut document = Document::new(self.limit);
            document.push_line(line);
            self.pretty = Some(Pretty {
                document,
                place: out.place(),
                opening,
            });
            return;
        }
        match &mut self.mode {
            Mode::Messages => on_line(line, conversation, out),
            Mode::Held(held) => {
                if !is_messages(
                    line.bytes,
                    held.lines == 0,
                    conversation.argv.asked,
                    &mut held.cut,
                ) {
                    held.push(line, out.place());
                    return self.bound(out);
                }
                self.begin_messages(out);
                on_line(line, conversation, out);
            }
        }
    }

    /// A document may begin between messages, and as the first thing that is printed.
    fn may_begin(&self) -> bool {
        match &self.mode {
            Mode::Messages => true,
            Mode::Held(held) => held.lines == 0,
        }
    }

    /// Lines before the first message were no answer.
    fn begin_messages(&mut self, out: &mut SignalSink<'_>) {
        if let Mode::Held(held) = std::mem::replace(&mut self.mode, Mode::Messages) {
            let place = held.place.unwrap_or_else(|| out.place());
            emit_stdout(&held.text, place, out);
        }
    }

    /// Lets text go on as a message when it is more than may be held.
    fn bound(&mut self, out: &mut SignalSink<'_>) {
        if let Mode::Held(held) = &mut self.mode
            && held.text.len() > self.limit
        {
            held.overflowed = true;
            let mut text = std::mem::take(&mut held.text);
            // The last newline may be the CLI's own.
            let length = text.trim_end_matches(['\r', '\n']).len();
            held.text = text.split_off(length);
            let place = held
                .place
                .replace(out.place())
                .unwrap_or_else(|| out.place());
            out.emit_at(place, Scope::Main, Signal::TextDelta(Cow::Owned(text)));
        }
    }

    fn on_pretty(
        &mut self,
        line: &Line<'_>,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        let Some(pretty) = &mut self.pretty else {
            return;
        };
        // An object printed over many lines has its further brackets indented; one at the start
        // of a line means that it was cut and another message follows.
        if pretty.opening == b'{'
            && line.bytes.starts_with(b"{")
            && matches!(self.mode, Mode::Messages)
        {
            out.emit_at(
                pretty.place,
                Scope::Main,
                cut_signal("the value ends before its end"),
            );
            self.pretty = None;
            return self.push_line(line, conversation, out);
        }
        let outside = pretty.document.push_line(line);
        pretty.place = pretty.place.through(out.place());
        if pretty.document.is_complete()
            && let Some(pretty) = self.pretty.take()
        {
            self.on_document(&pretty, conversation, out);
            if !outside.after.trim_ascii().is_empty() {
                emit_stdout(&String::from_utf8_lossy(outside.after), out.place(), out);
            }
        }
    }

    fn on_document(
        &mut self,
        pretty: &Pretty,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        let bytes = pretty.document.bytes();
        if pretty.document.is_over_limit() {
            out.emit_at(
                pretty.place,
                Scope::Main,
                cut_signal("the value is longer than the limit"),
            );
            return;
        }
        if let Mode::Held(held) = &mut self.mode {
            if !is_messages(bytes, true, conversation.argv.asked, &mut None) {
                held.take_document(pretty);
                return self.bound(out);
            }
            self.begin_messages(out);
        }
        within(pretty.place, out, |out| {
            on_value(bytes, None, true, conversation, out);
        });
    }

    /// Ends the output. Returns whether any of it was a message.
    pub(super) fn finish(
        &mut self,
        exit: &Exit,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) -> bool {
        if let Some(pretty) = self.pretty.take() {
            match &mut self.mode {
                Mode::Held(held) if pretty.document.bytes().contains(&b'\n') => {
                    held.take_document(&pretty);
                }
                _ => {
                    out.emit_at(pretty.place, Scope::Main, Signal::TurnOpened);
                    let reason = "the value ends before its end";
                    out.emit_at(pretty.place, Scope::Main, cut_signal(reason));
                }
            }
        }
        match std::mem::replace(&mut self.mode, Mode::Messages) {
            Mode::Messages => true,
            Mode::Held(held) => {
                finish_text(held, exit, conversation.argv.asked, out);
                false
            }
        }
    }
}

impl Held {
    /// Takes a document that turned out to be no message.
    fn take_document(&mut self, pretty: &Pretty) {
        self.text
            .push_str(&String::from_utf8_lossy(pretty.document.bytes()));
        self.text.push('\n');
        self.ending = Some(Ending::Lf);
        self.lines += 1;
        self.place = Some(
            self.place
                .map_or(pretty.place, |first| first.through(pretty.place)),
        );
    }
}

/// Judges an output without a message: an answer, an error, or nothing.
fn finish_text(held: Held, exit: &Exit, asked: Option<Asked>, out: &mut SignalSink<'_>) {
    let Some(place) = held.place else {
        if let Some(asked) = asked {
            out.emit(Signal::Format(asked.name()));
        }
        return;
    };
    if let Some(reason) = held.cut.as_ref().filter(|_| held.lines == 1) {
        if let Some(asked) = asked {
            out.emit(Signal::Format(asked.name()));
        }
        out.emit_at(place, Scope::Main, cut_signal(reason));
        return;
    }
    if let Some(asked) = asked.filter(|asked| *asked != Asked::Text) {
        out.emit(Signal::Format(asked.name()));
        emit_stdout(&held.text, place, out);
        return;
    }
    out.emit(Signal::Format("text"));
    if held.overflowed {
        let text = held.into_text();
        out.emit_at(place, Scope::Main, Signal::TextDelta(Cow::Owned(text)));
        if exit.is_failure() {
            return;
        }
        out.emit(Signal::TextEnd);
    } else {
        let text = held.into_text();
        if exit.is_failure() {
            let error = text_error(text, exit);
            out.emit(Signal::Result(Outcome::of(Verdict::Error(error))));
            return;
        }
        out.emit_at(place, Scope::Main, Signal::Text(Cow::Owned(text)));
    }
    if exit.is_unknown() {
        out.emit(Signal::Metadata("exitUnknown", Value::Bool(true)));
    }
    out.emit(Signal::Result(Outcome::of(Verdict::Success)));
}

/// What was printed is the error's message; what kind of error it is, only prose could tell.
fn text_error(text: String, exit: &Exit) -> RunError {
    let by_code = exit.code.filter(|code| (129..=159).contains(code));
    let (name, cause) = match (exit.timed_out, exit.signal.clone(), by_code) {
        (true, _, _) => ("TimedOut", "the time limit was reached".to_owned()),
        (_, Some(signal), _) => (
            "KilledBySignal",
            format!("the process was ended by {signal}"),
        ),
        (_, _, Some(code)) => (
            "KilledBySignal",
            format!("the process was ended by {}", signal_name(code - 128)),
        ),
        _ => {
            let code = exit.code.unwrap_or_default();
            (
                "NonZeroExit",
                format!("the process ended with exit code {code}"),
            )
        }
    };
    let message = if text.trim().is_empty() { cause } else { text };
    error(name, message, ErrorFamily::Process)
}

/// Tells whether a line is made of messages, or has one behind a banner.
///
/// After other text only a message with a session's id counts: an answer may well quote one.
fn is_messages(
    bytes: &[u8],
    is_first: bool,
    asked: Option<Asked>,
    cut: &mut Option<String>,
) -> bool {
    let trimmed = bytes.trim_ascii();
    let begins = matches!(trimmed.first(), Some(b'{' | b'['));
    if !begins && memchr::memchr(b'{', trimmed).is_none() {
        return false;
    }
    let is_message = |json: &[u8]| {
        let head = first_head(inside_array(json.trim_ascii())).ok()?;
        let has_session = head.session.as_ref().is_some_and(|id| is_session_id(id));
        Some(if is_first {
            head.is_message() || (begins && head.kind.is_some() && asked.is_some())
        } else {
            head.is_message() && has_session
        })
    };
    if begins && is_message(trimmed) == Some(true) {
        return true;
    }
    let mut found = pieces(bytes).filter_map(|piece| match piece {
        Piece::Json(json) => Some(json),
        Piece::Text(_) => None,
    });
    if found.any(|json| is_message(json) == Some(true)) {
        return true;
    }
    if is_first
        && begins
        && let Err(error) = decode::<IgnoredAny>(trimmed)
        && !trimmed.is_empty()
        && starts_like_json(trimmed)
    {
        *cut = Some(error.to_string());
    }
    false
}

/// Prose may begin with a bracket as well: `[1] a footnote`.
fn starts_like_json(text: &[u8]) -> bool {
    pieces(text)
        .next()
        .is_some_and(|piece| matches!(piece, Piece::Json(_)))
}

/// Returns where the first element starts if this is an array.
fn inside_array(json: &[u8]) -> &[u8] {
    json.strip_prefix(b"[")
        .map_or(json, <[u8]>::trim_ascii_start)
}

/// Reads the head of the first value.
fn first_head(json: &[u8]) -> Result<Head<'_>, DecodeError> {
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
fn on_line(line: &Line<'_>, conversation: &mut Conversation, out: &mut SignalSink<'_>) {
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
fn on_value(
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
        && pieces(bytes).nth(1).is_some()
    {
        return on_mixed(bytes, line, conversation, out);
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
    unparsed(out, tag.as_deref(), error.to_string());
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
        within(place, out, |out| {
            if let Err(error) = conversation.on_message(element, out) {
                unparsed(out, None, error.to_string());
            }
        });
    }
    let after = rest.get(1..).unwrap_or_default();
    if !after.trim_ascii().is_empty() {
        emit_stdout(&String::from_utf8_lossy(after), out.place(), out);
    }
    Ok(())
}

/// Reads a line on which messages and other text stand side by side.
fn on_mixed(
    bytes: &[u8],
    line: &Line<'_>,
    conversation: &mut Conversation,
    out: &mut SignalSink<'_>,
) {
    let has_message = pieces(bytes).any(|piece| match piece {
        Piece::Json(json) => tag_of(json.trim_ascii()).is_ok_and(|tag| tag.is_some()),
        Piece::Text(_) => false,
    });
    if !has_message && !matches!(bytes.trim_ascii().first(), Some(b'{')) {
        emit_stdout(&String::from_utf8_lossy(bytes), out.place(), out);
        return;
    }
    for piece in pieces(bytes) {
        let (Piece::Json(part) | Piece::Text(part)) = piece;
        let place = part_place(part, bytes, Some(line), out.place());
        within(place, out, |out| match piece {
            Piece::Json(json) => {
                on_value(json, None, line.ending == Ending::None, conversation, out)
            }
            Piece::Text(text) => emit_stdout(&String::from_utf8_lossy(text), out.place(), out),
        });
    }
}

/// Returns the place of a part of a line.
fn part_place(part: &[u8], whole: &[u8], line: Option<&Line<'_>>, place: Place) -> Place {
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
    Place {
        span: Some(span),
        ..place
    }
}

/// Ties what is emitted inside to a place.
fn within(place: Place, out: &mut SignalSink<'_>, run: impl FnOnce(&mut SignalSink<'_>)) {
    let mut apply = |emitted: Emitted<'_>| {
        out.emit_at(emitted.place, emitted.scope, emitted.signal);
    };
    run(&mut SignalSink::new(place, &mut apply));
}

/// Reports lines that are no messages.
fn emit_stdout(text: &str, place: Place, out: &mut SignalSink<'_>) {
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let event = StdoutText {
            text: line.to_owned(),
        };
        out.emit_at(place, Scope::Main, Signal::Event(event.into()));
    }
}

fn cut_signal(reason: &str) -> Signal<'_> {
    Signal::Unparsed {
        tag: None,
        reason: Cow::Borrowed(reason),
    }
}
