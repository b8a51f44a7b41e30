//! The thread that stores: a full disk or a locked database holds it up, and nobody else.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use runtape_core::{Record, Runtime, Stream};
use runtape_normalizer::{Context, Exit, MissingOutput};
use runtape_store::TapeChunk;

use super::RecordingOptions;
use super::destination::Destination;
use super::output_chunk::Room;
use crate::batch_writer::BatchWriter;
use crate::clock::Clock;
use crate::error::RecordError;
use crate::recover::exit_note;
use crate::spool::{Spool, SpoolDirectories, SpoolOwner};
use crate::store_handle::StoreHandle;

/// How often what has arrived is written.
const TICK: Duration = Duration::from_millis(50);

/// What is to be kept.
enum Message {
    /// What is kept of a piece of output, the records it completes, and the room it takes until it is kept.
    Output(Vec<TapeChunk>, Vec<Record>, Option<Room>),
    /// How the process ended, the last records, and the last of the output.
    Exit(Exit, Vec<Record>, Vec<TapeChunk>),
}

/// Hands output to the thread that stores it.
pub(super) struct Keeper {
    sender: Sender<Message>,
    thread: JoinHandle<Kept>,
}

/// How keeping went.
#[derive(Debug, Default)]
pub struct Kept {
    /// Why the store failed, if it did.
    pub fault: Option<String>,
    /// The spool file that holds what the store did not take.
    pub spool: Option<PathBuf>,
    /// The output that is kept nowhere, if any.
    pub missing: Option<MissingOutput>,
}

impl Keeper {
    /// Starts keeping a run.
    pub(super) fn start(
        destination: Destination,
        runtime: Runtime,
        context: Context,
        started_at: i64,
        options: &RecordingOptions,
    ) -> Self {
        let (sender, receiver) = channel();
        let (places, clock) = (options.spool.clone(), options.clock.clone());
        let thread = thread::spawn(move || {
            let Destination { owner, open } = destination;
            let mut spooler = Spooler {
                runtime: &runtime,
                context: &context,
                started_at,
                owner,
                places,
                directories: None,
                spool: None,
                kept: Kept::default(),
            };
            let store = open().map_err(|error| spooler.note(&error)).ok();
            keep(store.as_ref(), spooler, &receiver, &clock)
        });
        Self { sender, thread }
    }

    /// Hands over what the process printed.
    pub(super) fn push(&self, chunks: Vec<TapeChunk>, records: Vec<Record>, room: Option<Room>) {
        // The thread ends only after the exit.
        let _ = self.sender.send(Message::Output(chunks, records, room));
    }

    /// Ends the run, and waits until it is kept.
    pub(super) fn finish(self, exit: Exit, records: Vec<Record>, chunks: Vec<TapeChunk>) -> Kept {
        let _ = self.sender.send(Message::Exit(exit, records, chunks));
        self.thread.join().unwrap_or_else(|_| Kept {
            fault: Some("the thread that stores panicked, please report this".to_owned()),
            ..Kept::default()
        })
    }
}

/// What goes to a spool file, made when it is first needed.
struct Spooler<'a> {
    runtime: &'a Runtime,
    context: &'a Context,
    started_at: i64,
    /// The database that the run belongs to.
    owner: SpoolOwner,
    places: SpoolDirectories,
    /// Directories where a spool file was not tried yet; absent before the first one is needed.
    directories: Option<VecDeque<PathBuf>>,
    spool: Option<Spool>,
    kept: Kept,
}

impl Spooler<'_> {
    /// Keeps in mind why the store failed.
    fn note(&mut self, fault: &impl ToString) {
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
                        let (runtime, context) = (self.runtime, self.context);
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

    fn push(&mut self, chunk: &TapeChunk) {
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
    fn finish(mut self, mut exit: Exit, store: Option<&StoreHandle>) -> Kept {
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

/// Stores the output that arrives. Once the store has failed, output goes to the spool file.
fn keep(
    store: Option<&StoreHandle>,
    mut spooler: Spooler<'_>,
    receiver: &Receiver<Message>,
    clock: &Clock,
) -> Kept {
    let mut writer = store.and_then(|store| begin(store, &mut spooler));
    let exit = loop {
        let (chunks, records, end) = match receiver.recv_timeout(TICK) {
            Ok(Message::Output(chunks, records, _room)) => (chunks, records, None),
            Ok(Message::Exit(exit, records, chunks)) => (chunks, records, Some(exit)),
            Err(RecvTimeoutError::Timeout) => (Vec::new(), Vec::new(), None),
            Err(RecvTimeoutError::Disconnected) => break Exit::lost(),
        };
        match &mut writer {
            Some(writer) => writer.add(records, chunks),
            None => chunks.iter().for_each(|chunk| spooler.push(chunk)),
        }
        if let Some(exit) = end {
            break exit;
        }
        writer = written(writer, &mut spooler, BatchWriter::tick);
    };
    let writer = written(writer, &mut spooler, |writer| {
        writer.finish(&exit, clock.now()).map(drop)
    });
    if writer.is_some() {
        return spooler.kept;
    }
    spooler.finish(exit, store)
}

fn begin(store: &StoreHandle, spooler: &mut Spooler<'_>) -> Option<BatchWriter> {
    if let Ok(owner) = SpoolOwner::of(&store.lock()) {
        spooler.owner = owner;
    }
    let (runtime, context) = (spooler.runtime.clone(), spooler.context);
    let begun = BatchWriter::begin(store.clone(), runtime, context, spooler.started_at);
    begun.map_err(|error| spooler.note(&error)).ok()
}

/// Does some work with a writer; if the store fails, what it could not write is spooled.
fn written(
    writer: Option<BatchWriter>,
    spooler: &mut Spooler<'_>,
    work: impl FnOnce(&mut BatchWriter) -> Result<(), RecordError>,
) -> Option<BatchWriter> {
    let mut writer = writer?;
    let Err(error) = work(&mut writer) else {
        return Some(writer);
    };
    spooler.note(&error);
    if error.is_database_gone() {
        // The run goes to whatever database is at the path when it is taken in.
        spooler.owner.id = None;
    }
    writer.give_up(&error, |chunk| spooler.push(chunk));
    None
}
