//! Questions of an auditor: what was reported, what failed, what was used.

use std::collections::HashSet;

use runtape_core::RunId;
use runtape_core::report::{DailyUsage, LedgerEntry, NoticeInfo, RunInfo};
use serde_json::{Map, Value};

use super::runs::get;
use crate::backend::Backend;
use crate::error::Result;
use crate::filter::RunFilter;
use crate::store::Store;

impl Store {
    /// Returns what runtimes reported besides in the runs that a filter lets through, the latest first:
    /// only notices of some kinds if any is named.
    pub fn notices(
        &self,
        filter: &RunFilter,
        kinds: &[&str],
        limit: usize,
    ) -> Result<Vec<NoticeInfo>> {
        self.read(|tables| tables.notices(filter, kinds, limit))
    }

    /// Returns the runs that failed, of those that a filter lets through, the latest first.
    pub fn errors(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunInfo>> {
        self.read(|tables| tables.errors(filter, limit))
    }

    /// Returns what a run used by itself, entry by entry. What of an entry counts follows from the order
    /// of the runs of its session.
    pub fn usage_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>> {
        self.read(|tables| tables.ledger(&get(tables, run)?))
    }

    /// Returns what was used by day, runtime and model, each response once.
    pub fn usage_daily(&self) -> Result<Vec<DailyUsage>> {
        self.read(|tables| tables.usage_daily())
    }

    /// Calls `each` with the rows of a query in SQL, as objects in the order of the columns, until it
    /// returns `false`. Only reading is possible. Of a database in a file, it may ask for texts, which are in
    /// records: by `v_messages`, and by `input` and `result` in `v_tool_calls`.
    pub fn query(&self, sql: &str, mut each: impl FnMut(Map<String, Value>) -> bool) -> Result<()> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.show_texts(sql)?,
            #[cfg(feature = "postgres")]
            Backend::Postgres(_) => {}
        }
        self.read(|tables| tables.query(sql, &mut each))
    }
}

/// Makes names of columns that are all different: an object has each name once, and no column may be lost.
pub(crate) fn unlike(names: Vec<String>) -> Vec<String> {
    let mut known = HashSet::new();
    let mut unlike = Vec::with_capacity(names.len());
    for name in names {
        let mut other = name.clone();
        let mut number = 2;
        while !known.insert(other.clone()) {
            other = format!("{name}:{number}");
            number += 1;
        }
        unlike.push(other);
    }
    unlike
}
