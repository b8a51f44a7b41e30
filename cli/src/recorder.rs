//! Joins normalizer and store: output in, history kept.

use runtape_core::{RunId, Runtime, Stream, Summarizer};
use runtape_normalizer::{Exit, LiveItem, Normalizer};
use runtape_store::Store;

use crate::context::RunContext;
use crate::detached::Detached;
use crate::record_error::RecordError;
use crate::writer::Writer;

/// Records one process: what it prints is normalized and kept as it arrives.
///
/// ```
/// use runtape::{Recorder, core::{Runtime, Stream}, normalizer::Exit, store::Store, RunContext};
///
/// # fn main() -> Result<(), runtape::RecordError> {
/// let mut store = Store::open_in_memory()?;
/// let context = RunContext::new("job-1".parse()?, "run-1".parse()?);
/// let mut recorder = Recorder::start(&mut store, Runtime::ClaudeCode, &context, 1_700_000_000_000)?;
/// recorder.push(Stream::Stdout, b"Hello.\n", 1_700_000_000_010)?;
/// let finished = recorder.finish(&Exit::with_code(0), 1_700_000_000_020)?;
/// assert_eq!(finished.summary.final_text.as_deref(), Some("Hello."));
/// # Ok(())
/// # }
/// ```
pub struct Recorder<'a> {
    run_id: RunId,
    run: Detached,
    writer: Writer<'a>,
}

/// A recorded run.
#[derive(Debug)]
pub struct Finished {
    /// The run in one object.
    pub summary: runtape_core::RunSummary,
    /// What can be shown of its end.
    pub live: Vec<LiveItem>,
    /// The number of its seal.
    pub seal: u64,
}

impl<'a> Recorder<'a> {
    /// Opens a run in the store. `now` is in milliseconds since 1970, here as everywhere.
    pub fn start(
        store: &'a mut Store,
        runtime: Runtime,
        context: &RunContext,
        now: i64,
    ) -> Result<Self, RecordError> {
        let normalizer = Normalizer::new(runtime.clone(), context.to_normalizer())?;
        Self::open(store, runtime, context, normalizer, now)
    }

    /// The same, also yielding what can be shown at once.
    pub fn start_live(
        store: &'a mut Store,
        runtime: Runtime,
        context: &RunContext,
        now: i64,
    ) -> Result<Self, RecordError> {
        let normalizer = Normalizer::with_live(runtime.clone(), context.to_normalizer())?;
        Self::open(store, runtime, context, normalizer, now)
    }

    fn open(
        store: &'a mut Store,
        runtime: Runtime,
        context: &RunContext,
        normalizer: Normalizer,
        now: i64,
    ) -> Result<Self, RecordError> {
        Ok(Self {
            run_id: context.run_id.clone(),
            run: Detached::new(normalizer, Some(Summarizer::new()), now),
            writer: Writer::begin(store, runtime, context, now)?,
        })
    }

    /// Makes no summary, which grows with all that the model said, so that memory does not grow
    /// with the run; end it with [`close`](Self::close).
    #[must_use]
    pub fn without_summary(mut self) -> Self {
        self.run = self.run.without_summary();
        self
    }

    /// Takes the next bytes of a stream. Returns what can be shown at once.
    pub fn push(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        received_at: i64,
    ) -> Result<Vec<LiveItem>, RecordError> {
        if bytes.is_empty() {
            self.tick()?;
            return Ok(Vec::new());
        }
        let printed = self.run.push(stream, bytes.to_vec(), received_at);
        self.writer.add(printed.records, Some(printed.chunk));
        self.tick()?;
        Ok(printed.live)
    }

    /// Writes the batch if it is due. To be called now and then while nothing arrives.
    pub fn tick(&mut self) -> Result<(), RecordError> {
        self.writer.tick()
    }

    /// Writes what has arrived so far.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        self.writer.flush()
    }

    /// Ends the run: exactly one terminal event, and a seal.
    pub fn finish(self, exit: &Exit, now: i64) -> Result<Finished, RecordError> {
        let Self {
            run_id,
            run,
            mut writer,
        } = self;
        let ended = run.finish(exit);
        writer.add(ended.records, None);
        let seal = writer.finish(exit, now)?;
        let unfinished = RecordError::Unfinished { run: run_id };
        Ok(Finished {
            summary: ended.summary.ok_or(unfinished)?,
            live: ended.live,
            seal,
        })
    }

    /// Ends the run without a summary. Returns the number of its seal.
    pub fn close(mut self, exit: &Exit, now: i64) -> Result<u64, RecordError> {
        self.writer.add(self.run.finish(exit).records, None);
        self.writer.finish(exit, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_written_whatever_the_time_of_day_does() {
        for (name, times) in [
            ("set back", [1_700_000_000_000, 1_600_000_000_000, 1]),
            ("standing still", [1_700_000_000_000; 3]),
            ("set forward", [1, 1_600_000_000_000, 1_700_000_000_000]),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("runs.db");
            let mut store = Store::open(&path, &runtape_store::Options::default()).unwrap();
            let other = Store::open(&path, &runtape_store::Options::read_only()).unwrap();
            let context = RunContext::new("job".parse().unwrap(), "run".parse().unwrap());
            let started = Recorder::start(&mut store, Runtime::Hermes, &context, times[0]);
            let mut recorder = started.unwrap();
            let stored = || other.tape_lengths(&context.run_id).unwrap().0;
            let wait = || std::thread::sleep(std::time::Duration::from_millis(60));
            recorder.push(Stream::Stdout, b"one\n", times[0]).unwrap();
            wait();
            recorder.push(Stream::Stdout, b"two\n", times[1]).unwrap();
            assert_eq!(stored(), 8, "{name}: with the next piece");
            recorder.push(Stream::Stdout, b"three\n", times[2]).unwrap();
            wait();
            recorder.tick().unwrap();
            assert_eq!(stored(), 14, "{name}: while nothing arrives");
        }
    }

    #[test]
    fn what_can_be_shown_is_given_to_those_who_asked_for_it() {
        let context = RunContext::new("job".parse().unwrap(), "run".parse().unwrap());
        for is_asked in [false, true] {
            let mut store = Store::open_in_memory().unwrap();
            let started = if is_asked {
                Recorder::start_live(&mut store, Runtime::Hermes, &context, 1)
            } else {
                Recorder::start(&mut store, Runtime::Hermes, &context, 1)
            };
            let mut recorder = started.unwrap();
            let mut live = recorder.push(Stream::Stdout, b"Hello.\n", 2).unwrap();
            let finished = recorder.finish(&Exit::with_code(0), 3).unwrap();
            live.extend(finished.live);
            assert_eq!(!live.is_empty(), is_asked);
            assert_eq!(finished.summary.final_text.as_deref(), Some("Hello."));
        }
    }
}
