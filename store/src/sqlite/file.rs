//! The database as a file: which one it is, by whatever name it was opened, and what may be done
//! with it.

use std::ffi::OsString;
use std::fs::{Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, OpenFlags};

use crate::error::{Result, StoreError};

/// What tells a file from all others, however it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
    fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }

    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Option<Self> {
        None
    }
}

/// Returns how many names a file has.
#[cfg(unix)]
fn names(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink()
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

/// Tells whether this process may write a file, or make others in a directory.
#[cfg(unix)]
fn may_write(path: &Path) -> bool {
    use nix::fcntl::{AT_FDCWD, AtFlags};
    use nix::unistd::{AccessFlags, faccessat};
    // Not by opening it: whoever closes a database file takes the locks of all who have it open in
    // the same process.
    faccessat(AT_FDCWD, path, AccessFlags::W_OK, AtFlags::AT_EACCESS).is_ok()
}

#[cfg(not(unix))]
fn may_write(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_dir() || !meta.permissions().readonly())
}

/// Makes the file readable by its owner only; agents print what others need not read.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path).map(|_| ())
}

/// Returns the name of a file that belongs to the database and lies beside it.
pub(crate) fn beside(database: &Path, end: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Refuses what `SQLite` would take for something else than a file, and what is none.
pub(crate) fn check_path(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    if text.is_empty() || text == ":memory:" || text.starts_with("file:") {
        return Err(StoreError::NoPath { path: path.into() });
    }
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(StoreError::NoFile { path: path.into() });
    }
    Ok(())
}

/// A database file that is there.
#[derive(Debug)]
pub(crate) struct DatabaseFile {
    /// Its own path, without links: locks and logs lie beside it.
    pub(crate) path: PathBuf,
    pub(crate) identity: Option<FileIdentity>,
    names: u64,
}

impl DatabaseFile {
    /// Finds the file that a path leads to.
    pub(crate) fn find(path: &Path) -> Result<Self> {
        let failed = |source| StoreError::File {
            path: path.into(),
            doing: "open the database",
            source,
        };
        let real = path.canonicalize().map_err(failed)?;
        let metadata = real.metadata().map_err(failed)?;
        Ok(Self {
            identity: FileIdentity::of(&metadata),
            names: names(&metadata),
            path: real,
        })
    }

    /// Tells whether the database can be written where it lies: the file, and beside it log
    /// and locks.
    fn is_writable(&self) -> bool {
        let directory = self.path.parent().unwrap_or(&self.path);
        may_write(&self.path) && may_write(directory)
    }

    /// Refuses to write what would be damaged by it.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.names > 1 {
            return Err(StoreError::SeveralNames {
                path: self.path.clone(),
                names: self.names,
            });
        }
        if !self.is_writable() {
            return Err(StoreError::NotWritable {
                path: self.path.clone(),
            });
        }
        Ok(())
    }

    /// Refuses to go on with a file that is no longer the one its path leads to.
    pub(crate) fn check_in_place(path: &Path, identity: FileIdentity) -> Result<()> {
        let found = path.metadata().ok();
        if found.and_then(|metadata| FileIdentity::of(&metadata)) == Some(identity) {
            return Ok(());
        }
        Err(StoreError::Gone { path: path.into() })
    }

    /// Opens the database for reading; where nothing may be written, nothing is.
    pub(crate) fn connect_to_read(&self) -> Result<(Connection, Option<Snapshot>)> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if self.is_writable() {
            return Ok((Connection::open_with_flags(&self.path, flags)?, None));
        }
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        let snapshot = Snapshot::of(&self.path);
        if snapshot.log.is_some() && beside(&self.path, "-shm").exists() {
            // The index of the log is there to be read, and tells which part of the log counts.
            let name = uri(&self.path, "mode=ro&readonly_shm=1");
            return Ok((Connection::open_with_flags(name, flags)?, None));
        }
        if snapshot.log.is_some_and(|length| length > 0) {
            return Err(self.hot_log());
        }
        // Nobody has it open for writing: who does leaves a log beside it.
        let name = uri(&self.path, "mode=ro&immutable=1");
        let connection = Connection::open_with_flags(name, flags)?;
        Ok((connection, Some(snapshot)))
    }

    /// The log holds what is not in the database, and cannot be read without writing.
    pub(crate) fn hot_log(&self) -> StoreError {
        StoreError::HotLog {
            path: self.path.clone(),
            log: beside(&self.path, "-wal"),
        }
    }
}

/// The state of a file that is read as if nobody could write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    length: u64,
    modified: Option<SystemTime>,
    /// Length of the log beside it; absent if there is none.
    log: Option<u64>,
}

impl Snapshot {
    fn of(path: &Path) -> Self {
        let metadata = path.metadata().ok();
        Self {
            length: metadata.as_ref().map_or(0, Metadata::len),
            modified: metadata.and_then(|metadata| metadata.modified().ok()),
            log: beside(path, "-wal").metadata().ok().map(|meta| meta.len()),
        }
    }

    /// Refuses an answer from a file that was written meanwhile.
    pub(crate) fn check(&self, path: &Path) -> Result<()> {
        if Self::of(path) == *self {
            return Ok(());
        }
        Err(StoreError::File {
            path: path.into(),
            doing: "read the database, which is being written by somebody else: try again",
            source: io::ErrorKind::ResourceBusy.into(),
        })
    }
}

/// Returns a path as `SQLite` wants it where more is to be said than a path.
#[cfg(unix)]
fn uri(path: &Path, parameters: &str) -> OsString {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut text = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    format!("{text}?{parameters}").into()
}

#[cfg(not(unix))]
fn uri(path: &Path, parameters: &str) -> OsString {
    let text = path.to_string_lossy().replace('\\', "/");
    let text = text
        .replace('%', "%25")
        .replace('?', "%3F")
        .replace('#', "%23");
    format!("file:///{text}?{parameters}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_sqlite_takes_for_something_else_is_refused() {
        for name in [
            "",
            ":memory:",
            "file:x",
            "file::memory:",
            "file:/tmp/x?mode=ro",
        ] {
            let refused = check_path(Path::new(name));
            assert!(matches!(refused, Err(StoreError::NoPath { .. })), "{name}");
        }
        for name in ["x", "./:memory:", "./file:x", "/tmp/file:x", "memory"] {
            assert!(check_path(Path::new(name)).is_ok(), "{name}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn any_path_can_be_written_as_a_uri() {
        let directory = tempfile::tempdir().unwrap();
        for name in [
            "plain",
            "a b",
            "50%",
            "what?mode=memory",
            "hash#tag",
            "ü",
            "a%20b",
        ] {
            let path = directory.path().join(name);
            let table = "CREATE TABLE t (name); PRAGMA user_version = 7";
            Connection::open(&path)
                .unwrap()
                .execute_batch(table)
                .unwrap();
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            let read = Connection::open_with_flags(uri(&path, "immutable=1"), flags).unwrap();
            let found: i64 = read
                .pragma_query_value(None, "user_version", |row| row.get(0))
                .unwrap();
            assert_eq!(found, 7, "{name}");
        }
    }
}
