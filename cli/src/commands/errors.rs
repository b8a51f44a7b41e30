//! `runtape errors`: what failed.

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::fit::wrap;
use crate::terminal::plain;
use crate::terminal::table::short;
use crate::terminal::times;

/// Lines of a message that are shown; --json has all of it.
const LONGEST_MESSAGE: usize = 4;

/// Show which runs failed, and why
#[derive(Debug, clap::Args)]
pub(crate) struct ErrorsArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn run(args: &ErrorsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let runs = store.errors(&args.filter.to_filter(&store)?, args.filter.limit())?;
    invocation.found("failed runs", &runs)?;
    let console = &mut invocation.console;
    if console.json {
        return runs.iter().try_for_each(|run| console.object(run));
    }
    for run in &runs {
        let Some(error) = &run.error else { continue };
        let at = times::minute(run.finished_at.unwrap_or(run.started_at));
        let place = format!("{at}  {}  {}", short(&run.run_id), run.runtime);
        let mut facts = vec![error.name.clone()];
        facts.extend(error.family.map(|family| family.as_str().to_owned()));
        facts.extend(error.status_code.map(|code| format!("HTTP {code}")));
        match (error.retry_at, error.is_retryable) {
            (Some(at), _) => facts.push(format!("retry at {}", times::local(at))),
            (None, true) => facts.push("may be tried again".to_owned()),
            (None, false) => {}
        }
        let place = console.paint(Tone::Faint, &place);
        let facts = console.paint(Tone::Bad, &plain::one_line(&facts.join(", ")));
        console.line(&format!("{place}  {facts}"))?;
        let room = console.width.saturating_sub(4);
        for line in wrap(&plain::one_line(&error.message), room, LONGEST_MESSAGE) {
            console.line(&format!("    {line}"))?;
        }
    }
    Ok(())
}
