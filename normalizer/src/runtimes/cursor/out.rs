//! Where this parser's signals go.

use crate::bounds;
use crate::parser::SignalSink;
use crate::signal::{Place, Scope, Signal};

/// A sink with a place of its own, for lines that were held back.
pub(super) struct Out<'o, 's> {
    sink: &'o mut SignalSink<'s>,
    place: Place,
}

impl<'o, 's> Out<'o, 's> {
    /// Uses the sink's own place.
    pub(super) fn new(sink: &'o mut SignalSink<'s>) -> Self {
        let place = sink.place();
        Self { sink, place }
    }

    /// Returns the same sink at another place.
    pub(super) fn at(&mut self, place: Place) -> Out<'_, 's> {
        Out {
            sink: self.sink,
            place,
        }
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Uses the runtime's own time for what this line says.
    pub(super) fn set_time(&mut self, at: Option<u64>) {
        let Some(at) = at else { return };
        match bounds::time(bounds::count(at)) {
            Some(at) => self.place.at = at,
            None => self.sink.refuse_time(self.place, &at.to_string()),
        }
    }

    pub(super) fn emit(&mut self, signal: Signal<'_>) {
        self.emit_at(self.place, signal);
    }

    pub(super) fn emit_at(&mut self, place: Place, signal: Signal<'_>) {
        self.sink.emit_at(place, Scope::Main, signal);
    }
}
