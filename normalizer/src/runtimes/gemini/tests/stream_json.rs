//! stream-json as it is now.

use super::*;

#[test]
fn fragments_are_joined_exactly_and_calls_of_one_message_share_its_step() {
    let stdout = [
        INIT,
        "{\"type\":\"message\",\"role\":\"user\",\"content\":\"Hi\"}\n",
        &fragment("  The answer"),
        &fragment(" is\u{2028} 42.\n"),
        &tool_use("t__1"),
        &fragment("and"),
        &tool_use("t__2"),
        &tool_result("t__1"),
        &tool_result("t__2"),
        &fragment("Done."),
        SUCCESS,
    ]
    .concat();
    assert_eq!(
        read(&stdout, 0),
        [
            "session 0f-1",
            "model m",
            "format stream-json",
            "user \"Hi\"",
            "step",
            "+\"  The answer\"",
            "+\" is\\u{2028} 42.\\n\"",
            "end",
            "call t__1 t {\"a\":1}",
            "+\"and\"",
            "end",
            "call t__2 t {\"a\":1}",
            "result t__1 Some(false) [\"o\"]",
            "result t__2 Some(false) [\"o\"]",
            "step",
            "+\"Done.\"",
            "end",
            "success",
        ]
    );
}

#[test]
fn a_failed_call_has_what_was_displayed_and_the_error() {
    let stdout = [
        INIT,
        &tool_use("read_file__1"),
        r#"{"type":"tool_result","tool_id":"read_file__1","status":"error","output":"File not found.","error":{"type":"file_not_found","message":"File not found: /a"}}"#,
        "\n",
        &tool_use("run_shell_command__2"),
        r#"{"type":"tool_result","tool_id":"run_shell_command__2","status":"error","output":"not found","error":{"type":"tool_not_registered","message":"not found"}}"#,
        "\n",
        SUCCESS,
    ]
    .concat();
    let said = read(&stdout, 0);
    assert!(said.contains(
        &"result read_file__1 Some(true) [\"File not found.\", \"File not found: /a\"]".to_owned()
    ));
    assert!(said.contains(&"result run_shell_command__2 Some(true) [\"not found\"]".to_owned()));
    let denials = said
        .iter()
        .filter(|said| said.starts_with("permissionDenied"));
    assert_eq!(
        denials.collect::<Vec<_>>(),
        ["permissionDenied: run_shell_command: not found"]
    );
}

#[test]
fn a_banner_glued_before_the_first_message_is_a_notice() {
    let stdout = format!("MCP issues detected. Run /mcp list for status.{INIT}{SUCCESS}");
    for argv in [&[][..], STREAM] {
        let said = Tape::new(argv)
            .push(Stream::Stdout, stdout.as_bytes())
            .finish(&Exit::with_code(0));
        assert_eq!(
            said,
            [
                "stdout: MCP issues detected. Run /mcp list for status.",
                "session 0f-1",
                "model m",
                "format stream-json",
                "success",
            ]
        );
    }
}

#[test]
fn a_warning_is_a_notice_and_an_error_line_explains_a_result_without_error() {
    let warned = [
        INIT,
        &fragment("Again"),
        "{\"type\":\"error\",\"severity\":\"warning\",\"message\":\"Loop detected\"}\n",
        "{\"type\":\"result\",\"status\":\"success\",\"stats\":{\"total_tokens\":0,\"input_tokens\":0,\"output_tokens\":0,\"cached\":0,\"models\":{}}}\n",
    ]
    .concat();
    assert_eq!(
        read(&warned, 0)[3..],
        [
            "step",
            "+\"Again\"",
            "end",
            "warning: Loop detected",
            "total 0/0/0/0",
            "success"
        ]
    );
    let failed = [
        INIT,
        "{\"type\":\"error\",\"severity\":\"error\",\"message\":\"The model returned an empty response\"}\n",
        "{\"type\":\"result\",\"status\":\"error\",\"stats\":{}}\n",
    ]
    .concat();
    assert_eq!(
        read(&failed, 0)[3..],
        [
            "warning: The model returned an empty response",
            "error INVALID_STREAM 0 Other \"The model returned an empty response\"",
        ]
    );
}

#[test]
fn a_result_that_failed_takes_its_status_from_the_exit() {
    let stdout = [
        INIT,
        &fragment("I was sa"),
        r#"{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: Resource has been exhausted.]"},"stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0,"duration_ms":0,"models":{}}}"#,
    ]
    .concat();
    assert_eq!(
        read(&stdout, 173)[3..],
        [
            "step",
            "+\"I was sa\"",
            "cut",
            "total 0/0/0/0",
            "error ApiError 429 RateLimit \"[API Error: Resource has been exhausted.]\"",
        ]
    );
}

#[test]
fn the_turn_limit_does_not_cut_what_was_said() {
    let stdout = [
        INIT,
        &fragment("Working."),
        r#"{"type":"result","status":"error","error":{"type":"FatalTurnLimitedError","message":"Reached"}}"#,
    ]
    .concat();
    assert_eq!(
        read(&stdout, 53)[3..],
        ["step", "+\"Working.\"", "end", "turn limit \"Reached\""]
    );
}

#[test]
fn a_stream_without_a_result_leaves_its_last_text_open() {
    let whole = [INIT, &fragment("Never fin")].concat();
    assert_eq!(read(&whole, 0)[3..], ["step", "+\"Never fin\""]);
    let cut = fragment("ished be");
    let cut = whole + cut.strip_suffix("e\",\"delta\":true}\n").unwrap();
    assert_eq!(
        read(&cut, 0)[3..],
        [
            "step",
            "+\"Never fin\"",
            "unparsed Some(\"message\")",
            "+\"ished b\""
        ]
    );
    let cut = [INIT, &tool_use("t__1")].concat();
    let cut = cut.strip_suffix("1}}\n").unwrap();
    assert_eq!(
        read(cut, 0)[3..],
        ["unparsed Some(\"tool_use\")", "step", "call t__1 t null"]
    );
}

#[test]
fn an_exit_code_of_the_start_says_nothing_once_the_model_spoke() {
    let stdout = [INIT, &fragment("Never fin")].concat();
    for code in [41, 42] {
        assert_eq!(
            read(&stdout, code)[3..],
            ["step", "+\"Never fin\""],
            "{code}"
        );
    }
}

#[test]
fn a_cut_line_or_an_opened_turn_takes_back_the_last_word() {
    let ended = [INIT, &fragment("A"), SUCCESS].concat();
    let cut = read(&format!("{ended}{{\"type\":\"resu"), 0);
    assert_eq!(cut[5..], ["end", "success", "unparsed None", "turn"]);
    let opened = read(&format!("{ended}{INIT}"), 0);
    assert_eq!(
        opened[5..],
        ["end", "success", "turn", "session 0f-1", "model m"]
    );
}

#[test]
fn what_is_not_known_is_reported() {
    let stdout = [
        INIT,
        "{\"type\":\"novelty\",\"x\":1}\n",
        "{\"x\":1}\n",
        "warning: x\n",
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":7}\n",
        "\n",
        SUCCESS,
    ]
    .concat();
    assert_eq!(
        read(&stdout, 0)[3..],
        [
            "unparsed Some(\"novelty\")",
            "unparsed None",
            "stdout: warning: x",
            "unparsed Some(\"message\")",
            "success"
        ]
    );
}
