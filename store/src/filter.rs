//! Which runs, or which calls of their tools, a query is about.

use runtape_core::{ErrorFamily, JobId, Outcome, Runtime, ToolClass};

/// Which runs a query is about; what is not set does not matter.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RunFilter {
    /// Runs of this runtime.
    pub runtime: Option<Runtime>,
    /// Runs that went this way.
    pub outcome: Option<Outcome>,
    /// Runs of this job.
    pub job: Option<JobId>,
    /// Runs given to this expert.
    pub expert: Option<String>,
    /// Runs with this model.
    pub model: Option<String>,
    /// Runs of this session.
    pub session: Option<String>,
    /// Runs that worked in this directory or below.
    pub cwd: Option<String>,
    /// What happened at this time or later, in milliseconds since 1970: whatever has a time of its own by that
    /// time, runs with their jobs and sessions if they were active then.
    pub since: Option<i64>,
    /// The same before this time.
    pub until: Option<i64>,
    /// Runs that called this tool; `*` and `?` in the name stand for any characters and any one. Where
    /// a query is about calls, calls of this tool.
    pub tool: Option<String>,
    /// Runs that failed this way.
    pub error_family: Option<ErrorFamily>,
    /// Runs whose error has a name that begins with this, in any case.
    pub error_name: Option<String>,
    /// Where a query is about failures: also runs that stop without proof of an end.
    pub unfinished_too: bool,
    /// Runs with all of these labels, each with a value or with any.
    pub labels: Vec<(String, Option<String>)>,
    /// Runs in which a search finds something.
    pub text: Option<String>,
    /// Only runs that no other run started.
    pub roots_only: bool,
}

impl RunFilter {
    /// Tells whether runs that stop without proof of an end are asked for by name.
    pub(crate) fn asks_for_unfinished(&self) -> bool {
        self.unfinished_too || self.outcome == Some(Outcome::Unfinished)
    }

    /// Returns the ends of the period for a database. There is a time before each, which nothing happened at.
    pub(crate) fn period(&self) -> [Option<i64>; 2] {
        [self.since, self.until].map(|end| end.map(|end| end.max(i64::MIN + 1)))
    }

    /// Tells whether a time is in the period.
    #[must_use]
    pub fn is_in_period(&self, at: i64) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }
}

/// Which calls of tools a query is about; what is not set does not matter.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CallFilter {
    /// Calls in these runs.
    pub runs: RunFilter,
    /// Calls of tools of this class.
    pub class: Option<ToolClass>,
    /// Only calls that failed.
    pub failed_only: bool,
    /// Calls that have to do with this.
    pub subject: Option<CallSubject>,
}

/// What calls of tools have to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallSubject {
    /// A shell command that is known.
    Command,
    /// A shell of which is not known what it ran: only a summary was printed, or the call asks about a
    /// command that runs.
    UntoldCommand,
    /// Files, for certain or (as shell commands do) perhaps.
    Files,
    /// The network, for certain or (as shell commands do) perhaps.
    Network,
}

impl From<RunFilter> for CallFilter {
    fn from(runs: RunFilter) -> Self {
        Self {
            runs,
            ..Self::default()
        }
    }
}
