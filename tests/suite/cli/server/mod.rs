//! The binary on a database on a server: the same answers as on a file, and what only a server can do to it.

mod asking;
mod away;
mod machines;
mod moving;
mod password;
mod same_answers;
mod status;

use std::process::{Command, Output};

use runtape_tests::postgres::{Database, Layout};
use serde_json::Value;

use crate::harness::{Runtape, stderr};

/// A database on a server, and the binary to work on it.
pub(crate) struct OnServer {
    pub(crate) runtape: Runtape,
    pub(crate) database: Database,
}

impl OnServer {
    /// Makes one with nothing in it; none where there is no server, which was said.
    pub(crate) fn new() -> Option<Self> {
        Some(Self {
            database: Database::fresh(Layout::Whole)?,
            runtape: Runtape::new(),
        })
    }

    pub(crate) fn address(&self) -> &str {
        self.database.address()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        command(&self.runtape, self.address(), arguments)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Vec<Value> {
        values(&self.run(&[&["--json"], arguments].concat()))
    }
}

/// Makes a command on a database, with nothing of this user's environment in it.
pub(crate) fn command(runtape: &Runtape, address: &str, arguments: &[&str]) -> Command {
    let mut command = runtape.command(arguments);
    command.env("RUNTAPE_DB", address);
    for variable in ["PGPASSWORD", "PGPASSFILE", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    command
}

/// Returns what a command printed for programs.
pub(crate) fn values(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let values = text.lines().map(|line| serde_json::from_str(line).unwrap());
    values.collect()
}

/// Runs a command that must do what it was asked to.
pub(crate) fn succeed(mut command: Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    output
}
