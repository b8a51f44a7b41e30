//! Raw output, rows and documents.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AppliedRules, RunSeal};
use crate::{RunId, Stream};

/// A piece of the raw output that a run's process printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RawOutput {
    /// The run.
    pub run_id: RunId,
    /// The record that was made from it; null for a part of a whole tape.
    pub seq: Option<u64>,
    /// The stream.
    pub stream: Stream,
    /// Its first byte on that stream.
    pub start: u64,
    /// The byte after its last one.
    pub end: u64,
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Whether the text is the bytes exactly.
    pub is_exact: bool,
}

/// A row that a query found: the names of its columns and their values, each null, a number or a
/// text. A blob is a text of hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transform = open)]
pub struct SqlRow(pub Map<String, Value>);

/// Every object is open; the schema need not say so here alone.
pub(super) fn open(schema: &mut Schema) {
    schema.remove("additionalProperties");
}

/// A text that belongs elsewhere: a completion script or a manual page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// What it is: the shell, or the name of the page.
    pub name: String,
    /// The file that it was written to; null if it was not.
    pub file: Option<String>,
    /// The text; null if it was written to a file.
    pub text: Option<String>,
}

/// A file that `export` wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedFile {
    /// The file.
    pub file: String,
    /// Its bytes.
    pub bytes: u64,
    /// The root runs in it.
    pub runs: Vec<RunId>,
    /// The BLAKE3 digest of its bytes, in hexadecimal digits: what `b3sum` prints, and what
    /// `verify --bundle FILE --digest` and `import --digest` compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// For a bundle, the seals that cover its runs: kept elsewhere, they prove it. Else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seals: Vec<RunSeal>,
    /// By which rules secrets were taken out of its runs, each set once. Empty if all of them are from before
    /// that was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redaction: Vec<AppliedRules>,
}
