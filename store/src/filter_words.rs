//! The words by which people name what a filter asks for.

use runtape_core::{CheckpointStatus, ErrorFamily};

use crate::error::Result;
use crate::filter::RunFilter;
use crate::store::Store;

/// Status and word, the word that is shown first.
const WORDS: &[(&str, CheckpointStatus)] = &[
    ("completed", CheckpointStatus::Completed),
    ("error", CheckpointStatus::StoppedByError),
    ("failed", CheckpointStatus::StoppedByError),
    ("stoppedByError", CheckpointStatus::StoppedByError),
    ("open", CheckpointStatus::Proceeding),
    ("running", CheckpointStatus::Proceeding),
    ("proceeding", CheckpointStatus::Proceeding),
    ("maxSteps", CheckpointStatus::StoppedByExceededMaxSteps),
    (
        "stoppedByExceededMaxSteps",
        CheckpointStatus::StoppedByExceededMaxSteps,
    ),
    ("interactive", CheckpointStatus::StoppedByInteractiveTool),
    (
        "stoppedByInteractiveTool",
        CheckpointStatus::StoppedByInteractiveTool,
    ),
    ("delegate", CheckpointStatus::StoppedByDelegate),
    ("stoppedByDelegate", CheckpointStatus::StoppedByDelegate),
];

/// How runs ended, as a person says it.
#[derive(Clone, Debug, PartialEq)]
pub enum StatusWord {
    /// One of the ways that any run ends.
    Status(CheckpointStatus),
    /// By an interrupt.
    Interrupted,
    /// With an error whose name begins with this.
    Error(String),
}

impl StatusWord {
    /// The word for a run that was interrupted.
    pub const INTERRUPTED: &'static str = "interrupted";

    /// The words that are no error's name, as they are shown.
    pub const KNOWN: [&'static str; 7] = [
        "completed",
        "error",
        Self::INTERRUPTED,
        "maxSteps",
        "interactive",
        "delegate",
        "open",
    ];

    /// Reads a word, in any case. What is no status is the name of an error, or the beginning of one.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let known = WORDS
            .iter()
            .find(|(word, _)| word.eq_ignore_ascii_case(text));
        match known {
            Some((_, status)) => Self::Status(*status),
            None if text.eq_ignore_ascii_case(Self::INTERRUPTED) => Self::Interrupted,
            // Where there is no room, tables cut it.
            None => Self::Error(text.trim_end_matches('…').to_owned()),
        }
    }

    /// Returns the word for a status.
    #[must_use]
    pub fn of(status: CheckpointStatus) -> &'static str {
        let known = WORDS.iter().find(|(_, known)| *known == status);
        known.map_or("open", |(word, _)| word)
    }

    /// Tells whether any run may have ended so: an error's name is known if one did.
    pub fn is_known(&self, store: &Store) -> Result<bool> {
        let Self::Error(name) = self else {
            return Ok(true);
        };
        let filter = RunFilter {
            error_name: Some(name.clone()),
            ..RunFilter::default()
        };
        Ok(!store.runs(&filter, None, 1)?.items.is_empty())
    }

    /// Lets a filter through only what ended so.
    pub fn add_to(&self, filter: &mut RunFilter) {
        match self {
            Self::Status(status) => filter.status = Some(*status),
            Self::Interrupted => filter.is_interrupted = true,
            Self::Error(name) => filter.error_name = Some(name.clone()),
        }
    }
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

/// Reads why a run failed, by its name in any case.
pub fn parse_family(name: &str) -> std::result::Result<ErrorFamily, String> {
    let known = FAMILIES
        .iter()
        .find(|known| known.eq_ignore_ascii_case(name));
    known
        .and_then(|known| serde_json::from_value((*known).into()).ok())
        .ok_or_else(|| format!("expected {}", FAMILIES.join(", ")))
}

/// Reads a label that runs are to have: with a value, or with any.
pub fn parse_label(text: &str) -> std::result::Result<(String, Option<String>), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    if name.is_empty() {
        return Err("expected NAME=VALUE, or NAME for any value".to_owned());
    }
    Ok((name.to_owned(), value))
}
