//! stream-json as it was.

use super::*;

#[test]
fn older_shapes_are_understood() {
    let stdout = r#"{"type":"system","subtype":"init","sessionId":"gemini-session-1","model":"gemini-2.5-pro"}
{"type":"user","message":"Hi"}
{"type":"thinking","text":" hm "}
{"type":"assistant","message":{"content":[{"type":"output_text","text":"Hello"},{"type":"tool_call","name":"shell","id":"c1","input":{"command":"ls"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","output":"a\n","is_error":false}]}}
{"type":"tool_call","subtype":"started","call_id":"c2","tool_call":{"read":{"args":{"path":"a"}}}}
{"type":"tool_call","subtype":"completed","call_id":"c2","thread_id":"t9","tool_call":{"read":{"args":{"path":"a"},"result":{"ok":true}}}}
{"type":"message","role":"model","content":[{"text":"one"},"two"]}
{"type":"result","subtype":"success","result":"two","usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"cachedContentTokenCount":4,"thoughtsTokenCount":3},"total_cost_usd":0.5}
"#;
    assert_eq!(
        read(stdout, 0),
        [
            "session gemini-session-1",
            "model gemini-2.5-pro",
            "format stream-json",
            "user \"Hi\"",
            "step",
            "thinking \" hm \"",
            "text \"Hello\"",
            "call c1 shell {\"command\":\"ls\"}",
            "result c1 Some(false) [\"a\\n\"]",
            "step",
            "call c2 read {\"path\":\"a\"}",
            "result c2 Some(false) [\"{\\\"ok\\\":true}\"]",
            "step",
            "text \"one\"",
            "text \"two\"",
            "total 6/4/5/3",
            "Cost(0.5)",
            "success",
        ]
    );
}

#[test]
fn an_older_error_line_ends_the_run_if_nothing_follows() {
    let init = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s1\"}\n";
    let failed = format!("{init}{{\"type\":\"error\",\"error\":\"boom\"}}\n");
    assert_eq!(
        read(&failed, 1)[2..],
        ["warning: boom", "error Error 0 Other \"boom\""]
    );
    let result = format!("{init}{{\"type\":\"result\",\"status\":\"error\",\"error\":\"boom\"}}\n");
    assert_eq!(read(&result, 1)[2..], ["error Error 0 Other \"boom\""]);
    let went_on = format!("{failed}{}{SUCCESS}", fragment("fine"));
    assert_eq!(read(&went_on, 0).last().unwrap(), "success");
}

#[test]
fn the_text_of_a_lone_result_is_kept_although_it_does_not_say_how_it_went() {
    let said = read_stream("{\"type\":\"result\",\"content\":\"Hello World\"}", 0);
    assert_eq!(
        said,
        [
            "step",
            "text \"Hello World\"",
            "unparsed Some(\"result\")",
            "error UnclearResult 0 Other \"the result does not say how the run went (status: missing)\"",
            "format stream-json"
        ]
    );
}

#[test]
fn reasoning_in_pieces_is_joined() {
    let stdout = r#"{"type":"thinking","delta":{"text":" a"}}
{"type":"thinking","subtype":"delta","text":"b "}
{"type":"assistant","message":"Done."}
{"type":"result","subtype":"success"}
"#;
    assert_eq!(
        read_stream(stdout, 0)[..],
        [
            "step",
            "thinking +\" a\"",
            "format stream-json",
            "thinking +\"b \"",
            "ThinkingEnd { signature: None }",
            "text \"Done.\"",
            "success",
        ]
    );
}

#[test]
fn parallel_calls_that_complete_one_by_one_open_no_further_step() {
    let call = |subtype: &str, id: &str| {
        format!(
            "{{\"type\":\"tool_call\",\"subtype\":\"{subtype}\",\"call_id\":\"{id}\",\"tool_call\":{{\"t\":{{\"args\":1,\"result\":\"r\"}}}}}}\n"
        )
    };
    let started = call("started", "a") + &call("started", "b");
    let said = read_stream(
        &(started + &call("completed", "a") + &call("completed", "b")),
        0,
    );
    assert_eq!(
        said,
        [
            "step",
            "call a t 1",
            "format stream-json",
            "call b t 1",
            "result a Some(false) [\"r\"]",
            "result b Some(false) [\"r\"]",
        ]
    );
    assert_eq!(
        read_stream(&call("completed", "a"), 0)[1..3],
        ["call a t 1", "result a Some(false) [\"r\"]"]
    );
}
