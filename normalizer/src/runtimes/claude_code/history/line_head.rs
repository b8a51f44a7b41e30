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
        "content" => content: Written<'a>,
        // titles
        "summary" => summary: Written<'a>,
        "leafUuid" => leaf: Option<Str<'a>>,
        "aiTitle" => ai_title: Written<'a>,
        "customTitle" => custom_title: Written<'a>,
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
        "content" => content: Said<'a>,
        ; rest skipped
    }

    /// A content block.
    pub(super) struct BlockFields<'a> {
        "type" => kind: Option<Str<'a>>,
        "text" => text: Option<Str<'a>>,
        "id" => id: Option<Str<'a>>,
        "name" => name: Option<Str<'a>>,
        "input" => input: Asked<'a>,
        "tool_use_id" => tool_use_id: Option<Str<'a>>,
        ; rest skipped
    }

    /// What a call asks for.
    pub(super) struct AskedFields<'a> {
        "prompt" => prompt: Written<'a>,
        ; rest skipped
    }

    /// What a call that started a sub-agent gave back.
    pub(super) struct ResultFields<'a> {
        "agentId" => agent: Written<'a>,
        "status" => status: Written<'a>,
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
pub(super) struct Written<'a>(pub(super) Option<Str<'a>>);

wire_shapes! {
    Written: "a value";
    string text => Written(Some(text));
    null => Written::default();
    flag _flag => Written::default();
    number _number => Written::default();
    list list => IgnoredAny.visit_seq(list).map(|_| Written::default());
    object object => IgnoredAny::deserialize(object).map(|_| Written::default());
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
    Asked(AskedFields)
}
maybe_object! {
    /// What a call gave back.
    ResultHead(ResultFields)
}
maybe_object! {
    /// A content block.
    Block(BlockFields)
}

/// What a message says.
#[derive(Clone, Debug)]
pub(super) enum Said<'a> {
    /// Plain text.
    Text(Str<'a>),
    /// Blocks.
    Blocks(Vec<Block<'a>>),
}

impl Default for Said<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

wire_shapes! {
    Said: "content";
    string text => Said::Text(text);
    null => Said::default();
    flag _flag => Said::default();
    number _number => Said::default();
    list list => items(list, size_of::<Block<'de>>()).map(Said::Blocks);
    object object => IgnoredAny::deserialize(object).map(|_| Said::default());
}

impl<'a> Said<'a> {
    /// Returns the blocks, if that is what it is made of.
    pub(super) fn blocks(&self) -> &[Block<'a>] {
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
                let is_text = |block: &&Block<'_>| block.0.kind.as_deref() == Some("text");
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
