//! What a checkpoint knows beyond Perstack's fields.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::{LateValue, Runtime};

/// Metadata of a checkpoint: an open object with typed access to the keys we know.
///
/// Keys of others survive a round trip. Keys are kept in the order they were first set.
#[derive(Clone, Debug, Default)]
pub struct Metadata(Vec<(Cow<'static, str>, LateValue)>);

/// The version of the parsers and of what makes records of their signals. Since version 2 the times of a run's records lie
/// between its beginning and its end.
pub const PARSER_VERSION: &str = "2";

/// From this many keys on a scan is no longer the quickest way to find one.
const MANY: usize = 64;

macro_rules! text_keys {
    ($($(#[$doc:meta])* $get:ident, $key:literal;)*) => {
        impl Metadata {
            $($(#[$doc])* #[must_use] pub fn $get(&self) -> Option<&str> {
                self.get($key)?.as_str()
            })*
        }
    };
}

macro_rules! number_keys {
    ($($(#[$doc:meta])* $get:ident -> $type:ty, $as:ident, $key:literal;)*) => {
        impl Metadata {
            $($(#[$doc])* #[must_use] pub fn $get(&self) -> Option<$type> {
                self.get($key)?.$as()
            })*
        }
    };
}

text_keys! {
    /// The session to resume.
    session_id, "sessionId";
    /// The model's name as the runtime gave it.
    model, "model";
    /// The agent CLI's version.
    cli_version, "cliVersion";
    /// The directory it worked in.
    cwd, "cwd";
    /// The machine it ran on.
    host, "host";
    /// The user it ran as.
    user, "user";
    /// What the agent may do without asking, by the runtime's own word for it.
    permission_mode, "permissionMode";
    /// The commit that the working directory was at.
    git_commit, "gitCommit";
    /// The branch that the working directory was on.
    git_branch, "gitBranch";
    /// The signal that ended the process.
    signal, "signal";
    /// The output format that was read.
    output_format, "outputFormat";
    /// The version of the parser that made the records.
    parser_version, "parserVersion";
    /// Where times come from; `file` means a file's modification time, `history` the times in session files.
    time_source, "timeSource";
    /// Through what the run was seen: `live`, `history` or `both`.
    source, "source";
    /// What the CLI calls the session.
    title, "title";
}

number_keys! {
    /// The exit code of the process.
    exit_code -> i64, as_i64, "exitCode";
    /// When the process began by the clock of the recorder that ran it, or by its session files where nobody watched it, in
    /// milliseconds since 1970.
    started_at -> i64, as_i64, "startedAt";
    /// When the process ended by the same clock.
    finished_at -> i64, as_i64, "finishedAt";
    /// How long the run took, as the runtime reported it.
    duration_ms -> i64, as_i64, "durationMs";
    /// What the run cost in US dollars, as the runtime reported it.
    cost_usd -> f64, as_f64, "costUsd";
    /// How many lines no parser understood.
    unparsed_lines -> u64, as_u64, "unparsedLines";
    /// Whether the exit code is unknown.
    exit_unknown -> bool, as_bool, "exitUnknown";
    /// Whether somebody stopped the run.
    interrupted -> bool, as_bool, "interrupted";
    /// Whether an agent CLI did the work, rather than Perstack itself.
    external_execution -> bool, as_bool, "externalExecution";
}

impl Metadata {
    /// Creates the metadata every checkpoint of a runtime has.
    #[must_use]
    pub fn for_runtime(runtime: &Runtime) -> Self {
        let mut metadata = Self::default();
        metadata.set("runtime", runtime.as_str());
        if runtime.is_external() {
            metadata.set("externalExecution", true);
        }
        metadata
    }

    /// Creates metadata without keys, with room for some.
    #[must_use]
    pub fn with_capacity(keys: usize) -> Self {
        Self(Vec::with_capacity(keys))
    }

    /// Returns the runtime that did the work.
    #[must_use]
    pub fn runtime(&self) -> Option<Runtime> {
        self.get("runtime")?.as_str().map(Runtime::from_name)
    }

    /// Returns how long the run took in milliseconds: by the clock of the recorder that ran the process, or of its session
    /// files; else as the runtime reported it. A clock that was set back in between measured nothing.
    #[must_use]
    pub fn took_ms(&self) -> Option<i64> {
        let measured = self.finished_at().zip(self.started_at());
        measured
            .map(|(end, start)| end.saturating_sub(start))
            .filter(|took| *took >= 0)
            .or_else(|| self.duration_ms())
    }

    /// Returns the command line, if all of it is text.
    #[must_use]
    pub fn argv(&self) -> Option<Vec<&str>> {
        self.get("argv")?
            .as_array()?
            .iter()
            .map(Value::as_str)
            .collect()
    }

    /// Returns the labels that whoever started the run gave it.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<String, String> {
        let labels = self.get("labels").and_then(Value::as_object);
        let labels = labels.into_iter().flatten();
        labels
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
            .collect()
    }

    /// Returns the usage objects as the runtime printed them.
    #[must_use]
    pub fn raw_usage(&self) -> Option<&Value> {
        self.get("rawUsage")
    }

    /// Returns the names of the usage counters that are 0 only because nobody reported them.
    #[must_use]
    pub fn usage_unknown(&self) -> Vec<&str> {
        let names = self.get("usageUnknown").and_then(Value::as_array);
        names
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// Returns the value of any key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        let (_, value) = self.0.iter().find(|(known, _)| known == key)?;
        Some(value.get())
    }

    /// Sets a key.
    pub fn set(&mut self, key: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        self.set_late(key.into(), value.into().into());
    }

    /// Sets a key to a value that may be read later.
    pub fn set_late(&mut self, key: Cow<'static, str>, value: LateValue) {
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = value,
            None => self.0.push((key, value)),
        }
    }

    /// Takes over all keys of `patch`; a null removes its key.
    pub fn merge(&mut self, patch: &Self) {
        if self.0.len().max(patch.0.len()) > MANY {
            return self.merge_many(patch);
        }
        for (key, value) in &patch.0 {
            if value.get().is_null() {
                self.0.retain(|(known, _)| known != key);
            } else {
                self.set_late(key.clone(), value.clone());
            }
        }
    }

    /// Does the same in a time that grows with the number of keys, not with its square.
    #[cold]
    fn merge_many(&mut self, patch: &Self) {
        let mut keys: Map<String, Value> = std::mem::take(self).into();
        let (gone, set): (Vec<_>, Vec<_>) = patch.iter().partition(|(_, value)| value.is_null());
        let gone: HashSet<&str> = gone.into_iter().map(|(key, _)| key).collect();
        keys.retain(|key, _| !gone.contains(key.as_str()));
        keys.extend(
            set.into_iter()
                .map(|(key, value)| (key.to_owned(), value.clone())),
        );
        *self = keys.into();
    }

    /// Returns the keys that `other` does not have, or has with another value.
    pub(crate) fn beyond<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let many = self.0.len().min(other.0.len()) > MANY;
        let known: HashMap<&str, &Value> = if many {
            other.iter().collect()
        } else {
            HashMap::new()
        };
        self.iter().filter(move |(key, value)| {
            let theirs = if many {
                known.get(key).copied()
            } else {
                other.get(key)
            };
            theirs != Some(value)
        })
    }

    /// Tells whether no key is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the keys and values in the order they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let keys = self.0.iter();
        keys.map(|(key, value)| (key.as_ref(), value.get()))
    }
}

impl From<Map<String, Value>> for Metadata {
    fn from(keys: Map<String, Value>) -> Self {
        let keys = keys.into_iter();
        Self(
            keys.map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }
}

impl From<Metadata> for Map<String, Value> {
    fn from(metadata: Metadata) -> Self {
        let keys = metadata.0.into_iter();
        keys.map(|(key, value)| (key.into_owned(), value.into_value()))
            .collect()
    }
}

/// As with any object in JSON, the order of keys makes no difference.
impl PartialEq for Metadata {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.beyond(other).next().is_none()
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for Metadata {
    fn schema_name() -> Cow<'static, str> {
        "Metadata".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "What is known of a run beyond Perstack's fields. Open: other keys may be present.",
            "properties": Self::known_keys(generator)
        })
    }
}

impl Metadata {
    /// Schema of a change to metadata: as metadata itself, but a null may stand for any key.
    pub(crate) fn patch_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut keys = Self::known_keys(generator);
        for rule in keys.values_mut() {
            // `oneOf`, because a null beside a type or in `anyOf` is how an optional field looks.
            // A rule that names no type takes a null as it is.
            if rule.get("type").or(rule.get("$ref")).is_some() {
                *rule = json!({ "oneOf": [rule.take(), { "type": "null" }] });
            }
        }
        json_schema!({ "type": "object", "properties": keys })
    }

    /// Schemas of the keys we know.
    fn known_keys(generator: &mut SchemaGenerator) -> Map<String, Value> {
        KEYS.iter()
            .map(|(key, rule, description)| {
                let schema = rule.schema(generator, description);
                ((*key).to_owned(), schema.to_value())
            })
            .collect()
    }

    /// Returns the first of the keys we know whose value is not of its type. Reading takes any
    /// metadata as it is; the schema does not.
    pub(crate) fn misfit(keys: &Map<String, Value>) -> Option<(&'static str, &'static str)> {
        KEYS.iter().find_map(|(key, rule, _)| {
            let value = keys.get(*key)?;
            (!rule.accepts(value)).then(|| (*key, rule.expected()))
        })
    }
}

/// What the value of a key is.
#[derive(Clone, Copy)]
enum KeyRule {
    Runtime,
    Text,
    Texts,
    Count,
    Number,
    Flag,
    Any,
}

impl KeyRule {
    fn schema(self, generator: &mut SchemaGenerator, description: &str) -> Schema {
        match self {
            Self::Runtime => generator.subschema_for::<Runtime>(),
            Self::Text => json_schema!({ "type": "string", "description": description }),
            Self::Texts => {
                json_schema!({ "type": "array", "items": { "type": "string" }, "description": description })
            }
            Self::Count => json_schema!({ "type": "integer", "description": description }),
            Self::Number => json_schema!({ "type": "number", "description": description }),
            Self::Flag => json_schema!({ "type": "boolean", "description": description }),
            Self::Any => json_schema!({ "description": description }),
        }
    }

    fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Runtime | Self::Text => value.is_string(),
            Self::Texts => value
                .as_array()
                .is_some_and(|items| items.iter().all(Value::is_string)),
            // To a schema, 5.0 is an integer.
            Self::Count => {
                value.is_i64()
                    || value.is_u64()
                    || value.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            Self::Number => value.is_number(),
            Self::Flag => value.is_boolean(),
            Self::Any => true,
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Runtime | Self::Text => "a string",
            Self::Texts => "a list of strings",
            Self::Count => "a whole number",
            Self::Number => "a number",
            Self::Flag => "a boolean",
            Self::Any => "any value",
        }
    }
}

/// The keys we know: what their values are, and what they mean.
const KEYS: &[(&str, KeyRule, &str)] = &[
    ("runtime", KeyRule::Runtime, ""),
    (
        "externalExecution",
        KeyRule::Flag,
        "An agent CLI did the work, rather than Perstack itself.",
    ),
    ("sessionId", KeyRule::Text, "The session to resume."),
    (
        "model",
        KeyRule::Text,
        "The model's name as the runtime gave it.",
    ),
    ("cliVersion", KeyRule::Text, "The agent CLI's version."),
    ("cwd", KeyRule::Text, "The directory it worked in."),
    ("argv", KeyRule::Texts, "The command line."),
    ("host", KeyRule::Text, "The machine it ran on."),
    ("user", KeyRule::Text, "The user it ran as."),
    (
        "permissionMode",
        KeyRule::Text,
        "What the agent may do without asking, by the runtime's own word for it.",
    ),
    (
        "gitCommit",
        KeyRule::Text,
        "The commit that the working directory was at when the run began.",
    ),
    (
        "gitBranch",
        KeyRule::Text,
        "The branch that the working directory was on when the run began.",
    ),
    (
        "labels",
        KeyRule::Any,
        "Labels that whoever started the run gave it: an object of texts.",
    ),
    ("exitCode", KeyRule::Count, "The exit code of the process."),
    ("exitUnknown", KeyRule::Flag, "The exit code is not known."),
    (
        "signal",
        KeyRule::Text,
        "The signal that ended the process.",
    ),
    (
        "startedAt",
        KeyRule::Count,
        "When the process began, in milliseconds since 1970, by the clock of the recorder that ran it.",
    ),
    (
        "finishedAt",
        KeyRule::Count,
        "When the process ended, in milliseconds since 1970, by the clock of the recorder that ran it.",
    ),
    (
        "durationMs",
        KeyRule::Count,
        "How long the run took, in milliseconds, as the runtime reported it.",
    ),
    (
        "costUsd",
        KeyRule::Number,
        "What the run cost in US dollars, as reported.",
    ),
    (
        "rawUsage",
        KeyRule::Any,
        "The usage objects as the runtime printed them.",
    ),
    (
        "usageUnknown",
        KeyRule::Texts,
        "Usage counters that are 0 only because nobody reported them.",
    ),
    (
        "outputFormat",
        KeyRule::Text,
        "The output format that was read.",
    ),
    (
        "parserVersion",
        KeyRule::Text,
        "The version of the parser that made the records.",
    ),
    (
        "unparsedLines",
        KeyRule::Count,
        "How many lines no parser understood.",
    ),
    (
        "timeSource",
        KeyRule::Text,
        "Where times come from; `file` means a file's modification time.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_survive_and_known_ones_are_typed() {
        let json =
            r#"{"runtime":"cursor","externalExecution":true,"mine":{"a":[1]},"argv":["a","b"]}"#;
        let metadata: Metadata = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&metadata).unwrap(), json);
        assert_eq!(metadata.runtime(), Some(Runtime::Cursor));
        assert_eq!(metadata.external_execution(), Some(true));
        assert_eq!(metadata.argv(), Some(vec!["a", "b"]));
        assert_eq!(metadata.session_id(), None);
    }

    #[test]
    fn merging_many_keys_is_merging() {
        let many = |from: usize, to: usize| {
            let mut metadata = Metadata::default();
            (from..to).for_each(|n| metadata.set(format!("key{n}"), n));
            metadata
        };
        let mut merged = many(0, MANY);
        let mut patch = many(MANY / 2, 2 * MANY);
        patch.set("key1", Value::Null);
        merged.merge(&patch);
        let mut expected = many(0, 2 * MANY);
        expected.0.remove(1);
        assert_eq!(merged, expected);
    }

    #[test]
    fn merging_sets_and_removes() {
        let mut metadata = Metadata::for_runtime(&Runtime::Hermes);
        let mut patch = Metadata::default();
        patch.set("model", "m");
        patch.set("externalExecution", Value::Null);
        metadata.merge(&patch);
        assert_eq!(
            serde_json::to_string(&metadata).unwrap(),
            r#"{"runtime":"hermes","model":"m"}"#
        );
    }
}
