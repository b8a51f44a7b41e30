//! What the events look like.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::framing::events_or_text::{leading_text, quoted};
use crate::json::{PlainFields, RareValue, Raw, Str, decode_rest, number, wire_struct};
use crate::verdict::VerdictWord;

/// What an event is, and of an item its id and its type.
#[derive(Clone, Debug, Default)]
pub(super) struct Head<'a> {
    pub(super) tag: Option<Str<'a>>,
    pub(super) id: Option<Str<'a>>,
    pub(super) kind: Option<Str<'a>>,
    /// The event and where its other fields begin, or those of its item, if all before them is as it
    /// is always printed.
    rest: Option<(&'a str, usize)>,
}

impl<'a> Head<'a> {
    /// Reads the other fields, if all is printed as always.
    pub(super) fn read_rest<T: Deserialize<'a>>(&self) -> Option<T> {
        let (text, at) = self.rest?;
        decode_rest(text, at, if self.kind.is_some() { 2 } else { 1 })
    }

    /// Begins to read the other fields in the order in which they are always printed.
    fn plain_rest(&self) -> Option<PlainFields<'a>> {
        let (text, at) = self.rest?;
        Some(PlainFields::new(text, at))
    }

    /// Reads the one other field that there is, a text; `opening` is all before its content.
    pub(super) fn only_text(&self, opening: &str) -> Option<Str<'a>> {
        let mut fields = self.plain_rest()?;
        let text = fields.text(opening)?;
        let brackets = if self.kind.is_some() { "}}" } else { "}" };
        fields.ends_with(brackets).then_some(text)
    }
}

impl<'a> From<EventStart<'a>> for Head<'a> {
    fn from(line: EventStart<'a>) -> Self {
        let item = line.item.unwrap_or_default();
        Self {
            tag: line.tag,
            id: item.id,
            kind: item.kind,
            rest: None,
        }
    }
}

/// Reads the head of an event as it is always printed, without a look at the rest.
pub(super) fn leading_head(object: &[u8]) -> Option<Head<'_>> {
    let (text, is_whole) = leading_text(object);
    let rest_at = |rest: &str| is_whole.then(|| (text, text.len() - rest.len()));
    let (tag, rest) = quoted(text.strip_prefix("{\"type\":\"")?)?;
    if !tag.starts_with("item.") {
        return Some(Head {
            tag: Some(tag.into()),
            rest: rest_at(rest),
            ..Head::default()
        });
    }
    let (id, rest) = quoted(rest.strip_prefix(",\"item\":{\"id\":\"")?)?;
    let (kind, rest) = quoted(rest.strip_prefix(",\"type\":\"")?)?;
    Some(Head {
        tag: Some(tag.into()),
        id: Some(id.into()),
        kind: Some(kind.into()),
        rest: rest_at(rest),
    })
}

wire_struct! {
    /// What any event may begin with.
    pub(super) struct EventStart<'a> {
        "type" => tag: Option<Str<'a>>,
        "item" => item: Option<ItemHead<'a>>,
        ; rest skipped
    }
}

/// The id and the type of an item. A web search has the key `id` twice: the item's comes first.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemHead<'a> {
    id: Option<Str<'a>>,
    kind: Option<Str<'a>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for ItemHead<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = ItemHead<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut head = ItemHead::default();
                while let Some(key) = map.next_key::<Str<'de>>()? {
                    match key.as_str() {
                        "id" if head.id.is_none() => head.id = map.next_value()?,
                        "type" => head.kind = map.next_value()?,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(head)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

wire_struct! {
    pub(super) struct ThreadStarted<'a> {
        "thread_id" => thread: Option<Str<'a>>,
        ; known "type"
    }

    pub(super) struct TurnStarted {
        ; known "type"
    }

    pub(super) struct TurnCompleted<'a> {
        "usage" => usage: Raw<'a>,
        "error" => error: VerdictWord<'a>,
        ; known "type"
    }

    pub(super) struct TurnFailed {
        "error" => error: Value,
        ; known "type"
    }

    pub(super) struct ErrorLine<'a> {
        "message" => message: Option<Str<'a>>,
        ; known "type"
    }

    /// The tokens of a thread. Older versions count neither reasoning nor cache writes.
    pub(super) struct Usage {
        "input_tokens" => input: Option<u64> as number::opt_u64,
        "cached_input_tokens" => cached: Option<u64> as number::opt_u64,
        "output_tokens" => output: Option<u64> as number::opt_u64,
        "reasoning_output_tokens" => reasoning: Option<u64> as number::opt_u64,
        "cache_write_input_tokens" => written: Option<u64> as number::opt_u64,
        ; known "total_tokens"
    }

    pub(super) struct TextLine<'a> {
        "item" => item: TextItem<'a>,
        ; known "type"
    }

    /// What was said: a message, reasoning, or an error. Nearly all items are these and commands, and
    /// one struct for all types takes longer to hand over than such an item takes to read.
    pub(super) struct TextItem<'a> {
        // agent_message, reasoning
        "text" => text: Option<Str<'a>>,
        // error
        "message" => message: Option<Str<'a>>,
        ; known "id", "type", "status"
    }

    pub(super) struct CommandLine<'a> {
        "item" => item: CommandItem<'a>,
        ; known "type"
    }

    /// A command, the most common of the tool calls.
    pub(super) struct CommandItem<'a> {
        "status" => status: VerdictWord<'a>,
        "command" => command: Option<Str<'a>>,
        "aggregated_output" => output: Option<Str<'a>>,
        "exit_code" => exit_code: Option<i64>,
        ; known "id", "type"
    }
}

impl<'a> TextItem<'a> {
    /// Reads an item that has nothing but its text, as all have that are printed today.
    pub(super) fn plain(kind: &str, head: &Head<'a>) -> Option<Self> {
        let (text, message) = match kind {
            "error" => (None, Some(head.only_text(",\"message\":\"")?)),
            _ => (Some(head.only_text(",\"text\":\"")?), None),
        };
        Some(Self {
            text,
            message,
            unknown: Vec::new(),
        })
    }
}

impl<'a> CommandItem<'a> {
    /// Reads an item whose fields are in the order in which they are printed today.
    pub(super) fn plain(head: &Head<'a>) -> Option<Self> {
        let mut fields = head.plain_rest()?;
        let command = fields.text(",\"command\":\"")?;
        let output = fields.text(",\"aggregated_output\":\"")?;
        fields.pass(",\"exit_code\":")?;
        let exit_code = match fields.pass("null") {
            Some(()) => None,
            None => Some(i64::from(fields.number()?)),
        };
        let status = fields.text(",\"status\":\"")?;
        fields.ends_with("}}").then_some(Self {
            status: VerdictWord::Word(status),
            command: Some(command),
            output: Some(output),
            exit_code,
            unknown: Vec::new(),
        })
    }

    /// Returns the call that it is.
    pub(super) fn into_item(self) -> Item<'a> {
        Item {
            status: self.status,
            command: self.command,
            output: self.output,
            exit_code: self.exit_code,
            ..Item::default()
        }
    }
}

wire_struct! {
    pub(super) struct ItemLine<'a> {
        "item" => item: Item<'a>,
        ; known "type"
    }

    /// An item that is a tool call of any type: each has some of these.
    pub(super) struct Item<'a> {
        "status" => status: VerdictWord<'a>,
        // command_execution
        "command" => command: Option<Str<'a>>,
        "aggregated_output" => output: Option<Str<'a>>,
        "exit_code" => exit_code: Option<i64>,
        // file_change
        "changes" => changes: RareValue,
        // mcp_tool_call, collab_tool_call
        "server" => server: Option<Str<'a>>,
        "tool" => tool: Option<Str<'a>>,
        "arguments" => arguments: RareValue,
        "result" => result: RareValue,
        "error" => error: RareValue,
        // web_search
        "query" => query: Option<Str<'a>>,
        "action" => action: RareValue,
        // collab_tool_call
        "prompt" => prompt: RareValue,
        "sender_thread_id" => sender: RareValue,
        "receiver_thread_ids" => receivers: RareValue,
        "agents_states" => agents: RareValue,
        // todo_list
        "items" => items: RareValue,
        ; known "id", "type"
    }
}

impl Item<'_> {
    /// Returns the same item, borrowed from no line.
    pub(super) fn into_owned(self) -> Item<'static> {
        let text = |text: Option<Str<'_>>| text.map(|text| text.into_owned().into());
        Item {
            status: self.status.into_owned(),
            command: text(self.command),
            output: text(self.output),
            exit_code: self.exit_code,
            changes: self.changes,
            server: text(self.server),
            tool: text(self.tool),
            arguments: self.arguments,
            result: self.result,
            error: self.error,
            query: text(self.query),
            action: self.action,
            prompt: self.prompt,
            sender: self.sender,
            receivers: self.receivers,
            agents: self.agents,
            items: self.items,
            unknown: self.unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::decode;

    #[test]
    fn the_head_of_an_item_is_read_either_way_and_its_first_id_counts() {
        let line = br#"{"type":"item.completed","item":{"id":"item_2","type":"web_search","id":"ws_1","query":"q"}}"#;
        let quick = leading_head(line).unwrap();
        let slow = Head::from(decode::<EventStart<'_>>(line).unwrap().value);
        for head in [quick, slow] {
            assert_eq!(head.tag.as_deref(), Some("item.completed"));
            assert_eq!(head.id.as_deref(), Some("item_2"));
            assert_eq!(head.kind.as_deref(), Some("web_search"));
        }
        let other = br#"{"item": {"type": "reasoning", "id": "item_1"}, "type": "item.started"}"#;
        assert!(leading_head(other).is_none());
        let head = Head::from(decode::<EventStart<'_>>(other).unwrap().value);
        assert_eq!(head.id.as_deref(), Some("item_1"));
        let turn = leading_head(br#"{"type":"turn.started"}"#).unwrap();
        assert_eq!(turn.tag.as_deref(), Some("turn.started"));
        assert!(turn.id.is_none() && turn.kind.is_none());
    }

    #[test]
    fn items_as_they_are_always_printed_are_read_as_any_are() {
        let table = [
            (r#"agent_message","text":"a é""#, true),
            (r#"reasoning","text":"a\nb""#, true),
            (r#"error","message":"""#, true),
            (r#"agent_message","text":"a","status":"x""#, false),
            (r#"agent_message","text":null"#, false),
            (r#"error","text":"a""#, false),
        ];
        for (rest, is_plain) in table {
            let line = format!(r#"{{"type":"item.completed","item":{{"id":"i","type":"{rest}}}}}"#);
            let head = leading_head(line.as_bytes()).unwrap();
            let plain = TextItem::plain(head.kind.as_deref().unwrap(), &head);
            assert_eq!(plain.is_some(), is_plain, "{line}");
            let any: TextItem<'_> = head.read_rest().unwrap();
            if let Some(plain) = plain {
                assert_eq!(
                    (plain.text, plain.message),
                    (any.text, any.message),
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn commands_as_they_are_always_printed_are_read_as_any_are() {
        let table = [
            (
                r#""ls","aggregated_output":"","exit_code":null,"status":"in_progress""#,
                true,
            ),
            (
                r#""ls","aggregated_output":"a\n","exit_code":127,"status":"failed""#,
                true,
            ),
            (
                r#""ls","aggregated_output":"","exit_code":-1,"status":"failed""#,
                false,
            ),
            (
                r#""ls","aggregated_output":"","exit_code":1.0,"status":"failed""#,
                false,
            ),
            (
                r#""ls","aggregated_output":"","exit_code":0,"status":"failed","new":1"#,
                false,
            ),
            (
                r#""ls","exit_code":0,"aggregated_output":"","status":"failed""#,
                false,
            ),
            (
                r#""ls","aggregated_output":null,"exit_code":0,"status":"failed""#,
                false,
            ),
        ];
        for (rest, is_plain) in table {
            let line = format!(
                r#"{{"type":"item.completed","item":{{"id":"i","type":"command_execution","command":{rest}}}}}"#
            );
            let head = leading_head(line.as_bytes()).unwrap();
            let plain = CommandItem::plain(&head);
            assert_eq!(plain.is_some(), is_plain, "{line}");
            if let Some(plain) = plain {
                let any: CommandItem<'_> = head.read_rest().unwrap();
                assert_eq!(format!("{plain:?}"), format!("{any:?}"), "{line}");
            }
        }
    }
}
