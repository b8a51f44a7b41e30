//! What the caller knows of a run before it begins.

use runtape_core::{Expert, JobId, Metadata, RunId};

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
            limit: crate::lines::DEFAULT_LIMIT,
        }
    }

    /// Returns the value of a flag in the command line: `--flag VALUE` or `--flag=VALUE`.
    #[must_use]
    pub fn flag(&self, names: &[&str]) -> Option<&str> {
        let argv = self.argv.as_deref()?;
        let mut words = argv.iter().map(String::as_str);
        while let Some(word) = words.next() {
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
    }

    /// Tells whether a flag is in the command line, with or without a value.
    #[must_use]
    pub fn has_flag(&self, names: &[&str]) -> bool {
        let words = self.argv.iter().flatten();
        words.into_iter().any(|word| {
            names.iter().any(|name| {
                word.strip_prefix(name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            })
        })
    }
}
