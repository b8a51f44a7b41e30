//! Files of Perstack's job trees, held against the published schemas.

use runtape_recorder::perstack::TreeFile;
use runtape_schemas::{SchemaKind, Validator, Verdict};
use serde_json::Value;

/// How many faults of one file are named.
const MAX_FAULTS: usize = 3;

/// Says what the schema of a file has against its value.
pub(super) fn check(file: TreeFile, value: &Value) -> Result<(), String> {
    let kind = match file {
        TreeFile::Job => SchemaKind::Job,
        TreeFile::RunEvent => SchemaKind::RunEvent,
        TreeFile::Checkpoint => SchemaKind::Checkpoint,
    };
    let faults = match Validator::for_kind(kind).validate(value) {
        Verdict::Valid => return Ok(()),
        Verdict::Unknown { tag } => return Err(format!("/type: unknown type {tag:?}")),
        Verdict::Invalid(faults) => faults,
    };
    let first = faults.iter().take(MAX_FAULTS).map(ToString::to_string);
    let more = faults.len().saturating_sub(MAX_FAULTS);
    let more = (more > 0).then(|| format!("and {more} more"));
    Err(first.chain(more).collect::<Vec<_>>().join("; "))
}
