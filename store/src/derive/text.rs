//! What can be found in a record: messages, tool inputs and outputs.

use runtape_core::{ExpertPart, Message, Record, RecordKind, ToolResultContent, UserPart};

/// Where a text can be found: what was said, what tools were given, what they gave back.
pub(crate) const FIELDS: [&str; 3] = ["said", "input", "output"];

/// What the index knows of a record.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) said: String,
    pub(crate) input: String,
    pub(crate) output: String,
}

impl Text {
    /// Returns the texts in the order of [`FIELDS`].
    pub(crate) fn columns(&self) -> [&str; FIELDS.len()] {
        [&self.said, &self.input, &self.output]
    }

    /// Returns what there is to find in a record, if anything.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let RecordKind::Message(message) = &record.kind else {
            return None;
        };
        let mut text = Self::default();
        match &message.message {
            Message::ExpertMessage(expert) => {
                for part in &expert.contents {
                    match part {
                        ExpertPart::TextPart(part) => add(&mut text.said, &part.text),
                        ExpertPart::ThinkingPart(part) => add(&mut text.said, &part.thinking),
                        ExpertPart::ToolCallPart(part) => {
                            add(&mut text.input, part.tool_name.as_str());
                            add_strings(&mut text.input, &part.args);
                        }
                    }
                }
            }
            Message::ToolMessage(tool) => {
                for content in tool.results().flat_map(|result| &result.contents) {
                    if let ToolResultContent::TextPart(part) = content {
                        add(&mut text.output, &part.text);
                    }
                }
            }
            Message::UserMessage(user) => {
                for part in &user.contents {
                    if let UserPart::TextPart(part) = part {
                        add(&mut text.said, &part.text);
                    }
                }
            }
            Message::InstructionMessage(instruction) => {
                for runtape_core::InstructionPart::TextPart(part) in &instruction.contents {
                    add(&mut text.said, &part.text);
                }
            }
        }
        (text.len() > 0).then_some(text)
    }

    pub(crate) fn len(&self) -> usize {
        self.said.len() + self.input.len() + self.output.len()
    }
}

fn add(text: &mut String, piece: &str) {
    if !text.is_empty() && !piece.is_empty() {
        text.push('\n');
    }
    text.push_str(piece);
}

/// Adds keys and texts of tool arguments: all that a person may look for.
fn add_strings(text: &mut String, value: &serde_json::Value) {
    match value {
        serde_json::Value::String(piece) => add(text, piece),
        serde_json::Value::Array(items) => items.iter().for_each(|item| add_strings(text, item)),
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                add(text, key);
                add_strings(text, value);
            }
        }
        serde_json::Value::Number(number) => add(text, &number.to_string()),
        serde_json::Value::Null | serde_json::Value::Bool(_) => {}
    }
}
