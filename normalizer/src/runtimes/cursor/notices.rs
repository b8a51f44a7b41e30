//! Events around the model's work: the start of a turn, the connection, questions, tasks.

use runtape_core::ToolCallId;
use runtape_core::runtime_event::{ApiRetry, Connection, Info, Interaction, Task};
use serde_json::Value;

use super::events::{Events, unknown_subtype};
use super::wire;
use crate::json::{DecodeError, Str, decode};
use crate::parser::SignalSink;
use crate::signal::Signal;

impl Events {
    pub(super) fn on_system(
        &mut self,
        event: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let system: wire::System<'_> = out.read("system", event)?;
        out.set_millis(system.at);
        let subtype = system.subtype.as_deref();
        let unknown = if subtype == Some("init") {
            system.unknown.as_slice()
        } else {
            &[]
        };
        self.note("system", system.session.as_ref(), unknown, out);
        match subtype {
            Some("init") => {
                self.segments.end_turn(out);
                self.has_result = false;
                out.emit(Signal::TurnOpened);
                if let Some(cwd) = &system.cwd {
                    out.emit(Signal::Cwd(cwd));
                }
                let metadata = [
                    ("apiKeySource", &system.api_key_source),
                    ("permissionMode", &system.permission_mode),
                ];
                for (key, value) in metadata {
                    if let Some(value) = value {
                        out.emit(Signal::Metadata(key, value.as_str().into()));
                    }
                }
                if let Some(model) = system.model.as_deref().filter(|model| !model.is_empty()) {
                    out.emit(Signal::Model(model));
                }
            }
            Some("error") => return self.on_error(event, out),
            Some("task_notification") => out.emit(Signal::Event(task(event)?.into())),
            Some("background_shell_timeout") => {
                let topic = subtype.map(str::to_owned);
                let message = leftovers(event)?;
                out.event(Info { topic, message });
            }
            subtype => unknown_subtype("system", subtype, out),
        }
        Ok(())
    }

    pub(super) fn on_connection(
        &mut self,
        tag: &str,
        event: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let connection: wire::Connection<'_> = out.read(tag, event)?;
        out.set_millis(connection.at);
        self.note(tag, connection.session.as_ref(), &connection.unknown, out);
        let attempt = connection.attempt;
        match (tag, connection.subtype.as_deref()) {
            ("connection", Some(state @ ("reconnecting" | "reconnected"))) => {
                let endpoint = connection.endpoint.map(Str::into_owned);
                let state = state.to_owned();
                out.event(Connection {
                    state,
                    attempt,
                    endpoint,
                });
            }
            ("retry", Some("starting")) => {
                let reason = connection.is_resume.map(|is_resume| {
                    let reason = if is_resume {
                        "retrying, resuming"
                    } else {
                        "retrying, from the start"
                    };
                    reason.to_owned()
                });
                let retry = ApiRetry {
                    attempt,
                    max_attempts: None,
                    delay_ms: None,
                    status_code: None,
                    reason,
                };
                // One that is no resumption repeats what was said of the open message.
                if connection.is_resume == Some(false) {
                    self.segments.give_up(retry, out);
                } else {
                    out.event(retry);
                }
            }
            (_, subtype) => unknown_subtype(tag, subtype, out),
        }
        Ok(())
    }

    pub(super) fn on_interaction(
        &mut self,
        event: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let tag = "interaction_query";
        let interaction: wire::Interaction<'_> = out.read(tag, event)?;
        out.set_millis(interaction.at);
        self.note(tag, interaction.session.as_ref(), &interaction.unknown, out);
        let payload = match interaction.subtype.as_deref() {
            Some("request") => interaction.query,
            Some("response") => interaction.response,
            subtype => {
                unknown_subtype(tag, subtype, out);
                return Ok(());
            }
        };
        let query_id = payload.get("id").map(|id| match id {
            Value::String(id) => id.clone(),
            id => id.to_string(),
        });
        let only_key = || {
            let keys = payload
                .as_object()
                .into_iter()
                .flat_map(|fields| fields.keys());
            keys.filter(|key| *key != "id").map(String::as_str).next()
        };
        let query_type = interaction
            .query_type
            .as_deref()
            .or_else(only_key)
            .unwrap_or("unknown");
        let event = Interaction {
            phase: interaction
                .subtype
                .as_deref()
                .unwrap_or_default()
                .to_owned(),
            query_type: query_type.to_owned(),
            query_id,
            payload: Some(payload).filter(|payload| !payload.is_null()),
        };
        out.event(event);
        Ok(())
    }
}

/// Reads a notification about a task. Its fields are not documented, so by the names they may have.
fn task(event: &[u8]) -> Result<Task, DecodeError> {
    let event = decode::<Value>(event)?.value;
    let text = |keys: &[&str]| {
        let found = keys.iter().find_map(|key| event.get(*key)?.as_str());
        found.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    Ok(Task {
        task_id: text(&["task_id", "taskId", "agentId", "shellId", "id"]),
        tool_call_id: text(&["tool_call_id", "toolCallId", "call_id", "tool_use_id"])
            .and_then(|id| ToolCallId::from_printed(&id)),
        status: text(&["status"]).unwrap_or_else(|| "notification".to_owned()),
        description: text(&["summary", "description", "message", "title", "text"]),
    })
}

/// Returns what an event says beside the fields that all have.
fn leftovers(event: &[u8]) -> Result<String, DecodeError> {
    let mut event = decode::<Value>(event)?.value;
    if let Some(fields) = event.as_object_mut() {
        for common in ["type", "subtype", "session_id", "timestamp_ms"] {
            fields.remove(common);
        }
        if let Some(Value::String(message)) = fields.remove("message") {
            return Ok(message);
        }
        if fields.is_empty() {
            return Ok(String::new());
        }
    }
    Ok(event.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::line::{SESSION, init, other, result};
    use super::super::tests::{Told, parse};
    use crate::exit::Exit;

    fn run(lines: &[String]) -> Told {
        parse(&lines.concat(), "", &Exit::with_code(0))
    }

    #[test]
    fn the_first_line_names_session_model_and_directory() {
        let told = run(&[init()]);
        assert_eq!(told.session.as_deref(), Some(SESSION));
        assert_eq!(told.model.as_deref(), Some("Auto"));
        assert_eq!(told.metadata["apiKeySource"], "login");
        assert_eq!(told.metadata["permissionMode"], "default");
        assert!(told.unknown_keys.is_empty());
    }

    #[test]
    fn notices_have_their_kinds() {
        let told = run(&[
            other(
                json!({"type": "connection", "subtype": "reconnecting", "attempt": 2, "endpoint_url": "https://api.example.com", "timestamp_ms": 5}),
            ),
            other(json!({"type": "retry", "subtype": "starting", "attempt": 2, "is_resume": true})),
            other(
                json!({"type": "interaction_query", "subtype": "request", "query_type": "webSearchRequestQuery",
                "query": {"id": 7, "webSearchRequestQuery": {"args": {"searchTerm": "x"}}}}),
            ),
            other(
                json!({"type": "interaction_query", "subtype": "response", "query_type": "webSearchRequestQuery",
                "response": {"id": 7, "webSearchRequestResponse": {"rejected": {"reason": "no"}}}}),
            ),
            other(
                json!({"type": "system", "subtype": "task_notification", "task_id": "t1", "status": "completed", "summary": "all read"}),
            ),
            other(json!({"type": "system", "subtype": "background_shell_timeout", "shellId": 3})),
        ]);
        assert_eq!(
            told.notices,
            [
                "connection: reconnecting (attempt 2)",
                "retry: retrying, resuming (attempt 2)",
                r#"interaction: webSearchRequestQuery request ({"id":7,"webSearchRequestQuery":{"args":{"searchTerm":"x"}}})"#,
                r#"interaction: webSearchRequestQuery response ({"id":7,"webSearchRequestResponse":{"rejected":{"reason":"no"}}})"#,
                "task: completed: all read",
                "info: background_shell_timeout: {\"shellId\":3}",
            ]
        );
        assert!(told.unparsed.is_empty());
    }

    #[test]
    fn unknown_types_and_subtypes_are_kept_as_such() {
        let told = run(&[
            init(),
            other(json!({"type": "weather", "x": 1})),
            other(json!({"type": "system", "subtype": "sunrise"})),
            other(json!({"type": "connection", "subtype": "frozen"})),
            other(json!({"type": "thinking", "subtype": "paused"})),
            other(json!({"type": "text", "part": {"text": "old"}})),
            other(json!({"kind": "none"})),
        ]);
        let tags: Vec<_> = told
            .unparsed
            .iter()
            .map(|(tag, _)| tag.as_deref())
            .collect();
        assert_eq!(
            tags,
            [
                Some("weather"),
                Some("system"),
                Some("connection"),
                Some("thinking"),
                Some("text"),
                None
            ]
        );
        assert_eq!(told.unparsed[0].1, "unknown type");
        assert_eq!(told.unparsed[1].1, "unknown subtype `sunrise`");
    }

    #[test]
    fn unknown_keys_are_counted_and_faults_reported() {
        let told = run(&[
            init(),
            other(json!({"type": "thinking", "subtype": "delta", "text": 5, "mood": "x"})),
        ]);
        assert_eq!(told.unknown_keys, ["thinking.mood"]);
        assert_eq!(told.unparsed.len(), 1);
        assert!(
            told.unparsed[0].1.starts_with("text: "),
            "{:?}",
            told.unparsed
        );
    }

    #[test]
    fn a_new_turn_takes_the_word_from_an_earlier_result() {
        let told = run(&[init(), result("One."), init()]);
        assert_eq!((told.verdict(), told.notices.len()), ("none", 1));
    }

    #[test]
    fn prose_never_becomes_a_session_id() {
        for id in ["from a previous run", "--help", "", "a/b", &"x".repeat(129)] {
            let event = json!({"type": "user", "message": "x", "session_id": id});
            let told = run(&[init(), format!("{event}\n")]);
            assert_eq!(told.session.as_deref(), Some(SESSION), "{id}");
        }
        let event = json!({"type": "user", "message": "x", "session_id": "my-chat_2.b"});
        assert_eq!(
            run(&[format!("{event}\n")]).session.as_deref(),
            Some("my-chat_2.b")
        );
    }
}
