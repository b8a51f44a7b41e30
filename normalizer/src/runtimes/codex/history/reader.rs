//! A session's rollouts, cut into turns and put together to runs.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::quality::FixedState;

use super::source::thread_of;
use super::wire::{LineHead, Payload, is_review};
use crate::history::{Segment, SegmentLine, Session, SessionReader};
use crate::json::decode;
use crate::redact::Kept;
use crate::times::told_millis;

/// The word that a turn of `codex exec` has for how it came about, and the program's name for itself.
const EXEC: &str = "exec";
const EXEC_ORIGINATOR: &str = "codex_exec";

/// Reads the rollouts of one session.
#[derive(Default)]
pub(super) struct RolloutReader {
    sources: usize,
    /// The thread of the rollout that is read.
    current: usize,
    /// The current rollout had a line before this one.
    has_begun: bool,
    threads: Vec<ThreadSurvey>,
    numbers: HashMap<String, usize>,
    /// Which turn started a thread.
    spawned: HashMap<String, (usize, usize)>,
    hasher: FixedState,
}

/// What is known of a thread.
#[derive(Default)]
struct ThreadSurvey {
    id: String,
    origin: ThreadOrigin,
    /// Its first line, which every run of it begins with.
    meta: Option<SegmentLine>,
    /// What was seen, by its ordinal or else by its content, and in which source.
    seen: HashMap<u64, usize, FixedState>,
    turns: Vec<Turn>,
    turn_numbers: HashMap<String, usize>,
    /// The turn that goes on.
    open: Option<usize>,
    /// Lines that belong to the turn to come.
    held: Vec<SegmentLine>,
    /// Responses have records of their own.
    has_records: bool,
    /// The thread's total, for versions that have no such records.
    total: u64,
}

/// What a thread's first line says of it.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that are independent of each other"
)]
struct ThreadOrigin {
    parent: Option<String>,
    /// It says itself that the session is its own.
    is_root: bool,
    is_fork: bool,
    /// A review began it, whose work the thread that asked for it shows as its own.
    is_review: bool,
    created_at: Option<i64>,
    /// The first line of its own: lines before it are the context of the thread that started this one.
    own_from: Option<u64>,
    /// Whether turns are a process each where they do not say so themselves.
    is_exec: bool,
    cwd: Option<String>,
}

/// What is known of a turn.
#[derive(Default)]
struct Turn {
    key: String,
    /// The turn of the root thread in which a sub-agent worked.
    under: Option<String>,
    is_exec: bool,
    segment: Segment,
    /// Which of its lines were copied from another thread's turn, by that turn.
    copied: HashMap<String, HashSet<usize>>,
}

impl SessionReader for RolloutReader {
    fn begin_source(&mut self, name: &str) {
        let id = thread_of(name).unwrap_or(name);
        self.sources += 1;
        self.has_begun = false;
        let next = self.threads.len();
        self.current = *self.numbers.entry(id.to_owned()).or_insert(next);
        if self.current == next {
            self.threads.push(ThreadSurvey {
                id: id.to_owned(),
                ..ThreadSurvey::default()
            });
        }
        if let Some(thread) = self.threads.get_mut(self.current) {
            thread.open = None;
        }
    }

    fn line(&mut self, place: Range<u64>, line: Kept<'_>) {
        let bytes = line.bytes();
        if bytes.is_empty() {
            return;
        }
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let source = self.sources.saturating_sub(1);
        let kept = SegmentLine::Kept { source, place };
        let Some(thread) = self.threads.get_mut(self.current) else {
            return;
        };
        let decoded = decode::<LineHead<'_>>(bytes).ok().map(|line| line.value);
        let ordinal = decoded.as_ref().and_then(|line| line.ordinal);
        let own_from = thread.origin.own_from;
        if ordinal.zip(own_from).is_some_and(|(at, own)| at < own) {
            return;
        }
        let key = match ordinal {
            Some(ordinal) => self.hasher.hash_one(("ordinal", ordinal)),
            None => self.hasher.hash_one(("line", bytes)),
        };
        let is_known = match thread.seen.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(source);
                false
            }
            // A line without an ordinal may stand twice in one file, and mean it.
            Entry::Occupied(entry) => ordinal.is_some() || *entry.get() != source,
        };
        let Some(line) = decoded else {
            if !is_known {
                thread.unreadable(kept);
            }
            return;
        };
        let at = line.timestamp.as_deref().and_then(told_millis);
        let tag = line.tag.as_deref().unwrap_or_default();
        let payload = line.payload.unwrap_or_default();
        if tag == "session_meta" {
            if is_first && thread.meta.is_none() {
                thread.on_meta(&payload, kept);
            }
            return;
        }
        let number = thread.turn(tag, &payload, at);
        let Some(number) = number else {
            if !is_known {
                thread.held.push(kept);
            }
            return;
        };
        if is_known {
            return;
        }
        thread.add(number, kept, tag, &payload, at);
        for child in &payload.item.receivers {
            let child = child.as_str().to_owned();
            self.spawned.entry(child).or_insert((self.current, number));
        }
    }

    fn finish(self: Box<Self>) -> Session {
        self.assemble()
    }
}

impl ThreadSurvey {
    fn on_meta(&mut self, payload: &Payload<'_>, line: SegmentLine) {
        self.meta = Some(line);
        self.origin = ThreadOrigin {
            parent: payload.parent.as_deref().map(str::to_owned),
            is_root: payload.session.as_deref() == Some(&self.id),
            is_fork: payload.forked_from.is_some(),
            is_review: is_review(&payload.source),
            own_from: payload.own_from,
            created_at: payload.created.as_deref().and_then(told_millis),
            is_exec: payload.originator.as_deref() == Some(EXEC_ORIGINATOR),
            cwd: payload.cwd.as_deref().map(str::to_owned),
        };
    }

    /// Keeps a line that cannot be read with the turn that it stands in.
    fn unreadable(&mut self, line: SegmentLine) {
        let number = self.open.or(self.turns.len().checked_sub(1));
        match number.and_then(|number| self.turns.get_mut(number)) {
            Some(turn) => {
                turn.segment.unreadable += 1;
                turn.segment.lines.push(line);
            }
            None => self.held.push(line),
        }
    }

    /// Returns the turn that a line belongs to, opening it where it begins; none for a line that
    /// prepares the turn to come.
    fn turn(&mut self, tag: &str, payload: &Payload<'_>, at: Option<i64>) -> Option<usize> {
        let event = payload.tag.as_deref().filter(|_| tag == "event_msg");
        let event = event.unwrap_or_default();
        let named = payload.turn();
        if matches!(event, "task_started" | "turn_started") {
            if let Some(number) = self.asking_turn(named, payload) {
                return Some(number);
            }
            let number = self.open_turn(named, payload, at);
            self.open = Some(number);
            return Some(number);
        }
        let known = named.and_then(|turn| self.turn_numbers.get(turn).copied());
        let number = known.or(self.open);
        if matches!(event, "task_complete" | "turn_complete" | "turn_aborted") {
            self.open = None;
        }
        if number.is_some() {
            return number;
        }
        let is_setting = event == "thread_settings_applied"
            || matches!(tag, "turn_context" | "world_state" | "session_state");
        match self.turns.len().checked_sub(1) {
            _ if is_setting => None,
            // The CLI says something more of a turn that has ended.
            Some(last) if named.is_none() => Some(last),
            // Before turns had marks, a thread was one.
            _ => {
                let number = self.open_turn(named, payload, at);
                self.open = Some(number);
                Some(number)
            }
        }
    }

    /// Returns the turn of this thread that asked for the one that begins, which is another thread's: what a review does
    /// is written here, too.
    fn asking_turn(&mut self, named: Option<&str>, payload: &Payload<'_>) -> Option<usize> {
        let (named, asking) = (named?, payload.attribution.parent.as_deref()?);
        let number = *self.turn_numbers.get(asking)?;
        let is_other = named != asking && !self.turn_numbers.contains_key(named);
        is_other.then(|| {
            self.turn_numbers.insert(named.to_owned(), number);
            number
        })
    }

    fn open_turn(&mut self, named: Option<&str>, payload: &Payload<'_>, at: Option<i64>) -> usize {
        let key = match named {
            Some(turn) => turn.to_owned(),
            None => format!("turn {}", self.turns.len()),
        };
        if let Some(number) = self.turn_numbers.get(&key) {
            return *number;
        }
        let trigger = payload.attribution.trigger.as_deref();
        // What a fork copied is older than the thread.
        let is_old = at
            .zip(self.origin.created_at)
            .is_some_and(|(at, created)| at < created);
        let number = self.turns.len();
        self.turn_numbers.insert(key.clone(), number);
        self.turns.push(Turn {
            under: payload.root_turn.as_deref().map(str::to_owned),
            is_exec: trigger.map_or(self.origin.is_exec, |trigger| trigger == EXEC),
            segment: Segment {
                key: key.clone(),
                is_copy: self.origin.is_fork && is_old,
                started_at: at,
                cwd: self.origin.cwd.clone(),
                lines: std::mem::take(&mut self.held),
                ..Segment::default()
            },
            key,
            copied: HashMap::new(),
        });
        number
    }

    /// Adds a line to a turn.
    fn add(
        &mut self,
        number: usize,
        line: SegmentLine,
        tag: &str,
        payload: &Payload<'_>,
        at: Option<i64>,
    ) {
        let Some(turn) = self.turns.get_mut(number) else {
            return;
        };
        let segment = &mut turn.segment;
        let named = payload.turn().filter(|named| *named != turn.key);
        if let Some(named) = named.filter(|named| self.turn_numbers.contains_key(*named)) {
            let copied = turn.copied.entry(named.to_owned()).or_default();
            copied.insert(segment.lines.len());
        }
        segment.lines.push(line);
        segment.last_at = segment.last_at.max(at);
        let owned = |text: &Option<crate::json::Str<'_>>| text.as_deref().map(str::to_owned);
        match (tag, payload.tag.as_deref().unwrap_or_default()) {
            ("turn_context", _) => segment.cwd = owned(&payload.cwd).or(segment.cwd.take()),
            ("token_usage_record", _) => {
                self.has_records = true;
                let is_other = payload.thread.as_deref().is_some_and(|id| id != self.id);
                segment.is_copy |= self.origin.is_fork && is_other;
                segment.responses.extend(owned(&payload.response));
            }
            ("event_msg", "token_count") if !self.has_records => {
                let total = payload.info.total.tokens.unwrap_or(0);
                if total > self.total {
                    self.total = total;
                    segment.responses.push(older_response(&self.id, total));
                }
            }
            ("event_msg", "user_message") if segment.prompt.is_none() => {
                segment.prompt = owned(&payload.message);
            }
            ("event_msg", "agent_message") => segment.last_text = owned(&payload.message),
            ("event_msg", "item_completed") => {
                match payload.item.kind.as_deref().unwrap_or_default() {
                    "UserMessage" if segment.prompt.is_none() => {
                        segment.prompt = Some(payload.item.content.text());
                    }
                    "AgentMessage" => segment.last_text = Some(payload.item.content.text()),
                    _ => {}
                }
            }
            ("event_msg", "task_complete" | "turn_complete" | "turn_aborted") => {
                segment.is_over = turn.is_exec;
                let answer = owned(&payload.answer);
                segment.last_text = answer.or(segment.last_text.take());
            }
            ("response_item", kind) if kind.ends_with("_call") => {
                let call = payload.call.as_ref().or(payload.id.as_ref());
                segment.calls.extend(call.map(|id| id.as_str().to_owned()));
            }
            _ => {}
        }
    }
}

/// Names a response of a version that gave it no name: what the thread had used with it.
pub(super) fn older_response(thread: &str, total: u64) -> String {
    format!("{thread}:{total}")
}

impl RolloutReader {
    /// Puts turns together to runs, and the work of sub-agents to the runs that asked for it.
    fn assemble(mut self) -> Session {
        self.place_reviews();
        let root = self.root();
        let mut runs: Vec<Segment> = Vec::new();
        // Which run a turn went to, by its thread and its number.
        let mut homes: HashMap<(usize, usize), usize> = HashMap::new();
        let mut by_key: HashMap<String, usize> = HashMap::new();
        let mut order: Vec<usize> = (0..self.threads.len()).collect();
        order.sort_by_key(|number| (Some(*number) != root, *number));
        let mut id = None;
        for number in order {
            let Some(thread) = self.threads.get_mut(number) else {
                continue;
            };
            let meta = thread.meta.clone();
            let is_root = Some(number) == root;
            if is_root {
                id = Some(thread.id.clone());
            }
            let mut last: Option<(usize, bool)> = None;
            for (at, turn) in std::mem::take(&mut thread.turns).into_iter().enumerate() {
                let home = if is_root {
                    // A terminal's turns are one run: nothing tells its processes apart.
                    last.filter(|(run, is_exec)| {
                        let is_copy = runs.get(*run).is_some_and(|run| run.is_copy);
                        !is_exec && !turn.is_exec && is_copy == turn.segment.is_copy
                    })
                    .map(|(run, _)| run)
                } else {
                    let by_turn = turn.under.as_ref().and_then(|key| by_key.get(key));
                    let by_call = || {
                        let caller = self.spawned.get(&thread.id)?;
                        homes.get(caller)
                    };
                    let by_time = || before(&runs, turn.segment.started_at);
                    by_turn.or_else(by_call).copied().or_else(by_time)
                };
                let is_exec = turn.is_exec;
                let is_new = home.is_none();
                let home = home.unwrap_or(runs.len());
                homes.insert((number, at), home);
                if is_root {
                    by_key.insert(turn.key, home);
                }
                let begins = last.is_none_or(|(run, _)| run != home);
                last = Some((home, is_exec));
                if is_new {
                    let mut run = Segment {
                        is_resumed: at > 0,
                        ..turn.segment
                    };
                    run.lines.splice(0..0, meta.clone());
                    runs.push(run);
                } else if let Some(run) = runs.get_mut(home) {
                    run.lines.extend(meta.clone().filter(|_| begins));
                    merge(run, turn.segment, is_root);
                }
            }
        }
        Session {
            id: id.unwrap_or_default(),
            title: None,
            segments: runs,
        }
    }

    /// Puts the lines of each review where the thread that asked for it has copies of some of them.
    fn place_reviews(&mut self) {
        let (mut reviews, mut askers): (Vec<_>, Vec<_>) = self
            .threads
            .iter_mut()
            .partition(|thread| thread.origin.is_review);
        for review in &mut reviews {
            let meta = review.meta.clone();
            review.turns.retain_mut(|turn| {
                let asking = askers.iter_mut().find_map(|thread| {
                    let number = *thread.turn_numbers.get(&turn.key)?;
                    thread.turns.get_mut(number)
                });
                let Some(asking) = asking else { return true };
                asking.take_review(meta.clone(), std::mem::take(turn));
                false
            });
        }
    }

    /// Returns the thread that started all others: the one that nobody here started.
    fn root(&self) -> Option<usize> {
        let is_started = |thread: &ThreadSurvey| {
            let parent = thread.origin.parent.as_ref();
            parent.is_some_and(|parent| self.numbers.contains_key(parent))
        };
        let first = |is_it: &dyn Fn(&ThreadSurvey) -> bool| self.threads.iter().position(is_it);
        first(&|thread| thread.origin.is_root)
            .or_else(|| first(&|thread| !is_started(thread)))
            .or_else(|| first(&|_| true))
    }
}

impl Turn {
    /// Takes the lines of a review in the place of their copies.
    fn take_review(&mut self, meta: Option<SegmentLine>, review: Turn) {
        let copied = self.copied.remove(&review.key).unwrap_or_default();
        let lines = std::mem::take(&mut self.segment.lines);
        let mut theirs = Some(meta.into_iter().chain(review.segment.lines.clone()));
        let mut kept = Vec::with_capacity(lines.len() + review.segment.lines.len());
        for (at, line) in lines.into_iter().enumerate() {
            if copied.contains(&at) {
                kept.extend(theirs.take().into_iter().flatten());
            } else {
                kept.push(line);
            }
        }
        kept.extend(theirs.into_iter().flatten());
        self.segment.lines = kept;
        // The places of copies of other reviews have moved.
        self.copied.clear();
        let review = review.segment;
        let segment = &mut self.segment;
        segment.last_at = segment.last_at.max(review.last_at);
        segment.responses.extend(review.responses);
        segment.calls.extend(review.calls);
        segment.unreadable += review.unreadable;
        segment.prompt = segment.prompt.take().or(review.prompt);
    }
}

/// Returns the last run that began before a time.
fn before(runs: &[Segment], at: Option<i64>) -> Option<usize> {
    let began = |run: &Segment| {
        run.started_at
            .zip(at)
            .is_some_and(|(began, at)| began <= at)
    };
    let last = runs.iter().rposition(began);
    last.or_else(|| runs.len().checked_sub(1))
}

/// Adds a turn to a run: one of the same thread, or one of a sub-agent.
fn merge(run: &mut Segment, turn: Segment, is_of_main: bool) {
    run.lines.extend(turn.lines);
    run.last_at = run.last_at.max(turn.last_at);
    run.responses.extend(turn.responses);
    run.calls.extend(turn.calls);
    run.unreadable += turn.unreadable;
    if is_of_main {
        run.last_text = turn.last_text.or(run.last_text.take());
        run.prompt = run.prompt.take().or(turn.prompt);
        run.is_over = turn.is_over;
    }
}
