//! Messages while they are being written (`--include-partial-messages`).
//!
//! Each block comes twice: in pieces, and whole on an `assistant` line after the last piece and
//! before its `content_block_stop`. The pieces are what is reported; the whole block only confirms
//! that nothing is missing.

use std::borrow::Cow;

use runtape_core::TokenCounts;
use runtape_core::runtime_event::{ApiRetry, Warning};
use serde_json::Value;

use super::content::Block;
use super::conversation::{Conversation, note_keys, read, unparsed};
use super::tools;
use super::usage::of_response;
use super::wire::{ApiMessage, Delta, StreamEvent, Usage};
use crate::json::{DecodeError, Str, decode};
use crate::parser::SignalSink;
use crate::signal::{CallRef, Place, Scope, Signal};

/// What a content block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A block that pieces still arrive for, or that was never printed whole.
#[derive(Debug)]
struct OpenBlock {
    kind: Kind,
    /// Where it began.
    place: Place,
    /// A piece was reported.
    begun: bool,
    signature: String,
    /// The call, and its input as far as it was written.
    call: String,
    name: String,
    input: String,
    /// The whole block was printed.
    confirmed: bool,
    /// Its end came before the whole block was printed.
    ended: bool,
}

/// A message that is being written, or was written last, in one run.
#[derive(Debug)]
struct MessageStream {
    /// The call that started the run; empty for the main run.
    run: Box<str>,
    id: String,
    model: Option<String>,
    usage: TokenCounts,
    /// Its numbers are final, which is said at its end.
    is_final: bool,
    stopped: bool,
    /// Nothing more is expected of it: its turn has ended.
    settled: bool,
    open: Option<OpenBlock>,
    /// Blocks that were reported and not printed whole yet.
    unconfirmed: Vec<Kind>,
}

/// The messages being written, one a run. Only the main run's were ever seen (2.1.325).
#[derive(Debug, Default)]
pub(super) struct Streams {
    messages: Vec<MessageStream>,
    /// A retry that was reported while a message was being written: if that message is begun
    /// anew, it is the one that was given up, and the notice holds what it said.
    retry: Option<(ApiRetry, Place)>,
}

/// A retry that the CLI says nothing of.
const UNTOLD: ApiRetry = ApiRetry {
    attempt: None,
    max_attempts: None,
    delay_ms: None,
    status_code: None,
    reason: None,
};

fn run_of(scope: Scope<'_>) -> &str {
    match scope {
        Scope::Main => "",
        Scope::Child(call) => call,
    }
}

impl Streams {
    fn of(&mut self, scope: Scope<'_>) -> Option<&mut MessageStream> {
        self.messages
            .iter_mut()
            .find(|stream| *stream.run == *run_of(scope))
    }

    /// Begins a message; one before it that was not stopped is cut off.
    fn begin(&mut self, scope: Scope<'_>, message: &ApiMessage<'_>, out: &mut SignalSink<'_>) {
        self.give_up(scope, out);
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
            is_final: false,
            stopped: false,
            settled: false,
            open: None,
            unconfirmed: Vec::new(),
        };
        match self.of(scope) {
            Some(last) => {
                if !last.stopped && !last.settled && last.id != stream.id {
                    out.emit_in(scope, Signal::MessageCut);
                }
                *last = stream;
            }
            None => self.messages.push(stream),
        }
    }

    /// Takes back what was written of a block that was never printed whole, because the message
    /// is begun anew: the CLI gave that attempt up, after a connection that dropped for instance.
    fn give_up(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        let given_up = self.of(scope).and_then(MessageStream::take_unconfirmed);
        let held = self.retry.take_if(|_| scope == Scope::Main);
        if given_up.is_none_or(|open| !open.begun) {
            return emit_retry(held, out);
        }
        let (retry, place) = held.unwrap_or_else(|| (UNTOLD, out.place()));
        out.emit_at(place, scope, Signal::AttemptGivenUp(retry));
    }

    /// Takes note of a message that comes whole. If another one was being written, it was given up.
    pub(super) fn on_whole_message(
        &mut self,
        scope: Scope<'_>,
        key: Option<&str>,
        out: &mut SignalSink<'_>,
    ) {
        let other = self
            .of(scope)
            .is_some_and(|stream| stream.is_open() && Some(stream.id.as_str()) != key);
        if other {
            self.give_up(scope, out);
        }
    }

    /// Reports a retry, unless it may turn out to be about the message that is being written.
    pub(super) fn on_retry(&mut self, retry: ApiRetry, out: &mut SignalSink<'_>) {
        self.report_retry(out);
        if self.of(Scope::Main).is_some_and(|stream| stream.is_open()) {
            self.retry = Some((retry, out.place()));
        } else {
            out.emit(Signal::Event(retry.into()));
        }
    }

    /// Reports a retry that was about something else: the message goes on.
    fn report_retry(&mut self, out: &mut SignalSink<'_>) {
        if self.retry.is_some() {
            emit_retry(self.retry.take(), out);
        }
    }

    /// Returns the message that an interrupted one is, where it was being written: its last line
    /// need not have its id.
    pub(super) fn interrupted(&mut self, scope: Scope<'_>) -> Option<String> {
        let stream = self.of(scope).filter(|stream| stream.open.is_some())?;
        Some(stream.id.clone())
    }

    /// Tells whether the last message of the main run lacks its end; `None` if it did not come in
    /// pieces.
    pub(super) fn is_unfinished(&mut self) -> Option<bool> {
        let stream = self.of(Scope::Main).filter(|stream| !stream.settled)?;
        Some(!stream.is_final)
    }

    /// Ends what is being written: the turn is over, and nothing of it is begun anew.
    pub(super) fn settle(&mut self, out: &mut SignalSink<'_>) {
        self.report_retry(out);
        for stream in &mut self.messages {
            stream.settled = true;
            let scope = match &*stream.run {
                "" => Scope::Main,
                call => Scope::Child(call),
            };
            let Some(open) = stream.open.take().filter(|open| !open.confirmed) else {
                continue;
            };
            if open.kind == Kind::Call {
                // Nobody knows the input of a call that was cut off.
                open.emit_call(scope, Value::Null, out);
            }
        }
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
                let reported = open.close(scope, Some(block), out);
                if open.ended {
                    stream.open = None;
                }
                reported
            }
            _ => match stream.unconfirmed.iter().position(|known| *known == kind) {
                Some(at) => {
                    stream.unconfirmed.remove(at);
                    kind != Kind::Call
                }
                None => false,
            },
        }
    }
}

fn emit_retry(held: Option<(ApiRetry, Place)>, out: &mut SignalSink<'_>) {
    if let Some((retry, place)) = held {
        out.emit_at(place, Scope::Main, Signal::Event(retry.into()));
    }
}

impl MessageStream {
    /// Tells whether there is a block that was not printed whole so far.
    fn is_open(&self) -> bool {
        !self.is_final && self.open.as_ref().is_some_and(|open| !open.confirmed)
    }

    /// Gives out the block that was not printed whole, unless the message has its end.
    fn take_unconfirmed(&mut self) -> Option<OpenBlock> {
        if self.is_open() {
            self.open.take()
        } else {
            None
        }
    }

    /// Ends a block that will not be printed whole, because the message goes on without it.
    fn close_ended(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        if let Some(mut open) = self.open.take_if(|open| open.ended && !open.confirmed) {
            open.close(scope, None, out);
            self.unconfirmed.push(open.kind);
        }
    }

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
    fn new(kind: Kind, place: Place) -> Self {
        Self {
            kind,
            place,
            begun: false,
            signature: String::new(),
            call: String::new(),
            name: String::new(),
            input: String::new(),
            confirmed: false,
            ended: false,
        }
    }

    /// Reports the call, which was held back until its input was known.
    fn emit_call(&self, scope: Scope<'_>, input: Value, out: &mut SignalSink<'_>) {
        let detail = tools::detail(&self.name, &input);
        let call = Signal::ToolCall {
            call: CallRef::Printed(&self.call),
            name: Cow::Borrowed(&self.name),
            input,
            detail,
        };
        out.emit_at(self.place, scope, call);
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
            // The whole call says what its input is.
            Kind::Call if whole.is_some() => return false,
            Kind::Call => {
                let written = if self.input.is_empty() {
                    "{}"
                } else {
                    &self.input
                };
                let input = decode::<Value>(written.as_bytes());
                let input = input.map_or(Value::Null, |input| input.value);
                self.emit_call(scope, input, out);
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
        if event.kind != "message_start" {
            self.streams.report_retry(out);
        }
        match event.kind.as_str() {
            "message_start" => {
                let message = event.message.unwrap_or_default();
                note_keys("assistant.message", &message.unknown, out);
                self.streams.begin(scope, &message, out);
                self.on_message_start(scope, out);
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

    /// Opens the step of a message, which is one even if it stays empty.
    fn on_message_start(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        self.spoken |= scope == Scope::Main;
        let Some(stream) = self.streams.of(scope) else {
            return;
        };
        let (id, usage, model) = (stream.id.clone(), stream.usage, stream.model.clone());
        out.emit_in(scope, Signal::Step((!id.is_empty()).then_some(id.as_str())));
        out.emit_in(scope, Signal::MessagePrinted);
        stream.report_usage(scope, out);
        self.totals.note_response(&id, usage);
        self.on_model(scope, model.map(Str::from).as_ref(), out);
        self.counted = id;
    }

    fn on_block_start(&mut self, scope: Scope<'_>, block: Block<'_>, out: &mut SignalSink<'_>) {
        if scope == Scope::Main {
            self.nudged = false;
        }
        if let Some(stream) = self.streams.of(scope) {
            stream.close_ended(scope, out);
        }
        let kind = Kind::of(&block.kind);
        self.thought |= matches!(kind, Kind::Thinking | Kind::Redacted);
        let mut open = OpenBlock::new(kind, out.place());
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
            }
            Kind::Redacted | Kind::Answer | Kind::Upload => {
                self.emit_block(scope, kind, block, out);
            }
            Kind::Unknown => {
                let reason = format!("unknown content block {:?}", block.kind.as_str());
                unparsed(out, Some("stream_event"), reason);
            }
        }
        if let Some(stream) = self.streams.of(scope) {
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
        match &mut stream.open {
            // Whether it will be printed whole, or was given up, is seen from what comes next.
            Some(open) if !open.confirmed && matches!(open.kind, Kind::Text | Kind::Thinking) => {
                open.ended = true;
            }
            Some(open) if !open.confirmed => {
                open.close(scope, None, out);
                stream.unconfirmed.push(open.kind);
                stream.open = None;
            }
            _ => stream.open = None,
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
        stream.close_ended(scope, out);
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
        if stream.is_open() || !stream.is_final {
            out.emit_in(scope, Signal::MessageCut);
        }
    }
}
