//! A sync that found everything as it was, known by one look at the files.
//!
//! Most syncs find that nothing has changed. For these it takes no memory of each file and session: where the same
//! files have the same stamps as at the end of the last sync, the answer is the same, too.

use std::collections::BTreeMap;

use runtape_core::Runtime;
use runtape_core::report::SyncGroup;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use super::discover::{FileStamp, Sight, look_through};
use super::places::{HistoryDirectory, with_history};

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
///
/// It is a sum over the files, so that they can be added in the order in which the system names them: no file is
/// sorted, and none has its path made.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    sum: u128,
    /// What is added at the moment.
    bytes: Vec<u8>,
}

impl Survey {
    /// Looks at all directories; `None` where something there cannot be looked at, which is to be told each time.
    pub(super) fn of(directories: &[HistoryDirectory]) -> Option<Self> {
        let mut survey = Self::default();
        let mut is_whole = true;
        for (place, (directory, history)) in (0_u64..).zip(with_history(directories)) {
            survey.bytes.clear();
            survey.bytes.extend(directory.runtime.as_str().as_bytes());
            survey.bytes.push(0);
            survey
                .bytes
                .extend(directory.path.as_os_str().as_encoded_bytes());
            survey.add(place);
            look_through(&directory.path, history, &mut |sight| match sight {
                Sight::File { name, stamp, .. } => survey.file(place, name, &stamp),
                Sight::Refused { .. } => is_whole = false,
            });
        }
        is_whole.then_some(survey)
    }

    fn file(&mut self, place: u64, name: &str, stamp: &FileStamp) {
        let (log_size, log_at) = stamp.log.unwrap_or_default();
        self.bytes.clear();
        // All numbers take the same room, so what is left is the name.
        for number in [stamp.size, stamp.inode, log_size] {
            self.bytes.extend(number.to_le_bytes());
        }
        for time in [stamp.modified, log_at] {
            self.bytes.extend(time.to_le_bytes());
        }
        self.bytes.extend(name.as_bytes());
        self.add(place);
    }

    fn add(&mut self, place: u64) {
        let hash = XxHash3_128::oneshot_with_seed(place, &self.bytes);
        self.sum = self.sum.wrapping_add(hash);
    }

    fn digest(&self) -> String {
        format!("{:032x}", self.sum)
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
