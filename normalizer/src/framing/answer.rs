//! Text that may be the answer.
//!
//! Where nothing but text is printed, only the exit tells an answer from the message of an error,
//! and a whole answer from half of one. So its lines are held until then, as far as they may be.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::held_lines::HeldLines;
use super::lines::Ending;
use super::pieces::{LinePart, pieces};
use crate::exit::Exit;
use crate::json::{DecodeError, decode};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, TapePlace};

/// The lines of what may be the answer.
///
/// What ends the last line is the printer's, and no part of the text.
#[derive(Debug)]
pub(crate) struct AnswerLines {
    /// The lines, until they are more than may be held.
    pub(crate) held: HeldLines,
    /// Once the text is streamed: how its last line ended, which is text only if another follows.
    streamed: Option<Ending>,
}

impl AnswerLines {
    /// Creates an answer of no lines, of which `limit` bytes may be held at the most.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            held: HeldLines::new(limit),
            streamed: None,
        }
    }

    /// Creates an answer of which nothing is held: it can be shown while it comes.
    pub(crate) fn streaming() -> Self {
        Self {
            held: HeldLines::new(0),
            streamed: Some(Ending::None),
        }
    }

    /// Tells whether there was no line.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.streamed.is_none()
    }

    /// Tells whether the text was given out as it came.
    pub(crate) fn is_streamed(&self) -> bool {
        self.streamed.is_some()
    }

    /// Returns how the last line ended.
    pub(crate) fn last_ending(&self) -> Option<Ending> {
        self.streamed.or(self.held.last_ending())
    }

    /// Takes a line.
    pub(crate) fn push(&mut self, bytes: &[u8], ending: Ending, out: &mut SignalSink<'_>) {
        let Some(before) = self.streamed else {
            self.held.push(bytes, ending, out.place());
            if self.held.is_full() {
                self.stream(out);
            }
            return;
        };
        if before != Ending::None {
            out.emit(Signal::TextDelta(Cow::Borrowed(before.as_str())));
        }
        out.emit(Signal::TextDelta(String::from_utf8_lossy(bytes)));
        self.streamed = Some(ending);
    }

    /// Gives out what is held as the beginning of the text; what follows is not held.
    pub(crate) fn stream(&mut self, out: &mut SignalSink<'_>) {
        let held = self.held.take();
        if let (Some(ending), Some(place)) = (held.last_ending(), held.place_from(0)) {
            self.streamed = Some(ending);
            out.at(place).emit(Signal::TextDelta(held.text()));
        }
    }

    /// Returns the place of the lines that are held.
    pub(crate) fn place(&self, out: &SignalSink<'_>) -> TapePlace {
        self.held.place_from(0).unwrap_or_else(|| out.place())
    }

    /// Returns why the output is cut JSON rather than an answer: its only line begins like JSON
    /// and does not parse.
    pub(crate) fn cut_json(&self) -> Option<DecodeError> {
        let line = self.held.only_filled()?;
        match pieces(line.bytes).next()? {
            LinePart::Json(json) => decode::<IgnoredAny>(json.trim_ascii()).err(),
            LinePart::Text(_) => None,
        }
    }
}

/// Ends a run whose answer stands. That an answer is whole, the exit tells; where it is not known,
/// that is said.
pub(crate) fn answer_stands(exit: &Exit, outcome: Outcome<'_>, out: &mut SignalSink<'_>) {
    if exit.is_unknown() {
        out.emit(Signal::Metadata("exitUnknown", true.into()));
    }
    out.emit(Signal::Result(outcome));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::lines::{DEFAULT_LIMIT, Framed, LineSplitter};
    use crate::signal::Emitted;

    const NOWHERE: TapePlace = TapePlace {
        span: None,
        line: 0,
        at: 0,
    };

    /// Pushes all lines, and returns the answer with the text that was given out.
    fn answer(limit: usize, text: &str) -> (AnswerLines, String) {
        let mut given = String::new();
        let mut apply = |emitted: Emitted<'_>| {
            if let Signal::TextDelta(text) = emitted.signal {
                given.push_str(&text);
            }
        };
        let mut answer = AnswerLines::new(limit);
        let mut out = SignalSink::new(NOWHERE, &mut apply);
        let mut each = |framed: Framed<'_>| {
            if let Framed::Line(line) = framed {
                answer.push(line.bytes, line.ending, &mut out);
            }
        };
        let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
        splitter.push(text.as_bytes(), 0, &mut each);
        splitter.finish(&mut each);
        (answer, given)
    }

    #[test]
    fn held_or_streamed_the_text_is_the_same() {
        for text in ["", "\n", "a", "a\n", "a\r\n\r\nb\n\n", " x \ny", "\n\n\n"] {
            let text = text.repeat(20);
            let whole = ["\r\n", "\n"].iter().find_map(|end| text.strip_suffix(end));
            let whole = whole.unwrap_or(&text);
            let (held, nothing) = answer(DEFAULT_LIMIT, &text);
            assert_eq!((held.held.text().as_ref(), nothing.as_str()), (whole, ""));
            assert!(!held.is_streamed());
            let (streamed, given) = answer(10, &text);
            assert_eq!(given, whole, "{text:?}");
            assert_eq!(streamed.is_streamed(), !text.is_empty());
            assert_eq!(streamed.is_empty(), text.is_empty());
            assert_eq!(streamed.last_ending(), held.last_ending());
        }
    }

    #[test]
    fn one_line_that_begins_like_json_and_does_not_parse_is_cut() {
        let table = [
            ("{\"type\":\"resu", true),
            ("\n {\"a\":[1,\n\n", true),
            ("[{\"a\":", true),
            ("{\"a\":1}\n", false),
            ("{\"a\":1} and more\n", false),
            ("[1] a footnote\n", false),
            ("{ not json }\nbut an answer\n", false),
            ("plain", false),
            ("", false),
        ];
        for (text, is_cut) in table {
            let (answer, _) = answer(DEFAULT_LIMIT, text);
            assert_eq!(answer.cut_json().is_some(), is_cut, "{text}");
        }
    }
}
