//! Joins normalizer and store: output in, history kept.

use std::sync::Arc;

use runtape_core::{RunId, Runtime, Stream, Summarizer};
use runtape_normalizer::redact::RuleSet;
use runtape_normalizer::{Context, Exit, LiveItem, Normalizer};
use runtape_store::SealName;

use crate::batch_writer::BatchWriter;
use crate::clock::Clock;
use crate::context_and_exit::note_start;
use crate::detached_run::{DetachedRun, Printed};
use crate::error::RecordError;
use crate::store_handle::StoreHandle;

/// How a run is recorded.
#[derive(Clone, Debug, Default)]
pub struct RecorderOptions {
    /// Also yield what can be shown at once.
    pub live: bool,
    /// When the run began, in milliseconds since 1970, if not just now.
    pub started_at: Option<i64>,
    /// The output was kept elsewhere and is read now: the clock tells nothing of when its process began and
    /// ended.
    pub is_read_later: bool,
    /// Tells when output came and when the run ended.
    pub clock: Clock,
    /// What is taken out before anything is kept: by default what shows by itself to be a secret, with markers
    /// that do not tell one secret from another, since there is no key.
    pub rules: Arc<RuleSet>,
}

/// Records one process: what it prints is normalized and kept as it arrives.
///
/// It owns its store or shares one, and may live on a thread of its own. The crate's documentation
/// has an example.
pub struct Recorder {
    run_id: RunId,
    run: DetachedRun,
    writer: BatchWriter,
    clock: Clock,
    is_read_later: bool,
}

/// A recorded run.
#[derive(Debug)]
pub struct Finished {
    /// The run in one object.
    pub summary: runtape_core::RunSummary,
    /// What can be shown of its end.
    pub live: Vec<LiveItem>,
    /// The name of its seal.
    pub seal: SealName,
}

impl Recorder {
    /// Opens a run in a store. Where no runtime is named (`None::<Runtime>`), the first lines decide it.
    pub fn start(
        store: impl Into<StoreHandle>,
        runtime: impl Into<Option<Runtime>>,
        context: &Context,
    ) -> Result<Self, RecordError> {
        Self::start_with(store, runtime, context, &RecorderOptions::default())
    }

    /// Opens a run in a store, with options.
    pub fn start_with(
        store: impl Into<StoreHandle>,
        runtime: impl Into<Option<Runtime>>,
        context: &Context,
        options: &RecorderOptions,
    ) -> Result<Self, RecordError> {
        let runtime = runtime.into();
        let now = options.started_at.unwrap_or_else(|| options.clock.now());
        let mut context = context.clone();
        if !options.is_read_later {
            note_start(&mut context, now);
        }
        let context = &context;
        let make = if options.live {
            Normalizer::with_live
        } else {
            Normalizer::new
        };
        let (rules, summarizer) = (&options.rules, Summarizer::new());
        let first = DetachedRun::runtime_at_start(runtime.as_ref());
        let run = DetachedRun::begin(make, runtime, context, rules, summarizer, now)?;
        Ok(Self {
            run_id: context.run_id.clone(),
            writer: BatchWriter::begin(store, first, run.context(), now)?,
            run,
            clock: options.clock.clone(),
            is_read_later: options.is_read_later,
        })
    }

    /// Makes no summary. A summary grows with all that the model said; without one the recorder's
    /// memory does not grow with the run. End such a run with [`close`](Self::close).
    #[must_use]
    pub fn without_summary(mut self) -> Self {
        self.run = self.run.without_summary();
        self
    }

    /// Takes the next bytes of a stream, which came just now. Returns what can be shown at once.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) -> Result<Vec<LiveItem>, RecordError> {
        let received_at = self.clock.now();
        self.push_received(stream, bytes, received_at)
    }

    /// Takes the next bytes of a stream, which came at a time in milliseconds since 1970.
    pub fn push_received(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        received_at: i64,
    ) -> Result<Vec<LiveItem>, RecordError> {
        if bytes.is_empty() {
            return self.tick();
        }
        let printed = self.run.push(stream, bytes, received_at);
        self.write(printed)
    }

    /// Ends a stream before the others: a prompt on standard input is whole before the first answer comes.
    pub fn end(&mut self, stream: Stream) -> Result<Vec<LiveItem>, RecordError> {
        let printed = self.run.end(stream);
        self.write(printed)
    }

    fn write(&mut self, printed: Printed) -> Result<Vec<LiveItem>, RecordError> {
        if let Some(decided) = printed.decided {
            self.writer.decide(&decided)?;
        }
        self.writer.add(printed.records, printed.chunks);
        self.writer.tick()?;
        Ok(printed.live)
    }

    /// Writes the batch if it is due. To be called now and then while nothing arrives. Returns what can be shown
    /// at once: of what was held back for a secret that did not come.
    pub fn tick(&mut self) -> Result<Vec<LiveItem>, RecordError> {
        let now = self.clock.now();
        if self.run.expires_at().is_some_and(|at| at <= now) {
            let printed = self.run.expire(now);
            return self.write(printed);
        }
        self.writer.tick()?;
        Ok(Vec::new())
    }

    /// Writes what has arrived so far, but for a last line that is not whole.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        self.writer.flush()
    }

    /// Ends the run: exactly one terminal event, and a seal.
    pub fn finish(self, exit: &Exit) -> Result<Finished, RecordError> {
        let exit = self.timed(exit);
        let Self {
            run_id,
            run,
            mut writer,
            clock,
            is_read_later: _,
        } = self;
        let ended = run.finish(&exit);
        if let Some(decided) = &ended.decided {
            writer.decide(decided)?;
        }
        writer.add(ended.records, ended.chunks);
        let seal = writer.finish(&ended.exit, clock.now())?;
        let unfinished = RecordError::Unfinished { run: run_id };
        Ok(Finished {
            summary: ended.summary.ok_or(unfinished)?,
            live: ended.live,
            seal,
        })
    }

    /// Says when the process ended, unless the caller does, or nobody saw it.
    fn timed(&self, exit: &Exit) -> Exit {
        let mut exit = exit.clone();
        if !self.is_read_later && !exit.recorder_lost {
            exit.finished_at.get_or_insert_with(|| self.clock.now());
        }
        exit
    }

    /// Ends the run without a summary. Returns the name of its seal.
    pub fn close(mut self, exit: &Exit) -> Result<SealName, RecordError> {
        let exit = self.timed(exit);
        let ended = self.run.finish(&exit);
        if let Some(decided) = &ended.decided {
            self.writer.decide(decided)?;
        }
        self.writer.add(ended.records, ended.chunks);
        self.writer.finish(&ended.exit, self.clock.now())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use runtape_store::{Options, Store};

    use super::*;

    fn context(run: &str) -> Context {
        Context::new("job".parse().unwrap(), run.parse().unwrap())
    }

    #[test]
    fn batches_are_written_whatever_the_time_of_day_does() {
        for (name, times) in [
            ("set back", [1_700_000_000_000, 1_600_000_000_000, 1]),
            ("standing still", [1_700_000_000_000; 3]),
            ("set forward", [1, 1_600_000_000_000, 1_700_000_000_000]),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("runs.db");
            let store = Store::open(&path, &Options::default()).unwrap();
            let other = Store::open(&path, &Options::read_only()).unwrap();
            let time = Arc::new(AtomicI64::new(times[0]));
            let shown = Arc::clone(&time);
            let options = RecorderOptions {
                clock: Clock::new(move || shown.load(Ordering::Relaxed)),
                ..RecorderOptions::default()
            };
            let context = context("run");
            let started = Recorder::start_with(store, Runtime::Hermes, &context, &options);
            let mut recorder = started.unwrap();
            let stored = || {
                other
                    .tape_lengths(&context.run_id)
                    .unwrap()
                    .of(Stream::Stdout)
            };
            let wait = || std::thread::sleep(std::time::Duration::from_millis(60));
            recorder.push(Stream::Stdout, b"one\n").unwrap();
            wait();
            time.store(times[1], Ordering::Relaxed);
            recorder.push(Stream::Stdout, b"two\n").unwrap();
            assert_eq!(stored(), 8, "{name}: with the next piece");
            time.store(times[2], Ordering::Relaxed);
            recorder.push(Stream::Stdout, b"three\n").unwrap();
            wait();
            recorder.tick().unwrap();
            assert_eq!(stored(), 14, "{name}: while nothing arrives");
        }
    }

    #[test]
    fn what_can_be_shown_is_given_to_those_who_asked_for_it() {
        for live in [false, true] {
            let store = Store::open_in_memory().unwrap();
            let options = RecorderOptions {
                live,
                ..RecorderOptions::default()
            };
            let started = Recorder::start_with(store, Runtime::Hermes, &context("run"), &options);
            let mut recorder = started.unwrap();
            let mut shown = recorder.push(Stream::Stdout, b"Hello.\n").unwrap();
            let finished = recorder.finish(&Exit::with_code(0)).unwrap();
            shown.extend(finished.live);
            assert_eq!(!shown.is_empty(), live);
            assert_eq!(finished.summary.final_text.as_deref(), Some("Hello."));
        }
    }

    #[test]
    fn recorders_on_threads_of_their_own_share_a_store() {
        let store = StoreHandle::from(Store::open_in_memory().unwrap());
        let recording = |number: u32| {
            let store = store.clone();
            std::thread::spawn(move || {
                let context = context(&format!("run-{number}"));
                let mut recorder = Recorder::start(store, Runtime::Hermes, &context).unwrap();
                for _ in 0..20 {
                    recorder.push(Stream::Stdout, b"Hello.\n").unwrap();
                    recorder.flush().unwrap();
                }
                recorder.finish(&Exit::with_code(0)).unwrap().seal
            })
        };
        let threads: Vec<_> = (0..4).map(recording).collect();
        let mut seals: Vec<u64> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap().number)
            .collect();
        seals.sort_unstable();
        assert_eq!(seals, [1, 2, 3, 4]);
        assert_eq!(store.lock().verify().unwrap().faults, []);
    }
}
