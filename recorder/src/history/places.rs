//! Where agent CLIs keep their sessions on this machine.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use runtape_core::Runtime;
use runtape_normalizer::history::{History, SessionDirectory};
use runtape_normalizer::runtimes::{RUNTIMES, entry_for};

use super::content::read_head;
use super::discover::discover;

/// A directory that holds sessions of one runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryDirectory {
    /// The runtime.
    pub runtime: Runtime,
    /// The directory.
    pub path: PathBuf,
}

/// Returns the runtimes whose history can be read.
pub fn runtimes_with_history() -> impl Iterator<Item = Runtime> {
    let entries = RUNTIMES.iter().filter(|entry| entry.history.is_some());
    entries.map(|entry| entry.runtime.clone())
}

/// Returns each of the directories once, with how the history in it is read.
pub(super) fn with_history(
    directories: &[HistoryDirectory],
) -> impl Iterator<Item = (&HistoryDirectory, &'static History)> {
    let mut seen = BTreeSet::new();
    directories.iter().filter_map(move |directory| {
        let history = entry_for(&directory.runtime)?.history?;
        let is_new = seen.insert((directory.runtime.as_str(), &directory.path));
        is_new.then_some((directory, history))
    })
}

fn places_of(runtime: &Runtime) -> &'static [SessionDirectory] {
    let entry = RUNTIMES.iter().find(|entry| entry.runtime == *runtime);
    entry
        .and_then(|entry| entry.history)
        .map_or(&[], |history| history.places)
}

/// Returns the directories of a home directory, there or not. `variable` looks an environment variable up: where
/// one moves a CLI's directory, that place is meant instead.
pub fn usual_directories(
    home: &Path,
    runtimes: &[Runtime],
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<HistoryDirectory> {
    let mut found = Vec::new();
    for runtime in runtimes {
        for place in places_of(runtime) {
            let moved = place.variable.and_then(|(name, below)| {
                let path = variable(name).filter(|path| !path.is_empty())?;
                Some(PathBuf::from(path).join(below))
            });
            let own = moved.unwrap_or_else(|| home.join(place.home));
            found.push(HistoryDirectory {
                runtime: runtime.clone(),
                path: own.join(place.below),
            });
        }
    }
    found
}

/// Returns the directories that a directory named by the user stands for: a home directory, or one that holds
/// such as `home`, or (for a single runtime) the CLI's own directory or the one with its sessions.
#[must_use]
pub fn named_directories(directory: &Path, runtimes: &[Runtime]) -> Vec<HistoryDirectory> {
    for home in [directory.to_path_buf(), directory.join("home")] {
        let mut found = usual_directories(&home, runtimes, |_| None);
        found.retain(|found| found.path.is_dir());
        if !found.is_empty() {
            return found;
        }
    }
    let [runtime] = runtimes else {
        return Vec::new();
    };
    let own = places_of(runtime)
        .iter()
        .filter(|place| !place.below.is_empty())
        .map(|place| directory.join(place.below))
        .find(|path| path.is_dir());
    vec![HistoryDirectory {
        runtime: runtime.clone(),
        path: own.unwrap_or_else(|| directory.to_path_buf()),
    }]
}

/// Tells whether a directory holds history of a runtime that lies there as the CLI leaves it.
#[must_use]
pub fn holds_history(directory: &HistoryDirectory) -> bool {
    let entry = RUNTIMES
        .iter()
        .find(|entry| entry.runtime == directory.runtime);
    let Some(history) = entry.and_then(|entry| entry.history) else {
        return false;
    };
    let found = discover(&directory.path, history);
    found.candidates.iter().any(|candidate| {
        let head = || read_head(&candidate.path).unwrap_or_default();
        candidate.is_database || (history.source)(&candidate.name, &head()).is_some()
    })
}

/// How many directories above a file its place may be.
const HIGHEST: usize = 6;

/// Finds out whose history a file is, from its content and where it lies.
#[must_use]
pub fn directory_of_file(path: &Path) -> Option<HistoryDirectory> {
    let path = path.canonicalize().ok()?;
    let file_name = path.file_name()?.to_str()?;
    for entry in RUNTIMES {
        let Some(history) = entry.history else {
            continue;
        };
        let found = |directory: &Path| HistoryDirectory {
            runtime: entry.runtime.clone(),
            path: directory.to_path_buf(),
        };
        let is_database = history
            .database
            .is_some_and(|it| it.files.contains(&file_name));
        if is_database {
            return path.parent().map(found);
        }
        for directory in path.ancestors().skip(1).take(HIGHEST) {
            let name = path
                .strip_prefix(directory)
                .ok()?
                .to_string_lossy()
                .into_owned();
            if !(history.is_candidate)(&name) {
                continue;
            }
            let head = read_head(&path).ok()?;
            if (history.source)(&name, &head).is_some() {
                return Some(found(directory));
            }
        }
    }
    None
}
