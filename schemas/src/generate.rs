//! Schemas from types: one document per kind, and one of all.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::{SchemaKind, transform};

/// The command that writes the schema files anew.
pub const REGENERATE: &str = "cargo run -p runtape-schemas --bin generate";

/// Name of the file with all schemas in one.
pub const BUNDLE_FILE: &str = "runtape.bundle.schema.json";

const BASE: &str = "https://runtape.dev/schemas/v1/";
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
const DEFINITIONS: &str = "#/$defs/";

/// A published file: its name and all of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFile {
    /// The name, without directory.
    pub name: String,
    /// The text: JSON, indented, with a line feed at the end.
    pub text: String,
}

/// Makes every published file.
#[must_use]
pub fn files() -> Vec<SchemaFile> {
    let file = |name: String, schema: &Value| SchemaFile {
        name,
        text: format!("{schema:#}\n"),
    };
    let mut files: Vec<_> = SchemaKind::ALL
        .iter()
        .map(|kind| file(kind.file_name(), kind.schema()))
        .collect();
    files.push(file(BUNDLE_FILE.to_owned(), &bundle()));
    files
}

/// Returns the `$id` of a file.
pub(crate) fn id_of(file_name: &str) -> String {
    format!("{BASE}{file_name}")
}

/// Makes the schema of one kind.
pub(crate) fn schema(kind: SchemaKind) -> Value {
    let mut schema = kind.root(generator());
    transform::apply(&mut schema);
    let title = schema.get("title").cloned().unwrap_or_default();
    arrange(&schema, &kind.file_name(), title)
}

/// Makes the schema of all kinds, with everything that they share said once.
///
/// Each kind has an anchor: `runtape.bundle.schema.json#run-event` is the schema of a run event.
#[must_use]
pub fn bundle() -> Value {
    let mut generator = generator();
    let references: Vec<(SchemaKind, Schema)> = SchemaKind::ALL
        .iter()
        .map(|kind| (*kind, kind.reference(&mut generator)))
        .collect();
    let mut definitions = generator.take_definitions(true);
    for (kind, reference) in &references {
        let name = reference.get("$ref").and_then(Value::as_str);
        let name = name.and_then(|name| name.strip_prefix(DEFINITIONS));
        if let Some(Value::Object(schema)) = name.and_then(|name| definitions.get_mut(name)) {
            schema.insert("$anchor".to_owned(), kind.name().into());
        }
    }
    // A row of a query may be any object, so it would let everything through.
    let branches: Vec<Value> = references
        .into_iter()
        .filter(|(kind, _)| *kind != SchemaKind::SqlRow)
        .map(|(_, schema)| schema.to_value())
        .collect();
    let mut schema = schemars::json_schema!({
        "description": "Every shape of runtape, each under its own name as an anchor. A row of a query may be any object, and is no branch.",
        "anyOf": branches,
        "$defs": definitions
    });
    transform::apply(&mut schema);
    arrange(&schema, BUNDLE_FILE, json!("Runtape"))
}

/// Schemas describe what we write: what serializing always writes is required.
fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
}

/// Puts the head of a document first and its definitions, sorted, last.
fn arrange(schema: &Schema, file_name: &str, title: Value) -> Value {
    // Serializing puts each schema's keys into the order in which people read them.
    let Ok(Value::Object(mut rest)) = serde_json::to_value(schema) else {
        return json!({});
    };
    let mut document = Map::new();
    document.insert("$schema".to_owned(), DRAFT.into());
    document.insert("$id".to_owned(), id_of(file_name).into());
    document.insert("title".to_owned(), title);
    let definitions = rest.shift_remove("$defs");
    for (key, value) in rest {
        document.entry(key).or_insert(value);
    }
    if let Some(Value::Object(mut definitions)) = definitions {
        definitions.sort_keys();
        document.insert("$defs".to_owned(), definitions.into());
    }
    document.into()
}
