//! What the steps of a run used and cost.

use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::quality::FixedState;

use super::usage;
use super::wire::FinishPart;
use crate::parser::SignalSink;
use crate::signal::{Scope, Signal};

/// Adds up what steps cost, each once.
#[derive(Debug, Default)]
pub(super) struct Spending {
    /// What all steps cost together.
    cost: Option<f64>,
    /// Hashes of the ids of what was added up: what is printed again counts once.
    counted: HashSet<u64>,
    /// The same keys in every run of the program: normalizing has no randomness.
    hasher: FixedState,
}

impl Spending {
    /// Returns how many steps were counted.
    pub(super) fn count(&self) -> usize {
        self.counted.len()
    }

    /// Counts a step that was finished, unless it was counted before.
    pub(super) fn add(
        &mut self,
        key: &str,
        model: Option<&str>,
        part: &mut FinishPart<'_>,
        scope: Scope<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let counted = usage::count(&mut part.tokens);
        out.faulty_numbers(Some("step_finish"), counted.faults);
        out.unknown_keys("tokens", &counted.unknown);
        if !self.counted.insert(self.hasher.hash_one(key)) {
            return;
        }
        if !counted.counts.is_unknown() {
            let usage = Signal::Usage {
                key: key.into(),
                counts: counted.counts,
                model: model.map(Into::into),
            };
            out.emit_in(scope, usage);
        }
        if let Some(cost) = part.cost {
            let sum = self.cost.unwrap_or(0.0) + cost;
            self.cost = Some(sum);
            out.emit(Signal::Cost(sum));
        }
        if usage::is_there(&part.tokens) {
            out.emit(Signal::RawUsage(std::mem::take(&mut part.tokens).into()));
        }
    }
}
