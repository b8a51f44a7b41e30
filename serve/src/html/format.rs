//! Numbers for people, as the page's `format.js` writes them.

/// Writes a number with a comma at every third digit.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes dollars.
pub(super) fn cost(dollars: f64) -> String {
    if dollars >= 10.0 {
        format!("${dollars:.2}")
    } else {
        format!("${dollars:.4}")
    }
}

/// Writes how long a text or an image is.
#[expect(clippy::cast_precision_loss, reason = "one digit is shown of it")]
pub(super) fn bytes(bytes: usize) -> String {
    if bytes < 1 << 10 {
        format!("{bytes} B")
    } else if bytes < 1 << 20 {
        format!("{:.1} KiB", bytes as f64 / 1024.0)
    } else {
        format!("{:.1} MiB", bytes as f64 / 1024.0 / 1024.0)
    }
}

/// Writes how long a call took.
#[expect(
    clippy::cast_precision_loss,
    reason = "one digit is shown of a few seconds"
)]
pub(super) fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0 => format!("{milliseconds} ms"),
        1..10 => format!("{:.1} s", milliseconds as f64 / 1000.0),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        let counts = [0, 999, 1000, 1_234_567].map(count);
        assert_eq!(counts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.42, 10.0].map(cost), ["$0.4200", "$10.00"]);
        let lengths = [70, 1536, 5 << 20].map(bytes);
        assert_eq!(lengths, ["70 B", "1.5 KiB", "5.0 MiB"]);
        let durations = [7, 1500, 61_000, 7_260_000, 90_000_000].map(duration);
        assert_eq!(
            durations,
            ["7 ms", "1.5 s", "1 min 1 s", "2 h 1 min", "1 d 1 h"]
        );
    }
}
