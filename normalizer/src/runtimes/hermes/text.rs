//! Text that is printed line by line.

use crate::lines::Ending;

/// How many bytes of blank lines wait for the line that makes them part of the text. They are joined
/// text whose places are in the signals, and no held lines: a box has indentation and padding removed.
const MOST_BLANK: usize = 64 * 1024;

/// The longest error text that is gathered from lines.
pub(super) const MOST_ERROR: usize = 64 * 1024;

/// Tells how many carriage returns end a line: more for what `prompt_toolkit` printed.
///
/// A line that was cut off has no end to tell by and passes for any.
pub(super) fn rank(ending: Ending) -> u8 {
    match ending {
        Ending::Lf => 0,
        Ending::CrLf => 1,
        Ending::CrCrLf => 2,
        Ending::None => u8::MAX,
    }
}

/// Returns what stood between a line and its newline.
pub(super) fn returns(ending: Ending) -> &'static str {
    match ending {
        Ending::CrLf => "\r",
        Ending::CrCrLf => "\r\r",
        Ending::Lf | Ending::None => "",
    }
}

/// Tells whether a line shows nothing.
pub(super) fn is_blank(line: &str) -> bool {
    // Nearly every line ends the search at its first letter.
    match line.bytes().find(|byte| *byte != b' ') {
        None => true,
        Some(b'!'..=b'~') => false,
        Some(_) => line.trim().is_empty(),
    }
}

/// Joins the lines of a box without the blank ones at either end.
#[derive(Debug, Default)]
pub(super) struct Boxed {
    started: bool,
    /// What was not given out yet; what was given out, until the next line.
    held: String,
    given: bool,
    /// How much of it is sure: lines without indentation may be between the box's own.
    sure: usize,
}

impl Boxed {
    /// Takes a line and returns what it adds to the text. Blank lines wait for the next one.
    pub(super) fn push(&mut self, line: &str) -> Option<&str> {
        self.begin_line(line);
        self.sure = self.held.len();
        if is_blank(line) && self.held.len() <= MOST_BLANK {
            return None;
        }
        self.started = true;
        self.given = true;
        Some(&self.held)
    }

    /// Takes a line that is blank, and part of the text only if the text goes on after it.
    pub(super) fn push_unsure(&mut self) {
        let sure = if self.given { 0 } else { self.sure };
        self.begin_line("");
        self.sure = sure;
    }

    /// Drops what is unsure because something else came.
    pub(super) fn settle(&mut self) {
        if !self.given {
            self.held.truncate(self.sure);
        }
    }

    fn begin_line(&mut self, line: &str) {
        if self.given {
            self.held.clear();
            self.given = false;
        }
        if self.started {
            self.held.push('\n');
            self.held.push_str(line);
        } else if !is_blank(line) {
            self.held.push_str(line);
        }
    }
}

/// Joins lines as they are; the newline of the last one was the printer's.
#[derive(Debug, Default)]
pub(super) struct Plain {
    started: bool,
    /// The carriage returns that ended the line before.
    returns: &'static str,
    held: String,
}

impl Plain {
    /// Takes a line and returns what it adds to the text.
    pub(super) fn push(&mut self, line: &str, ending: Ending) -> &str {
        self.held.clear();
        if self.started {
            self.held.push_str(self.returns);
            self.held.push('\n');
        }
        self.started = true;
        self.returns = returns(ending);
        self.held.push_str(line);
        &self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(lines: &[&str]) -> String {
        let mut joined = Boxed::default();
        lines
            .iter()
            .filter_map(|line| joined.push(line).map(str::to_owned))
            .collect()
    }

    #[test]
    fn a_box_loses_blank_lines_at_its_ends_only() {
        assert_eq!(
            boxed(&["", "  ", "a", "", "    ", "  b ", "", ""]),
            "a\n\n    \n  b "
        );
        assert_eq!(boxed(&["", ""]), "");
    }

    #[test]
    fn unsure_lines_are_text_only_when_text_follows() {
        let mut joined = Boxed::default();
        assert_eq!(joined.push("a"), Some("a"));
        joined.push_unsure();
        assert_eq!(joined.push("b"), Some("\n\nb"));
        joined.push_unsure();
        joined.settle();
        assert_eq!(joined.push(""), None);
        joined.push_unsure();
        joined.settle();
        assert_eq!(joined.push("c"), Some("\n\nc"));
    }

    #[test]
    fn many_blank_lines_are_not_held_forever() {
        let mut joined = Boxed::default();
        joined.push("a");
        let given: usize = (0..MOST_BLANK * 3)
            .filter_map(|_| joined.push("").map(str::len))
            .sum();
        assert!(given >= MOST_BLANK * 2);
    }

    #[test]
    fn plain_text_keeps_every_byte_but_the_last_newline() {
        let mut plain = Plain::default();
        let mut text = String::new();
        let lines = [
            ("", Ending::Lf),
            ("a ", Ending::CrLf),
            ("", Ending::Lf),
            ("", Ending::Lf),
        ];
        for (line, ending) in lines {
            text.push_str(plain.push(line, ending));
        }
        assert_eq!(text, "\na \r\n\n");
    }
}
