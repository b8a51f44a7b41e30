//! Notices about calls, which both halves may tell.

use std::collections::{HashMap, HashSet};

use runtape_core::{RuntimeEventKind, ToolCallId};

use super::half::HalfItem;
use super::owned::{OwnedCall, OwnedSignal};
use crate::signal::Signal;

/// The calls of the history that calls of one run of the output are.
pub(super) type SameCalls = HashMap<OwnedCall, OwnedCall>;

/// What the output says of sub-agents: by which call, and of which.
#[derive(Debug, Default)]
pub(super) struct PrintedTasks(HashSet<(ToolCallId, String)>);

impl PrintedTasks {
    /// Collects them, with the ids that the history has for their calls.
    pub(super) fn of(printed: &[HalfItem], same_calls: &[SameCalls]) -> Self {
        let mut found = HashSet::new();
        for item in printed {
            if let OwnedSignal::Other(Signal::Event(RuntimeEventKind::Task(task))) = &item.signal
                && let (Some(call), Some(id)) = (&task.tool_call_id, &task.task_id)
            {
                let known = same_calls.get(item.scope);
                let known = known.and_then(|calls| call_in_history(call, calls));
                found.insert((known.unwrap_or_else(|| call.clone()), id.clone()));
            }
        }
        Self(found)
    }

    /// Tells whether the output has a notice that the history has, too.
    pub(super) fn has(&self, event: &RuntimeEventKind) -> bool {
        let RuntimeEventKind::Task(task) = event else {
            return false;
        };
        match (&task.tool_call_id, &task.task_id) {
            (Some(call), Some(id)) => self.0.contains(&(call.clone(), id.clone())),
            _ => false,
        }
    }
}

/// Gives a notice of the output the id that the history has for its call.
pub(super) fn rename_call(event: &mut RuntimeEventKind, calls: &SameCalls) {
    let call = match event {
        RuntimeEventKind::Task(task) => &mut task.tool_call_id,
        RuntimeEventKind::PermissionDenied(denied) => &mut denied.tool_call_id,
        _ => return,
    };
    if let Some(known) = call.as_ref().and_then(|call| call_in_history(call, calls)) {
        *call = Some(known);
    }
}

fn call_in_history(call: &ToolCallId, calls: &SameCalls) -> Option<ToolCallId> {
    let printed = OwnedCall::Printed(call.as_str().to_owned());
    match calls.get(&printed)? {
        OwnedCall::Printed(known) => ToolCallId::from_printed(known),
        OwnedCall::Local(_) => None,
    }
}
