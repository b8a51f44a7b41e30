//! Reading stretches of records, the latest first, on all cores.
//!
//! One thread reads blocks from the database and hands hits out in order; the others decompress blocks
//! and look at their records.

use std::collections::{BTreeMap, HashSet};
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use runtape_core::report::{SearchHit, SnippetPart};
use runtape_core::{Record, RunId};

use super::matcher::Matcher;
use crate::backend::{Stretch, Tables};
use crate::derive::text::{Text, role_and_step};
use crate::error::Result;
use crate::filter::RunFilter;
use crate::format::records::{RecordBlock, each_line, parse};

/// Blocks that are looked at before others help: starting them takes as long as some blocks do.
const ALONE: usize = 8;

/// Blocks that wait for each thread, so that none has to.
const AHEAD: usize = 4;

/// What is found in stretches of records, in their order.
pub(super) struct Scan<'a> {
    pub(super) tables: &'a dyn Tables,
    pub(super) stretches: &'a [Stretch],
    pub(super) matcher: &'a Matcher,
    /// The filter in whose period a record must be; without one, a run is done once something is found in it.
    pub(super) period: Option<&'a RunFilter>,
}

/// A block, and the records of it that matter.
struct ScanJob<'a> {
    stretch: &'a Stretch,
    block: RecordBlock,
}

/// The blocks of stretches, one after the other, each stretch from its end on.
struct Blocks<'a> {
    tables: &'a dyn Tables,
    rest: &'a [Stretch],
    /// Up to where the first stretch is not read yet.
    end: Option<u64>,
    done: HashSet<RunId>,
}

impl<'a> Blocks<'a> {
    fn next(&mut self) -> Result<Option<ScanJob<'a>>> {
        while let Some((stretch, others)) = self.rest.split_first() {
            let end = self.end.unwrap_or(stretch.to);
            let is_over = end <= stretch.from || self.done.contains(&stretch.id);
            let block = match end.checked_sub(1).filter(|_| !is_over) {
                Some(last) => self.tables.record_block_of(&stretch.run, last)?,
                None => None,
            };
            if let Some(block) = block {
                // A damaged block must not keep us here.
                self.end = Some(block.first_seq.min(end - 1));
                return Ok(Some(ScanJob { stretch, block }));
            }
            self.rest = others;
            self.end = None;
        }
        Ok(None)
    }
}

/// Returns the hits in a block, the last one first.
fn look(
    matcher: &Matcher,
    period: Option<&RunFilter>,
    job: &ScanJob<'_>,
) -> Result<Vec<SearchHit>> {
    let ScanJob { stretch, block } = job;
    let lines = block.lines(&stretch.id)?;
    let mut hits = Vec::new();
    for (seq, line) in (block.first_seq..).zip(each_line(&lines)) {
        if !(stretch.from..stretch.to).contains(&seq) || !matcher.prefilter.may_match(line) {
            continue;
        }
        let record = parse(line).map_err(|error| block.damaged(&stretch.id, error.to_string()))?;
        if period.is_some_and(|period| !period.is_in_period(record.at)) {
            continue;
        }
        let found = Text::of(&record).and_then(|text| matcher.find(&text));
        if let Some(snippet) = found {
            hits.push(hit(stretch, &record, snippet));
        }
    }
    hits.reverse();
    Ok(hits)
}

fn hit(stretch: &Stretch, record: &Record, snippet: Vec<SnippetPart>) -> SearchHit {
    let (role, step) = role_and_step(record);
    SearchHit {
        job_id: stretch.job.clone(),
        run_id: stretch.id.clone(),
        runtime: stretch.runtime.clone(),
        seq: record.seq,
        step,
        at: record.at,
        role,
        reference: format!("{}#{}", stretch.id, record.seq),
        snippet,
    }
}

impl Scan<'_> {
    /// Calls `each` with all hits until it returns `false`.
    pub(super) fn run(&self, mut each: impl FnMut(SearchHit) -> bool) -> Result<()> {
        let mut blocks = Blocks {
            tables: self.tables,
            rest: self.stretches,
            end: None,
            done: HashSet::new(),
        };
        let mut hand_out = |job: &Stretch, done: &mut HashSet<RunId>, hits: Vec<SearchHit>| {
            for hit in hits {
                if self.period.is_none() && !done.insert(job.id.clone()) {
                    break;
                }
                if !each(hit) {
                    return false;
                }
            }
            true
        };
        for _ in 0..ALONE {
            let Some(job) = blocks.next()? else {
                return Ok(());
            };
            let hits = look(self.matcher, self.period, &job)?;
            if !hand_out(job.stretch, &mut blocks.done, hits) {
                return Ok(());
            }
        }
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let (give, take) = sync_channel::<(usize, ScanJob<'_>)>(threads * AHEAD);
        let (answer, answers) = channel();
        let take = Mutex::new(take);
        // The database stays with this thread.
        let (matcher, period) = (self.matcher, self.period);
        thread::scope(|scope| {
            for _ in 0..threads {
                let (take, answer) = (&take, answer.clone());
                scope.spawn(move || {
                    while let Some((number, job)) = next_job(take) {
                        let hits = look(matcher, period, &job);
                        if answer.send((number, job.stretch, hits)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(answer);
            let mut give = Some(give);
            let mut early = BTreeMap::new();
            let (mut given, mut handed_out) = (0, 0);
            loop {
                while let Some(open) = &give
                    && given - handed_out < threads * AHEAD
                {
                    let Some(job) = blocks.next()? else {
                        give = None;
                        break;
                    };
                    // The room is enough for all that are not handed out.
                    drop(open.send((given, job)));
                    given += 1;
                }
                if given == handed_out {
                    return Ok(());
                }
                let Ok((number, stretch, hits)) = answers.recv() else {
                    return Ok(());
                };
                early.insert(number, (stretch, hits));
                while let Some((stretch, hits)) = early.remove(&handed_out) {
                    handed_out += 1;
                    if !hand_out(stretch, &mut blocks.done, hits?) {
                        return Ok(());
                    }
                }
            }
        })
    }
}

fn next_job<T>(take: &Mutex<Receiver<T>>) -> Option<T> {
    // Nobody panics while holding it.
    let take = take.lock().unwrap_or_else(PoisonError::into_inner);
    take.recv().ok()
}
