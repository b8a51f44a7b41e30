//! Schemas from types: one document per kind, and one of all.

use std::sync::OnceLock;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::unions::{self, Definitions};
use crate::{SchemaKind, transform};

/// The command that writes the schema files anew.
pub const REGENERATE: &str = "cargo run -p runtape-schemas --bin generate";

/// Name of the file with all schemas in one.
pub const BUNDLE_FILE: &str = "runtape.bundle.schema.json";

const BASE: &str = "https://runtape.dev/schemas/v1/";
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

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

/// All definitions, said once for all kinds.
struct Catalogue {
    definitions: Definitions,
    /// The name of each kind's own definition.
    roots: Vec<(SchemaKind, String)>,
}

/// Makes all definitions at the first call.
///
/// Every document is cut out of them, so that a name means the same in all.
fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        let mut generator = generator();
        let roots: Vec<(SchemaKind, String)> = SchemaKind::ALL
            .iter()
            .map(|kind| {
                let reference = kind.reference(&mut generator).to_value();
                let name = unions::referred(&reference).expect("every kind has a name");
                (*kind, name.to_owned())
            })
            .collect();
        let mut definitions = generator.take_definitions(true);
        for schema in definitions.values_mut() {
            transform::as_published(schema);
        }
        unions::complete(&mut definitions);
        for (name, schema) in &mut definitions {
            transform::as_generators_read(name, schema);
        }
        let names = roots.iter().map(|(_, name)| name.clone());
        let mut definitions = reachable(names, &definitions);
        definitions.sort_keys();
        Catalogue { definitions, roots }
    })
}

/// Returns the definitions that have these names, and all that they refer to.
fn reachable(names: impl Iterator<Item = String>, all: &Definitions) -> Definitions {
    let mut open: Vec<String> = names.collect();
    let mut found = Definitions::new();
    while let Some(name) = open.pop() {
        if found.contains_key(&name) {
            continue;
        }
        if let Some(schema) = all.get(&name) {
            unions::references(schema, &mut |name, _| open.push(name.to_owned()));
            found.insert(name, schema.clone());
        }
    }
    found
}

/// Returns the `$id` of the file with all schemas in one.
#[must_use]
pub fn bundle_id() -> String {
    id_of(BUNDLE_FILE)
}

/// Makes the schema of one kind.
pub(crate) fn schema(kind: SchemaKind) -> Value {
    let catalogue = catalogue();
    let root = catalogue.roots.iter().find(|(of, _)| *of == kind);
    let schema = root.and_then(|(_, name)| catalogue.definitions.get(name));
    let schema = schema.cloned().unwrap_or_default();
    let mut names = Vec::new();
    unions::references(&schema, &mut |name, _| names.push(name.to_owned()));
    let definitions = reachable(names.into_iter(), &catalogue.definitions);
    document(&kind.file_name(), schema, definitions)
}

/// Makes the schema of all kinds, with everything that they share said once.
///
/// Each kind has an anchor: `runtape.bundle.schema.json#run-event` is the schema of a run event.
#[must_use]
pub fn bundle() -> Value {
    let Catalogue { definitions, roots } = catalogue();
    let mut definitions = definitions.clone();
    for (kind, name) in roots {
        if let Some(Value::Object(schema)) = definitions.get_mut(name) {
            // To a reference it is the same as `$anchor`, which ajv refuses in its strict mode.
            schema.insert("$dynamicAnchor".to_owned(), kind.name().into());
        }
    }
    // A row of a query may be any object, so it would let everything through.
    let branches: Vec<Value> = roots
        .iter()
        .filter(|(kind, _)| *kind != SchemaKind::SqlRow)
        .map(|(_, name)| unions::reference(name))
        .collect();
    let schema = json!({
        "title": "Runtape",
        "description": "Every shape of runtape, each under its own name as an anchor. A row of a query may be any object, and is no branch.",
        "anyOf": branches
    });
    document(BUNDLE_FILE, schema, definitions)
}

/// Schemas describe what we write: what serializing always writes is required.
fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
}

/// Puts the head of a document first and its definitions, sorted, last.
fn document(file_name: &str, root: Value, mut definitions: Definitions) -> Value {
    let mut document = Map::new();
    document.insert("$schema".to_owned(), DRAFT.into());
    document.insert("$id".to_owned(), id_of(file_name).into());
    if let Value::Object(root) = root {
        document.extend(root);
    }
    if !definitions.is_empty() {
        definitions.sort_keys();
        document.insert("$defs".to_owned(), definitions.into());
    }
    document.into()
}
