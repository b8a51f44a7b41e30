//! `runtape doctor`: is everything in order.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use runtape_core::Runtime;
use runtape_normalizer::runtimes::{RUNTIMES, RuntimeEntry};
use serde::Serialize;

use super::runtimes::on_path;
use crate::commands::Session;
use crate::console::Tone;
use crate::database::Database;
use crate::error::CliError;
use crate::plain;
use crate::table::bytes;

/// How long a CLI has to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);
/// Less free space than this is worth a warning.
#[cfg(unix)]
const LITTLE_SPACE: u64 = 1 << 30;

/// Check the database and the agent CLIs
///
/// Credentials are named when they are there; their values are never read out.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Only this runtime
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<Runtime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Level {
    Info,
    Warn,
    Error,
}

/// Something that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    code: String,
    level: Level,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
struct Diagnosis {
    status: &'static str,
    checks: Vec<Check>,
}

impl Diagnosis {
    fn add(&mut self, code: &str, level: Level, message: impl Into<String>) -> &mut Check {
        let check = Check {
            code: code.to_owned(),
            level,
            message: message.into(),
            detail: None,
            hint: None,
        };
        let place = self.checks.len();
        self.checks.push(check);
        self.checks
            .get_mut(place)
            .expect("the check that was just added")
    }

    fn finish(&mut self) {
        let has = |level| self.checks.iter().any(|check| check.level == level);
        self.status = match (has(Level::Error), has(Level::Warn)) {
            (true, _) => "fail",
            (false, true) => "warn",
            (false, false) => "pass",
        };
    }
}

pub(crate) fn run(args: &DoctorArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let mut diagnosis = Diagnosis {
        status: "pass",
        checks: Vec::new(),
    };
    database(&mut diagnosis, &session.database);
    for entry in RUNTIMES {
        if args
            .runtime
            .as_ref()
            .is_none_or(|runtime| *runtime == entry.runtime)
        {
            runtime(&mut diagnosis, entry);
        }
    }
    diagnosis.finish();
    let console = &mut session.console;
    if console.json {
        console.object(&diagnosis)?;
    } else {
        for check in &diagnosis.checks {
            let (mark, tone) = match check.level {
                Level::Info => ("✓", Tone::Good),
                Level::Warn => ("!", Tone::Warning),
                Level::Error => ("✗", Tone::Bad),
            };
            let mark = console.paint(tone, mark);
            let detail = check.detail.as_ref().map(|detail| format!(" ({detail})"));
            let text = format!("{}{}", check.message, detail.unwrap_or_default());
            console.line(&format!("{mark} {}", plain::one_line(&text)))?;
            if let Some(hint) = &check.hint {
                let hint = console.paint(Tone::Faint, &format!("  hint: {hint}"));
                console.line(&hint)?;
            }
        }
        let status = diagnosis.status.to_owned();
        console.line(&format!("status: {status}"))?;
    }
    let errors = diagnosis
        .checks
        .iter()
        .filter(|check| check.level == Level::Error)
        .count();
    if errors > 0 {
        return Err(CliError::Faults {
            count: errors,
            what: "checks failed",
        });
    }
    Ok(())
}

fn database(diagnosis: &mut Diagnosis, database: &Database) {
    let path = database.path();
    if !path.exists() {
        let message = format!("no database yet at {}", path.display());
        diagnosis.add("database.missing", Level::Info, message).hint =
            Some("`runtape record` and `runtape ingest` make it".to_owned());
        return;
    }
    let size = path.metadata().map_or(0, |meta| meta.len());
    let message = format!("database {}, {}", path.display(), bytes(size));
    diagnosis.add("database.path", Level::Info, message);
    mode(diagnosis, path);
    space(diagnosis, path);
    let store = match database.read() {
        Ok(store) => store,
        Err(error) => {
            diagnosis.add("database.open", Level::Error, error.to_string());
            return;
        }
    };
    let first = |sql: &str| {
        let mut found = None;
        let asked = store.query(sql, |row| {
            found = row.values().next().map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            });
            false
        });
        asked.map(|()| found.unwrap_or_default())
    };
    match first("SELECT user_version FROM pragma_user_version") {
        Ok(version) => diagnosis.add(
            "database.version",
            Level::Info,
            format!("schema version {version}"),
        ),
        Err(error) => diagnosis.add("database.version", Level::Error, error.to_string()),
    };
    match first("SELECT * FROM pragma_quick_check") {
        Ok(answer) if answer == "ok" => {
            diagnosis.add("database.integrity", Level::Info, "the file is sound")
        }
        Ok(answer) => diagnosis.add("database.integrity", Level::Error, answer),
        Err(error) => diagnosis.add("database.integrity", Level::Error, error.to_string()),
    };
    if let Ok(open) = store.open_runs()
        && !open.is_empty()
    {
        let message = format!("{} runs whose recorder died", open.len());
        diagnosis
            .add("database.openRuns", Level::Warn, message)
            .hint = Some("`runtape recover` closes them".to_owned());
    }
}

#[cfg(unix)]
fn mode(diagnosis: &mut Diagnosis, path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(meta) = path.metadata() else { return };
    let mode = meta.permissions().mode() & 0o777;
    let others = mode & 0o077;
    if others == 0 {
        diagnosis.add(
            "database.mode",
            Level::Info,
            format!("only its owner can read it (mode {mode:o})"),
        );
    } else {
        let check = diagnosis.add(
            "database.mode",
            Level::Warn,
            format!("others can read it (mode {mode:o})"),
        );
        check.hint = Some("tapes hold what agents printed: chmod 600".to_owned());
    }
}

#[cfg(not(unix))]
fn mode(_: &mut Diagnosis, _: &Path) {}

#[cfg(unix)]
fn space(diagnosis: &mut Diagnosis, path: &Path) {
    let Ok(volume) = nix::sys::statvfs::statvfs(path) else {
        return;
    };
    let free = volume
        .blocks_available()
        .saturating_mul(volume.fragment_size());
    let level = if free < LITTLE_SPACE {
        Level::Warn
    } else {
        Level::Info
    };
    diagnosis.add(
        "database.space",
        level,
        format!("{} free on its disk", bytes(free)),
    );
}

#[cfg(not(unix))]
fn space(_: &mut Diagnosis, _: &Path) {}

fn runtime(diagnosis: &mut Diagnosis, entry: &RuntimeEntry) {
    let name = entry.runtime.as_str();
    let found = entry.commands.iter().find_map(|command| on_path(command));
    let Some(program) = found else {
        let message = format!("{name} is not installed");
        let check = diagnosis.add(&format!("{name}.missing"), Level::Info, message);
        check.detail = Some(format!("looked for {}", entry.commands.join(", ")));
        return;
    };
    let version = version(&program);
    let level = if version.is_some() {
        Level::Info
    } else {
        Level::Warn
    };
    let version = version.unwrap_or_else(|| "does not tell its version".to_owned());
    let message = format!("{name} {version}");
    diagnosis
        .add(&format!("{name}.version"), level, message)
        .detail = Some(program.display().to_string());
    let message = format!(
        "{name} formats that can be read: {}",
        entry.formats.join(", ")
    );
    diagnosis.add(&format!("{name}.formats"), Level::Info, message);
    let is_set =
        |variable: &&&str| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    let set: Vec<&str> = entry.credentials.iter().filter(is_set).copied().collect();
    let message = if set.is_empty() {
        format!("{name} credentials: none in the environment; it may have its own login")
    } else {
        format!("{name} credentials: {} is set", set.join(", "))
    };
    diagnosis.add(&format!("{name}.credentials"), Level::Info, message);
}

/// Asks a program for its version; one that does not answer in time is ended.
fn version(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
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
