//! Lines that are held until it is known what they are.

use std::borrow::Cow;

use runtape_core::Stream;

use super::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::TapePlace;

/// The most bytes of a stream that are held until the output, or the exit, shows what they are.
///
/// Banners, the echo of a prompt and messages of errors are far shorter, and so are most answers.
pub(crate) const MOST_HELD: usize = 8 * 1024 * 1024;

/// How many lines, and bytes of them, may come before JSON: banners and warnings of a CLI. Longer text
/// is an answer, which is to be shown while it comes.
pub(crate) const MOST_BANNER_LINES: usize = 32;
pub(crate) const MOST_BANNER_BYTES: usize = 8 * 1024;

/// Lines that are held until it is known what they are.
#[derive(Debug)]
pub(crate) struct HeldLines {
    most: usize,
    bytes: Vec<u8>,
    marks: Vec<LineMark>,
    stdout: usize,
    stderr: usize,
}

/// A line that is held, without its bytes.
#[derive(Clone, Copy, Debug)]
struct LineMark {
    /// Where its bytes end among those of all lines.
    end: usize,
    ending: Ending,
    place: TapePlace,
}

/// A line that was held back, and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldLine<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) ending: Ending,
    pub(crate) place: TapePlace,
}

impl<'a> HeldLine<'a> {
    /// Returns the line as it came.
    pub(crate) fn line(&self) -> Line<'a> {
        let span = self.place.span;
        Line {
            bytes: self.bytes,
            ending: self.ending,
            start: span.map_or(0, |span| span.start),
            end: span.map_or(0, |span| span.end),
            number: self.place.line,
            received_at: self.place.at,
        }
    }

    /// Returns the stream that the line came on.
    pub(crate) fn stream(&self) -> Stream {
        self.place.span.map_or(Stream::Stdout, |span| span.stream)
    }
}

impl HeldLines {
    /// Creates a holder for as much as may be held, or less if `limit` is lower.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            most: limit.min(MOST_HELD),
            bytes: Vec::new(),
            marks: Vec::new(),
            stdout: 0,
            stderr: 0,
        }
    }

    /// Takes a line.
    pub(crate) fn push(&mut self, bytes: &[u8], ending: Ending, place: TapePlace) {
        self.bytes.extend_from_slice(bytes);
        self.marks.push(LineMark {
            end: self.bytes.len(),
            ending,
            place,
        });
        let weight = bytes.len() + size_of::<LineMark>();
        match place.span.map(|span| span.stream) {
            Some(Stream::Stderr) => self.stderr += weight,
            _ => self.stdout += weight,
        }
    }

    /// Tells whether no more of a stream should be held. The streams are counted apart, so that
    /// nothing depends on how they interleave.
    pub(crate) fn is_full(&self) -> bool {
        self.stdout.max(self.stderr) > self.most
    }

    /// Tells whether nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Returns how many lines are held.
    pub(crate) fn len(&self) -> usize {
        self.marks.len()
    }

    /// Tells whether the text that is held is longer than banners are.
    pub(crate) fn outlasts_banners(&self) -> bool {
        self.len() > MOST_BANNER_LINES || self.bytes.len() > MOST_BANNER_BYTES
    }

    /// Gives out what is held, and begins anew.
    pub(crate) fn take(&mut self) -> Self {
        let most = self.most;
        std::mem::replace(self, Self::new(most))
    }

    /// Forgets all lines from one on.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.bytes.truncate(self.start_of(count));
        self.marks.truncate(count);
    }

    fn start_of(&self, at: usize) -> usize {
        let before = at.checked_sub(1);
        let before = before.map(|at| self.marks.get(at).or(self.marks.last()));
        before.flatten().map_or(0, |mark| mark.end)
    }

    /// Returns a line.
    pub(crate) fn get(&self, at: usize) -> Option<HeldLine<'_>> {
        let mark = self.marks.get(at)?;
        Some(HeldLine {
            bytes: self.bytes.get(self.start_of(at)..mark.end)?,
            ending: mark.ending,
            place: mark.place,
        })
    }

    /// Returns the lines in the order in which they came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = HeldLine<'_>> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Returns the only line that is not blank, if there is just one.
    pub(crate) fn only_filled(&self) -> Option<HeldLine<'_>> {
        let is_filled = |line: &HeldLine<'_>| !line.bytes.trim_ascii().is_empty();
        let mut filled = self.iter().filter(is_filled);
        filled.next().filter(|_| filled.next().is_none())
    }

    /// Returns how the last line ended.
    pub(crate) fn last_ending(&self) -> Option<Ending> {
        Some(self.marks.last()?.ending)
    }

    /// Returns the place of all lines together, from one on.
    pub(crate) fn place_from(&self, at: usize) -> Option<TapePlace> {
        let (first, last) = (self.marks.get(at)?, self.marks.last()?);
        Some(first.place.through(last.place))
    }

    /// Returns the lines from one on as they were printed, but for what ends the last one.
    pub(crate) fn printed_from(&self, at: usize) -> Cow<'_, [u8]> {
        if self.len() == at + 1 {
            let only = self.bytes.get(self.start_of(at)..);
            return Cow::Borrowed(only.unwrap_or_default());
        }
        let mut joined = Vec::with_capacity(self.bytes.len() + 2 * self.len());
        let mut before = "";
        for line in (at..self.len()).filter_map(|at| self.get(at)) {
            joined.extend_from_slice(before.as_bytes());
            joined.extend_from_slice(line.bytes);
            before = line.ending.as_str();
        }
        Cow::Owned(joined)
    }

    /// Returns all lines as text, as they were printed, but for what ends the last one.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self.printed_from(0) {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }

    /// Hands out the lines, each with a sink at its place.
    pub(crate) fn replay(
        &self,
        out: &mut SignalSink<'_>,
        mut each: impl FnMut(HeldLine<'_>, &mut SignalSink<'_>),
    ) {
        for line in self.iter() {
            each(line, &mut out.at(line.place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::lines::{DEFAULT_LIMIT, Framed, LineSplitter};

    fn held(limit: usize, text: &[u8]) -> HeldLines {
        let mut held = HeldLines::new(limit);
        let mut each = |framed: Framed<'_>| {
            if let Framed::Line(line) = framed {
                held.push(line.bytes, line.ending, line.place(Stream::Stdout));
            }
        };
        let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
        splitter.push(text, 7, &mut each);
        splitter.finish(&mut each);
        held
    }

    #[test]
    fn lines_come_back_as_they_were() {
        let text = b"one\r\n\n two\r\r\nlast \xff";
        let held = held(DEFAULT_LIMIT, text);
        let mut seen = Vec::new();
        let mut each = |framed: Framed<'_>| {
            if let Framed::Line(line) = framed {
                seen.push((line.number, line.start, line.end, line.ending));
            }
        };
        let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
        splitter.push(text, 7, &mut each);
        splitter.finish(&mut each);
        let lines = held.iter().map(|held| held.line());
        let lines = lines.map(|line| (line.number, line.start, line.end, line.ending));
        assert_eq!(lines.collect::<Vec<_>>(), seen);
        assert_eq!(held.text(), "one\r\n\n two\r\r\nlast \u{fffd}");
        assert_eq!(&*held.printed_from(3), b"last \xff");
        assert_eq!(held.last_ending(), Some(Ending::None));
        assert!(held.only_filled().is_none() && !held.is_full());
        let place = held.place_from(1).unwrap();
        assert_eq!((place.line, place.span.unwrap().start), (2, 5));
        assert_eq!(place.span.unwrap().end, text.len() as u64);
    }

    #[test]
    fn the_only_line_with_content_is_found() {
        assert_eq!(held(99, b"\n \na\n\n").only_filled().unwrap().bytes, b"a");
        assert!(held(99, b"\n \n").only_filled().is_none());
        assert!(held(99, b"").is_empty());
    }

    #[test]
    fn what_is_taken_or_forgotten_is_held_no_longer() {
        let mut lines = held(DEFAULT_LIMIT, b"a\nb\nc\n");
        lines.truncate(2);
        assert_eq!((lines.text().as_ref(), lines.len()), ("a\nb", 2));
        let taken = lines.take();
        assert_eq!((taken.len(), lines.len()), (2, 0));
        assert_eq!(lines.text(), "");
    }

    #[test]
    fn the_bound_holds_for_each_stream_by_itself() {
        let mut lines = held(1000, &b"0123456789\n".repeat(8));
        assert!(!lines.is_full());
        let line = Line {
            bytes: b"0123456789",
            ending: Ending::Lf,
            start: 0,
            end: 11,
            number: 1,
            received_at: 0,
        };
        for _ in 0..8 {
            lines.push(line.bytes, line.ending, line.place(Stream::Stderr));
        }
        assert!(!lines.is_full());
        assert_eq!(
            lines
                .iter()
                .filter(|line| line.stream() == Stream::Stderr)
                .count(),
            8
        );
        for _ in 0..8 {
            lines.push(line.bytes, line.ending, line.place(Stream::Stdout));
        }
        assert!(lines.is_full());
    }
}
