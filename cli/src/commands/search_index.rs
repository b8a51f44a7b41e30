//! Completing the search index once something was stored, so that the next search need not.

#[cfg(unix)]
use std::time::{Duration, Instant};

use runtape_store::Store;

use crate::commands::Invocation;
use crate::error::{CliError, with_causes};
use crate::terminal::progress::count_bar;

/// How long is spent on the index when a run was recorded.
#[cfg(unix)]
const AFTER_A_RUN: Duration = Duration::from_secs(1);

/// Completes the index, with progress for a person. What was stored is stored, whatever becomes of it.
pub(super) fn complete(store: &Store, invocation: &mut Invocation<'_>) {
    let mut bar = None;
    let completed = store.complete_search_with(|progress| {
        // Short work needs no bar.
        if progress.records < progress.of || bar.is_some() {
            bar.get_or_insert_with(|| count_bar(progress.of, "records indexed for search"))
                .set_position(progress.records);
        }
        true
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    if let Err(error) = completed {
        let error = with_causes(&CliError::from(error));
        invocation.warn(&format!("the next search will take longer: {error}"));
    }
}

/// Indexes what was just recorded, and no more than that takes: whoever waits for the command waits for
/// us. What stays, the next search does.
#[cfg(unix)]
pub(super) fn complete_some(invocation: &Invocation<'_>) {
    let begun = Instant::now();
    if let Ok(store) = invocation.database.open_for_recording() {
        let _ = store.complete_search_with(|_| begun.elapsed() < AFTER_A_RUN);
    }
}
