//! What was used, grouped. Whatever it is grouped by, the groups come to the same sums.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use runtape_core::prices::{CacheWrite, ModelTokens};
use runtape_core::report::{Cost, UsageGroup, UsageKey};
use runtape_core::{JobId, RunId, Runtime, TokenCounts, day_name, month_name, week_name};

use crate::backend::{Tables, UsageScope};
use crate::derive::usage_cell::{
    KEPT_DIMENSIONS, QUARTER_MS, QUARTERS_OF_DAY, UsageAmounts, UsageCell, UsageDimension,
    UsageSpan,
};
use crate::error::Result;
use crate::filter::RunFilter;
use crate::store::Store;

/// What usage is added up by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageBy {
    /// The day.
    Day,
    /// The week by ISO 8601.
    Week,
    /// The month.
    Month,
    /// The runtime.
    Runtime,
    /// The model: that of the response, else that of its run.
    Model,
    /// The job.
    Job,
    /// The session of the root run.
    Session,
    /// The directory: that of the run, else that of its root run.
    Cwd,
    /// The labels of the root run: all of them together, or the value of the one with this name.
    Label(Option<String>),
}

impl UsageBy {
    /// All of them, without those of single labels.
    pub const ALL: [Self; 9] = [
        Self::Day,
        Self::Week,
        Self::Month,
        Self::Runtime,
        Self::Model,
        Self::Job,
        Self::Session,
        Self::Cwd,
        Self::Label(None),
    ];

    /// Returns its name, as in commands and JSON: for a single label with its name.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Label(Some(label)) => format!("{LABEL}:{label}"),
            other => other.word().to_owned(),
        }
    }

    /// Returns the word for it, whichever label is meant.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Runtime => "runtime",
            Self::Model => "model",
            Self::Job => "job",
            Self::Session => "session",
            Self::Cwd => "cwd",
            Self::Label(_) => LABEL,
        }
    }

    /// Returns what has this name, if anything has.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let label = name
            .strip_prefix(LABEL)
            .and_then(|rest| rest.strip_prefix(':'));
        if let Some(label) = label.filter(|label| !label.is_empty()) {
            return Some(Self::Label(Some(label.to_owned())));
        }
        Self::ALL.into_iter().find(|by| by.word() == name)
    }

    fn dimension(&self) -> UsageDimension {
        match self {
            Self::Day | Self::Week | Self::Month => UsageDimension::Quarter,
            Self::Runtime => UsageDimension::Runtime,
            Self::Model => UsageDimension::Model,
            Self::Job => UsageDimension::Job,
            Self::Session => UsageDimension::Session,
            Self::Cwd => UsageDimension::Cwd,
            Self::Label(_) => UsageDimension::Labels,
        }
    }

    /// Returns what stands for it, given the name that a cell has for its dimension.
    fn name_in(
        &self,
        quarter: i64,
        name: Option<&String>,
        calendar: Calendar<'_>,
    ) -> Option<String> {
        match self {
            Self::Day => Some(day_name(calendar.day(quarter))),
            Self::Week => Some(week_name(calendar.day(quarter))),
            Self::Month => Some(month_name(calendar.day(quarter))),
            Self::Label(label) => {
                let labels: BTreeMap<String, String> = serde_json::from_str(name?).ok()?;
                if let Some(label) = label {
                    return labels.get(label).cloned();
                }
                let labels = labels.iter();
                let labels = labels.map(|(name, value)| format!("{name}={value}"));
                Some(labels.collect::<Vec<_>>().join(" "))
            }
            _ => name.cloned(),
        }
    }
}

/// The word for labels.
const LABEL: &str = "label";

/// When a day begins.
#[derive(Clone, Copy)]
pub enum Calendar<'a> {
    /// In UTC.
    Utc,
    /// Where the caller is: the function returns on which day, counted from 1970, a time is that is given in
    /// milliseconds since 1970. Days begin at a quarter of an hour in UTC.
    Local(&'a dyn Fn(i64) -> i64),
}

impl fmt::Debug for Calendar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utc => "Utc",
            Self::Local(_) => "Local",
        })
    }
}

impl Calendar<'_> {
    /// Returns the day that a quarter of an hour belongs to.
    fn day(self, quarter: i64) -> i64 {
        match self {
            Self::Utc => quarter.div_euclid(QUARTERS_OF_DAY),
            Self::Local(day) => day(quarter.saturating_mul(QUARTER_MS)),
        }
    }
}

/// What a group of runs used.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageSum {
    /// What stands for each thing that is grouped by; absent where it is not known.
    pub names: Vec<Option<String>>,
    /// Root runs that reported tokens or a cost: each counts once, when it began and with its own model. In a period, those that
    /// used something in it: one that began before counts when the period begins.
    pub runs: u64,
    /// What was used; absent is what nobody knows.
    pub usage: TokenCounts,
    /// The part of the input tokens that was written to a cache; absent if there is none, or nobody said.
    pub cache_write_tokens: Option<i64>,
    /// What runtimes reported it to cost, in thousand millionths of a US dollar: whole numbers, so that it
    /// does not matter in which order they are added.
    pub cost_nanodollars: Option<i64>,
    /// The tokens whose cost no runtime reported, by model.
    pub unreported: Vec<ModelTokens>,
}

impl UsageSum {
    /// Returns the group as reports have it.
    #[must_use]
    pub fn to_group(&self, by: &[UsageBy], cost: Cost) -> UsageGroup {
        let keys = by.iter().zip(&self.names).map(|(by, name)| UsageKey {
            by: by.name(),
            name: name.clone(),
        });
        UsageGroup {
            name: self.names.first().cloned().flatten(),
            keys: keys.collect(),
            runs: self.runs,
            usage: self.usage,
            cost,
        }
    }

    /// Returns what runtimes reported it to cost, in US dollars.
    #[must_use]
    pub fn cost_usd(&self) -> Option<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "15 digits are enough to be shown"
        )]
        self.cost_nanodollars.map(|cost| cost as f64 / 1e9)
    }
}

impl Store {
    /// Adds up what the runs that a filter lets through used, each response once. The groups are in the
    /// order of their names.
    ///
    /// Whatever the groups are, they come to the same sums: tokens count when they were used, a cost that
    /// was reported counts when its run ended, and a run counts when it began. Of a period, only what was used in it counts; it is
    /// read from the ledger, and not from the sums that are kept, which know no runs that began before.
    pub fn usage_by(
        &self,
        filter: &RunFilter,
        by: &[UsageBy],
        calendar: Calendar<'_>,
    ) -> Result<Vec<UsageSum>> {
        let cells = self.read(|tables| cells(tables, filter, by, calendar))?;
        Ok(group(&cells, by, calendar))
    }
}

/// What a cost is estimated from, and what it leaves out.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CostBasis {
    /// The tokens whose cost no runtime reported, by model.
    pub unreported: Vec<ModelTokens>,
    /// The part of all input tokens that was written to a cache; absent if there is none, or nobody said.
    pub cache_write_tokens: Option<i64>,
    /// Tokens of responses that an earlier run of the same session counted.
    pub counted_before: TokenCounts,
}

/// Runs, or what they belong to, of which is asked what their tokens come to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum UsageOf<'a> {
    /// Runs by themselves, without their children.
    Runs(&'a [RunId]),
    /// Root runs with their children.
    Trees(&'a [RunId]),
    /// All runs of jobs.
    Jobs(&'a [JobId]),
    /// All runs of sessions, by the runtime and the session's id.
    Sessions(&'a [(Runtime, String)]),
}

/// How many are asked for at a time.
const AT_ONCE: usize = 500;

impl Store {
    /// Returns what the cost of each of those that are asked for is estimated from, in their order.
    pub fn cost_bases(&self, of: UsageOf<'_>) -> Result<Vec<CostBasis>> {
        let (by, names): (UsageDimension, Vec<Vec<&str>>) = match of {
            UsageOf::Runs(runs) => (UsageDimension::Run, words(runs.iter().map(RunId::as_str))),
            UsageOf::Trees(runs) => (UsageDimension::Root, words(runs.iter().map(RunId::as_str))),
            UsageOf::Jobs(jobs) => (UsageDimension::Job, words(jobs.iter().map(JobId::as_str))),
            UsageOf::Sessions(sessions) => {
                let names = sessions.iter();
                let names = names.map(|(runtime, session)| vec![runtime.as_str(), session]);
                (UsageDimension::Session, names.collect())
            }
        };
        let mut dimensions = vec![UsageDimension::Model];
        if by == UsageDimension::Session {
            dimensions.push(UsageDimension::Runtime);
        }
        dimensions.push(by);
        let mut groups: HashMap<Vec<String>, GroupSum> = HashMap::new();
        for names in names.chunks(AT_ONCE) {
            let listed: Vec<&str> = names
                .iter()
                .filter_map(|name| name.last().copied())
                .collect();
            let scope = UsageScope::Listed(by, &listed);
            for cell in self.read(|tables| tables.usage_cells(scope, &dimensions))? {
                let (model, name) = cell.names.split_first().unwrap_or((&None, &[]));
                let name: Option<Vec<String>> = name.iter().cloned().collect();
                if let Some(name) = name {
                    groups.entry(name).or_default().add(&cell, model.as_deref());
                }
            }
        }
        let bases = names.iter().map(|name| {
            let name: Vec<String> = name.iter().map(ToString::to_string).collect();
            let group = groups.remove(&name).unwrap_or_default();
            let counted_before = group.counted_before.counts();
            let sum = group.finish(Vec::new());
            CostBasis {
                unreported: sum.unreported,
                cache_write_tokens: sum.cache_write_tokens,
                counted_before,
            }
        });
        Ok(bases.collect())
    }
}

fn words<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Vec<&'a str>> {
    names.map(|name| vec![name]).collect()
}

/// Cells, and what their names stand for.
struct NamedCells {
    dimensions: Vec<UsageDimension>,
    cells: Vec<UsageCell>,
}

/// Tells whether the sums that are kept can answer for all runs that a filter lets through.
fn is_of_all(filter: &RunFilter) -> bool {
    let all = RunFilter {
        runtime: filter.runtime.clone(),
        ..RunFilter::default()
    };
    *filter == all
}

/// Returns cells that a question can be answered from. The model is always among what tells them apart,
/// for its price.
fn cells(
    tables: &dyn Tables,
    filter: &RunFilter,
    by: &[UsageBy],
    calendar: Calendar<'_>,
) -> Result<NamedCells> {
    let mut dimensions = vec![UsageDimension::Model];
    for by in by {
        if !dimensions.contains(&by.dimension()) {
            dimensions.push(by.dimension());
        }
    }
    let are_kept = dimensions.iter().all(|by| KEPT_DIMENSIONS.contains(by));
    if !are_kept || !is_of_all(filter) || !tables.rules()?.keeps_usage {
        let cells = tables.usage_cells(UsageScope::Runs(filter), &dimensions)?;
        return Ok(NamedCells { dimensions, cells });
    }
    let is_local =
        matches!(calendar, Calendar::Local(_)) && dimensions.contains(&UsageDimension::Quarter);
    let span = if is_local {
        UsageSpan::Quarter
    } else {
        UsageSpan::Day
    };
    let mut cells = tables.kept_usage(span)?;
    if let Some(runtime) = &filter.runtime {
        cells
            .retain(|cell| cell.names.first().and_then(Option::as_deref) == Some(runtime.as_str()));
    }
    cells.extend(tables.usage_cells(UsageScope::Unsettled(filter), &KEPT_DIMENSIONS)?);
    Ok(NamedCells {
        dimensions: KEPT_DIMENSIONS.to_vec(),
        cells,
    })
}

/// A group while it is added up.
#[derive(Default)]
struct GroupSum {
    amounts: UsageAmounts,
    /// Input tokens that were written to a cache.
    written: i64,
    counted_before: UsageAmounts,
    /// Of tokens whose cost nobody reported, by model, whether the prompt was long, and whether they were written to a cache.
    unreported: BTreeMap<(Option<String>, bool, CacheWrite), UsageAmounts>,
}

impl GroupSum {
    fn add(&mut self, cell: &UsageCell, model: Option<&str>) {
        if cell.kind.is_repeated {
            return self.counted_before.add(&cell.amounts);
        }
        self.amounts.add(&cell.amounts);
        if cell.kind.write != CacheWrite::None {
            let [input, ..] = cell.amounts.tokens;
            self.written = self.written.saturating_add(input);
        }
        if !cell.kind.is_reported {
            let key = (model.map(str::to_owned), cell.kind.is_long, cell.kind.write);
            self.unreported.entry(key).or_default().add(&cell.amounts);
        }
    }

    fn finish(self, names: Vec<Option<String>>) -> UsageSum {
        let tokens = self.unreported.into_iter();
        let tokens = tokens.map(|((model, is_long, write), amounts)| ModelTokens {
            model,
            is_long,
            write,
            counts: amounts.counts(),
        });
        UsageSum {
            names,
            runs: u64::try_from(self.amounts.runs).unwrap_or(0),
            usage: self.amounts.counts(),
            cache_write_tokens: (self.written != 0).then_some(self.written),
            cost_nanodollars: (self.amounts.costs != 0).then_some(self.amounts.cost),
            unreported: tokens
                .filter(|tokens| !tokens.counts.is_unknown())
                .collect(),
        }
    }
}

fn group(cells: &NamedCells, by: &[UsageBy], calendar: Calendar<'_>) -> Vec<UsageSum> {
    let position = |wanted: UsageDimension| {
        let others = cells.dimensions.iter();
        let mut others = others.filter(|by| **by != UsageDimension::Quarter);
        others.position(|by| *by == wanted)
    };
    let model = position(UsageDimension::Model);
    let places: Vec<(&UsageBy, Option<usize>)> =
        by.iter().map(|by| (by, position(by.dimension()))).collect();
    let mut groups: BTreeMap<Vec<Option<String>>, GroupSum> = BTreeMap::new();
    for cell in &cells.cells {
        let names = places.iter().map(|(by, at)| {
            let name = at.and_then(|at| cell.names.get(at)?.as_ref());
            by.name_in(cell.quarter, name, calendar)
        });
        let names: Vec<Option<String>> = names.collect();
        let model = model.and_then(|at| cell.names.get(at)?.as_deref());
        groups.entry(names).or_default().add(cell, model);
    }
    let groups = groups.into_iter();
    groups.map(|(names, group)| group.finish(names)).collect()
}
