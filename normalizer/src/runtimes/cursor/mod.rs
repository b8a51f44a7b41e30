//! cursor.

use runtape_core::{Runtime, Stream};

use super::RuntimeEntry;
use crate::context::Context;
use crate::exit::Exit;
use crate::lines::Line;
use crate::parser::{RuntimeParser, SignalSink};

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Cursor,
    parser: |_context| Box::new(Cursor),
    sniff: |_| 0,
    commands: &["cursor-agent"],
    query: |_| None,
};

struct Cursor;

impl RuntimeParser for Cursor {
    fn push_line(&mut self, _: Stream, _: &Line<'_>, _: &mut SignalSink<'_>) {}
    fn finish(&mut self, _: &Exit, _: &mut SignalSink<'_>) {}
}
