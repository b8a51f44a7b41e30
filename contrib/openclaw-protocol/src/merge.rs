//! Folding what the runtime has stored into what was heard live.

use std::collections::HashMap;

use serde::Serialize;

use super::candidates::{Candidate, Candidates};
use super::entry::TranscriptEntry;
use super::order::sort_transcript_entries;
use super::row::{Likeness, TranscriptRow};

/// A transcript with its history folded in, and what that took.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeTranscriptEntriesResult<T = TranscriptEntry> {
    /// The rows in order.
    pub entries: Vec<T>,
    /// How many history rows were new.
    pub merged_count: usize,
    /// How many live rows history confirmed by their content.
    pub confirmed_count: usize,
    /// How many of those could have been another row just as well.
    pub conflict_count: usize,
}

/// Folds history into live entries.
///
/// A history row confirms the live row of the same id, or else the row closest in time among those
/// with the same session, kind, role and text; one that matches none is added. Each live row is
/// matched by content once, and history never matches history. Rows as JSON values keep whatever
/// else they have, and do not get what they lack.
#[must_use]
pub fn merge_transcript_entries_with_history<T: TranscriptRow>(
    existing: Vec<T>,
    history: Vec<T>,
) -> MergeTranscriptEntriesResult<T> {
    let mut merge = Merge::new(existing);
    for entry in history {
        merge.fold(entry);
    }
    MergeTranscriptEntriesResult {
        entries: sort_transcript_entries(merge.rows),
        merged_count: merge.merged_count,
        confirmed_count: merge.confirmed_count,
        conflict_count: merge.conflict_count,
    }
}

struct Merge<T> {
    rows: Vec<T>,
    /// Rows by id, including the ids of history rows that were matched to them.
    row_by_id: HashMap<String, usize>,
    /// Live rows that history has not claimed yet.
    unclaimed: HashMap<Likeness, Candidates>,
    merged_count: usize,
    confirmed_count: usize,
    conflict_count: usize,
}

impl<T: TranscriptRow> Merge<T> {
    fn new(rows: Vec<T>) -> Self {
        let mut row_by_id = HashMap::new();
        let mut unclaimed: HashMap<_, Candidates> = HashMap::new();
        for (index, row) in rows.iter().enumerate() {
            row_by_id.insert(row.entry_id().into_owned(), index);
            if let Some(likeness) = row.likeness() {
                let candidates = unclaimed.entry(likeness).or_default();
                candidates.insert(Candidate::new(index, row));
            }
        }
        Self {
            rows,
            row_by_id,
            unclaimed,
            merged_count: 0,
            confirmed_count: 0,
            conflict_count: 0,
        }
    }

    fn fold(&mut self, history: T) {
        let entry_id = history.entry_id().into_owned();
        if let Some(index) = self.row_by_id.get(&entry_id).copied() {
            self.claim_known(index, &history);
            return;
        }
        let likeness = history.likeness();
        let candidates = likeness.and_then(|likeness| self.unclaimed.get_mut(&likeness));
        let several = candidates.as_ref().is_some_and(|group| group.len() > 1);
        let closest = candidates.and_then(|group| group.take_closest(history.timestamp_ms()));
        let index = if let Some(index) = closest {
            self.conflict_count += usize::from(several);
            self.confirmed_count += 1;
            if let Some(row) = self.rows.get_mut(index) {
                row.confirm(&history);
                row.take_run(&history);
            }
            index
        } else {
            self.merged_count += 1;
            self.rows.push(history);
            self.rows.len() - 1
        };
        self.row_by_id.insert(entry_id, index);
    }

    /// Confirms the row history names by id, whether or not it was claimed before.
    fn claim_known(&mut self, index: usize, history: &T) {
        let Some(row) = self.rows.get_mut(index) else {
            return;
        };
        // The time is part of how the candidate is found, so it goes before the time changes.
        let candidates = row
            .likeness()
            .and_then(|likeness| self.unclaimed.get_mut(&likeness));
        if let Some(candidates) = candidates {
            candidates.remove(Candidate::new(index, row));
        }
        row.confirm(history);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::entry::{TranscriptEntryRole, TranscriptEntrySource};
    use crate::transcript::{EntryLine, create_transcript_entry_from_line};

    fn row(id: &str, text: &str, timestamp_ms: Option<f64>, sequence_key: f64) -> TranscriptEntry {
        create_transcript_entry_from_line(&EntryLine {
            entry_id: Some(id),
            timestamp_ms,
            ..EntryLine::new(text, "s", TranscriptEntrySource::RuntimeChat, sequence_key)
        })
        .unwrap()
    }

    fn counts(result: &MergeTranscriptEntriesResult) -> [usize; 3] {
        [
            result.merged_count,
            result.confirmed_count,
            result.conflict_count,
        ]
    }

    fn confirmed(result: &MergeTranscriptEntriesResult) -> Vec<&str> {
        let confirmed = result.entries.iter().filter(|entry| entry.confirmed);
        confirmed.map(|entry| entry.entry_id.as_str()).collect()
    }

    #[test]
    fn a_known_id_confirms_without_counting() {
        let history = TranscriptEntry {
            run_id: Some("r".to_owned()),
            ..row("a", "other", Some(9.0), 5.0)
        };
        let result =
            merge_transcript_entries_with_history(vec![row("a", "x", None, 1.0)], vec![history]);
        assert_eq!(counts(&result), [0, 0, 0]);
        let expected = TranscriptEntry {
            confirmed: true,
            timestamp_ms: Some(9.0),
            ..row("a", "x", None, 1.0)
        };
        assert_eq!(result.entries, [expected]);
    }

    #[test]
    fn likeness_is_session_kind_role_and_comparable_text() {
        let live = || row("a", "x  y", Some(1.0), 1.0);
        let other_session = TranscriptEntry {
            session_key: "t".to_owned(),
            ..row("h", "x y", None, 0.0)
        };
        let other_role = TranscriptEntry {
            role: TranscriptEntryRole::System,
            ..row("h", "x y", None, 0.0)
        };
        let cases = [
            ("alike", row("h", " x\u{feff}y\n", None, 0.0), [0, 1, 0]),
            ("text", row("h", "x z", None, 0.0), [1, 0, 0]),
            ("kind and role", row("h", "> x y", None, 0.0), [1, 0, 0]),
            ("session", other_session, [1, 0, 0]),
            ("role", other_role, [1, 0, 0]),
        ];
        for (name, history, expected) in cases {
            let result = merge_transcript_entries_with_history(vec![live()], vec![history]);
            assert_eq!(counts(&result), expected, "{name}");
        }
    }

    #[test]
    fn a_match_takes_time_and_missing_run_from_history() {
        let run = |id: &str| Some(id.to_owned());
        let cases = [
            (None, Some(5.0), run("h"), Some(5.0), run("h")),
            (run("l"), None, run("h"), Some(1.0), run("l")),
        ];
        for (live_run, time, history_run, expected_time, expected_run) in cases {
            let live = TranscriptEntry {
                run_id: live_run,
                ..row("a", "x", Some(1.0), 1.0)
            };
            let history = TranscriptEntry {
                run_id: history_run,
                ..row("h", "x", time, 0.0)
            };
            let result = merge_transcript_entries_with_history(vec![live], vec![history]);
            assert_eq!(result.entries[0].entry_id, "a");
            assert_eq!(result.entries[0].timestamp_ms, expected_time);
            assert_eq!(result.entries[0].run_id, expected_run);
        }
    }

    #[test]
    fn a_choice_among_several_counts_as_a_conflict() {
        let live = vec![row("a", "x", Some(1.0), 1.0), row("b", "x", Some(9.0), 2.0)];
        let history = vec![row("h", "x", Some(8.0), 0.0), row("i", "x", Some(8.0), 0.0)];
        let result = merge_transcript_entries_with_history(live.clone(), history[..1].to_vec());
        assert_eq!(counts(&result), [0, 1, 1]);
        assert_eq!(confirmed(&result), ["b"]);
        let result = merge_transcript_entries_with_history(live, history);
        assert_eq!(counts(&result), [0, 2, 1]);
    }

    #[test]
    fn a_row_is_matched_once_and_then_known_by_both_ids() {
        let result = merge_transcript_entries_with_history(
            vec![row("a", "x", Some(1.0), 1.0)],
            vec![
                row("h", "x", Some(2.0), 0.0),
                row("h", "x", Some(3.0), 0.0),
                row("i", "x", Some(4.0), 0.0),
                row("j", "x", Some(5.0), 0.0),
            ],
        );
        assert_eq!(counts(&result), [2, 1, 0]);
        assert_eq!(result.entries[0].timestamp_ms, Some(3.0));
        let ids: Vec<_> = result.entries.iter().map(|entry| &entry.entry_id).collect();
        assert_eq!(ids, ["a", "i", "j"]);
    }

    #[test]
    fn a_row_confirmed_by_id_is_no_candidate_any_more() {
        let result = merge_transcript_entries_with_history(
            vec![row("a", "x", Some(1.0), 1.0)],
            vec![row("a", "x", Some(2.0), 0.0), row("h", "x", Some(2.0), 0.0)],
        );
        assert_eq!(counts(&result), [1, 0, 0]);
    }

    #[test]
    fn of_a_repeated_id_the_last_is_confirmed_and_the_first_shown() {
        let result = merge_transcript_entries_with_history(
            vec![row("a", "x", Some(1.0), 1.0), row("a", "x", Some(2.0), 2.0)],
            vec![row("a", "x", Some(3.0), 0.0)],
        );
        assert_eq!(confirmed(&result), [""; 0]);
        assert_eq!(result.entries, [row("a", "x", Some(1.0), 1.0)]);
    }

    #[test]
    fn one_line_thousands_of_times_merges_fast() {
        let rows = |prefix: &str| -> Vec<_> {
            let row = |index: u32| {
                let time = (!index.is_multiple_of(3)).then(|| f64::from(index / 500));
                row(&format!("{prefix}{index}"), "ok", time, f64::from(index))
            };
            (0..20_000).map(row).collect()
        };
        let (live, history) = (rows("a"), rows("h"));
        let started = Instant::now();
        let result = merge_transcript_entries_with_history(live, history);
        assert!(started.elapsed() < Duration::from_secs(10));
        assert_eq!(counts(&result), [0, 20_000, 19_999]);
    }
}
