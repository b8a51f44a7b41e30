//! The recorded process: started, listened to, signalled and waited for.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use runtape_core::Stream;
use runtape_normalizer::{Exit, signal_name};

use super::RecordingOptions;
use super::interrupts::{Interrupts, Listener};
use super::leash::LeashWatcher;
use super::output_chunk::OutputChunk;
use super::terminal::Terminal;
use crate::clock::Clock;
use crate::error::RecordError;
use crate::keeping::Budget;

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;
/// How often it is looked whether a group has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// What happens while a process is recorded.
pub(super) enum Happening {
    /// The process printed something.
    Output(OutputChunk),
    /// A stream is closed: nobody can print on it any more.
    Closed,
    /// The process was given something on its standard input, at a time.
    Input(Vec<u8>, i64),
    /// Nothing more will come on standard input, and so many bytes of it were not kept.
    InputEnded { unkept: u64 },
    /// The process ended.
    Ended(Exit),
    /// Somebody wants the process to end.
    Stop,
}

/// The signals by which somebody stops a command.
const STOP_SIGNALS: [Signal; 5] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGKILL,
];

/// A process in a group of its own.
pub(super) struct GroupedProcess {
    control: Control,
    pub(super) happenings: Receiver<Happening>,
    terminal: Option<Terminal>,
    watcher: Option<LeashWatcher>,
    listener: Option<Listener>,
}

/// What others do with a process that was started.
pub(super) struct ChildEnds {
    /// Its standard input, if that is a pipe.
    pub(super) stdin: Option<ChildStdin>,
    /// The interrupts that a terminal gives it, if it has one to itself.
    pub(super) interrupts: Option<Interrupts>,
}

/// Signals and ends a recorded command, from any thread.
#[derive(Clone)]
pub struct Control {
    group: Pid,
    sender: Sender<Happening>,
    /// Whether somebody asked the command to end.
    is_stopped: Arc<AtomicBool>,
    /// Whether the group has ended: by now its number may be that of a stranger's group.
    is_over: Arc<AtomicBool>,
}

impl Control {
    /// Sends a signal to the command and all that it started. One that asks it to end, or ends it, stops the run.
    pub fn signal(&self, number: i32) {
        if STOP_SIGNALS.map(|signal| signal as i32).contains(&number) {
            self.is_stopped.store(true, Ordering::Release);
        }
        self.send(number);
    }

    fn send(&self, number: i32) {
        if let Ok(signal) = Signal::try_from(number)
            && !self.is_over.load(Ordering::Acquire)
        {
            let _ = killpg(self.group, signal);
        }
    }

    /// Asks the command to end, and ends it if it does not within the grace period.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
        // If the command has ended, nobody listens any more.
        let _ = self.sender.send(Happening::Stop);
    }

    /// Returns what tells the recorder of what happens.
    pub(super) fn sender(&self) -> Sender<Happening> {
        self.sender.clone()
    }

    /// Returns the id of the command's process, which is that of its group, too.
    #[must_use]
    pub fn process_id(&self) -> i32 {
        self.group.as_raw()
    }
}

impl GroupedProcess {
    /// Starts a command and listens to it.
    pub(super) fn start(
        command: &mut Command,
        options: &RecordingOptions,
    ) -> Result<(Self, ChildEnds), RecordError> {
        let mut watcher = options.leash.as_deref().and_then(LeashWatcher::start);
        let spawned = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let mut process = match spawned {
            Ok(process) => process,
            Err(source) => {
                if let Some(watcher) = watcher {
                    watcher.finish();
                }
                let program = command.get_program().to_string_lossy().into_owned();
                return Err(RecordError::Spawn { program, source });
            }
        };
        let group = Pid::from_raw(i32::try_from(process.id()).unwrap_or(i32::MAX));
        if let Some(watcher) = &mut watcher {
            watcher.watch(group);
        }
        let terminal = options.foreground.then(Terminal::find).flatten();
        if let Some(terminal) = &terminal {
            terminal.give(group);
            // The command may have asked for the terminal before it was given the terminal, and been
            // stopped for that.
            let _ = killpg(group, Signal::SIGCONT);
        }
        let (sender, happenings) = channel();
        let budget = Arc::new(Budget::default());
        let listen = |stream, from: Option<Box<dyn Read + Send>>| match from {
            Some(from) => {
                let (sender, clock) = (sender.clone(), options.clock.clone());
                read(stream, from, sender, Arc::clone(&budget), clock);
            }
            None => drop(sender.send(Happening::Closed)),
        };
        let stdout = process.stdout.take();
        listen(Stream::Stdout, stdout.map(|pipe| Box::new(pipe) as _));
        let stderr = process.stderr.take();
        listen(Stream::Stderr, stderr.map(|pipe| Box::new(pipe) as _));
        let waiting = terminal.is_some().then(Terminal::open).flatten();
        let (ended, clock) = (sender.clone(), options.clock.clone());
        thread::spawn(move || {
            let mut exit = wait(group, waiting.as_ref());
            exit.finished_at = Some(clock.now());
            // Nobody listens any more if the recorder gave up waiting.
            let _ = ended.send(Happening::Ended(exit));
        });
        // Now that somebody sees to it if the group is stopped: starting the listener would wait for ever.
        let leash = options.leash.as_deref().filter(|_| terminal.is_some());
        let listening = leash.and_then(|program| Listener::start(program, group));
        let (listener, interrupts) = listening.unzip();
        let is_stopped = Arc::<AtomicBool>::default();
        let interrupts =
            interrupts.map(|heard: Interrupts| heard.noted_in(Arc::clone(&is_stopped)));
        let control = Control {
            group,
            sender,
            is_stopped,
            is_over: Arc::default(),
        };
        let child = Self {
            control,
            happenings,
            terminal,
            watcher,
            listener,
        };
        let stdin = process.stdin.take();
        Ok((child, ChildEnds { stdin, interrupts }))
    }

    /// Returns what sends signals to the process and ends it.
    pub(super) fn control(&self) -> Control {
        self.control.clone()
    }

    /// Sends a signal to the process and all that it started.
    pub(super) fn signal(&self, signal: Signal) {
        self.control.send(signal as i32);
    }

    /// Tells whether somebody asked the process to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.control.is_stopped.load(Ordering::Acquire)
    }

    /// Hears no more of what the terminal sends to the process. The listener is no part of what the process has left running.
    pub(super) fn stop_listening(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener.finish();
        }
    }

    /// Ends what is left of the group, which has until the deadline to end by itself.
    pub(super) fn end_rest(&self, deadline: Option<Instant>) {
        let is_alive = || killpg(self.control.group, None).is_ok();
        while is_alive() && deadline.is_some_and(|at| Instant::now() < at) {
            thread::sleep(PAUSE);
        }
        self.signal(Signal::SIGKILL);
    }

    /// Takes the terminal back, and lets go of what the process has left running.
    pub(super) fn let_go(&mut self) {
        self.control.is_over.store(true, Ordering::Release);
        if let Some(watcher) = self.watcher.take() {
            watcher.finish();
        }
        if let Some(terminal) = &self.terminal {
            terminal.take_back();
        }
    }
}

fn read(
    stream: Stream,
    mut from: Box<dyn Read + Send>,
    sender: Sender<Happening>,
    budget: Arc<Budget>,
    clock: Clock,
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
            // The chunk has the time at which the output came, not that at which there was room for it.
            let chunk = OutputChunk::new(stream, bytes, clock.now(), &budget);
            if sender.send(Happening::Output(chunk)).is_err() {
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
                    terminal.take_back();
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
