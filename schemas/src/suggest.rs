//! Of which kind values are, when they are not of the one that was named.

use serde_json::Value;

use crate::{SchemaKind, Validator};

/// How many values are looked at: each is checked against every schema.
const MOST_VALUES: usize = 16;

/// Guesses of which kind values are that did not fit the schema they were checked against.
///
/// ```
/// use runtape_schemas::{KindSuggestion, SchemaKind};
/// use serde_json::json;
///
/// let mut suggestion = KindSuggestion::default();
/// suggestion.add(&json!({"ts": "2026-01-01T00:00:00.000Z", "kind": "user", "text": "hello"}));
/// assert_eq!(suggestion.kind(), Some(SchemaKind::TranscriptEntry));
/// ```
#[derive(Clone, Debug, Default)]
pub struct KindSuggestion {
    seen: usize,
    /// How many values fit each kind, in the order of the catalogue.
    fits: Vec<usize>,
}

impl KindSuggestion {
    /// Looks at a value; after the first few at no more of them.
    pub fn add(&mut self, value: &Value) {
        if self.seen == MOST_VALUES {
            return;
        }
        self.seen += 1;
        self.fits.resize(SchemaKind::ALL.len(), 0);
        for (kind, fits) in SchemaKind::ALL.iter().zip(&mut self.fits) {
            // A row of a query may be any object.
            if *kind != SchemaKind::SqlRow && Validator::for_kind(*kind).validate(value).is_valid()
            {
                *fits += 1;
            }
        }
    }

    /// Returns the kind that most of the values are of, if more than half of them are.
    #[must_use]
    pub fn kind(&self) -> Option<SchemaKind> {
        let fits = SchemaKind::ALL.iter().zip(&self.fits);
        // Of several that fit as many, the first in the catalogue is the narrowest.
        let (kind, fits) = fits.rev().max_by_key(|(_, fits)| **fits)?;
        (2 * fits > self.seen).then_some(*kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_kind_is_that_of_most_values_or_none() {
        let usage = json!({
            "inputTokens": 1, "outputTokens": 1, "reasoningTokens": 0, "totalTokens": 2,
            "cachedInputTokens": 0,
        });
        let mut suggestion = KindSuggestion::default();
        assert_eq!(suggestion.kind(), None);
        suggestion.add(&json!({"anything": 1}));
        suggestion.add(&usage);
        assert_eq!(suggestion.kind(), None, "half of them is not most of them");
        suggestion.add(&usage);
        assert_eq!(suggestion.kind(), Some(SchemaKind::Usage));
    }

    #[test]
    fn a_stream_of_both_kinds_of_events_is_one_of_events() {
        let warning = json!({
            "id": "e1", "timestamp": 1, "jobId": "j", "runId": "r", "type": "warning", "message": "m",
        });
        let mut run_event = warning.clone();
        run_event["type"] = "startStreamingReasoning".into();
        run_event["expertKey"] = "x".into();
        run_event["stepNumber"] = 1.into();
        let mut suggestion = KindSuggestion::default();
        suggestion.add(&run_event);
        assert_eq!(suggestion.kind(), Some(SchemaKind::RunEvent));
        suggestion.add(&warning);
        assert_eq!(suggestion.kind(), Some(SchemaKind::Event));
    }
}
