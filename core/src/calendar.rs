//! Days, weeks and months as texts that sort by time.

use chrono::{Datelike, NaiveDate};

/// Days from the first of January of the year 1 to that of 1970, plus one: how chrono counts.
const BEFORE_1970: i64 = 719_163;

/// Returns the date of a day, counted from 1970; one beyond the calendar becomes its first or last day.
fn date(day: i64) -> NaiveDate {
    let number = i32::try_from(day.saturating_add(BEFORE_1970)).ok();
    let date = number.and_then(NaiveDate::from_num_days_from_ce_opt);
    date.unwrap_or(if day < 0 {
        NaiveDate::MIN
    } else {
        NaiveDate::MAX
    })
}

/// Returns the name of a day, counted from 1970: `2026-01-31`.
#[must_use]
pub fn day_name(day: i64) -> String {
    date(day).format("%Y-%m-%d").to_string()
}

/// Returns the name of a day's week by ISO 8601, from Monday on: `2026-W05`.
#[must_use]
pub fn week_name(day: i64) -> String {
    let week = date(day).iso_week();
    format!("{:04}-W{:02}", week.year(), week.week())
}

/// Returns the name of a day's month: `2026-01`.
#[must_use]
pub fn month_name(day: i64) -> String {
    date(day).format("%Y-%m").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_weeks_and_months_have_names() {
        let cases = [
            (0, "1970-01-01", "1970-W01", "1970-01"),
            (-1, "1969-12-31", "1970-W01", "1969-12"),
            (20_484, "2026-01-31", "2026-W05", "2026-01"),
            (20_453, "2025-12-31", "2026-W01", "2025-12"),
        ];
        for (day, name, week, month) in cases {
            assert_eq!(
                (
                    day_name(day).as_str(),
                    week_name(day).as_str(),
                    month_name(day).as_str()
                ),
                (name, week, month)
            );
        }
        assert!(day_name(i64::MAX).starts_with('+') && day_name(i64::MIN).starts_with('-'));
    }
}
