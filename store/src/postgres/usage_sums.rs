//! The `usage_sum` table, and the same sums made on the fly. What counts is said by the view `counted_usage`.
//!
//! Each store adds to rows of its own share, so that writers do not wait for each other. A row may be less than nothing
//! where one store takes away what another one added.

use std::collections::BTreeMap;

use runtape_core::prices::{CacheWrite, LONG_PROMPT};
use tokio_postgres::Row;

use super::columns::{get, kept as as_kept, maybe_text, text};
use super::condition::{Condition, Operand};
use super::connection::Value;
use super::sums::{COUNTERS, bounded_sum, nanodollars};
use super::{Postgres, settling};
use crate::backend::UsageScope;
use crate::derive::usage_cell::{
    LAST_MS, QUARTER_MS, SUM_COLUMNS, UsageAmounts, UsageCell, UsageDimension, UsageKind, UsageSpan,
};
use crate::error::Result;
use crate::period::{Happening, UsagePeriod};

/// What a cell is made of.
#[derive(Clone, Copy)]
enum Part {
    /// An entry of the ledger, without what was written to a cache.
    Entry,
    /// What of an entry was written to a cache.
    Write(CacheWrite),
    /// An entry that an earlier run counted.
    Repeated,
    /// The cost that a run reported, when it ended.
    Cost,
    /// A root run, when it began, or when the period did.
    Run,
}

impl Part {
    /// Returns what stands for a dimension.
    fn dimension(self, dimension: UsageDimension, period: &UsagePeriod) -> String {
        let fixed = match (dimension, self) {
            (UsageDimension::Quarter, Self::Entry | Self::Write(_) | Self::Repeated) => {
                return quarter(Happening::Entry.time());
            }
            (UsageDimension::Quarter, Self::Cost) => return quarter(Happening::Cost.time()),
            (UsageDimension::Quarter, Self::Run) => {
                return quarter(&period.began("greatest", "least"));
            }
            (UsageDimension::Model, Self::Entry | Self::Write(_) | Self::Repeated) => "entry.model",
            (UsageDimension::Model, _) => "run.model",
            (UsageDimension::Runtime, _) => "run.runtime",
            (UsageDimension::Job, _) => "run.job_id",
            (UsageDimension::Session, _) => "main.session",
            (UsageDimension::Cwd, _) => "coalesce(run.cwd, main.cwd)",
            (UsageDimension::Labels, _) => "main.labels",
            (UsageDimension::Run, _) => "run.run_id",
            (UsageDimension::Root, _) => "run.root_id",
        };
        fixed.to_owned()
    }

    /// Returns kind, runs, cost and the four counters.
    fn amounts(self) -> String {
        // What was repeated is known to count for nothing.
        let unless_repeated = |count: &str| {
            format!("CASE WHEN entry.is_repeated THEN 0 * ({count}) ELSE {count} END")
        };
        match self {
            Self::Entry => {
                let counters = COUNTERS.map(|counter| match counter {
                    // Whatever numbers somebody wrote, the difference is one.
                    "input_tokens" => unless_repeated(
                        "entry.input_tokens::numeric - coalesce(entry.cache_write_tokens, 0)",
                    ),
                    counter => unless_repeated(&format!("entry.{counter}")),
                });
                format!("entry.kind, 0, NULL::bigint, {}", counters.join(", "))
            }
            Self::Write(write) => format!(
                "entry.kind + {}, 0, NULL::bigint, {}, NULL::bigint, NULL::bigint, NULL::bigint",
                UsageKind::number_of(write),
                unless_repeated(written(write)),
            ),
            Self::Repeated => format!(
                "{}, 0, NULL::bigint, {}",
                UsageKind::REPEATED,
                COUNTERS
                    .map(|counter| format!("entry.{counter}"))
                    .join(", ")
            ),
            Self::Cost => format!(
                "1, 0, {}, NULL::numeric, NULL::bigint, NULL::bigint, NULL::bigint",
                nanodollars("run.cost_usd")
            ),
            Self::Run => "(run.cost_usd IS NOT NULL)::integer, 1, NULL::bigint, NULL::numeric,
                NULL::bigint, NULL::bigint, NULL::bigint"
                .to_owned(),
        }
    }

    /// Returns where it is read from, of runs that a condition is about.
    fn source(self, condition: &str, period: &UsagePeriod) -> String {
        match self {
            Self::Entry => "entry".to_owned(),
            Self::Write(write) => format!(
                "entry WHERE entry.cache_write_tokens IS NOT NULL
                    AND entry.input_tokens IS NOT NULL AND {} <> 0",
                written(write)
            ),
            Self::Repeated => "entry WHERE entry.is_repeated".to_owned(),
            Self::Cost => format!(
                "{RUNS} WHERE run.cost_usd IS NOT NULL AND {} AND {condition}",
                period.sql(Happening::Cost),
            ),
            // That of a period used something in it.
            Self::Run if !period.is_all() => format!(
                "{RUNS} WHERE run.run_no = 0 AND run.root_id IN (
                    SELECT entry.root_id FROM usage AS entry WHERE {}
                    UNION ALL SELECT run.root_id FROM run
                    WHERE run.run_no = 0 AND run.cost_usd IS NOT NULL AND {}) AND {condition}",
                period.stored_entry(),
                period.sql(Happening::Cost),
            ),
            Self::Run => format!(
                "{RUNS} WHERE run.run_no = 0 AND (run.cost_usd IS NOT NULL
                    OR EXISTS (SELECT 1 FROM usage WHERE usage.root_id = run.root_id)) AND {condition}"
            ),
        }
    }
}

/// Runs with their root runs. That of a root run is itself. Nothing comes before 0: but a server that has not counted rows
/// yet takes what equals something for the rarest of all, and would begin with the root runs of all trees.
const RUNS: &str = "run JOIN run AS main ON main.root_id = run.root_id AND main.run_no <= 0";

/// Writes the entries of runs, which are read once: three parts of the cells are of them. To plan for what counts of an
/// entry takes longer than to find it.
fn entries(by: &[UsageDimension], condition: &str, period: &UsagePeriod) -> String {
    let dimensions = by.iter().enumerate();
    let dimensions = dimensions.map(|(number, by)| {
        let value = Part::Entry.dimension(*by, period);
        format!("{value} AS d{number}, ")
    });
    format!(
        "SELECT {}(run.cost_usd IS NOT NULL OR main.cost_usd IS NOT NULL)::integer + 2 * (
                entry.source = 'response' AND coalesce(entry.input_tokens, 0)::numeric
                    + coalesce(entry.cached_input_tokens, 0) > {LONG_PROMPT}
            )::integer AS kind, entry.is_repeated, {}, entry.cache_write_tokens, entry.cache_write_1h_tokens
         FROM {RUNS} JOIN (SELECT counted_usage.*, at AS at_ms FROM counted_usage) AS entry
            ON entry.root_id = run.root_id AND entry.run_no = run.run_no
         WHERE {} AND {condition}",
        dimensions.collect::<String>(),
        COUNTERS.map(|counter| format!("entry.{counter}")).join(", "),
        in_period(period),
    )
}

/// Writes that an entry is of the period. Its run is found by the index of entries by time.
fn in_period(period: &UsagePeriod) -> String {
    if period.is_all() {
        return "TRUE".to_owned();
    }
    format!(
        "(run.root_id, run.run_no) IN (SELECT entry.root_id, entry.run_no FROM usage AS entry WHERE {})
            AND {}",
        period.stored_entry(),
        period.sql(Happening::Entry),
    )
}

/// Writes how many tokens of an entry were written to a cache for so long.
fn written(write: CacheWrite) -> &'static str {
    match write {
        CacheWrite::None => "0::numeric",
        CacheWrite::Minutes => {
            "(entry.cache_write_tokens::numeric - coalesce(entry.cache_write_1h_tokens, 0))"
        }
        CacheWrite::Hour => "coalesce(entry.cache_write_1h_tokens, 0)::numeric",
    }
}

/// Writes the quarter of an hour of a time; one beyond the calendar is that of its first or last day.
fn quarter(at: &str) -> String {
    let at = format!("least(greatest({at}, -{LAST_MS}), {LAST_MS})");
    format!("({at} - ({at} % {QUARTER_MS} + {QUARTER_MS}) % {QUARTER_MS}) / {QUARTER_MS}")
}

fn condition(scope: UsageScope<'_>) -> Condition {
    let settled = |operator: &str| {
        format!("run.root_id IN (SELECT root_id FROM root WHERE summed {operator} 1)")
    };
    let mut condition = Condition::default();
    match scope {
        UsageScope::Runs(filter) => condition = Condition::at_any_time(filter),
        UsageScope::Tree(root) => condition.add("run.root_id = ?", root.root.as_str()),
        UsageScope::Listed(by, names) => {
            let term = match by {
                UsageDimension::Run => "run.run_id = ANY(?)",
                UsageDimension::Job => "run.job_id = ANY(?)",
                UsageDimension::Root => "run.root_id = ANY(?)",
                UsageDimension::Session => {
                    "run.root_id IN (SELECT first.root_id FROM unnest(?::text[]) AS wanted
                        JOIN run AS first ON md5(first.session) = md5(wanted)
                            AND first.session = wanted AND first.run_no = 0)"
                }
                // Nobody lists what the others name.
                _ => "FALSE AND cardinality(?::text[]) = 0",
            };
            let names = names.iter().map(|name| as_kept(name).into_owned());
            condition.add(term, Operand::Texts(names.collect()));
        }
        UsageScope::Unsettled(filter) => {
            condition = Condition::at_any_time(filter);
            condition.terms.push(settled("<>"));
        }
        UsageScope::Waiting(roots) => {
            let roots = roots.iter().map(|key| key.root.to_string());
            condition.add("run.root_id = ANY(?)", Operand::Texts(roots.collect()));
        }
        UsageScope::Settled => condition.terms.push(settled("=")),
    }
    condition
}

/// Adds up what runs used, by one thing at least.
pub(super) fn cells(
    pg: &Postgres,
    scope: UsageScope<'_>,
    by: &[UsageDimension],
) -> Result<Vec<UsageCell>> {
    let mut condition = condition(scope);
    let period = match scope.filter() {
        Some(filter) => UsagePeriod::new(condition.bind_period(filter)),
        None => UsagePeriod::default(),
    };
    let columns: Vec<String> = (0..by.len()).map(|number| format!("d{number}")).collect();
    let writes = [CacheWrite::Minutes, CacheWrite::Hour].map(Part::Write);
    let repeated = matches!(scope, UsageScope::Listed(..)).then_some(Part::Repeated);
    let parts = [Part::Entry, Part::Cost, Part::Run]
        .into_iter()
        .chain(writes)
        .chain(repeated);
    let which = condition.sql();
    let parts = parts.map(|part| {
        let mut values: Vec<String> = match part {
            Part::Entry | Part::Write(_) | Part::Repeated => columns.clone(),
            Part::Cost | Part::Run => by.iter().map(|by| part.dimension(*by, &period)).collect(),
        };
        values.push(part.amounts());
        format!(
            "SELECT {} FROM {}",
            values.join(", "),
            part.source(&which, &period)
        )
    });
    let parts: Vec<String> = parts.collect();
    let listed = columns.join(", ");
    let sums = COUNTERS.map(|counter| {
        let sum = bounded_sum(counter);
        format!("coalesce({sum}, 0), count({counter})")
    });
    let sql = format!(
        "WITH entry AS MATERIALIZED ({}), part ({listed}, kind, runs, cost, {}) AS ({})
         SELECT {listed}, kind::bigint, sum(runs)::bigint, count(cost), coalesce({}, 0), {}
         FROM part GROUP BY {listed}, kind",
        entries(by, &which, &period),
        COUNTERS.join(", "),
        parts.join(" UNION ALL "),
        bounded_sum("cost"),
        sums.join(", "),
    );
    let mut cells = Vec::new();
    for row in pg.rows(&sql, &condition.values())? {
        let mut cell = UsageCell {
            quarter: 0,
            names: Vec::with_capacity(by.len()),
            kind: UsageKind::from_number(get(&row, by.len())?),
            amounts: amounts(&row, by.len() + 1)?,
        };
        for (column, by) in by.iter().enumerate() {
            if *by == UsageDimension::Quarter {
                cell.quarter = get(&row, column)?;
            } else {
                cell.names.push(maybe_text(&row, column)?);
            }
        }
        cells.push(cell);
    }
    cells.retain(|cell| !cell.amounts.is_empty());
    Ok(cells)
}

/// Reads runs, costs, the cost, and each counter with how many entries know it.
fn amounts(row: &Row, first: usize) -> Result<UsageAmounts> {
    let mut amounts = UsageAmounts {
        runs: get(row, first)?,
        costs: get(row, first + 1)?,
        cost: get(row, first + 2)?,
        ..UsageAmounts::default()
    };
    let counters = amounts.tokens.iter_mut().zip(&mut amounts.known);
    for (number, (tokens, known)) in counters.enumerate() {
        *tokens = get(row, first + 3 + 2 * number)?;
        *known = get(row, first + 4 + 2 * number)?;
    }
    Ok(amounts)
}

/// Returns the sums that are kept, with runtime and model, in order.
pub(super) fn kept(pg: &Postgres, span: UsageSpan) -> Result<Vec<UsageCell>> {
    let sums = SUM_COLUMNS.map(bounded_sum).join(", ");
    let is_something = SUM_COLUMNS.map(|column| format!("sum({column}) <> 0"));
    let sql = format!(
        "SELECT start, runtime, model, kind, {sums} FROM usage_sum WHERE span = $1
         GROUP BY start, runtime, model, kind HAVING {}
         ORDER BY start, runtime, model NULLS FIRST, kind",
        is_something.join(" OR ")
    );
    let rows = pg.rows(&sql, &[&span.quarters()])?;
    let rows = rows.iter().map(|row| {
        Ok(UsageCell {
            quarter: get(row, 0)?,
            names: vec![Some(text(row, 1)?), maybe_text(row, 2)?],
            kind: UsageKind::from_number(get(row, 3)?),
            amounts: amounts(row, 4)?,
        })
    });
    rows.collect()
}

/// Where a sum stands: span, start, kind, runtime, model.
type SumKey = (i64, i64, i64, String, Option<String>);

/// Adds cells to the sums, or takes them away. Rows are changed in the order of their places, so that two who change the
/// same ones wait for each other in one direction only.
pub(super) fn change(pg: &Postgres, cells: &[UsageCell], is_taken_away: bool) -> Result<()> {
    let mut sums: BTreeMap<SumKey, UsageAmounts> = BTreeMap::new();
    for cell in cells {
        let mut names = cell.names.iter();
        let mut name = || {
            names
                .next()
                .cloned()
                .flatten()
                .map(|name| as_kept(&name).into_owned())
        };
        let (runtime, model) = (name().unwrap_or_default(), name());
        for span in UsageSpan::ALL {
            let place = (
                span.quarters(),
                span.start(cell.quarter),
                cell.kind.number(),
                runtime.clone(),
                model.clone(),
            );
            sums.entry(place).or_default().add(&cell.amounts);
        }
    }
    if sums.is_empty() {
        return Ok(());
    }
    let sign = if is_taken_away { -1 } else { 1 };
    let (mut spans, mut starts, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    let (mut runtimes, mut models) = (Vec::new(), Vec::new());
    let mut columns: [Vec<i64>; 11] = Default::default();
    for ((span, start, kind, runtime, model), amounts) in sums {
        spans.push(span);
        starts.push(start);
        kinds.push(kind);
        runtimes.push(runtime);
        models.push(model);
        for (column, sum) in columns.iter_mut().zip(amounts.in_order()) {
            column.push(sum.saturating_mul(sign));
        }
    }
    let share = pg.share();
    let mut values: Vec<Value<'_>> = vec![&share, &spans, &starts, &kinds, &runtimes, &models];
    values.extend(columns.iter().map(|column| column as Value<'_>));
    let arrays: Vec<String> = (7..7 + SUM_COLUMNS.len())
        .map(|n| format!("${n}::bigint[]"))
        .collect();
    let (arrays, names) = (arrays.join(", "), SUM_COLUMNS.join(", "));
    let added =
        SUM_COLUMNS.map(|column| format!("{column} = usage_sum.{column} + excluded.{column}"));
    let sql = format!(
        "INSERT INTO usage_sum (share, span, start, kind, runtime, model, {names})
         SELECT $1::integer, x.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[],
            $6::text[], {arrays}) AS x
         ON CONFLICT (share, span, start, kind, md5(runtime), coalesce(md5(model), ''))
         DO UPDATE SET {}",
        added.join(", ")
    );
    pg.execute(&sql, &values)?;
    Ok(())
}

/// Empties the table; no tree is among the sums then.
pub(super) fn clear(pg: &Postgres) -> Result<()> {
    settling::take_sums(pg)?;
    pg.execute("DELETE FROM usage_sum", &[])?;
    pg.execute("UPDATE root SET summed = 0 WHERE summed <> 0", &[])?;
    Ok(())
}
