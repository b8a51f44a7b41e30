//! One row of a transcript, and the words it is described in.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::javascript::{serialize_number, serialize_optional_number};
use super::turn_meta::TurnRole;

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptEntryKind {
    /// The start of a turn.
    Meta,
    /// A person's words.
    User,
    /// The agent's words.
    Assistant,
    /// The agent's reasoning.
    Thinking,
    /// A tool call or its result.
    Tool,
}

/// Who an entry is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptEntryRole {
    /// A person.
    User,
    /// The agent.
    Assistant,
    /// A tool.
    Tool,
    /// The host.
    System,
    /// Nobody in particular.
    Other,
}

/// How an entry got into the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptEntrySource {
    /// Sent from here, not yet heard back.
    LocalSend,
    /// Heard on the runtime's chat stream.
    RuntimeChat,
    /// Heard on the runtime's agent stream.
    RuntimeAgent,
    /// Read from what the runtime has stored.
    History,
    /// Kept by an earlier version.
    Legacy,
}

/// One row of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptEntry {
    /// What the row is known by.
    pub entry_id: String,
    /// Who it is from.
    pub role: TranscriptEntryRole,
    /// What it holds.
    pub kind: TranscriptEntryKind,
    /// The line, untouched.
    pub text: String,
    /// The session it belongs to.
    pub session_key: String,
    /// The run it belongs to, where known.
    #[serde(default)]
    pub run_id: Option<String>,
    /// How it got here.
    pub source: TranscriptEntrySource,
    /// When it was said, in milliseconds since the epoch, where known.
    #[serde(default, serialize_with = "serialize_optional_number")]
    pub timestamp_ms: Option<f64>,
    /// Its place among lines of the same moment. A double, as peers may number between two rows.
    #[serde(serialize_with = "serialize_number")]
    pub sequence_key: f64,
    /// Whether the runtime is known to have stored it.
    pub confirmed: bool,
    /// A hash of what makes the line itself, for telling repeats.
    pub fingerprint: String,
}

/// What may be said of a line when it is appended to a transcript; the line itself tells the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TranscriptAppendMeta {
    /// How it got here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<TranscriptEntrySource>,
    /// The run it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// When it was said, in milliseconds since the epoch.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_optional_number"
    )]
    pub timestamp_ms: Option<f64>,
    /// Who it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<TranscriptEntryRole>,
    /// What it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<TranscriptEntryKind>,
    /// What the row is known by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<String>,
    /// Whether the runtime is known to have stored it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<bool>,
}

impl TranscriptEntryKind {
    /// Returns who such an entry is from unless something else is known.
    pub(crate) fn usual_role(self) -> TranscriptEntryRole {
        match self {
            Self::Meta => TranscriptEntryRole::Other,
            Self::User => TranscriptEntryRole::User,
            Self::Assistant | Self::Thinking => TranscriptEntryRole::Assistant,
            Self::Tool => TranscriptEntryRole::Tool,
        }
    }
}

impl TranscriptEntryKind {
    /// Returns the kind as it stands in JSON and in ids.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Thinking => "thinking",
            Self::Tool => "tool",
        }
    }
}

impl TranscriptEntryRole {
    /// Returns the role as it stands in JSON and in ids.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
            Self::Other => "other",
        }
    }
}

impl From<TurnRole> for TranscriptEntryRole {
    fn from(role: TurnRole) -> Self {
        match role {
            TurnRole::User => Self::User,
            TurnRole::Assistant => Self::Assistant,
        }
    }
}

impl fmt::Display for TranscriptEntryKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for TranscriptEntryRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for TranscriptEntrySource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::LocalSend => "local-send",
            Self::RuntimeChat => "runtime-chat",
            Self::RuntimeAgent => "runtime-agent",
            Self::History => "history",
            Self::Legacy => "legacy",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_the_same_in_ids_and_in_json() {
        use TranscriptEntryKind as Kind;
        use TranscriptEntryRole as Role;
        use TranscriptEntrySource as Source;

        let kinds = [
            Kind::Meta,
            Kind::User,
            Kind::Assistant,
            Kind::Thinking,
            Kind::Tool,
        ];
        let roles = [
            Role::User,
            Role::Assistant,
            Role::Tool,
            Role::System,
            Role::Other,
        ];
        let sources = [
            Source::LocalSend,
            Source::RuntimeChat,
            Source::RuntimeAgent,
            Source::History,
            Source::Legacy,
        ];
        for kind in kinds {
            assert_eq!(json!(kind), json!(kind.to_string()));
        }
        for role in roles {
            assert_eq!(json!(role), json!(role.to_string()));
        }
        for source in sources {
            assert_eq!(json!(source), json!(source.to_string()));
        }
    }

    #[test]
    fn what_is_said_of_a_line_may_be_anything_or_nothing() {
        let nothing: TranscriptAppendMeta = serde_json::from_str("{}").unwrap();
        assert_eq!(json!(nothing), json!({}));
        let all = json!({"source": "local-send", "runId": "r", "sessionKey": "s", "timestampMs": 5,
            "role": "user", "kind": "user", "entryId": "e", "confirmed": true});
        let meta: TranscriptAppendMeta = serde_json::from_value(all.clone()).unwrap();
        assert_eq!(json!(meta), all);
    }

    #[test]
    fn rows_survive_json_with_whole_numbers_whole() {
        let json = concat!(
            r#"{"entryId":"a","role":"tool","kind":"tool","text":"x","sessionKey":"s","#,
            r#""runId":null,"source":"local-send","timestampMs":5,"sequenceKey":1,"#,
            r#""confirmed":false,"fingerprint":"f"}"#
        );
        let entry: TranscriptEntry = serde_json::from_str(json).unwrap();
        assert_eq!(entry.timestamp_ms, Some(5.0));
        assert_eq!(serde_json::to_string(&entry).unwrap(), json);
    }
}
