//! What any runtime can say.
//!
//! A parser's whole output is a sequence of signals. They borrow from the line they were read
//! from, so that text is copied once: by the reducer, into the message it belongs to.

use std::borrow::Cow;

use runtape_core::runtime_event::{ApiRetry, Compaction};
use runtape_core::{LateValue, RunError, RuntimeEventKind, Span, TokenCounts, ToolClass};
use serde_json::Value;

/// Which run a signal belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// The run that the tape is of.
    Main,
    /// The sub-agent that the call with this id (as printed, or else as derived) started. Where
    /// one call starts several, [`CHILD_LABEL`] and what tells them apart follow the id.
    Child(&'a str),
}

/// Separates a call's id from the label of one of several sub-agents that it started.
pub const CHILD_LABEL: char = '\u{1f}';

/// Names a tool call from its first signal to its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallRef<'a> {
    /// The id that the runtime printed.
    Printed(&'a str),
    /// The runtime prints no ids: the parser counts calls of a run by first appearance, from 0.
    Local(u64),
}

/// What only a runtime's parser can know of a tool call, in neutral words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallDetail {
    /// What the tool is for. Known by its name, so it is there from the first signal on.
    pub class: ToolClass,
    /// The shell command it runs.
    pub command: Option<String>,
    /// The files it reads or writes.
    pub paths: Vec<String>,
    /// The URL it fetches.
    pub url: Option<String>,
}

impl CallDetail {
    /// Creates the detail of a call of which nothing but the tool's class is known.
    #[must_use]
    pub fn of(class: ToolClass) -> Self {
        Self {
            class,
            command: None,
            paths: Vec::new(),
            url: None,
        }
    }
}

/// A piece of a tool's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// An image, base64.
    Image {
        /// The image's media type.
        mime_type: Cow<'a, str>,
        /// The image.
        data: Cow<'a, str>,
    },
    /// A file, base64.
    File {
        /// The file's media type.
        mime_type: Cow<'a, str>,
        /// The file.
        data: Cow<'a, str>,
    },
}

/// How a run, or one of several turns of it, ended in the runtime's own words.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<'a> {
    /// The verdict.
    pub verdict: Verdict,
    /// The runtime's word for it.
    pub subtype: Option<Cow<'a, str>>,
    /// The text that was printed with it; kept if a later result replaces this one.
    pub text: Option<Cow<'a, str>>,
    /// The answer, where it is not the text of the last message.
    pub answer: Option<Cow<'a, str>>,
    /// The answer is the last [`Signal::Answer`] since the result before, and is the text that was
    /// printed with it, too. It may be long, and is not given twice.
    pub was_answered: bool,
    /// How long it took. Several results add up.
    pub duration_ms: Option<u64>,
}

impl Outcome<'_> {
    /// Creates an outcome with nothing but a verdict.
    #[must_use]
    pub fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            subtype: None,
            text: None,
            answer: None,
            was_answered: false,
            duration_ms: None,
        }
    }
}

/// Whether it went well.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The runtime reports success.
    Success,
    /// The runtime reports a failure.
    Error(RunError),
    /// The turn limit was reached.
    TurnLimit(RunError),
    /// The runtime reports that somebody stopped it.
    Interrupted(RunError),
}

impl Verdict {
    /// Returns the failure that it reports.
    #[must_use]
    pub fn error(&self) -> Option<&RunError> {
        match self {
            Self::Success => None,
            Self::Error(error) | Self::TurnLimit(error) | Self::Interrupted(error) => Some(error),
        }
    }

    /// Returns the failure that it reports, to change it.
    pub(crate) fn error_mut(&mut self) -> Option<&mut RunError> {
        match self {
            Self::Success => None,
            Self::Error(error) | Self::TurnLimit(error) | Self::Interrupted(error) => Some(error),
        }
    }
}

/// One thing that a runtime said.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Signal<'a> {
    /// The session's id, validated by the parser. The last one wins.
    Session(&'a str),
    /// The model's name. The first one wins: a fallback is a notice.
    Model(&'a str),
    /// The agent CLI's version.
    CliVersion(&'a str),
    /// The directory it works in.
    Cwd(&'a str),
    /// The output format; may become more exact as more is read.
    Format(&'static str),
    /// Anything else that belongs into the metadata.
    Metadata(&'static str, Value),

    /// The call, by its printed id, starts a sub-agent whose work may come long after the call has
    /// its result.
    Delegates(&'a str),
    /// A turn was opened: a result that came before is no longer the last word.
    TurnOpened,
    /// What the user said: the prompt, or a further message, which opens the next step.
    User(Cow<'a, str>),
    /// A message of the model begins. With the key of the step that is open in this scope it
    /// continues that step; any other key, or none, opens the next one.
    Step(Option<&'a str>),
    /// The text that follows, up to its end, is marked by the runtime as said beside the work: it
    /// is text as any other, but a display may show it apart from the answer.
    Remark,
    /// A piece of text, appended to the open text part; opens one if none is open.
    TextDelta(Cow<'a, str>),
    /// The open text part is complete. Without an open one this is nothing.
    TextEnd,
    /// A whole text part (also an empty one).
    Text(Cow<'a, str>),
    /// A whole text part of the main run that is the answer, unless another one follows before the
    /// result that [was answered](Outcome::was_answered).
    Answer(Cow<'a, str>),
    /// A piece of reasoning, appended to the open thinking part; opens one if none is open.
    ThinkingDelta(Cow<'a, str>),
    /// The open thinking part is complete.
    ThinkingEnd {
        /// The model maker's signature.
        signature: Option<Cow<'a, str>>,
    },
    /// A whole thinking part; its text is empty where it was withheld.
    Thinking {
        /// The reasoning.
        text: Cow<'a, str>,
        /// The model maker's signature, or the encrypted form of what was withheld.
        signature: Option<Cow<'a, str>>,
    },
    /// The model calls a tool. The same call again (by its id) changes nothing but what was null.
    ToolCall {
        /// Names the call.
        call: CallRef<'a>,
        /// The tool's name.
        name: Cow<'a, str>,
        /// Its input; null if none was printed.
        input: Value,
        /// What only the parser can know of it.
        detail: CallDetail,
    },
    /// The input of a call became known after the call itself.
    ToolInput {
        /// Names the call.
        call: CallRef<'a>,
        /// Its input.
        input: Value,
        /// What only the parser can know of it.
        detail: CallDetail,
    },
    /// A tool gave back its result. A second one for the same call changes nothing.
    ToolResult {
        /// Names the call.
        call: CallRef<'a>,
        /// The tool's name, for a result whose call was never seen.
        name: Option<Cow<'a, str>>,
        /// What it gave back; empty if nothing was printed.
        content: Vec<Block<'a>>,
        /// Whether it failed; `None` if the runtime did not tell.
        is_error: Option<bool>,
        /// How long it took, where the runtime told.
        duration_ms: Option<u64>,
    },
    /// A message of the model was printed in the open step, be it without a part.
    MessagePrinted,
    /// The open message was cut off and will not go on.
    MessageCut,
    /// The runtime gave up the open message and asks the model again. What was said of it is no
    /// answer: it is taken back, and the notice keeps its text.
    MessageGivenUp(ApiRetry),
    /// The attempt at the last part of the open message, text or reasoning, was given up and is made
    /// again: what it said is no answer, and the notice will hold it.
    PartGivenUp(ApiRetry),
    /// A sub-agent ended.
    ChildEnd {
        /// The call that started it, as printed.
        call: Cow<'a, str>,
        /// Whether it failed.
        is_error: bool,
        /// What the runtime printed of its answer.
        text: Option<Cow<'a, str>>,
    },

    /// What one response of the model used. Again with the same key: the last one counts.
    Usage {
        /// Names the response.
        key: Cow<'a, str>,
        /// The numbers.
        counts: TokenCounts,
        /// The model.
        model: Option<Cow<'a, str>>,
    },
    /// What the whole tree of runs used in this run, as the runtime stated it. The last one counts.
    Total(TokenCounts),
    /// What the root run used, without its sub-agents, as the runtime stated it. The last one counts.
    RootTotal(TokenCounts),
    /// What the whole session used up to now, earlier runs of it included. The last one counts.
    SessionTotal(TokenCounts),
    /// A usage object as it was printed.
    RawUsage(LateValue),
    /// What this run cost, in US dollars. The last one counts.
    Cost(f64),

    /// How the run, or a turn of it, ended.
    Result(Outcome<'a>),
    /// A notice, or another event around the run.
    Event(RuntimeEventKind),
    /// A line, or a part of it, that was not understood.
    Unparsed {
        /// The type that it names, where it does.
        tag: Option<Cow<'a, str>>,
        /// Why it was not understood.
        reason: Cow<'a, str>,
    },
    /// A known message has a key that this version does not know. Counted, not kept.
    UnknownKey {
        /// The message's type.
        message: &'a str,
        /// The key.
        key: &'a str,
    },
}

impl Signal<'_> {
    /// Tells whether it says how something ended that may go on as long as nobody knows that it is over.
    pub(crate) fn is_verdict(&self) -> bool {
        match self {
            Self::Result(_) | Self::MessageCut | Self::Metadata("endUnknown", _) => true,
            Self::ChildEnd { is_error, .. } => *is_error,
            _ => false,
        }
    }
}

/// Where on the tape, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapePlace {
    /// The bytes; none for what came from the exit.
    pub span: Option<Span>,
    /// The line, counted from 1; 0 for what came from the exit.
    pub line: u64,
    /// When, in milliseconds since 1970.
    pub at: i64,
}

impl TapePlace {
    /// Returns a place from the start of `self` to the end of `last`, at the time of `last`.
    #[must_use]
    pub fn through(self, last: Self) -> Self {
        let span = match (self.span, last.span) {
            (Some(first), Some(last)) => Some(first.cover(last)),
            (first, last) => first.or(last),
        };
        Self {
            span,
            line: self.line,
            at: last.at,
        }
    }
}

/// A signal with its run and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitted<'a> {
    /// Which run it belongs to.
    pub scope: Scope<'a>,
    /// Where on the tape it came from.
    pub place: TapePlace,
    /// What was said.
    pub signal: Signal<'a>,
}

/// Returns the event of a compaction of which nothing was counted.
pub(crate) fn compaction(message: Option<String>) -> Compaction {
    Compaction {
        trigger: None,
        pre_tokens: None,
        post_tokens: None,
        duration_ms: None,
        message,
    }
}
