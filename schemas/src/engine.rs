//! The one place that calls jsonschema, whose interface changes often.

use std::sync::OnceLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;

use crate::Fault;
use crate::decide::{Decided, undecided};

/// The most parts a value may have for all of its faults to be gathered at once.
///
/// jsonschema gathers faults before it gives the first; a hostile line can have as many as it has
/// bytes, and each takes some hundred bytes of memory.
const MAX_PARTS: usize = 1_000_000;

/// The most characters of a value that a message repeats.
const EXCERPT: usize = 40;

/// A compiled schema.
pub(crate) struct Engine {
    accepting: Validator,
    /// Needed once the first fault is met; most runs meet none.
    explaining: OnceLock<Option<(Decided, Validator)>>,
}

impl Engine {
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        Ok(Self {
            accepting: compile(&undecided(schema))?,
            explaining: OnceLock::new(),
        })
    }

    /// Tells whether the schema accepts a value.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.accepting.is_valid(value)
    }

    /// Returns what is wrong with a value that is not accepted; `schema` is the published one.
    pub(crate) fn faults(&self, schema: &Value, value: &Value) -> Vec<Fault> {
        let explaining = self.explaining.get_or_init(|| {
            let decided = Decided::new(schema);
            let validator = compile(&decided.schema).ok()?;
            Some((decided, validator))
        });
        let Some((decided, validator)) = explaining else {
            return all_errors(&self.accepting, value, str::to_owned);
        };
        all_errors(validator, value, |path| decided.published_path(path))
    }
}

fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .build(schema)
        .map_err(|error| error.to_string())
}

fn all_errors(validator: &Validator, value: &Value, path: impl Fn(&str) -> String) -> Vec<Fault> {
    let fault = |error: &ValidationError<'_>| Fault {
        tag: None,
        path: error.instance_path().as_str().to_owned(),
        message: message(error),
        schema_path: path(error.schema_path().as_str()),
    };
    if exceeds(value, &mut { MAX_PARTS }) {
        return validator
            .validate(value)
            .err()
            .as_ref()
            .map(fault)
            .into_iter()
            .collect();
    }
    let mut faults: Vec<Fault> = validator
        .iter_errors(value)
        .map(|error| fault(&error))
        .collect();
    // The order of the schema's hash maps is none; that of the value's places is one.
    faults.sort_by_cached_key(|fault| (place(&fault.path), fault.message.clone()));
    faults
}

/// Tells whether a value has more parts than are left to count.
fn exceeds(value: &Value, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else {
        return true;
    };
    *left = fewer;
    match value {
        Value::Array(items) => items.iter().any(|item| exceeds(item, left)),
        Value::Object(members) => members.values().any(|member| exceeds(member, left)),
        _ => false,
    }
}

/// Returns a path as something that orders positions as numbers.
fn place(path: &str) -> Vec<(u64, String)> {
    path.split('/')
        .map(|segment| match segment.parse() {
            Ok(position) => (position, String::new()),
            Err(_) => (0, segment.to_owned()),
        })
        .collect()
}

fn message(error: &ValidationError<'_>) -> String {
    let found = error.instance().as_ref();
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(name) => name.to_string(),
                TypeKind::Multiple(names) => {
                    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
                    names.join(" or ")
                }
            };
            format!("expected {expected}, found {}", type_of(found))
        }
        ValidationErrorKind::Required { property } => match property.as_str() {
            Some(name) => format!("missing field `{name}`"),
            None => format!("missing field {property}"),
        },
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> = match options.as_ref() {
                Value::Array(options) => options.iter().map(excerpt).collect(),
                other => vec![excerpt(other)],
            };
            format!(
                "expected one of {}, found {}",
                options.join(", "),
                excerpt(found)
            )
        }
        ValidationErrorKind::Constant { expected_value } => {
            format!(
                "expected {}, found {}",
                excerpt(expected_value),
                excerpt(found)
            )
        }
        ValidationErrorKind::Pattern { pattern } => {
            format!(
                "expected text that matches {pattern}, found {}",
                excerpt(found)
            )
        }
        ValidationErrorKind::MinLength { limit } => {
            format!(
                "expected at least {limit} characters, found {}",
                excerpt(found)
            )
        }
        ValidationErrorKind::MaxLength { limit } => {
            format!(
                "expected at most {limit} characters, found {}",
                excerpt(found)
            )
        }
        ValidationErrorKind::Minimum { limit } => {
            format!("expected at least {limit}, found {}", excerpt(found))
        }
        ValidationErrorKind::Maximum { limit } => {
            format!("expected at most {limit}, found {}", excerpt(found))
        }
        ValidationErrorKind::PropertyNames { error } => {
            format!("a key is not allowed: {}", message(error))
        }
        _ => error.masked().to_string(),
    }
}

/// Names the type of a value as schemas do.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Shows a value, cut short; what has parts is only named.
fn excerpt(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => type_of(value).to_owned(),
        Value::String(text) if text.chars().nth(EXCERPT).is_some() => {
            let begin: String = text.chars().take(EXCERPT).collect();
            format!("{}…", Value::from(begin))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn faults_come_in_the_order_of_the_value() {
        let engine = Engine::new(&json!({ "items": { "type": "string" } })).unwrap();
        let items: Vec<i32> = (0..12).collect();
        let faults = engine.faults(&json!({ "items": { "type": "string" } }), &json!(items));
        let paths: Vec<_> = faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(paths[1..4], ["/1", "/2", "/3"]);
        assert_eq!(paths[11], "/11");
        assert_eq!(faults[0].message, "expected string, found integer");
        assert_eq!(faults[0].schema_path, "/items/type");
    }

    #[test]
    fn a_value_of_a_million_parts_gives_its_first_fault() {
        let schema = json!({ "items": { "type": "string" } });
        let engine = Engine::new(&schema).unwrap();
        let faults = engine.faults(&schema, &json!(vec![0; MAX_PARTS + 1]));
        assert_eq!(faults.len(), 1);
    }

    #[test]
    fn messages_do_not_repeat_long_or_structured_values() {
        let schema = json!({ "enum": ["a", 1] });
        let engine = Engine::new(&schema).unwrap();
        for (value, expected) in [
            (
                json!({"key": "secret"}),
                "expected one of \"a\", 1, found object",
            ),
            (
                json!("b\u{1b}"),
                "expected one of \"a\", 1, found \"b\\u001b\"",
            ),
        ] {
            assert_eq!(engine.faults(&schema, &value)[0].message, expected);
        }
        let long = engine.faults(&schema, &json!("x".repeat(1000)));
        assert!(long[0].message.len() < 100);
    }

    #[test]
    fn the_bundle_compiles_and_its_anchors_lead_to_the_kinds() {
        let mut bundle = crate::bundle();
        let usage = json!({
            "inputTokens": 1, "outputTokens": 1, "reasoningTokens": 0, "totalTokens": 2,
            "cachedInputTokens": 0,
        });
        let engine = Engine::new(&bundle).unwrap();
        assert!(engine.accepts(&usage));
        assert!(!engine.accepts(&json!({"inputTokens": 1})));
        bundle.as_object_mut().unwrap().shift_remove("anyOf");
        for kind in crate::SchemaKind::ALL {
            bundle["$ref"] = format!("#{kind}").into();
            let engine = Engine::new(&bundle).unwrap();
            // A row of a query may be any object.
            let fits = [crate::SchemaKind::Usage, crate::SchemaKind::SqlRow].contains(kind);
            assert_eq!(engine.accepts(&usage), fits, "{kind}");
        }
    }
}
