//! `runtape paperclip`: what an adapter of Paperclip's host asks.

mod check;

use std::io::Read;
use std::path::{Path, PathBuf};

use chrono::{SecondsFormat, Utc};
use runtape_core::report::{AdapterCommand, AdapterFault};
use runtape_normalizer::paperclip::calling::Variables;
use runtape_normalizer::paperclip::{
    AgentConfig, CommandRequest, EnvironmentRequest, OutcomeRequest, SessionRequest,
};
use runtape_normalizer::runtimes;
use serde::de::DeserializeOwned;

use self::check::CheckRequest;
use super::runtimes::find_program;
use crate::commands::Invocation;
use crate::error::CliError;

/// The largest request that is read: the host's context is some hundred kilobytes at the most.
const LARGEST: u64 = 32 << 20;

/// Answer an adapter of Paperclip's host: one JSON object in, one out
///
/// The adapter in contrib/paperclip asks these before and after every run. Requests may hold secrets,
/// so they come on standard input; docs/commands.md has an example.
#[derive(Debug, clap::Args)]
pub(crate) struct PaperclipArgs {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, clap::Subcommand)]
enum Question {
    /// Whether the next run goes on with the saved session
    Session(RequestArgs),
    /// The environment of the agent CLI, without the server's secrets
    Environment(RequestArgs),
    /// The command line of the agent CLI
    Argv(RequestArgs),
    /// What the host is told about an execution that is over
    Result(RequestArgs),
    /// Whether an agent with this configuration could run: the host's environment test
    Check(RequestArgs),
}

#[derive(Debug, clap::Args)]
struct RequestArgs {
    /// The request; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

pub(crate) fn run(args: &PaperclipArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    match &args.question {
        Question::Session(args) => {
            let request: SessionRequest = args.read()?;
            invocation.console.object(&request.decide())
        }
        Question::Environment(args) => {
            let request: EnvironmentRequest = args.read()?;
            invocation.console.object(&request.environment())
        }
        Question::Argv(args) => {
            let request: CommandRequest = args.read()?;
            invocation.console.object(&located(&request))
        }
        Question::Result(args) => {
            let request: OutcomeRequest = args.read()?;
            let now = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
            invocation.console.object(&request.result(&now))
        }
        Question::Check(args) => {
            let request: CheckRequest = args.read()?;
            let report = request.report(&invocation.database);
            invocation.console.object(&report)
        }
    }
}

impl RequestArgs {
    fn read<T: DeserializeOwned>(&self) -> Result<T, CliError> {
        let failed = |error| CliError::Read {
            path: self.file.clone(),
            error,
        };
        let mut text = Vec::new();
        if self.file.as_os_str() == "-" {
            let read = std::io::stdin().take(LARGEST).read_to_end(&mut text);
            read.map_err(failed)?;
        } else {
            let file = std::fs::File::open(&self.file).map_err(failed)?;
            file.take(LARGEST).read_to_end(&mut text).map_err(failed)?;
        }
        serde_json::from_slice(&text).map_err(|error| CliError::Usage {
            message: format!("the request is not what this version understands: {error}"),
        })
    }
}

/// Returns the command line with a program that is there, or says that none is.
fn located(request: &CommandRequest) -> AdapterCommand {
    let mut command = request.command();
    if command.fault.is_some() {
        return command;
    }
    let names = program_names(request, &command.program);
    let found = names
        .iter()
        .find(|name| locate(name, &request.variables, &request.cwd).is_some());
    if let Some(name) = found {
        command.program.clone_from(name);
    } else {
        command.fault = Some(AdapterFault {
            code: format!("{}_command_not_found", prefix(&request.runtime)),
            message: format!(
                "cannot start {}: not an executable file, and in no directory of the agent's PATH",
                names.join(" or ")
            ),
        });
    }
    command
}

/// Returns the names that a program may go by: its own alone, if the configuration names it.
fn program_names(request: &CommandRequest, program: &str) -> Vec<String> {
    let mut names = vec![program.to_owned()];
    if AgentConfig(&request.config).text(&["command"]).is_none() {
        let entry = runtimes::entry_for(&request.runtime);
        let others = entry.map_or(&[][..], |entry| entry.commands);
        let others = others.iter().filter(|name| **name != program);
        names.extend(others.map(|name| (*name).to_owned()));
    }
    names
}

/// Finds a program as the agent's own shell would.
fn locate(program: &str, variables: &Variables, cwd: &str) -> Option<PathBuf> {
    let path = variables
        .get("PATH")
        .map(String::as_str)
        .unwrap_or_default();
    find_program(program, path.as_ref(), Path::new(cwd))
}

/// Returns what the codes of a runtime begin with.
fn prefix(runtime: &runtape_core::Runtime) -> &str {
    let entry = runtimes::entry_for(runtime);
    entry.map_or(runtime.as_str(), |entry| entry.paperclip.code_prefix)
}
