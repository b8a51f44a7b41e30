//! A session's rows, cut into runs.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::quality::FixedState;
use serde_json::{Value, json};

use super::sessions::{MessageRow, RowKind, SessionRows, kind_of, time};
use super::wire::{HeadLine, SessionLine};
use crate::history::{NOTE, Segment, SegmentLine, Session, SessionReader, table_of};
use crate::json::decode;
use crate::redact::Kept;

/// Reads the rows of a session and of those that it started.
#[derive(Default)]
pub(super) struct StateReader {
    sources: usize,
    sessions: Vec<SessionRows>,
    current: usize,
    numbers: HashMap<String, usize>,
    /// Rows that were read, by session and id: a copy of the database has them, too.
    seen: HashSet<(usize, i64)>,
    unreadable: Vec<SegmentLine>,
    hasher: FixedState,
}

impl SessionReader for StateReader {
    fn begin_source(&mut self, name: &str) {
        self.sources += 1;
        let next = self.sessions.len();
        self.current = *self.numbers.entry(name.to_owned()).or_insert(next);
        if self.current == next {
            self.sessions.push(SessionRows::named(name));
        }
    }

    fn line(&mut self, place: Range<u64>, line: Kept<'_>) {
        let bytes = line.bytes();
        let source = self.sources.saturating_sub(1);
        let line = SegmentLine::Kept { source, place };
        let Some(session) = self.sessions.get_mut(self.current) else {
            return;
        };
        match table_of(bytes) {
            Some("sessions") => {
                if let Ok(decoded) = decode::<SessionLine<'_>>(bytes) {
                    return session.on_session(&decoded.value.row, line, bytes);
                }
            }
            Some("messages") => {
                if let Ok(decoded) = decode::<HeadLine<'_>>(bytes) {
                    let head = decoded.value.row;
                    let id = head.id.unwrap_or(i64::MAX);
                    if self.seen.insert((self.current, id)) {
                        let kind = kind_of(head.role.as_deref().unwrap_or_default(), bytes);
                        session.push(MessageRow {
                            line,
                            id,
                            at: time(head.at),
                            text: kind.text().map(|text| self.hasher.hash_one(text)),
                            kind,
                        });
                    }
                    return;
                }
            }
            // Another table, or a row as no other version has it.
            _ => {}
        }
        self.unreadable.push(line);
    }

    fn finish(mut self: Box<Self>) -> Session {
        for session in &mut self.sessions {
            session.rows.sort_by_key(|row| row.id);
        }
        let mut runs = SessionRuns::default();
        let mut session = Session::default();
        let mut main = HashSet::new();
        for (at, number) in self.family().into_iter().enumerate() {
            let Some(next) = self.sessions.get_mut(number).map(std::mem::take) else {
                continue;
            };
            let parent = next.parent.clone().unwrap_or_default();
            let caller = if at == 0 { None } else { runs.caller(&next) };
            let is_main = at == 0
                || (caller.is_none() && !next.is_delegate && main.contains(parent.as_str()));
            if at == 0 {
                session.id.clone_from(&next.id);
            }
            if is_main {
                session.title = session.title.or(next.title.clone());
                runs.add_main(&next, at > 0);
                main.insert(next.id);
            } else {
                runs.add_child(&next, caller);
            }
        }
        session.segments = runs.finish(self.unreadable);
        session
    }
}

impl StateReader {
    /// Returns the sessions, each after the one that started it, as far as one did.
    fn family(&self) -> Vec<usize> {
        let mut children: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut waiting: VecDeque<usize> = VecDeque::new();
        for (number, session) in self.sessions.iter().enumerate() {
            match session.parent.as_deref() {
                Some(parent) if self.numbers.contains_key(parent) => {
                    children.entry(parent).or_default().push(number);
                }
                _ => waiting.push_back(number),
            }
        }
        let mut family = Vec::with_capacity(self.sessions.len());
        let mut is_taken = vec![false; self.sessions.len()];
        // Sessions that started each other have no first one.
        waiting.extend(0..self.sessions.len());
        while let Some(number) = waiting.pop_front() {
            let Some(taken) = is_taken.get_mut(number).filter(|taken| !**taken) else {
                continue;
            };
            *taken = true;
            family.push(number);
            let id = self.sessions.get(number).map(|session| session.id.as_str());
            let mine = id.and_then(|id| children.get(id));
            for child in mine.into_iter().flatten().rev() {
                waiting.push_front(*child);
            }
        }
        family
    }
}

/// The runs of a session as they are put together.
#[derive(Default)]
struct SessionRuns {
    segments: Vec<Segment>,
    /// Hashes of what was said in the main conversation.
    said: HashSet<u64>,
    /// Calls that start sub-agents and are not tied to one, by session and goal, with their runs.
    delegations: HashMap<(String, String), VecDeque<(String, usize)>>,
    /// The session's own row, and the same without counters.
    head: Option<(SegmentLine, Option<Vec<u8>>)>,
    /// What follows a run.
    after: Vec<(usize, Vec<SegmentLine>)>,
}

impl SessionRuns {
    /// Adds a session of the main conversation: the first one, or one that goes on with it.
    fn add_main(&mut self, session: &SessionRows, is_continued: bool) {
        let mut may_be_copied = is_continued;
        for (at, row) in session.rows.iter().enumerate() {
            // What goes on begins with a summary, and the last messages once more.
            let is_known = row.text.is_none_or(|text| self.said.contains(&text));
            may_be_copied &= at == 0 || is_known;
            if may_be_copied {
                continue;
            }
            self.said.extend(row.text);
            let begins = matches!(row.kind, RowKind::Prompt(_)) && !session.is_acp;
            if self.segments.is_empty() || begins {
                self.begin(session, row);
            }
            self.add_row(session, row);
        }
        match session.line.clone() {
            Some(line) if is_continued => {
                let run = self.segments.len().saturating_sub(1);
                let note = note(&json!({"continues": session.id}));
                self.after.push((run, vec![note, line]));
            }
            Some(line) => self.head = Some((line, session.bare.clone())),
            None => {}
        }
    }

    fn begin(&mut self, session: &SessionRows, row: &MessageRow) {
        if let Some(before) = self.segments.last_mut() {
            before.is_over = true;
        }
        self.segments.push(Segment {
            key: format!("{}:{}", session.id, row.id),
            started_at: row.at,
            cwd: session.cwd.clone(),
            is_resumed: !self.segments.is_empty(),
            ..Segment::default()
        });
    }

    fn add_row(&mut self, session: &SessionRows, row: &MessageRow) {
        let run = self.segments.len().saturating_sub(1);
        if let Some(segment) = self.segments.last_mut() {
            segment.lines.push(row.line.clone());
            segment.last_at = segment.last_at.max(row.at);
            match &row.kind {
                RowKind::Prompt(text) => {
                    segment.prompt.get_or_insert_with(|| text.clone());
                }
                RowKind::Answer { text, .. } => {
                    segment.last_text = text.clone().or(segment.last_text.take());
                }
                RowKind::Other => {}
            }
        }
        self.note_calls(session, row, run);
    }

    fn note_calls(&mut self, session: &SessionRows, row: &MessageRow, run: usize) {
        let RowKind::Answer { calls, goals, .. } = &row.kind else {
            return;
        };
        if let Some(segment) = self.segments.get_mut(run) {
            segment.calls.extend(calls.iter().cloned());
        }
        for (goal, call) in goals {
            let key = (session.id.clone(), goal.clone());
            let known = self.delegations.entry(key).or_default();
            known.push_back((call.clone(), run));
        }
    }

    /// Finds the call that started a session, by what it was asked for.
    fn caller(&mut self, session: &SessionRows) -> Option<(String, usize)> {
        let key = (session.parent.clone()?, session.goal()?.to_owned());
        self.delegations.get_mut(&key)?.pop_front()
    }

    /// Adds a sub-agent's session to the run in which it was started.
    fn add_child(&mut self, session: &SessionRows, caller: Option<(String, usize)>) {
        if self.segments.is_empty() {
            return;
        }
        let by_time = || {
            let began = |run: &Segment| run.started_at <= session.started_at;
            self.segments.iter().rposition(began)
        };
        let run = caller.as_ref().map(|(_, run)| *run).or_else(by_time);
        let run = run.unwrap_or(0);
        let call = caller.map(|(call, _)| call);
        let mut lines = vec![note(&json!({"child": session.id, "call": call}))];
        lines.extend(session.line.clone());
        lines.extend(session.rows.iter().map(|row| row.line.clone()));
        self.after.push((run, lines));
        for row in &session.rows {
            self.note_calls(session, row, run);
        }
        if let Some(segment) = self.segments.get_mut(run) {
            let last = session.rows.iter().filter_map(|row| row.at).max();
            segment.last_at = segment.last_at.max(last);
            segment.responses.push(session.id.clone());
        }
    }

    /// Puts the session's row before each run, and its sub-agents after it. Only the last run has the
    /// counters: they are of all.
    fn finish(self, unreadable: Vec<SegmentLine>) -> Vec<Segment> {
        let mut segments = self.segments;
        let count = segments.len();
        let (whole, bare) = self.head.unzip();
        let bare = bare.flatten();
        for (at, segment) in segments.iter_mut().enumerate() {
            let head = if at + 1 == count {
                whole.clone()
            } else {
                bare.clone().map(SegmentLine::Made)
            };
            let first = (at == 0).then(|| note(&json!({"first": true})));
            segment.lines.splice(0..0, first.into_iter().chain(head));
        }
        for (run, lines) in self.after {
            if let Some(segment) = segments.get_mut(run) {
                segment.lines.extend(lines);
            }
        }
        if let Some(segment) = segments.last_mut() {
            segment.unreadable = unreadable.len() as u64;
            segment.lines.extend(unreadable);
        }
        segments
    }
}

/// A line of the reader's own.
fn note(row: &Value) -> SegmentLine {
    let line = json!({"table": NOTE, "row": row});
    SegmentLine::Made(line.to_string().into_bytes())
}
