//! The thread that listens to a command until it has ended and its output is closed.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use runtape_core::Stream;
use runtape_normalizer::Exit;
use runtape_store::TapeChunk;

use super::child::{GroupedProcess, Happening};
use super::output_chunk::OutputChunk;
use super::{Recorded, RecordingOptions, Shown, Watch};
use crate::clock::Clock;
use crate::detached_run::{DetachedRun, Ended, Printed};
use crate::keeping::{Keeper, Room};

/// How long somebody who watches too slowly is given before they are asked again.
const PAUSE: Duration = Duration::from_millis(5);

/// Listens to a command, and hands on what it prints.
pub(super) struct Attendant<'a> {
    child: &'a mut GroupedProcess,
    run: DetachedRun,
    keeper: Keeper,
    /// Those who watch, as long as they do.
    watchers: Option<SyncSender<Shown>>,
    watch: Watch,
    grace: Duration,
    /// When the command is asked to end because its time is over, or killed because it did not end.
    deadline: Option<Instant>,
    exit: Option<Exit>,
    /// The command was asked to end.
    is_asked: bool,
    is_timed_out: bool,
    /// Bytes of standard input that were passed on and not kept.
    unkept_input: u64,
    clock: Clock,
}

impl<'a> Attendant<'a> {
    pub(super) fn new(
        child: &'a mut GroupedProcess,
        run: DetachedRun,
        keeper: Keeper,
        watchers: Option<SyncSender<Shown>>,
        options: &RecordingOptions,
    ) -> Self {
        Self {
            child,
            run,
            keeper,
            watchers,
            watch: options.watch,
            grace: options.grace,
            deadline: options.timeout.map(|timeout| Instant::now() + timeout),
            exit: None,
            is_asked: false,
            is_timed_out: false,
            unkept_input: 0,
            clock: options.clock.clone(),
        }
    }

    /// Listens until the command has ended and its output is closed, or the grace period is over.
    pub(super) fn attend(mut self) -> Recorded {
        let mut open_streams = 2;
        while self.exit.is_none() || open_streams > 0 {
            match self.next() {
                Ok(Happening::Output(chunk)) => self.push(chunk),
                Ok(Happening::Closed) => open_streams -= 1,
                Ok(Happening::Input(bytes, at)) => {
                    let printed = self.run.push(Stream::Stdin, &bytes, at);
                    self.hand_on(printed, 0, None);
                }
                Ok(Happening::InputEnded { unkept }) => {
                    self.unkept_input = unkept;
                    let printed = self.run.end(Stream::Stdin);
                    self.hand_on(printed, 0, None);
                }
                Ok(Happening::Ended(exit)) => {
                    self.exit = Some(exit);
                    // Processes that the command started may keep its output open, but not for ever.
                    self.deadline = Some(Instant::now() + self.grace);
                }
                Ok(Happening::Stop) => self.ask(),
                Err(RecvTimeoutError::Timeout) if self.exit.is_some() => break,
                Err(RecvTimeoutError::Timeout) => self.enforce(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.child.stop_listening();
        if self.is_asked {
            // What was stopped leaves nothing behind, not even what let go of the output.
            self.child.end_rest(self.deadline);
        }
        self.child.let_go();
        self.finish()
    }

    /// Waits for what happens next. What is held back for the rest of a secret is handed on meanwhile, when its time
    /// is over.
    fn next(&mut self) -> Result<Happening, RecvTimeoutError> {
        loop {
            let held = self.held_until();
            let until = self.deadline.into_iter().chain(held).min();
            let happenings = &self.child.happenings;
            let happened = match until {
                Some(at) => happenings.recv_timeout(at.saturating_duration_since(Instant::now())),
                None => happenings
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected),
            };
            let is_due = self.deadline.is_some_and(|at| at <= Instant::now());
            match happened {
                Err(RecvTimeoutError::Timeout) if !is_due => {
                    let printed = self.run.expire(self.clock.now());
                    self.hand_on(printed, 0, None);
                }
                happened => return happened,
            }
        }
    }

    /// Returns until when something is held back for the rest of a secret.
    fn held_until(&self) -> Option<Instant> {
        let left = self.run.expires_at()?.saturating_sub(self.clock.now());
        let left = u64::try_from(left).unwrap_or_default();
        // Times are whole milliseconds: one more, so that it is over by then.
        Some(Instant::now() + Duration::from_millis(left.saturating_add(1)))
    }

    /// Asks the command to end, once.
    fn ask(&mut self) {
        if self.is_asked || self.exit.is_some() {
            return;
        }
        self.is_asked = true;
        self.child.signal(Signal::SIGTERM);
        self.deadline = Some(Instant::now() + self.grace);
    }

    /// Does what is due: asks a command to end whose time is over, and ends one that was asked.
    fn enforce(&mut self) {
        if self.is_asked {
            self.child.signal(Signal::SIGKILL);
            // No process survives SIGKILL, so nothing else will be due.
            self.deadline = None;
        } else {
            self.is_timed_out = true;
            self.ask();
        }
    }

    fn push(&mut self, output: OutputChunk) {
        let OutputChunk {
            stream,
            bytes,
            received_at,
            room,
        } = output;
        let printed = self.run.push(stream, &bytes, received_at);
        let length = bytes.len();
        if self.watch == Watch::Bytes {
            self.show(Shown::Bytes(stream, bytes));
        }
        self.hand_on(printed, length, Some(room));
    }

    /// Hands on what came out of so many bytes of output: to those who watch, and to the one who keeps it.
    fn hand_on(&mut self, printed: Printed, bytes: usize, room: Option<Room>) {
        if self.watch == Watch::Items {
            if self.run.is_unread()
                && let Some(text) = unread_text(&printed.chunks)
            {
                self.show(Shown::Unread(text));
            }
            self.show(Shown::Items {
                items: printed.live,
                bytes,
            });
        }
        if let Some(decided) = printed.decided {
            self.keeper.decide(decided);
        }
        self.keeper.push(printed.chunks, printed.records, room);
    }

    /// Waits for those who watch, but not beyond what is due.
    fn show(&mut self, mut shown: Shown) {
        while let Some(watchers) = &self.watchers {
            match watchers.try_send(shown) {
                Ok(()) => return,
                Err(TrySendError::Disconnected(_)) => {
                    self.watchers = None;
                    return;
                }
                Err(TrySendError::Full(back)) => shown = back,
            }
            let is_due = self.deadline.is_some_and(|at| at <= Instant::now());
            if is_due && self.exit.is_none() {
                self.enforce();
            }
            thread::sleep(PAUSE);
        }
    }

    fn finish(mut self) -> Recorded {
        let exit = Exit {
            timed_out: self.is_timed_out,
            stopped: self.child.is_stopped(),
            unkept_input: self.unkept_input,
            ..self.exit.take().unwrap_or_default()
        };
        let Ended {
            summary,
            decided,
            exit,
            chunks,
            records,
            live,
        } = self.run.finish(&exit);
        if self.watch == Watch::Items
            && let Some(watchers) = &self.watchers
        {
            // Whoever watched may have gone away.
            let _ = watchers.send(Shown::Items {
                items: live,
                bytes: 0,
            });
        }
        drop(self.watchers);
        if let Some(decided) = decided {
            self.keeper.decide(decided);
        }
        let kept = self.keeper.finish(exit.clone(), records, chunks);
        Recorded {
            exit,
            summary,
            kept,
        }
    }
}

/// Returns the text of standard output in some pieces of the tape.
fn unread_text(chunks: &[TapeChunk]) -> Option<String> {
    let printed = chunks.iter().filter(|chunk| chunk.stream == Stream::Stdout);
    let text: Vec<u8> = printed.flat_map(|chunk| chunk.bytes.clone()).collect();
    (!text.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned())
}
