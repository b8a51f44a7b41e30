//! `runtape rebuild`: tables for queries from records.

use indicatif::ProgressBar;
use runtape_core::RunId;
use runtape_core::report::RebuiltRun;
use runtape_store::{Store, StoreError};

use crate::commands::Invocation;
use crate::database::resolve_run;
use crate::error::{CliError, with_causes};
use crate::terminal::table::{Cell, Table, plural};

/// Make the tables that queries read, and the search index, anew from the records of runs
///
/// For a database in which verify finds rows that are not what the records say. Records, tapes and
/// seals are not touched. A run whose records do not fit their hashes or their seal is named and
/// left as it is; the others are rebuilt, and the exit code is 1.
#[derive(Debug, clap::Args)]
pub(crate) struct RebuildArgs {
    /// The runs, each with its whole tree: ids, beginnings of ids, or `last`
    #[arg(
        value_name = "RUN",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    runs: Vec<String>,
    /// Every run; also what belongs to no run is removed, and every index is made anew
    #[arg(long)]
    all: bool,
}

type Outcome = (RunId, Result<RebuiltRun, StoreError>);

pub(crate) fn run(args: &RebuildArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mut store = invocation.database.open_existing()?;
    let outcomes = rebuild(args, &mut store)?;
    let (of, mut failed) = (outcomes.len(), 0);
    let columns = [
        "run", "records", "steps", "calls", "notices", "unparsed", "usage",
    ];
    let mut table = Table::new(&columns);
    for (run, outcome) in outcomes {
        let rebuilt = match outcome {
            Ok(rebuilt) => rebuilt,
            Err(error) => {
                failed += 1;
                invocation.warn(&format!("run {run}: {}", with_causes(&error)));
                continue;
            }
        };
        if invocation.console.json {
            invocation.console.object(&rebuilt)?;
        } else if !args.all {
            table.row(vec![
                Cell::id(&rebuilt.run_id),
                Cell::number(rebuilt.records),
                Cell::number(rebuilt.steps),
                Cell::number(rebuilt.tool_calls),
                Cell::number(rebuilt.notices),
                Cell::number(rebuilt.unparsed),
                Cell::number(rebuilt.usage_entries),
            ]);
        }
    }
    if !invocation.console.json && table.has_rows() {
        table.print(&mut invocation.console)?;
    }
    invocation.note(&format!("{} rebuilt", plural(of - failed, "run")));
    if failed > 0 {
        return Err(CliError::NotRebuilt { count: failed, of });
    }
    Ok(())
}

fn rebuild(args: &RebuildArgs, store: &mut Store) -> Result<Vec<Outcome>, CliError> {
    let mut outcomes = Vec::new();
    if args.all {
        // Drawn on standard error, and only where that is a terminal.
        let bar = ProgressBar::new_spinner().with_message("runs rebuilt");
        store.rebuild_all(|run, rebuilt| {
            bar.inc(1);
            outcomes.push((run.clone(), rebuilt));
        })?;
        bar.finish_and_clear();
        return Ok(outcomes);
    }
    for text in &args.runs {
        let run = resolve_run(store, text)?;
        let rebuilt = store.rebuild(&run);
        outcomes.push((run, rebuilt));
    }
    Ok(outcomes)
}
