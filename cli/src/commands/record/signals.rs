//! Signals that the recorder is sent, and interrupts that a terminal gives to the command.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use runtape_recorder::process::{Control, Interrupts};
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM};

use crate::error::CliError;

/// Signals that arrive from now on.
pub(super) struct Signals(signal_hook::iterator::Signals);

/// What is done about an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InterruptAction {
    /// The command gets it.
    PassOn,
    /// The command is asked to end.
    Ask,
    /// The command is killed.
    Kill,
}

impl InterruptAction {
    /// Returns what is done about an interrupt that so many came before.
    fn to_interrupt(before: u32) -> Self {
        match before {
            0 => Self::PassOn,
            1 => Self::Ask,
            _ => Self::Kill,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::PassOn => {
                "interrupted: the command was told; again asks it to end, a third time kills it"
            }
            Self::Ask => "interrupted again: the command was asked to end; once more kills it",
            Self::Kill => "interrupted a third time: the command was killed",
        }
    }
}

/// Counts interrupts, whichever way they came.
struct InterruptCounter {
    command: Control,
    count: AtomicU32,
    /// Whether interrupts that the command gets are heard: then those that are passed on are counted there, too.
    is_heard: AtomicBool,
}

impl InterruptCounter {
    /// Does what is due about an interrupt that this process was sent.
    fn sent_to_recorder(&self) {
        if self.is_heard.load(Ordering::Acquire) {
            self.command.signal(SIGINT);
            return;
        }
        if self.next() == InterruptAction::PassOn {
            self.command.signal(SIGINT);
        }
    }

    /// Does what is due about an interrupt that the command got by itself.
    fn heard_by_command(&self) {
        self.next();
    }

    /// Counts an interrupt, says and does what follows from how many there were.
    fn next(&self) -> InterruptAction {
        let answer = InterruptAction::to_interrupt(self.count.fetch_add(1, Ordering::AcqRel));
        match answer {
            InterruptAction::PassOn => {}
            InterruptAction::Ask => self.command.stop(),
            InterruptAction::Kill => self.command.signal(SIGKILL),
        }
        // Where nothing can be written, nobody can be told.
        let _ = writeln!(std::io::stderr(), "runtape: {}", answer.text());
        answer
    }
}

impl Signals {
    /// Begins to listen for signals that would end this process.
    pub(super) fn listen() -> Result<Self, CliError> {
        let signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]);
        signals.map(Self).map_err(|error| CliError::System {
            what: "failed to listen for signals",
            error,
        })
    }

    /// Passes on what has arrived and what will, and answers what a terminal sends to the command itself.
    /// Returns the thread that does the latter: it ends when the command is over and everything was said.
    pub(super) fn pass_on(
        mut self,
        to: Control,
        interrupts: Option<Interrupts>,
    ) -> Option<JoinHandle<()>> {
        let counter = Arc::new(InterruptCounter {
            command: to.clone(),
            count: AtomicU32::new(0),
            is_heard: AtomicBool::new(interrupts.is_some()),
        });
        let heard = Arc::clone(&counter);
        let answering = interrupts.map(|interrupts| {
            thread::spawn(move || {
                interrupts.for_each(|()| heard.heard_by_command());
                heard.is_heard.store(false, Ordering::Release);
            })
        });
        thread::spawn(move || {
            for signal in self.0.forever() {
                match signal {
                    // Whoever asks the recorder to end wants the command to end, too: one that does
                    // not within the grace period is killed.
                    SIGTERM => to.stop(),
                    SIGINT => counter.sent_to_recorder(),
                    other => to.signal(other),
                }
            }
        });
        answering
    }
}
