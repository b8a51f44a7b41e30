//! One half of a run: what was printed, or what the history says, step by step.

use std::collections::{HashMap, HashSet};

use super::owned::{OwnedCall, OwnedSignal};
use crate::signal::{Emitted, Outcome, Scope, Signal, TapePlace};

/// A signal with its place, and the beginning of its line where it was not understood.
#[derive(Debug)]
pub(super) struct HalfItem {
    /// The scope, by its number in the half: 0 is the main run.
    pub(super) scope: usize,
    pub(super) place: TapePlace,
    pub(super) signal: OwnedSignal,
    pub(super) excerpt: Option<Vec<u8>>,
    /// The step it belongs to, by its number in the scope.
    pub(super) step: Option<usize>,
}

/// What tells steps apart.
#[derive(Debug, Default)]
pub(super) struct StepFacts {
    pub(super) key: Option<String>,
    /// The text, without all that markup and wrapping may change.
    pub(super) loose: String,
    pub(super) has_thinking: bool,
    pub(super) has_usage: bool,
    /// An attempt at its message was given up.
    pub(super) is_given_up: bool,
    /// Its calls: id and tool.
    pub(super) calls: Vec<(OwnedCall, String)>,
    /// The same calls, to tell one that is printed again.
    pub(super) known: HashSet<OwnedCall>,
}

/// A run of a half: the main one, or a sub-agent's.
#[derive(Debug, Default)]
pub(super) struct HalfScope {
    /// The call that started it; empty for the main run.
    pub(super) call: String,
    pub(super) steps: Vec<StepFacts>,
    is_open: bool,
}

/// One half of a run.
#[derive(Debug)]
pub(super) struct Half {
    pub(super) items: Vec<HalfItem>,
    pub(super) scopes: Vec<HalfScope>,
    numbers: HashMap<String, usize>,
    /// The last answer since the last result.
    answer: Option<String>,
}

impl Half {
    pub(super) fn new() -> Self {
        Self {
            items: Vec::new(),
            scopes: vec![HalfScope::default()],
            numbers: HashMap::new(),
            answer: None,
        }
    }

    fn number(&mut self, scope: Scope<'_>) -> usize {
        let Scope::Child(call) = scope else { return 0 };
        if let Some(number) = self.numbers.get(call) {
            return *number;
        }
        let number = self.scopes.len();
        self.scopes.push(HalfScope {
            call: call.to_owned(),
            ..HalfScope::default()
        });
        self.numbers.insert(call.to_owned(), number);
        number
    }

    /// Returns the number of the scope that a call started.
    pub(super) fn scope_of(&self, call: &str) -> Option<usize> {
        self.numbers.get(call).copied()
    }

    /// Takes a signal of a line.
    pub(super) fn push(&mut self, emitted: Emitted<'_>, line: Option<&[u8]>) {
        let scope = self.number(emitted.scope);
        let is_unparsed = matches!(emitted.signal, Signal::Unparsed { .. });
        let excerpt = line.filter(|_| is_unparsed).map(<[u8]>::to_vec);
        let signal = self.own(emitted.signal);
        let step = self.note(scope, &signal);
        self.items.push(HalfItem {
            scope,
            place: emitted.place,
            signal,
            excerpt,
            step,
        });
    }

    /// Makes a signal outlive its line. The text of an answer may be replaced by the history's, so that
    /// a result is given the answer that was printed before it.
    fn own(&mut self, signal: Signal<'_>) -> OwnedSignal {
        match OwnedSignal::of(signal) {
            OwnedSignal::Other(Signal::Answer(text)) => {
                self.answer = Some(text.clone().into_owned());
                OwnedSignal::Other(Signal::Text(text))
            }
            OwnedSignal::Other(Signal::Result(outcome)) if outcome.was_answered => {
                let answer = self.answer.take();
                OwnedSignal::Other(Signal::Result(Outcome {
                    text: answer.clone().map(Into::into),
                    answer: answer.map(Into::into),
                    was_answered: false,
                    ..outcome
                }))
            }
            signal => signal,
        }
    }

    /// Notes what a signal says of its step, and returns which that is.
    fn note(&mut self, scope: usize, signal: &OwnedSignal) -> Option<usize> {
        let scope = self.scopes.get_mut(scope)?;
        match signal {
            OwnedSignal::Step(key) => {
                let last = scope.steps.last();
                let goes_on =
                    scope.is_open && key.is_some() && last.is_some_and(|last| last.key == *key);
                if !goes_on {
                    let key = key.clone();
                    scope.steps.push(StepFacts {
                        key,
                        ..StepFacts::default()
                    });
                }
                scope.is_open = true;
            }
            OwnedSignal::Other(Signal::User(_)) => {
                scope.is_open = false;
                return None;
            }
            signal => {
                let is_part = is_part(signal);
                if is_part && !scope.is_open {
                    scope.steps.push(StepFacts::default());
                    scope.is_open = true;
                }
                if let Some(step) = scope.steps.last_mut().filter(|_| scope.is_open) {
                    note_part(step, signal);
                }
            }
        }
        scope.steps.len().checked_sub(1).filter(|_| scope.is_open)
    }
}

/// Tells whether a signal is a part of a message of the model.
pub(super) fn is_part(signal: &OwnedSignal) -> bool {
    match signal {
        OwnedSignal::ToolCall { .. } => true,
        OwnedSignal::Other(signal) => matches!(
            signal,
            Signal::TextDelta(_)
                | Signal::Text(_)
                | Signal::ThinkingDelta(_)
                | Signal::Thinking { .. }
                | Signal::MessagePrinted
        ),
        _ => false,
    }
}

/// Notes what a part says of its step.
fn note_part(step: &mut StepFacts, signal: &OwnedSignal) {
    match signal {
        OwnedSignal::ToolCall { call, name, .. } if step.known.insert(call.clone()) => {
            step.calls.push((call.clone(), name.clone()));
        }
        OwnedSignal::Other(Signal::TextDelta(text) | Signal::Text(text)) => {
            push_loose(&mut step.loose, text);
        }
        OwnedSignal::Other(Signal::ThinkingDelta(text) | Signal::Thinking { text, .. }) => {
            step.has_thinking |= !text.is_empty();
        }
        OwnedSignal::Other(Signal::Usage { .. }) => step.has_usage = true,
        OwnedSignal::MessageGivenUp(_) => step.is_given_up = true,
        _ => {}
    }
}

/// Appends what stays of a text when marks and white space are taken off; of a text without a letter
/// or digit, whatever is no white space.
pub(super) fn push_loose(loose: &mut String, text: &str) {
    let before = loose.len();
    loose.extend(text.chars().filter(|letter| letter.is_alphanumeric()));
    if loose.len() == before {
        loose.extend(text.chars().filter(|letter| !letter.is_whitespace()));
    }
}
