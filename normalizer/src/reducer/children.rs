//! Child runs: the work of sub-agents.

use runtape_core::{CheckpointId, CheckpointStatus, DelegatedBy, RunId, ToolCallId};

use super::Reducer;
use super::run::Run;
use super::steps::Ending;
use crate::failure;
use crate::signal::{CHILD_LABEL, Place};
use runtape_core::{ErrorFamily, RunError};

impl Reducer {
    /// Returns the child run that a call started, opening it with its first signal.
    pub(super) fn child_of(&mut self, child: &str, place: Place) -> usize {
        // What still comes after a sub-agent's end is kept as a further run of the same call.
        let known = self.children.get(child).copied();
        if let Some(child) = known
            && self.runs.get(child).is_some_and(|run| !run.ended)
        {
            return child;
        }
        let call = child.split(CHILD_LABEL).next().unwrap_or(child);
        let parent = self.callers.get(call).copied().unwrap_or(0);
        let ordinal = (self.runs.len() as u64).saturating_sub(1);
        let key = child;
        let child = self.runs.len();
        self.children.insert(key.into(), child);
        let Some(state) = self.runs.get(parent) else {
            return 0;
        };
        let tool_call_id = ToolCallId::from_printed(call)
            .unwrap_or_else(|| ToolCallId::derive(&state.id, u64::MAX));
        let (tool_name, step) = state.call_of(&tool_call_id);
        let delegated_by = DelegatedBy {
            expert: self.expert(state),
            tool_call_id,
            tool_name,
            checkpoint_id: CheckpointId::derive(&state.id, step),
            run_id: state.id.clone(),
        };
        let version = state.version.clone();
        let id = RunId::derive_child(&self.context.run_id, ordinal);
        self.runs.push(Run::new(id, version, place));
        self.open_run(child, Some(delegated_by), place);
        child
    }

    /// Ends a child run. One that never showed itself is none.
    pub(super) fn end_child(
        &mut self,
        call: &str,
        is_error: bool,
        text: Option<&str>,
        place: Place,
    ) {
        let Some(child) = self.children.get(call).copied() else {
            return;
        };
        let error = is_error.then(|| {
            failure::error(
                "SubagentFailed",
                text.unwrap_or("the sub-agent failed"),
                ErrorFamily::Other,
            )
        });
        self.end_child_run(child, error, text, place);
    }

    /// Ends the children that are still open because the root run is over.
    pub(super) fn end_children(&mut self, place: Place) {
        for child in 1..self.runs.len() {
            let error = failure::error(
                "ParentEnded",
                "the run that started this one ended first",
                ErrorFamily::Process,
            );
            self.end_child_run(child, Some(error), None, place);
        }
    }

    fn end_child_run(
        &mut self,
        child: usize,
        error: Option<RunError>,
        text: Option<&str>,
        place: Place,
    ) {
        if self.runs.get(child).is_none_or(|state| state.ended) {
            return;
        }
        let status = if error.is_some() {
            CheckpointStatus::StoppedByError
        } else {
            CheckpointStatus::Completed
        };
        let text = if error.is_none() {
            text.map(str::to_owned)
        } else {
            None
        };
        self.end_run(
            child,
            Ending {
                status,
                text,
                error,
            },
            place,
        );
    }
}
