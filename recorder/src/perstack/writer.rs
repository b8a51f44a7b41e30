//! A job tree while it is being written: whole, or not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use runtape_core::JobId;
use serde::Serialize;

use super::error::PerstackError;
use super::marker::{self, Marker};
use super::tree::{JobTree, jobs_directory, staging_name};
use crate::private_file;

/// What to do with a tree that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Leave the tree alone and fail.
    Refuse,
    /// Put the new tree in the place of the old one, if an export wrote that and nobody changed it since.
    Replace,
}

/// A job tree that is being written under another name.
///
/// A writer that is dropped before it is finished leaves nothing behind.
#[derive(Debug)]
pub(super) struct TreeWriter {
    staging: PathBuf,
    target: PathBuf,
    existing: Existing,
    tree: JobTree,
    /// The directories that were made, to be put on the disk.
    directories: Vec<PathBuf>,
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
        make_directories(base, &jobs)?;
        let target = jobs.join(job.as_str());
        // Not `exists`, which says no of a link that leads nowhere.
        let is_there = fs::symlink_metadata(&target).is_ok();
        match existing {
            Existing::Refuse if is_there => return Err(PerstackError::Exists { path: target }),
            Existing::Replace if is_there => marker::must_be_ours(&target)?,
            _ => {}
        }
        let staging = jobs.join(staging_name(job, std::process::id()));
        private_file::create_directory(&staging, false).map_err(PerstackError::write(&staging))?;
        let mut writer = Self {
            tree: JobTree::at(staging.clone()),
            directories: vec![staging.clone()],
            staging,
            target,
            existing,
            bytes: 0,
        };
        for directory in [writer.tree.checkpoints(), writer.tree.runs()] {
            writer.directory(&directory)?;
        }
        Ok(writer)
    }

    /// Makes a directory of the tree.
    pub(super) fn directory(&mut self, path: &Path) -> Result<(), PerstackError> {
        private_file::create_directory(path, false).map_err(PerstackError::write(path))?;
        self.directories.push(path.to_owned());
        Ok(())
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
            let mut file = BufWriter::new(private_file::create(path)?);
            write(&mut file)?;
            file.flush()?;
            // One call at the end does for all files what takes milliseconds for each.
            if !cfg!(target_os = "linux") {
                file.get_ref().sync_all()?;
            }
            Ok(file.get_ref().metadata()?.len())
        };
        self.bytes += written().map_err(PerstackError::write(path))?;
        Ok(())
    }

    /// Puts the tree on the disk and gives it its name. Returns where it is.
    pub(super) fn finish(mut self) -> Result<PathBuf, PerstackError> {
        let path = self.tree.marker_file();
        let unlisted = |reason: String| PerstackError::Write {
            path: path.clone(),
            source: io::Error::other(reason),
        };
        let marker = Marker::of(&self.staging).map_err(unlisted)?;
        let bytes = self.bytes;
        self.pretty(&path, &marker)?;
        // What is told is the size of the job's own files.
        self.bytes = bytes;
        #[cfg(target_os = "linux")]
        {
            let synced = File::open(&self.staging)
                .and_then(|staging| Ok(nix::unistd::syncfs(staging)?))
                .map_err(PerstackError::write(&self.staging));
            synced?;
        }
        for directory in &self.directories {
            private_file::sync_directory(directory).map_err(PerstackError::write(directory))?;
        }
        if self.existing == Existing::Replace && fs::symlink_metadata(&self.target).is_ok() {
            marker::must_be_ours(&self.target)?;
        }
        let failed = PerstackError::write(&self.target);
        self.put_in_place().map_err(failed)?;
        Ok(self.target.clone())
    }

    fn put_in_place(&self) -> io::Result<()> {
        let jobs = self.target.parent().unwrap_or(Path::new("."));
        let is_there = fs::symlink_metadata(&self.target).is_ok();
        if is_there && self.existing == Existing::Refuse {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if !is_there {
            fs::rename(&self.staging, &self.target)?;
            return private_file::sync_directory(jobs);
        }
        let mut aside = self.staging.clone().into_os_string();
        aside.push("-old");
        let aside = PathBuf::from(aside);
        fs::rename(&self.target, &aside)?;
        if let Err(error) = fs::rename(&self.staging, &self.target) {
            fs::rename(&aside, &self.target)?;
            return Err(error);
        }
        private_file::sync_directory(jobs)?;
        fs::remove_dir_all(&aside)
    }
}

/// Makes the directory of all jobs. Whoever can write below the one that was named could lead an
/// export elsewhere with a link, so none is followed.
fn make_directories(base: &Path, jobs: &Path) -> Result<(), PerstackError> {
    let is_directory = |path: &Path| match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => Ok(true),
        Ok(_) => Err(PerstackError::Link {
            path: path.to_owned(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(PerstackError::write(path)(error)),
    };
    if !is_directory(base)? {
        private_file::create_directory(base, true).map_err(PerstackError::write(base))?;
    }
    let between = jobs.ancestors().take_while(|path| *path != base);
    let mut between: Vec<&Path> = between.collect();
    between.reverse();
    for path in between {
        if !is_directory(path)? {
            private_file::create_directory(path, false).map_err(PerstackError::write(path))?;
        }
    }
    Ok(())
}

impl Drop for TreeWriter {
    fn drop(&mut self) {
        // After a rename nothing is there; after a failure the rest of it is of no use.
        let _ = fs::remove_dir_all(&self.staging);
    }
}
