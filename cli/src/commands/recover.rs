//! `runtape recover`: runs whose recorder died.

use serde::Serialize;

use crate::commands::Session;
use crate::console::Tone;
use crate::error::CliError;
use crate::spool_directory as spool;
use crate::table::{Cell, Table, plural};
use crate::times;

/// Close runs whose recorder died, and take in what could not be stored at the time
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
    let mut failed = 0;
    for path in spool::files() {
        match runtape::take_in_spool(&mut store, &path, times::now()) {
            Ok(run) => closed.push(Closed {
                run_id: run
                    .runs
                    .first()
                    .map(|run| run.run_id.to_string())
                    .unwrap_or_default(),
                source: "spool",
                status: run.status.as_str().to_owned(),
                error: run.error.map(|error| error.name),
            }),
            Err(error) => {
                failed += 1;
                session.warn(&format!("{}: {error}", path.display()));
            }
        }
    }
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
    session.note(&format!("{} closed", plural(closed.len(), "run")));
    if failed > 0 {
        return Err(CliError::NotFound {
            what: format!("a usable run in {failed} spool files"),
        });
    }
    Ok(())
}
