//! What the rows look like.

use serde_json::Value;

use crate::json::{Str, decode, number, wire_struct};
use crate::times::iso_millis;

wire_struct! {
    pub(super) struct WindowLine<'a> {
        "row" => row: WindowRow<'a>,
        ; rest skipped
    }

    /// A window of a session.
    pub(super) struct WindowRow<'a> {
        "session_id" => id: Option<Str<'a>>,
        "session_key" => key: Option<Str<'a>>,
        "spawned_by" => spawned_by: Option<Str<'a>>,
        "reason" => reason: Option<Str<'a>>,
        "created_at" => created: Option<u64> as number::opt_u64,
        "model" => model: Option<Str<'a>>,
        "display_name" => title: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct EventLine<'a> {
        "row" => row: EventRow<'a>,
        ; rest skipped
    }

    /// An event of a transcript.
    pub(super) struct EventRow<'a> {
        "session_id" => session: Option<Str<'a>>,
        "seq" => seq: Option<u64> as number::opt_u64,
        "created_at" => created: Option<u64> as number::opt_u64,
        "event_json" => event: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct Event<'a> {
        "type" => kind: Option<Str<'a>>,
        "id" => id: Option<Str<'a>>,
        "timestamp" => time: Option<Str<'a>>,
        "cwd" => cwd: Option<Str<'a>>,
        "version" => version: Value,
        "summary" => summary: Option<Str<'a>>,
        "tokensBefore" => tokens_before: Option<u64> as number::opt_u64,
        "message" => message: Value,
        ; rest skipped
    }
}

impl Event<'_> {
    /// Returns when it was written.
    pub(super) fn at(&self) -> Option<i64> {
        iso_millis(self.time.as_deref()?)
    }
}

/// Reads the event of a row.
pub(super) fn event<'a>(row: &'a EventRow<'_>) -> Option<Event<'a>> {
    let text = row.event.as_deref()?;
    decode::<Event<'a>>(text.as_bytes())
        .ok()
        .map(|decoded| decoded.value)
}

/// Returns a part of what the gateway notes of a message.
fn own<'m>(message: &'m Value, key: &str) -> Option<&'m Value> {
    message.get("__openclaw")?.get(key)
}

/// Tells whether the gateway wrote a message that stands in the user's place: a report of a sub-agent, of a
/// command in the background, of a clock.
pub(super) fn is_own(message: &Value) -> bool {
    let kind = message.get("provenance").and_then(|of| of.get("kind"));
    let kind = kind.and_then(Value::as_str);
    kind.is_some_and(|kind| kind != "external_user")
        || own(message, "internal") == Some(&Value::Bool(true))
}

/// Tells whether a message is what the model had said when its run was aborted.
pub(super) fn is_aborted(message: &Value) -> bool {
    let abort = message.get("openclawAbort");
    abort.and_then(|abort| abort.get("aborted")) == Some(&Value::Bool(true))
}

/// Tells whether the gateway speaks in the model's place: no model was asked.
pub(super) fn is_mirror(message: &Value) -> bool {
    if is_aborted(message) {
        return false;
    }
    let field = |key: &str| message.get(key).and_then(Value::as_str);
    field("provider") == Some("openclaw")
        || matches!(field("model"), Some("gateway-injected" | "delivery-mirror"))
}
