//! Times as runtimes print them.

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
        let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
        (tens < 10 && ones < 10).then(|| i64::from(tens * 10 + ones))
    };
    let year = two(y0, y1)? * 100 + two(y2, y3)?;
    let (month, day) = (two(m0, m1)?, two(d0, d1)?);
    let (hour, minute, second) = (two(h0, h1)?, two(n0, n1)?, two(s0, s1)?);
    let millis = two(f0, f1)? * 10 + two(&b'0', f2)?;
    // A leap second, and what is no time at all, is left to those who know about such things.
    if !(1970..).contains(&year) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_since_1970(year, month, day)?;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000 + millis)
}

fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let february = if leap { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let before = usize::try_from(month).ok()?.checked_sub(1)?;
    if !(1..=*lengths.get(before)?).contains(&day) {
        return None;
    }
    let leap_days = |year: i64| year / 4 - year / 100 + year / 400;
    let years = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    Some(years + lengths.iter().take(before).sum::<i64>() + day - 1)
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
