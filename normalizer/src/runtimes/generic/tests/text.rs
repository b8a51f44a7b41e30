use runtape_core::CheckpointStatus;

use super::{entry, error_name, notices, printed, result, summary};
use crate::Exit;
use crate::runtimes::generic::text::MOST_HELD;
use serde_json::json;

#[test]
fn text_is_the_answer_and_the_exit_its_judge() {
    let whole = summary("  One.\r\n\nTwo.\n", &Exit::with_code(0));
    assert_eq!(whole.status, CheckpointStatus::Completed);
    assert_eq!(whole.final_text.as_deref(), Some("  One.\r\n\nTwo."));
    assert_eq!(whole.output_format.as_deref(), Some("text"));
    assert_eq!((whole.steps, whole.usage), (1, None));
    let table = [
        (Exit::with_code(3), "NonZeroExit"),
        (Exit::with_code(137), "KilledBySignal"),
        (Exit::with_signal("SIGTERM"), "KilledBySignal"),
        (Exit::lost(), "RecorderLost"),
        (
            Exit {
                timed_out: true,
                ..Exit::default()
            },
            "TimedOut",
        ),
    ];
    for (exit, name) in table {
        let failed = summary("One.\n", &exit);
        assert_eq!(error_name(&failed), Some(name));
        assert_eq!(failed.texts, ["One."]);
    }
    let unknown = summary("One.\n", &Exit::unknown());
    assert_eq!(unknown.status, CheckpointStatus::Completed);
}

#[test]
fn lines_of_ours_are_detected_as_no_runtime() {
    let lines = [
        entry("init", json!({"model": "m", "sessionId": "s1"})),
        entry("user", json!({"text": "x"})),
        entry(
            "tool_call",
            json!({"name": "t", "input": {}, "toolUseId": "c"}),
        ),
        result(json!({"text": "x"})),
    ];
    assert_eq!(crate::detect(printed(&lines).as_bytes()), None);
    assert_eq!(crate::detect(b"Forty-two.\n"), None);
}

#[test]
fn nothing_is_no_answer_and_an_empty_line_is_an_empty_one() {
    let nothing = summary("", &Exit::with_code(0));
    assert_eq!(error_name(&nothing), Some("TruncatedOutput"));
    let empty = summary("\n", &Exit::with_code(0));
    assert_eq!(empty.status, CheckpointStatus::Completed);
    assert_eq!(empty.final_text.as_deref(), Some(""));
}

#[test]
fn json_of_others_is_an_answer_and_cut_json_is_none() {
    for answer in [
        r#"{"type":"result","is_error":true}"#,
        r#"{"kind":"Pod","metadata":{}}"#,
        r#"{"kind":"user","id":5}"#,
        r#"{"type":"info","timestamp":1,"message":"x"}"#,
        r#"[{"kind":"user","text":"x"}]"#,
        r#"For example: {"ts":"t","kind":"user","text":"x"}"#,
    ] {
        let answered = summary(&format!("{answer}\n"), &Exit::with_code(0));
        assert_eq!(answered.status, CheckpointStatus::Completed, "{answer}");
        assert_eq!(answered.final_text.as_deref(), Some(answer));
    }
    for cut in [r#"{"kind":"user","te"#, r#"{"answer": 4"#] {
        let cut = summary(cut, &Exit::with_code(0));
        assert_eq!(error_name(&cut), Some("TruncatedOutput"));
        assert_eq!((cut.unparsed.len(), cut.texts.len()), (1, 0));
    }
}

#[test]
fn text_before_and_between_lines_of_ours_is_output() {
    let said = entry("assistant", json!({"text": "Hi."}));
    let stdout = format!(
        "Starting.\n\n{said}\nBetween.\n{}",
        result(json!({"text": "Hi."}))
    );
    let told = summary(&stdout, &Exit::with_code(0));
    assert_eq!(told.status, CheckpointStatus::Completed);
    assert_eq!(told.texts, ["Hi."]);
    assert_eq!(notices(&told, "stdout"), ["Starting.", "Between."]);
}

#[test]
fn more_text_than_is_held_is_what_the_model_said() {
    let line = "x".repeat(99);
    let long = format!("{line}\n").repeat(MOST_HELD / 99);
    let lines = [
        entry("assistant", json!({"text": "Hi."})),
        result(json!({})),
    ];
    let told = summary(&format!("{long}{}", printed(&lines)), &Exit::with_code(0));
    assert_eq!(told.status, CheckpointStatus::Completed);
    assert_eq!(told.texts.len(), 2);
    assert_eq!(told.texts[0], long.trim_end());
    assert_eq!(told.final_text.as_deref(), Some("Hi."));
    let plain = summary(&long, &Exit::with_code(0));
    assert_eq!(plain.texts, [long.trim_end()]);
    assert_eq!(plain.steps, 1);
}
