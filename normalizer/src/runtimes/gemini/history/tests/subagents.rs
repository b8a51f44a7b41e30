//! Sub-agents, whose files are beside those of their sessions.

use super::*;

const AGENTS: &str = "proj/chats/11111111-aaaa-4bbb-8ccc-dddddddddddd";

fn agent_header(agent: &str, second: u32) -> Value {
    with(
        header(second),
        &json!({"sessionId": agent, "kind": "subagent", "directories": ["/home/dev/proj"]}),
    )
}

/// The file of an agent, whose records begin with its name.
fn agent_lines(agent: &str, second: u32) -> Vec<Value> {
    let id = |name: &str| format!("{agent}-{name}");
    let reading = answer(&id("g1"), second, "Looking.");
    let read = with(
        reading.clone(),
        &json!({"toolCalls": [call(&id("t1"), "cat", "text")]}),
    );
    vec![
        agent_header(agent, second),
        user(&id("u1"), second, "Look."),
        reading,
        read,
        results(&id("u2"), second, &id("t1"), "text"),
        answer(&id("g2"), second, ""),
        json!({"$set": {"summary": "report"}}),
    ]
}

fn invoke(call: &str, agent: &str, report: &str) -> Value {
    json!({"id": call, "name": "invoke_agent", "args": {"prompt": "Look."}, "agentId": agent,
        "result": [{"functionResponse": {"id": call, "name": "invoke_agent", "response": {"output": report}}}],
        "status": "success", "timestamp": time(9)})
}

fn asking(id: &str, second: u32, calls: &[Value]) -> Value {
    with(answer(id, second, "Asking."), &json!({"toolCalls": calls}))
}

#[test]
fn an_agent_belongs_to_the_run_that_called_it() {
    let files = Files::one(&[
        header(0),
        user("u1", 1, "One."),
        asking(
            "g1",
            5,
            &[invoke("c1", "ag1", "first"), invoke("c2", "ag2", "second")],
        ),
        answer("g2", 10, "One done."),
        resumed(),
        user("u2", 30, "Two."),
        asking("g3", 40, &[invoke("c3", "ag3", "third")]),
        answer("g4", 50, "Two done."),
    ])
    .with(&format!("{AGENTS}/ag1.jsonl"), &agent_lines("ag1", 3))
    .with(&format!("{AGENTS}/ag2.jsonl"), &agent_lines("ag2", 2))
    .with(&format!("{AGENTS}/ag3.jsonl"), &agent_lines("ag3", 35));
    let session = files.session();
    assert_eq!(session.id, SESSION);
    assert_eq!(session.title, None, "what an agent reports is no title");
    let responses: Vec<_> = session
        .segments
        .iter()
        .map(|segment| segment.responses.join(" "))
        .collect();
    assert_eq!(
        responses,
        ["g1 g2 ag2-g1 ag2-g2 ag1-g1 ag1-g2", "g3 g4 ag3-g1 ag3-g2"]
    );
    let runs = files.summaries();
    assert_eq!(
        runs[0].texts,
        ["Asking.", "One done.", "Looking.", "Looking."]
    );
    assert_eq!(runs[0].runs.len(), 3);
    assert!(runs[0].unparsed.is_empty());
    let records = records(&files.tapes()[0]);
    let text = serde_json::to_string(&records).unwrap();
    for call in ["c1", "c2"] {
        assert!(
            text.contains(&format!(
                "\"toolCallId\":\"{call}\",\"toolName\":\"invoke_agent\""
            )),
            "{text}"
        );
    }
    assert!(!text.contains("ParentEnded"), "{text}");
    assert_eq!(counted(&files.tapes()[0]).len(), 6);
}

#[test]
fn an_agent_whose_caller_was_cut_off_belongs_to_the_run_of_its_time() {
    let files = Files::one(&[
        header(0),
        user("u1", 1, "One."),
        answer("g1", 2, "Asking."),
        resumed(),
        user("u2", 30, "Two."),
        answer("g2", 31, "Two done."),
    ])
    .with(&format!("{AGENTS}/ag1.jsonl"), &agent_lines("ag1", 4));
    let responses: Vec<_> = files
        .session()
        .segments
        .into_iter()
        .map(|segment| segment.responses.join(" "))
        .collect();
    assert_eq!(responses, ["g1 ag1-g1 ag1-g2", "g2"]);
    assert_eq!(files.summaries()[0].texts, ["Asking.", "Looking."]);
}

#[test]
fn an_agent_whose_session_is_gone_counts() {
    let files = Files::default().with(&format!("{AGENTS}/ag1.jsonl"), &agent_lines("ag1", 4));
    let session = files.session();
    assert_eq!(session.id, SESSION);
    assert_eq!(session.segments[0].key, "ag1-u1");
    assert_eq!(counted(&files.tapes()[0]), ["ag1-g1", "ag1-g2"]);
    assert_eq!(files.summary().session_id.as_deref(), Some(SESSION));
}

#[test]
fn what_a_session_goes_on_with_is_not_its_agent_s() {
    // The store appends lines that it does not have, wherever they stand.
    let begun = [
        header(0),
        user("u1", 1, "One."),
        asking("g1", 5, &[invoke("c1", "ag1", "first")]),
    ];
    let done = [begun.to_vec(), vec![answer("g2", 10, "One done.")]].concat();
    let agent = agent_lines("ag1", 3);
    let name = format!("{AGENTS}/ag1.jsonl");
    let old = Files::one(&begun)
        .with(&name, &agent[..3])
        .tapes()
        .remove(0);
    let new = Files::one(&done).with(&name, &agent).tapes().remove(0);
    let known: Vec<&[u8]> = old.split(|byte| *byte == b'\n').collect();
    let mut grown = old.clone();
    for line in new
        .split(|byte| *byte == b'\n')
        .filter(|line| !known.contains(line))
    {
        grown.extend_from_slice(line);
        grown.push(b'\n');
    }
    let (mut run, mut expected) = (summary(&grown), summary(&new));
    run.texts.sort_unstable();
    expected.texts.sort_unstable();
    assert_eq!(run.texts, expected.texts);
    assert_eq!(run.usage, expected.usage);
    assert_eq!(run.status, expected.status);
    assert_eq!(said_calls(&run), said_calls(&expected));
    assert_eq!(run.runs.len(), expected.runs.len());
}
