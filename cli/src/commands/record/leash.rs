//! Ties the command's life to the recorder's: nobody watches an agent whose recorder was killed.
//!
//! Two small modes of this binary do it, since neither can be done between fork and exec without
//! unsafe code:
//!
//! - On Linux the command is started as `runtape BECOME PID COMMAND…`, which asks the kernel for
//!   SIGKILL when its parent dies, and then becomes the command. A program with more rights than
//!   its caller (setuid, file capabilities) loses that wish.
//! - On any Unix a watcher, `runtape WATCH`, reads from a pipe that only the recorder holds. If it
//!   ends without a word, the recorder is dead, and what is left of the command's process group is
//!   ended: that is how the tools that an agent had started go, too.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::commands::runtimes::{is_executable, on_path};
use crate::error::with_causes;
use crate::plain;

/// Words that nobody types: the modes are no part of the command line.
const BECOME: &str = "__become";
const WATCH: &str = "__watch";
/// What the recorder says when the command may live on without it.
const DONE: &str = "done";
/// How long a process group has to end after being asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Runs one of the modes, if the arguments ask for it.
pub(crate) fn run_mode() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let mode = arguments.next()?;
    match mode.to_str()? {
        BECOME => Some(become_command(arguments)),
        WATCH => Some(watch(io::stdin().lock())),
        _ => None,
    }
}

/// Returns this binary, even if its file was replaced meanwhile.
fn this_binary() -> Option<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if link.exists() {
        return Some(link.into());
    }
    std::env::current_exe().ok()
}

/// Refuses a program that cannot be started, before anything is begun for it.
pub(super) fn check(program: &str) -> io::Result<()> {
    let path = Path::new(program);
    let is_found = if program.contains('/') {
        is_executable(path)
    } else {
        // Without a search path the system has one of its own.
        std::env::var_os("PATH").is_none() || on_path(program).is_some()
    };
    if is_found {
        return Ok(());
    }
    let is_there = program.contains('/') && path.exists();
    Err(if is_there {
        Errno::EACCES
    } else {
        Errno::ENOENT
    }
    .into())
}

/// Returns the command that starts a program which ends when this process does.
pub(super) fn command(program: &str, arguments: &[String]) -> Command {
    let binary = this_binary().filter(|_| cfg!(target_os = "linux"));
    let mut command = match binary {
        Some(binary) => {
            let mut command = Command::new(binary);
            command.args([BECOME, &std::process::id().to_string(), program]);
            command
        }
        None => Command::new(program),
    };
    command.args(arguments);
    command
}

fn become_command(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let recorder = arguments.next().and_then(|pid| pid.to_str()?.parse().ok());
    let Some(program) = arguments.next() else {
        return ExitCode::FAILURE;
    };
    #[cfg(target_os = "linux")]
    // A kernel that refuses leaves the watcher.
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    // It may have died before the kernel was asked.
    if recorder.is_some_and(|pid| nix::unistd::getppid() != Pid::from_raw(pid)) {
        return ExitCode::FAILURE;
    }
    let error = Command::new(&program).args(arguments).exec();
    let name = program.to_string_lossy();
    let text = format!("cannot start {name:?}: {}", with_causes(&error));
    let _ = writeln!(io::stderr(), "runtape: {}", plain::name(&text));
    // As a shell says it.
    ExitCode::from(if error.kind() == io::ErrorKind::NotFound {
        127
    } else {
        126
    })
}

/// A process that ends the command's group once the recorder is gone.
pub(super) struct Watcher {
    process: Child,
}

impl Watcher {
    /// Starts watching; `None` where that is not possible.
    pub(super) fn start(group: Pid) -> Option<Self> {
        let mut process = Command::new(this_binary()?)
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
        let told = writeln!(process.stdin.as_mut()?, "{group}");
        told.ok().map(|()| Self { process })
    }

    /// Lets go: what is left of the group may live on.
    pub(super) fn finish(mut self) {
        if let Some(mut pipe) = self.process.stdin.take() {
            let _ = writeln!(pipe, "{DONE}");
        }
        let _ = self.process.wait();
    }
}

/// Waits for a word; without one, ends the group.
fn watch(mut from: impl BufRead) -> ExitCode {
    let mut group = String::new();
    let mut word = String::new();
    if from.read_line(&mut group).is_err() {
        return ExitCode::FAILURE;
    }
    // A pipe that cannot be read is as good as one that ended.
    let _ = from.read_line(&mut word);
    let group = group.trim().parse().ok().filter(|group| *group > 1);
    if word.trim() != DONE
        && let Some(group) = group
    {
        end(Pid::from_raw(group));
    }
    ExitCode::SUCCESS
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
