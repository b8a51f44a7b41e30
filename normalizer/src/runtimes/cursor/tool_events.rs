//! `tool_call` events: calls and what came of them.

use std::borrow::Cow;

use runtape_core::ToolCallId;
use runtape_core::runtime_event::PermissionDenied;
use serde_json::Value;

use super::call_wire::{FullEvent, LeanEvent};
use super::events::{Events, unknown_subtype};
use super::known_calls::{CallMemory, KnownCalls};
use super::tool_result::{self, Denied, Judged};
use super::tools::detail;
use crate::json::{DecodeError, Str, decode, is_too_much};
use crate::parser::SignalSink;
use crate::signal::{CallRef, Scope, Signal};

impl Events {
    pub(super) fn on_tool_call(
        &mut self,
        event: &[u8],
        subtype: Option<&str>,
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        // Of a call that is known only the result is new.
        if subtype == Some("completed")
            && !is_too_much(event)
            && let Ok(text) = str::from_utf8(event)
            && let Ok(lean) = serde_json::from_str::<LeanEvent<'_>>(text)
        {
            let id = lean.id.as_ref().filter(|id| !id.is_empty());
            let known = id.and_then(|id| self.calls.get(CallRef::Printed(id)));
            if known.is_some_and(|known| known.has_input) {
                let mut lean = FullEvent::from(lean);
                if let Some(judged) = tool_result::judge(&mut lean.body, lean.is_error) {
                    self.on_completed(lean, judged, out);
                    return Ok(());
                }
            }
        }
        let mut full: FullEvent<'_> = out.read("tool_call", event)?;
        let subtype = full.subtype.take();
        match subtype.as_deref() {
            Some("started" | "start") => self.on_started(full, out),
            Some("completed" | "complete" | "finished") => {
                let judged = tool_result::judge(&mut full.body, full.is_error).unwrap_or_default();
                self.on_completed(full, judged, out);
            }
            Some(word) if tool_result::is_failed(word) => {
                let judged = tool_result::judge(&mut full.body, Some(true)).unwrap_or_default();
                self.on_completed(full, judged, out);
            }
            subtype => {
                self.note("tool_call", full.session.as_ref(), &full.unknown, out);
                unknown_subtype("tool_call", subtype, out);
            }
        }
        Ok(())
    }

    fn on_started(&mut self, mut event: FullEvent<'_>, out: &mut SignalSink<'_>) {
        let input = take_input(&mut event);
        self.on_call(&event, input, true, out);
    }

    fn on_completed(
        &mut self,
        mut event: FullEvent<'_>,
        judged: Judged<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let input = take_input(&mut event);
        let call = self.on_call(&event, input, false, out);
        self.answer_call(call, Some(event.body.name()), judged, out);
    }

    /// Emits the call of an event, unless it is known, and returns how it is named.
    fn on_call<'e>(
        &mut self,
        event: &'e FullEvent<'_>,
        input: Value,
        starts: bool,
        out: &mut SignalSink<'_>,
    ) -> CallRef<'e> {
        out.set_millis(event.at);
        self.note_call(event, out);
        let name = event.body.name();
        let id = event.id.as_ref().filter(|id| !id.is_empty());
        let id = id.or(event.body.call_id.as_ref());
        let call = reference(&mut self.calls, id, name, starts);
        self.make_call(call, name.into(), input, event.key.as_deref(), out);
        call
    }

    fn note_call(&mut self, event: &FullEvent<'_>, out: &mut SignalSink<'_>) {
        self.note("tool_call", event.session.as_ref(), &event.unknown, out);
        self.note("tool_call", None, &event.body.unknown, out);
    }

    /// Emits a call, unless it is known with all its input.
    pub(super) fn make_call(
        &mut self,
        call: CallRef<'_>,
        name: Cow<'_, str>,
        input: Value,
        key: Option<&str>,
        out: &mut SignalSink<'_>,
    ) {
        let has_input = !input.is_null();
        if let Some(known) = self.calls.get(call) {
            if known.has_input || !has_input {
                return;
            }
            known.has_input = true;
        } else {
            let key = key.filter(|key| !key.is_empty());
            let step = self.segments.begin_call(key, out);
            self.calls.add(
                call,
                CallMemory {
                    step,
                    has_input,
                    is_done: false,
                },
            );
        }
        let detail = detail(&name, &input);
        out.emit(Signal::ToolCall {
            call,
            name,
            input,
            detail,
        });
    }

    pub(super) fn answer_call(
        &mut self,
        call: CallRef<'_>,
        name: Option<&str>,
        judged: Judged<'_>,
        out: &mut SignalSink<'_>,
    ) {
        if let Some(known) = self.calls.get(call)
            && !std::mem::replace(&mut known.is_done, true)
        {
            self.segments.end_call(known.step);
        }
        let Judged {
            content,
            is_error,
            denied,
            duration_ms,
        } = judged;
        let name = name.map(Cow::from);
        if let Some(Denied(message)) = denied {
            let tool_call_id = match call {
                CallRef::Printed(id) => ToolCallId::from_printed(id),
                CallRef::Local(_) => None,
            };
            let tool_name = name.as_deref().unwrap_or_default().to_owned();
            let denied = PermissionDenied {
                tool_name,
                tool_call_id,
                message,
            };
            out.event(denied);
        }
        out.emit(Signal::ToolResult {
            call,
            name,
            content,
            is_error,
            duration_ms,
        });
    }
}

/// Names a call by its id, or by its order where it has none.
pub(super) fn reference<'a>(
    calls: &mut KnownCalls,
    id: Option<&'a Str<'_>>,
    name: &str,
    starts: bool,
) -> CallRef<'a> {
    let id = id.map(Str::as_str);
    if starts {
        calls.unnamed.call(Scope::Main, id, name)
    } else {
        let name = Some(name).filter(|name| !name.is_empty());
        calls.unnamed.result(Scope::Main, id, name)
    }
}

/// Takes the input of a call: its arguments, or whatever stands in their place.
fn take_input(event: &mut FullEvent<'_>) -> Value {
    let payload = &mut event.body.payload;
    match (
        std::mem::take(&mut payload.args),
        std::mem::take(&mut payload.arguments),
    ) {
        (Value::Null, Value::String(text)) => match decode::<Value>(text.as_bytes()) {
            Ok(arguments) => arguments.value,
            Err(_) => Value::String(text),
        },
        (Value::Null, Value::Null) => {
            let mut rest = std::mem::take(&mut payload.rest);
            rest.remove("description");
            if rest.is_empty() {
                Value::Null
            } else {
                Value::Object(rest)
            }
        }
        (Value::Null, arguments) => arguments,
        (args, _) => args,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::line::{blocks, call, last, other, result, started};
    use super::super::tests::{Call, Told, parse};
    use crate::exit::Exit;

    fn run(lines: &[String]) -> Told {
        parse(&lines.concat(), "", &Exit::with_code(0))
    }

    fn only(lines: &[String]) -> Call {
        let mut told = run(lines);
        assert!(told.unparsed.is_empty(), "{:?}", told.unparsed);
        assert_eq!(told.calls.len(), 1, "{:?}", told.calls);
        told.calls.remove(0)
    }

    #[test]
    fn a_call_is_paired_by_its_id_with_a_newline_in_it() {
        let id = "call_A1\nfc_B2";
        let tool = json!({"shellToolCall": {"args": {"command": "x"}, "result": {"failure": {"exitCode": 1, "stderr": "no"}}}});
        let call = only(&[started(id, "k"), call("completed", id, "k", tool)]);
        assert_eq!((call.id.as_str(), call.name.as_str()), (id, "shell"));
        assert_eq!(call.input, json!({"command": id}));
        assert_eq!(
            (call.is_error, call.output.as_deref()),
            (Some(true), Some("no"))
        );
    }

    #[test]
    fn a_failed_completion_without_arguments_keeps_those_of_the_start() {
        let tool = json!({"readToolCall": {"result": {"error": {"errorMessage": "gone"}}}, "toolCallId": "c1"});
        let begun = json!({"readToolCall": {"args": {"path": "/home/dev/proj/a", "limit": 3}}});
        let call = only(&[
            call("started", "c1", "k", begun),
            call("completed", "c1", "k", tool),
        ]);
        assert_eq!(call.input, json!({"path": "/home/dev/proj/a", "limit": 3}));
        assert_eq!(
            (call.is_error, call.output.as_deref()),
            (Some(true), Some("gone"))
        );
    }

    #[test]
    fn a_completion_alone_is_a_call_with_its_result() {
        let tool = json!({"toolCallId": "c1", "globToolCall": {"args": {"globPattern": "*"}, "result": {"success": {"files": []}}}});
        let call = only(&[call("completed", "c1", "k", tool)]);
        assert_eq!((call.name.as_str(), call.is_error), ("glob", Some(false)));
        assert_eq!(call.input, json!({"globPattern": "*"}));
    }

    #[test]
    fn a_start_without_input_takes_that_of_its_completion() {
        let tool = json!({"lsToolCall": {"args": {"path": "/"}, "result": {"success": {}}}});
        let begun = json!({"lsToolCall": {}});
        let call = only(&[
            call("started", "c1", "k", begun),
            call("completed", "c1", "k", tool),
        ]);
        assert_eq!(call.input, json!({"path": "/"}));
    }

    #[test]
    fn a_start_alone_has_no_result_and_a_result_may_tell_nothing() {
        assert_eq!(only(&[started("c1", "k")]).is_error, None);
        let tool = json!({"shellToolCall": {"args": {"command": "c1"}}});
        let call = only(&[started("c1", "k"), call("completed", "c1", "k", tool)]);
        assert_eq!((call.is_error, call.output), (None, None));
        let begun = json!({"awaitToolCall": {}});
        assert_eq!(
            only(&[super::super::tests::line::call("started", "c1", "k", begun)]).input,
            Value::Null
        );
    }

    #[test]
    fn a_function_has_its_own_name_and_parsed_arguments() {
        let table = [
            (json!("{\"q\":\"x\",\"n\":2}"), json!({"q": "x", "n": 2})),
            (json!({"q": "x"}), json!({"q": "x"})),
            (json!("not json"), json!("not json")),
        ];
        for (arguments, input) in table {
            let begun = json!({"function": {"name": "lookup", "arguments": arguments}});
            let done =
                json!({"function": {"name": "lookup", "arguments": arguments, "result": "found"}});
            let call = only(&[
                call("started", "c1", "k", begun),
                call("completed", "c1", "k", done),
            ]);
            assert_eq!((call.name.as_str(), call.input), ("lookup", input));
            assert_eq!(
                (call.is_error, call.output.as_deref()),
                (Some(false), Some("found"))
            );
        }
    }

    #[test]
    fn an_mcp_call_keeps_its_name_and_all_its_arguments() {
        let args = json!({"name": "db-query", "args": {"sql": "SELECT 1"}, "providerIdentifier": "db", "toolName": "query"});
        let result = json!({"success": {"content": [{"text": {"text": "boom"}}], "isError": true}});
        let tool = json!({"mcpToolCall": {"args": args, "result": result}});
        let call = only(&[call("completed", "c1", "k", tool)]);
        assert_eq!(
            (call.name.as_str(), call.input, call.is_error),
            ("mcp", args, Some(true))
        );
    }

    #[test]
    fn other_words_for_the_end_of_a_call_end_it_too() {
        let table = [
            ("finished", None),
            ("failed", Some(true)),
            ("error", Some(true)),
            ("cancelled", Some(true)),
        ];
        for (subtype, is_error) in table {
            let tool = json!({"shellToolCall": {"args": {"command": "c1"}}});
            let call = only(&[started("c1", "k"), call(subtype, "c1", "k", tool)]);
            assert_eq!(call.is_error, is_error, "{subtype}");
        }
        let told = run(&[started("c1", "k"), call("progress", "c1", "k", json!({}))]);
        assert_eq!(told.unparsed[0].1, "unknown subtype `progress`");
    }

    #[test]
    fn a_refusal_is_noticed_once_and_the_run_still_succeeds() {
        let tool = json!({"shellToolCall": {"args": {"command": "c1"}, "result": {"rejected": {"command": "c1", "reason": "blocked"}}}});
        let told = run(&[
            started("c1", "k"),
            call("completed", "c1", "k", tool),
            last("I could not."),
            result("I could not."),
        ]);
        assert_eq!(told.notices, ["permissionDenied: shell: blocked"]);
        assert_eq!(
            (told.calls[0].is_error, told.verdict()),
            (Some(true), "success")
        );
    }

    #[test]
    fn calls_without_an_id_take_that_of_the_body_or_are_counted() {
        let begun = json!({"shellToolCall": {"args": {"command": "x"}}});
        let done = json!({"shellToolCall": {"args": {"command": "x"}, "result": "ok"}});
        let event = |subtype: &str, tool: &Value| {
            other(json!({"type": "tool_call", "subtype": subtype, "tool_call": tool}))
        };
        let call = only(&[event("started", &begun), event("completed", &done)]);
        assert_eq!((call.id.as_str(), call.is_error), ("#0", Some(false)));
        let mut named = done.clone();
        named["toolCallId"] = "c9".into();
        assert_eq!(only(&[event("completed", &named)]).id, "c9");
    }

    #[test]
    fn a_repeated_call_and_a_repeated_result_change_nothing() {
        let tool = json!({"shellToolCall": {"args": {"command": "other"}, "result": {"success": {"stdout": "1"}}}});
        let done = call("completed", "c1", "k", tool);
        let told = run(&[started("c1", "k"), started("c1", "k"), done.clone(), done]);
        assert_eq!((told.calls.len(), told.steps), (1, 1));
        assert_eq!(told.calls[0].input, json!({"command": "c1"}));
    }

    #[test]
    fn blocks_of_other_kinds_in_a_message_are_not_lost() {
        let content = json!([
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "Look"},
            {"type": "text", "text": "ing."},
            {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": 1}},
            {"type": "hologram", "x": 1},
        ]);
        let answer = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "none", "is_error": true}]);
        let told = run(&[
            blocks(content, Some("k"), Some(5)),
            other(json!({"type": "user", "message": {"role": "user", "content": answer}})),
            last("Done."),
            result("…"),
        ]);
        assert_eq!(told.thinking, ["hm"]);
        assert_eq!(told.texts, ["Looking.", "Done."]);
        let call = &told.calls[0];
        assert_eq!(
            (call.id.as_str(), call.name.as_str(), &call.input),
            ("t1", "search", &json!({"q": 1}))
        );
        assert_eq!(
            (call.is_error, call.output.as_deref()),
            (Some(true), Some("none"))
        );
        assert_eq!(
            told.unparsed,
            [(
                Some("assistant".to_owned()),
                "unknown block `hologram`".to_owned()
            )]
        );
        assert!(told.users.is_empty());
        assert_eq!(told.steps, 2);
    }
}
