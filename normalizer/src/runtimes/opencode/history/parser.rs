//! The rows of one run, its sub-agents' after its own.

use std::collections::HashMap;
use std::sync::Arc;

use runtape_core::runtime_event::Warning;

use super::message::{Conversation, HeldMessage, HeldRow};
use super::wire::{DataRow, RowLine, SessionLine, SessionRow};
use crate::context::Context;
use crate::history::{LastWord, LineReader, judge_with_answer, table_of};
use crate::json::{DecodeError, Str, decode};
use crate::parser::SignalSink;
use crate::runtimes::opencode::is_session_id;
use crate::runtimes::opencode::spending::Spending;
use crate::signal::{CHILD_LABEL, Scope, Signal};

/// Reads the rows of one run.
pub(super) struct RowParser {
    limit: usize,
    /// The main session's id.
    main: Option<String>,
    conversation: Conversation,
    children: Vec<ChildSession>,
    numbers: HashMap<String, usize>,
    /// Which call started a session.
    callers: HashMap<String, String>,
    held: HeldMessage,
    spending: Spending,
}

/// A sub-agent's session.
struct ChildSession {
    /// The call that started it, and its id.
    scope: Arc<str>,
    conversation: Conversation,
}

impl RowParser {
    pub(super) fn new(context: &Context) -> Self {
        Self {
            limit: context.limit,
            main: None,
            conversation: Conversation::default(),
            children: Vec::new(),
            numbers: HashMap::new(),
            callers: HashMap::new(),
            held: HeldMessage::default(),
            spending: Spending::default(),
        }
    }
}

impl LineReader for RowParser {
    fn on_line(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        match table_of(bytes) {
            Some("session") => {
                let line: SessionLine<'_> = out.read("session", bytes)?;
                self.on_session(&line.row, out);
            }
            Some(table @ ("message" | "part")) => {
                let line: RowLine<'_> = out.read(table, bytes)?;
                out.unknown_keys(table, &line.row.unknown);
                self.on_row(table == "message", line.row, out);
            }
            table => {
                decode::<serde::de::IgnoredAny>(bytes)?;
                out.unparsed(table, "a row of an unknown table");
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut SignalSink<'_>) {
        self.flush(out);
        self.conversation.tell_unfinished(Scope::Main, out);
        for child in &mut self.children {
            let scope = Scope::Child(&child.scope);
            child.conversation.tell_unfinished(scope, out);
            let (last, _) = child.conversation.last_word();
            let (is_error, text) = match &last {
                LastWord::Answer { .. } => (false, child.conversation.last_text()),
                LastWord::Failure(error) | LastWord::Interrupted(error) => {
                    (true, Some(error.message.as_str()))
                }
                _ => continue,
            };
            out.emit(Signal::ChildEnd {
                call: (*child.scope).into(),
                is_error,
                text: text.map(Into::into),
            });
        }
        let (last, answer) = self.conversation.last_word();
        judge_with_answer(last, answer, out);
    }
}

impl RowParser {
    fn on_session(&mut self, row: &SessionRow<'_>, out: &mut SignalSink<'_>) {
        let Some(id) = row.id.as_deref() else {
            return out.unparsed(Some("session"), "id: missing");
        };
        self.flush(out);
        out.set_millis(row.created);
        let main = self.main.get_or_insert_with(|| id.to_owned());
        if main != id {
            if !self.numbers.contains_key(id) {
                let call = self.callers.get(id).map_or(id, String::as_str);
                let scope = Arc::from(format!("{call}{CHILD_LABEL}{id}"));
                self.numbers.insert(id.to_owned(), self.children.len());
                self.children.push(ChildSession {
                    scope,
                    conversation: Conversation::default(),
                });
            }
            return;
        }
        if is_session_id(id) {
            out.emit(Signal::Session(id));
        } else {
            out.unparsed(Some("session"), "id: no id of a session");
        }
        if let Some(version) = row.version.as_deref().filter(|version| !version.is_empty()) {
            out.emit(Signal::CliVersion(version));
        }
        if let Some(directory) = row.directory.as_deref().filter(|cwd| !cwd.is_empty()) {
            out.emit(Signal::Cwd(directory));
        }
    }

    fn on_row(&mut self, is_message: bool, row: DataRow<'_>, out: &mut SignalSink<'_>) {
        let owned = |text: Option<Str<'_>>| text.map(Str::into_owned).unwrap_or_default();
        out.set_millis(row.updated.filter(|_| !is_message).or(row.created));
        let (id, session) = (owned(row.id), owned(row.session));
        let message = if is_message {
            id.clone()
        } else {
            owned(row.message)
        };
        if message != self.held.id || session != self.held.session {
            self.flush(out);
            self.held.id = message;
            self.held.session = session;
        }
        let held = HeldRow {
            data: owned(row.data),
            place: out.place(),
        };
        self.held.weight += held.data.len();
        if is_message {
            self.held.row = Some(held);
        } else {
            self.held.parts.insert(id, held);
        }
        if self.held.weight > self.limit {
            self.flush_parts(out);
        }
    }

    /// Gives out the parts that are held of a message that goes on.
    fn flush_parts(&mut self, out: &mut SignalSink<'_>) {
        let again = HeldMessage {
            id: self.held.id.clone(),
            session: self.held.session.clone(),
            row: self.held.row.as_ref().map(|row| HeldRow {
                data: row.data.clone(),
                place: row.place,
            }),
            ..HeldMessage::default()
        };
        self.flush(out);
        self.held = again;
    }

    /// Gives out the message that is held.
    fn flush(&mut self, out: &mut SignalSink<'_>) {
        let message = std::mem::take(&mut self.held);
        if message.row.is_none() && message.parts.is_empty() {
            return;
        }
        let mut started = Vec::new();
        let child = self.numbers.get(&message.session).copied();
        if let Some(child) = child.and_then(|number| self.children.get_mut(number)) {
            let scope = Scope::Child(&child.scope);
            let conversation = &mut child.conversation;
            conversation.tell(&message, scope, &mut self.spending, &mut started, out);
        } else {
            let before = self.conversation.error.take();
            let conversation = &mut self.conversation;
            conversation.tell(&message, Scope::Main, &mut self.spending, &mut started, out);
            // Only the last error can be why a run failed.
            match (before, &self.conversation.error) {
                (Some((earlier, place)), Some((error, _))) if earlier != *error => {
                    let message = earlier.message;
                    let warning = Signal::Event(Warning { message }.into());
                    out.emit_at(place, Scope::Main, warning);
                }
                (before, None) => self.conversation.error = before,
                _ => {}
            }
        }
        self.callers.extend(started);
    }
}
