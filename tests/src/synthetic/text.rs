//! The text in a capture: what is prose, and which pieces belong together.

use serde_json::Value;

use super::letters::{JsonString, Letter, letters, strings};

/// Keys whose strings are somebody's words, not the runtime's.
const PROSE: &[&str] = &[
    "activeForm",
    "afterFullFileContent",
    "aggregated_output",
    "beforeFullFileContent",
    "command",
    "content",
    "description",
    "diffString",
    "fileText",
    "fullText",
    "instruction",
    "interleavedOutput",
    "markdown",
    "newString",
    "new_string",
    "oldString",
    "old_string",
    "originalFile",
    "output",
    "prompt",
    "result",
    "stderr",
    "stdout",
    "streamContent",
    "subject",
    "summary",
    "text",
    "thinking",
    "tool_use_result",
];
/// What marks a line whose words a parser may look at: the runtime's own, or those of an error.
const OWN_WORDS: &[&str] = &[
    "<synthetic>",
    "\"is_error\":true",
    "\"error\":",
    "local-command",
];

/// A piece of text that is looked at as a whole.
pub(super) struct Passage {
    pub(super) key: String,
    pub(super) letters: Vec<Letter>,
    /// Its words may be replaced.
    pub(super) prose: bool,
}

/// Returns the passages of a stream of JSON lines; deltas of one text are one passage.
pub(super) fn of_json_lines(output: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut open: Option<(&'static str, Vec<Letter>)> = None;
    let mut start = 0;
    for line in output.split_inclusive('\n') {
        let value: Value = serde_json::from_str(line).unwrap_or_default();
        let delta = delta_key(&value);
        if open.as_ref().map(|(key, _)| *key) != delta {
            passages.extend(open.take().into_iter().flat_map(joined));
        }
        let replaceable = !OWN_WORDS.iter().any(|mark| line.contains(mark));
        for string in strings(&letters(line, start)) {
            if delta == Some(string.key.as_str()) {
                let (_, text) = open.get_or_insert_with(|| (delta.unwrap_or_default(), Vec::new()));
                text.extend(string.letters);
            } else {
                passages.push(passage(string, replaceable));
            }
        }
        start += line.len();
    }
    passages.extend(open.into_iter().flat_map(joined));
    passages
}

fn passage(string: JsonString, replaceable: bool) -> Passage {
    let JsonString { key, letters } = string;
    let prose = replaceable && PROSE.contains(&key.as_str());
    Passage {
        key,
        letters,
        prose,
    }
}

/// Returns what a text is whose deltas have come to an end; a tool's input is JSON again.
fn joined((key, letters): (&'static str, Vec<Letter>)) -> Vec<Passage> {
    if key == "partial_json" {
        let inside = strings(&letters).into_iter();
        return inside.map(|string| passage(string, true)).collect();
    }
    vec![Passage {
        key: key.to_owned(),
        letters,
        prose: true,
    }]
}

/// Returns the key of the string that is a piece of a longer text, if the line brings one.
fn delta_key(line: &Value) -> Option<&'static str> {
    let word = |pointer: &str| line.pointer(pointer).and_then(Value::as_str);
    match word("/type")? {
        "stream_event" => {
            let keys = ["text", "thinking", "partial_json"];
            let delta = line.pointer("/event/delta")?;
            keys.into_iter().find(|key| delta.get(key).is_some())
        }
        "thinking" => (word("/subtype")? == "delta").then_some("text"),
        "assistant" => (line.get("timestamp_ms").is_some() && line.get("model_call_id").is_none())
            .then_some("text"),
        "message" => (line.get("delta")? == true).then_some("content"),
        _ => None,
    }
}

/// Returns the passages of hermes' chat: a line each, and prose is what stands in a box.
pub(super) fn of_chat(output: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut boxed = false;
    let mut start = 0;
    for line in output.split_inclusive('\n') {
        // The box itself begins at the margin; one that an answer quotes is indented.
        match line.chars().next() {
            Some('╭' | '┌') => boxed = true,
            Some('╰' | '└') => boxed = false,
            _ => {}
        }
        let drawn = line.contains(['┊', '─', '│']) || line.contains("hermes ");
        passages.push(Passage {
            key: String::new(),
            letters: letters(line, start),
            prose: boxed && !drawn,
        });
        start += line.len();
    }
    passages
}

/// Returns a stream as one passage without prose.
pub(super) fn of_other(output: &str) -> Vec<Passage> {
    vec![Passage {
        key: String::new(),
        letters: letters(output, 0),
        prose: false,
    }]
}

#[cfg(test)]
mod tests {
    use super::super::letters::text_of;
    use super::*;

    fn prose(passages: &[Passage]) -> Vec<String> {
        let prose = passages.iter().filter(|passage| passage.prose);
        prose.map(|passage| text_of(&passage.letters)).collect()
    }

    #[test]
    fn deltas_are_one_text() {
        let delta = |key: &str, text: &str| {
            let text = Value::from(text);
            format!(
                r#"{{"type":"stream_event","event":{{"delta":{{"type":"d","{key}":{text}}}}}}}"#
            )
        };
        let lines = [
            delta("text", "two l"),
            delta("text", "ines"),
            delta("partial_json", r#"{"command": "ec"#),
            delta("partial_json", r#"ho hi"}"#),
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"two lines"}]}}"#
                .to_owned(),
        ];
        let passages = of_json_lines(&lines.join("\n"));
        assert_eq!(prose(&passages), ["two lines", "echo hi", "two lines"]);
    }

    #[test]
    fn words_of_the_runtime_stay() {
        let passages = of_json_lines(r#"{"type":"result","is_error":true,"result":"API Error"}"#);
        assert!(prose(&passages).is_empty());
        let chat = "Query: hi\n╭─ x ─╮\n    an answer\n  ┊ preparing\n╰──╯\nSession: 1\n";
        assert_eq!(prose(&of_chat(chat)), ["    an answer\n"]);
    }
}
