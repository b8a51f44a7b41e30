//! A job tree while it is being written: whole, or not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use runtape_core::JobId;
use serde::Serialize;

use super::error::PerstackError;
use super::tree::{JobTree, jobs_directory, staging_name};

/// What to do with a tree that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Leave it alone and fail.
    Refuse,
    /// Put the new one in its place.
    Replace,
}

/// A job tree that is being written under another name.
///
/// Dropped before it is finished, it leaves nothing behind.
#[derive(Debug)]
pub(super) struct TreeWriter {
    staging: PathBuf,
    target: PathBuf,
    existing: Existing,
    tree: JobTree,
    /// Bytes written so far.
    pub(super) bytes: u64,
}

impl TreeWriter {
    pub(super) fn begin(
        base: &Path,
        job: &JobId,
        existing: Existing,
    ) -> Result<Self, PerstackError> {
        let jobs = jobs_directory(base);
        fs::create_dir_all(&jobs).map_err(PerstackError::write(&jobs))?;
        let target = jobs.join(job.as_str());
        // Not `exists`, which says no of a link that leads nowhere.
        if existing == Existing::Refuse && fs::symlink_metadata(&target).is_ok() {
            return Err(PerstackError::Exists { path: target });
        }
        let staging = jobs.join(staging_name(job, std::process::id()));
        fs::create_dir(&staging).map_err(PerstackError::write(&staging))?;
        let writer = Self {
            tree: JobTree::at(staging.clone()),
            staging,
            target,
            existing,
            bytes: 0,
        };
        for directory in [writer.tree.checkpoints(), writer.tree.runs()] {
            fs::create_dir(&directory).map_err(PerstackError::write(&directory))?;
        }
        Ok(writer)
    }

    pub(super) fn tree(&self) -> &JobTree {
        &self.tree
    }

    /// Writes a value as Perstack does: compact, without a line feed at the end.
    pub(super) fn compact(
        &mut self,
        path: &Path,
        value: &impl Serialize,
    ) -> Result<(), PerstackError> {
        self.file(path, |file| Ok(serde_json::to_writer(file, value)?))
    }

    /// Writes a value indented by two spaces.
    pub(super) fn pretty(
        &mut self,
        path: &Path,
        value: &impl Serialize,
    ) -> Result<(), PerstackError> {
        self.file(path, |file| Ok(serde_json::to_writer_pretty(file, value)?))
    }

    fn file(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), PerstackError> {
        let written = || {
            // Two files of one name would be one file: never silently.
            let mut file = BufWriter::new(File::create_new(path)?);
            write(&mut file)?;
            file.flush()?;
            Ok(file.get_ref().metadata()?.len())
        };
        self.bytes += written().map_err(PerstackError::write(path))?;
        Ok(())
    }

    /// Gives the tree its name. Returns where it is.
    pub(super) fn finish(self) -> Result<PathBuf, PerstackError> {
        let failed = PerstackError::write(&self.target);
        self.put_in_place().map_err(failed)?;
        Ok(self.target.clone())
    }

    fn put_in_place(&self) -> io::Result<()> {
        let is_there = fs::symlink_metadata(&self.target).is_ok();
        if is_there && self.existing == Existing::Refuse {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if !is_there {
            return fs::rename(&self.staging, &self.target);
        }
        let mut aside = self.staging.clone().into_os_string();
        aside.push("-old");
        let aside = PathBuf::from(aside);
        fs::rename(&self.target, &aside)?;
        if let Err(error) = fs::rename(&self.staging, &self.target) {
            fs::rename(&aside, &self.target)?;
            return Err(error);
        }
        if fs::symlink_metadata(&aside)?.is_dir() {
            fs::remove_dir_all(&aside)
        } else {
            fs::remove_file(&aside)
        }
    }
}

impl Drop for TreeWriter {
    fn drop(&mut self) {
        // After a rename nothing is there; after a failure the rest of it is of no use.
        let _ = fs::remove_dir_all(&self.staging);
    }
}
