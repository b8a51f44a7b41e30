//! `runtape jobs`: the jobs there are.

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::commands::estimates::ListEstimates;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table};

/// List jobs, those that were first seen last first
#[derive(Debug, clap::Args)]
pub(crate) struct JobsArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn run(args: &JobsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let mut page = store.jobs(
        &args.filter.to_filter(&store)?,
        None,
        args.filter.limit(&invocation.console),
    )?;
    invocation.found("jobs", &page.items)?;
    let estimates = ListEstimates::find(invocation);
    if let Some(estimates) = &estimates {
        estimates.of_jobs(&store, &mut page.items)?;
    }
    let console = &mut invocation.console;
    if console.json {
        return page.items.iter().try_for_each(|job| console.object(job));
    }
    let facts = [
        "started",
        "outcome",
        "expert",
        "runs",
        "steps",
        "input",
        "cache writes",
        "cached",
        "output",
    ];
    let mut table = Table::of_costs(&["job"], &facts);
    let number = |number: u64| Cell::count(i64::try_from(number).ok());
    for job in &page.items {
        let facts = vec![
            Cell::time(job.started_at),
            Cell::outcome(job.outcome),
            Cell::text(&job.expert_key),
            number(job.runs),
            number(job.steps),
            Cell::count(job.cost.input_without_writes(&job.usage)),
            Cell::count(job.cost.cache_write_tokens()),
            Cell::count(job.usage.cached_input_tokens),
            Cell::count(job.usage.output_tokens),
        ];
        table.cost_row(vec![Cell::job(&job.job_id)], &job.cost, facts);
    }
    table.print(console)?;
    if page.next.is_some() {
        invocation.more();
    }
    if let Some(estimates) = &estimates {
        estimates.tell(&page.items, invocation);
    }
    Ok(())
}
