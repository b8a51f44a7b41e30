//! Secrets in a text.

use std::ops::Range;

use super::marker::markers;
use super::matchers::{has_key_run, is_last_of_key};
use super::needles::{Needles, Owner};
use super::rule::Rule;
use super::rule_set::RuleSet;
use super::seen::Hit;
use super::shape::ShapeOutcome;
use super::text::Text;

/// How often a text is looked through again, at the most: each time something was found beside what was found before.
const MOST_ROUNDS: usize = 8;
/// After so many times it is also gone through backwards: in a long row each may show only when the next one is gone.
const FEW_ROUNDS: usize = 2;

/// What a text that is blotted out has in it: in no secret and in no word. A marker is longer.
pub(super) const BLOT: &[u8] = b"[[[";

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) place: Range<usize>,
    pub(super) rule: u16,
}

/// What is in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scanned {
    /// The secrets, in order, not overlapping.
    pub(super) secrets: Vec<Secret>,
    /// From where on the text may be the beginning of one, if it goes on.
    pub(super) undecided: Option<usize>,
    /// Where the last needle is.
    pub(super) last_needle: Option<usize>,
}

/// What is not decided in a text that goes on.
#[derive(Clone, Copy, Debug, Default)]
struct Undecided {
    /// From where on it may be the beginning of a secret, if it may.
    start: Option<usize>,
    /// Where what was looked at begins, such as the name before a value: the first of all.
    needle: Option<usize>,
}

/// What the needles of a text are of.
#[derive(Debug, Default)]
struct Candidates {
    found: Vec<Secret>,
    undecided: Undecided,
    last_needle: Option<usize>,
}

impl Undecided {
    fn add(&mut self, start: usize, needle: usize) {
        self.start = earlier(self.start, Some(start));
        self.needle = earlier(self.needle, Some(needle.min(start)));
    }
}

/// Looks for what some rules find.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'r> {
    pub(super) rules: &'r RuleSet,
    pub(super) needles: &'r Needles,
}

impl Scanner<'_> {
    /// Looks through a text.
    pub(super) fn scan(&self, text: &Text<'_>) -> Scanned {
        let candidates = self.candidates(text);
        let mut scanned = self.secrets(text, candidates);
        if text.is_open {
            let tail = self.needle_tail(text);
            // Within a secret nothing begins.
            let last = scanned.secrets.last().map_or(0, |secret| secret.place.end);
            let tail = tail.filter(|tail| *tail >= last);
            scanned.undecided = earlier(scanned.undecided, tail);
        }
        scanned
    }

    /// Looks through a text that is written as it is in a line, from a place of it on, and whose needles are known by their
    /// places in the line.
    pub(super) fn scan_hits(&self, text: &Text<'_>, start: usize, hits: &[Hit]) -> Scanned {
        let mut candidates = Candidates::default();
        let end = start + text.len();
        for hit in hits {
            if let Some((first, last)) = hit
                .shape
                .filter(|(first, last)| *first >= start && *last <= end)
            {
                let shape = self.shape(text, first - start, last - start, hit.owner);
                candidates.found.extend(shape);
                continue;
            }
            let place = hit.place.saturating_sub(start);
            self.candidate(text, place, hit.owner, &mut candidates);
        }
        // It does not go on: nothing is left to be decided.
        candidates.undecided = Undecided::default();
        self.secrets(text, candidates)
    }

    /// Tells whether there is no needle in a text that goes on, nor the beginning of one at its end.
    pub(super) fn is_quiet(&self, bytes: &[u8]) -> bool {
        let mut is_quiet = self.needles.search(bytes).next(0).is_none();
        if is_quiet {
            self.needles.at_end(bytes, |_, _| is_quiet = false);
        }
        is_quiet && self.needle_tail(&Text::new(bytes)).is_none()
    }

    /// Tells the same of a text that was quiet up to a place, and has no needle from there on.
    pub(super) fn is_quiet_around(&self, bytes: &[u8], place: usize) -> bool {
        // No needle is longer, and no run is that is too short by itself.
        const TAIL: usize = 64;
        let last = place.checked_sub(1).and_then(|at| bytes.get(at));
        if let (Some(last), Some(first)) = (last, bytes.get(place))
            && self.needles.may_cross(*last, *first)
        {
            return self.is_quiet(bytes);
        }
        let tail = bytes
            .get(bytes.len().saturating_sub(TAIL)..)
            .unwrap_or_default();
        let mut is_quiet = true;
        self.needles.at_end(tail, |_, _| is_quiet = false);
        is_quiet && self.needle_tail(&Text::new(tail)).is_none()
    }

    /// Decides among what was found in a text.
    fn secrets(&self, text: &Text<'_>, candidates: Candidates) -> Scanned {
        let Candidates {
            mut found,
            mut undecided,
            last_needle,
        } = candidates;
        if found.is_empty() && undecided.start.is_none() {
            return Scanned {
                last_needle,
                ..Scanned::default()
            };
        }
        let mut blotted = Vec::new();
        let markers = markers(text.bytes);
        if !markers.is_empty() {
            blotted = text.bytes.to_vec();
            // The name of a rule is no word of the text.
            for marker in &markers {
                blot(&mut blotted, marker);
            }
            let unmarked = Text::new(&blotted).open(text.is_open).raw(text.is_raw);
            Candidates {
                found,
                undecided,
                ..
            } = self.candidates(&unmarked);
        }
        // What reaches into a marker may be something else when what is around it is replaced.
        let count = found.len();
        found.retain(|secret| !overlaps_any(&markers, &secret.place));
        let is_apart = found.len() == count;
        let mut secrets = self.without_overlaps(found);
        let last = secrets.last().map_or(0, |secret| secret.place.end);
        // What is not decided begins after all of them, or else it may be decided when they are replaced.
        let is_after = undecided.needle.is_none_or(|needle| needle > last);
        if secrets.is_empty()
            || is_after
                && is_apart
                && secrets
                    .iter()
                    .all(|secret| stands_free(text, &secret.place))
        {
            return Scanned {
                secrets,
                undecided: undecided.start,
                last_needle,
            };
        }
        if blotted.is_empty() {
            blotted = text.bytes.to_vec();
        }
        // What is beside a secret stands free once that is replaced, and must be found at once, not when the text
        // is filtered again.
        for round in 0..MOST_ROUNDS {
            for secret in &secrets {
                blot(&mut blotted, &secret.place);
            }
            let beside = Text::new(&blotted).open(text.is_open).raw(text.is_raw);
            let taken: Vec<Range<usize>> =
                secrets.iter().map(|secret| secret.place.clone()).collect();
            let candidates = self.candidates(&beside);
            undecided = candidates.undecided;
            let mut fresh = candidates.found;
            fresh.retain(|secret| {
                !overlaps_any(&taken, &secret.place) && !overlaps_any(&markers, &secret.place)
            });
            let mut fresh = self.without_overlaps(fresh);
            if fresh.is_empty() {
                break;
            }
            if round >= FEW_ROUNDS {
                for secret in &fresh {
                    blot(&mut blotted, &secret.place);
                }
                secrets.append(&mut self.backwards(text, &mut blotted));
            }
            secrets.append(&mut fresh);
            secrets.sort_by_key(|secret| secret.place.start);
        }
        Scanned {
            secrets,
            undecided: undecided.start,
            last_needle,
        }
    }

    fn candidates(&self, text: &Text<'_>) -> Candidates {
        let mut candidates = Candidates::default();
        let mut from = 0;
        let mut search = self.needles.search(text.bytes);
        while let Some(place) = search.next(from) {
            search.owners(place, |owner| {
                self.candidate(text, place, owner, &mut candidates);
            });
            candidates.last_needle = Some(place);
            from = place + 1;
        }
        if text.is_open {
            self.needles.at_end(text.bytes, |place, owner| {
                candidates.last_needle = Some(place);
                if let ShapeOutcome::Undecided { start } = self.at(text, place, owner) {
                    let begin = place.saturating_sub(owner.distance);
                    candidates.undecided.add(start, begin);
                }
            });
        }
        candidates
    }

    /// Finds what is beside what was blotted out of a text, from its end on, and blots it out at once.
    fn backwards(&self, text: &Text<'_>, blotted: &mut [u8]) -> Vec<Secret> {
        let mut needles = Vec::new();
        let mut search = self.needles.search(blotted);
        let mut from = 0;
        while let Some(place) = search.next(from) {
            search.owners(place, |owner| needles.push((place, owner)));
            from = place + 1;
        }
        let mut all = Vec::new();
        loop {
            let beside = Text::new(blotted).open(text.is_open).raw(text.is_raw);
            let mut fresh = Candidates::default();
            while fresh.found.is_empty()
                && let Some((place, owner)) = needles.pop()
            {
                self.candidate(&beside, place, owner, &mut fresh);
                // What reaches into something that was blotted out is none.
                let is_apart = |secret: &Secret| {
                    let (start, end) = (secret.place.start, secret.place.end);
                    beside.slice(start, end) == text.slice(start, end)
                };
                fresh.found.retain(is_apart);
            }
            if fresh.found.is_empty() {
                return all;
            }
            for secret in &fresh.found {
                blot(blotted, &secret.place);
            }
            all.append(&mut fresh.found);
        }
    }

    /// Takes note of what the owner of a needle finds where it is.
    fn candidate(&self, text: &Text<'_>, place: usize, owner: Owner, candidates: &mut Candidates) {
        match self.at(text, place, owner) {
            ShapeOutcome::No => {}
            ShapeOutcome::Undecided { start } => {
                let begin = place.saturating_sub(owner.distance);
                candidates.undecided.add(start, begin);
            }
            ShapeOutcome::Found { start, end } => {
                let secret = self.secret(text, start, end, owner);
                candidates.found.extend(secret);
                if text.is_raw && text.has(b"-----BEGIN", start) {
                    let rest = rest_of_key(text, start, end, owner);
                    candidates.found.extend(rest);
                }
            }
        }
    }

    /// Tells what the owner of a needle finds where it is.
    pub(super) fn at(&self, text: &Text<'_>, place: usize, owner: Owner) -> ShapeOutcome {
        match owner.rule.and_then(|rule| self.rules.rule(rule)) {
            Some(rule) => rule.at(text, place, owner.distance),
            None => ShapeOutcome::No,
        }
    }

    /// Makes a secret of a shape that was seen, unless it only looks like one.
    fn shape(&self, text: &Text<'_>, start: usize, end: usize, owner: Owner) -> Option<Secret> {
        let rule = owner.rule.and_then(|rule| self.rules.rule(rule))?;
        rule.passes(text, start, end)
            .then(|| self.secret(text, start, end, owner))?
    }

    /// Makes a secret of what was found, unless it is allowed.
    pub(super) fn secret(
        &self,
        text: &Text<'_>,
        start: usize,
        end: usize,
        owner: Owner,
    ) -> Option<Secret> {
        let (start, end) = if text.is_raw {
            let start = raw_start(text, start);
            (start, raw_end(text, start, end))
        } else {
            (start, end)
        };
        let bytes = text.slice(start, end);
        (!bytes.is_empty() && !self.rules.is_allowed(bytes)).then_some(Secret {
            place: start..end,
            rule: owner.rule?,
        })
    }

    /// Orders what was found. Of two that overlap the first one stays; of those that begin together the longest
    /// one, or that which knows the secret by its own shape.
    fn without_overlaps(&self, mut found: Vec<Secret>) -> Vec<Secret> {
        if found.len() < 2 {
            return found;
        }
        let is_shape = |secret: &Secret| self.rules.rule(secret.rule).is_some_and(Rule::is_shape);
        found.sort_by(|one, other| {
            let start = one.place.start.cmp(&other.place.start);
            let length = other.place.end.cmp(&one.place.end);
            let shape = is_shape(other).cmp(&is_shape(one));
            start
                .then(length)
                .then(shape)
                .then(one.rule.cmp(&other.rule))
        });
        let mut end = 0;
        found.retain(|secret| {
            let is_free = secret.place.start >= end;
            if is_free {
                end = secret.place.end;
            }
            is_free
        });
        found
    }

    /// Returns where the text ends with the beginning of a needle: two characters of it, or more.
    fn needle_tail(&self, text: &Text<'_>) -> Option<usize> {
        let length = text.len();
        // Mostly the last two bytes tell that there is none.
        let [.., one, two] = *text.bytes else {
            return None;
        };
        if !self.needles.may_go_on_after(one, two) {
            return None;
        }
        let first = length.saturating_sub(24);
        let mut last = text.slice(first, length).windows(2).zip(first..);
        let found = last.find(|&(pair, start)| {
            matches!(*pair, [one, two] if self.needles.may_begin_with(one, two))
                && text.begins_word(start)
                && self.needles.begins_needle(text.slice(start, length))
        });
        found.map(|(_, start)| start)
    }
}

/// Returns where a secret in a raw line begins: after the escape whose last character it seems to begin with. Without that
/// character, the backslash before it would be an escape of the marker.
fn raw_start(text: &Text<'_>, start: usize) -> usize {
    let before = text.slice(0, start).iter().rev();
    let slashes = before.take_while(|byte| **byte == b'\\').count();
    if slashes % 2 == 0 {
        return start;
    }
    match text.byte(start) {
        Some(b'u') => {
            let digits = text.slice(start + 1, start + 5).iter();
            start + 1 + digits.take_while(|byte| byte.is_ascii_hexdigit()).count()
        }
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => start + 1,
        _ => start,
    }
}

/// Returns where a secret in a raw line ends: before what would change how the rest of the line is read.
fn raw_end(text: &Text<'_>, start: usize, end: usize) -> usize {
    let bytes = text.slice(start, end);
    // A private key over escaped line ends is whole: each of them is an escape that JSON knows.
    if bytes.starts_with(b"-----BEGIN") {
        return key_end(bytes, start);
    }
    let valid = match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) => error.valid_up_to(),
    };
    let stop = |byte: &u8| matches!(byte, b'"' | b'\\') || byte.is_ascii_control();
    let stop = bytes.iter().position(stop).unwrap_or(bytes.len());
    start + valid.min(stop)
}

/// Returns what else there is of a private key in a raw line, after where it ends first: in strings of an array, each of
/// which is replaced for itself, since nobody knows what the line means.
fn rest_of_key(text: &Text<'_>, start: usize, end: usize, owner: Owner) -> Vec<Secret> {
    let mut rest = Vec::new();
    let Some(rule) = owner.rule else {
        return rest;
    };
    let mut from = key_end(text.slice(start, end), start);
    while from < end {
        let to = key_end(text.slice(from, end), from);
        let part = text.slice(from, to);
        // Between two strings, or what stands before a line: a sign, its number.
        let is_between = |byte: &u8| byte.is_ascii_digit() || b", \t+->|[]".contains(byte);
        let is_between = part.iter().all(is_between);
        let is_header = rest.is_empty() && part.contains(&b':');
        if has_key_run(part) || is_last_of_key(part) {
            let place = raw_start(text, from)..to;
            if !place.is_empty() {
                rest.push(Secret { place, rule });
            }
        } else if !is_between && !is_header {
            break;
        }
        // What ended it is no part of a key.
        from = to.max(from) + 1;
    }
    rest
}

/// Returns where a private key in a raw line ends: it may span escaped line ends, and nothing else that is not
/// printable.
fn key_end(bytes: &[u8], start: usize) -> usize {
    let mut place = 0;
    while let Some(&byte) = bytes.get(place) {
        place += match byte {
            b'\\' => {
                let slashes = bytes
                    .iter()
                    .skip(place)
                    .take_while(|byte| **byte == b'\\')
                    .count();
                match bytes.get(place + slashes) {
                    Some(b'n' | b'r' | b't') => slashes + 1,
                    _ => break,
                }
            }
            b'"' => break,
            byte if byte.is_ascii_control() || byte >= 0x80 => break,
            _ => 1,
        };
    }
    start + place
}

/// Fills a part of a text with what can be in no secret and in no word.
pub(super) fn blot(text: &mut [u8], place: &Range<usize>) {
    if let Some(bytes) = text.get_mut(place.clone()) {
        bytes.fill(b'[');
    }
}

/// Tells whether blanks or quotes are around a place, so that nothing else changes when something else stands there.
fn stands_free(text: &Text<'_>, place: &Range<usize>) -> bool {
    let is_free = |byte: Option<u8>| matches!(byte, Some(b' ' | b'\t' | b'\n' | b'"' | b'\''));
    let before = place.start.checked_sub(1);
    before.is_none_or(|at| is_free(text.byte(at)))
        && (is_free(text.byte(place.end)) || place.end == text.len() && !text.is_open)
}

fn earlier(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Tells whether a place has something in common with one of others that are in order and apart.
fn overlaps_any(places: &[Range<usize>], place: &Range<usize>) -> bool {
    let index = places.partition_point(|other| other.end <= place.start);
    places
        .get(index)
        .is_some_and(|other| other.start < place.end)
}
