//! Who wrote a job tree: only what an export wrote, and nobody changed since, may be replaced.
//!
//! Perstack goes on with a job in the tree that it finds. So the marker does not only say that an
//! export wrote the tree, but also which files it wrote: a tree that has others is no longer ours.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::PerstackError;
use super::tree::MARKER_FILE;

/// Longest marker that is read.
const LONGEST: u64 = 4096;

/// What an export says of a tree that it wrote.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Marker {
    /// How many files there are, this one not counted.
    files: u64,
    /// A hash over their names and lengths.
    listing: String,
}

impl Marker {
    /// Makes the marker of a tree as it is; `Err` says what cannot be of a tree that we wrote.
    pub(super) fn of(tree: &Path) -> Result<Self, String> {
        let mut names = Vec::new();
        list(tree, "", &mut names)?;
        names.retain(|(name, _)| name != MARKER_FILE);
        names.sort();
        let mut hasher = blake3::Hasher::new();
        for (name, length) in &names {
            hasher.update(&u64::try_from(name.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(name.as_bytes());
            hasher.update(&length.to_le_bytes());
        }
        Ok(Self {
            files: u64::try_from(names.len()).unwrap_or(u64::MAX),
            listing: hasher.finalize().to_hex().to_string(),
        })
    }

    /// Reads the marker of a tree.
    fn read(tree: &Path) -> Result<Self, String> {
        let path = tree.join(MARKER_FILE);
        let found = fs::symlink_metadata(&path);
        let is_ours = found.is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST);
        let text = is_ours.then(|| fs::read(&path).ok()).flatten();
        let marker = text.and_then(|text| serde_json::from_slice(&text).ok());
        marker.ok_or_else(|| "no export of runtape wrote it".to_owned())
    }
}

/// Lists the files of a tree with their lengths, following no link.
fn list(directory: &Path, prefix: &str, names: &mut Vec<(String, u64)>) -> Result<(), String> {
    let entries = fs::read_dir(directory).map_err(|error| error.to_string())?;
    for entry in entries {
        let entry = entry.map_err(|error| error.to_string())?;
        let name = entry.file_name();
        let name = name.to_str().ok_or("a name in it is not UTF-8")?;
        let path = format!("{prefix}{name}");
        let kind = entry.metadata().map_err(|error| error.to_string())?;
        if kind.is_dir() {
            list(&entry.path(), &format!("{path}/"), names)?;
        } else if kind.is_file() {
            names.push((path, kind.len()));
        } else {
            return Err(format!("{path} is neither a file nor a directory"));
        }
    }
    Ok(())
}

/// Refuses to replace anything but a tree that is as an export wrote it.
pub(super) fn must_be_ours(tree: &Path) -> Result<(), PerstackError> {
    let refused = |reason: String| PerstackError::NotOurs {
        path: tree.to_owned(),
        reason,
    };
    let found = fs::symlink_metadata(tree).map_err(|error| refused(error.to_string()))?;
    if !found.is_dir() {
        return Err(refused("it is no directory".to_owned()));
    }
    let marker = Marker::read(tree).map_err(refused)?;
    if Marker::of(tree).map_err(refused)? != marker {
        let reason = "files in it were added, removed or changed since it was exported";
        return Err(refused(reason.to_owned()));
    }
    Ok(())
}
