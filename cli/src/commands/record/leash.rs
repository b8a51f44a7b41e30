//! This binary as the leash of what it records.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nix::errno::Errno;
use runtape_recorder::process;

use crate::commands::runtimes::{is_executable, on_path};
use crate::error::with_causes;
use crate::terminal::plain;

/// Runs one of the modes that tie a command's life to its recorder's, if the arguments ask for it.
pub(crate) fn run_mode() -> Option<ExitCode> {
    let ended = process::run_mode(std::env::args_os().skip(1))?;
    let Err(error) = ended else {
        return Some(ExitCode::SUCCESS);
    };
    let _ = writeln!(
        io::stderr(),
        "runtape: {}",
        plain::name(&with_causes(&error))
    );
    // As a shell says it.
    Some(ExitCode::from(
        if error.source.kind() == io::ErrorKind::NotFound {
            127
        } else {
            126
        },
    ))
}

/// Returns this binary, even if its file was replaced meanwhile.
pub(super) fn this_binary() -> Option<PathBuf> {
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
