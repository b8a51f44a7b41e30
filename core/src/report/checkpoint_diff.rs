//! What changed between two checkpoints.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::CheckpointId;

/// What changed between two checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointDiff {
    /// The first checkpoint.
    pub from: CheckpointId,
    /// The second checkpoint.
    pub to: CheckpointId,
    /// The fields that differ, messages left out.
    pub changes: Vec<FieldChange>,
    /// How many messages both begin with.
    pub same_messages: u64,
    /// The messages of the first checkpoint after those, without ids.
    #[schemars(schema_with = "objects")]
    pub removed_messages: Vec<Map<String, Value>>,
    /// The messages of the second checkpoint after those, without ids.
    #[schemars(schema_with = "objects")]
    pub added_messages: Vec<Map<String, Value>>,
}

fn objects(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "object" } })
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// The field, as a JSON pointer into the checkpoint.
    pub path: String,
    /// Its value in the first checkpoint; null if it is not there.
    pub from: Value,
    /// Its value in the second checkpoint; null if it is not there.
    pub to: Value,
}
