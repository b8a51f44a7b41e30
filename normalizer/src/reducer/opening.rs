//! The beginning of a run whose output has nothing but a file's date, until a line tells a time.

use runtape_core::{Record, RecordKind};

use super::Reducer;
use super::run::Run;

/// How many lines may come without a time, and their bytes, until the file's date has to do.
const MOST_LINES: usize = 256;
const MOST_BYTES: usize = 1 << 20;

/// The first records of a run, without a time of their own.
#[derive(Debug, Default)]
pub(super) struct Opening {
    pub(super) records: Vec<Record>,
    lines: usize,
    bytes: usize,
}

impl Reducer {
    /// Holds the first records until a time is told.
    pub fn hold_opening(&mut self) {
        self.tape.opening = Some(Box::default());
    }

    /// Takes the time that the runtime told first, if it has told one, after a line of so many bytes.
    pub fn date_opening(&mut self, told: Option<i64>, line: usize) {
        let Some(opening) = &mut self.tape.opening else {
            return;
        };
        opening.lines += 1;
        opening.bytes = opening.bytes.saturating_add(line);
        if told.is_some() || opening.lines >= MOST_LINES || opening.bytes >= MOST_BYTES {
            self.release_opening(told);
        }
    }

    /// Gives out the first records, as of the time that was told first; else as of the file's date.
    pub(super) fn release_opening(&mut self, told: Option<i64>) {
        let Some(opening) = self.tape.opening.take() else {
            return;
        };
        let Some(began_at) = told.or(opening.records.first().map(|record| record.at)) else {
            return;
        };
        let date = |run: &mut Run| {
            run.earliest = began_at;
            run.latest = run.latest.max(began_at);
        };
        date(&mut self.root);
        self.children.each_run(date);
        let dated = opening.records.into_iter().map(|mut record| {
            if let RecordKind::Message(said) = &mut record.kind
                && said.message.timestamp() == Some(record.at)
            {
                said.message.set_timestamp(began_at);
            }
            record.at = began_at;
            record
        });
        self.tape.output.records.extend(dated);
    }
}
