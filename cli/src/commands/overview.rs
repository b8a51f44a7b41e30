//! `runtape` alone: what happened lately, and what to type next.

use runtape_core::Outcome;
use runtape_store::RunFilter;

use crate::commands::estimates::ListEstimates;
use crate::commands::{Invocation, runs};
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{plural, short};
use crate::terminal::times;

/// How many runs are shown.
const RUNS: usize = 5;

pub(super) fn run(invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    if invocation.database.is_new() {
        let path = invocation.database.name();
        let console = &mut invocation.console;
        if !console.json {
            console.line(&format!(
                "nothing is recorded yet: there is no database at {path}"
            ))?;
            return next(
                invocation,
                &[
                    (
                        "runtape record -- claude -p '…'",
                        "run an agent and record it",
                    ),
                    ("runtape sync", "take in what agents left on this machine"),
                    ("runtape --help", "everything else"),
                ],
            );
        }
        return Ok(());
    }
    let store = invocation.database.read()?;
    let mut filter = RunFilter::default();
    filter.roots_only = true;
    let mut page = store.runs(&filter, None, RUNS)?;
    let estimates = ListEstimates::find(invocation);
    if let Some(estimates) = &estimates {
        estimates.of_runs(&store, &mut page.items)?;
    }
    let console = &mut invocation.console;
    if console.json {
        return page.items.iter().try_for_each(|run| console.object(run));
    }
    let Some(last) = page.items.first() else {
        console.line("nothing is recorded yet")?;
        return next(invocation, &[("runtape record -- COMMAND", "record a run")]);
    };
    let without_recorder = runs::lost(&store, &page.items)?;
    runs::print(console, &page.items, &without_recorder, false)?;
    let mut week = RunFilter::default();
    week.roots_only = true;
    week.since = Some(times::now() - 7 * 86_400_000);
    let runs = store.runs(&week, None, u32::MAX as usize)?.items;
    let failed = runs.iter().filter(|run| run.outcome == Outcome::Failed);
    let failed = failed.count();
    console.line("")?;
    console.line(&format!(
        "{} in the last seven days, {failed} of them failed",
        plural(runs.len(), "run")
    ))?;
    if let Some(estimates) = &estimates {
        estimates.tell(&page.items, invocation);
    }
    let last_id = short(&last.run_id).to_owned();
    let follow = format!("runtape transcript {last_id} --follow");
    let read = format!("runtape transcript {last_id}");
    let shown = format!("runtape show {last_id}");
    let first = if last.status.is_terminal() {
        (read.as_str(), "what the last run said and did")
    } else {
        (follow.as_str(), "what the last run does right now")
    };
    next(
        invocation,
        &[
            first,
            (&shown, "how it went and what it used"),
            ("runtape errors --since 7d", "what failed this week"),
            ("runtape usage --by day", "what it took"),
            ("runtape --help", "everything else"),
        ],
    )
}

/// Says what to type next.
fn next(invocation: &mut Invocation<'_>, hints: &[(&str, &str)]) -> Result<(), CliError> {
    let console = &mut invocation.console;
    let width = hints.iter().map(|(command, _)| command.len()).max();
    let width = width.unwrap_or_default();
    for (command, what) in hints {
        let text = console.paint(Tone::Name, &format!("{command:width$}"));
        console.line(&format!("  {text}  {what}"))?;
    }
    Ok(())
}
