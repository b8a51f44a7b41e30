//! The document with the published schemas in it: the same ones, moved.

use serde_json::{Map, Value};

/// Puts the bundle's definitions among the document's schemas, and leads every reference there.
pub(super) fn bundled(mut document: Value, bundle: &Value, bundle_id: &str) -> Value {
    let mut definitions = Map::new();
    let published = bundle.get("$defs").and_then(Value::as_object);
    for (name, definition) in published.into_iter().flatten() {
        let mut definition = definition.clone();
        lead(&mut definition, "");
        definitions.insert(name.clone(), definition);
    }
    lead(&mut document, bundle_id);
    if let Some(Value::Object(schemas)) = document.pointer_mut("/components/schemas") {
        let is_free = |name: &String| !schemas.contains_key(name);
        debug_assert!(definitions.keys().all(is_free), "one name for two schemas");
        schemas.append(&mut definitions);
    }
    document
}

/// Leads references to definitions of a document to the same names among the schemas.
fn lead(value: &mut Value, of: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| lead(item, of)),
        Value::Object(fields) => {
            // It would be the same name in many places of one document.
            if fields.get("$dynamicAnchor").is_some_and(Value::is_string) {
                fields.shift_remove("$dynamicAnchor");
            }
            if let Some(Value::String(reference)) = fields.get_mut("$ref")
                && let Some(name) = reference
                    .strip_prefix(of)
                    .and_then(|rest| rest.strip_prefix("#/$defs/"))
            {
                *reference = format!("#/components/schemas/{name}");
            }
            fields.values_mut().for_each(|field| lead(field, of));
        }
        _ => {}
    }
}
