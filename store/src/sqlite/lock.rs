//! Who is writing a run: one locked file per open run.
//!
//! The operating system releases a lock when its holder dies, however it dies. So a run that is
//! open in the database and whose lock is free has lost its writer.
//!
//! The directory of the locks lies beside the database's own path: by whatever name somebody opens
//! it, the locks are the same. Each lock has room for a note, taken while there is some: a writer
//! that finds every disk full can still say how its run went.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use runtape_core::RunId;

use super::file::beside;
use crate::backend;
use crate::error::{Result, StoreError};

/// Bytes of a lock that are there for a note.
const ROOM: usize = 1024;

/// The lock of one run, held until dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    path: PathBuf,
    file: File,
}

/// Returns the directory of a database's locks.
pub(crate) fn directory(database: &Path) -> PathBuf {
    beside(database, ".locks")
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Tells whether a file that was opened is still the one at its path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(opened), Ok(there)) => (opened.dev(), opened.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Tells whether a file that was opened is still the one at its path: elsewhere a file that is open
/// cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Makes a directory that only its owner may look into.
fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(directory)
}

impl FileLock {
    /// Takes the lock of a run; `None` if another writer holds it.
    pub(crate) fn take(database: &Path, run: &RunId) -> Result<Option<Self>> {
        let directory = directory(database);
        let path = directory.join(run.as_str());
        let failed = |doing| {
            let path = path.clone();
            move |source| StoreError::File {
                path,
                doing,
                source,
            }
        };
        loop {
            let file = match open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    make_private(&directory).map_err(failed("make the lock directory"))?;
                    open(&path)
                }
                opened => opened,
            };
            let file = file.map_err(failed("open the lock"))?;
            match file.try_lock() {
                // Its last holder gave it back for good while we waited for it: who comes next makes
                // a new one, and both would hold a lock.
                Ok(()) if !is_at(&file, &path) => {}
                Ok(()) => {
                    let lock = Self { path, file };
                    // Without the room there may be no note, which is no reason not to write the
                    // run.
                    let _ = lock.make_room();
                    return Ok(Some(lock));
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(source)) => return Err(failed("take the lock")(source)),
            }
        }
    }

    /// Tells whether nobody holds the lock of a run.
    pub(crate) fn is_free(database: &Path, run: &RunId) -> Result<bool> {
        let path = directory(database).join(run.as_str());
        // A database that may only be read can still be asked.
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            // Who may not ask is not told that a recorder died that may be at work.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(false),
            opened => opened,
        };
        let failed = |source| StoreError::File {
            path: path.clone(),
            doing: "ask for the lock",
            source,
        };
        match file.map_err(failed)?.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Takes the room for a note, unless a note may be there.
    fn make_room(&self) -> io::Result<()> {
        if self.file.metadata()?.len() > 0 {
            return Ok(());
        }
        (&self.file).write_all(&[b' '; ROOM])
    }
}

impl backend::RunLock for FileLock {
    /// Leaves a note for whoever takes the lock after this writer; an earlier one is gone then.
    fn leave_note(&self, note: &str) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        // In place: the room was taken when there was some.
        file.write_all(format!("{note:ROOM$}").as_bytes())
    }

    /// Returns the note that the last writer left, if any.
    fn note(&self) -> io::Result<Option<String>> {
        let mut file = &self.file;
        file.rewind()?;
        let mut note = String::new();
        // A note has a few words; more than that somebody else put there.
        file.take(16 * ROOM as u64).read_to_string(&mut note)?;
        let note = note.trim();
        Ok((!note.is_empty()).then(|| note.to_owned()))
    }

    /// Gives the lock back for good: the run is sealed, nobody will ask again.
    fn retire(self: Box<Self>) {
        // What cannot be removed is an empty file, no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}
