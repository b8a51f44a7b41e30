//! How a process ended, by what stands last in its main conversation.

use std::borrow::Cow;

use runtape_core::{ErrorFamily, RunError};
use serde_json::Value;

use crate::failure::error;
use crate::history::{LastWord, judge};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

/// What stands last in the main conversation so far.
#[derive(Debug, Default)]
pub(super) enum LastLine {
    /// Nothing.
    #[default]
    Nothing,
    /// Something that wants an answer.
    Open,
    /// A whole answer.
    Answer,
    /// The output of a command of the CLI, where nothing else was asked for.
    Command,
    /// An answer in the form that was asked for.
    Structured(Value),
    /// The CLI says that the user interrupted it.
    Interrupted,
    /// The CLI's own word for a failure.
    Failure(Box<RunError>),
    /// The turn limit.
    TurnLimit(u64),
}

impl LastLine {
    /// Judges the process by it. `is_proven` tells that the CLI ended the turn itself.
    pub(super) fn judge(self, is_proven: bool, out: &mut SignalSink<'_>) {
        let word = match self {
            Self::Nothing | Self::Open => LastWord::Open,
            Self::Answer | Self::Command => LastWord::Answer { is_proven },
            Self::Interrupted => LastWord::interrupted("the request was interrupted by the user"),
            Self::Failure(error) => LastWord::Failure(*error),
            Self::TurnLimit(turns) => {
                let message = format!("Reached maximum number of turns ({turns})");
                let family = ErrorFamily::TurnLimit;
                LastWord::TurnLimit(error("error_max_turns", message, family))
            }
            Self::Structured(value) => {
                let mut outcome = Outcome::of(Verdict::Success);
                outcome.answer = Some(Cow::Owned(value.to_string()));
                return out.emit(Signal::Result(outcome));
            }
        };
        judge(word, out);
    }
}
