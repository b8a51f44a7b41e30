//! The filter words, the same for every command.

use runtape_core::{ErrorFamily, Runtime};
use runtape_store::{RunFilter, Store};
use serde::de::DeserializeOwned;

use crate::arguments::labels::parse_wanted;
use crate::arguments::status::StatusWord;
use crate::database::resolve_job;
use crate::error::CliError;
use crate::terminal::times;

/// Which runs a command is about, and how many of them it shows.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    words: FilterWords,
    /// Show at most this many; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

/// Which runs a command is about.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterWords {
    /// Only runs of this runtime
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<Runtime>,
    /// Only runs that ended this way: completed, error, interrupted, maxSteps, … or an error's name; open
    /// for those that go on
    #[arg(long, value_name = "STATUS", value_parser = StatusWord::parse)]
    status: Option<StatusWord>,
    /// Only runs of this job: its id, or the beginning of it
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Only runs given to this expert
    #[arg(long, value_name = "KEY")]
    expert: Option<String>,
    /// Only runs with this model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only runs of this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only runs that called this tool; * and ? stand for any characters and any one
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only runs that worked in this directory or below
    #[arg(long, value_name = "DIRECTORY")]
    cwd: Option<String>,
    /// Only runs that failed this way: auth, rateLimit, billing, process, …
    #[arg(long, value_name = "FAMILY", value_parser = parse_family)]
    family: Option<ErrorFamily>,
    /// Only runs with this label, as NAME=VALUE, or NAME for any value; repeatable
    #[arg(long = "label", value_name = "LABEL", value_parser = parse_wanted)]
    labels: Vec<(String, Option<String>)>,
    /// Only runs that began at this time or later: an age (2d, 3h), a date, or ISO 8601
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    since: Option<i64>,
    /// Only runs that began before this time
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    until: Option<i64>,
}

fn by_name<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(name.into()).ok()
}

fn parse_family(name: &str) -> Result<ErrorFamily, String> {
    let known = FAMILIES
        .iter()
        .find(|known| known.eq_ignore_ascii_case(name));
    known
        .and_then(|known| by_name(known))
        .ok_or_else(|| format!("expected {}", FAMILIES.join(", ")))
}

/// What failures are called.
const FAMILIES: [&str; 13] = [
    "auth",
    "rateLimit",
    "billing",
    "overload",
    "contextOverflow",
    "refusal",
    "unknownSession",
    "modelNotFound",
    "network",
    "turnLimit",
    "budget",
    "process",
    "other",
];

impl FilterWords {
    /// Tells whether no word was given: every run is let through.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the store's filter.
    pub(crate) fn to_filter(&self, store: &Store) -> Result<RunFilter, CliError> {
        let mut filter = RunFilter::default();
        filter.runtime.clone_from(&self.runtime);
        if let Some(status) = &self.status {
            status.apply(store, &mut filter)?;
        }
        filter.job = match &self.job {
            Some(job) => Some(resolve_job(store, job)?),
            None => None,
        };
        filter.expert.clone_from(&self.expert);
        filter.model.clone_from(&self.model);
        filter.session.clone_from(&self.session);
        filter.tool.clone_from(&self.tool);
        filter.cwd.clone_from(&self.cwd);
        filter.error_family = self.family;
        filter.labels.clone_from(&self.labels);
        filter.since = self.since;
        filter.until = self.until;
        Ok(filter)
    }
}

impl FilterArgs {
    /// Returns the store's filter.
    pub(crate) fn to_filter(&self, store: &Store) -> Result<RunFilter, CliError> {
        self.words.to_filter(store)
    }

    /// Returns how many to show at most.
    pub(crate) fn limit(&self) -> usize {
        if self.limit == 0 {
            u32::MAX as usize
        } else {
            self.limit
        }
    }
}
