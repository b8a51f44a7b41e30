//! Signals that the recorder is sent: the command gets them, too.

use std::thread;

use runtape_recorder::process::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::error::CliError;

/// Signals that arrive from now on.
pub(super) struct Signals(signal_hook::iterator::Signals);

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
            for signal in self.0.forever() {
                if signal == SIGTERM {
                    // Whoever asks the recorder to end wants the command to end, too: one that does
                    // not within the grace period is killed.
                    to.stop();
                } else {
                    to.signal(signal);
                }
            }
        });
    }
}
