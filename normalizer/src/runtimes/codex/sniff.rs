//! Telling events from other output.

use super::events::begins_thread;
use crate::framing::first_json;

/// Tells how surely output is this CLI's, from its first bytes: the first object is the thread's.
pub(super) fn sniff(bytes: &[u8]) -> u8 {
    match first_json(bytes) {
        Some(first) if begins_thread(first) => 95,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_thread_is_recognized() {
        const STARTED: &str =
            r#"{"type":"thread.started","thread_id":"01a1e40f-3839-7462-8ba4-4636a26c3aa5"}"#;
        let banner = format!("Reading additional input from stdin...\n{STARTED}\n");
        let marked = format!("\u{feff}{STARTED}");
        let later = format!("{{\"type\":\"error\",\"message\":\"x\"}}\n{STARTED}\n");
        let table = [
            (STARTED, 95),
            (&banner, 95),
            (&marked, 95),
            (&later, 0),
            (r#"{"type":"thread.started","thread_id":"mine"}"#, 0),
            (r#"{"type":"turn.started"}"#, 0),
            (r#"{"type":"error","timestamp":1,"sessionID":"ses_x"}"#, 0),
            ("Hello.", 0),
            ("", 0),
        ];
        for (text, expected) in table {
            assert_eq!(sniff(text.as_bytes()), expected, "{text}");
        }
    }
}
