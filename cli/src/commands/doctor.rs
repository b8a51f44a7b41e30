//! `runtape doctor`: is everything in order.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use runtape_core::Runtime;
use runtape_core::report::{CheckLevel, DoctorCheck, DoctorReport};
use runtape_normalizer::runtimes::{self, RUNTIMES, RuntimeEntry};
use runtape_store::Store;

use super::runtimes::on_path;
use super::{doctor_history, doctor_redaction, doctor_server, doctor_spool};
use crate::commands::Invocation;
use crate::database::Database;
use crate::error::{CliError, with_causes};
use crate::terminal::console::Tone;
use crate::terminal::plain;
use crate::terminal::table::{bytes, plural};
use crate::terminal::times;

/// How long a CLI has to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);
/// Less free space than this is worth a warning.
#[cfg(unix)]
const LITTLE_SPACE: u64 = 1 << 30;

/// Check the database and the agent CLIs
///
/// Of the sessions that CLIs keep on disk it tells where they are, how many, and which the CLI is about
/// to delete; none is opened.
/// Credentials are named when they are there; their values are never read out.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Only this runtime
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<Runtime>,
}

/// The checks so far, each with its mark.
#[derive(Default)]
pub(super) struct Checks(Vec<(Mark, DoctorCheck)>);

/// How a check stands out for people.
#[derive(Clone, Copy)]
enum Mark {
    /// Something is as it should be.
    Good,
    /// Something is so, which is neither good nor bad.
    Neutral,
    Warning,
    Bad,
}

impl Mark {
    fn glyph(self) -> (&'static str, Tone) {
        match self {
            Self::Good => ("✓", Tone::Good),
            Self::Neutral => ("·", Tone::Faint),
            Self::Warning => ("!", Tone::Warning),
            Self::Bad => ("✗", Tone::Bad),
        }
    }
}

impl Checks {
    pub(super) fn add(&mut self, code: &str, level: CheckLevel, message: impl Into<String>) {
        self.push(code, level, message, None, None);
    }

    pub(super) fn push(
        &mut self,
        code: &str,
        level: CheckLevel,
        message: impl Into<String>,
        detail: Option<String>,
        hint: Option<&str>,
    ) {
        let mark = match level {
            CheckLevel::Info => Mark::Good,
            CheckLevel::Warn => Mark::Warning,
            CheckLevel::Error => Mark::Bad,
        };
        let check = DoctorCheck {
            code: code.to_owned(),
            level,
            message: message.into(),
            detail,
            hint: hint.map(str::to_owned),
        };
        self.0.push((mark, check));
    }

    /// Makes the last one neutral: nothing was found to be in order.
    pub(super) fn neutral(&mut self) {
        if let Some((mark, _)) = self.0.last_mut() {
            *mark = Mark::Neutral;
        }
    }

    /// Returns the checks without their marks.
    #[cfg(test)]
    pub(super) fn into_checks(self) -> Vec<DoctorCheck> {
        self.0.into_iter().map(|(_, check)| check).collect()
    }
}

pub(crate) fn run(args: &DoctorArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    if let Some(runtime) = &args.runtime
        && runtimes::entry_for(runtime).is_none()
    {
        let message = format!(
            "what {} prints cannot be read yet; what can: {}",
            runtime.as_str(),
            runtimes::readable()
        );
        return Err(CliError::Usage { message });
    }
    let mut checks = Checks::default();
    database(&mut checks, &invocation.database);
    doctor_spool::tell(&mut checks, &invocation.database);
    doctor_redaction::tell(&mut checks, &invocation.database);
    let mut history = Vec::new();
    // A runtime without a program of its own has nothing to be looked at.
    for entry in RUNTIMES.iter().filter(|entry| !entry.commands.is_empty()) {
        if args
            .runtime
            .as_ref()
            .is_none_or(|runtime| *runtime == entry.runtime)
        {
            // Nobody needs every CLI, but somebody who asks for one does.
            let is_needed = args.runtime.is_some();
            runtime(&mut checks, entry, is_needed);
            let mut places = doctor_history::look(entry);
            doctor_history::tell(&mut checks, entry, &places);
            history.append(&mut places);
        }
    }
    let adapter_type = args
        .runtime
        .as_ref()
        .and_then(runtimes::entry_for)
        .map_or("runtape", |entry| entry.paperclip.adapter_type);
    let (marks, checks): (Vec<Mark>, Vec<DoctorCheck>) = checks.0.into_iter().unzip();
    let mut diagnosis = DoctorReport::new(adapter_type, checks, times::now());
    diagnosis.history = history;
    let console = &mut invocation.console;
    if console.json {
        console.object(&diagnosis)?;
    } else {
        for (check, mark) in diagnosis.checks.iter().zip(marks) {
            let (glyph, tone) = mark.glyph();
            let mark = console.paint(tone, glyph);
            let detail = check.detail.as_ref().map(|detail| format!(" ({detail})"));
            let text = format!("{}{}", check.message, detail.unwrap_or_default());
            console.line(&format!("{mark} {}", plain::one_line(&text)))?;
            if let Some(hint) = &check.hint {
                let hint = console.paint(Tone::Faint, &format!("  hint: {hint}"));
                console.line(&hint)?;
            }
        }
        console.line(&format!("status: {}", diagnosis.status.as_str()))?;
    }
    let errors = diagnosis
        .checks
        .iter()
        .filter(|check| check.level == CheckLevel::Error)
        .count();
    if errors > 0 {
        return Err(CliError::Faults {
            count: errors,
            what: "checks failed",
        });
    }
    Ok(())
}

fn database(checks: &mut Checks, database: &Database) {
    let path = match database {
        Database::File(path) => path,
        Database::Server(server) => return doctor_server::tell(checks, database, server),
    };
    if !path.exists() {
        let message = format!("no database yet at {}", path.display());
        let hint = "`runtape record` and `runtape ingest` make it";
        checks.push(
            "runtape_database_missing",
            CheckLevel::Info,
            message,
            None,
            Some(hint),
        );
        checks.neutral();
        return;
    }
    let size = path.metadata().map_or(0, |meta| meta.len());
    let message = format!("database {}, {}", path.display(), bytes(size));
    checks.add("runtape_database_path", CheckLevel::Info, message);
    mode(checks, path);
    space(checks, path);
    let store = match database.read() {
        Ok(store) => store,
        Err(error) => {
            checks.add(
                "runtape_database_open",
                CheckLevel::Error,
                with_causes(&error),
            );
            return;
        }
    };
    match store.schema_version() {
        Ok(version) => checks.add(
            "runtape_database_version",
            CheckLevel::Info,
            format!("schema version {version}"),
        ),
        Err(error) => checks.add(
            "runtape_database_version",
            CheckLevel::Error,
            with_causes(&error),
        ),
    }
    match store.file_fault() {
        Ok(None) => {
            checks.add(
                "runtape_database_integrity",
                CheckLevel::Info,
                "the file is sound",
            );
        }
        Ok(Some(fault)) => checks.add("runtape_database_integrity", CheckLevel::Error, fault),
        Err(error) => checks.add(
            "runtape_database_integrity",
            CheckLevel::Error,
            with_causes(&error),
        ),
    }
    lost_runs(checks, &store);
}

/// Says how many runs will not go on.
pub(super) fn lost_runs(checks: &mut Checks, store: &Store) {
    if let Ok(open) = store.open_runs()
        && !open.is_empty()
    {
        let message = format!("{} whose recorder died", plural(open.len(), "run"));
        let hint = "`runtape recover` closes them";
        checks.push(
            "runtape_database_open_runs",
            CheckLevel::Warn,
            message,
            None,
            Some(hint),
        );
    }
}

#[cfg(unix)]
fn mode(checks: &mut Checks, path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(meta) = path.metadata() else { return };
    let mode = meta.permissions().mode() & 0o777;
    let others = mode & 0o077;
    if others == 0 {
        checks.add(
            "runtape_database_mode",
            CheckLevel::Info,
            format!("only its owner can read it (mode {mode:o})"),
        );
    } else {
        checks.push(
            "runtape_database_mode",
            CheckLevel::Warn,
            format!("others can read it (mode {mode:o})"),
            None,
            Some("tapes hold what agents printed: chmod 600"),
        );
    }
}

#[cfg(not(unix))]
fn mode(_: &mut Checks, _: &Path) {}

#[cfg(unix)]
fn space(checks: &mut Checks, path: &Path) {
    let Ok(volume) = nix::sys::statvfs::statvfs(path) else {
        return;
    };
    let free = volume
        .blocks_available()
        .saturating_mul(volume.fragment_size());
    let level = if free < LITTLE_SPACE {
        CheckLevel::Warn
    } else {
        CheckLevel::Info
    };
    checks.add(
        "runtape_database_space",
        level,
        format!("{} free on its disk", bytes(free)),
    );
}

#[cfg(not(unix))]
fn space(_: &mut Checks, _: &Path) {}

fn runtime(checks: &mut Checks, entry: &RuntimeEntry, is_needed: bool) {
    let name = entry.runtime.as_str();
    let prefix = entry.paperclip.code_prefix;
    let found = entry.commands.iter().find_map(|command| on_path(command));
    let Some(program) = found else {
        let message = format!("{name} is not installed");
        let looked = format!("looked for {}", entry.commands.join(", "));
        let code = format!("{prefix}_command_unresolvable");
        if is_needed {
            let hint = "install it, or put it on the PATH";
            checks.push(&code, CheckLevel::Error, message, Some(looked), Some(hint));
        } else {
            checks.push(&code, CheckLevel::Info, message, Some(looked), None);
            checks.neutral();
        }
        return;
    };
    let version = version(&program);
    let level = if version.is_some() {
        CheckLevel::Info
    } else {
        CheckLevel::Warn
    };
    let version = version.unwrap_or_else(|| "does not tell its version".to_owned());
    let message = format!("{name} {version}");
    let place = program.display().to_string();
    checks.push(
        &format!("{prefix}_command_resolvable"),
        level,
        message,
        Some(place),
        None,
    );
    let message = format!("{name} formats that can be read: {}", entry.format_names());
    checks.add(&format!("{prefix}_formats"), CheckLevel::Info, message);
    let is_set =
        |variable: &&&str| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    let set: Vec<&str> = entry.credentials.iter().filter(is_set).copied().collect();
    if set.is_empty() {
        let message =
            format!("{name} credentials: none in the environment; it may have its own login");
        checks.add(
            &format!("{prefix}_api_key_missing"),
            CheckLevel::Info,
            message,
        );
        checks.neutral();
    } else {
        let message = format!("{name} credentials: {} is set", set.join(", "));
        checks.add(
            &format!("{prefix}_api_key_present"),
            CheckLevel::Info,
            message,
        );
    }
}

/// Asks a program for its version; one that does not answer in time is ended.
fn version(program: &Path) -> Option<String> {
    version_of(&mut Command::new(program))
}

/// The same, for a command that is prepared already.
pub(super) fn version_of(command: &mut Command) -> Option<String> {
    let mut child = command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let deadline = Instant::now() + PATIENCE;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(80).collect())
}
