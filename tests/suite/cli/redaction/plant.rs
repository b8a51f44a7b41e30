//! Secrets in what agents print, and the search for them in everything that is kept.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use aho_corasick::AhoCorasick;
use runtape_normalizer::redact::{Tier, examples};
use serde_json::{Value, json};

use crate::harness::{Runtape, stderr};

/// A text that is planted, and the bytes of it that must be nowhere.
#[derive(Clone, Debug)]
pub(super) struct Planted {
    pub(super) rule: String,
    pub(super) text: String,
    pub(super) secret: String,
}

/// Every kind of secret that is taken out by default.
pub(super) fn secrets() -> Vec<Planted> {
    let definite = examples(18)
        .into_iter()
        .filter(|example| example.tier == Tier::Definite);
    let planted: Vec<Planted> = definite
        .map(|example| Planted {
            rule: example.rule.to_string(),
            text: example.text.clone(),
            secret: example.secret.clone(),
        })
        .collect();
    let kinds: std::collections::BTreeSet<&str> = planted
        .iter()
        .map(|planted| planted.rule.as_str())
        .collect();
    assert!(kinds.len() >= 60, "only {} kinds of secrets", kinds.len());
    planted
}

/// A few of them, where all would take too long.
pub(super) fn few() -> Vec<Planted> {
    let all = secrets();
    let step = all.len() / 8;
    all.into_iter().step_by(step.max(1)).collect()
}

/// Returns a text with every character as a `\u` escape.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for unit in text.encode_utf16() {
        let _ = write!(escaped, "\\u{unit:04x}");
    }
    escaped
}

/// How a text can stand in a line of JSON.
fn wrapped(text: &str, number: usize) -> String {
    let value = |text: &str| Value::from(text).to_string();
    let inner = json!({"log": {"line": text}, "n": number}).to_string();
    match number % 4 {
        0 => value(&format!("before {text} after")),
        // JSON inside JSON, as tools give it back.
        1 => value(&inner),
        2 => value(&json!({"body": inner}).to_string()),
        _ => format!("\"before {} after\"", escaped(text)),
    }
}

/// The output of claude-code in which tools printed these texts, one a call.
pub(super) fn claude_output(texts: &[String]) -> String {
    let session = "6baba7bc-061b-4fc8-9fe0-a222e7fee90d";
    let mut lines = vec![
        json!({"type": "system", "subtype": "init", "cwd": "/home/dev/proj", "session_id": session,
            "tools": ["Bash"], "mcp_servers": [], "model": "claude-sonnet-4-5-20250929",
            "permissionMode": "default", "claude_code_version": "2.1.325",
            "uuid": "33f8286c-f00d-4f7f-9b07-7fd34a720000"})
        .to_string(),
    ];
    for (number, text) in texts.iter().enumerate() {
        let (id, message) = (format!("toolu_{number:04}"), format!("msg_{number:04}"));
        lines.push(
            json!({"type": "assistant", "message": {"id": message, "type": "message",
                "role": "assistant", "model": "claude-sonnet-4-5-20250929", "content": [
                    {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "INPUT"}}],
                "usage": {"input_tokens": 1, "output_tokens": 1}},
                "session_id": session, "uuid": format!("33f8286c-f00d-4f7f-9b07-{number:012}")})
            .to_string()
            .replace("\"INPUT\"", &wrapped(text, number + 1)),
        );
        lines.push(
            json!({"type": "user", "message": {"role": "user", "content": [
                    {"tool_use_id": id, "type": "tool_result", "content": "OUTPUT", "is_error": false}]},
                "session_id": session, "uuid": format!("43f8286c-f00d-4f7f-9b07-{number:012}"),
                "tool_use_result": {"stdout": "OUTPUT", "stderr": ""}})
            .to_string()
            .replace("\"OUTPUT\"", &wrapped(text, number)),
        );
    }
    lines.push(
        json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 5,
            "num_turns": 1, "result": "Done.", "session_id": session, "total_cost_usd": 0.01,
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "uuid": "53f8286c-f00d-4f7f-9b07-000000000000"})
        .to_string(),
    );
    lines.join("\n") + "\n"
}

/// Returns the forms in which a secret could be found: as it is, in JSON, in JSON in JSON.
fn forms(secret: &str) -> Vec<String> {
    // Of one that goes over lines, each line that is long enough to be told from others.
    let mut forms = Vec::new();
    for piece in secret.lines().filter(|piece| piece.len() >= 12) {
        let once = Value::from(piece).to_string();
        let twice = Value::from(once.as_str()).to_string();
        for form in [
            piece,
            once.trim_matches('"'),
            twice.trim_matches(['"', '\\']),
        ] {
            forms.push(form.to_lowercase());
        }
        forms.push(escaped(piece).to_lowercase());
    }
    if forms.is_empty() {
        forms.push(secret.to_lowercase());
    }
    forms.sort();
    forms.dedup();
    forms
}

/// Returns the rules of those secrets that stand in some bytes, whatever the case of their letters: an index keeps
/// small ones.
pub(super) fn found_in(bytes: &[u8], planted: &[Planted]) -> Vec<String> {
    let search = search_for(planted);
    let found = search.forms.find_iter(bytes);
    found
        .map(|found| search.rules[found.pattern()].clone())
        .collect()
}

/// All forms of some secrets, and the rule of each.
struct SecretSearch {
    forms: AhoCorasick,
    rules: Vec<String>,
}

/// Returns the search for some secrets. It is made once: every file is searched, and making it takes longer than that.
fn search_for(planted: &[Planted]) -> Arc<SecretSearch> {
    static MADE: Mutex<BTreeMap<Vec<String>, Arc<SecretSearch>>> = Mutex::new(BTreeMap::new());
    let secrets = planted.iter().map(|planted| planted.secret.clone());
    let mut made = MADE.lock().unwrap();
    let search = made.entry(secrets.collect()).or_insert_with(|| {
        let forms = planted.iter().flat_map(|planted| {
            let forms = forms(&planted.secret).into_iter();
            forms.map(|form| (form, planted.rule.clone()))
        });
        let (forms, rules): (Vec<String>, Vec<String>) = forms.unzip();
        let mut search = AhoCorasick::builder();
        let forms = search.ascii_case_insensitive(true).build(forms).unwrap();
        Arc::new(SecretSearch { forms, rules })
    });
    Arc::clone(search)
}

/// Asserts that no file below a directory has any of the secrets. Returns how many files there are.
pub(super) fn assert_clean(directory: &Path, planted: &[Planted]) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += assert_clean(&path, planted);
        } else if path.is_file() {
            files += 1;
            let found = found_in(&fs::read(&path).unwrap(), planted);
            assert!(found.is_empty(), "{}: {found:?}", path.display());
        }
    }
    files
}

/// Asserts that nothing that commands say of the last run, and no export of it, has any of the secrets.
pub(super) fn assert_nothing_said(runtape: &Runtape, planted: &[Planted]) {
    let shown = runtape.json(&["show", "last"]).remove(0);
    let (run, job) = (
        shown["runId"].as_str().unwrap(),
        shown["jobId"].as_str().unwrap(),
    );
    let export = runtape.path("exports");
    fs::create_dir_all(&export).unwrap();
    let file = |name: &str| {
        export
            .join(format!("{run}.{name}"))
            .to_str()
            .unwrap()
            .to_owned()
    };
    let (lines, events, bundle) = (file("records"), file("events"), file("bundle"));
    let (trees, page) = (file("trees"), file("html"));
    let questions: &[&[&str]] = &[
        &["runs"],
        &["jobs"],
        &["sessions"],
        &["show", run],
        &["show", "--as", "summary", run],
        &["transcript", run],
        &["events", run],
        &["events", run, "--as", "records"],
        &["checkpoint", run],
        &["tools", "--calls", "--limit", "0"],
        &["files", "--limit", "0"],
        &["errors", "--limit", "0"],
        &["drift", "--limit", "0"],
        &["usage", "--explain", "--limit", "0"],
        &["raw", run],
        &["sql", "SELECT * FROM v_runs"],
        &["sql", "SELECT * FROM v_tool_calls"],
        &["search", "REDACTED"],
        &["export", run],
        &["export", run, "-o", &lines],
        &["export", run, "--as", "events", "-o", &events],
        &["export", run, "--format", "bundle", "-o", &bundle],
        &["export", run, "--format", "html", "-o", &page],
        &["export", "--format", "perstack", "--job", job, &trees],
    ];
    for question in questions {
        for words in [&[][..], &["--json"]] {
            if question.contains(&"-o") && words.is_empty()
                || question.contains(&"perstack") && words.is_empty()
            {
                continue;
            }
            let output = runtape.run(&[words, question].concat());
            let said = stderr(&output);
            assert!(output.status.code() != Some(2), "{question:?}: {said}");
            for bytes in [&output.stdout, &output.stderr] {
                let found = found_in(bytes, planted);
                assert!(found.is_empty(), "{question:?}: {found:?}");
            }
        }
    }
    for file in [&lines, &events, &bundle, &page] {
        assert!(fs::metadata(file).unwrap().len() > 0, "{file}");
    }
    let files = assert_clean(&export, planted);
    assert!(files > 4, "only {files} files of exports");
    let opened = runtape.run(&["verify", "--bundle", &bundle]);
    assert!(opened.status.success(), "{}", stderr(&opened));
    let verified = runtape.run(&["verify"]);
    assert!(verified.status.success(), "{}", stderr(&verified));
}
