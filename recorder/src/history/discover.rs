//! Finding the files of a directory that may hold history, without opening one.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use runtape_normalizer::history::History;
use serde::{Deserialize, Serialize};

/// How deep directories are looked into; no CLI nests its sessions so deep.
const DEEPEST: usize = 12;

/// What tells that a file is as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "KeptStamp", into = "KeptStamp")]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) modified: i64,
    pub(super) inode: u64,
    /// The same of a database's log.
    pub(super) log: Option<(u64, i64)>,
}

/// A stamp as it is remembered, without names: there is one for each file, and all are read each time.
type KeptStamp = (u64, i64, u64, Option<(u64, i64)>);

impl From<KeptStamp> for Stamp {
    fn from((size, modified, inode, log): KeptStamp) -> Self {
        Self {
            size,
            modified,
            inode,
            log,
        }
    }
}

impl From<Stamp> for KeptStamp {
    fn from(stamp: Stamp) -> Self {
        (stamp.size, stamp.modified, stamp.inode, stamp.log)
    }
}

/// A file that may hold history.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Its path below the place, with `/`.
    pub(super) name: String,
    pub(super) stamp: Stamp,
    pub(super) is_database: bool,
}

/// What was found in a place.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    pub(super) candidates: Vec<Candidate>,
    /// What looked like history and was not read, with the reason.
    pub(super) refused: Vec<(PathBuf, String)>,
}

/// Looks for files that may hold history, in the order of their names.
pub(super) fn discover(root: &Path, history: &History) -> Discovery {
    let mut found = Discovery::default();
    // Links may lead anywhere; what they name is read only if it is below the place.
    let Ok(real) = root.canonicalize() else {
        return found;
    };
    walk(&real, root, "", 0, history, &mut found);
    found
}

fn walk(
    real: &Path,
    directory: &Path,
    prefix: &str,
    depth: usize,
    history: &History,
    found: &mut Discovery,
) {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            if prefix.is_empty() && error.kind() == std::io::ErrorKind::NotFound {
                return;
            }
            found
                .refused
                .push((directory.to_path_buf(), error.to_string()));
            return;
        }
    };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
    entries.sort_by_cached_key(fs::DirEntry::file_name);
    for entry in entries {
        let file_name = entry.file_name();
        let path = entry.path();
        let name = format!("{prefix}{}", file_name.to_string_lossy());
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            if depth < DEEPEST {
                walk(real, &path, &format!("{name}/"), depth + 1, history, found);
            }
            continue;
        }
        let is_database = history
            .database
            .is_some_and(|database| database.files.iter().any(|file| file_name == **file));
        if !is_database && !(history.is_candidate)(&name) {
            continue;
        }
        let found_metadata = if kind.is_symlink() {
            linked_file(real, &path)
        } else {
            // Asked of the open directory: quicker than by the whole path.
            entry.metadata().map_err(|error| error.to_string())
        };
        match found_metadata.and_then(|metadata| stamp(&path, &metadata, is_database)) {
            Ok(stamp) => found.candidates.push(Candidate {
                path,
                name,
                stamp,
                is_database,
            }),
            Err(reason) => found.refused.push((path, reason)),
        }
    }
}

/// Returns what a link names, if that is below the place.
fn linked_file(real: &Path, path: &Path) -> Result<Metadata, String> {
    let target = path.canonicalize().map_err(|error| error.to_string())?;
    if !target.starts_with(real) {
        return Err("a link that leads out of the directory".to_owned());
    }
    fs::metadata(path).map_err(|error| error.to_string())
}

fn stamp(path: &Path, metadata: &Metadata, is_database: bool) -> Result<Stamp, String> {
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut stamp = Stamp {
        size: metadata.len(),
        modified: modified(metadata),
        inode: inode(metadata),
        log: None,
    };
    if is_database {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        stamp.log = fs::metadata(log)
            .ok()
            .map(|metadata| (metadata.len(), modified(&metadata)));
    }
    Ok(stamp)
}

/// Returns when a file was changed, in nanoseconds since 1970.
fn modified(metadata: &Metadata) -> i64 {
    let time = metadata.modified().ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}
