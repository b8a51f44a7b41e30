//! Whole outputs, from bytes to signals.

mod any_bytes;
mod json_and_text;
mod older_shapes;
mod stream_json;

use runtape_core::{ErrorFamily, Stream};

use super::*;
use crate::signal::{Block, CallRef, Emitted, Verdict};
use crate::testing::{NOWHERE, context, feed};

/// A parser under test, and what it said in short words.
struct Tape {
    parser: Gemini,
    said: Vec<String>,
}

impl Tape {
    fn new(argv: &[&str]) -> Self {
        Self {
            parser: Gemini::new(&context(argv)),
            said: Vec::new(),
        }
    }

    fn push(mut self, stream: Stream, bytes: &[u8]) -> Self {
        let mut apply = |emitted: Emitted<'_>| self.said.extend(show(&emitted.signal));
        feed(&mut self.parser, stream, bytes, &mut apply);
        self
    }

    fn finish(mut self, exit: &Exit) -> Vec<String> {
        let mut apply = |emitted: Emitted<'_>| self.said.extend(show(&emitted.signal));
        self.parser
            .finish(exit, &mut SignalSink::new(NOWHERE, &mut apply));
        self.said
    }
}

fn show(signal: &Signal<'_>) -> Option<String> {
    let call = |call: &CallRef<'_>| match call {
        CallRef::Printed(id) => (*id).to_owned(),
        CallRef::Local(ordinal) => format!("#{ordinal}"),
    };
    Some(match signal {
        Signal::Session(id) => format!("session {id}"),
        Signal::Model(name) => format!("model {name}"),
        Signal::Format(name) => format!("format {name}"),
        Signal::User(text) => format!("user {text:?}"),
        Signal::Step(_) => "step".to_owned(),
        Signal::TextDelta(text) => format!("+{text:?}"),
        Signal::TextEnd => "end".to_owned(),
        Signal::Text(text) => format!("text {text:?}"),
        Signal::Thinking { text, .. } => format!("thinking {text:?}"),
        Signal::ThinkingDelta(text) => format!("thinking +{text:?}"),
        Signal::MessageCut => "cut".to_owned(),
        Signal::TurnOpened => "turn".to_owned(),
        Signal::ToolCall {
            call: id,
            name,
            input,
            ..
        } => format!("call {} {name} {input}", call(id)),
        Signal::ToolResult {
            call: id,
            content,
            is_error,
            ..
        } => {
            let texts: Vec<&str> = content
                .iter()
                .map(|block| match block {
                    Block::Text(text) => text.as_ref(),
                    Block::Image { .. } | Block::File { .. } => "?",
                })
                .collect();
            format!("result {} {is_error:?} {texts:?}", call(id))
        }
        Signal::Total(counts) => format!(
            "total {:?}/{:?}/{:?}/{:?}",
            counts.input_tokens.unwrap_or(-1),
            counts.cached_input_tokens.unwrap_or(-1),
            counts.output_tokens.unwrap_or(-1),
            counts.reasoning_tokens.unwrap_or(-1)
        ),
        Signal::RawUsage(_) | Signal::UnknownKey { .. } => return None,
        Signal::Result(outcome) => match &outcome.verdict {
            Verdict::Success => "success".to_owned(),
            Verdict::Error(error) => format!(
                "error {} {:?} {:?} {:?}",
                error.name,
                error.status_code.unwrap_or(0),
                error.family.unwrap_or(ErrorFamily::Other),
                error.message
            ),
            Verdict::TurnLimit(error) => format!("turn limit {:?}", error.message),
            Verdict::Interrupted(error) => format!("interrupted {:?}", error.message),
        },
        Signal::Event(event) => {
            format!(
                "{}: {}",
                event.notice_kind().unwrap_or("?"),
                event.notice_text()
            )
        }
        Signal::Unparsed { tag, .. } => format!("unparsed {tag:?}"),
        Signal::Metadata(key, value) => format!("{key} {value}"),
        other => format!("{other:?}"),
    })
}

const STREAM: &[&str] = &["gemini", "-p", "x", "-o", "stream-json"];
const INIT: &str = "{\"type\":\"init\",\"timestamp\":\"1970-01-01T00:00:01.000Z\",\"session_id\":\"0f-1\",\"model\":\"m\"}\n";
const SUCCESS: &str = "{\"type\":\"result\",\"status\":\"success\"}\n";

/// Reads stdout with the exit code; the format is found in the output.
fn read(stdout: &str, code: i32) -> Vec<String> {
    Tape::new(&[])
        .push(Stream::Stdout, stdout.as_bytes())
        .finish(&Exit::with_code(code))
}

/// Reads stdout of a run that was asked for stream-json.
fn read_stream(stdout: &str, code: i32) -> Vec<String> {
    Tape::new(STREAM)
        .push(Stream::Stdout, stdout.as_bytes())
        .finish(&Exit::with_code(code))
}

fn fragment(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":{text},\"delta\":true}}\n")
}

fn tool_use(id: &str) -> String {
    format!(
        "{{\"type\":\"tool_use\",\"tool_name\":\"t\",\"tool_id\":\"{id}\",\"parameters\":{{\"a\":1}}}}\n"
    )
}

fn tool_result(id: &str) -> String {
    format!(
        "{{\"type\":\"tool_result\",\"tool_id\":\"{id}\",\"status\":\"success\",\"output\":\"o\"}}\n"
    )
}
