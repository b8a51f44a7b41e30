//! Hearing the interrupts that a terminal gives to a command.
//!
//! A command with the foreground of a terminal is sent what is typed there: Ctrl-C reaches it and what it started, and not
//! the recorder, which is in another process group. A third small mode of the leash's program, `PROGRAM LISTEN`, sits
//! in the command's group and says so on a pipe for each interrupt that the group gets. It shows none of them to anybody else, and ends
//! when the recorder lets go of it or is gone.
//!
//! A command that reads Ctrl-C as a key (raw mode) is sent no interrupt, and nobody hears one. One that interrupts its own group is
//! heard like a terminal: who sent a signal to a group is not told everywhere.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;

/// A word that nobody types: the mode is no part of a command line.
pub(super) const LISTEN: &str = "__listen";

/// What is said for an interrupt.
const HEARD: &[u8] = b".";

/// What a terminal, or whoever ends the group politely, sends to all of it. The listener outlives the command, whatever
/// the command does about these.
const SENT_TO_ALL: [Signal; 5] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGQUIT,
    Signal::SIGHUP,
    Signal::SIGTSTP,
];

/// What the listener tells itself when it is over: of the signals that wait, an interrupt comes first.
const OVER: Signal = Signal::SIGUSR1;

/// A process in the command's group that hears its interrupts, from a few milliseconds after the command began. Nobody waits for it: it is
/// stopped with the group, if the command stops that.
pub(super) struct Listener {
    process: Child,
}

impl Listener {
    /// Starts a listener in a group; `None` where that is not possible, or the group is gone.
    pub(super) fn start(program: &Path, group: Pid) -> Option<(Self, Interrupts)> {
        let mut process = Command::new(program)
            .arg0("runtape")
            .arg(LISTEN)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(group.as_raw())
            .spawn()
            .ok()?;
        let heard = process.stdout.take()?;
        let interrupts = Interrupts {
            heard,
            is_stopped: Arc::default(),
        };
        Some((Self { process }, interrupts))
    }

    /// Lets go: whoever waits for interrupts hears no more of them.
    pub(super) fn finish(mut self) {
        drop(self.process.stdin.take());
        // It may have been stopped with the group.
        if let Ok(pid) = i32::try_from(self.process.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGCONT);
        }
        let _ = self.process.wait();
    }
}

/// The interrupts that a command's group gets, one by one, until the command is over. Those that come too fast
/// to be told apart are one.
#[derive(Debug)]
pub struct Interrupts {
    heard: ChildStdout,
    /// Where it is noted that there was one.
    is_stopped: Arc<AtomicBool>,
}

impl Interrupts {
    /// Notes in a flag that there was one.
    pub(super) fn noted_in(self, is_stopped: Arc<AtomicBool>) -> Self {
        Self { is_stopped, ..self }
    }
}

impl Iterator for Interrupts {
    type Item = ();

    fn next(&mut self) -> Option<()> {
        self.heard.read_exact(&mut [0]).ok()?;
        self.is_stopped.store(true, Ordering::Release);
        Some(())
    }
}

/// Listens until standard input ends.
pub(super) fn listen() {
    let mut signals = SigSet::empty();
    for signal in SENT_TO_ALL {
        signals.add(signal);
    }
    signals.add(OVER);
    // What is blocked waits to be asked for, in this thread and in those that it starts.
    if signals.thread_block().is_err() {
        return;
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&is_over);
    let speaker = thread::spawn(move || {
        let mut out = io::stdout();
        let mut say = || out.write_all(HEARD).and_then(|()| out.flush());
        let mut is_listening = true;
        // Without anybody to tell there is nothing to listen for.
        while is_listening {
            is_listening = match signals.wait() {
                Ok(Signal::SIGINT) => say().is_ok(),
                Ok(OVER) => !ended.load(Ordering::Acquire),
                Ok(_) => true,
                Err(_) => false,
            };
        }
    });
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    is_over.store(true, Ordering::Release);
    if kill(Pid::this(), OVER).is_ok() {
        let _ = speaker.join();
    }
}
