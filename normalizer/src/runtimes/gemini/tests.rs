//! Whole outputs, from bytes to signals.

use runtape_core::{ErrorFamily, JobId, RunId, Span, Stream};

use super::*;
use crate::lines::{DEFAULT_LIMIT, Framed, LineSplitter};
use crate::signal::{Block, CallRef, Emitted, Place, Verdict};

/// A parser under test, and what it said in short words.
struct Tape {
    parser: Gemini,
    said: Vec<String>,
}

impl Tape {
    fn new(argv: &[&str]) -> Self {
        let mut context = Context::new(JobId::parse("job").unwrap(), RunId::parse("run").unwrap());
        context.argv =
            (!argv.is_empty()).then(|| argv.iter().map(|word| (*word).to_owned()).collect());
        Self {
            parser: Gemini::new(&context),
            said: Vec::new(),
        }
    }

    fn push(mut self, stream: Stream, bytes: &[u8]) -> Self {
        let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
        let (parser, said) = (&mut self.parser, &mut self.said);
        let mut each = |framed: Framed<'_>| {
            let Framed::Line(line) = framed else {
                panic!("no line is too long")
            };
            let span = Some(Span {
                stream,
                start: line.start,
                end: line.end,
            });
            let mut apply = |emitted: Emitted<'_>| said.extend(show(&emitted.signal));
            let place = Place {
                span,
                line: line.number,
                at: line.received_at,
            };
            parser.push_line(stream, &line, &mut SignalSink::new(place, &mut apply));
        };
        splitter.push(bytes, 7, &mut each);
        splitter.finish(&mut each);
        self
    }

    fn finish(mut self, exit: &Exit) -> Vec<String> {
        let said = &mut self.said;
        let mut apply = |emitted: Emitted<'_>| said.extend(show(&emitted.signal));
        let place = Place {
            span: None,
            line: 0,
            at: 9,
        };
        self.parser
            .finish(exit, &mut SignalSink::new(place, &mut apply));
        self.said
    }
}

fn show(signal: &Signal<'_>) -> Option<String> {
    let call = |call: &CallRef<'_>| match call {
        CallRef::Printed(id) => (*id).to_owned(),
        CallRef::Local(ordinal) => format!("#{ordinal}"),
    };
    Some(match signal {
        Signal::Session(id) => format!("session {id}"),
        Signal::Model(name) => format!("model {name}"),
        Signal::Format(name) => format!("format {name}"),
        Signal::User(text) => format!("user {text:?}"),
        Signal::Step(_) => "step".to_owned(),
        Signal::TextDelta(text) => format!("+{text:?}"),
        Signal::TextEnd => "end".to_owned(),
        Signal::Text(text) => format!("text {text:?}"),
        Signal::Thinking { text, .. } => format!("thinking {text:?}"),
        Signal::ThinkingDelta(text) => format!("thinking +{text:?}"),
        Signal::MessageCut => "cut".to_owned(),
        Signal::TurnOpened => "turn".to_owned(),
        Signal::ToolCall {
            call: id,
            name,
            input,
            ..
        } => format!("call {} {name} {input}", call(id)),
        Signal::ToolResult {
            call: id,
            content,
            is_error,
            ..
        } => {
            let texts: Vec<&str> = content
                .iter()
                .map(|block| match block {
                    Block::Text(text) => text.as_ref(),
                    Block::Image { .. } | Block::File { .. } => "?",
                })
                .collect();
            format!("result {} {is_error:?} {texts:?}", call(id))
        }
        Signal::Total(counts) => format!(
            "total {:?}/{:?}/{:?}/{:?}",
            counts.input_tokens.unwrap_or(-1),
            counts.cached_input_tokens.unwrap_or(-1),
            counts.output_tokens.unwrap_or(-1),
            counts.reasoning_tokens.unwrap_or(-1)
        ),
        Signal::RawUsage(_) | Signal::UnknownKey { .. } => return None,
        Signal::Result(outcome) => match &outcome.verdict {
            Verdict::Success => "success".to_owned(),
            Verdict::Error(error) => format!(
                "error {} {:?} {:?} {:?}",
                error.name,
                error.status_code.unwrap_or(0),
                error.family.unwrap_or(ErrorFamily::Other),
                error.message
            ),
            Verdict::TurnLimit(error) => format!("turn limit {:?}", error.message),
        },
        Signal::Event(event) => {
            format!(
                "{}: {}",
                event.notice_kind().unwrap_or("?"),
                event.notice_text()
            )
        }
        Signal::Unparsed { tag, .. } => format!("unparsed {tag:?}"),
        Signal::Metadata(key, value) => format!("{key} {value}"),
        other => format!("{other:?}"),
    })
}

const STREAM: &[&str] = &["gemini", "-p", "x", "-o", "stream-json"];
const INIT: &str = "{\"type\":\"init\",\"timestamp\":\"1970-01-01T00:00:01.000Z\",\"session_id\":\"0f-1\",\"model\":\"m\"}\n";
const SUCCESS: &str = "{\"type\":\"result\",\"status\":\"success\"}\n";

/// Reads stdout with the exit code; the format is found in the output.
fn read(stdout: &str, code: i32) -> Vec<String> {
    Tape::new(&[])
        .push(Stream::Stdout, stdout.as_bytes())
        .finish(&Exit::with_code(code))
}

fn fragment(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":{text},\"delta\":true}}\n")
}

fn tool_use(id: &str) -> String {
    format!(
        "{{\"type\":\"tool_use\",\"tool_name\":\"t\",\"tool_id\":\"{id}\",\"parameters\":{{\"a\":1}}}}\n"
    )
}

fn tool_result(id: &str) -> String {
    format!(
        "{{\"type\":\"tool_result\",\"tool_id\":\"{id}\",\"status\":\"success\",\"output\":\"o\"}}\n"
    )
}

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
            "step",
            "text \"Hello\"",
            "call c1 shell {\"command\":\"ls\"}",
            "result c1 Some(false) [\"a\\n\"]",
            "step",
            "call c2 read {\"path\":\"a\"}",
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
    assert_eq!(
        read(&result, 1)[2..],
        ["error INVALID_STREAM 0 Other \"boom\""]
    );
    let went_on = format!("{failed}{}{SUCCESS}", fragment("fine"));
    assert_eq!(read(&went_on, 0).last().unwrap(), "success");
}

#[test]
fn a_lone_result_is_the_answer() {
    let said = read("{\"type\":\"result\",\"content\":\"Hello World\"}", 0);
    assert_eq!(
        said,
        [
            "step",
            "text \"Hello World\"",
            "success",
            "format stream-json"
        ]
    );
}

const REPORT: &str = "{
  \"session_id\": \"0f-1\",
  \"response\": \"Hello\\n{\\n\",
  \"stats\": {
    \"models\": {
      \"m\": {
        \"tokens\": { \"input\": 6, \"prompt\": 10, \"candidates\": 2, \"total\": 15, \"cached\": 4, \"thoughts\": 3 }
      }
    }
  },
  \"warnings\": [ \"careful\" ]
}";

#[test]
fn the_json_format_is_one_object_over_many_lines() {
    let expected = [
        "session 0f-1",
        "model m",
        "warning: careful",
        "step",
        "text \"Hello\\n{\\n\"",
        "total 6/4/5/3",
        "success",
    ];
    let json: &[&str] = &["gemini", "--output-format=json", "-p", "x"];
    for (argv, before) in [
        (&[][..], ""),
        (json, ""),
        (STREAM, ""),
        (&[][..], "Banner.\n"),
        (&[][..], "Banner."),
    ] {
        let stdout = format!("{before}{REPORT}");
        let said = Tape::new(argv)
            .push(Stream::Stdout, stdout.as_bytes())
            .finish(&Exit::with_code(0));
        let said: Vec<&str> = said
            .iter()
            .map(String::as_str)
            .filter(|said| !said.starts_with("format") && *said != "stdout: Banner.")
            .collect();
        assert_eq!(said, expected, "{argv:?} {before}");
    }
}

#[test]
fn a_cut_report_has_its_session_and_what_there_is_of_the_answer() {
    let cut = "{\n  \"session_id\": \"0f-1\",\n  \"response\": \"Hello\\u00";
    assert_eq!(
        read(cut, 0),
        [
            "format json",
            "unparsed None",
            "session 0f-1",
            "step",
            "+\"Hello\""
        ]
    );
    let later = "{\n  \"session_id\": \"0f-1\",\n  \"response\": \"Hello\",\n  \"stats\": {";
    assert_eq!(
        read(later, 0),
        [
            "format json",
            "unparsed None",
            "session 0f-1",
            "step",
            "text \"Hello\""
        ]
    );
}

#[test]
fn an_error_in_a_report_is_the_outcome() {
    let stdout = "{\"session_id\":\"0f-1\",\"response\":\"\",\"error\":{\"type\":\"INVALID_STREAM\",\"message\":\"empty\"}}";
    assert_eq!(
        read(stdout, 0),
        [
            "session 0f-1",
            "format json",
            "error INVALID_STREAM 0 Other \"empty\""
        ]
    );
}

const STDERR: &str = "Warning: x
Error when talking to Gemini API _ApiError: {\"error\":{\"code\":429}}
    at main (file:///x.js:1:5) {
  status: 429
}
{
  \"session_id\": \"0f-1\",
  \"error\": {
    \"type\": \"Error\",
    \"message\": \"slow down\",
    \"code\": 429
  }
}
[ERROR] {
  \"session_id\": \"0f-1\",
  \"error\": {
    \"type\": \"Error\",
    \"message\": \"slow down\",
    \"code\": 429
  }
}
";

#[test]
fn the_error_object_on_stderr_is_the_outcome_if_stdout_has_none() {
    let notices = [
        "stderr: Warning: x",
        "stderr: Error when talking to Gemini API _ApiError: {\"error\":{\"code\":429}}",
        "stderr:     at main (file:///x.js:1:5) {",
        "stderr:   status: 429",
        "stderr: }",
    ];
    let said = Tape::new(&[])
        .push(Stream::Stderr, STDERR.as_bytes())
        .finish(&Exit::with_code(173));
    assert_eq!(said[..5], notices);
    assert_eq!(
        said[5..],
        [
            "format json",
            "session 0f-1",
            "error ApiError 429 RateLimit \"slow down\""
        ]
    );
    let answered = Tape::new(&[])
        .push(Stream::Stdout, REPORT.as_bytes())
        .push(Stream::Stderr, STDERR.as_bytes())
        .finish(&Exit::with_code(0));
    assert_eq!(answered.last().unwrap(), notices[4]);
}

#[test]
fn retries_on_stderr_are_notices_of_their_own() {
    let stderr = "Attempt 1 failed: exhausted.\nSuggested retry after 1s.. Retrying after 5456ms...
Attempt 1 failed with status 503. Retrying with backoff... _ApiError: {}
Attempt 2 failed: exhausted.\nSuggested retry after 1s.. Max attempts reached
";
    let said = Tape::new(&[])
        .push(Stream::Stderr, stderr.as_bytes())
        .finish(&Exit::with_code(1));
    assert_eq!(
        said,
        [
            "retry: Attempt 1 failed: exhausted.\nSuggested retry after 1s.. Retrying after 5456ms... (attempt 1, in 5456 ms)",
            "retry: Attempt 1 failed with status 503. Retrying with backoff... _ApiError: {} (HTTP 503, attempt 1)",
            "stderr: Attempt 2 failed: exhausted.",
            "stderr: Suggested retry after 1s.. Max attempts reached",
        ]
    );
}

#[test]
fn text_is_kept_exactly_but_for_its_last_newline() {
    let table: [(&str, &[&str]); 5] = [
        (
            " Hello World \n",
            &[
                "step",
                "+\" Hello World \"",
                "end",
                "success",
                "format text",
            ],
        ),
        (
            "a\n\n  b\n\n",
            &[
                "step",
                "+\"a\"",
                "+\"\\n\"",
                "+\"\"",
                "+\"\\n\"",
                "+\"  b\"",
                "+\"\\n\"",
                "+\"\"",
                "end",
                "success",
                "format text",
            ],
        ),
        ("\n", &["step", "+\"\"", "end", "success", "format text"]),
        (
            "{\"answer\": 42}\n",
            &[
                "step",
                "+\"{\\\"answer\\\": 42}\"",
                "end",
                "success",
                "format text",
            ],
        ),
        ("", &[]),
    ];
    for (stdout, expected) in table {
        let mut said = read(stdout, 0);
        said.sort_by_key(|said| said.starts_with("format"));
        assert_eq!(said, expected, "{stdout:?}");
    }
}

#[test]
fn text_ends_as_its_exit_tells() {
    let tape = |stdout: &str, exit: &Exit| {
        let argv = ["gemini", "-p", "x", "--output-format", "text"];
        let said = Tape::new(&argv)
            .push(Stream::Stdout, stdout.as_bytes())
            .finish(exit);
        said[2..].to_vec()
    };
    assert_eq!(
        tape("A\n", &Exit::with_code(0)),
        ["format text", "end", "success"]
    );
    assert_eq!(
        tape("A\n", &Exit::unknown()),
        ["format text", "end", "exitUnknown true", "success"]
    );
    assert_eq!(tape("A\n", &Exit::with_code(1)), ["format text", "end"]);
    assert_eq!(tape("A", &Exit::with_code(1)), ["format text"]);
    assert_eq!(tape("A", &Exit::with_signal("SIGKILL")), ["format text"]);
    assert_eq!(
        tape("A\n", &Exit::with_code(53)),
        [
            "format text",
            "end",
            "turn limit \"reached the turn limit\""
        ]
    );
}

#[test]
fn json_that_was_cut_is_no_text() {
    for stdout in ["{\"sess", "{", "{\n  \"sess", "{\"answer\": \"a"] {
        assert_eq!(read(stdout, 0), ["unparsed None"], "{stdout}");
    }
    assert_eq!(read("[error] no", 0).last().unwrap(), "success");
    assert_eq!(read("{braces} are text", 0).last().unwrap(), "success");
}

#[test]
fn a_failure_that_only_the_exit_tells_has_the_last_words() {
    let said = Tape::new(&["gemini", "-p", "x", "-r", "ab-12", "-o", "stream-json"])
        .push(Stream::Stderr, b"Error resuming session: none.\n")
        .finish(&Exit::with_code(42));
    assert_eq!(
        said[1..],
        [
            "error NonZeroExit 0 UnknownSession \"Error resuming session: none. (session ab-12)\"",
            "format stream-json",
        ]
    );
    assert!(!Tape::new(&[]).parser.exit_is_signal(143));
}

#[test]
fn prose_is_no_session() {
    for id in [
        "",
        "latest",
        "5",
        "not found 1",
        "-rf1",
        "a/b1",
        "unknown",
        &"a1".repeat(65),
    ] {
        assert_eq!(session_id(id), None, "{id}");
    }
    let uuid = "f24450f7-891d-4e71-9b6a-9c445509b9d1";
    assert_eq!(session_id(uuid), Some(uuid));
}

#[test]
#[ignore]
fn dump_corpus() {
    let dir = std::env::var("CORPUS").unwrap();
    let mut names: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.to_string_lossy().ends_with(".meta.json"))
        .collect();
    names.sort();
    for p in names {
        let meta: serde_json::Value = serde_json::from_slice(&std::fs::read(&p).unwrap()).unwrap();
        let base = p.to_string_lossy().replace(".meta.json", "");
        let argv: Vec<String> = serde_json::from_value(meta["argv"].clone()).unwrap();
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        for known in [true, false] {
            let said = Tape::new(if known { &argv } else { &[] })
                .push(
                    Stream::Stdout,
                    &std::fs::read(format!("{base}.stdout")).unwrap(),
                )
                .push(
                    Stream::Stderr,
                    &std::fs::read(format!("{base}.stderr")).unwrap(),
                )
                .finish(&Exit::with_code(meta["exit_code"].as_i64().unwrap() as i32));
            println!("=== {base} {known}");
            for s in said {
                if !s.starts_with("stderr: ") {
                    println!("  {}", s.chars().take(200).collect::<String>());
                }
            }
            println!("  GT {}", meta["ground_truth"]["status"]);
        }
    }
}
