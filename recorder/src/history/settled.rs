//! A sync that found everything as it was, known by one look at the files.
//!
//! Most syncs find that nothing has changed. For these it takes no memory of each file and session: where the same
//! files have the same stamps as at the end of the last sync, the answer is the same, too.

use std::collections::BTreeMap;

use runtape_core::Runtime;
use runtape_core::report::SyncGroup;
use serde::{Deserialize, Serialize};

use super::discover::Candidate;
use super::places::HistoryDirectory;

/// The first line of the memory: what was there at the end of a sync after which there was nothing left to do.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settled {
    /// The database that holds it.
    database: String,
    /// The digest of what was found.
    survey: String,
    groups: Vec<SettledGroup>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SettledGroup {
    runtime: Runtime,
    sessions: u64,
    runs: u64,
}

/// A digest of the directories that are looked at, and of every file there with its stamp.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey(blake3::Hasher);

impl Survey {
    /// Adds what was found in a directory.
    pub(super) fn add(&mut self, directory: &HistoryDirectory, candidates: &[Candidate]) {
        self.text(directory.runtime.as_str().as_bytes());
        self.text(directory.path.as_os_str().as_encoded_bytes());
        for candidate in candidates {
            self.text(candidate.path.as_os_str().as_encoded_bytes());
            let stamp = &candidate.stamp;
            let (log_size, log_at) = stamp.log.unwrap_or_default();
            for number in [stamp.size, stamp.inode, log_size] {
                self.0.update(&number.to_le_bytes());
            }
            for time in [stamp.modified, log_at] {
                self.0.update(&time.to_le_bytes());
            }
        }
    }

    /// No two texts in a row read like two others.
    fn text(&mut self, text: &[u8]) {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    pub(super) fn digest(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

impl Settled {
    /// Remembers that a sync left nothing to do; `None` where something could not be read.
    pub(super) fn after(
        database: String,
        survey: &Survey,
        groups: &BTreeMap<String, SyncGroup>,
    ) -> Option<Self> {
        if groups.values().any(|group| group.unreadable > 0) {
            return None;
        }
        let groups = groups.values().map(|group| SettledGroup {
            runtime: group.runtime.clone(),
            sessions: group.sessions,
            runs: group.new + group.grown + group.joined + group.unchanged,
        });
        Some(Self {
            database,
            survey: survey.digest(),
            groups: groups.collect(),
        })
    }

    /// Tells whether what is found now is what was there.
    pub(super) fn is_as_it_was(&self, database: Option<&str>, survey: &Survey) -> bool {
        database == Some(&self.database) && survey.digest() == self.survey
    }

    /// Returns what a sync says that finds nothing to do.
    pub(super) fn groups(self) -> Vec<SyncGroup> {
        let groups = self.groups.into_iter();
        groups
            .map(|group| SyncGroup {
                sessions: group.sessions,
                unchanged: group.runs,
                ..SyncGroup::new(group.runtime)
            })
            .collect()
    }
}
