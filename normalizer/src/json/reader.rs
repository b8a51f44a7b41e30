//! A reader of sound and plain JSON.

use super::scan::{is_sound, unescape};
use super::special::{find_end, find_special};

/// How deep values may be nested here. `serde_json` reads a little deeper, and knows how to refuse.
const DEEPEST: u8 = 64;

/// The most digits of a number that surely fits 64 bits.
const MOST_DIGITS: usize = 18;

/// Something that `serde_json` should have a look at.
#[derive(Debug)]
pub(super) struct Refused;

/// Where the reading of a text stands.
pub(super) struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    depth: u8,
    /// What was passed over may not be what it seems: it has escapes, or numbers with a fraction or
    /// an exponent.
    pub(super) is_odd: bool,
}

/// The content of a string as it is written.
pub(super) struct Written<'a> {
    content: &'a str,
    /// How many bytes at its beginning are sound and no escapes.
    plain: usize,
    has_escapes: bool,
}

impl<'a> Written<'a> {
    /// Returns the text that was meant: borrowed, or else owned.
    pub(super) fn read(self) -> Result<Result<&'a str, String>, Refused> {
        if self.has_escapes {
            unescape(self.content, self.plain).map(Err).ok_or(Refused)
        } else {
            Ok(Ok(self.content))
        }
    }
}

/// A number as it was written.
pub(super) enum Number {
    Whole(u64),
    Negative(i64),
    Float(f64),
}

impl<'a> JsonReader<'a> {
    /// Creates a reader at the start of a text.
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            is_odd: false,
        }
    }

    /// Creates a reader at a place inside of so many objects, past a field of the innermost.
    pub(super) fn within(text: &'a str, at: usize, depth: u8) -> Self {
        Self {
            text,
            at,
            depth,
            is_odd: false,
        }
    }

    /// Returns where the reading stands.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// Goes on with the object that this is inside of, past a field of it.
    pub(super) fn go_on(&mut self) -> Inside<'_, 'a> {
        Inside {
            reader: self,
            closing: b'}',
            is_first: false,
            is_over: false,
        }
    }

    /// Returns the next byte that is not white space, without passing it; 0 at the end.
    pub(super) fn peek(&mut self) -> u8 {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(byte) => return *byte,
                None => return 0,
            }
        }
    }

    /// Tells whether nothing but white space is left, and every bracket was closed. One that was not
    /// is noticed here at the latest, so that none is looked for where a value was read: a value that
    /// is looked at again before it is handed on is copied once more.
    pub(super) fn is_done(&mut self) -> bool {
        self.peek();
        self.at == self.text.len() && self.depth == 0
    }

    /// Passes a word.
    pub(super) fn word(&mut self, word: &[u8]) -> Result<(), Refused> {
        let end = self.at + word.len();
        if self.text.as_bytes().get(self.at..end) != Some(word) {
            return Err(Refused);
        }
        self.at = end;
        Ok(())
    }

    /// Passes the string whose quote is next.
    #[inline(never)]
    pub(super) fn string(&mut self) -> Result<Written<'a>, Refused> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let found = find_special(bytes, start);
        let (end, has_escapes) = match bytes.get(found) {
            Some(b'"') => (found, false),
            Some(b'\\') => (find_end(bytes, found).ok_or(Refused)?, true),
            _ => return Err(Refused),
        };
        self.at = end + 1;
        Ok(Written {
            content: self.text.get(start..end).ok_or(Refused)?,
            plain: found - start,
            has_escapes,
        })
    }

    /// Passes the number that is next.
    #[inline(never)]
    pub(super) fn number(&mut self) -> Result<Number, Refused> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let is_negative = bytes.get(start) == Some(&b'-');
        let first = start + usize::from(is_negative);
        let (mut at, mut number) = (first, 0_u64);
        while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
            number = number
                .wrapping_mul(10)
                .wrapping_add(u64::from(digit - b'0'));
            at += 1;
        }
        let digits = at - first;
        if matches!(bytes.get(at), Some(b'.' | b'e' | b'E')) {
            return self.float(at);
        }
        let has_zero_first = digits > 1 && bytes.get(first) == Some(&b'0');
        if digits == 0 || digits > MOST_DIGITS || has_zero_first {
            return Err(Refused);
        }
        self.at = at;
        match (is_negative, number) {
            (true, 0) => Err(Refused),
            (true, number) => Ok(Number::Negative(-i64::try_from(number).unwrap_or_default())),
            (false, number) => Ok(Number::Whole(number)),
        }
    }

    /// Passes a number whose fraction or exponent is at `at`.
    #[inline(never)]
    fn float(&mut self, mut at: usize) -> Result<Number, Refused> {
        while let Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') =
            self.text.as_bytes().get(at)
        {
            at += 1;
        }
        let token = self.text.get(self.at..at).ok_or(Refused)?;
        self.at = at;
        // It rounds in a way of its own, and so must this.
        let number = serde_json::from_str::<serde_json::Number>(token).map_err(|_| Refused)?;
        number.as_f64().map(Number::Float).ok_or(Refused)
    }

    /// Passes a value, having looked at all of it.
    ///
    /// One loop instead of a call for each value within: counts and reports are objects in objects, of which hardly a
    /// field is read.
    #[inline(never)]
    pub(super) fn skip(&mut self) -> Result<(), Refused> {
        let outside = self.depth;
        // A bit for each open bracket, the innermost lowest: whether it is that of an object.
        let mut objects = 0_u64;
        loop {
            let first = self.peek();
            match first {
                b'"' => self.pass_string()?,
                b'{' | b'[' => {
                    self.at += 1;
                    self.depth += 1;
                    if self.depth > DEEPEST {
                        return Err(Refused);
                    }
                    let is_object = first == b'{';
                    objects = objects << 1 | u64::from(is_object);
                    if self.peek() != closing(is_object) {
                        if is_object {
                            self.pass_name()?;
                        }
                        continue;
                    }
                    self.at += 1;
                    self.depth -= 1;
                    objects >>= 1;
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => self.is_odd |= matches!(self.number()?, Number::Float(_)),
            }
            // Past a value: what is around it ends, or goes on.
            loop {
                if self.depth == outside {
                    return Ok(());
                }
                let is_object = objects & 1 == 1;
                let next = self.peek();
                self.at += 1;
                if next == b',' {
                    if is_object {
                        self.pass_name()?;
                    }
                    break;
                }
                if next != closing(is_object) {
                    return Err(Refused);
                }
                self.depth -= 1;
                objects >>= 1;
            }
        }
    }

    /// Passes the string whose quote is next, having looked at all of it.
    fn pass_string(&mut self) -> Result<(), Refused> {
        let bytes = self.text.as_bytes();
        let end = find_special(bytes, self.at + 1);
        if bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(());
        }
        let string = self.string()?;
        self.is_odd = true;
        is_sound(string.content, string.plain)
            .then_some(())
            .ok_or(Refused)
    }

    /// Passes the name of a field, which has no escapes, and its colon.
    fn pass_name(&mut self) -> Result<(), Refused> {
        if self.peek() != b'"' {
            return Err(Refused);
        }
        let bytes = self.text.as_bytes();
        let end = find_special(bytes, self.at + 1);
        if bytes.get(end) != Some(&b'"') {
            return Err(Refused);
        }
        self.at = end + 1;
        self.colon()
    }

    /// Passes a value and returns its text, unless it is odd.
    pub(super) fn text_of_value(&mut self) -> Result<&'a str, Refused> {
        self.peek();
        let start = self.at;
        self.is_odd = false;
        self.skip()?;
        let text = self.text.get(start..self.at).ok_or(Refused)?;
        if self.is_odd { Err(Refused) } else { Ok(text) }
    }

    /// Passes the colon between a name and its value.
    pub(super) fn colon(&mut self) -> Result<(), Refused> {
        if self.peek() != b':' {
            return Err(Refused);
        }
        self.at += 1;
        Ok(())
    }

    /// Passes the opening bracket that is next.
    pub(super) fn enter(&mut self) -> Result<Inside<'_, 'a>, Refused> {
        let closing = closing(self.peek() == b'{');
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Refused);
        }
        Ok(Inside {
            reader: self,
            closing,
            is_first: true,
            is_over: false,
        })
    }
}

/// Returns what an object or an array ends with.
fn closing(is_object: bool) -> u8 {
    if is_object { b'}' } else { b']' }
}

/// The inside of an object or an array.
pub(super) struct Inside<'r, 'a> {
    pub(super) reader: &'r mut JsonReader<'a>,
    closing: u8,
    is_first: bool,
    is_over: bool,
}

impl Inside<'_, '_> {
    /// Goes on to the next item, past the comma before it; `false` past the closing bracket.
    #[inline(never)]
    pub(super) fn next_item(&mut self) -> Result<bool, Refused> {
        let next = self.reader.peek();
        if next == self.closing && !self.is_over {
            self.reader.at += 1;
            self.reader.depth -= 1;
            self.is_over = true;
            return Ok(false);
        }
        if self.is_first {
            self.is_first = false;
            return Ok(true);
        }
        if next != b',' || self.is_over {
            return Err(Refused);
        }
        self.reader.at += 1;
        Ok(true)
    }

    /// Goes on to the name of the next field.
    pub(super) fn next_name(&mut self) -> Result<bool, Refused> {
        let is_there = self.next_item()?;
        if is_there && self.reader.peek() != b'"' {
            return Err(Refused);
        }
        Ok(is_there)
    }
}
