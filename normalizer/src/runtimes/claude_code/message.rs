//! Messages: what the model said, what its tools gave back, what it was told.

use std::borrow::Cow;

use runtape_core::runtime_event::{Info, Warning};

use super::content::{Content, ContentBlock, TextOrOther};
use super::conversation::Conversation;
use super::failure::{ApiFailure, retry_time};
use super::stream_events::BlockKind;
use super::tools;
use super::usage::of_response;
use super::wire::{AgentFields, AgentLine, ApiMessage, Assistant, User};
use crate::json::{DecodeError, Str};
use crate::parser::SignalSink;
use crate::signal::{CallRef, Scope, Signal};

/// What the CLI has as the model's name on messages that it wrote itself.
pub(super) const SYNTHETIC: &str = "<synthetic>";

impl Conversation {
    pub(super) fn on_assistant(
        &mut self,
        json: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let line: Assistant<'_> = out.read("assistant", json)?;
        out.unknown_keys("assistant", &line.unknown);
        out.unknown_keys("assistant.message", &line.message.unknown);
        self.hear_assistant(line, out);
        Ok(())
    }

    /// Takes a line with what the model said, or the CLI in its place.
    pub(super) fn hear_assistant(&mut self, line: Assistant<'_>, out: &mut SignalSink<'_>) {
        out.set_written_time(line.timestamp.as_deref());
        self.on_session(line.session.as_ref(), out);
        if line.message.model.as_deref() == Some(SYNTHETIC) {
            return self.on_synthetic(line, out);
        }
        let scope = self.scope(line.parent.as_ref());
        if scope == Scope::Main {
            self.spoken = true;
            self.nudged = false;
            self.compacted = false;
        }
        let message = line.message;
        let key = message
            .id
            .as_ref()
            .or(line.request_id.as_ref())
            .or(line.uuid.as_ref());
        let interrupted = if line.aborted == Some(true) {
            self.open_messages.interrupted(scope)
        } else {
            None
        };
        let key = interrupted.as_deref().or(key.map(Str::as_str));
        self.open_messages.on_whole_message(scope, key, out);
        out.emit_in(scope, Signal::Step(key));
        self.on_model(scope, message.model.as_ref(), out);
        self.on_response_usage(scope, key, &message, out);
        let blocks = message.content.into_blocks();
        let last = blocks.last().map(|block| BlockKind::of(&block.kind));
        if last.is_none_or(|last| last == BlockKind::Unknown) {
            out.emit_in(scope, Signal::MessagePrinted);
        }
        for block in blocks {
            self.on_block(scope, key, block, out);
        }
        if line.aborted == Some(true) {
            out.emit_in(scope, Signal::MessageCut);
            self.unfinished = false;
        } else if scope == Scope::Main {
            self.unfinished = last != Some(BlockKind::Call);
        }
    }

    /// Names the model of a run by its first message, where nothing has named it before.
    pub(super) fn on_model(
        &mut self,
        scope: Scope<'_>,
        model: Option<&Str<'_>>,
        out: &mut SignalSink<'_>,
    ) {
        let Some(model) = model.filter(|model| !model.is_empty()) else {
            return;
        };
        match scope {
            Scope::Main if self.model_known => {}
            Scope::Main => {
                self.model_known = true;
                out.emit(Signal::Model(model));
            }
            Scope::Child(_) => out.emit_in(scope, Signal::Model(model)),
        }
    }

    /// Reports the usage of a response once: each of its lines repeats it.
    fn on_response_usage(
        &mut self,
        scope: Scope<'_>,
        key: Option<&str>,
        message: &ApiMessage<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let (Some(key), Some(usage)) = (key, &message.usage) else {
            return;
        };
        // In a history the last line of a response has the final numbers.
        let is_final = self.heard.as_ref().is_some_and(|heard| heard.is_reading);
        if self.counted == key && !is_final {
            return;
        }
        key.clone_into(&mut self.counted);
        out.unknown_keys("assistant.message.usage", &usage.unknown);
        let counts = of_response(usage, is_final);
        self.totals.note_response(key, counts);
        let model = message
            .model
            .as_ref()
            .map(|model| Cow::Borrowed(model.as_str()));
        out.emit_in(
            scope,
            Signal::Usage {
                key: Cow::Borrowed(key),
                counts,
                model,
            },
        );
    }

    fn on_block(
        &mut self,
        scope: Scope<'_>,
        key: Option<&str>,
        block: ContentBlock<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let kind = BlockKind::of(&block.kind);
        if kind == BlockKind::Unknown {
            let tag = format!("assistant.{}", block.kind);
            out.unparsed(Some(&tag), "unknown content block");
            return;
        }
        for (name, _) in &block.rest {
            if kind.is_plain() {
                out.emit_in(
                    scope,
                    Signal::UnknownKey {
                        message: "assistant.content",
                        key: name,
                    },
                );
            }
        }
        self.thought |= matches!(kind, BlockKind::Thinking | BlockKind::Redacted);
        if let Scope::Child(call) = scope
            && let Some(child) = self.children.get_mut(call)
        {
            child.answered = kind == BlockKind::Text;
        }
        if self.open_messages.confirm(scope, key, kind, &block, out) {
            return;
        }
        let begun = if kind == BlockKind::Call && block.id.as_deref().unwrap_or_default().is_empty()
        {
            self.open_messages.unnamed_call(scope, key)
        } else {
            None
        };
        self.emit_block(scope, kind, block, begun, out);
    }

    /// Reports a whole content block; `begun` is the call without an id that it is, where its
    /// beginning was reported.
    pub(super) fn emit_block(
        &mut self,
        scope: Scope<'_>,
        kind: BlockKind,
        block: ContentBlock<'_>,
        begun: Option<CallRef<'static>>,
        out: &mut SignalSink<'_>,
    ) {
        match kind {
            BlockKind::Text => out.emit_in(scope, Signal::Text(cow(block.text))),
            BlockKind::Thinking => {
                let signature = block.signature.map(Str::into_cow);
                out.emit_in(
                    scope,
                    Signal::Thinking {
                        text: cow(block.thinking),
                        signature,
                    },
                );
            }
            BlockKind::Redacted => {
                let signature = block.data.map(Str::into_cow);
                out.emit_in(
                    scope,
                    Signal::Thinking {
                        text: Cow::Borrowed(""),
                        signature,
                    },
                );
            }
            BlockKind::Call => {
                let (id, name) = (cow(block.id), cow(block.name));
                if tools::is_background_agent(&name, &block.input) {
                    self.children
                        .entry(id.as_ref().into())
                        .or_default()
                        .background = true;
                }
                let detail = tools::detail(&name, &block.input);
                let call = begun.unwrap_or_else(|| self.unnamed.call(scope, Some(&id), &name));
                let input = block.input;
                out.emit_in(
                    scope,
                    Signal::ToolCall {
                        call,
                        name,
                        input,
                        detail,
                    },
                );
            }
            BlockKind::Answer => self.emit_server_result(scope, block, out),
            BlockKind::Upload | BlockKind::Unknown => {
                let message = block.into_value().to_string();
                let info = Info {
                    topic: Some("attachment".to_owned()),
                    message,
                };
                out.emit_in(scope, Signal::Event(info.into()));
            }
        }
    }

    /// A message that the CLI wrote in the model's place: an API error, or a command's output.
    fn on_synthetic(&mut self, line: Assistant<'_>, out: &mut SignalSink<'_>) {
        let scope = self.scope(line.parent.as_ref());
        let text = plain_text(line.message.content);
        if is_interruption(&text) && scope == Scope::Main {
            self.interrupted = true;
            self.cut_off(out);
        }
        let kind = line.error.into_text();
        let is_error = line.is_api_error == Some(true) || kind.is_some();
        let event = if is_error {
            if scope == Scope::Main {
                self.api_failure = Some(ApiFailure {
                    kind: kind.map(Cow::into_owned),
                    api_type: line.api_error_type.into_text().map(Cow::into_owned),
                    api_error: line.api_error.into_text().map(Cow::into_owned),
                    status: line
                        .api_error_status
                        .and_then(|status| u16::try_from(status).ok()),
                    retry_at: retry_time(&line.api_error_params),
                    ..ApiFailure::default()
                });
            }
            Warning { message: text }.into()
        } else {
            let topic = match line.local_command {
                TextOrOther::Other(value) if value.is_null() => "synthetic",
                _ => "command",
            };
            Info {
                topic: Some(topic.to_owned()),
                message: text,
            }
            .into()
        };
        out.emit_in(scope, Signal::Event(event));
    }

    pub(super) fn on_user(
        &mut self,
        json: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let line: User<'_> = out.read("user", json)?;
        out.unknown_keys("user", &line.unknown);
        out.unknown_keys("user.message", &line.message.unknown);
        let result = || {
            let line = crate::json::decode::<AgentLine<'_>>(json).ok();
            line.map(|line| line.value.result.0).unwrap_or_default()
        };
        self.hear_user(line, result, out);
        Ok(())
    }

    /// Takes a line with results of tools, or what was said to the model; `result` is what a tool's
    /// result holds in a shape of the tool's own.
    pub(super) fn hear_user<'l>(
        &mut self,
        line: User<'_>,
        result: impl Fn() -> AgentFields<'l>,
        out: &mut SignalSink<'_>,
    ) {
        out.set_written_time(line.timestamp.as_deref());
        self.on_session(line.session.as_ref(), out);
        let scope = self.scope(line.parent.as_ref());
        let is_synthetic = line.is_synthetic == Some(true);
        let is_summary = line.is_summary == Some(true) || (self.compacted && is_synthetic);
        let is_replay = line.is_replay == Some(true);
        let by_cli = is_synthetic || is_summary;
        let blocks = line.message.content.into_blocks();
        // Text beside a result was put there by the CLI: reminders, not what a user said.
        let has_result = blocks
            .iter()
            .any(|block| BlockKind::of(&block.kind) == BlockKind::Answer);
        for block in blocks {
            match (BlockKind::of(&block.kind), block) {
                (BlockKind::Answer, block) => self.on_tool_result(scope, block, &result, out),
                (
                    BlockKind::Text,
                    ContentBlock {
                        text: Some(text), ..
                    },
                ) => {
                    if by_cli && scope == Scope::Main {
                        self.nudged |= !is_summary;
                        self.compacted = false;
                    }
                    if is_interruption(&text) && scope == Scope::Main && !is_replay {
                        self.interrupted = true;
                        self.cut_off(out);
                    }
                    let told = by_cli || has_result || is_cli_text(&text);
                    let signal = if told {
                        let topic = if is_summary {
                            "compactionSummary"
                        } else {
                            "note"
                        };
                        let topic = Some(topic.to_owned());
                        Signal::Event(
                            Info {
                                topic,
                                message: text.into_owned(),
                            }
                            .into(),
                        )
                    } else {
                        self.unfinished &= scope != Scope::Main;
                        Signal::User(text.into_cow())
                    };
                    out.emit_in(scope, signal);
                }
                (_, block) if matches!(block.kind.as_str(), "image" | "document") => {
                    let source = block.source.and_then(|source| source.media_type);
                    let message = source.map_or_else(|| block.kind.into_owned(), Str::into_owned);
                    let info = Info {
                        topic: Some("attachment".to_owned()),
                        message,
                    };
                    out.emit_in(scope, Signal::Event(info.into()));
                }
                (_, block) => {
                    let tag = format!("user.{}", block.kind);
                    out.unparsed(Some(&tag), "unknown content block");
                }
            }
        }
    }

    fn on_tool_result<'l>(
        &mut self,
        scope: Scope<'_>,
        block: ContentBlock<'_>,
        result: &impl Fn() -> AgentFields<'l>,
        out: &mut SignalSink<'_>,
    ) {
        for (key, _) in &block.rest {
            out.emit_in(
                scope,
                Signal::UnknownKey {
                    message: "user.content",
                    key,
                },
            );
        }
        if scope == Scope::Main {
            self.unfinished = false;
        }
        let id = block.tool_use_id.unwrap_or_default();
        // Absent on success for most tools.
        let is_error = block.is_error.unwrap_or(false);
        let content = block.content.into_pieces();
        if let Some(child) = self.children.get_mut(id.as_str())
            && child.seen
            && !child.ended
        {
            let result = result();
            if child.background || is_launch(&result) {
                child.background = true;
            } else {
                child.ended = true;
                let text = agent_answer(result).or_else(|| first_texts(&content));
                let call = Cow::Borrowed(id.as_str());
                out.emit(Signal::ChildEnd {
                    call,
                    is_error,
                    text: text.map(Cow::Owned),
                });
            }
        }
        let call = self.unnamed.result(scope, Some(&id), None);
        let result = Signal::ToolResult {
            call,
            name: None,
            content,
            is_error: Some(is_error),
            duration_ms: None,
        };
        out.emit_in(scope, result);
    }

    /// Reports what a tool that runs at the model's maker gave back.
    fn emit_server_result(
        &mut self,
        scope: Scope<'_>,
        block: ContentBlock<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let is_error = block.is_error.unwrap_or_else(|| match &block.content {
            Content::Other(value) => {
                let kind = value.get("type").and_then(serde_json::Value::as_str);
                let code = value.get("return_code").and_then(serde_json::Value::as_i64);
                kind.is_some_and(|kind| kind.ends_with("_error"))
                    || code.is_some_and(|code| code != 0)
            }
            _ => false,
        });
        let id = block.tool_use_id.unwrap_or_default();
        let name = block.kind.strip_suffix("_tool_result").map(str::to_owned);
        // A tool of an MCP server has a name of its own.
        let tool = name.as_deref().filter(|name| *name != "mcp");
        let call = self.unnamed.result(scope, Some(&id), tool);
        let result = Signal::ToolResult {
            call,
            name: name.map(Cow::Owned),
            content: block.content.into_pieces(),
            is_error: Some(is_error),
            duration_ms: None,
        };
        out.emit_in(scope, result);
    }
}

fn cow(text: Option<Str<'_>>) -> Cow<'_, str> {
    text.map_or(Cow::Borrowed(""), Str::into_cow)
}

/// What the CLI tells the model after an interruption.
pub(super) fn is_interruption(text: &str) -> bool {
    text.starts_with("[Request interrupted by user")
}

/// Text of the CLI that is not marked as such.
pub(super) fn is_cli_text(text: &str) -> bool {
    is_interruption(text)
        || text.starts_with("<local-command-")
        || text.starts_with("<command-name>")
        || text.starts_with("<command-message>")
        || text.starts_with("<bash-input>")
        || text.starts_with("<bash-stdout>")
}

pub(super) fn plain_text(content: Content<'_>) -> String {
    let texts = content
        .into_blocks()
        .into_iter()
        .filter_map(|block| block.text);
    texts.map(Str::into_owned).collect::<Vec<_>>().join("\n")
}

/// Tells whether the call's result only says that the sub-agent was started.
fn is_launch(result: &AgentFields<'_>) -> bool {
    matches!(&result.status, TextOrOther::Text(status)
        if status.ends_with("_launched") || *status == "teammate_spawned")
}

/// Returns the sub-agent's answer without what the CLI puts around it.
fn agent_answer(result: AgentFields<'_>) -> Option<String> {
    let Content::Blocks(mut blocks) = result.content else {
        return None;
    };
    let notes = usize::try_from(result.notes.unwrap_or(0)).ok()?;
    let tails = usize::try_from(result.tails.unwrap_or(0)).ok()?;
    blocks.truncate(blocks.len().checked_sub(tails)?);
    let texts = blocks
        .into_iter()
        .skip(notes)
        .filter_map(|block| block.text);
    let texts: Vec<String> = texts.map(Str::into_owned).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn first_texts(content: &[crate::signal::Block<'_>]) -> Option<String> {
    let texts = content.iter().filter_map(|piece| match piece {
        crate::signal::Block::Text(text) => Some(text.as_ref()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
