//! Events of either kind, told apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{EventId, RunEvent, RunEventKind, RunId, RuntimeEvent, RuntimeEventKind};

/// An event of either kind.
///
/// A known type tells which kind it is. Of an unknown type, an event with an `expertKey` is a run event:
/// that is how Perstack's readers tell them apart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(transform = tell_apart)]
#[expect(
    clippy::large_enum_variant,
    reason = "most events are run events, so a box would only cost"
)]
pub enum Event {
    /// An event of a run.
    Run(RunEvent),
    /// An event around a run.
    Runtime(RuntimeEvent),
}

impl Event {
    /// Returns the event's id.
    #[must_use]
    pub fn id(&self) -> &EventId {
        match self {
            Self::Run(event) => &event.id,
            Self::Runtime(event) => &event.id,
        }
    }

    /// Returns the run.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        match self {
            Self::Run(event) => &event.run_id,
            Self::Runtime(event) => &event.run_id,
        }
    }

    /// Returns the event's type.
    #[must_use]
    pub fn tag(&self) -> &str {
        match self {
            Self::Run(event) => event.kind.tag(),
            Self::Runtime(event) => event.kind.tag(),
        }
    }

    /// Tells whether a run is over with this event.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Run(event) if event.kind.is_terminal())
    }

    /// Tells which kind an event in JSON is to be read as.
    ///
    /// The type comes first: by `expertKey` alone a run event that lacks it would pass for an
    /// unknown runtime event, and its fault go unseen.
    #[must_use]
    pub fn is_run_event(event: &Value) -> bool {
        let tag = event
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        RunEventKind::TAGS.contains(&tag)
            || (!RuntimeEventKind::TAGS.contains(&tag) && event.get("expertKey").is_some())
    }
}

/// Says in the schema of which kind an event of an unknown type is; a known type says it by itself.
fn tell_apart(schema: &mut schemars::Schema) {
    let run_event = schema.pointer("/anyOf/0").cloned().unwrap_or_default();
    schema.insert("if".to_owned(), json!({ "required": ["expertKey"] }));
    schema.insert("then".to_owned(), run_event);
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let value = Value::deserialize(deserializer)?;
        if Self::is_run_event(&value) {
            RunEvent::deserialize(value)
                .map(Self::Run)
                .map_err(D::Error::custom)
        } else {
            RuntimeEvent::deserialize(value)
                .map(Self::Runtime)
                .map_err(D::Error::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_event_of_one_kind_is_no_unknown_event_of_the_other() {
        let base = r#""id":"e","timestamp":1,"jobId":"j","runId":"r""#;
        for (fault, json) in [
            (
                "expertKey",
                format!(r#"{{{base},"type":"streamReasoning","stepNumber":1,"delta":""}}"#),
            ),
            (
                "message",
                format!(r#"{{{base},"type":"warning","expertKey":"x","stepNumber":1}}"#),
            ),
        ] {
            let error = serde_json::from_str::<Event>(&json)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(&format!("missing field `{fault}`")),
                "{error}"
            );
        }
        let unknown = format!(r#"{{{base},"type":"newcomer"}}"#);
        assert!(matches!(
            serde_json::from_str(&unknown),
            Ok(Event::Runtime(_))
        ));
        let unknown = format!(r#"{{{base},"type":"newcomer","expertKey":"x","stepNumber":1}}"#);
        assert!(matches!(serde_json::from_str(&unknown), Ok(Event::Run(_))));
        assert!(
            RunEventKind::TAGS
                .iter()
                .all(|tag| !RuntimeEventKind::TAGS.contains(tag))
        );
    }
}
