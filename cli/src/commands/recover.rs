//! `runtape recover`: runs whose recorder died.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use runtape_core::RunId;
use runtape_core::report::{Failure, RecoveredRun, RecoverySource};
use runtape_recorder::{RecordError, Recovered, SpoolOwner};

use crate::commands::Invocation;
use crate::error::{CliError, with_causes};
use crate::spool_directory;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table, plural};
use crate::terminal::times;

/// Close runs whose recorder died, and take in what could not be stored at the time
///
/// Runs that a living process writes are left alone. One that cannot be closed is named, does not
/// keep the others from it, and makes the exit code 1. Spool files of other databases, and what
/// somebody else put where spool files are, are named and left alone.
#[derive(Debug, clap::Args)]
pub(crate) struct RecoverArgs {
    /// Also take in this spool file, whichever database it belongs to
    #[arg(long, value_name = "FILE")]
    spool: Vec<PathBuf>,
}

fn closed_run(run: Recovered, source: RecoverySource) -> RecoveredRun {
    RecoveredRun {
        run_id: run.run_id,
        source,
        status: run.summary.status,
        outcome: run.summary.outcome,
        error: run.summary.error.map(Failure::from),
    }
}

/// Names the file once.
fn describe(path: &Path, error: &RecordError) -> String {
    match error {
        RecordError::Spool { .. } | RecordError::Misfit { .. } => error.to_string(),
        other => format!("{}: {}", path.display(), with_causes(other)),
    }
}

pub(crate) fn run(args: &RecoverArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mut store = invocation.database.open()?;
    let owner = SpoolOwner::of(&store)?;
    let mut closed = Vec::new();
    let (mut failed, mut in_use, mut left) = (0, 0, 0);
    // Closed from its tape, a run would not have what is in its spool file.
    let mut waiting = BTreeSet::new();
    let named = args.spool.iter().map(|path| (path.clone(), true));
    let directories = spool_directory::directories(&invocation.database);
    let found = directories
        .files(&owner)
        .into_iter()
        .map(|path| (path, false));
    let found = found.filter(|(path, _)| !args.spool.contains(path));
    for (path, is_named) in named.chain(found) {
        let take_in = if is_named {
            runtape_recorder::adopt_spool
        } else {
            runtape_recorder::take_in_spool
        };
        match take_in(&mut store, &path, times::now()) {
            Ok(run) => closed.push(closed_run(run, RecoverySource::Spool)),
            Err(error) if error.is_in_use() => in_use += 1,
            Err(error @ RecordError::Misfit { .. }) if !is_named => {
                left += 1;
                invocation.warn(&describe(&path, &error));
            }
            Err(error) => {
                failed += 1;
                invocation.warn(&describe(&path, &error));
                waiting.extend(runtape_recorder::run_of_spool(&path));
            }
        }
    }
    directories.tidy(&owner);
    let is_wanted = |run: &RunId| !waiting.contains(run);
    let recovery = runtape_recorder::recover_where(&mut store, times::now(), is_wanted)?;
    for run in recovery.closed {
        closed.push(closed_run(run, RecoverySource::Tape));
    }
    for run in recovery.failed {
        failed += 1;
        invocation.warn(&format!("run {}: {}", run.run_id, with_causes(&run.error)));
    }
    let console = &mut invocation.console;
    if console.json {
        closed.iter().try_for_each(|run| console.object(run))?;
    } else if !closed.is_empty() {
        let mut table = Table::new(&["run", "from", "outcome", "error"]);
        for run in &closed {
            table.row(vec![
                Cell::id(&run.run_id),
                Cell::text(match run.source {
                    RecoverySource::Tape => "tape",
                    RecoverySource::Spool => "spool",
                }),
                Cell::outcome(run.outcome),
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
    invocation.note(&format!("{} closed", plural(closed.len(), "run")));
    if in_use > 0 {
        let files = plural(in_use, "spool file");
        invocation.note(&format!(
            "{files} left alone: a recorder still writes there"
        ));
    }
    if left > 0 {
        invocation.note("hint: `runtape recover --spool FILE` takes in a file that is yours");
    }
    if failed > 0 {
        return Err(CliError::Unrecovered {
            count: failed,
            of: failed + closed.len(),
        });
    }
    Ok(())
}
