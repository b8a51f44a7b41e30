//! What the index is asked: which words must be where a search finds something.

use crate::derive::words::{self, LONGEST_WORD, cut, each_word, stands_alone};
use crate::search_query::{Edges, SearchQuery};

/// Words that records have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WordQuery {
    /// A word, or the beginning of one; without case and accents.
    Word { word: String, is_prefix: bool },
    /// All of them.
    All(Vec<Self>),
    /// Any of them.
    Any(Vec<Self>),
}

impl WordQuery {
    /// Returns what must be among the words of records in which a query finds something; nothing if
    /// the words do not tell.
    pub(crate) fn of(query: &SearchQuery) -> Option<Self> {
        match query {
            SearchQuery::Nothing => None,
            SearchQuery::Text { text, edges } => Self::of_text(text, *edges),
            SearchQuery::All(parts) => {
                let parts: Vec<Self> = parts.iter().filter_map(Self::of).collect();
                (!parts.is_empty()).then_some(Self::All(parts))
            }
            SearchQuery::Any(parts) => {
                let parts: Option<Vec<Self>> = parts.iter().map(Self::of).collect();
                parts.map(Self::Any)
            }
            SearchQuery::Without(kept, _) => Self::of(kept),
            SearchQuery::In(_, part) => Self::of(part),
        }
    }

    fn of_text(text: &str, edges: Edges) -> Option<Self> {
        let folded = words::folded(text);
        let folded = folded.trim();
        let mut parts: Vec<Self> = Vec::new();
        each_word(folded, |start, word| {
            let stands_alone = word.starts_with(stands_alone);
            let begins = stands_alone || start > 0 || edges != Edges::Any;
            let ends = stands_alone || start + word.len() < folded.len() || edges == Edges::Words;
            // What a word ends with is not known to the index.
            if begins {
                let part = Self::Word {
                    word: cut(word).to_owned(),
                    is_prefix: !ends && word.len() < LONGEST_WORD,
                };
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        });
        (!parts.is_empty()).then_some(Self::All(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> String {
        fn write(query: &WordQuery) -> String {
            let join = |parts: &[WordQuery], sign: &str| {
                let parts: Vec<String> = parts.iter().map(write).collect();
                parts.join(sign)
            };
            match query {
                WordQuery::Word { word, is_prefix } => {
                    format!("{word}{}", if *is_prefix { "*" } else { "" })
                }
                WordQuery::All(parts) => join(parts, " "),
                WordQuery::Any(parts) => join(parts, "|"),
            }
        }
        WordQuery::of(&SearchQuery::parse(query)).map_or_else(String::new, |query| write(&query))
    }

    #[test]
    fn words_are_asked_for_that_must_be_there() {
        let cases = [
            ("Notes", "notes"),
            ("notes.md", "md*"),
            ("src/main.py", "main py*"),
            ("rm -rf", "rm rf*"),
            ("pre*", "pre*"),
            ("sk-ant*", "sk ant*"),
            ("\"a b\"", "a b"),
            ("foo(", ""),
            ("(a OR b) c", "a|b c"),
            ("a OR foo(", "or foo"),
            ("a NOT b", "a"),
            ("said:naïve", "naive"),
            ("検索x", "検 索 x*"),
            ("$HOME", "home*"),
            ("%", ""),
        ];
        for (query, expected) in cases {
            assert_eq!(asked(query), expected, "{query}");
        }
        let long = format!("{}.", "x".repeat(100));
        assert_eq!(asked(&format!("-{long}")), "x".repeat(LONGEST_WORD));
    }
}
