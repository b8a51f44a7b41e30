//! Random values of every type of the model, for property tests.
//!
//! Values are small, but hold every variant, every optional field absent and present, and texts
//! with all that a runtime may print. They obey the rules that the types state in words and
//! cannot enforce: numbers are finite, arguments have names, known metadata has its type.

mod answer;
mod event;
mod leaf;
mod message;
mod moving;
mod record;
mod redaction;
mod report;
mod run;
mod runtime_event;
mod summary;
mod transcript;

pub use answer::{
    checkpoint_diff, drift, failure_sum, file_call, file_use, host_use, job_detail, job_info,
    ledger_entry, model_price, network_call, notice_info, raw_output, run_detail, run_info,
    search_hit, searched_run, session_answer, session_info, sql_row, tool_call_info, tool_use,
    usage_group,
};
pub use event::{event, run_event, run_event_of};
pub use leaf::{json, metadata, text};
pub use message::{message, message_part};
pub use moving::{copy_line, database_status, migration_report};
pub use record::{record, record_of};
pub use redaction::{config_info, redact_line, scan_line};
pub use report::{
    adapter_command, adapter_environment, adapter_session, backup_report, doctor_report, document,
    exported_file, exported_tree, gc_report, imported_run, ingest_line, rebuilt_run, record_report,
    recovered_run, renormalized_run, runtime_info, schema_info, serve_info, store_stats, sync_line,
    tree_line, validation_line, verify_report,
};
pub use run::{checkpoint, job, step, usage};
pub use runtime_event::{runtime_event, runtime_event_kind, runtime_event_of};
pub use summary::summary;
pub use transcript::{transcript_entry, transcript_entry_of};

use proptest::prelude::*;
use serde_json::{Map, Value};

/// Nests strategies into pairs: tuples end at twelve, structs do not.
macro_rules! nest {
    () => { proptest::prelude::Just(()) };
    ($first:expr $(, $rest:expr)*) => { ($first, $crate::strategies::nest!($($rest),*)) };
}

/// The pattern that takes apart what [`nest`] put together.
macro_rules! nested {
    () => { () };
    ($first:ident $(, $rest:ident)*) => { ($first, $crate::strategies::nested!($($rest),*)) };
}

/// Makes a strategy for a struct from strategies for its fields.
macro_rules! build {
    ($name:ident { $($field:ident: $strategy:expr),* $(,)? }) => {
        proptest::strategy::Strategy::boxed(proptest::strategy::Strategy::prop_map(
            $crate::strategies::nest!($($strategy),*),
            |$crate::strategies::nested!($($field),*)| $name { $($field),* },
        ))
    };
}

/// Makes a match from types to strategies of their payloads.
macro_rules! payloads {
    ($tag:expr, $kind:ident { $($known:literal => $strategy:expr,)* } else $unknown:expr) => {
        match $tag {
            $($known => $strategy.prop_map($kind::from).boxed(),)*
            unknown => $unknown(unknown),
        }
    };
}

pub(crate) use {build, nest, nested, payloads};

/// A field that may be absent.
fn maybe<T: std::fmt::Debug + Clone + 'static>(
    strategy: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Option<T>> {
    proptest::option::of(strategy).boxed()
}

/// A list, empty included.
fn some<T: std::fmt::Debug + Clone + 'static>(
    strategy: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Vec<T>> {
    proptest::collection::vec(strategy, 0..3).boxed()
}

/// One of a list of values.
fn word<T: std::fmt::Debug + Clone + 'static>(words: &'static [T]) -> BoxedStrategy<T> {
    proptest::sample::select(words).boxed()
}

/// One of the types that an enum of payloads knows, or an unknown one.
fn any_tag(known: &'static [&'static str]) -> BoxedStrategy<&'static str> {
    prop_oneof![8 => word(known), 1 => Just(UNKNOWN)].boxed()
}

/// Adds fields that are not there yet.
fn add(object: &mut Value, fields: Map<String, Value>) {
    for (key, value) in fields {
        if let Value::Object(object) = object {
            object.entry(key).or_insert(value);
        }
    }
}

/// Stands for a type of a newer version.
pub const UNKNOWN: &str = "ofANewerVersion";
