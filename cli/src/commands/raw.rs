//! `runtape raw`: the bytes that something was made from.

use std::borrow::Cow;
use std::ops::ControlFlow;

use clap::ValueEnum;
use runtape_core::report::RawOutput;
use runtape_core::{Materializer, RunId, Stream};
use runtape_store::{RunFilter, Store};

use crate::commands::Invocation;
use crate::database::resolve_run;
use crate::error::CliError;
use crate::terminal::plain;

/// Show the raw output that an event or record was made from, or all of a run's
///
/// On a terminal, control characters are made visible; in a pipe the bytes are as they came.
#[derive(Debug, clap::Args)]
pub(crate) struct RawArgs {
    /// RUN:RECORD, an event's id, or RUN for its whole tape
    #[arg(value_name = "EVENT")]
    event: String,
    /// The stream of a whole tape
    #[arg(long, value_enum, default_value_t = StreamName::Stdout)]
    stream: StreamName,
}

/// A stream by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StreamName {
    Stdout,
    Stderr,
    Stdin,
    History,
}

impl From<StreamName> for Stream {
    fn from(name: StreamName) -> Self {
        match name {
            StreamName::Stdout => Self::Stdout,
            StreamName::Stderr => Self::Stderr,
            StreamName::Stdin => Self::Stdin,
            StreamName::History => Self::History,
        }
    }
}

pub(crate) fn run(args: &RawArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let text = &args.event;
    let place = match text.split_once(':') {
        Some((run, seq)) => {
            let seq = seq.parse().map_err(|_| CliError::Usage {
                message: format!("{seq:?} is no record: write RUN:12"),
            })?;
            Some((resolve_run(&store, run)?, seq))
        }
        None => None,
    };
    if let Some((run, seq)) = place {
        return record(invocation, &store, &run, seq);
    }
    match resolve_run(&store, text) {
        Ok(run) => tape(invocation, &store, &run, args.stream.into()),
        Err(error @ CliError::UnknownRun { .. }) => match find_event(&store, text)? {
            Some((run, seq)) => record(invocation, &store, &run, seq),
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

fn record(
    invocation: &mut Invocation<'_>,
    store: &Store,
    run: &RunId,
    seq: u64,
) -> Result<(), CliError> {
    let record = store.record(run, seq)?.ok_or_else(|| CliError::NotFound {
        what: format!("record {seq} of run {run}"),
    })?;
    let span = record.span.ok_or_else(|| CliError::NotPrinted {
        record: format!("{run}:{seq}"),
    })?;
    refuse_dropped(store, run)?;
    let bytes = store
        .tape_of_record(run, seq)?
        .ok_or_else(|| CliError::NotFound {
            what: format!("the tape of run {run}"),
        })?;
    let position = TapePosition {
        seq: Some(seq),
        stream: span.stream,
        start: span.start,
    };
    write(invocation, run, &position, &bytes)
}

fn tape(
    invocation: &mut Invocation<'_>,
    store: &Store,
    run: &RunId,
    stream: Stream,
) -> Result<(), CliError> {
    refuse_dropped(store, run)?;
    let mut result = Ok(());
    // A character may lie across two pieces; its beginning waits for the rest.
    let mut held: Vec<u8> = Vec::new();
    store.each_tape_chunk(run, |chunk| {
        if chunk.stream == stream {
            let position = TapePosition {
                seq: None,
                stream,
                start: chunk.start - held.len() as u64,
            };
            let mut bytes = std::mem::take(&mut held);
            bytes.extend_from_slice(&chunk.bytes);
            held = bytes.split_off(whole_characters(&bytes));
            result = write(invocation, run, &position, &bytes);
        }
        result.is_ok()
    })?;
    result?;
    if held.is_empty() {
        return Ok(());
    }
    let length = store.tape_lengths(run)?.of(stream);
    let position = TapePosition {
        seq: None,
        stream,
        start: length.saturating_sub(held.len() as u64),
    };
    write(invocation, run, &position, &held)
}

/// Refuses to show nothing as if that had been printed.
fn refuse_dropped(store: &Store, run: &RunId) -> Result<(), CliError> {
    let root = store.run(run)?.root_run_id.unwrap_or_else(|| run.clone());
    if store.tape_lengths(&root)?.total() == 0 && store.was_tape_dropped(&root)? {
        return Err(CliError::TapeDropped { run: root });
    }
    Ok(())
}

/// Returns how many bytes there are before a last character that is cut off.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// Where raw output begins on the tape, and the record that was made of it.
struct TapePosition {
    seq: Option<u64>,
    stream: Stream,
    start: u64,
}

fn write(
    invocation: &mut Invocation<'_>,
    run: &RunId,
    position: &TapePosition,
    bytes: &[u8],
) -> Result<(), CliError> {
    let console = &mut invocation.console;
    if console.json {
        let text = String::from_utf8_lossy(bytes);
        return console.object(&RawOutput {
            run_id: run.clone(),
            seq: position.seq,
            stream: position.stream,
            start: position.start,
            end: position.start + bytes.len() as u64,
            is_exact: matches!(text, Cow::Borrowed(_)),
            text: text.into_owned(),
        });
    }
    if console.is_terminal {
        let text = String::from_utf8_lossy(bytes);
        return Ok(console.out.write_all(plain::lines(&text).as_bytes())?);
    }
    Ok(console.out.write_all(bytes)?)
}

/// Looks for an event's id, in the latest runs first: events are made on reading, so there is no
/// index of them.
fn find_event(store: &Store, id: &str) -> Result<Option<(RunId, u64)>, CliError> {
    let runs = store
        .runs(&RunFilter::default(), None, u32::MAX as usize)?
        .items;
    for run in runs {
        let mut materializer = Materializer::new();
        let mut found = None;
        let mut failed = Ok(());
        store.each_record(&run.run_id, 0, |record| {
            let step = match materializer.push(&record) {
                Ok(events) if events.iter().any(|event| event.id().as_str() == id) => {
                    found = Some(record.seq);
                    ControlFlow::Break(())
                }
                Ok(_) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Err(error);
                    ControlFlow::Break(())
                }
            };
            step.is_continue()
        })?;
        failed?;
        if let Some(seq) = found {
            return Ok(Some((run.run_id, seq)));
        }
    }
    Ok(None)
}
