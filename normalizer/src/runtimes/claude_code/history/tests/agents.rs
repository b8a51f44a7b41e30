//! Sub-agents in all three layouts.

use serde_json::{Value, json};

use super::{Found, MaybeText, SESSION, read, written};

/// Returns a line of a sub-agent; all other lines of the test have smaller ids.
fn agent_lines(agent: &str, prompt: &str, answer: &str, first: usize) -> MaybeText {
    let mut lines = written("2.1.325")
        .prompt(prompt)
        .text(&format!("m-{agent}"), answer);
    for (index, line) in lines.lines.iter_mut().enumerate() {
        line["uuid"] = super::id(1000 + first + index).into();
        line["isSidechain"] = true.into();
        line["agentId"] = agent.into();
    }
    lines
}

fn delegating(agent: &str) -> MaybeText {
    let input = json!({"description": "d", "prompt": "Look.", "subagent_type": "x"});
    let result = json!({"toolUseResult": {"status": "completed", "agentId": agent}});
    written("2.1.325")
        .asked("Hi.")
        .call("m1", "t1", "Agent", &input)
        .result("t1", "Seen.", result)
        .text("m2", "Done.")
}

fn children(found: &Found) -> Vec<&str> {
    let runs = found.runs[0].runs.iter();
    runs.filter_map(|run| Some(run.parent_tool_call_id.as_ref()?.as_str()))
        .collect()
}

fn check(found: &Found) {
    assert_eq!(children(found), ["t1"]);
    assert_eq!(found.runs[0].texts, ["Seen.", "Done."]);
    assert_eq!(found.runs[0].steps, 2);
    assert_eq!(found.session.segments[0].responses, ["m1", "m-a1", "m2"]);
}

#[test]
fn a_sub_agent_below_the_session_is_tied_by_its_note_or_by_the_result() {
    let session = format!("p/{SESSION}.jsonl");
    let agent = format!("p/{SESSION}/subagents/agent-a1.jsonl");
    let note = format!("p/{SESSION}/subagents/agent-a1.meta.json");
    let lines = agent_lines("a1", "Look.", "Seen.", 0).bytes();
    let noted = json!({"toolUseId": "t1", "finished": true}).to_string();
    let main = delegating("other").bytes();
    check(&read(&[
        (&session, &main),
        (&agent, &lines),
        (&note, noted.as_bytes()),
    ]));
    check(&read(&[
        (&session, &delegating("a1").bytes()),
        (&agent, &lines),
    ]));
}

#[test]
fn a_sub_agent_beside_the_session_is_tied_by_what_it_was_asked() {
    let mut main = delegating("a1");
    for line in &mut main.lines {
        if line.get("toolUseResult").is_some() {
            line["toolUseResult"] = "Seen.".into();
        }
    }
    let lines = agent_lines("a1", "Look.", "Seen.", 0).bytes();
    let session = format!("p/{SESSION}.jsonl");
    check(&read(&[
        (&session, &main.bytes()),
        ("p/agent-a1.jsonl", &lines),
    ]));
}

#[test]
fn a_side_chain_in_the_sessions_file_is_a_sub_agent() {
    let mut main = delegating("a1");
    let mut side = agent_lines("a1", "Look.", "Seen.", 0).lines;
    for line in &mut side {
        line.as_object_mut().unwrap().remove("agentId");
    }
    side[1]["parentUuid"] = side[0]["uuid"].clone();
    let result = main.lines.len() - 2;
    main.lines.splice(result..result, side);
    for line in &mut main.lines {
        if line.get("toolUseResult").is_some() {
            line["toolUseResult"] = "Seen.".into();
        }
    }
    check(&main.read());
}

#[test]
fn a_sub_agent_that_no_call_started_is_a_child_all_the_same() {
    let session = format!("p/{SESSION}.jsonl");
    let main = written("2.0.76")
        .queue("dequeue", None)
        .prompt("Hi.")
        .text("m1", "Done.")
        .bytes();
    let warm = agent_lines("a9", "Warmup", "ok", 0).bytes();
    let found = read(&[(&session, &main), ("p/agent-a9.jsonl", &warm)]);
    assert_eq!(found.session.segments[0].responses, ["m1", "m-a9"]);
    assert_eq!(found.runs[0].runs.len(), 2);
    assert_eq!(found.runs[0].final_text.as_deref(), Some("Done."));
}

#[test]
fn a_sub_agent_of_a_sub_agent_stands_within_it() {
    let session = format!("p/{SESSION}.jsonl");
    let below = |name: &str| format!("p/{SESSION}/subagents/agent-{name}");
    let input = json!({"prompt": "Deeper."});
    let result = json!({"toolUseResult": {"status": "completed", "agentId": "a2"}});
    let mut outer = agent_lines("a1", "Look.", "Asking.", 0);
    outer.second = 30;
    let outer = outer
        .call("m-a1", "t2", "Agent", &input)
        .result("t2", "Deep.", result)
        .text("m-a1b", "Seen.");
    let mut outer = outer;
    for (index, line) in outer.lines.iter_mut().enumerate() {
        line["uuid"] = super::id(3000 + index).into();
    }
    let inner = agent_lines("a2", "Deeper.", "Deep.", 50).bytes();
    let note = |call: &str| {
        json!({"toolUseId": call, "finished": true})
            .to_string()
            .into_bytes()
    };
    let found = read(&[
        (&session, &delegating("a1").bytes()),
        (&format!("{}.jsonl", below("a1")), &outer.bytes()),
        (&format!("{}.meta.json", below("a1")), &note("t1")),
        (&format!("{}.jsonl", below("a2")), &inner),
        (&format!("{}.meta.json", below("a2")), &note("t2")),
    ]);
    assert_eq!(found.runs[0].texts, ["Asking.", "Deep.", "Seen.", "Done."]);
    let mut started = children(&found);
    started.sort_unstable();
    assert_eq!(started, ["t1", "t2"]);
}

#[test]
fn sub_agents_that_claim_to_have_started_each_other_are_read_once() {
    let session = format!("p/{SESSION}.jsonl");
    let below = |name: &str| format!("p/{SESSION}/subagents/agent-{name}");
    let calls = |agent: &str, call: &str, first: usize| {
        let lines = agent_lines(agent, "x", "y", first);
        let mut lines = lines.call("m", call, "Agent", &json!({"prompt": "x"}));
        let last = lines.lines.len() - 1;
        lines.lines[last]["uuid"] = super::id(5000 + first).into();
        lines.bytes()
    };
    let note = |call: &str| json!({"toolUseId": call}).to_string().into_bytes();
    let found = read(&[
        (&session, &delegating("none").bytes()),
        (&format!("{}.jsonl", below("a1")), &calls("a1", "t2", 0)),
        (&format!("{}.meta.json", below("a1")), &note("t3")),
        (&format!("{}.jsonl", below("a2")), &calls("a2", "t3", 50)),
        (&format!("{}.meta.json", below("a2")), &note("t2")),
    ]);
    let responses = &found.session.segments[0].responses;
    let count = |key: &str| responses.iter().filter(|response| *response == key).count();
    assert_eq!((count("m-a1"), count("m-a2")), (1, 1), "{responses:?}");
}

#[test]
fn a_sub_agent_in_the_background_goes_on_after_its_call() {
    let input = json!({"prompt": "Look.", "run_in_background": true});
    let launched = json!({"toolUseResult": {"status": "async_launched", "agentId": "a1"}});
    let word: Value = "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>t1</tool-use-id>\n\
        <status>completed</status>\n<summary>Agent done</summary>\n</task-notification>"
        .into();
    let main = written("2.1.325")
        .asked("Hi.")
        .call("m1", "t1", "Agent", &input)
        .result("t1", "Async agent launched", launched)
        .text("m2", "Waiting.")
        .user(&word, json!({"origin": {"kind": "task-notification"}}))
        .text("m3", "Done.");
    let lines = agent_lines("a1", "Look.", "Seen.", 0).bytes();
    let agent = format!("p/{SESSION}/subagents/agent-a1.jsonl");
    let found = read(&[
        (&format!("p/{SESSION}.jsonl"), &main.bytes()),
        (&agent, &lines),
    ]);
    assert_eq!(found.prompts(), [Some("Hi.")]);
    assert_eq!(children(&found), ["t1"]);
    assert_eq!(found.runs[0].steps, 3);
    let notices: Vec<_> = found.runs[0]
        .notices
        .iter()
        .map(|one| one.kind.as_str())
        .collect();
    assert_eq!(notices, ["task"]);
    let kept: Vec<&str> = found.runs[0].texts.iter().map(String::as_str).collect();
    assert!(kept.contains(&"Seen.") && kept.len() == 3);
}

#[test]
fn a_sub_agent_that_a_later_process_speaks_to_goes_on_there() {
    let mut main = delegating("a1").cost(0.1, 10, 5);
    main.second = 100;
    let main = main.asked("More.").text("m3", "More done.");
    let mut agent = agent_lines("a1", "Look.", "Seen.", 0);
    agent.second = 110;
    let mut agent = agent.prompt("More?").text("m-later", "More seen.");
    for (index, line) in agent.lines.iter_mut().enumerate() {
        line["uuid"] = super::id(2000 + index).into();
    }
    let path = format!("p/{SESSION}/subagents/agent-a1.jsonl");
    let found = read(&[
        (&format!("p/{SESSION}.jsonl"), &main.bytes()),
        (&path, &agent.bytes()),
    ]);
    let responses: Vec<_> = found
        .session
        .segments
        .iter()
        .map(|run| &run.responses)
        .collect();
    assert_eq!(*responses[0], ["m1", "m-a1", "m2"]);
    assert_eq!(*responses[1], ["m3", "m-later"]);
}
