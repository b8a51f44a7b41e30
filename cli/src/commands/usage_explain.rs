//! `runtape usage --explain`: the ledger entry by entry, and how estimates came about.

use std::collections::HashMap;

use runtape_core::prices::{CacheWrite, LONG_PROMPT, ModelTokens, Picodollars, PriceTable};
use runtape_core::record::UsageSource;
use runtape_core::report::{Cost, CostEstimate, LedgerEntry};
use runtape_core::{RunId, TokenCounts};
use runtape_store::{Calendar, RunFilter, Store, UsageBy};

use crate::commands::estimates::tell_of;
use crate::commands::{Invocation, prices};
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table, thousands};

/// Shows each entry, its source, whether it counts, and what it is estimated to cost; then the tokens and
/// prices that the estimates of each model are made of.
pub(super) fn run(
    store: &Store,
    filter: &RunFilter,
    limit: usize,
    table: &PriceTable,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let digest = table.digest();
    let (entries, is_more) = entries(store, filter, limit, table, &digest)?;
    invocation.found("reported tokens", &entries)?;
    let console = &mut invocation.console;
    if console.json {
        entries.iter().try_for_each(|entry| console.object(entry))?;
    } else {
        ledger(&entries).print(console)?;
        multiplication(store, filter, table, &digest, invocation)?;
    }
    if is_more {
        invocation.more();
    }
    Ok(())
}

/// Returns the entries of runs, each with its estimate where the cost was not reported.
fn entries(
    store: &Store,
    filter: &RunFilter,
    limit: usize,
    table: &PriceTable,
    digest: &str,
) -> Result<(Vec<LedgerEntry>, bool), CliError> {
    let runs = store.runs(filter, None, u32::MAX as usize)?.items;
    let mut reported: HashMap<RunId, bool> = HashMap::new();
    for run in &runs {
        reported.insert(run.run_id.clone(), run.cost.reported().is_some());
    }
    let mut entries = Vec::new();
    for run in &runs {
        let mut is_reported = run.cost.reported().is_some();
        if let Some(root) = &run.root_run_id {
            is_reported |= match reported.get(root) {
                Some(is_reported) => *is_reported,
                None => store.run(root)?.cost.reported().is_some(),
            };
        }
        let used = store.usage_of(&run.run_id)?.into_iter();
        for mut entry in used.filter(|entry| filter.is_in_period(entry.at)) {
            if !is_reported && !entry.is_repeated {
                let tokens = tokens(&entry, run.model.as_deref());
                let model = tokens.first().and_then(|tokens| table.price(tokens));
                if let Some(priced) = model {
                    entry.price_model = Some(priced.name.to_owned());
                    entry.estimated_cost_usd = table.estimate(&tokens).dollars();
                    entry.price_table = Some(digest.to_owned());
                }
            }
            entries.push(entry);
        }
        if entries.len() > limit {
            break;
        }
    }
    let is_more = entries.len() > limit;
    entries.truncate(limit);
    Ok((entries, is_more))
}

/// Returns the tokens of an entry, those apart that were written to a cache; the model is its own, else that of its run.
fn tokens(entry: &LedgerEntry, model: Option<&str>) -> Vec<ModelTokens> {
    let counts = entry.usage;
    let known = [counts.input_tokens, counts.cached_input_tokens];
    let prompt = known.into_iter().flatten().fold(0, i64::saturating_add);
    let written = entry.cache_write_tokens.unwrap_or(0);
    let for_an_hour = entry.cache_write_1h_tokens.unwrap_or(0);
    let rest = ModelTokens {
        model: entry.model.as_deref().or(model).map(str::to_owned),
        is_long: entry.source == UsageSource::Response && prompt > LONG_PROMPT,
        write: CacheWrite::None,
        counts: TokenCounts {
            input_tokens: counts
                .input_tokens
                .map(|input| input.saturating_sub(written)),
            ..counts
        },
    };
    let parts = [
        (CacheWrite::Minutes, written.saturating_sub(for_an_hour)),
        (CacheWrite::Hour, for_an_hour),
    ];
    let parts = parts.map(|(write, tokens)| ModelTokens {
        write,
        counts: TokenCounts {
            input_tokens: (tokens != 0).then_some(tokens),
            ..TokenCounts::default()
        },
        ..rest.clone()
    });
    std::iter::once(rest.clone()).chain(parts).collect()
}

fn ledger(entries: &[LedgerEntry]) -> Table {
    let facts = [
        "step",
        "source",
        "model",
        "input",
        "cache writes",
        "cached",
        "output",
        "reasoning",
        "counts",
        "key",
    ];
    let mut shown = Table::of_costs(&["run"], &facts);
    for entry in entries {
        let source = match entry.source {
            UsageSource::Response => "response",
            UsageSource::Total => "total",
            UsageSource::Remainder => "remainder",
        };
        let estimate = CostEstimate {
            estimated_cost_usd: entry.estimated_cost_usd,
            ..CostEstimate::default()
        };
        let cost = Cost::new(None, estimate).with_cache_writes(entry.cache_write_tokens);
        let facts = vec![
            Cell::number(entry.step.map(|step| step.to_string()).unwrap_or_default()),
            Cell::text(source),
            Cell::maybe(entry.model.as_deref()),
            Cell::count(cost.input_without_writes(&entry.usage)),
            Cell::count(cost.cache_write_tokens()),
            Cell::count(entry.usage.cached_input_tokens),
            Cell::count(entry.usage.output_tokens),
            Cell::count(entry.usage.reasoning_tokens),
            Cell::text(if entry.is_repeated {
                "no, repeated"
            } else {
                "yes"
            }),
            Cell::text(&entry.key).toned(Tone::Faint),
        ];
        shown.cost_row(vec![Cell::run(&entry.run_id)], &cost, facts);
    }
    shown
}

/// Shows tokens and prices of each model whose tokens have no reported cost.
fn multiplication(
    store: &Store,
    filter: &RunFilter,
    table: &PriceTable,
    digest: &str,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let sums = store.usage_by(filter, &[UsageBy::Model], Calendar::Utc)?;
    let unreported: Vec<ModelTokens> = sums.into_iter().flat_map(|sum| sum.unreported).collect();
    if unreported.is_empty() {
        return Ok(());
    }
    let facts = [
        "price of",
        "tokens",
        "input x $/M",
        "cached x $/M",
        "output x $/M",
    ];
    let mut shown = Table::of_costs(&["model"], &facts);
    let part = |(tokens, price): (i64, Picodollars)| {
        Cell::number(format!(
            "{} x {}",
            thousands(tokens),
            prices::per_million(price)
        ))
    };
    for tokens in &unreported {
        let model = Cell::text(tokens.model.as_deref().unwrap_or("(unknown)")).toned(Tone::Name);
        let estimate = CostEstimate::new(&table.estimate([tokens]), digest);
        let cost = Cost::new(None, estimate);
        let kind = Cell::word(kind(tokens));
        let Some(priced) = table.price(tokens) else {
            let empty = || Cell::number("");
            let facts = vec![Cell::text("(unknown)"), kind, empty(), empty(), empty()];
            shown.cost_row(vec![model], &cost, facts);
            continue;
        };
        let [input, cached, output] = priced.parts.map(part);
        let name = Cell::text(priced.name);
        shown.cost_row(vec![model], &cost, vec![name, kind, input, cached, output]);
    }
    invocation.console.line("")?;
    shown.print(&mut invocation.console)?;
    let estimate = CostEstimate::new(&table.estimate(&unreported), digest);
    tell_of(&estimate, table, digest, invocation);
    Ok(())
}

/// Says what tells tokens from others of the same model.
fn kind(tokens: &ModelTokens) -> &'static str {
    match (tokens.write, tokens.is_long) {
        (CacheWrite::None, false) => "",
        (CacheWrite::None, true) => "long prompts",
        (CacheWrite::Minutes, false) => "cache writes",
        (CacheWrite::Minutes, true) => "cache writes, long prompts",
        (CacheWrite::Hour, false) => "cache writes for an hour",
        (CacheWrite::Hour, true) => "cache writes for an hour, long prompts",
    }
}
