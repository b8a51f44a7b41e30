//! Ties the command's life to the recorder's: nobody watches an agent whose recorder was killed.
//!
//! Two small modes of a program are the tie, since what they do cannot be done between fork and exec
//! without unsafe code:
//!
//! - On Linux the command is started as `PROGRAM BECOME PID COMMAND…`, which asks the kernel for
//!   SIGKILL when its parent dies, and then becomes the command. A program with more rights than
//!   its caller (setuid, file capabilities) loses that wish.
//! - On any Unix a watcher, `PROGRAM WATCH`, reads from a pipe that only the recorder holds. If the pipe
//!   ends without a word, the recorder is dead, and what is left of the command's process group is
//!   ended: that is how the tools that an agent had started go, too.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::interrupts::{self, LISTEN};

/// Words that nobody types: the modes are no part of a command line.
const BECOME: &str = "__become";
const WATCH: &str = "__watch";
/// What the recorder says when the command may live on without it.
const DONE: &str = "done";
/// How long a process group has to end after being asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Why a program that was to become a command did not.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {program:?}")]
pub struct CannotStart {
    /// The command.
    pub program: String,
    /// Why.
    pub source: io::Error,
}

/// Runs one of the modes of a program that serves as a leash, if its arguments (without its own
/// name) ask for it: to be called before anything else. It does not return if the program became
/// the command.
pub fn run_mode(mut arguments: impl Iterator<Item = OsString>) -> Option<Result<(), CannotStart>> {
    match arguments.next()?.to_str()? {
        BECOME => Some(become_command(arguments).map_or(Ok(()), Err)),
        WATCH => {
            watch(io::stdin().lock());
            Some(Ok(()))
        }
        LISTEN => {
            interrupts::listen();
            Some(Ok(()))
        }
        _ => None,
    }
}

/// A program that begins with [`run_mode`].
#[derive(Clone, Debug)]
pub struct Leash {
    program: PathBuf,
}

impl Leash {
    /// Names the program.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        Self { program }
    }

    /// Returns the command that starts a program which ends when this process does.
    pub fn command<I: AsRef<OsStr>>(
        &self,
        program: &str,
        arguments: impl IntoIterator<Item = I>,
    ) -> Command {
        let mut command = if cfg!(target_os = "linux") {
            let mut command = Command::new(&self.program);
            command.args([BECOME, &std::process::id().to_string(), program]);
            command
        } else {
            Command::new(program)
        };
        command.args(arguments);
        command
    }
}

/// Becomes a command. Returns why it could not; nothing if the recorder is gone already.
fn become_command(mut arguments: impl Iterator<Item = OsString>) -> Option<CannotStart> {
    let recorder = arguments.next().and_then(|pid| pid.to_str()?.parse().ok());
    let program = arguments.next()?;
    #[cfg(target_os = "linux")]
    // A kernel that refuses leaves the watcher.
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    // The recorder may have died before the kernel was asked.
    if recorder.is_some_and(|pid| nix::unistd::getppid() != Pid::from_raw(pid)) {
        return None;
    }
    let source = Command::new(&program).args(arguments).exec();
    let program = program.to_string_lossy().into_owned();
    Some(CannotStart { program, source })
}

/// A process that ends the command's group once the recorder is gone.
pub(super) struct LeashWatcher {
    process: Child,
}

impl LeashWatcher {
    /// Starts a watcher; `None` where that is not possible. It is started before the command, so that a
    /// recorder which is killed right after starting the command leaves nothing behind.
    pub(super) fn start(leash: &Path) -> Option<Self> {
        let process = Command::new(leash)
            .arg0("runtape")
            .arg(WATCH)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Not in the way of unmounting, and not hit by a Ctrl-C.
            .current_dir("/")
            .process_group(0)
            .spawn()
            .ok()?;
        Some(Self { process })
    }

    /// Tells which group is to be ended once the recorder is gone.
    pub(super) fn watch(&mut self, group: Pid) {
        if let Some(pipe) = self.process.stdin.as_mut() {
            // A watcher that is gone watches nothing: the kernel's signal is left.
            let _ = writeln!(pipe, "{group}");
        }
    }

    /// Lets go: what is left of the group may live on.
    pub(super) fn finish(mut self) {
        if let Some(mut pipe) = self.process.stdin.take() {
            let _ = writeln!(pipe, "{DONE}");
        }
        let _ = self.process.wait();
    }
}

/// Waits for a word from the recorder; if the pipe ends without one, ends the process group.
fn watch(mut from: impl BufRead) {
    let mut group = String::new();
    let mut word = String::new();
    if from.read_line(&mut group).is_err() {
        return;
    }
    // A pipe that cannot be read is as good as one that ended.
    let _ = from.read_line(&mut word);
    let group = group.trim().parse().ok().filter(|group| *group > 1);
    if word.trim() != DONE
        && let Some(group) = group
    {
        end(Pid::from_raw(group));
    }
}

fn end(group: Pid) {
    if killpg(group, Signal::SIGTERM).is_err() {
        return;
    }
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
        if killpg(group, None).is_err() {
            return;
        }
    }
    let _ = killpg(group, Signal::SIGKILL);
}
