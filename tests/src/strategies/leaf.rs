//! Texts, numbers, ids and JSON.

use proptest::prelude::*;
use runtape_core::{
    CheckpointId, EventId, JobId, MediaUrl, MessageId, Metadata, PartId, RunId, Runtime,
    ToolCallId, ToolName,
};
use serde_json::{Map, Value};

use super::{some, word};

/// Any text, with control characters and what lies beyond the basic plane.
pub fn text() -> BoxedStrategy<String> {
    prop_oneof![
        4 => "[ -~]{0,12}",
        1 => Just(String::new()),
        1 => any::<String>().prop_map(|text| text.chars().take(12).collect()),
        1 => "[\\x00-\\x1f𝒳é\u{2028}]{1,4}",
    ]
    .boxed()
}

/// A number that JSON can hold.
pub(super) fn finite() -> BoxedStrategy<f64> {
    prop_oneof![
        Just(0.0),
        (-1_000_000_i32..1_000_000).prop_map(|number| f64::from(number) / 128.0),
        proptest::num::f64::NORMAL,
    ]
    .boxed()
}

/// Any count, the largest included.
pub(super) fn count() -> BoxedStrategy<u64> {
    prop_oneof![4 => 0..1000_u64, 1 => any::<u64>(), 1 => Just(u64::MAX)].boxed()
}

/// Any signed number, the smallest included.
pub(super) fn signed() -> BoxedStrategy<i64> {
    prop_oneof![4 => -10..2_000_000_000_000_i64, 1 => any::<i64>(), 1 => Just(i64::MIN)].boxed()
}

/// Any JSON, a few levels deep.
pub fn json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        finite().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            object_of(inner).prop_map(Value::from),
        ]
    })
    .boxed()
}

fn object_of(inner: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Map<String, Value>> {
    proptest::collection::vec((text(), inner), 0..3)
        .prop_map(|members| members.into_iter().collect())
        .boxed()
}

/// Any JSON object whose keys are not empty.
pub(super) fn named_object() -> BoxedStrategy<Map<String, Value>> {
    object_of(json())
        .prop_map(|mut members| {
            members.shift_remove("");
            members
        })
        .boxed()
}

/// An id that is safe as a path name.
fn path_text() -> BoxedStrategy<String> {
    prop_oneof![
        8 => "[A-Za-z0-9][A-Za-z0-9_.-]{0,20}",
        1 => Just("x".repeat(128)),
        1 => Just("job-123".to_owned()),
    ]
    .boxed()
}

/// An id of 1 to 255 UTF-16 units.
fn opaque_text() -> BoxedStrategy<String> {
    prop_oneof![
        6 => "[a-z][a-z0-9]{7}",
        2 => text().prop_map(|text| format!("{text}\n")),
        1 => Just(format!("{}x", "𝒳".repeat(127))),
        1 => Just("é".repeat(255)),
    ]
    .boxed()
}

macro_rules! ids {
    ($($function:ident, $id:ident, $text:ident;)*) => {
        $(
            pub(super) fn $function() -> BoxedStrategy<$id> {
                $text()
                    .prop_map(|text| $id::parse(text).expect("the strategy obeys the rule"))
                    .boxed()
            }
        )*
    };
}

ids! {
    job_id, JobId, path_text;
    run_id, RunId, path_text;
    checkpoint_id, CheckpointId, path_text;
    event_id, EventId, opaque_text;
    message_id, MessageId, opaque_text;
    part_id, PartId, opaque_text;
    tool_call_id, ToolCallId, opaque_text;
    tool_name, ToolName, opaque_text;
}

/// A URL of any scheme, as far as it can be parsed.
pub(super) fn media_url() -> BoxedStrategy<MediaUrl> {
    let any = ("[a-zA-Z][a-zA-Z0-9+.-]{0,4}:", "\\PC{1,8}");
    prop_oneof![
        "https?://[a-z]{1,8}(/[!-~]{0,8})?",
        "HTTPS://[é1\\[][!-~]{0,4}",
        "file:///[a-z]{1,8}",
        any.prop_map(|(scheme, rest)| scheme + &rest),
    ]
    .prop_filter_map("not a url", |text| MediaUrl::parse(text).ok())
    .boxed()
}

pub(super) fn runtime() -> BoxedStrategy<Runtime> {
    prop_oneof![
        4 => word(Runtime::KNOWN),
        1 => "[a-z]{3,8}".prop_map(|name| Runtime::from_name(&name)),
    ]
    .boxed()
}

/// Metadata with some of the known keys, each of its type, and some of others.
pub fn metadata() -> BoxedStrategy<Metadata> {
    let texts = || some(text()).prop_map(Value::from);
    let known = prop_oneof![
        1 => runtime().prop_map(|runtime| ("runtime", Value::from(runtime.as_str()))),
        1 => any::<bool>().prop_map(|flag| ("externalExecution", flag.into())),
        1 => any::<bool>().prop_map(|flag| ("exitUnknown", flag.into())),
        1 => any::<i64>().prop_map(|code| ("exitCode", code.into())),
        1 => any::<i64>().prop_map(|time| ("durationMs", time.into())),
        1 => any::<i64>().prop_map(|time| ("startedAt", time.into())),
        1 => any::<i64>().prop_map(|time| ("finishedAt", time.into())),
        1 => any::<u64>().prop_map(|count| ("unparsedLines", count.into())),
        1 => finite().prop_map(|cost| ("costUsd", cost.into())),
        1 => texts().prop_map(|texts| ("argv", texts)),
        1 => texts().prop_map(|texts| ("usageUnknown", texts)),
        1 => json().prop_map(|usage| ("rawUsage", usage)),
        // As many as there are keys, so that none is rarer than another.
        12 => (word(TEXT_KEYS), text()).prop_map(|(key, text)| (key, text.into())),
    ];
    let other = ("x[a-z]{3}", json());
    (
        proptest::collection::vec(known, 0..4),
        proptest::collection::vec(other, 0..2),
    )
        .prop_map(|(known, other)| {
            let mut metadata = Metadata::default();
            for (key, value) in known {
                metadata.set(key, value);
            }
            for (key, value) in other {
                metadata.set(key, value);
            }
            metadata
        })
        .boxed()
}

const TEXT_KEYS: &[&str] = &[
    "sessionId",
    "model",
    "cliVersion",
    "cwd",
    "host",
    "user",
    "signal",
    "outputFormat",
    "parserVersion",
    "timeSource",
    "permissionMode",
    "gitCommit",
    "gitBranch",
];
