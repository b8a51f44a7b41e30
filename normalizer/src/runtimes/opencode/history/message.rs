//! One message and its parts, held until another begins: rows change while a run goes on.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use runtape_core::RunError;
use runtape_core::runtime_event::ApiRetry;
use serde::Deserialize;
use serde_json::Value;

use super::typed;
use super::wire::{Message, PartHead, RetryPart};
use crate::failure::error;
use crate::framing::events_or_text::quoted;
use crate::history::LastWord;
use crate::json::{Str, decode};
use crate::parser::SignalSink;
use crate::runtimes::opencode::calls::{ToolPartCall, repeated_request};
use crate::runtimes::opencode::failure;
use crate::runtimes::opencode::spending::Spending;
use crate::runtimes::opencode::wire::{FinishPart, SpokenPart, ToolPart};
use crate::signal::{CallRef, Scope, Signal, TapePlace, compaction};
use crate::verdict::{UNCLEAR_RESULT, VerdictWord};

/// A row's object, and where it stands.
#[derive(Debug)]
pub(super) struct HeldRow {
    pub(super) data: String,
    pub(super) place: TapePlace,
}

/// A message and its parts, each as it was last read.
#[derive(Debug, Default)]
pub(super) struct HeldMessage {
    pub(super) id: String,
    pub(super) session: String,
    pub(super) row: Option<HeldRow>,
    pub(super) parts: BTreeMap<String, HeldRow>,
    /// Bytes that are held.
    pub(super) weight: usize,
}

/// Whose message it is.
#[derive(Clone, Copy, Debug)]
enum Speaker {
    User,
    Assistant,
}

/// How far a part was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartTold {
    /// A call without its result.
    Call,
    All,
}

/// What was said in a session so far.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// Parts that were told, by hashes of their ids.
    told: HashMap<u64, PartTold>,
    /// Whose the messages are that were told.
    messages: HashMap<u64, Speaker>,
    hasher: FixedState,
    /// Texts that were not whole when they were read.
    unfinished: BTreeMap<String, HeldRow>,
    last: Option<LastModelMessage>,
    /// A call was told whose message has no step.
    called_ahead: bool,
    /// The last error, and where.
    pub(super) error: Option<(RunError, TapePlace)>,
}

/// The last message of the model.
#[derive(Debug, Default)]
struct LastModelMessage {
    id: String,
    finish: VerdictWord<'static>,
    /// A step of it has begun.
    has_step: bool,
    /// What it said.
    text: String,
}

/// Whether the attempt at a message that a part belongs to was made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartAttempt {
    Kept,
    GivenUp,
}

/// How a part stands to the attempts at its message: a step that another one follows without a finish
/// was given up.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    is_given_up: bool,
    /// It begins an attempt after one that was given up.
    is_repeated: bool,
}

/// Returns the parts of a message. Calls of attempts that were given up come last, as they are printed.
fn in_order(message: &HeldMessage) -> Vec<(&str, &HeldRow, Attempt)> {
    let is = |row: &HeldRow, kind: &str| {
        let rest = row.data.strip_prefix("{\"type\":\"");
        let known = rest.and_then(quoted).map(|(known, _)| known == kind);
        known.unwrap_or_else(|| {
            let head = decode::<PartHead<'_>>(row.data.as_bytes());
            head.is_ok_and(|head| head.value.kind.as_deref() == Some(kind))
        })
    };
    let mut parts: Vec<(&str, &HeldRow, Attempt)> = Vec::with_capacity(message.parts.len());
    let mut open: Option<usize> = None;
    for (id, row) in &message.parts {
        let mut attempt = Attempt::default();
        if is(row, "step-start") {
            if let Some(from) = open.replace(parts.len()) {
                attempt.is_repeated = true;
                for (.., before) in parts.iter_mut().skip(from) {
                    before.is_given_up = true;
                }
            }
        } else if is(row, "step-finish") {
            open = None;
        }
        parts.push((id, row, attempt));
    }
    if parts.iter().any(|(.., attempt)| attempt.is_given_up) {
        parts.sort_by_key(|(_, row, attempt)| attempt.is_given_up && is(row, "tool"));
    }
    parts
}

/// Which sessions calls started.
pub(super) type Started = Vec<(String, String)>;

impl Conversation {
    /// Gives out a message.
    pub(super) fn tell(
        &mut self,
        message: &HeldMessage,
        scope: Scope<'_>,
        spending: &mut Spending,
        started: &mut Started,
        out: &mut SignalSink<'_>,
    ) {
        let key = self.hasher.hash_one(&message.id);
        let Some(row) = &message.row else {
            // A part that changed after its message was told.
            match self.messages.get(&key) {
                Some(Speaker::User) => self.tell_user(message, scope, out),
                Some(Speaker::Assistant) => {
                    let head = Message::default();
                    self.tell_assistant(head, message, scope, spending, started, out);
                }
                None => {
                    let place = message.parts.values().map(|row| row.place).next();
                    let mut out = out.at(place.unwrap_or(out.place()));
                    out.unparsed(Some("part"), "a part without a message");
                }
            }
            return;
        };
        let mut at = out.at(row.place);
        let Some(head) = object::<Message<'_>>("message", &row.data, &mut at) else {
            return;
        };
        at.unknown_keys("message", &head.unknown);
        match head.role.as_deref() {
            Some("user") => {
                self.messages.insert(key, Speaker::User);
                self.tell_user(message, scope, out);
            }
            Some("assistant") => {
                self.messages.insert(key, Speaker::Assistant);
                self.tell_assistant(head, message, scope, spending, started, out);
            }
            role => {
                let reason = format!("role: {}", role.unwrap_or("missing"));
                at.unparsed(Some("message"), reason);
            }
        }
    }

    fn told(&self, part: &str) -> Option<PartTold> {
        self.told.get(&self.hasher.hash_one(part)).copied()
    }

    fn note(&mut self, part: &str, told: PartTold) {
        self.told.insert(self.hasher.hash_one(part), told);
    }

    fn tell_user(&mut self, message: &HeldMessage, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        let mut texts: Vec<String> = Vec::new();
        let mut place = None;
        for (id, row) in &message.parts {
            if self.told(id) == Some(PartTold::All) {
                continue;
            }
            self.note(id, PartTold::All);
            let mut out = out.at(row.place);
            let Some(head) = object::<PartHead<'_>>("part", &row.data, &mut out) else {
                continue;
            };
            match head.kind.as_deref() {
                Some("text") if head.is_synthetic != Some(true) => {
                    place.get_or_insert(row.place);
                    texts.extend(head.text.map(Str::into_owned));
                }
                Some("compaction") => out.emit_in(scope, Signal::Event(compaction(None).into())),
                // What goes with the words, and words of the CLI's own.
                Some("text" | "file" | "agent" | "subtask" | "snapshot" | "patch") => {}
                kind => out.unparsed(kind, "a part of unknown type"),
            }
        }
        if let Some(place) = place {
            if matches!(scope, Scope::Main) {
                self.last = None;
            }
            let text = typed(&texts.join("\n"));
            out.emit_at(place, scope, Signal::User(text.into()));
        }
    }

    fn tell_assistant(
        &mut self,
        head: Message<'_>,
        message: &HeldMessage,
        scope: Scope<'_>,
        spending: &mut Spending,
        started: &mut Started,
        out: &mut SignalSink<'_>,
    ) {
        let model = head.model.as_deref().filter(|model| !model.is_empty());
        if let Some(model) = model {
            out.emit_in(scope, Signal::Model(model));
        }
        if let (Some(cwd), Scope::Main) = (&head.path.cwd, scope) {
            out.emit(Signal::Cwd(cwd));
        }
        if self.last.as_ref().is_none_or(|last| last.id != message.id) {
            self.last = Some(LastModelMessage {
                id: message.id.clone(),
                ..LastModelMessage::default()
            });
        }
        for (id, row, attempt) in in_order(message) {
            if self.told(id) == Some(PartTold::All) {
                continue;
            }
            let mut at = out.at(row.place);
            let Some(kind) = kind_of(&row.data, &mut at) else {
                self.note(id, PartTold::All);
                continue;
            };
            if kind == "step-start" && attempt.is_repeated {
                at.emit_in(scope, Signal::MessageGivenUp(repeated_request()));
            }
            let attempt = if attempt.is_given_up {
                PartAttempt::GivenUp
            } else {
                PartAttempt::Kept
            };
            self.tell_part(
                id, &kind, row, attempt, model, scope, spending, started, &mut at,
            );
        }
        let place = message.row.as_ref().map_or(out.place(), |row| row.place);
        if let Some(last) = &mut self.last
            && !head.finish.is_missing()
        {
            last.finish = head.finish.into_owned();
        }
        if !head.error.is_null() {
            let (failed, is_sound) = failure::of_line(&head.error, place.at);
            if !is_sound {
                let mut at = out.at(place);
                at.unparsed(Some("message"), "error: without a name or a message");
            }
            self.error = Some((failed, place));
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a part, and all that it may add to"
    )]
    fn tell_part(
        &mut self,
        id: &str,
        kind: &str,
        row: &HeldRow,
        attempt: PartAttempt,
        model: Option<&str>,
        scope: Scope<'_>,
        spending: &mut Spending,
        started: &mut Started,
        out: &mut SignalSink<'_>,
    ) {
        match kind {
            "step-start" => {
                if let Some(last) = &mut self.last {
                    last.has_step = true;
                    last.text.clear();
                }
                if !std::mem::take(&mut self.called_ahead) {
                    out.emit_in(scope, Signal::Step(Some(id)));
                }
                out.emit_in(scope, Signal::MessagePrinted);
            }
            "text" | "reasoning" => {
                let Some(part) = object::<SpokenPart<'_>>(kind, &row.data, out) else {
                    return self.note(id, PartTold::All);
                };
                out.unknown_keys(kind, &part.unknown);
                let is_open = part.time.start.is_some() && part.time.end.is_none();
                if is_open && attempt == PartAttempt::Kept {
                    // It may still grow; at the end it is what is left of a killed run.
                    let held = HeldRow {
                        data: row.data.clone(),
                        place: row.place,
                    };
                    self.unfinished.insert(id.to_owned(), held);
                    return;
                }
                self.unfinished.remove(id);
                self.tell_text(kind, part, scope, out);
            }
            "tool" => {
                // A command that is a subtask calls the tool itself: the step that follows is the
                // first one of the model.
                if self.last.as_ref().is_some_and(|last| !last.has_step) && !self.called_ahead {
                    self.called_ahead = true;
                    out.emit_in(scope, Signal::Step(None));
                }
                return self.tell_tool(id, row, scope, started, out);
            }
            "step-finish" => {
                if let Some(mut part) = object::<FinishPart<'_>>(kind, &row.data, out) {
                    out.unknown_keys(kind, &part.unknown);
                    spending.add(id, model, &mut part, scope, out);
                    if let Some(last) = self.last.as_mut().filter(|last| last.finish.is_missing()) {
                        last.finish = part.reason.into_owned();
                    }
                }
            }
            "retry" => {
                if let Some(part) = object::<RetryPart>(kind, &row.data, out) {
                    out.emit_in(scope, Signal::Event(retry(&part).into()));
                }
            }
            "compaction" => out.emit_in(scope, Signal::Event(compaction(None).into())),
            "file" | "patch" | "snapshot" | "agent" | "subtask" => {}
            _ => out.unparsed(Some(kind), "a part of unknown type"),
        }
        self.note(id, PartTold::All);
    }

    fn tell_text(
        &mut self,
        kind: &str,
        part: SpokenPart<'_>,
        scope: Scope<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let Some(text) = part.text else {
            return out.unparsed(Some(kind), "text: missing");
        };
        if kind == "reasoning" {
            let thinking = Signal::Thinking {
                text: text.into_cow(),
                signature: None,
            };
            return out.emit_in(scope, thinking);
        }
        if part.metadata.is_compaction == Some(true) {
            out.emit_in(scope, Signal::Event(compaction(None).into()));
        }
        if text.trim().is_empty() {
            return;
        }
        if let Some(last) = &mut self.last {
            last.text.push_str(&text);
        }
        out.emit_in(scope, Signal::Text(text.into_cow()));
    }

    fn tell_tool(
        &mut self,
        id: &str,
        row: &HeldRow,
        scope: Scope<'_>,
        started: &mut Started,
        out: &mut SignalSink<'_>,
    ) {
        let Some(mut part) = object::<ToolPart<'_>>("tool", &row.data, out) else {
            return self.note(id, PartTold::All);
        };
        out.unknown_keys("tool", &part.unknown);
        let call = ToolPartCall::of(&part);
        // The part's id stands for a call without one.
        let named = part.call.as_deref().filter(|call| !call.is_empty());
        let named = named.unwrap_or(id).to_owned();
        let child = part.state.metadata.session.as_deref().map(str::to_owned);
        let is_known = self.told(id) == Some(PartTold::Call);
        let reference = CallRef::Printed(&named);
        if is_known {
            call.emit_end(reference, &mut part, scope, out);
        } else {
            call.emit(reference, &mut part, scope, out);
        }
        if let Some(child) = child {
            out.emit_in(scope, Signal::Delegates(&named));
            started.push((child, named.clone()));
        }
        self.note(
            id,
            if call.has_result {
                PartTold::All
            } else {
                PartTold::Call
            },
        );
    }

    /// Gives out what is left of texts that were never finished.
    pub(super) fn tell_unfinished(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        for (id, row) in std::mem::take(&mut self.unfinished) {
            let mut out = out.at(row.place);
            let kind = object::<PartHead<'_>>("part", &row.data, &mut out);
            let kind = kind.and_then(|head| head.kind.map(Str::into_owned));
            let part = object::<SpokenPart<'_>>("part", &row.data, &mut out);
            let part = part.filter(|part| part.text.as_ref().is_some_and(|text| !text.is_empty()));
            if let (Some(kind), Some(part)) = (kind, part) {
                self.tell_text(&kind, part, scope, &mut out);
                out.emit_in(scope, Signal::MessageCut);
            }
            self.note(&id, PartTold::All);
        }
    }

    /// Returns what stands last, and the answer.
    pub(super) fn last_word(&self) -> (LastWord, Option<String>) {
        if let Some((error, _)) = &self.error {
            let error = error.clone();
            let is_abort = failure::is_abort(&error);
            let word = if is_abort {
                LastWord::Interrupted(error)
            } else {
                LastWord::Failure(error)
            };
            return (word, None);
        }
        let Some(last) = &self.last else {
            return (LastWord::Open, None);
        };
        match last.finish.word() {
            Some("stop" | "length") => {
                let answer = Some(last.text.clone());
                (LastWord::Answer { is_proven: true }, answer)
            }
            Some("tool-calls") => (LastWord::Open, None),
            _ if last.finish.is_missing() => (LastWord::Open, None),
            _ => {
                let message = format!("finish: {}", last.finish);
                let family = runtape_core::ErrorFamily::Other;
                (
                    LastWord::Failure(error(UNCLEAR_RESULT, message, family)),
                    None,
                )
            }
        }
    }

    /// Returns what the model said last.
    pub(super) fn last_text(&self) -> Option<&str> {
        self.last.as_ref().map(|last| last.text.as_str())
    }
}

/// Returns the type of a part, which nearly always comes first.
fn kind_of<'a>(data: &'a str, out: &mut SignalSink<'_>) -> Option<Cow<'a, str>> {
    let rest = data.strip_prefix("{\"type\":\"");
    if let Some((kind, _)) = rest.and_then(quoted) {
        return Some(kind.into());
    }
    let head = object::<PartHead<'_>>("part", data, out)?;
    head.kind.map(|kind| kind.into_owned().into())
}

/// Reads the object of a row, and reports what is wrong with it.
fn object<'a, T: Deserialize<'a>>(tag: &str, data: &'a str, out: &mut SignalSink<'_>) -> Option<T> {
    match decode::<T>(data.as_bytes()) {
        Ok(decoded) => {
            out.faulty_fields(Some(tag), &decoded.faults);
            Some(decoded.value)
        }
        Err(error) => {
            out.unparsed(Some(tag), format!("data: {error}"));
            None
        }
    }
}

fn retry(part: &RetryPart) -> ApiRetry {
    let data = part.error.get("data").unwrap_or(&Value::Null);
    let status = data.get("statusCode").and_then(Value::as_u64);
    let message = data.get("message").or(part.error.get("message"));
    ApiRetry {
        attempt: part.attempt,
        max_attempts: None,
        delay_ms: None,
        status_code: status.and_then(|status| u16::try_from(status).ok()),
        reason: message.and_then(Value::as_str).map(str::to_owned),
    }
}
