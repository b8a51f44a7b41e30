//! The run as a list of entries to display, in Paperclip's shape.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::{EventRecord, Initialize, MessageRecord};
use crate::tagged::{tagged_enum, tagged_struct};
use crate::{
    CheckpointStatus, ExpertPart, Message, Metadata, Record, RecordKind, RunError,
    RuntimeEventKind, ToolMessagePart, Usage,
};

/// One entry of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptEntry {
    /// When, as an ISO 8601 time in UTC.
    pub ts: String,
    /// What to show.
    #[serde(flatten)]
    pub kind: TranscriptKind,
}

#[derive(Deserialize)]
struct Base {
    ts: String,
}

tagged_struct!(TranscriptEntry, TranscriptKind, Base { ts: "ts" });

tagged_enum! {
    /// What an entry of a transcript shows.
    pub enum TranscriptKind by "kind" {
        /// Text of the model.
        "assistant" => Assistant(Assistant),
        /// Reasoning of the model.
        "thinking" => Thinking(Thinking),
        /// What the user said.
        "user" => User(User),
        /// The model calls a tool.
        "tool_call" => ToolCall(ToolCall),
        /// A tool gave back its result.
        "tool_result" => ToolResult(ToolResult),
        /// The runtime is ready.
        "init" => Init(Init),
        /// The run ended.
        "result" => Result(RunResult),
        /// Text on the error output.
        "stderr" => Stderr(Stderr),
        /// A notice of the runtime.
        "system" => System(System),
        /// Output that is nothing else.
        "stdout" => Stdout(Stdout),
        /// A line of a diff.
        "diff" => Diff(Diff),
    }
}

macro_rules! payload {
    ($($(#[$doc:meta])* $name:ident as $schema:literal { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "camelCase")]
            #[schemars(rename = $schema)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $type,)*
            }
        )*
    };
}

payload! {
    /// Text of the model.
    Assistant as "TranscriptAssistant" {
        /// The text.
        text: String,
        /// Whether it goes on where the entry before ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<bool>,
        /// `progress` where the runtime itself marks the text as said beside the work, while it runs.
        #[serde(skip_serializing_if = "Option::is_none")]
        channel: Option<String>,
    }
    /// Reasoning of the model.
    Thinking as "TranscriptThinking" {
        /// The reasoning.
        text: String,
        /// Whether it goes on where the entry before ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<bool>,
    }
    /// What the user said.
    User as "TranscriptUser" {
        /// The text.
        text: String,
    }
    /// The model calls a tool.
    ToolCall as "TranscriptToolCall" {
        /// The tool's name.
        name: String,
        /// Its input, any JSON.
        input: Value,
        /// Names the call; the result carries the same id.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
    }
    /// A tool gave back its result.
    ToolResult as "TranscriptToolResult" {
        /// The call it answers.
        tool_use_id: String,
        /// The tool's name.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_name: Option<String>,
        /// The result as text.
        content: String,
        /// Whether the call failed.
        is_error: bool,
        /// How long the call took in milliseconds, where the runtime printed it with the result.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    }
    /// The runtime is ready.
    Init as "TranscriptInit" {
        /// The model.
        model: String,
        /// The session; empty if not known yet.
        session_id: String,
    }
    /// The run ended.
    RunResult as "TranscriptRunResult" {
        /// The answer.
        text: String,
        /// Prompt tokens that were not read from a cache.
        input_tokens: u64,
        /// Generated tokens.
        output_tokens: u64,
        /// Prompt tokens that were read from a cache.
        cached_tokens: u64,
        /// What it cost in US dollars, 0 if not known.
        #[serde(serialize_with = "crate::omission::finite_or_zero")]
        #[schemars(with = "f64")]
        cost_usd: f64,
        /// How it ended.
        subtype: String,
        /// Whether it failed.
        is_error: bool,
        /// What went wrong.
        errors: Vec<String>,
    }
    /// Text on the error output.
    Stderr as "TranscriptStderr" {
        /// The text.
        text: String,
    }
    /// A notice of the runtime.
    System as "TranscriptSystem" {
        /// The text.
        text: String,
    }
    /// Output that is nothing else.
    Stdout as "TranscriptStdout" {
        /// The text.
        text: String,
    }
    /// A line of a diff.
    Diff as "TranscriptDiff" {
        /// What the line is: `add`, `remove`, `context`, `hunk`, `file_header` or `truncation`.
        change_type: String,
        /// The line.
        text: String,
    }
}

/// The channel of text that is said beside the work.
pub const PROGRESS: &str = "progress";

impl Assistant {
    /// Creates an entry of text, as a piece of more or whole.
    #[must_use]
    pub fn new(text: &str, delta: bool) -> Self {
        Self {
            text: text.to_owned(),
            delta: delta.then_some(true),
            channel: None,
        }
    }
}

impl Thinking {
    /// Creates an entry of reasoning, as a piece of more or whole.
    #[must_use]
    pub fn new(text: &str, delta: bool) -> Self {
        Self {
            text: text.to_owned(),
            delta: delta.then_some(true),
        }
    }
}

impl RunResult {
    /// Creates the last entry of a run.
    #[must_use]
    pub fn new(
        text: String,
        status: CheckpointStatus,
        usage: &Usage,
        cost_usd: Option<f64>,
        error: Option<&RunError>,
    ) -> Self {
        Self {
            text,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cached_tokens: usage.cached_input_tokens,
            cost_usd: cost_usd.unwrap_or(0.0),
            subtype: status.as_str().to_owned(),
            is_error: status != CheckpointStatus::Completed,
            errors: error
                .into_iter()
                .map(|error| error.message.clone())
                .collect(),
        }
    }
}

impl TranscriptKind {
    /// Returns how an event around the run is shown, if it is.
    #[must_use]
    pub fn from_event(event: &RuntimeEventKind) -> Option<Self> {
        match event {
            RuntimeEventKind::StderrText(text) => Some(
                Stderr {
                    text: text.text.clone(),
                }
                .into(),
            ),
            RuntimeEventKind::StdoutText(text) => Some(
                Stdout {
                    text: text.text.clone(),
                }
                .into(),
            ),
            RuntimeEventKind::UnparsedOutput(unparsed) => {
                let mut text = format!(
                    "{} line {} not understood: {}",
                    unparsed.stream.as_str(),
                    unparsed.line,
                    unparsed.reason
                );
                if let Some(excerpt) = &unparsed.excerpt {
                    text.push('\n');
                    text.push_str(excerpt);
                }
                Some(System { text }.into())
            }
            other => {
                let kind = other.notice_kind()?;
                Some(
                    System {
                        text: format!("{kind}: {}", other.notice_text()),
                    }
                    .into(),
                )
            }
        }
    }
}

impl TranscriptEntry {
    /// Creates an entry at a time in milliseconds since 1970.
    #[must_use]
    pub fn new(at: i64, kind: impl Into<TranscriptKind>) -> Self {
        Self {
            ts: crate::iso_time(at),
            kind: kind.into(),
        }
    }
}

/// Makes a transcript from the records of one run, in order.
///
/// Merged (deltas joined to what they continue), this and the live entries of the same run give
/// the same text.
#[derive(Debug, Default)]
pub struct TranscriptBuilder {
    runtime: String,
    is_root: bool,
    metadata: Metadata,
    last_text: String,
}

impl TranscriptBuilder {
    /// Creates a builder for one run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a builder that goes on in the middle of a run, from what is known of it: its runtime,
    /// whether no other run started it, its metadata so far, and the text of its last model message.
    #[must_use]
    pub fn resumed(runtime: &str, is_root: bool, metadata: Metadata, last_text: String) -> Self {
        Self {
            runtime: runtime.to_owned(),
            is_root,
            metadata,
            last_text,
        }
    }

    /// Takes the next record and returns what it adds.
    pub fn push(&mut self, record: &Record) -> Vec<TranscriptEntry> {
        let entries = match &record.kind {
            RecordKind::Run(opened) => {
                opened.runtime.as_str().clone_into(&mut self.runtime);
                self.is_root = opened.delegated_by.is_none();
                Vec::new()
            }
            RecordKind::Metadata(patch) => {
                self.metadata.merge(&patch.set);
                Vec::new()
            }
            RecordKind::Initialize(initialize) => self.init(initialize),
            RecordKind::Message(message) => self.message(message),
            RecordKind::Event(EventRecord { event, .. }) => {
                TranscriptKind::from_event(event).into_iter().collect()
            }
            RecordKind::Checkpoint(head) if head.status.is_terminal() && self.is_root => {
                let text = head.text.clone().unwrap_or_else(|| self.last_text.clone());
                let usage = head.usage.to_usage();
                let cost = self.metadata.cost_usd();
                vec![RunResult::new(text, head.status, &usage, cost, head.error.as_ref()).into()]
            }
            _ => Vec::new(),
        };
        entries
            .into_iter()
            .map(|kind| TranscriptEntry::new(record.at, kind))
            .collect()
    }

    fn init(&self, initialize: &Initialize) -> Vec<TranscriptKind> {
        if !self.is_root {
            return Vec::new();
        }
        let model = initialize
            .model
            .clone()
            .unwrap_or_else(|| self.runtime.clone());
        let session_id = self.metadata.session_id().unwrap_or_default().to_owned();
        vec![Init { model, session_id }.into()]
    }

    fn message(&mut self, record: &MessageRecord) -> Vec<TranscriptKind> {
        let delta = record.continued;
        match &record.message {
            Message::InstructionMessage(_) => Vec::new(),
            Message::UserMessage(message) => vec![
                User {
                    text: message.text(),
                }
                .into(),
            ],
            Message::ExpertMessage(message) => {
                self.last_text = message.text();
                let entries = message.contents.iter().map(|part| match part {
                    ExpertPart::TextPart(part) => Assistant::new(&part.text, delta).into(),
                    ExpertPart::ThinkingPart(part) => Thinking::new(&part.thinking, delta).into(),
                    ExpertPart::ToolCallPart(part) => ToolCall {
                        name: part.tool_name.as_str().to_owned(),
                        input: part.args.clone(),
                        tool_use_id: Some(part.tool_call_id.as_str().to_owned()),
                    }
                    .into(),
                });
                entries.collect()
            }
            Message::ToolMessage(message) => {
                let entries =
                    message
                        .contents
                        .iter()
                        .map(|ToolMessagePart::ToolResultPart(part)| {
                            ToolResult {
                                tool_use_id: part.tool_call_id.as_str().to_owned(),
                                tool_name: Some(part.tool_name.as_str().to_owned()),
                                content: part.text().unwrap_or_default(),
                                is_error: part.is_error.unwrap_or(false),
                                duration_ms: None,
                            }
                            .into()
                        });
                entries.collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_is_paperclips() {
        let entry = TranscriptEntry::new(0, Assistant::new("hi", true));
        let json =
            r#"{"ts":"1970-01-01T00:00:00.000Z","kind":"assistant","text":"hi","delta":true}"#;
        assert_eq!(serde_json::to_string(&entry).unwrap(), json);
        assert_eq!(
            serde_json::from_str::<TranscriptEntry>(json).unwrap(),
            entry
        );
    }

    #[test]
    fn unknown_kinds_are_tolerated_and_malformed_known_ones_are_not() {
        let json = r#"{"ts":"t","kind":"provider_activity","family":"plan"}"#;
        let entry: TranscriptEntry = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&entry).unwrap(), json);
        let error = serde_json::from_str::<TranscriptEntry>(r#"{"ts":"t","kind":"user"}"#);
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("user: missing field `text`")
        );
    }
}
