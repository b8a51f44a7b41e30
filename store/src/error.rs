//! What can go wrong in this crate.

use std::io;
use std::path::{Path, PathBuf};

use runtape_core::RunId;

/// The result of everything this crate does.
pub(crate) type Result<T> = std::result::Result<T, StoreError>;

/// An error of the store. Each names what it was working on, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database was made by a newer version; nothing was changed.
    #[error(
        "{}: the database has schema {found}, this build understands up to {supported}: use the newer runtape that made it",
        path.display()
    )]
    TooNew {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema this build knows.
        supported: i64,
    },
    /// The database is of an older version, and was opened for reading only.
    #[error(
        "{}: the database has schema {found}, this build reads {needed}: open it for writing once, which migrates it",
        path.display()
    )]
    TooOld {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The schema this build reads.
        needed: i64,
    },
    /// The server has no database of ours, and opening one makes none.
    #[error(
        "{}: there is no runtape database yet: run `runtape --db … db migrate` once, with a user who may create tables",
        path.display()
    )]
    NotMigrated {
        /// The database.
        path: PathBuf,
    },
    /// The database on the server is of an older version, and opening it does not change that.
    #[error(
        "{}: the database has schema {found}, this build needs {needed}: run `runtape --db … db migrate` once, with a user who may change tables",
        path.display()
    )]
    NotMigratedTo {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The schema this build needs.
        needed: i64,
    },
    /// The address of a server cannot be used. It is not repeated here, for it may have a password.
    #[error("bad address of a server: {fault}")]
    BadAddress {
        /// What is wrong with it.
        fault: String,
    },
    /// The address of a server, and this build knows no servers.
    #[error(
        "this build of runtape cannot use a server: name a file, or build it with the feature `postgres`"
    )]
    NoServers,
    /// Only a database in a file can do that.
    #[error("{}: a database on a server cannot {what}: {instead}", path.display())]
    OnlyFile {
        /// The database.
        path: PathBuf,
        /// What was asked for.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// Another process writes the run by now: this one was away for too long.
    #[error(
        "run {run} was taken over by another process while this one was silent for more than a minute: nothing more of it is written here"
    )]
    TakenOver {
        /// The run.
        run: RunId,
    },
    /// A write in a batch failed half-way, and the batch went on: none of it was stored.
    #[error(
        "a write failed earlier in the same batch, so none of the batch was stored: store it again"
    )]
    Spoiled,
    /// The file is a `SQLite` database of something else; nothing was changed.
    #[error("{}: a SQLite database, but not one of runtape: choose another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// `SQLite` would take the name for something else than a file.
    #[error("{:?} is no path to a database file: write ./ before it if it is the name of a file", path.display().to_string())]
    NoPath {
        /// The name.
        path: PathBuf,
    },
    /// The path leads to a directory, a device or a pipe.
    #[error("{}: this is no file, so it is no database: name another path", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// The file has hard links. A log lies beside the name that a database is opened by, so two
    /// names would have two logs for one file, which damages it.
    #[error(
        "{}: the database has {names} names (hard links), and writing it by more than one damages it: remove the other names",
        path.display()
    )]
    SeveralNames {
        /// The database.
        path: PathBuf,
        /// How many names it has.
        names: u64,
    },
    /// The file or its directory may only be read.
    #[error("{}: the database may not be written here: check the permissions of the file and its directory", path.display())]
    NotWritable {
        /// The database.
        path: PathBuf,
    },
    /// The database may only be read, and a part of it is in a log that cannot be read so.
    #[error(
        "{}: a part of the database is in {}, which cannot be read where nothing may be written: copy both files to a directory that can be written, and read them there",
        path.display(), log.display()
    )]
    HotLog {
        /// The database.
        path: PathBuf,
        /// Its log.
        log: PathBuf,
    },
    /// The file is no longer the one that was opened.
    #[error("{}: the database was deleted or replaced while it was open", path.display())]
    Gone {
        /// The database.
        path: PathBuf,
    },
    /// A file could not be read, made or locked.
    #[error("{}: failed to {doing}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The database failed.
    #[error("{}: {fault}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// What kind of failure, and what to do.
        fault: DatabaseFault,
        /// What the database said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A migration failed; the database is as it was.
    #[error("{}: failed to apply migration {number:04}: {source}", path.display())]
    Migrate {
        /// The database.
        path: PathBuf,
        /// The migration.
        number: i64,
        /// What the database said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No such run.
    #[error("no run {run}: list the runs there are")]
    UnknownRun {
        /// The run that was asked for.
        run: String,
    },
    /// The run is not open for writing here.
    #[error("run {run} is not open here: begin or resume it first")]
    NotOpen {
        /// The run.
        run: RunId,
    },
    /// Another writer has the run.
    #[error("run {run} is being written by another process: wait until it ends")]
    Locked {
        /// The run.
        run: RunId,
    },
    /// The run has ended and is sealed.
    #[error("run {run} has ended: record {seq} cannot be added, begin a new run")]
    Ended {
        /// The run.
        run: RunId,
        /// The record that was to be added.
        seq: u64,
    },
    /// The run cannot be sealed, for it has not ended.
    #[error("run {run} has not ended: append its terminal checkpoint before finishing it")]
    NotEnded {
        /// The run.
        run: RunId,
    },
    /// The run has no seal yet, so there is nothing that could prove a copy of it.
    #[error("run {run} has not ended: only what is sealed can be put into a bundle")]
    Unsealed {
        /// The run.
        run: RunId,
    },
    /// A file from elsewhere is not what it should be; nothing was read from it.
    #[error("{}: refused: {fault}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
    },
    /// The run's records were made from output that is not there any more.
    #[error("run {run}: {fault}: its records cannot be made again, and are left as they are")]
    NoTape {
        /// The run.
        run: RunId,
        /// What is missing.
        fault: String,
    },
    /// A record is missing before this one.
    #[error("run {run}: record {seq} came where record {expected} was expected: append in order")]
    Gap {
        /// The run.
        run: RunId,
        /// The record that came.
        seq: u64,
        /// The record that should have come.
        expected: u64,
    },
    /// Other content under the same key.
    #[error("run {run}: {what} is stored already with other content: it was left as it is")]
    Conflict {
        /// The run.
        run: RunId,
        /// What is stored.
        what: String,
    },
    /// A record or tape chunk breaks a rule of the store.
    #[error("run {run}: {fault}")]
    Invalid {
        /// The run.
        run: RunId,
        /// Which rule.
        fault: String,
    },
    /// What is stored cannot be read back.
    #[error("{place} is damaged: {fault}: run `verify`, restore a backup or delete the run")]
    Damaged {
        /// Where.
        place: String,
        /// What is wrong.
        fault: String,
    },
    /// A query in SQL that cannot be answered.
    #[error("the query failed: {fault}")]
    BadSql {
        /// What is wrong with it.
        fault: String,
    },
    /// A head that no verifying gave.
    #[error("bad head {head:?}: give the 64 hexadecimal digits that an earlier verify printed")]
    BadHead {
        /// The head.
        head: String,
    },
    /// A regular expression that cannot be used.
    #[error("bad regular expression: {fault}")]
    BadPattern {
        /// What is wrong with it.
        fault: String,
    },
    /// A mark that no page gave.
    #[error("bad page mark {mark:?}: use the one that came with the last page")]
    BadPageMark {
        /// The mark.
        mark: String,
    },
    /// The value cannot be written as JSON.
    #[error("run {run}: failed to write JSON: {source}")]
    Json {
        /// The run.
        run: RunId,
        /// Why.
        source: serde_json::Error,
    },
    /// The model refused what the store gave it.
    #[error(transparent)]
    Core(#[from] runtape_core::CoreError),
}

/// What kind of failure of the database it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseFault {
    /// No room; what was acknowledged before is safe.
    Full,
    /// The file may not be written.
    ReadOnly,
    /// The file is damaged.
    Damaged,
    /// The file is something else.
    NoDatabase,
    /// Another process kept it locked for too long.
    Busy,
    /// A file from elsewhere asked for more work than its size can be worth.
    Endless,
    /// The server cannot be reached, or the connection to it was lost.
    Away,
    /// The server does not let this user in, or not do that.
    NotAllowed,
    /// Anything else.
    Other,
}

impl std::fmt::Display for DatabaseFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Full => "no space left for the database: free some, then append again",
            Self::ReadOnly => {
                "the database cannot be opened, or may not be written: check path and permissions"
            }
            Self::Damaged => "the database file is damaged: run `verify`, restore a backup",
            Self::NoDatabase => "this is no database: name another file",
            Self::Busy => "the database was locked for too long: try again",
            Self::Endless => "reading it takes more work than a file of its size can be worth",
            Self::Away => "the server cannot be reached: check that it runs, and its address",
            Self::NotAllowed => {
                "the server refuses it: check user, password and the rights of the user"
            }
            Self::Other => "the database failed",
        })
    }
}

impl StoreError {
    /// Fills in the file that inner functions do not know.
    pub(crate) fn in_file(mut self, file: &Path) -> Self {
        if let Self::Database { path, .. } | Self::Refused { path, .. } = &mut self
            && path.as_os_str().is_empty()
        {
            file.clone_into(path);
        }
        self
    }

    /// Tells whether the same may succeed in a moment: the server was away, or another writer was in the way.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Database {
                fault: DatabaseFault::Away | DatabaseFault::Busy,
                ..
            }
        )
    }

    /// What is stored of a run cannot be read back.
    pub(crate) fn damaged(place: impl Into<String>, fault: impl Into<String>) -> Self {
        Self::Damaged {
            place: place.into(),
            fault: fault.into(),
        }
    }

    pub(crate) fn invalid(run: &RunId, fault: impl Into<String>) -> Self {
        Self::Invalid {
            run: run.clone(),
            fault: fault.into(),
        }
    }
}
