//! Where processes begin and end.

use runtape_core::CheckpointStatus;
use serde_json::json;

use super::{MaybeText, SESSION, id, read, written};

#[test]
fn a_process_ends_with_the_sessions_totals_and_costs_their_difference() {
    let found = written("2.1.325")
        .asked("One.")
        .text("m1", "1")
        .cost(0.5, 10, 5)
        .asked("Two.")
        .text("m2", "2")
        .cost(0.75, 30, 11)
        .read();
    assert_eq!(found.prompts(), [Some("One."), Some("Two.")]);
    let costs: Vec<_> = found.runs.iter().map(|run| run.cost_usd).collect();
    assert_eq!(costs, [Some(0.5), Some(0.25)]);
    let output: Vec<_> = found
        .runs
        .iter()
        .map(|run| run.usage.unwrap().output_tokens)
        .collect();
    assert_eq!(output, [Some(5), Some(6)]);
    let resumed: Vec<_> = found
        .session
        .segments
        .iter()
        .map(|run| run.is_resumed)
        .collect();
    assert_eq!(resumed, [false, true]);
    assert!(found.session.segments.iter().all(|run| run.is_over));
}

#[test]
fn a_line_that_was_cut_ends_a_process_that_said_all_it_had_to_say() {
    let begun = || written("2.1.325").asked("One.").text("m1", "1");
    let rest = written("2.1.325")
        .asked("Two.")
        .text("m2", "2")
        .cost(0.5, 30, 11);
    for cut in [
        r#"{"type":"cost-state","sessionId":"x","totalCo"#,
        r#"{"type":"api-request","id":"#,
        r#"{"parentUuid":null,"isSidechain":false,"message":{"cont"#,
    ] {
        let mut bytes = begun().bytes();
        bytes.extend_from_slice(cut.as_bytes());
        bytes.push(b'\n');
        let lines = begun().lines.len();
        let mut later = rest.lines.clone();
        for (at, line) in later.iter_mut().enumerate() {
            if line.get("uuid").is_some() {
                line["uuid"] = id(lines + at + 100).into();
            }
            bytes.extend_from_slice(format!("{line}\n").as_bytes());
        }
        let name = format!("p/{SESSION}.jsonl");
        let found = read(&[(&name, &bytes)]);
        assert_eq!(found.prompts(), [Some("One."), Some("Two.")], "{cut}");
        let texts: Vec<_> = found.runs.iter().map(|run| run.texts.clone()).collect();
        assert_eq!(texts, [["1"], ["2"]], "{cut}");
    }
}

#[test]
fn prompts_that_are_streamed_in_are_one_process() {
    let found = written("2.1.325")
        .queue("enqueue", Some("One."))
        .queue("dequeue", None)
        .queue("enqueue", None)
        .prompt("One.")
        .text("m1", "1")
        .queue("dequeue", None)
        .prompt("Two.")
        .text("m2", "2")
        .asked("Three.")
        .text("m3", "3")
        .cost(0.5, 30, 15)
        .read();
    assert_eq!(found.prompts(), [Some("One.")]);
    assert_eq!(found.runs[0].texts, ["1", "2", "3"]);
}

#[test]
fn a_version_without_totals_begins_a_process_with_each_queued_prompt() {
    let found = written("2.1.179")
        .asked("One.")
        .text("m1", "1")
        .asked("Two.")
        .text("m2", "2")
        .read();
    assert_eq!(found.prompts(), [Some("One."), Some("Two.")]);
    let old = written("2.0.76")
        .queue("dequeue", None)
        .prompt("One.")
        .text("m1", "1")
        .queue("dequeue", None)
        .prompt("Two.")
        .text("m2", "2")
        .read();
    assert_eq!(old.prompts(), [Some("One."), Some("Two.")]);
}

#[test]
fn print_mode_of_1_0_begins_with_a_prompt_and_its_terminal_does_not() {
    let print = written("1.0.128")
        .prompt("One.")
        .text("m1", "1")
        .prompt("Two.")
        .text("m2", "2");
    assert_eq!(print.read().prompts(), [Some("One."), Some("Two.")]);
    let snapshot = json!({"type": "file-history-snapshot", "messageId": "x", "snapshot": {}});
    let mut terminal = written("1.0.128").aside(snapshot);
    terminal.lines.extend(print.lines);
    assert_eq!(terminal.read().prompts(), [Some("One.")]);
}

#[test]
fn a_terminal_session_with_many_prompts_is_one_process() {
    let mut typed = written("2.1.325");
    typed.entrypoint = Some("cli");
    let mut typed = typed
        .prompt("One.")
        .text("m1", "1")
        .asked("Two.")
        .text("m2", "2");
    let found = typed.read();
    assert_eq!(found.prompts(), [Some("One.")]);
    assert_eq!(found.runs[0].steps, 2);
    // Print mode takes it up.
    typed.entrypoint = Some("sdk-cli");
    let found = typed.asked("Three.").text("m3", "3").read();
    assert_eq!(found.prompts(), [Some("One."), Some("Three.")]);
}

fn killed() -> MaybeText {
    let call = json!({"command": "sleep 20"});
    written("2.1.325")
        .asked("Long.")
        .text("m1", "Running.")
        .call("m1", "t1", "Bash", &call)
}

#[test]
fn what_is_written_when_a_killed_session_is_taken_up_is_of_the_new_process() {
    let mark = json!({"toolDenialKind": "interrupted", "timestamp": "2026-01-01T10:00:01.000Z"});
    let found = killed()
        .queue("enqueue", Some("Again."))
        .queue("dequeue", None)
        .result("t1", "[Tool call interrupted: …]", mark)
        .synthetic(
            "No response requested.",
            json!({"isApiErrorMessage": false}),
        )
        .prompt("Again.")
        .text("m2", "Done.")
        .read();
    assert_eq!(found.prompts(), [Some("Long."), Some("Again.")]);
    let [first, second] = &found.runs[..] else {
        panic!()
    };
    assert_eq!(first.status, CheckpointStatus::StoppedByError);
    assert_eq!(first.error.as_ref().unwrap().name, "Unfinished");
    assert_eq!(first.tool_calls[0].is_error, None);
    assert_eq!(
        (second.steps, second.texts.as_slice()),
        (1, &["Done.".to_owned()][..])
    );
    assert_eq!(second.status, CheckpointStatus::Completed);
}

#[test]
fn a_killed_terminal_that_is_taken_up_is_another_process() {
    let mut typed = killed();
    for line in &mut typed.lines {
        line["entrypoint"] = "cli".into();
    }
    typed.entrypoint = Some("cli");
    let mark = json!({"toolDenialKind": "interrupted"});
    let found = typed
        .result("t1", "[Tool call interrupted: …]", mark)
        .synthetic("No response requested.", json!({}))
        .prompt("Again.")
        .text("m2", "Done.")
        .read();
    assert_eq!(found.prompts(), [Some("Long."), Some("Again.")]);
}

#[test]
fn another_version_is_another_process() {
    let mut lines = written("2.0.76")
        .queue("dequeue", None)
        .prompt("One.")
        .text("m1", "1");
    lines.version = "2.1.19";
    let found = lines.asked("Two.").text("m2", "2").read();
    assert_eq!(found.prompts(), [Some("One."), Some("Two.")]);
    let versions: Vec<_> = found
        .runs
        .iter()
        .map(|run| run.cli_version.as_deref())
        .collect();
    assert_eq!(versions, [Some("2.0.76"), Some("2.1.19")]);
}

#[test]
fn a_prompt_that_was_never_stored_is_all_that_is_left_of_a_process() {
    let found = written("2.1.325").queue("enqueue", Some("Lost.")).read();
    assert_eq!(found.prompts(), [Some("Lost.")]);
    let error = found.runs[0].error.as_ref().unwrap();
    assert_eq!(error.name, "Unfinished");
    let stored = written("2.1.325").asked("Lost.").read();
    assert_eq!(
        stored.session.segments[0].key,
        found.session.segments[0].key
    );
}

#[test]
fn a_fork_has_the_lines_of_its_parent_as_copies_cut_into_the_same_runs() {
    let parent = written("2.1.325")
        .asked("A.")
        .text("m1", "a")
        .cost(0.5, 10, 5)
        .asked("B.")
        .text("m2", "b")
        .cost(1.0, 20, 10);
    let mut fork = written("2.1.325");
    fork.second = 100;
    let mut fork = fork.queue("enqueue", Some("C.")).queue("dequeue", None);
    let copied = parent
        .lines
        .iter()
        .filter(|line| line.get("uuid").is_some());
    for (index, line) in copied.enumerate() {
        let mut line = line.clone();
        line["uuid"] = super::id(500 + index).into();
        fork.lines.push(line);
    }
    let found = fork.prompt("C.").text("m3", "c").cost(1.5, 30, 15).read();
    let seen: Vec<_> = found
        .session
        .segments
        .iter()
        .map(|run| {
            (
                run.prompt.as_deref().unwrap(),
                run.is_copy,
                run.responses.len(),
            )
        })
        .collect();
    assert_eq!(seen, [("A.", true, 1), ("B.", true, 1), ("C.", false, 1)]);
    // The parent's total stands in the parent's file alone.
    assert_eq!(found.runs[2].cost_usd, None);
    assert!(!found.session.segments[2].is_resumed);
}

#[test]
fn lines_of_another_session_in_a_file_are_copies() {
    let other = json!({"sessionId": "aaaaaaaa-92c1-409d-b997-59d944458f48"});
    let found = written("1.0.128")
        .user(&"Old.".into(), other)
        .prompt("New.")
        .text("m1", "1")
        .read();
    let copies: Vec<_> = found
        .session
        .segments
        .iter()
        .map(|run| run.is_copy)
        .collect();
    assert_eq!(copies, [true, false]);
}

#[test]
fn long_prompts_of_many_processes_are_not_all_held() {
    let long = "x".repeat(1 << 20);
    let lines = (0..20).fold(written("2.1.325"), |lines, _| {
        lines.asked(&long).cost(0.0, 0, 0)
    });
    let session = lines.read().session;
    let held = session.segments.iter().filter(|run| run.prompt.is_some());
    assert_eq!(session.segments.len(), 20);
    assert!((8..=17).contains(&held.count()));
}

#[test]
fn what_hooks_say_before_the_prompt_is_queued_is_no_copy() {
    let hook = json!({"attachment": {"type": "hook_success", "hookName": "SessionStart:startup",
        "hookEvent": "SessionStart", "content": "ready"}, "timestamp": "2026-01-01T09:59:59.000Z"});
    let found = written("2.1.325")
        .queue("enqueue", Some("Hi."))
        .queue("dequeue", None)
        .chain("attachment", &hook)
        .prompt("Hi.")
        .text("m1", "a")
        .cost(0.5, 10, 5)
        .read();
    let copies: Vec<_> = found
        .session
        .segments
        .iter()
        .map(|run| run.is_copy)
        .collect();
    assert_eq!(copies, [false]);
    assert_eq!(found.runs[0].cost_usd, Some(0.5));
    assert_eq!(found.runs[0].notices[0].kind, "hook");
}
