//! `runtape errors`: what failed.

use crate::commands::Session;
use crate::console::Tone;
use crate::error::CliError;
use crate::filter::FilterArgs;
use crate::table::{Cell, Table};
use crate::times;

/// Show which runs failed, and why
#[derive(Debug, clap::Args)]
pub(crate) struct ErrorsArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn run(args: &ErrorsArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let store = session.database.read()?;
    let runs = store.errors(&args.filter.to_filter(), args.filter.limit())?;
    session.found(&runs)?;
    let console = &mut session.console;
    if console.json {
        return runs.iter().try_for_each(|run| console.object(run));
    }
    let mut table = Table::new(&[
        "at", "run", "runtime", "family", "name", "http", "retry", "message",
    ]);
    for run in &runs {
        let Some(error) = &run.error else { continue };
        let retry = match (error.retry_at, error.is_retryable) {
            (Some(at), _) => times::local(at),
            (None, true) => "later".to_owned(),
            (None, false) => "no".to_owned(),
        };
        table.row(vec![
            Cell::time(run.finished_at.unwrap_or(run.started_at)),
            Cell::run(&run.run_id),
            Cell::text(run.runtime.as_str()),
            Cell::maybe(error.family.map(runtape_core::ErrorFamily::as_str)).toned(Tone::Warning),
            Cell::text(&error.name).toned(Tone::Bad),
            Cell::number(
                error
                    .status_code
                    .map(|code| code.to_string())
                    .unwrap_or_default(),
            ),
            Cell::text(&retry),
            Cell::text(&error.message),
        ]);
    }
    table.print(console)
}
