//! The committed files are what the types say, and read well by themselves.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use runtape_schemas::{REGENERATE, SchemaKind, files};
use serde_json::Value;

fn directory() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/v1"))
}

#[test]
fn committed_files_are_those_of_the_types() {
    let mut differing = Vec::new();
    let mut expected = BTreeSet::new();
    for file in files() {
        if !fs::read_to_string(directory().join(&file.name)).is_ok_and(|text| text == file.text) {
            differing.push(file.name.clone());
        }
        expected.insert(file.name);
    }
    let found: BTreeSet<String> = fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    differing.extend(found.difference(&expected).cloned());
    assert!(
        differing.is_empty(),
        "schemas/v1 differs from the types in {differing:?}. If the change is meant, and one that v1 \
         allows (schemas/README.md), run:\n\n    {REGENERATE}\n"
    );
}

/// Calls `each` with the path and content of every schema in a document.
fn every_schema(schema: &Value, path: &str, each: &mut impl FnMut(&str, &Value)) {
    each(path, schema);
    let Value::Object(keywords) = schema else {
        return;
    };
    for (keyword, value) in keywords {
        let path = format!("{path}/{keyword}");
        match (keyword.as_str(), value) {
            ("properties" | "$defs" | "dependentSchemas", Value::Object(members)) => {
                for (name, member) in members {
                    every_schema(member, &format!("{path}/{name}"), each);
                }
            }
            ("oneOf" | "anyOf" | "allOf", Value::Array(branches)) => {
                for (at, branch) in branches.iter().enumerate() {
                    every_schema(branch, &format!("{path}/{at}"), each);
                }
            }
            ("items" | "not" | "if" | "then" | "else" | "propertyNames", member) => {
                every_schema(member, &path, each);
            }
            _ => {}
        }
    }
}

#[test]
fn documents_have_a_head_and_only_keywords_of_the_draft() {
    const KEYWORDS: &[&str] = &[
        "$comment",
        "$defs",
        "$dynamicAnchor",
        "$id",
        "$ref",
        "$schema",
        "allOf",
        "anyOf",
        "const",
        "dependentSchemas",
        "description",
        "else",
        "enum",
        "examples",
        "if",
        "items",
        "maxLength",
        "maximum",
        "minLength",
        "minimum",
        "not",
        "oneOf",
        "pattern",
        "properties",
        "propertyNames",
        "required",
        "then",
        "title",
        "type",
    ];
    for file in files() {
        let schema: Value = serde_json::from_str(&file.text).unwrap();
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        let id = format!("https://runtape.dev/schemas/v1/{}", file.name);
        assert_eq!(schema["$id"], id);
        for key in ["title", "description"] {
            assert!(
                schema[key].as_str().is_some_and(|text| !text.is_empty()),
                "{id} {key}"
            );
        }
        every_schema(&schema, "", &mut |path, schema| {
            for keyword in schema
                .as_object()
                .into_iter()
                .flat_map(|schema| schema.keys())
            {
                assert!(
                    KEYWORDS.contains(&keyword.as_str()),
                    "{id}{path}: {keyword}"
                );
            }
        });
    }
}

#[test]
fn descriptions_are_for_a_reader_who_has_only_the_schema() {
    for kind in SchemaKind::ALL {
        every_schema(kind.schema(), "", &mut |path, schema| {
            if let Some(text) = schema.get("description").and_then(Value::as_str) {
                for leak in ["[`", "`]", "](", "::", "crate", "`None`", "`Some"] {
                    assert!(!text.contains(leak), "{kind}{path}: {text}");
                }
            }
            for (name, rule) in schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                // What only decides on the type, below an `if`, needs no words.
                let is_type = path.contains("/dependentSchemas/");
                let branch = rule.get("oneOf").and_then(|branches| branches.get(0));
                let described = [Some(rule), branch]
                    .into_iter()
                    .flatten()
                    .any(|rule| rule.get("description").or(rule.get("$ref")).is_some());
                assert!(
                    is_type || described,
                    "{kind}{path}/{name} has no description"
                );
            }
        });
    }
}

#[test]
fn generators_of_types_find_a_name_for_everything_and_references_by_themselves() {
    for kind in SchemaKind::ALL {
        let schema = kind.schema();
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            assert_eq!(definition["title"], name.as_str(), "{kind}");
            let described = definition["description"].as_str();
            assert!(
                described.is_some_and(|text| !text.is_empty()),
                "{kind}: {name} has no description"
            );
        }
        every_schema(schema, "", &mut |path, schema| {
            let keywords = schema.as_object().map_or(0, serde_json::Map::len);
            assert!(
                schema.get("$ref").is_none() || keywords == 1,
                "{kind}{path}: a reference beside other keywords"
            );
            assert!(
                schema.get("if").is_none() || path.contains("/dependentSchemas/"),
                "{kind}{path}: an `if` where generators of types would stop"
            );
        });
    }
}

#[test]
fn a_variant_is_told_by_a_constant_and_decided_by_an_if() {
    let mut variants = 0;
    for kind in SchemaKind::ALL {
        let schema = kind.schema();
        let target = |branch: &Value| {
            let name = branch.get("$ref")?.as_str()?;
            schema.pointer(name.trim_start_matches('#')).cloned()
        };
        every_schema(schema, "", &mut |path, schema| {
            let branches = schema.get("oneOf").and_then(Value::as_array);
            for branch in branches.into_iter().flatten() {
                // Not the words of a list, nor a text that may be null.
                let Some(variant) = target(branch).filter(|each| each["type"] == "object") else {
                    continue;
                };
                let constants = variant["properties"].as_object().into_iter().flatten();
                let constants = constants.filter(|(_, rule)| rule.get("const").is_some());
                assert!(constants.count() >= 1, "{kind}{path}: {branch}");
                variants += 1;
            }
            let decisions = schema.get("dependentSchemas").and_then(Value::as_object);
            for (key, rules) in decisions.into_iter().flatten() {
                for rule in rules["allOf"].as_array().into_iter().flatten() {
                    let Some(constant) = rule.pointer(&format!("/if/properties/{key}/const"))
                    else {
                        continue;
                    };
                    let variant = target(&rule["then"]).unwrap_or_default();
                    assert_eq!(
                        &variant["properties"][key]["const"], constant,
                        "{kind}{path}"
                    );
                    variants += 1;
                }
            }
        });
    }
    assert!(variants > 450, "only {variants}");
}

#[test]
fn integers_beyond_what_javascript_holds_say_so() {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    for kind in SchemaKind::ALL {
        every_schema(kind.schema(), "", &mut |path, schema| {
            let is_wide = ["minimum", "maximum"].into_iter().any(|keyword| {
                let bound = schema.get(keyword).and_then(Value::as_f64);
                bound.is_some_and(|bound| bound.abs() > SAFE)
            });
            let comment = schema.get("$comment").and_then(Value::as_str);
            assert!(
                !is_wide || comment.is_some_and(|text| text.contains("9007199254740991")),
                "{kind}{path}"
            );
        });
    }
}

#[test]
fn a_field_that_may_be_absent_is_never_null() {
    for kind in SchemaKind::ALL {
        every_schema(kind.schema(), "", &mut |path, schema| {
            // A change to metadata removes a key by null, and says so.
            if path.ends_with("/MetadataPatchRecord/properties/set") {
                return;
            }
            let required = schema.get("required").and_then(Value::as_array);
            let is_required =
                |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
            for (name, rule) in schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                let nullable = rule.to_string().contains("\"null\"");
                assert!(
                    !nullable || is_required(name),
                    "{kind}{path}/{name} takes null"
                );
            }
        });
    }
}

#[test]
fn two_types_never_share_a_name() {
    for kind in SchemaKind::ALL {
        for name in kind.schema()["$defs"]
            .as_object()
            .into_iter()
            .flat_map(|defs| defs.keys())
        {
            // schemars tells two types of the same name apart by a number.
            assert!(
                !name.ends_with(|c: char| c.is_ascii_digit()),
                "{kind}: {name}"
            );
        }
    }
}

#[test]
fn the_bundle_says_the_same_as_the_single_files() {
    let bundle = runtape_schemas::bundle();
    for kind in SchemaKind::ALL {
        let definitions = kind.schema()["$defs"].as_object();
        for (name, definition) in definitions.into_iter().flatten() {
            let mut bundled = bundle["$defs"][name].clone();
            bundled
                .as_object_mut()
                .unwrap()
                .shift_remove("$dynamicAnchor");
            assert_eq!(&bundled, definition, "{kind}: {name}");
        }
        let title = kind.schema()["title"].as_str().unwrap();
        assert_eq!(bundle["$defs"][title]["$dynamicAnchor"], kind.name());
    }
}
