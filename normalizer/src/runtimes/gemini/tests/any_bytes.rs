//! Bytes that nobody foresaw.

use proptest::prelude::*;

use super::*;

/// Pieces of all formats, whole and broken.
const PIECES: &[&str] = &[
    INIT,
    SUCCESS,
    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"a\",\"delta\":true}\n",
    "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"text\":\"a\"}]}\n",
    "{\"type\":\"tool_use\",\"tool_name\":\"t\",\"tool_id\":\"t__1\",\"parameters\":{}}\n",
    "{\"type\":\"tool_result\",\"tool_id\":\"t__1\",\"status\":\"success\"}\n",
    "{\"type\":\"error\",\"severity\":\"error\",\"message\":\"m\"}\n",
    "{\"type\":\"result\",\"status\":\"error\",\"error\":{\"type\":\"unknown\",\"message\":\"[API Error: {]\"}}\n",
    "{\"type\":\"system\",\"subtype\":\"error\"}\n",
    "{\"type\":\"tool_call\",\"subtype\":\"completed\",\"tool_call\":{\"x\":{}}}\n",
    "{\n",
    "  \"session_id\": \"0f-1\",\n",
    "  \"response\": \"Hello\",\n",
    "  \"error\": { \"message\": \"m\", \"code\": 41 }\n",
    "}\n",
    "[ERROR] {\n",
    "Attempt 1 failed: x\n",
    " Retrying after 5ms...\n",
    "MCP issues detected. Run /mcp list for status.",
    "text\n",
    "\n",
    "{\"",
    "\\u",
    "\u{e9}",
];

fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => proptest::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..8),
    ];
    let cut = 0usize..200;
    (proptest::collection::vec(piece, 0..12), cut).prop_map(|(pieces, cut)| {
        let mut bytes = pieces.concat();
        bytes.truncate(bytes.len().saturating_sub(cut / 4));
        bytes
    })
}

proptest! {
    #[test]
    fn any_output_has_signals_and_a_success_only_where_one_was_told(
        stdout in output(),
        stderr in output(),
        code in prop_oneof![Just(0), Just(1), Just(42), Just(53), Just(173), Just(-9)],
        argv in proptest::sample::select(vec!["", "text", "json", "stream-json"]),
    ) {
        let argv = if argv.is_empty() { vec![] } else { vec!["gemini", "-o", argv] };
        let exit = Exit::with_code(code);
        let first = Tape::new(&argv).push(Stream::Stdout, &stdout).push(Stream::Stderr, &stderr);
        let mut first = first.finish(&exit);
        let second = Tape::new(&argv).push(Stream::Stderr, &stderr).push(Stream::Stdout, &stdout);
        let mut second = second.finish(&exit);
        if stdout.is_empty() {
            prop_assert!(!first.contains(&"success".to_owned()));
        }
        // How the streams interleave changes the order of signals, and nothing else.
        first.sort();
        second.sort();
        prop_assert_eq!(first, second);
    }
}
