//! A run, or a place in it: `RUN`, `RUN:STEP` or `RUN#RECORD`.

use runtape_core::{Record, RecordKind, RunId};
use runtape_store::Store;

use crate::database::resolve_run;
use crate::error::CliError;

/// A run, or a place in it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) run: RunId,
    pub(crate) part: RunPart,
}

/// Which part of a run is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunPart {
    /// All of it.
    Whole,
    /// What belongs to a step.
    Step(u64),
    /// One record.
    Record(u64),
}

impl Place {
    /// Tells whether a text names a part of a run.
    pub(crate) fn is_part(text: &str) -> bool {
        text.contains([':', '#'])
    }

    /// Finds what a text names.
    pub(crate) fn resolve(store: &Store, text: &str) -> Result<Self, CliError> {
        let number = |digits: &str, what: &str, example: &str| {
            digits.parse::<u64>().map_err(|_| CliError::Usage {
                message: format!("{digits:?} is no {what}: write {example}"),
            })
        };
        let (run, part) = if let Some((run, seq)) = text.rsplit_once('#') {
            (run, RunPart::Record(number(seq, "record", "RUN#17")?))
        } else if let Some((run, step)) = text.rsplit_once(':') {
            (run, RunPart::Step(number(step, "step", "RUN:3")?))
        } else {
            (text, RunPart::Whole)
        };
        let run = resolve_run(store, run)?;
        Ok(Self { run, part })
    }

    /// Calls `each` with the records of the run, and whether they are part of it. It is an
    /// error if none is.
    pub(crate) fn each_record(
        &self,
        store: &Store,
        mut each: impl FnMut(Record, bool) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let (mut is_found, mut failed) = (false, None);
        store.each_record(&self.run, 0, |record| {
            let is_part = self.has(&record);
            is_found |= is_part;
            failed = each(record, is_part).err();
            failed.is_none()
        })?;
        match failed {
            Some(error) => Err(error),
            None if is_found => Ok(()),
            None => Err(self.not_found()),
        }
    }

    /// Tells whether a record is part of it.
    fn has(&self, record: &Record) -> bool {
        match self.part {
            RunPart::Whole => true,
            RunPart::Step(step) => step_of(record) == Some(step),
            RunPart::Record(seq) => record.seq == seq,
        }
    }

    /// Says that there is no such place.
    fn not_found(&self) -> CliError {
        let run = &self.run;
        let what = match self.part {
            RunPart::Whole => format!("run {run}"),
            RunPart::Step(step) => format!("step {step} of run {run}"),
            RunPart::Record(seq) => format!("record {seq} of run {run}"),
        };
        CliError::NotFound { what }
    }
}

/// Returns the step that a record belongs to.
pub(crate) fn step_of(record: &Record) -> Option<u64> {
    match &record.kind {
        RecordKind::Message(message) => Some(message.step),
        RecordKind::Usage(usage) => usage.step,
        RecordKind::Checkpoint(head) => Some(head.step),
        RecordKind::Event(event) => Some(event.step),
        _ => None,
    }
}
