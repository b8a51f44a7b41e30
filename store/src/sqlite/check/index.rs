//! The search index by itself: its parts, its settings, and whether its terms are found.
//!
//! `SQLite` checks most of it with the rest of the file; this is what it does not look at.

use std::collections::HashMap;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension};

use crate::error::{Result, StoreError};
use crate::sqlite::columns as place;

/// The table that shows the terms of an index.
pub(super) const TERMS: &str = "runtape_terms";

/// Where the index keeps its totals, and which parts it has.
const TOTALS: i64 = 1;
const STRUCTURE: i64 = 10;

/// What a part's pages say of texts that were deleted has a number of its own.
const DELETIONS: i64 = 1 << 16;

/// A part of the index.
struct IndexSegment {
    last_page: i64,
    /// All of it is in another part already: while parts are merged step by step, its pages stay where they are, and
    /// nobody reads them.
    is_merged: bool,
    origins: (u64, u64),
    pages_of_deletions: i64,
}

/// The search index of a database.
pub(super) struct Index<'a> {
    connection: &'a Connection,
    segments: HashMap<i64, IndexSegment>,
}

/// Reads a number as the index writes it; none beyond 56 bits.
pub(super) fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for _ in 0..8 {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Reads which parts the index has.
fn segments(structure: &[u8]) -> Option<HashMap<i64, IndexSegment>> {
    let (_cookie, rest) = structure.split_first_chunk::<4>()?;
    let mut rest = rest.strip_prefix(&[0xff, 0, 0, 1])?;
    let mut next = || read_varint(&mut rest);
    let levels = next()?;
    let (_count, _writes) = (next()?, next()?);
    let mut segments = HashMap::new();
    for _ in 0..levels {
        let merging = next()?;
        for order in 0..next()? {
            let id = place::signed(next()?);
            let (_first, last) = (next()?, next()?);
            let origins = (next()?, next()?);
            let pages = next()?;
            let (_gone, _texts) = (next()?, next()?);
            let segment = IndexSegment {
                last_page: place::signed(last),
                is_merged: last == 0 && order < merging,
                origins,
                pages_of_deletions: place::signed(pages),
            };
            segments.insert(id, segment);
        }
    }
    Some(segments)
}

/// Returns what an index keeps under a number; nothing if it is not there.
fn data(connection: &Connection, id: i64) -> Result<Vec<u8>> {
    let data: Option<Option<Vec<u8>>> = connection
        .prepare_cached("SELECT block FROM search_data WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(data.flatten().unwrap_or_default())
}

impl<'a> Index<'a> {
    pub(super) fn new(connection: &'a Connection) -> Result<Self> {
        let structure = data(connection, STRUCTURE)?;
        Ok(Self {
            connection,
            // What cannot be read has no parts, which none of its pages belongs to.
            segments: segments(&structure).unwrap_or_default(),
        })
    }

    /// Shows the terms of the index in a table for a moment.
    pub(super) fn with_terms(
        &self,
        kind: &str,
        work: impl FnOnce(&Connection) -> Result<()>,
    ) -> Result<()> {
        let connection = self.connection;
        // The table is a temporary one, but a connection that only reads refuses that, too.
        let only_reads: bool =
            connection.pragma_query_value(None, "query_only", |row| row.get(0))?;
        connection.pragma_update(None, "query_only", false)?;
        let shown = connection.execute_batch(&format!(
            "DROP TABLE IF EXISTS temp.{TERMS};
             CREATE VIRTUAL TABLE temp.{TERMS} USING fts5vocab ('main', 'search', '{kind}')"
        ));
        let worked = shown
            .map_err(StoreError::from)
            .and_then(|()| work(connection));
        let hidden = connection.execute_batch(&format!("DROP TABLE IF EXISTS temp.{TERMS}"));
        connection.pragma_update(None, "query_only", only_reads)?;
        worked.and(hidden.map_err(StoreError::from))
    }

    /// Calls `each` with the lengths that the index keeps of its texts.
    pub(super) fn each_length(&self, mut each: impl FnMut(i64, &[u8])) -> Result<()> {
        let mut statement = self
            .connection
            .prepare("SELECT id, sz FROM search_docsize")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let ValueRef::Blob(packed) = row.get_ref(1)? {
                each(row.get(0)?, packed);
            }
        }
        Ok(())
    }

    /// Returns the places of a run's texts, in order.
    pub(super) fn texts_of(connection: &Connection, run: i64) -> Result<Vec<i64>> {
        let sql = "SELECT id FROM search_docsize WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(place::range(run), |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Says what is wrong with the index, which should have so many texts and terms.
    pub(super) fn faults(&self, documents: u64, terms: u64) -> Result<Vec<String>> {
        let checks = [
            ("totals", self.has_totals(documents, terms)?),
            ("settings", self.has_our_settings()?),
            ("pages", self.has_only_its_pages()?),
            ("texts", self.has_only_its_texts()?),
            ("terms", self.finds_its_terms()?),
        ];
        let wrong = checks.iter().filter(|(_, is_right)| !is_right);
        Ok(wrong
            .map(|(what, _)| format!("the {what} of the search index were changed"))
            .collect())
    }

    fn has_totals(&self, documents: u64, terms: u64) -> Result<bool> {
        let totals = data(self.connection, TOTALS)?;
        let mut rest = totals.as_slice();
        let mut next = || {
            if rest.is_empty() {
                return Some(0);
            }
            read_varint(&mut rest)
        };
        let is_right = next() == Some(documents) && next() == Some(terms);
        Ok(is_right && rest.is_empty())
    }

    /// Anything else, such as another way to rank, was set by somebody else.
    fn has_our_settings(&self) -> Result<bool> {
        let sql = "SELECT coalesce(sum(k = 'version' AND v = (
                CASE WHEN v = 5 AND EXISTS (SELECT 1 FROM search_config WHERE k = 'secure-delete')
                    THEN 5 ELSE 4 END)), 0) = 1
            AND coalesce(sum(k <> 'version' AND (k <> 'secure-delete' OR v NOT IN (0, 1))), 0) = 0
            AND count(k) = count(v) AND count(*) = count(k)
            FROM search_config";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    fn has_only_its_pages(&self) -> Result<bool> {
        let sql = "SELECT id, coalesce(octet_length(block), 0), hex(substr(block, 1, 1))
                   FROM search_data WHERE id NOT IN (?1, ?2)";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([TOTALS, STRUCTURE])?;
        while let Some(row) = rows.next()? {
            let (id, length): (i64, i64) = (row.get(0)?, row.get(1)?);
            let (number, page) = (id >> 37, id & 0x7fff_ffff);
            let is_known = if number < DELETIONS {
                let segment = self.segments.get(&number);
                segment.is_some_and(|segment| {
                    segment.is_merged || (1..=segment.last_page).contains(&page)
                })
            } else {
                // Numbers of texts, 4 or 8 bytes each.
                let width = if row.get_ref(2)?.as_str().ok() == Some("04") {
                    4
                } else {
                    8
                };
                let segment = self.segments.get(&(number - DELETIONS));
                segment.is_some_and(|segment| page < segment.pages_of_deletions)
                    && length >= 8
                    && length % width == 0
            };
            if !is_known {
                return Ok(false);
            }
        }
        let sql = "SELECT segid, typeof(pgno) = 'integer', min(pgno >> 1), max(pgno >> 1)
                   FROM search_idx GROUP BY 1, 2";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let number: Option<i64> = row.get(0).unwrap_or_default();
            let segment = number.and_then(|number| self.segments.get(&number));
            let is_number: bool = row.get(1)?;
            let is_right = is_number
                && segment.is_some_and(|segment| {
                    let (first, last): (i64, i64) =
                        (row.get(2).unwrap_or(0), row.get(3).unwrap_or(i64::MAX));
                    first >= 1 && (segment.is_merged || last <= segment.last_page)
                });
            if !is_right {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A text that came from no part could not be deleted.
    fn has_only_its_texts(&self) -> Result<bool> {
        let sql = "SELECT DISTINCT origin, typeof(sz) = 'blob' FROM search_docsize";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let origin: Option<i64> = row.get(0).unwrap_or_default();
            let has_length: bool = row.get(1)?;
            let is_known = origin.map(place::unsigned).is_some_and(|origin| {
                let mut segments = self.segments.values();
                segments.any(|segment| {
                    let (first, last) = segment.origins;
                    (first..=last).contains(&origin)
                })
            });
            if !is_known || !has_length {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reading all terms goes from page to page; looking one up goes by an index of pages.
    fn finds_its_terms(&self) -> Result<bool> {
        let pages =
            "SELECT count(*) > (SELECT count(DISTINCT segid) FROM search_idx) FROM search_idx";
        let has_many: bool = self.connection.query_row(pages, [], |row| row.get(0))?;
        let few = self.segments.values().all(|segment| segment.last_page == 1);
        if !has_many && few {
            return Ok(true);
        }
        let mut is_right = true;
        self.with_terms("row", |connection| {
            let mut all = connection.prepare(&format!("SELECT term, doc FROM temp.{TERMS}"))?;
            let sql = format!("SELECT 1 FROM temp.{TERMS} WHERE term = ?1 AND doc = ?2");
            let mut one = connection.prepare(&sql)?;
            let mut terms = all.query([])?;
            while let Some(row) = terms.next()? {
                let documents: i64 = row.get(1)?;
                let term: Value = row.get(0)?;
                is_right &= one.exists(rusqlite::params![term, documents])?;
            }
            Ok(())
        })?;
        Ok(is_right)
    }
}
