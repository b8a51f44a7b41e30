//! What a runtime's file provides, and where its signals go.

use std::borrow::Cow;

use runtape_core::runtime_event::{StderrText, StdoutText};
use runtape_core::{RuntimeEventKind, Stream};
use serde::Deserialize;

use crate::bounds;
use crate::escapes::strip_escapes;
use crate::exit::{Exit, code_is_signal};
use crate::json::{DecodeError, Decoded, Fault, decode};
use crate::lines::Line;
use crate::signal::{Emitted, Scope, Signal, TapePlace};
use crate::times::{ToldTimes, iso_millis};

/// Turns the lines of one runtime into signals. Steps, usage and status are the reducer's business.
///
/// A parser is total: any lines give signals, never a panic. It has no clock and no randomness.
/// What it makes of one stream must not depend on how the two streams interleave, because from
/// files standard error follows standard output: what needs both is decided in
/// [`finish`](Self::finish).
pub trait RuntimeParser: Send {
    /// Reads one line, emitting whatever it amounts to: nothing, one signal, or several.
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>);

    /// Flushes what was held back for a line that never came, and judges the exit.
    ///
    /// Without a [`Signal::Result`] by the end of this, the run did not end by itself, and the
    /// reducer names the error from the exit.
    fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>);

    /// Tells whether an exit code stands for a signal, as shells and many programs have it.
    fn exit_is_signal(&self, code: i32) -> bool {
        code_is_signal(code)
    }
}

/// Takes the signals of a parser and ties each to its place on the tape.
pub struct SignalSink<'s> {
    place: TapePlace,
    /// What the runtime's own clock has told, where somebody keeps count of it.
    told: Option<&'s mut ToldTimes>,
    apply: &'s mut dyn FnMut(Emitted<'_>),
}

impl<'s> SignalSink<'s> {
    /// Creates a sink for the signals of one place.
    pub fn new(place: TapePlace, apply: &'s mut dyn FnMut(Emitted<'_>)) -> Self {
        Self {
            place,
            told: None,
            apply,
        }
    }

    /// Notes what the runtime's own clock tells.
    pub(crate) fn telling(mut self, told: Option<&'s mut ToldTimes>) -> Self {
        self.told = told;
        self
    }

    /// Returns the place that signals are tied to.
    #[must_use]
    pub fn place(&self) -> TapePlace {
        self.place
    }

    /// Returns the same sink at another place, for a line that was held back or a part of one.
    pub fn at(&mut self, place: TapePlace) -> SignalSink<'_> {
        SignalSink {
            place,
            told: self.told.as_deref_mut(),
            apply: self.apply,
        }
    }

    /// Uses the runtime's own time, in milliseconds since 1970, for what this line says. One that
    /// cannot be is reported, and the time at which the line was received stays.
    pub fn set_time(&mut self, at: i64) {
        let Some(at) = bounds::told_time(at) else {
            return self.refuse_time(&at.to_string());
        };
        self.place.at = at;
        if let Some(told) = &mut self.told {
            told.push(at);
        }
    }

    /// Uses the runtime's own time, where it is printed in milliseconds since 1970.
    pub(crate) fn set_millis(&mut self, at: Option<u64>) {
        let Some(at) = at else { return };
        match i64::try_from(at) {
            Ok(at) => self.set_time(at),
            Err(_) => self.refuse_time(&at.to_string()),
        }
    }

    /// Uses the runtime's own time as it is written, with a date and a zone.
    pub(crate) fn set_written_time(&mut self, text: Option<&str>) {
        match text.map(|text| (text, iso_millis(text))) {
            None | Some(("", _)) => {}
            Some((_, Some(at))) => self.set_time(at),
            Some((text, None)) => self.refuse_time(text),
        }
    }

    /// Reports a time that cannot be one.
    #[cold]
    fn refuse_time(&mut self, time: &str) {
        if let Some(told) = &mut self.told {
            told.refuse();
        }
        let shown: String = time.chars().take(40).collect();
        self.unparsed(None, format!("timestamp: {shown} is no time"));
    }

    /// Emits a signal of the main run.
    pub fn emit(&mut self, signal: Signal<'_>) {
        self.emit_in(Scope::Main, signal);
    }

    /// Emits a signal of a run.
    pub fn emit_in(&mut self, scope: Scope<'_>, signal: Signal<'_>) {
        self.emit_at(self.place, scope, signal);
    }

    /// Emits a signal that was read at another place, for what was held back.
    pub fn emit_at(&mut self, place: TapePlace, scope: Scope<'_>, signal: Signal<'_>) {
        (self.apply)(Emitted {
            scope,
            place,
            signal,
        });
    }

    /// Emits an event around the main run.
    pub fn event(&mut self, event: impl Into<RuntimeEventKind>) {
        self.emit(Signal::Event(event.into()));
    }

    /// Reports what was not understood, with the type that it names.
    pub fn unparsed<'a>(&mut self, tag: Option<&'a str>, reason: impl Into<Cow<'a, str>>) {
        self.emit(Signal::Unparsed {
            tag: tag.map(Cow::Borrowed),
            reason: reason.into(),
        });
    }

    /// Reports the keys of a message that are not known.
    pub fn unknown_keys<K: AsRef<str>>(&mut self, message: &str, keys: &[K]) {
        for key in keys {
            let key = key.as_ref();
            self.emit(Signal::UnknownKey { message, key });
        }
    }

    /// Reports the fields of a message that had to be left out.
    pub fn faulty_fields(&mut self, tag: Option<&str>, faults: &[Fault]) {
        for Fault { path, reason } in faults {
            self.unparsed(tag, format!("{path}: {reason}"));
        }
    }

    /// Reports numbers of a message that are none.
    pub(crate) fn faulty_numbers(&mut self, tag: Option<&str>, faults: Vec<String>) {
        for reason in faults {
            self.unparsed(tag, reason);
        }
    }

    /// Reads one message, and reports the fields of it that did not fit.
    pub fn read<'a, T: Deserialize<'a>>(
        &mut self,
        tag: &str,
        bytes: &'a [u8],
    ) -> Result<T, DecodeError> {
        let Decoded { value, faults } = decode(bytes)?;
        self.faulty_fields(Some(tag), &faults);
        Ok(value)
    }

    /// Reports text on standard output that is no message, unless it shows nothing.
    pub(crate) fn stdout_text(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        if !strip_escapes(&text).trim().is_empty() {
            let text = text.into_owned();
            self.event(StdoutText { text });
        }
    }

    /// Reports a line on standard error, unless it is blank.
    pub(crate) fn stderr_text(&mut self, text: Cow<'_, str>) {
        if !text.trim().is_empty() {
            let text = text.into_owned();
            self.event(StderrText { text });
        }
    }
}
