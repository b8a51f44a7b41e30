//! The secret that every request for data must have.

use std::fmt;

use crate::error::ServeError;

/// Characters that a token has at least: a guess of one in a second would take longer than there is time.
pub(crate) const SHORTEST: usize = 32;

/// The secret that every request for data must have. It is never printed by `Debug`.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Makes a token of 256 random bits.
    pub fn random() -> Result<Self, ServeError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| ServeError::NoRandomness {
            reason: error.to_string(),
        })?;
        Ok(Self(blake3::Hash::from_bytes(bytes).to_hex().to_string()))
    }

    /// Takes a token that somebody keeps.
    pub fn parse(text: &str) -> Result<Self, ServeError> {
        let is_sound = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !is_sound || text.len() < SHORTEST {
            return Err(ServeError::BadToken);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns its text, for whoever may know it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Tells whether a text is the token, in a time that does not depend on where they differ.
    pub(crate) fn is(&self, text: &[u8]) -> bool {
        // Hashes of equal length are compared in constant time by their type.
        blake3::hash(self.0.as_bytes()) == blake3::hash(text)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_only_itself() {
        let token = Token::random().unwrap();
        assert_eq!(token.reveal().len(), 64);
        assert_ne!(token.reveal(), Token::random().unwrap().reveal());
        assert!(token.is(token.reveal().as_bytes()));
        assert!(!token.is(b""));
        assert!(!token.is(&token.reveal().as_bytes()[..63]));
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn a_token_that_somebody_keeps_is_long_and_plain() {
        assert!(Token::parse(&"x".repeat(32)).is_ok());
        for bad in ["", "short", &"ü".repeat(32), &" ".repeat(40)] {
            assert!(Token::parse(bad).is_err(), "{bad:?}");
        }
    }
}
