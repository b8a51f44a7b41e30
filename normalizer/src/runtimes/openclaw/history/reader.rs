//! A session's transcript, cut into runs.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

use super::wire::{EventLine, WindowLine, WindowRow, event, is_mirror, is_own};
use crate::bounds::count;
use crate::history::{Segment, SegmentLine, Session, SessionReader, table_of};
use crate::json::{Str, decode};
use crate::redact::Kept;
use crate::runtimes::openclaw::{message, tools};

/// How much older than its window an event is that was copied from another one, in milliseconds.
const COPY_AGE_MS: i64 = 1_000;

/// Reads the rows of a session and of its sub-agents'.
#[derive(Default)]
pub(super) struct TranscriptReader {
    sources: usize,
    windows: Vec<Window>,
    current: usize,
    numbers: HashMap<String, usize>,
    /// The calls that started sessions, by the sessions' keys: window and event of the call.
    started: HashMap<String, (usize, String)>,
    unreadable: Vec<SegmentLine>,
}

#[derive(Default)]
struct Window {
    id: String,
    key: Option<String>,
    parent: Option<String>,
    title: Option<String>,
    /// Its events may be copies of another window's.
    has_copies: bool,
    created_at: Option<i64>,
    cwd: Option<String>,
    line: Option<SegmentLine>,
    events: Vec<EventFacts>,
    seen: HashSet<String>,
}

/// What cutting a transcript into runs takes of an event.
struct EventFacts {
    id: String,
    line: SegmentLine,
    at: Option<i64>,
    kind: EventKind,
}

enum EventKind {
    Prompt(String),
    Answer {
        text: Option<String>,
        calls: Vec<String>,
    },
    Other,
}

impl SessionReader for TranscriptReader {
    fn begin_source(&mut self, name: &str) {
        self.sources += 1;
        let next = self.windows.len();
        self.current = *self.numbers.entry(name.to_owned()).or_insert(next);
        if self.current == next {
            self.windows.push(Window {
                id: name.to_owned(),
                ..Window::default()
            });
        }
    }

    fn line(&mut self, place: Range<u64>, line: Kept<'_>) {
        let bytes = line.bytes();
        let source = self.sources.saturating_sub(1);
        let line = SegmentLine::Kept { source, place };
        let Some(window) = self.windows.get_mut(self.current) else {
            return;
        };
        match table_of(bytes) {
            Some("session_windows") => {
                if let Ok(decoded) = decode::<WindowLine<'_>>(bytes) {
                    return window.on_row(decoded.value.row, line);
                }
            }
            Some("transcript_events") => {
                let started = window.on_event(bytes, &line);
                if let Some(started) = started {
                    for (key, event) in started {
                        self.started.entry(key).or_insert((self.current, event));
                    }
                    return;
                }
            }
            _ => {}
        }
        self.unreadable.push(line);
    }

    fn finish(mut self: Box<Self>) -> Session {
        let keys: HashSet<&str> = self
            .windows
            .iter()
            .filter_map(|window| window.key.as_deref())
            .collect();
        let is_root = |window: &Window| {
            let parent = window.parent.as_deref();
            parent.is_none_or(|parent| !keys.contains(parent))
        };
        let root = self.windows.iter().position(is_root).unwrap_or(0);
        let mut order: Vec<usize> = (0..self.windows.len()).collect();
        order.sort_by_key(|number| *number != root);
        let mut session = Session::default();
        let mut runs: Vec<Segment> = Vec::new();
        // Which run an event went to.
        let mut homes: HashMap<(usize, String), usize> = HashMap::new();
        for number in order {
            let Some(window) = self.windows.get_mut(number).map(std::mem::take) else {
                continue;
            };
            if number == root {
                // Captured frames name the session by its key, too.
                session.id = window.key.clone().unwrap_or_else(|| window.id.clone());
                session.title.clone_from(&window.title);
                window.into_runs(number, &mut runs, &mut homes);
            } else {
                let key = window.key.as_deref().unwrap_or_default();
                let caller = self.started.get(key);
                let run = caller.and_then(|caller| homes.get(caller)).copied();
                window.into_child(number, run, &mut runs, &mut homes);
            }
        }
        if let Some(last) = runs.last_mut() {
            last.unreadable = self.unreadable.len() as u64;
            last.lines.extend(self.unreadable);
        }
        session.segments = runs;
        session
    }
}

impl Window {
    fn on_row(&mut self, row: WindowRow<'_>, line: SegmentLine) {
        let owned = |text: Option<Str<'_>>| text.map(Str::into_owned);
        if let Some(id) = row.id {
            self.id = id.into_owned();
        }
        self.has_copies = matches!(
            row.reason.as_deref(),
            Some("fork" | "rewind" | "rollover" | "compaction" | "recovery")
        );
        self.key = owned(row.key);
        self.parent = owned(row.spawned_by);
        self.title = owned(row.title);
        self.created_at = row.created.map(count);
        self.line = Some(line);
    }

    /// Takes an event. Returns the sessions that it started, each with the event of the call, or nothing if
    /// it is not understood.
    fn on_event(&mut self, bytes: &[u8], line: &SegmentLine) -> Option<Vec<(String, String)>> {
        let decoded = decode::<EventLine<'_>>(bytes).ok()?.value.row;
        let event = event(&decoded)?;
        let at = event.at().or(decoded.created.map(count));
        let id = event.id.as_deref().unwrap_or_default().to_owned();
        if event.kind.as_deref() == Some("session") {
            self.cwd = event.cwd.as_deref().map(str::to_owned);
        } else if !self.seen.insert(id.clone()) {
            return Some(Vec::new());
        }
        let said = &event.message;
        let mut started = Vec::new();
        let kind = match message::field(said, "role") {
            Some("user") if !is_own(said) => {
                EventKind::Prompt(message::text(said).unwrap_or_default())
            }
            Some("assistant") if !is_mirror(said) => {
                self.forget_text();
                EventKind::Answer {
                    text: message::text(said).filter(|text| !text.trim().is_empty()),
                    calls: calls(said).map(str::to_owned).collect(),
                }
            }
            Some("toolResult") => {
                let session = tools::spawned(said).map(str::to_owned);
                started.extend(session.map(|session| (session, id.clone())));
                EventKind::Other
            }
            _ => EventKind::Other,
        };
        self.events.push(EventFacts {
            id,
            line: line.clone(),
            at,
            kind,
        });
        Some(started)
    }

    /// Forgets the last text if nobody asked anything since: only the last one of a run is needed.
    fn forget_text(&mut self) {
        for event in self.events.iter_mut().rev() {
            match &mut event.kind {
                EventKind::Prompt(_) => return,
                EventKind::Answer { text, .. } => {
                    if text.take().is_some() {
                        return;
                    }
                }
                EventKind::Other => {}
            }
        }
    }

    fn is_copy(&self, event: &EventFacts) -> bool {
        let times = event.at.zip(self.created_at);
        self.has_copies && times.is_some_and(|(at, created)| at < created - COPY_AGE_MS)
    }

    /// Cuts the session that was asked into runs.
    fn into_runs(
        mut self,
        number: usize,
        runs: &mut Vec<Segment>,
        homes: &mut HashMap<(usize, String), usize>,
    ) {
        // Events before the first prompt belong to the first run.
        let mut before: Vec<SegmentLine> = self.line.clone().into_iter().collect();
        for event in std::mem::take(&mut self.events) {
            if self.is_copy(&event) {
                continue;
            }
            if matches!(event.kind, EventKind::Prompt(_)) {
                if let Some(last) = runs.last_mut() {
                    last.is_over = true;
                }
                let lines = if runs.is_empty() {
                    std::mem::take(&mut before)
                } else {
                    self.line.clone().into_iter().collect()
                };
                runs.push(Segment {
                    key: event.id.clone(),
                    started_at: event.at,
                    cwd: self.cwd.clone(),
                    is_resumed: !runs.is_empty(),
                    lines,
                    ..Segment::default()
                });
            }
            let run = runs.len().saturating_sub(1);
            let Some(segment) = runs.last_mut() else {
                before.push(event.line);
                continue;
            };
            homes.insert((number, event.id.clone()), run);
            event.add_to(segment, true);
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
        for event in std::mem::take(&mut self.events) {
            if self.is_copy(&event) {
                continue;
            }
            homes.insert((number, event.id.clone()), run);
            event.add_to(segment, false);
        }
    }
}

impl EventFacts {
    fn add_to(self, segment: &mut Segment, is_main: bool) {
        segment.lines.push(self.line);
        segment.last_at = segment.last_at.max(self.at);
        match self.kind {
            EventKind::Prompt(text) if is_main => {
                segment.prompt.get_or_insert(text);
            }
            EventKind::Answer { text, calls } => {
                segment.responses.push(self.id);
                segment.calls.extend(calls);
                if is_main {
                    segment.last_text = text.or(segment.last_text.take());
                }
            }
            _ => {}
        }
    }
}

/// Returns the ids of the calls of a message.
fn calls(message: &Value) -> impl Iterator<Item = &str> {
    let blocks = message.get("content").and_then(Value::as_array);
    let blocks = blocks.into_iter().flatten();
    let calls = blocks.filter(|block| message::field(block, "type") == Some("toolCall"));
    calls.filter_map(|block| message::field(block, "id"))
}
