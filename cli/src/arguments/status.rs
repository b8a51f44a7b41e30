//! How runs ended, in words: what tables print is what `--status` takes.

use runtape_core::CheckpointStatus;
use runtape_core::report::RunInfo;
use runtape_store::{RunFilter, Store};

use crate::error::CliError;

/// Status and word, the word that is printed first.
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

/// The word for a run that was interrupted.
const INTERRUPTED: &str = "interrupted";

/// How runs ended, as a person says it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StatusWord {
    /// One of the ways that any run ends.
    Status(CheckpointStatus),
    /// By an interrupt.
    Interrupted,
    /// With an error whose name begins with this.
    Error(String),
}

impl StatusWord {
    /// Reads a word, in any case. What is no status is the name of an error.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "what an argument is read with may fail"
    )]
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let known = WORDS
            .iter()
            .find(|(word, _)| word.eq_ignore_ascii_case(text));
        Ok(match known {
            Some((_, status)) => Self::Status(*status),
            None if text.eq_ignore_ascii_case(INTERRUPTED) => Self::Interrupted,
            // Where there is no room, tables cut it.
            None => Self::Error(text.trim_end_matches('…').to_owned()),
        })
    }

    /// Adds it to a filter. A word that no run ended with is refused: it is mistyped.
    pub(crate) fn apply(&self, store: &Store, filter: &mut RunFilter) -> Result<(), CliError> {
        match self {
            Self::Status(status) => filter.status = Some(*status),
            Self::Interrupted => filter.is_interrupted = true,
            Self::Error(name) => {
                let mut any = RunFilter::default();
                any.error_name = Some(name.clone());
                if store.runs(&any, None, 1)?.items.is_empty() {
                    let message = format!(
                        "--status: no run ended with {name:?}; expected completed, error, interrupted, \
                         maxSteps, interactive, delegate, open, or an error's name as `runs` shows it"
                    );
                    return Err(CliError::Usage { message });
                }
                filter.error_name = Some(name.clone());
            }
        }
        Ok(())
    }
}

/// Returns the words that shells complete.
pub(crate) fn known_words() -> Vec<&'static str> {
    vec![
        "completed",
        "error",
        INTERRUPTED,
        "maxSteps",
        "interactive",
        "delegate",
        "open",
    ]
}

/// Returns the word for a status.
pub(crate) fn word(status: CheckpointStatus) -> &'static str {
    let known = WORDS.iter().find(|(_, known)| *known == status);
    known.map_or("open", |(word, _)| word)
}

/// Returns how a run ended: in one word, which --status takes as well.
pub(crate) fn word_of(run: &RunInfo) -> &str {
    match &run.error {
        Some(_) if run.is_interrupted() => INTERRUPTED,
        Some(error) if run.status == CheckpointStatus::StoppedByError => &error.name,
        _ => word(run.status),
    }
}
