//! The digest of a file, as `export` prints it.

use std::path::Path;
use std::str::FromStr;

use crate::error::CliError;

/// A BLAKE3 digest in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digest(String);

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.trim().to_ascii_lowercase();
        let digits = digits.strip_prefix("blake3").unwrap_or(&digits);
        let digits = digits.trim_start_matches([':', ' ']);
        let is_digest = digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        if is_digest {
            return Ok(Self(digits.to_owned()));
        }
        Err("a BLAKE3 digest has 64 hexadecimal digits".to_owned())
    }
}

impl Digest {
    /// Refuses a file that has another one.
    pub(crate) fn check(&self, path: &Path) -> Result<(), CliError> {
        let read = runtape_recorder::digest(path).map_err(|error| CliError::Read {
            path: path.to_owned(),
            error,
        })?;
        if read.digest == self.0 {
            return Ok(());
        }
        Err(CliError::OtherDigest {
            path: path.to_owned(),
            found: read.digest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_is_printed() {
        let digits = "0123456789abcdef".repeat(4);
        let expected = Ok(Digest(digits.clone()));
        for text in [
            digits.clone(),
            digits.to_uppercase(),
            format!("blake3 {digits}"),
            format!(" blake3:{digits}\n"),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
        let short = digits.get(1..).unwrap();
        for text in ["", "abc", short, &format!("x{short}")] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
