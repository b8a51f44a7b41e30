//! One JSON value printed over many lines.

use memchr::memchr2;
use runtape_core::{Span, Stream};

use super::lines::{HEAD, Line};
use super::pieces::find_opening;
use crate::signal::TapePlace;

/// Gathers a JSON document that is printed over many lines.
///
/// Text before the document, on its first line or earlier ones, is passed back, and so is what
/// follows it. The document begins at `{` or `[` at the end of a line, at `{"` or `[{`, or with
/// a line that is `{}` or `[]`; other brackets are text.
///
/// Each byte is looked at once, however many lines there are.
///
/// ```
/// use runtape_normalizer::framing::Document;
/// use runtape_normalizer::framing::lines::{DEFAULT_LIMIT, Framed, LineSplitter};
///
/// let mut document = Document::new(DEFAULT_LIMIT);
/// let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
/// splitter.push(b"Loaded.{\n  \"a\": 1\n}\n", 0, |framed| {
///     if let Framed::Line(line) = framed {
///         document.push_line(&line);
///     }
/// });
/// assert!(document.is_complete());
/// assert_eq!(document.bytes(), b"{\n  \"a\": 1\n}");
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    limit: usize,
    bytes: Vec<u8>,
    over_limit: bool,
    span: Option<(u64, u64)>,
    /// The number of its first line.
    line: u64,
    /// When its last line was received.
    received_at: i64,
    scan: BracketScan,
}

/// What of a line was no part of the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside<'a> {
    /// Text before the document: the whole line, if it has not begun.
    pub before: &'a [u8],
    /// Text after the document: the whole line, if it was complete already.
    pub after: &'a [u8],
}

impl Document {
    /// Creates an empty document that holds at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            bytes: Vec::new(),
            over_limit: false,
            span: None,
            line: 0,
            received_at: 0,
            scan: BracketScan::default(),
        }
    }

    /// Adds a line, and returns what of it is not the document's.
    pub fn push_line<'a>(&mut self, line: &Line<'a>) -> Outside<'a> {
        if self.is_complete() {
            return Outside {
                before: &[],
                after: line.bytes,
            };
        }
        let start = if self.has_begun() {
            // Lines are joined as they were, whatever their terminator.
            self.keep(b"\n");
            0
        } else if let Some(start) = find_document(line.bytes) {
            start
        } else {
            return Outside {
                before: line.bytes,
                after: &[],
            };
        };
        let (before, inside) = line.bytes.split_at(start);
        let (inside, after) = inside.split_at(self.scan.push(inside));
        self.keep(inside);
        if self.span.is_none() {
            self.line = line.number;
        }
        let (first, _) = self.span.unwrap_or((line.start, line.end));
        self.span = Some((first, line.end));
        self.received_at = line.received_at;
        Outside { before, after }
    }

    /// Returns whether any line was part of the document.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.span.is_some()
    }

    /// Returns whether every bracket of the document is closed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.has_begun() && self.scan.depth == 0
    }

    /// Returns the document so far, or its first bytes if it is over the limit.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the offsets in the stream between which the document's lines lie, once it has begun.
    #[must_use]
    pub fn span(&self) -> Option<(u64, u64)> {
        self.span
    }

    /// Returns the place of the document's lines on a stream, once it has begun: the number of its
    /// first line, the time of its last.
    #[must_use]
    pub fn place(&self, stream: Stream) -> Option<TapePlace> {
        let (start, end) = self.span?;
        Some(TapePlace {
            span: Some(Span { stream, start, end }),
            line: self.line,
            at: self.received_at,
        })
    }

    /// Returns whether the document has outgrown its limit, so that only its beginning is kept.
    ///
    /// Its end is found all the same.
    #[must_use]
    pub fn is_over_limit(&self) -> bool {
        self.over_limit
    }

    /// Empties the document, to begin another, and gives back its memory.
    pub fn clear(&mut self) {
        *self = Self::new(self.limit);
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.over_limit {
            return;
        }
        let room = self.limit - self.bytes.len();
        if let Some(head) = bytes.get(..room)
            && bytes.len() > room
        {
            self.over_limit = true;
            let missing = HEAD.saturating_sub(self.bytes.len());
            self.bytes
                .extend_from_slice(head.get(..missing).unwrap_or(head));
            self.bytes.truncate(HEAD);
            self.bytes.shrink_to_fit();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

fn find_document(line: &[u8]) -> Option<usize> {
    if matches!(line.trim_ascii(), b"{}" | b"[]") {
        return memchr2(b'{', b'[', line);
    }
    find_opening(line, true)
}

/// Brackets and strings, as far as they have been read.
///
/// Which bracket closes which is left to the decoder.
#[derive(Clone, Copy, Debug, Default)]
struct BracketScan {
    depth: usize,
    in_string: bool,
    /// The last byte was a backslash in a string.
    escaped: bool,
}

impl BracketScan {
    /// Reads on, up to the bracket that closes the first; returns how much was read.
    fn push(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                let rest = bytes.get(at..).unwrap_or_default();
                let Some(found) = memchr2(b'"', b'\\', rest) else {
                    return bytes.len();
                };
                at += found;
                self.escaped = bytes.get(at) == Some(&b'\\');
                self.in_string = self.escaped;
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => {
                        self.depth = self.depth.saturating_sub(1);
                        if self.depth == 0 {
                            return at + 1;
                        }
                    }
                    _ => {}
                }
            }
            at += 1;
        }
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::framing::lines::{DEFAULT_LIMIT, Framed, LineSplitter};

    /// Pushes every line; returns the text before the document, and after it.
    fn push(document: &mut Document, text: &[u8]) -> (String, String) {
        let mut outside = (String::new(), String::new());
        let mut each = |framed: Framed<'_>| {
            let Framed::Line(line) = framed else {
                panic!("no line is too long")
            };
            let Outside { before, after } = document.push_line(&line);
            outside.0 += &String::from_utf8_lossy(before);
            outside.1 += &String::from_utf8_lossy(after);
        };
        let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
        splitter.push(text, 0, &mut each);
        splitter.finish(&mut each);
        outside
    }

    #[test]
    fn a_document_is_found_among_text() {
        let table = [
            (
                "alone",
                "{\n \"a\": [\n1\n]\n}",
                "",
                "{\n \"a\": [\n1\n]\n}",
                "",
                true,
            ),
            ("crlf", "[\r\n{\r\n}\r\n]\r\n", "", "[\n{\n}\n]", "", true),
            (
                "banner",
                "Loaded [1] \"x.\n{\n}",
                "Loaded [1] \"x.",
                "{\n}",
                "",
                true,
            ),
            (
                "glued",
                "Loaded.{\n\"a\":1}",
                "Loaded.",
                "{\n\"a\":1}",
                "",
                true,
            ),
            ("escapes", "\x1b[2K{\n}", "\x1b[2K", "{\n}", "", true),
            ("trailer", "{\n}bye\n{\n", "", "{\n}", "bye{", true),
            ("one line", "x {\"a\":{}} y", "x ", "{\"a\":{}}", " y", true),
            ("nothing in it", "{}", "", "{}", "", true),
            (
                "brackets in text",
                "{\n\"}]\\\"}\\\\\"\n}",
                "",
                "{\n\"}]\\\"}\\\\\"\n}",
                "",
                true,
            ),
            ("cut", "{\n\"a\": \"}", "", "{\n\"a\": \"}", "", false),
            ("no document", "foo() {} [x]", "foo() {} [x]", "", "", false),
        ];
        for (name, input, before, inside, after, complete) in table {
            let mut document = Document::new(DEFAULT_LIMIT);
            let outside = push(&mut document, input.as_bytes());
            assert_eq!(outside, (before.to_owned(), after.to_owned()), "{name}");
            assert_eq!(String::from_utf8_lossy(document.bytes()), inside, "{name}");
            assert_eq!(document.is_complete(), complete, "{name}");
            assert!(!document.is_over_limit(), "{name}");
        }
    }

    #[test]
    fn the_span_is_that_of_its_lines() {
        let mut document = Document::new(DEFAULT_LIMIT);
        assert_eq!(document.span(), None);
        push(&mut document, b"text\nmore {\n}\nafter\n");
        assert_eq!(document.span(), Some((5, 14)));
        let place = document.place(Stream::Stderr).unwrap();
        let span = place.span.unwrap();
        assert_eq!((span.stream, span.start, span.end), (Stream::Stderr, 5, 14));
        assert_eq!((place.line, place.at), (2, 0));
    }

    #[test]
    fn past_its_limit_a_document_keeps_its_beginning_and_still_ends() {
        let text = format!("{{\n\"a\": \"{}\"\n}}\nafter", "x\n".repeat(5000));
        let mut document = Document::new(5000);
        let (_, after) = push(&mut document, text.as_bytes());
        assert!(document.is_over_limit());
        assert!(document.is_complete());
        assert_eq!(document.bytes(), &text.as_bytes()[..HEAD]);
        assert_eq!(after, "after");

        document.clear();
        assert!(!document.is_over_limit() && !document.is_complete());
        push(&mut document, b"[\n]");
        assert_eq!(document.bytes(), b"[\n]");
    }

    #[test]
    fn a_small_limit_holds_too() {
        for limit in 0..8 {
            let mut document = Document::new(limit);
            push(&mut document, b"{\n\"a\":\n1\n}");
            assert!(document.bytes().len() <= limit);
            assert!(document.is_over_limit() && document.is_complete());
        }
    }

    #[test]
    fn a_megabyte_of_openings_is_quick() {
        for opening in ["{\n", "{\"a\n", "[", "\"\\\n", "[\n\"", "x\n"] {
            let text = opening.repeat(1_000_000 / opening.len());
            let began = Instant::now();
            push(&mut Document::new(DEFAULT_LIMIT), text.as_bytes());
            assert!(began.elapsed() < Duration::from_secs(10), "{opening:?}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_document_reads_back(
            texts in proptest::collection::vec("[a-z{}\\[\\]\"\\\\\n]{0,12}", 0..8),
            banner in "[a-z \"]{0,12}\n?",
        ) {
            let value = json!({ "texts": texts, "nested": { "empty": [], "more": [{}] } });
            let printed = format!("{banner}{value:#}");
            let mut document = Document::new(DEFAULT_LIMIT);
            push(&mut document, printed.as_bytes());
            prop_assert!(document.is_complete());
            let read: Value = serde_json::from_slice(document.bytes()).unwrap();
            prop_assert_eq!(read, value);
        }

        #[test]
        fn any_bytes_can_be_pushed(
            bytes in proptest::collection::vec(prop_oneof![Just(b'{'), Just(b'\n'), any::<u8>()], 0..200),
            limit in 0usize..64,
        ) {
            let mut document = Document::new(limit);
            push(&mut document, &bytes);
            prop_assert!(document.bytes().len() <= limit);
        }
    }
}
