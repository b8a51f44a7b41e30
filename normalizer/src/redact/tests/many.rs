//! Many secrets, in any way in which a text stands in a line.

use std::sync::Arc;

use proptest::prelude::*;
use runtape_core::Runtime;
use serde_json::json;

use super::{definite, definite_examples, filter, filter_chunks, runtime, secret_of};
use crate::redact::*;

/// A table, or all of an environment: in a string of JSON not even its lines end what looks like one long word.
#[test]
fn a_secret_in_the_middle_of_a_long_text_without_blanks_is_found() {
    let rules = definite();
    for example in definite_examples(32) {
        let rows = |count: usize| "name,1,2,3\n".repeat(count);
        let text = format!("{}{}\n{}", rows(3_000), example.text, rows(3_000));
        let line = format!("{}\n", json!({"type": "user", "text": text}));
        let kept = filter(&rules, &Runtime::Generic, line.as_bytes());
        let kept = String::from_utf8(kept).unwrap();
        assert!(!kept.contains(&secret_of(&example)), "{}", example.rule);
        assert_eq!(kept.matches("[REDACTED:").count(), 1, "{}", example.rule);
    }
}

/// Each of them may show only when its neighbour is gone.
#[test]
fn many_secrets_right_beside_each_other_are_found_at_once() {
    let rules = Arc::new(RuleSet::new(Tier::Broad));
    let value = "u03m258akseqqla7ocpt8hcchcn89wik";
    for example in examples(27) {
        for between in ["", "x", "=", ".", "-", ":", "/"] {
            let text = format!("{}{between}", example.text).repeat(40);
            for line in [
                format!("a {text} b\n"),
                // Through what is taken out, these come nearer to their names.
                format!("Cookie: a{text}_session={value}\n"),
                format!("postgres://a{text}:{value}@host\n"),
                format!("{}\n", json!({"text": text})),
            ] {
                let once = filter(&rules, &Runtime::Generic, line.as_bytes());
                let twice = filter(&rules, &Runtime::Generic, &once);
                let (once, twice) = (
                    String::from_utf8(once).unwrap(),
                    String::from_utf8(twice).unwrap(),
                );
                assert!(
                    once == twice,
                    "{} {between:?}\n{once}\n{twice}",
                    example.rule
                );
            }
        }
    }
}

/// How a text stands in a line: as it is, or in JSON, or in JSON in a string of JSON, or all in escapes.
#[derive(Clone, Copy, Debug)]
enum Way {
    Plain,
    Leaf,
    Nested,
    NestedTwice,
    Escaped,
}

impl Way {
    const ALL: [Self; 5] = [
        Self::Plain,
        Self::Leaf,
        Self::Nested,
        Self::NestedTwice,
        Self::Escaped,
    ];

    fn write(self, text: &str) -> String {
        let leaf = |text: &str| json!({"type": "user", "n": 1, "text": text}).to_string();
        match self {
            Self::Plain => text.to_owned(),
            Self::Leaf => leaf(text),
            Self::Nested => leaf(&json!({"command": text}).to_string()),
            Self::NestedTwice => {
                leaf(&json!({"input": json!(["a", text]).to_string()}).to_string())
            }
            Self::Escaped => format!("{{\"text\":\"{}\"}}", escapes(text)),
        }
    }

    /// Tells whether a text that was written so is in what was kept.
    fn has(self, kept: &str, text: &str) -> bool {
        let written = match self {
            Self::Plain => text.to_owned(),
            Self::Leaf => json!(text).to_string(),
            Self::Nested => json!(json!(text).to_string()).to_string(),
            Self::NestedTwice => json!(json!(json!(text).to_string()).to_string()).to_string(),
            Self::Escaped => escapes(text),
        };
        kept.contains(written.trim_matches(['"', '\\']))
    }
}

/// Writes a text in nothing but escapes.
fn escapes(text: &str) -> String {
    let units = text.encode_utf16();
    units.map(|unit| format!("\\u{unit:04x}")).collect()
}

fn ways() -> impl Strategy<Value = Way> {
    proptest::sample::select(Way::ALL.to_vec())
}

/// Secrets with what ends any of them between them, and what must not be left of them.
fn many_secrets() -> impl Strategy<Value = (String, Vec<String>)> {
    let secrets = definite_examples(31).map(|example| (example.text.clone(), secret_of(&example)));
    let secrets = proptest::sample::select(secrets.collect::<Vec<_>>());
    let between = proptest::sample::select(vec![
        "\"",
        "\n",
        " \" ",
        "\r\n",
        "\"\t",
        "\" : \"",
        "'",
        " <",
        "\n- ",
        "\nexport ",
        "`, `",
    ]);
    proptest::collection::vec((secrets, between), 1..9).prop_map(|parts| {
        let text = parts.iter().map(|((text, _), end)| format!("{text}{end}"));
        let secrets = parts.iter().map(|((_, secret), _)| secret.clone());
        (text.collect(), secrets.collect())
    })
}

/// Lines of words, each with at most one secret, and that secret's text.
fn lines_with_secrets() -> impl Strategy<Value = Vec<(String, Option<String>)>> {
    let secrets = definite_examples(25).map(|example| (example.text.clone(), secret_of(&example)));
    let secrets = proptest::sample::select(secrets.collect::<Vec<_>>());
    let words = "([a-z]{1,9} ){0,5}";
    let line = (proptest::option::of(secrets), ways(), words, words).prop_map(
        |(secret, way, before, after)| match secret {
            Some((text, secret)) => (way.write(&format!("{before}{text} {after}")), Some(secret)),
            None => (way.write(&format!("{before}{after}")), None),
        },
    );
    proptest::collection::vec(line, 1..12)
}

proptest! {
    #[test]
    fn all_secrets_of_a_text_go((text, secrets) in many_secrets(), way in ways(), runtime in runtime()) {
        let rules = definite();
        let line = way.write(&text);
        let kept = filter(&rules, &runtime, format!("{line}\n").as_bytes());
        let kept = String::from_utf8(kept).unwrap();
        for secret in secrets {
            prop_assert!(!way.has(&kept, &secret), "{secret}\n{kept}");
        }
    }

    #[test]
    fn among_any_lines_secrets_go_and_lines_without_one_stay(lines in lines_with_secrets(), runtime in runtime(), sizes in proptest::collection::vec(1_usize..400, 1..20)) {
        let rules = definite();
        let printed: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
        let kept = filter_chunks(&rules, &runtime, printed.as_bytes(), &sizes);
        let kept = String::from_utf8(kept).unwrap();
        prop_assert_eq!(kept.lines().count(), printed.lines().count());
        for (line, secret) in &lines {
            match secret {
                Some(secret) => {
                    let is_there = Way::ALL.iter().any(|way| way.has(&kept, secret));
                    prop_assert!(!is_there, "{secret}\n{kept}");
                }
                None => prop_assert!(kept.lines().any(|kept| kept == line), "{line}\n{kept}"),
            }
        }
    }
}
