//! Times as runtimes print them.

use crate::bounds;

/// What the clock of an agent has told in one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToldTimes {
    first: Option<i64>,
    last: Option<i64>,
    count: u64,
    /// A time cannot be one, or is of a clock that was not set.
    has_wrong: bool,
}

impl ToldTimes {
    /// Takes the next time.
    pub(crate) fn push(&mut self, at: i64) {
        self.first.get_or_insert(at);
        self.last = Some(at);
        self.count += 1;
        self.has_wrong |= at < bounds::FIRST_SET;
    }

    /// Notes a time that cannot be one.
    pub(crate) fn refuse(&mut self) {
        self.has_wrong = true;
    }

    /// Returns the time that was told first.
    pub(crate) fn first(&self) -> Option<i64> {
        self.first
    }

    /// Returns the time that was told last: what has no time of its own happened then.
    pub(crate) fn last(&self) -> Option<i64> {
        self.last
    }

    /// Tells whether a run's duration follows from its times: there are two, in the lines that were read or because the
    /// run ended later than it began; each can be one; and the clock was not behind its beginning at the end.
    pub(crate) fn is_measure(&self, ends_later: bool) -> bool {
        let has_two = self.count > 1 || (self.count == 1 && ends_later);
        has_two && !self.has_wrong && self.first <= self.last
    }
}

/// Reads an ISO 8601 time with a zone that an agent's clock tells, in milliseconds since 1970, if it is taken.
pub(crate) fn told_millis(text: &str) -> Option<i64> {
    iso_millis(text).and_then(bounds::told_time)
}

/// Reads an ISO 8601 time with a zone, in milliseconds since 1970.
#[must_use]
pub fn iso_millis(text: &str) -> Option<i64> {
    if let Some(millis) = utc_millis(text.as_bytes()) {
        return Some(millis);
    }
    chrono::DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|time| time.timestamp_millis())
}

/// Turns seconds into milliseconds; none where that is no count.
pub(crate) fn seconds_to_millis(seconds: f64) -> Option<u64> {
    let millis = (seconds * 1000.0).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and in range, by the guard"
    )]
    let millis = (0.0..9e15).contains(&millis).then_some(millis as u64);
    millis
}

/// Reads what JavaScript's `toISOString` writes, and nothing else: `2026-11-16T00:11:42.469Z`.
///
/// Most runtimes print one on every line, and knowing where everything is makes it cheap.
fn utc_millis(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let [
        y0,
        y1,
        y2,
        y3,
        b'-',
        m0,
        m1,
        b'-',
        d0,
        d1,
        b'T',
        h0,
        h1,
        b':',
        n0,
        n1,
        b':',
        s0,
        s1,
        b'.',
        f0,
        f1,
        f2,
        b'Z',
    ] = text
    else {
        return None;
    };
    let two = |tens: &u8, ones: &u8| {
        i64::from(tens.wrapping_sub(b'0')) * 10 + i64::from(ones.wrapping_sub(b'0'))
    };
    let digits = [
        y0, y1, y2, y3, m0, m1, d0, d1, h0, h1, n0, n1, s0, s1, f0, f1, f2,
    ];
    // Without a way out: nearly always all of them are digits.
    let is_number = |all: bool, digit: &&u8| all & (digit.wrapping_sub(b'0') < 10);
    if !digits.iter().fold(true, is_number) {
        return None;
    }
    let year = two(y0, y1) * 100 + two(y2, y3);
    let (month, day) = (two(m0, m1), two(d0, d1));
    let (hour, minute, second) = (two(h0, h1), two(n0, n1), two(s0, s1));
    let millis = two(f0, f1) * 10 + two(&b'0', f2);
    // A leap second, and what is no time at all, is left to those who know about such things.
    if !(1970..).contains(&year) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_since_1970(year, month, day)?;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000 + millis)
}

/// How many days of a year, in which February has 28, come before each month, and before the next year.
const DAYS_BEFORE: [i64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let month = usize::try_from(month).ok()?;
    let before = *DAYS_BEFORE.get(month.checked_sub(1)?)?;
    let length = DAYS_BEFORE.get(month)? - before + i64::from(is_leap && month == 2);
    if !(1..=length).contains(&day) {
        return None;
    }
    let leap_days = |year: i64| year / 4 - year / 100 + year / 400;
    let years = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    Some(years + before + i64::from(is_leap && month > 2) + day - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn iso_times_become_milliseconds() {
        assert_eq!(iso_millis("1970-01-01T00:00:01.500Z"), Some(1500));
        assert_eq!(iso_millis("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(iso_millis("yesterday"), None);
    }

    fn slowly(text: &str) -> Option<i64> {
        let time = chrono::DateTime::parse_from_rfc3339(text).ok()?;
        Some(time.timestamp_millis())
    }

    proptest! {
        #[test]
        fn the_short_way_leads_to_the_same_time(
            (year, month, day) in (0..=9999, 0..=13, 0..=32),
            (hour, minute, second, millis) in (0..=24, 0..=60, 0..=60, 0..=999),
        ) {
            let text = format!(
                "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
            );
            prop_assert_eq!(iso_millis(&text), slowly(&text));
        }
    }
}
