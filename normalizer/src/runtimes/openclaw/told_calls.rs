//! Calls without an id, which several frames may tell.
//!
//! A message is told again as it grows, and its row in the session's history tells it once more.
//! Calls with an id are known by that. Of those without, the nth of a tool that has no result is
//! the nth such call in the message, and one that has its result is known by its input.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use serde_json::Value;

use crate::signal::{CallRef, Scope};
use crate::unnamed_calls::UnnamedCalls;

/// The calls without an id of a session.
#[derive(Debug, Default)]
pub(super) struct ToldCalls {
    calls: UnnamedCalls,
    tools: HashMap<Box<str>, OfTool>,
    hasher: BuildHasherDefault<DefaultHasher>,
}

/// The calls of one tool in the run that goes on.
#[derive(Debug, Default)]
struct OfTool {
    /// The inputs of those without a result, in order.
    open: VecDeque<u64>,
    /// The inputs of those with a result.
    answered: HashSet<u64>,
}

/// How far a message has been read: how many open calls of each tool it told.
#[derive(Debug, Default)]
pub(super) struct Reading(HashMap<Box<str>, usize>);

impl ToldCalls {
    /// Another run begins: what it tells are other calls.
    pub(super) fn forget(&mut self) {
        self.tools.clear();
    }

    /// Names the next call of a message, if it was not told before.
    pub(super) fn begin(
        &mut self,
        tool: &str,
        input: &Value,
        reading: &mut Reading,
    ) -> Option<CallRef<'static>> {
        let input = self.hasher.hash_one(input.to_string());
        let known = self.tools.entry(tool.into()).or_default();
        if known.answered.contains(&input) {
            return None;
        }
        let told = reading.0.entry(tool.into()).or_default();
        *told += 1;
        if *told <= known.open.len() {
            return None;
        }
        known.open.push_back(input);
        Some(self.calls.begin(Scope::Main, tool))
    }

    /// Returns the call that a result is of, unless all calls of its tool had theirs before.
    pub(super) fn end(&mut self, tool: &str) -> Option<CallRef<'static>> {
        let known = self.tools.entry(tool.into()).or_default();
        if let Some(input) = known.open.pop_front() {
            known.answered.insert(input);
        } else if !known.answered.is_empty() {
            return None;
        } else {
            // A result without a call: told again, it is the same.
            known.answered.insert(0);
        }
        Some(self.calls.end(Scope::Main, Some(tool)))
    }
}
