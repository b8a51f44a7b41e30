//! `runtape runtimes`: whose output can be read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use runtape_core::report::{FormatInfo, RuntimeInfo};
use runtape_normalizer::runtimes::{Carried, OutputFormat, RUNTIMES, RuntimeEntry, best};

use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table};

/// List the runtimes whose output can be read, and what each of their formats tells
#[derive(Debug, clap::Args)]
pub(crate) struct RuntimesArgs {}

/// Returns where a program is, as a shell would find it.
pub(super) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    on_search_path(program, &path)
}

fn on_search_path(program: &str, path: &OsStr) -> Option<PathBuf> {
    let mut candidates = std::env::split_paths(path).map(|directory| directory.join(program));
    candidates.find(|candidate| is_executable(candidate))
}

/// Returns where a program is that is started in another environment.
pub(super) fn find_program(program: &str, path: &OsStr, cwd: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        let place = cwd.join(program);
        return is_executable(&place).then_some(place);
    }
    on_search_path(program, path)
}

#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

pub(crate) fn run(_: &RuntimesArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let console = &mut invocation.console;
    if console.json {
        return RUNTIMES
            .iter()
            .try_for_each(|entry| console.object(&info(entry)));
    }
    let mut programs = Table::new(&["runtime", "commands", "most with", "found"]);
    let mut formats = Table::new(&[
        "runtime", "format", "think", "call", "args", "result", "token", "cost", "session", "model",
    ]);
    for entry in RUNTIMES {
        let best = best(entry.formats);
        let installed = installed(entry);
        let is_any = entry.commands.is_empty();
        let commands = if is_any {
            "any other".to_owned()
        } else {
            entry.commands.join(", ")
        };
        let absent = if is_any { "" } else { "no" };
        programs.row(vec![
            Cell::id(entry.runtime.as_str()),
            Cell::text(&commands),
            Cell::word(best.map_or("", |format| format.flags)),
            Cell::text(installed.as_deref().unwrap_or(absent)),
        ]);
        for format in entry.formats {
            let marks = COLUMNS.iter().map(|what| {
                let is_told = format.carries.contains(what);
                Cell::word(if is_told { "yes" } else { "" })
            });
            let names = [entry.runtime.as_str(), format.name].map(Cell::word);
            formats.row(names.into_iter().chain(marks).collect());
        }
    }
    programs.print(console)?;
    console.line("")?;
    formats.print(console)?;
    let missing = RUNTIMES
        .iter()
        .flat_map(|entry| entry.not_read().iter().map(move |what| (entry, *what)));
    for (entry, what) in missing {
        invocation.note(&format!("{}: not read: {what}", entry.runtime.as_str()));
    }
    Ok(())
}

/// What the table of formats has a column for. Every format tells the text.
const COLUMNS: [Carried; 8] = [
    Carried::Thinking,
    Carried::Calls,
    Carried::Arguments,
    Carried::Results,
    Carried::Tokens,
    Carried::Cost,
    Carried::Session,
    Carried::Model,
];

fn installed(entry: &RuntimeEntry) -> Option<String> {
    let found = entry.commands.iter().find_map(|command| on_path(command));
    found.map(|path| path.display().to_string())
}

fn info(entry: &RuntimeEntry) -> RuntimeInfo {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let format = |format: &OutputFormat| FormatInfo {
        name: format.name.to_owned(),
        flags: format.flags.to_owned(),
        carries: format
            .carries
            .iter()
            .map(|what| what.as_str().to_owned())
            .collect(),
    };
    RuntimeInfo {
        runtime: entry.runtime.clone(),
        commands: owned(entry.commands),
        formats: entry
            .formats
            .iter()
            .map(|format| format.name.to_owned())
            .collect(),
        installed: installed(entry),
        adapter_type: entry.paperclip.adapter_type.to_owned(),
        capabilities: entry.paperclip.capabilities.clone(),
        output_formats: entry.formats.iter().map(format).collect(),
        best_format: best(entry.formats).map(|format| format.name.to_owned()),
        versions: owned(entry.versions),
    }
}
