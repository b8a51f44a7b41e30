//! Output that comes down a pipe.

use std::sync::Arc;

use runtape_core::{Runtime, Stream};
use runtape_normalizer::redact::RuleSet;
use runtape_normalizer::{Context, Exit};

use super::{Budget, Destination, Keeper, KeepingEnd, Room};
use crate::clock::Clock;
use crate::detached_run::{DetachedRun, Printed};
use crate::error::RecordError;
use crate::spool::SpoolDirectories;

/// How a pipe is recorded.
#[derive(Clone, Debug, Default)]
pub struct PipeOptions {
    /// Where the output goes when the store fails.
    pub spool: SpoolDirectories,
    /// Tells when output came.
    pub clock: Clock,
    /// What is taken out before anything is kept: by default what shows by itself to be a secret.
    pub rules: Arc<RuleSet>,
}

/// Records what comes down a pipe, and keeps it also when the store fails: nobody can read it again.
///
/// When the process at the other end began and ended is not known; what is known of its end, the caller says.
///
/// ```
/// use runtape_recorder::core::{Runtime, Stream};
/// use runtape_recorder::normalizer::{Context, Exit};
/// use runtape_recorder::store::Store;
/// use runtape_recorder::{PipeOptions, PipeRecorder, StoreHandle};
///
/// # fn main() -> Result<(), runtape_recorder::RecordError> {
/// let store = StoreHandle::from(Store::open_in_memory()?);
/// let context = Context::new("job-1".parse()?, "run-1".parse()?);
/// let options = PipeOptions::default();
/// let mut recorder = PipeRecorder::start(store.clone(), Runtime::Hermes, &context, options)?;
/// recorder.push(Stream::Stdout, b"Hello.\n");
/// let kept = recorder.finish(&Exit::unknown());
/// assert!(kept.fault.is_none());
/// assert!(store.lock().run(&"run-1".parse()?)?.seal.is_some());
/// # Ok(())
/// # }
/// ```
pub struct PipeRecorder {
    run: DetachedRun,
    keeper: Keeper,
    budget: Arc<Budget>,
    clock: Clock,
}

impl PipeRecorder {
    /// Opens a run that begins now. A store that cannot take it is no error: what comes is spooled then. Where no
    /// runtime is named (`None::<Runtime>`), the first lines decide it.
    pub fn start(
        destination: impl Into<Destination>,
        runtime: impl Into<Option<Runtime>>,
        context: &Context,
        options: PipeOptions,
    ) -> Result<Self, RecordError> {
        let PipeOptions {
            spool,
            clock,
            rules,
        } = options;
        let now = clock.now();
        let runtime = runtime.into();
        let first = DetachedRun::runtime_at_start(runtime.as_ref());
        let run = DetachedRun::start(runtime, context, &rules, now)?.without_summary();
        let (destination, context) = (destination.into(), run.context().clone());
        let keeper = Keeper::start(destination, first, context, now, spool, clock.clone());
        Ok(Self {
            run,
            keeper,
            budget: Arc::default(),
            clock,
        })
    }

    /// Takes the next bytes of a stream, which came just now. Waits if too much is on its way into the store.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let received_at = self.clock.now();
        self.push_received(stream, bytes, received_at);
    }

    /// Takes the next bytes of a stream, which came at a time in milliseconds since 1970.
    pub fn push_received(&mut self, stream: Stream, bytes: &[u8], received_at: i64) {
        if bytes.is_empty() {
            return;
        }
        let room = Room::take(bytes.len(), &self.budget);
        let printed = self.run.push(stream, bytes, received_at);
        self.keep(printed, Some(room));
    }

    /// Keeps what was held back for a secret that did not come in time. To be called now and then while nothing
    /// arrives.
    pub fn tick(&mut self) {
        let now = self.clock.now();
        if self.run.expires_at().is_some_and(|at| at <= now) {
            let printed = self.run.expire(now);
            self.keep(printed, None);
        }
    }

    fn keep(&self, printed: Printed, room: Option<Room>) {
        if let Some(decided) = printed.decided {
            self.keeper.decide(decided);
        }
        self.keeper.push(printed.chunks, printed.records, room);
    }

    /// Ends the run, and waits until it is kept.
    #[must_use]
    pub fn finish(self, exit: &Exit) -> KeepingEnd {
        let ended = self.run.finish(exit);
        if let Some(decided) = ended.decided {
            self.keeper.decide(decided);
        }
        self.keeper.finish(ended.exit, ended.records, ended.chunks)
    }
}

#[cfg(test)]
mod tests {
    use runtape_core::Record;
    use runtape_store::{Options, Store};

    use super::*;
    use crate::recorder::{Recorder, RecorderOptions};
    use crate::spool::take_in_spool;
    use crate::store_handle::StoreHandle;

    const PIECES: [&[u8]; 3] = [b"Hello", b", you.\n", b"More.\n"];

    fn context() -> Context {
        Context::new("job".parse().unwrap(), "run".parse().unwrap())
    }

    fn clock() -> Clock {
        Clock::new(|| 1_700_000_000_000)
    }

    fn records(store: &Store) -> Vec<Record> {
        assert!(store.verify().unwrap().is_intact());
        store.records(&context().run_id, 0, usize::MAX).unwrap()
    }

    /// The records of the same bytes where nothing fails.
    fn expected(exit: &Exit) -> Vec<Record> {
        let store = StoreHandle::from(Store::open_in_memory().unwrap());
        let options = RecorderOptions {
            is_read_later: true,
            clock: clock(),
            ..RecorderOptions::default()
        };
        let started = Recorder::start_with(store.clone(), Runtime::Hermes, &context(), &options);
        let mut recorder = started.unwrap().without_summary();
        for bytes in PIECES {
            recorder.push(Stream::Stdout, bytes).unwrap();
        }
        recorder.close(exit).unwrap();
        records(&store.lock())
    }

    #[test]
    fn a_pipe_of_a_wrapper_is_its_agents_whether_its_store_is_there_or_fails() {
        const LINES: [&str; 3] = [
            "banner\n",
            "{\"type\":\"thread.started\",\"thread_id\":\"01a1e40f-3839-7462-8ba4-4636a26c3aa5\"}\n",
            "{\"type\":\"turn.started\"}\n",
        ];
        for is_there in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("runs.db");
            let file = path.clone();
            let destination = Destination::opening(&path, move || {
                if is_there {
                    Store::open(&file, &Options::default()).map_err(|error| error.to_string())
                } else {
                    Err("not now".to_owned())
                }
            });
            let options = PipeOptions {
                clock: clock(),
                ..PipeOptions::default()
            };
            let started = PipeRecorder::start(destination, None::<Runtime>, &context(), options);
            let mut recorder = started.unwrap();
            for line in LINES {
                recorder.push(Stream::Stdout, line.as_bytes());
            }
            let kept = recorder.finish(&Exit::with_code(1));
            assert_eq!(kept.spool.is_none(), is_there, "{kept:?}");
            let mut store = Store::open(&path, &Options::default()).unwrap();
            if let Some(spool) = kept.spool {
                take_in_spool(&mut store, &spool, 1).unwrap();
            }
            let run = store.run(&context().run_id).unwrap();
            assert_eq!(run.runtime, Runtime::Codex);
            assert_eq!(
                run.session_id.as_deref(),
                Some("01a1e40f-3839-7462-8ba4-4636a26c3aa5")
            );
            assert!(store.verify().unwrap().is_intact());
        }
    }

    #[test]
    fn a_pipe_becomes_the_same_records_whether_its_store_is_there_or_comes_later() {
        for exit in [Exit::unknown(), Exit::with_code(0), Exit::with_code(3)] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("runs.db");
            for is_there in [true, false] {
                let file = path.clone();
                let destination = Destination::opening(&path, move || {
                    if is_there {
                        Store::open(&file, &Options::default()).map_err(|error| error.to_string())
                    } else {
                        Err("not now".to_owned())
                    }
                });
                let options = PipeOptions {
                    clock: clock(),
                    ..PipeOptions::default()
                };
                let started =
                    PipeRecorder::start(destination, Runtime::Hermes, &context(), options);
                let mut recorder = started.unwrap();
                for bytes in PIECES {
                    recorder.push(Stream::Stdout, bytes);
                    recorder.tick();
                }
                let kept = recorder.finish(&exit);
                assert_eq!(kept.fault.is_none(), is_there, "{kept:?}");
                assert_eq!(kept.spool.is_none(), is_there, "{kept:?}");
                assert!(kept.missing.is_none(), "{kept:?}");
                let mut store = Store::open(&path, &Options::default()).unwrap();
                if let Some(spool) = kept.spool {
                    take_in_spool(&mut store, &spool, 1).unwrap();
                    assert!(!spool.exists());
                }
                assert_eq!(records(&store), expected(&exit));
                drop(store);
                std::fs::remove_file(&path).unwrap();
            }
        }
    }
}
