//! The grammar of searches, which any database is asked in.
//!
//! ```text
//! query   = either ("OR" either)*
//! either  = both ("AND" both)*
//! both    = all ("NOT" all)*
//! all     = part+                      every one of them
//! part    = [field ":"] (word | word "*" | "\"" phrase "\"" | "(" query ")")
//! field   = "said" | "input" | "output"
//! ```
//!
//! Whatever is not that is taken literally, word by word: a file's name, a command, half a line of
//! code. So there is no text that cannot be searched for.

use std::collections::HashSet;

use crate::derive::text::FIELDS;

/// Most words that are looked for: more of them find no less.
const MOST_WORDS: usize = 300;

/// Deepest nesting of parentheses and operators.
const DEEPEST: usize = 40;

/// What is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchQuery {
    /// Nothing: there is no word in it.
    Nothing,
    /// Words that follow each other; of the last one maybe only the beginning.
    Words { text: String, is_prefix: bool },
    /// All of them.
    All(Vec<Self>),
    /// Any of them.
    Any(Vec<Self>),
    /// The first without the second.
    Without(Box<Self>, Box<Self>),
    /// Only in this field, one of [`FIELDS`].
    In(&'static str, Box<Self>),
}

impl SearchQuery {
    /// Reads what somebody typed.
    pub(crate) fn parse(text: &str) -> Self {
        // No database takes it, and nobody types it.
        let text = text.replace('\0', " ");
        let tokens = tokens(&text);
        if tokens.len() <= MOST_WORDS
            && let Some(query) = Parser::new(&tokens).whole()
        {
            return query.simplified();
        }
        literal(&text)
    }

    fn words(text: &str, is_prefix: bool) -> Self {
        Self::Words {
            text: text.to_owned(),
            is_prefix,
        }
    }

    /// Leaves out parts without a word in them, for they could not be found.
    fn simplified(self) -> Self {
        match self {
            Self::Words { text, .. } if !text.contains(char::is_alphanumeric) => Self::Nothing,
            Self::All(parts) => Self::some(parts, Self::All),
            Self::Any(parts) => Self::some(parts, Self::Any),
            Self::Without(kept, left_out) => match (kept.simplified(), left_out.simplified()) {
                (kept, Self::Nothing) | (kept @ Self::Nothing, _) => kept,
                (kept, left_out) => Self::Without(kept.into(), left_out.into()),
            },
            Self::In(field, part) => match part.simplified() {
                Self::Nothing => Self::Nothing,
                part => Self::In(field, part.into()),
            },
            other => other,
        }
    }

    fn some(parts: Vec<Self>, join: fn(Vec<Self>) -> Self) -> Self {
        let parts = parts.into_iter().map(Self::simplified);
        let mut parts: Vec<Self> = parts.filter(|part| *part != Self::Nothing).collect();
        match (parts.pop(), parts.is_empty()) {
            (None, _) => Self::Nothing,
            (Some(only), true) => only,
            (Some(last), false) => {
                parts.push(last);
                join(parts)
            }
        }
    }
}

/// Takes a text for words, whatever else is in it.
fn literal(text: &str) -> SearchQuery {
    let mut seen = HashSet::new();
    let words = text
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphanumeric) && seen.insert(*word));
    let words = words.map(|word| SearchQuery::words(word, false));
    SearchQuery::All(words.take(MOST_WORDS).collect()).simplified()
}

/// A piece of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Prefix(&'a str),
    Phrase(&'a str),
    PrefixPhrase(&'a str),
    Field(&'static str),
    And,
    Or,
    Not,
    Open,
    Close,
    /// A quotation mark without its other half, and what is not in the grammar.
    Stray,
}

/// Cuts a text into tokens.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) = match first {
            '"' => phrase(rest),
            '(' => (Token::Open, rest.strip_prefix('(').unwrap_or_default()),
            ')' => (Token::Close, rest.strip_prefix(')').unwrap_or_default()),
            _ => word(rest),
        };
        tokens.push(token);
        rest = after.trim_start();
        // Far more than a person types: the rest does not matter, for it is taken literally.
        if tokens.len() > MOST_WORDS {
            break;
        }
    }
    tokens
}

fn phrase(text: &str) -> (Token<'_>, &str) {
    let inner = text.strip_prefix('"').unwrap_or_default();
    match inner.split_once('"') {
        None => (Token::Stray, ""),
        Some((phrase, after)) => match after.strip_prefix('*') {
            Some(after) => (Token::PrefixPhrase(phrase), after),
            None => (Token::Phrase(phrase), after),
        },
    }
}

fn word(text: &str) -> (Token<'_>, &str) {
    let is_end = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '(' | ')');
    let length = text.find(is_end).unwrap_or(text.len());
    let (word, after) = text.split_at_checked(length).unwrap_or((text, ""));
    // `foo(` and `foo"` are code, not words with something after them.
    if after.starts_with(['"', '(']) && !word.ends_with(':') {
        return (Token::Stray, "");
    }
    for field in FIELDS {
        if let Some(behind) = word
            .strip_prefix(field)
            .and_then(|rest| rest.strip_prefix(':'))
        {
            let start = length - behind.len();
            let (_, after) = text.split_at_checked(start).unwrap_or((text, ""));
            return (Token::Field(field), after);
        }
    }
    let token = match word {
        "AND" => Token::And,
        "OR" => Token::Or,
        "NOT" => Token::Not,
        _ => match word.strip_suffix('*') {
            Some(start) if start.ends_with(char::is_alphanumeric) => Token::Prefix(start),
            _ => Token::Word(word),
        },
    };
    (token, after)
}

/// Reads tokens by the grammar; what does not fit gives nothing.
struct Parser<'a> {
    tokens: std::iter::Peekable<std::iter::Copied<std::slice::Iter<'a, Token<'a>>>>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(tokens: &'a [Token<'a>]) -> Self {
        Self {
            tokens: tokens.iter().copied().peekable(),
            depth: 0,
        }
    }

    fn whole(mut self) -> Option<SearchQuery> {
        if self.tokens.peek().is_none() {
            return Some(SearchQuery::Nothing);
        }
        let query = self.query()?;
        self.tokens.next().is_none().then_some(query)
    }

    fn takes(&mut self, token: Token<'_>) -> bool {
        self.tokens.next_if(|next| *next == token).is_some()
    }

    fn query(&mut self) -> Option<SearchQuery> {
        let mut parts = vec![self.either()?];
        while self.takes(Token::Or) {
            parts.push(self.either()?);
        }
        Some(SearchQuery::Any(parts))
    }

    fn either(&mut self) -> Option<SearchQuery> {
        let mut parts = vec![self.both()?];
        while self.takes(Token::And) {
            parts.push(self.both()?);
        }
        Some(SearchQuery::All(parts))
    }

    fn both(&mut self) -> Option<SearchQuery> {
        let mut query = self.all()?;
        let mut without = 0;
        while self.takes(Token::Not) {
            without += 1;
            if self.depth + without > DEEPEST {
                return None;
            }
            query = SearchQuery::Without(query.into(), self.all()?.into());
        }
        Some(query)
    }

    fn all(&mut self) -> Option<SearchQuery> {
        let mut parts = vec![self.part()?];
        while let Some(next) = self.tokens.peek() {
            if matches!(next, Token::And | Token::Or | Token::Not | Token::Close) {
                break;
            }
            parts.push(self.part()?);
        }
        Some(SearchQuery::All(parts))
    }

    fn part(&mut self) -> Option<SearchQuery> {
        match self.tokens.next()? {
            Token::Word(word) => Some(SearchQuery::words(word, false)),
            Token::Prefix(word) => Some(SearchQuery::words(word, true)),
            Token::Phrase(phrase) => Some(SearchQuery::words(phrase, false)),
            Token::PrefixPhrase(phrase) => Some(SearchQuery::words(phrase, true)),
            Token::Field(field) => {
                let part = self.deeper(Self::part)?;
                Some(SearchQuery::In(field, part.into()))
            }
            Token::Open => {
                let query = self.deeper(Self::query)?;
                self.takes(Token::Close).then_some(query)
            }
            Token::And | Token::Or | Token::Not | Token::Close | Token::Stray => None,
        }
    }

    fn deeper(&mut self, read: fn(&mut Self) -> Option<SearchQuery>) -> Option<SearchQuery> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let query = read(self);
        self.depth -= 1;
        query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> SearchQuery {
        SearchQuery::words(text, false)
    }

    fn all(parts: &[&str]) -> SearchQuery {
        SearchQuery::All(parts.iter().map(|part| words(part)).collect())
    }

    #[test]
    fn the_grammar_is_understood() {
        let a = || Box::new(words("a"));
        let cases = [
            ("a", words("a")),
            ("a b", all(&["a", "b"])),
            ("a AND b", all(&["a", "b"])),
            ("a OR b", SearchQuery::Any(vec![words("a"), words("b")])),
            (
                "a NOT b c",
                SearchQuery::Without(a(), all(&["b", "c"]).into()),
            ),
            ("\"a b\"", words("a b")),
            ("pre*", SearchQuery::words("pre", true)),
            ("\"a pre\"*", SearchQuery::words("a pre", true)),
            ("said:a", SearchQuery::In("said", a())),
            ("input: a", SearchQuery::In("input", a())),
            (
                "output:(a OR b)",
                SearchQuery::In(
                    "output",
                    SearchQuery::Any(vec![words("a"), words("b")]).into(),
                ),
            ),
            (
                "a (b OR c)",
                SearchQuery::All(vec![
                    words("a"),
                    SearchQuery::Any(vec![words("b"), words("c")]),
                ]),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(SearchQuery::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn whatever_is_not_the_grammar_is_taken_literally() {
        let cases = [
            ("notes.md", words("notes.md")),
            ("rm -rf", all(&["rm", "-rf"])),
            ("don't", words("don't")),
            ("foo(", words("foo(")),
            ("foo(bar)", words("foo(bar)")),
            ("a:b", words("a:b")),
            ("nope: x", all(&["nope:", "x"])),
            ("\"open", words("\"open")),
            ("AND", words("AND")),
            ("a OR", all(&["a", "OR"])),
            ("NOT a", all(&["NOT", "a"])),
            ("said:", words("said:")),
            ("a)", words("a)")),
            ("a NEAR(", all(&["a", "NEAR("])),
            ("^a + {b}", all(&["^a", "{b}"])),
            ("", SearchQuery::Nothing),
            (" -- ", SearchQuery::Nothing),
            ("*", SearchQuery::Nothing),
            ("a\0b", all(&["a", "b"])),
        ];
        for (text, expected) in cases {
            assert_eq!(SearchQuery::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_long_or_deep_is_bounded() {
        let deep = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
        assert!(matches!(
            SearchQuery::parse(&deep),
            SearchQuery::Words { .. }
        ));
        let nots = "a NOT ".repeat(5000) + "b";
        assert!(matches!(SearchQuery::parse(&nots), SearchQuery::All(_)));
        let long: Vec<String> = (0..10_000).map(|number| format!("w{number}")).collect();
        let long = long.join(" ");
        let SearchQuery::All(parts) = SearchQuery::parse(&long) else {
            panic!("all of them");
        };
        assert_eq!(parts.len(), MOST_WORDS);
    }
}
