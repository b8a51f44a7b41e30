//! Joins normalizer and store: output in, history kept.

use runtape_core::{Record, RunId, Runtime, Stream, Summarizer};
use runtape_normalizer::{Exit, LiveItem, Normalizer, Output};
use runtape_store::{Store, TapeChunk};

use crate::context::{RunContext, begin_at, exit_to_json};
use crate::detached::Detached;
use crate::record_error::RecordError;

/// A batch is written when it holds this many bytes of output …
const BATCH_BYTES: usize = 256 * 1024;
/// … or when its oldest piece is this old, in milliseconds.
const BATCH_AGE: i64 = 50;

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
    store: &'a mut Store,
    run_id: RunId,
    normalizer: Normalizer,
    /// Absent where nobody wants the summary, which grows with all that the model said.
    summarizer: Option<Summarizer>,
    /// Bytes seen of standard output.
    stdout: u64,
    /// Bytes seen of standard error.
    stderr: u64,
    batch: Batch,
}

/// What was normalized and is not yet stored.
#[derive(Default)]
struct Batch {
    records: Vec<Record>,
    chunks: Vec<TapeChunk>,
    bytes: usize,
    since: Option<i64>,
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
        mut normalizer: Normalizer,
        now: i64,
    ) -> Result<Self, RecordError> {
        begin_at(&mut normalizer, now);
        store.begin_run(&context.begin(runtime, now))?;
        Ok(Self {
            store,
            run_id: context.run_id.clone(),
            normalizer,
            summarizer: Some(Summarizer::new()),
            stdout: 0,
            stderr: 0,
            batch: Batch::default(),
        })
    }

    /// Makes no summary, so that memory does not grow with the run; end it with
    /// [`close`](Self::close).
    #[must_use]
    pub fn without_summary(mut self) -> Self {
        self.summarizer = None;
        self
    }

    /// Takes the next bytes of a stream. Returns what can be shown at once.
    pub fn push(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        received_at: i64,
    ) -> Result<Vec<LiveItem>, RecordError> {
        let live = self.take(stream, bytes, received_at);
        self.tick(received_at)?;
        Ok(live)
    }

    /// Takes the next bytes of a stream without writing anything yet. Returns what can be shown.
    pub fn take(&mut self, stream: Stream, bytes: &[u8], received_at: i64) -> Vec<LiveItem> {
        if bytes.is_empty() {
            return Vec::new();
        }
        let length = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let chunk = TapeChunk {
            stream,
            start: *length,
            received_at,
            bytes: bytes.to_vec(),
        };
        *length = chunk.end();
        self.batch.chunks.push(chunk);
        self.batch.bytes += bytes.len();
        self.batch.since.get_or_insert(received_at);
        let output = self.normalizer.push(stream, bytes, received_at);
        self.batch.keep(output, self.summarizer.as_mut())
    }

    /// Goes on without the store, which failed: returns the run, and the output that is not
    /// stored. Until the store is dropped, or lets go of the run, nobody else closes it.
    #[must_use]
    pub fn detach(self) -> (Detached, Vec<TapeChunk>) {
        let summarizer = self.summarizer.unwrap_or_else(Summarizer::brief);
        let detached = Detached::new(self.normalizer, summarizer, self.stdout, self.stderr);
        (detached, self.batch.chunks)
    }

    /// Writes the batch if it is due. To be called now and then while nothing arrives.
    pub fn tick(&mut self, now: i64) -> Result<(), RecordError> {
        let old = self
            .batch
            .since
            .is_some_and(|since| now - since >= BATCH_AGE);
        if old || self.batch.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what has arrived so far.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        self.batch.write(self.store, &self.run_id)
    }

    /// Ends the run: exactly one terminal event, and a seal.
    pub fn finish(mut self, exit: &Exit, now: i64) -> Result<Finished, RecordError> {
        let mut summarizer = self.summarizer.take();
        let run = self.run_id.clone();
        let (live, seal) = self.end(exit, now, summarizer.as_mut())?;
        let summary = summarizer.and_then(Summarizer::finish);
        Ok(Finished {
            summary: summary.ok_or(RecordError::Unfinished { run })?,
            live,
            seal,
        })
    }

    /// Ends the run without a summary. Returns the number of its seal.
    pub fn close(self, exit: &Exit, now: i64) -> Result<u64, RecordError> {
        self.end(exit, now, None).map(|(_, seal)| seal)
    }

    fn end(
        self,
        exit: &Exit,
        now: i64,
        summarizer: Option<&mut Summarizer>,
    ) -> Result<(Vec<LiveItem>, u64), RecordError> {
        let Self {
            store,
            run_id,
            normalizer,
            mut batch,
            ..
        } = self;
        let live = batch.keep(normalizer.finish(exit), summarizer);
        batch.write(store, &run_id)?;
        let seal = store.finish_run(&run_id, &exit_to_json(exit), now)?;
        Ok((live, seal))
    }
}

impl Batch {
    /// Takes over the records of an output and returns what can be shown.
    fn keep(&mut self, output: Output, summarizer: Option<&mut Summarizer>) -> Vec<LiveItem> {
        if let Some(summarizer) = summarizer {
            output
                .records
                .iter()
                .for_each(|record| summarizer.push(record));
        }
        self.records.extend(output.records);
        output.live
    }

    fn write(&mut self, store: &mut Store, run_id: &RunId) -> Result<(), RecordError> {
        if self.chunks.is_empty() && self.records.is_empty() {
            return Ok(());
        }
        store.append(run_id, &self.records, &self.chunks)?;
        *self = Self::default();
        Ok(())
    }
}
