//! `runtape show --as summary`: stored runs, each in one object.

use std::collections::HashSet;

use runtape_core::{RunId, RunSummary, Summarizer, SummaryUsage, TokenCounts};
use runtape_store::Store;

use crate::arguments::filter::FilterWords;
use crate::commands::Invocation;
use crate::database::resolve_run;
use crate::error::CliError;

/// How many runs are asked for at once: of those that are shown, only the ids are held.
const PAGE: usize = 500;

/// Shows the runs that were named, those that began first first.
pub(super) fn named(runs: &[String], invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let mut roots = Vec::with_capacity(runs.len());
    let mut known = HashSet::new();
    for text in runs {
        let run = store.run(&resolve_run(&store, text)?)?;
        // A child is a part of its root's summary.
        let root = match run.root_run_id {
            Some(root) => store.run(&root)?,
            None => run,
        };
        if known.insert(root.run_id.clone()) {
            roots.push((root.started_at, root.run_id));
        }
    }
    roots.sort();
    roots
        .iter()
        .try_for_each(|(_, root)| print(&store, root, invocation))
}

/// Shows the root runs that a filter lets through, those that began first first.
pub(super) fn selected(
    filter: &FilterWords,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let mut filter = filter.to_filter(&store)?;
    filter.roots_only = true;
    let mut roots: Vec<RunId> = Vec::new();
    let mut next = None;
    loop {
        let page = store.runs(&filter, next.as_ref(), PAGE)?;
        roots.extend(page.items.into_iter().map(|run| run.run_id));
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    invocation.found("runs", &roots)?;
    // Lists begin with the latest.
    roots
        .iter()
        .rev()
        .try_for_each(|root| print(&store, root, invocation))
}

fn print(store: &Store, root: &RunId, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    if let Some(summary) = summary(store, root)? {
        return invocation.console.object(&summary);
    }
    invocation.warn(&format!("run {root} has no record yet"));
    Ok(())
}

/// Makes the summary of a root run with its children; of one that goes on, as far as it went.
fn summary(store: &Store, root: &RunId) -> Result<Option<RunSummary>, CliError> {
    let mut summarizer = Summarizer::new();
    let mut usage = TokenCounts::default();
    for run in store.tree(root)? {
        usage = usage.plus(run.usage);
        store.each_record(&run.run_id, 0, |record| {
            summarizer.push(&record);
            true
        })?;
    }
    let mut summary = summarizer.so_far();
    if let Some(summary) = &mut summary {
        // Beside the session's other runs it is known what of a total, or of a response that was
        // printed again, is this run's.
        summary.usage = SummaryUsage::known(usage);
    }
    Ok(summary)
}
