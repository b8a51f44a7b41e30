//! Times as runtimes print them.

/// Reads an ISO 8601 time with a zone, in milliseconds since 1970.
#[must_use]
pub fn iso_millis(text: &str) -> Option<i64> {
    chrono::DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|time| time.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_times_become_milliseconds() {
        assert_eq!(iso_millis("1970-01-01T00:00:01.500Z"), Some(1500));
        assert_eq!(iso_millis("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(iso_millis("yesterday"), None);
    }
}
