//! From what schemars makes of the types to what is published.

use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Value, json};

/// Applies every transform to a schema and all that is in it.
pub(crate) fn apply(schema: &mut Schema) {
    RecursiveTransform(refuse_null_where_optional).transform(schema);
    RecursiveTransform(bound_integers).transform(schema);
    RecursiveTransform(unwrap_description).transform(schema);
}

/// Takes null from the fields that may be absent.
///
/// An absent value is left out, never null: Perstack refuses null for every optional field.
/// schemars makes every `Option` nullable. A field that is required and nullable keeps its null.
fn refuse_null_where_optional(schema: &mut Schema) {
    let required: Vec<String> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        if !required.contains(name) {
            refuse_null(property);
        }
    }
}

fn refuse_null(property: &mut Value) {
    let Some(property) = property.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_mut_slice() {
            let only = only.take();
            property.insert("type".to_owned(), only);
        }
    }
    if let Some(branches) = property.get_mut("anyOf").and_then(Value::as_array_mut) {
        branches.retain(|branch| *branch != json!({ "type": "null" }));
        if let [Value::Object(only)] = branches.as_mut_slice() {
            let only = std::mem::take(only);
            property.shift_remove("anyOf");
            for (key, value) in only {
                property.entry(key).or_insert(value);
            }
        }
    }
}

/// Says the range of a number by keywords that every validator knows.
///
/// `uint64` and the like are no formats of JSON Schema: some validators ignore them, others
/// refuse a schema that has them.
fn bound_integers(schema: &mut Schema) {
    let (minimum, maximum) = match schema.get("format").and_then(Value::as_str) {
        Some("int64") => (json!(i64::MIN), json!(i64::MAX)),
        Some("uint64") => (json!(u64::MIN), json!(u64::MAX)),
        Some("int32") => (json!(i32::MIN), json!(i32::MAX)),
        Some("uint32") => (json!(u32::MIN), json!(u32::MAX)),
        Some("uint16") => (json!(u16::MIN), json!(u16::MAX)),
        Some("uint8") => (json!(u8::MIN), json!(u8::MAX)),
        Some("double" | "float") => {
            schema.remove("format");
            return;
        }
        _ => return,
    };
    schema.remove("format");
    schema.insert("minimum".to_owned(), minimum);
    schema.insert("maximum".to_owned(), maximum);
}

/// Joins the lines of a description; paragraphs stay apart.
fn unwrap_description(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let paragraphs: Vec<String> = description
            .split("\n\n")
            .map(|paragraph| {
                paragraph
                    .split('\n')
                    .map(str::trim)
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        *description = paragraphs.join("\n\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::json_schema;

    #[test]
    fn null_goes_where_a_field_may_be_absent_and_stays_where_it_may_not() {
        let mut schema = json_schema!({
            "description": "One\nline.\n\nAnother.",
            "properties": {
                "number": { "type": ["integer", "null"], "format": "uint16" },
                "object": { "description": "d", "anyOf": [{ "$ref": "#/$defs/X" }, { "type": "null" }] },
                "known": { "type": ["string", "null"] },
                "removed": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
            },
            "required": ["known"]
        });
        apply(&mut schema);
        let expected = json!({
            "description": "One line.\n\nAnother.",
            "properties": {
                "number": { "type": "integer", "minimum": 0, "maximum": 65535 },
                "object": { "description": "d", "$ref": "#/$defs/X" },
                "known": { "type": ["string", "null"] },
                "removed": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
            },
            "required": ["known"]
        });
        assert_eq!(schema.to_value(), expected);
    }
}
