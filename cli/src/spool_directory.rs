//! Where spool files are.

use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;

use runtape::SPOOL_EXTENSION;
use runtape_core::RunId;

/// Returns where spool files go: `$RUNTAPE_SPOOL`, else the temporary directory.
pub(crate) fn directory() -> PathBuf {
    let named = std::env::var_os("RUNTAPE_SPOOL").filter(|path| !path.is_empty());
    named.map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Returns the spool files there are.
pub(crate) fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory())
        .into_iter()
        .flatten()
        .flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == SPOOL_EXTENSION)
    });
    paths.sort();
    paths
}

/// Removes the spool file of a run that was deleted, if there is one: it holds what the run
/// printed, and `recover` would bring the run back from it. One that a recorder still writes stays.
pub(crate) fn remove_of(run: &RunId) -> io::Result<()> {
    let path = directory().join(format!("{run}.{SPOOL_EXTENSION}"));
    match path.symlink_metadata() {
        Ok(found) if found.is_file() => {}
        // Nothing that a recorder made.
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    match File::open(&path)?.try_lock() {
        Ok(()) => std::fs::remove_file(&path),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
