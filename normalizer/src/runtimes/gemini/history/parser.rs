//! Makes signals of the lines of one run.
//!
//! Lines come in the order in which they were written, those of sub-agents at the end, and a record may
//! come again, with more or with less than before: each line gives what it adds.

use std::collections::{HashMap, HashSet};

use runtape_core::RuntimeEventKind;
use runtape_core::runtime_event::{Compaction, Info, Warning};

use super::calls::Answer;
use super::conversation::{Conversations, MAIN};
use super::said::{RecordKey, Said, fingerprint};
use super::wire::{Content, Line, join_texts};
use super::words::{Speaker, directory, speaker};
use crate::history::{LastWord, LineReader, judge};
use crate::json::{DecodeError, Str};
use crate::parser::SignalSink;
use crate::runtimes::gemini::failure::Stated;
use crate::runtimes::gemini::session_id;
use crate::signal::{Scope, Signal, TapePlace, Verdict};
use crate::unnamed_calls::UnnamedCalls;

/// What the CLI notes when the user cancels a request.
const CANCELLED: &str = "Request cancelled.";

/// Reads the lines of one run.
#[derive(Debug)]
pub(super) struct GeminiHistory {
    note: Option<PendingNote>,
    known: HashMap<RecordKey, ToldRecord>,
    pub(super) conversations: Conversations,
    /// Calls that have their result, by their place in their record and by their id.
    pub(super) answered: HashSet<u64>,
    /// Texts in the model's name that no model is known to have said.
    pub(super) unsaid: HashMap<RecordKey, String>,
    /// What a list of records has in the user's name and nobody typed.
    pub(super) summary: Option<Summary>,
    pub(super) last: LastWord,
    /// The time of the last line of the main conversation.
    pub(super) last_at: i64,
    pub(super) unnamed: UnnamedCalls,
}

impl Default for GeminiHistory {
    fn default() -> Self {
        Self {
            note: None,
            known: HashMap::new(),
            conversations: Conversations::default(),
            answered: HashSet::new(),
            unsaid: HashMap::new(),
            summary: None,
            last: LastWord::Open,
            last_at: 0,
            unnamed: UnnamedCalls::default(),
        }
    }
}

/// A note on the record that comes next.
#[derive(Debug, Default)]
struct PendingNote {
    record: String,
    agent: Option<String>,
    is_listed: bool,
}

/// What is known of a record.
#[derive(Clone, Copy, Debug)]
struct ToldRecord {
    conversation: usize,
    said: Said,
}

/// What may be the summary of a conversation.
#[derive(Debug)]
pub(super) struct Summary {
    conversation: usize,
    text: String,
    place: TapePlace,
}

/// Where a record belongs.
pub(super) struct RecordPlace {
    pub(super) key: RecordKey,
    pub(super) conversation: usize,
    /// What was said of it before.
    pub(super) before: Option<Said>,
    /// It was written as a part of a list only.
    pub(super) is_listed: bool,
}

impl LineReader for GeminiHistory {
    fn on_line(&mut self, line: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        let line: Line<'_> = out.read("history", line)?;
        if let Some(note) = line.note {
            self.note = Some(PendingNote {
                record: note.record.unwrap_or_default().into_owned(),
                agent: note.agent.map(Str::into_owned),
                is_listed: note.is_listed,
            });
            return Ok(());
        }
        out.unknown_keys("history", &line.unknown);
        if let Some(set) = line.set {
            out.unknown_keys("history.$set", &set.unknown);
            on_header(set.session.as_deref(), set.directories, out);
        } else if let Some(id) = line.rewind {
            let message = format!("rewound to before {id}");
            let topic = Some("rewind".to_owned());
            out.event(Info { topic, message });
        } else if line.id.is_some() {
            self.on_record(line, out);
        } else if line.session.is_some() {
            out.set_written_time(line.start_time.as_deref());
            on_header(line.session.as_deref(), line.directories, out);
        } else {
            out.unparsed(None, "a line of no known shape");
        }
        Ok(())
    }

    fn end(&mut self, out: &mut SignalSink<'_>) {
        self.end_summary(false, out);
        let place = out.place();
        self.conversations.finish(out);
        let at = self.last_at.max(place.at);
        let last = std::mem::replace(&mut self.last, LastWord::Open);
        judge(last, &mut out.at(TapePlace { at, ..place }));
    }
}

impl GeminiHistory {
    fn on_record(&mut self, line: Line<'_>, out: &mut SignalSink<'_>) {
        out.set_written_time(line.timestamp.as_deref());
        let id = line.id.as_deref().unwrap_or_default();
        let kind = line.kind.as_deref().unwrap_or_default();
        let note = self.note.take().filter(|note| note.record == id);
        let note = note.unwrap_or_default();
        let key = RecordKey::of(id, kind);
        let known = self.known.get(&key).copied();
        let conversation = match known {
            Some(known) => known.conversation,
            None => self.conversations.of(note.agent.as_deref()),
        };
        if conversation == MAIN && known.is_none() {
            self.last_at = self.last_at.max(out.place().at);
        }
        let record = RecordPlace {
            key,
            conversation,
            before: known.map(|known| known.said),
            is_listed: note.is_listed,
        };
        let call = self.conversations.call(conversation);
        let scope = call.as_deref().map_or(Scope::Main, Scope::Child);
        if kind != "gemini" {
            self.end_summary(false, out);
        }
        match kind {
            "gemini" => self.on_message(&record, scope, line, out),
            "user" => self.on_user(&record, scope, line, out),
            "info" | "warning" | "error" => self.on_notice(&record, scope, kind, line.content, out),
            "" => out.unparsed(None, "a record without a type"),
            kind => out.unparsed(Some(kind), "a record of unknown type"),
        }
    }

    /// Notes what is known of a record.
    pub(super) fn learn(&mut self, record: &RecordPlace, said: Said) {
        let known = ToldRecord {
            conversation: record.conversation,
            said: record.before.unwrap_or_default().plus(said),
        };
        self.known.insert(record.key, known);
    }

    fn on_user(
        &mut self,
        record: &RecordPlace,
        scope: Scope<'_>,
        line: Line<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let mut parts = line.content.into_parts();
        let text = join_texts(&mut parts);
        let mut has_results = false;
        for part in parts {
            out.unknown_keys("history.part", &part.unknown);
            let Some(response) = part.response else {
                continue;
            };
            has_results = true;
            let id = response.id.as_deref().unwrap_or_default().to_owned();
            let name = response.name.as_deref().unwrap_or_default().to_owned();
            if self.answered.insert(fingerprint(id.as_bytes())) {
                self.answer(scope, &id, &name, Answer::of_response(response), out);
            }
        }
        let shown = (!line.shown.is_absent()).then(|| join_texts(&mut line.shown.into_parts()));
        let speaker = speaker(&text, shown.as_deref());
        if speaker == Speaker::Context {
            if let (Scope::Main, Some(directory)) = (scope, directory(&text)) {
                out.emit(Signal::Cwd(directory));
            }
            return;
        }
        let is_known = record.before.is_some() || (has_results && text.is_empty());
        if is_known {
            return;
        }
        self.learn(record, Said::default());
        if has_results {
            // Words beside results are the CLI's.
            emit_event(scope, info("user", text), out);
        } else if speaker == Speaker::Nudge {
            emit_event(scope, Warning { message: text }, out);
        } else if record.is_listed {
            self.summary = Some(Summary {
                conversation: record.conversation,
                text,
                place: out.place(),
            });
        } else {
            self.conversations.open(record.conversation, None);
            out.emit_in(scope, Signal::User(shown.unwrap_or(text).into()));
            if record.conversation == MAIN {
                self.last = LastWord::Open;
            }
        }
    }

    fn on_notice(
        &mut self,
        record: &RecordPlace,
        scope: Scope<'_>,
        kind: &str,
        content: Content<'_>,
        out: &mut SignalSink<'_>,
    ) {
        if record.before.is_some() {
            return;
        }
        self.learn(record, Said::default());
        let message = join_texts(&mut content.into_parts());
        if message.is_empty() {
            return;
        }
        // A notice after an answer is about something else.
        let is_failure = kind == "error" && self.last == LastWord::Open;
        if is_failure && record.conversation == MAIN {
            let stated = Stated {
                message: message.clone(),
                at: out.place().at,
                ..Stated::default()
            };
            self.last = match stated.verdict(None) {
                Verdict::Success => LastWord::Open,
                Verdict::Error(error) => LastWord::Failure(error),
                Verdict::TurnLimit(error) => LastWord::TurnLimit(error),
                Verdict::Interrupted(error) => LastWord::Interrupted(error),
            };
        } else if kind == "info" && message == CANCELLED && record.conversation == MAIN {
            self.last = LastWord::interrupted(CANCELLED);
        }
        match kind {
            "info" => emit_event(scope, info(kind, message), out),
            _ => emit_event(scope, Warning { message }, out),
        }
    }

    /// Ends what waits for the message that tells whether it is a summary.
    pub(super) fn end_summary(&mut self, is_summary: bool, out: &mut SignalSink<'_>) {
        let Some(summary) = self.summary.take() else {
            return;
        };
        let call = self.conversations.call(summary.conversation);
        let scope = call.as_deref().map_or(Scope::Main, Scope::Child);
        let event: RuntimeEventKind = if is_summary {
            compaction(summary.text).into()
        } else {
            info("user", summary.text).into()
        };
        out.emit_at(summary.place, scope, Signal::Event(event));
    }
}

fn on_header(session: Option<&str>, directories: Content<'_>, out: &mut SignalSink<'_>) {
    if let Some(session) = session.and_then(session_id) {
        out.emit(Signal::Session(session));
    }
    let first = directories.into_parts().into_iter().next();
    if let Some(directory) = first.and_then(|part| part.text) {
        out.emit(Signal::Cwd(&directory));
    }
}

pub(super) fn info(topic: &str, message: String) -> Info {
    let topic = Some(topic.to_owned());
    Info { topic, message }
}

fn compaction(summary: String) -> Compaction {
    Compaction {
        trigger: None,
        pre_tokens: None,
        post_tokens: None,
        duration_ms: None,
        message: Some(summary),
    }
}

pub(super) fn emit_event(
    scope: Scope<'_>,
    event: impl Into<RuntimeEventKind>,
    out: &mut SignalSink<'_>,
) {
    out.emit_in(scope, Signal::Event(event.into()));
}
