//! `runtape usage`: what was used.

use runtape_core::prices::{Estimate, PriceTable};
use runtape_core::report::UsageGroup;
use runtape_store::{Calendar, UsageBy, UsageSum};

use crate::arguments::filter::FilterArgs;
use crate::arguments::prices::PriceArgs;
use crate::arguments::words::WordParser;
use crate::commands::{Invocation, prices, usage_explain};
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
/// and a run counts when it began. Where a runtime reports no cost it is estimated from a price table, in
/// a column of its own; `?` stands for tokens of models that the table does not know. What was written to a
/// cache has its own price where the runtime says how much that was (claude-code, codex, cursor, opencode, openclaw, hermes'
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

/// A group, with what its tokens are estimated to cost.
struct PricedSum {
    sum: UsageSum,
    estimate: Estimate,
}

impl PricedSum {
    fn new(sum: UsageSum, table: &PriceTable) -> Self {
        let estimate = table.estimate(&sum.unreported);
        Self { sum, estimate }
    }

    /// Adds all groups up.
    fn total(groups: &[Self]) -> Self {
        let mut total = Self {
            sum: UsageSum {
                names: Vec::new(),
                runs: 0,
                usage: runtape_core::TokenCounts::default(),
                cost_nanodollars: None,
                unreported: Vec::new(),
            },
            estimate: Estimate::default(),
        };
        for group in groups {
            total.sum.runs += group.sum.runs;
            total.sum.usage = total.sum.usage.plus(group.sum.usage);
            let costs = [total.sum.cost_nanodollars, group.sum.cost_nanodollars];
            total.sum.cost_nanodollars = costs.into_iter().flatten().reduce(i64::saturating_add);
            total.estimate = total.estimate.plus(group.estimate.clone());
        }
        total
    }

    /// Returns how many tokens are known, for the bar.
    fn known(&self) -> i64 {
        let counts = &self.sum.usage;
        let parts = [
            counts.input_tokens,
            counts.cached_input_tokens,
            counts.output_tokens,
        ];
        parts
            .into_iter()
            .flatten()
            .fold(0, i64::saturating_add)
            .max(0)
    }

    fn to_report(&self, by: &[UsageBy], digest: &str) -> UsageGroup {
        self.sum.to_group(by, &self.estimate, digest)
    }

    fn cells(&self) -> [Cell; 8] {
        let usage = &self.sum.usage;
        [
            Cell::number(self.sum.runs),
            Cell::count(usage.input_tokens),
            Cell::count(usage.cached_input_tokens),
            Cell::count(usage.output_tokens),
            Cell::count(usage.reasoning_tokens),
            Cell::count(usage.total()),
            Cell::cost(self.sum.cost_usd()),
            Cell::number(estimated(&self.estimate)),
        ]
    }
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

/// Writes an estimate, so that nobody takes it for what was reported.
pub(super) fn estimated(estimate: &Estimate) -> String {
    match (estimate.dollars(), estimate.is_partial()) {
        (Some(dollars), false) => format!("~{dollars:.4}"),
        (Some(dollars), true) => format!("~{dollars:.4}+?"),
        (None, true) => "?".to_owned(),
        (None, false) => String::new(),
    }
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
    let sums = sums.into_iter();
    let groups: Vec<PricedSum> = sums.map(|sum| PricedSum::new(sum, &table)).collect();
    let digest = table.digest();
    let console = &mut invocation.console;
    if console.json {
        let mut groups = groups.iter();
        return groups.try_for_each(|group| console.object(&group.to_report(by, &digest)));
    }
    let total = PricedSum::total(&groups);
    let words: Vec<String> = by.iter().map(UsageBy::name).collect();
    let mut head: Vec<&str> = words.iter().map(String::as_str).collect();
    head.extend([
        "runs",
        "input",
        "cached",
        "output",
        "reasoning",
        "total",
        "cost $",
        "estimate $",
        "share",
    ]);
    let mut shown = Table::new(&head);
    let most = groups
        .iter()
        .map(PricedSum::known)
        .max()
        .unwrap_or(0)
        .max(1);
    let longest = if console.width < WIDE { SHORT_BAR } else { BAR };
    for group in &groups {
        // Rounded up: what is there at all is seen.
        let length = group
            .known()
            .saturating_mul(longest)
            .saturating_add(most - 1)
            / most;
        let names = by.iter().zip(&group.sum.names);
        let names = names.map(|(by, name)| name_cell(by, name.as_deref()));
        let bar = "█".repeat(usize::try_from(length).unwrap_or(0));
        let cells = names.chain(group.cells());
        shown.row(cells.chain([Cell::word(&bar).toned(Tone::Good)]).collect());
    }
    if groups.len() > 1 {
        let names = (0..by.len())
            .map(|column| Cell::text(if column == 0 { "total" } else { "" }).toned(Tone::Strong));
        let cells = total.cells().map(|cell| cell.toned(Tone::Strong));
        shown.row(names.chain(cells).chain([Cell::text("")]).collect());
    }
    shown.print(console)?;
    tell_of_estimates(&total.estimate, &table, &digest, invocation);
    Ok(())
}

/// Says how estimates were made, and what has none.
pub(super) fn tell_of_estimates(
    estimate: &Estimate,
    table: &PriceTable,
    digest: &str,
    invocation: &mut Invocation<'_>,
) {
    if estimate.amount.is_some() {
        invocation.note(&format!("~ estimated, {}", prices::about(table, digest)));
    }
    let mut unpriced: Vec<&str> = estimate
        .unpriced_models
        .iter()
        .map(String::as_str)
        .collect();
    if estimate.has_unnamed {
        unpriced.push("models that are not named");
    }
    if !unpriced.is_empty() {
        invocation.note(&format!("? no price is known of {}", unpriced.join(", ")));
    }
}
