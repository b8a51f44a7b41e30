//! Lines that were rows of a database.

use crate::times::seconds_to_millis;

/// What a reader's own notes to its parser name as their table.
pub(crate) const NOTE: &str = "runtape";

/// Returns the table that a line is a row of. Lines are written in one way and no other.
pub(crate) fn table_of(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(b"{\"table\":\"")?;
    let end = memchr::memchr(b'"', rest)?;
    let (table, rest) = rest.split_at_checked(end)?;
    let is_row = rest.starts_with(b"\",\"row\":{") && !table.contains(&b'\\');
    std::str::from_utf8(table).ok().filter(|_| is_row)
}

/// Turns seconds since 1970 into milliseconds.
pub(crate) fn millis(seconds: Option<f64>) -> Option<u64> {
    seconds_to_millis(seconds?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_its_table_or_is_none() {
        let of = |line: &'static str| table_of(line.as_bytes());
        assert_eq!(of(r#"{"table":"part","row":{"id":1}}"#), Some("part"));
        for line in [
            "",
            "{}",
            r#"{"table": "part","row":{}}"#,
            r#"{"table":"part","row":5}"#,
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        assert_eq!(millis(Some(1.5)), Some(1500));
        assert_eq!(millis(Some(-1.0)), None);
        assert_eq!(millis(Some(f64::NAN)), None);
    }
}
