//! One run that somebody follows.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use runtape_core::report::RunInfo;
use runtape_core::{Record, RunId, TranscriptBuilder};
use runtape_store::Store;

use super::event;
use super::open_step;
use super::watcher::Watcher;
use crate::api::resumed_builder;
use crate::problem::Problem;

/// Records read at a time.
const PAGE: usize = 200;

/// The last events, kept for those who come back or are about to catch up, and their bytes.
const RECENT: usize = 512;
const RECENT_BYTES: usize = 1 << 20;

/// Records before its end that a feed begins with, if its first watcher wants them: who comes after has them at hand, so
/// that they are read once and not once for each.
pub(super) const AT_HAND: u64 = 128;

/// How often the step that a run is in is looked at.
const STEP_INTERVAL: Duration = Duration::from_millis(400);

/// Returns the hash of the record before another one.
fn last_before(store: &Store, run: &RunId, next: u64) -> Result<Option<u64>, Problem> {
    let Some(seq) = next.checked_sub(1) else {
        return Ok(None);
    };
    let records = store.records(run, seq, 1)?;
    records.first().map(hash).transpose()
}

fn hash(record: &Record) -> Result<u64, Problem> {
    let mut hasher = DefaultHasher::new();
    serde_json::to_vec(record)?.hash(&mut hasher);
    Ok(hasher.finish())
}

/// One run that somebody follows: read once, however many watch.
#[derive(Debug)]
pub(super) struct Feed {
    run: RunId,
    /// The record to be sent next, and the hash of the one before.
    next: u64,
    last_sent: Option<u64>,
    builder: TranscriptBuilder,
    /// The last events that were sent, each with its record.
    recent: VecDeque<(u64, Bytes)>,
    recent_bytes: usize,
    watchers: Vec<Watcher>,
    has_ended: bool,
    /// How long the tape was when the open step was sent, and when that was.
    shown_tape: u64,
    shown_at: Instant,
}

impl Feed {
    /// Begins near the end of what is there, for a first watcher that wants records from one on.
    pub(super) fn new(store: &Store, run: &RunId, from: u64) -> Result<Self, Problem> {
        let info = store.run(run)?;
        let next = from.clamp(info.records.saturating_sub(AT_HAND), info.records);
        Ok(Self {
            run: run.clone(),
            next,
            last_sent: last_before(store, run, next)?,
            builder: resumed_builder(store, &info, next)?,
            recent: VecDeque::new(),
            recent_bytes: 0,
            watchers: Vec::new(),
            has_ended: false,
            shown_tape: 0,
            shown_at: Instant::now(),
        })
    }

    /// Returns the record to be sent next.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Adds a watcher that wants records from one on. Those from the one that is returned are at hand, and come
    /// before what the queue brings; what is before that has to be read.
    pub(super) fn watch(&mut self, watcher: Watcher, from: u64) -> (u64, Vec<Bytes>) {
        let first = self.recent.front().map_or(self.next, |(seq, _)| *seq);
        let wanted = self.recent.iter().filter(|(seq, _)| *seq >= from);
        let at_hand = wanted.map(|(_, event)| event.clone()).collect();
        if from > self.next {
            // It has seen more than there is: the run was made anew since.
            watcher.fall_behind();
        }
        self.watchers.push(watcher);
        (first.max(from), at_hand)
    }

    fn remember(&mut self, seq: u64, event: Bytes) {
        self.recent_bytes += event.len();
        self.recent.push_back((seq, event));
        while self.recent.len() > RECENT || self.recent_bytes > RECENT_BYTES {
            let Some((_, oldest)) = self.recent.pop_front() else {
                break;
            };
            self.recent_bytes -= oldest.len();
        }
    }

    /// Tells whether nobody watches any more.
    pub(super) fn is_idle(&mut self) -> bool {
        self.watchers.retain(|watcher| !watcher.is_over());
        self.watchers.is_empty()
    }

    /// Sends what was added.
    pub(super) fn poll(&mut self, store: &Store) -> Result<(), Problem> {
        if self.has_ended {
            return Ok(());
        }
        // Asked before reading: what came before the end is then surely read.
        let info = store.run(&self.run)?;
        if info.records < self.next {
            self.tell_anew();
            return Ok(());
        }
        // The last step of a session that goes on is made anew when there is more of it.
        if self.next < info.records && self.last_sent != last_before(store, &self.run, self.next)? {
            self.tell_anew();
            self.next = info.records;
            self.last_sent = last_before(store, &self.run, self.next)?;
            self.builder = resumed_builder(store, &info, self.next)?;
            self.recent.clear();
            self.recent_bytes = 0;
            return Ok(());
        }
        while self.next < info.records {
            let records = store.records(&self.run, self.next, PAGE)?;
            if records.is_empty() {
                break;
            }
            for record in records {
                let event = event::record(&record, &mut self.builder)?;
                self.watchers.retain(|watcher| watcher.send(&event));
                self.next = record.seq + 1;
                self.last_sent = Some(hash(&record)?);
                self.remember(record.seq, event);
            }
        }
        self.has_ended = info.status.is_terminal();
        self.show_open_step(store, &info)
    }

    /// Sends what the step has so far that the run is in: it is on the tape, and becomes records when it is over.
    fn show_open_step(&mut self, store: &Store, info: &RunInfo) -> Result<(), Problem> {
        if self.has_ended || self.shown_at.elapsed() < STEP_INTERVAL {
            return Ok(());
        }
        let tape = open_step::tape_length(store, info)?;
        if tape == self.shown_tape {
            return Ok(());
        }
        let step = open_step::of(store, info, tape)?;
        let event = event::open_step(&self.run, step.as_ref());
        self.watchers.retain(|watcher| watcher.send(&event));
        self.shown_tape = tape;
        self.shown_at = Instant::now();
        Ok(())
    }

    /// Tells everybody to begin again.
    fn tell_anew(&mut self) {
        let anew = event::resync(event::MADE_ANEW);
        self.watchers.retain(|watcher| watcher.send(&anew));
        self.give_up();
    }

    /// Sends everybody away: what was sent does not hold any more.
    pub(super) fn give_up(&mut self) {
        for watcher in self.watchers.drain(..) {
            watcher.fall_behind();
        }
    }
}
