//! What goes on right now, in a line that is written over: only where a person looks.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};

use super::FollowedRun;
use crate::terminal::console::Console;
use crate::terminal::fit::cut;
use crate::terminal::{plain, times};

/// A line on standard error that says what goes on.
pub(super) struct StatusLine {
    width: usize,
    is_wanted: bool,
    is_shown: bool,
}

impl StatusLine {
    pub(super) fn new(console: &Console<'_>) -> Self {
        let is_seen = console.is_terminal && std::io::stderr().is_terminal();
        Self {
            width: console.width,
            is_wanted: is_seen && !console.json,
            is_shown: false,
        }
    }

    /// Takes the line away before something else is written.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            // There is nobody left to tell where this cannot be written.
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }

    pub(super) fn show(&mut self, runs: &[FollowedRun]) {
        if !self.is_wanted {
            return;
        }
        let open: Vec<&FollowedRun> = runs.iter().filter(|run| !run.has_ended()).collect();
        let text = match open.as_slice() {
            [] => "waiting for runs".to_owned(),
            [run] => text(run, times::now()),
            several => format!("{} runs go on", several.len()),
        };
        self.clear();
        let text = cut(&plain::one_line(&text), self.width.saturating_sub(1));
        let _ = write!(std::io::stderr(), "{text}");
        self.is_shown = true;
    }
}

/// Says for how long a run and its oldest call go on.
fn text(run: &FollowedRun, now: i64) -> String {
    let mut text = format!("running for {}", times::elapsed(run.started_at(), now));
    if let Some((tool, at)) = run.oldest_call() {
        // Writing to a string cannot fail.
        let _ = write!(text, ", {tool} for {}", times::elapsed(*at, now));
    }
    text
}
