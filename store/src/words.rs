//! The `word` table: texts that many rows share, kept once.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use crate::error::Result;

/// Keys of words that were met before.
///
/// Words are only ever added, so a remembered key stays true; what was added in a transaction
/// that failed must be forgotten.
#[derive(Debug, Default)]
pub(crate) struct Words {
    known: HashMap<Box<str>, i64>,
}

impl Words {
    /// Most words remembered: sessions are new ones for each run.
    pub(crate) const MOST: usize = 4096;

    /// Returns the key of a word, adding it if need be.
    pub(crate) fn key(&mut self, connection: &Connection, text: &str) -> Result<i64> {
        if let Some(key) = self.known.get(text) {
            return Ok(*key);
        }
        let found = find(connection, text)?;
        let key = if let Some(key) = found {
            key
        } else {
            connection
                .prepare_cached("INSERT INTO word (text) VALUES (?1)")?
                .insert([text])?
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

    /// Forgets all words: the transaction that may have added them failed.
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
