//! Standard output that is either events, one JSON object a line, or an answer in plain text.
//!
//! A command line that is known decides which of the two it is. Else the first object does: lines are
//! held until one is printed. An answer may look like events, so that objects further down decide
//! nothing.

use std::borrow::Cow;

use runtape_core::runtime_event::StdoutText;
use serde::de::IgnoredAny;

use crate::escapes::strip_escapes;
use crate::exit::Exit;
use crate::framing::answer::{AnswerLines, answer_stands};
use crate::framing::held_lines::{HeldLines, MOST_HELD};
use crate::framing::{LinePart, pieces};
use crate::json::{DecodeError, find_special, sound_text};
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

/// How much white space is held before it is taken for an answer: lines of nothing take far more than
/// their bytes, and no decision hangs on them.
const MOST_BLANK: usize = 256 * 1024;

/// What the output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// Events, one a line.
    Events,
    /// An answer.
    Text,
}

impl OutputForm {
    /// Returns the name of the format.
    fn name(self) -> &'static str {
        match self {
            Self::Events => "json",
            Self::Text => "text",
        }
    }
}

/// Reads the events of one runtime.
pub(crate) trait EventReader {
    /// Tells whether output whose first object this is consists of this runtime's events.
    fn begins_events(object: &[u8]) -> bool;

    /// Reads one object. Where it cannot be read, nothing was emitted.
    fn on_object(&mut self, object: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError>;

    /// The last object was cut off: whatever it was, it came after what was printed before it.
    fn on_cut(&mut self, out: &mut SignalSink<'_>);
}

/// Reads standard output.
pub(crate) struct EventsOrText<E> {
    pub(crate) events: E,
    asked: Option<OutputForm>,
    form: Option<OutputForm>,
    has_format: bool,
    held: HeldLines,
    answer: TextAnswer,
}

impl<E: EventReader> EventsOrText<E> {
    /// Creates a reader; `asked` is what the command line asks for, where it is known.
    pub(crate) fn new(events: E, asked: Option<OutputForm>) -> Self {
        Self {
            events,
            asked,
            form: asked,
            has_format: false,
            held: HeldLines::new(MOST_HELD),
            answer: TextAnswer {
                lines: AnswerLines::new(MOST_BLANK),
            },
        }
    }

    /// Returns what the output is, once that is known.
    pub(crate) fn form(&self) -> Option<OutputForm> {
        self.form
    }

    /// Reads one line.
    pub(crate) fn push_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        match self.form {
            Some(form) => {
                self.emit_format(form, out);
                self.read(form, line.bytes, line.ending, out);
            }
            None => self.hold(line, out),
        }
    }

    fn read(&mut self, form: OutputForm, bytes: &[u8], ending: Ending, out: &mut SignalSink<'_>) {
        match form {
            OutputForm::Events => self.on_event_line(bytes, ending, out),
            OutputForm::Text => self.answer.push(bytes, ending, out),
        }
    }

    fn hold(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        self.held.push(line.bytes, line.ending, out.place());
        if let Some(object) = first_object(line.bytes) {
            let is_events = E::begins_events(object);
            self.decide(
                if is_events {
                    OutputForm::Events
                } else {
                    OutputForm::Text
                },
                out,
            );
        } else if self.held.outlasts_banners() {
            self.decide(OutputForm::Text, out);
        }
    }

    /// Goes on with what the output was found to be, from the first line that was held.
    fn decide(&mut self, form: OutputForm, out: &mut SignalSink<'_>) {
        self.form = Some(form);
        self.emit_format(form, out);
        let held = self.held.take();
        held.replay(out, |line, out| {
            self.read(form, line.bytes, line.ending, out);
        });
    }

    fn emit_format(&mut self, form: OutputForm, out: &mut SignalSink<'_>) {
        if !std::mem::replace(&mut self.has_format, true) {
            out.emit(Signal::Format(form.name()));
        }
    }

    fn on_event_line(&mut self, bytes: &[u8], ending: Ending, out: &mut SignalSink<'_>) {
        // Nearly every line is one sound object, so it is read as that first.
        if bytes.first() == Some(&b'{') && self.events.on_object(bytes, out).is_ok() {
            return;
        }
        for piece in pieces(bytes) {
            match piece {
                LinePart::Text(text) => {
                    let text = String::from_utf8_lossy(text).into_owned();
                    if !strip_escapes(&text).trim().is_empty() {
                        out.emit(Signal::Event(StdoutText { text }.into()));
                    }
                }
                LinePart::Json(object) => {
                    if let Err(error) = self.events.on_object(object, out) {
                        out.emit(Signal::Unparsed {
                            tag: leading_type(object).map(Into::into),
                            reason: error.to_string().into(),
                        });
                        if ending == Ending::None {
                            self.events.on_cut(out);
                        }
                    }
                }
            }
        }
    }

    /// Ends the output. What was never told to be events is an answer, unless it is cut JSON.
    ///
    /// Returns whether it was an answer that stands as the run's outcome.
    pub(crate) fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) -> bool {
        if self.form.is_none() && !self.held.is_empty() {
            let is_cut = is_cut_json(&self.held);
            self.decide(
                if is_cut {
                    OutputForm::Events
                } else {
                    OutputForm::Text
                },
                out,
            );
        }
        if let Some(form) = self.asked {
            self.emit_format(form, out);
        }
        self.form == Some(OutputForm::Text) && self.answer.finish(exit, out)
    }
}

/// Returns the first object on a line, if there is one.
fn first_object(line: &[u8]) -> Option<&[u8]> {
    memchr::memchr(b'{', line)?;
    pieces(line).find_map(|piece| match piece {
        LinePart::Json(json) => {
            let json = json.trim_ascii();
            let is_object = json.first() == Some(&b'{');
            let is_whole = || serde_json::from_slice::<IgnoredAny>(json).is_ok();
            (is_object && is_whole()).then_some(json)
        }
        LinePart::Text(_) => None,
    })
}

/// Tells whether all that was printed is one line that begins like JSON and does not parse.
fn is_cut_json(lines: &HeldLines) -> bool {
    let Some(only) = lines.only_filled() else {
        return false;
    };
    let mut pieces = pieces(only.bytes);
    matches!(
        (pieces.next(), pieces.next()),
        (Some(LinePart::Json(json)), None)
            if serde_json::from_slice::<IgnoredAny>(json.trim_ascii()).is_err()
    )
}

/// Returns the type of an object that begins with it, as these CLIs print them.
pub(crate) fn leading_type(object: &[u8]) -> Option<&str> {
    let rest = object.trim_ascii_start().strip_prefix(b"{\"type\":\"")?;
    let (tag, _) = rest.split_at_checked(find_special(rest, 0))?;
    let is_ended = rest.get(tag.len()) == Some(&b'"');
    let is_plain = tag.iter().all(|byte| matches!(byte, b' '..=b'~'));
    std::str::from_utf8(tag)
        .ok()
        .filter(|_| is_ended && is_plain)
}

/// Returns an object up to the first byte that is not UTF-8, and whether that is all of it.
pub(crate) fn leading_text(object: &[u8]) -> (&str, bool) {
    if let Some(text) = sound_text(object) {
        return (text, true);
    }
    let sound = object.utf8_chunks().next();
    (sound.map_or("", |chunk| chunk.valid()), false)
}

/// Returns the content of a string whose opening quote was passed, and what follows its closing one;
/// none if it has escapes.
pub(crate) fn quoted(rest: &str) -> Option<(&str, &str)> {
    let (content, rest) = rest.split_at_checked(find_special(rest.as_bytes(), 0))?;
    Some((content, rest.strip_prefix('"')?))
}

/// An answer in plain text, which says nothing of how it went: the exit does.
///
/// White space before anything else is held: an answer of nothing but that is empty. From then on the
/// text is streamed.
#[derive(Debug)]
struct TextAnswer {
    lines: AnswerLines,
}

impl TextAnswer {
    fn push(&mut self, bytes: &[u8], ending: Ending, out: &mut SignalSink<'_>) {
        if self.lines.is_streamed() {
            return self.lines.push(bytes, ending, out);
        }
        self.lines.held.push(bytes, ending, out.place());
        let is_blank = String::from_utf8_lossy(bytes).trim().is_empty();
        if !is_blank || self.lines.held.is_full() {
            out.emit(Signal::Step(None));
            self.lines.stream(out);
        }
    }

    /// Judges the end. Returns whether the answer stands.
    ///
    /// Nothing at all is no answer, whatever the exit, and a blank one is an answer only if the
    /// process says that it ended well. What was said before a failure stays, and is whole if its
    /// newline was printed.
    fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) -> bool {
        let has_text = self.lines.is_streamed();
        let is_whole = self.lines.last_ending() != Some(Ending::None);
        let is_judged = exit.is_success() || (exit.is_unknown() && has_text);
        if has_text && (is_judged || is_whole) {
            out.emit(Signal::TextEnd);
        }
        if self.lines.is_empty() || !is_judged {
            return false;
        }
        let mut outcome = Outcome::of(Verdict::Success);
        if !has_text {
            out.emit(Signal::Step(None));
            out.emit(Signal::MessagePrinted);
            outcome.answer = Some(Cow::Borrowed(""));
        }
        answer_stands(exit, outcome, out);
        true
    }
}

#[cfg(test)]
mod tests {
    use runtape_core::Stream;

    use super::*;
    use crate::lines::{DEFAULT_LIMIT, Framed, LineSplitter};
    use crate::signal::Emitted;

    #[test]
    fn the_first_object_of_a_line_is_found_among_text() {
        let table: [(&[u8], Option<&[u8]>); 7] = [
            (b"{\"a\":1}", Some(b"{\"a\":1}")),
            (b"ready.{\"a\":1} {\"b\":2}", Some(b"{\"a\":1}")),
            (b"[1] none", None),
            (b"{\"a\":", None),
            (b"{", None),
            (b"plain", None),
            (b"", None),
        ];
        for (line, expected) in table {
            assert_eq!(
                first_object(line),
                expected,
                "{}",
                String::from_utf8_lossy(line)
            );
        }
    }

    #[test]
    fn a_type_is_read_where_an_object_begins_with_it() {
        assert_eq!(leading_type(b"{\"type\":\"a.b\",\"c"), Some("a.b"));
        assert_eq!(leading_type(b"{\"type\":\"a\\u0020\"}"), None);
        assert_eq!(leading_type(b"{\"id\":1}"), None);
        assert_eq!(leading_type("{\"type\":\"é\"}".as_bytes()), None);
        assert_eq!(leading_type(b"{\"type\":\"a"), None);
        assert_eq!(quoted("abé\",rest"), Some(("abé", ",rest")));
        assert_eq!(quoted("abc"), None);
        assert_eq!(leading_text("aé".as_bytes()), ("aé", true));
        assert_eq!(leading_text(b"a\xC3\xFF"), ("a", false));
        assert_eq!(quoted("a\\u0062c\""), None);
    }

    /// Output without events.
    struct NoEvents;

    impl EventReader for NoEvents {
        fn begins_events(_: &[u8]) -> bool {
            false
        }

        fn on_object(&mut self, _: &[u8], _: &mut SignalSink<'_>) -> Result<(), DecodeError> {
            Ok(())
        }

        fn on_cut(&mut self, _: &mut SignalSink<'_>) {}
    }

    #[test]
    fn white_space_before_an_answer_is_text_with_a_place() {
        let mut given = Vec::new();
        let mut apply = |emitted: Emitted<'_>| {
            if let Signal::TextDelta(text) = emitted.signal {
                let span = emitted.place.span.unwrap();
                given.push((text.into_owned(), span.start, span.end));
            }
        };
        let mut reader = EventsOrText::new(NoEvents, Some(OutputForm::Text));
        let mut each = |framed: Framed<'_>| {
            if let Framed::Line(line) = framed {
                let mut out = SignalSink::new(line.place(Stream::Stdout), &mut apply);
                reader.push_line(&line, &mut out);
            }
        };
        let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
        splitter.push(b"\n \na\nb", 0, &mut each);
        splitter.finish(&mut each);
        let texts = [("\n \na", 0, 5), ("\n", 5, 6), ("b", 5, 6)];
        assert_eq!(
            given,
            texts.map(|(text, start, end)| (text.to_owned(), start, end))
        );
    }
}
