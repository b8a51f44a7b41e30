//! What was used, added up and entry by entry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts;
use crate::iso::{self, Time};
use crate::record::UsageSource;
use crate::{RunId, Runtime, SummaryUsage, TokenCounts};

/// What a day, runtime, model or job used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageGroup {
    /// The day, runtime, model or job; null where it is not known.
    pub name: Option<String>,
    /// Root runs that used something.
    pub runs: u64,
    /// The numbers; null if none are known.
    #[serde(with = "counts")]
    #[schemars(with = "Option<SummaryUsage>")]
    pub usage: TokenCounts,
    /// US dollars, as reported; null where nobody did.
    pub cost_usd: Option<f64>,
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
    /// An earlier run of the same session reported the same response: it does not count here.
    pub is_repeated: bool,
    /// The runtime stated the total of the whole session, and no earlier run of it is known: these
    /// numbers may hold what other runs used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_session: bool,
}
