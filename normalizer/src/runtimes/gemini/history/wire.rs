//! What the parser reads of a line.

use serde::Deserialize;
use serde_json::Value;

use super::note::Note;
use crate::json::{Str, items, number, wire_shapes, wire_struct};

wire_struct! {
    /// A line. Which fields it has tells what it is.
    pub(super) struct Line<'a> {
        "id" => id: Option<Str<'a>>,
        "type" => kind: Option<Str<'a>>,
        "timestamp" => timestamp: Option<Str<'a>>,
        "content" => content: Content<'a>,
        "displayContent" => shown: Content<'a>,
        "thoughts" => thoughts: Thoughts<'a>,
        "tokens" => tokens: Option<Tokens>,
        "model" => model: Option<Str<'a>>,
        "toolCalls" => calls: Calls<'a>,
        "sessionId" => session: Option<Str<'a>>,
        "startTime" => start_time: Option<Str<'a>>,
        "directories" => directories: Content<'a>,
        "$set" => set: Option<Set<'a>>,
        "$rewindTo" => rewind: Option<Str<'a>>,
        "$note" => note: Option<Note<'a>>,
        ; known "projectHash", "lastUpdated", "kind", "summary", "memoryScratchpad"
    }

    /// What a line changes.
    pub(super) struct Set<'a> {
        "sessionId" => session: Option<Str<'a>>,
        "directories" => directories: Content<'a>,
        ; known "lastUpdated", "summary", "memoryScratchpad", "projectHash", "startTime", "kind", "messages"
    }

    pub(super) struct Thought<'a> {
        "subject" => subject: Option<Str<'a>>,
        "description" => description: Option<Str<'a>>,
        ; known "timestamp"
    }

    /// What a response used.
    pub(in crate::runtimes::gemini) struct Tokens {
        "input" => input: Option<u64> as number::opt_u64,
        "output" => output: Option<u64> as number::opt_u64,
        "cached" => cached: Option<u64> as number::opt_u64,
        "thoughts" => thoughts: Option<u64> as number::opt_u64,
        "total" => total: Option<u64> as number::opt_u64,
        ; known "tool"
    }

    /// A call with its result.
    pub(super) struct Call<'a> {
        "id" => id: Option<Str<'a>>,
        "name" => name: Option<Str<'a>>,
        "args" => input: Value,
        "result" => result: Content<'a>,
        "status" => status: Option<Str<'a>>,
        "timestamp" => timestamp: Option<Str<'a>>,
        "agentId" => agent: Option<Str<'a>>,
        ; known "resultDisplay", "displayName", "description", "renderOutputAsMarkdown"
    }

    /// A part as the model's API has it.
    pub(super) struct Part<'a> {
        "text" => text: Option<Str<'a>>,
        "thought" => is_thought: Option<bool>,
        "functionCall" => call: Option<FunctionCall<'a>>,
        "functionResponse" => response: Option<FunctionResponse<'a>>,
        "inlineData" => data: Option<InlineData<'a>>,
        ; known "thoughtSignature", "fileData", "videoMetadata", "executableCode", "codeExecutionResult"
    }

    pub(super) struct FunctionCall<'a> {
        "id" => id: Option<Str<'a>>,
        "name" => name: Option<Str<'a>>,
        "args" => input: Value,
    }

    pub(super) struct FunctionResponse<'a> {
        "id" => id: Option<Str<'a>>,
        "name" => name: Option<Str<'a>>,
        "response" => response: Value,
        "parts" => parts: Content<'a>,
        ; known "willContinue", "scheduling"
    }

    pub(super) struct InlineData<'a> {
        "mimeType" => mime_type: Option<Str<'a>>,
        "data" => data: Option<Str<'a>>,
        ; known "displayName"
    }
}

/// The thoughts of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Thoughts<'a>(pub(super) Vec<Thought<'a>>);

wire_shapes! {
    Thoughts: "a list of thoughts";
    null => Thoughts::default();
    list list => items(list, size_of::<Thought<'de>>()).map(Thoughts);
}

/// The calls of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls<'a>(pub(super) Vec<Call<'a>>);

wire_shapes! {
    Calls: "a list of calls";
    null => Calls::default();
    list list => items(list, size_of::<Call<'de>>()).map(Calls);
}

/// What a record says, or what a tool gave back: a text, or parts.
#[derive(Clone, Debug, Default)]
pub(super) enum Content<'a> {
    /// Nothing was there.
    #[default]
    Absent,
    /// A text.
    Text(Str<'a>),
    /// A list.
    List(Vec<Content<'a>>),
    /// A part.
    Part(Box<Part<'a>>),
}

wire_shapes! {
    Content: "text or parts";
    string text => Content::Text(text);
    null => Content::Absent;
    list list => items(list, size_of::<(Content<'de>, Part<'de>)>()).map(Content::List);
    object object => Part::deserialize(object).map(|part| Content::Part(Box::new(part)));
}

impl<'a> Content<'a> {
    /// Tells whether nothing was there.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns the parts one after the other; a text is a part with nothing else.
    pub(super) fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Self::Absent => Vec::new(),
            Self::Text(text) => vec![Part {
                text: Some(text),
                ..Part::default()
            }],
            Self::List(list) => list.into_iter().flat_map(Self::into_parts).collect(),
            Self::Part(part) => vec![*part],
        }
    }
}

/// Joins the texts of parts that are no thoughts.
pub(super) fn join_texts(parts: &mut [Part<'_>]) -> String {
    let texts = parts
        .iter_mut()
        .filter(|part| part.is_thought != Some(true));
    let mut texts = texts.filter_map(|part| part.text.take());
    let Some(first) = texts.next() else {
        return String::new();
    };
    texts.fold(first.into_owned(), |text, more| text + &more)
}
