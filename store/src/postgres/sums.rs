//! Sums in SQL.

/// Writes the sum of a column as `sum` has it, but for a sum that no column holds: that one is as large as can be.
pub(super) fn bounded_sum(column: &str) -> String {
    format!("runtape_sum(sum({column}))")
}

/// Writes a cost as thousand millionths of a dollar: whole numbers, whose sums are the same in any order.
pub(super) fn nanodollars(column: &str) -> String {
    format!("runtape_nanodollars({column})")
}

/// Writes the sum of costs in dollars.
pub(super) fn cost_sum(column: &str) -> String {
    let sum = bounded_sum(&nanodollars(column));
    format!("{sum}::double precision / 1e9::double precision")
}

/// The four counters, as columns are named.
pub(super) const COUNTERS: [&str; 4] = [
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cached_input_tokens",
];

/// Joins what counts of a run's usage, as the view `v_runs` has it: what its columns say, unless other runs of the same
/// session may have reported some of it, too.
pub(super) const COUNTED: &str =
    "JOIN counted_run AS counted ON counted.root_id = run.root_id AND counted.run_no = run.run_no";

/// Writes what counts of a run's usage, where [`COUNTED`] is joined.
pub(super) fn counted_of_run(counter: &str) -> String {
    format!("counted.{counter}")
}

/// Writes sums over runs of what counts of each one's usage, where [`COUNTED`] is joined.
pub(super) fn counted_of_runs() -> String {
    let sum = |counter: &str| bounded_sum(&counted_of_run(counter));
    COUNTERS.map(sum).join(", ")
}
