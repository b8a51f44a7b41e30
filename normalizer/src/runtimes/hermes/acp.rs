//! `hermes acp`: JSON-RPC lines of the Agent Client Protocol.
//!
//! Seen in 0.19. The tool's name is only in a call's title, results are missing for many calls, and
//! a failed model request is told by a text chunk, by missing usage, and on standard error.

use std::borrow::Cow;

use runtape_core::runtime_event::Interaction;
use runtape_core::{ErrorFamily, TokenCounts};
use serde_json::{Value, json};

use super::acp_title::tool_of_title;
use super::failure::{NO_REPLY, error_of_text, looks_like_failure};
use super::refusal::refusal_of_text;
use super::session::is_session_id;
use super::stderr::Stderr;
use super::step_progress::StepProgress;
use super::wire::{Content, Message, Params, Response, Update, UsageCounts};
use crate::bounds;
use crate::failure;
use crate::framing::each_value;
use crate::json::{Decoded, Str, decode};
use crate::parser::SignalSink;
use crate::signal::{Block, CallDetail, CallRef, Outcome, Signal, TapePlace, Verdict};
use crate::verdict::{UnclearResult, VerdictWord};

/// What hermes puts before the first text after a call. The model did not say it.
const SEPARATOR: &str = "\n\n";

/// How a prompt ends that the client cancelled.
const CANCELLED: &str = "cancelled";

/// Which part of a message is being printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessagePart {
    None,
    Text,
    Thinking,
}

/// How a prompt ended.
#[derive(Debug)]
struct PromptEnd {
    reason: String,
    has_usage: bool,
}

/// Reads the output of `hermes acp`.
#[derive(Debug)]
pub(super) struct Acp {
    session: String,
    /// The agent has introduced itself, but no session is open: what comes is history.
    replaying: bool,
    progress: StepProgress,
    /// A call was made since the last text.
    separated: bool,
    part: MessagePart,
    /// The first text of a message, until it is known not to be an error in its place.
    held: Option<(TapePlace, String)>,
    ended: Option<PromptEnd>,
    has_total: bool,
}

impl Acp {
    /// Creates a reader.
    pub(super) fn new() -> Self {
        Self {
            session: String::new(),
            replaying: false,
            progress: StepProgress::None,
            separated: false,
            part: MessagePart::None,
            held: None,
            ended: None,
            has_total: false,
        }
    }

    /// Tells whether the runtime stated what the session used.
    pub(super) fn has_total(&self) -> bool {
        self.has_total
    }

    /// Reads a line.
    pub(super) fn push(&mut self, line: &[u8], out: &mut SignalSink<'_>) {
        if let Ok(decoded) = decode::<Message<'_>>(line) {
            return self.on_message(decoded, out);
        }
        each_value(line, out, |json, out| match decode::<Message<'_>>(json) {
            Ok(decoded) => self.on_message(decoded, out),
            Err(error) => out.unparsed(None, error.to_string()),
        });
    }

    fn on_message(&mut self, decoded: Decoded<Message<'_>>, out: &mut SignalSink<'_>) {
        let Decoded {
            value: message,
            faults,
        } = decoded;
        let tag = message
            .method
            .as_ref()
            .map_or("response", |method| method.as_str());
        out.faulty_fields(Some(tag), &faults);
        out.unknown_keys(tag, &message.unknown);
        match message.method.as_deref() {
            None => {
                if let Some(error) = message.error {
                    let message = error.get("message").and_then(Value::as_str);
                    let message = message.filter(|message| !message.trim().is_empty());
                    let said = message.map_or_else(|| error.to_string(), str::to_owned);
                    self.on_error(&said, out);
                } else if let Some(response) = message.result {
                    self.on_response(response, out);
                }
            }
            Some("session/update") => {
                let Some(params) = message.params else { return };
                out.unknown_keys("session/update", &params.unknown);
                self.on_session(params.session.as_deref().unwrap_or_default(), out);
                if let Some(update) = params.update {
                    self.on_update(update, out);
                }
            }
            Some("session/request_permission") => {
                let Some(params) = message.params else { return };
                Self::on_permission(params, out);
            }
            // What a client offers: files and terminals.
            Some(method) if method.starts_with("fs/") || method.starts_with("terminal/") => {}
            Some(method) => {
                out.unparsed(Some(method), "unknown method");
            }
        }
    }

    fn on_session(&mut self, id: &str, out: &mut SignalSink<'_>) {
        if id != self.session && is_session_id(id) {
            id.clone_into(&mut self.session);
            out.emit(Signal::Session(id));
        }
    }

    fn on_response(&mut self, response: Response<'_>, out: &mut SignalSink<'_>) {
        out.unknown_keys("response", &response.unknown);
        if let Some(agent) = &response.agent {
            self.replaying = true;
            if let Some(version) = &agent.version {
                out.emit(Signal::CliVersion(version));
            }
        }
        if let Some(id) = &response.session {
            self.on_session(id, out);
        }
        if let Some(models) = &response.models {
            self.replaying = false;
            let current = models.current.as_deref();
            let known = models
                .available
                .iter()
                .find(|model| model.id.as_deref() == current);
            let name = known.and_then(|model| model.name.as_deref()).or(current);
            if let Some(name) = name {
                out.emit(Signal::Model(name));
            }
        }
        if response.session.is_some() || response.modes {
            self.replaying = false;
        }
        if let Some(reason) = response.stop_reason {
            self.on_prompt_end(reason.into_owned(), response.usage, out);
        }
    }

    fn on_prompt_end(
        &mut self,
        reason: String,
        usage: Option<UsageCounts>,
        out: &mut SignalSink<'_>,
    ) {
        self.end_turn(None, out);
        let has_usage = usage.is_some();
        if let Some(usage) = usage {
            self.on_usage(&usage, out);
        }
        let held = self.held.as_ref().map(|(_, text)| text.as_str());
        let doubtful =
            reason == "end_turn" && held.is_some_and(|text| !has_usage || is_own_text(text));
        if !doubtful {
            self.release(out);
        }
        self.end_part(out);
        if reason == CANCELLED && self.progress != StepProgress::None {
            out.emit(Signal::MessageCut);
        }
        self.ended = Some(PromptEnd { reason, has_usage });
    }

    /// The numbers are those of all prompts so far, and the cached ones are part of the input.
    fn on_usage(&mut self, usage: &UsageCounts, out: &mut SignalSink<'_>) {
        self.has_total = true;
        let count = |number: Option<u64>| number.map(bounds::count);
        let cached = count(usage.cached);
        let input = count(usage.input).map(|input| bounds::beyond(input, cached.unwrap_or(0)));
        out.emit(Signal::Total(TokenCounts {
            input_tokens: input,
            output_tokens: count(usage.output),
            reasoning_tokens: count(usage.thought),
            cached_input_tokens: cached,
            ..TokenCounts::default()
        }));
        let mut raw = serde_json::Map::new();
        let fields = [
            ("inputTokens", usage.input),
            ("outputTokens", usage.output),
            ("cachedReadTokens", usage.cached),
            ("thoughtTokens", usage.thought),
            ("totalTokens", usage.total),
        ];
        for (key, number) in fields {
            if let Some(number) = number {
                raw.insert(key.to_owned(), number.into());
            }
        }
        out.emit(Signal::RawUsage(Value::Object(raw).into()));
    }

    fn on_error(&mut self, message: &str, out: &mut SignalSink<'_>) {
        self.end_turn(None, out);
        self.release(out);
        self.end_part(out);
        let error = failure::error("RpcError", message, ErrorFamily::Other);
        out.emit(Signal::Result(Outcome::of(Verdict::Error(error))));
    }

    fn on_permission(params: Params<'_>, out: &mut SignalSink<'_>) {
        let call = params.call;
        let payload = call.map(
            |call| json!({ "title": call.title.map(Str::into_owned), "input": call.raw_input }),
        );
        let interaction = Interaction {
            phase: "request".to_owned(),
            query_type: "permission".to_owned(),
            query_id: None,
            payload,
        };
        out.event(interaction);
    }

    fn on_update(&mut self, update: Update<'_>, out: &mut SignalSink<'_>) {
        let kind = update.tag.as_deref().unwrap_or_default();
        out.unknown_keys(kind, &update.unknown);
        match kind {
            "agent_message_chunk" | "agent_thought_chunk" | "tool_call" | "tool_call_update"
                if self.replaying => {}
            "agent_message_chunk" => self.on_text(&update.content.into_text(), out),
            "agent_thought_chunk" => self.on_thought(&update.content.into_text(), out),
            "tool_call" => self.on_call(update, out),
            "tool_call_update" => on_call_update(update, out),
            "session_info_update" => {
                if let Some(title) = update.title {
                    out.emit(Signal::Metadata("title", title.into_owned().into()));
                }
            }
            // The user's words are only printed when a session is loaded.
            "user_message_chunk"
            | "usage_update"
            | "plan"
            | "available_commands_update"
            | "current_mode_update" => {}
            _ => out.unparsed(Some(kind), "unknown session update"),
        }
    }

    fn on_text(&mut self, text: &str, out: &mut SignalSink<'_>) {
        self.end_turn(None, out);
        let text = if std::mem::take(&mut self.separated) {
            text.strip_prefix(SEPARATOR).unwrap_or(text)
        } else {
            text
        };
        if text.is_empty() {
            return;
        }
        if self.part == MessagePart::Text {
            self.release(out);
            out.emit(Signal::TextDelta(Cow::Borrowed(text)));
            return;
        }
        self.end_part(out);
        self.part = MessagePart::Text;
        self.held = Some((out.place(), text.to_owned()));
    }

    fn on_thought(&mut self, text: &str, out: &mut SignalSink<'_>) {
        self.end_turn(None, out);
        self.release(out);
        if self.part != MessagePart::Thinking {
            self.end_part(out);
            self.speak(out.place(), out);
            self.part = MessagePart::Thinking;
        }
        out.emit(Signal::ThinkingDelta(Cow::Borrowed(text)));
    }

    fn on_call(&mut self, update: Update<'_>, out: &mut SignalSink<'_>) {
        self.end_turn(None, out);
        self.release(out);
        self.end_part(out);
        if self.progress == StepProgress::None {
            self.speak(out.place(), out);
        }
        self.progress = StepProgress::Calling;
        self.separated = true;
        let id = update.call.unwrap_or_default();
        let title = update.title.unwrap_or_default();
        let name = tool_of_title(&title).into_owned();
        let mut detail = CallDetail::of(super::tools::class(&name));
        detail.paths.extend(
            update
                .locations
                .into_iter()
                .filter_map(|place| place.path.map(Str::into_owned)),
        );
        if name == super::tools::TERMINAL {
            let shown = update.content.into_text();
            detail.command = shown.strip_prefix("$ ").map(str::to_owned);
        } else if let Some((_, url)) = title
            .split_once(": ")
            .filter(|_| name == "browser_navigate")
        {
            detail.url = Some(url.to_owned());
        }
        out.emit(Signal::ToolCall {
            call: CallRef::Printed(&id),
            name: Cow::Owned(name),
            input: json!({ "title": title.as_str() }),
            detail,
        });
    }

    fn speak(&mut self, place: TapePlace, out: &mut SignalSink<'_>) {
        if self.progress.speak() {
            out.at(place).emit(Signal::Step(None));
        }
    }

    /// Gives out the text that was held.
    fn release(&mut self, out: &mut SignalSink<'_>) {
        if let Some((place, text)) = self.held.take() {
            self.speak(place, out);
            out.at(place).emit(Signal::TextDelta(Cow::Owned(text)));
        }
    }

    fn end_part(&mut self, out: &mut SignalSink<'_>) {
        match std::mem::replace(&mut self.part, MessagePart::None) {
            MessagePart::Text => out.emit(Signal::TextEnd),
            MessagePart::Thinking => out.emit(Signal::ThinkingEnd { signature: None }),
            MessagePart::None => {}
        }
    }

    /// Says how the last prompt ended, when the next one begins or at the end.
    fn end_turn(&mut self, stderr: Option<&Stderr>, out: &mut SignalSink<'_>) {
        let Some(ended) = self.ended.take() else {
            return;
        };
        let held = self.held.take();
        let text = held.as_ref().map(|(_, text)| text.as_str());
        let told = stderr.filter(|stderr| stderr.report.has_failed());
        let silent = text.is_some_and(|text| text.starts_with(NO_REPLY));
        let refused = text.is_some_and(|text| refusal_of_text(text).is_some());
        let failed = ended.reason == "end_turn"
            && if ended.has_usage {
                refused || (silent && told.is_some())
            } else {
                told.is_some() || text.is_some_and(looks_like_failure)
            };
        let verdict = if failed {
            Verdict::Error(match told {
                Some(stderr) => stderr.report.error(text),
                None => error_of_text(text.unwrap_or_default()),
            })
        } else {
            let limit = stderr.and_then(|stderr| stderr.report.limit_verdict(true));
            limit.unwrap_or_else(|| verdict_of(&ended.reason, out))
        };
        if !failed && !silent {
            self.held = held;
            self.release(out);
            out.emit(Signal::TextEnd);
        }
        self.progress = StepProgress::None;
        out.emit(Signal::Result(Outcome {
            subtype: Some(Cow::Owned(ended.reason)),
            answer: silent.then_some(Cow::Borrowed("")),
            ..Outcome::of(verdict)
        }));
    }

    /// Ends the reading.
    pub(super) fn finish(&mut self, stderr: &Stderr, out: &mut SignalSink<'_>) {
        self.end_turn(Some(stderr), out);
        // Cut before its result, a prompt that failed has said so on standard error all the same.
        if let Some((_, text)) = self
            .held
            .take_if(|(_, text)| stderr.report.is_told_by(text))
        {
            let error = stderr.report.error(Some(&text));
            out.emit(Signal::Result(Outcome::of(Verdict::Error(error))));
        }
        self.release(out);
    }
}

/// Tells whether hermes prints a text of its own where the answer would be.
fn is_own_text(text: &str) -> bool {
    text.starts_with(NO_REPLY) || refusal_of_text(text).is_some()
}

/// Tells whether a line is a message of the protocol, or begins like one and was cut.
pub(super) fn is_acp_line(line: &str) -> bool {
    if !line.starts_with('{') || !line.contains("\"jsonrpc\"") {
        return false;
    }
    match decode::<Message<'_>>(line.as_bytes()) {
        Ok(Decoded { value, .. }) => {
            value.method.is_some() || value.result.is_some() || value.error.is_some()
        }
        Err(_) => true,
    }
}

fn on_call_update(update: Update<'_>, out: &mut SignalSink<'_>) {
    let is_error = match update.status.as_deref() {
        Some("completed") => false,
        Some("failed") => true,
        _ => return,
    };
    let id = update.call.unwrap_or_default();
    let name = update
        .title
        .as_deref()
        .map(|title| tool_of_title(title).into_owned().into());
    let content = match update.content {
        Content::None => Vec::new(),
        content => vec![Block::Text(Cow::Owned(content.into_text()))],
    };
    out.emit(Signal::ToolResult {
        call: CallRef::Printed(&id),
        name,
        content,
        is_error: Some(is_error),
        duration_ms: None,
    });
}

fn verdict_of(reason: &str, out: &mut SignalSink<'_>) -> Verdict {
    match reason {
        "end_turn" | "max_tokens" => Verdict::Success,
        "max_turn_requests" => Verdict::TurnLimit(failure::error(
            "MaxIterations",
            "the turn limit was reached",
            ErrorFamily::TurnLimit,
        )),
        "refusal" => Verdict::Error(failure::error(
            "Refusal",
            "the agent refused the prompt",
            ErrorFamily::Refusal,
        )),
        CANCELLED => Verdict::Interrupted(failure::error(
            "Cancelled",
            "the prompt was cancelled",
            ErrorFamily::Other,
        )),
        other => {
            let reason = VerdictWord::from(&Value::from(other));
            let unclear = UnclearResult::default().with("stopReason", &reason);
            Verdict::Error(unclear.report("response", None, |signal| out.emit(signal)))
        }
    }
}
