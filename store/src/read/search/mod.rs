//! Full text over messages, tool inputs and outputs, errors and notices.
//!
//! The index knows which words are in which stretch of records, and nothing more: it says where to read,
//! and what is there is looked at. Where it cannot say anything (parts of words, patterns, signs), all is
//! read, on all cores, the latest first. Appending does not pay for the index: it is completed at a
//! quiet time, at the latest before a search; what it does not know is read.

mod candidates;
mod index;
mod matcher;
mod prefilter;
mod scan;
mod snippet;

use std::time::Duration;

use runtape_core::report::SearchHit;

pub(crate) use self::candidates::WordQuery;
pub(crate) use self::index::Indexer;
use self::index::index_some;
use self::matcher::Matcher;
use self::scan::Scan;
use crate::backend::{RunKey, Selection, Stretch, Tables};
use crate::error::Result;
use crate::filter::RunFilter;
use crate::page::{Page, PageMark};
use crate::search_query::SearchQuery;
use crate::store::Store;

/// How long others may write between two pieces of the index.
const BETWEEN_PIECES: Duration = Duration::from_millis(10);
/// How many stretches are asked for at first: enough for a page, while a common word has thousands.
const FIRST: usize = 64;

/// How a search is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchMode {
    /// Words, phrases and operators; any other text as it stands. Words are whole ones, unless none is
    /// found.
    #[default]
    Words,
    /// The same, but texts are found within words, too.
    Parts,
    /// A regular expression.
    Pattern,
}

/// What to look for.
#[derive(Debug)]
pub struct Search {
    way: SearchWay,
    /// What to look for where the first way found nothing.
    other: Option<SearchWay>,
}

/// A way to find something.
#[derive(Debug)]
struct SearchWay {
    matcher: Matcher,
    /// What must be in the index; nothing if all is to be read.
    words: Option<WordQuery>,
    is_nothing: bool,
}

impl SearchWay {
    fn new(query: &SearchQuery) -> Result<Self> {
        Ok(Self {
            matcher: Matcher::new(query)?,
            words: WordQuery::of(query),
            is_nothing: *query == SearchQuery::Nothing,
        })
    }
}

impl Search {
    /// Reads what somebody typed; only a pattern can be wrong.
    pub fn new(text: &str, mode: SearchMode) -> Result<Self> {
        if mode == SearchMode::Pattern {
            let way = SearchWay {
                matcher: Matcher::pattern(text)?,
                words: None,
                is_nothing: text.is_empty(),
            };
            return Ok(Self { way, other: None });
        }
        let query = SearchQuery::parse(text);
        let within_words = query.clone().within_words();
        if mode == SearchMode::Parts || query == within_words {
            let way = SearchWay::new(&within_words)?;
            return Ok(Self { way, other: None });
        }
        Ok(Self {
            way: SearchWay::new(&query)?,
            other: Some(SearchWay::new(&within_words)?),
        })
    }

    /// Tells whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.way.is_nothing
    }
}

/// What a search came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchEnd {
    /// Something was found.
    pub is_found: bool,
    /// No whole word was, so that these are parts of words.
    pub are_parts: bool,
}

/// How far the index is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchProgress {
    /// Records that were put into it.
    pub records: u64,
    /// All that have to be.
    pub of: u64,
}

/// The runs that have the text of a filter, if it has one.
#[derive(Debug, Default)]
pub(crate) struct FilterText {
    runs: Option<Vec<RunKey>>,
}

impl FilterText {
    /// Returns what a filter selects.
    pub(crate) fn selection<'a>(&'a self, filter: &'a RunFilter) -> Selection<'a> {
        Selection {
            filter,
            runs: self.runs.as_deref(),
        }
    }
}

impl Store {
    /// Tells whether the index can be completed; else what it does not know is read.
    fn may_complete_search(&self) -> Result<bool> {
        Ok(!self.read_only && !self.in_batch && self.tables().rights()?.indexes)
    }

    /// Finds the runs that have the text of a filter, if it has one.
    pub(crate) fn text_of(&self, filter: &RunFilter) -> Result<FilterText> {
        let Some(text) = &filter.text else {
            return Ok(FilterText::default());
        };
        let search = Search::new(text, SearchMode::Words)?;
        let others = RunFilter {
            text: None,
            ..filter.clone()
        };
        self.complete_search()?;
        let runs = self.read(|tables| {
            let selection = Selection {
                filter: &others,
                runs: None,
            };
            let mut ids = Vec::new();
            find(tables, &search, selection, None, |hit| {
                ids.push(hit.run_id);
                true
            })?;
            let rows = ids.iter().map(|id| tables.find_run(id));
            let rows = rows.collect::<Result<Vec<_>>>()?;
            Ok(rows.into_iter().flatten().map(|row| row.key).collect())
        })?;
        Ok(FilterText { runs: Some(runs) })
    }

    /// Brings the search index up to all that has been committed.
    ///
    /// A search does this by itself; calling it at a quiet time makes the next one quicker.
    pub fn complete_search(&self) -> Result<()> {
        self.complete_search_with(|_| true)
    }

    /// Does the same a piece at a time, until `each` returns `false`, which is called after each piece.
    /// What was done is done: the next time goes on from there.
    pub fn complete_search_with(&self, mut each: impl FnMut(SearchProgress) -> bool) -> Result<()> {
        if !self.may_complete_search()? {
            return Ok(());
        }
        let of = self.read(|tables| tables.unsearched_records())?;
        let mut progress = SearchProgress { records: 0, of };
        let mut is_more = of > 0;
        while is_more {
            let (count, rest) = self.write_beside(index_some)?;
            progress.records += count;
            is_more = each(progress) && rest;
            if is_more {
                // Others who write a file look every few milliseconds whether it is free; without this it never is.
                std::thread::sleep(BETWEEN_PIECES);
            }
        }
        Ok(())
    }

    /// Finds records by their text: messages, tool inputs and outputs, errors and notices. The latest run
    /// comes first, and in a run the latest record.
    ///
    /// Complete for all that has been committed. A query is words, `"a phrase"`, `pre*`, `AND`, `OR`,
    /// `NOT`, parentheses, and `said:`, `input:`, `output:` or `notice:` before a word to look only there.
    /// What is none of that is taken as it stands. Where no whole word is found, parts of words are.
    pub fn search(
        &self,
        query: &str,
        filter: &RunFilter,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Page<SearchHit>> {
        let search = Search::new(query, SearchMode::Words)?;
        let offset = after.map_or(0, |mark| usize::try_from(mark.at()).unwrap_or(0));
        let end = offset.saturating_add(limit);
        let mut items = Vec::new();
        let mut count = 0;
        self.each_hit(&search, filter, |hit| {
            if (offset..end).contains(&count) {
                items.push(hit);
            }
            count += 1;
            count <= end
        })?;
        let next = i64::try_from(end).unwrap_or(i64::MAX);
        Ok(Page {
            items,
            next: (count > end).then(|| PageMark::new(next, "")),
        })
    }

    /// Calls `each` with what a search finds as it is found, in the same order, until it returns `false`.
    pub fn each_hit(
        &self,
        search: &Search,
        filter: &RunFilter,
        each: impl FnMut(SearchHit) -> bool,
    ) -> Result<SearchEnd> {
        self.complete_search()?;
        let text = self.text_of(filter)?;
        self.read(|tables| find(tables, search, text.selection(filter), Some(filter), each))
    }
}

/// Finds what a search is for: in one way, and if there is nothing, in the other. Either all that is in the period of a filter, or
/// one thing in each run.
fn find(
    tables: &dyn Tables,
    search: &Search,
    selection: Selection<'_>,
    period: Option<&RunFilter>,
    mut each: impl FnMut(SearchHit) -> bool,
) -> Result<SearchEnd> {
    let mut end = SearchEnd::default();
    let ways = [(Some(&search.way), false), (search.other.as_ref(), true)];
    for (way, are_parts) in ways {
        let Some(way) = way else {
            break;
        };
        if way.is_nothing || end.is_found {
            break;
        }
        let mut wants_more = true;
        let mut look = |stretches: &[Stretch]| -> Result<bool> {
            let scan = Scan {
                tables,
                stretches,
                matcher: &way.matcher,
                period,
            };
            scan.run(|hit| {
                end.is_found = true;
                wants_more = each(hit);
                wants_more
            })?;
            Ok(wants_more)
        };
        // A run of which one hit is wanted may have stretches among the first and among the others.
        let most = period.map_or(usize::MAX, |_| FIRST);
        let first = stretches(tables, way, selection, most)?;
        let count = first.len();
        if look(&joined(first))? && count == most {
            let all = stretches(tables, way, selection, usize::MAX)?;
            look(&joined(all.into_iter().skip(count).collect()))?;
        }
        end.are_parts = end.is_found && are_parts;
    }
    Ok(end)
}

/// Returns what is to be read, the latest first: what the index names, and what it does not know. If it knows everything, these
/// are `most` at the most; fewer than that are all.
fn stretches(
    tables: &dyn Tables,
    way: &SearchWay,
    selection: Selection<'_>,
    most: usize,
) -> Result<Vec<Stretch>> {
    let Some(words) = &way.words else {
        return tables.stretches(selection, false);
    };
    let unknown = tables.stretches(selection, true)?;
    let most = if unknown.is_empty() { most } else { usize::MAX };
    let mut found = tables.find_words(words, selection, most)?;
    if !unknown.is_empty() {
        found.extend(unknown);
        found.sort_by(|a, b| {
            let place = |stretch: &Stretch| (stretch.started_at, stretch.run.number, stretch.from);
            place(b).cmp(&place(a))
        });
    }
    Ok(found)
}

/// Joins neighbours: they may lie in one block, which is read once then.
fn joined(mut found: Vec<Stretch>) -> Vec<Stretch> {
    found.dedup_by(|earlier, later| {
        let is_next = earlier.run == later.run && earlier.to == later.from;
        if is_next {
            later.from = earlier.from;
        }
        is_next
    });
    found
}
