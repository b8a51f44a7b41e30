//! Whether everything is in order: checks, runtimes, schemas and what breaks them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Runtime;

/// How much a check matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CheckLevel {
    /// Good to know.
    Info,
    /// Works, and could be better.
    Warn,
    /// Does not work.
    Error,
}

/// What all checks together come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorStatus {
    /// Nothing to complain about.
    Pass,
    /// Something could be better.
    Warn,
    /// Something does not work.
    Fail,
}

impl DoctorStatus {
    /// Returns the name as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorCheck {
    /// Names the check: `database.mode`, `claude-code.version` …
    pub code: String,
    /// How much it matters.
    pub level: CheckLevel,
    /// What was found, for people.
    pub message: String,
    /// More about it; null if there is nothing more.
    pub detail: Option<String>,
    /// What to do about it; null if there is nothing to do.
    pub hint: Option<String>,
}

/// What `doctor` found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// What all checks together come to.
    pub status: DoctorStatus,
    /// The checks, in the order they were made.
    pub checks: Vec<DoctorCheck>,
}

impl DoctorReport {
    /// Puts checks together: failed if one is an error, else a warning if one is.
    #[must_use]
    pub fn new(checks: Vec<DoctorCheck>) -> Self {
        let has = |level| checks.iter().any(|check| check.level == level);
        let status = match (has(CheckLevel::Error), has(CheckLevel::Warn)) {
            (true, _) => DoctorStatus::Fail,
            (false, true) => DoctorStatus::Warn,
            (false, false) => DoctorStatus::Pass,
        };
        Self { status, checks }
    }
}

/// A runtime whose output can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeInfo {
    /// The runtime.
    pub runtime: Runtime,
    /// The names that its command goes by.
    pub commands: Vec<String>,
    /// The output formats that can be read.
    pub formats: Vec<String>,
    /// Where the command is; null if it is not installed.
    pub installed: Option<String>,
}

/// A schema that is published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchemaInfo {
    /// Its name, for `validate --kind` and `schema`.
    pub kind: String,
    /// Its `$id`.
    pub id: String,
}

/// A line of what `validate` prints: what is wrong or unknown, and how many lines there were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum ValidationLine {
    /// A fault of a line that breaks the schema.
    Invalid(ValidationFault),
    /// A line of a type that this version does not know, which is no fault.
    Unknown(ValidationUnknown),
    /// How many lines there were.
    Summary(ValidationCounts),
}

/// A fault of a line that breaks the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationFault {
    /// The line, counted from 1.
    pub line: u64,
    /// The type that the line names; null if it names none that is known.
    pub tag: Option<String>,
    /// Where in the line, as a JSON pointer; empty for all of it.
    pub path: String,
    /// What was expected there, and what was found.
    pub message: String,
    /// The rule that was broken, as a JSON pointer into the schema; empty if the line is no JSON.
    pub schema_path: String,
}

/// A line of a type that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationUnknown {
    /// The line, counted from 1.
    pub line: u64,
    /// The type that it names.
    pub tag: String,
}

/// How many lines there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationCounts {
    /// Lines that fit the schema.
    pub valid: u64,
    /// Lines of types that this version does not know.
    pub unknown: u64,
    /// Lines that break the schema.
    pub invalid: u64,
}
