//! Texts that no database has indexed, searched in memory.

use runtape_core::report::SnippetPart;
use rusqlite::{Connection, params};

use super::fts;
use super::search::{self, TOKENIZER};
use crate::derive::text::{FIELDS, Text};
use crate::error::Result;
use crate::search_query::SearchQuery;

/// A small index in memory, with the texts: for snippets, and for what a store that may only be
/// read cannot index.
pub(crate) struct Scratch {
    connection: Connection,
}

/// Stand around what was found; neither can be in a message that a person wrote.
const MATCH_BEGINS: char = '\u{1}';
const MATCH_ENDS: char = '\u{2}';

impl Scratch {
    /// Makes one that is empty.
    pub(crate) fn new() -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE search USING fts5 ({}, tokenize = '{TOKENIZER}')",
            FIELDS.join(", ")
        ))?;
        Ok(Self { connection })
    }

    /// Adds a text under a number.
    pub(crate) fn add(&self, number: i64, text: &Text) -> Result<()> {
        search::insert(&self.connection, number, text)
    }

    /// Takes all texts out.
    pub(crate) fn empty(&self) -> Result<()> {
        self.connection.execute("DELETE FROM search", [])?;
        Ok(())
    }

    /// Returns number and rank of what a query finds.
    pub(crate) fn hits(&self, query: &SearchQuery) -> Result<Vec<(i64, f64)>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT rowid, rank FROM search WHERE search MATCH ?1")?;
        let query = fts::compile(query);
        let rows = statement.query_map([query], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the best part of a text for a query.
    pub(crate) fn snippet(&self, query: &SearchQuery, number: i64) -> Result<Vec<SnippetPart>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT snippet(search, -1, char(1), char(2), '…', 24) FROM search
             WHERE search MATCH ?1 AND rowid = ?2",
        )?;
        let query = fts::compile(query);
        let mut rows =
            statement.query_map(params![query, number], |row| row.get::<_, String>(0))?;
        Ok(rows
            .next()
            .transpose()?
            .map(|text| parts(&text))
            .unwrap_or_default())
    }
}

fn parts(marked: &str) -> Vec<SnippetPart> {
    let mut parts = Vec::new();
    let mut push = |text: &str, is_match| {
        if !text.is_empty() {
            let text = text.to_owned();
            parts.push(SnippetPart { text, is_match });
        }
    };
    for piece in marked.split_inclusive([MATCH_BEGINS, MATCH_ENDS]) {
        let text = piece.trim_end_matches([MATCH_BEGINS, MATCH_ENDS]);
        push(text, piece.ends_with(MATCH_ENDS));
    }
    parts
}
