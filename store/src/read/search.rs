//! Full text over messages, tool inputs and outputs.
//!
//! Appending does not pay for the index. A search first completes the index with all that was committed
//! since the last search, a few runs at a time, and then answers.

use runtape_core::RecordKind;
use runtape_core::report::SearchHit;

use super::records;
use crate::backend::{Found, PartlySearched, RunKey, Selection, Tables};
use crate::derive::text::Text;
use crate::error::Result;
use crate::filter::RunFilter;
use crate::page::{Page, PageMark};
use crate::search_query::SearchQuery;
use crate::sqlite::Scratch;
use crate::store::Store;

/// Text indexed in one transaction; writers wait for no longer than that takes.
const BATCH: usize = 4 << 20;

/// The text of a filter, and the runs that have it where no index knows.
#[derive(Debug, Default)]
pub(crate) struct FilterText {
    query: Option<SearchQuery>,
    unindexed: Vec<RunKey>,
}

impl FilterText {
    /// Returns what a filter selects.
    pub(crate) fn selection<'a>(&'a self, filter: &'a RunFilter) -> Selection<'a> {
        Selection {
            filter,
            text: self.query.as_ref(),
            unindexed: &self.unindexed,
        }
    }
}

/// Indexes some of what is not indexed; returns whether there may be more.
fn index_some(tables: &dyn Tables) -> Result<bool> {
    let mut room = BATCH;
    for run in tables.partly_searched()? {
        let mut next = run.searched;
        records::each_from(tables, &run.key, &run.id, run.searched, |record| {
            if let Some(text) = Text::of(&record) {
                tables.insert_text(&run.key, record.seq, &text)?;
                room = room.saturating_sub(text.len());
            }
            next = record.seq + 1;
            room = room.saturating_sub(64);
            Ok(room > 0)
        })?;
        tables.set_searched(&run.key, next)?;
        if room == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Records that no index knows, searched in memory under numbers of their own.
struct Unindexed {
    scratch: Scratch,
    records: Vec<(RunKey, u64)>,
}

impl Unindexed {
    fn new() -> Result<Self> {
        Ok(Self {
            scratch: Scratch::new()?,
            records: Vec::new(),
        })
    }

    fn add(&mut self, tables: &dyn Tables, run: &PartlySearched) -> Result<()> {
        records::each_from(tables, &run.key, &run.id, run.searched, |record| {
            if let Some(text) = Text::of(&record) {
                self.scratch.add(number(self.records.len()), &text)?;
                self.records.push((run.key.clone(), record.seq));
            }
            Ok(true)
        })
    }

    fn find(&self, query: &SearchQuery) -> Result<Vec<Found>> {
        let hits = self.scratch.hits(query)?.into_iter();
        let found = hits.filter_map(|(number, rank)| {
            let at = usize::try_from(number).ok()?;
            let (run, seq) = self.records.get(at)?.clone();
            Some(Found { run, seq, rank })
        });
        Ok(found.collect())
    }

    fn empty(&mut self) -> Result<()> {
        self.records.clear();
        self.scratch.empty()
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Store {
    /// Tells whether the index can be completed; else what it does not know is read.
    fn may_complete_search(&self) -> bool {
        !self.read_only && !self.in_batch
    }

    /// Reads the text of a filter, if it has one, and gets ready for it.
    pub(crate) fn text_of(&self, filter: &RunFilter) -> Result<FilterText> {
        let Some(text) = &filter.text else {
            return Ok(FilterText::default());
        };
        self.complete_search()?;
        let query = SearchQuery::parse(text);
        let unindexed = if self.may_complete_search() {
            Vec::new()
        } else {
            self.read(|tables| unindexed_runs_with(tables, &query))?
        };
        Ok(FilterText {
            query: Some(query),
            unindexed,
        })
    }

    /// Brings the search index up to all that has been committed.
    ///
    /// A search does this by itself; calling it at a quiet time makes the next one quicker.
    pub fn complete_search(&self) -> Result<()> {
        if !self.may_complete_search() || self.read(|tables| tables.partly_searched())?.is_empty() {
            return Ok(());
        }
        while self.write_beside(index_some)? {}
        Ok(())
    }

    /// Finds records by their text: messages, tool inputs and outputs. The best come first.
    ///
    /// Complete for all that has been committed. A query is words, `"a phrase"`, `pre*`, `AND`, `OR`,
    /// `NOT`, parentheses, and `said:`, `input:` or `output:` before a word to look only there. What is
    /// none of that is taken literally.
    pub fn search(
        &self,
        query: &str,
        filter: &RunFilter,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Page<SearchHit>> {
        self.complete_search()?;
        let query = SearchQuery::parse(query);
        let text = self.text_of(filter)?;
        let selection = text.selection(filter);
        let offset = after.map_or(0, |mark| usize::try_from(mark.at()).unwrap_or(0));
        self.read(|tables| {
            let one_more = limit.saturating_add(1);
            let mut found = if self.may_complete_search() {
                tables.find_text(&query, selection, offset, one_more)?
            } else {
                // Both kinds of hits in one order, then the page of them.
                let end = offset.saturating_add(one_more);
                let mut found = tables.find_text(&query, selection, 0, end)?;
                add_unindexed(tables, &query, selection, &mut found)?;
                found.drain(..offset.min(found.len()));
                found
            };
            let more = found.len() > limit;
            found.truncate(limit);
            let scratch = Scratch::new()?;
            let mut items = Vec::new();
            for (at, found) in found.iter().enumerate() {
                items.extend(hit(tables, &scratch, &query, found, number(at))?);
            }
            let next = number(offset.saturating_add(limit));
            Ok(Page {
                items,
                next: more.then(|| PageMark::new(next, "")),
            })
        })
    }
}

/// Returns the runs that have a text in records that the index does not know.
fn unindexed_runs_with(tables: &dyn Tables, query: &SearchQuery) -> Result<Vec<RunKey>> {
    let mut unindexed = Unindexed::new()?;
    let mut found = Vec::new();
    for run in tables.partly_searched()? {
        unindexed.add(tables, &run)?;
        if !unindexed.find(query)?.is_empty() {
            found.push(run.key);
        }
        unindexed.empty()?;
    }
    Ok(found)
}

/// Adds hits in records that the index does not know.
fn add_unindexed(
    tables: &dyn Tables,
    query: &SearchQuery,
    selection: Selection<'_>,
    found: &mut Vec<Found>,
) -> Result<()> {
    let mut unindexed = Unindexed::new()?;
    for run in tables.partly_searched()? {
        if tables.is_selected(&run.key, selection)? {
            unindexed.add(tables, &run)?;
        }
    }
    found.extend(unindexed.find(query)?);
    found.sort_by(|a, b| a.rank.total_cmp(&b.rank));
    Ok(())
}

/// Reads the record of a hit.
fn hit(
    tables: &dyn Tables,
    scratch: &Scratch,
    query: &SearchQuery,
    found: &Found,
    number: i64,
) -> Result<Option<SearchHit>> {
    let Some(run) = tables.run_at(&found.run)? else {
        return Ok(None);
    };
    let Some(record) = records::one(tables, &run.key, &run.id, found.seq)? else {
        return Ok(None);
    };
    if let Some(text) = Text::of(&record) {
        scratch.add(number, &text)?;
    }
    let step = match &record.kind {
        RecordKind::Message(message) => message.step,
        _ => 0,
    };
    Ok(Some(SearchHit {
        job_id: run.job,
        run_id: run.id,
        runtime: run.runtime,
        seq: found.seq,
        step,
        at: record.at,
        rank: found.rank,
        snippet: scratch.snippet(query, number)?,
    }))
}
