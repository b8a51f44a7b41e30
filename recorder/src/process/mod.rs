//! Running a command and recording it.
//!
//! A thread of the recording listens to the command, normalizes what it prints and hands it on: to
//! another thread that keeps it, and to whoever wants to watch. A slow disk holds up neither the
//! command nor those who watch; beyond 16 MiB on their way, the command waits.

mod attendant;
mod child;
mod input;
mod interrupts;
mod leash;
mod output_chunk;
mod terminal;

use std::io::Read;
use std::path::PathBuf;
use std::process::{ChildStdin, Command};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use runtape_core::{RunSummary, Runtime, Stream};
use runtape_normalizer::redact::RuleSet;
use runtape_normalizer::{Context, Exit, LiveItem};

use self::attendant::Attendant;
pub use self::child::Control;
use self::child::{ChildEnds, GroupedProcess};
pub use self::interrupts::Interrupts;
pub use self::leash::{CannotStart, Leash, run_mode};
use crate::clock::Clock;
use crate::context_and_exit::note_start;
use crate::detached_run::DetachedRun;
use crate::error::RecordError;
use crate::keeping::{Destination, Keeper, KeepingEnd};
use crate::spool::SpoolDirectories;

/// How many pieces may wait for somebody who watches.
const AHEAD: usize = 64;

/// What those who watch are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// Nothing.
    #[default]
    Nothing,
    /// What was understood, as soon as it was.
    Items,
    /// The bytes, as they came: untouched, as if nobody recorded them.
    Bytes,
}

/// How a command is recorded.
#[derive(Clone, Debug)]
pub struct RecordingOptions {
    /// What those who watch are given. They have to take it: the command waits for them.
    pub watch: Watch,
    /// After how long the command is asked to end.
    pub timeout: Option<Duration>,
    /// How long the command has to end after being asked to. Processes that it started have as long
    /// to let go of its output after it ended.
    pub grace: Duration,
    /// Where the output goes when the store fails.
    pub spool: SpoolDirectories,
    /// Give the command the foreground of the terminal, if this process has it.
    pub foreground: bool,
    /// A program that ends the command if this process is killed: one that begins with
    /// [`run_mode`].
    pub leash: Option<PathBuf>,
    /// Tells when output came.
    pub clock: Clock,
    /// What is taken out before anything is kept or shown as [items](Watch::Items): by default what shows by
    /// itself to be a secret.
    pub rules: Arc<RuleSet>,
}

impl Default for RecordingOptions {
    fn default() -> Self {
        Self {
            watch: Watch::default(),
            timeout: None,
            grace: Duration::from_secs(5),
            spool: SpoolDirectories::default(),
            foreground: false,
            leash: None,
            clock: Clock::default(),
            rules: Arc::default(),
        }
    }
}

/// What can be shown of a command while it runs.
#[derive(Debug)]
pub enum Shown {
    /// What was understood.
    Items {
        /// The items, in order.
        items: Vec<LiveItem>,
        /// How many bytes of output they were made from.
        bytes: usize,
    },
    /// Lines of standard output that are not understood yet, to be shown at once: those of a wrapper whose agent has
    /// not shown itself, or text that only the exit tells to be an answer. Without their secrets. An item may say
    /// them again.
    Unread(String),
    /// What was printed.
    Bytes(Stream, Vec<u8>),
}

/// How a recording went.
#[derive(Debug)]
pub struct Recorded {
    /// How the command ended.
    pub exit: Exit,
    /// The run in one object, without what the model said before its last message.
    pub summary: Option<RunSummary>,
    /// How keeping the run went.
    pub kept: KeepingEnd,
}

/// A command that runs and is recorded.
///
/// Threads of their own record the command, also after the `Recording` was dropped.
///
/// ```
/// use std::process::Command;
/// use runtape_recorder::core::Runtime;
/// use runtape_recorder::normalizer::Context;
/// use runtape_recorder::store::Store;
/// use runtape_recorder::{Recording, RecordingOptions, StoreHandle};
///
/// # fn main() -> Result<(), runtape_recorder::RecordError> {
/// let store = StoreHandle::from(Store::open_in_memory()?);
/// let context = Context::new("job-1".parse()?, "run-1".parse()?);
/// let mut command = Command::new("echo");
/// command.arg("Hello.");
/// let options = RecordingOptions::default();
/// let recording = Recording::spawn(command, store, Runtime::Hermes, context, options)?;
/// let recorded = recording.wait();
/// assert_eq!(recorded.exit.code, Some(0));
/// assert!(recorded.kept.fault.is_none());
/// # Ok(())
/// # }
/// ```
pub struct Recording {
    control: Control,
    stdin: Option<ChildStdin>,
    interrupts: Option<Interrupts>,
    clock: Clock,
    shown: Receiver<Shown>,
    thread: JoinHandle<Recorded>,
}

impl Recording {
    /// Starts a command in a process group of its own, and records it. Its standard input is what
    /// the command says: inherited, if nothing is said. Where no runtime is named (`None::<Runtime>`), the first
    /// lines that the command prints decide it: a script may run an agent.
    pub fn spawn(
        mut command: Command,
        destination: impl Into<Destination>,
        runtime: impl Into<Option<Runtime>>,
        mut context: Context,
        options: RecordingOptions,
    ) -> Result<Self, RecordError> {
        if context.argv.is_none() {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            let words = words.map(|word| word.to_string_lossy().into_owned());
            context.argv = Some(words.collect());
        }
        let runtime = runtime.into();
        let first = DetachedRun::runtime_at_start(runtime.as_ref());
        let started_at = options.clock.now();
        note_start(&mut context, started_at);
        let run = match options.watch {
            Watch::Items => DetachedRun::start_live(runtime, &context, &options.rules, started_at)?,
            Watch::Nothing | Watch::Bytes => {
                DetachedRun::start(runtime, &context, &options.rules, started_at)?
            }
        };
        let context = run.context().clone();
        let (mut child, ends) = GroupedProcess::start(&mut command, &options)?;
        let ChildEnds { stdin, interrupts } = ends;
        let control = child.control();
        let (places, clock) = (options.spool.clone(), options.clock.clone());
        let destination = destination.into();
        let keeper = Keeper::start(destination, first, context, started_at, places, clock);
        let (sender, shown) = sync_channel(AHEAD);
        let clock = options.clock.clone();
        let thread = thread::spawn(move || {
            let sender = (options.watch != Watch::Nothing).then_some(sender);
            Attendant::new(&mut child, run, keeper, sender, &options).attend()
        });
        Ok(Self {
            control,
            stdin,
            interrupts,
            clock,
            shown,
            thread,
        })
    }

    /// Passes on what is read to the command's standard input, if that was to be piped, and keeps it as a stream
    /// of the tape of its own, up to 4 MiB. Where the runtime reads its prompt there, it is what was asked.
    pub fn pass_stdin(&mut self, from: impl Read + Send + 'static) {
        if let Some(to) = self.stdin.take() {
            input::pass_on(from, to, self.control.sender(), self.clock.clone());
        }
    }

    /// Returns the command's standard input, once, if it was to be piped.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// Returns the interrupts that the command gets, once, if it has the foreground of a terminal and there is a
    /// [leash](RecordingOptions::leash): Ctrl-C is sent to it and not to this process then. An interrupt that is sent to the
    /// command by [`Control::signal`] is among them.
    pub fn take_interrupts(&mut self) -> Option<Interrupts> {
        self.interrupts.take()
    }

    /// Returns what signals and ends the command, from any thread.
    #[must_use]
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Asks the command to end, and ends it if it does not within the grace period.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// Returns what can be shown, as it comes, until the command has ended.
    pub fn shown(&self) -> impl Iterator<Item = Shown> + '_ {
        self.shown.iter()
    }

    /// Waits until the command has ended and is kept.
    pub fn wait(self) -> Recorded {
        drop(self.stdin);
        // Nobody else takes what is left to be shown.
        self.shown.iter().for_each(drop);
        self.thread.join().unwrap_or_else(|_| Recorded {
            exit: Exit::unknown(),
            summary: None,
            kept: KeepingEnd {
                fault: Some("the thread that listens panicked, please report this".to_owned()),
                ..KeepingEnd::default()
            },
        })
    }
}
