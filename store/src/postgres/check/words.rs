//! The search index against the records.
//!
//! Where a stretch of records begins depends on when the index was completed. Any division is right in which each stretch
//! has the words of its records, and none where they are too many.

use std::collections::VecDeque;

use runtape_core::RunId;
use tokio_postgres::Row;

use crate::backend::{DatabaseFinding, RunKey, RunRow, SearchCheck};
use crate::derive::text::Text;
use crate::derive::words::Words;
use crate::error::Result;
use crate::postgres::Postgres;
use crate::postgres::columns::{get, signed, unsigned};
use crate::postgres::search::are_too_many;

/// How many stretches are read at once.
const PAGE: i64 = 32;

/// What the index says of a stretch.
struct Stretch {
    first: i64,
    /// In order; absent where the index has none.
    words: Option<Vec<String>>,
    /// It has nothing but the words: not where they are.
    is_bare: bool,
}

impl Stretch {
    fn read(row: &Row) -> Result<Self> {
        Ok(Self {
            first: get(row, 0)?,
            words: get(row, 1)?,
            is_bare: get(row, 2)?,
        })
    }

    /// Tells whether it has these words and no others.
    fn has(&self, words: &Words) -> bool {
        if words.is_empty() || !self.is_bare {
            return false;
        }
        match &self.words {
            None => are_too_many(words),
            Some(_) if are_too_many(words) => false,
            Some(stored) => {
                let mut expected: Vec<&str> = words.iter().collect();
                expected.sort_unstable();
                let mut stored: Vec<&str> = stored.iter().map(String::as_str).collect();
                stored.sort_unstable();
                stored == expected
            }
        }
    }
}

/// The run whose records come.
struct Current {
    key: RunKey,
    id: RunId,
    /// How many of its records are in the index.
    searched: u64,
    /// The next stretches, as far as they are read, and whether there may be more.
    next: VecDeque<Stretch>,
    has_more: bool,
    /// Where the last of them begins.
    last: i64,
    /// The stretch whose records come; none before the first.
    stretch: Option<Stretch>,
    words: Words,
    is_wrong: bool,
}

/// The search index of a database, and what is wrong with it.
pub(crate) struct SearchIndex<'a> {
    pg: &'a Postgres,
    current: Option<Current>,
    findings: Vec<DatabaseFinding>,
}

impl<'a> SearchIndex<'a> {
    pub(crate) fn new(pg: &'a Postgres) -> Self {
        Self {
            pg,
            current: None,
            findings: Vec::new(),
        }
    }

    /// Ends the run whose records came.
    fn close(&mut self) -> Result<()> {
        let Some(mut current) = self.current.take() else {
            return Ok(());
        };
        current.close_stretch();
        // Stretches of records that there are none of, or that the index should not know.
        current.is_wrong |= current.peek(self.pg)?.is_some();
        if current.is_wrong {
            let fault = "the search index has other words than its records".to_owned();
            self.findings.push((Some(current.id), fault));
        }
        Ok(())
    }
}

impl Current {
    /// Compares the stretch that has ended.
    fn close_stretch(&mut self) {
        let is_right = match self.stretch.take() {
            Some(stretch) => stretch.has(&self.words),
            // Words that no stretch has.
            None => self.words.is_empty(),
        };
        self.is_wrong |= !is_right;
        self.words.clear();
    }

    /// Returns where the next stretch begins.
    fn peek(&mut self, pg: &Postgres) -> Result<Option<i64>> {
        if self.next.is_empty() && self.has_more {
            let sql = "SELECT first_seq, tsvector_to_array(words),
                           words IS NULL OR words = strip(words)
                       FROM search WHERE root_id = $1 AND run_no = $2 AND first_seq > $3
                       ORDER BY first_seq LIMIT $4";
            let root = self.key.root.as_str();
            let rows = pg.rows(sql, &[&root, &self.key.number, &self.last, &PAGE])?;
            self.has_more = i64::try_from(rows.len()) == Ok(PAGE);
            for row in &rows {
                let stretch = Stretch::read(row)?;
                self.last = stretch.first;
                self.next.push_back(stretch);
            }
        }
        Ok(self.next.front().map(|stretch| stretch.first))
    }
}

impl SearchCheck for SearchIndex<'_> {
    fn begin(&mut self, run: &RunRow) -> Result<Option<String>> {
        self.close()?;
        let sql = "SELECT searched FROM run WHERE root_id = $1 AND run_no = $2";
        let row = self
            .pg
            .row(sql, &[&run.key.root.as_str(), &run.key.number])?;
        let searched: i64 = row.map_or(Ok(-1), |row| get(&row, 0))?;
        let is_possible = (0..=signed(run.records)).contains(&searched);
        self.current = Some(Current {
            key: run.key.clone(),
            id: run.id.clone(),
            searched: unsigned(searched),
            next: VecDeque::new(),
            has_more: true,
            last: i64::MIN,
            stretch: None,
            words: Words::default(),
            is_wrong: false,
        });
        Ok((!is_possible).then(|| "its searched was changed".to_owned()))
    }

    fn add(&mut self, seq: u64, text: Option<&Text>) -> Result<()> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        if seq >= current.searched {
            return Ok(());
        }
        if current
            .peek(self.pg)?
            .is_some_and(|next| next <= signed(seq))
        {
            current.close_stretch();
            current.stretch = current.next.pop_front();
            // A stretch begins at the first record that has words to find.
            let begins_here = |stretch: &Stretch| stretch.first == signed(seq);
            current.is_wrong |=
                text.is_none() || !current.stretch.as_ref().is_some_and(begins_here);
        }
        for column in text.iter().flat_map(|text| text.columns()) {
            current.words.add(column);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<DatabaseFinding>> {
        self.close()?;
        Ok(std::mem::take(&mut self.findings))
    }
}
