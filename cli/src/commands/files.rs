//! `runtape files`: which files were touched.

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table};

/// Show which files tools read or wrote
#[derive(Debug, clap::Args)]
pub(crate) struct FilesArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn run(args: &FilesArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let files = store.files(&args.filter.to_filter(&store)?, args.filter.limit())?;
    invocation.found("files that tools used", &files)?;
    let console = &mut invocation.console;
    if console.json {
        return files.iter().try_for_each(|file| console.object(file));
    }
    let mut table = Table::new(&["path", "tool", "calls", "failed", "runs", "last run"]);
    for file in &files {
        let tone = if file.errors > 0 {
            Tone::Bad
        } else {
            Tone::Plain
        };
        table.row(vec![
            Cell::text(&file.path).toned(Tone::Name),
            Cell::text(&file.tool),
            Cell::number(file.calls),
            Cell::number(file.errors).toned(tone),
            Cell::number(file.runs),
            Cell::run(&file.run_id),
        ]);
    }
    table.print(console)
}
