//! Content blocks: what a message or a tool's result is made of.

use std::borrow::Cow;

use serde::de::{Deserialize, IgnoredAny, MapAccess};
use serde_json::{Map, Value};

use crate::json::{Str, items, wire_shapes, wire_struct};
use crate::signal;

/// A string, or whatever else stands where one is expected.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TextOrOther<'a> {
    /// A string.
    Text(Str<'a>),
    /// Anything else; null where nothing was printed.
    Other(Value),
}

impl Default for TextOrOther<'_> {
    fn default() -> Self {
        Self::Other(Value::Null)
    }
}

impl<'a> TextOrOther<'a> {
    /// Returns the string, or what else it is as JSON; `None` for null.
    pub(super) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text.into_cow()),
            Self::Other(Value::Null) => None,
            Self::Other(value) => Some(Cow::Owned(value.to_string())),
        }
    }
}

wire_shapes! {
    TextOrOther: "a value";
    string text => TextOrOther::Text(text);
    null => TextOrOther::default();
    flag flag => TextOrOther::Other(flag.into());
    number number => TextOrOther::Other(number);
    list_value list => TextOrOther::Other(list);
    object_value object => TextOrOther::Other(object);
}

/// The content of a message or of a tool's result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Content<'a> {
    /// None was printed.
    #[default]
    Absent,
    /// A plain string, as in replays and old versions.
    Text(Str<'a>),
    /// Blocks.
    Blocks(Vec<ContentBlock<'a>>),
    /// One object, as server tools have it, or anything else.
    Other(Value),
}

impl<'a> Content<'a> {
    /// Returns the pieces of a tool's result. Structured ones become JSON text.
    pub(super) fn into_pieces(self) -> Vec<signal::Block<'a>> {
        match self {
            Self::Absent => Vec::new(),
            Self::Text(text) => vec![signal::Block::Text(text.into_cow())],
            Self::Blocks(blocks) => blocks.into_iter().map(ContentBlock::into_piece).collect(),
            Self::Other(value) => vec![signal::Block::Text(Cow::Owned(value.to_string()))],
        }
    }

    /// Returns the blocks; a plain string is one block of text.
    pub(super) fn into_blocks(self) -> Vec<ContentBlock<'a>> {
        match self {
            Self::Absent => Vec::new(),
            Self::Text(text) => vec![ContentBlock::text(text)],
            Self::Blocks(blocks) => blocks,
            Self::Other(value) => {
                vec![ContentBlock {
                    rest: vec![(Str::from("value"), value)],
                    ..ContentBlock::default()
                }]
            }
        }
    }
}

wire_shapes! {
    Content: "content";
    string text => Content::Text(text);
    null => Content::Absent;
    flag flag => Content::Other(flag.into());
    number number => Content::Other(number);
    list list => items(list, size_of::<ContentBlock<'de>>()).map(Content::Blocks);
    object_value object => Content::Other(object);
}

wire_struct! {
    /// Where the bytes of an image or a document are.
    pub(super) struct ByteSource<'a> {
        "type" => kind: Option<Str<'a>>,
        "media_type" => media_type: Option<Str<'a>>,
        "data" => data: Option<Str<'a>>,
        "url" => url: Option<Str<'a>>,
        "file_id" => file_id: Option<Str<'a>>,
        "content" => content: Value,
    }
}

impl PartialEq for ByteSource<'_> {
    fn eq(&self, other: &Self) -> bool {
        (
            &self.kind,
            &self.media_type,
            &self.data,
            &self.url,
            &self.file_id,
            &self.content,
        ) == (
            &other.kind,
            &other.media_type,
            &other.data,
            &other.url,
            &other.file_id,
            &other.content,
        )
    }
}

impl ByteSource<'_> {
    fn into_value(self) -> Value {
        let texts = [
            ("type", self.kind),
            ("media_type", self.media_type),
            ("data", self.data),
            ("url", self.url),
            ("file_id", self.file_id),
        ];
        let mut map = Map::new();
        for (key, text) in texts {
            if let Some(text) = text {
                map.insert(key.to_owned(), Value::String(text.into_owned()));
            }
        }
        if !self.content.is_null() {
            map.insert("content".to_owned(), self.content);
        }
        Value::Object(map)
    }
}

/// One content block of any type: those of a message, and those of a tool's result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ContentBlock<'a> {
    pub(super) kind: Str<'a>,
    pub(super) text: Option<Str<'a>>,
    pub(super) thinking: Option<Str<'a>>,
    pub(super) signature: Option<Str<'a>>,
    /// What is inside redacted thinking, encrypted.
    pub(super) data: Option<Str<'a>>,
    pub(super) id: Option<Str<'a>>,
    pub(super) name: Option<Str<'a>>,
    pub(super) input: Value,
    pub(super) tool_use_id: Option<Str<'a>>,
    pub(super) content: Content<'a>,
    pub(super) is_error: Option<bool>,
    pub(super) source: Option<ByteSource<'a>>,
    /// Everything else, so that a block of another type can be kept whole.
    pub(super) rest: Vec<(Str<'a>, Value)>,
}

impl<'a> ContentBlock<'a> {
    fn text(text: Str<'a>) -> Self {
        Self {
            kind: Str::from("text"),
            text: Some(text),
            ..Self::default()
        }
    }

    /// Returns the block as it may stand in a tool's result.
    fn into_piece(mut self) -> signal::Block<'a> {
        if self.kind == "text"
            && let Some(text) = self.text.take()
        {
            return signal::Block::Text(text.into_cow());
        }
        let is_image = self.kind == "image";
        if (is_image || self.kind == "document")
            && let Some(source) = &mut self.source
            && let Some(data) = source.data.take()
        {
            let data = data.into_cow();
            let media_type = source.media_type.take().map(Str::into_cow);
            if source.kind.as_deref() == Some("text") {
                return signal::Block::Text(data);
            }
            return if is_image {
                let mime_type = media_type.unwrap_or(Cow::Borrowed("image/png"));
                signal::Block::Image { mime_type, data }
            } else {
                let mime_type = media_type.unwrap_or(Cow::Borrowed("application/pdf"));
                signal::Block::File { mime_type, data }
            };
        }
        signal::Block::Text(Cow::Owned(self.into_value().to_string()))
    }

    /// Returns the block as JSON.
    pub(super) fn into_value(self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                map.insert(key.to_owned(), value);
            }
        };
        let text =
            |text: Option<Str<'_>>| text.map_or(Value::Null, |text| text.into_owned().into());
        if !self.kind.is_empty() {
            put("type", self.kind.into_owned().into());
        }
        put("text", text(self.text));
        put("thinking", text(self.thinking));
        put("signature", text(self.signature));
        put("data", text(self.data));
        put("id", text(self.id));
        put("name", text(self.name));
        put("input", self.input);
        put("tool_use_id", text(self.tool_use_id));
        match self.content {
            Content::Absent => {}
            Content::Text(content) => put("content", content.into_owned().into()),
            Content::Blocks(blocks) => {
                put(
                    "content",
                    blocks.into_iter().map(ContentBlock::into_value).collect(),
                );
            }
            Content::Other(value) => put("content", value),
        }
        put("is_error", self.is_error.map_or(Value::Null, Value::Bool));
        put(
            "source",
            self.source.map_or(Value::Null, ByteSource::into_value),
        );
        for (key, value) in self.rest {
            map.insert(key.into_owned(), value);
        }
        Value::Object(map)
    }
}

wire_shapes! {
    ContentBlock: "a content block";
    string text => ContentBlock::text(text);
    object_map map => ContentBlock::of_map(map);
}

impl<'de> ContentBlock<'de> {
    fn of_map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut block = ContentBlock::default();
        while let Some(key) = map.next_key::<Str<'de>>()? {
            match key.as_str() {
                "type" => {
                    block.kind = map.next_value::<Option<Str<'de>>>()?.unwrap_or_default();
                }
                "text" => block.text = map.next_value()?,
                "thinking" => block.thinking = map.next_value()?,
                "signature" => block.signature = map.next_value()?,
                "data" => block.data = map.next_value()?,
                "id" => block.id = map.next_value()?,
                "name" => block.name = map.next_value()?,
                "input" => block.input = map.next_value()?,
                "tool_use_id" => block.tool_use_id = map.next_value()?,
                "content" => block.content = map.next_value()?,
                "is_error" => block.is_error = map.next_value()?,
                "source" => match map.next_value::<Content<'de>>()? {
                    Content::Other(value @ Value::Object(_)) => {
                        block.source = ByteSource::deserialize(value).ok();
                    }
                    Content::Text(text) => {
                        block.rest.push((key, text.into_owned().into()));
                    }
                    _ => {}
                },
                "citations" | "cache_control" | "caller" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    let value = map.next_value()?;
                    block.rest.push((key, value));
                }
            }
        }
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(json: &str) -> Vec<signal::Block<'_>> {
        serde_json::from_str::<Content<'_>>(json)
            .unwrap()
            .into_pieces()
    }

    fn text(text: &str) -> signal::Block<'_> {
        signal::Block::Text(Cow::Borrowed(text))
    }

    #[test]
    fn a_result_is_a_string_or_a_list_of_blocks() {
        assert_eq!(pieces("null"), []);
        assert_eq!(pieces("\"one\""), [text("one")]);
        assert_eq!(
            pieces(r#"[{"type":"text","text":"one"},{"text":"","type":"text"},"two"]"#),
            [text("one"), text(""), text("two")]
        );
    }

    #[test]
    fn images_and_documents_are_kept() {
        let image =
            r#"{"type":"image","source":{"type":"base64","data":"aGk=","media_type":"image/gif"}}"#;
        let document = image
            .replace("\"image\"", "\"document\"")
            .replace("image/gif", "text/csv");
        let prose =
            r#"{"type":"document","source":{"type":"text","data":"hi","media_type":"text/plain"}}"#;
        let list = format!("[{image},{document},{prose}]");
        let expected = [
            signal::Block::Image {
                mime_type: "image/gif".into(),
                data: "aGk=".into(),
            },
            signal::Block::File {
                mime_type: "text/csv".into(),
                data: "aGk=".into(),
            },
            text("hi"),
        ];
        assert_eq!(pieces(&list), expected);
    }

    #[test]
    fn other_blocks_and_objects_become_json_text() {
        let table = [
            r#"{"type":"web_search_result","url":"u","title":"t","page_age":null}"#,
            r#"{"type":"search_result","content":[{"type":"text","text":"a"}],"source":"s"}"#,
            r#"{"type":"image","source":{"type":"url","url":"u"}}"#,
            r#"{"type":"text"}"#,
        ];
        for json in table {
            assert_eq!(pieces(&format!("[{json}]")), [text(json)]);
        }
        let error = r#"{"type":"web_search_tool_result_error","error_code":"unavailable"}"#;
        assert_eq!(pieces(error), [text(error)]);
    }

    #[test]
    fn a_string_may_be_something_else() {
        let loose = |json| {
            serde_json::from_str::<TextOrOther<'_>>(json)
                .unwrap()
                .into_text()
        };
        assert_eq!(loose("\"a\"").as_deref(), Some("a"));
        assert_eq!(loose("null"), None);
        assert_eq!(
            loose(r#"{"a":[1,"b"]}"#).as_deref(),
            Some(r#"{"a":[1,"b"]}"#)
        );
        assert_eq!(loose(r#"["a",1]"#).as_deref(), Some(r#"["a",1]"#));
    }
}
