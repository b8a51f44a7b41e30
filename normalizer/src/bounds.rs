//! Numbers from outside, brought within bounds where they enter.
//!
//! What a runtime prints is added up over runs and databases, read by JavaScript, and shown as
//! dates. One absurd number must spoil none of that. Every signal passes `check` on its way into
//! the reducer, and every printed time passes [`time`]; what was out of bounds is brought back or
//! left out, and an `unparsed` record says so.

use std::ops::RangeInclusive;

use runtape_core::{RuntimeEventKind, TokenCounts};
use serde_json::Value;

use crate::signal::{Outcome, Signal};

/// The most tokens that are believed, 2^53: up to there every reader of JSON sees the same number.
pub const MOST_TOKENS: i64 = 1 << 53;

/// The longest time that something may have taken, in milliseconds: as for tokens.
pub const LONGEST: u64 = 1 << 53;

/// The most US dollars that are believed: a run does not cost a thousand million.
pub const MOST_DOLLARS: f64 = 1e9;

/// Times that are believed, in milliseconds since 1970: up to the last year that has four digits.
pub const TIMES: RangeInclusive<i64> = 0..=253_402_300_799_999;

/// Returns a time if it is one that is believed.
#[must_use]
pub fn time(at: i64) -> Option<i64> {
    TIMES.contains(&at).then_some(at)
}

/// Times that are taken from an agent's clock, in milliseconds since 1970: up to the year 2099. A later one would put its run
/// before all others for ever.
pub const TOLD_TIMES: RangeInclusive<i64> = 0..=4_102_444_799_999;

/// The first time that a clock shows which was set, 2020: no agent is older.
pub const FIRST_SET: i64 = 1_577_836_800_000;

/// Returns a time that an agent's clock tells, if it is one that is taken.
#[must_use]
pub fn told_time(at: i64) -> Option<i64> {
    TOLD_TIMES.contains(&at).then_some(at)
}

/// Returns a time that was printed as a count, if it is one that is taken.
#[must_use]
pub fn told_count(at: u64) -> Option<i64> {
    told_time(count(at))
}

/// Takes a count as it was printed; what is too large stays too large for `check` to see.
#[must_use]
pub fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns what a count holds beyond a part of it, never less than nothing. Where either is too
/// large to be believed, so is this.
#[must_use]
pub fn beyond(whole: i64, part: i64) -> i64 {
    if whole.max(part) > MOST_TOKENS {
        i64::MAX
    } else {
        whole.saturating_sub(part).max(0)
    }
}

/// What was out of bounds in a signal.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) faults: Vec<String>,
    /// Nothing is left of the signal.
    pub(crate) is_void: bool,
}

/// Brings the numbers of a signal within bounds.
pub(crate) fn check(signal: &mut Signal<'_>) -> Checked {
    let mut checked = Checked::default();
    let faults = &mut checked.faults;
    match signal {
        Signal::Usage { counts, .. }
        | Signal::Total(counts)
        | Signal::RootTotal(counts)
        | Signal::SessionTotal(counts) => {
            check_counts(counts, faults);
        }
        Signal::Cost(cost) => {
            if cost.is_finite() && *cost >= 0.0 {
                if *cost > MOST_DOLLARS {
                    faults.push(format!("cost: {cost:e} is more than can be"));
                    *cost = MOST_DOLLARS;
                }
            } else {
                faults.push(format!("cost: {cost:e} is no amount"));
                checked.is_void = true;
            }
        }
        Signal::Result(outcome) => check_outcome(outcome, faults),
        Signal::ToolResult { duration_ms, .. } => check_duration("duration", duration_ms, faults),
        Signal::Metadata(key, value) => {
            if let Some(number) = value.as_u64().filter(|number| *number > LONGEST) {
                faults.push(format!("{key}: {number} is more than can be"));
                *value = LONGEST.into();
            }
        }
        Signal::Event(event) => check_event(event, faults),
        _ => {}
    }
    checked
}

fn check_counts(counts: &mut TokenCounts, faults: &mut Vec<String>) {
    let counters = [
        ("inputTokens", &mut counts.input_tokens),
        ("outputTokens", &mut counts.output_tokens),
        ("reasoningTokens", &mut counts.reasoning_tokens),
        ("cachedInputTokens", &mut counts.cached_input_tokens),
        ("cacheWriteTokens", &mut counts.cache_write_tokens),
        ("cacheWrite1hTokens", &mut counts.cache_write_1h_tokens),
    ];
    for (name, counter) in counters {
        match counter {
            Some(count) if *count > MOST_TOKENS => {
                faults.push(format!("{name}: more than can be counted"));
                *count = MOST_TOKENS;
            }
            Some(count) if *count < 0 => {
                faults.push(format!("{name}: {count} is no count"));
                *counter = None;
            }
            _ => {}
        }
    }
}

fn check_outcome(outcome: &mut Outcome<'_>, faults: &mut Vec<String>) {
    check_duration("duration", &mut outcome.duration_ms, faults);
    if let Some(error) = outcome.verdict.error_mut() {
        check_time("retryAt", &mut error.retry_at, faults);
    }
}

fn check_event(event: &mut RuntimeEventKind, faults: &mut Vec<String>) {
    match event {
        RuntimeEventKind::ApiRetry(retry) => {
            check_duration("attempt", &mut retry.attempt, faults);
            check_duration("maxAttempts", &mut retry.max_attempts, faults);
            check_duration("delayMs", &mut retry.delay_ms, faults);
        }
        RuntimeEventKind::RateLimit(limit) => {
            check_time("resetsAt", &mut limit.resets_at, faults);
        }
        RuntimeEventKind::Compaction(compaction) => {
            check_duration("preTokens", &mut compaction.pre_tokens, faults);
            check_duration("postTokens", &mut compaction.post_tokens, faults);
            check_duration("durationMs", &mut compaction.duration_ms, faults);
        }
        RuntimeEventKind::Connection(connection) => {
            check_duration("attempt", &mut connection.attempt, faults);
        }
        _ => {}
    }
}

fn check_duration(name: &str, duration: &mut Option<u64>, faults: &mut Vec<String>) {
    if let Some(number) = duration.filter(|number| *number > LONGEST) {
        faults.push(format!("{name}: {number} is more than can be"));
        *duration = Some(LONGEST);
    }
}

fn check_time(name: &str, at: &mut Option<i64>, faults: &mut Vec<String>) {
    if let Some(time) = at.filter(|at| !TIMES.contains(at)) {
        faults.push(format!("{name}: {time} is no time"));
        *at = None;
    }
}

/// Reads numbers out of values that have no wire struct, and remembers which were none.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) faults: Vec<String>,
}

impl Numbers {
    /// Returns the first of `keys` that holds a count: a whole number, zero or more.
    pub(crate) fn count(&mut self, object: &Value, keys: &[&str]) -> Option<i64> {
        keys.iter().find_map(|key| {
            let value = object.get(*key).filter(|value| !value.is_null())?;
            let count = whole(value);
            if count.is_none() {
                let shown: String = value.to_string().chars().take(40).collect();
                self.faults.push(format!("{key}: {shown} is no count"));
            }
            count.map(crate::bounds::count)
        })
    }

    /// Returns the first of `keys` that holds a time span in milliseconds.
    pub(crate) fn millis(&mut self, object: &Value, keys: &[&str]) -> Option<u64> {
        let count = self.count(object, keys)?;
        u64::try_from(count).ok()
    }
}

/// Reads a whole number that is not negative; what is beyond 64 bits is as large as can be.
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_number()?;
    crate::json::number::whole(number)
}

#[cfg(test)]
mod tests {
    use runtape_core::runtime_event::RateLimit;
    use serde_json::json;

    use super::*;
    use crate::signal::Verdict;

    #[test]
    fn what_is_within_bounds_stays_as_it_is() {
        let counts = TokenCounts {
            input_tokens: Some(0),
            output_tokens: Some(MOST_TOKENS),
            reasoning_tokens: None,
            cached_input_tokens: Some(5),
            ..TokenCounts::default()
        };
        for signal in [
            Signal::Total(counts),
            Signal::SessionTotal(counts),
            Signal::Cost(0.0),
            Signal::Cost(MOST_DOLLARS),
            Signal::Result(Outcome {
                duration_ms: Some(LONGEST),
                ..Outcome::of(Verdict::Success)
            }),
        ] {
            let mut seen = signal.clone();
            let checked = check(&mut seen);
            assert!(checked.faults.is_empty() && !checked.is_void, "{signal:?}");
            assert_eq!(seen, signal);
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_brought_back_or_left_out() {
        let counts = |input, output| TokenCounts {
            input_tokens: input,
            output_tokens: output,
            ..TokenCounts::default()
        };
        let mut signal = Signal::Total(counts(Some(i64::MAX), Some(-1)));
        assert_eq!(check(&mut signal).faults.len(), 2);
        assert_eq!(signal, Signal::Total(counts(Some(MOST_TOKENS), None)));
        for cost in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(check(&mut Signal::Cost(cost)).is_void, "{cost}");
        }
        let mut signal = Signal::Cost(1e308);
        assert_eq!(check(&mut signal).faults.len(), 1);
        assert_eq!(signal, Signal::Cost(MOST_DOLLARS));
        for at in [-1, i64::MIN, i64::MAX, TIMES.end() + 1] {
            let limit = RateLimit {
                status: "rejected".to_owned(),
                limit_type: None,
                resets_at: Some(at),
                utilization: None,
            };
            let mut signal = Signal::Event(limit.into());
            assert_eq!(check(&mut signal).faults.len(), 1);
            assert!(matches!(
                signal,
                Signal::Event(RuntimeEventKind::RateLimit(limit)) if limit.resets_at.is_none()
            ));
            assert_eq!(time(at), None);
        }
    }

    #[test]
    fn a_difference_of_what_cannot_be_is_not_believed() {
        assert_eq!(beyond(5, 3), 2);
        assert_eq!(beyond(3, 5), 0);
        assert!(beyond(i64::MAX, i64::MAX) > MOST_TOKENS);
        assert!(beyond(5, i64::MAX) > MOST_TOKENS);
    }

    #[test]
    fn numbers_that_are_none_are_remembered() {
        let usage = json!({"a": 5, "b": 5.0, "c": u64::MAX, "d": 1e308, "e": null,
            "f": -1, "g": "5", "h": 5.5, "i": "NaN", "j": true});
        let mut numbers = Numbers::default();
        let mut read = |key: &str| numbers.count(&usage, &[key]);
        assert_eq!([read("a"), read("b")], [Some(5), Some(5)]);
        assert_eq!([read("c"), read("d")], [Some(i64::MAX), Some(i64::MAX)]);
        assert_eq!([read("e"), read("missing")], [None, None]);
        for key in ["f", "g", "h", "i", "j"] {
            assert_eq!(read(key), None, "{key}");
        }
        assert_eq!(numbers.faults.len(), 5, "{:?}", numbers.faults);
        assert_eq!(numbers.count(&usage, &["g", "a"]), Some(5));
    }
}
