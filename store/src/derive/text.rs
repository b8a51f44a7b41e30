//! What can be found in a record: messages, tool inputs and outputs, errors and notices.

use runtape_core::report::SearchRole;
use runtape_core::{
    ExpertPart, Message, Record, RecordKind, RuntimeEventKind, ToolResultContent, UserPart,
};

/// Where a text can be found: what was said, what tools were given, what they gave back, what the
/// runtime reported besides.
pub(crate) const FIELDS: [&str; 4] = ["said", "input", "output", "notice"];

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

    /// Returns what there is to find in a record, if anything.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let mut text = Self::default();
        match &record.kind {
            RecordKind::Message(message) => text.add_message(&message.message),
            RecordKind::Checkpoint(head) => {
                if let Some(error) = &head.error {
                    add(&mut text.notice, &error.name);
                    add(&mut text.notice, &error.message);
                }
                add(&mut text.said, head.text.as_deref().unwrap_or_default());
            }
            RecordKind::Event(event) => text.add_event(&event.event),
            _ => return None,
        }
        (text.len() > 0).then_some(text)
    }

    fn add_event(&mut self, event: &RuntimeEventKind) {
        if event.notice_kind().is_some() {
            add(&mut self.notice, &event.notice_text());
            return;
        }
        match event {
            RuntimeEventKind::UnparsedOutput(output) => {
                add(&mut self.notice, &output.reason);
                add(
                    &mut self.notice,
                    output.excerpt.as_deref().unwrap_or_default(),
                );
            }
            RuntimeEventKind::SkillStderr(skill) => add(&mut self.notice, &skill.message),
            RuntimeEventKind::DockerBuildProgress(build) => add(&mut self.notice, &build.message),
            RuntimeEventKind::ProxyAccess(access) => {
                add(&mut self.notice, &access.domain);
                add(
                    &mut self.notice,
                    access.reason.as_deref().unwrap_or_default(),
                );
            }
            _ => {}
        }
    }

    fn add_message(&mut self, message: &Message) {
        let text = self;
        match message {
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
    }

    pub(crate) fn len(&self) -> usize {
        self.columns().iter().map(|text| text.len()).sum()
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
