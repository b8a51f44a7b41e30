//! Where spool files are.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use runtape::{SPOOL_EXTENSION, SpoolOwner};
use runtape_core::RunId;

/// Returns the directory that `$RUNTAPE_SPOOL` names, if it does.
fn named() -> Option<PathBuf> {
    let named = std::env::var_os("RUNTAPE_SPOOL").filter(|path| !path.is_empty());
    named.map(PathBuf::from)
}

/// Returns a directory of this user's for those who have no room beside their database.
fn elsewhere() -> PathBuf {
    #[cfg(unix)]
    let name = format!("runtape-spool-{}", nix::unistd::geteuid());
    #[cfg(not(unix))]
    let name = "runtape-spool";
    std::env::temp_dir().join(name)
}

/// Returns where spool files of a database go, the best place first: `$RUNTAPE_SPOOL`, else beside
/// the database, and where there is no room a directory of this user's in the temporary one.
#[cfg(unix)]
pub(crate) fn directories(owner: &SpoolOwner) -> Vec<PathBuf> {
    match named() {
        Some(named) => vec![named],
        None => owner.directory().into_iter().chain([elsewhere()]).collect(),
    }
}

/// Makes a directory for spool files, unless it is the user's own choice and there.
#[cfg(unix)]
pub(crate) fn make(directory: &Path) -> std::io::Result<()> {
    if named().is_some() && directory.is_dir() {
        return Ok(());
    }
    runtape::make_private_directory(directory)
}

/// Returns what may be spool files of a database. The temporary directory itself is where they
/// were once.
pub(crate) fn files(owner: &SpoolOwner) -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = owner.directory().into_iter().collect();
    match named() {
        Some(named) => directories.push(named),
        None => directories.extend([elsewhere(), std::env::temp_dir()]),
    }
    directories.dedup();
    directories.iter().flat_map(|path| files_in(path)).collect()
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == SPOOL_EXTENSION)
    });
    paths.sort();
    paths
}

/// Removes the directory beside a database if nothing is left in it.
pub(crate) fn tidy(owner: &SpoolOwner) {
    if let Some(directory) = owner.directory() {
        // It fails if there is something left, as it should.
        let _ = std::fs::remove_dir(directory);
    }
}

/// Removes the spool files of a run that was deleted: they hold what the run printed, and `recover`
/// would bring the run back from them. One that a recorder still writes stays.
pub(crate) fn remove_of(owner: &SpoolOwner, run: &RunId) -> io::Result<()> {
    for path in files(owner) {
        if runtape::run_of_spool(&path).as_ref() != Some(run) {
            continue;
        }
        match File::open(&path)?.try_lock() {
            Ok(()) => std::fs::remove_file(&path)?,
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(())
}
