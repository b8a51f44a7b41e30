//! The result of a call, which waits for the rest of what is printed of it.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::tools;
use crate::signal::{Block, CallDetail, CallRef, Signal, TapePlace};

/// The result of a call, until all that is printed of it was read.
#[derive(Debug)]
pub(super) struct CallResult {
    /// Where its completion line is.
    pub(super) place: TapePlace,
    /// The tool.
    pub(super) name: Box<str>,
    /// What the line tells of the input.
    pub(super) summary: Box<str>,
    /// What was printed of the output.
    pub(super) output: Option<String>,
    /// How the line says that it failed.
    pub(super) failure: Option<String>,
    /// Whether it failed, where that is known.
    pub(super) is_error: Option<bool>,
    /// How long it took.
    pub(super) duration_ms: Option<u64>,
}

impl CallResult {
    /// Returns the input as far as the completion line tells it.
    pub(super) fn input(&self) -> (Value, CallDetail) {
        let detail = tools::detail_of_summary(&self.name, &self.summary);
        (json!({ "summary": &*self.summary }), detail)
    }

    /// Returns the signal that ends the call.
    pub(super) fn into_signal(self, ordinal: u64) -> (TapePlace, Signal<'static>) {
        let content = self.output.or(self.failure);
        let signal = Signal::ToolResult {
            call: CallRef::Local(ordinal),
            name: Some(Cow::Owned(self.name.into())),
            content: content
                .map(|text| Block::Text(Cow::Owned(text)))
                .into_iter()
                .collect(),
            is_error: self.is_error,
            duration_ms: self.duration_ms,
        };
        (self.place, signal)
    }
}
