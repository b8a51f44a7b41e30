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
mod lines;
mod rules;

use std::sync::Arc;

use runtape_core::{Runtime, Stream};

use super::{Example, Redactor, RuleSet};

/// A key for tests.
const KEY: [u8; 32] = [7; 32];

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
    let mut redactor = Redactor::new(rules, runtime);
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

/// Returns the part of a secret that must not be anywhere: of a private key its text.
fn secret_of(example: &Example) -> String {
    let line = example.secret.lines().find(|line| !line.starts_with('-'));
    line.unwrap_or(&example.secret).to_owned()
}
