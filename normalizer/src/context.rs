//! What the caller knows of a run before it begins.

use runtape_core::report::AppliedRules;
use runtape_core::{Expert, JobId, Metadata, RunId, Stream};

/// Through what a run was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunSource {
    /// Its process was watched: the run is what was printed.
    #[default]
    Live,
    /// Only its session files were read: the run is the `history` stream of its tape.
    History,
    /// Both. The `history` stream is given to the normalizer before all others.
    Both,
}

impl RunSource {
    /// Returns the word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::History => "history",
            Self::Both => "both",
        }
    }
}

/// How the runtime of a run became known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuntimeFrom {
    /// The caller named it, or the command did.
    #[default]
    Caller,
    /// By the [first lines](crate::FirstLines) of the output: some program is a wrapper that runs the agent.
    FirstLines,
    /// Not yet: the first lines are still to come.
    Undecided,
}

impl RuntimeFrom {
    /// Returns the word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::FirstLines => "firstLines",
            Self::Undecided => "undecided",
        }
    }
}

/// What the caller knows of a run before it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// The expert that the run is given to, if any.
    pub expert: Option<Expert>,
    /// What was asked for.
    pub query: Option<String>,
    /// The command line.
    pub argv: Option<Vec<String>>,
    /// More to be kept with the run: `host`, `user`, `cwd`, `timeSource` …
    pub metadata: Metadata,
    /// Through what the run was seen. Kept with the run unless it was watched and nothing else.
    pub source: RunSource,
    /// How its runtime became known. Kept with the run unless the caller named it.
    pub runtime_from: RuntimeFrom,
    /// The stream that the runtime's messages are on: standard error where a wrapper redirects them there.
    pub output_on: Stream,
    /// How many lines of a wrapper come before the first one of the runtime on that stream.
    pub lines_before: u64,
    /// Why a run that is known from session files stands beside a recorded one that may be the same execution.
    pub not_joined: Option<String>,
    /// By which rules secrets were taken out of all that is kept of the run; absent if nobody knows.
    pub redaction: Option<AppliedRules>,
    /// The most bytes held for one record: a line, a document, a message.
    pub limit: usize,
}

impl Context {
    /// Creates a context that knows the ids and nothing else.
    #[must_use]
    pub fn new(job_id: JobId, run_id: RunId) -> Self {
        Self {
            job_id,
            run_id,
            expert: None,
            query: None,
            argv: None,
            metadata: Metadata::default(),
            source: RunSource::default(),
            runtime_from: RuntimeFrom::default(),
            output_on: Stream::Stdout,
            lines_before: 0,
            not_joined: None,
            redaction: None,
            limit: crate::lines::DEFAULT_LIMIT,
        }
    }

    /// Returns the value of a flag in the command line: `--flag VALUE` or `--flag=VALUE`. Its names begin
    /// with a dash.
    #[must_use]
    pub fn flag(&self, names: &[&str]) -> Option<&str> {
        self.flags(names).next()
    }

    /// Returns the values of a flag that may be there several times, in order.
    pub fn flags<'a>(&'a self, names: &[&str]) -> impl Iterator<Item = &'a str> {
        let mut words = self.argv.iter().flatten().map(String::as_str);
        std::iter::from_fn(move || {
            while let Some(word) = words.next() {
                if !word.starts_with('-') {
                    continue;
                }
                if names.contains(&word) {
                    return words.next();
                }
                let value = names
                    .iter()
                    .find_map(|name| word.strip_prefix(name)?.strip_prefix('='));
                if value.is_some() {
                    return value;
                }
            }
            None
        })
    }

    /// Tells whether a flag is in the command line, with or without a value. Its names begin with a dash.
    #[must_use]
    pub fn has_flag(&self, names: &[&str]) -> bool {
        let words = self.argv.iter().flatten();
        words.into_iter().any(|word| {
            word.starts_with('-')
                && names.iter().any(|name| {
                    word.strip_prefix(name)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
                })
        })
    }
}
