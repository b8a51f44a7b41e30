//! The diff that follows a call that wrote a file.

use super::text::is_blank;

/// The most bytes of a diff that are held. hermes prints 80 lines of one.
const MOST: usize = 1024 * 1024;

/// A diff that is being printed. It has no end mark; the counts of its hunks tell.
#[derive(Debug, Default)]
pub(super) struct Diff {
    text: String,
    /// Lines of the old and of the new file that are still to come in this hunk.
    old: u64,
    new: u64,
    over: bool,
}

impl Diff {
    /// Takes a line; `false` if it is none of the diff's.
    pub(super) fn take(&mut self, line: &str) -> bool {
        if self.over || self.text.len() > MOST || !self.belongs(line) {
            return false;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        true
    }

    fn belongs(&mut self, line: &str) -> bool {
        if line.starts_with("… omitted ") {
            self.over = true;
            return true;
        }
        if self.old == 0 && self.new == 0 {
            return self.opens(line) || line.starts_with("\\ No newline");
        }
        // A last line without a newline is glued to the next one, so that a count may stay open.
        let (old, new) = match line.as_bytes().first() {
            Some(b'-') if self.old > 0 => (1, 0),
            Some(b'+') if self.new > 0 => (0, 1),
            Some(b'\\') => (0, 0),
            Some(b' ') | None if self.old > 0 && self.new > 0 => (1, 1),
            _ => return (self.old == 0 || self.new == 0) && self.opens(line),
        };
        self.old = self.old.saturating_sub(old);
        self.new = self.new.saturating_sub(new);
        true
    }

    /// Takes a line that opens a hunk or names a file.
    fn opens(&mut self, line: &str) -> bool {
        match line.as_bytes().first() {
            Some(b'@') => self.open_hunk(line).is_some(),
            Some(_) if is_header(line) => {
                (self.old, self.new) = (0, 0);
                true
            }
            _ => false,
        }
    }

    fn open_hunk(&mut self, line: &str) -> Option<()> {
        let mut words = line.strip_prefix("@@ ")?.split(' ');
        self.old = count(words.next()?.strip_prefix('-')?)?;
        self.new = count(words.next()?.strip_prefix('+')?)?;
        Some(())
    }

    /// Tells whether a diff's header names the file at the end of `path`.
    pub(super) fn is_of(&self, path: &str) -> bool {
        let header = self.text.lines().next().unwrap_or_default();
        let Some((_, named)) = header.split_once(" → ") else {
            return false;
        };
        let named = named.strip_prefix("b/").unwrap_or(named);
        named == path
            || named
                .strip_suffix(path)
                .is_some_and(|before| before.ends_with('/'))
    }

    /// Returns the diff as it was printed.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

fn is_header(line: &str) -> bool {
    let Some((old, new)) = line.split_once(" → ") else {
        return false;
    };
    let side = |text: &str, mark: &str| text.starts_with(mark) || text == "/dev/null";
    !is_blank(new) && side(old, "a/") && (side(new, "b/") || new.contains(" → b/"))
}

fn count(range: &str) -> Option<u64> {
    match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => range.parse::<u64>().ok().map(|_| 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(lines: &[&str]) -> usize {
        let mut diff = Diff::default();
        lines.iter().take_while(|line| diff.take(line)).count()
    }

    #[test]
    fn a_diff_ends_where_its_hunks_are_full() {
        let lines = [
            "a/x → b/x",
            "@@ -1,4 +1,3 @@",
            "   ┊ 💻 $         not a call  0.1s",
            "-old",
            "-╭─ ⚕ Hermes ─╮",
            "+new",
            "  ┊ 💻 preparing nothing…",
            "  ┊ 🔎 preparing search_files…",
        ];
        assert_eq!(taken(&lines), 7);
    }

    #[test]
    fn a_diff_may_have_many_files_and_hunks() {
        let lines = [
            "a/x → b/x",
            "@@ -1 +1 @@",
            "-a",
            "+b",
            "\\ No newline at end of file",
            "@@ -9,0 +9,1 @@ fn f()",
            "+c",
            "a/y z → b/y z",
            "@@ -1,9 +1,9 @@",
            " one",
            "… omitted 7 diff line(s) across 1 additional file(s)/section(s)",
            " not ours",
        ];
        assert_eq!(taken(&lines), 11);
    }

    #[test]
    fn lines_glued_for_want_of_a_newline_do_not_swallow_what_follows() {
        let lines = [
            "a/x → b/x",
            "@@ -1,2 +1,2 @@",
            " a",
            "-b+c",
            "  ┊ 💻 preparing terminal…",
        ];
        assert_eq!(taken(&lines), 4);
    }

    #[test]
    fn a_broken_diff_gives_way() {
        assert_eq!(
            taken(&["a/x → b/x", "@@ -1,4 +1,4 @@", " a", "╭─ ⚕ Hermes ─╮"]),
            3
        );
        assert_eq!(taken(&["the answer → yes"]), 0);
        assert_eq!(taken(&["@@ what", ""]), 0);
    }

    #[test]
    fn a_diff_knows_its_file() {
        let mut diff = Diff::default();
        diff.take("a//home/dev/ws/notes.txt → b//home/dev/ws/notes.txt");
        assert!(diff.is_of("notes.txt"));
        assert!(diff.is_of("ws/notes.txt"));
        assert!(!diff.is_of("otes.txt"));
        assert!(!diff.is_of("x.txt"));
    }
}
