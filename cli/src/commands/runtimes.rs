//! `runtape runtimes`: whose output can be read.

use std::path::PathBuf;

use runtape_core::report::RuntimeInfo;
use runtape_normalizer::runtimes::RUNTIMES;

use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table};

/// List the runtimes whose output can be read
#[derive(Debug, clap::Args)]
pub(crate) struct RuntimesArgs {}

/// Returns where a program is, as a shell would find it.
pub(super) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut candidates = std::env::split_paths(&path).map(|directory| directory.join(program));
    candidates.find(|candidate| is_executable(candidate))
}

#[cfg(unix)]
pub(super) fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &std::path::Path) -> bool {
    path.is_file()
}

pub(crate) fn run(_: &RuntimesArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let console = &mut invocation.console;
    let mut table = Table::new(&["runtime", "commands", "formats", "installed"]);
    for entry in RUNTIMES {
        let installed = entry.commands.iter().find_map(|command| on_path(command));
        let installed = installed.map(|path| path.display().to_string());
        if console.json {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            console.object(&RuntimeInfo {
                runtime: entry.runtime.clone(),
                commands: owned(entry.commands),
                formats: entry
                    .formats
                    .iter()
                    .map(|format| format.name.to_owned())
                    .collect(),
                installed,
                adapter_type: entry.paperclip.adapter_type.to_owned(),
                capabilities: entry.paperclip.capabilities.clone(),
            })?;
        } else {
            table.row(vec![
                Cell::id(entry.runtime.as_str()),
                Cell::text(&entry.commands.join(", ")),
                Cell::text(&entry.format_names()),
                Cell::text(installed.as_deref().unwrap_or("no")),
            ]);
        }
    }
    if console.json {
        Ok(())
    } else {
        table.print(console)
    }
}
