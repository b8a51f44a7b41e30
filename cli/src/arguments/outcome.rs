//! How runs went, in words: what tables print is what `--outcome` takes.

use runtape_core::Outcome;
pub(crate) use runtape_store::OutcomeWord;
use runtape_store::{RunFilter, Store};

use crate::error::CliError;

/// Reads a word, in any case. What is no outcome is the name of an error.
#[expect(
    clippy::unnecessary_wraps,
    reason = "what an argument is read with may fail"
)]
pub(crate) fn parse(text: &str) -> Result<OutcomeWord, String> {
    Ok(OutcomeWord::read(text))
}

/// Adds it to a filter. A word that no run went by is refused: it is mistyped.
pub(crate) fn apply(
    word: &OutcomeWord,
    store: &Store,
    filter: &mut RunFilter,
) -> Result<(), CliError> {
    if let OutcomeWord::Error(name) = word
        && !word.is_known(store)?
    {
        let message = format!(
            "--outcome: no run ended with {name:?}; expected {}, or an error's name as `runs` shows it",
            OutcomeWord::known()
        );
        return Err(CliError::Usage { message });
    }
    word.add_to(filter);
    Ok(())
}

/// Returns the words that shells complete.
pub(crate) fn known_words() -> Vec<&'static str> {
    Outcome::ALL.map(Outcome::as_str).to_vec()
}
