//! The thread that listens to a command until it has ended and its output is closed.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use runtape_normalizer::Exit;

use super::child::{Child, Happening};
use super::keeper::Keeper;
use super::output_chunk::OutputChunk;
use super::{Recorded, RecordingOptions, Shown, Watch};
use crate::detached_run::{DetachedRun, Ended};

/// How long somebody who watches too slowly is given before they are asked again.
const PAUSE: Duration = Duration::from_millis(5);

/// Listens to a command, and hands on what it prints.
pub(super) struct Attendant<'a> {
    child: &'a mut Child,
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
}

impl<'a> Attendant<'a> {
    pub(super) fn new(
        child: &'a mut Child,
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
        }
    }

    /// Listens until the command has ended and its output is closed, or the grace period is over.
    pub(super) fn attend(mut self) -> Recorded {
        let mut open_streams = 2;
        while self.exit.is_none() || open_streams > 0 {
            match self.next() {
                Ok(Happening::Output(chunk)) => self.push(chunk),
                Ok(Happening::Closed) => open_streams -= 1,
                Ok(Happening::Ended(exit)) => {
                    self.exit = Some(exit);
                    // Processes that the command started may keep its output open, but not for ever.
                    self.deadline = Some(Instant::now() + self.grace);
                }
                Ok(Happening::Stop) => self.ask(),
                Err(RecvTimeoutError::Timeout) if self.exit.is_some() => {
                    if self.is_asked {
                        self.child.signal(Signal::SIGKILL);
                    }
                    break;
                }
                Err(RecvTimeoutError::Timeout) => self.enforce(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.child.let_go();
        self.finish()
    }

    fn next(&self) -> Result<Happening, RecvTimeoutError> {
        let happenings = &self.child.happenings;
        match self.deadline {
            Some(at) => happenings.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => happenings
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        }
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
        let printed = self
            .run
            .push(output.stream, output.bytes, output.received_at);
        let chunk = printed.chunk;
        match self.watch {
            Watch::Nothing => {}
            Watch::Items => self.show(Shown::Items {
                items: printed.live,
                bytes: chunk.bytes.len(),
            }),
            Watch::Bytes => self.show(Shown::Bytes(chunk.stream, chunk.bytes.clone())),
        }
        self.keeper.push(chunk, printed.records, output.room);
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
            ..self.exit.take().unwrap_or_default()
        };
        let Ended {
            summary,
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
        let kept = self.keeper.finish(exit.clone(), records);
        Recorded {
            exit,
            summary,
            kept,
        }
    }
}
