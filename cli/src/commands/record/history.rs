//! The session file of the command that was just recorded.

use std::sync::Arc;

use runtape_core::{RunSummary, summarize};
use runtape_normalizer::Context;
use runtape_normalizer::redact::RuleSet;
use runtape_recorder::KeepingEnd;
use runtape_recorder::history::{SyncOptions, sync, usual_directories};

use super::RecordArgs;
use crate::commands::Invocation;
use crate::commands::sync::home;
use crate::terminal::times;

/// How far the times of files may be off, in milliseconds.
const SLACK: i64 = 5_000;

/// Joins a run that is stored with what its CLI left on disk; returns the run as it is then.
///
/// Whatever goes wrong here leaves the run as it was recorded: `sync` comes back to it.
pub(super) fn join(
    args: &RecordArgs,
    invocation: &Invocation<'_>,
    context: &Context,
    kept: &KeepingEnd,
    rules: &Arc<RuleSet>,
) -> Option<RunSummary> {
    if args.no_history || kept.fault.is_some() {
        return None;
    }
    let mut store = invocation.database.open_existing().ok()?;
    let run = store.run(&context.run_id).ok()?;
    let runtimes = [run.runtime.clone()];
    let options = SyncOptions {
        directories: usual_directories(&home()?, &runtimes, |name| std::env::var_os(name)),
        since: Some(run.started_at - SLACK),
        only: Some(context.run_id.clone()),
        scratch: invocation.database.own_directory(),
        rules: Arc::clone(rules),
        ..SyncOptions::default()
    };
    let before = store.run(&context.run_id).ok()?.seal;
    sync(&mut store, &options, times::now, &mut |_| {}).ok()?;
    let is_joined = store.run(&context.run_id).ok()?.seal != before;
    let records = store.tree_records(&context.run_id).ok()?;
    is_joined.then(|| summarize(&records)).flatten()
}
