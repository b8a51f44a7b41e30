//! What came of a call: its result, and what the item says around it.

use runtape_core::ToolCallId;
use runtape_core::runtime_event::{PermissionDenied, Task};
use serde_json::Value;

use super::tools::{self, Tool};
use super::wire::Item;
use crate::parser::SignalSink;
use crate::signal::{Block, CallRef, Scope, Signal};

/// A call that has ended.
pub(super) struct EndedCall<'c> {
    /// The run it was made in.
    pub(super) scope: Scope<'c>,
    pub(super) tool: Tool,
    pub(super) call: CallRef<'c>,
    pub(super) id: Option<&'c str>,
    pub(super) name: &'c str,
    pub(super) duration_ms: Option<u64>,
}

impl EndedCall<'_> {
    /// Emits what its item says: that it was declined, how the agents are, and what it gave back.
    pub(super) fn emit(&self, item: &mut Item<'_>, out: &mut SignalSink<'_>) {
        if let Some(status) = tools::unknown_status(item) {
            out.unparsed(Some(self.name), format!("of unknown status: {status}"));
        }
        let call_id = self.id.and_then(ToolCallId::from_printed);
        if item.status.is("declined") {
            let denied = PermissionDenied {
                tool_name: self.name.to_owned(),
                tool_call_id: call_id.clone(),
                message: None,
            };
            out.emit_in(self.scope, Signal::Event(denied.into()));
        }
        for (thread, state) in item.agents.as_object().into_iter().flatten() {
            let text = |key: &str| state.get(key).and_then(Value::as_str).map(str::to_owned);
            let task = Task {
                task_id: Some(thread.clone()),
                tool_call_id: call_id.clone(),
                status: text("status").unwrap_or_default(),
                description: text("message"),
            };
            out.emit_in(self.scope, Signal::Event(task.into()));
        }
        let is_error = self.tool.is_error(item);
        let content = self.tool.content(item);
        self.emit_answer(content, is_error, out);
    }

    /// Emits what it gave back.
    pub(super) fn emit_answer(
        &self,
        content: Vec<Block<'_>>,
        is_error: Option<bool>,
        out: &mut SignalSink<'_>,
    ) {
        out.emit_in(
            self.scope,
            Signal::ToolResult {
                call: self.call,
                name: Some(self.name.into()),
                content,
                is_error,
                duration_ms: self.duration_ms,
            },
        );
    }
}
