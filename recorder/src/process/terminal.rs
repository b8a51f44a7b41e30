//! The terminal that a command is given the foreground of.

use std::fs::File;
use std::io::{self, IsTerminal};

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// The terminal that this process had the foreground of.
pub(super) struct Terminal {
    tty: File,
    ours: Pid,
}

impl Terminal {
    /// Finds the terminal if this process has its foreground and nothing else shares it.
    pub(super) fn find() -> Option<Self> {
        // In a pipeline the other commands need the foreground as well.
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return None;
        }
        let terminal = Self::open()?;
        (tcgetpgrp(&terminal.tty) == Ok(terminal.ours)).then_some(terminal)
    }

    /// Opens the terminal, whoever has its foreground.
    pub(super) fn open() -> Option<Self> {
        let mut options = File::options();
        let tty = options.read(true).write(true).open("/dev/tty").ok()?;
        let ours = getpgrp();
        Some(Self { tty, ours })
    }

    /// Puts a group into the foreground.
    pub(super) fn give(&self, group: Pid) {
        // From the background this sends SIGTTOU, which would stop us unless it is blocked.
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTTOU);
        let before = blocked.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK);
        let _ = tcsetpgrp(&self.tty, group);
        if let Ok(before) = before {
            let _ = before.thread_set_mask();
        }
    }

    /// Puts this process into the foreground again.
    pub(super) fn take_back(&self) {
        self.give(self.ours);
    }
}
