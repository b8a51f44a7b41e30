//! Where spool files are.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use runtape_core::RunId;

use crate::private_file::create_directory;

use super::{SPOOL_EXTENSION, SpoolOwner, make_private_directory, run_of_spool};

/// Where spool files go besides the place beside their database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolDirectories {
    /// The directory that the user wants. If there is one, no other is used.
    pub named: Option<PathBuf>,
    /// The directory for those of databases on a server, beside which there is no place.
    pub of_server: Option<PathBuf>,
    /// The directory to use if there is no room beside the database.
    pub elsewhere: Option<PathBuf>,
    /// Directories that held spool files once, and in which they are looked for, too.
    pub former: Vec<PathBuf>,
}

impl SpoolDirectories {
    /// Returns where spool files of a database go, the best place first.
    #[must_use]
    pub fn of(&self, owner: &SpoolOwner) -> Vec<PathBuf> {
        match &self.named {
            Some(named) => vec![named.clone()],
            None => self
                .beside(owner)
                .into_iter()
                .chain(self.elsewhere.clone())
                .collect(),
        }
    }

    /// Returns the directory beside a database, or the one that stands for it.
    fn beside(&self, owner: &SpoolOwner) -> Option<PathBuf> {
        if owner.is_on_server() {
            return self.of_server.clone();
        }
        owner.directory()
    }

    /// Makes a directory for spool files, unless it is the user's own choice and there.
    pub fn make(&self, directory: &Path) -> io::Result<()> {
        if self.named.is_some() && directory.is_dir() {
            return Ok(());
        }
        if self.of_server.as_deref() == Some(directory)
            && let Some(above) = directory.parent()
        {
            create_directory(above, true)?;
        }
        make_private_directory(directory)
    }

    /// Returns what may be spool files of a database.
    #[must_use]
    pub fn files(&self, owner: &SpoolOwner) -> Vec<PathBuf> {
        let mut directories: Vec<PathBuf> = self.beside(owner).into_iter().collect();
        if let Some(named) = &self.named {
            directories.push(named.clone());
        } else {
            directories.extend(self.elsewhere.clone());
            directories.extend(self.former.iter().cloned());
        }
        directories.dedup();
        directories.iter().flat_map(|path| files_in(path)).collect()
    }

    /// Removes the directory beside a database if nothing is left in it.
    pub fn tidy(&self, owner: &SpoolOwner) {
        if let Some(directory) = self.beside(owner) {
            // A directory that is not empty is not removed, as it should be.
            let _ = std::fs::remove_dir(directory);
        }
    }

    /// Removes the spool files of a run that was deleted: they hold what the run printed, and
    /// recovering would bring the run back from them. One that a recorder still writes stays.
    pub fn remove_of(&self, owner: &SpoolOwner, run: &RunId) -> io::Result<()> {
        for path in self.files(owner) {
            if run_of_spool(&path).as_ref() != Some(run) {
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
