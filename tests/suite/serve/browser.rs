//! The page in a real browser. Needs chromium and playwright-core: `.ci/browser DIR` gets both, and
//! `RUNTAPE_BROWSER=DIR` names them; while it is set, a test that does not find them fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Runtape, stderr};

/// Texts that would do something in a page that took them for more than text.
const HOSTILE: &str = "hostile <script>alert('script')</script><img src=x onerror=alert('img')>\
     <svg onload=alert('svg')><a href=\"javascript:alert('link')\">x</a> javascript:alert(1) \
     [x](javascript:alert(2)) \u{202e}turned\u{202c} \u{1b}[31mred\u{1b}]0;title\u{7} \u{200b}\u{feff} \
     </pre></details></style></title>--><!-- ' onmouseover='alert(3) \" {{7*7}} ${alert(4)} http://\"><b>x";

fn chromium() -> Option<PathBuf> {
    let names = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    names.iter().map(PathBuf::from).find(|path| path.exists())
}

/// Returns the directory of the packages and the browser, or says why the test is skipped.
fn browser() -> Option<(PathBuf, PathBuf)> {
    let named = std::env::var_os("RUNTAPE_BROWSER").map(PathBuf::from);
    let has_packages =
        |directory: &PathBuf| directory.join("node_modules/playwright-core").is_dir();
    let packages = named.clone().filter(has_packages);
    match (packages, chromium()) {
        (Some(packages), Some(chromium)) => Some((packages, chromium)),
        (packages, chromium) => {
            let missing = format!("playwright-core {packages:?}, chromium {chromium:?}");
            assert!(
                named.is_none(),
                "RUNTAPE_BROWSER is set, but something is missing: {missing}"
            );
            println!(
                "skipped: no browser to test the page with ({missing}); .ci/browser installs one"
            );
            None
        }
    }
}

fn assistant(id: usize, content: &Value) -> String {
    let message = json!({"id": format!("m{id}"), "type": "message", "role": "assistant", "model": "opus", "content": content, "usage": {"input_tokens": 3, "output_tokens": 5}});
    json!({"type": "assistant", "message": message, "session_id": "s"}).to_string()
}

fn tool_result(id: usize, text: &str, is_error: bool) -> String {
    let content = json!([{"type": "tool_result", "tool_use_id": format!("t{id}"), "content": text, "is_error": is_error}]);
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
    ]);
    let denial = json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "result": HOSTILE, "errors": [HOSTILE], "session_id": "s", "num_turns": 1, "duration_ms": 1, "permission_denials": [{"tool_name": HOSTILE, "tool_use_id": "t0", "tool_input": {"command": HOSTILE}}]});
    let lines = [
        system(HOSTILE, HOSTILE),
        assistant(0, &parts),
        tool_result(0, HOSTILE, true),
        tool_result(1, HOSTILE, false),
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

fn export(runtape: &Runtape, run: &str) {
    let path = runtape.path(&format!("{run}.html"));
    let output = runtape.run(&[
        "export",
        "--format",
        "html",
        run,
        "--output",
        path.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = fs::read_to_string(path).unwrap();
    assert!(!text.contains("<script") && !text.contains("<img"), "{run}");
    assert!(
        !text.contains('\u{202e}') && !text.contains('\u{1b}'),
        "{run}"
    );
}

#[test]
fn the_page_works_in_a_real_browser() {
    let Some((packages, chromium)) = browser() else {
        return;
    };
    let runtape = Runtape::with_fixtures();
    long_run(&runtape);
    hostile_run(&runtape);
    huge_run(&runtape);
    rich_run(&runtape);
    agent(&runtape);
    for run in ["hostile", "rich"] {
        export(&runtape, run);
    }
    fs::rename(runtape.path("runtape.db"), runtape.path("page.db")).unwrap();
    // The live database has runs, too, that are over.
    fs::copy(runtape.path("page.db"), runtape.path("live.db")).unwrap();
    let directory = match std::env::var_os("RUNTAPE_SCREENSHOTS") {
        Some(kept) => copy_to(&runtape, Path::new(&kept)),
        None => runtape.directory.path().to_owned(),
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/suite/serve/browser.mjs");
    let mut command = Command::new("node");
    command
        .arg(script)
        .args([&packages, &chromium])
        .arg(env!("CARGO_BIN_EXE_runtape"))
        .arg(&directory);
    let environment = runtape.command(&[]);
    for (name, value) in environment.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{told}");
    assert!(output.status.success(), "{told}\n{}", stderr(&output));
}

/// Puts what the browser works with where its screenshots can be looked at afterwards.
fn copy_to(runtape: &Runtape, directory: &Path) -> PathBuf {
    fs::create_dir_all(directory).unwrap();
    let from = runtape.directory.path().join(".");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(from)
        .arg(directory)
        .status()
        .unwrap();
    assert!(copied.success());
    directory.to_owned()
}
