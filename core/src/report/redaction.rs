//! What was taken out of the output before it was kept, and what is still there.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::open;
use super::{SealName, is_zero};
use crate::{RunId, Stream};

/// By which rules secrets were taken out of what is kept of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedRules {
    /// What was looked for: `off`, `definite` or `broad`. Names may be added.
    pub tier: String,
    /// The name and version of the rule set; not there if nothing was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// The digest of all rules that were applied, those of the user included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The key under which markers tell the same secret from another; not there if they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
}

impl AppliedRules {
    /// The tier that looks for nothing.
    pub const OFF: &'static str = "off";

    /// Tells whether anything was looked for.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.tier != Self::OFF
    }
}

/// How many secrets were taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedactionCounts {
    /// How many were replaced, by the name of the rule that found them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = open)]
    pub by_rule: BTreeMap<String, u64>,
    /// How many times a beginning that looked like a secret's was kept, since the rest of it did not come
    /// within the bounds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unfinished: u64,
}

impl RedactionCounts {
    /// Tells whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns how many secrets were replaced.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_rule.values().sum()
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        for (rule, count) in &other.by_rule {
            self.count(rule, *count);
        }
        self.unfinished += other.unfinished;
    }

    /// Counts what a rule found.
    pub fn count(&mut self, rule: &str, times: u64) {
        if let Some(count) = self.by_rule.get_mut(rule) {
            *count += times;
        } else {
            self.by_rule.insert(rule.to_owned(), times);
        }
    }
}

/// What was taken out of a run, and by which rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunRedaction {
    /// The rules.
    #[serde(flatten)]
    pub applied: AppliedRules,
    /// What they found; empty for an open run, and for one whose recorder died.
    #[serde(flatten)]
    pub counts: RedactionCounts,
}

/// Where in a run something was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
#[non_exhaustive]
pub enum SecretPlace {
    /// In what was known of the run before it began: command line, prompt, directory.
    Context,
    /// In a record.
    #[serde(rename_all = "camelCase")]
    Record {
        /// The record's number in its run.
        seq: u64,
    },
    /// On the tape only: no record was made from it.
    #[serde(rename_all = "camelCase")]
    Tape {
        /// The stream.
        stream: Stream,
        /// The first byte of the line on that stream.
        start: u64,
    },
}

/// A line of what `scan` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
#[non_exhaustive]
pub enum ScanLine {
    /// Something that looks like a secret.
    Found(FoundSecret),
    /// What was looked at.
    Summary(ScanSummary),
}

/// Something in a stored run that looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundSecret {
    /// The run: the root, or the child whose record it is.
    pub run_id: RunId,
    /// Where.
    pub place: SecretPlace,
    /// The rule that found it.
    pub rule: String,
    /// The secret without most of its characters.
    pub masked: String,
}

/// What `scan` looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScanSummary {
    /// What was looked for: `definite` or `broad`.
    pub tier: String,
    /// Root runs that were read.
    pub runs: u64,
    /// Root runs in which something was found.
    pub runs_with_secrets: u64,
    /// How many places were found, by rule.
    #[schemars(transform = open)]
    pub by_rule: BTreeMap<String, u64>,
}

/// A line of what `redact` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
#[non_exhaustive]
pub enum RedactLine {
    /// What became of a root run.
    Run(RedactedRun),
    /// A place that has the marker of the secret that was asked for.
    Marker(FoundMarker),
    /// What became of all of them.
    Summary(RedactSummary),
}

/// A root run that was looked at, and what was taken out of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedactedRun {
    /// The run.
    pub run_id: RunId,
    /// What was taken out, or would be.
    #[serde(flatten)]
    pub counts: RedactionCounts,
    /// The seal over what is left; null if nothing was changed.
    pub seal: Option<SealName>,
}

/// A place that has the marker of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundMarker {
    /// The run: the root, or the child whose record it is.
    pub run_id: RunId,
    /// Where.
    pub place: SecretPlace,
    /// The whole marker.
    pub marker: String,
}

/// What `redact` did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedactSummary {
    /// Whether this only says what would be done.
    pub is_dry_run: bool,
    /// Root runs that were read.
    pub runs: u64,
    /// Root runs that were replaced, or would be.
    pub changed: u64,
    /// Whether the bytes of the secrets are gone from the files; null if nothing was changed.
    pub is_erased: Option<bool>,
}

/// What `config` prints: where the configuration is, and what it says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigInfo {
    /// The file.
    pub path: String,
    /// Whether it is there; without it everything is as by default.
    pub is_there: bool,
    /// The settings in force, with what is by default.
    pub settings: serde_json::Value,
}
