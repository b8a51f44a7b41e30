//! Runs, jobs and steps in lists.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::open;
use super::recording::ExitInfo;
use super::seal::is_first_chain;
use super::{Cost, Failure, RunOrigin, RunRedaction, SealName, ToolCallInfo, counts, is_zero};
use crate::iso::{self, Time};
use crate::{
    CheckpointId, CheckpointStatus, Job, JobId, JobStatus, Outcome, RunId, Runtime, SummaryUsage,
    TokenCounts,
};

/// What is known of a run, without its records. Unknown is null, or not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunInfo {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// The run on whose tape it is; null for a root run.
    pub root_run_id: Option<RunId>,
    /// The run whose call started it; null for a root run.
    pub parent_run_id: Option<RunId>,
    /// The runtime.
    pub runtime: Runtime,
    /// How it ended; `proceeding` while it is open.
    pub status: CheckpointStatus,
    /// How it went: `running` while it is open, `completed`, `failed`, `limit`, `interrupted` or `unfinished`.
    #[serde(default, skip_serializing_if = "crate::omission::never")]
    pub outcome: Outcome,
    /// The expert that it was given to.
    pub expert_key: Option<String>,
    /// The model's name as the runtime gave it.
    pub model: Option<String>,
    /// The session to resume.
    pub session_id: Option<String>,
    /// The directory it worked in.
    pub cwd: Option<String>,
    /// The agent CLI's version.
    pub cli_version: Option<String>,
    /// When it began: by the recorder's clock where it ran the process, else as its first record says.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub started_at: i64,
    /// When it ended, by the same clock; null while it is open.
    #[serde(with = "iso::maybe")]
    #[schemars(with = "Option<Time>")]
    pub finished_at: Option<i64>,
    /// How long it took in milliseconds: by the recorder's clock where it ran the process, else as the
    /// runtime reported it.
    pub duration_ms: Option<i64>,
    /// How long it took in milliseconds, as the runtime reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_duration_ms: Option<i64>,
    /// What to call it: what was asked, else what the runtime calls the session, else the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What was asked, its first 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// What the agent may do without asking, by the runtime's own word for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The machine it ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The user it ran as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The exit code of its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The signal that ended its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// The commit that the directory was at when it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_commit: Option<String>,
    /// The branch that the directory was on when it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// Labels that whoever started it gave it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = open)]
    pub labels: BTreeMap<String, String>,
    /// Steps that ended.
    pub steps: u64,
    /// Messages.
    pub messages: u64,
    /// Kept records.
    pub records: u64,
    /// Lines that no parser understood.
    pub unparsed: u64,
    /// What it used by itself, without its children; null if nothing is known.
    #[serde(with = "counts")]
    #[schemars(with = "Option<SummaryUsage>")]
    pub usage: TokenCounts,
    /// What it cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// Why it failed; null if it did not.
    pub error: Option<Failure>,
    /// The number of the seal that covers it, in its chain; null while it is open.
    pub seal: Option<u64>,
    /// The chain of that seal; not there for the first one, which is 0.
    #[serde(default, skip_serializing_if = "is_first_chain")]
    pub seal_chain: u32,
}

impl RunInfo {
    /// Returns how it went, for people: a failure with the name of its error.
    #[must_use]
    pub fn outcome_label(&self) -> Cow<'static, str> {
        let error = self.error.as_ref();
        self.outcome.label(error.map(|error| error.name.as_str()))
    }

    /// Returns the name of the seal that covers the run.
    #[must_use]
    pub fn seal_name(&self) -> Option<SealName> {
        let chain = self.seal_chain;
        self.seal.map(|number| SealName { chain, number })
    }
}

/// What is known of a job, made from its runs. Unknown is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobInfo {
    /// The job.
    pub job_id: JobId,
    /// Where it stands: running while any run is open, else as its latest root run ended.
    pub status: JobStatus,
    /// How it went: `running` while any run is open, else as its latest root run.
    #[serde(default, skip_serializing_if = "crate::omission::never")]
    pub outcome: Outcome,
    /// The expert that the first root run was given to.
    pub expert_key: String,
    /// Root runs.
    pub runs: u64,
    /// Steps of all its runs.
    pub steps: u64,
    /// What all its runs used; null if nothing is known.
    #[serde(with = "counts")]
    #[schemars(with = "Option<SummaryUsage>")]
    pub usage: TokenCounts,
    /// What it cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// When its first run began.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub started_at: i64,
    /// When its last run ended; null while one is open.
    #[serde(with = "iso::maybe")]
    #[schemars(with = "Option<Time>")]
    pub finished_at: Option<i64>,
}

impl JobInfo {
    /// Returns the job in Perstack's shape, where a counter nobody reported is 0.
    #[must_use]
    pub fn to_job(&self) -> Job {
        Job {
            id: self.job_id.clone(),
            status: self.status,
            coordinator_expert_key: self.expert_key.clone(),
            total_steps: self.steps,
            max_steps: None,
            usage: self.usage.to_usage(),
            started_at: self.started_at,
            finished_at: self.finished_at,
        }
    }
}

/// A job with its root runs, and the session to go on with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobDetail {
    /// The job, as in lists.
    #[serde(flatten)]
    pub job: JobInfo,
    /// Its root runs, the latest first.
    pub root_runs: Vec<RunInfo>,
    /// The session to resume; null if there is none.
    pub session_id: Option<String>,
    /// The run that printed it.
    pub session_run_id: Option<RunId>,
}

/// What is known of a step, without its messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepInfo {
    /// The step, counted from 1.
    pub step: u64,
    /// The checkpoint at its end.
    pub checkpoint_id: CheckpointId,
    /// The record of that checkpoint.
    pub seq: u64,
    /// Where the run stood.
    pub status: CheckpointStatus,
    /// When it began.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub started_at: i64,
    /// When it ended.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub finished_at: i64,
    /// Messages of the run so far.
    pub messages: u64,
    /// Tools that were called.
    pub tool_calls: u64,
    /// Calls without a result.
    pub pending_tool_calls: u64,
    /// What the step used; null if nothing is known.
    #[serde(with = "counts")]
    #[schemars(with = "Option<SummaryUsage>")]
    pub usage: TokenCounts,
}

/// A run with its steps, children and answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunDetail {
    /// The run, as in lists.
    #[serde(flatten)]
    pub run: RunInfo,
    /// The runs that it started.
    pub children: Vec<RunInfo>,
    /// The steps that ended.
    pub steps_ended: Vec<StepInfo>,
    /// What was asked, all of it; not there if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The text of the last model message; null if there is none.
    pub final_text: Option<String>,
    /// How the process ended; null while the run is open, and for a child.
    pub exit: Option<ExitInfo>,
    /// Bytes of standard input on the tape; not there if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stdin_bytes: u64,
    /// Bytes of standard output on the tape.
    pub stdout_bytes: u64,
    /// Bytes of standard error on the tape.
    pub stderr_bytes: u64,
    /// Where it was before it was imported; not there for a run that was recorded here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RunOrigin>,
    /// By which rules secrets were taken out of it before it was kept, and how many; not there for a child, and for
    /// a run from before that was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction: Option<RunRedaction>,
    /// The step that it is in; not there for a run that has ended, and before anything of a step was printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_step: Option<OpenStep>,
}

/// The step that a run is in, as far as it was printed. It is no part of the record before it is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenStep {
    /// The step.
    pub step: u64,
    /// When the first of it was printed.
    #[serde(with = "iso")]
    #[schemars(with = "Time")]
    pub started_at: i64,
    /// What the model said in it so far; null if nothing.
    pub text: Option<String>,
    /// The calls that it made so far.
    pub calls: Vec<ToolCallInfo>,
}

/// The session to resume, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionAnswer {
    /// The session; null if there is none to resume.
    pub session_id: Option<String>,
    /// The run that printed it.
    pub run_id: Option<RunId>,
    /// That run's job.
    pub job_id: Option<JobId>,
    /// That run's runtime.
    pub runtime: Option<Runtime>,
    /// The directory it worked in.
    pub cwd: Option<String>,
    /// How it ended.
    pub status: Option<CheckpointStatus>,
    /// How it went; not there if there is no session to resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// When it began.
    #[serde(with = "iso::maybe")]
    #[schemars(with = "Option<Time>")]
    pub started_at: Option<i64>,
    /// Why there is no session; null if there is one.
    pub reason: Option<String>,
}
