//! The order of times: nothing in a run is earlier than its beginning or later than its end, and none that a run started
//! ends after it.
//!
//! Records that were made elsewhere and came as they are have whatever times they have: only those that a parser of this
//! program made are held to this.

use runtape_core::report::FaultPlace;
use runtape_core::{PARSER_VERSION, Record, RecordKind, RunId};

use super::Verifier;

/// The times of the runs of a tree.
#[derive(Debug, Default)]
pub(super) struct TreeTimes {
    /// A parser of this program made the records.
    is_made_here: bool,
    /// When the root ended, if it did.
    root_ended_at: Option<i64>,
}

/// The times of one run.
#[derive(Debug, Default)]
pub(super) struct RunTimes {
    /// A parser that puts times in order made the records.
    is_parsed: bool,
    /// A record has a place on a tape, which records that came from elsewhere have not.
    has_place: bool,
    began_at: Option<i64>,
    /// The latest record, and its time.
    latest: Option<(u64, i64)>,
    ended_at: Option<i64>,
    /// The first record that is earlier than the run's beginning.
    too_early: Option<u64>,
}

impl RunTimes {
    /// Takes the next record.
    pub(super) fn push(&mut self, record: &Record) {
        let began_at = *self.began_at.get_or_insert(record.at);
        self.has_place |= record.span.is_some();
        if record.at < began_at {
            self.too_early.get_or_insert(record.seq);
        }
        if self.latest.is_none_or(|(_, at)| record.at > at) {
            self.latest = Some((record.seq, record.at));
        }
        if record.terminal().is_some() {
            self.ended_at = Some(record.at);
        }
        if let RecordKind::Metadata(patch) = &record.kind {
            self.is_parsed |= patch.set.parser_version() == Some(PARSER_VERSION);
        }
    }

    /// Returns the first record that is out of order, and how.
    fn fault(&self) -> Option<(u64, &'static str)> {
        if let Some(seq) = self.too_early {
            return Some((seq, "its time is before its run began"));
        }
        let ended_at = self.ended_at?;
        let (seq, _) = self.latest.filter(|(_, at)| *at > ended_at)?;
        Some((seq, "its time is after its run ended"))
    }
}

impl Verifier<'_> {
    /// Checks the times of a run of a tree; the root comes first.
    pub(super) fn times(&mut self, run_id: &RunId, is_root: bool, times: &RunTimes) {
        if is_root {
            self.tree_times = TreeTimes {
                is_made_here: times.is_parsed && times.has_place,
                root_ended_at: times.ended_at,
            };
        }
        if !self.tree_times.is_made_here {
            return;
        }
        if let Some((seq, fault)) = times.fault() {
            let run_id = run_id.clone();
            self.fault(FaultPlace::Record { run_id, seq }, fault);
        }
        let root_ended_at = self.tree_times.root_ended_at;
        if root_ended_at.is_some() && times.ended_at > root_ended_at {
            let run_id = run_id.clone();
            let fault = "it ended after the run that started it";
            self.fault(FaultPlace::Run { run_id }, fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use runtape_core::record::{CheckpointHead, MetadataPatch, Start};
    use runtape_core::{CheckpointStatus, Metadata, TokenCounts};

    use super::*;

    fn record(seq: u64, at: i64, kind: impl Into<RecordKind>) -> Record {
        Record {
            run_id: RunId::parse("r").unwrap(),
            seq,
            at,
            span: None,
            kind: kind.into(),
        }
    }

    fn fault(times: [i64; 3]) -> Option<(u64, &'static str)> {
        let [first, second, last] = times;
        let mut set = Metadata::default();
        set.set("parserVersion", PARSER_VERSION);
        let head = CheckpointHead {
            step: 1,
            status: CheckpointStatus::Completed,
            messages: 0,
            usage: TokenCounts::default(),
            step_usage: TokenCounts::default(),
            started_at: 0,
            pending: Vec::new(),
            text: None,
            error: None,
        };
        let mut times = RunTimes::default();
        times.push(&record(0, first, MetadataPatch { set }));
        times.push(&record(1, second, Start {}));
        times.push(&record(2, last, Box::new(head)));
        assert!(times.is_parsed);
        times.fault()
    }

    #[test]
    fn a_record_outside_its_run_is_named() {
        assert_eq!(fault([5, 5, 5]), None);
        assert_eq!(fault([5, 7, 9]), None);
        assert_eq!(
            fault([5, 4, 9]),
            Some((1, "its time is before its run began"))
        );
        assert_eq!(
            fault([5, 9, 7]),
            Some((1, "its time is after its run ended"))
        );
    }
}
