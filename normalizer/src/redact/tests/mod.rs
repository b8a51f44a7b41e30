//! What the filter promises.

#![allow(
    clippy::string_slice,
    clippy::format_push_string,
    clippy::format_collect,
    clippy::semicolon_if_nothing_returned,
    clippy::wildcard_imports,
    reason = "a test fails by panicking, and says what it saw"
)]

mod deltas;
mod json;
mod keys;
mod lines;
mod many;
mod over_long;
mod rules;

use std::sync::Arc;

use proptest::prelude::*;
use runtape_core::{Runtime, Stream};
use serde_json::Value;

use super::{Example, RedactionKey, Redactor, RuleSet, Tier, examples};

/// A key for tests.
const KEY: [u8; 32] = [7; 32];

fn definite() -> Arc<RuleSet> {
    Arc::new(RuleSet::new(Tier::Definite).with_key(RedactionKey::new(KEY)))
}

fn runtime() -> impl Strategy<Value = Runtime> {
    proptest::sample::select(vec![
        Runtime::ClaudeCode,
        Runtime::Cursor,
        Runtime::Gemini,
        Runtime::Hermes,
        Runtime::Openclaw,
        Runtime::Codex,
        Runtime::Generic,
    ])
}

/// Filters all of standard output at once.
fn filter(rules: &Arc<RuleSet>, runtime: &Runtime, bytes: &[u8]) -> Vec<u8> {
    filter_chunks(rules, runtime, bytes, &[usize::MAX])
}

/// Filters standard output in chunks of some sizes, over and over.
fn filter_chunks(
    rules: &Arc<RuleSet>,
    runtime: &Runtime,
    bytes: &[u8],
    sizes: &[usize],
) -> Vec<u8> {
    push_all(&mut Redactor::new(rules, runtime), bytes, sizes)
}

/// Filters all of standard output, of which no line is held whole that is longer than 16 KiB.
fn filter_over_long(rules: &Arc<RuleSet>, bytes: &[u8], sizes: &[usize]) -> Vec<u8> {
    let redactor = Redactor::new(rules, &Runtime::Generic);
    push_all(&mut redactor.with_limit(16 * 1024), bytes, sizes)
}

/// Gives all of standard output to a filter, and returns what it keeps.
fn push_all(redactor: &mut Redactor, bytes: &[u8], sizes: &[usize]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut rest = bytes;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, after) = rest.split_at(rest.len().min(*size));
        rest = after;
        redactor.push(Stream::Stdout, chunk, 1, |_, bytes, _| {
            kept.extend_from_slice(bytes.bytes())
        });
    }
    redactor.finish(|_, bytes, _| kept.extend_from_slice(bytes.bytes()));
    assert_eq!(redactor.expires_at(), None);
    kept
}

/// Returns a made-up secret for every rule that is on by default.
fn definite_examples(seed: u64) -> impl Iterator<Item = Example> {
    let examples = examples(seed).into_iter();
    examples.filter(|example| example.tier == Tier::Definite)
}

/// Returns every string of a value, keys left out.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| strings(item, found)),
        _ => {}
    }
}

/// Returns the part of a secret that must not be anywhere: of a private key its text.
fn secret_of(example: &Example) -> String {
    let line = example.secret.lines().find(|line| !line.starts_with('-'));
    line.unwrap_or(&example.secret).to_owned()
}
