//! A line is JSON after the filter if and only if it was before.

use std::sync::Arc;

use runtape_core::Runtime;
use serde_json::{Value, json};

use super::{KEY, filter, filter_over_long};
use crate::redact::*;

/// A value that is looked for, of digits only: it can be a number.
const DIGITS: &str = "94710385526148";

fn rules() -> Arc<RuleSet> {
    let rules = RuleSet::new(Tier::Definite).with_key(RedactionKey::new(KEY));
    Arc::new(rules.with_value("PIN", DIGITS).unwrap())
}

/// Returns the text of an example.
fn example(rule: &str) -> String {
    let examples = examples(31);
    let mut of_rule = examples.iter().filter(|example| example.rule == rule);
    of_rule.next().unwrap().text.clone()
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok()
}

/// Holds what became of some lines to the promise, and returns it.
fn holds(name: &str, bytes: &[u8], kept: &[u8]) -> String {
    let shown = String::from_utf8_lossy(kept).into_owned();
    let of =
        |bytes: &[u8]| -> Vec<bool> { bytes.split(|byte| *byte == b'\n').map(is_json).collect() };
    assert_eq!(of(bytes), of(kept), "{name}: {shown}");
    assert!(!shown.contains(DIGITS), "{name}: {shown}");
    assert!(!shown.contains(&example("github-pat")), "{name}: {shown}");
    assert!(shown.contains("[REDACTED:"), "{name}: {shown}");
    shown
}

fn check(name: &str, bytes: &[u8]) -> String {
    let rules = rules();
    for runtime in [Runtime::Generic, Runtime::ClaudeCode, Runtime::Hermes] {
        let kept = filter(&rules, &runtime, bytes);
        holds(name, bytes, &kept);
        let again = filter(&rules, &runtime, &kept);
        assert_eq!(again, kept, "{name}: filtered twice");
    }
    let kept = filter(&rules, &Runtime::Generic, bytes);
    // By itself, as a line of a session file.
    if !bytes.trim_ascii_end().contains(&b'\n') {
        let mut counts = RedactionCounts::default();
        holds(name, bytes, &rules.redact_line(bytes, &mut counts));
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[test]
fn what_is_left_of_a_line_of_a_key_is_no_json() {
    let key = example("private-key");
    for rest in [
        "4",
        "-0.5e3",
        " true",
        "null\r",
        "{}",
        "{\"a\":1}",
        "[1,2]",
        "\"x\"",
        "\"\"",
    ] {
        let kept = check(rest, format!("see {key}{rest}\nafter\n").as_bytes());
        assert!(kept.contains(rest.trim()), "{kept}");
    }
    let pat = example("github-pat");
    check("a secret after it", format!("{key}\"{pat}\"\n").as_bytes());
    check("glued values", format!("{key}{{}}{{}}\n").as_bytes());
}

#[test]
fn a_line_of_a_key_that_is_a_number_stays_json() {
    let key = example("private-key");
    let (begin, rest) = key.split_once('\n').unwrap();
    let digits = "4".repeat(20) + &"7315".repeat(11);
    for number in [
        digits.clone(),
        format!("  {digits} \r"),
        format!("-{digits}"),
    ] {
        let text = format!("{begin}\n{number}\n{rest}\nafter\n");
        let kept = check(&number, text.as_bytes());
        assert!(!kept.contains("7315"), "{kept}");
        assert!(kept.contains("\n\"\""), "{kept}");
    }
}

#[test]
fn a_line_that_is_a_secret_number_becomes_a_string() {
    for line in [
        format!("{DIGITS}\n"),
        format!(" -{DIGITS}.5e1\r\n"),
        DIGITS.to_owned(),
    ] {
        let kept = check(&line, line.as_bytes());
        assert!(kept.trim().starts_with('"'), "{kept}");
    }
    // Text is no JSON, and stays text.
    check("text", format!("{DIGITS} is it\n").as_bytes());
    check("a word", format!("true {DIGITS}\n").as_bytes());
}

#[test]
fn what_no_string_may_hold_keeps_its_line_from_being_json() {
    let key = example("private-key");
    let written = json!(key).to_string();
    let written = written.trim_matches('"');
    let wrongs: [&[u8]; 6] = [b"\t", b"\x01", b"\xff", b"\\ud83d", b"\\q", b"\xc3"];
    for wrong in wrongs {
        for at in [written.len() / 2, written.len() - 9] {
            let (before, after) = written.split_at(at);
            let broken = [before.as_bytes(), wrong, after.as_bytes()].concat();
            let name = format!("{wrong:?} at {at}");
            for (open, close) in [
                (&b"{\"text\":\""[..], &b"\"}\n"[..]),
                (b"[\"a\",\"", b"\"]\n"),
                (b"\"", b"\"\n"),
                (b"{\"n\":[\"x\",{\"b\":\"", b"\"}]\n"),
            ] {
                check(&name, &[open, &broken, close].concat());
            }
            // The pieces of a text, of which the later ones lose their part.
            let mut lines = Vec::new();
            for piece in [before.as_bytes(), wrong, after.as_bytes()] {
                lines.extend_from_slice(b"{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"");
                lines.extend_from_slice(piece);
                lines.extend_from_slice(b"\"}},\"session_id\":\"s\"}\n");
            }
            check(&name, &lines);
        }
    }
    // Lines of an array.
    let lines: Vec<&str> = key.lines().collect();
    let array = json!({"lines": lines}).to_string();
    check(
        "a control in an array",
        array.replace("\",\"", "\",\"\t").as_bytes(),
    );
}

#[test]
fn lines_that_only_resemble_json_stay_what_they_are() {
    let pat = example("github-pat");
    let long = "1".repeat(60);
    for line in [
        format!("{{\"n\":{long},\"a\":\"{pat}\"}}"),
        format!("{{\"n\":{long}.5e1,\"a\":\"{pat}\\u00e9\\ud83d\\ude00\"}}"),
        format!("{{\"a\":\"{pat}\"}} {{\"b\":1}}"),
        format!("{{\"a\":\"{pat}\"}}]"),
        format!("{{\"a\":\"{pat}"),
        format!("{{\"a\" \"{pat}\"}}"),
        format!("{{\"a\":{pat}}}"),
        format!("[{pat}]"),
        format!("\u{feff}{{\"a\":\"{pat}\"}}"),
        format!("\"{pat}\""),
        format!("\"{pat}\" 1"),
        format!("[\"\\{pat}\"]"),
    ] {
        check(&line, format!("{line}\n").as_bytes());
    }
}

#[test]
fn an_over_long_line_of_json_stays_json() {
    let rules = rules();
    let pat = example("github-pat");
    let npm = example("npm-token");
    let key = json!(example("private-key"))
        .to_string()
        .replace("\\n", "\\u000a");
    let fill = "word ".repeat(3_000);
    for inner in [
        format!("{{\"a\":\"{pat}\",\"b\":\"\\{npm}\"}}"),
        format!("{{\"a\":\"{fill}\\\\\\{npm} {pat}\"}}"),
        format!("{{\"a\":{DIGITS}1,\"b\":\"{pat} pin {}\"}}", "x\\\" y"),
        format!("{{\"a\":[1,{DIGITS}],\"b\":\"\\\\\",\"c\":\"{pat}\"}}"),
        format!("{{\"a\":{key},\"b\":\"{pat}\"}}"),
        format!("{{\"a\":\"\\r8_{}\",\"b\":\"{pat}\"}}", "aB3".repeat(12)),
    ] {
        for before in [0, 16_000, 16_380, 70_000] {
            let line = format!(
                "[\"{}\",{inner},\"{fill}{fill}\"]\n",
                "y ".repeat(before / 2)
            );
            let kept = filter_over_long(&rules, line.as_bytes(), &[7_001]);
            let shown = String::from_utf8_lossy(&kept).into_owned();
            assert_eq!(is_json(line.as_bytes()), is_json(&kept), "{inner} {shown}");
            assert!(is_json(&kept), "{inner}");
            assert!(!shown.contains(&pat), "{inner}");
        }
    }
}

#[test]
fn what_is_shorter_or_begins_otherwise_after_the_filter_is_not_read_otherwise() {
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let run = "kQ7".repeat(20);
    let token = example("sentry-user-token");
    // A line that begins with a marker is text, as it was when the secret stood there.
    check(
        "a marker first",
        format!("{token}{begin}\x7f[REDACTED:jwt:0123456789abcdef]lin_api_{run}").as_bytes(),
    );
    // With markers in their place, what is far from the beginning of a key is near to it.
    let long = [example("vault-batch-token"), example("vault-service-token")].join(" ");
    check(
        "a run that comes nearer",
        format!("{begin}{long} {long}{{\"a\":\"\n{run}").as_bytes(),
    );
}
