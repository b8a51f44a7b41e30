//! Forms of lines with pieces: what is the same from one such line to the next.
//!
//! Nearly all lines of a long text differ in the piece and an id or two. Where everything else is the same, byte for byte, the
//! line has the same keys in the same places, and reading it as JSON would tell nothing new.

use std::ops::Range;

use super::line::{LineReader, Piece, PieceFields, digest, is_exempt, secret_key};
use super::piecewise::Piecewise;
use super::seen::Seen;
use super::walk::{string_end, walk};
use crate::json::find_special;

/// The most forms that are known of a stream.
const MOST_FORMS: usize = 4;
/// Longer lines are read each time: little is gained.
const LONGEST: usize = 4 * 1024;
const MOST_VALUES: usize = 32;
/// A form is made of a line when so many with pieces were read: a run may have few.
const READ_BEFORE: u32 = 2;
/// Where lines have no form, or ever another one, it is tried half as often each time, down to this.
const MOST_READ_BEFORE: u32 = 1024;

/// The forms of lines with pieces that a stream had.
#[derive(Debug, Default)]
pub(super) struct Forms {
    known: Vec<Form>,
    /// How many lines with pieces had to be read, since a form was made.
    read: u32,
    /// How many more than [`READ_BEFORE`] have to be, since it was tried in vain.
    pause: u32,
    /// The form that goes when there are too many.
    oldest: usize,
    /// The form that was met last.
    last: usize,
}

/// A line of the form that was met last, in which there is nothing but a piece to be looked at.
pub(super) struct PieceLine {
    pub(super) shape: usize,
    pub(super) group: u64,
    /// Where the piece is written, as it is meant.
    pub(super) piece: Range<usize>,
    /// Where the next line begins.
    pub(super) end: usize,
}

/// What is the same in some lines.
#[derive(Debug)]
struct Form {
    /// Which of the runtime's shapes they have.
    shape: usize,
    /// One of the lines.
    line: Vec<u8>,
    /// The values in it that are others in other lines, in order.
    values: Vec<FormValue>,
    /// What the other values have to do with the group.
    group: u64,
    /// A second line was seen: what both have in common is no longer among the values.
    is_compared: bool,
    /// No needle is in what is the same in all lines.
    is_bare: bool,
}

#[derive(Debug)]
struct FormValue {
    place: Range<usize>,
    kind: ValueKind,
    is_of_group: bool,
    /// It is under a key whose values are left alone.
    is_exempt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Piece,
    String,
    Number,
}

impl Forms {
    /// Returns the piece of a line that has a known form, and in which no needle is beside the piece.
    pub(super) fn piece<'a>(
        &mut self,
        line: &'a [u8],
        seen: &Seen,
        reader: LineReader<'_>,
    ) -> Option<Piece<'a>> {
        let shape = seen.delta?;
        let is_of_piece = |place: &Range<usize>| {
            seen.hits.iter().all(|hit| {
                // An escape may hide what is beside the piece, and a private key may go on there.
                place.contains(&hit.place)
                    && hit.owner.rule.is_some()
                    && !reader.rules.is_key(hit.owner)
            })
        };
        let has_form = |form: &Form| form.piece_in(line).filter(|_| form.shape == shape);
        // Mostly it is that of the line before.
        let all = (0..self.known.len()).map(|ahead| (self.last + ahead) % self.known.len());
        let found = all.into_iter().find_map(|index| {
            let (place, group) = has_form(self.known.get(index)?)?;
            Some((index, place, group))
        });
        let (index, place, group) = found?;
        self.last = index;
        self.known.get_mut(index)?.compare(line, seen);
        is_of_piece(&place).then(|| Piece::of_line(line, place, shape, group, Some(seen)))
    }

    /// Returns the line at a place of some whole lines, if it has the form that was met last, and needles can be in its piece only.
    pub(super) fn next_line(
        &self,
        lines: &[u8],
        start: usize,
        reader: LineReader<'_>,
    ) -> Option<PieceLine> {
        let form = self.known.get(self.last).filter(|form| form.is_bare)?;
        form.next_line(lines, start, reader.needles.piecewise()?)
    }

    /// Takes note of a line with a piece that had to be read.
    pub(super) fn learn(&mut self, line: &[u8], shape: usize, reader: LineReader<'_>) {
        self.read += 1;
        if self.read < READ_BEFORE + self.pause {
            return;
        }
        self.read = 0;
        let form = Form::new(line, shape, reader);
        if form.is_none() || self.known.len() >= MOST_FORMS {
            self.pause = (2 * self.pause + READ_BEFORE).min(MOST_READ_BEFORE);
        }
        let Some(form) = form else {
            return;
        };
        if self.known.len() < MOST_FORMS {
            self.known.push(form);
        } else if let Some(oldest) = self.known.get_mut(self.oldest) {
            *oldest = form;
            self.oldest = (self.oldest + 1) % MOST_FORMS;
        }
    }
}

impl Form {
    /// Makes a form of a line, if all that has to be looked at in it is its piece.
    fn new(line: &[u8], shape: usize, reader: LineReader<'_>) -> Option<Self> {
        let fields = reader.needles.fields(shape)?;
        let is_usual = line.starts_with(b"{") && line.len() <= LONGEST;
        let mut values = Vec::new();
        let mut noted = PieceFields::default();
        let mut is_other = !is_usual;
        let mut group = 0_u64;
        walk(line, |scalar| {
            let before = noted.group;
            let is_piece = noted.note(fields, line, scalar) && !noted.is_so_far;
            let key = scalar.key(line).unwrap_or_default();
            is_other |= noted.is_so_far
                || values.len() >= MOST_VALUES
                || !is_piece && secret_key(key, reader.rules.tier()).is_some();
            let written = line.get(scalar.place.clone()).unwrap_or_default();
            let kind = match written.first() {
                _ if is_piece => ValueKind::Piece,
                _ if scalar.is_string => ValueKind::String,
                Some(b'-' | b'0'..=b'9') => ValueKind::Number,
                // A word is of the form.
                _ => {
                    group = group.wrapping_add(noted.group.wrapping_sub(before));
                    return;
                }
            };
            values.push(FormValue {
                place: scalar.place.clone(),
                kind,
                is_of_group: noted.is_of_group,
                // Strings of an array may be the lines of one text.
                is_exempt: is_exempt(key) && matches!(scalar.path.last(), Some(Some(_))),
            });
        })
        .ok()?;
        let shape_of = reader.deltas.get(shape)?;
        let is_piece = noted.text.is_some()
            && !noted.is_whole
            && (noted.has_sign || shape_of.only_with.is_none());
        (is_piece && !is_other).then(|| Self {
            shape,
            line: line.to_vec(),
            values,
            group,
            is_compared: false,
            is_bare: false,
        })
    }

    /// Returns where the piece is in a line of the form, and its group.
    fn piece_in(&self, line: &[u8]) -> Option<(Range<usize>, u64)> {
        let mut piece = 0..0;
        let mut group = self.group;
        let end = self.each_value(line, string_end, |value, place| {
            if value.kind == ValueKind::Piece {
                piece = place.clone();
            }
            if value.is_of_group {
                group = group.wrapping_add(digest(line.get(place).unwrap_or_default()));
            }
        })?;
        (end == line.len()).then_some((piece, group))
    }

    /// Returns the line at a place, if it has this form, and needles can be in its piece only.
    fn next_line(&self, lines: &[u8], start: usize, piecewise: &Piecewise) -> Option<PieceLine> {
        let rest = lines.get(start..)?;
        let mut piece = 0..0;
        let mut group = self.group;
        let mut is_clean = true;
        let length = self.each_value(rest, plain_end, |value, place| {
            let written = rest.get(place.clone()).unwrap_or_default();
            if value.is_of_group {
                group = group.wrapping_add(digest(written));
            }
            if value.kind == ValueKind::Piece {
                piece = place;
            } else if value.kind == ValueKind::String && !value.is_exempt {
                is_clean &= piecewise.is_clean(written);
            }
        })?;
        let is_line = rest.get(length) == Some(&b'\n');
        (is_clean && is_line).then(|| PieceLine {
            shape: self.shape,
            group,
            piece: start + piece.start..start + piece.end,
            end: start + length + 1,
        })
    }

    /// Calls `each` for the values of a line with their places; returns where it ends. `None` if it has another form.
    #[inline]
    fn each_value(
        &self,
        line: &[u8],
        string_end: impl Fn(&[u8], usize) -> Option<usize>,
        mut each: impl FnMut(&FormValue, Range<usize>),
    ) -> Option<usize> {
        let (mut known, mut place) = (0, 0);
        for value in &self.values {
            let same = self.line.get(known..value.place.start)?;
            let start = place + same.len();
            if line.get(place..start)? != same {
                return None;
            }
            place = match value.kind {
                ValueKind::Piece | ValueKind::String => string_end(line, start)?,
                ValueKind::Number => number_end(line, start)?,
            };
            each(value, start..place);
            known = value.place.end;
        }
        let same = self.line.get(known..)?;
        line.get(place..)?
            .starts_with(same)
            .then(|| place + same.len())
    }

    /// Compares the first two lines of the form: what both have in common is of the form.
    fn compare(&mut self, line: &[u8], seen: &Seen) {
        if self.is_compared {
            return;
        }
        self.is_compared = true;
        let mut is_same = Vec::with_capacity(self.values.len());
        let mut group = self.group;
        let same = self.each_value(line, string_end, |value, place| {
            let written = line.get(place).unwrap_or_default();
            let same = value.kind == ValueKind::String
                && self.line.get(value.place.clone()) == Some(written);
            if same && value.is_of_group {
                group = group.wrapping_add(digest(written));
            }
            is_same.push(same);
        });
        if same.is_some() {
            self.group = group;
            let mut is_same = is_same.into_iter();
            self.values.retain(|_| !is_same.next().unwrap_or_default());
            let mut places = Vec::with_capacity(self.values.len());
            let known = self.each_value(line, string_end, |_, place| places.push(place));
            self.is_bare = known.is_some() && seen.is_within(&places);
        }
    }
}

/// Returns where the quote is that ends a string that is written as it is meant, within its line.
#[inline]
fn plain_end(line: &[u8], start: usize) -> Option<usize> {
    let found = find_special(line, start);
    (line.get(found) == Some(&b'"')).then_some(found)
}

/// Returns where a number ends that begins at a place.
fn number_end(line: &[u8], start: usize) -> Option<usize> {
    let rest = line.get(start..)?;
    let is_part = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let length = rest.iter().take_while(is_part).count();
    (length > 0 && rest.first() != Some(&b'.')).then_some(start + length)
}

#[cfg(test)]
mod tests {
    use runtape_core::Runtime;

    use super::super::look::take_hits;
    use super::super::marker::Markers;
    use super::super::rule_set::RuleSet;
    use super::super::tier::Tier;
    use super::*;
    use crate::runtimes::entry_for;

    #[test]
    fn a_line_of_a_known_form_has_the_piece_that_reading_finds() {
        let runtime = Runtime::ClaudeCode;
        let rules = RuleSet::new(Tier::Definite);
        let needles = rules.needles_of(&runtime);
        let reader = LineReader {
            rules: &rules,
            needles: &needles,
            deltas: entry_for(&runtime).unwrap().deltas,
            wraps_words: false,
            markers: &Markers::default(),
        };
        let usual = |index: &str, text: &str, rest: &str| {
            format!(
                r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":{index},"delta":{{"type":"text_delta","text":"{text}"}}}},"session_id":"a","parent_tool_use_id":null,"uuid":"b"{rest}}}"#
            )
        };
        // Each is tried after some lines of the usual form.
        let cases = [
            ("another piece", usual("0", "other words", ""), true),
            ("no piece", usual("0", "", ""), true),
            ("escapes", usual("0", r#"a\n\"b\\"#, ""), true),
            ("no escape", usual("0", r"a\xb", ""), true),
            ("another group", usual("12", "a", ""), true),
            ("a word for a number", usual("null", "a", ""), false),
            ("a number that is none", usual("1x", "a", ""), false),
            ("one key more", usual("0", "a", r#","text":"b""#), false),
            (
                "one that is a secret",
                usual("0", "a", r#","API_TOKEN":"b""#),
                false,
            ),
            ("an end that is none", usual("0", "a", "}"), false),
            (
                "a needle in the piece",
                usual("0", "ghp_ghp_ghp_ghp_ghp_ghp_", ""),
                true,
            ),
            (
                "an escape in the piece",
                usual("0", r"\u0067hp_", ""),
                false,
            ),
            (
                "a piece with a key",
                usual("0", "-----BEGIN PRIVATE KEY-----", ""),
                false,
            ),
        ];
        for (name, line, is_known) in &cases {
            let mut forms = Forms::default();
            let mut known = None;
            for line in [&usual("0", "some", ""), &usual("0", "words", ""), line] {
                let seen = seen_in(line.as_bytes(), reader);
                known = forms
                    .piece(line.as_bytes(), &seen, reader)
                    .map(|piece| shown(&piece));
                let read = reader.read(line.as_bytes(), Some(&seen));
                let shape = read.piece.as_ref().and_then(|piece| piece.shape);
                if known.is_some() {
                    assert_eq!(known, read.piece.as_ref().map(shown), "{name}");
                    assert!(read.edits.is_empty() && read.goes_on.is_none(), "{name}");
                } else if let Some(shape) = shape {
                    // The first line is enough.
                    forms.read = READ_BEFORE;
                    forms.learn(line.as_bytes(), shape, reader);
                }
            }
            assert_eq!(known.is_some(), *is_known, "{name}");
        }
    }

    fn seen_in(line: &[u8], reader: LineReader<'_>) -> Seen {
        let mut seen = Seen::default();
        let mut search = reader.needles.search(line);
        let mut from = 0;
        while let Some(place) = search.next(from) {
            take_hits(&search, place, reader, &mut seen);
            from = place + 1;
        }
        seen
    }

    fn shown(piece: &Piece<'_>) -> String {
        format!("{piece:?}")
    }
}
