//! Words that a CLI breaks over lines of text, since they are longer than its screen is wide.
//!
//! Such a word begins on a line of its own and fills it, and its rest begins the next one (so does Rich, which hermes prints with,
//! at 80 columns in a pipe). There may be a box around it. Only runtimes that do so are looked at: tokens in a list, each on a line of its
//! own and each cut short, would be taken for one.

use std::ops::Range;

/// The least number of bytes of a line that a broken word fills: no screen is narrower.
const LEAST: usize = 60;

/// Returns where a line is without its end and what a box puts around it.
pub(super) fn unboxed(line: &[u8]) -> Range<usize> {
    let mut start = 0;
    let mut end = line.len();
    while let Some(length) = line.get(start..end).and_then(|rest| side(rest, false)) {
        start += length;
    }
    while let Some(length) = line.get(start..end).and_then(|rest| side(rest, true)) {
        end -= length;
    }
    start..end
}

/// Returns how long what a box or a margin begins with is, or ends with.
fn side(rest: &[u8], is_end: bool) -> Option<usize> {
    let sides: [&[u8]; 6] = [b" ", b"\t", b"\r", b"\n", b"|", "│".as_bytes()];
    let mut sides = sides.into_iter();
    let found = sides.find(|side| {
        if is_end {
            rest.ends_with(side)
        } else {
            rest.starts_with(side)
        }
    });
    found.map(<[u8]>::len)
}

/// Tells whether a line of text may be one that a word fills, and goes on after.
pub(super) fn may_go_on(line: &[u8]) -> bool {
    let word = line.get(unboxed(line)).unwrap_or_default();
    word.len() >= LEAST && !word.iter().any(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_fills_a_line_is_told_from_other_lines() {
        let word = "a1B2".repeat(19);
        for (line, is_word) in [
            (format!("{word}\n"), true),
            (format!("    {word}    \r\n"), true),
            (format!("│ {word} │\n"), true),
            (format!("a {word}\n"), false),
            ("short\n".to_owned(), false),
            ("│                    │\n".to_owned(), false),
            (String::new(), false),
        ] {
            let line = line.as_bytes();
            assert_eq!(may_go_on(line), is_word, "{}", line.escape_ascii());
            if is_word {
                assert_eq!(&line[unboxed(line)], word.as_bytes());
            }
        }
    }
}
