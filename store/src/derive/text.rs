//! What can be found in a record: messages, tool inputs and outputs, errors and notices.

use runtape_core::report::SearchRole;
use runtape_core::{
    ExpertPart, Message, Record, RecordKind, RuntimeEventKind, ToolResultContent, UserPart,
};

/// Where a text can be found: what was said, what tools were given, what they gave back, what the
/// runtime reported besides.
pub(crate) const FIELDS: [&str; 4] = ["said", "input", "output", "notice"];

/// One of [`FIELDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Said,
    Input,
    Output,
    Notice,
}

/// What can be found in a record.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) said: String,
    pub(crate) input: String,
    pub(crate) output: String,
    pub(crate) notice: String,
}

impl Text {
    /// Returns the texts in the order of [`FIELDS`].
    pub(crate) fn columns(&self) -> [&str; FIELDS.len()] {
        [&self.said, &self.input, &self.output, &self.notice]
    }

    /// Returns what there is to find in a record, if anything: the pieces of a field in lines.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let mut text = Self::default();
        each_piece(record, &mut |field, piece| {
            let text = match field {
                Field::Said => &mut text.said,
                Field::Input => &mut text.input,
                Field::Output => &mut text.output,
                Field::Notice => &mut text.notice,
            };
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(piece);
        });
        text.columns()
            .iter()
            .any(|text| !text.is_empty())
            .then_some(text)
    }
}

/// Counts how long the texts of a record are, without making them.
#[derive(Debug, Default)]
pub(crate) struct TextLength {
    has_piece: [bool; FIELDS.len()],
    /// Bytes of all texts.
    pub(crate) bytes: usize,
}

impl TextLength {
    /// Adds a piece.
    pub(crate) fn add(&mut self, field: Field, piece: &str) {
        let has_piece = self.has_piece.get_mut(field as usize);
        // Pieces of a field are in lines.
        let goes_on = has_piece.is_some_and(|has_piece| std::mem::replace(has_piece, true));
        self.bytes += piece.len() + usize::from(goes_on);
    }
}

/// What is done with a piece of text, which is never empty.
type EachPiece<'e> = &'e mut dyn FnMut(Field, &str);

/// Calls `each` for what there is to find in a record, piece by piece.
pub(crate) fn each_piece(record: &Record, each: EachPiece<'_>) {
    let mut each = |field: Field, piece: &str| {
        if !piece.is_empty() {
            each(field, piece);
        }
    };
    match &record.kind {
        RecordKind::Message(message) => of_message(&message.message, &mut each),
        RecordKind::Checkpoint(head) => {
            if let Some(error) = &head.error {
                each(Field::Notice, &error.name);
                each(Field::Notice, &error.message);
            }
            each(Field::Said, head.text.as_deref().unwrap_or_default());
        }
        RecordKind::Event(event) => of_event(&event.event, &mut each),
        _ => {}
    }
}

fn of_event(event: &RuntimeEventKind, each: EachPiece<'_>) {
    if event.notice_kind().is_some() {
        return each(Field::Notice, &event.notice_text());
    }
    let mut notice = |piece: &str| each(Field::Notice, piece);
    match event {
        RuntimeEventKind::UnparsedOutput(output) => {
            notice(&output.reason);
            notice(output.excerpt.as_deref().unwrap_or_default());
        }
        RuntimeEventKind::SkillStderr(skill) => notice(&skill.message),
        RuntimeEventKind::DockerBuildProgress(build) => notice(&build.message),
        RuntimeEventKind::ProxyAccess(access) => {
            notice(&access.domain);
            notice(access.reason.as_deref().unwrap_or_default());
        }
        _ => {}
    }
}

fn of_message(message: &Message, each: EachPiece<'_>) {
    match message {
        Message::ExpertMessage(expert) => {
            for part in &expert.contents {
                match part {
                    ExpertPart::TextPart(part) => each(Field::Said, &part.text),
                    ExpertPart::ThinkingPart(part) => each(Field::Said, &part.thinking),
                    ExpertPart::ToolCallPart(part) => {
                        each(Field::Input, part.tool_name.as_str());
                        each_string(&part.args, &mut |piece| each(Field::Input, piece));
                    }
                }
            }
        }
        Message::ToolMessage(tool) => {
            for content in tool.results().flat_map(|result| &result.contents) {
                if let ToolResultContent::TextPart(part) = content {
                    each(Field::Output, &part.text);
                }
            }
        }
        Message::UserMessage(user) => {
            for part in &user.contents {
                if let UserPart::TextPart(part) = part {
                    each(Field::Said, &part.text);
                }
            }
        }
        Message::InstructionMessage(instruction) => {
            for runtape_core::InstructionPart::TextPart(part) in &instruction.contents {
                each(Field::Said, &part.text);
            }
        }
    }
}

/// Calls `each` for keys and texts of tool arguments: all that a person may look for.
fn each_string(value: &serde_json::Value, each: &mut dyn FnMut(&str)) {
    match value {
        serde_json::Value::String(piece) => each(piece),
        serde_json::Value::Array(items) => items.iter().for_each(|item| each_string(item, each)),
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                each(key);
                each_string(value, each);
            }
        }
        serde_json::Value::Number(number) => each(&number.to_string()),
        serde_json::Value::Null | serde_json::Value::Bool(_) => {}
    }
}

/// Returns who a record comes from, and the step it belongs to.
pub(crate) fn role_and_step(record: &Record) -> (SearchRole, u64) {
    match &record.kind {
        RecordKind::Message(message) => {
            let role = match &message.message {
                Message::ExpertMessage(_) => SearchRole::Expert,
                Message::ToolMessage(_) => SearchRole::Tool,
                Message::UserMessage(_) => SearchRole::User,
                Message::InstructionMessage(_) => SearchRole::Instruction,
            };
            (role, message.step)
        }
        RecordKind::Checkpoint(head) if head.error.is_some() => (SearchRole::Error, head.step),
        RecordKind::Checkpoint(head) => (SearchRole::Expert, head.step),
        RecordKind::Event(event) => (SearchRole::Notice, event.step),
        _ => (SearchRole::Notice, 0),
    }
}
