//! `runtape sessions`: the sessions there are, and how to go on with them.

use runtape_core::ErrorFamily;
use runtape_core::report::SessionInfo;
use runtape_normalizer::runtimes;

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::commands::estimates::{ListEstimates, cost_text};
use crate::error::CliError;
use crate::terminal::table::{Cell, Table, plural, thousands};

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
        let is_narrow = console.limit.is_some_and(|limit| limit < WIDE);
        table(&page.items, is_narrow).print(console)?;
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

/// Makes the table. Where there is no room for id and command side by side, the command has the id in it.
fn table(sessions: &[SessionInfo], is_narrow: bool) -> Table {
    let names: &[&str] = if is_narrow {
        &["session"]
    } else {
        &["session", "runtime"]
    };
    let facts = [
        "last active",
        "what",
        "runs",
        "input",
        "output",
        "cost $",
        "directory",
    ];
    let last: &[&str] = if is_narrow { &[] } else { &["resume"] };
    let mut table = Table::new(&[names, &facts, last].concat());
    for session in sessions {
        let id = &session.session_id;
        let resume = session.resume.as_deref();
        let runs = i64::try_from(session.runs).unwrap_or(i64::MAX);
        let what = session.title.as_deref().or(session.prompt.as_deref());
        let mut cells = if is_narrow {
            let unresumed = || format!("{} {id}", session.runtime);
            vec![Cell::id(resume.map_or_else(unresumed, str::to_owned))]
        } else {
            vec![Cell::id(id), Cell::word(session.runtime.as_str())]
        };
        cells.extend([
            Cell::time(session.last_active_at),
            Cell::maybe(what),
            Cell::number(thousands(runs)),
            Cell::count(session.usage.input_tokens),
            Cell::count(session.usage.output_tokens),
            Cell::number(cost_text(session.cost_usd, &session.estimate)),
            Cell::maybe(session.cwd.as_deref()),
        ]);
        if !is_narrow {
            cells.push(Cell::word(resume.unwrap_or_default()));
        }
        table.row(cells);
    }
    table
}
