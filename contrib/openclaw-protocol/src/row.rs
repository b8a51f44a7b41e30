//! What a row of a transcript needs to be merged and shown, as this crate has it or as peers do.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::entry::TranscriptEntry;
use super::fingerprint::comparable_text;
use super::json_text::stringify;
use super::order::Ordered;

/// What two rows must share to be taken for one another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Likeness {
    session_key: Cow<'static, str>,
    kind: Cow<'static, str>,
    role: Cow<'static, str>,
    text: String,
}

/// A row of a transcript: a [`TranscriptEntry`], or whatever object a JavaScript peer has for one.
///
/// An object keeps what it lacks: where a peer would set a field to `undefined`, it is taken out.
pub trait TranscriptRow: Ordered {
    /// Returns what a row must share to be taken for this one; `None` if no row can.
    fn likeness(&self) -> Option<Likeness>;

    /// Notes that the runtime has stored the row, at the time that history has for it.
    fn confirm(&mut self, history: &Self);

    /// Takes the run from history, if it is not known.
    fn take_run(&mut self, history: &Self);

    /// Returns the line as JSON: null for a row without one.
    fn shown_text(&self) -> Value;

    /// Tells whether two rows show the same: id, text, time and confirmation.
    fn shows_the_same(&self, other: &Self) -> bool;
}

impl TranscriptRow for TranscriptEntry {
    fn likeness(&self) -> Option<Likeness> {
        Some(Likeness {
            session_key: Cow::Owned(self.session_key.clone()),
            kind: Cow::Borrowed(self.kind.name()),
            role: Cow::Borrowed(self.role.name()),
            text: comparable_text(&self.text),
        })
    }

    fn confirm(&mut self, history: &Self) {
        self.confirmed = true;
        self.timestamp_ms = history.timestamp_ms.or(self.timestamp_ms);
    }

    fn take_run(&mut self, history: &Self) {
        if self.run_id.is_none() {
            self.run_id.clone_from(&history.run_id);
        }
    }

    fn shown_text(&self) -> Value {
        Value::from(self.text.as_str())
    }

    fn shows_the_same(&self, other: &Self) -> bool {
        let shown = |entry: &Self| (entry.timestamp_ms, entry.confirmed);
        self.entry_id == other.entry_id && self.text == other.text && shown(self) == shown(other)
    }
}

impl TranscriptRow for Value {
    fn likeness(&self) -> Option<Likeness> {
        // A peer takes two objects for different ones whatever is in them.
        let word = |name: &str| match self.get(name) {
            Some(Self::Object(_) | Self::Array(_)) => None,
            Some(value) => Some(Cow::Owned(stringify(value))),
            None => Some(Cow::Borrowed("undefined")),
        };
        Some(Likeness {
            session_key: word("sessionKey")?,
            kind: word("kind")?,
            role: word("role")?,
            text: comparable_text(self.get("text")?.as_str()?),
        })
    }

    fn confirm(&mut self, history: &Self) {
        let time = known(history, "timestampMs").or_else(|| self.get("timestampMs"));
        let time = time.cloned();
        if let Some(fields) = self.as_object_mut() {
            fields.insert("confirmed".to_owned(), Self::Bool(true));
            set(fields, "timestampMs", time);
        }
    }

    fn take_run(&mut self, history: &Self) {
        let run = known(self, "runId").or_else(|| history.get("runId"));
        let run = run.cloned();
        if let Some(fields) = self.as_object_mut() {
            set(fields, "runId", run);
        }
    }

    fn shown_text(&self) -> Self {
        self.get("text").cloned().unwrap_or_default()
    }

    fn shows_the_same(&self, other: &Self) -> bool {
        let is_same = |name: &&str| match (self.get(name), other.get(name)) {
            (Some(Self::Object(_) | Self::Array(_)), _) => false,
            (Some(Self::Number(own)), Some(Self::Number(others))) => {
                own.as_f64() == others.as_f64()
            }
            (own, others) => own == others,
        };
        let names = ["entryId", "text", "timestampMs", "confirmed"];
        self.is_object() && other.is_object() && names.iter().all(is_same)
    }
}

/// Returns a field that is neither missing nor null.
fn known<'r>(row: &'r Value, name: &str) -> Option<&'r Value> {
    row.get(name).filter(|value| !value.is_null())
}

fn set(fields: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(fields.insert(name.to_owned(), value)),
        None => drop(fields.shift_remove(name)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::merge::merge_transcript_entries_with_history;
    use crate::order::{are_transcript_entries_equal, build_output_lines_from_transcript_entries};

    fn merged(existing: Value, history: Value) -> Value {
        let rows = |value: Value| value.as_array().unwrap().clone();
        serde_json::to_value(merge_transcript_entries_with_history(
            rows(existing),
            rows(history),
        ))
        .unwrap()
    }

    /// The expected values are what a JavaScript engine gives for the same rules. Only for a row of
    /// history without a text it throws; here such a row is like no other.
    #[test]
    fn rows_that_lack_fields_are_merged_as_they_are() {
        let live = json!([{"entryId": "a", "text": "x", "more": {"y": [1]}}]);
        let cases = [
            (
                "by id, no time",
                json!([{"entryId": "a"}]),
                json!([{"entryId": "a", "text": "x", "more": {"y": [1]}, "confirmed": true}]),
                [0, 0, 0],
            ),
            (
                "by content",
                json!([{"entryId": "h", "text": " x ", "timestampMs": 5}]),
                json!([{"entryId": "a", "text": "x", "more": {"y": [1]}, "confirmed": true, "timestampMs": 5}]),
                [0, 1, 0],
            ),
            (
                "a null is not what is missing",
                json!([{"entryId": "h", "text": "x", "role": null}]),
                json!([
                    {"entryId": "a", "text": "x", "more": {"y": [1]}},
                    {"entryId": "h", "text": "x", "role": null},
                ]),
                [1, 0, 0],
            ),
            (
                "no text",
                json!([{"entryId": "h"}]),
                json!([{"entryId": "a", "text": "x", "more": {"y": [1]}}, {"entryId": "h"}]),
                [1, 0, 0],
            ),
        ];
        for (name, history, entries, [merged_count, confirmed_count, conflict_count]) in cases {
            let result = merged(live.clone(), history);
            let expected = json!({"entries": entries, "mergedCount": merged_count,
                "confirmedCount": confirmed_count, "conflictCount": conflict_count});
            assert_eq!(result, expected, "{name}");
        }
    }

    #[test]
    fn null_and_missing_runs_and_times_give_way_as_in_javascript() {
        let row = |id: &str, more: Value| {
            let mut row = json!({"entryId": id, "text": "x"});
            let fields = more.as_object().unwrap().clone();
            row.as_object_mut().unwrap().extend(fields);
            row
        };
        for (live, history, run, time) in [
            (json!({"runId": null}), json!({}), None, None),
            (json!({}), json!({"runId": null}), Some(json!(null)), None),
            (
                json!({"runId": "l"}),
                json!({"runId": "h"}),
                Some(json!("l")),
                None,
            ),
            (
                json!({"timestampMs": null}),
                json!({}),
                None,
                Some(json!(null)),
            ),
            (json!({}), json!({"timestampMs": null}), None, None),
            (
                json!({"timestampMs": 1}),
                json!({"timestampMs": 0}),
                None,
                Some(json!(0)),
            ),
        ] {
            let result = merged(json!([row("a", live)]), json!([row("h", history)]));
            let shown = &result["entries"][0];
            assert_eq!(shown.get("runId"), run.as_ref(), "{result}");
            assert_eq!(shown.get("timestampMs"), time.as_ref(), "{result}");
        }
    }

    #[test]
    fn a_row_without_a_line_gives_null() {
        let rows = [json!({"text": "a"}), json!({}), json!({"text": null})];
        let lines = build_output_lines_from_transcript_entries(&rows);
        assert_eq!(json!(lines), json!(["a", null, null]));
    }

    #[test]
    fn rows_that_lack_the_same_are_equal_and_missing_rows_are_not() {
        let equal = |left: Value, right: Value| are_transcript_entries_equal(&[left], &[right]);
        assert!(equal(json!({}), json!({})));
        assert!(equal(
            json!({"timestampMs": 1}),
            json!({"timestampMs": 1.0, "role": "user"})
        ));
        assert!(!equal(json!({"timestampMs": null}), json!({})));
        assert!(!equal(json!({"text": []}), json!({"text": []})));
        assert!(!equal(json!(null), json!(null)));
    }
}
