//! What the reader needs of a line: enough to know whose it is and what it adds.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::said::Said;
use super::words::{Speaker, speaker};
use crate::json::{Str, items, wire_shapes, wire_struct};

wire_struct! {
    /// A line, or a document. Which fields it has tells what it is.
    pub(super) struct LineHead<'a> {
        "id" => id: Option<Str<'a>>,
        "type" => kind: Option<Str<'a>>,
        "timestamp" => timestamp: Option<Str<'a>>,
        "content" => content: ContentHead<'a>,
        "displayContent" => shown: ContentHead<'a>,
        "thoughts" => thoughts: Vec<IgnoredAny>,
        "tokens" => tokens: Presence,
        "model" => model: Option<Str<'a>>,
        "toolCalls" => calls: CallHeads<'a>,
        "sessionId" => session: Option<Str<'a>>,
        "summary" => summary: Option<Str<'a>>,
        "directories" => directories: Directories<'a>,
        "messages" => messages: Presence,
        "$set" => set: Option<SetHead<'a>>,
        "$rewindTo" => rewind: Presence,
        ; rest skipped
    }

    /// What a line changes.
    pub(super) struct SetHead<'a> {
        "sessionId" => session: Option<Str<'a>>,
        "lastUpdated" => last_updated: Option<Str<'a>>,
        "messages" => messages: Presence,
        "summary" => summary: Option<Str<'a>>,
        "directories" => directories: Directories<'a>,
        "memoryScratchpad" => scratchpad: Presence,
    }

    pub(super) struct CallHead<'a> {
        "id" => id: Option<Str<'a>>,
        "result" => result: Presence,
        "timestamp" => timestamp: Option<Str<'a>>,
        "agentId" => agent: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct PartHead<'a> {
        "text" => text: Option<Str<'a>>,
        "thought" => is_thought: Option<bool>,
        "functionResponse" => response: Option<ResponseHead<'a>>,
        "functionCall" => call: Presence,
        ; rest skipped
    }

    pub(super) struct ResponseHead<'a> {
        "id" => id: Option<Str<'a>>,
        ; rest skipped
    }
}

/// Something that is there or is not.
type Presence = Option<IgnoredAny>;

/// The calls of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct CallHeads<'a>(pub(super) Vec<CallHead<'a>>);

wire_shapes! {
    CallHeads: "a list of calls";
    null => CallHeads::default();
    list list => items(list, size_of::<CallHead<'de>>()).map(CallHeads);
}

/// The directories that the CLI may work in.
#[derive(Clone, Debug, Default)]
pub(super) struct Directories<'a>(pub(super) Vec<Str<'a>>);

wire_shapes! {
    Directories: "a list of directories";
    null => Directories::default();
    list list => items(list, size_of::<Str<'de>>()).map(Directories);
}

/// What a record says: a text, or parts.
#[derive(Clone, Debug, Default)]
pub(super) enum ContentHead<'a> {
    /// Nothing was there.
    #[default]
    Absent,
    /// A text.
    Text(Str<'a>),
    /// A list.
    List(Vec<ContentHead<'a>>),
    /// A part.
    Part(Box<PartHead<'a>>),
}

wire_shapes! {
    ContentHead: "text or parts";
    string text => ContentHead::Text(text);
    null => ContentHead::Absent;
    list list => items(list, size_of::<(ContentHead<'de>, PartHead<'de>)>()).map(ContentHead::List);
    object object => PartHead::deserialize(object).map(|part| ContentHead::Part(Box::new(part)));
}

impl ContentHead<'_> {
    /// Hands out the parts; a text is a part without anything else.
    fn each(&self, visit: &mut dyn FnMut(ContentPart<'_>)) {
        match self {
            Self::Absent => {}
            Self::Text(text) => visit(ContentPart::Text(text)),
            Self::List(list) => list.iter().for_each(|content| content.each(visit)),
            Self::Part(part) => {
                if let Some(response) = &part.response {
                    visit(ContentPart::Response(response.id.as_deref()));
                }
                if part.call.is_some() {
                    visit(ContentPart::Call);
                }
                if let (Some(text), false) = (&part.text, part.is_thought == Some(true)) {
                    visit(ContentPart::Text(text));
                }
            }
        }
    }

    /// Returns the text of all parts but thoughts.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.each(&mut |part| {
            if let ContentPart::Text(more) = part {
                text.push_str(more);
            }
        });
        text
    }

    fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

enum ContentPart<'a> {
    Text(&'a str),
    Call,
    Response(Option<&'a str>),
}

impl LineHead<'_> {
    /// Returns how much the line says of its record.
    pub(super) fn said(&self) -> Said {
        let (mut has_text, mut written_calls) = (false, 0);
        self.content.each(&mut |part| match part {
            ContentPart::Text(text) => has_text |= !text.is_empty(),
            ContentPart::Call => written_calls += 1,
            ContentPart::Response(_) => {}
        });
        let calls = &self.calls.0;
        Said {
            content: has_text,
            tokens: self.tokens.is_some(),
            model: self.model.as_deref().is_some_and(|model| !model.is_empty()),
            thoughts: self.thoughts.len(),
            calls: calls.len().max(written_calls),
            results: calls.iter().filter(|call| call.result.is_some()).count(),
        }
    }

    /// Hands out the calls whose results a user's record has.
    pub(super) fn each_response(&self, mut visit: impl FnMut(Option<&str>)) {
        self.content.each(&mut |part| {
            if let ContentPart::Response(id) = part {
                visit(id);
            }
        });
    }

    /// Returns whose words a user's record has, and what was typed.
    pub(super) fn words(&self) -> (Speaker, String) {
        let text = self.content.text();
        let shown = (!self.shown.is_absent()).then(|| self.shown.text());
        match speaker(&text, shown.as_deref()) {
            Speaker::User => (Speaker::User, shown.unwrap_or(text)),
            other => (other, text),
        }
    }
}
