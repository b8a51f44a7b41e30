//! Runs and agents that the page is tested with.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Runtape, stderr};

/// Texts that would do something in a page that took them for more than text.
const HOSTILE: &str = "hostile <script>alert('script')</script><img src=x onerror=alert('img')>\
     <svg onload=alert('svg')><a href=\"javascript:alert('link')\">x</a> javascript:alert(1) \
     [x](javascript:alert(2)) \u{202e}turned\u{202c} \u{1b}[31mred\u{1b}]0;title\u{7} \u{200b}\u{feff} \
     </pre></details></style></title>--><!-- ' onmouseover='alert(3) \" {{7*7}} ${alert(4)} http://\"><b>x";

fn assistant(id: usize, content: &Value) -> String {
    let message = json!({"id": format!("m{id}"), "type": "message", "role": "assistant", "model": "opus", "content": content, "usage": {"input_tokens": 3, "output_tokens": 5}});
    json!({"type": "assistant", "message": message, "session_id": "s"}).to_string()
}

fn tool_result(id: usize, text: &str, is_error: bool) -> String {
    result_of(&format!("t{id}"), &text.into(), is_error).to_string()
}

fn result_of(call: &str, content: &Value, is_error: bool) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": call, "content": content, "is_error": is_error}]);
    json!({"type": "user", "message": {"role": "user", "content": content}, "session_id": "s"})
}

/// Makes a line one of a sub-agent that a call started.
fn of_child(call: &str, line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    line["parent_tool_use_id"] = call.into();
    line.to_string()
}

fn user(text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    json!({"type": "user", "message": {"role": "user", "content": content}, "session_id": "s"})
        .to_string()
}

fn system(model: &str, cwd: &str) -> String {
    json!({"type": "system", "subtype": "init", "session_id": "s", "model": model, "cwd": cwd, "tools": [], "claude_code_version": "2.0.0"}).to_string()
}

fn result(text: &str, is_error: bool) -> String {
    json!({"type": "result", "subtype": if is_error { "error_during_execution" } else { "success" }, "is_error": is_error, "result": text, "session_id": "s", "num_turns": 1, "duration_ms": 61_000, "total_cost_usd": 0.42, "usage": {"input_tokens": 3, "output_tokens": 5}}).to_string()
}

/// Records an agent that prints these lines, as a run of this name.
fn ingest(runtape: &Runtape, name: &str, prompt: &str, lines: &[String]) {
    let path = runtape.path(&format!("{name}.lines"));
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    // By this name its command line is understood.
    fs::create_dir_all(runtape.path(&format!("{name}-agent"))).unwrap();
    let agent = runtape.script(
        &format!("{name}-agent/claude"),
        &format!("cat '{}'", path.display()),
    );
    let output = runtape.run(&[
        "record",
        "--run-id",
        name,
        "--runtime",
        "claude-code",
        "--",
        &agent,
        "-p",
        prompt,
        "--output-format",
        "stream-json",
        "--verbose",
    ]);
    assert!(output.status.success(), "{name}: {}", stderr(&output));
}

fn long_run(runtape: &Runtape) {
    let mut lines = vec![system("opus", "/home/dev/project")];
    for number in 0..3500 {
        let call = json!([
            {"type": "text", "text": format!("Now needle {number} of the haystack. {}", "word ".repeat(number % 90))},
            {"type": "tool_use", "id": format!("t{number}"), "name": "Bash", "input": {"command": format!("grep -n {number} file.txt")}},
        ]);
        lines.push(assistant(number, &call));
        lines.push(tool_result(
            number,
            &"found\n".repeat(number % 40),
            number % 17 == 0,
        ));
    }
    lines.push(result("done", false));
    ingest(runtape, "long", "find every needle", &lines);
}

fn hostile_run(runtape: &Runtape) {
    let parts = json!([
        {"type": "thinking", "thinking": HOSTILE, "signature": "x"},
        {"type": "text", "text": HOSTILE},
        {"type": "tool_use", "id": "t0", "name": "Bash", "input": {"command": HOSTILE, (HOSTILE): HOSTILE}},
        {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": format!("/x/{HOSTILE}"), "content": format!("@@ -1 +1 @@\n+{HOSTILE}")}},
        {"type": "tool_use", "id": "t2", "name": "Agent", "input": {"description": HOSTILE, "prompt": HOSTILE, "subagent_type": HOSTILE}},
    ]);
    let svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert('svg')</script></svg>";
    let image = json!([{"type": "text", "text": HOSTILE}, {"type": "image", "source": {"type": "base64", "media_type": HOSTILE, "data": svg}}]);
    let denial = json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "result": HOSTILE, "errors": [HOSTILE], "session_id": "s", "num_turns": 1, "duration_ms": 1, "permission_denials": [{"tool_name": HOSTILE, "tool_use_id": "t0", "tool_input": {"command": HOSTILE}}]});
    let lines = [
        system(HOSTILE, HOSTILE),
        assistant(0, &parts),
        tool_result(0, HOSTILE, true),
        tool_result(1, HOSTILE, false),
        of_child("t2", &user(HOSTILE)),
        of_child(
            "t2",
            &assistant(
                9,
                &json!([{"type": "text", "text": HOSTILE}, {"type": "tool_use", "id": "n0", "name": HOSTILE, "input": {}}]),
            ),
        ),
        of_child("t2", &result_of("n0", &image, false).to_string()),
        tool_result(2, HOSTILE, false),
        json!({"type": HOSTILE, "x": HOSTILE}).to_string(),
        HOSTILE.replace('\u{1b}', "").clone(),
        denial.to_string(),
    ];
    ingest(runtape, "hostile", HOSTILE, &lines);
}

fn rich_run(runtape: &Runtape) {
    let diff = "--- a/src/parser.rs\n+++ b/src/parser.rs\n@@ -10,3 +10,4 @@ fn parse\n     let head = next();\n-    let tail = rest();\n+    let tail = rest()?;\n+    check(tail)?;\n     Ok(head)\n";
    let lines = [
        system("claude-opus-4-5", "/home/ana/parser"),
        assistant(
            0,
            &json!([{"type": "thinking", "thinking": "The failing test is about an empty tail. I should look at how the parser ends before changing anything.", "signature": "x"}, {"type": "text", "text": "I will run the tests first, to see what fails."}, {"type": "tool_use", "id": "t0", "name": "Bash", "input": {"command": "cargo test --workspace parser", "description": "Run the parser's tests"}}]),
        ),
        tool_result(
            0,
            "running 12 tests\ntest parser::keeps_the_tail ... FAILED\n\nfailures: 1",
            true,
        ),
        assistant(
            1,
            &json!([{"type": "text", "text": "One test fails: `keeps_the_tail`. The reader drops an unterminated last line, see https://docs.rs/csv-core for how others treat it."}, {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/home/ana/parser/src/parser.rs"}}, {"type": "tool_use", "id": "t2", "name": "Grep", "input": {"pattern": "fn rest", "path": "src"}}]),
        ),
        tool_result(
            1,
            "     1\tfn parse() {\n     2\t    let head = next();\n     3\t    let tail = rest();",
            false,
        ),
        tool_result(2, "src/lines.rs:44:fn rest(&self) -> &[u8] {", false),
        assistant(
            2,
            &json!([{"type": "tool_use", "id": "t3", "name": "Edit", "input": {"file_path": "/home/ana/parser/src/parser.rs", "old_string": "let tail = rest();", "new_string": "let tail = rest()?;\ncheck(tail)?;"}}]),
        ),
        tool_result(3, diff, false),
        assistant(
            3,
            &json!([{"type": "text", "text": "The tail is checked now. I run the tests again."}, {"type": "tool_use", "id": "t4", "name": "Bash", "input": {"command": "cargo test --workspace"}}]),
        ),
        tool_result(4, "test result: ok. 212 passed; 0 failed", false),
        assistant(
            4,
            &json!([{"type": "text", "text": "All 212 tests pass.\n\n- `parser.rs`: an unterminated last line is kept, and checked.\n- Nothing else was changed."}]),
        ),
        result("All 212 tests pass.", false),
    ];
    ingest(
        runtape,
        "rich",
        "Fix the parser: it loses the last line of a file that has no newline at its end",
        &lines,
    );
}

fn huge_run(runtape: &Runtape) {
    let text = "five megabytes of words ".repeat((5 << 20) / 24 + 1);
    let text: String = text.chars().take(5 << 20).collect();
    let text = text + " the needle at its end";
    let lines = [
        system("opus", "/x"),
        assistant(0, &json!([{"type": "text", "text": text}])),
        result("done", false),
    ];
    ingest(runtape, "huge", "say much", &lines);
}

/// Makes an agent that says sixty words, each with the time at which it is said.
fn agent(runtape: &Runtape) {
    let line = assistant(
        0,
        &json!([{"type": "text", "text": "word NUMBER at TIME ."}]),
    )
    .replace("\"m0\"", "\"mNUMBER\"");
    let end = result("done", false);
    let body = format!(
        "i=0\nwhile [ $i -lt 60 ]; do\n  printf '%s\\n' '{line}' | sed \"s/NUMBER/$i/g; s/TIME/$(date +%s%3N)/\"\n  sleep 0.2; i=$((i + 1))\ndone\nprintf '%s\\n' '{end}'"
    );
    fs::create_dir_all(runtape.path("agent")).unwrap();
    runtape.script("agent/claude", &body);
}

/// A run that started two others.
fn family_run(runtape: &Runtape) {
    let lines = [
        system("claude-opus-4-5", "/home/ana/parser"),
        assistant(
            0,
            &json!([{"type": "text", "text": "Two questions can be answered beside each other."},
            {"type": "tool_use", "id": "t0", "name": "Agent", "input": {"description": "Count lines", "prompt": "count the lines of a.txt", "subagent_type": "counter"}},
            {"type": "tool_use", "id": "t1", "name": "Agent", "input": {"description": "Review the diff", "prompt": "review the last commit", "subagent_type": "reviewer"}}]),
        ),
        of_child("t0", &user("count the lines of a.txt")),
        of_child(
            "t0",
            &assistant(
                1,
                &json!([{"type": "tool_use", "id": "n0", "name": "Bash", "input": {"command": "wc -l < a.txt"}}]),
            ),
        ),
        of_child("t0", &result_of("n0", &"3".into(), false).to_string()),
        of_child(
            "t0",
            &assistant(2, &json!([{"type": "text", "text": "Three lines."}])),
        ),
        tool_result(0, "Three lines.", false),
        of_child("t1", &user("review the last commit")),
        of_child(
            "t1",
            &assistant(3, &json!([{"type": "text", "text": "It looks right."}])),
        ),
        tool_result(1, "It looks right.", false),
        assistant(
            4,
            &json!([{"type": "text", "text": "Three lines, and the commit looks right."}]),
        ),
        result("Three lines, and the commit looks right.", false)
            .replace("\"input_tokens\":3", "\"input_tokens\":300")
            .replace("\"output_tokens\":5", "\"output_tokens\":80"),
    ];
    ingest(runtape, "family", "count and review", &lines);
}

/// Images of every kind, and what only says that it is one.
fn pictures_run(runtape: &Runtape) {
    let images: Value = serde_json::from_str(include_str!("browser/images.json")).unwrap();
    let png = images["png"].as_str().unwrap();
    // The head of a png says how large it is: here, more than anybody has memory for.
    let bomb = format!(
        "iVBORw0KGgoAAAANSUhEUgAA////AAAA//8I{}",
        png.get(36..).unwrap()
    );
    let large = "A".repeat(6 << 20);
    let image = |kind: &str, data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": format!("image/{kind}"), "data": data}});
    let contents = [
        json!([{"type": "text", "text": "Tests by day, drawn."}, image("png", png)]),
        json!([image("jpeg", images["jpeg"].as_str().unwrap())]),
        json!([
            image("gif", images["gif"].as_str().unwrap()),
            image("webp", images["webp"].as_str().unwrap())
        ]),
        // `<svg onload=alert(1)>`, and the first twelve bytes of a png.
        json!([image("svg+xml", "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+"), image("png", &bomb), image("png", &large), image("png", "\"><script>alert(1)</script>"), image("png", "iVBORw0KGgoAAAAN"),
            {"type": "document", "source": {"type": "base64", "media_type": "text/csv", "data": "YSxi"}}]),
    ];
    let mut lines = vec![system("claude-opus-4-5", "/home/ana/parser")];
    for (number, content) in contents.iter().enumerate() {
        let path = format!("/home/ana/parser/target/chart-{number}.png");
        let call = json!([{"type": "tool_use", "id": format!("t{number}"), "name": "Read", "input": {"file_path": path}}]);
        lines.push(assistant(number, &call));
        lines.push(result_of(&format!("t{number}"), content, false).to_string());
    }
    lines.push(assistant(
        9,
        &json!([{"type": "text", "text": "Most tests were added on the last day."}]),
    ));
    lines.push(result("Most tests were added on the last day.", false));
    ingest(runtape, "pictures", "look at the charts", &lines);
}

/// What page and file could show in different ways: every character, inputs of every shape, lines of every form.
fn cases_run(runtape: &Runtape) {
    let mut lines = vec![system("opus", "/x")];
    let characters: Vec<char> = (0..=0x0010_ffff).filter_map(char::from_u32).collect();
    let (first, others) = characters.split_at(0x3000);
    let texts = first.chunks(100).chain(others.chunks(3000));
    for (number, text) in texts.enumerate() {
        let text: String = text.iter().collect();
        lines.push(assistant(
            1000 + number,
            &json!([{"type": "text", "text": text}]),
        ));
    }
    let many: serde_json::Map<String, Value> = (0..50)
        .map(|number| (format!("key {number}"), number.into()))
        .collect();
    let exact: Value = serde_json::from_str(
        r#"{"id": 12345678901234567890, "one": 1.0, "big": 1e300, "small": 5e-324, "minus": -0.0}"#,
    )
    .unwrap();
    let inputs = [
        json!({}),
        json!({"command": ["ls", "-l"], "path": "/x"}),
        json!({"cmd": 7, "query": "\n\n  second line\r\nthird"}),
        json!({"nested": {"a": [], "b": {}, "c": [1, "x", null, true]}, "__proto__": "p", "constructor": "c"}),
        json!({"command": "🎉".repeat(300), "é": "\u{7f}\u{85}"}),
        json!({"command": "x".repeat(240)}),
        json!({"command": "x".repeat(241)}),
        json!({"file_path": "\t \r\n"}),
        json!({"content": "long ".repeat(20_000)}),
        Value::Object(many),
        exact,
    ];
    let diffs = [
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n c",
        "@@ -1,2 +1,2 @@\n+x\r\n-y\r\n",
        "--- a\nno diff",
        "--- a\n+++ b\n+c",
        "text before\n\n@@ -3 +3 @@ fn\n+\u{1b}[31mred\n",
        "",
        "\n",
        "one line",
        "@@ -x",
    ];
    let long = [
        "w".repeat(6001),
        "é".repeat(8192),
        "é".repeat(8193),
        "🎉 ".repeat(30_000),
        format!("@@ -1 +1 @@\n{}", "+x\n".repeat(400)),
        "\u{1b}[0m".repeat(200),
        "\u{1b}[0m".repeat(201),
        format!("{}@@ -1 +1 @@\n+x", "🎉\n".repeat(660)),
        format!("{}\n@@ -1 +1 @@\n+x", "é".repeat(1988)),
    ];
    let addresses = "http://a.test, (https://b.test/x_(y)) http:// https://[::1]:8/ ahttp://c.test http://http://d.test https://e.test/?a=1&b='2' https://f.test/é javascript:alert(1) HTTP://g.test http://h.test...... ***http://i.test/**\r\nhttps://j.test";
    let mut number = 5000;
    let mut call = |lines: &mut Vec<String>, input: &Value, output: &str| {
        number += 1;
        let parts = json!([{"type": "thinking", "thinking": output, "signature": "x"}, {"type": "text", "text": output}, {"type": "tool_use", "id": format!("t{number}"), "name": "Tool", "input": input}]);
        lines.push(assistant(number, &parts));
        lines.push(tool_result(number, output, number % 5 == 0));
    };
    for input in &inputs {
        call(&mut lines, input, addresses);
    }
    let long = long.iter().map(String::as_str);
    for output in diffs.into_iter().chain(long) {
        call(&mut lines, &json!({"text": output}), output);
    }
    lines.push(result(addresses, true));
    ingest(runtape, "cases", addresses, &lines);
}

/// Makes an agent that says something and then thinks for longer than any test takes.
fn thinking_agent(runtape: &Runtape, name: &str, lines: &[String]) {
    let path = runtape.path(&format!("{name}.lines"));
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    fs::create_dir_all(runtape.path(name)).unwrap();
    let body = format!("cat '{}'\nexec sleep 300", path.display());
    runtape.script(&format!("{name}/claude"), &body);
}

fn thinking_agents(runtape: &Runtape) {
    let hostile = [
        system(HOSTILE, HOSTILE),
        assistant(0, &json!([{"type": "text", "text": HOSTILE}])),
    ];
    thinking_agent(runtape, "hostile-live", &hostile);
    let call = json!([{"type": "text", "text": "I run the tests first."}, {"type": "tool_use", "id": "t0", "name": "Bash", "input": {"command": "cargo test --workspace --locked -- --nocapture a_very_long_name_of_a_test_that_goes_on"}}]);
    let first = [
        system("claude-opus-4-5", "/home/ana/parser"),
        assistant(0, &call),
    ];
    thinking_agent(runtape, "open-1", &first);
    let words = json!([{"type": "text", "text": "All 212 tests pass. What is left is the changelog, which has to say what a user will see."}]);
    let second = [
        system("claude-sonnet-4-5", "/home/ana/site"),
        assistant(0, &words),
    ];
    thinking_agent(runtape, "open-2", &second);
    let thought = json!([{"type": "thinking", "thinking": "The test is flaky because of the clock.", "signature": "x"}]);
    thinking_agent(
        runtape,
        "open-3",
        &[system("claude-haiku-4-5", "/srv"), assistant(0, &thought)],
    );
}

/// Makes all runs and agents.
pub(crate) fn make(runtape: &Runtape) {
    // Lists have the last first: what is good to look at is there.
    cases_run(runtape);
    long_run(runtape);
    huge_run(runtape);
    hostile_run(runtape);
    family_run(runtape);
    pictures_run(runtape);
    rich_run(runtape);
    agent(runtape);
    thinking_agents(runtape);
}
