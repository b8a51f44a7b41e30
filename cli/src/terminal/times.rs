//! Times and durations: the clock, how people write them, and how they read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{
    DateTime, Datelike, Days, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc,
    Weekday,
};

/// Returns the time in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    millis(SystemTime::now())
}

/// Returns a time in milliseconds since 1970.
pub(crate) fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Writes a time for people: local, to the second.
pub(crate) fn local(at: i64) -> String {
    written(at, "%Y-%m-%d %H:%M:%S")
}

/// The same to the minute, for tables.
pub(crate) fn minute(at: i64) -> String {
    written(at, "%Y-%m-%d %H:%M")
}

fn written(at: i64, format: &str) -> String {
    let time: DateTime<Utc> = DateTime::from_timestamp_millis(at).unwrap_or_default();
    time.with_timezone(&Local).format(format).to_string()
}

/// Returns the local day of a time, counted from 1970.
pub(crate) fn local_day(at: i64) -> i64 {
    let time: DateTime<Utc> = DateTime::from_timestamp_millis(at).unwrap_or_default();
    let day = time.with_timezone(&Local).date_naive();
    i64::from(day.to_epoch_days())
}

/// Writes a duration for people.
pub(crate) fn duration(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    match milliseconds {
        ..1000 => format!("{milliseconds} ms"),
        1000..60_000 => format!("{seconds}.{} s", milliseconds % 1000 / 100),
        60_000..3_600_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Writes a duration for tables.
pub(crate) fn took(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    match milliseconds {
        ..1000 => format!("{milliseconds}ms"),
        1000..60_000 => format!("{seconds}.{}s", milliseconds % 1000 / 100),
        60_000..3_600_000 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// Writes how long ago a time was; of one that is a week ago or more, or still to come, the day.
pub(crate) fn ago(at: i64, now: i64) -> String {
    let seconds = now.saturating_sub(at).div_euclid(1000);
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        86_400..604_800 => format!("{}d ago", seconds / 86_400),
        _ => written(at, "%Y-%m-%d"),
    }
}

/// Writes how long ago something began, to the second.
pub(crate) fn elapsed(since: i64, now: i64) -> String {
    let milliseconds = now.saturating_sub(since).max(0);
    match milliseconds / 1000 {
        seconds @ ..60 => format!("{seconds} s"),
        _ => duration(milliseconds),
    }
}

/// Reads a duration as people write it: `90`, `90s`, `5m`, `2h`, `3d`, `1w`, `500ms`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    let scale = match unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => {
            return Err(format!(
                "unknown unit {unit:?}, expected ms, s, m, h, d or w"
            ));
        }
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number and a unit, like 90s, 5m or 2d".to_owned())?;
    Ok(Duration::from_millis(number.saturating_mul(scale)))
}

/// What a point in time may be, for whoever wrote none.
const EXPECTED: &str = "expected an age like 2d, a day like today or monday, a date like 2025-12-31, \
    a time like 14:30, or an ISO 8601 time";

/// Reads a point in time: an age (`2d`), a day (`yesterday`, `monday`), a local date, time, or both, or ISO 8601 with a zone.
pub(crate) fn parse_time(text: &str) -> Result<i64, String> {
    time_at(text, &Local::now()).ok_or_else(|| EXPECTED.to_owned())
}

/// Reads a point in time as it is meant at another one, in its zone.
fn time_at<Z: TimeZone>(text: &str, now: &DateTime<Z>) -> Option<i64> {
    if let Ok(age) = parse_duration(text)
        && !text.ends_with(|c: char| c.is_ascii_digit())
    {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        return Some(now.timestamp_millis().saturating_sub(age));
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.timestamp_millis());
    }
    let zone = now.timezone();
    let begin_of = |date: NaiveDate| begin_of(&zone, date.and_time(NaiveTime::MIN));
    if let Some(date) = named_day(text, now.date_naive()) {
        return begin_of(date);
    }
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return begin_of(date);
    }
    let times = ["%H:%M", "%H:%M:%S"];
    let mut times = times.into_iter();
    if let Some(time) = times.find_map(|format| NaiveTime::parse_from_str(text, format).ok()) {
        // The last time that it was so late.
        let days = [Some(now.date_naive()), now.date_naive().pred_opt()];
        let mut days = days.into_iter().flatten();
        return days.find_map(|day| {
            let at = self::begin_of(&zone, day.and_time(time))?;
            (at <= now.timestamp_millis()).then_some(at)
        });
    }
    let formats = [
        "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%d %H:%M",
        "%Y-%m-%dT%H:%M",
    ];
    let read = |format| NaiveDateTime::parse_from_str(text, format).ok();
    self::begin_of(&zone, formats.into_iter().find_map(read)?)
}

/// Returns the day that a word names: of a day of the week the last one, which may be today.
fn named_day(text: &str, today: NaiveDate) -> Option<NaiveDate> {
    if text.eq_ignore_ascii_case("today") {
        return Some(today);
    }
    if text.eq_ignore_ascii_case("yesterday") {
        return today.pred_opt();
    }
    let day: Weekday = text.parse().ok()?;
    today.checked_sub_days(Days::new(today.weekday().days_since(day).into()))
}

/// Returns when a local time begins. One that the clock skipped, as it may at midnight, begins with the next one that there is.
fn begin_of<Z: TimeZone>(zone: &Z, at: NaiveDateTime) -> Option<i64> {
    /// Quarters of an hour that a clock may be set forward at once: a little more than a day.
    const QUARTERS: i64 = 100;
    let mut later =
        (0..QUARTERS).map_while(|number| at.checked_add_signed(TimeDelta::minutes(15 * number)));
    let time = later.find_map(|at| zone.from_local_datetime(&at).earliest())?;
    Some(time.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;

    #[test]
    fn durations_are_read_and_written() {
        assert_eq!(parse_duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("2d"), Ok(Duration::from_secs(172_800)));
        assert!(parse_duration("soon").is_err() && parse_duration("3y").is_err());
        assert_eq!(duration(950), "950 ms");
        assert_eq!(duration(2630), "2.6 s");
        assert_eq!(duration(61_000), "1 min 1 s");
        assert_eq!(duration(7_260_000), "2 h 1 min");
        assert_eq!(took(950), "950ms");
        assert_eq!(took(2630), "2.6s");
        assert_eq!(took(61_000), "1m01s");
        assert_eq!(took(7_260_000), "2h01m");
        let day = 86_400_000;
        assert_eq!(ago(5_000, 9_999), "4s ago");
        assert_eq!(ago(0, 3_599_000), "59m ago");
        assert_eq!(ago(0, day), "1d ago");
        assert_eq!(ago(100 * day, 107 * day).len(), "1970-04-11".len());
        assert_eq!(ago(100 * day, 99 * day).len(), "1970-04-11".len());
        assert_eq!(elapsed(1000, 9_999), "8 s");
        assert_eq!(elapsed(1000, 62_000), "1 min 1 s");
        assert_eq!(elapsed(1000, 0), "0 s");
    }

    #[test]
    fn times_are_read() {
        assert_eq!(parse_time("1970-01-01T00:00:01Z"), Ok(1000));
        assert!((now() - 3_600_000 - parse_time("1h").unwrap()).abs() < 10_000);
        assert!(parse_time("2025-01-02").is_ok() && parse_time("2025-01-02 03:04").is_ok());
        assert!(parse_time("yesterday").unwrap() < parse_time("today").unwrap());
        assert!(parse_time("tomorrow").is_err() && parse_time("").is_err());
    }

    #[test]
    fn words_are_read_as_where_the_person_is() {
        // A Thursday afternoon, two hours east of UTC.
        let zone = FixedOffset::east_opt(2 * 3600).unwrap();
        let now = zone.with_ymd_and_hms(2026, 11, 19, 15, 30, 0).unwrap();
        let table = [
            ("today", "2026-11-19T00:00:00+02:00"),
            ("Today", "2026-11-19T00:00:00+02:00"),
            ("yesterday", "2026-11-18T00:00:00+02:00"),
            ("thursday", "2026-11-19T00:00:00+02:00"),
            ("monday", "2026-11-16T00:00:00+02:00"),
            ("Friday", "2026-11-13T00:00:00+02:00"),
            ("sun", "2026-11-15T00:00:00+02:00"),
            ("3h", "2026-11-19T12:30:00+02:00"),
            ("7d", "2026-11-12T15:30:00+02:00"),
            ("2w", "2026-11-05T15:30:00+02:00"),
            ("15:30", "2026-11-19T15:30:00+02:00"),
            ("15:31", "2026-11-18T15:31:00+02:00"),
            ("09:05:07", "2026-11-19T09:05:07+02:00"),
            ("2026-02-28", "2026-02-28T00:00:00+02:00"),
            ("2026-02-28 01:02", "2026-02-28T01:02:00+02:00"),
            ("2026-02-28T01:02:03", "2026-02-28T01:02:03+02:00"),
            ("2026-02-28T01:02:03Z", "2026-02-28T03:02:03+02:00"),
        ];
        for (text, expected) in table {
            let expected = DateTime::parse_from_rfc3339(expected).unwrap();
            let read = time_at(text, &now);
            assert_eq!(read, Some(expected.timestamp_millis()), "{text}");
        }
        for text in ["", "12", "someday", "2026-02-30", "25:00", "1y", "-1d"] {
            assert_eq!(time_at(text, &now), None, "{text}");
        }
    }
}
