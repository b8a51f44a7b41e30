//! What was used, added up and entry by entry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cost, counts};
use crate::iso::{self, Time};
use crate::prices::Estimate;
use crate::record::UsageSource;
use crate::{RunId, Runtime, SummaryUsage, TokenCounts};

/// What a day, runtime, model, job, session, directory or label used; or two of them together.
///
/// The sums of all groups are the same, whatever they are grouped by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageGroup {
    /// The day, runtime, model or whatever else comes first; null where it is not known.
    pub name: Option<String>,
    /// What is grouped by, and the name of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<UsageKey>,
    /// Root runs that reported tokens or a cost: each counts once, when it began and with its own model. In a period, those that
    /// used something in it: one that began before counts when the period begins.
    pub runs: u64,
    /// The numbers; null if none are known.
    #[serde(with = "counts")]
    #[schemars(with = "Option<SummaryUsage>")]
    pub usage: TokenCounts,
    /// What it cost. A run's reported cost counts when it ended, and with its own model.
    #[serde(flatten)]
    pub cost: Cost,
}

/// What tokens are estimated to cost for which no cost was reported. It is not part of `costUsd`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostEstimate {
    /// US dollars for the tokens of runs that reported no cost, estimated with a price table; not there where
    /// there are none, or no price is known. It is not part of `costUsd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_cost_usd: Option<f64>,
    /// Models whose tokens are not in the estimate, because the price table does not know them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced_models: Vec<String>,
    /// Tokens that are not in the estimate, because no model is named for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_unnamed_model: bool,
    /// A hash of the price table that estimates were made with; not there if there was nothing to estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_table: Option<String>,
}

impl CostEstimate {
    /// Returns what is to be told of an estimate that was made with a table of this digest.
    #[must_use]
    pub fn new(estimate: &Estimate, digest: &str) -> Self {
        let is_estimated = estimate.amount.is_some() || estimate.is_partial();
        Self {
            estimated_cost_usd: estimate.dollars(),
            unpriced_models: estimate.unpriced_models.iter().cloned().collect(),
            has_unnamed_model: estimate.has_unnamed,
            price_table: is_estimated.then(|| digest.to_owned()),
        }
    }

    /// Tells whether some tokens are not in the estimate.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.has_unnamed_model || !self.unpriced_models.is_empty()
    }
}

/// One of the things that usage is grouped by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageKey {
    /// `day`, `week`, `month`, `runtime`, `model`, `job`, `session`, `cwd`, `label`, or `label:` and the name of one.
    pub by: String,
    /// The day, runtime, model and so on; null where it is not known.
    pub name: Option<String>,
}

/// What a model costs, in US dollars per token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// The name that was asked for; that of the table if none was.
    pub model: String,
    /// Its name in the table; null if it is not known there.
    pub name: Option<String>,
    /// Who sells it.
    pub provider: Option<String>,
    /// A prompt token that was not read from a cache.
    pub input: Option<f64>,
    /// A generated token.
    pub output: Option<f64>,
    /// A prompt token that was read from a cache.
    pub cache_read: Option<f64>,
    /// A prompt token that was written to a cache.
    pub cache_write: Option<f64>,
    /// One that was written to a cache for an hour.
    pub cache_write_1h: Option<f64>,
    /// Input of a response with more than 200,000 prompt tokens.
    pub long_input: Option<f64>,
    /// Output of such a response.
    pub long_output: Option<f64>,
    /// Cached input of such a response.
    pub long_cache_read: Option<f64>,
    /// A hash of the table.
    pub price_table: String,
    /// Where its prices come from.
    pub source: String,
    /// When they were taken.
    pub taken: String,
}

/// What was used on a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DailyUsage {
    /// The day, in UTC.
    pub day: String,
    /// The runtime.
    pub runtime: Runtime,
    /// The model; null where it is not known.
    pub model: Option<String>,
    /// Root runs that used something.
    pub runs: u64,
    /// The numbers; null if none are known.
    #[serde(with = "counts")]
    #[schemars(with = "Option<SummaryUsage>")]
    pub usage: TokenCounts,
}

/// An entry of the ledger: tokens that count exactly once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerEntry {
    /// The run that it belongs to.
    pub run_id: RunId,
    /// The record that says so.
    pub seq: u64,
    /// When.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub at: i64,
    /// Names what was counted: the same key is never counted again.
    pub key: String,
    /// Where the numbers come from.
    pub source: UsageSource,
    /// The step that used them; null for what belongs to no single step.
    pub step: Option<u64>,
    /// The model; null where it is not known.
    pub model: Option<String>,
    /// The numbers; null if none are known.
    #[serde(with = "counts")]
    #[schemars(with = "Option<SummaryUsage>")]
    pub usage: TokenCounts,
    /// The part of the input tokens that was written to a cache; not there if there is none, or nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<i64>,
    /// The part of those that was written for an hour instead of some minutes.
    #[serde(
        default,
        rename = "cacheWrite1hTokens",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_write_1h_tokens: Option<i64>,
    /// An earlier run of the same session reported the same response: it does not count here.
    pub is_repeated: bool,
    /// The runtime stated the total of the whole session, and no earlier run of it is known: these
    /// numbers may hold what other runs used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_session: bool,
    /// The model's name in the price table; not there if no estimate was asked for, the model is not known, or
    /// the run reported its cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_model: Option<String>,
    /// What the tokens come to in US dollars, estimated; not there for the same reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_cost_usd: Option<f64>,
    /// A hash of the price table that the estimate was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_table: Option<String>,
}
