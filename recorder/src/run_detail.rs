//! What is known of one run, put together from the store: for `show` and for those who serve it.

use runtape_core::report::{RawOutput, RunDetail};
use runtape_core::{Message, Record, RecordKind, RunId, Stream, UserPart};
use runtape_store::{Store, StoreError};

use crate::context_and_exit::{exit_info, redaction_info};
use crate::error::RecordError;
use crate::following::open_step;

/// Records read at a time on the way back from a run's end.
const PAGE: u64 = 64;

/// Gathers what is known of a run, with at most so many of its steps.
pub fn run_detail(store: &Store, run_id: &RunId, steps: usize) -> Result<RunDetail, RecordError> {
    let run = store.run(run_id)?;
    let tree = store.tree(run_id)?;
    let children = tree
        .into_iter()
        .filter(|child| child.parent_run_id.as_ref() == Some(run_id));
    let tape = store.tape_lengths(run_id)?;
    let root = run.root_run_id.as_ref().unwrap_or(run_id);
    let exit = store.exit(run_id)?;
    let redaction = match run.root_run_id {
        None => redaction_info(&store.begin_of(run_id)?.context, exit.as_ref()),
        Some(_) => None,
    };
    Ok(RunDetail {
        children: children.collect(),
        steps_ended: store.steps(run_id, 0, steps)?,
        query: query(store, run_id)?,
        final_text: final_text(store, run_id, run.records)?,
        exit: exit.as_ref().map(exit_info),
        stdin_bytes: tape.of(Stream::Stdin),
        stdout_bytes: tape.of(Stream::Stdout),
        stderr_bytes: tape.of(Stream::Stderr),
        origin: store.origin(root)?,
        redaction,
        open_step: open_step(store, &run)?,
        run,
    })
}

/// Returns what was asked: it is among the first records.
fn query(store: &Store, run_id: &RunId) -> Result<Option<String>, StoreError> {
    let mut found = None;
    store.each_record(run_id, 0, |record| {
        found = query_of(&record).map(str::to_owned);
        found.is_none()
    })?;
    Ok(found)
}

/// Returns what a record says was asked.
fn query_of(record: &Record) -> Option<&str> {
    match &record.kind {
        RecordKind::Initialize(initialize) => initialize.query.as_deref(),
        RecordKind::Message(message) => match &message.message {
            Message::UserMessage(user) => user.contents.iter().find_map(|part| match part {
                UserPart::TextPart(part) => Some(part.text.as_str()),
                _ => None,
            }),
            _ => None,
        },
        _ => None,
    }
}

/// What the model said in its last step, read from the end of the run on.
#[derive(Default)]
struct LastStep {
    step: Option<u64>,
    /// Its texts, the last one first.
    texts: Vec<String>,
    is_cut: bool,
}

impl LastStep {
    /// Takes the record before those that were taken; returns whether an earlier one may matter.
    fn take(&mut self, record: &Record) -> bool {
        let RecordKind::Message(message) = &record.kind else {
            return true;
        };
        let Message::ExpertMessage(expert) = &message.message else {
            return true;
        };
        if self.step.is_some_and(|step| step != message.step) {
            return false;
        }
        self.step = Some(message.step);
        self.is_cut |= message.cut;
        self.texts.push(expert.text());
        true
    }

    fn finish(mut self) -> Option<String> {
        self.step.filter(|_| !self.is_cut)?;
        self.texts.reverse();
        Some(self.texts.concat())
    }
}

/// Returns the answer of a run that has ended, as its summary has it; only its last step is read.
fn final_text(store: &Store, run: &RunId, records: u64) -> Result<Option<String>, StoreError> {
    let mut last = LastStep::default();
    let mut has_ended = false;
    let mut end = records;
    while end > 0 {
        let start = end.saturating_sub(PAGE);
        let count = usize::try_from(end - start).unwrap_or(usize::MAX);
        for record in store.records(run, start, count)?.iter().rev() {
            match record.terminal() {
                Some(head) if head.text.is_some() => return Ok(head.text.clone()),
                Some(_) => has_ended = true,
                None if !last.take(record) => return Ok(last.finish().filter(|_| has_ended)),
                None => {}
            }
        }
        end = start;
    }
    Ok(last.finish().filter(|_| has_ended))
}

/// The output that a record was made from, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordOutput {
    /// The output.
    Printed(RawOutput),
    /// There is no such record.
    NoRecord,
    /// Nothing was printed for it: it was made from the command line or the exit.
    NotPrinted,
    /// The tape is not there any more.
    NoTape,
}

/// Returns the output that a record was made from.
pub fn output_of_record(store: &Store, run: &RunId, seq: u64) -> Result<RecordOutput, StoreError> {
    let Some(record) = store.record(run, seq)? else {
        return Ok(RecordOutput::NoRecord);
    };
    let Some(span) = record.span else {
        return Ok(RecordOutput::NotPrinted);
    };
    let Some(bytes) = store.tape_of_record(run, seq)? else {
        return Ok(RecordOutput::NoTape);
    };
    let text = String::from_utf8_lossy(&bytes);
    Ok(RecordOutput::Printed(RawOutput {
        run_id: run.clone(),
        seq: Some(seq),
        stream: span.stream,
        start: span.start,
        end: span.start + bytes.len() as u64,
        is_exact: matches!(text, std::borrow::Cow::Borrowed(_)),
        text: text.into_owned(),
    }))
}
