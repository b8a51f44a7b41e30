//! The search index against the records.
//!
//! The index has no text, only terms and where they stand, in an order of its own. So both sides
//! are added up, run by run: each term at its place is a number that nobody can foresee, and the
//! sums are the same only if the terms are. Nothing is held but the sums.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hasher, RandomState};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use super::index::{Index, TERMS};
use crate::backend::{DatabaseFinding, RunRow, SearchCheck};
use crate::derive::text::{FIELDS, Text};
use crate::error::{Result, StoreError};
use crate::sqlite::columns::{self as place, signed};
use crate::sqlite::{runs, search};

/// Text that is taken apart at once.
const BATCH: usize = 1 << 20;

/// Longest term that is not cut by the tokenizer; rather longer ones are left to it.
const LONG_TERM: usize = 1 << 14;

/// What the records of the runs say should be in the index.
#[derive(Default)]
pub(super) struct Terms {
    hasher: RandomState,
    /// The sums of the runs that are in the index.
    sums: HashMap<i64, u64>,
    /// The run whose records come, and how many of them are in the index.
    current: (i64, u64),
    /// Texts in the index, and terms in each column.
    documents: u64,
    lengths: [u64; FIELDS.len()],
    /// Texts that the tokenizer itself must take apart.
    scratch: Option<Scratch>,
}

impl Terms {
    /// Returns the number of a term at its place.
    fn term(&self, document: i64, column: usize, offset: u64, term: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_i64(document);
        hasher.write_usize(column);
        hasher.write_u64(offset);
        hasher.write(term);
        hasher.finish()
    }

    /// Returns the number of a text's length as the index keeps it.
    fn length(&self, document: i64, packed: &[u8]) -> u64 {
        self.term(document, FIELDS.len(), 0, packed)
    }

    fn add(&mut self, document: i64, number: u64) {
        let sum = self.sums.entry(place::split(document).0).or_default();
        *sum = sum.wrapping_add(number);
    }

    fn add_length(&mut self, document: i64, lengths: [u64; FIELDS.len()]) {
        let mut packed = Vec::new();
        for (length, total) in lengths.into_iter().zip(&mut self.lengths) {
            write_varint(&mut packed, length);
            *total += length;
        }
        self.documents += 1;
        let number = self.length(document, &packed);
        self.add(document, number);
    }

    /// Adds what the index should have of a text.
    fn add_text(&mut self, document: i64, text: &Text) -> Result<()> {
        let mut lengths = [0; FIELDS.len()];
        let mut others = [""; FIELDS.len()];
        let columns = text.columns();
        for (column, (text, length)) in columns.into_iter().zip(&mut lengths).enumerate() {
            let terms = || text.split(|letter: char| !letter.is_ascii_alphanumeric());
            if !text.is_ascii() || terms().any(|term| term.len() > LONG_TERM) {
                if let Some(other) = others.get_mut(column) {
                    *other = text;
                }
                continue;
            }
            let mut lower = [0; LONG_TERM];
            for term in terms().filter(|term| !term.is_empty()) {
                if let Some(lower) = lower.get_mut(..term.len()) {
                    lower.copy_from_slice(term.as_bytes());
                    lower.make_ascii_lowercase();
                    let number = self.term(document, column, *length, lower);
                    self.add(document, number);
                }
                *length += 1;
            }
        }
        if others.iter().all(|other| other.is_empty()) {
            self.add_length(document, lengths);
            return Ok(());
        }
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            empty => empty.insert(Scratch::new()?),
        };
        if scratch.push(document, others, lengths)? >= BATCH {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds the texts that the tokenizer took apart.
    fn flush(&mut self) -> Result<()> {
        let Some(mut scratch) = self.scratch.take() else {
            return Ok(());
        };
        let mut lengths = std::mem::take(&mut scratch.lengths);
        each_term(&scratch.connection, |document, column, offset, term| {
            let number = self.term(document, column, offset, term);
            self.add(document, number);
            if let Some(length) = lengths
                .get_mut(&document)
                .and_then(|all| all.get_mut(column))
            {
                *length += 1;
            }
        })?;
        for (document, lengths) in lengths {
            self.add_length(document, lengths);
        }
        scratch.empty()?;
        self.scratch = Some(scratch);
        Ok(())
    }
}

/// An index in memory, with the tokenizer of the real one.
struct Scratch {
    connection: Connection,
    bytes: usize,
    /// Lengths of the texts, as far as they are known.
    lengths: BTreeMap<i64, [u64; FIELDS.len()]>,
}

impl Scratch {
    fn new() -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE search USING fts5 (
                {}, content = '', tokenize = '{}'
            );
            CREATE VIRTUAL TABLE temp.{TERMS} USING fts5vocab ('main', 'search', 'instance');
            BEGIN",
            FIELDS.join(", "),
            search::TOKENIZER,
        ))?;
        Ok(Self {
            connection,
            bytes: 0,
            lengths: BTreeMap::new(),
        })
    }

    /// Adds a text; returns how much there is.
    fn push(
        &mut self,
        document: i64,
        texts: [&str; FIELDS.len()],
        lengths: [u64; FIELDS.len()],
    ) -> Result<usize> {
        let [said, input, output] = texts;
        self.connection
            .prepare_cached(search::INSERT)?
            .execute(params![document, said, input, output])?;
        self.lengths.insert(document, lengths);
        self.bytes += texts.iter().map(|text| text.len()).sum::<usize>() + 64;
        Ok(self.bytes)
    }

    fn empty(&mut self) -> Result<()> {
        let sql = "INSERT INTO search (search) VALUES ('delete-all')";
        self.connection.execute(sql, [])?;
        self.bytes = 0;
        Ok(())
    }
}

/// Calls `each` with document, column, offset and term of all that is in an index.
fn each_term(connection: &Connection, mut each: impl FnMut(i64, usize, u64, &[u8])) -> Result<()> {
    let sql = format!("SELECT term, doc, col, \"offset\" FROM temp.{TERMS}");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (ValueRef::Text(term), ValueRef::Text(name)) = (row.get_ref(0)?, row.get_ref(2)?)
        else {
            return Err(StoreError::damaged("the search index", "it is broken"));
        };
        let column = FIELDS.iter().position(|column| column.as_bytes() == name);
        let column = column.ok_or_else(|| StoreError::damaged("the search index", "no column"))?;
        let offset = place::unsigned(row.get(3)?);
        each(row.get(1)?, column, offset, term);
    }
    Ok(())
}

/// Writes a number as the index does.
pub(super) fn write_varint(bytes: &mut Vec<u8>, number: u64) {
    let groups = (64 - number.leading_zeros()).div_ceil(7).max(1);
    for group in (0..groups).rev() {
        let seven = number.checked_shr(group * 7).unwrap_or(0).to_le_bytes()[0] & 0x7f;
        bytes.push(if group == 0 { seven } else { seven | 0x80 });
    }
}

/// The search index of a database, and what its records say should be in it.
pub(crate) struct IndexCheck<'a> {
    connection: &'a Connection,
    terms: Terms,
}

impl<'a> IndexCheck<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self {
            connection,
            terms: Terms::default(),
        }
    }
}

impl SearchCheck for IndexCheck<'_> {
    fn begin(&mut self, run: &RunRow) -> Result<Option<String>> {
        let key = run.key.number;
        let searched: i64 = self
            .connection
            .prepare_cached("SELECT searched FROM run WHERE key = ?1")?
            .query_row([key], |row| row.get(0))?;
        let is_possible = (0..=signed(run.records)).contains(&searched);
        self.terms.current = (key, place::unsigned(searched));
        if searched > 0 {
            self.terms.sums.entry(key).or_default();
        }
        Ok((!is_possible).then(|| "its searched was changed".to_owned()))
    }

    fn add(&mut self, seq: u64, text: Option<&Text>) -> Result<()> {
        let (run, searched) = self.terms.current;
        match text {
            Some(text) if seq < searched => self.terms.add_text(place::place(run, seq)?, text),
            _ => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<Vec<DatabaseFinding>> {
        self.terms.flush()?;
        let mut stored = Terms {
            hasher: self.terms.hasher.clone(),
            ..Terms::default()
        };
        let index = Index::new(self.connection)?;
        index.with_terms("instance", |connection| {
            each_term(connection, |document, column, offset, term| {
                let number = stored.term(document, column, offset, term);
                stored.add(document, number);
            })
        })?;
        index.each_length(|document, packed| {
            let number = stored.length(document, packed);
            stored.add(document, number);
        })?;
        let mut keys: Vec<i64> = self
            .terms
            .sums
            .keys()
            .chain(stored.sums.keys())
            .copied()
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let mut faults = Vec::new();
        for key in keys {
            let sum = |terms: &Terms| terms.sums.get(&key).copied().unwrap_or_default();
            if sum(&self.terms) == sum(&stored) {
                continue;
            }
            faults.push(match runs::by_key(self.connection, key)? {
                Some(run) => (
                    Some(run.id),
                    "the search index has other words than its records".to_owned(),
                ),
                None => (
                    None,
                    format!("the search index has words of a run that is not there (key {key})"),
                ),
            });
        }
        let wrong = index.faults(self.terms.documents, self.terms.lengths)?;
        faults.extend(wrong.into_iter().map(|fault| (None, fault)));
        Ok(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_plain_text_are_those_of_the_tokenizer() {
        let mut plain = Terms::default();
        let mut taken_apart = Terms {
            hasher: plain.hasher.clone(),
            ..Terms::default()
        };
        let every: String = (0..128_u8).map(char::from).collect();
        let texts = [
            "Hello, World! it's a_b-c.d/e 12.5e3 0x1F CamelCase",
            every.as_str(),
            "",
            "...",
            "a\0b\u{1}c\r\nd\te",
        ];
        for (document, text) in (1_i64..).zip(texts) {
            let text = Text {
                said: text.to_owned(),
                input: text.repeat(3),
                output: format!("{text} end"),
            };
            plain.add_text(document << 32, &text).unwrap();
            let mut scratch = Scratch::new().unwrap();
            scratch
                .push(document << 32, text.columns(), [0; 3])
                .unwrap();
            taken_apart.scratch = Some(scratch);
            taken_apart.flush().unwrap();
        }
        assert_eq!(plain.sums, taken_apart.sums);
        assert_eq!(plain.lengths, taken_apart.lengths);
        assert!(plain.lengths.iter().all(|length| *length > 15));
        // A term that the tokenizer would cut, and letters that it knows better.
        for text in ["x".repeat(70_000), "Größe naïve 你好 ﬁ".to_owned()] {
            let text = Text {
                said: text,
                ..Text::default()
            };
            plain.add_text(9 << 32, &text).unwrap();
            plain.flush().unwrap();
        }
        assert_eq!(plain.documents, 7);
    }

    #[test]
    fn numbers_are_written_as_the_index_does() {
        for number in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 1 << 40] {
            let mut bytes = Vec::new();
            write_varint(&mut bytes, number);
            assert_eq!(
                super::super::index::read_varint(&mut bytes.as_slice()),
                Some(number)
            );
        }
        let mut bytes = Vec::new();
        write_varint(&mut bytes, 300);
        assert_eq!(bytes, [0x82, 0x2c]);
    }
}
