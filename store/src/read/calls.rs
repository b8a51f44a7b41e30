//! Questions about calls of tools.

use runtape_core::report::{ToolCallInfo, ToolUse};

use crate::error::Result;
use crate::filter::CallFilter;
use crate::store::Store;

impl Store {
    /// Returns the calls of tools that a filter lets through, the latest first.
    pub fn tool_calls(&self, filter: &CallFilter, limit: usize) -> Result<Vec<ToolCallInfo>> {
        self.read(|tables| {
            let mut calls = Vec::new();
            tables.each_call(filter, limit, &mut |call| {
                calls.push(call);
                Ok(true)
            })?;
            Ok(calls)
        })
    }

    /// Returns how tools were used in the calls that a filter lets through, the most used first.
    pub fn tools(&self, filter: &CallFilter, limit: usize) -> Result<Vec<ToolUse>> {
        self.read(|tables| tables.tools(filter, limit))
    }
}
