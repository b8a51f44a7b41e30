//! Telling events from other output.

use super::events::is_event;
use crate::framing::first_json;

/// Tells how surely output is this CLI's, from its first bytes: the first object is an event.
pub(super) fn sniff(bytes: &[u8]) -> u8 {
    match first_json(bytes) {
        Some(first) if is_event(first) => 95,
        // The first line may be longer than what is looked at: it begins with what tells it.
        Some(first) if begins_event(first) => 90,
        _ => 0,
    }
}

/// Tells whether bytes begin as events are printed: type, time, session.
fn begins_event(object: &[u8]) -> bool {
    let head = object.get(..object.len().min(200)).unwrap_or_default();
    let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
    head.starts_with(b"{\"type\":\"")
        && has("\",\"timestamp\":")
        && has(",\"sessionID\":\"ses_")
        && (has(",\"part\":{") || has(",\"error\":{"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_are_recognized() {
        const START: &str = r#"{"type":"step_start","timestamp":1794827797451,"sessionID":"ses_e1bed8f09ffecv3HScaUEK5EET","part":{"type":"step-start"}}"#;
        let banner = format!("Performing one time database migration...\n{START}\n");
        let cut = START.get(..START.len() - 3).unwrap();
        let table = [
            (START, 95),
            (&banner, 95),
            (cut, 90),
            (r#"{"type":"error","timestamp":1,"sessionID":"x"}"#, 0),
            (r#"{"type":"init","timestamp":"t","session_id":"s"}"#, 0),
            (r#"{"type":"thread.started","thread_id":"x"}"#, 0),
            ("Hello.", 0),
            ("", 0),
        ];
        for (text, expected) in table {
            assert_eq!(sniff(text.as_bytes()), expected, "{text}");
        }
    }
}
