//! Where the next page of a list begins, as a text that is nobody's business.

use std::fmt::Write;

use crate::problem::Problem;

/// Writes the cursor of a list: hexadecimal digits, so that no address has to escape it.
pub(crate) fn write(list: &str, mark: &str) -> String {
    let mut text = String::new();
    for byte in format!("{list} {mark}").bytes() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Reads the cursor that a list gave; one of another list is refused.
pub(crate) fn read(list: &str, cursor: &str) -> Result<String, Problem> {
    let refused = || {
        let shown: String = cursor.chars().take(80).collect();
        Problem::bad_request(format!(
            "bad page mark {shown:?}: use the one that came with the last page"
        ))
    };
    let digits = cursor.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair)
            .ok()
            .filter(|pair| pair.len() == 2);
        // A sign would be read as a part of the number.
        let pair = pair.filter(|pair| pair.bytes().all(|digit| digit.is_ascii_hexdigit()));
        u8::from_str_radix(pair?, 16).ok()
    });
    let bytes: Option<Vec<u8>> = digits.collect();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.ok_or_else(refused)?;
    let (of, mark) = text.split_once(' ').ok_or_else(refused)?;
    if of != list {
        return Err(refused());
    }
    Ok(mark.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_by_its_own_list_only() {
        let cursor = write("runs", "12.run-1");
        assert_eq!(read("runs", &cursor).unwrap(), "12.run-1");
        let half = cursor.get(1..).unwrap();
        for bad in [half, "", "zz", "+1", "ü", &write("jobs", "1.a")] {
            let problem = read("runs", bad).unwrap_err();
            assert!(problem.detail().starts_with("bad page mark"), "{bad:?}");
        }
    }
}
