//! Strings of an array that are the lines of one text, with a private key over several of them.

use std::ops::Range;

use memchr::memmem;

use super::edit::Edit;
use super::leaf::Leaf;
use super::line::{FoundSecret, LineFinds, LineReader};
use super::text::Text;
use super::walk::Scalar;

const BEGIN: &[u8] = b"-----BEGIN";
const END: &[u8] = b"-----END";
/// The most that is written in the strings of one block: no private key is longer.
const MOST_BYTES: usize = 128 * 1024;

/// Collects the strings of arrays from one on that may begin a private key.
#[derive(Default)]
pub(super) struct Blocks {
    /// Each block's strings, in order.
    pub(super) found: Vec<Vec<Range<usize>>>,
    /// The array that the last block is in, while it may go on.
    open: Option<Vec<Option<Range<usize>>>>,
    bytes: usize,
}

impl Blocks {
    /// Takes note of a string.
    pub(super) fn note(&mut self, line: &[u8], scalar: &Scalar<'_>) {
        if let Some(array) = &self.open
            && !scalar.path.starts_with(array)
        {
            self.open = None;
        }
        // Only what stands in an array itself is a line.
        if !matches!(scalar.path.last(), Some(None)) {
            return;
        }
        let written = line.get(scalar.place.clone()).unwrap_or_default();
        match &self.open {
            Some(array) if array.len() == scalar.path.len() => {
                self.bytes += written.len();
                if let Some(block) = self.found.last_mut() {
                    block.push(scalar.place.clone());
                }
                if self.bytes > MOST_BYTES || is_after(written, END, BEGIN) {
                    self.open = None;
                }
            }
            None if is_after(written, BEGIN, END) => {
                self.open = Some(scalar.path.to_vec());
                self.bytes = written.len();
                self.found.push(vec![scalar.place.clone()]);
            }
            _ => {}
        }
    }
}

/// Tells whether one word is in a text, and the other is not after it. What is escaped may be any word.
fn is_after(written: &[u8], word: &[u8], other: &[u8]) -> bool {
    let is_begin = word == BEGIN;
    match memmem::rfind(written, word) {
        Some(place) => memmem::rfind(written, other).is_none_or(|other| other < place),
        None => is_begin && memmem::find(written, super::rule_set::ESCAPE).is_some(),
    }
}

impl LineReader<'_> {
    /// Finds the private keys that lie over several of the strings of an array: the first of them gets the marker, the others
    /// lose their part. `decode` reads a string by its place. Returns the places of those strings, for which nothing is left
    /// to be found.
    pub(super) fn block(
        &self,
        block: &[Range<usize>],
        decode: impl Fn(Range<usize>) -> Option<Leaf<'static>>,
        finds: &mut LineFinds<'_>,
    ) -> Vec<Range<usize>> {
        if block.len() < 2 {
            return Vec::new();
        }
        let mut joined = Vec::new();
        let mut parts: Vec<(Range<usize>, Leaf<'static>)> = Vec::new();
        for place in block {
            let Some(leaf) = decode(place.clone()) else {
                return Vec::new();
            };
            let start = joined.len();
            joined.extend_from_slice(&leaf.text);
            parts.push((start..joined.len(), leaf));
            joined.push(b'\n');
        }
        let scanned = self.scanner().scan(&Text::new(&joined));
        let of = |secret: &Range<usize>| {
            let first = parts.partition_point(|(place, _)| place.end <= secret.start);
            let last = parts.partition_point(|(place, _)| place.start < secret.end);
            first..last
        };
        let mut is_done = vec![false; parts.len()];
        for secret in &scanned.secrets {
            let touched = of(&secret.place);
            if touched.len() > 1 {
                let done = is_done.get_mut(touched).unwrap_or_default();
                done.fill(true);
            }
        }
        for secret in &scanned.secrets {
            let touched = of(&secret.place);
            if !is_done
                .get(touched.clone())
                .is_some_and(|done| done.contains(&true))
            {
                continue;
            }
            let bytes = joined.get(secret.place.clone()).unwrap_or_default();
            let mut text = self.edit(secret, 0..0, bytes).text;
            for (place, leaf) in parts.get(touched).unwrap_or_default() {
                let from = secret.place.start.max(place.start) - place.start;
                let to = secret.place.end.min(place.end) - place.start;
                if from < to {
                    let place = leaf.written(from..to);
                    let text = std::mem::take(&mut text);
                    finds.edits.push(Edit { place, text });
                }
            }
            finds.found.push(FoundSecret {
                rule: secret.rule,
                secret: bytes.to_vec(),
            });
        }
        let done = block.iter().zip(is_done).filter(|(_, done)| *done);
        done.map(|(place, _)| place.clone()).collect()
    }
}
