//! Where agent CLIs keep their sessions on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use runtape_core::Runtime;
use runtape_normalizer::history::Place;
use runtape_normalizer::runtimes::RUNTIMES;

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

fn places_of(runtime: &Runtime) -> &'static [Place] {
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
