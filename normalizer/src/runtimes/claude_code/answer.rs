//! Text that may be the answer.
//!
//! In the text format nothing but the exit code tells an answer from an error, so that it is held
//! until then.

use std::borrow::Cow;

use runtape_core::{ErrorFamily, RunError};
use serde_json::Value;

use super::argv::Asked;
use super::values::{emit_stdout, is_claimed_result};
use crate::exit::{Exit, signal_name};
use crate::failure::error;
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Place, Scope, Signal, Verdict};

/// Lines that may be an answer.
#[derive(Debug, Default)]
pub(super) struct Held {
    text: String,
    place: Option<Place>,
    /// Lines that are not blank.
    pub(super) lines: u64,
    ending: Option<Ending>,
    /// The only line begins like JSON and does not parse.
    pub(super) cut: Option<String>,
    /// It was more than may be held, and went on as a message.
    overflowed: bool,
}

impl Held {
    pub(super) fn push(&mut self, line: &Line<'_>, place: Place) {
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
        let mut text = match self.ending {
            Some(Ending::CrLf) => self.text.replace("\r\n", "\n"),
            _ => self.text,
        };
        if matches!(self.ending, Some(Ending::Lf | Ending::CrLf)) {
            text.pop();
        }
        text
    }

    /// Takes a value printed over many lines that turned out to be no message.
    pub(super) fn push_document(&mut self, bytes: &[u8], place: Place) {
        self.text.push_str(&String::from_utf8_lossy(bytes));
        self.text.push('\n');
        self.ending = Some(Ending::Lf);
        self.lines += 1;
        self.place = Some(self.place.map_or(place, |first| first.through(place)));
    }

    /// Lets text go on as a message when it is more than may be held.
    pub(super) fn bound(&mut self, limit: usize, out: &mut SignalSink<'_>) {
        if self.text.len() <= limit {
            // Beyond this, doubling would be copying much to have room for more than may be held.
            if self.text.len() > limit / 4 && self.text.capacity() <= limit {
                self.text.reserve_exact(limit + limit / 8 - self.text.len());
            }
            return;
        }
        // The last newline may be the CLI's own, and only that: an answer may be nothing but newlines.
        let length = without_newline(&self.text).len();
        if length == 0 {
            return;
        }
        self.overflowed = true;
        let mut text = std::mem::take(&mut self.text);
        self.text = text.split_off(length);
        let here = out.place();
        let place = self.place.replace(here).unwrap_or(here);
        out.emit_at(place, Scope::Main, Signal::TextDelta(Cow::Owned(text)));
    }

    /// Reports what was held as lines that are no messages.
    pub(super) fn into_notices(self, out: &mut SignalSink<'_>) {
        let place = self.place.unwrap_or_else(|| out.place());
        match &self.cut {
            Some(reason) if self.lines == 1 => out.at(place).unparsed(None, reason),
            _ => emit_stdout(&self.text, place, out),
        }
    }

    /// Returns all that was held if it is one object that claims to be a result.
    pub(super) fn claimed_result(&self) -> Option<(&str, Place)> {
        let place = self.place?;
        let is_whole = self.lines == 1 && !self.overflowed;
        (is_whole && is_claimed_result(self.text.as_bytes())).then_some((&self.text, place))
    }

    /// Judges an output without a message: an answer, an error, or nothing.
    pub(super) fn finish(self, exit: &Exit, asked: Option<Asked>, out: &mut SignalSink<'_>) {
        let Some(place) = self.place else {
            if let Some(asked) = asked {
                out.emit(Signal::Format(asked.name()));
            }
            return;
        };
        if let Some(reason) = self.cut.as_ref().filter(|_| self.lines == 1) {
            if let Some(asked) = asked {
                out.emit(Signal::Format(asked.name()));
            }
            out.at(place).unparsed(None, reason);
            return;
        }
        if let Some(asked) = asked.filter(|asked| *asked != Asked::Text) {
            out.emit(Signal::Format(asked.name()));
            self.into_notices(out);
            return;
        }
        out.emit(Signal::Format("text"));
        // A text that was cut is the beginning of an answer rather than the message of an error.
        if self.overflowed || exit.is_output_cut() {
            let text = self.into_text();
            out.emit_at(place, Scope::Main, Signal::TextDelta(Cow::Owned(text)));
            if exit.is_failure() {
                return;
            }
            out.emit(Signal::TextEnd);
        } else {
            let text = self.into_text();
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
}

/// Returns a text without the newline that ends it.
fn without_newline(text: &str) -> &str {
    let endings = ["\r\r\n", "\r\n", "\n"];
    let found = endings.iter().find_map(|ending| text.strip_suffix(ending));
    found.unwrap_or(text)
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
