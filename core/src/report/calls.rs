//! Answers to an auditor: which tools were called, and what they touched.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::iso::{self, Time};
use crate::{JobId, RunId, Runtime, ToolClass};

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallInfo {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// The runtime.
    pub runtime: Runtime,
    /// The step.
    pub step: u64,
    /// The record of the message that made the call; while its step goes on, the number that it would have.
    pub seq: u64,
    /// When.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub at: i64,
    /// The tool's name.
    pub tool: String,
    /// What the tool is for; absent for records from before classes were known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ToolClass>,
    /// The directory the run worked in; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The shell command it ran; null for other tools, and where only a summary was printed.
    pub command: Option<String>,
    /// The first file it read or wrote; null if it names none.
    pub path: Option<String>,
    /// All files that it read, wrote or looked through, each once and from the root on, without `.` and `..`: so that a file
    /// has one path, whichever way it was named. As the call named it where the directory or the home directory is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The URL it fetched; null if it names none.
    pub url: Option<String>,
    /// `guess` where command, files and URL are taken by the names of the arguments, since nobody knows
    /// the tool; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_by: Option<KnownBy>,
    /// What the shell command does as far as its words tell; absent where they tell nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellEffects>,
    /// Whether it failed; null if there is no result or it did not tell.
    pub is_error: Option<bool>,
    /// How long it took in milliseconds, where known.
    pub duration_ms: Option<i64>,
    /// The record of the result; null if there is none.
    pub result_seq: Option<u64>,
    /// Whether it goes on: it was made in the step that its run is in, and has no result yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_running: bool,
}

/// How it is known what a call touched, where the call does not say it itself.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum KnownBy {
    /// By the words of a shell command, which was read and not run: whether it did what it says, nobody
    /// knows.
    Shell,
    /// By the name of an argument of a tool that nobody knows, or by an address anywhere in a command.
    Guess,
}

impl KnownBy {
    /// Returns the name as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Guess => "guess",
        }
    }
}

/// What a shell command does, as far as its words tell. Files are named from the directory on in which it
/// ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShellEffects {
    /// Files that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Files that it creates or changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
    /// Files that it deletes or moves away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<String>,
    /// Hosts that it reaches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// How many parts of it do with files what their words do not tell: variables, patterns, scripts.
    pub untold_files: u64,
    /// How many parts of it reach hosts that their words do not tell.
    pub untold_hosts: u64,
}

/// How a tool was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolUse {
    /// The runtime.
    pub runtime: Runtime,
    /// The tool's name.
    pub tool: String,
    /// What the tool is for; absent for records from before classes were known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ToolClass>,
    /// How often it was called.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Calls without a result.
    pub unanswered: u64,
    /// Runs that called it.
    pub runs: u64,
    /// Mean duration in milliseconds of the calls whose duration is known; null if none is.
    pub mean_ms: Option<f64>,
    /// The last call.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub last_at: i64,
}

/// What a tool did with a file, as far as its class tells.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum FileAccess {
    /// It read the file.
    Read,
    /// It created, changed or deleted the file.
    Write,
    /// A shell command deleted the file, or moved it away.
    Delete,
    /// It looked for something there, or listed it: mostly a directory.
    Search,
}

impl FileAccess {
    /// Returns what a tool of a class does with the files that it names.
    #[must_use]
    pub fn of(class: ToolClass) -> Option<Self> {
        match class {
            ToolClass::Read => Some(Self::Read),
            ToolClass::Write => Some(Self::Write),
            ToolClass::Search => Some(Self::Search),
            _ => None,
        }
    }

    /// Returns the name as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Search => "search",
        }
    }
}

/// How a file was used: all calls that named it, by whichever path and tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileUse {
    /// The file: a relative path of a call is taken from the directory that its run worked in. As the
    /// call named it where that directory is not known.
    pub path: String,
    /// Calls that named it.
    pub calls: u64,
    /// Calls that read it, of those whose class tells.
    pub reads: u64,
    /// Calls that created, changed or deleted it, of those whose class tells.
    pub writes: u64,
    /// The tools that did, by their names.
    pub tools: Vec<String>,
    /// How that is known, where no call says it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_by: Option<KnownBy>,
    /// Calls that failed.
    pub errors: u64,
    /// Runs that did.
    pub runs: u64,
    /// The last run that did.
    pub run_id: RunId,
    /// The last time, as ISO 8601 in UTC.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub last_at: i64,
}

/// A call of a tool that touched a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileCall {
    /// The file: a relative path of the call is taken from the directory that its run worked in. As the
    /// call named it where that directory is not known.
    pub path: String,
    /// What the tool did with it; absent where its class does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<FileAccess>,
    /// How that is known, where the call does not say it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_by: Option<KnownBy>,
    /// The call.
    pub call: ToolCallInfo,
}

/// A use of the network by a call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkCall {
    /// The host; null where the call names none, such as a search.
    pub host: Option<String>,
    /// Whether the call does not say itself that it reached the host: whether it did, nobody knows.
    pub is_guessed: bool,
    /// How the host is known, where the call does not say it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_by: Option<KnownBy>,
    /// The call.
    pub call: ToolCallInfo,
}

/// How often a host was used or named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostUse {
    /// The host; null for calls that name none, such as searches.
    pub host: Option<String>,
    /// Whether the calls do not say themselves that they reached it: whether they did, nobody knows.
    pub is_guessed: bool,
    /// How the host is known, where the calls do not say it themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_by: Option<KnownBy>,
    /// Calls that fetched from it or named it.
    pub calls: u64,
    /// Calls of these that failed.
    pub errors: u64,
    /// Runs that did.
    pub runs: u64,
    /// The names of the tools, in order.
    pub tools: Vec<String>,
    /// The last run that did.
    pub run_id: RunId,
    /// The last time.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub last_at: i64,
}
