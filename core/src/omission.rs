//! Fields that are left out of JSON.
//!
//! Perstack refuses null for every optional field. JSON has no word for infinity or NaN, and serde
//! would write null for them. So fields with such a value are left out, as absent ones are.

use serde::Serializer;
use serde_json::Value;

/// Tells whether there is no number that JSON could hold.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
pub(crate) fn unless_finite(number: &Option<f64>) -> bool {
    !number.is_some_and(f64::is_finite)
}

/// Tells whether there is no value, or only null, which reads back as none.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
pub(crate) fn unless_present(value: &Option<Value>) -> bool {
    value.as_ref().is_none_or(Value::is_null)
}

/// Writes a number that a reader requires: 0 where it is infinite or NaN, as for an unknown one.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) fn finite_or_zero<S: Serializer>(
    number: &f64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(if number.is_finite() { *number } else { 0.0 })
}

/// Schema of any value but null.
pub(crate) fn present_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["object", "array", "string", "number", "boolean"] })
}

/// Leaves nothing out: a field that is always written may still be missing in what an older version wrote, and the
/// schema says so.
pub(crate) fn never<T>(_: &T) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use crate::runtime_event::{Interaction, RateLimit};
    use serde_json::{Value, json};

    #[test]
    fn what_would_be_written_as_null_is_left_out() {
        let limit = RateLimit {
            status: "rejected".to_owned(),
            limit_type: None,
            resets_at: None,
            utilization: Some(f64::NAN),
        };
        assert_eq!(
            serde_json::to_value(limit).unwrap(),
            json!({"status": "rejected"})
        );
        let question = Interaction {
            phase: "request".to_owned(),
            query_type: "ask".to_owned(),
            query_id: None,
            payload: Some(Value::Null),
        };
        let json = json!({"phase": "request", "queryType": "ask"});
        assert_eq!(serde_json::to_value(question).unwrap(), json);
    }
}
