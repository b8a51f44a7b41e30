//! The agents in `contrib/your-own-agent`, recorded by the real binary: what they print in the
//! published shape is in the store as they said it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{Runtape, stderr};

fn agent(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib/your-own-agent");
    directory.join(name).to_str().unwrap().to_owned()
}

/// Tells whether a program can be run here, and says so in a line if not.
fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let is_there = program == "sh" || command.status().is_ok_and(|status| status.success());
    if !is_there {
        println!("skipped: {program} is not installed");
    }
    is_there
}

/// Records a command and returns what `show` says of the run.
fn recorded(runtape: &Runtape, command: &[&str]) -> Value {
    let output = runtape.run(&[&["record", "--"], command].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("recorded as generic"),
        "{}",
        stderr(&output)
    );
    runtape.json(&["show", "last"]).remove(0)
}

fn entries<'a>(transcript: &'a [Value], kind: &str) -> Vec<&'a Value> {
    transcript
        .iter()
        .filter(|entry| entry["kind"] == kind)
        .collect()
}

#[test]
fn an_agent_of_ones_own_is_recorded_as_what_it_says() {
    let agents = [
        ("sh", "agent.sh", "sh-"),
        ("python3", "agent.py", "py-"),
        ("node", "agent.mjs", "js-"),
    ];
    for (program, name, session) in agents {
        if !is_there(program) {
            continue;
        }
        let runtape = Runtape::new();
        let shown = recorded(&runtape, &[program, &agent(name), "echo", "found"]);
        let run = &shown;
        assert_eq!(run["runtime"], "generic", "{name}");
        assert_eq!(run["status"], "completed", "{name}: {shown}");
        assert_eq!(run["steps"], 2, "{name}");
        assert_eq!(run["model"], "example-model", "{name}");
        let id = run["sessionId"].as_str().unwrap();
        assert!(id.starts_with(session), "{name}: {id}");
        let usage = &run["usage"];
        assert_eq!(usage["inputTokens"], 120, "{name}: {usage}");
        assert_eq!(usage["outputTokens"], 34, "{name}");
        assert_eq!(usage["cachedInputTokens"], 80, "{name}");
        assert!(
            usage["reasoningTokens"].is_null(),
            "{name}: unknown is not zero"
        );
        assert_eq!(run["costUsd"], 0.002, "{name}");
        assert_eq!(run["unparsed"], 0, "{name}");

        let transcript = runtape.json(&["transcript", "last"]);
        let texts = entries(&transcript, "assistant");
        let texts: Vec<&str> = texts
            .iter()
            .map(|entry| entry["text"].as_str().unwrap())
            .collect();
        assert_eq!(texts, ["I run it.", "It worked."], "{name}");
        assert_eq!(
            entries(&transcript, "thinking")[0]["text"],
            "One call will do."
        );
        assert_eq!(
            entries(&transcript, "user")[0]["text"],
            "Run echo found",
            "{name}"
        );
        let call = entries(&transcript, "tool_call")[0];
        assert_eq!(
            (&call["name"], &call["toolUseId"]),
            (&"shell".into(), &"call-1".into())
        );
        assert_eq!(call["input"]["command"], "echo found", "{name}");
        let result = entries(&transcript, "tool_result")[0];
        assert_eq!(result["toolUseId"], "call-1");
        assert_eq!(
            result["content"].as_str().unwrap().trim_end(),
            "found",
            "{name}"
        );
        assert_eq!(result["isError"], false, "{name}");
        let last = entries(&transcript, "result")[0];
        assert_eq!(
            (&last["text"], &last["isError"]),
            (&"It worked.".into(), &false.into())
        );

        let failed = recorded(&runtape, &[program, &agent(name), "exit", "3"]);
        let transcript = runtape.json(&["transcript", "last"]);
        assert_eq!(failed["status"], "completed", "{name}");
        assert_eq!(
            entries(&transcript, "tool_result")[0]["isError"],
            true,
            "{name}"
        );
    }
}

#[test]
fn a_program_that_prints_text_is_judged_by_its_exit() {
    let runtape = Runtape::new();
    let script = runtape.script("my-agent.sh", "echo 'Forty-two.'; exit $1");
    for (code, status, error) in [
        ("0", "completed", None),
        ("3", "stoppedByError", Some("NonZeroExit")),
    ] {
        let output = runtape.run(&["record", "--", &script, code]);
        assert_eq!(output.status.code(), code.parse().ok());
        let shown = runtape.json(&["show", "last"]).remove(0);
        assert_eq!(shown["runtime"], "generic");
        assert_eq!(shown["status"], status, "{shown}");
        assert_eq!(shown["error"]["name"].as_str(), error);
        let transcript = runtape.json(&["transcript", "last"]);
        assert_eq!(entries(&transcript, "assistant")[0]["text"], "Forty-two.");
    }
}

#[test]
fn output_of_no_runtime_is_ingested_and_normalized_as_generic_and_that_is_said() {
    let runtape = Runtape::new();
    let file: PathBuf = runtape.path("agent.stdout");
    fs::write(&file, "Forty-two.\n").unwrap();
    let file = file.to_str().unwrap();
    let output = runtape.run(&["ingest", "--exit-code", "0", file]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("1 of no runtime that is known (generic)"),
        "{}",
        stderr(&output)
    );
    assert_eq!(runtape.json(&["runs"])[0]["runtime"], "generic");
    let output = runtape.run(&["normalize", "--as", "summary", "--exit-code", "0", file]);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["runtime"], "generic");
    assert_eq!(summary["finalText"], "Forty-two.");
    assert!(
        stderr(&output).contains("read as generic"),
        "{}",
        stderr(&output)
    );
}

/// The page shows the agents as they are, and what the page says of events is true.
#[test]
fn the_page_has_the_agents_as_they_are() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/your-own-agent.md");
    let page = fs::read_to_string(page).unwrap();
    for name in ["agent.sh", "agent.py", "agent.mjs"] {
        let code = fs::read_to_string(agent(name)).unwrap();
        assert!(
            page.contains(&code),
            "docs/your-own-agent.md has another {name}"
        );
    }
    let events = page
        .split("```jsonl\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let runtape = Runtape::new();
    let file = runtape.path("events.stdout");
    fs::write(&file, events).unwrap();
    let output = runtape.run(&[
        "normalize",
        "--as",
        "summary",
        "--exit-code",
        "0",
        file.to_str().unwrap(),
    ]);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["status"], "completed", "{summary}");
    assert_eq!(summary["unparsed"], Value::Array(Vec::new()));
    assert_eq!(summary["toolCalls"][0]["isError"], false);
    assert_eq!(summary["usage"]["outputTokens"], 34);
    assert_eq!(summary["sessionId"], "session-7");
}
