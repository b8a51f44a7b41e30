//! Frames: which session they belong to, and what they say.

use std::collections::{BTreeMap, HashMap};

use runtape_core::RunError;
use runtape_core::runtime_event::{Compaction, Info, Interaction, Warning};
use serde_json::Value;

use super::conversation::{Channel, Conversation};
use super::wire::{Agent, AgentFrame, Chat, ChatFrame, Head, Request, Response, RowFrame};
use super::{failure, is_session_id, tools};
use crate::bounds;
use crate::escapes::strip_escapes;
use crate::json::{DecodeError, LinePart, Str, decode, pieces};
use crate::lines::{Ending, Line};
use crate::parser::{SignalSink, note_unknown, read};
use crate::signal::Signal;
use crate::verdict::{UnclearResult, VerdictWord};

/// Events that say nothing of an agent's work.
const ABOUT_THE_GATEWAY: &[&str] = &[
    "connect.challenge",
    "tick",
    "health",
    "presence",
    "heartbeat",
    "shutdown",
    "sessions.changed",
    "cron",
    "talk.mode",
    "voicewake.changed",
    "update.available",
    "device.pair.requested",
    "device.pair.resolved",
    "node.pair.requested",
    "node.pair.resolved",
    "node.invoke.request",
];

/// Streams of agent frames that tell in another way what tools, text and results tell.
const MIRRORS: &[&str] = &["item", "command_output", "patch"];

/// Most sessions of sub-agents that are told apart.
const MOST_CHILDREN: usize = 1000;

/// Reads frames.
pub(super) struct Frames {
    /// A frame was understood, so this is what the output is.
    pub(super) is_sure: bool,
    limit: usize,
    /// The key of the session that the run belongs to.
    session: Option<Box<str>>,
    main: Conversation,
    children: BTreeMap<Box<str>, Conversation>,
    /// The calls that started sessions, by the sessions' keys.
    spawned: HashMap<Box<str>, Box<str>>,
    /// The session that frames were last left out of.
    foreign: Option<Box<str>>,
}

impl Frames {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            is_sure: false,
            limit,
            session: None,
            main: Conversation::new(limit, None),
            children: BTreeMap::new(),
            spawned: HashMap::new(),
            foreign: None,
        }
    }

    /// Reads one line.
    pub(super) fn push_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        // Nearly every line is one sound frame, so it is read as that first.
        if line.bytes.first() == Some(&b'{') && self.on_value(line.bytes, out).is_ok() {
            return;
        }
        for piece in pieces(line.bytes) {
            match piece {
                LinePart::Text(text) => {
                    let text = String::from_utf8_lossy(text).into_owned();
                    if !strip_escapes(&text).trim().is_empty() {
                        let text = runtape_core::runtime_event::StdoutText { text };
                        out.emit(Signal::Event(text.into()));
                    }
                }
                LinePart::Json(bytes) => {
                    if let Err(error) = self.on_value(bytes, out) {
                        unparsed(None, &error.to_string(), out);
                        // Whatever was cut off came after the end of the run before it.
                        if line.ending == Ending::None {
                            self.main.reopen(out);
                        }
                    }
                }
            }
        }
    }

    fn on_value(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        let head = match decode::<Head<'_>>(bytes) {
            Ok(head) => head.value,
            Err(DecodeError::Shape { .. }) => Head::default(),
            Err(error) => return Err(error),
        };
        match (head.tag.as_deref(), head.event.as_deref()) {
            (Some("event") | None, Some("chat")) => {
                let frame: ChatFrame<'_> = read("chat", bytes, out)?;
                note_unknown("chat", &frame.unknown, out);
                self.on_chat(&frame.payload.unwrap_or_default(), out);
            }
            (Some("event") | None, Some("agent" | "session.tool")) => {
                let frame: AgentFrame<'_> = read("agent", bytes, out)?;
                note_unknown("agent", &frame.unknown, out);
                self.on_agent(&frame.payload.unwrap_or_default(), out);
            }
            (Some("event") | None, Some("session.message")) => {
                let frame: RowFrame<'_> = read("session.message", bytes, out)?;
                let row = frame.payload.unwrap_or_default();
                let session = (row.session.as_ref(), row.spawned_by.as_ref());
                if let Some(conversation) = self.conversation(session.0, session.1, out) {
                    conversation.on_row(&row.message, out);
                }
            }
            (Some("event") | None, Some(event)) if event.contains("approval") => {
                let frame: Value = read("event", bytes, out)?;
                out.emit(Signal::Event(interaction(event, &frame).into()));
            }
            (Some("event") | None, Some(event)) if ABOUT_THE_GATEWAY.contains(&event) => {}
            (Some("req"), _) => self.on_request(&read("req", bytes, out)?, out),
            (Some("res"), _) => self.on_response(&read("res", bytes, out)?, out),
            (tag, event) => {
                decode::<serde::de::IgnoredAny>(bytes)?;
                let (tag, reason) = match event.or(tag) {
                    None | Some("") => (None, "a frame without a type"),
                    tag => (tag, "a frame of unknown type"),
                };
                unparsed(tag, reason, out);
                return Ok(());
            }
        }
        self.is_sure = true;
        Ok(())
    }

    /// Returns the conversation that a frame belongs to; `None` if it is not part of the run.
    fn conversation(
        &mut self,
        session: Option<&Str<'_>>,
        spawned_by: Option<&Str<'_>>,
        out: &mut SignalSink<'_>,
    ) -> Option<&mut Conversation> {
        let Some(session) = session
            .map(Str::as_str)
            .filter(|session| !session.is_empty())
        else {
            return Some(&mut self.main);
        };
        let is_child = self.spawned.contains_key(session)
            || spawned_by.is_some_and(|parent| {
                self.session.as_deref() == Some(parent)
                    || self.children.contains_key(parent.as_str())
            });
        if self.session.is_none() && !is_child {
            self.session = Some(session.into());
            if is_session_id(session) {
                out.emit(Signal::Session(session));
            }
        }
        if self.session.as_deref() == Some(session) {
            return Some(&mut self.main);
        }
        if is_child && (self.children.contains_key(session) || self.children.len() < MOST_CHILDREN)
        {
            let call = self.spawned.get(session).cloned();
            let limit = self.limit;
            let child = self.children.entry(session.into());
            return Some(child.or_insert_with(|| {
                Conversation::new(limit, Some(call.unwrap_or_else(|| session.into())))
            }));
        }
        if self.foreign.as_deref() != Some(session) {
            self.foreign = Some(session.into());
            let message = format!("frames of another session are left out: {session}");
            let topic = Some("session".to_owned());
            out.emit(Signal::Event(Info { topic, message }.into()));
        }
        None
    }

    fn on_chat(&mut self, chat: &Chat<'_>, out: &mut SignalSink<'_>) {
        note_unknown("chat.payload", &chat.unknown, out);
        let (Some(run), Some(_)) = (chat.run.as_deref(), chat.session.as_deref()) else {
            return unparsed(
                Some("chat"),
                "a chat frame without runId and sessionKey",
                out,
            );
        };
        let state = chat.state.word().unwrap_or_default();
        // What the gateway does before the model speaks says nothing of the run.
        if state == "status" {
            return;
        }
        let is_known = matches!(state, "delta" | "final" | "aborted" | "error");
        if !is_known {
            let reason = format!("a chat frame of unknown state: {}", chat.state);
            unparsed(Some("chat"), &reason, out);
        }
        set_time(chat.message.get("timestamp").and_then(Value::as_u64), out);
        let session = (chat.session.as_ref(), chat.spawned_by.as_ref());
        let Some(conversation) = self.conversation(session.0, session.1, out) else {
            return;
        };
        if !conversation.continue_run(run, out) {
            return;
        }
        if !is_known {
            let doubt = UnclearResult::default().with("state", &chat.state);
            return conversation.doubt(doubt, out);
        }
        conversation.clear_doubt();
        if state == "delta" {
            let replaces = chat.replace == Some(true);
            conversation.on_partial(&chat.message, chat.piece.as_deref(), replaces, out);
            return;
        }
        let answer = conversation.on_whole(&chat.message, out);
        conversation.on_usage(&chat.usage, &chat.message, out);
        let reason = chat.stop_reason.as_deref();
        let error = match state {
            "aborted" => Some(failure::aborted(reason)),
            "error" => {
                let message = chat
                    .error
                    .word()
                    .filter(|message| !message.trim().is_empty());
                let message = message.unwrap_or("the gateway reported an error");
                Some(failure::of_run(message, chat.error_kind.as_deref()))
            }
            _ => contradiction(chat, out),
        };
        conversation.end(error, reason, answer, out);
        conversation.close_run(run);
        // A sub-agent's end is told at once: what it does afterwards is another run.
        if let Some(child) = chat
            .session
            .as_deref()
            .and_then(|key| self.children.get_mut(key))
        {
            child.tell_end(out);
        }
    }

    fn on_agent(&mut self, agent: &Agent<'_>, out: &mut SignalSink<'_>) {
        note_unknown("agent.payload", &agent.unknown, out);
        set_time(agent.time, out);
        let stream = agent.stream.as_deref().unwrap_or_default();
        let Some(run) = agent.run.as_deref() else {
            return unparsed(Some("agent"), "an agent frame without runId", out);
        };
        let data = &agent.data;
        let text = |key: &str| data.get(key).and_then(Value::as_str);
        let phase = text("phase").unwrap_or_default();
        let session = (agent.session.as_ref(), agent.spawned_by.as_ref());
        let Some(conversation) = self.conversation(session.0, session.1, out) else {
            return;
        };
        if stream == "lifecycle" && phase == "start" {
            conversation.begin_run(run, out);
        } else if !conversation.continue_run(run, out) {
            return;
        }
        if let Some(model) = agent.model.as_deref().or_else(|| text("model")) {
            conversation.emit(Signal::Model(model), out);
        }
        match stream {
            "lifecycle" => on_lifecycle(conversation, phase, data, out),
            "tool" => {
                if let Some((session, call)) = on_tool(conversation, phase, data, out)
                    && self.spawned.len() < MOST_CHILDREN
                {
                    self.spawned.insert(session, call);
                }
            }
            "compaction" => {
                // The end says what the start said, and how it went.
                if phase != "start" {
                    let message = text("message").or(text("phase")).map(str::to_owned);
                    let compaction = Compaction {
                        trigger: None,
                        pre_tokens: data.get("tokensBefore").and_then(Value::as_u64),
                        post_tokens: data.get("tokensAfter").and_then(Value::as_u64),
                        duration_ms: None,
                        message,
                    };
                    conversation.emit(Signal::Event(compaction.into()), out);
                }
            }
            "error" => {
                let message = error_in(data).map_or_else(|| data.to_string(), str::to_owned);
                conversation.emit(Signal::Event(Warning { message }.into()), out);
            }
            "approval" => {
                conversation.emit(Signal::Event(interaction("approval", data).into()), out);
            }
            stream if MIRRORS.contains(&stream) => {}
            stream => {
                let (whole, piece) = (text("text"), text("delta"));
                if whole.is_some() || piece.is_some() {
                    let replaces = data.get("replace").and_then(Value::as_bool) == Some(true);
                    let channel = channel(stream);
                    conversation.on_agent_text(channel, whole, piece, replaces, out);
                } else {
                    let reason = format!("an agent frame of unknown stream: {stream}");
                    unparsed(Some("agent"), &reason, out);
                }
            }
        }
    }

    fn on_request(&mut self, request: &Request<'_>, out: &mut SignalSink<'_>) {
        note_unknown("req", &request.unknown, out);
        if matches!(request.method.as_deref(), Some("chat.send" | "agent"))
            && let Some(message) = request.params.get("message").and_then(Value::as_str)
        {
            self.main.on_user(message.to_owned(), out);
        }
    }

    fn on_response(&mut self, response: &Response<'_>, out: &mut SignalSink<'_>) {
        note_unknown("res", &response.unknown, out);
        let payload = &response.payload;
        let is_granted = response.ok.flag() == Some(true);
        let is_refused = response.ok.flag() == Some(false);
        if is_refused || (response.error.is_some() && !is_granted) {
            let error = response.error.as_ref();
            let code = error.and_then(|error| error.code.as_deref());
            let message = error.and_then(|error| error.message.as_deref());
            let code = code.unwrap_or_default();
            let message = message.unwrap_or("the gateway refused a request");
            let wait = error.and_then(|error| error.retry_after);
            let wait = wait.map(bounds::count);
            let retry_at = wait.map(|wait| out.place().at.saturating_add(wait));
            let error = failure::of_request(code, message, retry_at);
            self.main.end(Some(error), None, None, out);
            return;
        }
        let server = payload
            .get("server")
            .and_then(|server| server.get("version"));
        if let Some(version) = server.and_then(Value::as_str) {
            out.emit(Signal::CliVersion(version));
        }
        if let Some(meta) = payload.pointer("/result/meta/agentMeta") {
            let usage = meta.get("usage").unwrap_or(&Value::Null);
            self.main.on_usage(usage, meta, out);
        }
        let summary = payload.get("summary").and_then(Value::as_str);
        let has_run = payload.get("runId").is_some();
        let status = VerdictWord::from(payload.get("status").unwrap_or(&Value::Null));
        match status.word() {
            Some("error" | "timeout") => {
                let message = summary.unwrap_or("the gateway reported an error");
                self.main
                    .end(Some(failure::of_run(message, None)), None, None, out);
            }
            _ if !has_run => {}
            Some("ok") if is_granted && response.error.is_none() => {
                self.main.end(None, None, None, out);
            }
            Some("ok") => {
                let mut doubt = UnclearResult::default()
                    .with("status", &status)
                    .with("ok", &response.ok);
                if let Some(error) = &response.error {
                    let message = error.message.as_deref().unwrap_or_default();
                    doubt = doubt.with("error", &VerdictWord::Word(message.into()));
                }
                let error = doubt.report("res", None, |signal| out.emit(signal));
                self.main.end(Some(error), None, None, out);
            }
            // The run was taken on, and goes on.
            Some("accepted" | "started" | "in_flight") => {}
            _ => {
                unparsed(Some("res"), &format!("of unknown status: {status}"), out);
                let doubt = UnclearResult::default().with("status", &status);
                self.main.doubt(doubt, out);
            }
        }
    }

    /// The connection is over.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        for child in self.children.values_mut() {
            child.finish(out);
        }
        self.main.finish(out);
    }
}

fn on_lifecycle(
    conversation: &mut Conversation,
    phase: &str,
    data: &Value,
    out: &mut SignalSink<'_>,
) {
    let reason = data.get("stopReason").and_then(Value::as_str);
    match phase {
        "start" => {}
        "end" => {
            let aborted = VerdictWord::from(data.get("aborted").unwrap_or(&Value::Null));
            let said = VerdictWord::from(data.get("error").unwrap_or(&Value::Null));
            let error = match aborted.flag() {
                Some(true) => Some(failure::aborted(reason)),
                Some(false) if said.is_missing() => None,
                None if aborted.is_missing() && said.is_missing() => None,
                _ => {
                    let mut doubt = UnclearResult::default();
                    for (field, word) in [("aborted", &aborted), ("error", &said)] {
                        if !word.is_missing() {
                            doubt = doubt.with(field, word);
                        }
                    }
                    Some(doubt.report("agent", None, |signal| out.emit(signal)))
                }
            };
            conversation.end(error, reason, None, out);
        }
        "error" => {
            let message = error_in(data).unwrap_or("the agent failed");
            let kind = data.get("errorKind").and_then(Value::as_str);
            conversation.end(Some(failure::of_run(message, kind)), reason, None, out);
        }
        other => {
            let message = error_in(data).unwrap_or_default();
            let topic = Some(format!("lifecycle {other}"));
            let message = message.to_owned();
            conversation.emit(Signal::Event(Info { topic, message }.into()), out);
        }
    }
}

/// Returns the failure of an answer that is final and has an error beside it.
fn contradiction(chat: &Chat<'_>, out: &mut SignalSink<'_>) -> Option<RunError> {
    let kind = chat.error_kind.as_deref().map(str::to_owned);
    let kind = kind.map_or(VerdictWord::Missing, |kind| VerdictWord::Word(kind.into()));
    let is_silent = |word: &VerdictWord<'_>| word.is_missing() || word.is("");
    if is_silent(&chat.error) && is_silent(&kind) {
        return None;
    }
    let doubt = UnclearResult::default()
        .with("state", &chat.state)
        .with("errorMessage", &chat.error)
        .with("errorKind", &kind);
    Some(doubt.report("chat", None, |signal| out.emit(signal)))
}

/// Returns the session that a call started, and the call.
fn on_tool(
    conversation: &mut Conversation,
    phase: &str,
    data: &Value,
    out: &mut SignalSink<'_>,
) -> Option<(Box<str>, Box<str>)> {
    let text = |key: &str| data.get(key).and_then(Value::as_str);
    let name = text("name").unwrap_or("tool");
    let Some(id) = text("toolCallId").filter(|id| !id.is_empty()) else {
        unparsed(Some("agent"), "a tool frame without toolCallId", out);
        return None;
    };
    match phase {
        "start" => {
            let input = data.get("args").cloned().unwrap_or_default();
            conversation.on_call(id, name, input, out);
            None
        }
        // What a tool has given back so far is in its result, too.
        "update" => None,
        "result" | "end" => {
            let result = data.get("result").unwrap_or(&Value::Null);
            let details = result.get("details").unwrap_or(&Value::Null);
            let is_error = data.get("isError").and_then(Value::as_bool);
            conversation.on_result(Some(id), name, result, is_error, details, out);
            let session = tools::spawned(details).or_else(|| tools::spawned(result))?;
            Some((session.into(), id.into()))
        }
        other => {
            let reason = format!("a tool frame of unknown phase: {other}");
            unparsed(Some("agent"), &reason, out);
            None
        }
    }
}

/// Tells what the text of a stream is, by the stream's name.
fn channel(stream: &str) -> Channel {
    let name = stream.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&["reason", "think", "analysis", "trace"]) && !has(&["assistant", "tool", "lifecycle"]) {
        Channel::Thinking
    } else {
        Channel::Text
    }
}

/// Returns what went wrong: the first that is not blank.
fn error_in(data: &Value) -> Option<&str> {
    let keys = ["error", "message", "reason", "detail", "text"];
    let mut texts = keys.iter().filter_map(|key| data.get(*key)?.as_str());
    texts.find(|text| !text.trim().is_empty())
}

fn interaction(event: &str, payload: &Value) -> Interaction {
    let is_answer = event.contains("resolved") || payload.get("decision").is_some();
    let id = payload.get("id").or_else(|| payload.pointer("/payload/id"));
    Interaction {
        phase: if is_answer { "response" } else { "request" }.to_owned(),
        query_type: event.to_owned(),
        query_id: id.and_then(Value::as_str).map(str::to_owned),
        payload: Some(payload.get("payload").unwrap_or(payload).clone()),
    }
}

/// Uses the time on a frame.
fn set_time(millis: Option<u64>, out: &mut SignalSink<'_>) {
    if let Some(at) = millis.filter(|at| *at > 0) {
        out.set_time(bounds::count(at));
    }
}

fn unparsed(tag: Option<&str>, reason: &str, out: &mut SignalSink<'_>) {
    out.emit(Signal::Unparsed {
        tag: tag.map(Into::into),
        reason: reason.into(),
    });
}
