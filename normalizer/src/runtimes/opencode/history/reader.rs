//! A session's rows, cut into runs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher;
use std::ops::Bound::Excluded;
use std::ops::Range;

use foldhash::quality::FixedState;

use super::typed;
use super::wire::{DataRow, MessageHead, PartHead, RowLine, SessionLine};
use crate::bounds::told_count;
use crate::history::{Segment, SegmentLine, Session, SessionReader, table_of};
use crate::json::{Str, decode};
use crate::redact::Kept;

/// Reads the rows of a session and of its sub-agents'.
#[derive(Default)]
pub(super) struct RowReader {
    sources: usize,
    sessions: Vec<SessionRows>,
    current: usize,
    numbers: HashMap<String, usize>,
    /// Which message's call started a session.
    started: HashMap<String, (usize, String)>,
    unreadable: Vec<SegmentLine>,
}

#[derive(Default)]
struct SessionRows {
    id: String,
    parent: Option<String>,
    title: Option<String>,
    directory: Option<String>,
    created_at: Option<i64>,
    line: Option<SegmentLine>,
    /// Messages by id, which sorts them by time.
    messages: BTreeMap<String, MessageRows>,
    /// Hashes of the ids of all parts.
    parts: HashSet<u64>,
    hasher: FixedState,
    /// The last message of the model that has a text.
    spoken: Option<String>,
}

#[derive(Default)]
struct MessageRows {
    line: Option<SegmentLine>,
    role: RowRole,
    at: Option<i64>,
    last_at: Option<i64>,
    cwd: Option<String>,
    /// Parts by their ids, which sort them by time.
    parts: Vec<(Box<str>, SegmentLine)>,
    /// The user's words, or what the model said last.
    text: Option<String>,
    /// The CLI wrote it in the user's place.
    is_own: bool,
    responses: Vec<String>,
    calls: Vec<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum RowRole {
    User,
    Assistant,
    #[default]
    Unknown,
}

impl SessionReader for RowReader {
    fn begin_source(&mut self, name: &str) {
        self.sources += 1;
        let next = self.sessions.len();
        self.current = *self.numbers.entry(name.to_owned()).or_insert(next);
        if self.current == next {
            self.sessions.push(SessionRows {
                id: name.to_owned(),
                ..SessionRows::default()
            });
        }
    }

    fn line(&mut self, place: Range<u64>, line: Kept<'_>) {
        let bytes = line.bytes();
        let source = self.sources.saturating_sub(1);
        let line = SegmentLine::Kept { source, place };
        let Some(session) = self.sessions.get_mut(self.current) else {
            return;
        };
        let is_read = match table_of(bytes) {
            Some("session") => session.on_session(bytes, &line),
            Some(table @ ("message" | "part")) => match decode::<RowLine<'_>>(bytes) {
                Ok(decoded) if table == "message" => session.on_message(decoded.value.row, &line),
                Ok(decoded) => {
                    let row = decoded.value.row;
                    let message = row.message.as_deref().unwrap_or_default().to_owned();
                    let started = session.on_part(row, &line);
                    if let Some(child) = started {
                        let caller = (self.current, message);
                        self.started.entry(child).or_insert(caller);
                    }
                    true
                }
                Err(_) => false,
            },
            _ => false,
        };
        if !is_read {
            self.unreadable.push(line);
        }
    }

    fn finish(mut self: Box<Self>) -> Session {
        let Some(root) = self.root() else {
            return Session::default();
        };
        let mut order: Vec<usize> = (0..self.sessions.len()).collect();
        order.sort_by_key(|number| *number != root);
        let mut result = Session::default();
        let mut runs: Vec<Segment> = Vec::new();
        // Which run a message went to.
        let mut homes: HashMap<(usize, String), usize> = HashMap::new();
        for number in order {
            let Some(session) = self.sessions.get_mut(number).map(std::mem::take) else {
                continue;
            };
            if number == root {
                result.id.clone_from(&session.id);
                result.title.clone_from(&session.title);
                session.into_runs(number, &mut runs, &mut homes);
            } else {
                let caller = self.started.get(&session.id);
                let run = caller.and_then(|caller| homes.get(caller)).copied();
                session.into_child(number, run, &mut runs, &mut homes);
            }
        }
        if let Some(last) = runs.last_mut() {
            last.unreadable = self.unreadable.len() as u64;
            last.lines.extend(self.unreadable);
        }
        result.segments = runs;
        result
    }
}

impl RowReader {
    /// Returns the session that nobody here started.
    fn root(&self) -> Option<usize> {
        let is_started = |session: &SessionRows| {
            let parent = session.parent.as_ref();
            parent.is_some_and(|parent| self.numbers.contains_key(parent))
        };
        let root = self
            .sessions
            .iter()
            .position(|session| !is_started(session));
        root.or((!self.sessions.is_empty()).then_some(0))
    }
}

impl SessionRows {
    fn on_session(&mut self, bytes: &[u8], line: &SegmentLine) -> bool {
        let Ok(decoded) = decode::<SessionLine<'_>>(bytes) else {
            return false;
        };
        let row = decoded.value.row;
        let owned = |text: Option<Str<'_>>| text.map(Str::into_owned);
        if let Some(id) = row.id {
            self.id = id.into_owned();
        }
        self.parent = owned(row.parent);
        self.title = owned(row.title);
        self.directory = owned(row.directory);
        self.created_at = row.created.and_then(told_count);
        self.line = Some(line.clone());
        true
    }

    fn on_message(&mut self, row: DataRow<'_>, line: &SegmentLine) -> bool {
        let data = row.data.as_deref().unwrap_or_default();
        let (Some(id), Ok(head)) = (row.id, decode::<MessageHead<'_>>(data.as_bytes())) else {
            return false;
        };
        let head = head.value;
        let message = self.messages.entry(id.into_owned()).or_default();
        if message.line.is_some() {
            return true;
        }
        message.line = Some(line.clone());
        message.role = match head.role.as_deref() {
            Some("user") => RowRole::User,
            Some("assistant") => RowRole::Assistant,
            _ => RowRole::Unknown,
        };
        message.at = row.created.or(head.time.created).and_then(told_count);
        message.last_at = head.time.completed.and_then(told_count).or(message.at);
        message.cwd = head.path.cwd.map(Str::into_owned);
        true
    }

    /// Takes a part; returns the session that it started.
    fn on_part(&mut self, row: DataRow<'_>, line: &SegmentLine) -> Option<String> {
        let message_id = row.message.unwrap_or_default();
        if !self.messages.contains_key(message_id.as_str()) {
            let message = MessageRows::default();
            self.messages
                .insert(message_id.as_str().to_owned(), message);
        }
        let message = self.messages.get_mut(message_id.as_str())?;
        let id = row.id.unwrap_or_default();
        if !self.parts.insert(self.hasher.hash_one(id.as_str())) {
            return None;
        }
        message.parts.push((id.as_str().into(), line.clone()));
        message.last_at = message.last_at.max(row.updated.and_then(told_count));
        let data = row.data.unwrap_or_default();
        let head = decode::<PartHead<'_>>(data.as_bytes()).ok()?.value;
        match head.kind.as_deref() {
            Some("text") if head.is_synthetic != Some(true) => {
                let text = head.text.map(Str::into_owned);
                message.text = text.filter(|text| !text.is_empty()).or(message.text.take());
                if message.role == RowRole::Assistant && message.text.is_some() {
                    self.forget_before(&message_id);
                }
            }
            // A text that the CLI wrote for the user, and what it does when there is too much.
            Some("text" | "compaction") if message.text.is_none() => message.is_own = true,
            Some("step-finish") => message.responses.push(id.into_owned()),
            Some("tool") => {
                message.calls.extend(head.call.map(Str::into_owned));
                return head.state.metadata.session.map(Str::into_owned);
            }
            _ => {}
        }
        None
    }

    /// Forgets the text before this one, unless the user said something in between: only the last one
    /// of a run is needed.
    fn forget_before(&mut self, id: &str) {
        let before = self.spoken.replace(id.to_owned());
        let Some(before) = before.filter(|before| before.as_str() < id) else {
            return;
        };
        let between = self
            .messages
            .range::<str, _>((Excluded(before.as_str()), Excluded(id)));
        if !between
            .into_iter()
            .any(|(_, message)| message.role == RowRole::User)
            && let Some(message) = self.messages.get_mut(&before)
        {
            message.text = None;
        }
    }

    /// Tells whether a message is a copy of another session's: it is older than the session.
    fn is_copy(&self, message: &MessageRows) -> bool {
        let times = message.at.zip(self.created_at);
        times.is_some_and(|(at, created)| at < created)
    }

    /// Cuts the main session into runs.
    fn into_runs(
        mut self,
        number: usize,
        runs: &mut Vec<Segment>,
        homes: &mut HashMap<(usize, String), usize>,
    ) {
        for (id, message) in std::mem::take(&mut self.messages) {
            if self.is_copy(&message) || message.line.is_none() {
                continue;
            }
            let is_prompt =
                message.role == RowRole::User && !(message.is_own && message.text.is_none());
            if runs.is_empty() || is_prompt {
                if let Some(before) = runs.last_mut() {
                    before.is_over = true;
                }
                runs.push(Segment {
                    key: id.clone(),
                    started_at: message.at,
                    cwd: self.directory.clone(),
                    is_resumed: !runs.is_empty(),
                    lines: self.line.clone().into_iter().collect(),
                    ..Segment::default()
                });
            }
            let run = runs.len().saturating_sub(1);
            homes.insert((number, id), run);
            let Some(segment) = runs.get_mut(run) else {
                continue;
            };
            match message.role {
                RowRole::User if is_prompt && segment.prompt.is_none() => {
                    segment.prompt = message.text.as_deref().map(typed);
                }
                RowRole::Assistant => {
                    segment.cwd = message.cwd.clone().or(segment.cwd.take());
                    segment.last_text = message.text.clone().or(segment.last_text.take());
                }
                _ => {}
            }
            message.add_to(segment);
        }
    }

    /// Adds a sub-agent's session to the run in which it was started.
    fn into_child(
        mut self,
        number: usize,
        run: Option<usize>,
        runs: &mut [Segment],
        homes: &mut HashMap<(usize, String), usize>,
    ) {
        let began = |run: &Segment| run.started_at <= self.created_at;
        let run = run.or_else(|| runs.iter().rposition(began)).unwrap_or(0);
        let Some(segment) = runs.get_mut(run) else {
            return;
        };
        segment.lines.extend(self.line.clone());
        for (id, message) in std::mem::take(&mut self.messages) {
            if self.is_copy(&message) || message.line.is_none() {
                continue;
            }
            homes.insert((number, id), run);
            message.add_to(segment);
        }
    }
}

impl MessageRows {
    /// Adds a message and its parts to a run.
    fn add_to(mut self, segment: &mut Segment) {
        self.parts.sort_by(|(one, _), (other, _)| one.cmp(other));
        segment.lines.extend(self.line);
        let parts = self.parts.into_iter().map(|(_, line)| line);
        segment.lines.extend(parts);
        segment.last_at = segment.last_at.max(self.last_at);
        segment.responses.extend(self.responses);
        segment.calls.extend(self.calls);
    }
}
