//! Bytes to lines, with a size policy.
//!
//! Lines end at `\n` and nowhere else: a lone `\r` redraws a progress bar, and U+2028 or U+0085
//! are ordinary characters inside JSON strings.

use std::borrow::Cow;

use memchr::memchr;
use runtape_core::{Span, Stream};

use crate::signal::TapePlace;

/// The longest line that is kept whole, unless told otherwise: 32 MiB.
///
/// A line is one JSON message, and the largest of those carry a file or an image as base64, some
/// megabytes long. The limit leaves room for them and bounds what one hostile line can make us hold.
pub const DEFAULT_LIMIT: usize = 32 * 1024 * 1024;

/// How much of an over-long line is kept, enough to see what it was.
pub const HEAD: usize = 4096;

/// The buffer kept from one line to the next; after a larger line it is given back.
pub(crate) const RETAINED: usize = 1024 * 1024;

/// A line up to this length is a short one.
const SHORT: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// `\n`.
    Lf,
    /// `\r\n`.
    CrLf,
    /// `\r\r\n`: `prompt_toolkit` prints `\r\n`, and the terminal turns its `\n` into `\r\n` again.
    CrCrLf,
    /// The stream ended first, as when a process is killed while it writes.
    None,
}

impl Ending {
    /// Returns what was printed at the end of the line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::CrCrLf => "\r\r\n",
            Self::None => "",
        }
    }
}

/// One line of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The content, without its terminator.
    ///
    /// A byte order mark at the start of the stream is left out here, but is part of the span.
    pub bytes: &'a [u8],
    /// How the line ended.
    pub ending: Ending,
    /// Offset in the stream of the line's first byte.
    pub start: u64,
    /// Offset in the stream just past the line's terminator.
    pub end: u64,
    /// Position among the lines of the stream, starting at one.
    pub number: u64,
    /// When the chunk with the line's last byte arrived, in milliseconds since the epoch.
    pub received_at: i64,
}

impl<'a> Line<'a> {
    /// Returns the content as text, with bytes that are not UTF-8 replaced by U+FFFD.
    #[must_use]
    pub fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes)
    }

    /// Returns the line's place on the tape of a stream.
    #[must_use]
    pub fn place(&self, stream: Stream) -> TapePlace {
        let (start, end) = (self.start, self.end);
        TapePlace {
            span: Some(Span { stream, start, end }),
            line: self.number,
            at: self.received_at,
        }
    }
}

/// What the splitter found between two newlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framed<'a> {
    /// A line within the limit.
    Line(Line<'a>),
    /// A line over the limit. Only its beginning is at hand, [`HEAD`] bytes or the limit if that is
    /// less; the rest was counted and let go.
    TooLong(Line<'a>),
}

impl Framed<'_> {
    /// Says when the line came, where that is better known than by when its bytes were pushed.
    pub(crate) fn set_received_at(&mut self, at: i64) {
        let (Self::Line(line) | Self::TooLong(line)) = self;
        line.received_at = at;
    }
}

/// Reassembles `\n`-terminated lines from arbitrary chunks.
///
/// The same bytes give the same lines however they are cut, but for the times of arrival. A line
/// that lies within one chunk is borrowed from it; only one that crosses an edge is copied.
///
/// ```
/// use runtape_normalizer::framing::lines::{DEFAULT_LIMIT, Framed, LineSplitter};
///
/// let mut seen = Vec::new();
/// let mut each = |framed: Framed<'_>| {
///     if let Framed::Line(line) = framed {
///         seen.push(line.text().into_owned());
///     }
/// };
/// let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
/// splitter.push(b"one\r\ntw", 1, &mut each);
/// splitter.push(b"o", 2, &mut each);
/// splitter.finish(&mut each);
/// assert_eq!(seen, ["one", "two"]);
/// ```
#[derive(Debug)]
pub struct LineSplitter {
    limit: usize,
    /// What earlier chunks held of the current line: all of it, or its head once over the limit.
    carry: Vec<u8>,
    /// How long the current line was in earlier chunks, which the carry does not say once it is
    /// over the limit.
    carried: usize,
    place: LinePosition,
}

/// Where the current line stands.
#[derive(Clone, Copy, Debug)]
struct LinePosition {
    start: u64,
    number: u64,
    received_at: i64,
}

impl LineSplitter {
    /// Creates a splitter that keeps lines of up to `limit` bytes whole.
    ///
    /// What counts is everything before the `\n`, a `\r` and a byte order mark included.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            carry: Vec::new(),
            carried: 0,
            place: LinePosition {
                start: 0,
                number: 1,
                received_at: 0,
            },
        }
    }

    /// Feeds `chunk`, which arrived at `received_at`, calling `each` once per completed line.
    pub fn push(&mut self, chunk: &[u8], received_at: i64, mut each: impl FnMut(Framed<'_>)) {
        let mut rest = chunk;
        while let Some(newline) = memchr(b'\n', rest) {
            let (content, tail) = rest.split_at(newline);
            rest = tail.get(1..).unwrap_or_default();
            self.place.received_at = received_at;
            let length = if self.carried == 0 {
                each(frame(content, content.len(), true, self.limit, self.place));
                content.len()
            } else {
                self.hold(content);
                each(self.held_line(true));
                self.carried
            };
            self.begin_line(length as u64 + 1);
        }
        if !rest.is_empty() {
            self.place.received_at = received_at;
            self.hold(rest);
        }
    }

    /// Yields the unterminated last line, if there is one.
    ///
    /// Its time of arrival is that of the chunk that held its last byte.
    pub fn finish(&mut self, mut each: impl FnMut(Framed<'_>)) {
        if self.carried > 0 {
            each(self.held_line(false));
            self.begin_line(self.carried as u64);
        }
    }

    /// Returns how many bytes of memory are held for the current line.
    #[must_use]
    pub fn held(&self) -> usize {
        self.carry.capacity()
    }

    fn held_line(&self, terminated: bool) -> Framed<'_> {
        frame(
            &self.carry,
            self.carried,
            terminated,
            self.limit,
            self.place,
        )
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.carried = self.carried.saturating_add(bytes.len());
        let too_long = self.carried > self.limit;
        let room = if too_long {
            head_length(self.limit)
        } else {
            self.limit
        };
        self.carry.truncate(room);
        let wanted = bytes.len().min(room - self.carry.len());
        make_room(&mut self.carry, wanted, self.limit);
        self.carry
            .extend_from_slice(bytes.get(..wanted).unwrap_or_default());
        if too_long {
            self.carry.shrink_to_fit();
        }
    }

    fn begin_line(&mut self, length: u64) {
        self.place.start += length;
        self.place.number += 1;
        self.carried = 0;
        self.carry.clear();
        if self.carry.capacity() > RETAINED {
            self.carry = Vec::new();
        }
    }
}

/// Makes room for more of a line as `Vec` would, by doubling, but never for more than a limit. A line that is not a short one
/// gets at once as much as is kept from line to line: to copy it into ever larger rooms takes longer than to read it.
pub(crate) fn make_room(carry: &mut Vec<u8>, wanted: usize, limit: usize) {
    let length = carry.len() + wanted;
    if length > carry.capacity() {
        let least = if length > SHORT { RETAINED } else { length };
        let doubled = carry.capacity().saturating_mul(2).max(least);
        carry.reserve_exact(doubled.min(limit).max(length) - carry.len());
    }
}

fn head_length(limit: usize) -> usize {
    HEAD.min(limit)
}

/// Makes a line of `kept`, which is all `length` bytes of it, or a part if that is over the limit.
fn frame(
    kept: &[u8],
    length: usize,
    terminated: bool,
    limit: usize,
    place: LinePosition,
) -> Framed<'_> {
    let LinePosition {
        start,
        number,
        received_at,
    } = place;
    let end = start + length as u64 + u64::from(terminated);
    let kept = if length > limit {
        kept.get(..head_length(limit)).unwrap_or(kept)
    } else {
        kept
    };
    let content = match kept.strip_prefix(BYTE_ORDER_MARK) {
        Some(content) if start == 0 => content,
        _ => kept,
    };
    let is_too_long = length > limit;
    let (bytes, ending) = if terminated && !is_too_long {
        split_ending(content)
    } else {
        (content, Ending::None)
    };
    let line = Line {
        bytes,
        ending,
        start,
        end,
        number,
        received_at,
    };
    if is_too_long {
        Framed::TooLong(line)
    } else {
        Framed::Line(line)
    }
}

fn split_ending(content: &[u8]) -> (&[u8], Ending) {
    if let Some(bytes) = content.strip_suffix(b"\r\r") {
        (bytes, Ending::CrCrLf)
    } else if let Some(bytes) = content.strip_suffix(b"\r") {
        (bytes, Ending::CrLf)
    } else {
        (content, Ending::Lf)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A framed line, owned: kind, bytes, ending, start, end, number, received at.
    type Seen = (bool, Vec<u8>, Option<Ending>, u64, u64, u64, i64);

    fn seen(framed: Framed<'_>) -> Seen {
        let (Framed::Line(line) | Framed::TooLong(line)) = framed;
        let is_whole = matches!(framed, Framed::Line(_));
        (
            is_whole,
            line.bytes.to_vec(),
            is_whole.then_some(line.ending),
            line.start,
            line.end,
            line.number,
            line.received_at,
        )
    }

    fn split<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Seen> {
        let mut lines = Vec::new();
        let mut splitter = LineSplitter::new(limit);
        for (at, chunk) in (0..).zip(chunks) {
            splitter.push(chunk, at, |framed| lines.push(seen(framed)));
            assert!(splitter.held() <= limit.max(8));
        }
        splitter.finish(|framed| lines.push(seen(framed)));
        lines
    }

    #[test]
    fn only_a_newline_ends_a_line() {
        let line = |bytes: &str, ending, start, end, number| {
            (
                true,
                bytes.as_bytes().to_vec(),
                Some(ending),
                start,
                end,
                number,
                0,
            )
        };
        let input = "a\nb\r\nc\r\r\n\nd\re\u{2028}f\u{85}g\n h ";
        assert_eq!(
            split(DEFAULT_LIMIT, [input.as_bytes()]),
            [
                line("a", Ending::Lf, 0, 2, 1),
                line("b", Ending::CrLf, 2, 5, 2),
                line("c", Ending::CrCrLf, 5, 9, 3),
                line("", Ending::Lf, 9, 10, 4),
                line("d\re\u{2028}f\u{85}g", Ending::Lf, 10, 21, 5),
                line(" h ", Ending::None, 21, 24, 6),
            ]
        );
    }

    #[test]
    fn a_carriage_return_without_its_newline_stays_in_the_last_line() {
        assert_eq!(split(64, [&b"a\r"[..]])[0].1, b"a\r");
    }

    #[test]
    fn an_empty_stream_has_no_lines() {
        assert!(split(64, []).is_empty());
        assert!(split(64, [&b""[..], b""]).is_empty());
    }

    #[test]
    fn a_byte_order_mark_counts_in_the_span_but_not_in_the_line() {
        let lines = split(64, [&b"\xEF"[..], b"\xBB\xBF{}\n\xEF\xBB\xBFx\n"]);
        assert_eq!(
            (&lines[0].1[..], lines[0].3, lines[0].4),
            (&b"{}"[..], 0, 6)
        );
        assert_eq!(lines[1].1, b"\xEF\xBB\xBFx");
    }

    #[test]
    fn a_line_arrives_with_its_last_byte() {
        let lines = split(64, [&b"a"[..], b"b", b"\nc\nd", b"e", b"", b""]);
        let times: Vec<i64> = lines.iter().map(|line| line.6).collect();
        assert_eq!(times, [2, 2, 3]);
    }

    #[test]
    fn a_line_within_a_chunk_is_borrowed_from_it() {
        let chunk = b"one\ntwo\n".to_vec();
        let range = chunk.as_ptr_range();
        let mut splitter = LineSplitter::new(64);
        splitter.push(&chunk, 0, |framed| {
            let Framed::Line(line) = framed else {
                panic!("no line is too long")
            };
            assert!(range.contains(&line.bytes.as_ptr()));
        });
        assert_eq!(splitter.held(), 0);
    }

    #[test]
    fn a_line_over_the_limit_is_counted_not_held() {
        let limit = 1024 * 1024;
        let mut splitter = LineSplitter::new(limit);
        let mut lines = Vec::new();
        let chunk = vec![b'x'; 100_000];
        for _ in 0..100 {
            splitter.push(&chunk, 7, |framed| lines.push(seen(framed)));
            assert!(splitter.held() <= limit);
        }
        assert!(splitter.held() <= HEAD);
        splitter.push(b"\nshort\n", 8, |framed| lines.push(seen(framed)));
        assert_eq!(
            lines,
            [
                (false, vec![b'x'; HEAD], None, 0, 10_000_001, 1, 8),
                (
                    true,
                    b"short".to_vec(),
                    Some(Ending::Lf),
                    10_000_001,
                    10_000_007,
                    2,
                    8
                ),
            ]
        );
    }

    #[test]
    fn a_large_buffer_is_given_back_after_its_line() {
        let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
        splitter.push(&vec![b'x'; 2 * RETAINED], 0, |_| {});
        assert!(splitter.held() >= 2 * RETAINED);
        splitter.push(b"\n", 0, |_| {});
        assert_eq!(splitter.held(), 0);
    }

    #[test]
    fn a_line_at_the_limit_is_whole_and_one_over_is_not() {
        assert!(split(4, [&b"abcd\n"[..]])[0].0);
        let lines = split(4, [&b"abcde\n"[..]]);
        assert_eq!((lines[0].0, &lines[0].1[..]), (false, &b"abcd"[..]));
        assert_eq!(split(0, [&b"a\n\n"[..]]).len(), 2);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replaced_in_the_text() {
        let mut texts = Vec::new();
        let mut splitter = LineSplitter::new(64);
        let mut each = |framed: Framed<'_>| {
            if let Framed::Line(line) = framed {
                texts.push(line.text().into_owned());
            }
        };
        splitter.push(b"caf\xC3", 0, &mut each);
        splitter.push(b"\xA9 \xFF\n", 0, &mut each);
        assert_eq!(texts, ["caf\u{e9} \u{fffd}"]);
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            3 => Just(b"\n".to_vec()),
            2 => Just(b"\r".to_vec()),
            1 => Just(BYTE_ORDER_MARK.to_vec()),
            4 => proptest::collection::vec(any::<u8>(), 0..12),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn chunking_never_changes_the_lines(
            bytes in stream(),
            cuts in proptest::collection::vec(0usize..9, 0..300),
            limit in prop_oneof![0usize..20, Just(DEFAULT_LIMIT)],
        ) {
            let mut chunks = Vec::new();
            let mut rest = &bytes[..];
            for cut in cuts {
                let (chunk, tail) = rest.split_at(cut.min(rest.len()));
                chunks.push(chunk);
                rest = tail;
            }
            chunks.push(rest);
            let untimed = |lines: Vec<Seen>| -> Vec<Seen> {
                lines.into_iter().map(|mut line| { line.6 = 0; line }).collect()
            };
            let whole = untimed(split(limit, [&bytes[..]]));
            prop_assert_eq!(whole.last().map_or(0, |line| line.4), bytes.len() as u64);
            prop_assert!(whole.windows(2).all(|pair| pair[0].4 == pair[1].3));
            prop_assert_eq!(whole, untimed(split(limit, chunks)));
        }
    }
}
