//! `runtape runs`: the runs there are.

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table};

/// List runs, those that began last first
#[derive(Debug, clap::Args)]
pub(crate) struct RunsArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Also list the runs that other runs started
    #[arg(long)]
    children: bool,
    /// Only runs in which a full-text search finds this
    #[arg(long, value_name = "QUERY")]
    text: Option<String>,
}

pub(crate) fn run(args: &RunsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = if args.text.is_some() {
        // A search completes its index first, which takes writing.
        invocation.database.open_for_search()?
    } else {
        invocation.database.read()?
    };
    let mut filter = args.filter.to_filter(&store)?;
    filter.roots_only = !args.children;
    filter.text.clone_from(&args.text);
    let page = store.runs(&filter, None, args.filter.limit())?;
    invocation.found("runs", &page.items)?;
    let console = &mut invocation.console;
    if console.json {
        return page.items.iter().try_for_each(|run| console.object(run));
    }
    let mut table = Table::new(&[
        "run", "started", "runtime", "status", "model", "steps", "input", "output", "cost $",
    ]);
    for run in &page.items {
        table.row(vec![
            Cell::run(&run.run_id),
            Cell::time(run.started_at),
            Cell::word(run.runtime.as_str()),
            Cell::status_of(run.status, run.error.as_ref()),
            Cell::maybe(run.model.as_deref()),
            Cell::number(run.steps),
            Cell::count(run.usage.input_tokens),
            Cell::count(run.usage.output_tokens),
            Cell::cost(run.cost_usd),
        ]);
    }
    table.print(console)?;
    if page.next.is_some() {
        invocation.more();
    }
    Ok(())
}
