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
    /// Emits what its item says: that it was declined, how the agents are, and what it gave back, unless that is told
    /// elsewhere.
    pub(super) fn emit(
        &self,
        item: &mut Item<'_>,
        given: Option<Vec<Block<'_>>>,
        out: &mut SignalSink<'_>,
    ) {
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
            let (status, description) = agent_state(state);
            let task = Task {
                task_id: Some(thread.clone()),
                tool_call_id: call_id.clone(),
                status: status.unwrap_or_default().to_owned(),
                description: description.map(str::to_owned),
            };
            out.emit_in(self.scope, Signal::Event(task.into()));
        }
        let is_error = self.tool.is_error(item);
        let content = given.unwrap_or_else(|| self.tool.content(item));
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

/// Returns the status of a sub-agent and its message. The output has an object of both; a rollout has the status alone, or
/// an object in which it names the message.
fn agent_state(state: &Value) -> (Option<&str>, Option<&str>) {
    let text = |key: &str| state.get(key).and_then(Value::as_str);
    match (state, text("status")) {
        (Value::String(status), _) => (Some(status), None),
        (Value::Object(named), None) => match named.iter().next() {
            Some((status, message)) => (Some(status), message.as_str()),
            None => (None, None),
        },
        (_, status) => (status, text("message")),
    }
}
