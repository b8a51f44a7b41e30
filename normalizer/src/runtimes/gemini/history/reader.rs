//! Cuts a session into what each process wrote.
//!
//! A process that begins or resumes a session writes a header, or sets the session's id anew; what
//! is written after that and was never written before is its own. Resuming also repeats all records,
//! and so do the copies that newer versions make of a project's directory: what a line does not add
//! to its record is dropped. A document has no marks, so that each prompt in it is taken for a process
//! of its own, unless something in it was shown in a terminal, where one process has many prompts.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::elements::{compact, elements, end_of_value, field};
use super::heads::{LineHead, SetHead};
use super::note;
use super::runs::{HistoryRun, Owner, Runs};
use super::said::{RecordKey, Said, fingerprint};
use super::source::SourcePath;
use super::words::{Speaker, directory};
use crate::history::{SegmentLine, Session, SessionReader};
use crate::json::{Decoded, Str, decode};
use crate::redact::Kept;
use crate::times::told_millis;

/// Reads the sources of one session.
#[derive(Debug, Default)]
pub(super) struct GeminiSession {
    id: Option<String>,
    title: Option<String>,
    runs: Runs,
    known: HashMap<RecordKey, ReadRecord>,
    /// Calls that have a result, and lines that are no records.
    seen: HashSet<u64>,
    /// Something of the session's document was shown in a terminal.
    is_terminal: bool,
    /// How many sources were begun.
    sources: usize,
    source: SourceState,
}

/// What is known of a record.
#[derive(Clone, Copy, Debug)]
struct ReadRecord {
    owner: Owner,
    said: Said,
}

/// Where the reading of a source stands.
#[derive(Debug, Default)]
struct SourceState {
    agent: Option<usize>,
    is_document: bool,
    /// The run that the last record belongs to.
    run: Option<usize>,
    /// A process began, and nothing of its own has come yet.
    is_marked: bool,
    /// What goes before the first record of the run to come.
    waiting: Vec<SegmentLine>,
    unreadable: u64,
    cwd: Option<String>,
}

/// A record where it stands.
struct StoredRecord<'a> {
    bytes: &'a [u8],
    place: Range<u64>,
    /// It is a part of a whole list of records.
    is_listed: bool,
}

impl<'a> StoredRecord<'a> {
    fn part(bytes: &'a [u8], place: &Range<u64>, part: Range<usize>, is_listed: bool) -> Self {
        let offset = |at: usize| place.start + u64::try_from(at).unwrap_or(u64::MAX);
        Self {
            place: offset(part.start)..offset(part.end),
            bytes: bytes.get(part).unwrap_or_default(),
            is_listed,
        }
    }

    /// Returns it as a line.
    fn line(&self, source: usize) -> SegmentLine {
        if self.bytes.contains(&b'\n') {
            return SegmentLine::Made(compact(self.bytes));
        }
        SegmentLine::Kept {
            source,
            place: self.place.clone(),
        }
    }
}

impl SessionReader for GeminiSession {
    fn begin_source(&mut self, name: &str) {
        self.end_source();
        self.sources += 1;
        match SourcePath::read(name) {
            Some(SourcePath::Agent { session, agent }) => {
                self.id.get_or_insert_with(|| session.to_owned());
                self.source.agent = Some(self.runs.agent(agent));
            }
            Some(SourcePath::Session { is_document, .. }) => self.source.is_document = is_document,
            None => {}
        }
    }

    fn line(&mut self, place: Range<u64>, line: Kept<'_>) {
        let bytes = line.bytes();
        if bytes.trim_ascii().is_empty() {
            return;
        }
        let piece = StoredRecord {
            bytes,
            place: place.clone(),
            is_listed: false,
        };
        if let Some(list) = plain_list(bytes) {
            return self.on_records(list, &piece);
        }
        let Ok(Decoded { value: head, .. }) = decode::<LineHead<'_>>(bytes) else {
            return self.on_unreadable(&piece);
        };
        if let Some(set) = &head.set {
            self.on_set(set, &piece);
        } else if head.rewind.is_some() {
            self.keep_once(&piece);
        } else if head.id.is_some() {
            self.on_record(&head, &piece);
        } else if head.session.is_some() {
            self.on_header(&head, &piece);
        } else {
            self.on_unreadable(&piece);
        }
    }

    fn finish(mut self: Box<Self>) -> Session {
        self.end_source();
        let header = self.header();
        let new_run = || {
            let mut run = HistoryRun::default();
            run.segment.lines.push(header);
            run
        };
        let segments = self.runs.finish(self.is_terminal, new_run);
        Session {
            id: self.id.unwrap_or_default(),
            title: self.title,
            segments,
        }
    }
}

impl GeminiSession {
    fn end_source(&mut self) {
        let unreadable = std::mem::take(&mut self.source.unreadable);
        if let Some(segment) = self.runs.segment(self.current()) {
            segment.unreadable += unreadable;
        }
        self.source = SourceState::default();
    }

    fn number(&self) -> usize {
        self.sources.saturating_sub(1)
    }

    fn on_header(&mut self, head: &LineHead<'_>, piece: &StoredRecord<'_>) {
        if self.source.agent.is_some() {
            return;
        }
        self.id = head.session.as_deref().map(str::to_owned);
        self.learn(head.summary.as_deref(), head.directories.0.first());
        self.source.is_marked = true;
        if head.messages.is_none() {
            let line = piece.line(self.number());
            self.source.waiting.push(line);
            return;
        }
        let list = field(piece.bytes, 0..piece.bytes.len(), b"messages");
        for part in elements(piece.bytes, list.unwrap_or_default()) {
            self.on_part(&StoredRecord::part(piece.bytes, &piece.place, part, false));
        }
    }

    fn learn(&mut self, summary: Option<&str>, cwd: Option<&Str<'_>>) {
        if self.source.agent.is_some() {
            return;
        }
        if let Some(summary) = summary.filter(|summary| !summary.is_empty()) {
            self.title = Some(summary.to_owned());
        }
        if let Some(cwd) = cwd {
            self.source.cwd.get_or_insert_with(|| cwd.to_string());
        }
    }

    fn on_set(&mut self, set: &SetHead<'_>, piece: &StoredRecord<'_>) {
        self.learn(set.summary.as_deref(), set.directories.0.first());
        if let (Some(session), None) = (set.session.as_deref(), self.source.agent) {
            self.id = Some(session.to_owned());
            self.source.is_marked = true;
            let line = piece.line(self.number());
            self.source.waiting.push(line);
        } else if set.messages.is_none() && !self.source.is_marked {
            self.runs.touch(self.current(), set.last_updated.as_deref());
        }
        if set.messages.is_some() {
            self.on_list(piece);
        }
        let is_main = self.source.agent.is_none();
        let has_header =
            set.summary.is_some() || set.scratchpad.is_some() || !set.directories.0.is_empty();
        let says_more = !set.unknown.is_empty() || (has_header && is_main);
        if says_more && set.messages.is_none() && set.session.is_none() {
            self.keep_once(piece);
        }
    }

    /// Reads all records anew.
    fn on_list(&mut self, piece: &StoredRecord<'_>) {
        let bytes = piece.bytes;
        let list = field(bytes, 0..bytes.len(), b"$set")
            .and_then(|set| field(bytes, set, b"messages"))
            .filter(|list| bytes.get(list.start) == Some(&b'['));
        let Some(list) = list else {
            return self.on_unreadable(piece);
        };
        self.on_records(list, piece);
    }

    fn on_records(&mut self, list: Range<usize>, piece: &StoredRecord<'_>) {
        for (index, part) in elements(piece.bytes, list).enumerate() {
            let part = StoredRecord::part(piece.bytes, &piece.place, part, true);
            // Each resuming repeats what the one before did. The first record tells where the CLI works.
            if self.seen.insert(fingerprint(part.bytes)) || index == 0 {
                self.on_part(&part);
            }
        }
    }

    fn on_part(&mut self, piece: &StoredRecord<'_>) {
        match decode::<LineHead<'_>>(piece.bytes) {
            Ok(Decoded { value: head, .. }) if head.id.is_some() => self.on_record(&head, piece),
            _ => self.on_unreadable(piece),
        }
    }

    fn on_record(&mut self, head: &LineHead<'_>, piece: &StoredRecord<'_>) {
        let id = head.id.as_deref().unwrap_or_default();
        let kind = head.kind.as_deref().unwrap_or_default();
        let mut prompt = None;
        if kind == "user" {
            match self.prompt(head, piece) {
                UserRecord::Prompt(text) => prompt = Some(text),
                UserRecord::Other => {}
                UserRecord::ReadRecord => return,
            }
        }
        if self.source.is_document {
            self.is_terminal |= is_of_terminal(kind, piece.bytes);
        }
        let (key, said) = (RecordKey::of(id, kind), head.said());
        let mut before = Said::default();
        let owner = if let Some(known) = self.known.get_mut(&key) {
            let owner = known.owner;
            before = known.said;
            known.said = before.plus(said);
            let adds = known.said != before;
            if let (false, Owner::Run(run), None) = (piece.is_listed, owner, self.source.agent) {
                // A copy: its marks were seen where it was copied from.
                self.source.run = Some(run);
                self.source.is_marked = false;
                self.source.waiting.clear();
            }
            if !adds {
                return;
            }
            owner
        } else {
            let owner = self.owner(prompt.is_some(), piece);
            self.known.insert(key, ReadRecord { owner, said });
            self.add_note(owner, id, piece);
            owner
        };
        self.push(owner, piece.line(self.number()));
        self.runs.add(owner, head, before);
        for call in head.calls.0.iter().filter(|call| call.result.is_some()) {
            let id = call.id.as_deref().unwrap_or_default();
            self.seen.insert(fingerprint(id.as_bytes()));
        }
        if let (Some(text), Owner::Run(run)) = (prompt, owner) {
            self.runs.ask(run, id, text);
        }
    }

    /// Tells what a user's record is, and what was typed.
    fn prompt(&mut self, head: &LineHead<'_>, piece: &StoredRecord<'_>) -> UserRecord {
        let (mut responses, mut unknown) = (0, 0);
        head.each_response(|id| {
            responses += 1;
            let is_known = id.is_some_and(|id| self.seen.contains(&fingerprint(id.as_bytes())));
            unknown += usize::from(!is_known);
        });
        if responses > 0 {
            // Calls have their results with them; the user's record repeats them. Words beside them stay.
            let is_known = unknown == 0 && head.content.text().is_empty();
            head.each_response(|id| {
                if let Some(id) = id {
                    self.seen.insert(fingerprint(id.as_bytes()));
                }
            });
            return if is_known {
                UserRecord::ReadRecord
            } else {
                UserRecord::Other
            };
        }
        match head.words() {
            (Speaker::Context, text) => {
                self.on_context(head, &text, piece);
                UserRecord::ReadRecord
            }
            (Speaker::User, text) if !piece.is_listed => UserRecord::Prompt(text),
            _ => UserRecord::Other,
        }
    }

    /// Takes what the CLI tells the model about where it is: it has the same id in all sessions.
    fn on_context(&mut self, head: &LineHead<'_>, text: &str, piece: &StoredRecord<'_>) {
        let Some(cwd) = directory(text).filter(|_| self.source.agent.is_none()) else {
            return;
        };
        self.source.cwd = Some(cwd.to_owned());
        if self.source.is_marked {
            let id = head.id.as_deref().unwrap_or_default();
            let note = note::write(id, None, true);
            let line = piece.line(self.number());
            self.source.waiting.push(SegmentLine::Made(note));
            self.source.waiting.push(line);
        }
    }

    /// Tells who has a record that was never seen before.
    fn owner(&mut self, is_prompt: bool, piece: &StoredRecord<'_>) -> Owner {
        if let Some(agent) = self.source.agent {
            return Owner::Agent(agent);
        }
        let begins = match self.source.run {
            None => true,
            // What is only in a list is about what was there before.
            Some(_) if piece.is_listed => false,
            Some(_) => self.source.is_marked || (self.source.is_document && is_prompt),
        };
        match self.source.run.filter(|_| !begins) {
            Some(run) => Owner::Run(run),
            None => Owner::Run(self.begin_run()),
        }
    }

    fn begin_run(&mut self) -> usize {
        let header = self.header();
        let source = &mut self.source;
        let mut run = HistoryRun {
            is_of_document: source.is_document && !source.is_marked,
            ..HistoryRun::default()
        };
        let segment = &mut run.segment;
        segment.is_resumed = !self.runs.is_empty();
        segment.lines = std::mem::take(&mut source.waiting);
        segment.unreadable = std::mem::take(&mut source.unreadable);
        segment.cwd.clone_from(&source.cwd);
        if segment.lines.is_empty() {
            segment.lines.push(header);
        }
        source.is_marked = false;
        let at = self.runs.begin(run);
        self.source.run = Some(at);
        at
    }

    /// Returns a header for a run that has none of its own.
    fn header(&self) -> SegmentLine {
        let session = self.id.as_deref().unwrap_or_default();
        let header = serde_json::json!({ "sessionId": session }).to_string();
        SegmentLine::Made(header.into_bytes())
    }

    fn add_note(&mut self, owner: Owner, id: &str, piece: &StoredRecord<'_>) {
        let agent = self.runs.agent_of(owner);
        if agent.is_some() || piece.is_listed {
            let note = note::write(id, agent, piece.is_listed);
            self.push(owner, SegmentLine::Made(note));
        }
    }

    /// Returns who has what comes next in the source.
    fn current(&self) -> Owner {
        match self.source.agent {
            Some(agent) => Owner::Agent(agent),
            None => Owner::Run(self.source.run.unwrap_or(usize::MAX)),
        }
    }

    fn push(&mut self, owner: Owner, line: SegmentLine) {
        let segment = self.runs.segment(owner);
        let lines = segment.map_or(&mut self.source.waiting, |segment| &mut segment.lines);
        lines.push(line);
    }

    /// Keeps a line that is no record; a copy of it adds nothing.
    fn keep_once(&mut self, piece: &StoredRecord<'_>) -> bool {
        let is_new = self.seen.insert(fingerprint(piece.bytes));
        if is_new {
            self.push(self.current(), piece.line(self.number()));
        }
        is_new
    }

    fn on_unreadable(&mut self, piece: &StoredRecord<'_>) {
        // A document is replaced while it is written: what cannot be read of it may be whole soon.
        let is_counted = if self.source.is_document {
            self.seen.insert(fingerprint(piece.bytes))
        } else {
            self.keep_once(piece)
        };
        self.source.unreadable += u64::from(is_counted);
    }
}

/// What a user's record is.
enum UserRecord {
    /// What the user typed.
    Prompt(String),
    /// Words of the CLI, or results that no call has.
    Other,
    /// Nothing new.
    ReadRecord,
}

/// Returns where the records stand on a line that gives all of them and nothing else, as the CLI
/// writes it: it is the longest of all lines, and reading it only to find them takes as long as they do.
fn plain_list(line: &[u8]) -> Option<Range<usize>> {
    const HEAD: &[u8] = br#"{"$set":{"messages":"#;
    line.strip_prefix(HEAD)?.strip_prefix(b"[")?;
    let list = HEAD.len()..end_of_value(line, HEAD.len());
    let tail = line.get(list.end..)?.strip_prefix(br#","lastUpdated":""#)?;
    let time = tail.strip_suffix(br#""}}"#)?;
    std::str::from_utf8(time).ok().and_then(told_millis)?;
    Some(list)
}

/// Tells whether a record of a document was shown in a terminal: as a notice, or with colours.
fn is_of_terminal(kind: &str, bytes: &[u8]) -> bool {
    if matches!(kind, "info" | "warning" | "error") {
        return true;
    }
    let calls = field(bytes, 0..bytes.len(), b"toolCalls").unwrap_or_default();
    elements(bytes, calls).any(|call| {
        let display = field(bytes, call, b"resultDisplay");
        display.is_some_and(|display| bytes.get(display.start) == Some(&b'['))
    })
}
