//! What the CLI says of itself: notices, tasks, limits, questions.

use std::borrow::Cow;

use runtape_core::runtime_event::{
    ApiRetry, Compaction, Hook, Info, Interaction, ModelFallback, PermissionDenied, RateLimit,
    Task, Warning,
};
use runtape_core::{RuntimeEventKind, ToolCallId};
use serde_json::Value;

use super::content::TextOrOther;
use super::conversation::{ChildFacts, Conversation, version_of, whole_millis};
use super::failure::epoch_millis;
use super::subtypes;
use super::wire::{Aside, RateLimitEvent, System};
use crate::json::{DecodeError, Str, decode};
use crate::parser::SignalSink;
use crate::signal::{Signal, compaction};

/// Messages around the conversation, which few runs have.
pub(super) fn is_aside(kind: &str) -> bool {
    matches!(
        kind,
        "tool_progress"
            | "keep_alive"
            | "auth_status"
            | "tool_use_summary"
            | "prompt_suggestion"
            | "control_request"
            | "control_response"
            | "control_cancel_request"
            | "conversation_reset"
            | "os_notification"
    ) || STATES.contains(&kind)
}

/// Messages for whoever draws or hosts a session, as the schema in 2.1.328 has them: they say nothing of what happened.
const STATES: &[&str] = &[
    "active_goal",
    "api_metrics",
    "autocompact_state",
    "compact_progress",
    "hint_clears",
    "open_message_selector",
    "response_length",
    "set_expanded_view",
    "set_in_progress_tool_use_ids",
    "stream_mode",
    "transcript_mirror",
];

fn owned(text: Option<Str<'_>>) -> Option<String> {
    text.map(Str::into_owned)
}

fn call_id(id: Option<&Str<'_>>) -> Option<ToolCallId> {
    id.and_then(|id| ToolCallId::from_printed(id))
}

fn emit(event: impl Into<RuntimeEventKind>, out: &mut SignalSink<'_>) {
    out.event(event);
}

impl Conversation {
    pub(super) fn on_system(
        &mut self,
        json: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let line: System<'_> = out.read("system", json)?;
        if !line.unknown.is_empty() && !subtypes::is_known(&line.subtype) {
            out.unknown_keys(&format!("system/{}", line.subtype), &line.unknown);
        }
        self.hear_system(line, json, out);
        Ok(())
    }

    /// Takes a line with what the CLI says of itself.
    pub(super) fn hear_system(&mut self, line: System<'_>, json: &[u8], out: &mut SignalSink<'_>) {
        out.set_written_time(line.timestamp.as_deref());
        self.on_session(line.session.as_ref(), out);
        match line.subtype.as_str() {
            "init" => self.on_init(&line, out),
            "status" => self.on_status(line, out),
            "thinking_tokens" => self.thought = true,
            "api_retry" => {
                let retry = api_retry(line);
                self.open_messages.on_retry(retry, out);
            }
            "permission_denied" => on_permission_denied(line, out),
            "task_started" | "task_progress" | "task_updated" | "task_notification" => {
                self.on_task(line, out);
            }
            "hook_started" | "hook_progress" | "hook_response" => on_hook(line, out),
            "model_fallback" | "model_refusal_fallback" | "model_consent_fallback" => {
                let reason =
                    owned(line.trigger).or_else(|| line.content.into_text().map(Cow::into_owned));
                let (from, to) = (owned(line.original_model), owned(line.fallback_model));
                emit(ModelFallback { from, to, reason }, out);
            }
            "model_refusal_no_fallback" => {
                let said = line.content.into_text().filter(|text| !text.is_empty());
                let model = line.original_model.as_deref().unwrap_or("the model");
                let message = said.map_or_else(|| format!("{model} refused"), Into::into);
                emit(Warning { message }, out);
            }
            "compact_boundary" => {
                self.compacted = true;
                let compaction = Compaction {
                    trigger: owned(line.compact_metadata.trigger),
                    pre_tokens: line.compact_metadata.pre_tokens,
                    post_tokens: line.compact_metadata.post_tokens,
                    duration_ms: line.compact_metadata.duration_ms,
                    message: None,
                };
                emit(compaction, out);
            }
            "informational"
            | "local_command"
            | "local_command_output"
            | "post_turn_summary"
            | "memory_saved"
            | "notification"
            | "worker_shutting_down" => on_informational(line, out),
            "plugin_install" => on_plugin(line, out),
            "mirror_error" => {
                let message = line.error.into_text().unwrap_or_default().into_owned();
                emit(Warning { message }, out);
            }
            subtype if subtypes::is_state(subtype) => {}
            subtype => {
                let known = subtypes::notice_of(subtype, json);
                if let Some(notice) = known.or_else(|| notice_of(subtype, json)) {
                    out.emit(Signal::Event(notice));
                } else {
                    let reason = format!("unknown subtype {subtype:?}");
                    out.unparsed(Some("system"), reason);
                }
            }
        }
    }

    /// The start of a turn: the first, and one more for each further message or wake-up.
    fn on_init(&mut self, line: &System<'_>, out: &mut SignalSink<'_>) {
        out.emit(Signal::TurnOpened);
        self.unfinished = false;
        if let Some(version) = &line.version {
            self.shapes.version = version_of(version);
            out.emit(Signal::CliVersion(version));
        }
        if let Some(cwd) = &line.cwd {
            out.emit(Signal::Cwd(cwd));
        }
        if let Some(mode) = &line.permission_mode {
            out.emit(Signal::Metadata("permissionMode", mode.as_str().into()));
        }
        if let Some(model) = line.model.as_ref().filter(|model| !model.is_empty()) {
            self.model_known = true;
            out.emit(Signal::Model(model));
        }
        if std::mem::replace(&mut self.shapes.init, true) {
            return;
        }
        for server in &line.mcp_servers {
            if matches!(server.status.as_str(), "failed" | "needs-auth") {
                let mut message = format!("MCP server {}: {}", server.name, server.status);
                if let Some(error) = server.error.clone().into_text() {
                    message = format!("{message}: {error}");
                }
                emit(Warning { message }, out);
            }
        }
    }

    fn on_status(&mut self, line: System<'_>, out: &mut SignalSink<'_>) {
        self.shapes.partial |= line.status.as_deref() == Some("requesting");
        let result = line.compact_result.into_text();
        let error = line.compact_error.into_text();
        let message = match (result.as_deref(), error.as_deref()) {
            (_, Some(error)) => error.to_owned(),
            (Some(result), None) if result != "success" => format!("compaction: {result}"),
            _ => return,
        };
        emit(compaction(Some(message)), out);
    }

    fn on_task(&mut self, line: System<'_>, out: &mut SignalSink<'_>) {
        let summary = line.summary.into_text();
        let (status, description) = match line.subtype.as_str() {
            "task_started" => (Some("started".to_owned()), owned(line.description)),
            "task_progress" => (Some("progress".to_owned()), owned(line.description)),
            "task_updated" => (owned(line.patch.status), owned(line.patch.description)),
            _ => (owned(line.status), summary.as_deref().map(str::to_owned)),
        };
        if line.subtype == "task_started"
            && line.task_type.as_deref() == Some("local_agent")
            && let Some(call) = &line.tool_use_id
        {
            let child = self.children.entry(call.as_str().into()).or_default();
            child.background |= line.is_backgrounded == Some(true);
        }
        let status = status.unwrap_or_else(|| "updated".to_owned());
        if line.subtype == "task_notification"
            && let Some(call) = &line.tool_use_id
            && let Some(child) = self.children.get_mut(call.as_str())
            && let ChildFacts {
                seen: true,
                background: true,
                ended: false,
                ..
            } = *child
        {
            child.ended = true;
            // Its own last words say more than the notification, which may be about them.
            let text = if child.answered { None } else { summary };
            let is_error = status != "completed";
            let call = Cow::Borrowed(call.as_str());
            out.emit(Signal::ChildEnd {
                call,
                is_error,
                text,
            });
        }
        let task = Task {
            task_id: owned(line.task_id),
            tool_call_id: call_id(line.tool_use_id.as_ref()),
            status,
            description,
        };
        emit(task, out);
    }

    pub(super) fn on_rate_limit(
        &mut self,
        json: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let line: RateLimitEvent<'_> = out.read("rate_limit_event", json)?;
        out.unknown_keys("rate_limit_event", &line.unknown);
        out.unknown_keys("rate_limit_event.rate_limit_info", &line.info.unknown);
        self.on_session(line.session.as_ref(), out);
        let resets_at = line.info.resets_at.and_then(epoch_millis);
        if line.info.status == "rejected" {
            self.limit_resets_at = resets_at;
        }
        let limit = RateLimit {
            status: line.info.status.into_owned(),
            limit_type: owned(line.info.limit_type),
            resets_at,
            utilization: line.info.utilization,
        };
        emit(limit, out);
        Ok(())
    }

    pub(super) fn on_aside(
        &mut self,
        kind: &str,
        json: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let line: Aside<'_> = out.read(kind, json)?;
        self.on_session(line.session.as_ref(), out);
        let info = |topic: &str, message: Cow<'_, str>| Info {
            topic: Some(topic.to_owned()),
            message: message.into_owned(),
        };
        match kind {
            "tool_use_summary" => {
                emit(
                    info("summary", line.summary.into_text().unwrap_or_default()),
                    out,
                );
            }
            "prompt_suggestion" => {
                emit(
                    info(
                        "suggestion",
                        line.suggestion.into_text().unwrap_or_default(),
                    ),
                    out,
                );
            }
            "auth_status" => match line.error.into_text() {
                Some(error) => emit(
                    Warning {
                        message: error.into_owned(),
                    },
                    out,
                ),
                None => emit(
                    info("auth", line.output.into_text().unwrap_or_default()),
                    out,
                ),
            },
            "control_request" => {
                let query_type = text_of(&line.request, "subtype");
                emit(
                    interaction("request", query_type, owned(line.request_id), line.request),
                    out,
                );
            }
            "control_response" => {
                let query_type = text_of(&line.response, "subtype");
                let id = line.response.get("request_id").and_then(Value::as_str);
                let id = id.map(str::to_owned);
                emit(interaction("response", query_type, id, line.response), out);
            }
            "conversation_reset" => emit(info("conversation", Cow::Borrowed("reset")), out),
            "os_notification" => {
                let message = line.message.into_text().unwrap_or_default();
                emit(info("notification", message), out);
            }
            "control_cancel_request" => {
                let id = owned(line.request_id);
                emit(
                    interaction("response", "cancel".to_owned(), id, Value::Null),
                    out,
                );
            }
            _ => {}
        }
        Ok(())
    }
}

fn text_of(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or("control")
        .to_owned()
}

fn interaction(
    phase: &str,
    query_type: String,
    query_id: Option<String>,
    payload: Value,
) -> Interaction {
    let payload = (!payload.is_null()).then_some(payload);
    Interaction {
        phase: phase.to_owned(),
        query_type,
        query_id,
        payload,
    }
}

fn api_retry(line: System<'_>) -> ApiRetry {
    ApiRetry {
        attempt: line.attempt,
        max_attempts: line.max_retries,
        delay_ms: line.retry_delay_ms.and_then(whole_millis),
        status_code: line
            .error_status
            .and_then(|status| u16::try_from(status).ok()),
        reason: line.error.into_text().map(Cow::into_owned),
    }
}

fn on_permission_denied(line: System<'_>, out: &mut SignalSink<'_>) {
    let denied = PermissionDenied {
        tool_name: owned(line.tool_name).unwrap_or_default(),
        tool_call_id: call_id(line.tool_use_id.as_ref()),
        message: line.message.into_text().map(Cow::into_owned),
    };
    emit(denied, out);
}

fn on_hook(line: System<'_>, out: &mut SignalSink<'_>) {
    let outcome = match line.subtype.as_str() {
        "hook_started" => Some("started".to_owned()),
        "hook_progress" => Some("progress".to_owned()),
        _ => owned(line.outcome),
    };
    let output = line.output.into_text().filter(|text| !text.is_empty());
    let hook = Hook {
        name: owned(line.hook_name).unwrap_or_default(),
        event: owned(line.hook_event),
        outcome,
        exit_code: line.exit_code,
        output: output.map(Cow::into_owned),
    };
    emit(hook, out);
}

fn on_informational(line: System<'_>, out: &mut SignalSink<'_>) {
    let texts = [
        line.content,
        line.summary,
        line.message,
        line.text,
        line.reason,
    ];
    let text = texts.into_iter().find_map(TextOrOther::into_text);
    let message = text.unwrap_or_default().into_owned();
    if matches!(line.level.as_deref(), Some("warning" | "error")) {
        emit(Warning { message }, out);
    } else {
        let topic = owned(line.level).unwrap_or_else(|| line.subtype.into_owned());
        emit(
            Info {
                topic: Some(topic),
                message,
            },
            out,
        );
    }
}

fn on_plugin(line: System<'_>, out: &mut SignalSink<'_>) {
    let name = line.name.into_text().unwrap_or(Cow::Borrowed("plugins"));
    let status = line.status.as_deref().unwrap_or("changed");
    if let Some(error) = line.error.into_text() {
        let message = format!("plugin {name}: {status}: {error}");
        emit(Warning { message }, out);
    } else {
        let topic = Some("plugin".to_owned());
        let message = format!("{name}: {status}");
        emit(Info { topic, message }, out);
    }
}

/// Makes a notice of a message whose subtype is not known, if it is nothing but a text.
///
/// New releases bring new words for people. Where there is more to a message than a text and what
/// it looks like, it has a meaning that is not known here.
fn notice_of(subtype: &str, json: &[u8]) -> Option<RuntimeEventKind> {
    const ENVELOPE: &[&str] = &[
        "type",
        "subtype",
        "uuid",
        "session_id",
        "timestamp",
        "parent_tool_use_id",
    ];
    const TEXTS: &[&str] = &[
        "content", "message", "text", "summary", "title", "body", "notice", "warning", "error",
    ];
    let Ok(Value::Object(fields)) = decode::<Value>(json).map(|decoded| decoded.value) else {
        return None;
    };
    let is_plain = fields
        .iter()
        .filter(|(key, _)| !ENVELOPE.contains(&key.as_str()))
        .all(|(_, value)| !value.is_array() && !value.is_object());
    let text_of = |key: &&str| {
        let text = fields.get(*key)?.as_str()?;
        (!text.is_empty()).then(|| text.to_owned())
    };
    let message = TEXTS.iter().find_map(text_of).filter(|_| is_plain)?;
    let grave = |key: &str| {
        let level = fields.get(key).and_then(Value::as_str);
        matches!(level, Some("warning" | "warn" | "error"))
    };
    let is_grave = grave("level") || grave("severity");
    Some(if is_grave || fields.contains_key("error") {
        Warning { message }.into()
    } else {
        let topic = Some(subtype.to_owned());
        Info { topic, message }.into()
    })
}
