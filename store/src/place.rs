//! Places: a run's key and a number within the run, in one integer.

use crate::error::{Result, StoreError};

/// Puts a run's key and a number within the run together.
pub(crate) fn place(run: i64, number: u64) -> Result<i64> {
    let number = u32::try_from(number).ok();
    let upper = i32::try_from(run).ok().filter(|run| *run >= 0);
    match (upper, number) {
        (Some(_), Some(number)) => Ok((run << 32) | i64::from(number)),
        _ => Err(StoreError::damaged(
            format!("run with key {run}"),
            "a run holds at most 4 billion records, a database 2 billion runs",
        )),
    }
}

/// Returns the first and last place of a run.
pub(crate) fn range(run: i64) -> (i64, i64) {
    (run << 32, (run << 32) | 0xffff_ffff)
}

/// Returns the run's key and the number within the run.
pub(crate) fn split(place: i64) -> (i64, u64) {
    (place >> 32, place.cast_unsigned() & 0xffff_ffff)
}

/// Reads a column that is never negative; a damaged one is as good as none.
pub(crate) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Reads a column that is never negative; a damaged one is an error.
pub(crate) fn not_negative(column: usize, value: i64) -> rusqlite::Result<u64> {
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// Writes a number into a column; what is larger than a column holds was never counted.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Writes the sum of a column as `sum` has it, but for a sum that no column holds: that one is as
/// large as can be, where `sum` would fail the whole query. Beyond 2^53 it is not exact.
pub(crate) fn bounded_sum(column: &str) -> String {
    format!(
        "CASE WHEN count({column}) > 0
            THEN CAST(min(max(total({column}), -9.2e18), 9.2e18) AS INTEGER) END"
    )
}

/// The four counters, as columns are named.
pub(crate) const COUNTERS: [&str; 4] = [
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cached_input_tokens",
];

/// Writes what counts of a run's usage, as the view `v_runs` has it: what its columns say, unless
/// other runs of the same session may have reported some of it, too.
pub(crate) fn counted_of_run(counter: &str) -> String {
    format!(
        "CASE WHEN run.session IS NULL OR run.{counter} IS NULL OR NOT EXISTS (
            SELECT 1 FROM run AS other WHERE other.session = run.session AND other.key <> run.key
         ) THEN run.{counter} ELSE (
            SELECT CAST(min(max(total(entry.{counter}), -9.2e18), 9.2e18) AS INTEGER)
            FROM v_usage AS entry WHERE entry.run_id = run.id AND NOT entry.is_repeated
         ) END"
    )
}

/// Writes such sums of the four counters of a table.
pub(crate) fn bounded_counts(table: &str) -> String {
    COUNTERS
        .map(|counter| bounded_sum(&format!("{table}.{counter}")))
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_apart_again() {
        for (run, number) in [(1, 0), (1, 4_294_967_295), (2_147_483_647, 7)] {
            let place = place(run, number).unwrap();
            assert_eq!(split(place), (run, number));
            let (first, last) = range(run);
            assert!(first <= place && place <= last);
        }
        assert!(place(1, 1 << 32).is_err());
        assert!(place(1 << 31, 0).is_err());
    }
}
