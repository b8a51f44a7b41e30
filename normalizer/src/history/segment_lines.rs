//! The lines of a segment, on their way to the runtime that reads them.

use runtape_core::Stream;

use crate::exit::Exit;
use crate::json::DecodeError;
use crate::lines::Line;
use crate::parser::{RuntimeParser, SignalSink};
use crate::signal::Signal;

/// Reads the lines of one segment.
pub(crate) trait LineReader: Send {
    /// Reads one line that is not blank.
    fn on_line(&mut self, line: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError>;

    /// Ends the segment, and judges it.
    fn end(&mut self, out: &mut SignalSink<'_>);
}

/// A parser of nothing but history.
pub(crate) struct SegmentLines<R> {
    reader: R,
    has_begun: bool,
}

impl<R> SegmentLines<R> {
    /// Creates a parser for the lines of one segment.
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            has_begun: false,
        }
    }
}

impl<R: LineReader> RuntimeParser for SegmentLines<R> {
    fn push_line(&mut self, stream: Stream, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if stream != Stream::History || line.bytes.trim_ascii().is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            out.emit(Signal::Format("history"));
        }
        if let Err(error) = self.reader.on_line(line.bytes, out) {
            out.unparsed(None, error.to_string());
        }
    }

    fn finish(&mut self, _: &Exit, out: &mut SignalSink<'_>) {
        self.reader.end(out);
    }
}
