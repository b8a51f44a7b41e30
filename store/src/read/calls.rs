//! Questions about calls of tools.

use runtape_core::report::{ToolCallInfo, ToolUse};

use crate::derive::touched::{effects, tell};
use crate::error::Result;
use crate::filter::{CallFilter, CallSubject};
use crate::store::Store;

/// How many shell commands do what their words do not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntoldCommands {
    /// With files.
    pub files: u64,
    /// With hosts.
    pub hosts: u64,
}

impl Store {
    /// Returns the calls of tools that a filter lets through, the latest first.
    pub fn tool_calls(&self, filter: &CallFilter, limit: usize) -> Result<Vec<ToolCallInfo>> {
        self.read(|tables| {
            let mut calls = Vec::new();
            tables.each_call(filter, limit, &mut |mut call| {
                tell(&mut call);
                calls.push(call);
                Ok(true)
            })?;
            Ok(calls)
        })
    }

    /// Counts the shell commands, of the calls that a filter lets through, that do with files or hosts
    /// what their words do not tell: variables, patterns, scripts.
    pub fn untold_commands(&self, filter: &CallFilter) -> Result<UntoldCommands> {
        let mut filter = filter.clone();
        filter.subject = Some(CallSubject::Command);
        self.read(|tables| {
            let mut untold = UntoldCommands::default();
            tables.each_call(&filter, usize::MAX, &mut |call| {
                if let Some(effects) = effects(&call) {
                    untold.files += u64::from(effects.untold_files > 0);
                    untold.hosts += u64::from(effects.untold_hosts > 0);
                }
                Ok(true)
            })?;
            Ok(untold)
        })
    }

    /// Returns how tools were used in the calls that a filter lets through, the most used first.
    pub fn tools(&self, filter: &CallFilter, limit: usize) -> Result<Vec<ToolUse>> {
        self.read(|tables| tables.tools(filter, limit))
    }
}
