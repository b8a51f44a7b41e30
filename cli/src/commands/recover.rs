//! `runtape recover`: runs whose recorder died.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use runtape::{RecordError, Recovered};
use runtape_core::RunId;
use runtape_core::report::{Failure, RecoveredRun, RecoverySource};

use crate::commands::Session;
use crate::console::Tone;
use crate::error::{CliError, with_causes};
use crate::spool_directory as spool;
use crate::table::{Cell, Table, plural};
use crate::times;

/// Close runs whose recorder died, and take in what could not be stored at the time
///
/// Runs that a living process writes are left alone. One that cannot be closed is named, does not
/// keep the others from it, and makes the exit code 1.
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
        other => format!("{}: {}", path.display(), with_causes(other)),
    }
}

pub(crate) fn run(_: &RecoverArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let mut store = session.database.open()?;
    let mut closed = Vec::new();
    let (mut failed, mut in_use) = (0, 0);
    // Closed from its tape, a run would not have what is in its spool file.
    let mut waiting = BTreeSet::new();
    for path in spool::files() {
        match runtape::take_in_spool(&mut store, &path, times::now()) {
            Ok(run) => closed.push(closed_run(run, RecoverySource::Spool)),
            Err(error) if error.is_in_use() => in_use += 1,
            Err(error) => {
                failed += 1;
                session.warn(&describe(&path, &error));
                waiting.extend(path.file_stem().and_then(OsStr::to_str).map(str::to_owned));
            }
        }
    }
    let is_wanted = |run: &RunId| !waiting.contains(run.as_str());
    let recovery = runtape::recover_where(&mut store, times::now(), is_wanted)?;
    for run in recovery.closed {
        closed.push(closed_run(run, RecoverySource::Tape));
    }
    for run in recovery.failed {
        failed += 1;
        session.warn(&format!("run {}: {}", run.run_id, with_causes(&run.error)));
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
        return Err(CliError::Unrecovered {
            count: failed,
            of: failed + closed.len(),
        });
    }
    Ok(())
}
