//! Frames: what they are, and which session they belong to.

use runtape_core::TokenCounts;
use runtape_core::ToolCallId;
use runtape_core::runtime_event::{Compaction, Info, Interaction, PermissionDenied, Warning};
use serde_json::Value;

use super::held_frames::HeldFrames;
use super::is_session_id;
use super::lifecycle::retry_of;
use super::repeats::Repeats;
use super::requests::Requests;
use super::sessions::{ForeignNotice, SessionOwner, Sessions};
use super::tools;
use super::wire::{
    AgentFrame, AgentPayload, ApprovalFrame, ChatFrame, Head, OwnerFrame, Retry, RowFrame,
};
use crate::bounds;
use crate::framing::{LinePart, pieces};
use crate::json::{DecodeError, Raw, decode};
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::Signal;
use crate::verdict::UnclearResult;

/// Events that say nothing of an agent's work: the gateway's own affairs, as it lists them itself.
const ABOUT_THE_GATEWAY: &[&str] = &[
    "chat.metadata.changed",
    "connect.challenge",
    "cron",
    "gateway.suspension",
    "health",
    "heartbeat",
    "mentions.changed",
    "models.snapshot",
    "portal.changed",
    "presence",
    "progressCard.changed",
    "question.requested",
    "question.resolved",
    "session.approval",
    "session.observer",
    "session.operation",
    "session.sharing",
    "session.sharing.evidence",
    "session.suggestion",
    "session.typing",
    "sessions.changed",
    "shutdown",
    "skills.changed",
    "task",
    "task.suggestion",
    "tick",
    "ui.command",
    "update.available",
    "update.run.changed",
];

/// What the names of further such events begin with.
const FAMILIES: &[&str] = &[
    "controlUi.",
    "device.",
    "node.",
    "plugins.",
    "talk.",
    "terminal.",
    "users.",
    "voicewake.",
];

/// Streams of agent frames that tell in another way what tools, text and results tell.
const MIRRORS: &[&str] = &["approval", "patch", "plan"];

/// Reads frames.
pub(super) struct Frames {
    /// A frame was understood, so this is what the output is.
    pub(super) is_sure: bool,
    pub(super) sessions: Sessions,
    pub(super) requests: Requests,
    held: HeldFrames,
    repeats: Repeats,
    /// What the client sent is there, too, so that a request will name the session.
    pub(super) has_requests: bool,
    /// The session that the command line names.
    named: Option<Box<str>>,
    /// A session that the client took an interest in, where it asks for no run.
    pub(super) hint: Option<Box<str>>,
    /// The run that an answer named, where no request named the session.
    asked_run: Option<Box<str>>,
    /// How often the client connected.
    pub(super) connections: u32,
    /// The last line was cut.
    is_cut: bool,
}

impl Frames {
    pub(super) fn new(limit: usize, named: Option<&str>) -> Self {
        Self {
            named: named.map(Into::into),
            is_sure: false,
            sessions: Sessions::new(limit),
            requests: Requests::default(),
            held: HeldFrames::default(),
            repeats: Repeats::default(),
            has_requests: false,
            hint: None,
            asked_run: None,
            connections: 0,
            is_cut: false,
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
                LinePart::Text(text) => out.stdout_text(text),
                LinePart::Json(bytes) => {
                    if let Err(error) = self.on_value(bytes, out) {
                        out.unparsed(None, error.to_string());
                        // Whatever was cut off came after the end of the run before it.
                        self.is_cut |= line.ending == Ending::None;
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
            (Some("event") | None, Some(event)) if is_work(event) => {
                if self.repeats.is_repeated(bytes) {
                    return Ok(());
                }
                if self.sessions.asked().is_some() {
                    self.on_work(event, bytes, out)?;
                } else {
                    decode::<serde::de::IgnoredAny>(bytes)?;
                    self.hold(bytes, out);
                }
            }
            (Some("event") | None, Some(event)) if is_about_gateway(event) => {}
            (Some("req"), _) => {
                let request = out.read("req", bytes)?;
                self.on_request(&request, out);
            }
            (Some("res"), _) => {
                let response = out.read("res", bytes)?;
                self.on_response(&response, out);
            }
            (tag, event) => {
                decode::<serde::de::IgnoredAny>(bytes)?;
                let (tag, reason) = match event.or(tag) {
                    None | Some("") => (None, "a frame without a type"),
                    tag => (tag, "a frame of unknown type"),
                };
                out.unparsed(tag, reason);
                return Ok(());
            }
        }
        self.is_sure = true;
        Ok(())
    }

    /// Holds a frame until it is known which session was asked.
    fn hold(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) {
        self.held.push(bytes, out.place());
        // A request knows better than the command line, where requests are there.
        if !self.has_requests
            && let Some(session) = self.named.take()
        {
            return self.ask(&session, out);
        }
        if let Some(run) = &self.asked_run {
            let owner = decode::<OwnerFrame<'_>>(bytes).ok();
            let owner = owner.and_then(|owner| owner.value.payload);
            let of_run = owner.filter(|owner| owner.run.as_deref() == Some(run));
            if let Some(session) = of_run.and_then(|owner| owner.session) {
                return self.ask(&session, out);
            }
        }
        if !self.held.is_full() {
            return;
        }
        if self.has_requests && self.hint.is_none() && self.named.is_none() {
            // A request will name the session, so that what came before it is not taken for it.
            let count = self.held.take().len();
            let message = format!("{count} frames before the first request are left out");
            out.emit(Signal::Event(Warning { message }.into()));
        } else {
            self.guess(out);
        }
    }

    /// Takes the session that the client watched, or that of the first frame, for the asked one.
    fn guess(&mut self, out: &mut SignalSink<'_>) {
        let hint = self.named.take().or(self.hint.take()).map(String::from);
        if let Some(session) = hint.or_else(|| self.held.first_session()) {
            self.ask(&session, out);
        }
        // Approvals alone name no session of their own.
        if self.sessions.asked().is_none() {
            self.held.take();
        }
    }

    /// Takes the key of the asked session, and reads the frames that were held for it.
    pub(super) fn ask(&mut self, session: &str, out: &mut SignalSink<'_>) {
        if self.sessions.asked().is_some() || session.is_empty() {
            return;
        }
        self.sessions.ask(session);
        tell_session(session, out);
        self.held.take().replay(out, |frame, out| {
            let event = decode::<Head<'_>>(frame.bytes).map(|head| head.value.event);
            let event = event.ok().flatten().unwrap_or_default();
            if let Err(error) = self.on_work(&event, frame.bytes, out) {
                out.unparsed(Some(&event), error.to_string());
            }
        });
    }

    /// Takes the run that an answer names where no request named a session.
    pub(super) fn ask_for_run(&mut self, run: &str, out: &mut SignalSink<'_>) {
        if self.sessions.asked().is_some() {
            return;
        }
        self.asked_run = Some(run.into());
        if let Some(session) = self.held.session_of(run) {
            self.ask(&session, out);
        }
    }

    /// Reads a frame of an agent's work.
    fn on_work(
        &mut self,
        event: &str,
        bytes: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        match event {
            "chat" => {
                let frame: ChatFrame<'_> = out.read("chat", bytes)?;
                out.unknown_keys("chat", &frame.unknown);
                self.on_chat(frame, out);
            }
            "agent" | "session.tool" => {
                let frame: AgentFrame<'_> = out.read("agent", bytes)?;
                out.unknown_keys("agent", &frame.unknown);
                self.on_agent(&frame.payload.unwrap_or_default(), out);
            }
            "session.message" => {
                let frame: RowFrame<'_> = out.read("session.message", bytes)?;
                let row = frame.payload.unwrap_or_default();
                set_time(row.message.get("timestamp").and_then(Value::as_u64), out);
                let (session, by) = (row.session.as_deref(), row.spawned_by.as_deref());
                let owner = self.owner(session.unwrap_or_default(), by, out);
                if let Some(conversation) = self.sessions.get(owner) {
                    conversation.on_row(row.message, row.id.as_deref(), out);
                }
            }
            _ => self.on_approval(event, bytes, out)?,
        }
        Ok(())
    }

    /// Returns whose frame it is; frames of other sessions are counted.
    fn owner(
        &mut self,
        session: &str,
        spawned_by: Option<&str>,
        out: &mut SignalSink<'_>,
    ) -> SessionOwner {
        let owner = self.sessions.owner(session, spawned_by);
        if owner != SessionOwner::Foreign {
            return owner;
        }
        let message = match self.sessions.on_foreign(session) {
            ForeignNotice::Known => return owner,
            ForeignNotice::First => {
                let session: String = session.chars().take(200).collect();
                format!("frames of another session are left out: {session}")
            }
            ForeignNotice::TooMany => "frames of further sessions are left out".to_owned(),
        };
        let topic = Some("session".to_owned());
        out.emit(Signal::Event(Info { topic, message }.into()));
        owner
    }

    fn on_chat(&mut self, frame: ChatFrame<'_>, out: &mut SignalSink<'_>) {
        let mut chat = frame.payload.unwrap_or_default();
        out.unknown_keys("chat.payload", &chat.unknown);
        let (Some(run), Some(session)) = (chat.run.take(), chat.session.take()) else {
            let reason = "a chat frame without runId and sessionKey";
            return out.unparsed(Some("chat"), reason);
        };
        self.learn_whole_key(&session, &run, out);
        let owner = self.owner(&session, chat.spawned_by.as_deref(), out);
        let Some(conversation) = self.sessions.get(owner) else {
            return;
        };
        // What a delta restates is read only while nothing else told it.
        let is_restated = chat.state.is("delta")
            && conversation
                .runs
                .known(&run)
                .is_some_and(|run| run.has_text);
        let message = match std::mem::take(&mut chat.message) {
            _ if is_restated => Value::Null,
            message => Raw::into_value(message),
        };
        set_time(message.get("timestamp").and_then(Value::as_u64), out);
        if !conversation.on_chat(&run, &chat, &message, out) {
            let reason = format!("a chat frame of unknown state: {}", chat.state);
            out.unparsed(Some("chat"), reason);
            let doubt = UnclearResult::default().with("state", &chat.state);
            conversation.on_doubt(doubt, out);
        }
    }

    /// Reads an agent frame, also one that a transcript repeats.
    pub(super) fn on_agent(&mut self, agent: &AgentPayload<'_>, out: &mut SignalSink<'_>) {
        set_time(agent.time, out);
        let Some(run) = agent.run.as_deref() else {
            return out.unparsed(Some("agent"), "an agent frame without runId");
        };
        let session = agent.session.as_deref().unwrap_or_default();
        let row = agent.row.as_ref().and_then(|row| row.spawned_by.as_deref());
        self.learn_whole_key(session, run, out);
        let owner = self.owner(session, agent.spawned_by.as_deref().or(row), out);
        let (data, seq) = (&agent.data, agent.seq);
        let phase = data.phase.as_deref().unwrap_or_default();
        let stream = agent.stream.as_deref().unwrap_or_default();
        if stream == "lifecycle"
            && phase == "start"
            && owner != SessionOwner::Foreign
            && let Some(child) = self.sessions.announced(run)
        {
            child.finish(out);
        }
        let Some(conversation) = self.sessions.get(owner) else {
            return;
        };
        conversation.hears_frames |= matches!(stream, "assistant" | "thinking" | "item" | "tool");
        match stream {
            "assistant" => conversation.on_assistant(run, seq, data, out),
            "thinking" => conversation.on_thinking(run, seq, data, out),
            "lifecycle" => {
                if !conversation.on_lifecycle(run, agent.time, data, out) {
                    let reason = format!("a life cycle of unknown phase: {phase}");
                    out.unparsed(Some("agent"), reason);
                }
            }
            "item" => match (data.kind.as_deref(), data.call.as_deref()) {
                (Some("preamble"), _) => conversation.on_preamble(run, data, out),
                (Some("tool"), Some(call)) => conversation.on_tool_item(call, data, out),
                (Some("tool" | "command" | "patch" | "search" | "analysis"), _) => {}
                (kind, _) => out.emit(Signal::UnknownKey {
                    message: "agent.item",
                    key: kind.unwrap_or_default(),
                }),
            },
            "tool" => self.on_tool(owner, agent, out),
            "command_output" => conversation.on_command_output(data, out),
            "usage" => {
                if let Some(tokens) = data.output_tokens {
                    conversation.on_usage(run, tokens, out);
                }
            }
            "run_status" => {
                conversation.runs.get(run);
                if phase == "retrying" {
                    conversation.on_retrying(run, retrying(agent));
                }
            }
            "compaction" => {
                // The end says what the start said, and how it went.
                if phase != "start" {
                    let message = data.message.as_deref().or(data.phase.as_deref());
                    let compaction = Compaction {
                        trigger: None,
                        pre_tokens: data.tokens_before,
                        post_tokens: data.tokens_after,
                        duration_ms: data.duration,
                        message: message.map(str::to_owned),
                    };
                    conversation.emit(Signal::Event(compaction.into()), out);
                }
            }
            "error" => {
                let said = data.error.word().or(data.message.as_deref());
                let said = said.or(data.reason.as_deref()).unwrap_or("an error");
                let message = said.to_owned();
                conversation.emit(Signal::Event(Warning { message }.into()), out);
            }
            stream if MIRRORS.contains(&stream) => {}
            stream => {
                let reason = format!("an agent frame of unknown stream: {stream}");
                out.unparsed(Some("agent"), reason);
            }
        }
    }

    fn on_tool(&mut self, owner: SessionOwner, agent: &AgentPayload<'_>, out: &mut SignalSink<'_>) {
        let data = &agent.data;
        let name = data.name.as_deref().unwrap_or("tool");
        let Some(id) = data.call.as_deref().filter(|id| !id.is_empty()) else {
            return out.unparsed(Some("agent"), "a tool frame without toolCallId");
        };
        let Some(conversation) = self.sessions.get(owner) else {
            return;
        };
        match data.phase.as_deref() {
            Some("start") => {
                let input = Some(data.args.clone()).filter(|args| !args.is_null());
                conversation.on_call(id, name, input, out);
            }
            // What a tool has given back so far is in its result, too.
            Some("update") => {}
            Some("result" | "end") => {
                let child = tools::spawned(&data.result);
                let may_spawn = child.is_some() || name == tools::SPAWN;
                if may_spawn {
                    conversation.emit(Signal::Delegates(id), out);
                }
                let is_first = conversation.on_result(id, name, &data.result, data.is_error, out);
                // Protocol 3 does not tell where a request begins.
                if is_first && !conversation.sees_requests {
                    conversation.end_message(out);
                }
                match child {
                    Some(session) => self.sessions.on_spawned(session, id),
                    None if is_first && may_spawn => self.sessions.on_untold_child(id),
                    None => {}
                }
            }
            phase => {
                let phase = phase.unwrap_or_default();
                let reason = format!("a tool frame of unknown phase: {phase}");
                out.unparsed(Some("agent"), reason);
            }
        }
    }

    fn on_approval(
        &mut self,
        event: &str,
        bytes: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let frame: ApprovalFrame<'_> = out.read("event", bytes)?;
        let approval = frame.payload.unwrap_or_default();
        let request = approval.request.unwrap_or_default();
        let session = request.session.as_deref().unwrap_or_default();
        let owner = self.owner(session, None, out);
        let Some(conversation) = self.sessions.get(owner) else {
            return Ok(());
        };
        let mut whole: Value = decode(bytes)?.value;
        let interaction = Interaction {
            phase: if event.ends_with("resolved") {
                "response".to_owned()
            } else {
                "request".to_owned()
            },
            query_type: event.to_owned(),
            query_id: approval.id.map(crate::json::Str::into_owned),
            payload: whole.get_mut("payload").map(Value::take),
        };
        conversation.emit(Signal::Event(interaction.into()), out);
        if approval.decision.as_deref() == Some("deny") {
            let call = request.call.as_deref().and_then(ToolCallId::from_printed);
            let denied = PermissionDenied {
                tool_name: event.split('.').next().unwrap_or_default().to_owned(),
                tool_call_id: call,
                message: request.command.map(crate::json::Str::into_owned),
            };
            conversation.emit(Signal::Event(denied.into()), out);
        }
        Ok(())
    }

    fn learn_whole_key(&mut self, session: &str, run: &str, out: &mut SignalSink<'_>) {
        if self.sessions.learn_whole_key(session, run) {
            tell_session(session, out);
        }
    }

    /// The connection is over.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        if !self.held.is_empty() {
            self.guess(out);
        }
        for child in &mut self.sessions.children {
            child.finish(out);
        }
        self.tell_usage(out);
        if self.sessions.foreign_frames > 0 {
            let count = self.sessions.foreign_frames.into();
            out.emit(Signal::Metadata("foreignFrames", count));
        }
        self.sessions.main.finish(out);
        if self.is_cut {
            out.emit(Signal::TurnOpened);
        }
    }

    /// Tells what all sessions together used, where rows or answers know more than frames.
    fn tell_usage(&self, out: &mut SignalSink<'_>) {
        let sessions = || std::iter::once(&self.sessions.main).chain(&self.sessions.children);
        if sessions().any(|session| session.usage.has_more()) {
            let known = sessions().map(|session| session.usage.known().0);
            let total = known.fold(TokenCounts::default(), TokenCounts::plus);
            out.emit(Signal::Total(total));
        }
        let costs: Option<Vec<f64>> = sessions().map(|session| session.usage.known().1).collect();
        if let Some(costs) = costs {
            out.emit(Signal::Cost(costs.iter().sum()));
        }
    }
}

/// Tells whether an event is of an agent's work.
fn is_work(event: &str) -> bool {
    let is_approval =
        event.ends_with(".approval.requested") || event.ends_with(".approval.resolved");
    matches!(event, "chat" | "agent" | "session.tool" | "session.message") || is_approval
}

fn is_about_gateway(event: &str) -> bool {
    ABOUT_THE_GATEWAY.contains(&event) || FAMILIES.iter().any(|family| event.starts_with(family))
}

/// Returns the notice of a request that will be made again.
fn retrying(agent: &AgentPayload<'_>) -> runtape_core::runtime_event::ApiRetry {
    let data = &agent.data;
    let retry = retry_of(&Retry {
        attempt: data.attempt,
        max_attempts: data.max_attempts,
        delay: data.delay,
        reason: data.reason.clone(),
        unknown: Vec::new(),
    });
    let attempt = data.retry_attempt.or(retry.attempt);
    runtape_core::runtime_event::ApiRetry { attempt, ..retry }
}

fn tell_session(session: &str, out: &mut SignalSink<'_>) {
    if is_session_id(session) {
        out.emit(Signal::Session(session));
    }
}

/// Uses the time on a frame.
fn set_time(millis: Option<u64>, out: &mut SignalSink<'_>) {
    if let Some(at) = millis.filter(|at| *at > 0) {
        out.set_time(bounds::count(at));
    }
}
