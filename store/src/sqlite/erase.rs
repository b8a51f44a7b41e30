//! Getting rid of the bytes of what was deleted.
//!
//! A deleted row is only no longer found: its bytes stay in free pages of the file, in pages that
//! were merged away, in the log, in the search index and among the shared words. Erasing writes
//! all that is left into fresh pages, and empties the log.

use rusqlite::Connection;

use super::columns::unsigned;
use super::{Sqlite, search};
use crate::backend::Tables;
use crate::error::Result;

/// What became of the bytes of what was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "what was deleted may still be in the files"]
pub struct Erased {
    /// None of them is left in the files. Else somebody reads an older state of the database, for
    /// whom the log has to be kept: erase again once they are done.
    pub is_complete: bool,
}

/// Size from which on the copy that the file is written anew from goes to a temporary file.
const TOO_LARGE_FOR_MEMORY: u64 = 64 << 20;

fn number(connection: &Connection, pragma: &str) -> Result<u64> {
    let value: i64 = connection.pragma_query_value(None, pragma, |row| row.get(0))?;
    Ok(unsigned(value))
}

impl Sqlite {
    /// Returns how many bytes the database takes, without its log.
    pub(crate) fn size(&self) -> Result<u64> {
        Ok(number(&self.connection, "page_size")? * number(&self.connection, "page_count")?)
    }

    /// Takes what nothing refers to out of the tables, to be done in a transaction.
    pub(crate) fn drop_unused(&self) -> Result<()> {
        self.delete_unused()?;
        search::erase_deleted(&self.connection)
    }

    /// Writes what there is into fresh pages, and empties the log.
    pub(crate) fn erase(&mut self) -> Result<Erased> {
        self.rewrite()?;
        self.empty_log()
    }

    /// Writes what there is into fresh pages.
    fn rewrite(&self) -> Result<()> {
        let size = self.size()?;
        let is_large = size > TOO_LARGE_FOR_MEMORY;
        if is_large {
            self.connection.pragma_update(None, "temp_store", "file")?;
        }
        let written = self.connection.execute_batch("VACUUM");
        if is_large {
            self.connection
                .pragma_update(None, "temp_store", "memory")?;
        }
        Ok(written?)
    }

    /// Empties the log, unless somebody reads from it for long.
    fn empty_log(&mut self) -> Result<Erased> {
        let is_busy: Result<bool> = self.with_little_patience(|connection| {
            let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
            Ok(connection.query_row(sql, [], |row| row.get(0))?)
        });
        Ok(Erased {
            is_complete: !is_busy?,
        })
    }
}
