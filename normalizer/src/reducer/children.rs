//! Child runs: the work of sub-agents.

use std::collections::HashMap;

use runtape_core::{
    CheckpointId, CheckpointStatus, DelegatedBy, ErrorFamily, INTERRUPTED_KEY, RunError, RunId,
    TokenCounts, ToolCallId,
};

use super::run::Run;
use super::steps::StepEnd;
use super::tape::TapeState;
use crate::exit::Exit;
use crate::failure;
use crate::signal::{CHILD_LABEL, TapePlace};

/// How many calls are remembered whose sub-agents may show themselves after they are over.
const MOST_DELEGATIONS: usize = 4096;

/// The child runs of a tape.
#[derive(Debug, Default)]
pub(super) struct Children {
    /// In the order they appeared: the first one has number 1.
    runs: Vec<Run>,
    /// Where the child is that a call started, by the call's id as printed.
    places: HashMap<Box<str>, usize>,
}

impl Children {
    /// Returns the child run that a call started, opening it with its first signal.
    pub(super) fn run_of<'r>(
        &'r mut self,
        child: &str,
        root: &'r mut Run,
        tape: &mut TapeState,
        place: TapePlace,
    ) -> &'r mut Run {
        let known = self.places.get(child).copied();
        // What still comes after a sub-agent's end is kept as a further run of the same call.
        let open = known.filter(|at| self.runs.get(*at).is_some_and(|run| !run.ended));
        let at = open.unwrap_or_else(|| self.open(child, root, tape, place));
        if let Some(run) = self.runs.get_mut(at) {
            run.last = place;
            return run;
        }
        tape.impossible(root, "a child run is not among the runs", place);
        root
    }

    /// Opens the run that a call started, and returns where it is.
    fn open(&mut self, child: &str, root: &Run, tape: &mut TapeState, place: TapePlace) -> usize {
        let at = self.runs.len();
        let call = child.split(CHILD_LABEL).next().unwrap_or(child);
        // The root is the parent of whatever is not known to have another.
        let caller = tape.callers.get(call).and_then(|at| at.checked_sub(1));
        let parent = caller.and_then(|at| self.runs.get(at)).unwrap_or(root);
        let tool_call_id = ToolCallId::from_printed(call)
            .unwrap_or_else(|| ToolCallId::derive(&parent.id, u64::MAX));
        let delegation = tape.delegations.get(call).cloned();
        let (tool_name, step) = delegation.unwrap_or_else(|| parent.call_of(&tool_call_id));
        let delegated_by = DelegatedBy {
            expert: tape.expert(parent),
            tool_call_id,
            tool_name,
            checkpoint_id: CheckpointId::derive(&parent.id, step),
            run_id: parent.id.clone(),
        };
        let id = RunId::derive_child(&root.id, at as u64);
        let mut run = Run::new(id, at + 1, parent.version.clone(), place);
        run.earliest = parent.earliest;
        run.parent = parent.number;
        tape.open_run(&mut run, Some(delegated_by), place);
        self.runs.push(run);
        self.places.insert(child.into(), at);
        at
    }

    /// Ends the child run that a call started. A sub-agent that never showed itself has none.
    pub(super) fn end(
        &mut self,
        tape: &mut TapeState,
        call: &str,
        is_error: bool,
        text: Option<&str>,
        place: TapePlace,
    ) {
        let at = self.places.get(call).copied();
        let Some(run) = at.and_then(|at| self.runs.get_mut(at)) else {
            return;
        };
        let error = is_error.then(|| {
            let message = text.unwrap_or("the sub-agent failed");
            failure::error("SubagentFailed", message, ErrorFamily::Other)
        });
        end_child(tape, run, error, text, place);
        let (parent, latest) = (run.parent, run.latest);
        let parent = parent.checked_sub(1).and_then(|at| self.runs.get_mut(at));
        if let Some(parent) = parent {
            parent.latest = parent.latest.max(latest);
        }
    }

    pub(super) fn each_run(&mut self, each: impl FnMut(&mut Run)) {
        self.runs.iter_mut().for_each(each);
    }

    /// Returns the latest time in all children.
    pub(super) fn latest(&self) -> i64 {
        let times = self.runs.iter().map(Run::latest_held);
        times.max().unwrap_or(i64::MIN)
    }

    /// Ends the children that are still open because the root run is over.
    pub(super) fn end_all(&mut self, tape: &mut TapeState, exit: &Exit, place: TapePlace) {
        let open = self.runs.iter().filter(|run| !run.ended);
        let at = open.map(Run::latest_held).fold(place.at, i64::max);
        let place = TapePlace { at, ..place };
        // A reasoning part that is open at the end was cut like any other.
        for run in &mut self.runs {
            tape.close_part(run);
        }
        let is_interrupted = tape.is_interrupted(exit);
        for run in self.runs.iter_mut().filter(|run| !run.ended) {
            if is_interrupted {
                run.learn(INTERRUPTED_KEY, true);
            }
            let error = tape.error_of_orphan();
            end_child(tape, run, Some(error), None, place);
        }
    }

    /// Writes all that is held of the children that are open, and ends none.
    pub(super) fn flush_all(&mut self, tape: &mut TapeState, place: TapePlace) {
        for run in self.runs.iter_mut().filter(|run| !run.ended) {
            tape.start(run, place);
            tape.close_part(run);
            tape.close_step(run, StepEnd::PROCEEDING, place);
            tape.flush_metadata(run, place.at);
        }
    }

    /// Adds what all children used to a sum.
    pub(super) fn usage(&self, sum: TokenCounts) -> TokenCounts {
        self.runs.iter().fold(sum, |sum, run| sum.plus(run.usage))
    }
}

impl TapeState {
    /// Remembers which tool was called in which step, for a sub-agent that shows itself later.
    pub(super) fn on_delegates(&mut self, run: &Run, call: &str) {
        let has_room = self.delegations.len() < MOST_DELEGATIONS;
        if let Some(id) =
            ToolCallId::from_printed(call).filter(|id| has_room && id.as_str() == call)
        {
            self.delegations.insert(call.into(), run.call_of(&id));
        }
    }
}

/// Ends a child run, unless it has ended before.
fn end_child(
    tape: &mut TapeState,
    run: &mut Run,
    error: Option<RunError>,
    text: Option<&str>,
    place: TapePlace,
) {
    if run.ended {
        return;
    }
    let status = match error {
        Some(_) => CheckpointStatus::StoppedByError,
        None => CheckpointStatus::Completed,
    };
    let end = StepEnd {
        status,
        text: text.filter(|_| error.is_none()).map(str::to_owned),
        error,
    };
    tape.end_run(run, end, place);
}
