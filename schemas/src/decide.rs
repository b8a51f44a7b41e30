//! A schema in which every union is a decision.
//!
//! Of a value that fits none of the branches of a `oneOf`, a validator can only tell why it fits
//! neither this nor that, after it has tried all. But in our schemas one key decides on the branch.
//! So the union is turned into decisions (if the type is this, then the branch) that accept the
//! same values, and a fault is found in the one branch that was meant. Decisions cost more than a
//! union that fits, so they are made once a value is refused. The published schema says the same as
//! both; a test holds that of every value.

use serde_json::{Map, Value, json};

use crate::unions::{Definitions, KNOWN, reference, referred, tag_key, tag_of};

/// A schema with decisions, and how its paths lead back to the published one.
pub(crate) struct Decided {
    pub(crate) schema: Value,
    counterparts: Vec<Counterpart>,
}

/// A part of the decided schema and the part of the published one that it stands for.
struct Counterpart {
    decided: String,
    published: String,
    /// Whether what follows the path exists in the decided schema only.
    whole: bool,
}

/// What a union is.
enum Union<'a> {
    /// Objects told apart by a key: each type, and the name of its definition.
    Tagged {
        key: &'a str,
        variants: Vec<(&'a str, &'a str)>,
    },
    /// Constants.
    Words(Vec<&'a Value>),
    /// A branch, or null.
    Nullable(usize),
}

impl Decided {
    pub(crate) fn new(published: &Value) -> Self {
        let none = Definitions::new();
        let definitions = published.get("$defs").and_then(Value::as_object);
        let mut rewriting = Rewriting {
            definitions: definitions.unwrap_or(&none),
            counterparts: Vec::new(),
        };
        let schema = rewriting.rewrite(published, "", "");
        let mut counterparts = rewriting.counterparts;
        // The longest path is the innermost counterpart.
        counterparts.sort_by_key(|counterpart| std::cmp::Reverse(counterpart.decided.len()));
        Self {
            schema,
            counterparts,
        }
    }

    /// Leads a path in the decided schema back to the published one.
    pub(crate) fn published_path(&self, path: &str) -> String {
        let found = self.counterparts.iter().find_map(|counterpart| {
            let rest = path.strip_prefix(counterpart.decided.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then_some((counterpart, rest))
        });
        match found {
            Some((counterpart, _)) if counterpart.whole => counterpart.published.clone(),
            Some((counterpart, rest)) => format!("{}{rest}", counterpart.published),
            None => path.to_owned(),
        }
    }
}

/// Returns the key that tells branches apart, and the type and name of each; the branches refer to
/// definitions that fix the key.
pub(crate) fn variants<'a>(
    branches: &'a [Value],
    definitions: &'a Definitions,
) -> Option<(&'a str, Vec<(&'a str, &'a str)>)> {
    let key = tag_key(definitions.get(referred(branches.first()?)?)?)?;
    let variant = |branch: &'a Value| {
        let name = referred(branch)?;
        Some((tag_of(definitions.get(name)?, key)?, name))
    };
    Some((key, branches.iter().map(variant).collect::<Option<_>>()?))
}

/// Returns the key on which a schema's own decisions depend, and the decisions.
pub(crate) fn own_decisions(schema: &Value) -> Option<(&str, &Vec<Value>)> {
    let (key, rules) = schema.get("dependentSchemas")?.as_object()?.iter().next()?;
    Some((key, rules.get("allOf")?.as_array()?))
}

/// Returns a schema that accepts the same values and says each thing once.
///
/// A published open union names its variants twice, for generators of types and for validators, and
/// a validator checks a valid value against both. Here the unknown variant excludes the known types
/// instead, which leaves nothing to decide.
pub(crate) fn undecided(published: &Value) -> Value {
    let mut schema = published.clone();
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        definitions.values_mut().for_each(say_once);
    }
    say_once(&mut schema);
    schema
}

fn say_once(schema: &mut Value) {
    let Some((key, decisions)) = own_decisions(schema) else {
        return;
    };
    let known = schema.get("anyOf").and_then(Value::as_array);
    let known = known.into_iter().flatten().filter(|branch| {
        let name = referred(branch).unwrap_or_default();
        name.starts_with(KNOWN)
    });
    // The last decision is that of unknown types: if it is none of the others.
    let Some(last) = decisions.last() else {
        return;
    };
    let unknown = json!({ "required": [key], "allOf": [last.get("if"), last.get("then")] });
    let branches: Vec<Value> = known.cloned().chain([unknown]).collect();
    if let Value::Object(schema) = schema {
        schema.shift_remove("dependentSchemas");
        schema.insert("anyOf".to_owned(), branches.into());
    }
}

struct Rewriting<'a> {
    definitions: &'a Definitions,
    counterparts: Vec<Counterpart>,
}

impl<'a> Rewriting<'a> {
    fn classify(&self, branches: &'a [Value]) -> Option<Union<'a>> {
        let words = branches.iter().map(|branch| branch.get("const"));
        if let Some(words) = words.collect() {
            return Some(Union::Words(words));
        }
        if let Some((key, variants)) = variants(branches, self.definitions) {
            return Some(Union::Tagged { key, variants });
        }
        let null = branches
            .iter()
            .position(|branch| *branch == json!({ "type": "null" }))?;
        (branches.len() == 2).then_some(Union::Nullable(1 - null))
    }

    fn rewrite(&mut self, schema: &'a Value, published: &str, decided: &str) -> Value {
        let Value::Object(schema) = schema else {
            return schema.clone();
        };
        let mut result = Map::new();
        // Decisions follow the rules that are there.
        let mut rules = match schema.get("allOf") {
            Some(Value::Array(rules)) => {
                let path = format!("{published}/allOf");
                self.rewrite_each(rules, &path, &format!("{decided}/allOf"))
            }
            _ => Vec::new(),
        };
        let is_open = schema.get("dependentSchemas").is_some();
        for (key, value) in schema {
            let (from, to) = (format!("{published}/{key}"), format!("{decided}/{key}"));
            match (key.as_str(), value) {
                ("allOf", _) => {}
                ("anyOf", Value::Array(branches)) if is_open => {
                    let to = format!("{decided}/allOf/{}", rules.len());
                    rules.extend(self.without_type(schema, branches, from, to));
                }
                ("oneOf" | "anyOf", Value::Array(branches)) => {
                    let to_rules = format!("{decided}/allOf");
                    if let Some(union) = self.classify(branches) {
                        let first = rules.len();
                        rules.extend(self.decide(&union, branches, &from, &to_rules, first));
                    } else {
                        let branches = self.rewrite_each(branches, &from, &to);
                        result.insert(key.clone(), branches.into());
                    }
                }
                ("properties" | "$defs", Value::Object(members)) => {
                    let mut rewritten = Map::new();
                    for (name, member) in members {
                        let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
                        rewritten.insert(name.clone(), self.rewrite(member, &from, &to));
                    }
                    result.insert(key.clone(), rewritten.into());
                }
                ("items", member) => {
                    result.insert(key.clone(), self.rewrite(member, &from, &to));
                }
                _ => {
                    result.insert(key.clone(), value.clone());
                }
            }
        }
        if !rules.is_empty() {
            result.insert("allOf".to_owned(), rules.into());
        }
        result.into()
    }

    fn rewrite_each(&mut self, branches: &'a [Value], from: &str, to: &str) -> Vec<Value> {
        let branches = branches.iter().enumerate();
        branches
            .map(|(at, branch)| {
                self.rewrite(branch, &format!("{from}/{at}"), &format!("{to}/{at}"))
            })
            .collect()
    }

    /// Makes the rule for an object whose type is missing, which the schema's own decisions pass
    /// over: it lacks what the last branch, that of unknown types, asks for.
    fn without_type(
        &mut self,
        schema: &'a Map<String, Value>,
        branches: &'a [Value],
        from: String,
        to: String,
    ) -> Option<Value> {
        let key = schema.get("dependentSchemas")?.as_object()?.keys().next()?;
        self.counterparts.push(Counterpart {
            decided: to,
            published: from,
            whole: true,
        });
        Some(json!({ "if": { "required": [key] }, "else": branches.last()? }))
    }

    /// Turns a union into rules that all hold, the first of which is number `first`.
    fn decide(
        &mut self,
        union: &Union<'a>,
        branches: &'a [Value],
        from: &str,
        to: &str,
        first: usize,
    ) -> Vec<Value> {
        self.counterparts.push(Counterpart {
            decided: format!("{to}/{first}"),
            published: from.to_owned(),
            whole: true,
        });
        match union {
            Union::Words(words) => vec![json!({ "enum": words })],
            Union::Nullable(at) => {
                let from = format!("{from}/{at}");
                let to = format!("{to}/{first}/else");
                let branch = branches.get(*at).unwrap_or(&Value::Null);
                let branch = self.rewrite(branch, &from, &to);
                self.counterparts.push(Counterpart {
                    decided: to,
                    published: from,
                    whole: false,
                });
                vec![json!({ "if": { "type": "null" }, "else": branch })]
            }
            Union::Tagged { key, variants } => {
                let tags: Vec<&str> = variants.iter().map(|(tag, _)| *tag).collect();
                let mut rules = vec![json!({
                    "type": "object",
                    "properties": { *key: { "enum": tags } },
                    "required": [key]
                })];
                rules.extend(variants.iter().map(|(tag, name)| {
                    json!({
                        "if": { "properties": { *key: { "const": tag } }, "required": [key] },
                        "then": reference(name)
                    })
                }));
                rules
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_back_to_the_published_schema() {
        let variant = |tag: &str, field: &Value| {
            json!({
                "properties": { "type": { "const": tag }, "field": field },
                "required": ["type", "field"]
            })
        };
        let words = json!({ "oneOf": [{ "const": "yes" }, { "const": "no" }] });
        let published = json!({
            "$defs": {
                "A": variant("a", &json!({ "allOf": [{ "$ref": "#/$defs/W" }], "oneOf": words["oneOf"] })),
                "B": variant("b", &json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })),
                "W": words,
                "X": { "oneOf": [{ "$ref": "#/$defs/A" }, { "$ref": "#/$defs/B" }] }
            }
        });
        let decided = Decided::new(&published);
        for (path, expected) in [
            ("/$defs/X/allOf/0/properties/type/enum", "/$defs/X/oneOf"),
            ("/$defs/W/allOf/0/enum", "/$defs/W/oneOf"),
            (
                "/$defs/A/properties/field/allOf/1/enum",
                "/$defs/A/properties/field/oneOf",
            ),
            (
                "/$defs/B/properties/field/allOf/0/else/type",
                "/$defs/B/properties/field/anyOf/0/type",
            ),
            ("/$defs/A/required", "/$defs/A/required"),
        ] {
            assert_eq!(decided.published_path(path), expected);
        }
        assert_eq!(
            decided.schema["$defs"]["X"]["allOf"][2]["then"],
            json!({ "$ref": "#/$defs/B" })
        );
    }
}
