//! Every built-in rule, by its example and its near miss.

use std::sync::Arc;

use crate::redact::rule_file::{built_in, rows};
use crate::redact::*;

fn filter(rules: &Arc<RuleSet>, text: &str) -> (String, RedactionCounts) {
    let mut redactor = Redactor::new(rules, &runtape_core::Runtime::Generic);
    let mut kept = Vec::new();
    let stream = runtape_core::Stream::Stdout;
    redactor.push(stream, text.as_bytes(), 0, |_, bytes, _| {
        kept.extend_from_slice(bytes.bytes())
    });
    redactor.finish(|_, bytes, _| kept.extend_from_slice(bytes.bytes()));
    (String::from_utf8(kept).unwrap(), redactor.counts().clone())
}

#[test]
fn every_rule_is_read_as_it_is_written() {
    assert!(built_in().len() >= 125, "{}", built_in().len());
    assert_eq!(built_in().len(), rows().count());
    let lines = rule_file::FILE
        .lines()
        .filter(|line| !line.starts_with('#'));
    assert_eq!(
        lines.count(),
        rows().count() + 1,
        "a line with too few cells"
    );
    for rule in built_in() {
        if !rule.pattern().starts_with('@') {
            let shape = shape::Shape::parse(rule.pattern());
            assert!(shape.is_ok(), "{}: {shape:?}", rule.name);
        }
        assert!(marker::is_name(&rule.name), "{}", rule.name);
        for needle in &rule.needles {
            assert!(
                needle.text.len() >= 2 && (needle.text.len() >= 3 || rule.tier == Tier::Broad),
                "{}",
                rule.name
            );
        }
    }
}

#[test]
fn every_rule_finds_its_example_and_nothing_in_its_near_miss() {
    let mut faults = Vec::new();
    for seed in [1, 77, 4242] {
        for example in examples(seed) {
            let rules = Arc::new(RuleSet::new(example.tier));
            for (before, after) in [("", ""), ("see ", " here"), ("(", ")"), ("a=", ";")] {
                let (kept, counts) = filter(&rules, &format!("{before}{}{after}\n", example.text));
                let expected = format!(
                    "{before}{}{after}\n",
                    example
                        .text
                        .replace(&example.secret, &format!("[REDACTED:{}]", example.rule))
                );
                let expected = if example.secret.contains('\n') {
                    expected.trim_end().to_owned()
                } else {
                    expected
                };
                let is_same = if example.secret.contains('\n') {
                    kept.starts_with(&expected[..expected.len() - after.len()])
                        && !kept.contains("KEY")
                } else {
                    kept == expected
                };
                if !is_same || counts.total() != 1 {
                    faults.push(format!(
                        "{} seed {seed}: {kept:?} {counts:?}\n  of {:?}",
                        example.rule, example.text
                    ));
                }
            }
            let (kept, counts) = filter(&rules, &format!("see {} here\n", example.near_miss));
            if kept != format!("see {} here\n", example.near_miss) {
                faults.push(format!(
                    "near miss of {} seed {seed}: {kept:?} {counts:?}",
                    example.rule
                ));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}
