//! Messages while they are being written (`--include-partial-messages`).
//!
//! Each block comes twice: in pieces, and whole on an `assistant` line after the last piece and
//! before its `content_block_stop`. The pieces are what is reported; the whole block only confirms
//! that nothing is missing.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use runtape_core::TokenCounts;
use runtape_core::runtime_event::Warning;
use serde_json::Value;

use super::content::Block;
use super::conversation::{Conversation, note_keys, read, unparsed};
use super::tools;
use super::usage::of_response;
use super::wire::{ApiMessage, Delta, StreamEvent, Usage};
use crate::json::{DecodeError, Str, decode};
use crate::parser::SignalSink;
use crate::signal::{CallRef, Scope, Signal};

/// What a content block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Text,
    Thinking,
    /// Thinking that is withheld.
    Redacted,
    /// A call of a tool, the CLI's or one that runs at the model's maker.
    Call,
    /// The result of a tool.
    Answer,
    /// A file that the model made.
    Upload,
    Unknown,
}

impl Kind {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "text" => Self::Text,
            "thinking" => Self::Thinking,
            "redacted_thinking" => Self::Redacted,
            "tool_use" | "server_tool_use" | "mcp_tool_use" => Self::Call,
            "container_upload" => Self::Upload,
            // tool_result, mcp_tool_result, web_search_tool_result, web_fetch_tool_result,
            // bash_code_execution_tool_result …
            name if name.ends_with("tool_result") => Self::Answer,
            _ => Self::Unknown,
        }
    }

    /// Tells whether the keys of such a block are all known.
    pub(super) fn is_plain(self) -> bool {
        matches!(
            self,
            Self::Text | Self::Thinking | Self::Redacted | Self::Call
        )
    }
}

/// A block that pieces still arrive for.
#[derive(Debug)]
struct OpenBlock {
    kind: Kind,
    /// A piece was reported.
    begun: bool,
    signature: String,
    /// The call without an id that it is.
    unnamed: Option<CallRef<'static>>,
    /// The call, and its input as far as it was written.
    call: String,
    name: String,
    input: String,
    /// The whole block was printed.
    confirmed: bool,
}

/// A message that is being written, or was written last, in one run.
#[derive(Debug)]
struct MessageStream {
    /// The call that started the run; empty for the main run.
    run: Box<str>,
    id: String,
    model: Option<String>,
    usage: TokenCounts,
    /// Its first block was begun, so that it is a step.
    begun: bool,
    /// Its numbers are final, which is said at its end.
    is_final: bool,
    stopped: bool,
    open: Option<OpenBlock>,
    /// How many blocks of each kind were reported and not printed whole yet.
    unconfirmed: HashMap<Kind, usize>,
    /// Its calls without an id that were not printed whole yet.
    unnamed: VecDeque<CallRef<'static>>,
}

/// The messages being written, one a run. Only the main run's were ever seen (2.1.325).
#[derive(Debug, Default)]
pub(super) struct Streams {
    main: Option<MessageStream>,
    /// The children's, in the order they appeared.
    children: Vec<MessageStream>,
    places: HashMap<Box<str>, usize>,
}

fn run_of(scope: Scope<'_>) -> &str {
    match scope {
        Scope::Main => "",
        Scope::Child(call) => call,
    }
}

impl Streams {
    fn of(&mut self, scope: Scope<'_>) -> Option<&mut MessageStream> {
        match scope {
            Scope::Main => self.main.as_mut(),
            Scope::Child(call) => self.children.get_mut(*self.places.get(call)?),
        }
    }

    /// Begins a message; one before it that was not stopped is cut off.
    fn begin(&mut self, scope: Scope<'_>, message: &ApiMessage<'_>, out: &mut SignalSink<'_>) {
        let usage = message
            .usage
            .as_ref()
            .map(|usage| of_response(usage, false));
        let run = run_of(scope);
        let stream = MessageStream {
            run: run.into(),
            id: message.id.as_deref().unwrap_or_default().to_owned(),
            model: message
                .model
                .as_ref()
                .map(|model| model.as_str().to_owned()),
            usage: usage.unwrap_or_default(),
            begun: false,
            is_final: false,
            stopped: false,
            open: None,
            unconfirmed: HashMap::new(),
            unnamed: VecDeque::new(),
        };
        match self.of(scope) {
            Some(last) => {
                if last.begun && !last.stopped {
                    out.emit_in(scope, Signal::MessageCut);
                }
                *last = stream;
            }
            None if scope == Scope::Main => self.main = Some(stream),
            None => {
                self.places.insert(run.into(), self.children.len());
                self.children.push(stream);
            }
        }
    }

    /// Returns the message that an interrupted one is, where it was being written: its last line
    /// need not have its id.
    pub(super) fn interrupted(&mut self, scope: Scope<'_>) -> Option<String> {
        let stream = self.of(scope).filter(|stream| stream.open.is_some())?;
        Some(stream.id.clone())
    }

    /// Takes a block that was printed whole. Returns whether its pieces were reported already.
    pub(super) fn confirm(
        &mut self,
        scope: Scope<'_>,
        key: Option<&str>,
        kind: Kind,
        block: &Block<'_>,
        out: &mut SignalSink<'_>,
    ) -> bool {
        let Some(stream) = self
            .of(scope)
            .filter(|stream| Some(stream.id.as_str()) == key)
        else {
            return false;
        };
        match &mut stream.open {
            Some(open) if open.kind == kind && !open.confirmed => {
                open.confirmed = true;
                // The whole call fills in the input.
                kind != Kind::Call && open.close(scope, Some(block), out)
            }
            _ => match stream.unconfirmed.get_mut(&kind) {
                Some(count @ 1..) => {
                    *count -= 1;
                    kind != Kind::Call
                }
                _ => false,
            },
        }
    }

    /// Returns the call without an id that a block is which was printed whole: calls are printed
    /// in the order in which they begin.
    pub(super) fn unnamed_call(
        &mut self,
        scope: Scope<'_>,
        key: Option<&str>,
    ) -> Option<CallRef<'static>> {
        let stream = self.of(scope)?;
        if Some(stream.id.as_str()) == key {
            stream.unnamed.pop_front()
        } else {
            None
        }
    }

    /// Reports the numbers of messages that were cut before their first block.
    pub(super) fn finish(&self, out: &mut SignalSink<'_>) {
        let streams = self.main.iter().chain(&self.children);
        for stream in streams.filter(|stream| !stream.begun && !stream.stopped) {
            let scope = match &*stream.run {
                "" => Scope::Main,
                call => Scope::Child(call),
            };
            stream.report_usage(scope, out);
        }
    }
}

impl MessageStream {
    fn report_usage(&self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        if self.usage.is_unknown() || self.id.is_empty() {
            return;
        }
        let model = self.model.as_deref().map(Cow::Borrowed);
        let key = Cow::Borrowed(self.id.as_str());
        out.emit_in(
            scope,
            Signal::Usage {
                key,
                counts: self.usage,
                model,
            },
        );
    }
}

impl OpenBlock {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            begun: false,
            signature: String::new(),
            unnamed: None,
            call: String::new(),
            name: String::new(),
            input: String::new(),
            confirmed: false,
        }
    }

    /// Ends the part; `whole` is the block as it was printed whole. Returns whether it was reported.
    fn close(
        &mut self,
        scope: Scope<'_>,
        whole: Option<&Block<'_>>,
        out: &mut SignalSink<'_>,
    ) -> bool {
        match self.kind {
            Kind::Text if self.begun => out.emit_in(scope, Signal::TextEnd),
            Kind::Thinking if self.begun => {
                let written = (!self.signature.is_empty()).then_some(self.signature.as_str());
                let signature = whole
                    .and_then(|block| block.signature.as_deref())
                    .or(written);
                let signature = signature.map(Cow::Borrowed);
                out.emit_in(scope, Signal::ThinkingEnd { signature });
            }
            // No piece came: the whole block, if there is one, is reported as it is.
            Kind::Text | Kind::Thinking if whole.is_some() => return false,
            Kind::Text => out.emit_in(scope, Signal::Text(Cow::Borrowed(""))),
            Kind::Thinking => {
                let signature =
                    (!self.signature.is_empty()).then_some(Cow::Borrowed(self.signature.as_str()));
                out.emit_in(
                    scope,
                    Signal::Thinking {
                        text: Cow::Borrowed(""),
                        signature,
                    },
                );
            }
            Kind::Call => {
                let written = if self.input.is_empty() {
                    "{}"
                } else {
                    &self.input
                };
                if let Ok(input) = decode::<Value>(written.as_bytes()) {
                    let detail = tools::detail(&self.name, &input.value);
                    let call = self.unnamed.unwrap_or(CallRef::Printed(&self.call));
                    out.emit_in(
                        scope,
                        Signal::ToolInput {
                            call,
                            input: input.value,
                            detail,
                        },
                    );
                }
            }
            Kind::Redacted | Kind::Answer | Kind::Upload | Kind::Unknown => {}
        }
        true
    }
}

impl Conversation {
    pub(super) fn on_stream_event(
        &mut self,
        json: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let line: StreamEvent<'_> = read("stream_event", json, out)?;
        note_keys("stream_event", &line.unknown, out);
        self.on_session(line.session.as_ref(), out);
        self.shapes.partial = true;
        let scope = self.scope(line.parent.as_ref());
        let event = line.event;
        note_keys("stream_event.event", &event.unknown, out);
        match event.kind.as_str() {
            "message_start" => {
                let message = event.message.unwrap_or_default();
                note_keys("assistant.message", &message.unknown, out);
                self.streams.begin(scope, &message, out);
            }
            "content_block_start" => {
                if let Some(block) = event.block {
                    self.on_block_start(scope, *block, out);
                }
            }
            "content_block_delta" => self.on_delta(scope, event.delta, out),
            "content_block_stop" => self.on_block_stop(scope, out),
            "message_delta" => self.on_message_delta(scope, event.usage.as_ref(), out),
            "message_stop" => self.on_message_stop(scope, out),
            "ping" => {}
            "error" => {
                let message = event.error.into_text().unwrap_or_default().into_owned();
                out.emit_in(scope, Signal::Event(Warning { message }.into()));
            }
            kind => {
                let reason = format!("unknown event {kind:?}");
                unparsed(out, Some("stream_event"), reason);
            }
        }
        Ok(())
    }

    /// Opens the step of a message with its first block: one that stays empty is never printed.
    fn begin_message(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        if scope == Scope::Main {
            self.spoken = true;
            self.nudged = false;
        }
        let Some(stream) = self.streams.of(scope).filter(|stream| !stream.begun) else {
            return;
        };
        stream.begun = true;
        let (id, usage, model) = (stream.id.clone(), stream.usage, stream.model.clone());
        out.emit_in(scope, Signal::Step((!id.is_empty()).then_some(id.as_str())));
        if let Some(stream) = self.streams.of(scope) {
            stream.report_usage(scope, out);
        }
        self.totals.note_response(&id, usage);
        self.on_model(scope, model.map(Str::from).as_ref(), out);
        self.counted = id;
    }

    fn on_block_start(&mut self, scope: Scope<'_>, block: Block<'_>, out: &mut SignalSink<'_>) {
        self.begin_message(scope, out);
        let kind = Kind::of(&block.kind);
        self.thought |= matches!(kind, Kind::Thinking | Kind::Redacted);
        let mut open = OpenBlock::new(kind);
        match kind {
            Kind::Text => {
                if let Some(text) = block.text.filter(|text| !text.is_empty()) {
                    open.begun = true;
                    out.emit_in(scope, Signal::TextDelta(text.into_cow()));
                }
            }
            Kind::Thinking => {
                open.signature
                    .push_str(block.signature.as_deref().unwrap_or_default());
                if let Some(text) = block.thinking.filter(|text| !text.is_empty()) {
                    open.begun = true;
                    out.emit_in(scope, Signal::ThinkingDelta(text.into_cow()));
                }
            }
            Kind::Call => {
                let (id, name) = (block.id.unwrap_or_default(), block.name.unwrap_or_default());
                open.call.push_str(&id);
                open.name.push_str(&name);
                if id.is_empty() {
                    open.unnamed = Some(self.unnamed.begin(scope, &name));
                }
                let call = Signal::ToolCall {
                    call: open.unnamed.unwrap_or(CallRef::Printed(&id)),
                    name: name.into_cow(),
                    input: Value::Null,
                    detail: crate::signal::CallDetail::default(),
                };
                out.emit_in(scope, call);
            }
            Kind::Redacted | Kind::Answer | Kind::Upload => {
                self.emit_block(scope, kind, block, None, out);
            }
            Kind::Unknown => {
                let reason = format!("unknown content block {:?}", block.kind.as_str());
                unparsed(out, Some("stream_event"), reason);
            }
        }
        if let Some(stream) = self.streams.of(scope) {
            stream.unnamed.extend(open.unnamed);
            stream.open = Some(open);
        }
    }

    fn on_delta(&mut self, scope: Scope<'_>, delta: Delta<'_>, out: &mut SignalSink<'_>) {
        note_keys("stream_event.delta", &delta.unknown, out);
        let limit = self.limit;
        let open = self
            .streams
            .of(scope)
            .and_then(|stream| stream.open.as_mut());
        match delta.kind.as_str() {
            "text_delta" => {
                if let Some(open) = open {
                    open.begun = true;
                }
                let text = delta.text.unwrap_or_default();
                out.emit_in(scope, Signal::TextDelta(text.into_cow()));
            }
            "thinking_delta" => {
                if let Some(open) = open {
                    open.begun = true;
                }
                let text = delta.thinking.unwrap_or_default();
                out.emit_in(scope, Signal::ThinkingDelta(text.into_cow()));
            }
            "signature_delta" => {
                if let (Some(open), Some(signature)) = (open, delta.signature) {
                    open.signature.push_str(&signature);
                }
            }
            "input_json_delta" => {
                if let (Some(open), Some(piece)) = (open, delta.partial_json)
                    && open.input.len().saturating_add(piece.len()) <= limit
                {
                    open.input.push_str(&piece);
                }
            }
            "citations_delta" => {}
            kind => {
                let reason = format!("unknown delta {kind:?}");
                unparsed(out, Some("stream_event"), reason);
            }
        }
    }

    fn on_block_stop(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        let Some(stream) = self.streams.of(scope) else {
            return;
        };
        if let Some(mut open) = stream.open.take()
            && !open.confirmed
        {
            open.close(scope, None, out);
            *stream.unconfirmed.entry(open.kind).or_default() += 1;
        }
    }

    fn on_message_delta(
        &mut self,
        scope: Scope<'_>,
        usage: Option<&Usage>,
        out: &mut SignalSink<'_>,
    ) {
        let (Some(stream), Some(usage)) = (self.streams.of(scope), usage) else {
            return;
        };
        stream.is_final = true;
        stream.usage = of_response(usage, true).or(stream.usage);
        stream.report_usage(scope, out);
        self.totals.note_response(&stream.id, stream.usage);
    }

    /// A message that stops without its final numbers was cut off by an error of the API.
    fn on_message_stop(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        let Some(stream) = self.streams.of(scope) else {
            return;
        };
        stream.stopped = true;
        let cut = stream.open.take().is_some_and(|open| !open.confirmed) || !stream.is_final;
        if cut && stream.begun {
            out.emit_in(scope, Signal::MessageCut);
        }
    }
}
