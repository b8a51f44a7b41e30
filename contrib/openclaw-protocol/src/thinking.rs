//! The reasoning a message carries, in blocks, in fields or between tags.

use serde_json::{Map, Value};

use super::javascript::trim;
use super::tags::{Tag, TagName, tags};
use super::text::raw_text;

/// The fields that hold reasoning, best first.
const THINKING_FIELDS: [&str; 9] = [
    "thinking",
    "analysis",
    "reasoning",
    "thinkingText",
    "thinkingDelta",
    "analysisText",
    "analysisDelta",
    "reasoningText",
    "reasoningDelta",
];

/// Returns the reasoning of a message, or nothing if it has none.
///
/// Content blocks come before the message's own fields, and those before tags in its text.
#[must_use]
pub fn extract_thinking(message: &Value) -> Option<String> {
    let fields = message.as_object()?;
    if let Some(Value::Array(blocks)) = fields.get("content") {
        let thoughts: Vec<_> = blocks.iter().filter_map(thinking_of_block).collect();
        if !thoughts.is_empty() {
            return Some(thoughts.join("\n"));
        }
    }
    if let Some(thought) = first_thinking_field(fields) {
        return Some(thought.to_owned());
    }
    let text = raw_text(message)?;
    let closed = closed_blocks(&text);
    if !closed.is_empty() {
        return Some(closed.join("\n"));
    }
    Some(extract_thinking_from_tagged_stream(&text)).filter(|thought| !thought.is_empty())
}

/// Returns what stands inside thinking tags, leaving out a thought that is still open.
///
/// Any tag ends a piece and pieces are joined without a separator.
#[must_use]
pub fn extract_thinking_from_tagged_text(text: &str) -> String {
    let mut thoughts = String::new();
    let mut opened_at = None;
    for tag in tags(text) {
        if let Some(start) = opened_at {
            thoughts.push_str(text.get(start..tag.start).unwrap_or_default());
        }
        opened_at = tag.is_opener.then_some(tag.end);
    }
    trim(&thoughts).to_owned()
}

/// Returns what stands inside thinking tags, or else the thought that is still open.
#[must_use]
pub fn extract_thinking_from_tagged_stream(text: &str) -> String {
    let closed = extract_thinking_from_tagged_text(text);
    if !closed.is_empty() {
        return closed;
    }
    // No closer may follow the opener, so the opener has to be the last tag.
    match tags(text).last() {
        Some(tag) if tag.is_opener => trim(text.get(tag.end..).unwrap_or_default()).to_owned(),
        _ => String::new(),
    }
}

fn thinking_of_block(block: &Value) -> Option<&str> {
    let fields = block.as_object()?;
    match fields.get("type").and_then(Value::as_str) {
        Some("thinking" | "analysis" | "reasoning") => {
            first_thinking_field(fields).or_else(|| visible_field(fields, "text"))
        }
        _ => visible_field(fields, "thinking"),
    }
}

fn first_thinking_field(fields: &Map<String, Value>) -> Option<&str> {
    THINKING_FIELDS
        .iter()
        .find_map(|name| visible_field(fields, name))
}

/// Returns a field's trimmed text unless nothing is left of it.
fn visible_field<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let text = trim(fields.get(name)?.as_str()?);
    (!text.is_empty()).then_some(text)
}

/// Returns the trimmed, non-empty bodies between openers and the next closer of the same name.
///
/// A tag inside a body is text. The closers of each name are visited once in all, which keeps
/// thousands of openers without a closer from costing the square of their number.
fn closed_blocks(text: &str) -> Vec<&str> {
    let found: Vec<_> = tags(text).collect();
    let mut closers = [TagName::Think, TagName::Thinking, TagName::Analysis].map(|name| {
        let is_closer = move |tag: &&Tag| !tag.is_opener && tag.name == name;
        (name, found.iter().filter(is_closer).peekable())
    });
    let mut bodies = Vec::new();
    let mut resume_at = 0;
    for opener in found.iter().filter(|tag| tag.is_opener) {
        if opener.start < resume_at {
            continue;
        }
        let Some((_, queue)) = closers.iter_mut().find(|(name, _)| *name == opener.name) else {
            continue;
        };
        while queue.next_if(|closer| closer.start < opener.end).is_some() {}
        let Some(closer) = queue.peek() else {
            continue;
        };
        let body = trim(text.get(opener.end..closer.start).unwrap_or_default());
        if !body.is_empty() {
            bodies.push(body);
        }
        resume_at = closer.end;
    }
    bodies
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_come_before_fields_and_fields_before_tags() {
        let cases = [
            (
                "blocks",
                json!({"content": [{"type": "thinking", "thinking": " a "},
                    {"type": "text", "thinking": "b", "analysis": "no"}, null, "x",
                    {"thinking": "c"}, {"type": "reasoning", "reasoningDelta": "d"},
                    {"type": "analysis", "thinking": 5, "text": "e"},
                    {"type": "Thinking", "text": "no"}], "thinking": "no"}),
                Some("a\nb\nc\nd\ne"),
            ),
            (
                "field order",
                json!({"reasoningText": "late", "analysis": "early", "thinking": "\u{feff}"}),
                Some("early"),
            ),
            ("text is no field", json!({"text": "plain"}), None),
            (
                "blank blocks fall through",
                json!({"content": [{"type": "thinking", "thinking": " "},
                    {"type": "text", "text": "<think>a</think>"}]}),
                Some("a"),
            ),
            (
                "any role",
                json!({"role": "user", "text": "[Slack x] <think>a"}),
                Some("a"),
            ),
            ("empty text", json!({"content": ""}), None),
            ("array message", json!([]), None),
            ("number", json!(42), None),
        ];
        for (name, message, expected) in cases {
            assert_eq!(extract_thinking(&message).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn closed_blocks_pair_tags_by_name() {
        let cases = [
            (
                "two blocks",
                "<think> one </think>x<analysis>two</analysis>",
                "one\ntwo",
            ),
            (
                "name must agree",
                "<think>a</thinking>b</think>",
                "a</thinking>b",
            ),
            ("case need not", "<Think>a</THINK>", "a"),
            (
                "nested opener is text",
                "<think>a<think>b</think>c</think>",
                "a<think>b",
            ),
            ("lone opener is skipped", "<analysis>a<think>b</think>", "b"),
            (
                "body swallows openers",
                "<think>a<analysis>b</think>c</analysis>",
                "a<analysis>b",
            ),
            ("empty bodies drop", "<think> </think><think>a</think>", "a"),
            ("earlier closer is passed", "</think><think>a</think>", "a"),
            ("other names stream", "<thought>a</thought>", "a"),
            ("unpaired names stream", "<think>a</analysis>b", "a"),
        ];
        for (name, text, expected) in cases {
            let message = json!({ "text": text });
            assert_eq!(
                extract_thinking(&message).as_deref(),
                Some(expected),
                "{name}"
            );
        }
    }

    #[test]
    fn tagged_text_leaves_the_open_tail_to_the_stream() {
        let cases = [
            ("<think>a</think>b<thought>c</thought>", "ac", "ac"),
            ("<think>a<think>b", "a", "a"),
            ("<think> a ", "", "a"),
            ("<think></think>", "", ""),
            ("</think>a", "", ""),
            ("<think> </think>x<antthinking>b", "", "b"),
            ("<think><thought>b", "", "b"),
            ("none", "", ""),
        ];
        for (text, closed, streamed) in cases {
            assert_eq!(extract_thinking_from_tagged_text(text), closed, "{text}");
            assert_eq!(
                extract_thinking_from_tagged_stream(text),
                streamed,
                "{text}"
            );
        }
    }
}
