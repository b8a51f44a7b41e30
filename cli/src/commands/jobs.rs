//! `runtape jobs`: the jobs there are.

use runtape_core::JobStatus;

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::commands::estimates::ListEstimates;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table};

/// List jobs, those that were first seen last first
#[derive(Debug, clap::Args)]
pub(crate) struct JobsArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

/// Returns a job's status in one word, as `runs` has it.
pub(crate) fn status_word(status: JobStatus) -> &'static str {
    word_and_tone(status).0
}

fn word_and_tone(status: JobStatus) -> (&'static str, Tone) {
    match status {
        JobStatus::Running => ("open", Tone::Name),
        JobStatus::Completed => ("completed", Tone::Good),
        JobStatus::StoppedByMaxSteps => ("maxSteps", Tone::Warning),
        JobStatus::StoppedByInteractiveTool => ("interactive", Tone::Warning),
        JobStatus::StoppedByError => ("error", Tone::Bad),
    }
}

fn status(status: JobStatus) -> Cell {
    let (word, tone) = word_and_tone(status);
    Cell::word(word).toned(tone)
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
        "status",
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
            status(job.status),
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
