//! What `hermes --worktree` prints around a run: the git worktree that it makes, and removes.
//!
//! Seen in 0.19. Plain lines with escapes also in a pipe, before the echo of the prompt and after
//! everything else, in quiet runs too.

use crate::escapes::strip_escapes;

/// The first line of a banner that tells of a worktree.
const CREATED: &str = "✓ Worktree created: ";

/// The first lines of a banner after which the run does not begin.
const FAILED: [&str; 2] = [
    "✗ --worktree requires being inside a git repository.",
    "✗ Failed to create worktree: ",
];

/// Lines that may follow within a banner.
const FURTHER: [&str; 4] = [
    "  Branch: hermes/",
    "  Base:   ",
    "  cd into your project repo first",
    "  To clean up manually: git worktree remove ",
];

/// The first lines of what is printed at the end.
const REMOVED: [&str; 2] = [
    "✓ Worktree cleaned up: ",
    "⚠ Worktree has unpushed commits, keeping: ",
];

/// How far the lines before a run were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    #[default]
    Outside,
    InBanner,
}

/// The lines about the worktree before a run.
#[derive(Debug, Default)]
pub(super) struct WorktreeBanner {
    progress: Progress,
    was_created: bool,
    /// Why no worktree could be made.
    pub(super) error: Option<String>,
}

impl WorktreeBanner {
    /// Tells whether a worktree was made: the end of the output tells of it, too.
    pub(super) fn was_created(&self) -> bool {
        self.was_created
    }

    /// Takes a line before the run, without escapes; `false` if it is no part of a banner.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let has_failed = FAILED.iter().any(|start| line.starts_with(start));
        let is_part = match self.progress {
            _ if line.starts_with(CREATED) || has_failed => true,
            Progress::InBanner => is_further(line),
            Progress::Outside => false,
        };
        self.progress = if is_part {
            Progress::InBanner
        } else {
            Progress::Outside
        };
        self.was_created |= is_part && line.starts_with(CREATED);
        if has_failed {
            self.error = Some(line.trim_start_matches("✗ ").to_owned());
        }
        is_part
    }
}

fn is_further(line: &str) -> bool {
    FURTHER.iter().any(|start| line.starts_with(start))
}

fn is_end(line: &str) -> bool {
    REMOVED.iter().any(|start| line.starts_with(start))
}

/// Tells whether a line without escapes tells of a worktree, at whatever time.
pub(super) fn is_line(line: &str) -> bool {
    is_end(line) || line.starts_with(FURTHER[3])
}

/// Cuts off what is printed of the worktree after an answer, and returns it.
pub(super) fn split_end(text: &mut String) -> Option<String> {
    let line_start = |text: &str| text.rfind('\n').map_or(0, |at| at + 1);
    let last = line_start(text);
    let shown = strip_escapes(text.get(last..)?).into_owned();
    let mut from = last;
    if shown.starts_with(FURTHER[3]) {
        from = line_start(text.get(..last.checked_sub(1)?)?);
    }
    let ended = text.get(from..)?;
    if !is_end(&strip_escapes(ended)) {
        return None;
    }
    let told = strip_escapes(ended).into_owned();
    text.truncate(from.saturating_sub(1));
    // hermes prints a blank line before the longer form.
    if from != last && text.ends_with('\n') {
        text.pop();
    }
    Some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banner_ends_with_the_first_other_line() {
        let mut banner = WorktreeBanner::default();
        let lines = [
            ("✓ Worktree created: /ws/.worktrees/hermes-1", true),
            ("  Branch: hermes/hermes-1", true),
            ("  Base:   HEAD (local)", true),
            ("Query: x", false),
            ("  Base:   HEAD (local)", false),
        ];
        for (line, is_part) in lines {
            assert_eq!(banner.take(line), is_part, "{line}");
        }
        assert!(banner.was_created() && banner.error.is_none());
    }

    #[test]
    fn a_worktree_that_could_not_be_made_is_an_error() {
        let mut banner = WorktreeBanner::default();
        assert!(banner.take("✗ --worktree requires being inside a git repository."));
        assert!(banner.take("  cd into your project repo first, then run hermes -w"));
        assert_eq!(
            banner.error.as_deref(),
            Some("--worktree requires being inside a git repository.")
        );
    }

    #[test]
    fn the_end_is_cut_from_an_answer() {
        let cleaned = "\u{1b}[32m✓ Worktree cleaned up: /ws/.worktrees/hermes-1\u{1b}[0m";
        let kept = "\u{1b}[33m⚠ Worktree has unpushed commits, keeping: /ws/x\u{1b}[0m\n  To clean up manually: git worktree remove --force /ws/x";
        let table = [
            (format!("An answer.\n{cleaned}"), "An answer.", true),
            (format!("An\nanswer.\n\n{kept}"), "An\nanswer.", true),
            (cleaned.to_owned(), "", true),
            ("An answer.".to_owned(), "An answer.", false),
        ];
        for (mut text, answer, is_cut) in table {
            assert_eq!(split_end(&mut text).is_some(), is_cut, "{text}");
            assert_eq!(text, answer);
        }
    }
}
