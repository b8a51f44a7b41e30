//! `runtape files`: which files were touched.

use runtape_core::report::{FileAccess, FileCall, KnownBy};
use runtape_store::{FileChoice, PathPattern};

use crate::arguments::calls::{CallArgs, errors_cell, result_cell};
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table, plural};

/// Show which files tools read or wrote, and which ones shell commands name
///
/// A file is one row, whichever way it was named. Paths begin at the root: those that a call named otherwise are taken from
/// the directory that its run worked in. The words of a shell command tell what it does to files (`shell`); whether it did
/// that is not known, nor what programs such as `make` do. How many commands do with files what their words do
/// not tell (variables, patterns, scripts) is said on standard error.
#[derive(Debug, clap::Args)]
pub(crate) struct FilesArgs {
    /// Only this file, or what is below this directory; with * and ?, whatever fits
    ///
    /// A name such as `main.rs` or `src/main.rs` is found in any directory, `./main.rs` in the current
    /// one. A * reaches across directories; quote it, so that the shell leaves it alone.
    #[arg(value_name = "PATH|GLOB")]
    path: Option<String>,
    /// Only files that were written: created, changed, moved or deleted
    #[arg(long, conflicts_with = "directories")]
    written: bool,
    /// Show the directories that tools listed or searched instead
    #[arg(long)]
    directories: bool,
    /// Show each call that touched a file, and the run that made it
    #[arg(long)]
    calls: bool,
    #[command(flatten)]
    selection: CallArgs,
}

pub(crate) fn run(args: &FilesArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let mut choice = FileChoice::default();
    choice.pattern = args.path.as_deref().map(|path| {
        // Where nobody knows the current directory, a path from it on fits nothing.
        let directory = std::env::current_dir().unwrap_or_default();
        PathPattern::new(path, &directory.to_string_lossy())
    });
    choice.written_only = args.written;
    choice.directories = args.directories;
    let filter = args.selection.to_filter(&store)?;
    let limit = args.selection.limit(&invocation.console);
    let untold = store.untold_commands(&filter)?.files;
    if untold > 0 && !args.directories {
        let commands = plural(untold, "command");
        invocation.note(&format!(
            "{commands} could not be read for all files (variables, patterns, scripts): runtape commands"
        ));
    }
    if args.calls {
        let mut calls = Vec::new();
        store.each_file_call(&filter, &choice, |call| {
            calls.push(call);
            calls.len() <= limit
        })?;
        return print_calls(calls, limit, invocation);
    }
    let mut files = store.files(&filter, &choice, limit.saturating_add(1))?;
    let has_more = invocation.cut(&mut files, limit);
    invocation.found("files that tools used", &files)?;
    let console = &mut invocation.console;
    if console.json {
        return files.iter().try_for_each(|file| console.object(file));
    }
    let mut table = Table::new(&[
        "path", "reads", "writes", "tools", "last", "last run", "known by", "failed", "calls",
        "runs",
    ])
    .keep("path", 40)
    .keep("tools", 20);
    for file in &files {
        table.row(vec![
            Cell::text(&file.path).toned(Tone::Name),
            Cell::number(file.reads),
            writes_cell(file.writes),
            Cell::text(&file.tools.join(", ")),
            Cell::time(file.last_at),
            Cell::run(&file.run_id),
            known_by_cell(file.known_by),
            errors_cell(file.errors),
            Cell::number(file.calls),
            Cell::number(file.runs),
        ]);
    }
    table.print(console)?;
    if has_more {
        invocation.more();
    }
    Ok(())
}

fn print_calls(
    mut calls: Vec<FileCall>,
    limit: usize,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let has_more = invocation.cut(&mut calls, limit);
    invocation.found("calls that touched a file", &calls)?;
    let console = &mut invocation.console;
    if console.json {
        return calls.iter().try_for_each(|call| console.object(call));
    }
    let mut table = Table::new(&[
        "at", "run", "access", "path", "runtime", "result", "tool", "step", "known by",
    ])
    .keep("path", 30);
    for FileCall {
        path,
        access,
        known_by,
        call,
    } in &calls
    {
        table.row(vec![
            Cell::time(call.at),
            Cell::run(&call.run_id),
            access_cell(*access),
            Cell::text(path).toned(Tone::Name),
            Cell::text(call.runtime.as_str()),
            result_cell(call),
            Cell::text(&call.tool),
            Cell::number(call.step),
            known_by_cell(*known_by),
        ]);
    }
    table.print(console)?;
    if has_more {
        invocation.more();
    }
    Ok(())
}

fn writes_cell(writes: u64) -> Cell {
    let cell = Cell::number(writes);
    if writes == 0 {
        cell
    } else {
        cell.toned(Tone::Warning)
    }
}

fn access_cell(access: Option<FileAccess>) -> Cell {
    let cell = Cell::maybe(access.map(FileAccess::as_str));
    match access {
        Some(FileAccess::Write | FileAccess::Delete) => cell.toned(Tone::Warning),
        _ => cell,
    }
}

fn known_by_cell(known_by: Option<KnownBy>) -> Cell {
    match known_by {
        None => Cell::word("call"),
        Some(known_by) => Cell::word(known_by.as_str()).toned(Tone::Warning),
    }
}
