//! `thinking`, `assistant` and `user` events: what was said.

use std::borrow::Cow;

use serde_json::Value;

use super::events::{Events, unknown_subtype};
use super::tool_events::reference;
use super::tool_result::{self, Judged};
use super::wire::{self, Message, MessageBlock};
use crate::json::{DecodeError, Str};
use crate::parser::SignalSink;
use crate::signal::{self, Signal};

impl Events {
    pub(super) fn on_thinking(
        &mut self,
        event: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let thinking: wire::Thinking<'_> = out.read("thinking", event)?;
        out.set_millis(thinking.at);
        self.note(
            "thinking",
            thinking.session.as_ref(),
            &thinking.unknown,
            out,
        );
        let text = thinking.text.unwrap_or_default();
        match thinking.subtype.as_deref() {
            Some("delta") => {
                if !text.is_empty() {
                    self.segments.think(text.into_cow(), out);
                }
            }
            Some("completed") => {
                // Its text would repeat the deltas, as that of an assistant event does.
                if !text.is_empty() && !self.segments.is_thinking() {
                    self.segments.think(text.into_cow(), out);
                }
                self.segments.end_thinking(out);
            }
            None if !text.is_empty() => {
                self.segments.think(text.into_cow(), out);
                self.segments.end_thinking(out);
            }
            subtype => unknown_subtype("thinking", subtype, out),
        }
        Ok(())
    }

    pub(super) fn on_assistant(
        &mut self,
        event: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let assistant: wire::Assistant<'_> = out.read("assistant", event)?;
        out.set_millis(assistant.at);
        self.note(
            "assistant",
            assistant.session.as_ref(),
            &assistant.unknown,
            out,
        );
        let Some(Message { content, unknown }) = assistant.message else {
            return Ok(());
        };
        self.note("assistant", None, &unknown, out);
        let key = assistant.key.as_deref().filter(|key| !key.is_empty());
        if assistant.at.is_some() && key.is_none() {
            self.on_delta(content.0, out);
        } else {
            self.on_whole(content.0, key, out);
        }
        Ok(())
    }

    fn on_delta(&mut self, blocks: Vec<MessageBlock<'_>>, out: &mut SignalSink<'_>) {
        if self.format == Some("stream-json") {
            self.set_format("stream-json-partial", out);
        }
        for mut block in blocks {
            if let Some(text) = take_text(&mut block) {
                self.has_text |= !text.is_empty();
                self.segments.say(text, out);
            } else {
                self.on_block("assistant", block, None, out);
            }
        }
    }

    fn on_whole(
        &mut self,
        blocks: Vec<MessageBlock<'_>>,
        key: Option<&str>,
        out: &mut SignalSink<'_>,
    ) {
        let says = |block: &MessageBlock<'_>| {
            !is_text(block) || block.text.as_deref().is_some_and(|text| !text.is_empty())
        };
        if !blocks.iter().any(says) {
            return;
        }
        let is_repeated = self.segments.begin_whole(key, out);
        let mut is_open = false;
        let is_single = blocks.len() == 1;
        for mut block in blocks {
            match take_text(&mut block) {
                Some(_) if is_repeated => {}
                Some(text) if text.is_empty() => {}
                Some(text) => {
                    self.has_text = true;
                    is_open = !is_single;
                    out.emit(if is_single {
                        Signal::Text(text)
                    } else {
                        Signal::TextDelta(text)
                    });
                }
                None => {
                    if std::mem::take(&mut is_open) {
                        out.emit(Signal::TextEnd);
                    }
                    self.on_block("assistant", block, key, out);
                }
            }
        }
        if is_open {
            out.emit(Signal::TextEnd);
        }
        self.segments.end_whole();
    }

    /// Takes a block that is no text: not recorded from the CLI so far, but not to be lost.
    fn on_block(
        &mut self,
        tag: &str,
        block: MessageBlock<'_>,
        key: Option<&str>,
        out: &mut SignalSink<'_>,
    ) {
        out.unknown_keys(tag, &block.unknown);
        match block.kind.as_deref().unwrap_or_default() {
            "thinking" | "redacted_thinking" => {
                if !self.segments.thought() {
                    let text = block.thinking.or(block.text).unwrap_or_default().into_cow();
                    let signature = block.signature.map(Str::into_cow);
                    out.emit(Signal::Thinking { text, signature });
                }
            }
            "tool_use" | "tool_call" => {
                let name = block.name.unwrap_or_default();
                let call = reference(&mut self.calls, block.id.as_ref(), &name, true);
                self.make_call(call, name.into_cow(), block.input, key, out);
            }
            "tool_result" | "tool_response" => {
                let call = reference(&mut self.calls, block.id.as_ref(), "", false);
                let is_error = block.is_error == Some(true)
                    || block.status.as_deref().is_some_and(tool_result::is_failed);
                let content = match (block.output, block.text) {
                    (Value::Null, text) => text.map(Str::into_owned),
                    (Value::String(text), _) => Some(text),
                    (other, _) => Some(other.to_string()),
                };
                let judged = Judged {
                    content: content
                        .into_iter()
                        .map(|text| signal::Block::Text(text.into()))
                        .collect(),
                    is_error: Some(is_error),
                    ..Judged::default()
                };
                self.answer_call(call, None, judged, out);
            }
            kind => out.unparsed(Some(tag), format!("unknown block `{kind}`")),
        }
    }

    pub(super) fn on_user(
        &mut self,
        event: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let user: wire::User<'_> = out.read("user", event)?;
        out.set_millis(user.at);
        self.note("user", user.session.as_ref(), &user.unknown, out);
        let Some(Message { content, unknown }) = user.message else {
            return Ok(());
        };
        self.note("user", None, &unknown, out);
        let mut said: Option<Cow<'_, str>> = None;
        for mut block in content.0 {
            match (take_text(&mut block), &mut said) {
                (Some(text), None) => said = Some(text),
                (Some(text), Some(said)) => {
                    let said = said.to_mut();
                    said.push('\n');
                    said.push_str(&text);
                }
                (None, _) => self.on_block("user", block, None, out),
            }
        }
        if let Some(said) = said {
            self.segments.end_turn(out);
            self.has_result = false;
            out.emit(Signal::User(said));
        }
        Ok(())
    }
}

fn is_text(block: &MessageBlock<'_>) -> bool {
    match block.kind.as_deref() {
        Some(kind) => matches!(kind, "text" | "output_text"),
        None => block.text.is_some(),
    }
}

/// Takes the text of a text block; `None` for another block.
fn take_text<'a>(block: &mut MessageBlock<'a>) -> Option<Cow<'a, str>> {
    is_text(block).then(|| block.text.take().unwrap_or_default().into_cow())
}

#[cfg(test)]
mod tests {
    use super::super::tests::line::{SESSION, last};
    use super::super::tests::parse;
    use crate::exit::Exit;

    #[test]
    fn a_message_may_be_missing_empty_or_plain_text() {
        let lines = [
            format!("{{\"type\":\"assistant\",\"session_id\":\"{SESSION}\"}}\n"),
            last(""),
            format!(
                "{{\"type\":\"assistant\",\"session_id\":\"{SESSION}\",\"message\":\"plain\"}}\n"
            ),
        ];
        let told = parse(&lines.concat(), "", &Exit::with_code(0));
        assert_eq!(
            (told.texts.as_slice(), told.unparsed.len()),
            (["plain".to_owned()].as_slice(), 0)
        );
    }
}
