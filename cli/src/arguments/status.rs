//! How runs ended, in words: what tables print is what `--status` takes.

use runtape_core::CheckpointStatus;
use runtape_core::report::RunInfo;
pub(crate) use runtape_store::StatusWord;
use runtape_store::{RunFilter, Store};

use crate::error::CliError;

/// Reads a word, in any case. What is no status is the name of an error.
#[expect(
    clippy::unnecessary_wraps,
    reason = "what an argument is read with may fail"
)]
pub(crate) fn parse(text: &str) -> Result<StatusWord, String> {
    Ok(StatusWord::read(text))
}

/// Adds it to a filter. A word that no run ended with is refused: it is mistyped.
pub(crate) fn apply(
    word: &StatusWord,
    store: &Store,
    filter: &mut RunFilter,
) -> Result<(), CliError> {
    if let StatusWord::Error(name) = word
        && !word.is_known(store)?
    {
        let message = format!(
            "--status: no run ended with {name:?}; expected {}, or an error's name as `runs` shows it",
            StatusWord::KNOWN.join(", ")
        );
        return Err(CliError::Usage { message });
    }
    word.add_to(filter);
    Ok(())
}

/// Returns the words that shells complete.
pub(crate) fn known_words() -> Vec<&'static str> {
    StatusWord::KNOWN.to_vec()
}

/// Returns how a run ended: in one word, which --status takes as well.
pub(crate) fn word_of(run: &RunInfo) -> &str {
    match &run.error {
        Some(_) if run.is_interrupted() => StatusWord::INTERRUPTED,
        Some(error) if run.status == CheckpointStatus::StoppedByError => &error.name,
        _ => StatusWord::of(run.status),
    }
}
