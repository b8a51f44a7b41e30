//! Lists of sessions, a page at a time.

use runtape_core::RecordKind;
use runtape_core::report::{Cost, SessionInfo};

use super::records;
use crate::backend::{RunKey, SessionRow, Tables};
use crate::error::Result;
use crate::filter::RunFilter;
use crate::page::{Page, PageMark};
use crate::store::Store;

/// Most characters of the first prompt that a list shows.
const PROMPT: usize = 200;

impl Store {
    /// Returns the sessions of the runs that a filter lets through, the one in which something
    /// happened last first. Each is told as a whole, whichever of its runs the filter lets through.
    ///
    /// The command that goes on with a session is the caller's to find: the store knows no runtime.
    pub fn sessions(
        &self,
        filter: &RunFilter,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Page<SessionInfo>> {
        let text = self.text_of(filter)?;
        self.read(|tables| {
            let found = tables.sessions(text.selection(filter), after, limit.saturating_add(1))?;
            let page = Page::new(found, limit, |row| {
                let name = format!("{}/{}", row.runtime, row.session);
                PageMark::new(row.last_active_at, name)
            });
            let items = page.items.into_iter().map(|row| info(tables, row));
            Ok(Page {
                items: items.collect::<Result<_>>()?,
                next: page.next,
            })
        })
    }

    /// Returns how many root runs, of those that a filter lets through, have no session.
    pub fn runs_without_session(&self, filter: &RunFilter) -> Result<u64> {
        let text = self.text_of(filter)?;
        self.read(|tables| tables.runs_without_session(text.selection(filter)))
    }
}

/// Adds what the records of a session's first and latest run say.
fn info(tables: &dyn Tables, row: SessionRow) -> Result<SessionInfo> {
    let latest = tables.run_info(&row.latest)?;
    let title = match tables.stored_run(&row.latest)?.session_title() {
        None => tables.stored_run(&row.first)?.session_title(),
        title => title,
    };
    Ok(SessionInfo {
        prompt: prompt_of(tables, &row.first)?,
        runtime: row.runtime,
        session_id: row.session,
        cwd: row.cwd,
        title,
        model: latest.model,
        runs: row.runs,
        usage: row.usage,
        cost: Cost::of_reported(row.cost_usd),
        status: latest.status,
        outcome: latest.outcome,
        error: latest.error,
        started_at: row.started_at,
        last_active_at: row.last_active_at,
        latest_run_id: latest.run_id,
        resume: None,
    })
}

/// Returns the first words of what a root run was asked for.
fn prompt_of(tables: &dyn Tables, key: &RunKey) -> Result<Option<String>> {
    let mut query = None;
    records::each_from(tables, key, &key.root, 0, |record| match record.kind {
        RecordKind::Initialize(ready) => {
            query = ready.query;
            Ok(false)
        }
        kind => Ok(!matches!(kind, RecordKind::Start(_))),
    })?;
    Ok(query.and_then(|query| first_words(&query)))
}

/// Returns the first words of a text on one line.
fn first_words(text: &str) -> Option<String> {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if let Some((at, _)) = words.char_indices().nth(PROMPT) {
            words.truncate(at);
            words.push('…');
            break;
        }
    }
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_shown_by_its_first_words() {
        assert_eq!(first_words(" \n"), None);
        assert_eq!(first_words("Fix\n\n the  bug ").unwrap(), "Fix the bug");
        let long = first_words(&"é".repeat(1000)).unwrap();
        assert_eq!(long.chars().count(), PROMPT + 1);
        assert!(long.ends_with("é…"));
    }
}
