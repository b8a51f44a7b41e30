//! Output with lines in published shapes, whatever else is between them.

use runtape_core::runtime_event::Info;
use serde_json::Value;

use super::events::Events;
use super::failure;
use super::text::emit_output;
use super::transcript::Entries;
use super::wire::{self, PublishedLine, Recognized};
use crate::framing::{LinePart, pieces};
use crate::json::{DecodeError, decode};
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::Signal;

/// Reads lines from the first one in a published shape on.
pub(super) struct Structured {
    has_format: bool,
    entries: Entries,
    events: Events,
}

impl Structured {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            has_format: false,
            entries: Entries::new(limit),
            events: Events::new(limit),
        }
    }

    /// Reads one line.
    pub(super) fn push(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        let bytes = line.bytes.trim_ascii();
        if bytes.first() == Some(&b'{') {
            match decode::<Value>(bytes) {
                Ok(decoded) => return self.take(&decoded.value, bytes, out),
                Err(DecodeError::Syntax(_)) => {}
                Err(error) => return out.unparsed(None, error.to_string()),
            }
        }
        // Values may be glued to a banner or to each other. Other lines with JSON on them are text.
        if wire::has_ours(bytes) {
            for piece in pieces(bytes) {
                self.take_piece(piece, line.ending, out);
            }
        } else if let Some(reason) = wire::cut_json(bytes) {
            report_cut(reason, line.ending, out);
        } else {
            emit_output(&line.text(), out.place(), out);
        }
    }

    fn take_piece(&mut self, piece: LinePart<'_>, ending: Ending, out: &mut SignalSink<'_>) {
        match piece {
            LinePart::Text(text) => emit_output(&String::from_utf8_lossy(text), out.place(), out),
            LinePart::Json(json) => match decode::<Value>(json) {
                Ok(decoded) if decoded.value.is_object() => self.take(&decoded.value, json, out),
                Ok(_) => emit_output(&String::from_utf8_lossy(json), out.place(), out),
                Err(error) => {
                    let reason = format!("begins like JSON and does not parse: {error}");
                    report_cut(reason, ending, out);
                }
            },
        }
    }

    fn take(&mut self, value: &Value, bytes: &[u8], out: &mut SignalSink<'_>) {
        match wire::recognize(value) {
            Recognized::Ours(shape, unknown_keys) => {
                let (format, tag) = match &shape {
                    PublishedLine::Entry(entry) => ("transcript", entry.kind.tag().to_owned()),
                    PublishedLine::Event(event) => ("events", event.tag().to_owned()),
                };
                if !std::mem::replace(&mut self.has_format, true) {
                    out.emit(Signal::Format(format));
                }
                out.unknown_keys(&tag, &unknown_keys);
                match shape {
                    PublishedLine::Entry(entry) => self.entries.take(entry, out),
                    PublishedLine::Event(event) if !self.events.is_news(&event, bytes) => {
                        let message = "the same event again".to_owned();
                        let topic = Some(tag);
                        out.emit(Signal::Event(Info { topic, message }.into()));
                    }
                    PublishedLine::Event(event) => self.events.take(*event, out),
                }
            }
            Recognized::Misfit { tag, reason } => {
                let unclear = failure::unclear(&tag, &reason, value);
                let unclear = unclear.filter(|_| wire::is_ours(value));
                out.unparsed(Some(&tag), reason);
                if let Some(outcome) = unclear {
                    out.emit(Signal::Result(outcome));
                }
            }
            Recognized::Other { tag, reason } => out.unparsed(tag.as_deref(), reason),
        }
    }

    /// Ends the reading. How the run went, a line has said by now, or none has.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        self.entries.finish(out);
        self.events.finish(out);
    }
}

/// Reports a value that is cut. At the very end of the output it was a message that began after
/// whatever result there was.
fn report_cut(reason: String, ending: Ending, out: &mut SignalSink<'_>) {
    out.unparsed(None, reason);
    if ending == Ending::None {
        out.emit(Signal::TurnOpened);
    }
}
