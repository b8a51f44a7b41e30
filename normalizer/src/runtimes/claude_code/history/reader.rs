//! Reads the sources of a session.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::agents::{Agents, Host};
use super::line_head::LineHead;
use super::runs::SessionRuns;
use super::source::SourceKind;
use super::weave::{ThreadLine, weave};
use super::word::is_synthetic;
use crate::history::{Session, SessionReader};
use crate::json::{Str, decode};
use crate::redact::Kept;
use crate::times::told_millis;

/// Reads the sources of one session.
#[derive(Debug, Default)]
pub(super) struct TranscriptReader {
    session: String,
    /// How many sources have begun.
    sources: usize,
    current: CurrentSource,
    runs: SessionRuns,
    agents: Agents,
    /// The lines of the conversation that were seen, in whatever source.
    seen: HashSet<u128>,
    /// The source that a line without an id was first seen in.
    seen_asides: HashMap<u64, usize>,
    titles: Titles,
    last_response: String,
    hasher: FixedState,
}

/// What the source that is being read is.
#[derive(Debug, Default)]
enum CurrentSource {
    #[default]
    Session,
    Agent(usize),
    Note(String),
}

/// What the session is called.
#[derive(Debug, Default)]
struct Titles {
    given: Option<String>,
    made: Option<String>,
    /// Old versions write them into other sessions' files as well: the line that is named tells.
    summaries: Vec<(u128, String)>,
}

/// How many summaries are remembered.
const MOST_SUMMARIES: usize = 64;

/// The longest title, and the longest id, that is remembered.
const LONGEST_TITLE: usize = 4096;
const LONGEST_ID: usize = 1024;

impl SessionReader for TranscriptReader {
    fn begin_source(&mut self, name: &str) {
        self.sources += 1;
        self.current = match SourceKind::of(name) {
            Some(SourceKind::Session(session)) => {
                self.name_session(session);
                CurrentSource::Session
            }
            Some(SourceKind::Agent { session, agent }) => {
                self.name_session(session);
                CurrentSource::Agent(self.agents.with_id(agent))
            }
            Some(SourceKind::AgentNote { session, agent }) => {
                self.name_session(session);
                CurrentSource::Note(agent.to_owned())
            }
            Some(SourceKind::LooseAgent(agent)) => CurrentSource::Agent(self.agents.with_id(agent)),
            None => CurrentSource::Session,
        };
    }

    fn line(&mut self, place: Range<u64>, line: Kept<'_>) {
        let bytes = line.bytes();
        if let CurrentSource::Note(agent) = &self.current {
            self.agents.on_note(agent, bytes);
            return;
        }
        // Most of a file's bytes, and nothing of what happened.
        if bytes.trim_ascii().is_empty() {
            return;
        }
        if bytes.starts_with(br#"{"type":"api-request"#) {
            let is_whole = bytes.trim_ascii_end().ends_with(b"}");
            if !is_whole && matches!(self.current, CurrentSource::Session) {
                self.runs.on_cut();
            }
            return;
        }
        let source = self.sources.saturating_sub(1);
        if let Ok(line) = decode::<LineHead<'_>>(bytes) {
            self.on_line(&line.value, source, place, bytes);
        } else {
            let line = ThreadLine::new(source, place, None);
            self.on_stray(line, false, bytes);
        }
    }

    fn finish(mut self: Box<Self>) -> Session {
        self.runs.finish();
        let seen = &self.seen;
        let Titles {
            given,
            made,
            summaries,
        } = self.titles;
        let mut summaries = summaries.into_iter().rev();
        let title = given
            .or(made)
            .or_else(|| Some(summaries.find(|(leaf, _)| seen.contains(leaf))?.1));
        Session {
            id: self.session,
            title,
            segments: weave(self.runs, self.agents),
        }
    }
}

impl TranscriptReader {
    fn name_session(&mut self, session: &str) {
        if self.session.is_empty() {
            session.clone_into(&mut self.session);
        }
    }

    fn on_line(&mut self, head: &LineHead<'_>, source: usize, place: Range<u64>, bytes: &[u8]) {
        let at = head.timestamp.as_deref().and_then(told_millis);
        let line = ThreadLine::new(source, place, at);
        let Some(kind) = head.kind.as_deref() else {
            return self.on_stray(line, false, bytes);
        };
        match kind {
            "user" | "assistant" | "system" | "attachment" => self.on_chain(head, line),
            "queue-operation" => {
                if self.is_new(bytes, source) {
                    self.runs.on_queue(head, line);
                }
            }
            "cost-state" => {
                if matches!(self.current, CurrentSource::Session) && self.is_new(bytes, source) {
                    self.runs.on_cost(line);
                }
            }
            "permission-mode" | "file-history-snapshot" => self.runs.on_terminal(),
            "summary" => {
                let leaf = head.leaf.as_ref().map(|leaf| self.id_of(leaf));
                let title = head.summary.0.as_ref();
                let title = title.filter(|title| title.len() <= LONGEST_TITLE);
                if let (Some(leaf), Some(title)) = (leaf, title)
                    && self.titles.summaries.len() < MOST_SUMMARIES
                {
                    let title = title.as_str().to_owned();
                    self.titles.summaries.push((leaf, title));
                }
            }
            "ai-title" => keep(&mut self.titles.made, head.ai_title.0.as_ref()),
            "custom-title" => keep(&mut self.titles.given, head.custom_title.0.as_ref()),
            kind if is_bookkeeping(kind) => {}
            _ => self.on_stray(line, true, bytes),
        }
    }

    /// Takes a line of a conversation.
    fn on_chain(&mut self, head: &LineHead<'_>, mut line: ThreadLine) {
        let uuid = head.uuid.as_ref().map(|uuid| self.id_of(uuid));
        if uuid.is_some_and(|uuid| !self.seen.insert(uuid)) {
            return;
        }
        if head.kind.as_deref() == Some("assistant") && !is_synthetic(head) {
            let message = &head.message;
            let key = message.id.as_ref().or(head.request_id.as_ref());
            let key = key.or(head.uuid.as_ref());
            let key = key.filter(|key| key.len() <= LONGEST_ID);
            // The lines of a response follow each other, and one of them is enough.
            if let Some(key) = key.filter(|key| self.last_response != key.as_str()) {
                key.as_str().clone_into(&mut self.last_response);
                line.response = Some(key.as_str().into());
            }
            let calls = message.content.blocks().iter();
            let calls = calls.filter(|block| block.0.kind.as_deref() == Some("tool_use"));
            let ids = calls.filter_map(|block| block.0.id.as_deref());
            let ids = ids.filter(|id| id.len() <= LONGEST_ID);
            line.calls = ids.map(Into::into).collect();
        }
        let agent = match self.current {
            CurrentSource::Agent(agent) => Some(agent),
            _ if head.is_sidechain == Some(true) => {
                let parent = head.parent.as_ref().map(|parent| self.id_of(parent));
                let uuid = uuid.unwrap_or_default();
                Some(self.agents.of_side_chain(uuid, parent, head))
            }
            _ => None,
        };
        let host = match agent {
            Some(agent) => {
                self.agents.on_line(agent, head);
                Host::Agent(agent)
            }
            None => Host::Run(self.runs.on_chain(head, &self.session, line.at)),
        };
        if !is_kept(head) {
            return;
        }
        let lines = match host {
            Host::Agent(agent) => self.agents.all.get(agent).map(|agent| &agent.lines),
            Host::Run(run) => self.runs.get_mut(run).map(|run| &run.lines),
        };
        let next = lines.map_or(0, Vec::len);
        self.agents.on_calls(head, host, next);
        let lines = match host {
            Host::Agent(agent) => self.agents.all.get_mut(agent).map(|agent| &mut agent.lines),
            Host::Run(run) => self.runs.get_mut(run).map(|run| &mut run.lines),
        };
        if let Some(lines) = lines {
            lines.push(line);
        }
    }

    /// Takes a line that is not understood.
    fn on_stray(&mut self, line: ThreadLine, is_readable: bool, bytes: &[u8]) {
        if !self.is_new(bytes, line.source) {
            return;
        }
        match self.current {
            CurrentSource::Agent(agent) => {
                if let Some(agent) = self.agents.all.get_mut(agent) {
                    agent.lines.push(line);
                }
            }
            _ => self.runs.on_stray(line, is_readable),
        }
    }

    /// Tells whether a line without an id is no copy of one in another source.
    fn is_new(&mut self, bytes: &[u8], source: usize) -> bool {
        let hash = self.hasher.hash_one(bytes);
        *self.seen_asides.entry(hash).or_insert(source) == source
    }

    /// Returns a line's id as a number.
    fn id_of(&self, uuid: &Str<'_>) -> u128 {
        let digits = uuid.bytes().filter(|byte| *byte != b'-');
        let number = digits.clone().try_fold(0_u128, |number, byte| {
            let digit = char::from(byte).to_digit(16)?;
            Some(number << 4 | u128::from(digit))
        });
        let is_uuid = crate::session_id::is_uuid(uuid);
        number
            .filter(|_| is_uuid)
            .unwrap_or_else(|| u128::from(self.hasher.hash_one(uuid.as_str())))
    }
}

fn keep(title: &mut Option<String>, found: Option<&Str<'_>>) {
    if let Some(found) = found.filter(|found| found.len() <= LONGEST_TITLE) {
        *title = Some(found.as_str().to_owned());
    }
}

/// Tells whether lines of a type say nothing of what happened.
pub(super) fn is_bookkeeping(kind: &str) -> bool {
    kind.starts_with("api-request")
        || matches!(
            kind,
            "queue-operation"
                | "last-prompt"
                | "mode"
                | "permission-mode"
                | "atis-latch"
                | "tools-used"
                | "file-history-snapshot"
                | "summary"
                | "ai-title"
                | "custom-title"
                | "progress"
        )
}

/// Tells whether a line of the conversation is one of a segment: most of what the CLI adds to prompts
/// says nothing of what happened.
fn is_kept(head: &LineHead<'_>) -> bool {
    head.kind.as_deref() != Some("attachment")
        || head.attachment.0.kind.as_deref().is_some_and(|kind| {
            matches!(
                kind,
                "queued_command" | "max_turns_reached" | "structured_output"
            ) || kind.starts_with("hook_")
        })
}
