//! Which runs a query is about.

use runtape_core::{CheckpointStatus, ErrorFamily, JobId, Runtime};
use rusqlite::types::Value;

/// Which runs a query is about; what is not set does not matter.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunFilter {
    /// Runs of this runtime.
    pub runtime: Option<Runtime>,
    /// Runs that ended this way; `proceeding` for those that are open.
    pub status: Option<CheckpointStatus>,
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
    /// Runs that began at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Runs that began before this time, in milliseconds since 1970.
    pub until: Option<i64>,
    /// Runs that called this tool.
    pub tool: Option<String>,
    /// Runs that failed this way.
    pub error_family: Option<ErrorFamily>,
    /// Runs in which a search finds something.
    pub text: Option<String>,
    /// Only runs that no other run started.
    pub roots_only: bool,
}

/// A condition in SQL over the `run` table, with its parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    pub(crate) terms: Vec<String>,
    pub(crate) values: Vec<Value>,
}

impl Condition {
    /// Adds a term; `?` in it stands for the value.
    pub(crate) fn add(&mut self, term: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        let number = self.values.len();
        self.terms.push(term.replace('?', &format!("?{number}")));
    }

    /// Returns the number of the next parameter.
    pub(crate) fn next(&self) -> usize {
        self.values.len() + 1
    }

    /// Returns the whole condition.
    pub(crate) fn sql(&self) -> String {
        if self.terms.is_empty() {
            return "TRUE".to_owned();
        }
        self.terms.join(" AND ")
    }
}

impl RunFilter {
    /// Adds the filter's terms, besides the text.
    pub(crate) fn apply(&self, condition: &mut Condition) {
        let word = |column: &str| format!("run.{column} = (SELECT key FROM word WHERE text = ?)");
        let words = [
            ("runtime", self.runtime.as_ref().map(Runtime::as_str)),
            ("expert", self.expert.as_deref()),
            ("model", self.model.as_deref()),
            ("session", self.session.as_deref()),
            ("error_family", self.error_family.map(ErrorFamily::as_str)),
        ];
        for (column, value) in words {
            if let Some(value) = value {
                condition.add(&word(column), value.to_owned());
            }
        }
        match self.status {
            Some(status) if status.is_terminal() => {
                condition.add(&word("status"), status.as_str().to_owned());
            }
            Some(_) => condition.terms.push("run.status IS NULL".to_owned()),
            None => {}
        }
        if let Some(job) = &self.job {
            let term = "run.job = (SELECT key FROM job WHERE id = ?)";
            condition.add(term, job.as_str().to_owned());
        }
        if let Some(cwd) = &self.cwd {
            let term = "run.cwd IN (SELECT key FROM word
                WHERE text = ? OR substr(text, 1, length(?) + 1) = ? || '/')";
            let cwd = if cwd.len() > 1 {
                cwd.trim_end_matches('/')
            } else {
                cwd
            };
            condition.add(term, cwd.to_owned());
        }
        if let Some(since) = self.since {
            condition.add("run.started_at >= ?", since);
        }
        if let Some(until) = self.until {
            condition.add("run.started_at < ?", until);
        }
        if let Some(tool) = &self.tool {
            let term = "EXISTS (SELECT 1 FROM tool_call WHERE tool_call.run = run.key
                AND tool_call.tool = (SELECT key FROM word WHERE text = ?))";
            condition.add(term, tool.clone());
        }
        if self.roots_only {
            condition.terms.push("run.root IS NULL".to_owned());
        }
    }
}
