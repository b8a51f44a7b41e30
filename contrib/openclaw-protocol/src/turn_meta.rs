//! The `[[meta]]` line that says whose turn starts, and when.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::javascript::{serialize_number, serialize_optional_number, trim};
use super::json::parse_scalars;
use super::json_text::stringify;

const META_PREFIX: &str = "[[meta]]";

/// Whose turn a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TurnRole {
    /// A person wrote it.
    User,
    /// The agent wrote it.
    Assistant,
}

impl TurnRole {
    /// Reads a role as messages spell it; roles that take no turn give nothing.
    pub(crate) fn parse(role: &Value) -> Option<Self> {
        match role.as_str()? {
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            _ => None,
        }
    }
}

/// What a `[[meta]]` line says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnMeta {
    /// Whose turn starts.
    pub role: TurnRole,
    /// When it starts, in milliseconds since the epoch.
    #[serde(serialize_with = "serialize_number")]
    pub timestamp: f64,
    /// How long the agent thought first, in milliseconds.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_optional_number"
    )]
    pub thinking_duration_ms: Option<f64>,
}

/// Returns whether a line holds turn metadata.
#[must_use]
pub fn is_meta_markdown(line: &str) -> bool {
    line.starts_with(META_PREFIX)
}

/// Returns the transcript line of turn metadata, given as JSON or a serialized [`TurnMeta`].
///
/// Role and timestamp are printed as they are, if they are there; a thinking duration only if it
/// is a number. Nothing else is printed.
#[must_use]
pub fn format_meta_markdown(meta: &Value) -> String {
    let mut printed = Map::new();
    for name in ["role", "timestamp"] {
        if let Some(value) = meta.get(name) {
            printed.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(duration @ Value::Number(_)) = meta.get("thinkingDurationMs") {
        printed.insert("thinkingDurationMs".to_owned(), duration.clone());
    }
    format!("{META_PREFIX}{}", stringify(&Value::Object(printed)))
}

/// Reads a `[[meta]]` line; anything without a known role and a positive timestamp gives nothing.
#[must_use]
pub fn parse_meta_markdown(line: &str) -> Option<TurnMeta> {
    let json = trim(line.strip_prefix(META_PREFIX)?);
    // A number too large for a double reads as null: no timestamp, or no duration.
    let meta = parse_scalars(json)?;
    let timestamp = meta.get("timestamp")?.as_f64()?;
    (timestamp > 0.0).then_some(TurnMeta {
        role: TurnRole::parse(meta.get("role")?)?,
        timestamp,
        thinking_duration_ms: meta.get("thinkingDurationMs").and_then(Value::as_f64),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_print_known_keys_in_one_order() {
        let cases = [
            (json!({}), "[[meta]]{}"),
            (
                json!({"thinkingDurationMs": 0.0, "x": 1, "timestamp": 5.5, "role": "user"}),
                r#"[[meta]]{"role":"user","timestamp":5.5,"thinkingDurationMs":0}"#,
            ),
            (
                json!({"role": null, "timestamp": "x", "thinkingDurationMs": "7"}),
                r#"[[meta]]{"role":null,"timestamp":"x"}"#,
            ),
            (json!({"timestamp": 1e21}), r#"[[meta]]{"timestamp":1e+21}"#),
        ];
        for (meta, expected) in cases {
            assert_eq!(format_meta_markdown(&meta), expected);
        }
    }

    #[test]
    fn lines_are_read_back_or_refused_whole() {
        let meta = |role, timestamp, thinking_duration_ms| {
            Some(TurnMeta {
                role,
                timestamp,
                thinking_duration_ms,
            })
        };
        let user = TurnRole::User;
        let cases = [
            (r#"{"role":"user","timestamp":7}"#, meta(user, 7.0, None)),
            (
                r#" {"timestamp":0.5,"role":"assistant"}"#,
                meta(TurnRole::Assistant, 0.5, None),
            ),
            (
                "\u{feff}{\"role\":\"user\",\"timestamp\":1}\u{a0}",
                meta(user, 1.0, None),
            ),
            (
                r#"{"role":"user","timestamp":7,"thinkingDurationMs":-3}"#,
                meta(user, 7.0, Some(-3.0)),
            ),
            (
                r#"{"role":"user","timestamp":7,"thinkingDurationMs":1e999}"#,
                meta(user, 7.0, None),
            ),
            (
                r#"{"role":"user","timestamp":7,"thinkingDurationMs":"3"}"#,
                meta(user, 7.0, None),
            ),
            (
                r#"{"role":"user","timestamp":7,"x":"\ud800"}"#,
                meta(user, 7.0, None),
            ),
            (
                r#"{"role":"x","role":"user","timestamp":0,"timestamp":2}"#,
                meta(user, 2.0, None),
            ),
            (r#"{"role":"user","timestamp":1e999}"#, None),
            (r#"{"role":"user","timestamp":0}"#, None),
            (r#"{"role":"user","timestamp":-1}"#, None),
            (r#"{"role":"user","timestamp":"7"}"#, None),
            (r#"{"role":"User","timestamp":7}"#, None),
            (r#"{"role":["user"],"timestamp":7}"#, None),
            (r#"{"timestamp":7}"#, None),
            (r#"{"role":"user","timestamp":7,}"#, None),
            ("[]", None),
            ("null", None),
            ("", None),
            ("\u{85}{\"role\":\"user\",\"timestamp\":1}", None),
        ];
        for (json, expected) in cases {
            assert_eq!(
                parse_meta_markdown(&format!("[[meta]]{json}")),
                expected,
                "{json}"
            );
        }
        assert_eq!(
            parse_meta_markdown(r#" [[meta]]{"role":"user","timestamp":7}"#),
            None
        );
    }

    #[test]
    fn deep_nesting_beside_the_fields_does_no_harm() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let line = format!("[[meta]]{{\"x\":{deep},\"role\":\"user\",\"timestamp\":1}}");
        assert!(parse_meta_markdown(&line).is_some());
    }
}
