//! Questions of an auditor: which tools, which files, what failed, what was used.

use runtape_core::RunId;
use runtape_core::report::{
    DailyUsage, FileUse, LedgerEntry, RunInfo, ToolCallInfo, ToolUse, UsageGroup,
};
use serde_json::{Map, Value};

use super::runs::get;
use crate::error::Result;
use crate::filter::RunFilter;
use crate::store::Store;

/// What usage is added up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// The day, in UTC.
    Day,
    /// The runtime.
    Runtime,
    /// The model.
    Model,
    /// The job.
    Job,
}

impl Store {
    /// Returns the tool calls of the runs that a filter lets through, the latest first.
    pub fn tool_calls(&self, filter: &RunFilter, limit: usize) -> Result<Vec<ToolCallInfo>> {
        self.read(|tables| tables.tool_calls(filter, limit))
    }

    /// Returns how tools were used in the runs that a filter lets through, the most used first.
    pub fn tools(&self, filter: &RunFilter, limit: usize) -> Result<Vec<ToolUse>> {
        self.read(|tables| tables.tools(filter, limit))
    }

    /// Returns how files were used in the runs that a filter lets through, the latest first.
    pub fn files(&self, filter: &RunFilter, limit: usize) -> Result<Vec<FileUse>> {
        self.read(|tables| tables.files(filter, limit))
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

    /// Adds up what the runs that a filter lets through used, each response once.
    pub fn usage_by(&self, filter: &RunFilter, by: UsageBy) -> Result<Vec<UsageGroup>> {
        self.read(|tables| tables.usage_by(filter, by))
    }

    /// Calls `each` with the rows of a query in SQL, as objects in the order of the columns, until it
    /// returns `false`. Only reading is possible.
    pub fn query(&self, sql: &str, mut each: impl FnMut(Map<String, Value>) -> bool) -> Result<()> {
        self.read(|tables| tables.query(sql, &mut each))
    }
}
