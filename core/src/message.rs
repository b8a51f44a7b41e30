//! Messages and the ten kinds of parts they are made of.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{MediaUrl, MessageId, PartId, ToolCallId, ToolName};

/// Plain text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TextPart {
    /// Names this part.
    pub id: PartId,
    /// The text, exactly as it was given.
    pub text: String,
}

/// An image to be found at a URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageUrlPart {
    /// Names this part.
    pub id: PartId,
    /// Where the image is.
    pub url: MediaUrl,
    /// The image's media type.
    pub mime_type: String,
}

/// An image carried in the message as base64.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageInlinePart {
    /// Names this part.
    pub id: PartId,
    /// The image, base64.
    pub encoded_data: String,
    /// The image's media type.
    pub mime_type: String,
}

/// An image carried in the message as a string of bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageBinaryPart {
    /// Names this part.
    pub id: PartId,
    /// The image's bytes.
    pub data: String,
    /// The image's media type.
    pub mime_type: String,
}

/// A file to be found at a URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileUrlPart {
    /// Names this part.
    pub id: PartId,
    /// Where the file is.
    pub url: MediaUrl,
    /// The file's media type.
    pub mime_type: String,
}

/// A file carried in the message as base64.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileInlinePart {
    /// Names this part.
    pub id: PartId,
    /// The file, base64.
    pub encoded_data: String,
    /// The file's media type.
    pub mime_type: String,
}

/// A file carried in the message as a string of bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileBinaryPart {
    /// Names this part.
    pub id: PartId,
    /// The file's bytes.
    pub data: String,
    /// The file's media type.
    pub mime_type: String,
}

/// The model asks for a tool to be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallPart {
    /// Names this part.
    pub id: PartId,
    /// Names the call; the result carries the same id.
    pub tool_call_id: ToolCallId,
    /// The tool's name.
    pub tool_name: ToolName,
    /// The tool's arguments as the runtime printed them; null when it printed none.
    pub args: Value,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultPart {
    /// Names this part.
    pub id: PartId,
    /// The call this answers.
    pub tool_call_id: ToolCallId,
    /// The tool's name.
    pub tool_name: ToolName,
    /// The result, empty if the runtime printed none.
    pub contents: Vec<ToolResultContent>,
    /// Whether the call failed; absent when the runtime did not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}

/// The model's reasoning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingPart {
    /// Names this part.
    pub id: PartId,
    /// The reasoning; empty where the model's maker withholds it.
    pub thinking: String,
    /// The model maker's signature or encrypted form of the reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

macro_rules! part_enum {
    ($(#[$doc:meta])* $name:ident { $($variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "type", rename_all = "camelCase")]
        pub enum $name {
            $(
                #[doc = concat!("A [`", stringify!($variant), "`].")]
                // The struct describes itself in the schema, where a link would lead nowhere.
                #[schemars(description = "")]
                $variant($variant),
            )*
        }

        $(
            impl From<$variant> for $name {
                fn from(part: $variant) -> Self {
                    Self::$variant(part)
                }
            }
        )*

        impl $name {
            /// Returns the part's id.
            #[must_use]
            pub fn id(&self) -> &PartId {
                match self {
                    $(Self::$variant(part) => &part.id,)*
                }
            }
        }
    };
}

part_enum! {
    /// Any part of a message.
    MessagePart {
        TextPart, ImageUrlPart, ImageInlinePart, ImageBinaryPart, FileUrlPart, FileInlinePart,
        FileBinaryPart, ToolCallPart, ToolResultPart, ThinkingPart,
    }
}
part_enum! {
    /// A part of an instruction.
    InstructionPart { TextPart }
}
part_enum! {
    /// A part of what a user said.
    UserPart {
        TextPart, ImageUrlPart, ImageInlinePart, ImageBinaryPart, FileUrlPart, FileInlinePart,
        FileBinaryPart,
    }
}
part_enum! {
    /// A part of what the model said, in the order the runtime gave it.
    ExpertPart { TextPart, ToolCallPart, ThinkingPart }
}
part_enum! {
    /// A part of a tool message: one result.
    ToolMessagePart { ToolResultPart }
}
part_enum! {
    /// A piece of a tool's result.
    ToolResultContent { TextPart, ImageInlinePart, FileInlinePart }
}

impl From<ToolResultContent> for MessagePart {
    fn from(content: ToolResultContent) -> Self {
        match content {
            ToolResultContent::TextPart(part) => part.into(),
            ToolResultContent::ImageInlinePart(part) => part.into(),
            ToolResultContent::FileInlinePart(part) => part.into(),
        }
    }
}

macro_rules! message_struct {
    ($(#[$doc:meta])* $name:ident, $part:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// Names this message.
            pub id: MessageId,
            /// What it is made of.
            pub contents: Vec<$part>,
            /// Whether a provider may cache the prompt up to here.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub cache: Option<bool>,
            /// When it was said, in milliseconds since 1970.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub timestamp: Option<i64>,
        }

        impl $name {
            /// Creates a message of parts, without time.
            #[must_use]
            pub fn new(id: MessageId, contents: Vec<$part>) -> Self {
                Self { id, contents, cache: None, timestamp: None }
            }
        }

    };
}

message_struct!(
    /// What the expert is told to be.
    InstructionMessage, InstructionPart
);
message_struct!(
    /// What a user said.
    UserMessage, UserPart
);
message_struct!(
    /// What the model said: thinking, text and tool calls.
    ExpertMessage, ExpertPart
);
message_struct!(
    /// What the tools gave back.
    ToolMessage, ToolMessagePart
);

macro_rules! message_enum {
    ($(#[$doc:meta])* $name:ident { $($variant:ident),* $(,)? }) => {
        $(#[$doc])*
        // Cloning is cheap: what is inside is shared, so that a message stands in memory once
        // however many checkpoints hold it. (No doc comment: those become schema descriptions.)
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "type", rename_all = "camelCase")]
        pub enum $name {
            $(
                #[doc = concat!("A [`", stringify!($variant), "`].")]
                // The struct describes itself in the schema, where a link would lead nowhere.
                #[schemars(description = "")]
                $variant(Arc<$variant>),
            )*
        }

        $(
            impl From<$variant> for $name {
                fn from(message: $variant) -> Self {
                    Self::$variant(Arc::new(message))
                }
            }

            impl From<Arc<$variant>> for $name {
                fn from(message: Arc<$variant>) -> Self {
                    Self::$variant(message)
                }
            }
        )*

        impl $name {
            /// Returns the message's id.
            #[must_use]
            pub fn id(&self) -> &MessageId {
                match self {
                    $(Self::$variant(message) => &message.id,)*
                }
            }
        }
    };
}

message_enum! {
    /// One message of a conversation.
    Message { InstructionMessage, UserMessage, ExpertMessage, ToolMessage }
}
message_enum! {
    /// A message that a run or step begins with.
    InputMessage { InstructionMessage, UserMessage, ToolMessage }
}
message_enum! {
    /// A message of the model, where no other can stand.
    SpokenMessage { ExpertMessage }
}
message_enum! {
    /// A message that answers the model's calls.
    AnswerMessage { UserMessage, ToolMessage }
}
message_enum! {
    /// A message that a retry adds.
    RetryMessage { UserMessage, ExpertMessage, ToolMessage }
}

impl Message {
    /// Returns when it was said, in milliseconds since 1970.
    #[must_use]
    pub fn timestamp(&self) -> Option<i64> {
        match self {
            Self::InstructionMessage(message) => message.timestamp,
            Self::UserMessage(message) => message.timestamp,
            Self::ExpertMessage(message) => message.timestamp,
            Self::ToolMessage(message) => message.timestamp,
        }
    }

    /// Sets when it was said, in milliseconds since 1970.
    pub fn set_timestamp(&mut self, at: i64) {
        match self {
            Self::InstructionMessage(message) => Arc::make_mut(message).timestamp = Some(at),
            Self::UserMessage(message) => Arc::make_mut(message).timestamp = Some(at),
            Self::ExpertMessage(message) => Arc::make_mut(message).timestamp = Some(at),
            Self::ToolMessage(message) => Arc::make_mut(message).timestamp = Some(at),
        }
    }

    /// Returns the message as input of a step, unless the model said it.
    #[must_use]
    pub fn as_input(&self) -> Option<InputMessage> {
        match self {
            Self::InstructionMessage(message) => Some(message.clone().into()),
            Self::UserMessage(message) => Some(message.clone().into()),
            Self::ToolMessage(message) => Some(message.clone().into()),
            Self::ExpertMessage(_) => None,
        }
    }

    /// Returns the message if the model said it.
    #[must_use]
    pub fn as_expert(&self) -> Option<&Arc<ExpertMessage>> {
        match self {
            Self::ExpertMessage(message) => Some(message),
            _ => None,
        }
    }

    /// Returns the message if it holds results of tools.
    #[must_use]
    pub fn as_tool(&self) -> Option<&Arc<ToolMessage>> {
        match self {
            Self::ToolMessage(message) => Some(message),
            _ => None,
        }
    }
}

impl UserMessage {
    /// Returns the text parts joined without separator.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.contents.iter().filter_map(|part| match part {
            UserPart::TextPart(part) => Some(part.text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

impl ExpertMessage {
    /// Returns the text parts joined without separator.
    #[must_use]
    pub fn text(&self) -> String {
        self.texts().collect()
    }

    /// Returns the texts of the text parts in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.contents.iter().filter_map(|part| match part {
            ExpertPart::TextPart(part) => Some(part.text.as_str()),
            _ => None,
        })
    }

    /// Returns the tool calls in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCallPart> {
        self.contents.iter().filter_map(|part| match part {
            ExpertPart::ToolCallPart(part) => Some(part),
            _ => None,
        })
    }

    /// Returns the thinking parts in order.
    pub fn thinking(&self) -> impl Iterator<Item = &ThinkingPart> {
        self.contents.iter().filter_map(|part| match part {
            ExpertPart::ThinkingPart(part) => Some(part),
            _ => None,
        })
    }
}

impl ToolMessage {
    /// Returns the results in order.
    pub fn results(&self) -> impl Iterator<Item = &ToolResultPart> {
        self.contents
            .iter()
            .map(|ToolMessagePart::ToolResultPart(part)| part)
    }
}

impl ToolResultPart {
    /// Returns the text pieces joined by line feeds, or `None` if there are none.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let texts: Vec<&str> = self
            .contents
            .iter()
            .filter_map(|content| match content {
                ToolResultContent::TextPart(part) => Some(part.text.as_str()),
                _ => None,
            })
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_is_perstacks() {
        let json = r#"{"type":"expertMessage","id":"m1","contents":[{"type":"thinkingPart","id":"p1","thinking":"hm","signature":"s"},{"type":"textPart","id":"p2","text":"hi"},{"type":"toolCallPart","id":"p3","toolCallId":"c1","toolName":"ls","args":{}}]}"#;
        let message: Message = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), json);
        let Message::ExpertMessage(message) = message else {
            panic!("an expert message")
        };
        assert_eq!(message.text(), "hi");
        assert_eq!(message.tool_calls().count(), 1);
    }

    #[test]
    fn a_part_where_it_does_not_belong_is_refused() {
        let json = r#"{"type":"userMessage","id":"m1","contents":[{"type":"thinkingPart","id":"p1","thinking":"hm"}]}"#;
        let error = serde_json::from_str::<Message>(json)
            .unwrap_err()
            .to_string();
        assert!(error.contains("thinkingPart"), "{error}");
    }

    #[test]
    fn a_message_without_id_is_refused() {
        let json = r#"{"type":"expertMessage","contents":[]}"#;
        let error = serde_json::from_str::<Message>(json)
            .unwrap_err()
            .to_string();
        assert!(error.contains("missing field `id`"), "{error}");
    }
}
