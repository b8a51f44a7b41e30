//! `runtape errors`: what failed.

use runtape_core::{Outcome, Runtime};
use runtape_store::{FailureBy, RunFilter, RunInfo, Store};

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::commands::estimates::ListEstimates;
use crate::error::CliError;
use crate::terminal::console::{Console, Tone};
use crate::terminal::fit::wrap;
use crate::terminal::plain;
use crate::terminal::table::{Cell, Table, short};
use crate::terminal::times;

/// Lines of a message that are shown; --json has all of it.
const LONGEST_MESSAGE: usize = 4;

/// Show which runs failed, and why
///
/// A family says what kind of failure it was, whatever the runtime calls it: auth, rateLimit,
/// billing, overload, contextOverflow, refusal, unknownSession, modelNotFound, network, turnLimit,
/// budget, process, other.
#[derive(Debug, clap::Args)]
pub(crate) struct ErrorsArgs {
    /// Also runs from history that stop without proof of an end
    #[arg(long)]
    unfinished: bool,
    /// Count them instead: by family, name or runtime
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,
    #[command(flatten)]
    filter: FilterArgs,
}

impl ErrorsArgs {
    fn filter(&self, store: &Store) -> Result<RunFilter, CliError> {
        let mut filter = self.filter.to_filter(store)?;
        filter.unfinished_too = self.unfinished;
        Ok(filter)
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum By {
    Family,
    Name,
    Runtime,
}

pub(crate) fn run(args: &ErrorsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    if let Some(by) = args.by {
        return count(args, by, &store, invocation);
    }
    let limit = args.filter.limit(&invocation.console);
    let mut runs = store.errors(&args.filter(&store)?, limit.saturating_add(1))?;
    let has_more = invocation.cut(&mut runs, limit);
    invocation.found("failed runs", &runs)?;
    if invocation.console.json
        && let Some(estimates) = ListEstimates::find(invocation)
    {
        estimates.of_runs(&store, &mut runs)?;
    }
    let console = &mut invocation.console;
    if console.json {
        return runs.iter().try_for_each(|run| console.object(run));
    }
    runs.iter().try_for_each(|run| show(run, console))?;
    if has_more {
        invocation.more();
    }
    Ok(())
}

/// Shows how a run failed.
fn show(run: &RunInfo, console: &mut Console<'_>) -> Result<(), CliError> {
    let Some(error) = &run.error else {
        return Ok(());
    };
    let at = times::minute(run.finished_at.unwrap_or(run.started_at));
    let place = format!("{at}  {}  {}", short(&run.run_id), run.runtime);
    let mut facts = vec![run.outcome_label().into_owned()];
    // Of a failure the label has it.
    facts.extend((run.outcome != Outcome::Failed).then(|| error.name.clone()));
    facts.extend(error.status_code.map(|code| format!("HTTP {code}")));
    match (error.retry_at, error.is_retryable) {
        (Some(at), _) => facts.push(format!("retry at {}", times::local(at))),
        (None, true) => facts.push("may be tried again".to_owned()),
        (None, false) => {}
    }
    let tone = Tone::of_outcome(run.outcome);
    let place = console.paint(Tone::Faint, &place);
    let facts = console.paint(tone, &plain::one_line(&facts.join(", ")));
    console.line(&format!("{place}  {facts}"))?;
    let room = console.width.saturating_sub(4);
    for line in wrap(&plain::one_line(&error.message), room, LONGEST_MESSAGE) {
        console.line(&format!("    {line}"))?;
    }
    Ok(())
}

/// Shows how often runs failed in which way.
fn count(
    args: &ErrorsArgs,
    by: By,
    store: &Store,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let (by, heading) = match by {
        By::Family => (FailureBy::Family, "family"),
        By::Name => (FailureBy::Name, "name"),
        By::Runtime => (FailureBy::Runtime, "runtime"),
    };
    let limit = args.filter.limit(&invocation.console);
    let mut sums = store.failures(&args.filter(store)?, by)?;
    let has_more = invocation.cut(&mut sums, limit);
    invocation.found("failed runs", &sums)?;
    let console = &mut invocation.console;
    if console.json {
        return sums.iter().try_for_each(|sum| console.object(sum));
    }
    let mut table = Table::new(&[
        heading,
        "runs",
        "retryable",
        "names",
        "runtimes",
        "last",
        "last run",
    ]);
    for sum in &sums {
        let runtimes: Vec<&str> = sum.runtimes.iter().map(Runtime::as_str).collect();
        table.row(vec![
            Cell::text(sum.key.as_deref().unwrap_or("(unknown)")),
            Cell::number(sum.runs),
            Cell::number(sum.retryable),
            Cell::text(&sum.names.join(", ")),
            Cell::text(&runtimes.join(", ")),
            Cell::time(sum.last_at),
            Cell::run(&sum.run_id),
        ]);
    }
    table.print(console)?;
    if has_more {
        invocation.more();
    }
    Ok(())
}
