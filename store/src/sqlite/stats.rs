//! How much there is, and what it takes; copies of it.

use std::path::Path;

use runtape_core::report::{StoreStats, TableStats};
use rusqlite::Connection;

use super::Sqlite;
use super::columns::unsigned;
use super::file::create_private;
use crate::error::{Result, StoreError};

fn number(connection: &Connection, sql: &str) -> Result<u64> {
    let number: i64 = connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?;
    Ok(unsigned(number))
}

/// Counts what there is and what it takes. Reads all of the file.
pub(crate) fn stats(connection: &Connection) -> Result<StoreStats> {
    let pragma = |name: &str| {
        let value: i64 = connection.pragma_query_value(None, name, |row| row.get(0))?;
        Ok::<_, StoreError>(unsigned(value))
    };
    let page = pragma("page_size")?;
    let mut statement = connection.prepare_cached(
        "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE ORDER BY pgsize DESC, name",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(TableStats {
            name: row.get(0)?,
            bytes: row.get(1).map(unsigned)?,
        })
    })?;
    let tables: Vec<TableStats> = rows.collect::<rusqlite::Result<_>>()?;
    let search = tables
        .iter()
        .filter(|table| table.name.starts_with("search"));
    Ok(StoreStats {
        jobs: number(connection, "SELECT count(*) FROM job")?,
        runs: number(connection, "SELECT count(*) FROM run")?,
        open_runs: number(
            connection,
            "SELECT count(*) FROM run WHERE root IS NULL AND seal IS NULL",
        )?,
        records: number(connection, "SELECT coalesce(sum(records), 0) FROM run")?,
        tape_bytes: number(
            connection,
            "SELECT coalesce(sum(stdout_length + stderr_length + stdin_length + history_length), 0)
             FROM tape_block",
        )?,
        record_bytes: number(
            connection,
            "SELECT coalesce(sum(length), 0) FROM record_block",
        )?,
        database_bytes: page * pragma("page_count")?,
        free_bytes: page * pragma("freelist_count")?,
        search_bytes: search.map(|table| table.bytes).sum(),
        tables,
    })
}

impl Sqlite {
    /// Looks at the pages of the file, not at what they say: returns the first fault, if any.
    pub(crate) fn file_fault(&self) -> Result<Option<String>> {
        let answer: String = self
            .connection
            .pragma_query_value(None, "quick_check", |row| row.get(0))?;
        Ok(Some(answer).filter(|answer| answer != "ok"))
    }

    /// Writes a copy of the database, as it is at one moment, to a new file.
    pub(crate) fn backup(&self, target: &Path) -> Result<()> {
        if target.try_exists().unwrap_or(true) {
            return Err(StoreError::File {
                path: target.into(),
                doing: "write the backup",
                source: std::io::ErrorKind::AlreadyExists.into(),
            });
        }
        let inner = || -> Result<()> {
            create_private(target).map_err(|source| StoreError::File {
                path: target.into(),
                doing: "make the backup",
                source,
            })?;
            let mut copy = Connection::open(target)?;
            // All pages in one step: what others write meanwhile would make it begin again.
            rusqlite::backup::Backup::new(&self.connection, &mut copy)?.run_to_completion(
                i32::MAX,
                std::time::Duration::from_millis(5),
                None::<fn(rusqlite::backup::Progress)>,
            )?;
            Ok(())
        };
        inner().map_err(|error| error.in_file(target))
    }
}
