//! What becomes of output that the store does not take.

use std::collections::VecDeque;
use std::path::PathBuf;

use runtape_core::{Runtime, Stream};
use runtape_normalizer::{Context, Exit, MissingOutput};
use runtape_store::TapeChunk;

use crate::recover::exit_note;
use crate::spool::{Spool, SpoolDirectories, SpoolOwner};
use crate::store_handle::StoreHandle;
use crate::undecided::DecidedRuntime;

/// How keeping went.
#[derive(Debug, Default)]
pub struct KeepingEnd {
    /// Why the store failed, if it did.
    pub fault: Option<String>,
    /// The spool file that holds what the store did not take.
    pub spool: Option<PathBuf>,
    /// The output that is kept nowhere, if any.
    pub missing: Option<MissingOutput>,
}

/// What goes to a spool file, made when it is first needed.
pub(super) struct Spooler {
    pub(super) runtime: Runtime,
    pub(super) context: Context,
    pub(super) started_at: i64,
    /// The database that the run belongs to.
    pub(super) owner: SpoolOwner,
    places: SpoolDirectories,
    /// Directories where a spool file was not tried yet; absent before the first one is needed.
    directories: Option<VecDeque<PathBuf>>,
    spool: Option<Spool>,
    kept: KeepingEnd,
}

impl Spooler {
    pub(super) fn new(
        runtime: Runtime,
        context: Context,
        started_at: i64,
        owner: SpoolOwner,
        places: SpoolDirectories,
    ) -> Self {
        Self {
            runtime,
            context,
            started_at,
            owner,
            places,
            directories: None,
            spool: None,
            kept: KeepingEnd::default(),
        }
    }

    /// Returns how keeping went, if the store has all of the run.
    pub(super) fn into_kept(self) -> KeepingEnd {
        self.kept
    }

    /// Learns what the first lines told. A file that was begun before is read as they are.
    pub(super) fn decide(&mut self, decided: DecidedRuntime) {
        (self.runtime, self.context) = (decided.runtime, decided.context);
    }

    /// Keeps in mind why the store failed.
    pub(super) fn note(&mut self, fault: &impl ToString) {
        self.kept.fault.get_or_insert_with(|| fault.to_string());
    }

    /// Goes on with a spool file in the next directory: a copy of the one before.
    fn next_spool(&mut self) -> bool {
        let (owner, places) = (&self.owner, &self.places);
        let directories = self
            .directories
            .get_or_insert_with(|| places.of(owner).into());
        while let Some(directory) = directories.pop_front() {
            let made = places
                .make(&directory)
                .and_then(|()| match &mut self.spool {
                    Some(spool) => spool.move_to(&directory),
                    none => {
                        let (runtime, context) = (&self.runtime, &self.context);
                        let made =
                            Spool::create(&directory, owner, runtime, context, self.started_at);
                        *none = Some(made?);
                        Ok(())
                    }
                });
            if made.is_ok() {
                self.kept.spool = self.spool.as_ref().map(|spool| spool.path().to_owned());
                return true;
            }
        }
        false
    }

    /// Keeps a piece of output in the spool file.
    pub(super) fn push(&mut self, chunk: &TapeChunk) {
        // After a first failure there is no second try: the tape would have a hole.
        if self.kept.missing.is_none() {
            loop {
                if let Some(spool) = &mut self.spool
                    && spool.push(chunk).is_ok()
                {
                    return;
                }
                if !self.next_spool() {
                    break;
                }
            }
        }
        let missing = self.kept.missing.get_or_insert_default();
        missing.bytes += chunk.bytes.len() as u64;
        let from = match chunk.stream {
            Stream::Stdout => &mut missing.stdout_from,
            Stream::Stderr => &mut missing.stderr_from,
            // No records are made from these streams: that their bytes are counted is enough.
            Stream::Stdin | Stream::History => return,
        };
        from.get_or_insert(chunk.start);
    }

    /// Says how the process ended: in the spool file, or else in a note beside the run.
    pub(super) fn finish(mut self, mut exit: Exit, store: Option<&StoreHandle>) -> KeepingEnd {
        exit.missing = self.kept.missing;
        if self.spool.is_none() && exit.missing.is_none() {
            self.next_spool();
        }
        let told = self.spool.take().map(|spool| spool.finish(&exit));
        if (exit.missing.is_some() || !matches!(told, Some(Ok(()))))
            && let Some(store) = store
        {
            // If the note cannot be left either, nothing is left that could hold the exit.
            let note = exit_note(&exit);
            let _ = store.lock().leave_note(&self.context.run_id, &note);
        }
        self.kept
    }
}
