//! The messages of `hermes acp` as they are printed.

use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde_json::Value;

use crate::json::{Str, items, number, wire_shapes, wire_struct};

wire_struct! {
    /// One message: a response, a notification, or a request to the client.
    pub(super) struct Message<'a> {
        "method" => method: Option<Str<'a>>,
        "params" => params: Option<Params<'a>>,
        "result" => result: Option<Response<'a>>,
        "error" => error: Option<Value>,
        ; known "jsonrpc", "id"
    }

    /// What a notification or a request carries.
    pub(super) struct Params<'a> {
        "sessionId" => session: Option<Str<'a>>,
        "update" => update: Option<Update<'a>>,
        "toolCall" => call: Option<PermissionCall<'a>>,
        ; known "options", "_meta", "path", "content", "line", "limit", "command", "args", "env", "cwd",
            "outputByteLimit", "terminalId"
    }

    /// The call that the client is asked to allow.
    pub(super) struct PermissionCall<'a> {
        "title" => title: Option<Str<'a>>,
        "rawInput" => raw_input: Value,
        ; known "toolCallId", "kind", "status", "content", "locations", "_meta"
    }

    /// News of a session.
    pub(super) struct Update<'a> {
        "sessionUpdate" => tag: Option<Str<'a>>,
        "content" => content: Content<'a>,
        "title" => title: Option<Str<'a>>,
        "status" => status: Option<Str<'a>>,
        "toolCallId" => call: Option<Str<'a>>,
        "locations" => locations: Vec<Location<'a>>,
        ; known "kind", "rawInput", "rawOutput", "entries", "used", "size", "cost", "updatedAt",
            "availableCommands", "currentModeId", "messageId", "_meta"
    }

    /// A file that a call is about.
    pub(super) struct Location<'a> {
        "path" => path: Option<Str<'a>>,
        ; known "line", "_meta"
    }

    /// The answer to a request of the client, of whatever kind.
    pub(super) struct Response<'a> {
        "agentInfo" => agent: Option<AgentInfo<'a>>,
        "sessionId" => session: Option<Str<'a>>,
        "models" => models: Option<Models<'a>>,
        "modes" => modes: bool as present,
        "stopReason" => stop_reason: Option<Str<'a>>,
        "usage" => usage: Option<UsageCounts>,
        ; known "agentCapabilities", "authMethods", "protocolVersion", "_meta", "configOptions",
            "sessions", "nextCursor", "userMessageId"
    }

    /// Who the agent is.
    pub(super) struct AgentInfo<'a> {
        "version" => version: Option<Str<'a>>,
        ; known "name", "title", "_meta"
    }

    /// The models of a session.
    pub(super) struct Models<'a> {
        "currentModelId" => current: Option<Str<'a>>,
        "availableModels" => available: Vec<Model<'a>>,
        ; known "_meta"
    }

    /// A model.
    pub(super) struct Model<'a> {
        "modelId" => id: Option<Str<'a>>,
        "name" => name: Option<Str<'a>>,
        ; known "description", "_meta"
    }

    /// What all prompts of the session used so far.
    pub(super) struct UsageCounts {
        "inputTokens" => input: Option<u64> as number::opt_u64,
        "outputTokens" => output: Option<u64> as number::opt_u64,
        "cachedReadTokens" => cached: Option<u64> as number::opt_u64,
        "thoughtTokens" => thought: Option<u64> as number::opt_u64,
        "totalTokens" => total: Option<u64> as number::opt_u64,
        ; known "cachedWriteTokens", "_meta"
    }

    /// A piece of content: text, or what holds it.
    pub(super) struct Chunk<'a> {
        "text" => text: Option<Str<'a>>,
        "content" => inner: Option<InnerContent<'a>>,
        ; rest skipped
    }

    /// The text in a piece of a call's content.
    pub(super) struct InnerContent<'a> {
        "text" => text: Option<Str<'a>>,
        ; rest skipped
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<IgnoredAny>::deserialize(deserializer)?.is_some())
}

/// The content of a message, which is one piece, or of a call, which is a list of them.
#[derive(Clone, Debug, Default)]
pub(super) enum Content<'a> {
    /// None was given.
    #[default]
    None,
    /// One piece.
    One(Chunk<'a>),
    /// A list.
    Many(Vec<Chunk<'a>>),
}

impl Content<'_> {
    /// Returns the text of all pieces, joined by newlines.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::None => String::new(),
            Self::One(chunk) => text_of(chunk).unwrap_or_default(),
            Self::Many(chunks) => {
                let texts: Vec<String> = chunks.into_iter().filter_map(text_of).collect();
                texts.join("\n")
            }
        }
    }
}

fn text_of(chunk: Chunk<'_>) -> Option<String> {
    let inner = chunk.inner.and_then(|inner| inner.text);
    chunk.text.or(inner).map(Str::into_owned)
}

wire_shapes! {
    Content: "an object or a list";
    list list => items(list, size_of::<Chunk<'de>>()).map(Content::Many);
    object object => Chunk::deserialize(object).map(Content::One);
}
