//! Numbered migrations, and the refusal of databases from the future.

use std::path::Path;

use rusqlite::Connection;

use super::Sqlite;
use super::steps;
use crate::backend::Tables;
use crate::error::{Result, StoreError};
use crate::write::{kept_usage, rebuild, reseal};

/// Marks a `SQLite` file as one of ours: the letters `RTAP`.
pub(crate) const APPLICATION_ID: i32 = 0x5254_4150;

/// Never edited after a release: a database that ran one will not run it again.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_store.sql"),
    include_str!("../../migrations/0002_views.sql"),
    include_str!("../../migrations/0003_times.sql"),
    include_str!("../../migrations/0004_keys.sql"),
    include_str!("../../migrations/0005_bundles.sql"),
    include_str!("../../migrations/0006_sums.sql"),
    include_str!("../../migrations/0007_streams.sql"),
    include_str!("../../migrations/0008_sessions.sql"),
    include_str!("../../migrations/0009_ids.sql"),
    include_str!("../../migrations/0010_classes.sql"),
    include_str!("../../migrations/0011_usage_sums.sql"),
    include_str!("../../migrations/0012_search.sql"),
    include_str!("../../migrations/0013_about.sql"),
    include_str!("../../migrations/0014_cache_writes.sql"),
    include_str!("../../migrations/0015_outcome.sql"),
    include_str!("../../migrations/0016_times.sql"),
];

/// The schema from which on hashes of tapes cover receive times.
pub(crate) const TIMES_IN_CHAIN: i64 = 3;

/// The schema from which on keys are counted, so that none is given twice.
pub(crate) const KEYS_ARE_COUNTED: i64 = 4;

/// The schema from which on a tape has named streams.
pub(crate) const TAPES_HAVE_STREAMS: i64 = 7;

/// The schema from which on the ledger says which numbers are totals of a session.
pub(crate) const LEDGER_KNOWS_TOTALS: i64 = 8;

/// The schema from which on ids derive from a specified hash.
pub(crate) const IDS_ARE_SPECIFIED: i64 = 9;

/// The schema from which on calls of tools have classes.
pub(crate) const CALLS_HAVE_CLASSES: i64 = 10;

/// The schema from which on what was used is kept added up.
pub(crate) const USAGE_IS_SUMMED: i64 = 11;

/// The schema from which on the search index knows stretches of records.
pub(crate) const SEARCH_HAS_STRETCHES: i64 = 12;

/// The schema from which on runs have all columns that tell what they were about, and how they went.
pub(crate) const RUNS_TELL_ABOUT: i64 = 15;

/// The schema from which on the ledger says which input was written to a cache.
pub(crate) const LEDGER_KNOWS_WRITES: i64 = 14;

/// Returns the newest schema this build knows.
pub(crate) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Returns what makes a schema of a version that this build knows.
pub(crate) fn scripts(version: i64) -> impl Iterator<Item = &'static str> {
    let count = usize::try_from(version).unwrap_or(0);
    MIGRATIONS.iter().copied().take(count)
}

fn number(connection: &Connection, pragma: &str) -> Result<i64> {
    Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
}

/// Refuses what is not ours or too new, without writing anything; returns the schema.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<i64> {
    // By the one name that no view of the file can take.
    let sql = "SELECT EXISTS (SELECT 1 FROM main.sqlite_master)";
    let has_tables: bool = connection.query_row(sql, [], |row| row.get(0))?;
    let application = number(connection, "application_id")?;
    if application != i64::from(APPLICATION_ID) && (has_tables || application != 0) {
        return Err(StoreError::Foreign { path: path.into() });
    }
    let found = number(connection, "user_version")?;
    if found > newest() {
        return Err(StoreError::TooNew {
            path: path.into(),
            found,
            supported: newest(),
        });
    }
    Ok(found)
}

/// Returns the number of the schema.
pub(crate) fn version(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached("PRAGMA user_version")?
        .query_row([], |row| row.get(0))?)
}

/// Refuses a database that somebody records into: they would go on with hashes and ids of the old
/// kind.
fn refuse_while_recorded(sqlite: &Sqlite) -> Result<()> {
    for run in sqlite.open_roots()? {
        if !sqlite.is_unlocked(&run.id)? {
            return Err(StoreError::Locked { run: run.id });
        }
    }
    Ok(())
}

/// Brings the database to the newest schema.
pub(super) fn migrate(sqlite: &Sqlite, path: &Path) -> Result<()> {
    if check(&sqlite.connection, path)? == newest() {
        return Ok(());
    }
    // Two processes may open a new file at once: the second finds the work done.
    sqlite.connection.execute_batch("BEGIN IMMEDIATE")?;
    let migrated = apply(sqlite, path);
    if migrated.is_err() && !sqlite.connection.is_autocommit() {
        let _ = sqlite.connection.execute_batch("ROLLBACK");
    }
    migrated
}

fn apply(sqlite: &Sqlite, path: &Path) -> Result<()> {
    let connection = &sqlite.connection;
    let done = check(connection, path)?;
    for (number, sql) in (1_i64..).zip(MIGRATIONS) {
        if number <= done {
            continue;
        }
        connection
            .execute_batch(sql)
            .map_err(|source| StoreError::Migrate {
                path: path.into(),
                number,
                source: Box::new(source),
            })?;
        // A new database has nothing that could be sealed or named again.
        if number == TIMES_IN_CHAIN && done > 0 {
            refuse_while_recorded(sqlite)?;
            // The clock belongs to those who open the database, but they need not know of migrations.
            let sql = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)";
            let at = connection.query_row(sql, [], |row| row.get(0))?;
            reseal::reseal(sqlite, at)?;
        }
        if number == IDS_ARE_SPECIFIED && done > 0 {
            refuse_while_recorded(sqlite)?;
            steps::derive_checkpoint_ids(connection)?;
        }
        if number == USAGE_IS_SUMMED && done > 0 {
            kept_usage::settle(sqlite)?;
        }
        if number == RUNS_TELL_ABOUT && done > 0 {
            // A recorder of before would leave the columns as they are.
            refuse_while_recorded(sqlite)?;
            rebuild::fill_runs(sqlite)?;
        }
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", newest())?;
    connection.execute_batch("COMMIT")?;
    Ok(())
}
