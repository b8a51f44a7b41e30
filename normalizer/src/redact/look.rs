//! A first look at a needle, at the bytes as they are written.

use memchr::{memchr, memchr2};

use super::line::LineReader;
use super::needles::{NeedleSearch, Owner};
use super::rule::Rule;
use super::rule_set::ESCAPE;
use super::seen::{Look, Seen};
use super::shape::ShapeOutcome;
use super::text::Text;
use super::wrapped::unboxed;

/// Takes note of the needles at a place; `false` if no line has to be read for them.
pub(super) fn take_hits(
    search: &NeedleSearch<'_, '_>,
    place: usize,
    reader: LineReader<'_>,
    seen: &mut Seen,
) -> bool {
    let mut is_worth = false;
    search.owners(place, |owner| {
        let look = look(search.bytes, place, owner, reader);
        is_worth |= look != Look::Nothing;
        seen.add(place, owner, look);
    });
    is_worth
}

/// How much is looked at after a needle.
const MOST: usize = 600;

/// Tells whether the owner of a needle may find something where it is, by a look at the bytes as they are
/// written. A backslash may begin an escape, and then it is not known.
fn look(bytes: &[u8], place: usize, owner: Owner, reader: LineReader<'_>) -> Look {
    let begin = place - owner.distance.min(place);
    let rest = bytes.get(begin..).unwrap_or_default();
    let maybe = |is_possible: bool| {
        if is_possible {
            Look::Maybe
        } else {
            Look::Nothing
        }
    };
    if let Some(shape) = owner.delta {
        let delta = reader.deltas.get(usize::from(shape));
        return maybe(delta.is_some_and(|delta| rest.starts_with(delta.needle.as_bytes())));
    }
    let Some(rule) = owner.rule.and_then(|rule| reader.rules.rule(rule)) else {
        let is_printable = matches!(rest.get(ESCAPE.len()), Some(b'2'..=b'7'));
        return maybe(rest.starts_with(ESCAPE) && is_printable);
    };
    let rest = rest.get(..MOST).unwrap_or(rest);
    // The slashes of a URL may be escaped.
    let known = slashes(rest);
    let after = rest.get(known..).unwrap_or_default();
    let length = known + memchr2(b'\\', b'\n', after).unwrap_or(after.len());
    let first = begin.saturating_sub(128);
    // A shape does not go on in the next line, but a private key does.
    let is_whole = rule.is_shape() && matches!(bytes.get(begin + length), None | Some(b'\n'));
    let text = Text::new(bytes.get(first..begin + length).unwrap_or_default()).open(!is_whole);
    match rule.shape_at(&text, place - first, owner.distance) {
        // An escape of another character may stand right before it, or within it before the needle; or between a name and its value.
        ShapeOutcome::No => maybe(
            rest.first().is_some_and(u8::is_ascii_alphanumeric) && follows_escape(bytes, begin)
                || memchr(b'\\', bytes.get(begin..place).unwrap_or_default()).is_some()
                || owner.distance > 0 && follows_escape(bytes, place)
                || bytes.get(begin + length) == Some(&b'\\') && rule.is_named()
                || reader.wraps_words
                    && rule.is_shape()
                    && is_cut(bytes, first, place, owner, rule),
        ),
        ShapeOutcome::Found { start, end } if rule.is_shape() => {
            Look::Shape(first + start, first + end)
        }
        ShapeOutcome::Found { .. } | ShapeOutcome::Undecided { .. } => Look::Maybe,
    }
}

/// Tells whether what begins as a shape ends with the line: a word may be broken there.
fn is_cut(bytes: &[u8], first: usize, place: usize, owner: Owner, rule: &Rule) -> bool {
    let last = bytes.len().min(place + MOST);
    let rest = bytes.get(place..last).unwrap_or_default();
    // In a line of JSON a quote comes first.
    let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'"';
    let Some(length) = rest.iter().position(ends) else {
        return false;
    };
    let (word, after) = rest.split_at(length);
    let line = after.split(|byte| *byte == b'\n').next();
    if !line.is_some_and(|margin| unboxed(margin).is_empty()) {
        return false;
    }
    let text = bytes.get(first..place + word.len()).unwrap_or_default();
    let text = Text::new(text).open(true);
    matches!(
        rule.shape_at(&text, place - first, owner.distance),
        ShapeOutcome::Undecided { .. }
    )
}

/// Returns the length of a colon with the slashes after it and the backslashes among them, if there is one.
fn slashes(rest: &[u8]) -> usize {
    let Some(after) = rest.strip_prefix(b":") else {
        return 0;
    };
    let is_slash = |byte: &&u8| matches!(byte, b'\\' | b'/');
    1 + after.iter().take(32).take_while(is_slash).count()
}

/// Tells whether a `\uXXXX` escape ends at a place.
fn follows_escape(bytes: &[u8], place: usize) -> bool {
    let before = place.checked_sub(6).and_then(|from| bytes.get(from..place));
    before.is_some_and(|before| before.starts_with(b"\\u"))
}
