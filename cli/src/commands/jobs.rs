//! `runtape jobs`: the jobs there are.

use crate::commands::Session;
use crate::console::Tone;
use crate::error::CliError;
use crate::filter::FilterArgs;
use crate::table::{Cell, Table, thousands};
use crate::times;

/// List jobs, those that were first seen last first
#[derive(Debug, clap::Args)]
pub(crate) struct JobsArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn run(args: &JobsArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let store = session.database.read()?;
    let page = store.jobs(&args.filter.to_filter(), None, args.filter.limit())?;
    session.found(&page.items)?;
    let console = &mut session.console;
    if console.json {
        return page.items.iter().try_for_each(|job| console.object(job));
    }
    let mut table = Table::new(&[
        "job", "started", "status", "expert", "runs", "steps", "input", "cached", "output",
        "cost $", "took",
    ]);
    let number = |number: u64| Cell::number(thousands(i64::try_from(number).unwrap_or(i64::MAX)));
    for job in &page.items {
        let status = serde_json::to_value(job.status)?;
        let status = status.as_str().unwrap_or_default();
        let took = job.finished_at.map(|end| end - job.started_at);
        // From a file both are its modification time, which says nothing of how long it took.
        let took = took.filter(|took| *took > 0);
        table.row(vec![
            Cell::id(&job.job_id),
            Cell::time(job.started_at),
            Cell::text(status).toned(Tone::of_status(status)),
            Cell::text(&job.expert_key),
            number(job.runs),
            number(job.steps),
            Cell::count(job.usage.input_tokens),
            Cell::count(job.usage.cached_input_tokens),
            Cell::count(job.usage.output_tokens),
            Cell::cost(job.cost_usd),
            Cell::number(took.map(times::duration).unwrap_or_default()),
        ]);
    }
    table.print(console)?;
    if page.next.is_some() {
        session.note("there are more: --limit 0 shows all");
    }
    Ok(())
}
