//! The lines of one run, its sub-agents' after its own.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::quality::FixedState;

use super::thread::Thread;
use super::wire::{
    CompletedLine, ContextLine, EventLine, LineHead, MetaLine, ResponseItem, ResponseLine,
    TokenCountLine, UsageLine, is_review,
};
use crate::context::Context;
use crate::history::{LineReader, judge_with_answer};
use crate::json::{DecodeError, Str, decode};
use crate::parser::SignalSink;
use crate::session_id::is_small_uuid;
use crate::signal::{CHILD_LABEL, Signal};

/// Reads the rollout lines of one run.
pub(super) struct RolloutParser {
    limit: usize,
    main: Thread,
    children: Vec<Thread>,
    /// Which thread has an id: 0 is the main one.
    numbers: HashMap<String, usize>,
    /// Which thread a turn is of: lines of another may have come in between.
    turns: HashMap<String, usize>,
    current: usize,
    /// Which call started a thread.
    callers: HashMap<String, String>,
    /// Hashes of lines that were read: one that comes again says nothing new.
    seen: HashSet<u64>,
    hasher: FixedState,
}

impl RolloutParser {
    pub(super) fn new(context: &Context) -> Self {
        Self {
            limit: context.limit,
            main: Thread::default(),
            children: Vec::new(),
            numbers: HashMap::new(),
            turns: HashMap::new(),
            current: 0,
            callers: HashMap::new(),
            seen: HashSet::new(),
            hasher: FixedState::default(),
        }
    }
}

impl LineReader for RolloutParser {
    fn on_line(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        let head = decode::<LineHead<'_>>(bytes)?.value;
        out.set_written_time(head.timestamp.as_deref());
        let tag = head.tag.as_deref().unwrap_or_default();
        let Some(payload) = &head.payload else {
            return self.on_bare(tag, bytes, out);
        };
        let kind = payload.tag.as_deref().unwrap_or_default();
        if tag == "session_meta" {
            return self.on_meta(bytes, out);
        }
        self.go_to(payload.turn());
        if let Some(ordinal) = head.ordinal {
            let line = self.hasher.hash_one((self.current, ordinal));
            if !self.seen.insert(line) {
                return Ok(());
            }
        }
        let limit = self.limit;
        let review = self.review_answer().map(str::to_owned);
        let thread = self.thread();
        match (tag, kind) {
            ("response_item", kind) => {
                let line: ResponseLine<'_> = out.read(kind, bytes)?;
                out.unknown_keys("response_item", &line.unknown);
                thread.on_response_item(kind, line.payload, limit, out);
            }
            ("event_msg", "item_completed") => {
                let line: CompletedLine<'_> = out.read(kind, bytes)?;
                out.unknown_keys("event_msg", &line.unknown);
                out.unknown_keys("item_completed", &line.payload.unknown);
                let took_ms = line.payload.took_ms();
                let item = line.payload.item;
                if item.kind.as_deref() == Some("ExitedReviewMode") {
                    thread.end_review(review);
                }
                thread.on_item(item, took_ms, out);
            }
            ("event_msg", "token_count") => {
                let line: TokenCountLine<'_> = out.read(kind, bytes)?;
                thread.on_token_count(line.payload.info, out);
            }
            ("event_msg", kind) => {
                let line: EventLine<'_> = out.read(kind, bytes)?;
                thread.on_event(kind, line.payload, out);
            }
            ("token_usage_record", _) => {
                let line: UsageLine<'_> = out.read(tag, bytes)?;
                thread.on_usage(line.payload, out);
            }
            ("turn_context", _) => {
                let line: ContextLine<'_> = out.read(tag, bytes)?;
                let context = line.payload;
                thread.on_context(context.model, out);
                self.on_cwd(context.cwd, out);
            }
            ("compacted", _) => thread.on_compacted(out),
            ("world_state" | "session_state" | "inter_agent_communication_metadata", _) => {}
            ("", _) => out.unparsed(None, "a line without a type"),
            (tag, _) => out.unparsed(Some(tag), "a line of unknown type"),
        }
        self.note_callers();
        Ok(())
    }

    fn end(&mut self, out: &mut SignalSink<'_>) {
        self.main.close(out);
        for thread in &mut self.children {
            thread.close(out);
            thread.end_child(out);
        }
        let (last, answer, duration) = std::mem::take(&mut self.main).into_last_word();
        if let Some(duration) = duration {
            out.emit(Signal::Metadata("durationMs", duration.into()));
        }
        judge_with_answer(last, answer, out);
    }
}

impl RolloutParser {
    /// Reads an item of a time when lines had no envelope.
    fn on_bare(
        &mut self,
        tag: &str,
        bytes: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        if tag.is_empty() {
            // The first line of such a rollout has the thread's id and its instructions.
            let meta: super::wire::ThreadMeta<'_> = out.read("session_meta", bytes)?;
            if meta.id.is_some() {
                self.begin_thread(meta.id.as_deref().unwrap_or_default(), false, out);
            } else {
                out.unparsed(None, "a line without a type");
            }
            return Ok(());
        }
        let item: ResponseItem<'_> = out.read(tag, bytes)?;
        let limit = self.limit;
        self.thread().on_response_item(tag, item, limit, out);
        self.note_callers();
        Ok(())
    }

    fn on_meta(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        let line: MetaLine<'_> = out.read("session_meta", bytes)?;
        let meta = line.payload;
        out.unknown_keys("session_meta", &meta.unknown);
        let id = meta.id.as_deref().unwrap_or_default();
        self.begin_thread(id, is_review(&meta.source), out);
        if self.current > 0 {
            return Ok(());
        }
        let session = meta.session.as_deref().filter(|id| is_small_uuid(id));
        if let Some(session) = session.or(Some(id).filter(|id| is_small_uuid(id))) {
            out.emit(Signal::Session(session));
        }
        if let Some(version) = meta.version.filter(|version| !version.is_empty()) {
            out.emit(Signal::CliVersion(&version));
        }
        if let Some(origin) = meta.forked_from.filter(|id| is_small_uuid(id)) {
            out.emit(Signal::Metadata("forkedFrom", origin.into_owned().into()));
        }
        self.on_cwd(meta.cwd, out);
        Ok(())
    }

    fn on_cwd(&self, cwd: Option<Str<'_>>, out: &mut SignalSink<'_>) {
        if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty() && self.current == 0) {
            out.emit(Signal::Cwd(&cwd));
        }
    }

    /// Begins a thread, or goes back to it. What a review does is of the main run: the output shows it so, too.
    fn begin_thread(&mut self, id: &str, is_review: bool, out: &mut SignalSink<'_>) {
        if let Some(number) = self.numbers.get(id) {
            self.current = *number;
            return;
        }
        // What is held of others may tell which call started this one.
        self.thread().flush_turn(out);
        self.note_callers();
        self.current = self.numbers.len();
        self.numbers.insert(id.to_owned(), self.current);
        if self.current == 0 {
            id.clone_into(&mut self.main.id);
            return;
        }
        let call = self.callers.get(id).map_or(id, String::as_str);
        let child = (!is_review).then(|| Arc::from(format!("{call}{CHILD_LABEL}{id}")));
        self.children.push(Thread::new(id.to_owned(), child));
    }

    /// Returns the answer of the last review.
    fn review_answer(&self) -> Option<&str> {
        let mut reviews = self.children.iter().rev();
        reviews.find(|thread| thread.is_of_main())?.answer()
    }

    fn note_callers(&mut self) {
        for (child, call) in std::mem::take(&mut self.thread().spawned) {
            self.callers.entry(child).or_insert(call);
        }
    }

    /// Goes to the thread that a line belongs to: by its turn, else the one that was begun last.
    fn go_to(&mut self, turn: Option<&str>) {
        let Some(turn) = turn else { return };
        match self.turns.get(turn) {
            Some(number) => self.current = *number,
            None => {
                self.turns.insert(turn.to_owned(), self.current);
            }
        }
    }

    fn thread(&mut self) -> &mut Thread {
        let child = self.current.checked_sub(1);
        match child.and_then(|at| self.children.get_mut(at)) {
            Some(child) => child,
            None => &mut self.main,
        }
    }
}
