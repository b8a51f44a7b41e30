//! How many bytes there are of each stream of a tape.

use runtape_core::Stream;

/// How many bytes there are of each stream of a tape, or how far into each something reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamLengths {
    stdout: u64,
    stderr: u64,
    stdin: u64,
    history: u64,
}

/// Returns the number that stands for a stream in blocks and tables: its place in [`Stream::ALL`].
pub(crate) fn number(stream: Stream) -> u8 {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
        Stream::Stdin => 2,
        Stream::History => 3,
    }
}

/// Returns the stream that a number stands for.
pub(crate) fn named(number: u8) -> Option<Stream> {
    Stream::ALL
        .into_iter()
        .find(|stream| self::number(*stream) == number)
}

impl StreamLengths {
    /// Returns the bytes of a stream.
    #[must_use]
    pub fn of(&self, stream: Stream) -> u64 {
        match stream {
            Stream::Stdout => self.stdout,
            Stream::Stderr => self.stderr,
            Stream::Stdin => self.stdin,
            Stream::History => self.history,
        }
    }

    /// Returns the bytes of all streams together.
    #[must_use]
    pub fn total(&self) -> u64 {
        let lengths = Stream::ALL.map(|stream| self.of(stream));
        lengths.into_iter().fold(0, u64::saturating_add)
    }

    /// Notes that a stream goes as far as a byte, if that is farther than was known.
    pub fn advance(&mut self, stream: Stream, end: u64) {
        let length = self.of_mut(stream);
        *length = end.max(*length);
    }

    /// Puts numbers together, in the order of [`Stream::ALL`].
    pub(crate) fn from_numbers([stdout, stderr, stdin, history]: [u64; 4]) -> Self {
        Self {
            stdout,
            stderr,
            stdin,
            history,
        }
    }

    /// Returns the sums with other lengths.
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = |stream| self.of(stream).saturating_add(other.of(stream));
        Self::from_numbers(Stream::ALL.map(sum))
    }

    /// Tells whether any stream of `other` is longer.
    pub(crate) fn is_short_of(&self, other: &Self) -> bool {
        let mut streams = Stream::ALL.into_iter();
        streams.any(|stream| self.of(stream) < other.of(stream))
    }

    pub(crate) fn of_mut(&mut self, stream: Stream) -> &mut u64 {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
            Stream::Stdin => &mut self.stdin,
            Stream::History => &mut self.history,
        }
    }
}
