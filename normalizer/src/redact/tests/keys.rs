//! Private keys, the only secrets that have lines.

use runtape_core::Runtime;
use serde_json::{Value, json};

use super::{definite, filter, strings};
use crate::redact::*;

#[test]
fn a_private_key_in_text_goes_with_all_its_lines() {
    let rules = definite();
    for example in examples(8)
        .iter()
        .filter(|example| example.rule == "private-key")
    {
        for prefix in ["", "  ", "\t"] {
            let lines: Vec<String> = example
                .secret
                .lines()
                .map(|line| format!("{prefix}{line}\n"))
                .collect();
            let text = format!("before\n{}after\n", lines.concat());
            let kept =
                String::from_utf8(filter(&rules, &Runtime::Hermes, text.as_bytes())).unwrap();
            for line in example.secret.lines() {
                assert!(!kept.contains(line), "{kept}");
            }
            assert!(
                kept.starts_with(&format!("before\n{prefix}[REDACTED:private-key:")),
                "{kept}"
            );
            assert!(kept.ends_with("\nafter\n"), "{kept}");
            assert_eq!(kept.lines().count(), text.lines().count(), "{kept}");
        }
        // Without its end, what there is of it goes.
        let cut = example.secret.split("-----END").next().unwrap();
        let kept = String::from_utf8(filter(
            &rules,
            &Runtime::Hermes,
            format!("{cut}\n").as_bytes(),
        ))
        .unwrap();
        assert!(
            kept.starts_with("[REDACTED:private-key:") && kept.trim().ends_with(']'),
            "{kept}"
        );
    }
}

/// A private key that begins, with markers, ends of keys or other secrets after it in the same line: each takes out its own part at
/// once, and what is taken out decides nothing that was decided before.
#[test]
fn a_private_key_ends_where_a_marker_or_its_end_is() {
    let rules = definite();
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let marked = "[REDACTED:jwt:0123456789abcdef]";
    let run = concat!("bkua_", "0123456789abcdef0123456789abcdef01234567");
    let all = examples(13);
    let others = all.iter().filter(|example| example.tier == Tier::Definite);
    let mut others: Vec<&str> = others.map(|example| example.text.as_str()).collect();
    others.extend([
        "",
        "word",
        begin,
        marked,
        run,
        "-----END RSA PRIVATE KEY-----",
    ]);
    for other in others {
        for between in ["", " ", "\n", "\"", "x"] {
            for text in [
                format!("{begin}{run}{between}{marked}{between}{other}"),
                format!("{begin}{run}{marked}{between}{other}{begin}"),
                format!("{begin}{run}{between}{marked}{begin}{between}{other}"),
                format!("{begin}{between}{other}{marked}{run}"),
                format!("{other}{between}{begin}{run}{between}{begin}{run}{marked}{other}"),
                format!("{begin}{other}{between}-----END{begin}"),
                format!("{begin}{between}-----END-----{other}{begin}{run}"),
            ] {
                for line in [
                    format!("{text}\n"),
                    format!("{}\n", json!({"text": text})),
                    format!("{}\n", json!({"lines": [text, other]})),
                    format!("{}\n", json!({"lines": [text, run, other]})),
                    format!("{}\n", json!({"arguments": json!({"a": text}).to_string()})),
                ] {
                    let once = filter(&rules, &Runtime::ClaudeCode, line.as_bytes());
                    let twice = filter(&rules, &Runtime::ClaudeCode, &once);
                    let (once, twice) = (String::from_utf8(once), String::from_utf8(twice));
                    assert_eq!(once, twice, "{line}");
                    if text.starts_with(&format!("{begin}{run}")) {
                        assert!(!once.unwrap().contains(&format!("{begin}{run}")), "{line}");
                    }
                }
            }
        }
    }
}

/// Signs that stand before each line of a file: of a diff, a quotation, a listing with numbers.
const PREFIXES: [fn(usize) -> String; 6] = [
    |_| " ".to_owned(),
    |_| "+".to_owned(),
    |_| "-".to_owned(),
    |_| "> ".to_owned(),
    |number| format!("{number:6}\t"),
    |number| format!("{number:6}→"),
];

/// Returns the lines of a private key, each with what stands before it.
fn key_lines(seed: u64, prefix: fn(usize) -> String) -> (Vec<String>, Vec<String>) {
    let examples = examples(seed);
    let key = examples
        .iter()
        .find(|example| example.rule == "private-key");
    let plain: Vec<String> = key.unwrap().secret.lines().map(str::to_owned).collect();
    let numbered = plain.iter().zip(7..);
    let lines = numbered.map(|(line, number)| format!("{}{line}", prefix(number)));
    (lines.collect(), plain)
}

/// Returns what is nowhere any more: all lines of a key but the first and the last, which tell nothing.
fn body(plain: &[String]) -> &[String] {
    &plain[1..plain.len() - 1]
}

#[test]
fn a_private_key_goes_whatever_stands_before_its_lines() {
    let rules = definite();
    for (seed, prefix) in (40..).zip(PREFIXES) {
        let (lines, plain) = key_lines(seed, prefix);
        for lines in [&lines[..], &lines[..lines.len() - 1]] {
            let text = format!("before\n{}\nafter\n", lines.join("\n"));
            for line in [text.clone(), format!("{}\n", json!({"content": text}))] {
                let kept =
                    String::from_utf8(filter(&rules, &Runtime::Hermes, line.as_bytes())).unwrap();
                for secret in body(&plain) {
                    assert!(!kept.contains(secret), "{secret} in {kept}");
                }
                assert_eq!(kept.matches("[REDACTED:private-key:").count(), 1, "{kept}");
                assert!(kept.contains("before") && kept.contains("after"), "{kept}");
                assert_eq!(kept.lines().count(), line.lines().count(), "{kept}");
            }
        }
    }
}

#[test]
fn a_private_key_over_the_strings_of_an_array_goes_whole() {
    let rules = definite();
    for (seed, prefix) in (50..).zip(PREFIXES) {
        let (lines, plain) = key_lines(seed, prefix);
        let mut array = vec![" before".to_owned(), "+".to_owned()];
        array.extend(lines);
        array.push(" after \"it\"\n".to_owned());
        let patch = json!([{"oldStart": 1, "lines": array, "newStart": 1}]);
        let nested = json!({"edits": patch}).to_string();
        for line in [
            json!({"tool_use_result": {"structuredPatch": patch, "filePath": "/a"}}),
            json!({"arguments": nested, "n": 1}),
            json!([array, "x", array]),
        ] {
            let text = format!("{line}\n");
            let kept =
                String::from_utf8(filter(&rules, &Runtime::ClaudeCode, text.as_bytes())).unwrap();
            for secret in body(&plain) {
                assert!(!kept.contains(secret), "{secret} in {kept}");
            }
            let read: Value = serde_json::from_str(&kept).unwrap();
            let (mut one, mut other) = (Vec::new(), Vec::new());
            let unfold = |value: &Value| match value.pointer("/arguments").and_then(Value::as_str) {
                Some(nested) => serde_json::from_str(nested).unwrap(),
                None => value.clone(),
            };
            strings(&unfold(&line), &mut one);
            strings(&unfold(&read), &mut other);
            assert_eq!(one.len(), other.len(), "{kept}");
            for (one, other) in one.iter().zip(&other) {
                let is_of_key = plain.iter().any(|line| one.ends_with(line));
                let is_gone = other.is_empty() || other.contains("[REDACTED:private-key:");
                assert_eq!(is_of_key, one != other, "{one} and {other}");
                assert!(!is_of_key || is_gone, "{one} and {other}");
            }
            // Of a line that is cut, and so is no JSON, what there is goes as well.
            let cut = format!("{}\n", text.trim_end().trim_end_matches([']', '}']));
            let kept =
                String::from_utf8(filter(&rules, &Runtime::ClaudeCode, cut.as_bytes())).unwrap();
            for secret in body(&plain) {
                assert!(!kept.contains(secret), "{secret} in {kept}");
            }
        }
    }
}
