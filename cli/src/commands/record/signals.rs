//! Signals that the recorder is sent: the command gets them, too.

use std::io::Write;
use std::thread;

use runtape_recorder::process::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM};

use crate::error::CliError;

/// Signals that arrive from now on.
pub(super) struct Signals(signal_hook::iterator::Signals);

/// What is done about an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// The command gets it.
    PassOn,
    /// The command is asked to end.
    Ask,
    /// The command is killed.
    Kill,
}

impl Answer {
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

impl Signals {
    /// Begins to listen for signals that would end this process.
    pub(super) fn listen() -> Result<Self, CliError> {
        let signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]);
        signals.map(Self).map_err(|error| CliError::System {
            what: "failed to listen for signals",
            error,
        })
    }

    /// Passes on what has arrived and what will.
    pub(super) fn pass_on(mut self, to: Control) {
        thread::spawn(move || {
            let mut interrupts = 0;
            for signal in self.0.forever() {
                match signal {
                    // Whoever asks the recorder to end wants the command to end, too: one that does
                    // not within the grace period is killed.
                    SIGTERM => to.stop(),
                    SIGINT => {
                        let answer = Answer::to_interrupt(interrupts);
                        interrupts += 1;
                        match answer {
                            Answer::PassOn => to.signal(SIGINT),
                            Answer::Ask => to.stop(),
                            Answer::Kill => to.signal(SIGKILL),
                        }
                        // Where nothing can be written, nobody can be told.
                        let _ = writeln!(std::io::stderr(), "runtape: {}", answer.text());
                    }
                    other => to.signal(other),
                }
            }
        });
    }
}
