//! What is known of a record, whatever lines said it.

use std::hash::BuildHasher;

use foldhash::quality::FixedState;

/// Names a record: by its id and its type together, in all files of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RecordKey(u64);

impl RecordKey {
    /// Returns the key of a record.
    pub(super) fn of(id: &str, kind: &str) -> Self {
        // Always the same: reading has no randomness.
        Self(FixedState::default().hash_one((id, kind)))
    }

    /// Returns the name of one of the record's calls.
    pub(super) fn call(self, index: usize) -> u64 {
        FixedState::default().hash_one((self.0, index))
    }
}

/// Returns a number that stands for a text among others of its kind.
pub(super) fn fingerprint(text: &[u8]) -> u64 {
    FixedState::default().hash_one(text)
}

/// How much was said of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Its text was given.
    pub(super) content: bool,
    /// What it used was given.
    pub(super) tokens: bool,
    /// The model was named.
    pub(super) model: bool,
    /// How many thoughts were given.
    pub(super) thoughts: usize,
    /// How many calls were given.
    pub(super) calls: usize,
    /// How many of them had a result.
    pub(super) results: usize,
}

impl Said {
    /// Tells whether a model said it: what the CLI puts into the model's mouth names no model, and
    /// used nothing.
    pub(super) fn is_response(self) -> bool {
        self.tokens || self.model || self.thoughts > 0 || self.calls > 0
    }

    /// Adds what another line said. A line without a field does not unsay it.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            content: self.content || other.content,
            tokens: self.tokens || other.tokens,
            model: self.model || other.model,
            thoughts: self.thoughts.max(other.thoughts),
            calls: self.calls.max(other.calls),
            results: self.results.max(other.results),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_and_type_name_a_record_together() {
        assert_eq!(RecordKey::of("a", "user"), RecordKey::of("a", "user"));
        assert_ne!(RecordKey::of("a", "user"), RecordKey::of("a", "gemini"));
        let key = RecordKey::of("a", "gemini");
        assert_ne!(key.call(0), key.call(1));
    }

    #[test]
    fn what_was_said_stays_said() {
        let whole = Said {
            content: true,
            tokens: true,
            model: true,
            thoughts: 1,
            calls: 2,
            results: 2,
        };
        let bare = Said {
            content: true,
            calls: 1,
            ..Said::default()
        };
        assert_eq!(whole.plus(bare), whole);
        assert_eq!(bare.plus(whole), whole);
        assert!(!Said::default().is_response() && whole.is_response());
    }
}
