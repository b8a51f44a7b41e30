//! The thread that stores: a full disk or a locked database holds it up, and nobody else.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use runtape_core::{Record, Runtime};
use runtape_normalizer::{Context, Exit};
use runtape_store::TapeChunk;

use super::destination::Destination;
use super::room::Room;
use super::spooler::{KeepingEnd, Spooler};
use crate::batch_writer::BatchWriter;
use crate::clock::Clock;
use crate::error::RecordError;
use crate::spool::{SpoolDirectories, SpoolOwner};
use crate::store_handle::StoreHandle;
use crate::undecided::DecidedRuntime;

/// How often what has arrived is written.
const TICK: Duration = Duration::from_millis(50);

/// What is to be kept.
enum ToKeep {
    /// What the first lines told of the runtime.
    Decided(Box<DecidedRuntime>),
    /// What is kept of a piece of output, the records it completes, and the room it takes until it is kept.
    Output(Vec<TapeChunk>, Vec<Record>, Option<Room>),
    /// How the process ended, the last records, and the last of the output.
    Exit(Exit, Vec<Record>, Vec<TapeChunk>),
}

/// Hands output to the thread that stores it.
pub(crate) struct Keeper {
    sender: Sender<ToKeep>,
    thread: JoinHandle<KeepingEnd>,
}

impl Keeper {
    /// Starts keeping a run.
    pub(crate) fn start(
        destination: Destination,
        runtime: Runtime,
        context: Context,
        started_at: i64,
        places: SpoolDirectories,
        clock: Clock,
    ) -> Self {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            let Destination { owner, open } = destination;
            let mut spooler = Spooler::new(runtime, context, started_at, owner, places);
            let store = open().map_err(|error| spooler.note(&error)).ok();
            keep(store.as_ref(), spooler, &receiver, &clock)
        });
        Self { sender, thread }
    }

    /// Hands over what the first lines told, before the records that follow from it.
    pub(crate) fn decide(&self, decided: Box<DecidedRuntime>) {
        let _ = self.sender.send(ToKeep::Decided(decided));
    }

    /// Hands over what was printed.
    pub(crate) fn push(&self, chunks: Vec<TapeChunk>, records: Vec<Record>, room: Option<Room>) {
        // The thread ends only after the exit.
        let _ = self.sender.send(ToKeep::Output(chunks, records, room));
    }

    /// Ends the run, and waits until it is kept.
    pub(crate) fn finish(
        self,
        exit: Exit,
        records: Vec<Record>,
        chunks: Vec<TapeChunk>,
    ) -> KeepingEnd {
        let _ = self.sender.send(ToKeep::Exit(exit, records, chunks));
        self.thread.join().unwrap_or_else(|_| KeepingEnd {
            fault: Some("the thread that stores panicked, please report this".to_owned()),
            ..KeepingEnd::default()
        })
    }
}

/// Stores the output that arrives. Once the store has failed, output goes to the spool file.
fn keep(
    store: Option<&StoreHandle>,
    mut spooler: Spooler,
    receiver: &Receiver<ToKeep>,
    clock: &Clock,
) -> KeepingEnd {
    let mut writer = store.and_then(|store| begin(store, &mut spooler));
    let exit = loop {
        let (chunks, records, end) = match receiver.recv_timeout(TICK) {
            Ok(ToKeep::Decided(decided)) => {
                spooler.decide((*decided).clone());
                writer = written(writer, &mut spooler, |writer| writer.decide(&decided));
                continue;
            }
            Ok(ToKeep::Output(chunks, records, _room)) => (chunks, records, None),
            Ok(ToKeep::Exit(exit, records, chunks)) => (chunks, records, Some(exit)),
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
        return spooler.into_kept();
    }
    spooler.finish(exit, store)
}

fn begin(store: &StoreHandle, spooler: &mut Spooler) -> Option<BatchWriter> {
    if let Ok(owner) = SpoolOwner::of(&store.lock()) {
        spooler.owner = owner;
    }
    let runtime = spooler.runtime.clone();
    let begun = BatchWriter::begin(store.clone(), runtime, &spooler.context, spooler.started_at);
    begun.map_err(|error| spooler.note(&error)).ok()
}

/// Does some work with a writer; if the store fails, what it could not write is spooled.
fn written(
    writer: Option<BatchWriter>,
    spooler: &mut Spooler,
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
