//! hermes.

use runtape_core::{Runtime, Stream};

use super::RuntimeEntry;
use crate::context::Context;
use crate::exit::Exit;
use crate::lines::Line;
use crate::parser::{RuntimeParser, SignalSink};

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::Hermes,
    parser: |_context| Box::new(Hermes),
    sniff: |_| 0,
    commands: &["hermes"],
    query: |_| None,
};

struct Hermes;

impl RuntimeParser for Hermes {
    fn push_line(&mut self, _: Stream, _: &Line<'_>, _: &mut SignalSink<'_>) {}
    fn finish(&mut self, _: &Exit, _: &mut SignalSink<'_>) {}
}
