//! The `search` table: full text over messages, tool inputs and outputs.
//!
//! Appending does not pay for it. A search first completes the index with all that was committed
//! since the last one, a few runs at a time, then answers.

use runtape_core::report::{SearchHit, SnippetPart};
use runtape_core::{ExpertPart, Message, Record, RecordKind, RunId, ToolResultContent, UserPart};
use rusqlite::{Connection, Transaction, TransactionBehavior, params, params_from_iter};

use crate::error::{Result, StoreError};
use crate::filter::{Condition, RunFilter};
use crate::list::{Cursor, Page};
use crate::place::{self, signed};
use crate::records;
use crate::runs;
use crate::store::Store;

/// Text indexed in one transaction; writers wait for no longer than that takes.
const BATCH: usize = 4 << 20;

/// Columns of the index.
pub(crate) const COLUMNS: [&str; 3] = ["said", "input", "output"];

/// What makes terms of texts.
pub(crate) const TOKENIZER: &str = "unicode61 remove_diacritics 2";

/// What the index knows of a record.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) said: String,
    pub(crate) input: String,
    pub(crate) output: String,
}

impl Text {
    /// Returns the texts in the order of the columns.
    pub(crate) fn columns(&self) -> [&str; COLUMNS.len()] {
        [&self.said, &self.input, &self.output]
    }

    /// Returns what there is to find in a record, if anything.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let RecordKind::Message(message) = &record.kind else {
            return None;
        };
        let mut text = Self::default();
        match &message.message {
            Message::ExpertMessage(expert) => {
                for part in &expert.contents {
                    match part {
                        ExpertPart::TextPart(part) => add(&mut text.said, &part.text),
                        ExpertPart::ThinkingPart(part) => add(&mut text.said, &part.thinking),
                        ExpertPart::ToolCallPart(part) => {
                            add(&mut text.input, part.tool_name.as_str());
                            add_strings(&mut text.input, &part.args);
                        }
                    }
                }
            }
            Message::ToolMessage(tool) => {
                for content in tool.results().flat_map(|result| &result.contents) {
                    if let ToolResultContent::TextPart(part) = content {
                        add(&mut text.output, &part.text);
                    }
                }
            }
            Message::UserMessage(user) => {
                for part in &user.contents {
                    if let UserPart::TextPart(part) = part {
                        add(&mut text.said, &part.text);
                    }
                }
            }
            Message::InstructionMessage(instruction) => {
                for runtape_core::InstructionPart::TextPart(part) in &instruction.contents {
                    add(&mut text.said, &part.text);
                }
            }
        }
        (text.len() > 0).then_some(text)
    }

    fn len(&self) -> usize {
        self.said.len() + self.input.len() + self.output.len()
    }
}

fn add(text: &mut String, piece: &str) {
    if !text.is_empty() && !piece.is_empty() {
        text.push('\n');
    }
    text.push_str(piece);
}

/// Adds keys and texts of tool arguments: all that a person may look for.
fn add_strings(text: &mut String, value: &serde_json::Value) {
    match value {
        serde_json::Value::String(piece) => add(text, piece),
        serde_json::Value::Array(items) => items.iter().for_each(|item| add_strings(text, item)),
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                add(text, key);
                add_strings(text, value);
            }
        }
        serde_json::Value::Number(number) => add(text, &number.to_string()),
        serde_json::Value::Null | serde_json::Value::Bool(_) => {}
    }
}

pub(crate) const INSERT: &str =
    "INSERT INTO search (rowid, said, input, output) VALUES (?1, ?2, ?3, ?4)";

fn insert(connection: &Connection, place: i64, text: &Text) -> Result<()> {
    connection.prepare_cached(INSERT)?.execute(params![
        place,
        text.said,
        text.input,
        text.output
    ])?;
    Ok(())
}

/// Takes a run out of the index.
pub(crate) fn forget(connection: &Connection, run: i64) -> Result<()> {
    let (first, last) = place::range(run);
    connection
        .prepare_cached("DELETE FROM search WHERE rowid BETWEEN ?1 AND ?2")?
        .execute([first, last])?;
    set_searched(connection, run, 0)
}

/// Where the index keeps which records were deleted: pages of FTS5's own, numbered from here on.
const FIRST_PAGE_OF_DELETED: i64 = 1 << 53;

/// Takes the words of deleted records out of the index: until then they are only marked as
/// deleted. Writes the whole index anew, so it is done only where there are any.
pub(crate) fn erase_deleted(connection: &Connection) -> Result<()> {
    let has_deleted: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM search_data WHERE id >= ?1)")?
        .query_row([FIRST_PAGE_OF_DELETED], |row| row.get(0))?;
    if has_deleted {
        connection.execute("INSERT INTO search (search) VALUES ('optimize')", [])?;
    }
    Ok(())
}

/// Empties the index, whatever it holds.
pub(crate) fn clear(connection: &Connection) -> Result<()> {
    connection.execute("INSERT INTO search (search) VALUES ('delete-all')", [])?;
    connection.execute("UPDATE run SET searched = 0 WHERE searched <> 0", [])?;
    Ok(())
}

/// Adds a record of a run to the index.
pub(crate) fn index(connection: &Connection, run: i64, record: &Record) -> Result<()> {
    match Text::of(record) {
        Some(text) => insert(connection, place::place(run, record.seq)?, &text),
        None => Ok(()),
    }
}

/// Notes how many records of a run the index has seen.
pub(crate) fn set_searched(connection: &Connection, run: i64, records: u64) -> Result<()> {
    connection
        .prepare_cached("UPDATE run SET searched = ?2 WHERE key = ?1")?
        .execute(params![run, signed(records)])?;
    Ok(())
}

/// Returns the runs that the index does not know in full.
fn unsearched(connection: &Connection) -> Result<Vec<(i64, RunId, u64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT key, id, searched FROM run WHERE searched < records ORDER BY key",
    )?;
    let rows = statement.query_map([], |row| {
        Ok((
            row.get(0)?,
            row.get::<_, String>(1)?,
            row.get(2).map(place::unsigned)?,
        ))
    })?;
    let mut found = Vec::new();
    for row in rows {
        let (key, id, searched) = row?;
        found.push((key, RunId::parse(id)?, searched));
    }
    Ok(found)
}

/// Indexes some of what is not indexed; returns whether there may be more.
fn index_some(connection: &Connection) -> Result<bool> {
    let mut room = BATCH;
    for (key, id, searched) in unsearched(connection)? {
        let mut next = searched;
        records::each_from(connection, key, &id, searched, |record| {
            if let Some(text) = Text::of(&record) {
                insert(connection, place::place(key, record.seq)?, &text)?;
                room = room.saturating_sub(text.len());
            }
            next = record.seq + 1;
            room = room.saturating_sub(64);
            Ok(room > 0)
        })?;
        set_searched(connection, key, next)?;
        if room == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A small index in memory, with the texts: for snippets, and for what a store that may only be
/// read cannot index.
struct Scratch {
    connection: Connection,
}

/// Stand around what was found; neither can be in a message that a person wrote.
const MATCH_BEGINS: char = '\u{1}';
const MATCH_ENDS: char = '\u{2}';

impl Scratch {
    fn new() -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE search USING fts5 ({}, tokenize = '{TOKENIZER}')",
            COLUMNS.join(", ")
        ))?;
        Ok(Self { connection })
    }

    /// Adds the records of a run from a number on.
    fn add(&self, connection: &Connection, key: i64, id: &RunId, from: u64) -> Result<()> {
        records::each_from(connection, key, id, from, |record| {
            if let Some(text) = Text::of(&record) {
                insert(&self.connection, place::place(key, record.seq)?, &text)?;
            }
            Ok(true)
        })
    }

    fn empty(&self) -> Result<()> {
        self.connection.execute("DELETE FROM search", [])?;
        Ok(())
    }

    fn hits(&self, query: &str) -> Result<Vec<(i64, f64)>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT rowid, rank FROM search WHERE search MATCH ?1")?;
        let rows = statement.query_map([query], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn snippet(&self, query: &str, place: i64) -> Result<Vec<SnippetPart>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT snippet(search, -1, char(1), char(2), '…', 24) FROM search
             WHERE search MATCH ?1 AND rowid = ?2",
        )?;
        let mut rows = statement.query_map(params![query, place], |row| row.get::<_, String>(0))?;
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

impl Store {
    /// Tells whether the index can be completed; else what it does not know is read.
    fn may_complete_search(&self) -> bool {
        !self.read_only && !self.in_batch
    }

    /// Adds the term that a run has a text somewhere, whether the index knows it or not.
    pub(crate) fn add_text(&self, condition: &mut Condition, text: &str) -> Result<()> {
        self.complete_search()?;
        self.check_query(text)?;
        let indexed = "run.key IN (SELECT rowid >> 32 FROM search WHERE search MATCH ?)";
        if self.may_complete_search() {
            condition.add(indexed, text.to_owned());
            return Ok(());
        }
        let others = self.read(|connection| unindexed_runs_with(connection, text))?;
        let others = serde_json::Value::from(others).to_string();
        let number = condition.next();
        let values = [text.to_owned(), others];
        condition.values.extend(values.map(Into::into));
        condition.terms.push(format!(
            "({} OR run.key IN (SELECT value FROM json_each(?{})))",
            indexed.replace('?', &format!("?{number}")),
            number + 1
        ));
        Ok(())
    }

    /// Brings the search index up to all that has been committed.
    ///
    /// A search does this by itself; calling it at a quiet time makes the next one quicker.
    pub fn complete_search(&self) -> Result<()> {
        if !self.may_complete_search() {
            return Ok(());
        }
        let pending = self.read(unsearched)?;
        if pending.is_empty() {
            return Ok(());
        }
        let step = || {
            let behavior = TransactionBehavior::Immediate;
            let transaction = Transaction::new_unchecked(&self.connection, behavior)?;
            let more = index_some(&transaction)?;
            transaction.commit()?;
            Ok(more)
        };
        while step().map_err(|error| self.named(error))? {}
        Ok(())
    }

    /// Refuses a query that cannot be understood.
    pub(crate) fn check_query(&self, query: &str) -> Result<()> {
        let bad = |fault: String| StoreError::BadQuery {
            query: query.to_owned(),
            fault: format!(
                "{fault}; write words, \"a phrase\", pre*, AND OR NOT, or said: input: output:"
            ),
        };
        if query.trim().is_empty() {
            return Err(bad("it is empty".to_owned()));
        }
        let sql = "SELECT rowid FROM search WHERE search MATCH ?1 LIMIT 1";
        let asked = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.exists([query]));
        match asked {
            Ok(_) => Ok(()),
            Err(rusqlite::Error::SqliteFailure(code, Some(fault)))
                if code.code == rusqlite::ErrorCode::Unknown =>
            {
                Err(bad(fault))
            }
            Err(error) => Err(self.named(error.into())),
        }
    }

    /// Finds records by their text: messages, tool inputs and outputs. The best come first.
    ///
    /// Complete for all that has been committed. The query is FTS5's: words, `"a phrase"`, `pre*`,
    /// `AND`, `OR`, `NOT`, and `said:`, `input:` or `output:` before a word to look only there.
    pub fn search(
        &self,
        query: &str,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SearchHit>> {
        self.complete_search()?;
        self.check_query(query)?;
        let mut condition = Condition::default();
        filter.apply(&mut condition);
        if let Some(text) = &filter.text {
            self.add_text(&mut condition, text)?;
        }
        let offset = after.map_or(0, |cursor| cursor.parts().0.max(0));
        self.read(|connection| {
            let scratch = Scratch::new()?;
            let mut places = if self.may_complete_search() {
                indexed_hits(connection, query, &condition, offset, limit)?
            } else {
                // Both kinds of hits in one order, then the page of them.
                let before = usize::try_from(offset).unwrap_or(usize::MAX);
                let end = before.saturating_add(limit);
                let mut places = indexed_hits(connection, query, &condition, 0, end)?;
                add_unindexed(connection, &scratch, query, &condition, &mut places)?;
                places.drain(..before.min(places.len()));
                places
            };
            let more = places.len() > limit;
            places.truncate(limit);
            let mut items = Vec::new();
            for (place, rank) in places {
                items.extend(hit(connection, &scratch, query, place, rank)?);
            }
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            Ok(Page {
                items,
                next: more.then(|| Cursor::new(offset.saturating_add(limit), 0)),
            })
        })
    }
}

/// Returns the hits of one page and one more.
fn indexed_hits(
    connection: &Connection,
    query: &str,
    condition: &Condition,
    offset: i64,
    limit: usize,
) -> Result<Vec<(i64, f64)>> {
    let mut condition = condition.clone();
    condition.add("search MATCH ?", query.to_owned());
    let sql = format!(
        "SELECT search.rowid, search.rank FROM search
             JOIN run ON run.key = search.rowid >> 32
             WHERE {} ORDER BY search.rank, search.rowid LIMIT {} OFFSET {offset}",
        condition.sql(),
        limit.saturating_add(1),
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(&condition.values), |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the keys of runs that have a text in records that the index does not know.
fn unindexed_runs_with(connection: &Connection, text: &str) -> Result<Vec<i64>> {
    let scratch = Scratch::new()?;
    let mut found = Vec::new();
    for (key, id, searched) in unsearched(connection)? {
        scratch.add(connection, key, &id, searched)?;
        if !scratch.hits(text)?.is_empty() {
            found.push(key);
        }
        scratch.empty()?;
    }
    Ok(found)
}

/// Adds hits in records that the index does not know.
fn add_unindexed(
    connection: &Connection,
    scratch: &Scratch,
    query: &str,
    condition: &Condition,
    places: &mut Vec<(i64, f64)>,
) -> Result<()> {
    let allowed = format!(
        "SELECT 1 FROM run WHERE {} AND run.key = ?{}",
        condition.sql(),
        condition.next()
    );
    for (key, id, searched) in unsearched(connection)? {
        let mut values = condition.values.clone();
        values.push(key.into());
        let mut statement = connection.prepare_cached(&allowed)?;
        if !statement.exists(params_from_iter(&values))? {
            continue;
        }
        scratch.add(connection, key, &id, searched)?;
    }
    places.extend(scratch.hits(query)?);
    scratch.empty()?;
    places.sort_by(|a, b| a.1.total_cmp(&b.1));
    Ok(())
}

/// Reads the record of a hit.
fn hit(
    connection: &Connection,
    scratch: &Scratch,
    query: &str,
    place: i64,
    rank: f64,
) -> Result<Option<SearchHit>> {
    let (key, seq) = place::split(place);
    let Some(run) = runs::by_key(connection, key)? else {
        return Ok(None);
    };
    let Some(record) = records::one(connection, key, &run.id, seq)? else {
        return Ok(None);
    };
    if let Some(text) = Text::of(&record) {
        insert(&scratch.connection, place, &text)?;
    }
    let step = match &record.kind {
        RecordKind::Message(message) => message.step,
        _ => 0,
    };
    Ok(Some(SearchHit {
        job_id: run.job,
        run_id: run.id,
        runtime: run.runtime,
        seq,
        step,
        at: record.at,
        rank,
        snippet: scratch.snippet(query, place)?,
    }))
}
