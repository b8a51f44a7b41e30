//! Messages while they are being written (`--include-partial-messages`).
//!
//! Each block comes twice: in pieces, and whole on an `assistant` line after the last piece and
//! before its `content_block_stop`. The pieces are what is reported; the whole block only confirms
//! that nothing is missing. A block that was never printed whole, in a message that is begun anew,
//! was an attempt that the CLI gave up.

use runtape_core::runtime_event::Warning;

use super::content::ContentBlock;
use super::conversation::Conversation;
use super::open_messages::OpenBlock;
use super::usage::of_response;
use super::wire::{Delta, StreamEvent, Usage};
use crate::json::{DecodeError, Str};
use crate::parser::SignalSink;
use crate::signal::{Scope, Signal};

/// What a content block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum BlockKind {
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

impl BlockKind {
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

impl Conversation {
    pub(super) fn on_stream_event(
        &mut self,
        json: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let line: StreamEvent<'_> = out.read("stream_event", json)?;
        out.unknown_keys("stream_event", &line.unknown);
        self.on_session(line.session.as_ref(), out);
        self.shapes.partial = true;
        let scope = self.scope(line.parent.as_ref());
        let event = line.event;
        out.unknown_keys("stream_event.event", &event.unknown);
        if event.kind != "message_start" {
            self.open_messages.report_retry(out);
        }
        match event.kind.as_str() {
            "message_start" => {
                let message = event.message.unwrap_or_default();
                out.unknown_keys("assistant.message", &message.unknown);
                self.open_messages.begin(scope, &message, out);
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
                out.unparsed(Some("stream_event"), reason);
            }
        }
        Ok(())
    }

    /// Opens the step of a message, which is one even if it stays empty.
    fn on_message_start(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        self.spoken |= scope == Scope::Main;
        let Some(stream) = self.open_messages.of(scope) else {
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

    fn on_block_start(
        &mut self,
        scope: Scope<'_>,
        block: ContentBlock<'_>,
        out: &mut SignalSink<'_>,
    ) {
        if scope == Scope::Main {
            self.nudged = false;
        }
        if let Some(stream) = self.open_messages.of(scope) {
            stream.close_ended(scope, out);
        }
        let kind = BlockKind::of(&block.kind);
        self.thought |= matches!(kind, BlockKind::Thinking | BlockKind::Redacted);
        let mut open = OpenBlock::new(kind, out.place());
        match kind {
            BlockKind::Text => {
                if let Some(text) = block.text.filter(|text| !text.is_empty()) {
                    open.begun = true;
                    out.emit_in(scope, Signal::TextDelta(text.into_cow()));
                }
            }
            BlockKind::Thinking => {
                open.signature
                    .push_str(block.signature.as_deref().unwrap_or_default());
                if let Some(text) = block.thinking.filter(|text| !text.is_empty()) {
                    open.begun = true;
                    out.emit_in(scope, Signal::ThinkingDelta(text.into_cow()));
                }
            }
            BlockKind::Call => {
                let (id, name) = (block.id.unwrap_or_default(), block.name.unwrap_or_default());
                open.call.push_str(&id);
                open.name.push_str(&name);
                if id.is_empty() {
                    open.unnamed = Some(self.unnamed.begin(scope, &name));
                }
            }
            BlockKind::Redacted | BlockKind::Answer | BlockKind::Upload => {
                self.emit_block(scope, kind, block, None, out);
            }
            BlockKind::Unknown => {
                let reason = format!("unknown content block {:?}", block.kind.as_str());
                out.unparsed(Some("stream_event"), reason);
            }
        }
        if let Some(stream) = self.open_messages.of(scope) {
            stream.unnamed.extend(open.unnamed);
            stream.open = Some(open);
        }
    }

    fn on_delta(&mut self, scope: Scope<'_>, delta: Delta<'_>, out: &mut SignalSink<'_>) {
        out.unknown_keys("stream_event.delta", &delta.unknown);
        let limit = self.limit;
        let open = self
            .open_messages
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
                out.unparsed(Some("stream_event"), reason);
            }
        }
    }

    fn on_block_stop(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        let Some(stream) = self.open_messages.of(scope) else {
            return;
        };
        match &mut stream.open {
            // Whether it will be printed whole, or was given up, is seen from what comes next.
            Some(open)
                if !open.confirmed
                    && matches!(open.kind, BlockKind::Text | BlockKind::Thinking) =>
            {
                open.ended = true;
            }
            Some(open) if !open.confirmed => {
                open.close(scope, None, out);
                *stream.unconfirmed.entry(open.kind).or_default() += 1;
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
        let (Some(stream), Some(usage)) = (self.open_messages.of(scope), usage) else {
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
        let Some(stream) = self.open_messages.of(scope) else {
            return;
        };
        stream.stopped = true;
        if stream.is_open() || !stream.is_final {
            out.emit_in(scope, Signal::MessageCut);
        }
    }
}
