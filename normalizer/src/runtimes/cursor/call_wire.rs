//! Tool calls as they are printed: `{"shellToolCall":{"args":{…},"result":{"success":{…}}}, …}`.
//!
//! A completed call repeats its arguments, and the result of an edit holds the file twice over. So
//! there are two ways to read one: in full, and lean, which skips what is known or not needed.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

use crate::json::{Str, note_unknown, number, wire_struct};

/// What a tool's key ends in.
const SUFFIX: &str = "ToolCall";

macro_rules! tool_events {
    ($($(#[$doc:meta])* $name:ident with $body:ident;)*) => {
        $(
            wire_struct! {
                $(#[$doc])*
                pub(super) struct $name<'a> {
                    "subtype" => subtype: Option<Str<'a>>,
                    "call_id" | "callId" | "id" => id: Option<Str<'a>>,
                    "tool_call" | "toolCall" => body: $body<'a>,
                    "model_call_id" => key: Option<Str<'a>>,
                    "session_id" | "sessionId" | "sessionID" => session: Option<Str<'a>>,
                    "timestamp_ms" => at: Option<u64> as number::opt_u64,
                    "is_error" => is_error: Option<bool>,
                    ; known "type"
                }
            }
        )*
    };
}

tool_events! {
    /// A call, all of it.
    FullEvent with Body;
    /// A call without its arguments and without what of the result is not needed.
    LeanEvent with LeanBody;
}

impl<'a> From<LeanEvent<'a>> for FullEvent<'a> {
    fn from(event: LeanEvent<'a>) -> Self {
        Self {
            subtype: event.subtype,
            id: event.id,
            body: event.body.0,
            key: event.key,
            session: event.session,
            at: event.at,
            is_error: event.is_error,
            unknown: event.unknown,
        }
    }
}

/// What stands under `tool_call`.
#[derive(Clone, Debug, Default)]
pub(super) struct Body<'a> {
    /// The key that the call stands under, as in `shellToolCall`.
    pub(super) kind: Option<Str<'a>>,
    pub(super) payload: Box<ToolPayload<'a>>,
    pub(super) call_id: Option<Str<'a>>,
    pub(super) started_at: Option<u64>,
    pub(super) completed_at: Option<u64>,
    /// Keys that were there and are not known.
    pub(super) unknown: Vec<Box<str>>,
}

impl Body<'_> {
    /// Returns the tool's name: its key without `ToolCall`, for `function` the function's.
    pub(super) fn name(&self) -> &str {
        match (self.kind.as_deref(), &self.payload.name) {
            (None | Some("function"), Some(name)) => name,
            (Some(kind), _) => kind.strip_suffix(SUFFIX).unwrap_or(kind),
            (None, None) => "",
        }
    }
}

/// A [`Body`] that was read lean.
#[derive(Clone, Debug, Default)]
pub(super) struct LeanBody<'a>(Body<'a>);

/// What stands under the tool's key.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolPayload<'a> {
    /// Null if there were none, or if they were skipped.
    pub(super) args: Value,
    pub(super) has_args: bool,
    pub(super) result: CallAnswer<'a>,
    /// Of `function`.
    pub(super) name: Option<Str<'a>>,
    /// Of `function`: an object, or a string with JSON in it.
    pub(super) arguments: Value,
    pub(super) error: Value,
    pub(super) status: Option<Str<'a>>,
    pub(super) is_error: Option<bool>,
    /// Everything else, if read in full.
    pub(super) rest: Map<String, Value>,
}

/// What a tool gave back.
#[derive(Clone, Debug, Default)]
pub(super) enum CallAnswer<'a> {
    /// No `result`, or null.
    #[default]
    Absent,
    /// One outcome with the fields that matter.
    Lean(Str<'a>, Box<LeanPayload<'a>>),
    /// Anything, if read in full; what is not lean, else.
    Whole(Value),
    /// A result that has to be read in full.
    Odd,
}

wire_struct! {
    /// What matters of the outcome of a shell command, a read, a write or an edit.
    pub(super) struct LeanPayload<'a> {
        "content" => content: Option<Str<'a>>,
        "stdout" => stdout: Option<Str<'a>>,
        "stderr" => stderr: Option<Str<'a>>,
        "interleavedOutput" => interleaved: Option<Str<'a>>,
        "exitCode" => exit_code: Value,
        "executionTime" => execution_time: Value,
        "diffString" => diff: Option<Str<'a>>,
        "message" => message: Option<Str<'a>>,
        "error" => error: Option<Str<'a>>,
        "errorMessage" => error_message: Option<Str<'a>>,
        "reason" => reason: Option<Str<'a>>,
        ; rest skipped
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Body<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(AnyBody { full: true })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for LeanBody<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_map(AnyBody { full: false })
            .map(LeanBody)
    }
}

struct AnyBody {
    full: bool,
}

impl<'de> Visitor<'de> for AnyBody {
    type Value = Body<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body<'de>, A::Error> {
        let mut body = Body::default();
        // A key without the suffix may still be the tool's, if there is none with it.
        let mut candidate: Option<(Str<'de>, Box<ToolPayload<'de>>)> = None;
        while let Some(key) = map.next_key::<Str<'de>>()? {
            match key.as_str() {
                "toolCallId" => body.call_id = map.next_value()?,
                "startedAtMs" => body.started_at = map.next_value::<Millis>()?.0,
                "completedAtMs" => body.completed_at = map.next_value::<Millis>()?.0,
                "hookAdditionalContexts" => {
                    map.next_value::<IgnoredAny>()?;
                }
                name if (name.ends_with(SUFFIX) || name == "function") && body.kind.is_none() => {
                    let lean = !self.full
                        && matches!(
                            name.strip_suffix(SUFFIX),
                            Some("shell" | "read" | "edit" | "write")
                        );
                    body.payload = map.next_value_seed(AnyPayload {
                        full: self.full,
                        lean,
                    })?;
                    body.kind = Some(key);
                }
                name => {
                    note_unknown(&mut body.unknown, name);
                    if let (None, None, PayloadOrOther::Payload(payload)) =
                        (&body.kind, &candidate, map.next_value()?)
                    {
                        candidate = Some((key, payload));
                    }
                }
            }
        }
        if let (None, Some((key, payload))) = (&body.kind, candidate) {
            body.unknown.retain(|unknown| **unknown != *key);
            body.kind = Some(key);
            body.payload = payload;
        }
        Ok(body)
    }
}

/// What may be a call under a key of an unknown form: any object.
enum PayloadOrOther<'a> {
    Payload(Box<ToolPayload<'a>>),
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for PayloadOrOther<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let payload = AnyPayload {
            full: true,
            lean: false,
        };
        deserializer
            .deserialize_any(ObjectOr(payload))
            .map(|payload| match payload {
                Some(payload) => PayloadOrOther::Payload(payload),
                None => PayloadOrOther::Other,
            })
    }
}

/// A time in milliseconds: the CLI prints it as a string.
struct Millis(Option<u64>);

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self(super::tool_result::millis(&value)))
    }
}

struct AnyPayload {
    full: bool,
    lean: bool,
}

impl<'de> DeserializeSeed<'de> for AnyPayload {
    type Value = Box<ToolPayload<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyPayload {
    type Value = Box<ToolPayload<'de>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Box::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut payload: Box<ToolPayload<'de>> = Box::default();
        while let Some(key) = map.next_key::<Str<'de>>()? {
            match key.as_str() {
                "args" if self.full => {
                    payload.args = map.next_value()?;
                    payload.has_args = !payload.args.is_null();
                }
                "args" => {
                    map.next_value::<IgnoredAny>()?;
                    payload.has_args = true;
                }
                "result" if self.lean => payload.result = map.next_value_seed(LeanAnswer)?,
                "result" => {
                    payload.result = match map.next_value()? {
                        Value::Null => CallAnswer::Absent,
                        value => CallAnswer::Whole(value),
                    };
                }
                "name" => payload.name = map.next_value()?,
                "arguments" => payload.arguments = map.next_value()?,
                "error" => payload.error = map.next_value()?,
                "status" => payload.status = map.next_value()?,
                "is_error" | "isError" => payload.is_error = map.next_value()?,
                _ if self.full => {
                    payload.rest.insert(key.into_owned(), map.next_value()?);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(payload)
    }
}

struct LeanAnswer;

impl<'de> DeserializeSeed<'de> for LeanAnswer {
    type Value = CallAnswer<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Ok(deserializer
            .deserialize_any(ObjectOr(self))?
            .unwrap_or(CallAnswer::Odd))
    }
}

impl<'de> Visitor<'de> for LeanAnswer {
    type Value = CallAnswer<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut answer = CallAnswer::Odd;
        let mut outcomes = 0;
        while let Some(key) = map.next_key::<Str<'de>>()? {
            if let Some(lean) = map.next_value_seed(LeanOutcome)? {
                outcomes += 1;
                answer = CallAnswer::Lean(key, Box::new(lean));
            }
        }
        Ok(if outcomes == 1 {
            answer
        } else {
            CallAnswer::Odd
        })
    }
}

struct LeanOutcome;

impl<'de> DeserializeSeed<'de> for LeanOutcome {
    type Value = Option<LeanPayload<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(ObjectOr(self))
    }
}

impl<'de> Visitor<'de> for LeanOutcome {
    type Value = LeanPayload<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        LeanPayload::deserialize(MapAccessDeserializer::new(map))
    }
}

/// Reads an object with a visitor, and passes over anything else.
struct ObjectOr<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for ObjectOr<V> {
    type Value = Option<V::Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.0.visit_map(map).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn full(text: &str) -> Body<'_> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_tool_is_the_key_that_ends_in_tool_call_wherever_it_stands() {
        let table = [
            (r#"{"shellToolCall":{"args":{"command":"ls"}}}"#, "shell"),
            (
                r#"{"toolCallId":"x","startedAtMs":"1","readToolCall":{"args":{}}}"#,
                "read",
            ),
            (
                r#"{"extra":{"args":{}},"globToolCall":{"args":{}}}"#,
                "glob",
            ),
            (
                r#"{"function":{"name":"lookup","arguments":"{}"}}"#,
                "lookup",
            ),
            (
                r#"{"holodeckToolCall":{"args":{"x":1}},"toolCallId":"x"}"#,
                "holodeck",
            ),
            (
                r#"{"toolCallId":"x","novelty":{"args":{"x":1}}}"#,
                "novelty",
            ),
            (r#"{"toolCallId":"x"}"#, ""),
            (r#"{"function":{"arguments":"{}"}}"#, "function"),
        ];
        for (text, expected) in table {
            assert_eq!(full(text).name(), expected, "{text}");
        }
        assert_eq!(
            full(r#"{"extra":{},"globToolCall":{}}"#).unknown,
            ["extra".into()]
        );
        assert!(full(r#"{"novelty":{}}"#).unknown.is_empty());
    }

    #[test]
    fn times_are_strings_or_numbers() {
        let body = full(r#"{"startedAtMs":"1788463007516","completedAtMs":1788463007520}"#);
        assert_eq!(
            (body.started_at, body.completed_at),
            (Some(1_788_463_007_516), Some(1_788_463_007_520))
        );
        assert_eq!(full(r#"{"startedAtMs":"soon"}"#).started_at, None);
    }

    #[test]
    fn lean_reading_skips_arguments_and_whole_files() {
        let text = r#"{"editToolCall":{"args":{"path":"a"},"result":{"isBackground":false,
            "success":{"diffString":"+a","beforeFullFileContent":"x","afterFullFileContent":"y"}}}}"#;
        let LeanBody(body) = serde_json::from_str(text).unwrap();
        assert!(body.payload.has_args && body.payload.args.is_null());
        let CallAnswer::Lean(key, lean) = body.payload.result else {
            panic!("not lean")
        };
        assert_eq!(
            (key.as_str(), lean.diff.as_deref()),
            ("success", Some("+a"))
        );
    }

    #[test]
    fn results_of_another_form_are_odd_when_read_lean() {
        for result in [
            "\"text\"",
            "5",
            "[]",
            "{}",
            "{\"success\":{},\"error\":{}}",
            "{\"success\":\"x\"}",
        ] {
            let text = format!("{{\"shellToolCall\":{{\"result\":{result}}}}}");
            let LeanBody(body) = serde_json::from_str(&text).unwrap();
            assert!(matches!(body.payload.result, CallAnswer::Odd), "{result}");
        }
        let LeanBody(body) = serde_json::from_str(r#"{"shellToolCall":{}}"#).unwrap();
        assert!(matches!(body.payload.result, CallAnswer::Absent));
        let LeanBody(body) =
            serde_json::from_str(r#"{"globToolCall":{"result":{"success":{"files":["a"]}}}}"#)
                .unwrap();
        let CallAnswer::Whole(value) = body.payload.result else {
            panic!("not whole")
        };
        assert_eq!(value, json!({"success": {"files": ["a"]}}));
    }
}
