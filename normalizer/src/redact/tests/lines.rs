//! Lines: what is replaced in them, and what stays.

use std::sync::Arc;

use proptest::prelude::*;
use runtape_core::Runtime;
use serde_json::{Value, json};

use super::{KEY, definite, definite_examples, filter, filter_chunks, runtime, secret_of, strings};
use crate::redact::*;

#[test]
fn a_secret_in_a_string_is_replaced_and_nothing_else() {
    let rules = definite();
    for example in definite_examples(5) {
        let inner = json!({"command": format!("echo \"{}\"\n", example.text), "n": 1.50});
        let line = json!({"type": "user", "a": "before\n\"x\" é😀", "deep": [{"text": format!("x\n{}\ty", example.text)}],
            "arguments": inner.to_string(), "again": json!({"in": inner.to_string()}).to_string()});
        let line = format!("{line}\n");
        let kept = filter(&rules, &Runtime::Generic, line.as_bytes());
        let text = String::from_utf8(kept).unwrap();
        let secret = secret_of(&example);
        let read: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}: {text}", example.rule));
        assert!(!text.contains(&secret), "{}: {text}", example.rule);
        let commitment = RedactionKey::new(KEY).commitment(example.secret.as_bytes());
        let marker = format!("[REDACTED:{}:{commitment}]", example.rule);
        assert_eq!(text.matches(&marker).count(), 3, "{}: {text}", example.rule);
        assert_eq!(read["a"], "before\n\"x\" é😀");
        assert_eq!(
            read["deep"][0]["text"],
            format!("x\n{}\ty", example.text.replace(&example.secret, &marker))
        );
        let nested: Value = serde_json::from_str(read["arguments"].as_str().unwrap()).unwrap();
        assert_eq!(nested["n"], json!(1.50));
    }
}

#[test]
fn escapes_do_not_hide_a_secret() {
    let rules = definite();
    for example in examples(6)
        .iter()
        .filter(|example| example.rule == "github-pat")
    {
        let escaped: String = example
            .secret
            .bytes()
            .map(|byte| format!("\\u{byte:04x}"))
            .collect();
        let half = format!(
            "{}\\u0{:03x}{}",
            &example.secret[..9],
            example.secret.as_bytes()[9],
            &example.secret[10..]
        );
        for written in [
            escaped,
            half,
            format!("\\u000a{}", example.secret),
            format!("\\n{}", example.secret),
            format!("\\u00e9 {}", example.secret),
        ] {
            let line = format!("{{\"text\":\"see {written}\"}}\n");
            let kept =
                String::from_utf8(filter(&rules, &Runtime::Generic, line.as_bytes())).unwrap();
            assert!(kept.contains("[REDACTED:github-pat:"), "{line} {kept}");
            assert!(serde_json::from_str::<Value>(&kept).is_ok(), "{kept}");
        }
    }
}

#[test]
fn ids_signatures_keys_and_images_are_left_alone() {
    let rules = definite();
    for example in examples(7)
        .iter()
        .filter(|example| example.rule == "google-api-key")
    {
        let secret = &example.secret;
        for key in [
            "id",
            "tool_use_id",
            "uuid",
            "session_id",
            "sessionId",
            "signature",
            "thoughtSignature",
            "encrypted_content",
            "type",
            "model",
            "callID",
        ] {
            let line = format!("{}\n", json!({key: secret}));
            assert_eq!(
                filter(&rules, &Runtime::Generic, line.as_bytes()),
                line.as_bytes(),
                "{key}"
            );
        }
        let line = format!("{}\n", json!({secret.as_str(): "x"}));
        assert_eq!(
            filter(&rules, &Runtime::Generic, line.as_bytes()),
            line.as_bytes()
        );
        let image = format!("{}/{secret}/{}", "A1b+".repeat(400), "Zz9/".repeat(400))
            .replace(['_', '-'], "0");
        let line = format!("{}\n", json!({"type": "image", "data": image}));
        assert_eq!(
            filter(&rules, &Runtime::Generic, line.as_bytes()),
            line.as_bytes()
        );
        let line = format!("{}\n", json!({"session_token": secret, "text": secret}));
        let kept = String::from_utf8(filter(&rules, &Runtime::Generic, line.as_bytes())).unwrap();
        assert_eq!(kept.matches("[REDACTED:").count(), 2, "{kept}");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    let rules = definite();
    let near = [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "550e8400-e29b-41d4-a716-446655440000",
        "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        concat!("AKIA", "IOSFODNN7EXAMPLE"),
        concat!(
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG",
            "/bPxRfiCYEXAMPLEKEY"
        ),
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "export API_KEY=$OTHER_KEY",
        "API_KEY=<your-key>",
        "API_TOKEN=***",
        "GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }}",
        "MAX_TOKEN=128000",
        "SSH_KEY=/home/dev/.ssh/id_ed25519",
        "postgres://user:password@localhost:5432/app",
        "redis://localhost:6379/0",
        "https://example.com/a:b@c",
        "Authorization: Bearer <token>",
        "Authorization: Bearer ${TOKEN}",
        "Cookie: theme=dark; lang=en",
        "-----BEGIN CERTIFICATE-----",
        "if line.contains(\"-----BEGIN PRIVATE KEY-----\") { return; }",
        "[REDACTED:github-pat:3f9c0a1be27d5581] [REDACTED:x]",
    ];
    for text in near {
        for line in [format!("{text}\n"), format!("{}\n", json!({"text": text}))] {
            let kept =
                String::from_utf8(filter(&rules, &Runtime::Generic, line.as_bytes())).unwrap();
            assert_eq!(kept, line);
        }
    }
}

#[test]
fn credentials_in_a_url_with_escaped_slashes_are_found() {
    let rules = definite();
    // In two, so that nobody finds a password in this file.
    let inner = concat!(
        r#"{"url":"https:\/\/app:"#,
        r#"S3cr3tPassw0rt@db.internal\/x"}"#
    );
    let once = inner.replace("{\"url\"", "{\"text\"");
    let twice = json!({"arguments": inner}).to_string();
    let thrice = twice.replace('/', "\\/");
    for line in [once.as_str(), &twice, &thrice, inner.trim_matches('{')] {
        let line = format!("{line}\n");
        let kept = String::from_utf8(filter(&rules, &Runtime::Generic, line.as_bytes())).unwrap();
        assert!(!kept.contains("S3cr3tPassw0rt"), "{kept}");
        assert!(kept.contains("app:[REDACTED:url-credentials:"), "{kept}");
        assert!(kept.contains("]@db.internal"), "{kept}");
    }
    for near in [
        r#"{"a":"C:\\Users\\x@y"}"#,
        r#"{"a":"https:\/\/h:80\/a@b"}"#,
    ] {
        let line = format!("{near}\n");
        let kept = String::from_utf8(filter(&rules, &Runtime::Generic, line.as_bytes())).unwrap();
        assert_eq!(kept, line);
    }
}

#[test]
fn a_value_named_by_a_key_of_json_within_json_is_found() {
    let rules = definite();
    let examples = examples(12);
    let mut named = examples
        .iter()
        .filter(|one| one.rule == "environment-secret");
    let secret = named.next().unwrap().secret.clone();
    let inner = json!({"env": {"DEPLOY_TOKEN": secret}}).to_string();
    let line = format!("{}\n", json!({"arguments": inner}));
    let kept = String::from_utf8(filter(&rules, &Runtime::Generic, line.as_bytes())).unwrap();
    assert!(!kept.contains(&secret), "{kept}");
}

#[test]
fn values_own_rules_and_allowed_texts_are_the_callers() {
    let rules = RuleSet::new(Tier::Definite)
        .with_rule("acme-key", "acme_[A-Za-z0-9]{12}")
        .unwrap()
        .with_value("MY_PASS", "hunter2-hunter2")
        .unwrap()
        .with_environment([
            ("DEPLOY_TOKEN", "abc def ghi \"x\""),
            ("HOME", "/home/developer"),
            ("SSH_KEY_PATH", "/home/dev/key-of-mine"),
            ("A_KEY", "short"),
        ])
        .with_allowed("acme_AAAAAAAAAAA1")
        .with_allowed("acme_BB*");
    let rules = Arc::new(rules);
    let line = json!({"a": "acme_Xy7Xy7Xy7Xy7 acme_AAAAAAAAAAA1 acme_BB7Xy7Xy7Xy7", "b": "x hunter2-hunter2y", "c": "say abc def ghi \"x\"!", "d": "/home/developer /home/dev/key-of-mine short"});
    let kept = String::from_utf8(filter(
        &rules,
        &Runtime::Generic,
        format!("{line}\n").as_bytes(),
    ))
    .unwrap();
    let read: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(
        read["a"],
        "[REDACTED:acme-key] acme_AAAAAAAAAAA1 acme_BB7Xy7Xy7Xy7"
    );
    assert_eq!(read["b"], "x [REDACTED:env.MY_PASS]y");
    assert_eq!(read["c"], "say [REDACTED:env.DEPLOY_TOKEN]!");
    assert_eq!(read["d"], line["d"]);
    let mut counts = RedactionCounts::default();
    assert_eq!(
        rules.redact_text("--token=acme_Xy7Xy7Xy7Xy7", &mut counts),
        "--token=[REDACTED:acme-key]"
    );
    assert_eq!(counts.total(), 1);
    for (name, pattern) in [
        ("a b", "acme_[a-z]{9}"),
        ("x", ".*"),
        ("x", "acme_[a-z]+zz"),
        ("x", "[a-z]{9}"),
        ("x", "acme_[z-a]"),
        ("x", "a(b"),
    ] {
        assert!(
            RuleSet::new(Tier::Definite)
                .with_rule(name, pattern)
                .is_err(),
            "{name} {pattern}"
        );
    }
    assert!(
        RuleSet::new(Tier::Definite)
            .with_value("A", "short")
            .is_err()
    );
}

#[test]
fn the_digest_tells_rule_sets_apart_and_tells_no_value() {
    let base = || RuleSet::new(Tier::Definite);
    let digests = [
        base().digest(),
        RuleSet::new(Tier::Broad).digest(),
        base().with_rule("acme", "acme_[a-z]{9}").unwrap().digest(),
        base().with_allowed("x").digest(),
        base().with_value("A", "abcdefgh").unwrap().digest(),
    ];
    let distinct: std::collections::BTreeSet<_> = digests.iter().collect();
    assert_eq!(distinct.len(), digests.len());
    assert_eq!(
        base().with_value("A", "abcdefgh").unwrap().digest(),
        base().with_value("A", "ijklmnop").unwrap().digest()
    );
}

/// A word that is longer than the screen is wide begins on a line of its own, and goes on in the next ones.
#[test]
fn a_secret_that_is_broken_over_lines_of_text_is_found() {
    let rules = definite();
    let mut broken = 0;
    for example in definite_examples(34) {
        let is_word = !example.text.contains(char::is_whitespace);
        if !is_word || example.text.len() <= 60 {
            continue;
        }
        for width in [60, 72, 76, 80, 100] {
            let chunks: Vec<&[u8]> = example.text.as_bytes().chunks(width).collect();
            let chunks: Vec<&str> = chunks
                .iter()
                .map(|chunk| std::str::from_utf8(chunk).unwrap())
                .collect();
            // One that is whole without its rest is found for itself, and the rest is not: it may be another word.
            let first = rules.redact_text(chunks[0], &mut RedactionCounts::default());
            if first != chunks[0] || chunks.len() < 2 {
                continue;
            }
            broken += 1;
            for (before, after) in [("", "\n"), ("    ", "   \r\n"), ("│ ", " │\n")] {
                let mut lines = format!("{before}Look at:{after}");
                for (number, chunk) in chunks.iter().enumerate() {
                    let rest = if number + 1 == chunks.len() {
                        " and go on."
                    } else {
                        ""
                    };
                    lines.push_str(&format!("{before}{chunk}{rest}{after}"));
                }
                lines.push_str(&format!("{before}The end.{after}"));
                let kept = filter(&rules, &Runtime::Hermes, lines.as_bytes());
                let kept = String::from_utf8(kept).unwrap();
                let shown = || format!("{} at {width}:\n{lines}\n{kept}", example.rule);
                assert_eq!(kept.matches("[REDACTED:").count(), 1, "{}", shown());
                assert_eq!(kept.lines().count(), lines.lines().count(), "{}", shown());
                assert!(
                    kept.contains(" and go on.") && kept.contains("The end."),
                    "{}",
                    shown()
                );
                let last = chunks.last().unwrap();
                assert!(last.len() < 8 || !kept.contains(last), "{}", shown());
            }
        }
    }
    assert!(broken > 10, "{broken}");
}

/// What looks like the beginning of one does not hide another in the next line, nor a private key.
#[test]
fn what_comes_after_a_word_that_fills_a_line_is_found() {
    let rules = definite();
    let beginning = format!("sk-ant-api03-{}", "a1B2c3D4".repeat(6));
    for example in definite_examples(35) {
        for before in ["", "    "] {
            let lines = format!("{before}{beginning}\n{before}{}\nThe end.\n", example.text);
            let kept = filter(&rules, &Runtime::Hermes, lines.as_bytes());
            let kept = String::from_utf8(kept).unwrap();
            assert!(
                kept.starts_with(&format!("{before}{beginning}\n")),
                "{kept}"
            );
            assert!(
                !kept.contains(&secret_of(&example)),
                "{}: {kept}",
                example.rule
            );
            assert!(kept.ends_with("The end.\n"), "{kept}");
        }
    }
}

/// Bytes with secrets, damaged JSON and markers among them.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let texts: Vec<String> = examples(11)
        .into_iter()
        .map(|example| example.text)
        .collect();
    let pieces = prop_oneof![
        proptest::sample::select(texts).prop_map(String::into_bytes),
        proptest::sample::select(vec![
            "{\"a\":\"",
            "\"}",
            "\",\"b\":[\"",
            "\"]",
            "{",
            "}",
            "\\n",
            "\\\"",
            "\\u0041",
            "\\ud83d",
            "\\q",
            "\n",
            "\r\n",
            " ",
            "\t",
            "KEY=",
            "API_TOKEN=\"",
            "://u:",
            "@h",
            "[REDACTED:",
            "[REDACTED:jwt:0123456789abcdef]",
            "-----BEGIN RSA PRIVATE KEY-----",
            "-----END",
            "Bearer ",
            "ghp_",
            "eyJ",
            "é",
            "1",
            "true",
            ":",
            ","
        ])
        .prop_map(|text: &str| text.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..6),
        "[ -~]{0,20}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

/// A JSON line whose strings hold secrets among other things.
fn valid() -> impl Strategy<Value = Vec<u8>> {
    (proptest::collection::vec(hostile(), 1..4), any::<bool>()).prop_map(|(texts, nested)| {
        let texts: Vec<String> = texts
            .iter()
            .map(|text| String::from_utf8_lossy(text).into_owned())
            .collect();
        let inner = json!({"command": texts});
        let line = if nested {
            json!({"arguments": inner.to_string(), "n": 1})
        } else {
            inner
        };
        format!("{line}\n").into_bytes()
    })
}

proptest! {
    #[test]
    fn filtering_twice_is_filtering_once_and_json_stays_json(bytes in prop_oneof![hostile(), valid()], runtime in runtime()) {
        let rules = definite();
        let once = filter(&rules, &runtime, &bytes);
        let twice = filter(&rules, &runtime, &once);
        prop_assert_eq!(String::from_utf8_lossy(&once), String::from_utf8_lossy(&twice));
        let before: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let after: Vec<&[u8]> = once.split(|byte| *byte == b'\n').collect();
        prop_assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            let is_json = |line: &[u8]| serde_json::from_slice::<Value>(line).is_ok();
            prop_assert_eq!(is_json(before), is_json(after), "{} and {}", String::from_utf8_lossy(before), String::from_utf8_lossy(after));
            if let (Ok(before), Ok(after)) = (serde_json::from_slice(before), serde_json::from_slice(after)) {
                let (mut one, mut other) = (Vec::new(), Vec::new());
                strings(&before, &mut one);
                strings(&after, &mut other);
                prop_assert_eq!(one.len(), other.len());
                // Of a key over several strings the first one has the marker.
                let has_key = other.iter().any(|text| text.contains("[REDACTED:private-key:"));
                for (one, other) in one.iter().zip(&other) {
                    let is_rest = has_key && one.ends_with(other);
                    prop_assert!(one == other || other.contains("[REDACTED:") || is_rest, "{} and {}", one, other);
                }
            }
        }
    }

    #[test]
    fn chunking_never_changes_what_is_kept(bytes in prop_oneof![hostile(), valid()], runtime in runtime(), sizes in proptest::collection::vec(1_usize..40, 1..20)) {
        let rules = definite();
        let whole = filter(&rules, &runtime, &bytes);
        prop_assert_eq!(whole, filter_chunks(&rules, &runtime, &bytes, &sizes));
    }

    #[test]
    fn off_changes_nothing(bytes in hostile()) {
        let rules = Arc::new(RuleSet::new(Tier::Off));
        prop_assert_eq!(&filter(&rules, &Runtime::Generic, &bytes), &bytes);
    }
}
