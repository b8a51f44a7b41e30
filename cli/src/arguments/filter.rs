//! The filter words, the same for every command.

use runtape_core::{ErrorFamily, Runtime};
use runtape_normalizer::runtimes::RUNTIMES;
use runtape_store::{RunFilter, Store, parse_family, parse_label};

use crate::arguments::outcome::{self, OutcomeWord};
use crate::arguments::words::WordParser;
use crate::database::resolve_job;
use crate::error::CliError;
use crate::terminal::console::Console;
use crate::terminal::times;

/// How many a person is shown who does not say.
const USUAL: usize = 50;

/// More than there can be.
const ALL: usize = u32::MAX as usize;

/// Which runs a command is about, and how many of them it shows.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    words: FilterWords,
    /// Show at most this many, 0 for all; by default 50, and with --json all
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// Which runs a command is about.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterWords {
    /// Only runs of this job: its id, or the beginning of it
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    #[command(flatten)]
    traits: TraitWords,
}

/// Which runs a command is about, but for their job: some commands take several jobs.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct TraitWords {
    /// Only runs of this runtime
    #[arg(long, value_name = "RUNTIME", value_parser = WordParser::new(parse_runtime, runtime_words), hide_possible_values = true)]
    runtime: Option<Runtime>,
    /// Only runs that went this way: running, completed, failed, limit, interrupted, unfinished, or an
    /// error's name
    #[arg(long, alias = "status", value_name = "OUTCOME", value_parser = WordParser::new(outcome::parse, outcome::known_words), hide_possible_values = true)]
    outcome: Option<OutcomeWord>,
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
    #[arg(long = "label", value_name = "LABEL", value_parser = parse_label)]
    labels: Vec<(String, Option<String>)>,
    /// Only what happened at this time or later, and runs that were active then: an age (7d, 3h), a day (today, monday), a date, a
    /// time, or ISO 8601
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    since: Option<i64>,
    /// Only what happened before this time
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    until: Option<i64>,
}

/// Reads the name of a runtime that can be read, or `auto`.
pub(crate) fn parse_runtime_or_auto(name: &str) -> Result<Runtime, String> {
    match name {
        AUTO => Ok(Runtime::from_name(AUTO)),
        name => parse_runtime(name),
    }
}

/// The word for whichever runtime shows itself.
pub(crate) const AUTO: &str = "auto";

fn parse_runtime(name: &str) -> Result<Runtime, String> {
    name.parse::<Runtime>().map_err(|error| error.to_string())
}

/// Returns the runtimes that shells complete.
fn runtime_words() -> Vec<&'static str> {
    RUNTIMES
        .iter()
        .map(|entry| entry.runtime.as_str())
        .collect()
}

impl FilterWords {
    /// Tells whether no word was given: every run is let through.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes the runtime out of the words, for a command that does not filter by it.
    pub(crate) fn take_runtime(&mut self) -> Option<Runtime> {
        self.traits.runtime.take()
    }

    /// Lets through runs of a runtime only.
    pub(crate) fn with_runtime(mut self, runtime: Runtime) -> Self {
        self.traits.runtime = Some(runtime);
        self
    }

    /// Returns the store's filter.
    pub(crate) fn to_filter(&self, store: &Store) -> Result<RunFilter, CliError> {
        let mut filter = self.traits.to_filter(store)?;
        filter.job = match &self.job {
            Some(job) => Some(resolve_job(store, job)?),
            None => None,
        };
        Ok(filter)
    }
}

impl TraitWords {
    /// Tells whether no word was given.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the store's filter, for runs of any job.
    pub(crate) fn to_filter(&self, store: &Store) -> Result<RunFilter, CliError> {
        let mut filter = RunFilter::default();
        filter.runtime.clone_from(&self.runtime);
        if let Some(word) = &self.outcome {
            outcome::apply(word, store, &mut filter)?;
        }
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

    /// Returns how many to show at most. A program that is not told how many it wants wants all: it would not know
    /// that there are more.
    pub(crate) fn limit(&self, console: &Console<'_>) -> usize {
        match self.limit {
            Some(0) => ALL,
            Some(limit) => limit,
            None if console.json => ALL,
            None => USUAL,
        }
    }
}
