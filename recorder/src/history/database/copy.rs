//! A private copy of a database and its log.
//!
//! Opening a database may lock it, roll back a journal and leave an index of the log beside it. None
//! of that may happen to a file of somebody else's, so that only the copy is ever opened.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use super::error::DatabaseError;

/// How often a copy is made before a file is said to change too fast.
const TRIES: u32 = 5;

/// How long to wait for a writer to finish, more with each try.
const PAUSE: Duration = Duration::from_millis(20);

/// How long the head of a log is, which changes when the log begins anew.
const LOG_HEAD: u64 = 32;

/// Directories under a number of their own that are tried, when some were left behind.
const NUMBERS: u64 = 1000;

/// A directory for its owner alone, which is removed when it is no longer needed.
#[derive(Debug)]
pub(super) struct PrivateDirectory {
    path: PathBuf,
}

impl PrivateDirectory {
    /// Makes a directory below another.
    pub(super) fn make(below: &Path) -> Result<Self, DatabaseError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        for _ in 0..NUMBERS {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = below.join(format!(".runtape-history-{}-{number}", std::process::id()));
            match builder.create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(below, "make a private directory", error)),
            }
        }
        let error = io::ErrorKind::AlreadyExists.into();
        Err(failed(below, "make a private directory", error))
    }

    /// Returns where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // What cannot be removed is for nobody but its owner to read.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Names what went wrong with a file.
pub(super) fn failed(path: &Path, doing: &'static str, source: io::Error) -> DatabaseError {
    DatabaseError::File {
        path: path.to_owned(),
        doing,
        source,
    }
}

/// What tells that a file has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileState {
    length: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl FileState {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let number = 0;
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            number,
        }
    }
}

/// A database and its log as they are at one time.
#[derive(Debug)]
struct Opened {
    database: (File, FileState),
    log: Option<(File, FileState)>,
}

/// Copies a database and its log into a directory; returns the copy and how long both are.
pub(super) fn copy(path: &Path, directory: &Path) -> Result<(PathBuf, u64), DatabaseError> {
    let target = directory.join("copy.db");
    for attempt in 1..=TRIES {
        let mut opened = open_both(path)?;
        let doing = "copy it";
        copy_file(&mut opened.database.0, &target).map_err(|error| failed(path, doing, error))?;
        let log_target = beside(&target, "-wal");
        let mut head = Vec::new();
        if let Some((log, _)) = &mut opened.log {
            copy_file(log, &log_target).map_err(|error| failed(path, doing, error))?;
            head = head_of(&log_target).map_err(|error| failed(path, doing, error))?;
        } else {
            // A log of an earlier try that is gone by now.
            let _ = fs::remove_file(&log_target);
        }
        let now = open_both(path)?;
        if is_whole(&opened, &now, &head, attempt == TRIES) {
            let log = opened.log.map_or(0, |(_, state)| state.length);
            return Ok((target, opened.database.1.length.saturating_add(log)));
        }
        thread::sleep(PAUSE * attempt);
    }
    Err(DatabaseError::Changing {
        path: path.to_owned(),
    })
}

/// Tells whether nothing has changed while it was copied. Where something always does, it is enough
/// that the log has only grown: a transaction that is not whole is not read.
fn is_whole(before: &Opened, after: &Opened, head: &[u8], is_last: bool) -> bool {
    if before.database.1 != after.database.1 {
        return false;
    }
    match (&before.log, &after.log) {
        (None, None) => true,
        (Some((_, one)), Some((file, other))) => {
            let has_grown = || {
                let mut now = Vec::new();
                let read = file.take(LOG_HEAD).read_to_end(&mut now).is_ok();
                read && now == head && one.number == other.number && one.length <= other.length
            };
            one == other || (is_last && has_grown())
        }
        _ => false,
    }
}

fn head_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(LOG_HEAD).read_to_end(&mut head)?;
    Ok(head)
}

fn copy_file(from: &mut File, to: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    io::copy(from, &mut options.open(to)?)?;
    Ok(())
}

/// Returns the name of a file that belongs to a database.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn open_both(path: &Path) -> Result<Opened, DatabaseError> {
    let Some(database) = open(path)? else {
        return Err(failed(path, "open it", io::ErrorKind::NotFound.into()));
    };
    // A journal may name other files for SQLite to delete: one with content is not touched, and what
    // is written under it is not whole.
    if open(&beside(path, "-journal"))?.is_some_and(|(_, state)| state.length > 0) {
        return Err(DatabaseError::NoFile {
            path: path.to_owned(),
            reason: "a journal lies beside it: it is being written",
        });
    }
    let log = open(&beside(path, "-wal"))?.filter(|(_, state)| state.length > 0);
    Ok(Opened { database, log })
}

/// Opens a regular file without following a link or waiting for a writer; none if there is nothing.
fn open(path: &Path) -> Result<Option<(File, FileState)>, DatabaseError> {
    let refused = |reason| DatabaseError::NoFile {
        path: path.to_owned(),
        reason,
    };
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, "look at it", error)),
    };
    if metadata.is_symlink() {
        return Err(refused("it is a link"));
    }
    if !metadata.is_file() {
        return Err(refused("it is no regular file"));
    }
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK);
    }
    let file = options
        .open(path)
        .map_err(|error| failed(path, "open it", error))?;
    let metadata = file
        .metadata()
        .map_err(|error| failed(path, "look at it", error))?;
    if !metadata.is_file() {
        return Err(refused("it is no regular file"));
    }
    let state = FileState::of(&metadata);
    Ok(Some((file, state)))
}
