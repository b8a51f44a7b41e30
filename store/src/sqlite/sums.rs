//! Sums in SQL.

/// Writes the sum of a column as `sum` has it, but for a sum that no column holds: that one is as
/// large as can be, where `sum` would fail the whole query. Beyond 2^53 it is not exact.
pub(crate) fn bounded_sum(column: &str) -> String {
    format!(
        "CASE WHEN count({column}) > 0
            THEN CAST(min(max(total({column}), -9.2e18), 9.2e18) AS INTEGER) END"
    )
}

/// Writes a cost as thousand millionths of a dollar: whole numbers, whose sums are the same in any order.
pub(crate) fn nanodollars(column: &str) -> String {
    format!("CAST(round(min(max({column}, -1e9), 1e9) * 1e9) AS INTEGER)")
}

/// Writes the sum of costs in dollars.
pub(crate) fn cost_sum(column: &str) -> String {
    format!("{} / 1e9", bounded_sum(&nanodollars(column)))
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

/// Writes sums over runs of what counts of each one's usage.
pub(crate) fn counted_of_runs() -> String {
    let sum = |counter: &str| {
        let counted = counted_of_run(counter);
        format!(
            "CASE WHEN count(run.{counter}) > 0
                THEN CAST(min(max(total({counted}), -9.2e18), 9.2e18) AS INTEGER) END"
        )
    };
    COUNTERS.map(sum).join(", ")
}
