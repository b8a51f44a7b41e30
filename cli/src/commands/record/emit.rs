//! Entries as Paperclip's host shows them, and that fit through its log.
//!
//! Its entries have no place for what a runtime says beside its work, nor for how long a call took.
//! The contract shows the first as thinking, and the second at the end of the result.
//!
//! Paperclip's host keeps what a child prints in chunks, and cuts the middle out of a long one: a
//! line that does not fit is no JSON any more. So no line gets near that. Text goes on in further
//! entries; what has to stay in one piece is cut with a word about it. The store has all of it.

use std::fmt::Write as _;

use runtape_core::transcript::{
    Assistant, PROGRESS, Stderr, Stdout, System, Thinking, ToolResult, User,
};
use runtape_core::{TranscriptEntry, TranscriptKind};
use serde_json::Value;

/// The most characters of text in one entry. The host's limit is 65,536 for a whole chunk, and
/// escapes may make six of one.
const LONGEST: usize = 8 * 1024;

/// Returns an entry as one or more that fit.
pub(super) fn fit(entry: TranscriptEntry) -> Vec<TranscriptEntry> {
    let TranscriptEntry { ts, kind } = entry;
    let kinds = match as_shown(kind) {
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
            append_duration(&mut result);
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

/// Returns a remark of the model as thinking, and everything else as it is.
fn as_shown(kind: TranscriptKind) -> TranscriptKind {
    match kind {
        TranscriptKind::Assistant(Assistant {
            text,
            delta,
            channel: Some(channel),
        }) if channel == PROGRESS => Thinking { text, delta }.into(),
        kind => kind,
    }
}

/// Moves how long a call took to the end of its result: after one line two blanks and the time,
/// after several a line of its own.
fn append_duration(result: &mut ToolResult) {
    let Some(ms) = result.duration_ms.take() else {
        return;
    };
    let content = &mut result.content;
    let is_one_line = !content.trim_end_matches('\n').contains('\n');
    if is_one_line {
        content.truncate(content.trim_end_matches('\n').len());
    }
    if is_one_line && !content.is_empty() {
        content.push_str("  ");
    } else if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    content.push_str(&seconds(ms));
}

/// Writes a duration in seconds, with at least one digit behind the point: `0.3s`.
fn seconds(ms: u64) -> String {
    let fraction = format!("{:03}", ms % 1000);
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    format!("{}.{fraction}s", ms / 1000)
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
    use runtape_core::transcript::ToolCall;
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
    fn what_is_said_beside_the_work_is_shown_as_thinking() {
        let said = |channel: Option<&str>| Assistant {
            text: "Looking.".into(),
            delta: Some(true),
            channel: channel.map(str::to_owned),
        };
        let fitted = fit(TranscriptEntry::new(0, said(Some(PROGRESS))));
        let thinking = TranscriptEntry::new(0, Thinking::new("Looking.", true));
        assert_eq!(fitted, [thinking]);
        let answer = TranscriptEntry::new(0, said(None));
        assert_eq!(fit(answer.clone()), [answer]);
    }

    #[test]
    fn the_time_a_call_took_stands_at_the_end_of_its_result() {
        for (content, ms, expected) in [
            ("/src /README.md", Some(300), "/src /README.md  0.3s"),
            ("one\n", Some(1_250), "one  1.25s"),
            ("one\ntwo", Some(2_000), "one\ntwo\n2.0s"),
            ("one\ntwo\n", Some(60_001), "one\ntwo\n60.001s"),
            ("", Some(0), "0.0s"),
            ("as it was\n", None, "as it was\n"),
        ] {
            let result = ToolResult {
                tool_use_id: "a".into(),
                tool_name: None,
                content: content.into(),
                is_error: false,
                duration_ms: ms,
            };
            let fitted = fit(TranscriptEntry::new(0, result));
            let json = serde_json::to_value(&fitted[0]).unwrap();
            assert_eq!(json["content"], expected);
            assert_eq!(json.get("durationMs"), None);
        }
    }

    #[test]
    fn what_stays_in_one_piece_says_what_is_missing() {
        let result = ToolResult {
            tool_use_id: "a".into(),
            tool_name: None,
            content: "\u{1}".repeat(LONGEST * 9),
            is_error: false,
            duration_ms: Some(1),
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
