//! A run on its way into the store, in batches.

use std::time::{Duration, Instant};

use runtape_core::{Record, RunId, Runtime};
use runtape_normalizer::{Context, Exit};
use runtape_store::{SealName, StreamLengths, TapeChunk};

use crate::context_and_exit::{begin_run, context_to_json, exit_to_json};
use crate::error::RecordError;
use crate::recover::beyond;
use crate::store_handle::StoreHandle;
use crate::undecided::DecidedRuntime;

/// A batch is written when it holds this many bytes of output …
const BATCH_BYTES: usize = 256 * 1024;
/// … or when its oldest output came this long ago. Measured with a clock that nobody sets: if the time
/// of day were set back, a batch would wait for hours.
const BATCH_AGE: Duration = Duration::from_millis(50);

/// Stores what a [`DetachedRun`](crate::DetachedRun) becomes.
pub struct BatchWriter {
    store: StoreHandle,
    run_id: RunId,
    records: Vec<Record>,
    chunks: Vec<TapeChunk>,
    bytes: usize,
    since: Option<Instant>,
}

impl BatchWriter {
    /// Opens a run in the store. `now` is in milliseconds since 1970.
    pub fn begin(
        store: impl Into<StoreHandle>,
        runtime: Runtime,
        context: &Context,
        now: i64,
    ) -> Result<Self, RecordError> {
        let store = store.into();
        store.lock().begin_run(&begin_run(context, runtime, now))?;
        Ok(Self {
            store,
            run_id: context.run_id.clone(),
            records: Vec::new(),
            chunks: Vec::new(),
            bytes: 0,
            since: None,
        })
    }

    /// Says of which runtime the run is, which its first lines told. Before the records that follow from it.
    pub fn decide(&mut self, decided: &DecidedRuntime) -> Result<(), RecordError> {
        let context = context_to_json(&decided.context);
        let mut store = self.store.lock();
        Ok(store.decide_runtime(&self.run_id, &decided.runtime, &context)?)
    }

    /// Takes over records and the output they came from, and writes nothing yet.
    pub fn add(&mut self, records: Vec<Record>, chunks: impl IntoIterator<Item = TapeChunk>) {
        self.records.extend(records);
        for chunk in chunks.into_iter().filter(|chunk| !chunk.bytes.is_empty()) {
            self.bytes += chunk.bytes.len();
            self.since.get_or_insert_with(Instant::now);
            self.chunks.push(chunk);
        }
    }

    /// Writes the batch if it is due. To be called now and then while nothing arrives.
    pub fn tick(&mut self) -> Result<(), RecordError> {
        let is_old = self.since.is_some_and(|since| since.elapsed() >= BATCH_AGE);
        if is_old || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what has arrived so far.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        if self.chunks.is_empty() && self.records.is_empty() {
            return Ok(());
        }
        self.store
            .lock()
            .append(&self.run_id, &self.records, &self.chunks)?;
        self.empty();
        Ok(())
    }

    /// Writes what has arrived and ends the run with a seal; returns its number.
    pub fn finish(&mut self, exit: &Exit, now: i64) -> Result<SealName, RecordError> {
        let exit = exit_to_json(exit);
        let (records, chunks) = (&self.records, &self.chunks);
        let seal =
            self.store
                .lock()
                .append_and_finish(&self.run_id, records, chunks, &exit, now)?;
        self.empty();
        Ok(seal)
    }

    fn empty(&mut self) {
        // Replaced, not cleared: the memory of a long batch is given back.
        self.records = Vec::new();
        self.chunks = Vec::new();
        self.bytes = 0;
        self.since = None;
    }

    /// Gives up, since the store failed: calls `each` with the output that is not stored. If the
    /// database is gone, that is all of the output. Until the store is dropped, or lets go of the
    /// run, nobody else closes it.
    pub fn give_up(self, error: &RecordError, mut each: impl FnMut(&TapeChunk)) {
        let mut lengths = StreamLengths::default();
        if error.is_database_gone() {
            // Those who have a deleted file open can still read it.
            let store = self.store.lock();
            let read = store.each_tape_chunk(&self.run_id, |chunk| {
                each(&chunk);
                true
            });
            let known = read.and_then(|()| store.tape_lengths(&self.run_id));
            lengths = known.unwrap_or_default();
        }
        let unwritten = self.chunks.into_iter();
        for chunk in unwritten.filter_map(|chunk| beyond(chunk, lengths)) {
            each(&chunk);
        }
    }
}
