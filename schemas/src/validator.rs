//! Validation: compiled once per kind, and precise about what is wrong.

use std::collections::HashSet;
use std::fmt;

use runtape_core::{Event, RuntimeEventKind};
use serde_json::Value;

use crate::engine::Engine;
use crate::explain::{tag_key, tag_of};
use crate::{Fault, SchemaError, SchemaKind};

/// What validation says of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It fits the schema.
    Valid,
    /// It has what every value of its kind has, and a type that this version does not know: a
    /// newer version may have written it.
    Unknown {
        /// The type.
        tag: String,
    },
    /// It breaks the schema.
    Invalid(Vec<Fault>),
}

impl Verdict {
    /// Tells whether the value fits the schema and is of a known type.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        *self == Self::Valid
    }

    /// Tells whether the value breaks the schema.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        matches!(self, Self::Invalid(_))
    }

    /// Returns what is wrong with the value.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        match self {
            Self::Invalid(faults) => faults,
            Self::Valid | Self::Unknown { .. } => &[],
        }
    }
}

/// Checks values against the schema of one kind.
pub struct Validator {
    kind: SchemaKind,
    engine: Engine,
    tags: Option<Tags>,
}

/// The key that tells the types of a kind apart, and the types this version knows.
struct Tags {
    key: &'static str,
    known: HashSet<&'static str>,
}

impl Tags {
    fn of(schema: &'static Value) -> Option<Self> {
        let branches = schema
            .get("anyOf")
            .or_else(|| schema.get("oneOf"))?
            .as_array()?;
        let key = tag_key(branches)?;
        let known = branches.iter().filter_map(|branch| tag_of(branch, key));
        Some(Self {
            key,
            known: known.collect(),
        })
    }
}

impl Validator {
    /// Returns the validator of a kind, compiled at its first use and then shared.
    #[must_use]
    pub fn for_kind(kind: SchemaKind) -> &'static Self {
        kind.cell()
            .validator
            .get_or_init(|| Self::compile_own(kind))
    }

    /// Compiles a validator of one's own.
    pub fn compile(kind: SchemaKind) -> Result<Self, SchemaError> {
        let schema = kind.schema();
        let engine = Engine::new(schema);
        let engine = engine.map_err(|fault| SchemaError::Compile { kind, fault })?;
        Ok(Self {
            kind,
            engine,
            tags: Tags::of(schema),
        })
    }

    fn compile_own(kind: SchemaKind) -> Self {
        Self::compile(kind).expect("a generated schema compiles: a test compiles every one")
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> SchemaKind {
        self.kind
    }

    /// Tells whether the published schema accepts a value, be its type known or not.
    #[must_use]
    pub fn accepts(&self, value: &Value) -> bool {
        self.engine.accepts(value)
    }

    /// Checks a value.
    ///
    /// Every fault is reported, in the order of the value; of a value with more than a million
    /// parts only the first.
    #[must_use]
    pub fn validate(&self, value: &Value) -> Verdict {
        if !self.accepts(value) {
            return Verdict::Invalid(self.faults(value));
        }
        match self.unknown_tag(value) {
            Some(tag) => Verdict::Unknown {
                tag: tag.to_owned(),
            },
            None => Verdict::Valid,
        }
    }

    /// Returns the type of an accepted value if this version does not know it.
    fn unknown_tag<'v>(&self, value: &'v Value) -> Option<&'v str> {
        if self.kind == SchemaKind::Event {
            return self.member(value).unknown_tag(value);
        }
        let tags = self.tags.as_ref()?;
        let tag = value.get(tags.key)?.as_str()?;
        if !tags.known.contains(tag) {
            return Some(tag);
        }
        // The one type of the model that holds an event within.
        if self.kind == SchemaKind::Record && tag == "event" {
            let tag = value.get("event")?.get("type")?.as_str()?;
            return (!RuntimeEventKind::TAGS.contains(&tag)).then_some(tag);
        }
        None
    }

    /// Returns the validator of the kind of event that a value is to be read as.
    fn member(&self, event: &Value) -> &'static Self {
        debug_assert_eq!(self.kind, SchemaKind::Event);
        Self::for_kind(if Event::is_run_event(event) {
            SchemaKind::RunEvent
        } else {
            SchemaKind::RuntimeEvent
        })
    }

    fn faults(&self, value: &Value) -> Vec<Fault> {
        if self.kind == SchemaKind::Event {
            return self.event_faults(value);
        }
        let mut faults = self.engine.faults(self.kind.schema(), value);
        let tag = self.tags.as_ref().and_then(|tags| {
            let tag = value.get(tags.key)?.as_str()?;
            tags.known.get(tag).copied()
        });
        for fault in &mut faults {
            fault.tag = tag;
        }
        if faults.is_empty() {
            // The two schemas would have to disagree; whoever asked still needs a word.
            faults.push(Fault {
                tag,
                path: String::new(),
                message: format!("does not fit the schema of {}", self.kind),
                schema_path: String::new(),
            });
        }
        faults
    }

    /// Finds the faults of an event in the schema of its own kind, which this schema holds as a
    /// definition.
    fn event_faults(&self, event: &Value) -> Vec<Fault> {
        let member = self.member(event);
        let title = member.kind.schema().get("title").and_then(Value::as_str);
        let definition = format!("/$defs/{}", title.unwrap_or_default());
        let mut faults = member.faults(event);
        for fault in &mut faults {
            if !fault.schema_path.starts_with("/$defs/") {
                fault.schema_path.insert_str(0, &definition);
            }
        }
        faults
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
