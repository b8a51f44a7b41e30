//! The host's environment test: could an agent with this configuration run.

use std::path::Path;
use std::process::Command;

use runtape_core::Runtime;
use runtape_core::report::{CheckLevel, DoctorCheck, DoctorReport};
use runtape_normalizer::paperclip::calling::{CredentialPlaces, Variables, check};
use runtape_normalizer::paperclip::{
    AgentConfig, CommandRequest, EnvironmentRequest, called, inherited,
};
use runtape_normalizer::runtimes;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{locate, prefix, program_names};
use crate::commands::doctor::version_of;
use crate::database::Database;
use crate::error::with_causes;
use crate::terminal::times;

/// What is looked at.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckRequest {
    /// The adapter's type.
    #[serde(default)]
    adapter_type: String,
    /// The agent's configuration, as a form has it: perhaps not saved yet.
    #[serde(default)]
    config: Map<String, Value>,
    /// The server's environment.
    #[serde(default)]
    server: Variables,
    /// Where the agent is to run; the host's own machine if nothing is said.
    target_kind: Option<String>,
}

impl CheckRequest {
    /// Looks at everything. Whatever is found is in the answer; nothing is an error.
    pub(super) fn report(&self, database: &Database) -> DoctorReport {
        let mut checks = vec![check(
            "runtape_command_resolvable",
            CheckLevel::Info,
            concat!("runtape ", env!("CARGO_PKG_VERSION")),
        )];
        checks.push(writable(database));
        let config = AgentConfig(&self.config);
        if let Some(kind) = self.target_kind.as_deref().filter(|kind| *kind != "local") {
            let message = format!(
                "the agent is to run on a {kind} target, and this adapter runs it on the server's machine only"
            );
            checks.push(check(
                "runtape_target_unsupported",
                CheckLevel::Error,
                message,
            ));
        }
        let name = config.text(&["runtime"]).unwrap_or_default();
        let runtime = Runtime::from_name(name);
        if called().contains(&name) {
            self.agent(&mut checks, &runtime);
        } else {
            let message = if name.is_empty() {
                "no runtime is chosen".to_owned()
            } else {
                format!("there is no runtime {name:?}")
            };
            let mut found = check("runtape_config_invalid", CheckLevel::Error, message);
            found.hint = Some(format!("choose one of: {}", called().join(", ")));
            checks.push(found);
        }
        DoctorReport::new(&self.adapter_type, checks, times::now())
    }

    /// Looks at the agent CLI.
    fn agent(&self, checks: &mut Vec<DoctorCheck>, runtime: &Runtime) {
        let config = AgentConfig(&self.config);
        let prefix = prefix(runtime);
        let request = EnvironmentRequest {
            runtime: runtime.clone(),
            server: self.server.clone(),
            agent: Map::new(),
            run_id: String::new(),
            context: Map::new(),
            config: self.config.clone(),
            wake_payload: None,
            runtime_tools: None,
            auth_token: None,
        };
        let variables = request.environment().variables;
        let cwd = config.text(&["cwd"]);
        checks.push(directory(prefix, cwd));
        let request = CommandRequest {
            runtime: runtime.clone(),
            config: self.config.clone(),
            cwd: cwd.unwrap_or("/").to_owned(),
            prompt: String::new(),
            resume: None,
            instructions_file: None,
            skills_directory: None,
            tool_servers_file: None,
            is_superuser: false,
            variables,
        };
        let command = request.command();
        checks.push(program(prefix, &request, &command.program));
        if let Some(fault) = command.fault {
            checks.push(check(&fault.code, CheckLevel::Error, fault.message));
        }
        checks.extend(self.credentials(runtime, &request.variables));
    }

    fn credentials(&self, runtime: &Runtime, variables: &Variables) -> Vec<DoctorCheck> {
        let calling = runtimes::entry_for(runtime).and_then(|entry| entry.paperclip.calling);
        let Some(calling) = calling else {
            return Vec::new();
        };
        let config = AgentConfig(&self.config);
        let (server, _) = inherited(runtime, &self.server, config);
        let configured = config.variables();
        let configured = configured.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let home = variables.get("HOME").cloned().unwrap_or_default();
        (calling.check)(&CredentialPlaces {
            server: &server,
            configured: &configured.collect(),
            has_file: &|name| !home.is_empty() && Path::new(&home).join(name).is_file(),
        })
    }
}

/// Tells whether runs can be stored, without making anything.
fn writable(database: &Database) -> DoctorCheck {
    let place = database.name();
    let fault = match database {
        Database::File(path) if !path.exists() => {
            (!can_be_made(path)).then(|| format!("it cannot be made at {place}"))
        }
        _ => {
            let opened = database.open_existing();
            opened.err().map(|error| with_causes(&error))
        }
    };
    match fault {
        None => check(
            "runtape_database_ok",
            CheckLevel::Info,
            format!("runs are stored in {place}"),
        ),
        Some(fault) => {
            let message = format!("the database cannot be written: {fault}");
            let mut found = check("runtape_database_unwritable", CheckLevel::Error, message);
            found.hint = Some(
                "name another file in the field `db`, or let the server's user write there"
                    .to_owned(),
            );
            found
        }
    }
}

/// Tells whether something that is not there could be made: in a directory that can be written, or below one.
fn can_be_made(path: &Path) -> bool {
    let mut above = path.ancestors().skip(1);
    let existing = above.find(|above| above.exists());
    existing.is_some_and(|above| above.is_dir() && can_write(above))
}

#[cfg(unix)]
fn can_write(directory: &Path) -> bool {
    nix::unistd::access(directory, nix::unistd::AccessFlags::W_OK).is_ok()
}

#[cfg(not(unix))]
fn can_write(directory: &Path) -> bool {
    directory.is_dir()
}

/// Tells whether the agent can work in the directory that was configured.
fn directory(prefix: &str, cwd: Option<&str>) -> DoctorCheck {
    let valid = |message: String| check(&format!("{prefix}_cwd_valid"), CheckLevel::Info, message);
    let Some(cwd) = cwd else {
        return valid(
            "no directory is configured: the agent works in the host's workspace".to_owned(),
        );
    };
    let path = Path::new(cwd);
    let fault = if !path.is_absolute() {
        Some("it is not absolute")
    } else if path.is_dir() {
        None
    } else if path.exists() {
        Some("it is no directory")
    } else {
        (!can_be_made(path)).then_some("it is not there and cannot be made")
    };
    match fault {
        None if path.is_dir() => valid(format!("the agent works in {cwd}")),
        None => valid(format!("the agent works in {cwd}, which is made for it")),
        Some(fault) => {
            let code = format!("{prefix}_cwd_invalid");
            let message = format!("the agent cannot work in {cwd:?}: {fault}");
            check(&code, CheckLevel::Error, message)
        }
    }
}

/// Tells whether the CLI is there, and which version it is.
fn program(prefix: &str, request: &CommandRequest, program: &str) -> DoctorCheck {
    let names = program_names(request, program);
    let found = names
        .iter()
        .find_map(|name| locate(name, &request.variables, &request.cwd));
    let Some(path) = found else {
        let code = format!("{prefix}_command_unresolvable");
        let message = format!("{} cannot be started", names.join(" or "));
        let mut found = check(&code, CheckLevel::Error, message);
        found.hint = Some(
            "install it, put it on the server's PATH, or write its path into the field `command`"
                .to_owned(),
        );
        return found;
    };
    let mut command = Command::new(&path);
    command.env_clear().envs(&request.variables);
    let version = version_of(&mut command);
    let said = version.unwrap_or_else(|| "does not tell its version".to_owned());
    let code = format!("{prefix}_command_resolvable");
    let mut found = check(&code, CheckLevel::Info, format!("{program}: {said}"));
    found.detail = Some(path.display().to_string());
    found
}
