//! Whether output is of hermes, from its first bytes.

use memchr::memmem;

use super::INITIALIZING;
use super::library::is_library_line;
use super::text::is_blank;
use crate::escapes::strip_escapes;

/// Tells how surely the first bytes of an output are of hermes.
pub(super) fn sniff(bytes: &[u8]) -> u8 {
    let has = |text: &str| memmem::find(bytes, text.as_bytes()).is_some();
    let text = String::from_utf8_lossy(bytes);
    let first = strip_escapes(
        text.lines()
            .find(|line| !is_blank(line))
            .unwrap_or_default(),
    );
    if first.starts_with('{') && has("\"jsonrpc\"") {
        return if has("\"hermes") { 100 } else { 20 };
    }
    if first.starts_with("Query:") {
        return if has(INITIALIZING) { 100 } else { 30 };
    }
    // What only hermes prints before an answer.
    let leaks = [
        "┌─ Reasoning ─",
        "  ┊ ",
        "↻ Resumed session ",
        "↩ Background ",
        "(clarify timed out after ",
        "  ⏱ Timeout — denying command",
        "✓ Worktree created: ",
    ];
    if leaks.iter().any(|leak| first.starts_with(leak)) {
        return 95;
    }
    if is_library_line(&first) { 80 } else { 0 }
}
