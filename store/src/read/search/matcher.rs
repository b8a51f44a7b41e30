//! Whether a text has what is looked for, and where.

use std::cell::OnceCell;
use std::ops::Range;

use regex::{Regex, RegexBuilder};

use super::prefilter::Prefilter;
use super::snippet;
use crate::derive::text::{FIELDS, Text};
use crate::derive::words::{self, Folded, is_word};
use crate::error::{Result, StoreError};
use crate::search_query::{Edges, SearchQuery};
use runtape_core::report::SnippetPart;

/// Most that a pattern may take in memory, compiled.
const LARGEST_PATTERN: usize = 10 << 20;

/// Most places that are looked for in a text: one is enough to find it, the others are only marked.
const MOST_PLACES: usize = 64;

/// Finds texts.
#[derive(Debug)]
pub(crate) struct Matcher {
    root: Node,
    pub(crate) prefilter: Prefilter,
}

#[derive(Debug)]
enum Node {
    Never,
    Needle(Needle),
    Pattern(Regex),
    All(Vec<Self>),
    Any(Vec<Self>),
    Without(Box<Self>, Box<Self>),
    In(usize, Box<Self>),
}

/// A text that is looked for in folded ones.
#[derive(Debug)]
struct Needle {
    finder: Regex,
    /// No letter of a word may stand before it.
    begins_word: bool,
    /// Nor after it.
    ends_word: bool,
}

/// The texts of a record, folded once somebody asks.
struct FoldedFields<'a> {
    texts: [&'a str; FIELDS.len()],
    folded: [OnceCell<Folded>; FIELDS.len()],
}

/// Which fields are looked at, a bit for each.
type Mask = u8;

const EVERY_FIELD: Mask = (1 << FIELDS.len()) - 1;

impl<'a> FoldedFields<'a> {
    fn new(text: &'a Text) -> Self {
        Self {
            texts: text.columns(),
            folded: Default::default(),
        }
    }

    /// Returns the fields of a mask that have a text.
    fn each(&self, mask: Mask) -> impl Iterator<Item = (usize, &'a str, &Folded)> {
        let all = self.texts.iter().zip(&self.folded).enumerate();
        let some =
            all.filter(move |(number, (text, _))| mask >> number & 1 == 1 && !text.is_empty());
        some.map(|(number, (text, folded))| {
            (number, *text, folded.get_or_init(|| Folded::new(text)))
        })
    }
}

impl Matcher {
    /// Makes one that finds what a query says.
    pub(crate) fn new(query: &SearchQuery) -> Result<Self> {
        Ok(Self {
            root: Node::new(query)?,
            prefilter: Prefilter::of(query),
        })
    }

    /// Makes one that finds a pattern.
    pub(crate) fn pattern(pattern: &str) -> Result<Self> {
        let mut builder = RegexBuilder::new(pattern);
        builder.multi_line(true).size_limit(LARGEST_PATTERN);
        let pattern = builder.build().map_err(|error| StoreError::BadPattern {
            fault: error.to_string(),
        })?;
        Ok(Self {
            root: Node::Pattern(pattern),
            prefilter: Prefilter::Anything,
        })
    }

    /// Returns the text around what was found; nothing if nothing was.
    pub(crate) fn find(&self, text: &Text) -> Option<Vec<SnippetPart>> {
        let fields = FoldedFields::new(text);
        if !self.root.is_in(&fields, EVERY_FIELD) {
            return None;
        }
        let mut places: [Vec<Range<usize>>; FIELDS.len()] = Default::default();
        self.root.places(&fields, EVERY_FIELD, &mut places);
        let found = places.iter_mut().zip(fields.texts);
        let first = found.into_iter().find(|(places, _)| !places.is_empty());
        Some(first.map_or_else(Vec::new, |(places, text)| snippet::around(text, places)))
    }
}

impl Node {
    fn new(query: &SearchQuery) -> Result<Self> {
        let all = |parts: &[SearchQuery]| parts.iter().map(Self::new).collect::<Result<Vec<_>>>();
        Ok(match query {
            SearchQuery::Nothing => Self::Never,
            SearchQuery::Text { text, edges } => {
                Needle::new(text, *edges)?.map_or(Self::Never, Self::Needle)
            }
            SearchQuery::All(parts) => Self::All(all(parts)?),
            SearchQuery::Any(parts) => Self::Any(all(parts)?),
            SearchQuery::Without(kept, left_out) => {
                Self::Without(Self::new(kept)?.into(), Self::new(left_out)?.into())
            }
            SearchQuery::In(name, part) => {
                let field = FIELDS.iter().position(|field| field == name);
                Self::In(field.unwrap_or_default(), Self::new(part)?.into())
            }
        })
    }

    fn is_in(&self, fields: &FoldedFields<'_>, mask: Mask) -> bool {
        match self {
            Self::Never => false,
            Self::Needle(needle) => fields
                .each(mask)
                .any(|(_, _, folded)| needle.find(&folded.text, 0).is_some()),
            Self::Pattern(pattern) => {
                let texts = fields.texts.iter();
                texts
                    .filter(|text| !text.is_empty())
                    .any(|text| pattern.is_match(text))
            }
            Self::All(parts) => parts.iter().all(|part| part.is_in(fields, mask)),
            Self::Any(parts) => parts.iter().any(|part| part.is_in(fields, mask)),
            Self::Without(kept, left_out) => {
                kept.is_in(fields, mask) && !left_out.is_in(fields, mask)
            }
            Self::In(field, part) => part.is_in(fields, mask & 1 << field),
        }
    }

    /// Adds the places where something stands that is looked for.
    fn places(
        &self,
        fields: &FoldedFields<'_>,
        mask: Mask,
        places: &mut [Vec<Range<usize>>; FIELDS.len()],
    ) {
        match self {
            Self::Never => {}
            Self::Needle(needle) => {
                for (number, _, folded) in fields.each(mask) {
                    let Some(places) = places.get_mut(number) else {
                        continue;
                    };
                    let mut at = 0;
                    while let Some(found) = needle.find(&folded.text, at)
                        && places.len() < MOST_PLACES
                    {
                        at = found.end.max(at + 1);
                        places.push(folded.place(found.start)..folded.place(found.end));
                    }
                }
            }
            Self::Pattern(pattern) => {
                for (text, places) in fields.texts.iter().zip(places) {
                    let found = pattern.find_iter(text).take(MOST_PLACES);
                    places.extend(found.map(|found| found.range()));
                }
            }
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.places(fields, mask, places);
                }
            }
            Self::Without(kept, _) => kept.places(fields, mask, places),
            Self::In(field, part) => part.places(fields, mask & 1 << field, places),
        }
    }
}

impl Needle {
    /// Makes one; none of a text in which nothing can be found.
    fn new(text: &str, edges: Edges) -> Result<Option<Self>> {
        let folded = words::folded(text);
        let pieces: Vec<String> = folded.split_whitespace().map(regex::escape).collect();
        if pieces.is_empty() {
            return Ok(None);
        }
        let finder = RegexBuilder::new(&pieces.join("\\s+"))
            .size_limit(LARGEST_PATTERN)
            .build()
            .map_err(|error| StoreError::BadPattern {
                fault: error.to_string(),
            })?;
        let trimmed = folded.trim();
        Ok(Some(Self {
            finder,
            begins_word: edges != Edges::Any && trimmed.starts_with(is_word),
            ends_word: edges == Edges::Words && trimmed.ends_with(is_word),
        }))
    }

    /// Returns the next place from one on.
    fn find(&self, text: &str, mut at: usize) -> Option<Range<usize>> {
        while let Some(found) = self.finder.find_at(text, at.min(text.len())) {
            let (before, rest) = text.split_at(found.start());
            let after = rest.split_at(found.len()).1;
            let is_cut = self.begins_word && before.ends_with(is_word)
                || self.ends_word && after.starts_with(is_word);
            if !is_cut {
                return Some(found.range());
            }
            at = found.start() + rest.chars().next().map_or(1, char::len_utf8);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, said: &str, input: &str) -> bool {
        let text = Text {
            said: said.to_owned(),
            input: input.to_owned(),
            ..Text::default()
        };
        let matcher = Matcher::new(&SearchQuery::parse(query)).unwrap();
        matcher.find(&text).is_some()
    }

    #[test]
    fn texts_are_found_where_they_stand() {
        let cases = [
            ("notes", "my Notes.", true),
            ("note", "my Notes.", false),
            ("note*", "my Notes.", true),
            ("otes*", "my Notes.", false),
            ("notes.md", "see notes.md", true),
            ("notes.md", "see notes md", false),
            ("\"a b\"", "a\n  b", true),
            ("\"a b\"", "a bc", false),
            ("\"a b\"*", "a bc", true),
            ("foo(", "x = foo(1)", true),
            ("foo(", "foo bar", false),
            ("don't", "I don't", true),
            ("$HOME", "cd $HOME/x", true),
            ("$HOME", "cd HOME", false),
            ("naive", "naïve", true),
            ("NAÏVE", "naive", true),
            ("検索", "全文検索は", true),
            ("検索*", "全文検索は", true),
            ("*", "a * b", true),
            ("*", "a b", false),
            ("🎉", "done 🎉!", true),
            ("ab", "xab ab", true),
        ];
        for (query, text, expected) in cases {
            assert_eq!(found(query, text, ""), expected, "{query}: {text}");
        }
    }

    #[test]
    fn fields_and_operators_are_heeded() {
        let cases = [
            ("said:a", true),
            ("input:a", false),
            ("said:a input:b", true),
            ("a NOT b", false),
            ("a NOT said:b", true),
            ("said:(input:b)", false),
            ("x OR b", true),
            ("x b", false),
        ];
        for (query, expected) in cases {
            assert_eq!(found(query, "a", "b"), expected, "{query}");
        }
    }

    #[test]
    fn patterns_are_bounded() {
        assert!(Matcher::pattern("(").is_err());
        assert!(Matcher::pattern("((a{1000}){1000}){1000}").is_err());
        assert!(Matcher::pattern("^fn \\w+").is_ok());
    }
}
