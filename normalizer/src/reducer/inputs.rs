//! What the process was given on its standard input.

use super::Reducer;
use crate::signal::TapePlace;

/// What a user said on standard input while a turn went on: it belongs before the turn that answers it.
#[derive(Debug, Default)]
pub(super) struct AwaitingInputs {
    said: std::collections::VecDeque<(String, TapePlace)>,
    /// Bytes that are held.
    weight: usize,
}

impl AwaitingInputs {
    fn take(&mut self) -> Option<(String, TapePlace)> {
        let (text, place) = self.said.pop_front()?;
        self.weight = self.weight.saturating_sub(text.len());
        Some((text, place))
    }
}

impl Reducer {
    /// Returns what was asked for, as far as it is known and no record says it.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.tape.context.query.as_deref()
    }

    /// Learns what was asked for, unless the runtime was named already.
    pub fn ask(&mut self, query: String) {
        if !self.root.initialized {
            self.tape.context.query = Some(query);
        }
    }

    /// Takes what a user said on standard input.
    pub fn say(&mut self, text: String, place: TapePlace) {
        let inputs = &mut self.tape.awaiting;
        inputs.weight += text.len();
        inputs.said.push_back((text, place));
        while self.tape.awaiting.weight > self.tape.context.limit {
            self.record_input();
        }
        if !self.root.started {
            self.deliver_inputs();
        }
    }

    /// Gives what a user said to the turn that comes, if one may begin: the last one has a result.
    pub fn deliver_inputs(&mut self) {
        let (tape, root) = (&mut self.tape, &mut self.root);
        while !root.started || tape.result.is_some() {
            let Some((text, place)) = tape.awaiting.take() else {
                return;
            };
            tape.touch_root(root, place);
            tape.on_user(root, text, place);
        }
    }

    /// Writes what a user said and no turn began with: the turn that went on took it in.
    pub(super) fn record_inputs_left(&mut self) {
        while !self.tape.awaiting.said.is_empty() {
            self.record_input();
        }
    }

    fn record_input(&mut self) {
        let (tape, root) = (&mut self.tape, &mut self.root);
        let Some((text, place)) = tape.awaiting.take() else {
            return;
        };
        tape.touch_root(root, place);
        if root.started {
            tape.record_user(root, text, place);
        } else {
            tape.on_user(root, text, place);
        }
    }
}
