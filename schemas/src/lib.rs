//! JSON Schemas of the runtape model, and validation against them.
//!
//! Who receives events or checkpoints elsewhere, in a service, a user interface or another
//! language, has only JSON and these schemas. They are made from the types of [`runtape_core`]
//! (draft 2020-12), committed as `v1/*.schema.json` with stable `$id`s, and compared with the types
//! in a test, so that neither can move without the other.
//!
//! Three rules hold for all of them:
//!
//! - A known type is strict about the fields it must have and about their types.
//! - Objects are open: a field that a schema does not name is allowed.
//! - An unknown type (of an event, a record, a transcript entry) is told apart from a malformed
//!   known one. A newer version may have written it.
//!
//! [`SchemaKind`] is the catalogue. [`Validator::for_kind`] compiles a kind's schema once and says
//! of a value whether it is [valid](Verdict::Valid), of a type [not known](Verdict::Unknown), or
//! [what is wrong with it](Verdict::Invalid): every fault, with the path in the value and in the
//! schema. [`validate_jsonl`] does the same for a stream of lines in bounded memory.
//!
//! ```
//! use runtape_schemas::{SchemaKind, Validator, Verdict};
//! use serde_json::json;
//!
//! let validator = Validator::for_kind(SchemaKind::TranscriptEntry);
//! let entry = json!({"ts": "2026-01-01T00:00:00.000Z", "kind": "user", "text": "hello"});
//! assert_eq!(validator.validate(&entry), Verdict::Valid);
//!
//! let newer = json!({"ts": "2026-01-01T00:00:00.000Z", "kind": "hologram"});
//! assert_eq!(validator.validate(&newer), Verdict::Unknown { tag: "hologram".to_owned() });
//!
//! let broken = json!({"ts": "2026-01-01T00:00:00.000Z", "kind": "user", "text": 5});
//! let verdict = validator.validate(&broken);
//! assert_eq!(verdict.faults()[0].to_string(), "user: /text: expected string, found integer");
//! ```

mod decide;
mod engine;
mod error;
mod fault;
mod generate;
mod jsonl;
mod kind;
mod suggest;
mod transform;
mod unions;
mod validator;

pub use error::SchemaError;
pub use fault::Fault;
pub use generate::{BUNDLE_FILE, REGENERATE, SchemaFile, bundle, bundle_id, files};
pub use jsonl::{LineCounts, LineVerdict, MAX_LINE_BYTES, validate_jsonl, validate_jsonl_within};
pub use kind::SchemaKind;
pub use suggest::KindSuggestion;
pub use validator::{Validator, Verdict};
