//! What a sync did: a line for what could not be read, a table at the end.

use runtape_core::RunId;
use runtape_core::report::{SyncGroup, SyncLine, SyncSummary, SyncedSource};

use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::plain;
use crate::terminal::table::{Cell, Table, plural, short};

/// Says what became of a session, if there is something that a person wants to know at once.
pub(super) fn say(invocation: &mut Invocation<'_>, source: SyncedSource) -> Result<(), CliError> {
    if let Some(reason) = &source.reason {
        let what = source.paths.first().map_or("", String::as_str);
        let session = source.session_id.as_deref().unwrap_or_default();
        let what = if what.is_empty() { session } else { what };
        let text = if reason.starts_with(what) {
            reason.clone()
        } else {
            format!("{what}: {reason}")
        };
        invocation.warn(&text);
    }
    if invocation.console.json {
        invocation
            .console
            .object(&SyncLine::Source(Box::new(source)))?;
    }
    Ok(())
}

/// Says what a session has that is new, one line each.
pub(super) fn say_news(
    invocation: &mut Invocation<'_>,
    source: SyncedSource,
) -> Result<(), CliError> {
    let is_news = !(source.new.is_empty() && source.grown.is_empty() && source.joined.is_empty());
    if !is_news || invocation.console.json {
        return if is_news {
            say(invocation, source)
        } else {
            Ok(())
        };
    }
    for (runs, what) in [
        (&source.new, "new"),
        (&source.grown, "grown"),
        (&source.joined, "joined"),
    ] {
        for run in runs {
            let session = source.session_id.as_deref().unwrap_or_default();
            let line = line(source.runtime.as_str(), what, run, session);
            invocation.console.line(&line)?;
        }
    }
    invocation.console.out.flush()?;
    Ok(())
}

fn line(runtime: &str, what: &str, run: &RunId, session: &str) -> String {
    let session = plain::one_line(session);
    format!("{runtime}  {what:<6}  {}  session {session}", short(run))
}

/// Prints the table.
pub(super) fn finish(
    invocation: &mut Invocation<'_>,
    summary: &SyncSummary,
) -> Result<(), CliError> {
    let seen: Vec<&SyncGroup> = summary
        .groups
        .iter()
        .filter(|group| group.sessions > 0 || group.unreadable > 0)
        .collect();
    if seen.is_empty() {
        invocation.note("no history found: no agent CLI has left sessions in the places looked at");
        return Ok(());
    }
    let facts = [
        "sessions",
        "new",
        "grown",
        "joined",
        "unchanged",
        "unreadable",
        "input",
        "cache writes",
        "cached",
        "output",
    ];
    let mut table = Table::of_costs(&["runtime"], &facts);
    let number = |number: u64| Cell::count(i64::try_from(number).ok());
    // A column of noughts takes the room of one that says something.
    let some = |count: u64| Cell::count(i64::try_from(count).ok().filter(|count| *count > 0));
    for group in seen {
        let facts = vec![
            number(group.sessions),
            number(group.new),
            number(group.grown),
            number(group.joined),
            number(group.unchanged),
            some(group.unreadable),
            Cell::count(group.cost.input_without_writes(&group.usage)),
            Cell::count(group.cost.cache_write_tokens()),
            Cell::count(group.usage.cached_input_tokens),
            Cell::count(group.usage.output_tokens),
        ];
        let key = Cell::word(group.runtime.as_str());
        table.cost_row(vec![key], &group.cost, facts);
    }
    table.print(&mut invocation.console)?;
    let count = |of: fn(&SyncGroup) -> u64| summary.groups.iter().map(of).sum::<u64>();
    let new = plural(count(|group| group.new), "new run");
    let joined = count(|group| group.joined);
    let dry = if summary.is_dry_run {
        "dry run, nothing was written: "
    } else {
        ""
    };
    invocation.note(&format!("{dry}{new}, {joined} joined with a recorded run"));
    Ok(())
}
