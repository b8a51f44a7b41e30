//! Tool calls and their results, as events carry them.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{MessagePart, ToolCallId, ToolCallPart, ToolName, ToolResultPart};

/// A request of the model to run a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Names the call.
    pub id: ToolCallId,
    /// The skill that offers the tool; for an agent CLI's own tools the runtime's name.
    pub skill_name: ToolName,
    /// The tool's name.
    pub tool_name: ToolName,
    /// The tool's arguments by name. What is not such an object is wrapped under `input`.
    #[serde(deserialize_with = "named_args", serialize_with = "write_named_args")]
    #[schemars(schema_with = "named_args_schema")]
    pub args: Map<String, Value>,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call this answers.
    pub id: ToolCallId,
    /// The skill that offers the tool.
    pub skill_name: ToolName,
    /// The tool's name.
    pub tool_name: ToolName,
    /// The result's parts.
    pub result: Vec<MessagePart>,
}

impl ToolCall {
    /// Makes the call that events carry from the part that the message carries.
    #[must_use]
    pub fn from_part(part: &ToolCallPart, skill_name: &ToolName) -> Self {
        let args = match &part.args {
            Value::Object(args) if !args.contains_key("") => args.clone(),
            Value::Null => Map::new(),
            other => Map::from_iter([("input".to_owned(), other.clone())]),
        };
        Self {
            id: part.tool_call_id.clone(),
            skill_name: skill_name.clone(),
            tool_name: part.tool_name.clone(),
            args,
        }
    }
}

impl ToolResult {
    /// Makes the result that events carry from the part that the message carries.
    #[must_use]
    pub fn from_part(part: &ToolResultPart, skill_name: &ToolName) -> Self {
        Self {
            id: part.tool_call_id.clone(),
            skill_name: skill_name.clone(),
            tool_name: part.tool_name.clone(),
            result: part
                .contents
                .iter()
                .cloned()
                .map(MessagePart::from)
                .collect(),
        }
    }
}

/// Reads arguments as Perstack does: an object without empty keys.
fn named_args<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let args = Map::deserialize(deserializer)?;
    if args.contains_key("") {
        return Err(serde::de::Error::custom(
            "an argument's name must not be empty",
        ));
    }
    Ok(args)
}

/// Writes arguments as Perstack reads them: an empty key takes them all under `input`.
fn write_named_args<S: Serializer>(
    args: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if args.contains_key("") {
        return serializer.collect_map([("input", args)]);
    }
    args.serialize(serializer)
}

fn named_args_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "propertyNames": { "minLength": 1 } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PartId;
    use serde_json::json;

    #[test]
    fn arguments_become_an_object_that_perstack_accepts() {
        for (args, expected) in [
            (json!({"a": 1}), json!({"a": 1})),
            (json!(null), json!({})),
            (json!("ls"), json!({"input": "ls"})),
            (json!({"": 1}), json!({"input": {"": 1}})),
            (json!([1]), json!({"input": [1]})),
        ] {
            let part = ToolCallPart {
                id: PartId::parse("p").unwrap(),
                tool_call_id: ToolCallId::parse("c").unwrap(),
                tool_name: ToolName::from_printed("t"),
                args,
            };
            let call = ToolCall::from_part(&part, &ToolName::from_printed("s"));
            assert_eq!(Value::Object(call.args.clone()), expected);
            assert_eq!(serde_json::to_value(call).unwrap()["args"], expected);
        }
    }

    #[test]
    fn arguments_without_a_name_are_never_written_as_such() {
        let call = ToolCall {
            id: ToolCallId::parse("c").unwrap(),
            skill_name: ToolName::from_printed("s"),
            tool_name: ToolName::from_printed("t"),
            args: Map::from_iter([(String::new(), json!(1))]),
        };
        let json = serde_json::to_value(call).unwrap();
        assert_eq!(json["args"], json!({"input": {"": 1}}));
        assert!(serde_json::from_value::<ToolCall>(json).is_ok());
    }
}
