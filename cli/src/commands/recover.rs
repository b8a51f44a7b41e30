//! `runtape recover`: runs whose recorder died.

use std::path::Path;

use runtape::{RecordError, Recovered};
use runtape_core::report::{Failure, RecoveredRun, RecoverySource};

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

fn closed_run(run: Recovered, source: RecoverySource) -> RecoveredRun {
    RecoveredRun {
        run_id: run.run_id,
        source,
        status: run.summary.status,
        error: run.summary.error.map(Failure::from),
    }
}

/// Names the file once.
fn describe(path: &Path, error: &RecordError) -> String {
    match error {
        RecordError::Spool { .. } => error.to_string(),
        other => format!("{}: {other}", path.display()),
    }
}

pub(crate) fn run(_: &RecoverArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let mut store = session.database.open()?;
    let mut closed = Vec::new();
    let (mut failed, mut in_use) = (0, 0);
    for path in spool::files() {
        match runtape::take_in_spool(&mut store, &path, times::now()) {
            Ok(run) => closed.push(closed_run(run, RecoverySource::Spool)),
            Err(error) if error.is_in_use() => in_use += 1,
            Err(error) => {
                failed += 1;
                session.warn(&describe(&path, &error));
            }
        }
    }
    for run in runtape::recover(&mut store, times::now())? {
        closed.push(closed_run(run, RecoverySource::Tape));
    }
    let console = &mut session.console;
    if console.json {
        closed.iter().try_for_each(|run| console.object(run))?;
    } else if !closed.is_empty() {
        let mut table = Table::new(&["run", "from", "status", "error"]);
        for run in &closed {
            table.row(vec![
                Cell::id(&run.run_id),
                Cell::text(match run.source {
                    RecoverySource::Tape => "tape",
                    RecoverySource::Spool => "spool",
                }),
                Cell::status(run.status),
                Cell::text(
                    &run.error
                        .as_ref()
                        .map(|error| format!("{}: {}", error.name, error.message))
                        .unwrap_or_default(),
                )
                .toned(Tone::Bad),
            ]);
        }
        table.print(console)?;
    }
    session.note(&format!("{} closed", plural(closed.len(), "run")));
    if in_use > 0 {
        let files = plural(in_use, "spool file");
        session.note(&format!(
            "{files} left alone: a recorder still writes there"
        ));
    }
    if failed > 0 {
        return Err(CliError::Unusable {
            count: failed,
            of: failed + closed.len(),
        });
    }
    Ok(())
}
