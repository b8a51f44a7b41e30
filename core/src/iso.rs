//! Times as texts: what `--json` prints of milliseconds since 1970.

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serializer};

/// Writes a time as ISO 8601 in UTC; one beyond the calendar becomes its first or last day.
#[must_use]
pub fn iso_time(at: i64) -> String {
    let time = DateTime::from_timestamp_millis(at).unwrap_or(if at < 0 {
        DateTime::<Utc>::MIN_UTC
    } else {
        DateTime::<Utc>::MAX_UTC
    });
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) fn serialize<S: Serializer>(at: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&iso_time(*at))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let time = DateTime::parse_from_rfc3339(&text).map_err(serde::de::Error::custom)?;
    Ok(time.timestamp_millis())
}

/// The same for a time that may be unknown.
pub(crate) mod maybe {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct At(#[serde(with = "crate::iso")] i64);

    #[expect(clippy::ref_option, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(
        at: &Option<i64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        at.map(At).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<i64>, D::Error> {
        let at = Option::<At>::deserialize(deserializer)?;
        Ok(at.map(|At(at)| at))
    }
}

/// Stands for a time in schemas.
pub(crate) struct Time;

impl JsonSchema for Time {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time as ISO 8601 in UTC, to the millisecond.",
            "type": "string",
            "pattern": r"^[+-]?[0-9]{4,6}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
            "examples": ["2026-01-01T12:00:00.000Z"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_time_has_a_text() {
        assert_eq!(iso_time(1500), "1970-01-01T00:00:01.500Z");
        assert!(iso_time(i64::MIN).starts_with('-'));
        assert!(iso_time(i64::MAX).starts_with('+'));
    }
}
