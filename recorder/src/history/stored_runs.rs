//! The runs of a session that are stored, and which of them a segment is of.

use runtape_core::{RunId, Runtime};
use runtape_store::{RunFilter, Store, StoreError};
use serde_json::Value;

use super::evidence::{Evidence, Fit};
use super::segment_run::{HISTORY_KEY, SegmentRun};

/// What one segment of a session tells, among the others of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account<'a> {
    pub(super) all: &'a [Evidence],
    pub(super) at: usize,
}

impl Account<'_> {
    /// Returns how well a recorded run fits, unless another segment fits it as well.
    fn fit_alone(&self, run: &Evidence) -> Fit {
        let fit = self.fit(run);
        let others = self.all.iter().enumerate().filter(|(at, _)| *at != self.at);
        let is_shared = |other: &Evidence| run.fit(other) >= fit;
        // A shared key leaves no doubt, however much the others are like it.
        let is_shared = fit != Fit::Sure && others.map(|(_, other)| other).any(is_shared);
        if is_shared { Fit::No } else { fit }
    }

    fn fit(&self, run: &Evidence) -> Fit {
        let own = self.all.get(self.at);
        own.map_or(Fit::No, |own| run.fit(own))
    }
}

/// The runs of a session that are stored.
#[derive(Debug, Default)]
pub(super) struct StoredRuns {
    /// Runs that have a segment already, with its key.
    with_history: Vec<(String, RunId)>,
    /// Recorded runs without one.
    recorded: Vec<(RunId, Evidence)>,
}

impl StoredRuns {
    /// Finds the runs of a session.
    pub(super) fn of_session(
        store: &Store,
        runtime: &Runtime,
        session: &str,
    ) -> Result<Self, StoreError> {
        let mut filter = RunFilter::default();
        filter.runtime = Some(runtime.clone());
        filter.session = Some(session.to_owned());
        filter.roots_only = true;
        let mut found = Self::default();
        for run in store.runs(&filter, None, usize::MAX >> 1)?.items {
            let context = store.begin_of(&run.run_id)?.context;
            match context.get(HISTORY_KEY).and_then(Value::as_str) {
                Some(key) => found.with_history.push((key.to_owned(), run.run_id)),
                None if run.finished_at.is_some() => {
                    let evidence = Evidence::of_run(store, &run.run_id)?;
                    found.recorded.push((run.run_id, evidence));
                }
                // What is being recorded is joined when it ends.
                None => {}
            }
        }
        Ok(found)
    }

    /// Returns the run that has the segment with a key.
    pub(super) fn holder_of(&self, key: &str) -> Option<&RunId> {
        let mut runs = self.with_history.iter();
        runs.find(|(known, _)| known == key).map(|(_, run)| run)
    }

    /// Tells whether the store has a segment, be it in a recorded run.
    pub(super) fn is_known(&self, store: &Store, run: &SegmentRun) -> Result<bool, StoreError> {
        Ok(self.holder_of(&run.segment.key).is_some() || store.has_run(&run.run_id)?)
    }

    /// Tells whether a segment may be of a recorded run, as far as the others of the session show. A run that
    /// knows no session is not joined at once: another session may fit as well.
    pub(super) fn is_of(
        &self,
        store: &Store,
        run: &RunId,
        account: Account<'_>,
    ) -> Result<bool, StoreError> {
        let known = self.recorded.iter().find(|(known, _)| known == run);
        let fit = match known {
            Some((_, run)) => account.fit_alone(run),
            None => account.fit_alone(&Evidence::of_run(store, run)?),
        };
        Ok(fit != Fit::No)
    }

    /// Finds the one recorded run that a segment is of, and takes it out.
    pub(super) fn recorded_as(&mut self, account: Account<'_>) -> RecordedToo {
        let fits: Vec<Fit> = self
            .recorded
            .iter()
            .map(|(_, run)| account.fit(run))
            .collect();
        let best = fits.iter().copied().max().unwrap_or(Fit::No);
        if best == Fit::No {
            return RecordedToo::Nowhere;
        }
        let places = fits.iter().enumerate().filter(|(_, fit)| **fit == best);
        let mut runs = places.filter_map(|(place, _)| Some((place, self.recorded.get(place)?)));
        let Some((place, (run, evidence))) = runs.next() else {
            return RecordedToo::Nowhere;
        };
        let others: Vec<&RunId> = runs.map(|(_, (run, _))| run).collect();
        if !others.is_empty() {
            let runs = std::iter::once(run).chain(others);
            return RecordedToo::Unclear(several_recorded(runs));
        }
        if account.fit_alone(evidence) == Fit::No {
            return RecordedToo::Unclear(several_histories(run));
        }
        RecordedToo::As(self.recorded.remove(place).0)
    }
}

/// Whether a segment was recorded, too.
#[derive(Debug)]
pub(super) enum RecordedToo {
    /// No recorded run fits it.
    Nowhere,
    /// It is of this run.
    As(RunId),
    /// It may be of a recorded run, and so may something else; for people.
    Unclear(String),
}

/// How many runs are named where there may be many.
pub(super) const MOST_NAMED: usize = 3;

/// Says that a history may be of several recorded runs.
pub(super) fn several_recorded<'a>(runs: impl Iterator<Item = &'a RunId>) -> String {
    let mut names: Vec<&str> = runs.take(MOST_NAMED + 1).map(RunId::as_str).collect();
    if names.len() > MOST_NAMED {
        names.truncate(MOST_NAMED);
        names.push("…");
    }
    let names = names.join(", ");
    format!("not joined: several recorded runs fit this history alike ({names})")
}

/// Says that a recorded run may be of several histories.
pub(super) fn several_histories(run: &RunId) -> String {
    format!("not joined: the recorded run {run} fits more than one history alike")
}
