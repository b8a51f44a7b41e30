//! A run on its way into the store, in batches.

use runtape_core::{Record, RunId, Runtime};
use runtape_normalizer::Exit;
use runtape_store::{Store, TapeChunk};

use crate::context::{RunContext, exit_to_json};
use crate::record_error::RecordError;

/// A batch is written when it holds this many bytes of output …
const BATCH_BYTES: usize = 256 * 1024;
/// … or when its oldest piece is this old, in milliseconds.
const BATCH_AGE: i64 = 50;

/// Stores what a [`Detached`](crate::Detached) run becomes.
pub struct Writer<'a> {
    store: &'a mut Store,
    run_id: RunId,
    records: Vec<Record>,
    chunks: Vec<TapeChunk>,
    bytes: usize,
    since: Option<i64>,
}

impl<'a> Writer<'a> {
    /// Opens a run in the store. `now` is in milliseconds since 1970.
    pub fn begin(
        store: &'a mut Store,
        runtime: Runtime,
        context: &RunContext,
        now: i64,
    ) -> Result<Self, RecordError> {
        store.begin_run(&context.begin(runtime, now))?;
        Ok(Self {
            store,
            run_id: context.run_id.clone(),
            records: Vec::new(),
            chunks: Vec::new(),
            bytes: 0,
            since: None,
        })
    }

    /// Takes over records and the output they came from, and writes nothing yet.
    pub fn add(&mut self, records: Vec<Record>, chunk: Option<TapeChunk>) {
        self.records.extend(records);
        if let Some(chunk) = chunk.filter(|chunk| !chunk.bytes.is_empty()) {
            self.bytes += chunk.bytes.len();
            self.since.get_or_insert(chunk.received_at);
            self.chunks.push(chunk);
        }
    }

    /// Writes the batch if it is due. To be called now and then while nothing arrives.
    pub fn tick(&mut self, now: i64) -> Result<(), RecordError> {
        let is_old = self.since.is_some_and(|since| now - since >= BATCH_AGE);
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
            .append(&self.run_id, &self.records, &self.chunks)?;
        self.empty();
        Ok(())
    }

    /// Writes what has arrived and ends the run with a seal; returns its number.
    pub fn finish(&mut self, exit: &Exit, now: i64) -> Result<u64, RecordError> {
        let exit = exit_to_json(exit);
        let (records, chunks) = (&self.records, &self.chunks);
        let seal = self
            .store
            .append_and_finish(&self.run_id, records, chunks, &exit, now)?;
        self.empty();
        Ok(seal)
    }

    fn empty(&mut self) {
        // Not only cleared: a long batch leaves room behind that no other needs.
        self.records = Vec::new();
        self.chunks = Vec::new();
        self.bytes = 0;
        self.since = None;
    }

    /// Gives up, since the store failed: returns the output that is not stored. Until the store is
    /// dropped, or lets go of the run, nobody else closes it.
    #[must_use]
    pub fn into_unwritten(self) -> Vec<TapeChunk> {
        self.chunks
    }
}
