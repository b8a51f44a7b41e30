//! From what schemars makes of the types to what is published.

use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Value, json};

/// The integers up to which JavaScript's numbers, and all that read JSON as it does, are exact.
const EXACT: &str = "JavaScript reads this exactly from -9007199254740991 to 9007199254740991; beyond, take a parser with 64-bit integers.";

/// Turns a definition that schemars made into what is published.
pub(crate) fn as_published(definition: &mut Value) {
    if let Ok(schema) = <&mut Schema>::try_from(definition) {
        RecursiveTransform(refuse_null_where_optional).transform(schema);
        RecursiveTransform(bound_integers).transform(schema);
        RecursiveTransform(unwrap_description).transform(schema);
        RecursiveTransform(split_types).transform(schema);
        RecursiveTransform(leave_out_defaults).transform(schema);
    }
}

/// Takes out what an absent field is read as: a reader of the schema is told so in words.
fn leave_out_defaults(schema: &mut Schema) {
    schema.remove("default");
}

/// Gives a definition a title, and puts it in ways and in an order that generators of types, and
/// people, can read.
pub(crate) fn as_generators_read(name: &str, definition: &mut Value) {
    if let Ok(schema) = <&mut Schema>::try_from(&mut *definition) {
        RecursiveTransform(put_references_alone).transform(schema);
        schema.insert("title".to_owned(), name.into());
    }
    // Serializing a schema puts its keys into the order in which people read them.
    let ordered = Schema::try_from(definition.take())
        .ok()
        .and_then(|schema| serde_json::to_value(schema).ok());
    *definition = ordered.unwrap_or_default();
}

/// Puts a reference that has a description into an `allOf`.
///
/// Beside other keywords, some generators of types overlook a reference, and others make a copy of
/// the type for each place that describes it.
fn put_references_alone(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut().filter(|schema| schema.len() > 1) else {
        return;
    };
    if let Some(reference) = schema.shift_remove("$ref") {
        schema.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
    }
}

/// Says that a value has one of several types as a union, but for null: ajv takes a list of others
/// for a mistake.
fn split_types(schema: &mut Schema) {
    let Some(Value::Array(types)) = schema.get("type") else {
        return;
    };
    if types.len() > 1 && !types.iter().any(|name| name == "null") {
        let branches: Value = types.iter().map(|name| json!({ "type": name })).collect();
        schema.remove("type");
        schema.insert("anyOf".to_owned(), branches);
    }
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
    let format = schema.get("format").and_then(Value::as_str);
    let is_wide = matches!(format, Some("int64" | "uint64"));
    let (minimum, maximum) = match format {
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
    if is_wide {
        schema.insert("$comment".to_owned(), EXACT.into());
    }
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
        let schema = json_schema!({
            "description": "One\nline.\n\nAnother.",
            "properties": {
                "number": { "type": ["integer", "null"], "format": "uint16" },
                "object": { "description": "d", "anyOf": [{ "$ref": "#/$defs/X" }, { "type": "null" }] },
                "known": { "type": ["string", "null"] },
                "removed": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
            },
            "required": ["known"]
        });
        let mut schema = schema.to_value();
        as_published(&mut schema);
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
        assert_eq!(schema, expected);
    }
    #[test]
    fn a_described_reference_stands_in_an_all_of_and_keys_are_ordered() {
        let mut schema = json!({
            "properties": { "id": { "$ref": "#/$defs/Id", "description": "Names it." }, "job": { "$ref": "#/$defs/Id" } },
            "type": "object",
        });
        as_generators_read("Thing", &mut schema);
        assert_eq!(
            schema.to_string(),
            r##"{"title":"Thing","type":"object","properties":{"id":{"description":"Names it.","allOf":[{"$ref":"#/$defs/Id"}]},"job":{"$ref":"#/$defs/Id"}}}"##
        );
    }

    #[test]
    fn several_types_are_a_union_and_wide_integers_say_so() {
        let mut schema = json!({
            "properties": {
                "any": { "type": ["object", "string"] },
                "size": { "type": "integer", "format": "uint64" },
            },
            "required": ["any", "size"]
        });
        as_published(&mut schema);
        assert_eq!(
            schema["properties"]["any"],
            json!({ "anyOf": [{ "type": "object" }, { "type": "string" }] })
        );
        assert_eq!(schema["properties"]["size"]["$comment"], EXACT);
    }
}
