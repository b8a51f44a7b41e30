//! Recorded runs and histories that are stored beside each other, as one.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use runtape_core::report::{RunInfo, SyncGroup, SyncedSource};
use runtape_core::{RunId, Runtime, Stream};
use runtape_normalizer::Kept;
use runtape_store::{RemovalReason, RunFilter, Store, StoreError};
use serde_json::Value;

use super::evidence::{Evidence, Fit};
use super::segment_run::HISTORY_KEY;
use super::stored_runs::{MOST_NAMED, several_histories, several_recorded};
use super::sync::{SyncEvent, SyncOptions, group};
use super::take_in::{self, JoinedHistory, mark_not_joined};
use crate::context_and_exit::{applied_rules, came_as_records, is_history_only};
use crate::error::RecordError;

/// How many of the latest runs without a session are looked at.
const MOST_LOOKED_AT: usize = 500;
/// About how many runs the store is asked at once.
const AT_ONCE: usize = 256;
/// How many of the histories that may be of one run are told so; where there are more, the first ones say enough.
const MOST_MARKED: usize = 16;

/// Joins recorded runs with the histories of the same executions that are stored as runs of their own.
///
/// For many runs one of these is quicker than a new one for each: it remembers what it has looked at.
#[derive(Debug, Default)]
pub struct Joiner {
    /// Histories by runtime, for runs that know no session.
    histories: BTreeMap<String, Vec<(RunId, Evidence)>>,
}

impl Joiner {
    /// Joins a finished recorded run with its history, if that is stored as a run of its own and nothing else
    /// fits. Returns whether it was.
    pub fn join(
        &mut self,
        store: &mut Store,
        run_id: &RunId,
        now: i64,
    ) -> Result<bool, RecordError> {
        let info = store.run(run_id)?;
        let context = store.begin_of(run_id)?.context;
        if info.seal.is_none() || has_history(&context) {
            return Ok(false);
        }
        self.join_recorded(store, &info, now)
    }

    /// Does the same with many root runs; returns how many were joined. Most have nothing to be joined with, and the
    /// store is asked about many of those at once.
    pub fn join_all(
        &mut self,
        store: &mut Store,
        runs: &[RunId],
        now: impl Fn() -> i64,
    ) -> Result<u64, RecordError> {
        let mut joined = 0;
        for runs in runs.chunks(AT_ONCE) {
            let begun = store.begins_of(runs)?.into_iter();
            let mut alone: HashSet<RunId> = begun
                .filter(|begun| !has_history(&begun.context))
                .map(|begun| begun.run_id)
                .collect();
            let trees = store.trees(runs)?.into_iter();
            let recorded: Vec<RunInfo> = trees
                .filter_map(|tree| tree.into_iter().next())
                .filter(|run| run.seal.is_some() && alone.remove(&run.run_id))
                .collect();
            let told = told_sessions(store, &recorded)?;
            for run in recorded {
                let session = run.session_id.as_ref();
                if session.is_none_or(|session| told.contains(session)) {
                    joined += u64::from(self.join_recorded(store, &run, now())?);
                }
            }
        }
        Ok(joined)
    }

    /// Joins a finished run that was recorded and has no history yet.
    fn join_recorded(
        &mut self,
        store: &mut Store,
        info: &RunInfo,
        now: i64,
    ) -> Result<bool, RecordError> {
        let run_id = &info.run_id;
        let mut filter = RunFilter::default();
        filter.runtime = Some(info.runtime.clone());
        filter.session.clone_from(&info.session_id);
        filter.roots_only = true;
        let own;
        let histories = if info.session_id.is_some() {
            own = history_runs(store, &filter)?;
            &own
        } else {
            let name = info.runtime.as_str().to_owned();
            match self.histories.entry(name) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(history_runs(store, &filter)?),
            }
        };
        if histories.is_empty() {
            return Ok(false);
        }
        let recorded = Evidence::of_run(store, run_id)?;
        let (fit, best) = best_fits(&recorded, histories);
        let history = match best.as_slice() {
            [] => return Ok(false),
            [history] => history.clone(),
            several => {
                let reason = several_histories(run_id);
                for history in several.iter().take(MOST_MARKED) {
                    mark_not_joined(store, history, &reason, now)?;
                }
                return Ok(false);
            }
        };
        // Nor may another recorded run fit it as well.
        if fit != Fit::Sure {
            let told = Evidence::of_run(store, &history)?;
            let mut rivals = Vec::new();
            for other in recorded_runs(store, &filter)? {
                if other != *run_id && Evidence::of_run(store, &other)?.fit(&told) >= fit {
                    rivals.push(other);
                    // Enough to be named: of runs that are all alike there may be hundreds.
                    if rivals.len() == MOST_NAMED {
                        break;
                    }
                }
            }
            if !rivals.is_empty() {
                let runs = std::iter::once(run_id).chain(&rivals);
                mark_not_joined(store, &history, &several_recorded(runs), now)?;
                return Ok(false);
            }
        }
        let is_joined = merge(store, run_id, &history, now)?;
        if is_joined && let Some(known) = self.histories.get_mut(info.runtime.as_str()) {
            known.retain(|(known, _)| *known != history);
        }
        Ok(is_joined)
    }
}

/// Puts the history of one run on the tape of another, and takes the first away: all of it or nothing.
fn merge(
    store: &mut Store,
    recorded: &RunId,
    history: &RunId,
    now: i64,
) -> Result<bool, RecordError> {
    let context = store.begin_of(history)?.context;
    let Some(key) = context.get(HISTORY_KEY).and_then(Value::as_str) else {
        return Ok(false);
    };
    let (mut bytes, mut written_until) = (Vec::new(), i64::MIN);
    store.each_tape_chunk(history, |chunk| {
        if chunk.stream == Stream::History {
            written_until = written_until.max(chunk.received_at);
            bytes.extend_from_slice(&chunk.bytes);
        }
        true
    })?;
    let key = key.to_owned();
    let mut is_joined = false;
    let mut failed = None;
    let done = store.batch(|store| {
        // It was filtered on its way onto the tape that it comes from.
        let joined = JoinedHistory {
            key: &key,
            lines: Kept::as_given(&bytes),
            written_until,
            rules: applied_rules(&context),
        };
        match take_in::join(store, recorded, &joined, now) {
            Ok(None) => {}
            Ok(Some(_)) => return Ok(()),
            Err(RecordError::Store(error)) => return Err(error),
            Err(error) => {
                failed = Some(error);
                return Ok(());
            }
        }
        store.delete_as(history, RemovalReason::Joined, now)?;
        is_joined = true;
        Ok(())
    });
    match (done, failed) {
        (Err(StoreError::Locked { .. }), _) => Ok(false),
        (Err(error), _) => Err(error.into()),
        (Ok(()), Some(error)) => Err(error),
        (Ok(()), None) => Ok(is_joined),
    }
}

/// Returns the histories that fit a recorded run best, and how well.
fn best_fits(recorded: &Evidence, histories: &[(RunId, Evidence)]) -> (Fit, Vec<RunId>) {
    let mut best = (Fit::No, Vec::new());
    for (run, told) in histories {
        let fit = recorded.fit(told);
        if fit > best.0 {
            best = (fit, Vec::new());
        }
        if fit == best.0 && fit != Fit::No {
            best.1.push(run.clone());
        }
    }
    best
}

/// Tells whether a run has a history already, or needs none.
fn has_history(context: &Value) -> bool {
    came_as_records(context) || context.get(HISTORY_KEY).is_some()
}

/// Returns the runs among these that are known from session files alone.
fn histories_among(store: &Store, runs: &[RunId]) -> Result<HashSet<RunId>, StoreError> {
    let mut found = HashSet::new();
    for runs in runs.chunks(AT_ONCE) {
        let begun = store.begins_of(runs)?.into_iter();
        let told = begun.filter(|begun| is_history_only(&begun.context));
        found.extend(told.map(|begun| begun.run_id));
    }
    Ok(found)
}

/// Returns the sessions of recorded runs that a run is of which is known from session files alone.
fn told_sessions(store: &Store, recorded: &[RunInfo]) -> Result<HashSet<String>, StoreError> {
    let sessions: HashSet<&str> = recorded
        .iter()
        .filter_map(|run| run.session_id.as_deref())
        .collect();
    let own: HashSet<&RunId> = recorded.iter().map(|run| &run.run_id).collect();
    let sessions: Vec<&str> = sessions.into_iter().collect();
    let mut others = store.roots_of_sessions(&sessions)?;
    others.retain(|(_, run)| !own.contains(run));
    let runs: Vec<RunId> = others.iter().map(|(_, run)| run.clone()).collect();
    let histories = histories_among(store, &runs)?;
    let told = others.into_iter();
    let told = told.filter(|(_, run)| histories.contains(run));
    Ok(told.map(|(session, _)| session).collect())
}

/// Returns runs that are known from session files alone, and have ended.
fn history_runs(store: &Store, filter: &RunFilter) -> Result<Vec<(RunId, Evidence)>, StoreError> {
    let mut found = Vec::new();
    let mut ended = store.runs(filter, None, MOST_LOOKED_AT)?.items;
    ended.retain(|run| run.finished_at.is_some());
    let runs: Vec<RunId> = ended.iter().map(|run| run.run_id.clone()).collect();
    let histories = histories_among(store, &runs)?;
    for run in ended {
        if histories.contains(&run.run_id) {
            let evidence = Evidence::of_run(store, &run.run_id)?;
            found.push((run.run_id, evidence));
        }
    }
    Ok(found)
}

/// Returns recorded runs that have ended and have no history.
fn recorded_runs(store: &Store, filter: &RunFilter) -> Result<Vec<RunId>, StoreError> {
    let mut found = Vec::new();
    for run in store.runs(filter, None, MOST_LOOKED_AT)?.items {
        let context = store.begin_of(&run.run_id)?.context;
        if run.finished_at.is_some() && !has_history(&context) {
            found.push(run.run_id);
        }
    }
    Ok(found)
}

/// Joins recorded runs that know no session with histories that just came in.
pub(super) fn join_unnamed(
    store: &mut Store,
    groups: &mut BTreeMap<String, SyncGroup>,
    taken: u64,
    options: &SyncOptions,
    clock: &impl Fn() -> i64,
    each: &mut dyn FnMut(SyncEvent),
) -> Result<(), RecordError> {
    if taken == 0 {
        return Ok(());
    }
    if let Some(only) = &options.only {
        Joiner::default().join(store, only, clock())?;
        return Ok(());
    }
    let mut joiner = Joiner::default();
    let runtimes: Vec<Runtime> = groups.values().map(|group| group.runtime.clone()).collect();
    for runtime in runtimes {
        let mut filter = RunFilter::default();
        filter.runtime = Some(runtime.clone());
        filter.roots_only = true;
        for run in recorded_runs(store, &filter)? {
            if store.run(&run)?.session_id.is_some() || !joiner.join(store, &run, clock())? {
                continue;
            }
            let group = group(groups, &runtime);
            group.joined += 1;
            group.new = group.new.saturating_sub(1);
            let source = Box::new(SyncedSource {
                runtime: runtime.clone(),
                session_id: store.run(&run)?.session_id,
                paths: Vec::new(),
                new: Vec::new(),
                grown: Vec::new(),
                joined: vec![run],
                unchanged: 0,
                reason: None,
            });
            each(SyncEvent::Read { source, bytes: 0 });
        }
    }
    Ok(())
}
