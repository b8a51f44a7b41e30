//! The columns of a run that follow from its records: the one list of them, and what stands in each.

use std::borrow::Cow;

use runtape_core::report::{Cost, Failure, RunInfo, SealName, run_title};
use runtape_core::{CheckpointStatus, ErrorFamily, JobId, Outcome, RunId, Runtime, TokenCounts};
use serde::de::DeserializeOwned;

use super::facts::RunFacts;

/// What stands in a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(Cow<'a, str>),
    /// A text that many rows share, which a backend may keep once.
    Word(Cow<'a, str>),
}

impl<'a> Cell<'a> {
    fn word(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, |text| Self::Word(Cow::Borrowed(text)))
    }

    fn text(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, |text| Self::Text(Cow::Borrowed(text)))
    }

    fn integer(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Integer)
    }

    /// What is larger than a column holds was never counted.
    fn count(count: u64) -> Self {
        Self::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }

    fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) | Self::Word(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    fn into_json<T: DeserializeOwned>(self) -> Option<T> {
        serde_json::from_str(&self.into_text()?).ok()
    }

    fn into_integer(self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(number),
            _ => None,
        }
    }

    fn into_real(self) -> Option<f64> {
        match self {
            Self::Real(number) => Some(number),
            _ => None,
        }
    }

    fn into_count(self) -> u64 {
        let number = self.into_integer().unwrap_or(0);
        u64::try_from(number).unwrap_or(0)
    }
}

/// A column of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunColumn {
    pub(crate) name: &'static str,
    pub(crate) is_word: bool,
}

const fn word(name: &'static str) -> RunColumn {
    RunColumn {
        name,
        is_word: true,
    }
}

const fn plain(name: &'static str) -> RunColumn {
    RunColumn {
        name,
        is_word: false,
    }
}

/// How many columns of a run follow from its records.
pub(crate) const RUN_WIDTH: usize = 37;

/// How many of these a database has from before runs told what they were about: the first ones.
pub(crate) const FIRST_WIDTH: usize = 24;

/// The columns of a run that follow from its records, as [`cells`] fills them.
pub(crate) const RUN_COLUMNS: [RunColumn; RUN_WIDTH] = [
    word("expert"),
    word("model"),
    word("session"),
    word("cwd"),
    word("cli_version"),
    word("status"),
    plain("started_at"),
    plain("finished_at"),
    plain("steps"),
    plain("messages"),
    plain("unparsed"),
    plain("records"),
    plain("input_tokens"),
    plain("output_tokens"),
    plain("reasoning_tokens"),
    plain("cached_input_tokens"),
    plain("cost_usd"),
    plain("duration_ms"),
    word("error_name"),
    word("error_family"),
    plain("error_message"),
    plain("error_status"),
    plain("error_retryable"),
    plain("error_retry_at"),
    plain("reported_duration_ms"),
    plain("prompt"),
    plain("argv"),
    word("permission_mode"),
    word("host"),
    word("user"),
    plain("exit_code"),
    word("signal"),
    plain("git_commit"),
    word("git_branch"),
    plain("labels"),
    word("outcome"),
    plain("session_title"),
];

/// Returns what stands in each of [`RUN_COLUMNS`]; `started_at` is for a run without records.
pub(crate) fn cells(facts: &RunFacts, started_at: i64) -> [Cell<'_>; RUN_WIDTH] {
    let error = facts.error.as_ref();
    let family = error.and_then(|error| error.family);
    // Nothing that is no number can be told from none.
    let cost = facts.cost_usd.filter(|cost| !cost.is_nan());
    [
        Cell::word(facts.expert.as_deref()),
        Cell::word(facts.model.as_deref()),
        Cell::word(facts.session.as_deref()),
        Cell::word(facts.cwd.as_deref()),
        Cell::word(facts.cli_version.as_deref()),
        Cell::word(facts.status.map(CheckpointStatus::as_str)),
        Cell::Integer(facts.started_at.unwrap_or(started_at)),
        Cell::integer(facts.finished_at),
        Cell::count(facts.steps),
        Cell::count(facts.messages),
        Cell::count(facts.unparsed),
        Cell::count(facts.records),
        Cell::integer(facts.usage.input_tokens),
        Cell::integer(facts.usage.output_tokens),
        Cell::integer(facts.usage.reasoning_tokens),
        Cell::integer(facts.usage.cached_input_tokens),
        cost.map_or(Cell::Null, Cell::Real),
        Cell::integer(facts.duration_ms),
        Cell::word(error.map(|error| error.name.as_str())),
        Cell::word(family.map(ErrorFamily::as_str)),
        Cell::text(error.map(|error| error.message.as_str())),
        Cell::integer(error.and_then(|error| error.status_code.map(Into::into))),
        Cell::integer(error.map(|error| error.is_retryable.into())),
        Cell::integer(error.and_then(|error| error.retry_at)),
        Cell::integer(facts.reported_duration_ms),
        Cell::text(facts.prompt.as_deref()),
        Cell::text(facts.argv.as_deref()),
        Cell::word(facts.permission_mode.as_deref()),
        Cell::word(facts.host.as_deref()),
        Cell::word(facts.user.as_deref()),
        Cell::integer(facts.exit_code),
        Cell::word(facts.signal.as_deref()),
        Cell::text(facts.git_commit.as_deref()),
        Cell::word(facts.git_branch.as_deref()),
        Cell::text(facts.labels.as_deref()),
        Cell::word(Some(facts.outcome.unwrap_or(Outcome::Running).as_str())),
        Cell::text(facts.session_title.as_deref()),
    ]
}

/// A run as it stands in its table.
#[derive(Clone, Debug)]
pub(crate) struct StoredRun {
    /// The numbers of the keys of the runs it refers to.
    pub(crate) root: Option<i64>,
    pub(crate) parent: Option<i64>,
    /// What stands in [`RUN_COLUMNS`].
    pub(crate) cells: [Cell<'static>; RUN_WIDTH],
    pub(crate) context: Option<Vec<u8>>,
    pub(crate) exit: Option<Vec<u8>>,
}

impl StoredRun {
    /// Returns what the agent CLI calls the session.
    pub(crate) fn session_title(self) -> Option<String> {
        let [.., session_title] = self.cells;
        session_title.into_text()
    }
}

/// What a list of runs says of one beside its columns.
#[derive(Clone, Debug)]
pub(crate) struct RunNames {
    pub(crate) job_id: JobId,
    pub(crate) run_id: RunId,
    pub(crate) root_run_id: Option<RunId>,
    pub(crate) parent_run_id: Option<RunId>,
    pub(crate) runtime: Runtime,
    pub(crate) seal: Option<SealName>,
}

/// Returns the status of a name; what is not known is taken for open.
pub(crate) fn status(name: Option<&str>) -> CheckpointStatus {
    name.and_then(|name| serde_json::from_value(name.into()).ok())
        .unwrap_or(CheckpointStatus::Proceeding)
}

/// Returns the outcome of a name; what is not known, as in a file from before it was told, proves nothing.
pub(crate) fn outcome(name: Option<&str>) -> Outcome {
    name.and_then(|name| name.parse().ok()).unwrap_or_default()
}

/// Makes what is told of a run from its columns.
pub(crate) fn run_info(names: RunNames, cells: [Cell<'static>; RUN_WIDTH]) -> RunInfo {
    let [
        expert,
        model,
        session,
        cwd,
        cli_version,
        status_name,
        started_at,
        finished_at,
        steps,
        messages,
        unparsed,
        records,
        input,
        output,
        reasoning,
        cached_input,
        cost,
        duration_ms,
        error_name,
        error_family,
        error_message,
        error_status,
        error_retryable,
        error_retry_at,
        reported_duration_ms,
        prompt,
        argv,
        permission_mode,
        host,
        user,
        exit_code,
        signal,
        git_commit,
        git_branch,
        labels,
        outcome_name,
        session_title,
    ] = cells;
    let family = error_family.into_text();
    let error = error_name.into_text().map(|name| Failure {
        name,
        message: error_message.into_text().unwrap_or_default(),
        status_code: error_status
            .into_integer()
            .and_then(|code| code.try_into().ok()),
        is_retryable: error_retryable.into_integer().is_some_and(|is| is != 0),
        family: family.and_then(|name| serde_json::from_value(name.into()).ok()),
        retry_at: error_retry_at.into_integer(),
    });
    let (prompt, argv) = (prompt.into_text(), argv.into_json());
    RunInfo {
        title: run_title(
            prompt.as_deref(),
            session_title.into_text().as_deref(),
            argv.as_deref(),
        ),
        job_id: names.job_id,
        run_id: names.run_id,
        root_run_id: names.root_run_id,
        parent_run_id: names.parent_run_id,
        runtime: names.runtime,
        status: status(status_name.into_text().as_deref()),
        outcome: outcome(outcome_name.into_text().as_deref()),
        expert_key: expert.into_text(),
        model: model.into_text(),
        session_id: session.into_text(),
        cwd: cwd.into_text(),
        cli_version: cli_version.into_text(),
        started_at: started_at.into_integer().unwrap_or(0),
        finished_at: finished_at.into_integer(),
        duration_ms: duration_ms.into_integer(),
        reported_duration_ms: reported_duration_ms.into_integer(),
        prompt,
        argv,
        permission_mode: permission_mode.into_text(),
        host: host.into_text(),
        user: user.into_text(),
        exit_code: exit_code.into_integer(),
        signal: signal.into_text(),
        git_commit: git_commit.into_text(),
        git_branch: git_branch.into_text(),
        labels: labels.into_json().unwrap_or_default(),
        steps: steps.into_count(),
        messages: messages.into_count(),
        records: records.into_count(),
        unparsed: unparsed.into_count(),
        usage: TokenCounts {
            input_tokens: input.into_integer(),
            output_tokens: output.into_integer(),
            reasoning_tokens: reasoning.into_integer(),
            cached_input_tokens: cached_input.into_integer(),
            ..TokenCounts::default()
        },
        cost: Cost::of_reported(cost.into_real()),
        error,
        seal: names.seal.map(|seal| seal.number),
        seal_chain: names.seal.map_or(0, |seal| seal.chain),
    }
}
