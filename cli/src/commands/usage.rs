//! `runtape usage`: what was used.

use runtape_core::TokenCounts;
use runtape_core::report::{Cost, UsageGroup};
use runtape_recorder::Estimates;
use runtape_store::{Calendar, UsageBy};

use crate::arguments::filter::FilterArgs;
use crate::arguments::prices::PriceArgs;
use crate::arguments::words::WordParser;
use crate::commands::{Invocation, estimates, usage_explain};
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table};
use crate::terminal::times;

/// Columns of the longest bar, and where there is little room.
const BAR: i64 = 20;
const SHORT_BAR: i64 = 8;

/// Columns from which on there is room.
const WIDE: usize = 120;

/// Add up tokens and cost
///
/// Each response of a model counts once. Unknown is empty, never zero. Whatever is added up by, the sums
/// are the same: tokens count when they were used, a cost that was reported counts when its run ended,
/// and a run counts when it began. Where a runtime reports no cost it is estimated from a price table:
/// `~` marks a cost of which some is estimated, `?` tokens of models that the table does not know; --fields
/// reported and estimate show the parts. What was written to a cache is not among the input here; it has its own price where the runtime says how much that was (claude-code, codex, cursor, opencode, openclaw, hermes'
/// sessions), else that of input.
#[derive(Debug, clap::Args)]
pub(crate) struct UsageArgs {
    /// What to add up by, or two of them: day,model
    #[arg(long, value_name = "WHAT", value_parser = WordParser::new(parse_by, by_words), value_delimiter = ',', default_value = "runtime")]
    by: Vec<UsageBy>,
    /// Days, weeks and months are those of UTC, not local ones
    #[arg(long)]
    utc: bool,
    /// Show the entries that the numbers are made of, and how estimates came about
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    prices: PriceArgs,
    #[command(flatten)]
    filter: FilterArgs,
}

fn parse_by(text: &str) -> Result<UsageBy, String> {
    UsageBy::from_name(text).ok_or_else(|| {
        let known = by_words().join(", ");
        format!("expected {known}, or label:NAME")
    })
}

/// Returns the words that shells complete.
fn by_words() -> Vec<&'static str> {
    UsageBy::ALL.iter().map(UsageBy::word).collect()
}

/// Refuses what would say the same twice, or more than a table has room for.
fn check(by: &[UsageBy]) -> Result<(), CliError> {
    match by {
        [_] => Ok(()),
        [one, other] if one != other => Ok(()),
        _ => Err(CliError::Usage {
            message: "--by takes one or two different words, like --by day,model".to_owned(),
        }),
    }
}

/// Returns how many tokens of a group are known, for the bar.
fn known(usage: &TokenCounts) -> i64 {
    let parts = [
        usage.input_tokens,
        usage.cached_input_tokens,
        usage.output_tokens,
    ];
    let sum = parts.into_iter().flatten().fold(0, i64::saturating_add);
    sum.max(0)
}

/// Makes the cells of a group behind its cost.
fn cells(runs: u64, usage: &TokenCounts, cost: &Cost) -> Vec<Cell> {
    vec![
        Cell::count(i64::try_from(runs).ok()),
        Cell::count(cost.input_without_writes(usage)),
        Cell::count(cost.cache_write_tokens()),
        Cell::count(usage.cached_input_tokens),
        Cell::count(usage.output_tokens),
        Cell::count(usage.reasoning_tokens),
        Cell::count(usage.total()),
    ]
}

/// Makes the cell of a name: those that are short stay whole.
fn name_cell(by: &UsageBy, name: Option<&str>) -> Cell {
    let unknown = match by {
        // Nobody knows which, and nobody gave one, are two things.
        UsageBy::Label(_) => "(none)",
        _ => "(unknown)",
    };
    let name = name.unwrap_or(unknown);
    let cell = match by {
        UsageBy::Day | UsageBy::Week | UsageBy::Month | UsageBy::Runtime => Cell::word(name),
        _ => Cell::text(name),
    };
    cell.toned(Tone::Name)
}

pub(crate) fn run(args: &UsageArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let by = &args.by;
    check(by)?;
    let table = args.prices.table()?;
    let store = invocation.database.read()?;
    let filter = args.filter.to_filter(&store)?;
    if args.explain {
        let limit = args.filter.limit(&invocation.console);
        return usage_explain::run(&store, &filter, limit, &table, invocation);
    }
    let calendar = if args.utc {
        Calendar::Utc
    } else {
        Calendar::Local(&times::local_day)
    };
    let sums = store.usage_by(&filter, by, calendar)?;
    invocation.found("reported tokens", &sums)?;
    let estimates = Estimates::by(&table);
    let groups = sums.iter();
    let groups = groups.map(|sum| sum.to_group(by, estimates.of_sum(sum)));
    let groups: Vec<UsageGroup> = groups.collect();
    let console = &mut invocation.console;
    if console.json {
        return groups.iter().try_for_each(|group| console.object(group));
    }
    let words: Vec<String> = by.iter().map(UsageBy::name).collect();
    let keys: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut shown = Table::of_costs(
        &keys,
        &[
            "runs",
            "input",
            "cache writes",
            "cached",
            "output",
            "reasoning",
            "total",
            "share",
        ],
    );
    let most = groups.iter().map(|group| known(&group.usage));
    let most = most.max().unwrap_or(0).max(1);
    let longest = if console.width < WIDE { SHORT_BAR } else { BAR };
    for group in &groups {
        // Rounded up: what is there at all is seen.
        let length = known(&group.usage)
            .saturating_mul(longest)
            .saturating_add(most - 1)
            / most;
        let names = by.iter().zip(&group.keys);
        let names = names.map(|(by, key)| name_cell(by, key.name.as_deref()));
        let bar = "█".repeat(usize::try_from(length).unwrap_or(0));
        let mut facts = cells(group.runs, &group.usage, &group.cost);
        facts.push(Cell::word(&bar).toned(Tone::Good));
        shown.cost_row(names.collect(), &group.cost, facts);
    }
    let total = estimates::total(&groups);
    if groups.len() > 1 {
        let names = (0..by.len()).map(|column| Cell::text(if column == 0 { "total" } else { "" }));
        let runs = groups.iter().map(|group| group.runs).sum();
        let usage = groups.iter().map(|group| group.usage);
        let usage = usage.fold(TokenCounts::default(), TokenCounts::plus);
        let mut facts = cells(runs, &usage, &total);
        facts.push(Cell::text(""));
        shown.total_row(names.collect(), &total, facts);
    }
    shown.print(console)?;
    estimates::tell_of(total.estimate(), &table, estimates.digest(), invocation);
    Ok(())
}
