//! The secrets of one line.

use std::hash::Hasher;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::block::Blocks;
use super::delta::{DeltaFields, DeltaRole, DeltaShape};
use super::edit::Edit;
use super::leaf::Leaf;
use super::marker::Markers;
use super::matchers;
use super::needles::Needles;
use super::plausible::{is_secret_name, is_secret_value};
use super::rule_set::RuleSet;
use super::scan::{Scanner, Secret};
use super::seen::{Hit, Seen};
use super::shape::ShapeOutcome;
use super::text::Text;
use super::tier::Tier;
use super::walk::{Scalar, may_be_json, walk};
use super::wrapped::{may_go_on, unboxed};

/// JSON within strings within strings is read to this depth.
const DEEPEST: usize = 3;
/// A string of this length that holds nothing but base64 is an image or another file.
const LEAST_IMAGE: usize = 512;

/// What was found in a line.
#[derive(Debug, Default)]
pub(super) struct LineFinds<'a> {
    pub(super) edits: Vec<Edit>,
    /// The secrets that the edits replace.
    pub(super) found: Vec<FoundSecret>,
    /// The piece of a longer text that the line holds.
    pub(super) piece: Option<Piece<'a>>,
    /// The line is text, and what may be a secret goes on in the next line.
    pub(super) goes_on: Option<TextKind>,
}

/// How lines of text belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    /// They are the lines of a private key.
    Key,
    /// They are one word, which is broken over them.
    Wrapped,
}

impl TextKind {
    /// Returns the name of the group that they are in.
    pub(super) fn group(self) -> u64 {
        match self {
            Self::Key => 0,
            Self::Wrapped => 1,
        }
    }
}

/// A secret that was found.
#[derive(Debug)]
pub(super) struct FoundSecret {
    pub(super) rule: u16,
    pub(super) secret: Vec<u8>,
}

/// A piece of a longer text.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// Which of the runtime's shapes it has; `None` for a line of text.
    pub(super) shape: Option<usize>,
    /// Names the text that it is a piece of, among those of the shape.
    pub(super) group: u64,
    /// The piece; nothing where the line has only the text so far.
    pub(super) leaf: Option<Leaf<'a>>,
    /// It is known that no needle is in it.
    pub(super) is_clean: bool,
    /// Ends of the text so far that may be the beginning of a secret: where, and what.
    pub(super) tails: Vec<(Range<usize>, Vec<u8>)>,
}

impl<'a> Piece<'a> {
    /// A line of text: all of them are pieces of one.
    pub(super) fn of_text(line: &'a [u8], kind: TextKind) -> Self {
        let place = match kind {
            TextKind::Key => 0..line.len(),
            TextKind::Wrapped => unboxed(line),
        };
        let text = line.get(place.clone()).unwrap_or_default();
        Self {
            shape: None,
            group: kind.group(),
            leaf: Some(Leaf::plain(text, place.start)),
            is_clean: false,
            tails: Vec::new(),
        }
    }

    /// The piece at a place of a line.
    pub(super) fn of_line(
        line: &'a [u8],
        place: Range<usize>,
        shape: usize,
        group: u64,
        seen: Option<&Seen>,
    ) -> Self {
        let is_clean = seen.is_some_and(|seen| seen.is_clean(&place));
        let written = line.get(place.clone()).unwrap_or_default();
        let leaf = Leaf::decode(written, place.start);
        let leaf = leaf.unwrap_or_else(|| Leaf::plain(written, place.start));
        Self {
            shape: Some(shape),
            group,
            is_clean: is_clean && leaf.is_plain(),
            leaf: Some(leaf),
            tails: Vec::new(),
        }
    }
}

/// Finds the secrets of lines.
#[derive(Clone, Copy)]
pub(super) struct LineReader<'r> {
    pub(super) rules: &'r RuleSet,
    pub(super) needles: &'r Needles,
    pub(super) deltas: &'static [DeltaShape],
    /// Words may be broken over lines of text.
    pub(super) wraps_words: bool,
    pub(super) markers: &'r Markers,
}

/// A string that has to be looked at, and why.
struct Candidate {
    place: Range<usize>,
    kind: CandidateKind,
}

enum CandidateKind {
    /// It may hold a secret.
    Text,
    /// It is the value of something that is called a secret.
    Named(&'static str),
    /// It is the text so far of something that is printed piece by piece.
    SoFar,
}

impl LineReader<'_> {
    pub(super) fn scanner(&self) -> Scanner<'_> {
        Scanner {
            rules: self.rules,
            needles: self.needles,
        }
    }

    /// Returns the edit that puts a marker in place of a secret.
    pub(super) fn edit(&self, secret: &Secret, written: Range<usize>, bytes: &[u8]) -> Edit {
        Edit {
            place: written,
            text: self.markers.marker(self.rules, secret.rule, bytes),
        }
    }

    /// Finds the secrets of a line without its line feed. Its needles are looked for, unless they are known.
    pub(super) fn read<'a>(&self, line: &'a [u8], seen: Option<&Seen>) -> LineFinds<'a> {
        let mut finds = LineFinds::default();
        let is_json = may_be_json(line);
        if is_json && self.read_json(line, seen, &mut finds) {
            return finds;
        }
        self.read_text(line, is_json, seen, &mut finds);
        finds
    }

    fn read_text(&self, line: &[u8], is_raw: bool, seen: Option<&Seen>, finds: &mut LineFinds<'_>) {
        let leaf = Leaf::plain(line, 0);
        match seen {
            Some(seen) if !is_raw => self.scan_hits(&leaf, 0, &seen.hits, finds),
            _ => self.scan(&leaf, is_raw, finds),
        }
        // A private key is the only secret that goes on in the next line.
        let may_begin_key = || match seen {
            Some(seen) => seen.hits.iter().any(|hit| self.rules.is_key(hit.owner)),
            None => memchr::memmem::find(line, b"-----BEGIN").is_some(),
        };
        if !is_raw && may_begin_key() {
            let mut with_end = line.to_vec();
            with_end.push(b'\n');
            let scanned = self.scanner().scan(&Text::new(&with_end).open(true));
            if scanned.undecided.is_some() {
                *finds = LineFinds {
                    goes_on: Some(TextKind::Key),
                    ..LineFinds::default()
                };
            }
        } else if self.wraps_words && !is_raw && finds.edits.is_empty() && may_go_on(line) {
            let word = line.get(unboxed(line)).unwrap_or_default();
            let scanned = self.scanner().scan(&Text::new(word).open(true));
            if scanned.undecided.is_some() {
                finds.goes_on = Some(TextKind::Wrapped);
            }
        }
    }

    /// Tells whether a private key may begin in a line, as it is written or behind an escape.
    fn may_have_key(&self, seen: Option<&Seen>) -> bool {
        seen.is_none_or(|seen| {
            let mut hits = seen.hits.iter();
            hits.any(|hit| hit.owner.rule.is_none() || self.rules.is_key(hit.owner))
        })
    }

    /// Finds the secrets in the strings of a JSON line; `false` if it is none.
    fn read_json<'a>(
        &self,
        line: &'a [u8],
        seen: Option<&Seen>,
        finds: &mut LineFinds<'a>,
    ) -> bool {
        let number = match seen {
            Some(seen) => seen.delta,
            None => self.needles.delta_in(line),
        };
        let mut shape = number.and_then(|number| self.deltas.get(number));
        let fields = number.and_then(|number| self.needles.fields(number));
        let mut candidates = Vec::new();
        let mut pieces = PieceFields::default();
        let mut blocks = Blocks::default();
        let may_have_key = self.may_have_key(seen);
        let mut search = self.needles.search(line);
        let mut has_needle = |place: &Range<usize>| {
            if let Some(seen) = seen {
                return !seen.hits_in(place).is_empty();
            }
            let next = search.next(place.start);
            next.is_some_and(|found| found < place.end)
        };
        let walked = walk(line, |scalar| {
            if let Some(fields) = fields
                && pieces.note(fields, line, scalar)
            {
                pieces.has_needle |= !pieces.is_so_far && has_needle(&scalar.place);
                if pieces.is_so_far {
                    let kind = CandidateKind::SoFar;
                    candidates.push(Candidate {
                        place: scalar.place.clone(),
                        kind,
                    });
                }
                return;
            }
            if !scalar.is_string || scalar.place.is_empty() {
                return;
            }
            let key = scalar.key(line).unwrap_or_default();
            let place = scalar.place.clone();
            if may_have_key {
                blocks.note(line, scalar);
            }
            if let Some(rule) = secret_key(key, self.rules.tier()) {
                let kind = CandidateKind::Named(rule);
                candidates.push(Candidate { place, kind });
            } else if has_needle(&place)
                && !is_exempt(key)
                && !is_image(key, line.get(place.clone()).unwrap_or_default())
            {
                let kind = CandidateKind::Text;
                candidates.push(Candidate { place, kind });
            }
        });
        if walked.is_err() {
            return false;
        }
        let lacks_sign = |shape: &DeltaShape| shape.only_with.is_some() && !pieces.has_sign;
        if pieces.is_whole || shape.is_some_and(lacks_sign) {
            shape = None;
            let text = pieces.text.take().filter(|_| pieces.has_needle);
            candidates.extend(text.map(|place| Candidate {
                place,
                kind: CandidateKind::Text,
            }));
        }
        let mut done = Vec::new();
        for block in &blocks.found {
            let decode = |place: Range<usize>| {
                let leaf = Leaf::decode(line.get(place.clone())?, place.start)?;
                Some(leaf.into_owned())
            };
            done.extend(self.block(block, decode, finds));
        }
        candidates.retain(|candidate| !holds(&done, &candidate.place));
        let mut tails = Vec::new();
        for candidate in candidates {
            let written = line.get(candidate.place.clone()).unwrap_or_default();
            let start = candidate.place.start;
            let decoded = Leaf::decode(written, start);
            // A string with an escape that is none stands for itself.
            let is_raw = decoded.is_none();
            let leaf = decoded.unwrap_or_else(|| Leaf::plain(written, start));
            match candidate.kind {
                CandidateKind::Named(rule) if self.named(rule, &leaf, finds) => {}
                CandidateKind::SoFar if shape.is_some() => {
                    tails.extend(self.so_far(&leaf, seen, finds));
                }
                _ if is_raw => self.scan(&leaf, true, finds),
                _ => match seen {
                    Some(seen) if leaf.is_plain() && !is_nested(&leaf.text) => {
                        let hits = seen.hits_in(&candidate.place);
                        self.scan_hits(&leaf, start, hits, finds);
                    }
                    _ => self.leaf(&leaf, 1, finds),
                },
            }
        }
        if shape.is_some() {
            finds.piece = pieces.piece(line, number, seen, tails);
        }
        true
    }

    /// Finds the secrets in what a string means: in its own strings, where it is JSON itself.
    fn leaf(&self, leaf: &Leaf<'_>, depth: usize, finds: &mut LineFinds<'_>) {
        let text: &[u8] = &leaf.text;
        if depth >= DEEPEST || !is_nested(text) {
            return self.scan(leaf, false, finds);
        }
        let mut inner: Vec<(Range<usize>, Option<&'static str>)> = Vec::new();
        let mut search = self.needles.search(text);
        let mut blocks = Blocks::default();
        let walked = walk(text, |scalar| {
            let place = scalar.place.clone();
            if !scalar.is_string {
                return;
            }
            blocks.note(text, scalar);
            let rule = secret_key(scalar.key(text).unwrap_or_default(), self.rules.tier());
            let is_hit = search
                .next(place.start)
                .is_some_and(|found| found < place.end);
            if rule.is_some() || is_hit {
                inner.push((place, rule));
            }
        });
        if walked.is_err() {
            return self.scan(leaf, false, finds);
        }
        let strings = inner
            .into_iter()
            .map(|(place, rule)| Some((leaf.inner(place.clone())?, place, rule)));
        // With an escape that is none, it is text that looks like JSON.
        let Some(strings) = strings.collect::<Option<Vec<_>>>() else {
            return self.scan(leaf, false, finds);
        };
        let mut done = Vec::new();
        for block in &blocks.found {
            done.extend(self.block(block, |place| leaf.inner(place), finds));
        }
        for (nested, place, rule) in strings {
            if holds(&done, &place) {
                continue;
            }
            if !rule.is_some_and(|rule| self.named(rule, &nested, finds)) {
                self.leaf(&nested, depth + 1, finds);
            }
        }
    }

    fn scan(&self, leaf: &Leaf<'_>, is_raw: bool, finds: &mut LineFinds<'_>) {
        let scanned = self.scanner().scan(&Text::new(&leaf.text).raw(is_raw));
        for secret in &scanned.secrets {
            self.found(secret, leaf, finds);
        }
    }

    /// Finds the secrets of a text that is written as it is in the line, from a place on, by its needles.
    fn scan_hits(&self, leaf: &Leaf<'_>, start: usize, hits: &[Hit], finds: &mut LineFinds<'_>) {
        let text = Text::new(&leaf.text);
        let scanned = self.scanner().scan_hits(&text, start, hits);
        for secret in &scanned.secrets {
            self.found(secret, leaf, finds);
        }
    }

    fn found(&self, secret: &Secret, leaf: &Leaf<'_>, finds: &mut LineFinds<'_>) {
        let bytes = leaf.text.get(secret.place.clone()).unwrap_or_default();
        let written = leaf.written(secret.place.clone());
        finds.edits.push(self.edit(secret, written, bytes));
        finds.found.push(FoundSecret {
            rule: secret.rule,
            secret: bytes.to_vec(),
        });
    }

    /// Judges a string that is the value of something called a secret; `false` if it is none as a whole.
    fn named(&self, rule: &'static str, leaf: &Leaf<'_>, finds: &mut LineFinds<'_>) -> bool {
        let text = Text::new(&leaf.text);
        let outcome = match rule {
            "authorization" => matchers::authorization_value(&text, 0),
            "cookie" => matchers::cookie_value(&text, 0, false),
            _ if is_secret_value(&leaf.text, 8)
                && !leaf.text.iter().any(u8::is_ascii_whitespace) =>
            {
                let end = leaf.text.len();
                ShapeOutcome::Found { start: 0, end }
            }
            _ => ShapeOutcome::No,
        };
        let (ShapeOutcome::Found { start, end }, Some(rule)) = (outcome, self.rules.number(rule))
        else {
            return false;
        };
        // A secret that its shape shows, or a marker, is the scan's.
        let scanned = self.scanner().scan(&text);
        let bytes = text.slice(start, end);
        if !scanned.secrets.is_empty()
            || !super::marker::markers(text.bytes).is_empty()
            || self.rules.is_allowed(bytes)
        {
            return false;
        }
        let place = start..end;
        self.found(&Secret { place, rule }, leaf, finds);
        true
    }

    /// Finds the secrets in the text so far, and the end of it that may be the beginning of one.
    fn so_far(
        &self,
        leaf: &Leaf<'_>,
        seen: Option<&Seen>,
        finds: &mut LineFinds<'_>,
    ) -> Option<(Range<usize>, Vec<u8>)> {
        let place = leaf.written(0..leaf.text.len());
        let is_clean = leaf.is_plain() && seen.is_some_and(|seen| seen.is_clean(&place));
        if is_clean && self.scanner().is_quiet_around(&leaf.text, 0) {
            return None;
        }
        let scanned = self.scanner().scan(&Text::new(&leaf.text).open(true));
        let mut end = scanned.undecided.unwrap_or(leaf.text.len());
        for secret in &scanned.secrets {
            if secret.place.start < end {
                self.found(secret, leaf, finds);
                end = end.max(secret.place.end);
            }
        }
        let tail = leaf.text.get(end..).filter(|tail| !tail.is_empty())?;
        Some((leaf.written(end..leaf.text.len()), tail.to_vec()))
    }
}

/// What a line says of the piece that it holds.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field that was there"
)]
pub(super) struct PieceFields {
    pub(super) text: Option<Range<usize>>,
    /// There is a needle in the piece as it is written.
    has_needle: bool,
    /// The last value was the text so far.
    pub(super) is_so_far: bool,
    has_so_far: bool,
    pub(super) is_whole: bool,
    /// The field was there without which it is no piece.
    pub(super) has_sign: bool,
    /// The last value was of the group.
    pub(super) is_of_group: bool,
    pub(super) group: u64,
}

impl PieceFields {
    /// Returns the piece that a line holds, if it has a text, or the text so far.
    fn piece<'a>(
        self,
        line: &'a [u8],
        shape: Option<usize>,
        seen: Option<&Seen>,
        tails: Vec<(Range<usize>, Vec<u8>)>,
    ) -> Option<Piece<'a>> {
        if let Some(place) = self.text {
            let piece = Piece::of_line(line, place, shape?, self.group, seen);
            return Some(Piece { tails, ..piece });
        }
        self.has_so_far.then_some(Piece {
            shape,
            group: self.group,
            is_clean: false,
            leaf: None,
            tails,
        })
    }

    /// Takes note of a value; `true` if it is a piece, or the text so far.
    pub(super) fn note(&mut self, fields: &DeltaFields, line: &[u8], scalar: &Scalar<'_>) -> bool {
        self.is_so_far = false;
        self.is_of_group = false;
        let mut is_text = false;
        fields.roles(line, scalar.path, |role| match role {
            DeltaRole::Group => {
                // The fields of a group come in any order.
                let value = line.get(scalar.place.clone()).unwrap_or_default();
                self.group = self.group.wrapping_add(digest(value));
                self.is_of_group = true;
            }
            DeltaRole::Unless => self.is_whole = true,
            DeltaRole::OnlyWith => self.has_sign = true,
            DeltaRole::Text => is_text = scalar.is_string && self.text.is_none(),
            DeltaRole::SoFar => self.is_so_far = scalar.is_string,
        });
        if is_text {
            self.is_so_far = false;
            self.text = Some(scalar.place.clone());
            return true;
        }
        self.has_so_far |= self.is_so_far;
        self.is_so_far
    }
}

/// Tells whether a text may hold JSON with strings of its own.
fn is_nested(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Tells whether a place is among others that are in order.
fn holds(places: &[Range<usize>], place: &Range<usize>) -> bool {
    let found = places.binary_search_by_key(&place.start, |place| place.start);
    found.is_ok()
}

pub(super) fn digest(value: &[u8]) -> u64 {
    use std::hash::BuildHasher;
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(value);
    hasher.finish()
}

/// Returns the group of a line that ends one, by the fields of the group.
pub(super) fn group_of(fields: &DeltaFields, line: &[u8]) -> Option<u64> {
    let mut noted = PieceFields::default();
    walk(line, |scalar| {
        noted.note(fields, line, scalar);
    })
    .ok()?;
    Some(noted.group)
}

/// Returns the rule by which the value of a key is judged.
pub(super) fn secret_key(key: &[u8], tier: Tier) -> Option<&'static str> {
    if is_secret_name(key) {
        return Some("environment-secret");
    }
    if key.eq_ignore_ascii_case(b"authorization")
        || key.eq_ignore_ascii_case(b"proxy-authorization")
    {
        return Some("authorization");
    }
    if key.eq_ignore_ascii_case(b"cookie") || key.eq_ignore_ascii_case(b"set-cookie") {
        return Some("cookie");
    }
    if tier < Tier::Broad {
        return None;
    }
    let lower = key.to_ascii_lowercase();
    let names = [
        ("password", "named-password"),
        ("passwd", "named-password"),
        ("secret", "named-secret"),
        ("api_key", "named-api-key"),
        ("apikey", "named-api-key"),
        ("token", "named-token"),
    ];
    let mut rules = names.iter();
    rules.find_map(|(name, rule)| lower.ends_with(name.as_bytes()).then_some(*rule))
}

/// Tells whether what is under a key is left alone: without it, a session could not be resumed, or a call not be
/// tied to its result.
pub(super) fn is_exempt(key: &[u8]) -> bool {
    let ends = |end: &[u8]| key.ends_with(end);
    match key.first() {
        None => false,
        Some(b's') if key.starts_with(b"session") => {
            !(ends(b"oken") || ends(b"ecret") || ends(b"assword") || ends(b"ookie"))
        }
        Some(_) => {
            matches!(
                key,
                b"id" | b"uuid" | b"signature" | b"encrypted_content" | b"type" | b"model"
            ) || ends(b"_id")
                || ends(b"Id")
                || ends(b"ID")
                || ends(b"Uuid")
                || ends(b"Signature")
        }
    }
}

/// Tells whether a string is an image or another file in base64.
fn is_image(key: &[u8], written: &[u8]) -> bool {
    let is_named = matches!(key, b"data" | b"base64" | b"url" | b"image_url" | b"blob");
    if !is_named || written.len() < LEAST_IMAGE {
        return false;
    }
    let data = match memchr::memmem::find(written.get(..100).unwrap_or_default(), b";base64,") {
        Some(comma) if written.starts_with(b"data:") => {
            written.get(comma + 8..).unwrap_or_default()
        }
        _ => written,
    };
    data.iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\'))
}
