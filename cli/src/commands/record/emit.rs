//! Entries that fit through a host's log.
//!
//! Paperclip's host keeps what a child prints in chunks, and cuts the middle out of a long one: a
//! line that does not fit is no JSON any more. So no line gets near that. Text goes on in further
//! entries; what has to stay in one piece is cut with a word about it. The store has all of it.

use std::fmt::Write as _;

use runtape_core::transcript::{Assistant, Stderr, Stdout, System, Thinking, User};
use runtape_core::{TranscriptEntry, TranscriptKind};
use serde_json::Value;

/// The most characters of text in one entry. The host's limit is 65,536 for a whole chunk, and
/// escapes may make six of one.
const LONGEST: usize = 8 * 1024;

/// Returns an entry as one or more that fit.
pub(super) fn fit(entry: TranscriptEntry) -> Vec<TranscriptEntry> {
    let TranscriptEntry { ts, kind } = entry;
    let kinds = match kind {
        TranscriptKind::Assistant(text) if text.text.len() > LONGEST => {
            pieces(&text.text, |piece| Assistant::new(piece, true).into())
        }
        TranscriptKind::Thinking(text) if text.text.len() > LONGEST => {
            pieces(&text.text, |piece| Thinking::new(piece, true).into())
        }
        TranscriptKind::User(text) => pieces(&text.text, |text| User { text: text.into() }.into()),
        TranscriptKind::Stderr(text) => {
            pieces(&text.text, |text| Stderr { text: text.into() }.into())
        }
        TranscriptKind::Stdout(text) => {
            pieces(&text.text, |text| Stdout { text: text.into() }.into())
        }
        TranscriptKind::System(text) => {
            pieces(&text.text, |text| System { text: text.into() }.into())
        }
        TranscriptKind::ToolCall(mut call) => {
            if call.input.to_string().len() > LONGEST {
                let mut room = LONGEST;
                cut_texts(&mut call.input, &mut room);
            }
            vec![call.into()]
        }
        TranscriptKind::ToolResult(mut result) => {
            cut(&mut result.content, LONGEST);
            vec![result.into()]
        }
        TranscriptKind::Result(mut result) => {
            cut(&mut result.text, LONGEST);
            for error in &mut result.errors {
                cut(error, LONGEST);
            }
            vec![result.into()]
        }
        other => vec![other],
    };
    kinds
        .into_iter()
        .map(|kind| TranscriptEntry {
            ts: ts.clone(),
            kind,
        })
        .collect()
}

/// Makes an entry of each piece of a text that fits; an empty text is one piece.
fn pieces(text: &str, make: impl Fn(&str) -> TranscriptKind) -> Vec<TranscriptKind> {
    let mut kinds = Vec::new();
    let mut rest = text;
    while rest.len() > LONGEST {
        let (piece, after) = rest.split_at(boundary(rest, LONGEST));
        kinds.push(make(piece));
        rest = after;
    }
    if kinds.is_empty() || !rest.is_empty() {
        kinds.push(make(rest));
    }
    kinds
}

/// Cuts a text, and says how much is missing.
fn cut(text: &mut String, longest: usize) {
    if text.len() > longest {
        let at = boundary(text, longest);
        let missing = text.get(at..).map_or(0, |rest| rest.chars().count());
        text.truncate(at);
        let _ = write!(text, "\n… {missing} more characters, see the recorded run");
    }
}

/// Cuts the texts of a value to what is left of the room, the first ones last.
fn cut_texts(value: &mut Value, room: &mut usize) {
    match value {
        Value::String(text) => {
            cut(text, (*room).max(64));
            *room = room.saturating_sub(text.len());
        }
        Value::Array(items) => {
            for item in &mut *items {
                cut_texts(item, room);
            }
            if items.len() > LONGEST / 16 {
                let missing = items.len() - LONGEST / 16;
                items.truncate(LONGEST / 16);
                items.push(format!("… {missing} more items, see the recorded run").into());
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(|item| cut_texts(item, room)),
        _ => {}
    }
}

/// Returns the last place at or before `at` where a text can be cut.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use runtape_core::transcript::{ToolCall, ToolResult};
    use serde_json::json;

    use super::*;

    fn texts(entries: &[TranscriptEntry]) -> Vec<String> {
        let json = entries
            .iter()
            .map(|entry| serde_json::to_value(entry).unwrap());
        json.map(|entry| entry["text"].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn text_goes_on_in_further_entries_and_stays_exact() {
        let long = "é\n".repeat(LONGEST);
        let fitted = fit(TranscriptEntry::new(0, Assistant::new(&long, false)));
        assert!(fitted.len() > 2);
        assert_eq!(texts(&fitted).concat(), long);
        assert!(fitted.iter().all(|entry| matches!(
            &entry.kind,
            TranscriptKind::Assistant(text) if text.delta == Some(true)
        )));
        let short = TranscriptEntry::new(0, Assistant::new("short", false));
        assert_eq!(fit(short.clone()), [short]);
        let empty = TranscriptEntry::new(
            0,
            Stderr {
                text: String::new(),
            },
        );
        assert_eq!(fit(empty.clone()), [empty]);
    }

    #[test]
    fn what_stays_in_one_piece_says_what_is_missing() {
        let result = ToolResult {
            tool_use_id: "a".into(),
            tool_name: None,
            content: "\u{1}".repeat(LONGEST * 9),
            is_error: false,
        };
        let call = ToolCall {
            name: "Write".into(),
            input: json!({"path": "a", "content": "x".repeat(LONGEST * 9), "more": vec!["y"; 9000]}),
            tool_use_id: None,
        };
        let fitted = [
            fit(TranscriptEntry::new(0, result)),
            fit(TranscriptEntry::new(0, call)),
        ];
        for entries in fitted {
            assert_eq!(entries.len(), 1);
            let line = serde_json::to_string(&entries[0]).unwrap();
            assert!(line.encode_utf16().count() < 60_000, "{}", line.len());
            assert!(
                line.contains("more characters, see the recorded run"),
                "{line}"
            );
        }
    }
}
