//! Who is writing a run: one locked file per open run.
//!
//! The operating system releases a lock when its holder dies, however it dies. So a run that is
//! open in the database and whose lock is free has lost its writer.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use runtape_core::RunId;

use crate::error::{Result, StoreError};

/// The lock of one run, held until dropped.
#[derive(Debug)]
pub(crate) struct RunLock {
    path: PathBuf,
    _file: File,
}

/// Returns the directory of a database's locks.
pub(crate) fn directory(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".locks");
    name.into()
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
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

impl RunLock {
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
        let file = match open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_private(&directory).map_err(failed("make the lock directory"))?;
                open(&path)
            }
            opened => opened,
        };
        let file = file.map_err(failed("open the lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { path, _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed("take the lock")(source)),
        }
    }

    /// Tells whether nobody holds the lock of a run.
    pub(crate) fn is_free(database: &Path, run: &RunId) -> Result<bool> {
        let path = directory(database).join(run.as_str());
        // A database that may only be read can still be asked.
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
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

    /// Gives the lock back for good: the run is sealed, nobody will ask again.
    pub(crate) fn retire(self) {
        // What cannot be removed is an empty file, no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}
