//! The filter takes time and memory for what there is, whatever there is much of.

use std::hint::black_box;
use std::sync::Arc;

use runtape_core::{Runtime, Stream};
use runtape_normalizer::Redactor;
use runtape_normalizer::redact::{RuleSet, Tier, examples};
use runtape_tests::stopwatch::assert_growth;
use serde_json::json;

use crate::growth::check_growth;

fn filter(rules: &Arc<RuleSet>, runtime: &Runtime, bytes: &[u8]) -> usize {
    let mut redactor = Redactor::new(rules, runtime);
    let mut most = 0;
    for chunk in bytes.chunks(64 * 1024) {
        redactor.push(Stream::Stdout, chunk, 0, |_, bytes, _| {
            black_box(bytes);
        });
        most = most.max(redactor.held());
    }
    redactor.finish(|_, bytes, _| {
        black_box(bytes);
    });
    most
}

/// Texts that make a careless search look again and again.
const HOSTILE: [&str; 16] = [
    "/ghp_",
    "-eyJa",
    "eyJ0.eyJ0.",
    "A_KEY=",
    "A_TOKEN=\"",
    "://a:",
    "://a@",
    "-----BEGIN PRIVATE KEY-----",
    // In two, so that nobody finds a key in this file.
    concat!(
        "-----BEGIN PRIVATE",
        " KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\\n"
    ),
    "Authorization: Bearer a",
    "Cookie: a=b;",
    "[REDACTED:x:0123456789abcdef]",
    "[REDACTED:[REDACTED:",
    "\\u0041",
    "sk-ant-api03-",
    "{\\\"a\\\":",
];

#[test]
fn hostile_lines_take_time_for_their_length() {
    for tier in [Tier::Definite, Tier::Broad] {
        let rules = Arc::new(RuleSet::new(tier));
        for piece in HOSTILE {
            for (opening, closing) in [("{\"text\":\"", "\"}\n"), ("text ", "\n")] {
                check_growth(
                    &format!("{piece} in {opening}"),
                    |many| format!("{opening}{}{closing}", piece.repeat(many * 4)),
                    |line| {
                        filter(&rules, &Runtime::Generic, line.as_bytes());
                    },
                );
            }
        }
    }
}

/// Each of them shows when the one after it is gone.
#[test]
fn rows_of_secrets_take_time_for_their_number() {
    let rules = Arc::new(RuleSet::new(Tier::Definite));
    let examples = examples(28).into_iter();
    let in_rows = examples.filter(|example| {
        matches!(
            example.rule,
            "anthropic-oauth-token" | "jwt" | "github-pat" | "gitlab-pat"
        )
    });
    for example in in_rows {
        let piece = format!("{}-", example.text);
        for (opening, closing) in [("{\"text\":\"", "\"}\n"), ("text ", "\n")] {
            check_growth(
                &format!("{} in {opening}", example.rule),
                |many| format!("{opening}{}{closing}", piece.repeat(many.div_ceil(8))),
                |line| {
                    filter(&rules, &Runtime::Generic, line.as_bytes());
                },
            );
        }
    }
}

#[test]
fn hostile_pieces_take_time_for_their_number() {
    let rules = Arc::new(RuleSet::new(Tier::Definite));
    for piece in [
        "a",
        "ghp_",
        "-----BEGIN PRIVATE KEY-----\n",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n",
        "eyJ",
        "x=1;",
    ] {
        let line = json!({"type": "message", "role": "assistant", "content": piece, "delta": true});
        let opening = json!({"type": "message", "role": "assistant", "content": "-----BEGIN PRIVATE KEY-----\n", "delta": true});
        check_growth(
            &format!("pieces {piece:?}"),
            |many| format!("{opening}\n{}", format!("{line}\n").repeat(many)),
            |lines| {
                filter(&rules, &Runtime::Gemini, lines.as_bytes());
            },
        );
    }
}

/// Each of them may be the rest of a word that is broken over them all.
#[test]
fn lines_that_words_fill_take_time_for_their_number() {
    let rules = Arc::new(RuleSet::new(Tier::Definite));
    for opening in ["sk-ant-api03-", "eyJhbGciOiJIUzI1NiJ9.", "github_pat_", ""] {
        for line in ["a1B2c3D4", "sk-ant-1", "a1B2.c3-"] {
            check_growth(
                &format!("{opening} and lines of {line}"),
                |many| {
                    format!(
                        "{opening}{0}\n{0}",
                        format!("{}\n", line.repeat(9)).repeat(many / 8)
                    )
                },
                |lines| {
                    filter(&rules, &Runtime::Hermes, lines.as_bytes());
                },
            );
        }
    }
}

#[test]
fn what_is_held_is_bounded() {
    let rules = Arc::new(RuleSet::new(Tier::Definite));
    let line = |text: &str| {
        format!(
            "{}\n",
            json!({"type": "message", "role": "assistant", "content": text, "delta": true})
        )
    };
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7".repeat(20);
    let mut many = line("-----BEGIN PRIVATE KEY-----\n");
    for _ in 0..4_000 {
        many.push_str(&line(&body));
        many.push_str(&line("a"));
    }
    let held = filter(&rules, &Runtime::Gemini, many.as_bytes());
    assert!(held < 1024 * 1024, "{held} bytes of {}", many.len());
    let text = format!(
        "-----BEGIN PRIVATE KEY-----\n{}",
        format!("{body}\n").repeat(4_000)
    );
    let held = filter(&rules, &Runtime::Hermes, text.as_bytes());
    assert!(held < 1024 * 1024, "{held} bytes of {}", text.len());
}

/// Who takes the values of many variables out does not wait for each of them at every byte.
#[test]
fn many_values_do_not_take_time_each() {
    // What looks like the values wherever one begins.
    let number_of = |number: u32| number.wrapping_mul(0x9E37_79B1);
    let dump = (0..20_000).map(|line| format!("{:08x} {line:08x}\n", number_of(line ^ 0x5A5A)));
    let text: String = dump.collect();
    let filter_with = |count: u32| {
        let rules = (0..count).fold(RuleSet::new(Tier::Definite), |rules, number| {
            let number = number_of(number);
            let value = format!("{number:08x}-{:08x}", number.rotate_left(9));
            rules.with_value("A_VALUE", &value).unwrap()
        });
        Arc::new(rules)
    };
    let (few, many) = (filter_with(16), filter_with(1_024));
    let run = |rules: &Arc<RuleSet>| {
        black_box(filter(rules, &Runtime::Generic, text.as_bytes()));
    };
    // The first time pays for what is made once.
    run(&few);
    run(&many);
    assert_growth(8, || run(&few), || run(&many));
}
