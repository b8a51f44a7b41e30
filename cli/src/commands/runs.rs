//! `runtape runs`: the runs there are.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use clap::ValueEnum;
use runtape_core::report::{Cost, RunInfo};
use runtape_core::{RunId, TokenCounts};
use runtape_recorder::following::has_lost_its_recorder;
use runtape_store::Store;

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::commands::estimates::{self, ListEstimates};
use crate::error::CliError;
use crate::terminal::console::Console;
use crate::terminal::table::{Cell, Table, plural};

/// List runs, those that began last first: what was asked, how it went, how long it took, what it cost
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
    /// List those first that have the most of this
    #[arg(long, value_enum, value_name = "WHAT")]
    sort: Option<Sort>,
    /// Show dates and times instead of how long ago
    #[arg(long)]
    exact: bool,
}

/// What runs are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// What it cost, as reported, else as estimated
    Cost,
    /// How long it took
    Duration,
    /// What it used, cached input included
    Tokens,
    /// How many steps it took
    Steps,
}

impl Sort {
    /// Puts the runs with the most first, and those of which it is not known last.
    fn order(self, runs: &mut [RunInfo]) {
        match self {
            Self::Cost => runs.sort_by(|one, other| {
                let cost = |run: &RunInfo| run.cost.total().unwrap_or(-1.0);
                cost(other).total_cmp(&cost(one))
            }),
            Self::Duration => runs.sort_by_key(|run| Reverse(run.duration_ms)),
            Self::Tokens => runs.sort_by_key(|run| Reverse(run.usage.total())),
            Self::Steps => runs.sort_by_key(|run| Reverse(run.steps)),
        }
    }
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
    let limit = args.filter.limit(&invocation.console);
    let estimates = ListEstimates::find(invocation);
    let estimate = |runs: &mut [RunInfo]| match &estimates {
        Some(estimates) => estimates.of_runs(&store, runs),
        None => Ok(()),
    };
    let (runs, has_more) = match args.sort {
        None => {
            let mut page = store.runs(&filter, None, limit)?;
            estimate(&mut page.items)?;
            (page.items, page.next.is_some())
        }
        // Which of them have the most is known once all of them are.
        Some(sort) => {
            let mut runs = store.runs(&filter, None, u32::MAX as usize)?.items;
            let is_by_cost = sort == Sort::Cost;
            if is_by_cost {
                estimate(&mut runs)?;
            }
            sort.order(&mut runs);
            let has_more = runs.len() > limit;
            runs.truncate(limit);
            if !is_by_cost {
                estimate(&mut runs)?;
            }
            (runs, has_more)
        }
    };
    invocation.found("runs", &runs)?;
    let console = &mut invocation.console;
    if console.json {
        return runs.iter().try_for_each(|run| console.object(run));
    }
    let lost = lost(&store, &runs)?;
    print(console, &runs, &lost, args.exact)?;
    if has_more {
        invocation.more();
    }
    if let Some(estimates) = &estimates {
        estimates.tell(&runs, invocation);
    }
    if !lost.is_empty() {
        invocation.note("lost: the recorder died; `runtape recover` closes such runs");
    }
    Ok(())
}

/// Returns those of the open runs whose recorder died.
pub(super) fn lost(store: &Store, runs: &[RunInfo]) -> Result<BTreeSet<RunId>, CliError> {
    let mut lost = BTreeSet::new();
    for run in runs.iter().filter(|run| !run.status.is_terminal()) {
        if has_lost_its_recorder(store, &run.run_id)? {
            lost.insert(run.run_id.clone());
        }
    }
    Ok(lost)
}

/// Writes runs as a table, with a row of what they come to.
pub(super) fn print(
    console: &mut Console<'_>,
    runs: &[RunInfo],
    lost: &BTreeSet<RunId>,
    is_exact: bool,
) -> Result<(), CliError> {
    // What comes last has no room in a narrow terminal.
    let facts = [
        "started",
        "runtime",
        "outcome",
        "title",
        "took",
        "steps",
        "job",
        "input",
        "cache writes",
        "cached",
        "output",
        "model",
        "labels",
    ];
    let mut table = Table::of_costs(&["run"], &facts).keep("title", 20);
    for run in runs {
        let is_job = run.job_id.as_str() == run.run_id.as_str();
        let labels = run.labels.iter();
        let labels: Vec<String> = labels
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let facts = vec![
            if is_exact {
                Cell::time(run.started_at)
            } else {
                Cell::ago(run.started_at)
            },
            Cell::word(run.runtime.as_str()),
            Cell::outcome_of(run, lost.contains(&run.run_id)),
            Cell::maybe(run.title.as_deref()),
            Cell::took_of(run),
            Cell::number(run.steps),
            // A run without a job is its own.
            if is_job {
                Cell::text("")
            } else {
                Cell::job(&run.job_id)
            },
            Cell::count(run.cost.input_without_writes(&run.usage)),
            Cell::count(run.cost.cache_write_tokens()),
            Cell::count(run.usage.cached_input_tokens),
            Cell::count(run.usage.output_tokens),
            Cell::maybe(run.model.as_deref()),
            Cell::text(&labels.join(" ")),
        ];
        table.cost_row(vec![Cell::run(&run.run_id)], &run.cost, facts);
    }
    if runs.len() > 1 {
        let cost = estimates::total(runs);
        let key = Cell::word(&plural(runs.len(), "run"));
        table.total_row(vec![key], &cost, totals(runs, &cost));
    }
    table.print(console)
}

/// Makes the cells of the row of sums behind its cost.
fn totals(runs: &[RunInfo], cost: &Cost) -> Vec<Cell> {
    let usage = runs
        .iter()
        .fold(TokenCounts::default(), |sum, run| sum.plus(run.usage));
    let took = runs.iter().filter_map(|run| run.duration_ms);
    let took = took.fold(None, |sum: Option<i64>, took| {
        Some(sum.unwrap_or(0).saturating_add(took))
    });
    let steps: u64 = runs.iter().map(|run| run.steps).sum();
    let nothing = || Cell::text("");
    vec![
        nothing(),
        nothing(),
        nothing(),
        nothing(),
        Cell::took(took),
        Cell::number(steps),
        nothing(),
        Cell::count(cost.input_without_writes(&usage)),
        Cell::count(cost.cache_write_tokens()),
        Cell::count(usage.cached_input_tokens),
        Cell::count(usage.output_tokens),
        nothing(),
        nothing(),
    ]
}
