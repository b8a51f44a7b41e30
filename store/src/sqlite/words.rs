//! The `word` table: texts that many rows share, kept once.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::keys::CountedTable;
use crate::derive::cells::RUN_COLUMNS;
use crate::error::Result;

/// Keys of words that were met before.
///
/// A remembered key stays true until somebody deletes words: what was added in a transaction that
/// failed must be forgotten, and all of it once another connection has written.
#[derive(Debug, Default)]
pub(crate) struct WordKeys {
    known: HashMap<Box<str>, i64>,
    /// Which writes of other connections the remembered keys have seen.
    version: Option<i64>,
}

impl WordKeys {
    /// Most words remembered: sessions are new ones for each run.
    pub(crate) const MOST: usize = 4096;

    /// Forgets all words if another connection has written since: it may have deleted some. To be
    /// called at the beginning of each transaction that writes.
    pub(crate) fn refresh(&mut self, connection: &Connection) -> Result<()> {
        let version: i64 = connection
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        if self.version.replace(version) != Some(version) {
            self.known.clear();
        }
        Ok(())
    }

    /// Returns the key of a word, adding it if need be.
    pub(crate) fn key(&mut self, connection: &Connection, text: &str) -> Result<i64> {
        if let Some(key) = self.known.get(text) {
            return Ok(*key);
        }
        let found = find(connection, text)?;
        let key = if let Some(key) = found {
            key
        } else {
            let key = CountedTable::Word.next(connection)?;
            connection
                .prepare_cached("INSERT INTO word (key, text) VALUES (?1, ?2)")?
                .execute(params![key, text])?;
            key
        };
        if self.known.len() >= Self::MOST {
            self.known.clear();
        }
        self.known.insert(text.into(), key);
        Ok(key)
    }

    /// Returns the key of a word that may be absent.
    pub(crate) fn maybe(
        &mut self,
        connection: &Connection,
        text: Option<&str>,
    ) -> Result<Option<i64>> {
        text.map(|text| self.key(connection, text)).transpose()
    }

    /// Forgets all words: the transaction that may have added them failed, or some were deleted.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }
}

/// Returns the key of a word, if it is there.
pub(crate) fn find(connection: &Connection, text: &str) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT key FROM word WHERE text = ?1")?
        .query_row([text], |row| row.get(0))
        .optional()?)
}

/// Every column that refers to a word, besides those of runs that follow from records.
const REFERENCES: &[(&str, &str)] = &[
    ("run", "runtime"),
    ("step", "status"),
    ("tool_call", "tool"),
    ("tool_call", "class"),
    ("notice", "kind"),
    ("unparsed", "tag"),
    ("usage", "source"),
    ("usage", "model"),
];

/// Returns every column that refers to a word, with its table.
fn references() -> impl Iterator<Item = (&'static str, &'static str)> {
    let words = RUN_COLUMNS.iter().filter(|column| column.is_word);
    let of_runs = words.map(|column| ("run", column.name));
    REFERENCES.iter().copied().chain(of_runs)
}

/// Deletes the words that nothing refers to any more. Reads every derived table once. Whoever
/// remembers words must forget them.
pub(crate) fn delete_unused(connection: &Connection) -> Result<()> {
    let used = references()
        .map(|(table, column)| format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL"))
        .collect::<Vec<_>>()
        .join(" UNION ");
    connection.execute(&format!("DELETE FROM word WHERE key NOT IN ({used})"), [])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::sqlite::Sqlite;

    #[test]
    fn every_column_that_refers_to_a_word_is_asked_before_one_is_deleted() {
        let sqlite = Sqlite::open_in_memory().unwrap();
        let mut statement = sqlite
            .connection
            .prepare(
                "SELECT schema.name, key.\"from\" FROM sqlite_schema AS schema,
                    pragma_foreign_key_list(schema.name) AS key
                 WHERE schema.type = 'table' AND key.\"table\" = 'word'",
            )
            .unwrap();
        let declared: BTreeSet<(String, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        let asked: BTreeSet<(String, String)> = references()
            .map(|(table, column)| (table.to_owned(), column.to_owned()))
            .collect();
        assert_eq!(asked, declared);
    }
}
