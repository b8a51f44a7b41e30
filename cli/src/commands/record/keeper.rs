//! The thread that stores: a full disk or a locked database holds it up, and nobody else.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use runtape::{RecordError, RunContext, Spool, Writer};
use runtape_core::{Record, Runtime};
use runtape_normalizer::Exit;
use runtape_store::{Store, TapeChunk};

use super::piece::Room;
use crate::database::Database;
use crate::spool_directory as spool;
use crate::times;

/// How often what has arrived is written.
const TICK: Duration = Duration::from_millis(50);

/// What is to be kept.
enum Message {
    /// A piece of output, the records it completes, and the room it takes until it is kept.
    Output(TapeChunk, Vec<Record>, Room),
    /// How the process ended, and the last records.
    Exit(Exit, Vec<Record>),
}

/// Hands output to the thread that stores it.
pub(super) struct Keeper {
    sender: Sender<Message>,
    thread: JoinHandle<Kept>,
}

/// How keeping went.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Why the store failed, if it did.
    pub(super) fault: Option<String>,
    /// Where the rest was put instead.
    pub(super) spool: Option<PathBuf>,
    /// Bytes of output that are kept nowhere.
    pub(super) lost: u64,
}

impl Keeper {
    /// Starts keeping a run.
    pub(super) fn start(
        database: Database,
        runtime: Runtime,
        context: RunContext,
        started_at: i64,
    ) -> Self {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            let spooler = Spooler {
                runtime: &runtime,
                context: &context,
                started_at,
                spool: None,
                kept: Kept::default(),
            };
            keep(&database, spooler, &receiver)
        });
        Self { sender, thread }
    }

    /// Hands over what the process printed.
    pub(super) fn push(&self, chunk: TapeChunk, records: Vec<Record>, room: Room) {
        // The thread ends only after the exit.
        let _ = self.sender.send(Message::Output(chunk, records, room));
    }

    /// Ends the run, and waits until it is kept.
    pub(super) fn finish(self, exit: Exit, records: Vec<Record>) -> Kept {
        let _ = self.sender.send(Message::Exit(exit, records));
        self.thread.join().unwrap_or_else(|_| Kept {
            fault: Some("the thread that stores panicked, please report this".to_owned()),
            ..Kept::default()
        })
    }
}

/// What goes to a spool file, made when it is first needed.
struct Spooler<'a> {
    runtime: &'a Runtime,
    context: &'a RunContext,
    started_at: i64,
    spool: Option<Spool>,
    kept: Kept,
}

impl Spooler<'_> {
    /// Keeps in mind why the store failed.
    fn note<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result
            .map_err(|fault| self.kept.fault.get_or_insert(fault).clone())
            .ok()
    }

    fn spool(&mut self) -> Option<&mut Spool> {
        // After a first failure there is no second try: the file would have a hole.
        if self.spool.is_none() && self.kept.lost == 0 {
            let directory = spool::directory();
            let made = Spool::create(&directory, self.runtime, self.context, self.started_at);
            self.spool = made.ok();
            self.kept.spool = self.spool.as_ref().map(|spool| spool.path().to_owned());
        }
        self.spool.as_mut()
    }

    fn push(&mut self, chunk: &TapeChunk) {
        let pushed = self.spool().map(|spool| spool.push(chunk));
        if !matches!(pushed, Some(Ok(()))) {
            self.kept.lost += chunk.bytes.len() as u64;
            self.spool = None;
        }
    }

    fn finish(mut self, exit: &Exit) -> Kept {
        if self.spool().is_some()
            && let Some(spool) = self.spool.take()
        {
            // Without its last line the file still tells all but the exit.
            let _ = spool.finish(exit);
        }
        self.kept
    }
}

/// Stores what comes; once the store has failed, it goes to the spool file.
fn keep(database: &Database, mut spooler: Spooler<'_>, receiver: &Receiver<Message>) -> Kept {
    let opened = database.open_for_recording();
    let mut store = spooler.note(opened.map_err(|error| error.to_string()));
    let mut writer = store.as_mut().and_then(|store| begin(store, &mut spooler));
    let (exit, records) = loop {
        match receiver.recv_timeout(TICK) {
            Ok(Message::Output(chunk, records, _room)) => match &mut writer {
                Some(writer) => writer.add(records, Some(chunk)),
                None => spooler.push(&chunk),
            },
            Ok(Message::Exit(exit, records)) => break (exit, records),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break (Exit::lost(), Vec::new()),
        }
        writer = written(writer, &mut spooler, |writer| writer.tick(times::now()));
    };
    let writer = written(writer, &mut spooler, |writer| {
        writer.add(records, None);
        writer.finish(&exit, times::now()).map(drop)
    });
    match writer {
        Some(_) => spooler.kept,
        None => spooler.finish(&exit),
    }
}

fn begin<'a>(store: &'a mut Store, spooler: &mut Spooler<'_>) -> Option<Writer<'a>> {
    let (runtime, context) = (spooler.runtime.clone(), spooler.context);
    let begun = Writer::begin(store, runtime, context, spooler.started_at);
    spooler.note(begun.map_err(|error| error.to_string()))
}

/// Does some work with a writer; if the store fails, what it could not write is spooled.
fn written<'a>(
    writer: Option<Writer<'a>>,
    spooler: &mut Spooler<'_>,
    work: impl FnOnce(&mut Writer<'a>) -> Result<(), RecordError>,
) -> Option<Writer<'a>> {
    let mut writer = writer?;
    let worked = work(&mut writer);
    if spooler
        .note(worked.map_err(|error| error.to_string()))
        .is_some()
    {
        return Some(writer);
    }
    for chunk in writer.into_unwritten() {
        spooler.push(&chunk);
    }
    None
}
