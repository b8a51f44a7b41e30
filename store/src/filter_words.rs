//! The words by which people name what a filter asks for.

use runtape_core::{ErrorFamily, Outcome};

use crate::error::Result;
use crate::filter::RunFilter;
use crate::store::Store;

/// How runs went, as a person says it.
#[derive(Clone, Debug, PartialEq)]
pub enum OutcomeWord {
    /// One of the ways that any run goes.
    Outcome(Outcome),
    /// With an error whose name begins with this.
    Error(String),
}

impl OutcomeWord {
    /// Reads a word as it is shown, in any case. What is no outcome is the name of an error, or the beginning of one.
    #[must_use]
    pub fn read(text: &str) -> Self {
        // Where there is no room, tables cut it.
        let text = text.trim_end_matches('…');
        let Some((word, name)) = text.split_once(':') else {
            let outcome = text.parse().map(Self::Outcome);
            return outcome.unwrap_or_else(|()| Self::Error(text.to_owned()));
        };
        match word.parse::<Outcome>() {
            Ok(outcome) if name.trim().is_empty() => Self::Outcome(outcome),
            Ok(Outcome::Failed) => Self::Error(name.trim().to_owned()),
            _ => Self::Error(text.to_owned()),
        }
    }

    /// Returns the words for any run, for those who mistyped one.
    #[must_use]
    pub fn known() -> String {
        Outcome::ALL.map(Outcome::as_str).join(", ")
    }

    /// Tells whether any run may have gone so: an error's name is known if one ended with it.
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

    /// Lets a filter through only what went so.
    pub fn add_to(&self, filter: &mut RunFilter) {
        match self {
            Self::Outcome(outcome) => filter.outcome = Some(*outcome),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_is_shown() {
        let named = |name: &str| OutcomeWord::Error(name.to_owned());
        let cases = [
            ("failed", OutcomeWord::Outcome(Outcome::Failed)),
            ("RUNNING", OutcomeWord::Outcome(Outcome::Running)),
            ("failed:…", OutcomeWord::Outcome(Outcome::Failed)),
            ("failed: ApiError", named("ApiError")),
            ("Failed: Api…", named("Api")),
            ("ApiError", named("ApiError")),
            ("my:error", named("my:error")),
        ];
        for (text, expected) in cases {
            assert_eq!(OutcomeWord::read(text), expected, "{text}");
        }
    }
}
