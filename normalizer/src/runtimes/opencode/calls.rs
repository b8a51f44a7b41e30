//! Parts that are tool calls.

use runtape_core::ToolCallId;
use runtape_core::runtime_event::{ApiRetry, PermissionDenied, Task};

use super::tools;
use super::wire::ToolPart;
use crate::parser::SignalSink;
use crate::signal::{CallRef, Scope, Signal};

/// Returns the notice of an attempt at a message that was given up: a further step of the same message
/// begins without a finish of the one before.
pub(super) fn repeated_request() -> ApiRetry {
    ApiRetry {
        attempt: None,
        max_attempts: None,
        delay_ms: None,
        status_code: None,
        reason: None,
    }
}

/// What a part says of its call.
pub(super) struct ToolPartCall {
    /// The tool that the model called.
    pub(super) name: String,
    pub(super) has_result: bool,
}

impl ToolPartCall {
    /// Looks at a part.
    pub(super) fn of(part: &ToolPart<'_>) -> Self {
        let tool = part.tool.as_deref().unwrap_or_default();
        let state = &part.state;
        let has_ended = matches!(state.status.word(), Some("completed" | "error"));
        Self {
            name: tools::name(tool, state).to_owned(),
            has_result: has_ended || state.output.is_some() || state.error.is_some(),
        }
    }

    /// Emits the call, what is told around it, and its result if it has one.
    pub(super) fn emit(
        &self,
        call: CallRef<'_>,
        part: &mut ToolPart<'_>,
        scope: Scope<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let name = self.name.as_str();
        let tool = part.tool.as_deref().unwrap_or_default();
        let state = &mut part.state;
        out.unknown_keys("tool_use state", &state.unknown);
        let word = state.status.word();
        if !matches!(word, Some("completed" | "error" | "pending" | "running")) {
            let reason = format!("state.status: of unknown status: {}", state.status);
            out.unparsed(Some("tool_use"), reason);
        }
        let input = std::mem::take(&mut state.input);
        let mut detail = tools::detail(tool, &input);
        // Of a call that could not be made, the tool that was meant.
        detail.class = tools::class(name);
        let signal = Signal::ToolCall {
            call,
            name: name.into(),
            detail,
            input,
        };
        out.emit_in(scope, signal);
        self.emit_end(call, part, scope, out);
    }

    /// Emits what is told around a call that was emitted before, and its result if it has one.
    pub(super) fn emit_end(
        &self,
        call: CallRef<'_>,
        part: &mut ToolPart<'_>,
        scope: Scope<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let name = self.name.as_str();
        let tool = part.tool.as_deref().unwrap_or_default();
        let is_error = tools::is_error(tool, &part.state);
        let state = &mut part.state;
        let call_id = match call {
            CallRef::Printed(id) => ToolCallId::from_printed(id),
            CallRef::Local(_) => None,
        };
        if let Some(session) = &state.metadata.session {
            let task = Task {
                task_id: Some(session.as_str().to_owned()),
                tool_call_id: call_id.clone(),
                status: state.status.word().unwrap_or_default().to_owned(),
                description: None,
            };
            out.emit_in(scope, Signal::Event(task.into()));
        }
        let error = state.error.as_deref();
        if let Some(error) = error.filter(|error| tools::is_denial(error)) {
            let denied = PermissionDenied {
                tool_name: name.to_owned(),
                tool_call_id: call_id,
                message: Some(error.to_owned()),
            };
            out.emit_in(scope, Signal::Event(denied.into()));
        }
        if !self.has_result {
            return;
        }
        let duration_ms = match (state.time.start, state.time.end) {
            (Some(start), Some(end)) => end.checked_sub(start),
            _ => None,
        };
        let result = Signal::ToolResult {
            call,
            name: Some(name.into()),
            content: tools::content(state),
            is_error,
            duration_ms,
        };
        out.emit_in(scope, result);
    }
}
