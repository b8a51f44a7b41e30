//! `runtape sessions`: the sessions there are, and how to go on with them.

use runtape_core::ErrorFamily;
use runtape_core::report::SessionInfo;
use runtape_normalizer::runtimes;

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::commands::estimates::ListEstimates;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table, plural};

/// List sessions of agent CLIs, those in which something happened last first
///
/// A session is shown as a whole if the filters let any of its runs through: its runs, what they
/// used (each response counted once, however many runs report it), and the command that goes on
/// with it in its directory.
#[derive(Debug, clap::Args)]
pub(crate) struct SessionsArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

/// So many columns are enough for id and command side by side.
const WIDE: usize = 160;

/// So many columns are enough for the command beside the cost.
const ROOM_FOR_COMMAND: usize = 80;

/// Returns the command that goes on with a session, unless the CLI does not know it any more.
fn resume(session: &SessionInfo) -> Option<String> {
    let family = session.error.as_ref().and_then(|error| error.family);
    if family == Some(ErrorFamily::UnknownSession) {
        return None;
    }
    runtimes::resume_command(&session.runtime, &session.session_id)
}

pub(crate) fn run(args: &SessionsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let filter = args.filter.to_filter(&store)?;
    let mut page = store.sessions(&filter, None, args.filter.limit(&invocation.console))?;
    for session in &mut page.items {
        session.resume = resume(session);
    }
    let estimates = ListEstimates::find(invocation);
    if let Some(estimates) = &estimates {
        estimates.of_sessions(&store, &mut page.items)?;
    }
    let console = &mut invocation.console;
    if console.json {
        page.items
            .iter()
            .try_for_each(|session| console.object(session))?;
        return invocation.found("sessions", &page.items);
    }
    if !page.items.is_empty() {
        let width = console.limit.unwrap_or(WIDE);
        table(&page.items, width).print(console)?;
    }
    if page.next.is_some() {
        invocation.more();
    }
    if let Some(estimates) = &estimates {
        estimates.tell(&page.items, invocation);
    }
    let without = store.runs_without_session(&filter)?;
    if without > 0 {
        let runs = plural(without, "run");
        invocation.note(&format!(
            "{runs} without a session: `runtape runs` has them"
        ));
    }
    invocation.found("sessions", &page.items)
}

/// Makes the table. Where there is no room for id and command side by side, the command has the id in it; where there is
/// none for the command beside the cost, the id stands alone.
fn table(sessions: &[SessionInfo], width: usize) -> Table {
    let is_narrow = width < WIDE;
    let facts = [
        "last active",
        "what",
        "runs",
        "input",
        "cache writes",
        "cached",
        "output",
        "directory",
    ];
    let (first, last): (&[&str], &[&str]) = if is_narrow {
        (&[], &[])
    } else {
        (&["runtime"], &["resume"])
    };
    let mut table = Table::of_costs(&["session"], &[first, &facts, last].concat());
    for session in sessions {
        let id = &session.session_id;
        let resume = session.resume.as_deref();
        let what = session.title.as_deref().or(session.prompt.as_deref());
        let key = match resume {
            _ if width < ROOM_FOR_COMMAND || !is_narrow => id.clone(),
            Some(resume) => resume.to_owned(),
            None => format!("{} {id}", session.runtime),
        };
        let mut cells = Vec::new();
        if !is_narrow {
            cells.push(Cell::word(session.runtime.as_str()));
        }
        cells.extend([
            Cell::time(session.last_active_at),
            Cell::maybe(what),
            Cell::count(i64::try_from(session.runs).ok()),
            Cell::count(session.cost.input_without_writes(&session.usage)),
            Cell::count(session.cost.cache_write_tokens()),
            Cell::count(session.usage.cached_input_tokens),
            Cell::count(session.usage.output_tokens),
            Cell::maybe(session.cwd.as_deref()),
        ]);
        if !is_narrow {
            cells.push(Cell::word(resume.unwrap_or_default()));
        }
        table.cost_row(vec![Cell::id(key)], &session.cost, cells);
    }
    table
}
