//! Hostile text takes linear time.

use std::time::{Duration, Instant};

use runtape_openclaw_protocol::{
    extract_text, extract_thinking, extract_thinking_from_tagged_stream,
    extract_thinking_from_tagged_text, format_thinking_markdown, is_heartbeat_prompt,
    parse_message, parse_meta_markdown, parse_tool_markdown, strip_ui_metadata,
};
use serde_json::json;

#[test]
fn twenty_thousand_unclosed_tags_take_well_under_a_second() {
    for piece in ["<think>a", "[message_id:"] {
        let text = piece.repeat(20_000);
        let message = json!({"role": "assistant", "content": text});
        let measure = || {
            let started = Instant::now();
            let _ = extract_text(&message);
            let _ = extract_thinking(&message);
            let _ = strip_ui_metadata(&text);
            started.elapsed()
        };
        // The best of three: others may be using the machine.
        let best = (0..3).map(|_| measure()).min().unwrap();
        assert!(best < Duration::from_millis(500), "{piece}: {best:?}");
    }
}

#[test]
fn hostile_repetition_takes_linear_time() {
    const COUNT: usize = 20_000;
    let repeated = |piece: &str| piece.repeat(COUNT);
    let cases = [
        ("openers", repeated("<think>a")),
        ("closers", repeated("</think>a")),
        (
            "mixed openers",
            repeated("<think>a<thinking>b<analysis>c<thought>"),
        ),
        (
            "openers, other closer",
            repeated("<think>a") + "</analysis>",
        ),
        ("openers, one closer", repeated("<think>a") + "</think>"),
        ("pairs crossed", repeated("<think>a</thinking>")),
        ("angles", repeated("<")),
        ("spaced angles", repeated("<  ")),
        ("one long space", format!("<{}", repeated(" "))),
        ("half tags", repeated("< / think ")),
        ("message ids", repeated("[message_id:")),
        ("empty message ids", repeated("[message_id:]")),
        ("closed message ids", repeated(" [message_id:x] ")),
        ("spaces before a message id", repeated(" ") + "[message_id:"),
        ("brackets", repeated("[")),
        (
            "reset heads",
            repeated("A new session was started via /new or /reset "),
        ),
        ("system events", repeated("System: [x] ")),
        (
            "single line feeds",
            format!("Project path: {}", repeated("\n a")),
        ),
        ("line feeds", format!("System: [x]{}", repeated("\n"))),
        ("dates", format!("[{}", repeated("2024-05-05 10:00"))),
        (
            "dates closed",
            format!("[{}]", repeated("2024-05-05 10:00")),
        ),
        ("replies", repeated("[[reply_to_current]]")),
        ("trace lines", repeated("_\n")),
        ("meta nesting", format!("[[meta]]{}", repeated("{\"a\":["))),
        ("heartbeats", repeated("Heartbeat file path")),
    ];
    for (name, text) in cases {
        let started = Instant::now();
        for role in ["assistant", "user"] {
            let message = json!({"role": role, "content": text});
            let _ = extract_text(&message);
            let _ = extract_thinking(&message);
            let _ = parse_message(&message);
        }
        let _ = extract_thinking_from_tagged_text(&text);
        let _ = extract_thinking_from_tagged_stream(&text);
        let _ = strip_ui_metadata(&text);
        let _ = is_heartbeat_prompt(&text);
        let _ = format_thinking_markdown(&text);
        let _ = parse_tool_markdown(&text);
        let _ = parse_meta_markdown(&text);
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "{name}: {:?}",
            started.elapsed()
        );
    }
}
