//! The files of trees, found without following links, and what is wrong with them.

use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::JobId;
use runtape_core::report::TreeFault;
use serde_json::Value;

use super::error::PerstackError;
use super::tree::{CHECKPOINTS, JOB_FILE, RUNS};

/// No checkpoint of an agent's is larger; a file that is would fill the memory.
const MAX_FILE: u64 = 512 * 1024 * 1024;

/// A file or directory of a tree.
pub(super) struct TreeEntry {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) is_directory: bool,
}

/// What reading found that is not as it should be.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) faults: Vec<TreeFault>,
    /// Files that are no part of a job tree.
    pub(super) ignored: Vec<PathBuf>,
}

impl Findings {
    pub(super) fn fault(&mut self, path: &Path, reason: impl Into<String>) {
        self.faults.push(TreeFault {
            path: path.display().to_string(),
            reason: reason.into(),
        });
    }

    /// Lists a directory by name, without what cannot be part of a tree.
    pub(super) fn list(&mut self, directory: &Path) -> Vec<TreeEntry> {
        let mut entries = Vec::new();
        let read = match fs::read_dir(directory) {
            Ok(read) => read,
            Err(error) => {
                self.fault(directory, error.to_string());
                return entries;
            }
        };
        for entry in read {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.fault(directory, error.to_string());
                    continue;
                }
            };
            let path = entry.path();
            // Does not follow links.
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) => {
                    self.fault(&path, error.to_string());
                    continue;
                }
            };
            match entry.file_name().into_string() {
                _ if kind.is_symlink() => {
                    self.fault(&path, "it is a symbolic link, which is not followed");
                }
                Ok(name) if kind.is_dir() || kind.is_file() => entries.push(TreeEntry {
                    path,
                    name,
                    is_directory: kind.is_dir(),
                }),
                Ok(_) => self.fault(&path, "it is neither a file nor a directory"),
                Err(_) => self.fault(&path, "its name is not UTF-8"),
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries
    }

    /// Reads a file of JSON.
    pub(super) fn json(&mut self, path: &Path) -> Option<Value> {
        let read = || {
            let length = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
            if length.len() > MAX_FILE {
                return Err(format!("it is larger than {MAX_FILE} bytes"));
            }
            let text = fs::read(path).map_err(|error| error.to_string())?;
            serde_json::from_slice(&text).map_err(|error| format!("not JSON: {error}"))
        };
        match read() {
            Ok(value) => Some(value),
            Err(reason) => {
                self.fault(path, reason);
                None
            }
        }
    }
}

/// Finds the directories of the jobs in what a user named: the directory that Perstack worked in,
/// its storage, the directory of all jobs, or that of one.
pub(super) fn find_jobs(
    base: &Path,
    findings: &mut Findings,
) -> Result<Vec<(JobId, PathBuf)>, PerstackError> {
    fs::read_dir(base).map_err(PerstackError::read(base))?;
    let looks_like_a_job = |path: &Path| {
        let parts = [JOB_FILE, CHECKPOINTS, RUNS];
        parts
            .iter()
            .any(|part| path.join(part).symlink_metadata().is_ok())
    };
    let is_directory = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    if looks_like_a_job(base) {
        let full = fs::canonicalize(base).map_err(PerstackError::read(base))?;
        let name = full.file_name().unwrap_or_default().to_string_lossy();
        return Ok(match JobId::parse(name.as_ref()) {
            Ok(job) => vec![(job, base.to_owned())],
            Err(error) => {
                findings.fault(base, error.to_string());
                Vec::new()
            }
        });
    }
    let below = [base.join("perstack").join("jobs"), base.join("jobs")];
    let jobs = below.iter().find(|path| is_directory(path));
    let named = jobs.map_or(base, PathBuf::as_path);
    let mut found = Vec::new();
    for entry in findings.list(named) {
        match JobId::parse(entry.name.as_str()) {
            _ if !entry.is_directory => findings.ignored.push(entry.path),
            Ok(job) if jobs.is_some() || looks_like_a_job(&entry.path) => {
                found.push((job, entry.path));
            }
            Ok(_) => findings.ignored.push(entry.path),
            // An export that was cut short is written under such a name.
            Err(_) if entry.name.starts_with('.') => findings.ignored.push(entry.path),
            Err(error) => findings.fault(&entry.path, error.to_string()),
        }
    }
    if found.is_empty() && jobs.is_none() {
        let path = base.to_owned();
        return Err(PerstackError::NoTree { path });
    }
    Ok(found)
}
