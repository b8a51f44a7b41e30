//! How a database is opened.

/// How long to wait for another writer. Batches are short, so nobody waits this long unless a
/// process was stopped in the middle of one, or the whole file is written anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patience {
    /// A minute.
    #[default]
    Minute,
    /// Ten seconds, for those who can keep elsewhere what they were to write.
    Seconds,
}

/// How a database is opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Make the database if there is none.
    pub create: bool,
    /// Only read; nothing is made, migrated or indexed.
    pub read_only: bool,
    /// Wait for the disk at each commit, so that what was acknowledged survives a loss of power
    /// too. Without it, it survives the death of the process at any moment.
    pub sync_each_commit: bool,
    /// Refuse to grow beyond this many bytes.
    pub max_bytes: Option<u64>,
    /// How long to wait for another writer.
    pub patience: Patience,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: true,
            read_only: false,
            sync_each_commit: false,
            max_bytes: None,
            patience: Patience::default(),
        }
    }
}

impl Options {
    /// Opens an existing database for reading.
    #[must_use]
    pub fn read_only() -> Self {
        Self {
            create: false,
            read_only: true,
            ..Self::default()
        }
    }

    /// Refuses to grow beyond this many bytes.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Waits for the disk at each commit.
    #[must_use]
    pub fn with_sync_each_commit(mut self) -> Self {
        self.sync_each_commit = true;
        self
    }
}
