//! How a run went, in the one word that every table, filter, badge and answer has for it.

use std::borrow::Cow;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CheckpointStatus, ErrorFamily, Metadata, RunError};

/// How a run went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It is open.
    Running,
    /// The runtime said that it succeeded, or printed text and exited with 0.
    Completed,
    /// It ended with an error.
    Failed,
    /// It reached its limit of turns or of money.
    Limit,
    /// Somebody stopped it: Ctrl-C, a signal that asks a process to end, a cancel.
    Interrupted,
    /// It stops without proof of an end, as history may.
    #[default]
    Unfinished,
}

/// The name of the error of a run that stops without proof of an end.
pub const UNFINISHED: &str = "Unfinished";

/// The key of the metadata that says that somebody stopped the run.
pub const INTERRUPTED_KEY: &str = "interrupted";

impl Outcome {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::Running,
        Self::Completed,
        Self::Failed,
        Self::Limit,
        Self::Interrupted,
        Self::Unfinished,
    ];

    /// Derives it from where a run stands, why it failed, and whether its metadata says that somebody stopped it.
    #[must_use]
    pub fn of(status: CheckpointStatus, error: Option<&RunError>, metadata: &Metadata) -> Self {
        match status {
            CheckpointStatus::Init | CheckpointStatus::Proceeding => Self::Running,
            CheckpointStatus::Completed => Self::Completed,
            CheckpointStatus::StoppedByExceededMaxSteps => Self::Limit,
            // It waits for somebody, and whether it went on is in no record of its own.
            CheckpointStatus::StoppedByInteractiveTool | CheckpointStatus::StoppedByDelegate => {
                Self::Unfinished
            }
            CheckpointStatus::StoppedByError => Self::of_error(error, metadata),
        }
    }

    fn of_error(error: Option<&RunError>, metadata: &Metadata) -> Self {
        let family = error.and_then(|error| error.family);
        if error.is_some_and(|error| error.name == UNFINISHED) {
            Self::Unfinished
        } else if metadata.interrupted() == Some(true) {
            Self::Interrupted
        } else if matches!(family, Some(ErrorFamily::TurnLimit | ErrorFamily::Budget)) {
            Self::Limit
        } else {
            Self::Failed
        }
    }

    /// Returns the word, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Limit => "limit",
            Self::Interrupted => "interrupted",
            Self::Unfinished => "unfinished",
        }
    }

    /// Returns what people are shown: the word, and of a failure the name of its error.
    #[must_use]
    pub fn label(self, error_name: Option<&str>) -> Cow<'static, str> {
        match (self, error_name) {
            (Self::Failed, Some(name)) => format!("{}: {name}", self.as_str()).into(),
            _ => self.as_str().into(),
        }
    }
}

impl FromStr for Outcome {
    type Err = ();

    /// Reads the word, in any case.
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str().eq_ignore_ascii_case(word));
        known.ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str, family: ErrorFamily) -> RunError {
        RunError {
            name: name.to_owned(),
            message: "boom".to_owned(),
            status_code: None,
            is_retryable: false,
            family: Some(family),
            retry_at: None,
        }
    }

    #[test]
    fn an_error_is_a_failure_unless_somebody_stopped_the_run_or_nothing_proves_an_end() {
        let nothing = Metadata::default();
        let mut stopped = Metadata::default();
        stopped.set(INTERRUPTED_KEY, true);
        let status = CheckpointStatus::StoppedByError;
        let cases = [
            ("KilledBySignal", &nothing, Outcome::Failed),
            ("KilledBySignal", &stopped, Outcome::Interrupted),
            ("ApiError", &nothing, Outcome::Failed),
            ("Unfinished", &nothing, Outcome::Unfinished),
        ];
        for (name, metadata, expected) in cases {
            let error = error(name, ErrorFamily::Process);
            assert_eq!(
                Outcome::of(status, Some(&error), metadata),
                expected,
                "{name}"
            );
        }
        // A turn that was interrupted may be followed by one that was not.
        let status = CheckpointStatus::Completed;
        assert_eq!(Outcome::of(status, None, &stopped), Outcome::Completed);
    }

    #[test]
    fn a_limit_is_one_of_turns_or_of_money() {
        let nothing = Metadata::default();
        let status = CheckpointStatus::StoppedByError;
        for family in [ErrorFamily::TurnLimit, ErrorFamily::Budget] {
            let error = error("error_max", family);
            assert_eq!(Outcome::of(status, Some(&error), &nothing), Outcome::Limit);
        }
        let rate = error("ApiError", ErrorFamily::RateLimit);
        assert_eq!(Outcome::of(status, Some(&rate), &nothing), Outcome::Failed);
        assert_eq!(Outcome::of(status, None, &nothing), Outcome::Failed);
    }

    #[test]
    fn the_word_is_read_as_it_is_written() {
        for outcome in Outcome::ALL {
            assert_eq!(outcome.as_str().parse(), Ok(outcome));
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
        }
        assert_eq!(
            Outcome::Failed.label(Some("RateLimit")),
            "failed: RateLimit"
        );
        assert_eq!(Outcome::Limit.label(Some("error_max_turns")), "limit");
    }
}
