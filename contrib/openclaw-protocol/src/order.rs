//! The order of a transcript, and whether two transcripts show the same.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::Value;

use super::entry::TranscriptEntry;
use super::json_text::stringify;
use super::row::TranscriptRow;
use super::timsort::sort;

/// What an entry is ordered by.
#[derive(Clone, Copy)]
struct SortKey {
    timestamp_ms: Option<f64>,
    sequence_key: f64,
    index: usize,
}

impl SortKey {
    /// Compares by time where both have one and they differ, else by sequence.
    ///
    /// Not transitive among entries with and without a time: see [`sort`].
    fn precedes(self, other: Self) -> bool {
        let by_time = self
            .timestamp_ms
            .zip(other.timestamp_ms)
            .and_then(|(own, others)| own.partial_cmp(&others));
        match by_time {
            Some(Ordering::Less) => true,
            Some(Ordering::Greater) => false,
            Some(Ordering::Equal) | None => self.sequence_key < other.sequence_key,
        }
    }
}

/// What a row of a transcript is put in order by. Nothing else of it is looked at.
pub trait Ordered {
    /// Returns what the row is known by: of two rows with the same id, the first is kept.
    fn entry_id(&self) -> Cow<'_, str>;

    /// Returns when it was said, in milliseconds since the epoch, where known.
    fn timestamp_ms(&self) -> Option<f64>;

    /// Returns its place among rows of the same moment; NaN if it has none.
    fn sequence_key(&self) -> f64;
}

impl Ordered for TranscriptEntry {
    fn entry_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.entry_id)
    }

    fn timestamp_ms(&self) -> Option<f64> {
        self.timestamp_ms
    }

    fn sequence_key(&self) -> f64 {
        self.sequence_key
    }
}

/// A row as JavaScript peers have it, whatever else is in it or missing.
impl Ordered for Value {
    fn entry_id(&self) -> Cow<'_, str> {
        match self.get("entryId") {
            Some(Self::String(id)) => Cow::Borrowed(id),
            // Rows without an id have the same one: none. No text begins like this.
            None => Cow::Borrowed("\u{0}"),
            Some(other) => Cow::Owned(format!("\u{0}{}", stringify(other))),
        }
    }

    fn timestamp_ms(&self) -> Option<f64> {
        self.get("timestampMs").and_then(Self::as_f64)
    }

    fn sequence_key(&self) -> f64 {
        let key = self.get("sequenceKey").and_then(Self::as_f64);
        key.unwrap_or(f64::NAN)
    }
}

/// Returns entries in order of time, then sequence, keeping the first of each id.
///
/// An entry without a time is compared by sequence alone. With times missing here and there that
/// is no consistent order, and the result is what JavaScript peers arrive at.
#[must_use]
pub fn sort_transcript_entries<T: Ordered>(mut entries: Vec<T>) -> Vec<T> {
    let mut seen = HashSet::new();
    let first: Vec<_> = entries
        .iter()
        .map(|entry| seen.insert(entry.entry_id()))
        .collect();
    drop(seen);
    let mut first = first.into_iter();
    entries.retain(|_| first.next().unwrap_or_default());
    let places: Vec<_> = entries
        .iter()
        .enumerate()
        .map(|(index, entry)| SortKey {
            timestamp_ms: entry
                .timestamp_ms()
                .filter(|timestamp| timestamp.is_finite()),
            sequence_key: entry.sequence_key(),
            index,
        })
        .collect();
    let mut entries: Vec<_> = entries.into_iter().map(Some).collect();
    sort(&places, SortKey::precedes)
        .into_iter()
        .filter_map(|place| entries.get_mut(place.index)?.take())
        .collect()
}

/// Returns the lines of a transcript, as JSON: null for a row that has none.
#[must_use]
pub fn build_output_lines_from_transcript_entries<T: TranscriptRow>(entries: &[T]) -> Vec<Value> {
    entries.iter().map(TranscriptRow::shown_text).collect()
}

/// Returns whether two transcripts show the same rows: ids, texts, times and confirmations.
#[must_use]
pub fn are_transcript_entries_equal<T: TranscriptRow>(left: &[T], right: &[T]) -> bool {
    let mut rows = left.iter().zip(right);
    left.len() == right.len() && rows.all(|(left, right)| left.shows_the_same(right))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::entry::TranscriptEntrySource;
    use crate::fnv1a;
    use crate::transcript::{EntryLine, create_transcript_entry_from_line};

    fn entry(id: &str, timestamp_ms: Option<f64>, sequence_key: f64) -> TranscriptEntry {
        create_transcript_entry_from_line(&EntryLine {
            entry_id: Some(id),
            timestamp_ms,
            ..EntryLine::new("x", "s", TranscriptEntrySource::RuntimeChat, sequence_key)
        })
        .unwrap()
    }

    fn ids(entries: &[TranscriptEntry]) -> Vec<&str> {
        entries
            .iter()
            .map(|entry| entry.entry_id.as_str())
            .collect()
    }

    /// Entries with times and sequences drawn from few values, a third of them without a time.
    fn mixed(count: usize, seed: u32) -> Vec<TranscriptEntry> {
        let mut state = seed;
        let mut draw = |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % bound
        };
        (0..count)
            .map(|index| {
                let timestamp_ms = (draw(3) > 0).then(|| f64::from(draw(40)));
                let sequence_key = f64::from(draw(40));
                entry(&index.to_string(), timestamp_ms, sequence_key)
            })
            .collect()
    }

    #[test]
    fn order_is_by_time_then_sequence_then_position() {
        let sorted = sort_transcript_entries(vec![
            entry("d", Some(7.0), 0.0),
            entry("b", Some(5.0), 2.0),
            entry("c", Some(5.0), 2.0),
            entry("a", Some(5.0), 1.5),
        ]);
        assert_eq!(ids(&sorted), ["a", "b", "c", "d"]);
    }

    #[test]
    fn the_first_of_an_id_stays() {
        let sorted = sort_transcript_entries(vec![
            entry("a", Some(9.0), 0.0),
            entry("b", Some(5.0), 0.0),
            entry("a", Some(1.0), 0.0),
        ]);
        assert_eq!(ids(&sorted), ["b", "a"]);
        assert_eq!(sorted[1].timestamp_ms, Some(9.0));
    }

    #[test]
    fn times_that_are_no_numbers_count_as_missing() {
        let sorted = sort_transcript_entries(vec![
            entry("a", None, 2.0),
            TranscriptEntry {
                timestamp_ms: Some(f64::NAN),
                ..entry("b", None, 1.0)
            },
        ]);
        assert_eq!(ids(&sorted), ["b", "a"]);
    }

    /// The hashes are of what a JavaScript engine makes of the same entries.
    #[test]
    fn missing_times_leave_the_order_a_javascript_engine_finds() {
        let cases = [
            (10, 1, "137a2d90"),
            (63, 2, "867fd4d0"),
            (64, 3, "3cbe5867"),
            (65, 4, "d5df3e19"),
            (200, 5, "b7e43567"),
            (1000, 6, "5776c2e3"),
            (5000, 7, "7533508b"),
            (20_000, 8, "3a410899"),
        ];
        for (count, seed, expected) in cases {
            let sorted = sort_transcript_entries(mixed(count, seed));
            assert_eq!(fnv1a(&ids(&sorted).join(",")), expected, "{count} {seed}");
        }
    }

    #[test]
    fn a_consistent_order_is_that_of_any_stable_sort() {
        for count in [0, 1, 2, 63, 64, 65, 500, 3000] {
            let entries: Vec<_> = mixed(count, 5)
                .into_iter()
                .filter(|entry| entry.timestamp_ms.is_some())
                .collect();
            let mut expected = entries.clone();
            expected.sort_by(|left, right| {
                (left.timestamp_ms, left.sequence_key)
                    .partial_cmp(&(right.timestamp_ms, right.sequence_key))
                    .unwrap()
            });
            assert_eq!(sort_transcript_entries(entries), expected, "{count}");
        }
    }

    #[test]
    fn many_entries_with_missing_times_sort_fast_and_whole() {
        let entries = mixed(20_000, 9);
        let started = Instant::now();
        let sorted = sort_transcript_entries(entries);
        assert!(started.elapsed() < Duration::from_secs(10));
        assert_eq!(sorted.len(), 20_000);
    }

    #[test]
    fn equality_looks_at_what_is_shown() {
        let base = || entry("a", Some(1.0), 1.0);
        let cases = [
            ("same", base(), true),
            ("sequence", entry("a", Some(1.0), 2.0), true),
            (
                "fingerprint",
                TranscriptEntry {
                    fingerprint: String::new(),
                    ..base()
                },
                true,
            ),
            ("id", entry("b", Some(1.0), 1.0), false),
            ("time", entry("a", Some(2.0), 1.0), false),
            ("no time", entry("a", None, 1.0), false),
            (
                "text",
                TranscriptEntry {
                    text: "x ".to_owned(),
                    ..base()
                },
                false,
            ),
            (
                "confirmed",
                TranscriptEntry {
                    confirmed: true,
                    ..base()
                },
                false,
            ),
        ];
        for (name, other, expected) in cases {
            assert_eq!(
                are_transcript_entries_equal(&[base()], &[other]),
                expected,
                "{name}"
            );
        }
        assert!(are_transcript_entries_equal::<TranscriptEntry>(&[], &[]));
        assert!(!are_transcript_entries_equal(&[base()], &[]));
    }
}
