//! `runtape files`: which files were touched.

use runtape_core::report::FileAccess;
use runtape_store::{FileChoice, PathPattern};

use crate::arguments::calls::{CallArgs, errors_cell};
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table};

/// Show which files tools read or wrote
///
/// Paths begin at the root: those that a call named otherwise are taken from the directory that its
/// run worked in. What shell commands do to files is not known; `runtape commands` shows those.
#[derive(Debug, clap::Args)]
pub(crate) struct FilesArgs {
    /// Only this file, or what is below this directory; with * and ?, whatever fits
    ///
    /// A name such as `main.rs` or `src/main.rs` is found in any directory, `./main.rs` in the current
    /// one. A * reaches across directories; quote it, so that the shell leaves it alone.
    #[arg(value_name = "PATH|GLOB")]
    path: Option<String>,
    /// Only files that were written: created, changed or deleted
    #[arg(long, conflicts_with = "directories")]
    written: bool,
    /// Show the directories that tools listed or searched instead
    #[arg(long)]
    directories: bool,
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
    let files = store.files(&filter, &choice, args.selection.limit())?;
    invocation.found("files that tools used", &files)?;
    let console = &mut invocation.console;
    if console.json {
        return files.iter().try_for_each(|file| console.object(file));
    }
    let mut table = Table::new(&[
        "path", "access", "tool", "calls", "failed", "runs", "last", "last run",
    ]);
    for file in &files {
        let access = Cell::maybe(file.access.map(FileAccess::as_str));
        table.row(vec![
            Cell::text(&file.path).toned(Tone::Name),
            match file.access {
                Some(FileAccess::Write) => access.toned(Tone::Warning),
                _ => access,
            },
            Cell::text(&file.tool),
            Cell::number(file.calls),
            errors_cell(file.errors),
            Cell::number(file.runs),
            Cell::time(file.last_at),
            Cell::run(&file.run_id),
        ]);
    }
    table.print(console)
}
