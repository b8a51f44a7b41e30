//! Times and durations: the clock, how people write them, and how they read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Local, NaiveDate, NaiveDateTime, TimeZone, Utc};

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

/// Reads a point in time: an age (`2d`), a local date or date and time, or ISO 8601 with a zone.
pub(crate) fn parse_time(text: &str) -> Result<i64, String> {
    if let Ok(age) = parse_duration(text)
        && !text.ends_with(|c: char| c.is_ascii_digit())
    {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        return Ok(now().saturating_sub(age));
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.timestamp_millis());
    }
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let at = date.and_then(|date| date.and_hms_opt(0, 0, 0)).or_else(|| {
        let formats = [
            "%Y-%m-%d %H:%M:%S",
            "%Y-%m-%dT%H:%M:%S",
            "%Y-%m-%d %H:%M",
            "%Y-%m-%dT%H:%M",
        ];
        let read = |format| NaiveDateTime::parse_from_str(text, format).ok();
        formats.into_iter().find_map(read)
    });
    at.and_then(|at| Local.from_local_datetime(&at).earliest())
        .map(|time| time.timestamp_millis())
        .ok_or_else(|| {
            "expected an age like 2d, a date like 2025-12-31, or an ISO 8601 time".to_owned()
        })
}

#[cfg(test)]
mod tests {
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
        assert!(parse_time("yesterday").is_err());
    }
}
