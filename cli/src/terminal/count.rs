//! Numbers in few characters.

/// The number from which on shortening saves anything: 9,999 is as long as 10.0K.
const SHORTENED_FROM: u64 = 10_000;

/// Units, each a thousand times the one before.
const UNITS: [&str; 6] = ["K", "M", "B", "T", "P", "E"];

/// Writes a number in three digits and a unit, if that is shorter: `49.4M`.
pub(crate) fn short_count(number: i64) -> Option<String> {
    let magnitude = number.unsigned_abs();
    if magnitude < SHORTENED_FROM {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = magnitude as f64;
    let mut text = String::new();
    for unit in UNITS {
        value /= 1000.0;
        // 999.6 would be written with four digits: it is 1.00 of the next unit.
        if value < 999.5 || unit == "E" {
            let digits = match value {
                value if value < 9.995 => 2,
                value if value < 99.95 => 1,
                _ => 0,
            };
            text = format!("{value:.digits$}{unit}");
            break;
        }
    }
    let sign = if number < 0 { "-" } else { "" };
    Some(format!("{sign}{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_have_three_digits_and_a_unit() {
        let table = [
            (9_999, None),
            (10_000, Some("10.0K")),
            (434_000, Some("434K")),
            (999_499, Some("999K")),
            (999_500, Some("1.00M")),
            (49_400_000, Some("49.4M")),
            (1_270_000_000, Some("1.27B")),
            (-9_999_999, Some("-10.0M")),
            (i64::MAX, Some("9.22E")),
            (i64::MIN, Some("-9.22E")),
        ];
        for (number, expected) in table {
            assert_eq!(short_count(number).as_deref(), expected, "{number}");
        }
    }
}
