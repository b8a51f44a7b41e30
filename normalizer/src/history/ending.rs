//! How a run ended, as far as a session file can prove it.

use runtape_core::{ErrorFamily, RunError, UNFINISHED};
use serde_json::Value;

use crate::failure;
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

/// What stands last in the main conversation of a segment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LastWord {
    /// An answer of the model that is whole and asks for nothing more; with a proof that the
    /// process ended after it, or without.
    Answer {
        /// The format proves that the turn ended.
        is_proven: bool,
    },
    /// Something that wants an answer: a prompt, a call, a result, a cut message.
    Open,
    /// The runtime's own word for a failure.
    Failure(RunError),
    /// The turn limit.
    TurnLimit(RunError),
    /// The runtime's own word for a stop by somebody.
    Interrupted(RunError),
}

impl LastWord {
    /// Returns the word for a stop by somebody, where the runtime has no name for it.
    pub(crate) fn interrupted(message: &str) -> Self {
        Self::Interrupted(failure::error("Interrupted", message, ErrorFamily::Process))
    }
}

/// Judges a segment by what stands last in it. What the process itself said, where it was recorded,
/// is the better word and replaces this one.
pub(crate) fn judge(last: LastWord, out: &mut SignalSink<'_>) {
    judge_with_answer(last, None, out);
}

/// Judges a segment whose format says what the answer is, where that need not be the text of the last
/// message.
pub(crate) fn judge_with_answer(last: LastWord, answer: Option<String>, out: &mut SignalSink<'_>) {
    let verdict = match last {
        LastWord::Answer { is_proven } => {
            if !is_proven {
                out.emit(Signal::Metadata("endUnknown", Value::Bool(true)));
            }
            Verdict::Success
        }
        LastWord::Open => {
            let message = "the history ends before an answer".to_owned();
            Verdict::Error(failure::error(UNFINISHED, message, ErrorFamily::Process))
        }
        LastWord::Failure(error) => Verdict::Error(error),
        LastWord::TurnLimit(error) => Verdict::TurnLimit(error),
        LastWord::Interrupted(error) => Verdict::Interrupted(error),
    };
    out.emit(Signal::Result(Outcome {
        answer: answer.map(Into::into),
        ..Outcome::of(verdict)
    }));
}
