//! The key of commitments.

use std::fmt;

/// What separates the id of a key from the commitments made with it.
const ID_CONTEXT: &str = "runtape 2026-11 redaction key id";

/// The key with which markers commit to the secrets that they stand for.
///
/// The same secret and the same key give the same marker. Without the key a marker says nothing of
/// the secret, not even to somebody who guesses it.
#[derive(Clone, PartialEq, Eq)]
pub struct RedactionKey([u8; 32]);

impl RedactionKey {
    /// Makes a key of 32 random bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the name of the key, which says nothing of its bytes: 16 digits.
    #[must_use]
    pub fn id(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key(ID_CONTEXT);
        hasher.update(&self.0);
        digits(&hasher.finalize())
    }

    /// Returns what stands for a secret in its marker: 16 digits, 64 bits of its keyed hash.
    #[must_use]
    pub fn commitment(&self, secret: &[u8]) -> String {
        digits(&blake3::keyed_hash(&self.0, secret))
    }
}

/// The bytes stay out of logs.
impl fmt::Debug for RedactionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RedactionKey({})", self.id())
    }
}

/// Returns the first 64 bits of a hash in hexadecimal digits.
fn digits(hash: &blake3::Hash) -> String {
    let (first, _) = hash.as_bytes().split_at(8);
    let digit = |half: u8| half + if half < 10 { b'0' } else { b'a' - 10 };
    let mut digits = Vec::with_capacity(16);
    digits.extend(
        first
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]),
    );
    String::from_utf8(digits).unwrap_or_default()
}
