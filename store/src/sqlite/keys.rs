//! The `key_counter` table: a key that was given once is never given again.
//!
//! Deleting the newest row of a table would free its key for the next one, and whatever still
//! names the old row would name the new one.

use rusqlite::{Connection, OptionalExtension, params};

use crate::error::Result;

/// The tables whose keys are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountedTable {
    Run,
    Job,
    Word,
}

impl CountedTable {
    const ALL: [Self; 3] = [Self::Run, Self::Job, Self::Word];

    fn table(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Job => "job",
            Self::Word => "word",
        }
    }

    fn highest(self, connection: &Connection) -> Result<i64> {
        let sql = format!("SELECT coalesce(max(key), 0) FROM {}", self.table());
        Ok(connection
            .prepare_cached(&sql)?
            .query_row([], |row| row.get(0))?)
    }

    /// Counts one on. A counter that somebody set back is made right by the way.
    fn count(self) -> &'static str {
        match self {
            Self::Run => {
                "UPDATE key_counter SET last = max(last, (SELECT coalesce(max(key), 0) FROM run)) + 1
                 WHERE name = 'run'"
            }
            Self::Job => {
                "UPDATE key_counter SET last = max(last, (SELECT coalesce(max(key), 0) FROM job)) + 1
                 WHERE name = 'job'"
            }
            Self::Word => {
                "UPDATE key_counter SET last = max(last, (SELECT coalesce(max(key), 0) FROM word)) + 1
                 WHERE name = 'word'"
            }
        }
    }

    /// Returns a key that no row of the table ever had.
    // Two plain statements take less work than one that inserts, updates and returns.
    pub(crate) fn next(self, connection: &Connection) -> Result<i64> {
        if connection.prepare_cached(self.count())?.execute([])? == 0 {
            connection.execute(
                "INSERT INTO key_counter (name, last) VALUES (?1, ?2)",
                params![self.table(), self.highest(connection)? + 1],
            )?;
        }
        Ok(connection
            .prepare_cached("SELECT last FROM key_counter WHERE name = ?1")?
            .query_row([self.table()], |row| row.get(0))?)
    }
}

/// Says which counters would give a key a second time.
pub(crate) fn faults(connection: &Connection) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for counted in CountedTable::ALL {
        let table = counted.table();
        let last: Option<i64> = connection
            .prepare_cached("SELECT last FROM key_counter WHERE name = ?1")?
            .query_row([table], |row| row.get(0))
            .optional()?;
        let highest = counted.highest(connection)?;
        match last {
            None => faults.push(format!("the counter of keys of table {table} is missing")),
            Some(last) if last < highest => faults.push(format!(
                "the counter of keys of table {table} was set back to {last}, a row has {highest}"
            )),
            Some(_) => {}
        }
    }
    let more: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM key_counter WHERE name NOT IN ('run', 'job', 'word')",
        )?
        .query_row([], |row| row.get(0))?;
    if more > 0 {
        faults.push(format!("{more} rows of table key_counter count nothing"));
    }
    Ok(faults)
}

/// Makes the counters right again.
pub(crate) fn restore(connection: &Connection) -> Result<()> {
    connection.execute(
        "DELETE FROM key_counter WHERE name NOT IN ('run', 'job', 'word')",
        [],
    )?;
    for counted in CountedTable::ALL {
        let highest = counted.highest(connection)?;
        connection.execute(
            "INSERT INTO key_counter (name, last) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET last = max(last, excluded.last)",
            params![counted.table(), highest],
        )?;
    }
    Ok(())
}
