//! Finding the files of a directory that may hold history, without opening one.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, FileType, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use runtape_normalizer::history::History;
use serde::{Deserialize, Serialize};

/// How deep directories are looked into; no CLI nests its sessions so deep.
const DEEPEST: usize = 12;

/// What tells that a file is as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "KeptStamp", into = "KeptStamp")]
pub(super) struct FileStamp {
    pub(super) size: u64,
    pub(super) modified: i64,
    pub(super) inode: u64,
    /// The same of a database's log.
    pub(super) log: Option<(u64, i64)>,
}

/// A stamp as it is remembered, without names: there is one for each file, and all are read each time.
type KeptStamp = (u64, i64, u64, Option<(u64, i64)>);

impl From<KeptStamp> for FileStamp {
    fn from((size, modified, inode, log): KeptStamp) -> Self {
        Self {
            size,
            modified,
            inode,
            log,
        }
    }
}

impl From<FileStamp> for KeptStamp {
    fn from(stamp: FileStamp) -> Self {
        (stamp.size, stamp.modified, stamp.inode, stamp.log)
    }
}

/// A file that may hold history.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Its path below the place, with `/`.
    pub(super) name: String,
    pub(super) stamp: FileStamp,
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
    look_through(root, history, &mut |sight| match sight {
        Sight::File {
            entry,
            name,
            stamp,
            is_database,
        } => found.candidates.push(Candidate {
            path: entry.path(),
            name: name.to_owned(),
            stamp,
            is_database,
        }),
        Sight::Refused { path, reason } => found.refused.push((path, reason)),
    });
    found
        .candidates
        .sort_unstable_by(|one, other| one.name.cmp(&other.name));
    found.refused.sort_unstable();
    found
}

/// What is met on a walk through a directory. A file's path is made only by those who need it.
pub(super) enum Sight<'a> {
    /// A file that may hold history.
    File {
        entry: &'a DirEntry,
        /// Its path below the place, with `/`.
        name: &'a str,
        stamp: FileStamp,
        is_database: bool,
    },
    /// What looks like history and cannot be read.
    Refused { path: PathBuf, reason: String },
}

/// Walks through a directory, in the order in which the system gives its entries.
pub(super) fn look_through(root: &Path, history: &History, each: &mut dyn FnMut(Sight<'_>)) {
    // Links may lead anywhere; what they name is read only if it is below the place.
    let Ok(real) = root.canonicalize() else {
        return;
    };
    let mut walk = Walk {
        real: &real,
        history,
        name: String::new(),
    };
    walk.directory(root, 0, each);
}

struct Walk<'a> {
    real: &'a Path,
    history: &'a History,
    /// The path below the place of what is looked at.
    name: String,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Path, depth: usize, each: &mut dyn FnMut(Sight<'_>)) {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => {
                if depth > 0 || error.kind() != std::io::ErrorKind::NotFound {
                    let path = directory.to_path_buf();
                    let reason = error.to_string();
                    each(Sight::Refused { path, reason });
                }
                return;
            }
        };
        let above = self.name.len();
        for entry in entries.filter_map(Result::ok) {
            self.name.truncate(above);
            let file_name = entry.file_name();
            self.name.push_str(&file_name.to_string_lossy());
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if !kind.is_dir() {
                self.file(&entry, &file_name, kind, each);
            } else if depth < DEEPEST {
                self.name.push('/');
                self.directory(&entry.path(), depth + 1, each);
            }
        }
        self.name.truncate(above);
    }

    fn file(
        &self,
        entry: &DirEntry,
        file_name: &OsStr,
        kind: FileType,
        each: &mut dyn FnMut(Sight<'_>),
    ) {
        let is_database = self
            .history
            .database
            .is_some_and(|database| database.files.iter().any(|file| file_name == *file));
        if !is_database && !(self.history.is_candidate)(&self.name) {
            return;
        }
        let metadata = if kind.is_symlink() {
            linked_file(self.real, &entry.path())
        } else {
            // Asked of the open directory: quicker than by the whole path.
            entry.metadata().map_err(|error| error.to_string())
        };
        each(
            match metadata.and_then(|found| stamp(entry, &found, is_database)) {
                Ok(stamp) => Sight::File {
                    entry,
                    name: &self.name,
                    stamp,
                    is_database,
                },
                Err(reason) => Sight::Refused {
                    path: entry.path(),
                    reason,
                },
            },
        );
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

fn stamp(entry: &DirEntry, metadata: &Metadata, is_database: bool) -> Result<FileStamp, String> {
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut stamp = FileStamp {
        size: metadata.len(),
        modified: modified(metadata),
        inode: inode(metadata),
        log: None,
    };
    if is_database {
        let mut log = entry.path().into_os_string();
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
