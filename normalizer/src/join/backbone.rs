//! The history of a run in groups, one a step: what the output is laid along.

use std::collections::{HashSet, VecDeque};

use super::half::{Half, HalfItem, StepFacts};
use super::owned::{OwnedCall, OwnedSignal};

/// The history of one run of the tree, as far as it was not given out.
#[derive(Debug, Default)]
pub(super) struct Backbone {
    /// What comes before the first step, then each step.
    pub(super) groups: VecDeque<(Option<usize>, VecDeque<HalfItem>)>,
    pub(super) facts: Vec<StepFacts>,
    /// The calls that have a result.
    pub(super) results: HashSet<OwnedCall>,
    /// The rest of the step that the output is in.
    pub(super) open: VecDeque<HalfItem>,
}

/// Puts the history of each run into groups, one a step.
pub(super) fn backbones(history: Half) -> Vec<Backbone> {
    let mut backbones: Vec<Backbone> = history
        .scopes
        .into_iter()
        .map(|scope| Backbone {
            facts: scope.steps,
            ..Backbone::default()
        })
        .collect();
    for item in history.items {
        let Some(backbone) = backbones.get_mut(item.scope) else {
            continue;
        };
        if let OwnedSignal::ToolResult { call, .. } = &item.signal {
            backbone.results.insert(call.clone());
        }
        let last = backbone.groups.back().map(|(step, _)| *step);
        // What belongs to no step stays with the one before it.
        let step = item.step.or(last.flatten());
        match backbone.groups.back_mut() {
            Some((known, items)) if *known == step => items.push_back(item),
            _ => backbone.groups.push_back((step, VecDeque::from([item]))),
        }
    }
    backbones
}
