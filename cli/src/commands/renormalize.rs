//! `runtape renormalize`: old tapes, new parser.

use crate::arguments::filter::FilterWords;
use crate::commands::Invocation;
use crate::commands::scan::roots;
use crate::error::{CliError, with_causes};
use crate::terminal::table::{Cell, Table, plural};
use crate::terminal::times;

/// Make the records of runs anew from their tapes with the current parser
///
/// Where nothing changes, nothing is written; a replaced run leaves its seal as a tombstone. A run
/// whose tape was dropped, or that came without one, is named and left as it is; the others are
/// read again, and the exit code is 1.
#[derive(Debug, clap::Args)]
pub(crate) struct RenormalizeArgs {
    /// The runs: ids, beginnings of ids, or `last`
    #[arg(value_name = "RUN", conflicts_with = "all")]
    runs: Vec<String>,
    /// Every finished run; with filters, those that they let through, as without --all
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filter: FilterWords,
}

pub(crate) fn run(args: &RenormalizeArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mut store = invocation.database.open_existing()?;
    if args.runs.is_empty() && args.filter.is_empty() && !args.all {
        let message = "name runs, or filters such as --since 1d, or --all".to_owned();
        return Err(CliError::Usage { message });
    }
    let runs = roots(&store, &args.runs, &args.filter, |run| run.seal.is_some())?;
    let mut table = Table::new(&["run", "same", "changed", "added", "removed"]);
    let (mut changed, mut failed) = (0, 0);
    for run in &runs {
        // A run that cannot be read again stays as it is, and the others need not wait for it.
        let report = match runtape_recorder::renormalize(&mut store, run, times::now()) {
            Ok(report) => report,
            Err(error) => {
                failed += 1;
                invocation.warn(&format!("run {run}: {}", with_causes(&error)));
                continue;
            }
        };
        changed += usize::from(report.is_changed());
        if invocation.console.json {
            invocation.console.object(&report)?;
        } else if report.is_changed() || !args.runs.is_empty() {
            table.row(vec![
                Cell::id(run),
                Cell::number(report.same),
                Cell::number(report.changed),
                Cell::number(report.added),
                Cell::number(report.removed),
            ]);
        }
    }
    if !invocation.console.json && table.has_rows() {
        table.print(&mut invocation.console)?;
    }
    invocation.note(&format!(
        "{} read again, {changed} replaced",
        plural(runs.len() - failed, "run")
    ));
    if failed > 0 {
        return Err(CliError::Unread {
            count: failed,
            of: runs.len(),
        });
    }
    Ok(())
}
