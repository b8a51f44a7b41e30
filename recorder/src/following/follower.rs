//! A run while it goes on: each line of output as soon as it is on the tape.

use runtape_core::RunId;
use runtape_normalizer::{Exit, Kept, Normalizer, Output};
use runtape_store::{BeginRun, Store, StreamLengths, TapeChunk};

use crate::context_and_exit::{came_as_records, exit_from_json, is_history_only};
use crate::error::RecordError;
use crate::recover::beyond;
use crate::replay::live_normalizer;
use crate::undecided::is_undecided;

/// Reads the tape of an open run that some other process writes, and what it gives.
pub struct Follower {
    root: RunId,
    normalizer: Normalizer,
    /// The first lines have not decided the runtime: nothing is read before they do.
    is_undecided: bool,
    /// How far into each stream was read.
    read: StreamLengths,
    /// The part of the tape to be read next.
    part: u64,
}

impl Follower {
    /// Begins at the beginning of a run. A child is on the tape of its root. `None` for a run whose process
    /// nobody watches: it came as records, or from session files.
    pub fn new(store: &Store, run: &RunId) -> Result<Option<Self>, RecordError> {
        let info = store.run(run)?;
        let root = info.root_run_id.unwrap_or_else(|| run.clone());
        let begin = store.begin_of(&root)?;
        if !is_watched(&begin) {
            return Ok(None);
        }
        Ok(Some(Self {
            root,
            normalizer: live_normalizer(&begin)?,
            is_undecided: is_undecided(&begin),
            read: StreamLengths::default(),
            part: 0,
        }))
    }

    /// Reads what has come since, calling `each` with what every line of it gives, in order: the records that it
    /// completes, of this run and its children, and what can be shown at once.
    pub fn poll<E: From<RecordError>>(
        &mut self,
        store: &Store,
        mut each: impl FnMut(Output) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = RecordError::from;
        if self.is_undecided {
            let begin = store.begin_of(&self.root).map_err(failed)?;
            if is_undecided(&begin) {
                return Ok(());
            }
            self.normalizer = live_normalizer(&begin)?;
            self.is_undecided = false;
        }
        if store.tape_lengths(&self.root).map_err(failed)?.total() <= self.read.total() {
            return Ok(());
        }
        let mut is_from_start = self.part == 0;
        loop {
            let chunks = store
                .tape_part(&self.root, self.part)
                .map_err(RecordError::from)?;
            let fits = |chunk: &TapeChunk| chunk.start <= self.read.of(chunk.stream);
            match chunks {
                Some(chunks) if chunks.iter().all(fits) || is_from_start => {
                    self.part += 1;
                    for chunk in chunks {
                        self.push(chunk, &mut each)?;
                    }
                }
                // Parts are put together when a run ends: what was not read yet is found by its place.
                None if is_from_start || self.is_at_end(store)? => return Ok(()),
                Some(_) | None => {
                    self.part = 0;
                    is_from_start = true;
                }
            }
        }
    }

    fn is_at_end(&self, store: &Store) -> Result<bool, RecordError> {
        Ok(store.tape_lengths(&self.root)?.total() <= self.read.total())
    }

    /// Gives what is new of a chunk to the normalizer, a line at a time: so what a line gives is known by itself.
    fn push<E>(
        &mut self,
        chunk: TapeChunk,
        each: &mut impl FnMut(Output) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(chunk) = beyond(chunk, self.read) else {
            return Ok(());
        };
        self.read.advance(chunk.stream, chunk.end());
        for line in chunk.bytes.split_inclusive(|byte| *byte == b'\n') {
            let (kept, at) = (Kept::as_given(line), chunk.received_at);
            each(self.normalizer.push(chunk.stream, kept, at))?;
        }
        Ok(())
    }

    /// Returns what the end of the run gives, once all of its tape was read: the last records, and what can be
    /// shown. For a run that has not ended, it is what there would be if nothing more came.
    pub fn finish(self, store: &Store) -> Result<Output, RecordError> {
        let exit = store.exit(&self.root)?;
        let exit = exit.map_or_else(Exit::unknown, |exit| exit_from_json(&exit));
        Ok(self.normalizer.finish(&exit))
    }
}

/// Tells whether the process of a run is, or was, watched while it ran.
fn is_watched(begin: &BeginRun) -> bool {
    !came_as_records(&begin.context) && !is_history_only(&begin.context)
}

/// Tells whether some process records a run right now.
pub fn is_recorded(store: &Store, run: &RunId) -> Result<bool, RecordError> {
    let info = store.run(run)?;
    let root = info.root_run_id.unwrap_or_else(|| run.clone());
    let is_open = !info.status.is_terminal();
    Ok(is_open && is_watched(&store.begin_of(&root)?) && store.is_written(&root)?)
}

/// Tells whether a run is open and nobody will ever end it, unless by [`recover`](crate::recover).
pub fn has_lost_its_recorder(store: &Store, run: &RunId) -> Result<bool, RecordError> {
    let info = store.run(run)?;
    let root = info.root_run_id.unwrap_or_else(|| run.clone());
    // Asked in this order: a recorder lets go of a run only after it ended it.
    let is_lost = is_watched(&store.begin_of(&root)?) && !store.is_written(&root)?;
    Ok(is_lost && !store.run(run)?.status.is_terminal())
}
