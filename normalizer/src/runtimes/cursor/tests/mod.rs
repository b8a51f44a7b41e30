//! For tests: feeds output through the parser, and tells what came of it in few words.

mod answers;

use std::collections::BTreeMap;

use runtape_core::{Stream, TokenCounts};
use serde_json::Value;

use super::CursorParser;
use crate::context::Context;
use crate::exit::Exit;
use crate::parser::{RuntimeParser, SignalSink};
use crate::signal::{Block, CallRef, Emitted, Outcome, Signal, TapePlace};
use crate::testing::{NOWHERE, command_line, feed};

/// One call, as it was told.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) step: usize,
    pub(super) is_error: Option<bool>,
    pub(super) output: Option<String>,
}

/// What a run told.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) format: Option<&'static str>,
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    pub(super) metadata: BTreeMap<&'static str, Value>,
    pub(super) users: Vec<String>,
    pub(super) texts: Vec<String>,
    pub(super) thinking: Vec<String>,
    pub(super) calls: Vec<Call>,
    pub(super) steps: usize,
    /// The last text part's step, and all text parts with theirs.
    pub(super) text_steps: Vec<usize>,
    /// A part was still open at the end, or the message was cut.
    pub(super) cut: bool,
    pub(super) total: Option<TokenCounts>,
    pub(super) results: Vec<Outcome<'static>>,
    pub(super) notices: Vec<String>,
    pub(super) unparsed: Vec<(Option<String>, String)>,
    pub(super) unknown_keys: Vec<String>,
    pub(super) places: Vec<TapePlace>,
    open: Open,
    step_open: bool,
    step_key: Option<String>,
}

#[derive(Debug, Default, PartialEq)]
enum Open {
    #[default]
    None,
    Text,
    Thinking,
}

impl Told {
    /// Returns `none`, `success`, or the error's name and message.
    pub(super) fn verdict(&self) -> &str {
        match self.results.last().map(|outcome| outcome.verdict.error()) {
            None => "none",
            Some(None) => "success",
            Some(Some(error)) => {
                Box::leak(format!("{}: {}", error.name, error.message).into_boxed_str())
            }
        }
    }

    /// Returns the text of the last step that has any.
    pub(super) fn last_text(&self) -> String {
        let texts = self.texts.iter().zip(&self.text_steps);
        let last = texts
            .filter(|(_, step)| **step == self.steps)
            .map(|(text, _)| text.as_str());
        last.collect()
    }

    fn step(&mut self) {
        if !self.step_open {
            self.step_open = true;
            self.step_key = None;
            self.steps += 1;
        }
    }

    fn push_text(&mut self, text: &str, open: bool) {
        self.step();
        if self.open == Open::Text && open {
            self.texts.last_mut().unwrap().push_str(text);
        } else {
            self.texts.push(text.to_owned());
            self.text_steps.push(self.steps);
        }
        self.open = if open { Open::Text } else { Open::None };
    }

    #[expect(clippy::too_many_lines, reason = "one arm a signal")]
    fn apply(&mut self, emitted: Emitted<'_>) {
        self.places.push(emitted.place);
        match emitted.signal {
            Signal::Session(id) => self.session = Some(id.to_owned()),
            Signal::Model(model) => self.model = Some(model.to_owned()),
            Signal::Format(format) => self.format = Some(format),
            Signal::Metadata(key, value) => {
                self.metadata.insert(key, value);
            }
            Signal::User(text) => {
                self.users.push(text.into_owned());
                self.open = Open::None;
                self.step_open = false;
            }
            Signal::Step(key) => {
                if self.step_open && key.is_some() && self.step_key.as_deref() == key {
                    return;
                }
                self.step_open = true;
                self.step_key = key.map(str::to_owned);
                self.steps += 1;
                self.open = Open::None;
            }
            Signal::TextDelta(text) => self.push_text(&text, true),
            Signal::Text(text) => self.push_text(&text, false),
            Signal::TextEnd if self.open == Open::Text => self.open = Open::None,
            Signal::ThinkingEnd { .. } if self.open == Open::Thinking => self.open = Open::None,
            Signal::ThinkingDelta(text) => {
                self.step();
                match self.thinking.last_mut() {
                    Some(last) if self.open == Open::Thinking => last.push_str(&text),
                    _ => self.thinking.push(text.into_owned()),
                }
                self.open = Open::Thinking;
            }
            Signal::Thinking { text, .. } => {
                self.step();
                self.open = Open::None;
                self.thinking.push(text.into_owned());
            }
            Signal::ToolCall {
                call, name, input, ..
            } => {
                self.step();
                let id = id(call);
                match self.calls.iter_mut().find(|call| call.id == id) {
                    Some(known) if known.input.is_null() => known.input = input,
                    Some(_) => {}
                    None => {
                        self.open = Open::None;
                        let (name, step) = (name.into_owned(), self.steps);
                        self.calls.push(Call {
                            id,
                            name,
                            input,
                            step,
                            ..Call::default()
                        });
                    }
                }
            }
            Signal::ToolResult {
                call,
                content,
                is_error,
                ..
            } => {
                let id = id(call);
                let texts: Vec<String> = content
                    .into_iter()
                    .map(|block| match block {
                        Block::Text(text) => text.into_owned(),
                        other => format!("{other:?}"),
                    })
                    .collect();
                let output = (!texts.is_empty()).then(|| texts.join("\n"));
                match self.calls.iter_mut().find(|call| call.id == id) {
                    Some(call) => {
                        call.is_error = is_error;
                        call.output = output;
                    }
                    None => self.calls.push(Call {
                        id,
                        is_error,
                        output,
                        ..Call::default()
                    }),
                }
            }
            Signal::MessageCut => self.cut = true,
            Signal::Total(counts) => self.total = Some(counts),
            Signal::Result(outcome) => self.results.push(Outcome {
                verdict: outcome.verdict,
                subtype: outcome.subtype.map(|text| text.into_owned().into()),
                text: outcome.text.map(|text| text.into_owned().into()),
                answer: outcome.answer.map(|text| text.into_owned().into()),
                was_answered: outcome.was_answered,
                duration_ms: outcome.duration_ms,
            }),
            Signal::Event(event) => {
                let kind = event.notice_kind().unwrap();
                self.notices
                    .push(format!("{kind}: {}", event.notice_text()));
            }
            Signal::Unparsed { tag, reason } => {
                self.unparsed
                    .push((tag.map(Into::into), reason.into_owned()));
            }
            Signal::UnknownKey { message, key } => {
                self.unknown_keys.push(format!("{message}.{key}"));
            }
            Signal::TurnOpened => {
                if let Some(outcome) = self.results.pop() {
                    self.notices.push(format!("result: {:?}", outcome.verdict));
                }
            }
            _ => {}
        }
    }
}

fn id(call: CallRef<'_>) -> String {
    match call {
        CallRef::Printed(id) => id.to_owned(),
        CallRef::Local(ordinal) => format!("#{ordinal}"),
    }
}

fn run(context: &Context, stdout: &str, stderr: &str, exit: &Exit) -> Told {
    let mut told = Told::default();
    let mut parser = CursorParser::new(context);
    let mut apply = |emitted: Emitted<'_>| told.apply(emitted);
    feed(&mut parser, Stream::Stdout, stdout.as_bytes(), &mut apply);
    feed(&mut parser, Stream::Stderr, stderr.as_bytes(), &mut apply);
    parser.finish(exit, &mut SignalSink::new(NOWHERE, &mut apply));
    told.cut |= told.open != Open::None;
    told
}

/// Parses the output of a run of which no command line is known.
pub(super) fn parse(stdout: &str, stderr: &str, exit: &Exit) -> Told {
    run(&command_line(""), stdout, stderr, exit)
}

/// Parses the output of a run with a command line.
pub(super) fn parse_as(argv: &str, stdout: &str, stderr: &str, exit: &Exit) -> Told {
    run(&command_line(argv), stdout, stderr, exit)
}

/// Parses with a limit on what is held.
pub(super) fn parse_with_limit(limit: usize, stdout: &str, exit: &Exit) -> Told {
    let context = Context {
        limit,
        ..command_line("")
    };
    run(&context, stdout, "", exit)
}

/// Composes the lines of a stream.
#[expect(
    clippy::needless_pass_by_value,
    reason = "callers compose values in place"
)]
pub(super) mod line {
    use serde_json::{Value, json};

    pub(crate) const SESSION: &str = "5b0d6c1e-0a5f-4c7e-9f53-2f1f6f9d1a01";

    fn event(mut fields: Value) -> String {
        fields["session_id"] = SESSION.into();
        format!("{fields}\n")
    }

    pub(crate) fn init() -> String {
        event(
            json!({"type": "system", "subtype": "init", "apiKeySource": "login",
            "cwd": "/home/dev/proj", "model": "Auto", "permissionMode": "default"}),
        )
    }

    pub(crate) fn user(text: &str) -> String {
        let content = json!([{"type": "text", "text": text}]);
        event(json!({"type": "user", "message": {"role": "user", "content": content}}))
    }

    pub(crate) fn thinking(text: &str) -> String {
        event(json!({"type": "thinking", "subtype": "delta", "text": text, "timestamp_ms": 10}))
    }

    pub(crate) fn thought() -> String {
        event(json!({"type": "thinking", "subtype": "completed", "timestamp_ms": 11}))
    }

    pub(crate) fn blocks(content: Value, key: Option<&str>, at: Option<u64>) -> String {
        let mut fields =
            json!({"type": "assistant", "message": {"role": "assistant", "content": content}});
        if let Some(key) = key {
            fields["model_call_id"] = key.into();
        }
        if let Some(at) = at {
            fields["timestamp_ms"] = at.into();
        }
        event(fields)
    }

    /// A delta of text.
    pub(crate) fn delta(text: &str) -> String {
        blocks(json!([{"type": "text", "text": text}]), None, Some(12))
    }

    /// A whole segment before a tool call.
    pub(crate) fn flush(text: &str, key: &str) -> String {
        blocks(json!([{"type": "text", "text": text}]), Some(key), Some(13))
    }

    /// The whole last segment.
    pub(crate) fn last(text: &str) -> String {
        blocks(json!([{"type": "text", "text": text}]), None, None)
    }

    pub(crate) fn call(subtype: &str, id: &str, key: &str, tool: Value) -> String {
        event(
            json!({"type": "tool_call", "subtype": subtype, "call_id": id, "tool_call": tool,
            "model_call_id": key, "timestamp_ms": 14}),
        )
    }

    pub(crate) fn started(id: &str, key: &str) -> String {
        call(
            "started",
            id,
            key,
            json!({"shellToolCall": {"args": {"command": id}}}),
        )
    }

    pub(crate) fn completed(id: &str, key: &str) -> String {
        let result = json!({"success": {"exitCode": 0, "stdout": "ok\n"}, "isBackground": false});
        let tool = json!({"shellToolCall": {"args": {"command": id}, "result": result}});
        call("completed", id, key, tool)
    }

    pub(crate) fn other(fields: Value) -> String {
        event(fields)
    }

    pub(crate) fn result(text: &str) -> String {
        event(
            json!({"type": "result", "subtype": "success", "duration_ms": 1200,
            "duration_api_ms": 1200, "is_error": false, "result": text, "request_id": "r-1",
            "usage": {"inputTokens": 7, "outputTokens": 5, "cacheReadTokens": 90, "cacheWriteTokens": 3}}),
        )
    }
}
