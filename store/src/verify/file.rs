//! The file as a whole: its schema, its pages and indexes, and rows that nothing leads to.

use runtape_core::report::FaultPlace;

use crate::error::Result;
use crate::keys;
use crate::migrate;
use crate::schema;

use super::Verifier;

impl Verifier<'_> {
    /// Compares the schema, then lets `SQLite` check its own structure, indexes against tables
    /// among it: on a broken one nothing further can be said.
    pub(super) fn file(&mut self) -> Result<bool> {
        let differences = schema::differences(self.connection);
        let Some(differences) = self.read(FaultPlace::File, differences)? else {
            return Ok(false);
        };
        for difference in differences {
            self.fault(FaultPlace::File, difference);
        }
        if !self.report.is_intact() {
            return Ok(false);
        }
        let mut statement = self.connection.prepare("PRAGMA integrity_check(5)")?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0));
        let lines: rusqlite::Result<Vec<String>> = rows.and_then(Iterator::collect);
        match lines {
            Ok(lines) => {
                for line in lines.iter().filter(|line| *line != "ok") {
                    self.fault(FaultPlace::File, line.clone());
                }
            }
            Err(error) => self.fault(FaultPlace::File, error.to_string()),
        }
        Ok(self.report.is_intact())
    }

    /// Finds counters that would give a key a second time.
    pub(super) fn keys(&mut self) -> Result<()> {
        let version: i64 = self
            .connection
            .pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version >= migrate::KEYS_ARE_COUNTED {
            for fault in keys::faults(self.connection)? {
                self.fault(FaultPlace::File, fault);
            }
        }
        Ok(())
    }

    /// Finds rows that belong to no run.
    pub(super) fn strays(&mut self) -> Result<()> {
        let tables = [
            ("record_block", "place >> 32", "SELECT key FROM run"),
            (
                "tape_block",
                "place >> 32",
                "SELECT key FROM run WHERE root IS NULL",
            ),
            ("step", "run", "SELECT key FROM run"),
            ("tool_call", "run", "SELECT key FROM run"),
            ("notice", "run", "SELECT key FROM run"),
            ("unparsed", "run", "SELECT key FROM run"),
            ("usage", "run", "SELECT key FROM run"),
            ("job", "key", "SELECT job FROM run"),
        ];
        for (table, run, known) in tables {
            let sql =
                format!("SELECT min({run}), count(*) FROM {table} WHERE {run} NOT IN ({known})");
            let (first, count): (Option<i64>, i64) =
                self.connection
                    .query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            if let Some(first) = first {
                let fault = format!("{count} rows of table {table} belong to no run (key {first})");
                self.fault(FaultPlace::File, fault);
            }
        }
        let sql = "SELECT count(*) FROM run WHERE (root IS NOT NULL AND
                   root NOT IN (SELECT key FROM run WHERE root IS NULL))";
        let lost: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        if lost > 0 {
            self.fault(
                FaultPlace::File,
                format!("{lost} child runs have no root run"),
            );
        }
        // Without these a run is not even listed.
        let sql = "SELECT count(*) FROM run WHERE job NOT IN (SELECT key FROM job)
                   OR runtime NOT IN (SELECT key FROM word)";
        let lost: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        if lost > 0 {
            self.fault(
                FaultPlace::File,
                format!("{lost} runs have no job or no runtime"),
            );
        }
        Ok(())
    }
}
