//! The recorded process: started, listened to, signalled and waited for.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, killpg, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use runtape_core::Stream;
use runtape_normalizer::{Exit, signal_name};

use super::leash::{self, Watcher};
use super::piece::{Budget, Piece};
use crate::error::CliError;
use crate::times;

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// What happens while a process is recorded.
pub(super) enum Happening {
    /// It printed something.
    Output(Piece),
    /// Nobody can print on this stream any more.
    Closed,
    /// It ended.
    Ended(Exit),
    /// The recorder was sent a signal.
    Signal(i32),
}

/// A process in a group of its own.
pub(super) struct Child {
    group: Pid,
    pub(super) happenings: Receiver<Happening>,
    terminal: Option<Terminal>,
    watcher: Option<Watcher>,
}

/// The terminal that the process was given the foreground of.
struct Terminal {
    tty: File,
    ours: Pid,
}

impl Terminal {
    /// Finds the terminal if this process has its foreground and nothing else shares it.
    fn find() -> Option<Self> {
        // In a pipeline the other commands need the foreground as well.
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return None;
        }
        let tty = File::options()
            .read(true)
            .write(true)
            .open("/dev/tty")
            .ok()?;
        let ours = getpgrp();
        (tcgetpgrp(&tty) == Ok(ours)).then_some(Self { tty, ours })
    }

    /// Puts a group into the foreground.
    fn give(&self, group: Pid) {
        // From the background this sends SIGTTOU, which would stop us unless it is blocked.
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTTOU);
        let before = blocked.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK);
        let _ = tcsetpgrp(&self.tty, group);
        if let Ok(before) = before {
            let _ = before.thread_set_mask();
        }
    }
}

impl Child {
    /// Starts a command and listens to it.
    pub(super) fn start(program: &str, arguments: &[String]) -> Result<Self, CliError> {
        let failed = |error| CliError::Spawn {
            program: program.to_owned(),
            error,
        };
        leash::check(program).map_err(failed)?;
        let (sender, happenings) = channel();
        // Before the process is there, so that no signal gets lost in between.
        listen_for_signals(sender.clone())?;
        let mut process = leash::command(program, arguments)
            .stdin(Stdio::inherit())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let group = Pid::from_raw(i32::try_from(process.id()).unwrap_or(i32::MAX));
        let watcher = Watcher::start(group);
        let terminal = Terminal::find();
        if let Some(terminal) = &terminal {
            terminal.give(group);
            // It may have asked for the terminal before it had it, and been stopped.
            let _ = killpg(group, Signal::SIGCONT);
        }
        let budget = Arc::new(Budget::default());
        if let Some(stdout) = process.stdout.take() {
            read(Stream::Stdout, stdout, sender.clone(), Arc::clone(&budget));
        }
        if let Some(stderr) = process.stderr.take() {
            read(Stream::Stderr, stderr, sender.clone(), budget);
        }
        let waiting = terminal.is_some().then(Terminal::find_again).flatten();
        thread::spawn(move || {
            let exit = wait(group, waiting.as_ref());
            // Nobody listens any more if the recorder gave up waiting.
            let _ = sender.send(Happening::Ended(exit));
        });
        Ok(Self {
            group,
            happenings,
            terminal,
            watcher,
        })
    }

    /// Sends a signal to the process and all that it started.
    pub(super) fn signal(&self, number: i32) {
        if let Ok(signal) = Signal::try_from(number) {
            let _ = killpg(self.group, signal);
        }
    }

    /// Takes the terminal back, and lets go of what the process has left running.
    pub(super) fn finish(self) {
        if let Some(watcher) = self.watcher {
            watcher.finish();
        }
        if let Some(terminal) = &self.terminal {
            terminal.give(terminal.ours);
        }
    }
}

impl Terminal {
    /// Opens the terminal once more, for the thread that waits.
    fn find_again() -> Option<Self> {
        let tty = File::options()
            .read(true)
            .write(true)
            .open("/dev/tty")
            .ok()?;
        Some(Self {
            tty,
            ours: getpgrp(),
        })
    }
}

fn listen_for_signals(sender: Sender<Happening>) -> Result<(), CliError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]);
    let mut signals = signals.map_err(|error| CliError::System {
        what: "failed to listen for signals",
        error,
    })?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if sender.send(Happening::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

fn read(
    stream: Stream,
    mut from: impl Read + Send + 'static,
    sender: Sender<Happening>,
    budget: Arc<Budget>,
) {
    thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            let read = match from.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => break,
                Ok(read) => read,
            };
            let bytes = buffer.get(..read).unwrap_or_default().to_vec();
            // The time it came, not the time there was room for it.
            let piece = Piece::new(stream, bytes, times::now(), &budget);
            if sender.send(Happening::Output(piece)).is_err() {
                return;
            }
        }
        let _ = sender.send(Happening::Closed);
    });
}

/// Waits for the process; while it is stopped, so are we, and the shell has the terminal.
fn wait(child: Pid, terminal: Option<&Terminal>) -> Exit {
    let flags = terminal.map(|_| WaitPidFlag::WUNTRACED);
    loop {
        match waitpid(child, flags) {
            Ok(WaitStatus::Exited(_, code)) => return Exit::with_code(code),
            Ok(WaitStatus::Signaled(_, signal, _)) => {
                return Exit::with_signal(signal_name(signal as i32));
            }
            Ok(WaitStatus::Stopped(..)) => {
                if let Some(terminal) = terminal {
                    terminal.give(terminal.ours);
                    let _ = raise(Signal::SIGSTOP);
                    terminal.give(child);
                    let _ = killpg(child, Signal::SIGCONT);
                }
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return Exit::unknown(),
        }
    }
}
