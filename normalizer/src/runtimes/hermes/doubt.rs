//! Lines in an open reasoning box that may be hermes' own.
//!
//! Reasoning has no indentation: up to the lower border everything is reasoning. But a run that
//! fails while the model thinks leaves its box open, and the report follows. Which it was is known
//! when the border comes, or does not.

use super::borders::is_panel_top;
use super::exit_summary::ExitSummary;
use super::report;
use crate::lines::Ending;
use crate::parser::SignalSink;
use crate::signal::Place;

/// The most bytes that are held in doubt. A report has some dozen lines.
const MOST: usize = 64 * 1024;

/// Lines that are either reasoning or what came after it.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    lines: Vec<(Place, String, Ending)>,
    length: usize,
}

impl Doubt {
    /// Tells whether a line may be the first one after reasoning that was never closed.
    pub(super) fn begins_with(line: &str) -> bool {
        report::is_head(line) || is_panel_top(line) || ExitSummary::begins_with(line)
    }

    /// Takes a line; `false` if these are too many to be a report.
    pub(super) fn push(&mut self, line: &str, ending: Ending, place: Place) -> bool {
        self.length += line.len() + size_of::<(Place, String, Ending)>();
        self.lines.push((place, line.to_owned(), ending));
        self.length <= MOST
    }

    /// Hands out the lines, each with a sink for its place.
    pub(super) fn replay(
        self,
        out: &mut SignalSink<'_>,
        mut each: impl FnMut(&str, Ending, &mut SignalSink<'_>),
    ) {
        for (place, line, ending) in self.lines {
            each(&line, ending, &mut out.at(place));
        }
    }
}
