//! claude-code.

use runtape_core::{Runtime, Stream};

use super::RuntimeEntry;
use crate::context::Context;
use crate::exit::Exit;
use crate::lines::Line;
use crate::parser::{RuntimeParser, SignalSink};

pub(super) const ENTRY: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::ClaudeCode,
    parser: |_context| Box::new(ClaudeCode),
    sniff: |_| 0,
    commands: &["claude"],
    query: |_| None,
};

struct ClaudeCode;

impl RuntimeParser for ClaudeCode {
    fn push_line(&mut self, _: Stream, _: &Line<'_>, _: &mut SignalSink<'_>) {}
    fn finish(&mut self, _: &Exit, _: &mut SignalSink<'_>) {}
}
