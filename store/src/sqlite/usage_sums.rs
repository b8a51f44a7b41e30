//! The `usage_sum` table, and the same sums made on the fly. What counts is said by the view `v_usage`.

use std::collections::HashMap;

use runtape_core::prices::{CacheWrite, LONG_PROMPT};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::condition::Condition;
use super::sums::{COUNTERS, bounded_sum, nanodollars};
use super::words::WordKeys;
use super::{migrate, runs};
use crate::backend::{RunKey, UsageScope};
use crate::derive::usage_cell::{
    LAST_MS, QUARTER_MS, SUM_COLUMNS, UsageAmounts, UsageCell, UsageDimension, UsageKind, UsageSpan,
};
use crate::error::Result;
use crate::period::{Happening, UsagePeriod};

/// Trees that are not among the sums.
const UNSETTLED: &str = "FROM run WHERE root IS NULL AND summed <> 1";

/// Sealed trees that are to be among the sums, in the words of the index that has them.
const WAITING: &str =
    "FROM run WHERE root IS NULL AND summed <> 1 AND summed = 0 AND seal IS NOT NULL";

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
    /// Returns what stands for a dimension, as a key.
    fn dimension(self, dimension: UsageDimension, period: &UsagePeriod) -> String {
        let fixed = match (dimension, self) {
            (UsageDimension::Quarter, Self::Entry | Self::Write(_) | Self::Repeated) => {
                return quarter(Happening::Entry.time());
            }
            (UsageDimension::Quarter, Self::Cost) => return quarter(Happening::Cost.time()),
            (UsageDimension::Quarter, Self::Run) => return quarter(&period.began("max", "min")),
            (UsageDimension::Model, Self::Entry | Self::Write(_) | Self::Repeated) => {
                "(SELECT key FROM word WHERE text = entry.model)"
            }
            (UsageDimension::Model, _) => "run.model",
            (UsageDimension::Runtime, _) => "run.runtime",
            (UsageDimension::Job, _) => "run.job",
            (UsageDimension::Session, _) => {
                "CASE WHEN run.root IS NULL THEN run.session ELSE main.session END"
            }
            (UsageDimension::Cwd, _) => "coalesce(run.cwd, main.cwd)",
            (UsageDimension::Labels, _) => {
                "CASE WHEN run.root IS NULL THEN run.labels ELSE main.labels END"
            }
            (UsageDimension::Run, _) => "run.id",
            (UsageDimension::Root, _) => "coalesce(main.id, run.id)",
        };
        fixed.to_owned()
    }

    /// Returns kind, runs, cost and the four counters; which input tokens were written to a cache is known only in newer
    /// schemas.
    fn amounts(self, has_writes: bool) -> String {
        // What was repeated is known to count for nothing.
        let unless_repeated = |count: &str| {
            format!("CASE WHEN entry.is_repeated THEN 0 * ({count}) ELSE {count} END")
        };
        let kind = format!(
            "(run.cost_usd IS NOT NULL OR main.cost_usd IS NOT NULL) + 2 * (
                entry.source = 'response' AND coalesce(entry.input_tokens, 0)
                    + coalesce(entry.cached_input_tokens, 0) > {LONG_PROMPT})"
        );
        match self {
            Self::Entry => {
                let counters = COUNTERS.map(|counter| match counter {
                    "input_tokens" if has_writes => unless_repeated(
                        "entry.input_tokens - coalesce(entry.cache_write_tokens, 0)",
                    ),
                    counter => unless_repeated(&format!("entry.{counter}")),
                });
                format!("{kind}, 0, NULL, {}", counters.join(", "))
            }
            Self::Write(write) => format!(
                "{kind} + {}, 0, NULL, {}, NULL, NULL, NULL",
                UsageKind::number_of(write),
                unless_repeated(written(write)),
            ),
            Self::Repeated => format!(
                "{}, 0, NULL, {}",
                UsageKind::REPEATED,
                COUNTERS
                    .map(|counter| format!("entry.{counter}"))
                    .join(", ")
            ),
            Self::Cost => format!(
                "1, 0, {}, NULL, NULL, NULL, NULL",
                nanodollars("run.cost_usd")
            ),
            Self::Run => "run.cost_usd IS NOT NULL, 1, NULL, NULL, NULL, NULL, NULL".to_owned(),
        }
    }

    /// Returns where it is read from.
    fn source(self, period: &UsagePeriod) -> String {
        const ENTRIES: &str = "run CROSS JOIN v_usage AS entry ON entry.run_id = run.id
                 LEFT JOIN run AS main ON main.key = run.root";
        match self {
            Self::Entry => format!("{ENTRIES} WHERE {}", in_period(period)),
            Self::Write(write) => format!(
                "{ENTRIES} WHERE entry.cache_write_tokens IS NOT NULL
                    AND entry.input_tokens IS NOT NULL AND {} <> 0 AND {}",
                written(write),
                in_period(period),
            ),
            Self::Cost => format!(
                "run LEFT JOIN run AS main ON main.key = run.root WHERE run.cost_usd IS NOT NULL AND {}",
                period.sql(Happening::Cost),
            ),
            // That of a period used something in it.
            Self::Run if !period.is_all() => format!(
                "run LEFT JOIN run AS main ON main.key = run.root
                 WHERE run.root IS NULL AND run.key IN (
                    SELECT coalesce(run.root, run.key) FROM usage AS entry JOIN run ON run.key = entry.run WHERE {}
                    UNION ALL SELECT run.key FROM run
                    WHERE run.root IS NULL AND run.cost_usd IS NOT NULL AND {})",
                period.stored_entry(),
                period.sql(Happening::Cost),
            ),
            Self::Repeated => format!(
                "{ENTRIES} WHERE entry.is_repeated AND {}",
                in_period(period)
            ),
            Self::Run => "run LEFT JOIN run AS main ON main.key = run.root
                 WHERE run.root IS NULL AND (run.cost_usd IS NOT NULL
                    OR EXISTS (SELECT 1 FROM usage WHERE usage.run = run.key)
                    OR EXISTS (SELECT 1 FROM run AS child JOIN usage ON usage.run = child.key
                        WHERE child.root = run.key))"
                .to_owned(),
        }
    }
}

/// Writes that an entry is of the period. Its run is found by the index of entries by time.
fn in_period(period: &UsagePeriod) -> String {
    if period.is_all() {
        return "TRUE".to_owned();
    }
    format!(
        "run.key IN (SELECT entry.run FROM usage AS entry WHERE {}) AND {}",
        period.stored_entry(),
        period.sql(Happening::Entry),
    )
}

/// Writes how many tokens of an entry were written to a cache for so long.
fn written(write: CacheWrite) -> &'static str {
    match write {
        CacheWrite::None => "0",
        CacheWrite::Minutes => {
            "entry.cache_write_tokens - coalesce(entry.cache_write_1h_tokens, 0)"
        }
        CacheWrite::Hour => "coalesce(entry.cache_write_1h_tokens, 0)",
    }
}

/// Writes the quarter of an hour of a time; one beyond the calendar is that of its first or last day.
fn quarter(at: &str) -> String {
    let at = format!("min(max({at}, -{LAST_MS}), {LAST_MS})");
    format!("({at} - ({at} % {QUARTER_MS} + {QUARTER_MS}) % {QUARTER_MS}) / {QUARTER_MS}")
}

fn condition(scope: UsageScope<'_>) -> Condition {
    match scope {
        UsageScope::Runs(filter) => Condition::at_any_time(filter),
        UsageScope::Tree(root) => {
            let mut condition = Condition::default();
            condition.add("(run.key = ? OR run.root = ?)", root.number);
            condition
        }
        UsageScope::Listed(by, names) => listed(by, names),
        UsageScope::Unsettled(filter) => {
            let mut condition = Condition::at_any_time(filter);
            condition.terms.push(of_trees(UNSETTLED));
            condition
        }
        // Nobody else writes meanwhile: they are the ones that were named.
        UsageScope::Waiting(_) => {
            let mut condition = Condition::default();
            condition.terms.push(of_trees(WAITING));
            condition
        }
        UsageScope::Settled => {
            let mut condition = Condition::default();
            let settled = "SELECT key FROM run WHERE root IS NULL AND summed = 1";
            let term = format!("coalesce(run.root, run.key) IN ({settled})");
            condition.terms.push(term);
            condition
        }
    }
}

/// Returns the condition that runs with one of these names fulfil.
fn listed(by: UsageDimension, names: &[&str]) -> Condition {
    const NAMES: &str = "(SELECT value FROM json_each(?))";
    let term = match by {
        UsageDimension::Run => format!("run.id IN {NAMES}"),
        UsageDimension::Job => format!("run.job IN (SELECT key FROM job WHERE id IN {NAMES})"),
        UsageDimension::Session => of_trees(&format!(
            "FROM run WHERE root IS NULL
                AND session IN (SELECT key FROM word WHERE text IN {NAMES})"
        )),
        UsageDimension::Root => of_trees(&format!("FROM run WHERE root IS NULL AND id IN {NAMES}")),
        // Nobody lists what the others name.
        _ => "FALSE AND ? IS NULL".to_owned(),
    };
    let mut condition = Condition::default();
    condition.add(&term, serde_json::Value::from(names.to_vec()).to_string());
    condition
}

/// Returns the term that the runs of some trees fulfil. The two lists find them by their indexes, as a root of each run
/// made on the fly would not.
fn of_trees(roots: &str) -> String {
    format!(
        "run.key IN (SELECT key {roots} UNION ALL
            SELECT child.key FROM run AS child WHERE child.root IN (SELECT key {roots}))"
    )
}

/// Adds up what runs used, by one thing at least.
pub(crate) fn cells(
    connection: &Connection,
    scope: UsageScope<'_>,
    by: &[UsageDimension],
) -> Result<Vec<UsageCell>> {
    let mut condition = condition(scope);
    let period = match scope.filter() {
        Some(filter) => UsagePeriod::new(condition.bind_period(filter)),
        None => UsagePeriod::default(),
    };
    let columns: Vec<String> = (0..by.len()).map(|number| format!("d{number}")).collect();
    let version = migrate::version(connection)?;
    let has_labels = version >= migrate::RUNS_TELL_ABOUT;
    let has_writes = version >= migrate::LEDGER_KNOWS_WRITES;
    let mut parts = vec![Part::Entry, Part::Cost, Part::Run];
    if has_writes {
        parts.extend([CacheWrite::Minutes, CacheWrite::Hour].map(Part::Write));
    }
    if matches!(scope, UsageScope::Listed(..)) {
        parts.push(Part::Repeated);
    }
    let parts = parts.into_iter().map(|part| {
        let dimension = |by: &UsageDimension| match by {
            // There were no labels then.
            UsageDimension::Labels if !has_labels => "NULL".to_owned(),
            by => part.dimension(*by, &period),
        };
        let mut values: Vec<String> = by.iter().map(dimension).collect();
        values.push(part.amounts(has_writes));
        let (values, source) = (values.join(", "), part.source(&period));
        format!("SELECT {values} FROM {source} AND {}", condition.sql())
    });
    let parts: Vec<String> = parts.collect();
    let names = by.iter().zip(&columns).map(|(by, column)| match by {
        UsageDimension::Quarter
        | UsageDimension::Labels
        | UsageDimension::Run
        | UsageDimension::Root => column.clone(),
        UsageDimension::Job => format!("(SELECT id FROM job WHERE key = {column})"),
        _ => format!("(SELECT text FROM word WHERE key = {column})"),
    });
    let names: Vec<String> = names.collect();
    let (names, listed) = (names.join(", "), columns.join(", "));
    let sums = COUNTERS.map(|counter| {
        let sum = bounded_sum(counter);
        format!("coalesce({sum}, 0), count({counter})")
    });
    let sql = format!(
        "WITH part ({listed}, kind, runs, cost, {}) AS ({})
         SELECT {names}, kind, sum(runs), count(cost), coalesce({}, 0), {}
         FROM part GROUP BY {listed}, kind",
        COUNTERS.join(", "),
        parts.join(" UNION ALL "),
        bounded_sum("cost"),
        sums.join(", "),
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(&condition.values), |row| {
        let mut cell = UsageCell {
            quarter: 0,
            names: Vec::with_capacity(by.len()),
            kind: UsageKind::from_number(row.get(by.len())?),
            amounts: amounts(row, by.len() + 1)?,
        };
        for (column, by) in by.iter().enumerate() {
            if *by == UsageDimension::Quarter {
                cell.quarter = row.get(column)?;
            } else {
                cell.names.push(row.get(column)?);
            }
        }
        Ok(cell)
    })?;
    let mut cells: Vec<UsageCell> = rows.collect::<rusqlite::Result<_>>()?;
    cells.retain(|cell| !cell.amounts.is_empty());
    Ok(cells)
}

/// Reads runs, costs, the cost, and each counter with how many entries know it.
fn amounts(row: &Row<'_>, first: usize) -> rusqlite::Result<UsageAmounts> {
    let mut amounts = UsageAmounts {
        runs: row.get(first)?,
        costs: row.get(first + 1)?,
        cost: row.get(first + 2)?,
        ..UsageAmounts::default()
    };
    let counters = amounts.tokens.iter_mut().zip(&mut amounts.known);
    for (number, (tokens, known)) in counters.enumerate() {
        *tokens = row.get(first + 3 + 2 * number)?;
        *known = row.get(first + 4 + 2 * number)?;
    }
    Ok(amounts)
}

/// Returns the sums that are kept, with runtime and model, in order.
pub(crate) fn kept(connection: &Connection, span: UsageSpan) -> Result<Vec<UsageCell>> {
    let mut texts: HashMap<i64, String> = HashMap::new();
    let mut text = |key: i64| -> rusqlite::Result<String> {
        if let Some(text) = texts.get(&key) {
            return Ok(text.clone());
        }
        let found: Option<String> = connection
            .prepare_cached("SELECT text FROM word WHERE key = ?1")?
            .query_row([key], |row| row.get(0))
            .optional()?;
        // A reference to a word that is not there is no text, and not nothing either.
        let text = found.unwrap_or_else(|| format!("#{key}"));
        texts.insert(key, text.clone());
        Ok(text)
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT start, runtime, model, kind, {} FROM usage_sum WHERE span = ?1
         ORDER BY start, runtime, model, kind",
        SUM_COLUMNS.join(", ")
    ))?;
    let rows = statement.query_map([span.quarters()], |row| {
        let (runtime, model): (i64, i64) = (row.get(1)?, row.get(2)?);
        let model = (model != 0).then(|| text(model)).transpose()?;
        Ok(UsageCell {
            quarter: row.get(0)?,
            names: vec![Some(text(runtime)?), model],
            kind: UsageKind::from_number(row.get(3)?),
            amounts: amounts(row, 4)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Adds cells to the sums, or takes them away.
pub(crate) fn change(
    connection: &Connection,
    words: &mut WordKeys,
    cells: &[UsageCell],
    is_taken_away: bool,
) -> Result<()> {
    let sign = if is_taken_away { -1 } else { 1 };
    let added = SUM_COLUMNS.map(|column| format!("{column} = {column} + excluded.{column}"));
    let marks: Vec<String> = (1..=16).map(|number| format!("?{number}")).collect();
    let upsert = format!(
        "INSERT INTO usage_sum (span, start, runtime, model, kind, {}) VALUES ({})
         ON CONFLICT (span, start, runtime, model, kind) DO UPDATE SET {}",
        SUM_COLUMNS.join(", "),
        marks.join(", "),
        added.join(", "),
    );
    let empty = SUM_COLUMNS.map(|column| format!("{column} = 0"));
    let delete = format!(
        "DELETE FROM usage_sum WHERE span = ?1 AND start = ?2 AND runtime = ?3 AND model = ?4
            AND kind = ?5 AND {}",
        empty.join(" AND ")
    );
    for cell in cells {
        let mut names = cell.names.iter();
        let mut key = || words.maybe(connection, names.next().and_then(Option::as_deref));
        let (runtime, model) = (key()?.unwrap_or(0), key()?.unwrap_or(0));
        for span in UsageSpan::ALL {
            let place = [
                span.quarters(),
                span.start(cell.quarter),
                runtime,
                model,
                cell.kind.number(),
            ];
            let sums = cell.amounts.in_order().map(|sum| sum.saturating_mul(sign));
            let values = place.into_iter().chain(sums).map(Value::from);
            connection
                .prepare_cached(&upsert)?
                .execute(params_from_iter(values))?;
            if is_taken_away {
                connection.prepare_cached(&delete)?.execute(place)?;
            }
        }
    }
    Ok(())
}

/// Empties the table; no tree is among the sums then.
pub(crate) fn clear(connection: &Connection) -> Result<()> {
    connection.execute("DELETE FROM usage_sum", [])?;
    connection.execute("UPDATE run SET summed = 0 WHERE summed <> 0", [])?;
    Ok(())
}

/// Tells whether a tree is among the sums.
pub(crate) fn is_settled(connection: &Connection, root: i64) -> Result<bool> {
    let sql = "SELECT summed = 1 FROM run WHERE key = ?1";
    let found = connection
        .prepare_cached(sql)?
        .query_row([root], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(false))
}

/// Counts the sealed trees that are not among the sums and may be, as far as that many.
pub(crate) fn waiting(connection: &Connection, most: u32) -> Result<u32> {
    let sql = format!("SELECT count(*) FROM (SELECT 1 {WAITING} LIMIT ?1)");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([most], |row| row.get(0))?)
}

/// Returns the roots of sealed trees that are not among the sums and may be.
pub(crate) fn to_settle(connection: &Connection) -> Result<Vec<RunKey>> {
    let mut statement = connection.prepare_cached(&format!("SELECT key, id, NULL {WAITING}"))?;
    let rows = statement.query_map([], |row| runs::key(row, 0, 1, 2))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the roots of trees among the sums that have a run of a session after a time and id.
pub(crate) fn settled_after(
    connection: &Connection,
    session: &str,
    at: i64,
    id: &str,
) -> Result<Vec<RunKey>> {
    let sql = "SELECT DISTINCT main.key, main.id, NULL
               FROM run JOIN run AS main ON main.key = coalesce(run.root, run.key)
               WHERE run.session = (SELECT key FROM word WHERE text = ?1)
                   AND (run.started_at, run.id) > (?2, ?3) AND main.summed = 1";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![session, at, id], |row| runs::key(row, 0, 1, 2))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Finds flags that mean nothing, and sums of times that there are none of.
pub(crate) fn faults(connection: &Connection) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let checks = [
        (
            "SELECT count(*) FROM run WHERE summed NOT IN (0, 1, 2) OR (summed <> 0 AND root IS NOT NULL)",
            "runs say wrongly that they are among the sums of usage",
        ),
        (
            "SELECT count(*) FROM usage_sum WHERE span NOT IN (1, 96) OR kind NOT BETWEEN 0 AND 11",
            "rows of table usage_sum are sums of nothing",
        ),
    ];
    for (sql, fault) in checks {
        let count: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        if count > 0 {
            faults.push(format!("{count} {fault}"));
        }
    }
    Ok(faults)
}
