//! The grammar of searches, which any database is asked in.
//!
//! ```text
//! query   = either ("OR" either)*
//! either  = both ("AND" both)*
//! both    = all ("NOT" all)*
//! all     = part+                      every one of them
//! part    = [field ":"] (word | word "*" | "\"" phrase "\"" | "(" query ")")
//! field   = "said" | "input" | "output" | "notice"
//! ```
//!
//! Whatever is not that is taken literally, as it stands: half a line of code, a quotation mark. So is a
//! word with something in it that is no letter: a file's name, an option. So there is no text that
//! cannot be searched for.

use crate::derive::text::FIELDS;
use crate::derive::words::{is_word, stands_alone};

/// Most words that are looked for: more of them find no less.
const MOST_WORDS: usize = 300;

/// Longest text that is looked for, in letters: what is longer is found by its beginning.
const LONGEST_TEXT: usize = 1000;

/// Deepest nesting of parentheses and operators.
const DEEPEST: usize = 40;

/// What is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchQuery {
    /// Nothing: there is no text in it.
    Nothing,
    /// A text that is found where it stands; between its words there may be any white space.
    Text { text: String, edges: Edges },
    /// All of them.
    All(Vec<Self>),
    /// Any of them.
    Any(Vec<Self>),
    /// The first without the second.
    Without(Box<Self>, Box<Self>),
    /// Only in this field, one of [`FIELDS`].
    In(&'static str, Box<Self>),
}

/// What may stand beside a text that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edges {
    /// No letter of a word: its words are whole ones.
    Words,
    /// The same before it; of the last word it may be the beginning.
    Beginning,
    /// Anything.
    Any,
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
        Self::literal(&text)
    }

    /// Takes a text as it stands, whatever it is.
    fn literal(text: &str) -> Self {
        Self::word(text.trim()).simplified()
    }

    /// Makes a word, or several: those of letters only are whole ones.
    fn word(word: &str) -> Self {
        let is_plain = |letter: char| is_word(letter) || letter.is_whitespace();
        let edges = if word.chars().all(is_plain) {
            Edges::Words
        } else {
            Edges::Any
        };
        Self::text(word, edges)
    }

    fn text(text: &str, edges: Edges) -> Self {
        let end = text.char_indices().nth(LONGEST_TEXT);
        let (text, _) = text.split_at(end.map_or(text.len(), |(end, _)| end));
        Self::Text {
            text: text.to_owned(),
            edges,
        }
    }

    /// Returns the same search for texts wherever they stand, also within words.
    pub(crate) fn within_words(self) -> Self {
        let all = |parts: Vec<Self>| parts.into_iter().map(Self::within_words).collect();
        match self {
            Self::Nothing => Self::Nothing,
            Self::Text { text, .. } => Self::Text {
                text,
                edges: Edges::Any,
            },
            Self::All(parts) => Self::All(all(parts)),
            Self::Any(parts) => Self::Any(all(parts)),
            Self::Without(kept, left_out) => {
                Self::Without(kept.within_words().into(), left_out.within_words().into())
            }
            Self::In(field, part) => Self::In(field, part.within_words().into()),
        }
    }

    /// Leaves out parts without a text in them, for they could not be found.
    fn simplified(self) -> Self {
        match self {
            Self::Text { text, .. } if text.trim().is_empty() => Self::Nothing,
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
            Some(start) if start.ends_with(|last| is_word(last) || stands_alone(last)) => {
                Token::Prefix(start)
            }
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
            Token::Word(word) => Some(SearchQuery::word(word)),
            Token::Prefix(word) => Some(SearchQuery::text(word, Edges::Beginning)),
            Token::Phrase(phrase) => Some(SearchQuery::text(phrase, Edges::Words)),
            Token::PrefixPhrase(phrase) => Some(SearchQuery::text(phrase, Edges::Beginning)),
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
        SearchQuery::text(text, Edges::Words)
    }

    fn any(text: &str) -> SearchQuery {
        SearchQuery::text(text, Edges::Any)
    }

    fn all(parts: &[&str]) -> SearchQuery {
        SearchQuery::All(parts.iter().map(|part| SearchQuery::word(part)).collect())
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
            ("pre*", SearchQuery::text("pre", Edges::Beginning)),
            ("sk-ant*", SearchQuery::text("sk-ant", Edges::Beginning)),
            ("\"a pre\"*", SearchQuery::text("a pre", Edges::Beginning)),
            ("said:a", SearchQuery::In("said", a())),
            ("input: a", SearchQuery::In("input", a())),
            ("notice:a", SearchQuery::In("notice", a())),
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
            ("notes.md", any("notes.md")),
            ("src/main.py", any("src/main.py")),
            ("rm -rf", SearchQuery::All(vec![words("rm"), any("-rf")])),
            ("don't", any("don't")),
            ("$HOME", any("$HOME")),
            ("foo(", any("foo(")),
            ("foo(bar) baz", any("foo(bar) baz")),
            ("a:b", any("a:b")),
            ("nope: x", SearchQuery::All(vec![any("nope:"), words("x")])),
            ("\"open it", any("\"open it")),
            ("AND", words("AND")),
            ("a OR", words("a OR")),
            ("NOT a", words("NOT a")),
            ("said:", any("said:")),
            ("a)", any("a)")),
            ("a NEAR(", any("a NEAR(")),
            ("検索", any("検索")),
            ("", SearchQuery::Nothing),
            ("\"\"", SearchQuery::Nothing),
            ("--", any("--")),
            ("*", any("*")),
            ("%", any("%")),
            ("a\0b", all(&["a", "b"])),
        ];
        for (text, expected) in cases {
            assert_eq!(SearchQuery::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_long_or_deep_is_bounded() {
        let deep = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
        let nots = "a NOT ".repeat(5000) + "b";
        let long: Vec<String> = (0..10_000).map(|number| format!("w{number}")).collect();
        for text in [deep, nots, long.join(" ")] {
            let SearchQuery::Text { text, .. } = SearchQuery::parse(&text) else {
                panic!("taken as it stands");
            };
            assert_eq!(text.chars().count(), LONGEST_TEXT);
        }
    }
}
