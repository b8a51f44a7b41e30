//! Lines over the limit.

use proptest::prelude::*;
use runtape_core::Runtime;
use serde_json::json;

use super::{definite, definite_examples, filter_over_long, push_all, secret_of};
use crate::redact::*;

#[test]
fn an_over_long_line_is_filtered_in_parts() {
    let rules = definite();
    for example in examples(9)
        .iter()
        .filter(|example| matches!(example.rule, "github-pat" | "jwt" | "url-credentials"))
    {
        for before in [0, 100, 8_000, 16_300, 20_000, 1_048_570] {
            let line = format!(
                "{} {} {}\n",
                "word ".repeat(before / 5),
                example.text,
                "end ".repeat(9_000)
            );
            let redactor = Redactor::new(&rules, &Runtime::Generic);
            let mut redactor = redactor.with_limit(16 * 1024);
            let kept = push_all(&mut redactor, line.as_bytes(), &[7_001]);
            let kept = String::from_utf8(kept).unwrap();
            assert!(
                !kept.contains(&example.secret),
                "{} at {before}",
                example.rule
            );
            assert_eq!(kept.matches("[REDACTED:").count(), 1);
            assert_eq!(redactor.counts().total(), 1);
        }
    }
}

/// What is given out of an over-long line ends anywhere, also between a name and the secret after it.
#[test]
fn a_secret_goes_wherever_an_over_long_line_is_cut() {
    let rules = definite();
    for example in definite_examples(29) {
        let text = example.text.replace('\n', "\\n");
        let secret = secret_of(&example);
        for opening in ["", "{\"text\":\""] {
            // All but the last 8 KiB of 24 are given out.
            for before in (16 * 1024 - text.len().min(150)..16 * 1024 + 8).step_by(7) {
                let mut line = format!("{opening}{}", "word ".repeat(4_000));
                line.truncate(before - 1);
                line = format!("{line} {text} \\\" {}", "end ".repeat(9_000));
                let kept = filter_over_long(&rules, line.as_bytes(), &[24 * 1024, usize::MAX]);
                let kept = String::from_utf8(kept).unwrap();
                assert!(
                    !kept.contains(&secret),
                    "{} at {before} {opening}",
                    example.rule
                );
                assert_eq!(
                    kept.matches("[REDACTED:").count(),
                    1,
                    "{} at {before} {opening}",
                    example.rule
                );
            }
        }
    }
}

/// Words and secrets, far more than a line may have, and what must not be left of the secrets.
fn over_long_line() -> impl Strategy<Value = (String, Vec<String>)> {
    let secrets =
        definite_examples(26).map(|example| (example.text.clone(), Some(secret_of(&example))));
    let secrets = proptest::sample::select(secrets.collect::<Vec<_>>());
    let words = (1_usize..9_000).prop_map(|count| ("some words ".repeat(count / 11 + 1), None));
    let parts = prop_oneof![1 => words, 2 => secrets];
    (proptest::collection::vec(parts, 10..40), any::<bool>()).prop_map(|(parts, is_json)| {
        // Quotes end whatever would go on to the end of the line.
        let text: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
        let text = format!("{}{}", text.join(" \" "), " end".repeat(5_000));
        let line = if is_json {
            json!({"type": "user", "text": text}).to_string()
        } else {
            text.replace('\n', "\\n")
        };
        (
            line,
            parts.into_iter().filter_map(|(_, secret)| secret).collect(),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn the_secrets_of_an_over_long_line_go((line, secrets) in over_long_line(), sizes in proptest::collection::vec(1_usize..40_000, 1..9)) {
        let rules = definite();
        let kept = filter_over_long(&rules, line.as_bytes(), &sizes);
        let kept = String::from_utf8(kept).unwrap();
        for secret in secrets {
            prop_assert!(!kept.contains(&secret), "{secret}");
        }
    }
}
