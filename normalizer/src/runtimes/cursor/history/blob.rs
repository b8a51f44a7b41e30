//! Rows of the chat's tables, and what is in their blobs.

use serde_json::Value;

use crate::json::{Str, decode, wire_shapes, wire_struct};

/// How the name of a blob is written before its bytes, as the first or the second field of a message.
const REFERENCES: [[u8; 2]; 2] = [[0x0a, 0x20], [0x12, 0x20]];

/// What a JSON message may begin with.
const STARTS: &[&[u8]] = &[b"{\"id\":", b"{\"role\":", b"{\"content\":"];

/// How many places in a blob are looked at that may be the start of a message.
const MOST_TRIES: usize = 8;

/// Names a blob.
pub(super) type BlobId = [u8; 32];

wire_struct! {
    struct RowLine<'a> {
        "row" => row: BlobRow<'a>,
        ; rest skipped
    }

    struct BlobRow<'a> {
        "key" => key: Option<Str<'a>>,
        "value" => value: RowValue<'a>,
        "id" => id: Option<Str<'a>>,
        "data" => data: RowValue<'a>,
        ; rest skipped
    }
}

/// A value of a row: a text, or bytes.
#[derive(Clone, Debug, Default)]
enum RowValue<'a> {
    #[default]
    None,
    Text(Str<'a>),
    Bytes(Hex<'a>),
}

wire_shapes! {
    RowValue: "a text or bytes";
    string text => RowValue::Text(text);
    null => RowValue::None;
    flag _flag => RowValue::None;
    number _number => RowValue::None;
    object object => <Hex<'de> as serde::Deserialize<'de>>::deserialize(object).map(RowValue::Bytes);
}

wire_struct! {
    struct Hex<'a> {
        "hex" => digits: Option<Str<'a>>,
        ; rest skipped
    }
}

impl RowValue<'_> {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::None => Vec::new(),
            Self::Text(text) => text.as_bytes().to_vec(),
            Self::Bytes(bytes) => {
                let digits = bytes.digits.as_deref().unwrap_or_default();
                unhex(digits.as_bytes()).unwrap_or_default()
            }
        }
    }
}

/// Returns what a byte is as a hexadecimal digit; 16 for what is none.
fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        b'A'..=b'F' => byte - b'A' + 10,
        _ => 16,
    }
}

/// Reads hexadecimal digits; none if there is anything else.
pub(super) fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let mut bytes = Vec::with_capacity(pairs.len());
    let mut is_sound = rest.is_empty();
    for [high, low] in pairs {
        let (high, low) = (digit(*high), digit(*low));
        is_sound &= (high | low) < 16;
        bytes.push((high << 4) | (low & 15));
    }
    is_sound.then_some(bytes)
}

/// What the chat says of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct ChatMeta {
    pub(super) agent: Option<String>,
    pub(super) root: Option<BlobId>,
    pub(super) name: Option<String>,
    pub(super) model: Option<String>,
    pub(super) created_at: Option<u64>,
}

/// Reads a row of the table `meta`. The object is written in hexadecimal digits, as text or as bytes.
pub(super) fn meta(line: &[u8]) -> Option<ChatMeta> {
    let row = decode::<RowLine<'_>>(line).ok()?.value.row;
    let bytes = row.value.bytes();
    let object = unhex(&bytes).filter(|object| !object.is_empty());
    let object: Value = serde_json::from_slice(&object.unwrap_or(bytes)).ok()?;
    let text = |key: &str| object.get(key)?.as_str().map(str::to_owned);
    Some(ChatMeta {
        agent: text("agentId"),
        root: text("latestRootBlobId").and_then(|root| id_of(&root)),
        name: text("name"),
        model: text("lastUsedModel"),
        created_at: object.get("createdAt").and_then(Value::as_u64),
    })
}

fn id_of(digits: &str) -> Option<BlobId> {
    unhex(digits.as_bytes())?.try_into().ok()
}

/// A blob.
#[derive(Debug)]
pub(super) struct Blob {
    pub(super) id: BlobId,
    /// What may be names of other blobs, in order.
    pub(super) references: Vec<BlobId>,
    pub(super) message: Option<ChatMessage>,
}

/// Reads a row of the table `blobs`.
pub(super) fn blob(line: &[u8]) -> Option<Blob> {
    let row = decode::<RowLine<'_>>(line).ok()?.value.row;
    let id = id_of(row.id.as_deref()?)?;
    let data = row.data.bytes();
    let (message, start) = message_in(&data);
    let binary = data.get(..start).unwrap_or_default();
    Some(Blob {
        id,
        references: references_in(binary),
        message,
    })
}

/// Finds a message in a blob, and where the bytes end that are none of it.
fn message_in(data: &[u8]) -> (Option<ChatMessage>, usize) {
    let is_start = |at: &usize| {
        let rest = data.get(*at..).unwrap_or_default();
        STARTS.iter().any(|start| rest.starts_with(start))
    };
    // What only looks like messages is not searched for ever.
    let starts = memchr::memmem::find_iter(data, b"{\"").filter(is_start);
    for at in starts.take(MOST_TRIES) {
        let text = data.get(at..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
        if let Some(Ok(value)) = values.next()
            && let Some(message) = ChatMessage::of(value)
        {
            return (Some(message), at);
        }
    }
    (None, data.len())
}

fn references_in(data: &[u8]) -> Vec<BlobId> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(head) = data.get(at..at + 2) {
        let id = REFERENCES.iter().any(|start| head == start);
        let id = id.then(|| data.get(at + 2..at + 34)).flatten();
        match id.and_then(|id| BlobId::try_from(id).ok()) {
            Some(id) => {
                found.push(id);
                at += 34;
            }
            None => at += 1,
        }
    }
    found
}

/// A message of the conversation.
#[derive(Clone, Debug)]
pub(super) struct ChatMessage {
    pub(super) role: String,
    /// A text, or a list of parts.
    pub(super) content: Value,
}

impl ChatMessage {
    fn of(mut value: Value) -> Option<Self> {
        let role = value.get("role")?.as_str()?.to_owned();
        let content = value
            .get_mut("content")
            .map(Value::take)
            .unwrap_or_default();
        Some(Self { role, content })
    }

    /// Returns the parts; a text is one.
    pub(super) fn into_parts(self) -> Vec<Value> {
        match self.content {
            Value::Array(parts) => parts,
            Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
            Value::Null => Vec::new(),
            other => vec![other],
        }
    }

    /// Returns all text of it.
    pub(super) fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let text = |part: &'_ Value| match part.get("type")?.as_str()? {
                    "text" => Some(part.get("text")?.as_str()?.to_owned()),
                    _ => None,
                };
                parts.iter().filter_map(text).collect()
            }
            _ => String::new(),
        }
    }
}
