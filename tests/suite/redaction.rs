//! The filter on what was recorded, which has no secrets: nothing in it is taken for one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runtape_core::{Runtime, Stream};
use runtape_normalizer::Redactor;
use runtape_normalizer::redact::{Found, RuleSet, Tier, examples};
use runtape_normalizer::runtimes::RUNTIMES;
use serde_json::Value;

use crate::captures::all;

/// Filters bytes in chunks, and returns what is kept and what was found.
fn filter(
    rules: &Arc<RuleSet>,
    runtime: &Runtime,
    bytes: &[u8],
    chunk: usize,
) -> (Vec<u8>, Vec<Found>) {
    let mut redactor = Redactor::new(rules, runtime).with_finds();
    let mut kept = Vec::new();
    for chunk in bytes.chunks(chunk) {
        redactor.push(Stream::Stdout, chunk, 1, |_, bytes, _| {
            kept.extend_from_slice(bytes.bytes());
        });
    }
    redactor.finish(|_, bytes, _| kept.extend_from_slice(bytes.bytes()));
    (kept, redactor.take_finds())
}

/// Returns the files below a directory, but for what is built or not ours.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path.is_dir() {
            if name != "target" && name != "node_modules" && !name.starts_with('.') {
                files(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

#[test]
fn captures_pass_byte_for_byte() {
    let rules = Arc::new(RuleSet::new(Tier::Definite));
    let mut faults = Vec::new();
    for capture in all() {
        for bytes in [&capture.stdout, &capture.stderr] {
            for chunk in [bytes.len().max(1), 4096, 61] {
                let (kept, finds) = filter(&rules, &capture.runtime(), bytes, chunk);
                if kept != *bytes {
                    faults.push(format!("{}: {finds:?}", capture.name()));
                }
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} false finds:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn fixtures_and_sources_pass_byte_for_byte() {
    let rules = Arc::new(RuleSet::new(Tier::Definite));
    let broad = Arc::new(RuleSet::new(Tier::Broad));
    let mut paths = Vec::new();
    files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
        &mut paths,
    );
    assert!(paths.len() > 1_000, "{}", paths.len());
    let (mut faults, mut of_broad) = (Vec::new(), 0);
    for path in paths {
        let bytes = fs::read(&path).unwrap_or_default();
        let named = |entry: &&runtape_normalizer::runtimes::RuntimeEntry| {
            path.to_string_lossy()
                .contains(&format!("fixtures/{}/", entry.runtime.as_str()))
        };
        let runtime = RUNTIMES
            .iter()
            .find(named)
            .map_or(Runtime::Generic, |entry| entry.runtime.clone());
        let (kept, finds) = filter(&rules, &runtime, &bytes, usize::MAX);
        if kept != bytes {
            faults.push(format!("{}: {finds:?}", path.display()));
        }
        of_broad += filter(&broad, &runtime, &bytes, usize::MAX).1.len();
    }
    println!("false finds of the tier broad in sources and fixtures: {of_broad}");
    assert!(
        faults.is_empty(),
        "{} false finds:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Puts a text into the string leaf with a number; `false` if there are not so many.
fn plant(value: &mut Value, text: &str, number: &mut usize, key: &str) -> bool {
    match value {
        Value::String(leaf) => {
            let is_exempt = [
                "id",
                "uuid",
                "signature",
                "type",
                "model",
                "encrypted_content",
            ]
            .contains(&key)
                || key.ends_with("_id")
                || key.ends_with("Id")
                || key.ends_with("ID")
                || key.ends_with("Uuid")
                || key.ends_with("Signature")
                || key.starts_with("session");
            if is_exempt {
                return false;
            }
            if *number == 0 {
                leaf.push_str(" see ");
                leaf.push_str(text);
                leaf.push_str(" \"there\"\n");
                return true;
            }
            *number -= 1;
            false
        }
        Value::Array(items) => items.iter_mut().any(|item| plant(item, text, number, key)),
        Value::Object(fields) => fields
            .iter_mut()
            .any(|(key, item)| plant(item, text, number, key)),
        _ => false,
    }
}

#[test]
fn a_secret_in_any_leaf_of_any_line_goes_and_nothing_else() {
    let rules = Arc::new(RuleSet::new(Tier::Definite));
    let examples = examples(31);
    let mut examples = examples
        .iter()
        .filter(|example| example.tier == Tier::Definite)
        .cycle();
    let mut planted = 0;
    for capture in all() {
        for line in capture.stdout.split(|byte| *byte == b'\n').take(40) {
            if line.len() > 20_000 {
                continue;
            }
            let Ok(value) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            for number in 0..12 {
                let example = examples.next().unwrap();
                let (mut with_secret, mut with_marker) = (value.clone(), value.clone());
                if !plant(&mut with_secret, &example.text, &mut number.clone(), "") {
                    break;
                }
                let marker = format!("[REDACTED:{}]", example.rule);
                let shown = example.text.replace(&example.secret, &marker);
                plant(&mut with_marker, &shown, &mut number.clone(), "");
                let bytes = format!("{with_secret}\n").into_bytes();
                let (kept, _) = filter(&rules, &capture.runtime(), &bytes, 97);
                let read: Value = serde_json::from_slice(&kept).unwrap();
                assert_eq!(read, with_marker, "{} in {}", example.rule, capture.name());
                planted += 1;
            }
        }
    }
    println!("{planted} secrets planted");
    assert!(planted > 5_000, "{planted}");
}
