//! `runtape recover`: runs whose recorder died.

use serde::Serialize;

use crate::commands::Session;
use crate::console::Tone;
use crate::error::CliError;
use crate::table::{Cell, Table};
use crate::times;

/// Close runs whose recorder died
///
/// Runs that a living process writes are left alone.
#[derive(Debug, clap::Args)]
pub(crate) struct RecoverArgs {}

/// A run that was closed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Closed {
    run_id: String,
    source: &'static str,
    status: String,
    error: Option<String>,
}

pub(crate) fn run(_: &RecoverArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let mut store = session.database.open()?;
    let mut closed = Vec::new();
    for run in runtape::recover(&mut store, times::now())? {
        closed.push(Closed {
            run_id: run.run_id.to_string(),
            source: "tape",
            status: run.summary.status.as_str().to_owned(),
            error: run.summary.error.map(|error| error.name),
        });
    }
    let console = &mut session.console;
    if console.json {
        closed.iter().try_for_each(|run| console.view(run))?;
    } else if !closed.is_empty() {
        let mut table = Table::new(&["run", "from", "status", "error"]);
        for run in &closed {
            table.row(vec![
                Cell::id(&run.run_id),
                Cell::text(run.source),
                Cell::text(&run.status).toned(Tone::of_status(&run.status)),
                Cell::maybe(run.error.as_deref()),
            ]);
        }
        table.print(console)?;
    }
    session.note(&format!("{} runs closed", closed.len()));
    Ok(())
}
