//! `runtape usage`: what was used.

use clap::ValueEnum;
use runtape_store::{Store, UsageBy, UsageGroup};

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table};

/// Columns of the longest bar.
const BAR: i64 = 20;

/// Add up tokens and cost
///
/// Each response of a model counts once. Unknown is empty, never zero.
#[derive(Debug, clap::Args)]
pub(crate) struct UsageArgs {
    /// What to add up by
    #[arg(long, value_enum, default_value_t = By::Runtime)]
    by: By,
    /// Show the entries that the numbers are made of
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

/// What usage is added up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The day, in UTC
    Day,
    /// The agent CLI
    Runtime,
    /// The model
    Model,
    /// The job
    Job,
}

impl By {
    fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Runtime => "runtime",
            Self::Model => "model",
            Self::Job => "job",
        }
    }
}

pub(crate) fn run(args: &UsageArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    if args.explain {
        return explain(args, &store, invocation);
    }
    let by = match args.by {
        By::Day => UsageBy::Day,
        By::Runtime => UsageBy::Runtime,
        By::Model => UsageBy::Model,
        By::Job => UsageBy::Job,
    };
    let groups = store.usage_by(&args.filter.to_filter(&store)?, by)?;
    invocation.found("reported tokens", &groups)?;
    let console = &mut invocation.console;
    if console.json {
        return groups.iter().try_for_each(|group| console.object(group));
    }
    let known = |group: &UsageGroup| {
        let counts = &group.usage;
        let parts = [
            counts.input_tokens,
            counts.cached_input_tokens,
            counts.output_tokens,
        ];
        parts.into_iter().flatten().sum::<i64>()
    };
    let most = groups.iter().map(known).max().unwrap_or(0).max(1);
    let mut table = Table::new(&[
        args.by.name(),
        "runs",
        "input",
        "cached",
        "output",
        "reasoning",
        "total",
        "cost $",
        "share",
    ]);
    for group in &groups {
        // Rounded up: what is there at all is seen.
        let length = (known(group).max(0) * BAR + most - 1) / most;
        table.row(vec![
            Cell::text(group.name.as_deref().unwrap_or("(unknown)")).toned(Tone::Name),
            Cell::number(group.runs),
            Cell::count(group.usage.input_tokens),
            Cell::count(group.usage.cached_input_tokens),
            Cell::count(group.usage.output_tokens),
            Cell::count(group.usage.reasoning_tokens),
            Cell::count(group.usage.total()),
            Cell::cost(group.cost_usd),
            Cell::word(&"█".repeat(usize::try_from(length).unwrap_or(0))).toned(Tone::Good),
        ]);
    }
    table.print(console)
}

/// Shows the ledger: each entry, its source, and whether it counts.
fn explain(
    args: &UsageArgs,
    store: &Store,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let filter = args.filter.to_filter(store)?;
    let runs = store.runs(&filter, None, u32::MAX as usize)?.items;
    let mut table = Table::new(&[
        "run",
        "step",
        "source",
        "model",
        "input",
        "cached",
        "output",
        "reasoning",
        "counts",
        "key",
    ]);
    let mut entries = Vec::new();
    for run in &runs {
        entries.extend(store.usage_of(&run.run_id)?);
        if entries.len() > args.filter.limit() {
            break;
        }
    }
    let is_more = entries.len() > args.filter.limit();
    entries.truncate(args.filter.limit());
    invocation.found("reported tokens", &entries)?;
    let console = &mut invocation.console;
    for line in &entries {
        if console.json {
            console.object(line)?;
            continue;
        }
        let source = serde_json::to_value(line.source)?;
        table.row(vec![
            Cell::run(&line.run_id),
            Cell::number(line.step.map(|step| step.to_string()).unwrap_or_default()),
            Cell::maybe(source.as_str()),
            Cell::maybe(line.model.as_deref()),
            Cell::count(line.usage.input_tokens),
            Cell::count(line.usage.cached_input_tokens),
            Cell::count(line.usage.output_tokens),
            Cell::count(line.usage.reasoning_tokens),
            Cell::text(if line.is_repeated {
                "no, repeated"
            } else {
                "yes"
            }),
            Cell::text(&line.key).toned(Tone::Faint),
        ]);
    }
    if !console.json {
        table.print(console)?;
    }
    if is_more {
        invocation.more();
    }
    Ok(())
}
