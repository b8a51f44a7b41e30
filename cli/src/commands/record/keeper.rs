//! The thread that stores: a full disk or a locked database holds it up, and nobody else.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use runtape::{Detached, Recorder, RunContext, Spool};
use runtape_core::Runtime;
use runtape_normalizer::Exit;
use runtape_store::{Store, TapeChunk};

use super::piece::Piece;
use crate::database::Database;
use crate::spool_directory as spool;
use crate::times;

/// How often what has arrived is written.
const TICK: Duration = Duration::from_millis(50);

/// What is to be kept.
enum Message {
    Output(Piece),
    Exit(Exit),
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
    pub(super) fn start(database: Database, runtime: Runtime, context: RunContext) -> Self {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || keep(&database, &runtime, &context, &receiver));
        Self { sender, thread }
    }

    /// Hands over what the process printed.
    pub(super) fn push(&self, piece: Piece) {
        // The thread ends only after the exit.
        let _ = self.sender.send(Message::Output(piece));
    }

    /// Ends the run, and waits until it is kept.
    pub(super) fn finish(self, exit: Exit) -> Kept {
        let _ = self.sender.send(Message::Exit(exit));
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

/// Where output goes.
enum State<'a> {
    Storing(Box<Recorder<'a>>),
    Spooling(Box<Detached>),
    /// The runtime cannot be read, which was checked before.
    Nowhere,
}

fn keep(
    database: &Database,
    runtime: &Runtime,
    context: &RunContext,
    receiver: &Receiver<Message>,
) -> Kept {
    let started_at = times::now();
    let mut spooler = Spooler {
        runtime,
        context,
        started_at,
        spool: None,
        kept: Kept::default(),
    };
    let mut store = database
        .open_for_recording()
        .map_err(|error| spooler.kept.fault = Some(error.to_string()))
        .ok();
    let mut state = start(store.as_mut(), &mut spooler);
    let exit = loop {
        match receiver.recv_timeout(TICK) {
            Ok(Message::Output(piece)) => state = push(state, &mut spooler, &piece),
            Ok(Message::Exit(exit)) => break exit,
            Err(RecvTimeoutError::Timeout) => state = tick(state, &mut spooler),
            Err(RecvTimeoutError::Disconnected) => break Exit::lost(),
        }
    };
    let stored = match state {
        State::Storing(mut recorder) => match recorder.flush() {
            Ok(()) => recorder
                .close(&exit, times::now())
                .map(drop)
                .map_err(|error| error.to_string()),
            Err(error) => {
                let (_, chunks) = recorder.detach();
                for chunk in &chunks {
                    spooler.push(chunk);
                }
                Err(error.to_string())
            }
        },
        State::Spooling(_) | State::Nowhere => Err(String::new()),
    };
    match stored {
        Ok(()) => spooler.kept,
        Err(fault) => {
            spooler.kept.fault.get_or_insert(fault);
            spooler.finish(&exit)
        }
    }
}

fn start<'a>(store: Option<&'a mut Store>, spooler: &mut Spooler<'_>) -> State<'a> {
    let (runtime, context) = (spooler.runtime, spooler.context);
    if let Some(store) = store {
        match Recorder::start(store, runtime.clone(), context, spooler.started_at) {
            Ok(recorder) => return State::Storing(Box::new(recorder.without_summary())),
            Err(error) => spooler.kept.fault = Some(error.to_string()),
        }
    }
    match Detached::start(runtime.clone(), context) {
        Ok(detached) => State::Spooling(Box::new(detached)),
        Err(_) => State::Nowhere,
    }
}

fn push<'a>(state: State<'a>, spooler: &mut Spooler<'_>, piece: &Piece) -> State<'a> {
    let (stream, bytes, at) = (piece.stream, piece.bytes.as_slice(), piece.received_at);
    match state {
        State::Storing(mut recorder) => {
            recorder.take(stream, bytes, at);
            tick(State::Storing(recorder), spooler)
        }
        State::Spooling(mut detached) => {
            let (chunk, _) = detached.push(stream, bytes, at);
            spooler.push(&chunk);
            State::Spooling(detached)
        }
        State::Nowhere => {
            spooler.kept.lost += bytes.len() as u64;
            State::Nowhere
        }
    }
}

/// Writes what is due; if the store fails, goes on with a spool file.
fn tick<'a>(state: State<'a>, spooler: &mut Spooler<'_>) -> State<'a> {
    let State::Storing(mut recorder) = state else {
        return state;
    };
    match recorder.tick(times::now()) {
        Ok(()) => State::Storing(recorder),
        Err(error) => {
            spooler.kept.fault = Some(error.to_string());
            let (detached, chunks) = recorder.detach();
            for chunk in &chunks {
                spooler.push(chunk);
            }
            State::Spooling(Box::new(detached))
        }
    }
}
