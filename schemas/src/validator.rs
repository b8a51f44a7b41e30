//! Validation: compiled once per kind, and precise about what is wrong.

use std::collections::HashSet;
use std::fmt;

use runtape_core::RuntimeEventKind;
use serde_json::Value;

use crate::decide::{own_decisions, variants};
use crate::engine::Engine;
use crate::unions::tag_of;
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
        if let Some((key, decisions)) = own_decisions(schema) {
            let known = decisions
                .iter()
                .filter_map(|decision| tag_of(decision.get("if")?, key));
            let known = known.collect();
            return Some(Self { key, known });
        }
        let branches = schema.get("oneOf")?.as_array()?;
        let (key, variants) = variants(branches, schema.get("$defs")?.as_object()?)?;
        let known = variants.into_iter().map(|(tag, _)| tag).collect();
        Some(Self { key, known })
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

    /// Tells whether the schema accepts a value, be its type known or not.
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

    fn faults(&self, value: &Value) -> Vec<Fault> {
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
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
