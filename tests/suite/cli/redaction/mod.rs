//! Secrets that agents print: nowhere in what is kept, however it got there.

mod deltas;
mod plant;
mod settings;
mod stored;

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use self::plant::{
    Planted, assert_clean, assert_nothing_said, claude_output, few, found_in, secrets,
};
use crate::harness::{Runtape, fixtures, stderr, stdout};

/// Makes a script outside of the database's directory that prints these files, and returns it as a command.
pub(super) fn printer(outside: &TempDir, name: &str, out: &str, err: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = |name: &str| outside.path().join(name);
    fs::write(path("out"), out).unwrap();
    fs::write(path("err"), err).unwrap();
    let (out, err) = (path("out"), path("err"));
    let body = format!(
        "#!/bin/sh\ncat '{}'; cat '{}' >&2\n",
        out.display(),
        err.display()
    );
    fs::write(path(name), body).unwrap();
    fs::set_permissions(path(name), fs::Permissions::from_mode(0o755)).unwrap();
    path(name).to_str().unwrap().to_owned()
}

fn texts(planted: &[Planted]) -> Vec<String> {
    planted.iter().map(|planted| planted.text.clone()).collect()
}

/// All texts one after the other, as a program prints them on standard error.
fn plain(planted: &[Planted]) -> String {
    let lines = planted
        .iter()
        .map(|planted| format!("log: {}\n", planted.text));
    lines.collect()
}

fn assert_ok(output: &std::process::Output) {
    assert!(output.status.success(), "{}", stderr(output));
}

#[test]
fn planted_secrets_are_nowhere_when_a_command_is_recorded() {
    let (runtape, outside) = (Runtape::new(), TempDir::new().unwrap());
    let planted = secrets();
    let claude = printer(
        &outside,
        "claude",
        &claude_output(&texts(&planted)),
        &plain(&planted),
    );
    let prompt = planted.iter().map(|planted| planted.text.as_str());
    let prompt = format!("Use {}", prompt.collect::<Vec<_>>().join(" and "));
    for words in [
        &["--show", "transcript"][..],
        &["--emit", "transcript"],
        &["--show", "none"],
    ] {
        let record = [&["record"][..], words, &["--", &claude, "-p", &prompt]].concat();
        let output = runtape.run(&[&record[..], &["--output-format", "stream-json"]].concat());
        assert_ok(&output);
        for said in [&output.stdout, &output.stderr] {
            let found = found_in(said, &planted);
            assert!(found.is_empty(), "{words:?}: {found:?}");
        }
        assert!(assert_clean(runtape.directory.path(), &planted) >= 2);
    }
    assert_nothing_said(&runtape, &planted);
    assert_clean(runtape.directory.path(), &planted);

    let shown = runtape.json(&["show", "last"]).remove(0);
    let redaction = &shown["redaction"];
    assert_eq!(redaction["tier"], "definite");
    assert!(
        redaction["digest"]
            .as_str()
            .is_some_and(|digest| !digest.is_empty())
    );
    assert!(redaction["keyId"].as_str().is_some_and(|id| id.len() == 16));
    let counts = redaction["byRule"].as_object().unwrap();
    for planted in &planted {
        // In the input, in the output twice, on standard error, in the prompt.
        let count = counts.get(&planted.rule).and_then(Value::as_u64);
        assert!(count >= Some(5), "{}: {count:?}", planted.rule);
    }
}

#[test]
fn planted_secrets_are_nowhere_when_files_are_ingested() {
    let (runtape, outside) = (Runtape::new(), TempDir::new().unwrap());
    let planted = secrets();
    let file = outside.path().join("all.stdout");
    fs::write(&file, claude_output(&texts(&planted))).unwrap();
    fs::write(file.with_extension("stderr"), plain(&planted)).unwrap();
    let meta = serde_json::json!({"runtime": "claude-code", "exit_code": 0, "cwd": "/home/dev",
        "argv": ["claude", "-p", planted[0].text, "--output-format", "stream-json"]});
    fs::write(file.with_extension("meta.json"), meta.to_string()).unwrap();
    assert_ok(&runtape.run(&["ingest", file.to_str().unwrap()]));
    assert_clean(runtape.directory.path(), &planted);
    assert_nothing_said(&runtape, &planted);

    // The same through a pipe, as it comes.
    let mut command = runtape.command(&["ingest", "--runtime", "claude-code", "-"]);
    command.stdin(fs::File::open(&file).unwrap());
    assert_ok(&command.output().unwrap());
    assert_clean(runtape.directory.path(), &planted);
    assert_nothing_said(&runtape, &planted);
    assert_clean(runtape.directory.path(), &planted);
}

/// A home directory with a session of claude-code in which a tool gave these texts back.
fn home(outside: &TempDir, planted: &[Planted]) -> String {
    let from = fixtures().join("claude-code/fork-tree.sessions.history/-home-dev-proj");
    let to = outside.path().join("home/.claude/projects/-home-dev-proj");
    fs::create_dir_all(&to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let mut text = fs::read_to_string(&path).unwrap();
        let secret = Value::from(plain(planted)).to_string();
        text = text.replace(
            "\"type\":\"tool_result\",\"content\":\"a1\"",
            &format!("\"type\":\"tool_result\",\"content\":{secret}"),
        );
        text = text.replace("\"content\":\"A1.\"", &format!("\"content\":{secret}"));
        fs::write(to.join(path.file_name().unwrap()), text).unwrap();
    }
    outside.path().join("home").to_str().unwrap().to_owned()
}

#[test]
fn planted_secrets_are_nowhere_when_history_is_synced_and_the_next_sync_finds_nothing_new() {
    let (runtape, outside) = (Runtape::new(), TempDir::new().unwrap());
    let planted = secrets();
    let home = home(&outside, &planted);
    assert_ok(&runtape.run(&["sync", "--runtime", "claude-code", "--from", &home]));
    assert_clean(runtape.directory.path(), &planted);
    let runs = runtape.json(&["runs", "--limit", "0"]);
    let redacted = runs.iter().filter(|run| {
        let shown = runtape
            .json(&["show", run["runId"].as_str().unwrap()])
            .remove(0);
        shown["redaction"]["byRule"].is_object()
    });
    assert!(redacted.count() > 0);
    assert_nothing_said(&runtape, &planted);
    let records = || stdout(&runtape.run(&["sql", "SELECT count(*) FROM v_runs"]));
    let before = (runs.len(), records());
    // Whoever lost the memory of what was read, and the key, reads everything again.
    for name in ["runtape.db.history", "runtape.db.redaction-key"] {
        fs::remove_file(runtape.path(name)).unwrap();
        let synced = runtape.json(&["sync", "--runtime", "claude-code", "--from", &home]);
        let summary = synced.last().unwrap();
        let news = |key: &str| summary["groups"][0][key].as_u64().unwrap();
        assert_eq!(
            (news("new"), news("grown")),
            (0, 0),
            "without {name}: {summary}"
        );
        assert_eq!(
            (runtape.json(&["runs", "--limit", "0"]).len(), records()),
            before
        );
    }
}

#[test]
fn what_goes_to_a_spool_file_has_no_secrets_and_neither_has_the_run_made_from_it() {
    let (runtape, outside) = (Runtape::new(), TempDir::new().unwrap());
    let planted = few();
    let claude = printer(
        &outside,
        "claude",
        &claude_output(&texts(&planted)),
        &plain(&planted),
    );
    fs::write(
        runtape.path("runtape.db"),
        "this is no database, but long enough for one",
    )
    .unwrap();
    let output = runtape.run(&["record", "--", &claude, "-p", &planted[0].text]);
    assert_ok(&output);
    let spool: Vec<_> = fs::read_dir(runtape.path("runtape.db.spool"))
        .unwrap()
        .collect();
    assert_eq!(spool.len(), 1);
    assert_clean(runtape.directory.path(), &planted);
    fs::remove_file(runtape.path("runtape.db")).unwrap();
    assert_ok(&runtape.run(&["recover"]));
    assert_clean(runtape.directory.path(), &planted);
    assert_nothing_said(&runtape, &planted);
    let shown = runtape.json(&["show", "last"]).remove(0);
    let counts = shown["redaction"]["byRule"].as_object().unwrap();
    assert!(
        planted
            .iter()
            .all(|planted| counts.contains_key(&planted.rule)),
        "{counts:?}"
    );
}

/// Compares two values, and calls `each` with the texts that differ.
fn compare(before: &Value, after: &Value, each: &mut impl FnMut(&str, &str)) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            assert!(before.keys().eq(after.keys()));
            for (one, other) in before.values().zip(after.values()) {
                compare(one, other, each);
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            assert_eq!(before.len(), after.len());
            for (one, other) in before.iter().zip(after) {
                compare(one, other, each);
            }
        }
        (Value::String(before), Value::String(after)) if before != after => each(before, after),
        (before, after) => assert_eq!(before, after),
    }
}

#[test]
fn lines_still_parse_other_leaves_are_equal_and_ids_and_signatures_are_untouched() {
    let (runtape, outside) = (Runtape::new(), TempDir::new().unwrap());
    let planted = secrets();
    let mut out = claude_output(&texts(&planted));
    // What looks like a secret where nothing is looked for: without it no session could be resumed.
    let secret = &planted[0].secret;
    let signed = serde_json::json!({"type": "assistant", "message": {"id": secret, "content": [
        {"type": "thinking", "thinking": "…", "signature": secret}]}, "session_id": secret,
        "uuid": secret, "encrypted_content": secret});
    out += &signed.to_string();
    out.push('\n');
    let file = outside.path().join("all.stdout");
    fs::write(&file, &out).unwrap();
    assert_ok(&runtape.run(&["ingest", "--runtime", "claude-code", file.to_str().unwrap()]));
    let kept = stdout(&runtape.run(&["raw", "last"]));
    let (before, after): (Vec<&str>, Vec<&str>) = (out.lines().collect(), kept.lines().collect());
    assert_eq!(before.len(), after.len());
    assert_eq!(before.last(), after.last(), "ids and signatures");
    let mut changed = 0;
    for (before, after) in before.iter().zip(&after) {
        let value = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        compare(&value(before), &value(after), &mut |before, after| {
            changed += 1;
            let is_planted = planted.iter().any(|planted| {
                let inner = Value::from(planted.text.as_str()).to_string();
                before.contains(&planted.text)
                    || before.contains(inner.trim_matches('"'))
                    || before.contains('\\')
            });
            assert!(is_planted, "{before}");
            assert!(after.contains("[REDACTED:"), "{after}");
        });
    }
    assert!(changed >= 3 * planted.len(), "{changed}");
}

#[test]
fn near_misses_stay_byte_for_byte() {
    let (runtape, outside) = (Runtape::new(), TempDir::new().unwrap());
    let mut texts: Vec<String> = runtape_normalizer::redact::examples(18)
        .into_iter()
        .map(|example| example.near_miss)
        .collect();
    let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    texts.extend([
        "commit 2f8a39520b227ae7b49f43a48957a3b89d0651a4".to_owned(),
        "id 6baba7bc-061b-4fc8-9fe0-a222e7fee90d".to_owned(),
        format!("data:image/png;base64,{image}"),
        "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"".to_owned(),
        "checksum = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"".to_owned(),
        "!function(e,t){var n=e.token||t.key,r=n?n.secret:null;return r&&r.password}(window,{key:a});".to_owned(),
        "export API_KEY=$API_KEY; password: ********; token=<your-token>".to_owned(),
    ]);
    let out = claude_output(&texts);
    let file = outside.path().join("clean.stdout");
    fs::write(&file, &out).unwrap();
    let err = texts.join("\n");
    fs::write(file.with_extension("stderr"), &err).unwrap();
    assert_ok(&runtape.run(&["ingest", "--runtime", "claude-code", file.to_str().unwrap()]));
    let kept = stdout(&runtape.run(&["raw", "last"]));
    for (before, after) in out.lines().zip(kept.lines()) {
        assert_eq!(before, after);
    }
    assert_eq!(kept, out);
    let shown = runtape.json(&["show", "last"]).remove(0);
    assert_eq!(
        shown["redaction"]["byRule"],
        Value::Null,
        "{}",
        shown["redaction"]
    );
}
