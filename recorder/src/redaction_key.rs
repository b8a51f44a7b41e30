//! The key under which markers tell the same secret from another: a file beside the database, never in it.
//!
//! Whoever has the file can test guesses of a secret against its markers; whoever deletes it unlinks all of
//! them for ever. The file holds 32 random bytes, or the same as 64 hexadecimal digits for those who
//! make it by hand.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::private_file::NewFile;

/// How many bytes a key has.
const LENGTH: usize = 32;
/// The most bytes of a file that are looked at: digits, and line breaks after them.
const LONGEST: u64 = 2 * LENGTH as u64 + 8;

/// Returns where the key of a database file is.
#[must_use]
pub fn redaction_key_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(".redaction-key");
    path.into()
}

/// Reads a key; `None` if there is no file.
pub fn read_redaction_key(path: &Path) -> io::Result<Option<[u8; LENGTH]>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    parse(&bytes).map(Some).ok_or_else(|| {
        let fault = "it is no key: expected 32 bytes, or 64 hexadecimal digits";
        io::Error::new(io::ErrorKind::InvalidData, fault)
    })
}

/// Reads a key, making it if there is none: readable by its owner only, whole or not at all.
pub fn read_or_make_redaction_key(path: &Path) -> io::Result<[u8; LENGTH]> {
    if let Some(key) = read_redaction_key(path)? {
        return Ok(key);
    }
    let mut key = [0; LENGTH];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let made = NewFile::begin(path).and_then(|mut file| {
        file.write_all(&key)?;
        file.finish()
    });
    match made {
        Ok(_) => Ok(key),
        // Somebody else made it meanwhile: theirs is the key.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read_redaction_key(path)?.ok_or(error)
        }
        Err(error) => Err(error),
    }
}

fn parse(bytes: &[u8]) -> Option<[u8; LENGTH]> {
    if let Ok(key) = <[u8; LENGTH]>::try_from(bytes) {
        return Some(key);
    }
    let digits = bytes.trim_ascii();
    if digits.len() != 2 * LENGTH {
        return None;
    }
    let mut key = [0; LENGTH];
    for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_key_is_made_once_for_its_owner_and_read_ever_after() {
        let directory = tempfile::tempdir().unwrap();
        let path = redaction_key_path(&directory.path().join("runs.db"));
        assert_eq!(read_redaction_key(&path).unwrap(), None);
        let key = read_or_make_redaction_key(&path).unwrap();
        assert_eq!(read_or_make_redaction_key(&path).unwrap(), key);
        assert_eq!(read_redaction_key(&path).unwrap(), Some(key));
        assert_ne!(key, [0; 32]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(path.file_name().unwrap(), "runs.db.redaction-key");
    }

    #[test]
    fn several_who_make_it_at_once_have_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let make = || scope.spawn(|| read_or_make_redaction_key(&path).unwrap());
            let threads: Vec<_> = (0..8).map(|_| make()).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn digits_are_read_and_anything_else_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let digits = "0f".repeat(32);
        fs::write(&path, format!("{digits}\n")).unwrap();
        assert_eq!(read_redaction_key(&path).unwrap(), Some([15; 32]));
        let beyond = "0f".repeat(33);
        for bad in ["", "short", "0g", &beyond, &"zz".repeat(32)] {
            fs::write(&path, bad).unwrap();
            assert!(read_or_make_redaction_key(&path).is_err(), "{bad:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), bad, "left as it is");
        }
    }
}
