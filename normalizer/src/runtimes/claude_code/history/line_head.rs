//! What the reader wants to know of a line.

use serde::de::{Deserialize, IgnoredAny};

use crate::json::{Str, items, wire_shapes, wire_struct};

wire_struct! {
    /// A line of a session file.
    pub(super) struct LineHead<'a> {
        "type" => kind: Option<Str<'a>>,
        "subtype" => subtype: Option<Str<'a>>,
        "uuid" => uuid: Option<Str<'a>>,
        "parentUuid" => parent: Option<Str<'a>>,
        "sessionId" => session: Option<Str<'a>>,
        "timestamp" => timestamp: Option<Str<'a>>,
        "cwd" => cwd: Option<Str<'a>>,
        "version" => version: Option<Str<'a>>,
        "entrypoint" => entrypoint: Option<Str<'a>>,
        "requestId" => request_id: Option<Str<'a>>,
        "isSidechain" => is_sidechain: Option<bool>,
        "isMeta" => is_meta: Option<bool>,
        "isCompactSummary" => is_summary: Option<bool>,
        "isApiErrorMessage" => is_api_error: Option<bool>,
        "isAbortedMidStream" => is_aborted: Option<bool>,
        "toolDenialKind" => denial: Option<Str<'a>>,
        "forkedFrom" => forked_from: Option<IgnoredAny>,
        "origin" => origin: Tagged<'a>,
        "message" => message: MessageHead<'a>,
        "toolUseResult" => result: ResultHead<'a>,
        "attachment" => attachment: Tagged<'a>,
        // queue-operation
        "operation" => operation: Option<Str<'a>>,
        "content" => content: MaybeText<'a>,
        // titles
        "summary" => summary: MaybeText<'a>,
        "leafUuid" => leaf: Option<Str<'a>>,
        "aiTitle" => ai_title: MaybeText<'a>,
        "customTitle" => custom_title: MaybeText<'a>,
        ; rest skipped
    }

    /// An object with a type.
    pub(super) struct TaggedFields<'a> {
        "type" | "kind" => kind: Option<Str<'a>>,
        ; rest skipped
    }

    /// A message.
    pub(super) struct MessageHead<'a> {
        "id" => id: Option<Str<'a>>,
        "model" => model: Option<Str<'a>>,
        "content" => content: MessageWords<'a>,
        ; rest skipped
    }

    /// A content block.
    pub(super) struct BlockFields<'a> {
        "type" => kind: Option<Str<'a>>,
        "text" => text: Option<Str<'a>>,
        "id" => id: Option<Str<'a>>,
        "name" => name: Option<Str<'a>>,
        "input" => input: CallInput<'a>,
        "tool_use_id" => tool_use_id: Option<Str<'a>>,
        ; rest skipped
    }

    /// What a call asks for.
    pub(super) struct AskedFields<'a> {
        "prompt" => prompt: MaybeText<'a>,
        ; rest skipped
    }

    /// What a call that started a sub-agent gave back.
    pub(super) struct ResultFields<'a> {
        "agentId" => agent: MaybeText<'a>,
        "status" => status: MaybeText<'a>,
        ; rest skipped
    }

    /// `agent-<id>.meta.json`.
    pub(super) struct AgentNote<'a> {
        "toolUseId" => call: Option<Str<'a>>,
        "finished" => is_finished: Option<bool>,
        ; rest skipped
    }
}

/// A string; anything else is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MaybeText<'a>(pub(super) Option<Str<'a>>);

wire_shapes! {
    MaybeText: "a value";
    string text => MaybeText(Some(text));
    null => MaybeText::default();
    flag _flag => MaybeText::default();
    number _number => MaybeText::default();
    list list => IgnoredAny.visit_seq(list).map(|_| MaybeText::default());
    object object => IgnoredAny::deserialize(object).map(|_| MaybeText::default());
}

/// Declares an object that may as well be something else, which is none.
macro_rules! maybe_object {
    ($(#[$attribute:meta])* $name:ident($fields:ident)) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default)]
        pub(super) struct $name<'a>(pub(super) $fields<'a>);

        wire_shapes! {
            $name: "an object";
            string _text => $name::default();
            null => $name::default();
            flag _flag => $name::default();
            number _number => $name::default();
            list list => IgnoredAny.visit_seq(list).map(|_| $name::default());
            object object => $fields::deserialize(object).map($name);
        }
    };
}

maybe_object! {
    /// An object with a type.
    Tagged(TaggedFields)
}
maybe_object! {
    /// What a call asks for.
    CallInput(AskedFields)
}
maybe_object! {
    /// What a call gave back.
    ResultHead(ResultFields)
}
maybe_object! {
    /// A content block.
    BlockHead(BlockFields)
}

/// What a message says.
#[derive(Clone, Debug)]
pub(super) enum MessageWords<'a> {
    /// Plain text.
    Text(Str<'a>),
    /// Blocks.
    Blocks(Vec<BlockHead<'a>>),
}

impl Default for MessageWords<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

wire_shapes! {
    MessageWords: "content";
    string text => MessageWords::Text(text);
    null => MessageWords::default();
    flag _flag => MessageWords::default();
    number _number => MessageWords::default();
    list list => items(list, size_of::<BlockHead<'de>>()).map(MessageWords::Blocks);
    object object => IgnoredAny::deserialize(object).map(|_| MessageWords::default());
}

impl<'a> MessageWords<'a> {
    /// Returns the blocks, if that is what it is made of.
    pub(super) fn blocks(&self) -> &[BlockHead<'a>] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }

    /// Returns all text.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.as_str().to_owned()),
            Self::Blocks(blocks) => {
                let is_text = |block: &&BlockHead<'_>| block.0.kind.as_deref() == Some("text");
                let texts = blocks.iter().filter(is_text);
                let texts: Vec<&str> = texts.filter_map(|block| block.0.text.as_deref()).collect();
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
        }
    }

    /// Returns how its text begins.
    pub(super) fn beginning(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(|block| block.0.text.as_deref());
                texts.into_iter().next().unwrap_or_default()
            }
        }
    }
}
