//! A schema rewritten so that its faults are precise.
//!
//! Of a value that fits none of the branches of a `oneOf`, a validator can only tell why it fits
//! neither this nor that. But in our schemas one key decides on the branch. So the union is
//! turned into decisions (if the type is this, then the branch) that accept the same values, and
//! a fault is found in the one branch that was meant. The published schema stays what decides on
//! validity; this one only explains.

use serde_json::{Map, Value, json};

/// A schema that explains, and how its paths lead back to the published one.
pub(crate) struct Explaining {
    pub(crate) schema: Value,
    counterparts: Vec<Counterpart>,
}

/// A part of the rewritten schema and the part of the published one that it stands for.
struct Counterpart {
    rewritten: String,
    published: String,
    /// Whether what follows the path exists in the rewritten schema only.
    whole: bool,
}

/// What a union is.
enum Union {
    /// Objects told apart by a key; an open one has a branch for unknown values of the key.
    Tagged { key: String, open: bool },
    /// Constants.
    Words,
    /// A branch, or null.
    Nullable(usize),
}

impl Explaining {
    pub(crate) fn new(published: &Value) -> Self {
        let mut counterparts = Vec::new();
        let schema = rewrite(published, "", "", &mut counterparts);
        // The longest path is the innermost counterpart.
        counterparts.sort_by_key(|counterpart| std::cmp::Reverse(counterpart.rewritten.len()));
        Self {
            schema,
            counterparts,
        }
    }

    /// Leads a path in the rewritten schema back to the published one.
    pub(crate) fn published_path(&self, path: &str) -> String {
        let found = self.counterparts.iter().find_map(|counterpart| {
            let rest = path.strip_prefix(counterpart.rewritten.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then_some((counterpart, rest))
        });
        match found {
            Some((counterpart, _)) if counterpart.whole => counterpart.published.clone(),
            Some((counterpart, rest)) => format!("{}{rest}", counterpart.published),
            None => path.to_owned(),
        }
    }
}

/// Returns the value of a key that every branch of a union requires and fixes.
pub(crate) fn tag_of<'a>(branch: &'a Value, key: &str) -> Option<&'a str> {
    branch.get("properties")?.get(key)?.get("const")?.as_str()
}

/// Returns the key that tells the branches of a union apart.
pub(crate) fn tag_key(branches: &[Value]) -> Option<&str> {
    let properties = branches.first()?.get("properties")?.as_object()?;
    let mut fixed = properties
        .iter()
        .filter(|(_, rule)| rule.get("const").is_some());
    fixed.next().map(|(key, _)| key.as_str())
}

fn classify(branches: &[Value]) -> Option<Union> {
    if branches.iter().all(|branch| branch.get("const").is_some()) {
        return Some(Union::Words);
    }
    if let Some(key) = tag_key(branches) {
        let tagged = branches
            .iter()
            .filter(|branch| tag_of(branch, key).is_some());
        let tagged = tagged.count();
        let key = key.to_owned();
        return match branches.len() - tagged {
            0 => Some(Union::Tagged { key, open: false }),
            1 => Some(Union::Tagged { key, open: true }),
            _ => None,
        };
    }
    let null = branches
        .iter()
        .position(|branch| *branch == json!({ "type": "null" }))?;
    (branches.len() == 2).then_some(Union::Nullable(1 - null))
}

fn rewrite(
    schema: &Value,
    published: &str,
    rewritten: &str,
    counterparts: &mut Vec<Counterpart>,
) -> Value {
    let Value::Object(schema) = schema else {
        return schema.clone();
    };
    let mut result = Map::new();
    let mut decisions = Vec::new();
    for (key, value) in schema {
        let (from, to) = (format!("{published}/{key}"), format!("{rewritten}/{key}"));
        match (key.as_str(), value) {
            ("oneOf" | "anyOf", Value::Array(branches)) => {
                if let Some(union) = classify(branches) {
                    let to = format!("{rewritten}/allOf");
                    decisions.extend(decide(
                        &union,
                        branches,
                        &from,
                        &to,
                        decisions.len(),
                        counterparts,
                    ));
                } else {
                    result.insert(
                        key.clone(),
                        rewrite_each(branches, &from, &to, counterparts),
                    );
                }
            }
            ("properties" | "$defs", Value::Object(members)) => {
                let members = members.iter().map(|(name, member)| {
                    let from = format!("{from}/{name}");
                    let to = format!("{to}/{name}");
                    (name.clone(), rewrite(member, &from, &to, counterparts))
                });
                result.insert(key.clone(), Value::Object(members.collect()));
            }
            ("items" | "if" | "then" | "else", member) => {
                result.insert(key.clone(), rewrite(member, &from, &to, counterparts));
            }
            _ => {
                result.insert(key.clone(), value.clone());
            }
        }
    }
    if !decisions.is_empty() {
        result.insert("allOf".to_owned(), decisions.into());
    }
    result.into()
}

fn rewrite_each(
    branches: &[Value],
    from: &str,
    to: &str,
    counterparts: &mut Vec<Counterpart>,
) -> Value {
    let branches = branches.iter().enumerate();
    branches
        .map(|(at, branch)| {
            rewrite(
                branch,
                &format!("{from}/{at}"),
                &format!("{to}/{at}"),
                counterparts,
            )
        })
        .collect()
}

/// Turns a union into rules that all hold, the first of which is number `first`.
fn decide(
    union: &Union,
    branches: &[Value],
    from: &str,
    to: &str,
    first: usize,
    counterparts: &mut Vec<Counterpart>,
) -> Vec<Value> {
    counterparts.push(Counterpart {
        rewritten: format!("{to}/{first}"),
        published: from.to_owned(),
        whole: true,
    });
    let branch_at = |at: usize, to: String, counterparts: &mut Vec<Counterpart>| {
        let from = format!("{from}/{at}");
        let branch = branches.get(at).unwrap_or(&Value::Null);
        let schema = rewrite(branch, &from, &to, counterparts);
        counterparts.push(Counterpart {
            rewritten: to,
            published: from,
            whole: false,
        });
        schema
    };
    match union {
        Union::Words => {
            let words: Vec<_> = branches
                .iter()
                .filter_map(|branch| branch.get("const"))
                .collect();
            vec![json!({ "enum": words })]
        }
        Union::Nullable(at) => {
            let branch = branch_at(*at, format!("{to}/{first}/else"), counterparts);
            vec![json!({ "if": { "type": "null" }, "else": branch })]
        }
        Union::Tagged { key, open } => {
            let tags: Vec<&str> = branches
                .iter()
                .filter_map(|branch| tag_of(branch, key))
                .collect();
            let rule = if *open {
                json!({ "type": "string" })
            } else {
                json!({ "enum": tags })
            };
            let mut rules = vec![json!({
                "type": "object",
                "properties": { key: rule },
                "required": [key]
            })];
            for (at, branch) in branches.iter().enumerate() {
                let Some(tag) = tag_of(branch, key) else {
                    continue;
                };
                let to = format!("{to}/{}/then", first + rules.len());
                let branch = branch_at(at, to, counterparts);
                rules.push(json!({
                    "if": { "properties": { key: { "const": tag } }, "required": [key] },
                    "then": branch
                }));
            }
            rules
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_back_to_the_published_schema() {
        let branch = |tag: &str, field: &Value| {
            json!({
                "properties": { "type": { "const": tag }, "field": field },
                "required": ["type", "field"]
            })
        };
        let words = json!({ "oneOf": [{ "const": "yes" }, { "const": "no" }] });
        let published = json!({
            "$defs": { "X": { "anyOf": [branch("a", &json!({ "type": "string" })), branch("b", &words)] } }
        });
        let explaining = Explaining::new(&published);
        for (rewritten, expected) in [
            ("/$defs/X/allOf/0/properties/type/enum", "/$defs/X/anyOf"),
            (
                "/$defs/X/allOf/1/then/required",
                "/$defs/X/anyOf/0/required",
            ),
            (
                "/$defs/X/allOf/2/then/properties/field/allOf/0/enum",
                "/$defs/X/anyOf/1/properties/field/oneOf",
            ),
            ("/$defs/Y/type", "/$defs/Y/type"),
        ] {
            assert_eq!(explaining.published_path(rewritten), expected);
        }
    }
}
