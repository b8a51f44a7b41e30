//! The search index against the records.
//!
//! The index has no text, only terms and in which text they are, in an order of its own. So both sides
//! are added up, run by run: each term of a text is a number that nobody can foresee, and the
//! sums are the same only if the terms are. Nothing is held but the sums.
//!
//! Where a stretch of records begins depends on when the index was completed. Any division is right in
//! which each stretch has the words of its records.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hasher, RandomState};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::index::{Index, TERMS};
use crate::backend::{DatabaseFinding, RunRow, SearchCheck};
use crate::derive::text::Text;
use crate::derive::words::Words;
use crate::error::{Result, StoreError};
use crate::sqlite::columns::{self as place, signed};
use crate::sqlite::{migrate, runs};

/// What the records of the runs say should be in the index, or what is in it.
#[derive(Default)]
struct Terms {
    hasher: RandomState,
    /// The sums of the runs that are in the index.
    sums: HashMap<i64, u64>,
    /// Texts in the index, and terms.
    documents: u64,
    count: u64,
}

impl Terms {
    fn add(&mut self, document: i64, number: u64) {
        let sum = self.sums.entry(place::split(document).0).or_default();
        *sum = sum.wrapping_add(number);
    }

    /// Adds a term of a text.
    fn add_term(&mut self, document: i64, term: &[u8]) {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_i64(document);
        hasher.write(term);
        self.add(document, hasher.finish());
    }

    /// Adds a text's length as the index keeps it.
    fn add_length(&mut self, document: i64, packed: &[u8]) {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_i64(document);
        hasher.write_u8(0);
        hasher.write(packed);
        self.add(document, hasher.finish());
    }

    /// Adds what the index should have of a stretch.
    fn add_words(&mut self, document: i64, words: &Words) {
        for word in words.iter() {
            self.add_term(document, word.as_bytes());
        }
        let count = u64::try_from(words.len()).unwrap_or(u64::MAX);
        let mut packed = Vec::new();
        write_varint(&mut packed, count);
        self.add_length(document, &packed);
        self.documents += 1;
        self.count += count;
    }
}

/// Writes a number as the index does.
pub(super) fn write_varint(bytes: &mut Vec<u8>, number: u64) {
    let groups = (64 - number.leading_zeros()).div_ceil(7).max(1);
    for group in (0..groups).rev() {
        let seven = number.checked_shr(group * 7).unwrap_or(0).to_le_bytes()[0] & 0x7f;
        bytes.push(if group == 0 { seven } else { seven | 0x80 });
    }
}

/// The run whose records come.
#[derive(Default)]
struct CurrentRun {
    key: i64,
    /// How many of its records are in the index.
    searched: u64,
    /// Where the next stretches begin.
    next: VecDeque<i64>,
    /// The stretch whose records come; none before the first.
    stretch: Option<i64>,
    words: Words,
}

/// The search index of a database, and what its records say should be in it.
pub(crate) struct IndexCheck<'a> {
    connection: &'a Connection,
    /// An index of an earlier kind is in files from elsewhere, where nobody asks it.
    is_known: bool,
    terms: Terms,
    current: CurrentRun,
}

impl<'a> IndexCheck<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Result<Self> {
        Ok(Self {
            connection,
            is_known: migrate::version(connection)? >= migrate::SEARCH_HAS_STRETCHES,
            terms: Terms::default(),
            current: CurrentRun::default(),
        })
    }

    /// Adds the stretch that has ended.
    fn close(&mut self) {
        let current = &mut self.current;
        match current.stretch.take() {
            Some(document) => self.terms.add_words(document, &current.words),
            // Words that no stretch has: the sum is that of no index.
            None if !current.words.is_empty() => {
                let (first, _) = place::range(current.key);
                self.terms.add_words(first, &current.words);
            }
            None => {}
        }
        current.words.clear();
    }
}

impl SearchCheck for IndexCheck<'_> {
    fn begin(&mut self, run: &RunRow) -> Result<Option<String>> {
        if !self.is_known {
            return Ok(None);
        }
        self.close();
        let key = run.key.number;
        let searched: i64 = self
            .connection
            .prepare_cached("SELECT searched FROM run WHERE key = ?1")?
            .query_row([key], |row| row.get(0))?;
        let is_possible = (0..=signed(run.records)).contains(&searched);
        self.current.key = key;
        self.current.searched = place::unsigned(searched);
        self.current.next = Index::texts_of(self.connection, key)?.into();
        if searched > 0 {
            self.terms.sums.entry(key).or_default();
        }
        Ok((!is_possible).then(|| "its searched was changed".to_owned()))
    }

    fn add(&mut self, seq: u64, text: Option<&Text>) -> Result<()> {
        if !self.is_known || seq >= self.current.searched {
            return Ok(());
        }
        let place = place::place(self.current.key, seq)?;
        if self.current.next.front().is_some_and(|next| *next <= place) {
            self.close();
            self.current.stretch = self.current.next.pop_front();
        }
        for column in text.iter().flat_map(|text| text.columns()) {
            self.current.words.add(column);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<DatabaseFinding>> {
        if !self.is_known {
            return Ok(Vec::new());
        }
        self.close();
        let mut stored = Terms {
            hasher: self.terms.hasher.clone(),
            ..Terms::default()
        };
        let index = Index::new(self.connection)?;
        index.with_terms("instance", |connection| {
            let sql = format!("SELECT term, doc FROM temp.{TERMS}");
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let ValueRef::Text(term) = row.get_ref(0)? else {
                    return Err(StoreError::damaged("the search index", "it is broken"));
                };
                stored.add_term(row.get(1)?, term);
            }
            Ok(())
        })?;
        index.each_length(|document, packed| stored.add_length(document, packed))?;
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
        let wrong = index.faults(self.terms.documents, self.terms.count)?;
        faults.extend(wrong.into_iter().map(|fault| (None, fault)));
        Ok(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_terms_of_the_tokenizer() {
        let sqlite = crate::sqlite::Sqlite::open_in_memory().unwrap();
        let every: String = (0..0x3000_u32).filter_map(char::from_u32).collect();
        let texts = [
            "Hello, World! it's a_b-c.d/e 12.5e3 0x1F CamelCase",
            every.as_str(),
            "a\0b\u{1}c\r\nd\te",
            "Größe naïve 你好 ﬁ \u{1f389}",
        ];
        let mut expected = Terms::default();
        let mut stored = Terms {
            hasher: expected.hasher.clone(),
            ..Terms::default()
        };
        for (number, text) in (1_i64..).zip(texts) {
            let mut words = Words::default();
            words.add(text);
            assert!(words.len() > 3);
            expected.add_words(number << 32, &words);
            let connection = &sqlite.connection;
            crate::sqlite::search::insert(connection, number << 32, &words).unwrap();
        }
        let index = Index::new(&sqlite.connection).unwrap();
        index
            .with_terms("instance", |connection| {
                let sql = format!("SELECT term, doc FROM temp.{TERMS}");
                let mut statement = connection.prepare(&sql)?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    let term: String = row.get(0)?;
                    stored.add_term(row.get(1)?, term.as_bytes());
                }
                Ok(())
            })
            .unwrap();
        let lengths = index.each_length(|document, packed| stored.add_length(document, packed));
        lengths.unwrap();
        assert_eq!(expected.sums, stored.sums);
        assert_eq!(
            index.faults(expected.documents, expected.count).unwrap(),
            Vec::<String>::new()
        );
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
