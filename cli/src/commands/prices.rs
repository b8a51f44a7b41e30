//! `runtape prices`: what models cost.

use runtape_core::prices::{Picodollars, Price, PriceTable};
use runtape_core::report::ModelPrice;

use crate::arguments::prices::PriceArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table};

/// Show the prices that costs are estimated with
///
/// In US dollars for a million tokens; with --json for one token. A model may be named as its runtime names
/// it. A file in the form of the table ({"models": {"NAME": {"input": 1e-6, "output": 5e-6}}}, in US
/// dollars per token) goes before it.
#[derive(Debug, clap::Args)]
pub(crate) struct PricesArgs {
    /// Only these models
    models: Vec<String>,
    #[command(flatten)]
    prices: PriceArgs,
}

pub(crate) fn run(args: &PricesArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let table = args.prices.table()?;
    let digest = table.digest();
    let found: Vec<(&str, Option<(&str, &Price)>)> = if args.models.is_empty() {
        let all = table.models();
        all.map(|(name, price)| (name, Some((name, price))))
            .collect()
    } else {
        let asked = args.models.iter().map(String::as_str);
        asked.map(|model| (model, table.find(model))).collect()
    };
    if found.iter().all(|(_, price)| price.is_none()) {
        return Err(CliError::NothingFound { what: "prices" });
    }
    let console = &mut invocation.console;
    if console.json {
        return found
            .into_iter()
            .try_for_each(|(model, price)| console.object(&line(&table, &digest, model, price)));
    }
    let mut shown = Table::new(&[
        "model",
        "price of",
        "seller",
        "input",
        "cached",
        "output",
        "written",
        "written 1h",
        "long input",
        "long cached",
        "long output",
    ]);
    for (model, price) in found {
        let name = price.map(|(name, _)| name).filter(|name| *name != model);
        let price = price.map(|(_, price)| price);
        let known = |of: fn(&Price) -> Option<Picodollars>| {
            Cell::number(price.and_then(of).map(per_million).unwrap_or_default())
        };
        shown.row(vec![
            Cell::word(model).toned(Tone::Name),
            Cell::word(if price.is_some() {
                name.unwrap_or_default()
            } else {
                "(unknown)"
            }),
            Cell::maybe(price.map(|price| price.provider.as_str())),
            known(|price| Some(price.input)),
            known(|price| price.cache_read),
            known(|price| Some(price.output)),
            known(|price| price.cache_write),
            known(|price| price.cache_write_1h),
            known(|price| price.long_input),
            known(|price| price.long_cache_read),
            known(|price| price.long_output),
        ]);
    }
    shown.print(console)?;
    invocation.note(&about(&table, &digest));
    Ok(())
}

/// Says which table it is.
pub(crate) fn about(table: &PriceTable, digest: &str) -> String {
    let short = digest.get(..12).unwrap_or(digest);
    format!("prices of {}, table {short}: {}", table.taken, table.source)
}

/// Writes a price of a million tokens.
pub(crate) fn per_million(price: Picodollars) -> String {
    let dollars = price.times(1_000_000).dollars();
    let text = format!("{dollars:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn line(
    table: &PriceTable,
    digest: &str,
    model: &str,
    price: Option<(&str, &Price)>,
) -> ModelPrice {
    let of = |of: fn(&Price) -> Option<Picodollars>| {
        price
            .and_then(|(_, price)| of(price))
            .map(Picodollars::dollars)
    };
    ModelPrice {
        model: model.to_owned(),
        name: price.map(|(name, _)| name.to_owned()),
        provider: price.map(|(_, price)| price.provider.clone()),
        input: of(|price| Some(price.input)),
        output: of(|price| Some(price.output)),
        cache_read: of(|price| price.cache_read),
        cache_write: of(|price| price.cache_write),
        cache_write_1h: of(|price| price.cache_write_1h),
        long_input: of(|price| price.long_input),
        long_output: of(|price| price.long_output),
        long_cache_read: of(|price| price.long_cache_read),
        price_table: digest.to_owned(),
        source: table.source.clone(),
        taken: table.taken.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_short() {
        let shown = |price| per_million(Picodollars::of_price(price).unwrap());
        assert_eq!(shown(3e-6), "3");
        assert_eq!(shown(2.5e-7), "0.25");
        assert_eq!(shown(0.0), "0");
        assert_eq!(shown(3.625e-9), "0.003625");
    }
}
