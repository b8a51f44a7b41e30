//! Ids: what they look like, and the one place where they are made.
//!
//! Job, run and checkpoint ids become path names on export, so their alphabet is narrow. Ids of
//! events, messages and parts are opaque. The ids of tool calls come from the runtimes and may
//! hold anything (cursor's contain a newline).
//!
//! # Derived ids
//!
//! Ids inside a run are derived, so that normalizing the same output again gives the same ids:
//!
//! 1. Write a path: the run's id, the kind of thing that is named, for an event its type, and an
//!    ordinal, with a `/` between them. Kinds are `checkpoint` (its ordinal is the step number),
//!    `event` (the sequence number of its record), `liveEvent`, `message`, `part`, `toolCall` and
//!    `childRun` (each counted from 0 within the run). Ordinals are decimal numbers without leading
//!    zeros. Where one record stands for several events of a type, those after the first have their
//!    number, counted from 1, as one more word. No word holds a `/`, so no two things have one path.
//! 2. Hash the bytes of the path with XXH3, 128 bits, seed 0, as xxHash specifies it since 0.8.0.
//! 3. Of the 128 bits leave out the last 8, and set the first to 0: so the first digit is a letter,
//!    as that of a cuid2 is.
//! 4. Write the 120 bits as 24 digits of 5 bits each, the highest first: `a` to `z` are 0 to 25, `2`
//!    to `7` are 26 to 31 (base 32 of RFC 4648 in lower case).
//!
//! A run that is known from a CLI's session files, and the job that such a session is, have paths of
//! their own: the word `history`, then the BLAKE3 hashes of runtime, session and (for a run) first key in
//! hexadecimal digits, and the ordinal 0.
//!
//! The path `run-456/checkpoint/1` has the hash `42f99ed23d81571ded6b68d2f289566f`, and the id is
//! `il4z5ur5qflr33llndjpfckw`. XXH3 is quick, but no defence against somebody who looks for two paths
//! with one hash. Nobody gains by that: run ids come from the caller, the rest is counted.

use schemars::{Schema, json_schema};

use crate::id_path::IdPath;
use crate::id_text::IdText;

/// Longest job, run or checkpoint id.
const PATH_ID_MAX: usize = 128;
/// Longest id or name of a tool call, in UTF-16 units: Perstack counts as JavaScript does.
const OPAQUE_MAX: usize = 255;

const PATH_RULE: &str =
    "expected 1 to 128 characters of A-Z a-z 0-9 _ . - beginning with a letter or digit";
const OPAQUE_RULE: &str = "expected 1 to 255 characters";

fn is_path_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= PATH_ID_MAX
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

fn is_opaque(text: &str) -> bool {
    // A UTF-8 text has at least as many bytes as UTF-16 units, so short ones need no counting.
    !text.is_empty() && (text.len() <= OPAQUE_MAX || text.encode_utf16().count() <= OPAQUE_MAX)
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $check:path, $rule:expr, $schema:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name($crate::id_text::IdText);

        impl $name {
            /// Checks `text` against the rule for this kind of id.
            pub fn parse(text: impl Into<std::sync::Arc<str>>) -> Result<Self, $crate::CoreError> {
                let text: std::sync::Arc<str> = text.into();
                if $check(&text) {
                    Ok(Self(text.into()))
                } else {
                    Err($crate::CoreError::InvalidId {
                        kind: $kind,
                        id: text.chars().take(80).collect(),
                        rule: $rule,
                    })
                }
            }

            /// Returns the id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        // The bytes are compared: whether they are text was looked at when the id was made.
        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0.as_bytes() == other.as_bytes()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::CoreError;
            fn from_str(text: &str) -> Result<Self, $crate::CoreError> {
                Self::parse(text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(text).map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}

pub(crate) use id_type;

/// Schema of an id that becomes a path name.
fn path_id_schema(description: &str) -> Schema {
    json_schema!({
        "type": "string",
        "description": description,
        "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$"
    })
}

/// Schema of an id, or name, that is only bounded in length.
fn opaque_schema(description: &str) -> Schema {
    json_schema!({
        "type": "string",
        "description": description,
        "minLength": 1,
        "maxLength": OPAQUE_MAX,
        "$comment": "Readers in JavaScript count UTF-16 units, and so do we; a schema counts characters, of which there are at most as many."
    })
}

id_type!(
    /// Names a job: a set of runs that belong together.
    JobId, "job id", is_path_id, PATH_RULE,
    path_id_schema("Names a job, a set of runs that belong together. Safe as a path name.")
);
id_type!(
    /// Names a run: one execution of one expert on one runtime.
    RunId, "run id", is_path_id, PATH_RULE,
    path_id_schema("Names a run, one execution of one expert on one runtime. Safe as a path name.")
);
id_type!(
    /// Names a checkpoint: the state at the end of a step.
    CheckpointId, "checkpoint id", is_path_id, PATH_RULE,
    path_id_schema("Names a checkpoint, the state at the end of a step. Safe as a path name.")
);
id_type!(
    /// Names an event.
    EventId, "event id", is_opaque, OPAQUE_RULE, opaque_schema("Names an event.")
);
id_type!(
    /// Names a message.
    MessageId, "message id", is_opaque, OPAQUE_RULE, opaque_schema("Names a message.")
);
id_type!(
    /// Names one part of a message.
    PartId, "part id", is_opaque, OPAQUE_RULE, opaque_schema("Names one part of a message.")
);
id_type!(
    /// Names a tool call; its result carries the same id.
    ToolCallId, "tool call id", is_opaque, OPAQUE_RULE,
    opaque_schema("Names a tool call; its result carries the same id.")
);
id_type!(
    /// The name of a tool, or of the skill that offers it.
    ToolName, "tool name", is_opaque, OPAQUE_RULE,
    opaque_schema("The name of a tool, or of the skill that offers it.")
);

/// Cuts `text` to what an opaque id may hold, ending in a hash of the whole so that two long texts stay apart.
fn shorten(text: &str) -> IdText {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let tail: String = hash.chars().take(16).collect();
    let mut units = 0;
    let head: String = text
        .chars()
        .take_while(|c| {
            units += c.len_utf16();
            units < OPAQUE_MAX - tail.len()
        })
        .collect();
    format!("{head}~{tail}").into()
}

impl ToolCallId {
    /// Takes an id as a runtime printed it: an overlong one is shortened, an empty one is none.
    #[must_use]
    pub fn from_printed(text: &str) -> Option<Self> {
        match text {
            "" => None,
            text if is_opaque(text) => Some(Self(text.into())),
            text => Some(Self(shorten(text))),
        }
    }
}

impl ToolName {
    /// Takes a name as a runtime printed it: an overlong one is shortened, an empty one is `unknown`.
    #[must_use]
    pub fn from_printed(text: &str) -> Self {
        match text {
            "" => Self("unknown".into()),
            text if is_opaque(text) => Self(text.into()),
            text => Self(shorten(text)),
        }
    }
}

/// What a derived id names; ordinals count within one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdKind {
    /// A checkpoint; its ordinal is the step number.
    Checkpoint,
    /// An event made from a kept record; its ordinal is the record's sequence number.
    Event(&'static str),
    /// An event that only live consumers see.
    LiveEvent,
    /// A message; its ordinal is its position in the run.
    Message,
    /// A part of a message.
    Part,
    /// A tool call that the runtime printed without an id.
    ToolCall,
    /// A child run; its ordinal is that of its first appearance under the root.
    ChildRun,
}

impl IdKind {
    /// Returns the word for the kind, and the type of an event.
    fn words(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Checkpoint => ("checkpoint", None),
            Self::Event(event_type) => ("event", Some(event_type)),
            Self::LiveEvent => ("liveEvent", None),
            Self::Message => ("message", None),
            Self::Part => ("part", None),
            Self::ToolCall => ("toolCall", None),
            Self::ChildRun => ("childRun", None),
        }
    }
}

/// Begins the path of what is of a kind in a run.
fn path(run: &RunId, kind: IdKind) -> IdPath {
    let (kind, event_type) = kind.words();
    IdPath::new([run.as_str(), kind].into_iter().chain(event_type))
}

/// Derives the id of the `ordinal`-th thing of a kind in a run.
fn derive(run: &RunId, kind: IdKind, ordinal: u64) -> IdText {
    path(run, kind).derive(ordinal)
}

/// The ids of one run's messages and parts, which are derived one after the other.
///
/// What they have in common is put together once.
#[derive(Clone, Debug)]
pub struct DerivedIds(IdPath);

impl DerivedIds {
    /// Prepares the ids of a run.
    #[must_use]
    pub fn of(run: &RunId) -> Self {
        Self(IdPath::new([run.as_str()]))
    }

    /// Derives the same id as [`MessageId::derive`].
    #[must_use]
    pub fn message(&mut self, ordinal: u64) -> MessageId {
        MessageId(self.derive(IdKind::Message, ordinal))
    }

    /// Derives the same id as [`PartId::derive`].
    #[must_use]
    pub fn part(&mut self, ordinal: u64) -> PartId {
        PartId(self.derive(IdKind::Part, ordinal))
    }

    fn derive(&mut self, kind: IdKind, ordinal: u64) -> IdText {
        let (kind, _) = kind.words();
        self.0.derive_of(kind, ordinal)
    }
}

macro_rules! derive_fn {
    ($(#[$doc:meta])* $name:ident -> $id:ident, $kind:expr) => {
        impl $id {
            $(#[$doc])*
            #[must_use]
            pub fn $name(run: &RunId, ordinal: u64) -> Self {
                Self(derive(run, $kind, ordinal))
            }
        }
    };
}

derive_fn!(
    /// Derives the id of a step's checkpoint.
    derive -> CheckpointId, IdKind::Checkpoint
);
derive_fn!(
    /// Derives the id of the message at a position in the run.
    derive -> MessageId, IdKind::Message
);
derive_fn!(
    /// Derives the id of the n-th part in the run.
    derive -> PartId, IdKind::Part
);
derive_fn!(
    /// Derives the id of the n-th call that was printed without one.
    derive -> ToolCallId, IdKind::ToolCall
);
derive_fn!(
    /// Derives the id of the n-th child run under a root run.
    derive_child -> RunId, IdKind::ChildRun
);

impl RunId {
    /// Derives the id of a run that is known from a CLI's session files: of its runtime, its session, and the
    /// key of the first line or row that is its own. So the same history gives the same ids everywhere.
    #[must_use]
    pub fn of_history(runtime: &str, session: &str, key: &str) -> Self {
        Self(history_path(runtime, &[session, key]))
    }
}

impl JobId {
    /// Derives the id of the job that a CLI's session is.
    #[must_use]
    pub fn of_history(runtime: &str, session: &str) -> Self {
        Self(history_path(runtime, &[session]))
    }
}

/// Derives an id from what a CLI calls a session. Its words may hold anything, so each goes by its hash.
fn history_path(runtime: &str, words: &[&str]) -> IdText {
    let words: Vec<String> = std::iter::once(&runtime)
        .chain(words)
        .map(|word| blake3::hash(word.as_bytes()).to_hex().to_string())
        .collect();
    let words = std::iter::once("history").chain(words.iter().map(String::as_str));
    IdPath::new(words).derive(0)
}

impl EventId {
    /// Derives the id of the event of a type that the record at a sequence number stands for.
    #[must_use]
    pub fn derive(run: &RunId, event_type: &'static str, seq: u64) -> Self {
        Self(derive(run, IdKind::Event(event_type), seq))
    }

    /// Derives the id of the n-th event of a type that one record stands for, counted from 0.
    #[must_use]
    pub fn derive_nth(run: &RunId, event_type: &'static str, seq: u64, nth: u64) -> Self {
        let mut path = path(run, IdKind::Event(event_type));
        Self(match nth {
            0 => path.derive(seq),
            nth => path.derive_nested(seq, nth),
        })
    }

    /// Derives the id of the n-th live-only event of a run.
    #[must_use]
    pub fn derive_live(run: &RunId, ordinal: u64) -> Self {
        Self(derive(run, IdKind::LiveEvent, ordinal))
    }
}

/// Where new ids come from. The one seam behind which randomness lives.
pub trait IdSource {
    /// Returns an id in cuid2's shape that was not returned before.
    fn next_id(&mut self) -> String;

    /// Returns a new job id.
    fn job_id(&mut self) -> JobId {
        JobId(self.next_id().into())
    }
    /// Returns a new run id.
    fn run_id(&mut self) -> RunId {
        RunId(self.next_id().into())
    }
    /// Returns a new checkpoint id.
    fn checkpoint_id(&mut self) -> CheckpointId {
        CheckpointId(self.next_id().into())
    }
    /// Returns a new event id.
    fn event_id(&mut self) -> EventId {
        EventId(self.next_id().into())
    }
    /// Returns a new message id.
    fn message_id(&mut self) -> MessageId {
        MessageId(self.next_id().into())
    }
    /// Returns a new part id.
    fn part_id(&mut self) -> PartId {
        PartId(self.next_id().into())
    }
}

/// Random ids: cuid2.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn next_id(&mut self) -> String {
        cuid2::create_id()
    }
}

/// Ids that repeat: the n-th one of a seed is always the same. For tests and examples.
#[derive(Clone, Debug)]
pub struct CountingIds {
    seed: RunId,
    next: u64,
}

impl CountingIds {
    /// Starts counting under a seed.
    #[must_use]
    pub fn new(seed: RunId) -> Self {
        Self { seed, next: 0 }
    }
}

impl IdSource for CountingIds {
    fn next_id(&mut self) -> String {
        let id = derive(&self.seed, IdKind::LiveEvent, self.next);
        self.next += 1;
        id.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_derived_in_a_row_are_the_same() {
        let run = RunId::parse("r").unwrap();
        let mut ids = DerivedIds::of(&run);
        for ordinal in [0, 1, 99, u64::MAX] {
            assert_eq!(ids.message(ordinal), MessageId::derive(&run, ordinal));
            assert_eq!(ids.part(ordinal), PartId::derive(&run, ordinal));
        }
    }

    #[test]
    fn job_ids_follow_the_path_rule() {
        let long = "a".repeat(128);
        for good in ["job-123", "a", "9.x_Y-z", &long] {
            assert_eq!(JobId::parse(good).unwrap().as_str(), good);
        }
        let too_long = "a".repeat(129);
        for bad in [
            "", "-a", ".a", "_a", "a/b", "a b", "ä", "a\n", &too_long, "..",
        ] {
            let error = JobId::parse(bad).unwrap_err();
            assert!(
                error.to_string().contains("invalid job id"),
                "{bad:?}: {error}"
            );
        }
    }

    #[test]
    fn tool_call_ids_may_hold_anything_and_count_as_javascript_does() {
        assert!(ToolCallId::parse("call_1\nfc_2").is_ok());
        assert!(ToolCallId::parse("").is_err());
        assert!(ToolCallId::parse("é".repeat(255)).is_ok());
        assert!(ToolCallId::parse("😀".repeat(127)).is_ok());
        assert!(ToolCallId::parse("😀".repeat(128)).is_err());
    }

    #[test]
    fn overlong_printed_ids_are_shortened_and_stay_apart() {
        let one = ToolCallId::from_printed(&"x".repeat(300)).unwrap();
        let two = ToolCallId::from_printed(&"x".repeat(301)).unwrap();
        assert_ne!(one, two);
        assert_eq!(one.as_str().len(), 255);
        assert!(ToolCallId::parse(one.as_str()).is_ok());
        assert!(ToolCallId::from_printed("").is_none());
        assert_eq!(ToolName::from_printed("").as_str(), "unknown");
    }

    #[test]
    fn derived_ids_have_the_shape_of_a_cuid2_and_repeat() {
        let run = RunId::parse("run-456").unwrap();
        let other = RunId::parse("run-457").unwrap();
        let id = CheckpointId::derive(&run, 1);
        assert_eq!(id.as_str().len(), 24);
        assert!(id.as_str().starts_with(|c: char| c.is_ascii_lowercase()));
        assert!(
            id.as_str()
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        );
        assert_eq!(id, CheckpointId::derive(&run, 1));
        assert_ne!(id, CheckpointId::derive(&run, 2));
        assert_ne!(id, CheckpointId::derive(&other, 1));
        assert_ne!(id.as_str(), MessageId::derive(&run, 1).as_str());
        assert_ne!(EventId::derive(&run, "a", 1), EventId::derive(&run, "b", 1));
    }

    /// Computed from the description above with another implementation (xxHash 0.8.4).
    #[test]
    fn derived_ids_are_those_of_the_description() {
        let run = RunId::parse("run-456").unwrap();
        let long = RunId::parse("r".repeat(128)).unwrap();
        let cases = [
            (CheckpointId::derive(&run, 1).0, "il4z5ur5qflr33llndjpfckw"),
            (CheckpointId::derive(&run, 2).0, "ghywbpa3cwe5xvyt6fsp27em"),
            (
                EventId::derive(&run, "startRun", 0).0,
                "oku4ts3v4zamxr4cv4ss4jo7",
            ),
            (
                EventId::derive_nth(&run, "callTools", 7, 0).0,
                "n2wdt4hircp4aumn7gh3rypp",
            ),
            (
                EventId::derive_nth(&run, "callTools", 7, 1).0,
                "fy5a6r6peqwiabdsjazfyrtz",
            ),
            (EventId::derive_live(&run, 0).0, "eowxehczmae6la7pjx5fg6xz"),
            (MessageId::derive(&run, 0).0, "oxg72xnagxk4reljx2lqp53y"),
            (
                MessageId::derive(&run, u64::MAX).0,
                "kz46twrewnhpyimufasbxgp3",
            ),
            (PartId::derive(&run, 12).0, "g6mzdodmr4sdeesqoo3i4j5s"),
            (ToolCallId::derive(&run, 3).0, "fivv37tlgje3d4dmdico6pka"),
            (RunId::derive_child(&run, 0).0, "odz55j3zutoy4tnf2zqxna2a"),
            (
                PartId::derive(&long, 1_000_000).0,
                "bananddybedy4n5rd7tzzlkj",
            ),
        ];
        for (id, expected) in cases {
            assert_eq!(id.as_str(), expected);
        }
    }

    #[test]
    fn derived_ids_stay_apart() {
        let mut ids = std::collections::HashSet::new();
        for name in ["run", "run-1", "run-10", "nur", "runrunru", "runrunrun"] {
            let run = RunId::parse(name).unwrap();
            for ordinal in 0..2_000 {
                assert!(ids.insert(CheckpointId::derive(&run, ordinal).0));
                assert!(ids.insert(MessageId::derive(&run, ordinal).0));
                assert!(ids.insert(EventId::derive(&run, "startRun", ordinal).0));
                assert!(ids.insert(EventId::derive(&run, "callTools", ordinal).0));
            }
        }
    }

    #[test]
    fn random_ids_are_cuid2_and_differ() {
        let mut ids = RandomIds;
        let one = ids.job_id();
        assert_eq!(one.as_str().len(), 24);
        assert_ne!(one, ids.job_id());
    }

    #[test]
    fn reading_a_bad_id_is_an_error() {
        assert!(serde_json::from_str::<JobId>("\"a/b\"").is_err());
        assert_eq!(
            serde_json::from_str::<RunId>("\"a-b\"").unwrap().as_str(),
            "a-b"
        );
    }
}
