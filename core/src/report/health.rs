//! Whether everything is in order: checks, runtimes, schemas and what breaks them.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Runtime;
use crate::iso::{self, Time};

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
    /// Names the check, in lower case with underscores: `runtape_database_mode`,
    /// `claude_command_resolvable` …
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

/// What `doctor` found, in the shape of Paperclip's environment test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// The type of the adapter that was looked at: Paperclip's name for the runtime, `runtape` for
    /// all of them together.
    pub adapter_type: String,
    /// What all checks together come to.
    pub status: DoctorStatus,
    /// The checks, in the order they were made.
    pub checks: Vec<DoctorCheck>,
    /// When.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub tested_at: i64,
    /// The directories in which agent CLIs keep sessions, of those that are there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryPlace>,
}

/// A directory in which an agent CLI keeps its sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryPlace {
    /// The runtime.
    pub runtime: Runtime,
    /// The directory.
    pub path: String,
    /// Files in it that hold sessions. A session may have several, and a database has many sessions.
    pub files: u64,
    /// How large they are together, in bytes.
    pub bytes: u64,
    /// After how many days the CLI deletes what was not touched; null if it does not.
    pub kept_days: Option<u32>,
    /// Files that it deletes within a week, unless they are touched.
    pub due: u64,
}

impl DoctorReport {
    /// Puts checks together: failed if one is an error, else a warning if one is.
    #[must_use]
    pub fn new(adapter_type: &str, checks: Vec<DoctorCheck>, tested_at: i64) -> Self {
        let has = |level| checks.iter().any(|check| check.level == level);
        let status = match (has(CheckLevel::Error), has(CheckLevel::Warn)) {
            (true, _) => DoctorStatus::Fail,
            (false, true) => DoctorStatus::Warn,
            (false, false) => DoctorStatus::Pass,
        };
        Self {
            adapter_type: adapter_type.to_owned(),
            status,
            checks,
            tested_at,
            history: Vec::new(),
        }
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
    /// Paperclip's name for an adapter of it.
    pub adapter_type: String,
    /// What Paperclip's host may do with it.
    pub capabilities: AdapterCapabilities,
    /// What each of the output formats tells, in the order of `formats`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_formats: Vec<FormatInfo>,
    /// The name of the output format that tells most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_format: Option<String>,
    /// The versions of its program whose output was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
}

/// An output format of a runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormatInfo {
    /// The name, as in the metadata of a run.
    pub name: String,
    /// What on the command line asks for it; empty for what is printed unasked.
    pub flags: String,
    /// What it tells of a run: `text`, `thinking`, `calls`, `arguments`, `results`, `tokens`, `cost`,
    /// `session`, `model`. More may be added.
    pub carries: Vec<String>,
}

/// What Paperclip's host may do with a runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdapterCapabilities {
    /// Whether the host makes a token for the agent to call it back with.
    pub supports_local_agent_jwt: bool,
    /// Whether the host keeps the agent's instructions.
    pub supports_instructions_bundle: bool,
    /// The configuration key that holds the path of the instructions; null if the host does not
    /// keep them.
    pub instructions_path_key: Option<Cow<'static, str>>,
    /// Whether skills must be written to disk before a run.
    pub requires_materialized_runtime_skills: bool,
}

/// A schema that is published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchemaInfo {
    /// Its name, for `validate --kind` and `schema`.
    pub kind: String,
    /// Its `$id`.
    pub id: String,
    /// The file that it was written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A line of what `validate` prints: what is wrong or unknown, and how many lines there were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum ValidationLine {
    /// A fault of a line that breaks the schema.
    Invalid(ValidationFault),
    /// A line of a type that this version does not know, which is a fault only if it was asked to be.
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationCounts {
    /// Lines that fit the schema.
    pub valid: u64,
    /// Lines of types that this version does not know.
    pub unknown: u64,
    /// Lines that break the schema.
    pub invalid: u64,
    /// The kind that most lines look like, where it is not the one they were checked against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_kind: Option<String>,
}
