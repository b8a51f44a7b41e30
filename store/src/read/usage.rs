//! What was used, grouped. Whatever it is grouped by, the groups come to the same sums.

use std::collections::BTreeMap;
use std::fmt;

use runtape_core::prices::{Estimate, ModelTokens};
use runtape_core::report::{UsageGroup, UsageKey};
use runtape_core::{TokenCounts, day_name, month_name, week_name};

use crate::backend::{Tables, UsageScope};
use crate::derive::usage_cell::{
    KEPT_DIMENSIONS, QUARTER_MS, QUARTERS_OF_DAY, UsageAmounts, UsageCell, UsageDimension,
    UsageSpan,
};
use crate::error::Result;
use crate::filter::RunFilter;
use crate::store::Store;

/// What usage is added up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl UsageBy {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Day,
        Self::Week,
        Self::Month,
        Self::Runtime,
        Self::Model,
        Self::Job,
        Self::Session,
        Self::Cwd,
    ];

    /// Returns its name, as in commands and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Runtime => "runtime",
            Self::Model => "model",
            Self::Job => "job",
            Self::Session => "session",
            Self::Cwd => "cwd",
        }
    }

    /// Returns what has this name, if anything has.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            Self::Day,
            Self::Week,
            Self::Month,
            Self::Runtime,
            Self::Model,
            Self::Job,
            Self::Session,
            Self::Cwd,
        ];
        all.into_iter().find(|by| by.as_str() == name)
    }

    fn dimension(self) -> UsageDimension {
        match self {
            Self::Day | Self::Week | Self::Month => UsageDimension::Quarter,
            Self::Runtime => UsageDimension::Runtime,
            Self::Model => UsageDimension::Model,
            Self::Job => UsageDimension::Job,
            Self::Session => UsageDimension::Session,
            Self::Cwd => UsageDimension::Cwd,
        }
    }
}

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
    /// Root runs that reported tokens or a cost: each counts once, when it began and with its own model.
    pub runs: u64,
    /// What was used; absent is what nobody knows.
    pub usage: TokenCounts,
    /// What runtimes reported it to cost, in thousand millionths of a US dollar: whole numbers, so that it
    /// does not matter in which order they are added.
    pub cost_nanodollars: Option<i64>,
    /// The tokens whose cost no runtime reported, by model.
    pub unreported: Vec<ModelTokens>,
}

impl UsageSum {
    /// Returns the group as reports have it, with what its tokens are estimated to cost by a table of this
    /// digest.
    #[must_use]
    pub fn to_group(&self, by: &[UsageBy], estimate: &Estimate, digest: &str) -> UsageGroup {
        let keys = by.iter().zip(&self.names).map(|(by, name)| UsageKey {
            by: by.as_str().to_owned(),
            name: name.clone(),
        });
        let is_estimated = estimate.amount.is_some() || estimate.is_partial();
        UsageGroup {
            name: self.names.first().cloned().flatten(),
            keys: keys.collect(),
            runs: self.runs,
            usage: self.usage,
            cost_usd: self.cost_usd(),
            estimated_cost_usd: estimate.dollars(),
            unpriced_models: estimate.unpriced_models.iter().cloned().collect(),
            has_unnamed_model: estimate.has_unnamed,
            price_table: is_estimated.then(|| digest.to_owned()),
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
    /// was reported counts when its run ended, and a run counts when it began.
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

/// Cells, and what their names stand for.
struct Cells {
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
) -> Result<Cells> {
    let mut dimensions = vec![UsageDimension::Model];
    for by in by {
        if !dimensions.contains(&by.dimension()) {
            dimensions.push(by.dimension());
        }
    }
    let are_kept = dimensions.iter().all(|by| KEPT_DIMENSIONS.contains(by));
    if !are_kept || !is_of_all(filter) || !tables.rules()?.keeps_usage {
        let cells = tables.usage_cells(UsageScope::Runs(filter), &dimensions)?;
        return Ok(Cells { dimensions, cells });
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
    Ok(Cells {
        dimensions: KEPT_DIMENSIONS.to_vec(),
        cells,
    })
}

/// A group while it is added up.
#[derive(Default)]
struct Group {
    amounts: UsageAmounts,
    /// Of tokens whose cost nobody reported, by model and whether the prompt was long.
    unreported: BTreeMap<(Option<String>, bool), UsageAmounts>,
}

impl Group {
    fn add(&mut self, cell: &UsageCell, model: Option<&str>) {
        self.amounts.add(&cell.amounts);
        if !cell.kind.is_reported {
            let key = (model.map(str::to_owned), cell.kind.is_long);
            self.unreported.entry(key).or_default().add(&cell.amounts);
        }
    }

    fn finish(self, names: Vec<Option<String>>) -> UsageSum {
        let tokens = self.unreported.into_iter();
        let tokens = tokens.map(|((model, is_long), amounts)| ModelTokens {
            model,
            is_long,
            counts: amounts.counts(),
        });
        UsageSum {
            names,
            runs: u64::try_from(self.amounts.runs).unwrap_or(0),
            usage: self.amounts.counts(),
            cost_nanodollars: (self.amounts.costs != 0).then_some(self.amounts.cost),
            unreported: tokens
                .filter(|tokens| !tokens.counts.is_unknown())
                .collect(),
        }
    }
}

fn group(cells: &Cells, by: &[UsageBy], calendar: Calendar<'_>) -> Vec<UsageSum> {
    let position = |wanted: UsageDimension| {
        let others = cells.dimensions.iter();
        let mut others = others.filter(|by| **by != UsageDimension::Quarter);
        others.position(|by| *by == wanted)
    };
    let model = position(UsageDimension::Model);
    let places: Vec<(UsageBy, Option<usize>)> = by
        .iter()
        .map(|by| (*by, position(by.dimension())))
        .collect();
    let name_of =
        |cell: &UsageCell, at: Option<usize>| at.and_then(|at| cell.names.get(at)?.clone());
    let mut groups: BTreeMap<Vec<Option<String>>, Group> = BTreeMap::new();
    for cell in &cells.cells {
        let names = places.iter().map(|(by, at)| match by {
            UsageBy::Day => Some(day_name(calendar.day(cell.quarter))),
            UsageBy::Week => Some(week_name(calendar.day(cell.quarter))),
            UsageBy::Month => Some(month_name(calendar.day(cell.quarter))),
            _ => name_of(cell, *at),
        });
        let names: Vec<Option<String>> = names.collect();
        let model = model.and_then(|at| cell.names.get(at)?.as_deref());
        groups.entry(names).or_default().add(cell, model);
    }
    let groups = groups.into_iter();
    groups.map(|(names, group)| group.finish(names)).collect()
}
