//! Sets of bytes.

/// A set of bytes, for runs of characters of one kind. It is made once and asked for many bytes, so each byte has a place of
/// its own.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Alphabet(Box<[bool; 256]>);

impl Alphabet {
    pub(super) fn empty() -> Self {
        Self(Box::new([false; 256]))
    }

    /// Creates the set of the bytes of a text.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut set = Self::empty();
        for &byte in text {
            set.insert(byte);
        }
        set
    }

    pub(super) fn insert(&mut self, byte: u8) {
        if let Some(place) = self.0.get_mut(usize::from(byte)) {
            *place = true;
        }
    }

    pub(super) fn insert_range(&mut self, first: u8, last: u8) {
        for byte in first..=last {
            self.insert(byte);
        }
    }

    pub(super) fn insert_words(&mut self) {
        self.insert_range(b'a', b'z');
        self.insert_range(b'A', b'Z');
        self.insert_digits();
        self.insert(b'_');
    }

    /// Adds letters, digits and `_`.
    pub(super) fn with_words(mut self) -> Self {
        self.insert_words();
        self
    }

    pub(super) fn insert_digits(&mut self) {
        self.insert_range(b'0', b'9');
    }

    /// Turns the set into that of the other printable bytes and of those of characters beyond ASCII.
    pub(super) fn inverted(&self) -> Self {
        let mut set = Self::empty();
        for byte in (b' '..=b'~').chain(0x80..=0xff) {
            if !self.has(byte) {
                set.insert(byte);
            }
        }
        set
    }

    #[inline]
    pub(super) fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// Returns where the run of the set's bytes ends that begins at a place.
    pub(super) fn run_end(&self, text: &[u8], from: usize) -> usize {
        let rest = text.get(from..).unwrap_or_default();
        let length = rest.iter().position(|&byte| !self.has(byte));
        from + length.unwrap_or(rest.len())
    }
}

impl std::fmt::Debug for Alphabet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let members: Vec<u8> = (0..=255).filter(|&byte| self.has(byte)).collect();
        write!(formatter, "[{}]", String::from_utf8_lossy(&members))
    }
}

/// Tells whether a byte is a letter, a digit or `_`.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
