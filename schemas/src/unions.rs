//! Unions as their readers need them: every variant a type of its own, whole and with a name.
//!
//! From an enum told apart by a key, schemars makes branches that fix the key beside a reference to
//! the variant's fields; what all variants have stands outside of the union. Generators of types
//! see half of that, and of a value that fits no branch a validator can only say so as often as
//! there are branches. So it is put in another way, which accepts the same values:
//!
//! - A variant is a definition with all of its fields: the key, what every variant has, its own.
//! - A union that names all of its variants is a `oneOf` of them.
//! - A union that a newer version may add to is either its known variants (a definition of their
//!   own, which can be told apart by the key) or an unknown one. What a known type must have is
//!   said by decisions: `if` the key is this constant, `then` it is that variant. They are in
//!   `dependentSchemas`, below the key, where validators look and generators of types do not:
//!   one of these stops at the sight of an `if`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Where definitions are.
pub(crate) const DEFINITIONS: &str = "#/$defs/";

/// What the names of the known variants of open unions begin with.
pub(crate) const KNOWN: &str = "Known";

/// The definitions of a document, by name.
pub(crate) type Definitions = Map<String, Value>;

/// A union told apart by a key, as schemars makes it.
struct TaggedUnion {
    owner: String,
    keyword: &'static str,
    key: String,
    branches: Vec<Value>,
}

/// What became of a union that a newer version may add to.
struct OpenUnion {
    owner: String,
    key: String,
    /// Each known type, and the name of its variant.
    variants: Vec<(String, String)>,
}

impl OpenUnion {
    fn known(&self) -> String {
        format!("{KNOWN}{}", self.owner)
    }

    fn unknown(&self) -> String {
        format!("Unknown{}", self.owner)
    }
}

/// Gives every variant of every union a definition, and every union its rules.
pub(crate) fn complete(definitions: &mut Definitions) {
    let unions: Vec<TaggedUnion> = definitions
        .iter()
        .filter_map(|(owner, schema)| TaggedUnion::of(owner, schema))
        .collect();
    let mut elsewhere = BTreeSet::new();
    for schema in definitions.values() {
        references(schema, &mut |name, within| {
            if tag_key(within).is_none() {
                elsewhere.insert(name.to_owned());
            }
        });
    }
    let before = definitions.clone();
    let mut open = Vec::new();
    for union in unions {
        open.extend(union.rewrite(&before, &elsewhere, definitions));
    }
    for schema in definitions.values_mut() {
        join(schema, &open);
    }
}

/// Calls `each` with every name that is referred to in a schema, and the schema that refers to it.
pub(crate) fn references(schema: &Value, each: &mut impl FnMut(&str, &Value)) {
    match schema {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str);
            if let Some(name) = name.and_then(|name| name.strip_prefix(DEFINITIONS)) {
                each(name, schema);
            }
            for member in members.values() {
                references(member, each);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, each)),
        _ => {}
    }
}

/// Makes a reference to a definition.
pub(crate) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("{DEFINITIONS}{name}") })
}

/// Returns the name of the definition that a schema refers to.
pub(crate) fn referred(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(DEFINITIONS)
}

/// Returns the key whose value a schema fixes.
pub(crate) fn tag_key(schema: &Value) -> Option<&str> {
    let properties = schema.get("properties")?.as_object()?;
    let mut fixed = properties
        .iter()
        .filter(|(_, rule)| rule.get("const").is_some());
    fixed.next().map(|(key, _)| key.as_str())
}

/// Returns the value of a key that a schema fixes.
pub(crate) fn tag_of<'a>(schema: &'a Value, key: &str) -> Option<&'a str> {
    schema.get("properties")?.get(key)?.get("const")?.as_str()
}

impl TaggedUnion {
    fn of(owner: &str, schema: &Value) -> Option<Self> {
        ["oneOf", "anyOf"].into_iter().find_map(|keyword| {
            let branches = schema.get(keyword)?.as_array()?;
            Some(Self {
                owner: owner.to_owned(),
                keyword,
                key: tag_key(branches.first()?)?.to_owned(),
                branches: branches.clone(),
            })
        })
    }

    /// Puts the union and its variants among the definitions; `before` is how those were.
    fn rewrite(
        self,
        before: &Definitions,
        elsewhere: &BTreeSet<String>,
        definitions: &mut Definitions,
    ) -> Option<OpenUnion> {
        let Some(Value::Object(union)) = definitions.get_mut(&self.owner) else {
            return None;
        };
        union.shift_remove(self.keyword);
        union.shift_remove("type");
        let shared = Fields::taken_from(union);
        let mut variants = Vec::new();
        let mut made = Definitions::new();
        let mut unknown = None;
        for branch in &self.branches {
            let Some(tag) = tag_of(branch, &self.key) else {
                unknown = Some(branch);
                continue;
            };
            let payload = referred(branch);
            let name = self.variant_name(tag, payload, !shared.is_empty(), elsewhere);
            let fields = payload.and_then(|name| before.get(name)).unwrap_or(branch);
            let schema = self.variant(&name, tag, &shared, fields, branch);
            made.insert(name.clone(), schema);
            variants.push((tag.to_owned(), name));
        }
        let references: Vec<Value> = variants.iter().map(|(_, name)| reference(name)).collect();
        let Some(unknown) = unknown else {
            union.insert("oneOf".to_owned(), references.into());
            definitions.extend(made);
            return None;
        };
        let open = OpenUnion {
            owner: self.owner,
            key: self.key,
            variants,
        };
        union.insert("type".to_owned(), "object".into());
        union.insert(
            "anyOf".to_owned(),
            json!([reference(&open.known()), reference(&open.unknown())]),
        );
        let mut decisions = open.decisions();
        decisions.push(json!({
            "if": { "properties": { &open.key: { "not": { "enum": open.tags() } } } },
            "then": reference(&open.unknown())
        }));
        union.insert(
            "dependentSchemas".to_owned(),
            json!({ &open.key: { "allOf": decisions } }),
        );
        let description = union.get("description").cloned().unwrap_or_default();
        made.insert(
            open.known(),
            json!({
                "title": open.known(),
                "description": format!("{} Of a type that this version of the schema knows.", text(&description)),
                "oneOf": references
            }),
        );
        let mut fields = shared;
        fields.put(
            &open.key,
            json!({ "description": "The type, which is none of the known ones.", "type": "string" }),
        );
        made.insert(
            open.unknown(),
            fields.schema(
                &open.unknown(),
                text(unknown.get("description").unwrap_or(&Value::Null)),
            ),
        );
        definitions.extend(made);
        Some(open)
    }

    /// Names a variant: as its fields are called, unless those are in use by themselves; where all
    /// variants share fields, the last word says of what it is a variant.
    fn variant_name(
        &self,
        tag: &str,
        payload: Option<&str>,
        shares: bool,
        elsewhere: &BTreeSet<String>,
    ) -> String {
        let own = match payload {
            Some(name) if shares || !elsewhere.contains(name) => name.to_owned(),
            _ => format!("{}{}", self.owner, capitalized(tag)),
        };
        let last = self.owner.rfind(|c: char| c.is_ascii_uppercase());
        let last = self
            .owner
            .get(last.unwrap_or_default()..)
            .unwrap_or_default();
        if !shares || own.ends_with(last) {
            own
        } else {
            format!("{own}{last}")
        }
    }

    fn variant(
        &self,
        name: &str,
        tag: &str,
        shared: &Fields,
        payload: &Value,
        branch: &Value,
    ) -> Value {
        let mut fields = Fields::default();
        fields.put(
            &self.key,
            json!({
                "description": format!("Tells that it is this: `{tag}`."),
                "type": "string",
                "const": tag,
                // Says nothing new: typify makes a type that checks itself of a pattern, not of a
                // constant, and could not tell the variants apart.
                "pattern": format!("^{tag}$")
            }),
        );
        fields.extend(shared);
        if let Value::Object(payload) = payload {
            fields.extend(&Fields::taken_from(&mut payload.clone()));
        }
        let described = [payload, branch].into_iter().find_map(|schema| {
            schema
                .get("description")
                .filter(|words| !text(words).is_empty())
        });
        fields.schema(name, text(described.unwrap_or(&Value::Null)))
    }
}

impl OpenUnion {
    fn tags(&self) -> Vec<&str> {
        self.variants.iter().map(|(tag, _)| tag.as_str()).collect()
    }

    fn decisions(&self) -> Vec<Value> {
        let decide = |(tag, name): &(String, String)| {
            json!({
                "if": { "properties": { &self.key: { "const": tag } } },
                "then": reference(name)
            })
        };
        self.variants.iter().map(decide).collect()
    }
}

/// Joins open unions into one, where a schema is any of them.
///
/// A known type says which of them it is. Of an unknown one the schema's own `if` decides: if it
/// holds, then it is of the union in `then`, else of the last one.
fn join(schema: &mut Value, open: &[OpenUnion]) {
    let Some(branches) = schema.get("anyOf").and_then(Value::as_array) else {
        return;
    };
    let find = |branch: &Value| {
        let name = referred(branch)?;
        open.iter().find(|union| union.owner == name)
    };
    let Some(members) = branches.iter().map(find).collect::<Option<Vec<_>>>() else {
        return;
    };
    let (Some(last), Some(then)) = (members.last(), schema.get("then").and_then(find)) else {
        return;
    };
    let known = members.iter().map(|member| reference(&member.known()));
    let unknown = members.iter().map(|member| reference(&member.unknown()));
    let branches: Vec<Value> = known.chain(unknown).collect();
    let tags: Vec<&str> = members.iter().flat_map(|member| member.tags()).collect();
    let mut decisions: Vec<Value> = members
        .iter()
        .flat_map(|member| member.decisions())
        .collect();
    decisions.push(json!({
        "if": { "properties": { &last.key: { "not": { "enum": tags } } } },
        "then": {
            "if": schema.get("if"),
            "then": reference(&then.unknown()),
            "else": reference(&last.unknown())
        }
    }));
    let decisions = json!({ &last.key: { "allOf": decisions } });
    if let Value::Object(schema) = schema {
        schema.shift_remove("if");
        schema.shift_remove("then");
        schema.insert("type".to_owned(), "object".into());
        schema.insert("anyOf".to_owned(), branches.into());
        schema.insert("dependentSchemas".to_owned(), decisions);
    }
}

/// The fields of an object: their rules, and which must be there.
#[derive(Clone, Default)]
struct Fields {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Fields {
    /// Takes the fields out of a schema.
    fn taken_from(schema: &mut Map<String, Value>) -> Self {
        let properties = match schema.shift_remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        let required = match schema.shift_remove("required") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };
        Self {
            properties,
            required,
        }
    }

    fn is_empty(&self) -> bool {
        self.properties.is_empty()
    }

    /// Adds a field that must be there.
    fn put(&mut self, name: &str, rule: Value) {
        self.properties.insert(name.to_owned(), rule);
        self.required.push(name.into());
    }

    /// Adds the fields of another object; those that are there already stay as they are.
    fn extend(&mut self, others: &Self) {
        for (name, rule) in &others.properties {
            self.properties
                .entry(name.clone())
                .or_insert_with(|| rule.clone());
        }
        for name in &others.required {
            if !self.required.contains(name) {
                self.required.push(name.clone());
            }
        }
    }

    fn schema(self, title: &str, description: &str) -> Value {
        json!({
            "title": title,
            "description": description,
            "type": "object",
            "properties": self.properties,
            "required": self.required
        })
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(tag: &str, payload: &str) -> Value {
        json!({
            "description": "A branch.", "type": "object",
            "properties": { "type": { "type": "string", "const": tag } },
            "$ref": format!("#/$defs/{payload}"), "required": ["type"]
        })
    }

    fn payload(field: &str) -> Value {
        json!({
            "description": "A payload.", "type": "object",
            "properties": { field: { "type": "string" } }, "required": [field]
        })
    }

    fn completed(definitions: Value) -> Value {
        let Value::Object(mut definitions) = definitions else {
            panic!("definitions are an object")
        };
        complete(&mut definitions);
        definitions.into()
    }

    #[test]
    fn a_variant_has_the_key_what_all_share_and_its_own_fields() {
        let unknown = json!({
            "description": "Not known.",
            "properties": { "type": { "type": "string", "not": { "enum": ["begin"] } } },
            "required": ["type"]
        });
        let definitions = completed(json!({
            "RunEvent": {
                "description": "An event.", "type": "object",
                "properties": { "id": { "type": "string" } }, "required": ["id"],
                "anyOf": [branch("begin", "Begin"), unknown]
            },
            "Begin": payload("query")
        }));
        assert_eq!(
            definitions["BeginEvent"],
            json!({
                "title": "BeginEvent", "description": "A payload.", "type": "object",
                "properties": {
                    "type": {
                        "description": "Tells that it is this: `begin`.",
                        "type": "string", "const": "begin", "pattern": "^begin$"
                    },
                    "id": { "type": "string" },
                    "query": { "type": "string" }
                },
                "required": ["type", "id", "query"]
            })
        );
        assert_eq!(
            definitions["KnownRunEvent"]["oneOf"],
            json!([{ "$ref": "#/$defs/BeginEvent" }])
        );
        assert_eq!(
            definitions["UnknownRunEvent"]["required"],
            json!(["id", "type"])
        );
        let union = &definitions["RunEvent"];
        assert_eq!(union.get("properties"), None);
        let decisions = union["dependentSchemas"]["type"]["allOf"]
            .as_array()
            .unwrap();
        assert_eq!(
            decisions[0],
            json!({
                "if": { "properties": { "type": { "const": "begin" } } },
                "then": { "$ref": "#/$defs/BeginEvent" }
            })
        );
        assert_eq!(decisions.len(), 2);
    }

    #[test]
    fn fields_that_are_a_type_by_themselves_lend_no_name() {
        let definitions = completed(json!({
            "Place": { "oneOf": [branch("seal", "Seal"), branch("row", "Row")] },
            "Row": payload("table"),
            "Seal": payload("number"),
            "Report": { "properties": { "seal": { "$ref": "#/$defs/Seal" } } }
        }));
        assert_eq!(
            definitions["Place"]["oneOf"],
            json!([{ "$ref": "#/$defs/PlaceSeal" }, { "$ref": "#/$defs/Row" }])
        );
        assert_eq!(definitions["Seal"], payload("number"));
    }
}
