//! Calls of tools, added up.

use std::collections::BTreeSet;

use runtape_core::RunId;
use runtape_core::report::ToolCallInfo;

/// What is added up of calls that come the latest first.
pub(super) struct CallSum {
    pub(super) calls: u64,
    /// Calls that failed.
    pub(super) errors: u64,
    pub(super) runs: BTreeSet<RunId>,
    /// When the last one was, and in which run.
    pub(super) last: (i64, RunId),
}

impl CallSum {
    /// Begins with nothing but the call that comes first, which is to be added like the others.
    pub(super) fn begin(latest: &ToolCallInfo) -> Self {
        Self {
            calls: 0,
            errors: 0,
            runs: BTreeSet::new(),
            last: (latest.at, latest.run_id.clone()),
        }
    }

    /// Adds a call.
    pub(super) fn add(&mut self, call: &ToolCallInfo) {
        self.calls += 1;
        self.errors += u64::from(call.is_error == Some(true));
        if !self.runs.contains(&call.run_id) {
            self.runs.insert(call.run_id.clone());
        }
    }
}
