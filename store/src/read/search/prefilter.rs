//! Which records are worth a look, by their JSON: reading a record takes several times as long.

use memchr::memmem;
use regex::bytes::Regex;

use crate::derive::words::{self, stands_alone};
use crate::search_query::SearchQuery;

/// What the JSON of a record must have in it.
#[derive(Debug)]
pub(crate) enum Prefilter {
    /// Nothing that could be told.
    Anything,
    /// A piece of the text, in any case; letters with accents are the same to a search, but not here.
    Piece(Regex),
    All(Vec<Self>),
    Any(Vec<Self>),
}

impl Prefilter {
    /// Makes what is needed for a query.
    pub(crate) fn of(query: &SearchQuery) -> Self {
        match query {
            SearchQuery::Nothing => Self::Any(Vec::new()),
            SearchQuery::Text { text, .. } => Self::of_text(text),
            SearchQuery::All(parts) => Self::All(parts.iter().map(Self::of).collect()),
            SearchQuery::Any(parts) => Self::Any(parts.iter().map(Self::of).collect()),
            SearchQuery::Without(kept, _) => Self::of(kept),
            SearchQuery::In(_, part) => Self::of(part),
        }
    }

    fn of_text(text: &str) -> Self {
        let folded = words::folded(text);
        // JSON writes quotation marks, backslashes and control characters in another way.
        let is_unsafe = |letter: char| {
            letter.is_whitespace() || letter.is_control() || matches!(letter, '"' | '\\')
        };
        let is_plain = |letter: char| letter.is_ascii() && !is_unsafe(letter);
        let ascii = folded.split(|letter| !is_plain(letter));
        let alone = folded.split(|letter| !stands_alone(letter));
        let piece = ascii.chain(alone).max_by_key(|piece| piece.len());
        let Some(piece) = piece.filter(|piece| !piece.is_empty()) else {
            return Self::Anything;
        };
        let flags = if piece.is_ascii() { "(?i-u)" } else { "" };
        Regex::new(&format!("{flags}{}", regex::escape(piece))).map_or(Self::Anything, Self::Piece)
    }

    /// Tells whether a record may have what is looked for.
    pub(crate) fn may_match(&self, line: &[u8]) -> bool {
        // What an event says to a person is not what its JSON says.
        self.has_pieces(line) || has_accents(line) || is_event(line)
    }

    fn has_pieces(&self, line: &[u8]) -> bool {
        match self {
            Self::Anything => true,
            Self::Piece(piece) => piece.is_match(line),
            Self::All(parts) => parts.iter().all(|part| part.has_pieces(line)),
            Self::Any(parts) => parts.iter().any(|part| part.has_pieces(line)),
        }
    }
}

/// Tells whether there may be Latin letters with accents, by their first bytes.
fn has_accents(line: &[u8]) -> bool {
    let is_first = |byte: &u8| matches!(byte, 0xC3..=0xC9 | 0xCC | 0xCD | 0xE1);
    !line.is_ascii() && line.iter().any(is_first)
}

/// Tells whether a record is an event. Only a message could have the words in it, too, and does no harm.
fn is_event(line: &[u8]) -> bool {
    /// Ids and places come before the type.
    const HEAD: usize = 400;
    let head = line.get(..HEAD).unwrap_or(line);
    memmem::find(head, b"\"type\":\"event\"").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_out_that_a_search_finds() {
        let cases = [
            ("notes.md", "{\"text\":\"see NOTES.MD\"}", true),
            ("notes.md", "{\"text\":\"see notes\"}", false),
            ("naive", "{\"text\":\"naïve\"}", true),
            ("naive", "{\"text\":\"検索\"}", false),
            ("say \"hello\"", "{\"text\":\"say \\\"hello\\\"\"}", true),
            ("C:\\Users\\me", "{\"text\":\"C:\\\\Users\\\\me\"}", true),
            ("検索", "{\"text\":\"全文検索は\"}", true),
            ("検索", "{\"text\":\"全文\"}", false),
            ("\"", "{}", true),
            ("a OR b", "{\"text\":\"B\"}", true),
            ("aa bb", "{\"text\":\"aa\"}", false),
            ("aa NOT bb", "{\"text\":\"aa bb\"}", true),
            ("compacted", "{\"seq\":1,\"type\":\"event\"}", true),
        ];
        for (query, line, expected) in cases {
            let filter = Prefilter::of(&SearchQuery::parse(query));
            assert_eq!(
                filter.may_match(line.as_bytes()),
                expected,
                "{query}: {line}"
            );
        }
    }
}
