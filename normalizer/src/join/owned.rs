//! Signals that outlive their line.

use runtape_core::runtime_event::ApiRetry;
use serde_json::Value;

use crate::signal::{Block, CallDetail, CallRef, Outcome, Signal};

/// Names a call, as [`CallRef`] does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum OwnedCall {
    Printed(String),
    Local(u64),
}

impl OwnedCall {
    fn of(call: CallRef<'_>) -> Self {
        match call {
            CallRef::Printed(id) => Self::Printed(id.to_owned()),
            CallRef::Local(ordinal) => Self::Local(ordinal),
        }
    }

    pub(super) fn as_ref(&self) -> CallRef<'_> {
        match self {
            Self::Printed(id) => CallRef::Printed(id),
            Self::Local(ordinal) => CallRef::Local(*ordinal),
        }
    }
}

/// A signal that borrows from nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OwnedSignal {
    Session(String),
    Model(String),
    CliVersion(String),
    Cwd(String),
    Delegates(String),
    Step(Option<String>),
    ToolCall {
        call: OwnedCall,
        name: String,
        input: Value,
        detail: CallDetail,
    },
    ToolInput {
        call: OwnedCall,
        input: Value,
        detail: CallDetail,
    },
    ToolResult {
        call: OwnedCall,
        name: Option<String>,
        content: Vec<Block<'static>>,
        is_error: Option<bool>,
        duration_ms: Option<u64>,
    },
    MessageGivenUp(ApiRetry),
    PartGivenUp(ApiRetry),
    UnknownKey {
        message: String,
        key: String,
    },
    /// Whatever owns its words already.
    Other(Signal<'static>),
}

fn own_block(block: Block<'_>) -> Block<'static> {
    match block {
        Block::Text(text) => Block::Text(text.into_owned().into()),
        Block::Image { mime_type, data } => Block::Image {
            mime_type: mime_type.into_owned().into(),
            data: data.into_owned().into(),
        },
        Block::File { mime_type, data } => Block::File {
            mime_type: mime_type.into_owned().into(),
            data: data.into_owned().into(),
        },
    }
}

impl OwnedSignal {
    #[expect(clippy::too_many_lines, reason = "one arm a signal")]
    pub(super) fn of(signal: Signal<'_>) -> Self {
        let other = match signal {
            Signal::Session(id) => return Self::Session(id.to_owned()),
            Signal::Model(model) => return Self::Model(model.to_owned()),
            Signal::CliVersion(version) => return Self::CliVersion(version.to_owned()),
            Signal::Cwd(cwd) => return Self::Cwd(cwd.to_owned()),
            Signal::Delegates(call) => return Self::Delegates(call.to_owned()),
            Signal::Step(key) => return Self::Step(key.map(str::to_owned)),
            Signal::ToolCall {
                call,
                name,
                input,
                detail,
            } => {
                return Self::ToolCall {
                    call: OwnedCall::of(call),
                    name: name.into_owned(),
                    input,
                    detail,
                };
            }
            Signal::ToolInput {
                call,
                input,
                detail,
            } => {
                return Self::ToolInput {
                    call: OwnedCall::of(call),
                    input,
                    detail,
                };
            }
            Signal::ToolResult {
                call,
                name,
                content,
                is_error,
                duration_ms,
            } => {
                return Self::ToolResult {
                    call: OwnedCall::of(call),
                    name: name.map(Into::into),
                    content: content.into_iter().map(own_block).collect(),
                    is_error,
                    duration_ms,
                };
            }
            Signal::MessageGivenUp(retry) => return Self::MessageGivenUp(retry),
            Signal::PartGivenUp(retry) => return Self::PartGivenUp(retry),
            Signal::UnknownKey { message, key } => {
                return Self::UnknownKey {
                    message: message.to_owned(),
                    key: key.to_owned(),
                };
            }
            Signal::Format(format) => Signal::Format(format),
            Signal::Metadata(key, value) => Signal::Metadata(key, value),
            Signal::TurnOpened => Signal::TurnOpened,
            Signal::User(text) => Signal::User(text.into_owned().into()),
            Signal::TextDelta(text) => Signal::TextDelta(text.into_owned().into()),
            Signal::Remark => Signal::Remark,
            Signal::TextEnd => Signal::TextEnd,
            Signal::Text(text) => Signal::Text(text.into_owned().into()),
            Signal::Answer(text) => Signal::Answer(text.into_owned().into()),
            Signal::ThinkingDelta(text) => Signal::ThinkingDelta(text.into_owned().into()),
            Signal::ThinkingEnd { signature } => Signal::ThinkingEnd {
                signature: signature.map(|text| text.into_owned().into()),
            },
            Signal::Thinking { text, signature } => Signal::Thinking {
                text: text.into_owned().into(),
                signature: signature.map(|text| text.into_owned().into()),
            },
            Signal::MessagePrinted => Signal::MessagePrinted,
            Signal::MessageCut => Signal::MessageCut,
            Signal::ChildEnd {
                call,
                is_error,
                text,
            } => Signal::ChildEnd {
                call: call.into_owned().into(),
                is_error,
                text: text.map(|text| text.into_owned().into()),
            },
            Signal::Usage { key, counts, model } => Signal::Usage {
                key: key.into_owned().into(),
                counts,
                model: model.map(|model| model.into_owned().into()),
            },
            Signal::Total(counts) => Signal::Total(counts),
            Signal::RootTotal(counts) => Signal::RootTotal(counts),
            Signal::SessionTotal(counts) => Signal::SessionTotal(counts),
            Signal::RawUsage(raw) => Signal::RawUsage(raw),
            Signal::Cost(cost) => Signal::Cost(cost),
            Signal::Result(outcome) => Signal::Result(Outcome {
                verdict: outcome.verdict,
                subtype: outcome.subtype.map(|text| text.into_owned().into()),
                text: outcome.text.map(|text| text.into_owned().into()),
                answer: outcome.answer.map(|text| text.into_owned().into()),
                duration_ms: outcome.duration_ms,
                was_answered: outcome.was_answered,
            }),
            Signal::Event(event) => Signal::Event(event),
            Signal::Unparsed { tag, reason } => Signal::Unparsed {
                tag: tag.map(|tag| tag.into_owned().into()),
                reason: reason.into_owned().into(),
            },
        };
        Self::Other(other)
    }

    /// Hands the signal out in the form that the reducer takes.
    pub(super) fn lend(self, give: impl FnOnce(Signal<'_>)) {
        match self {
            Self::Session(id) => give(Signal::Session(&id)),
            Self::Model(model) => give(Signal::Model(&model)),
            Self::CliVersion(version) => give(Signal::CliVersion(&version)),
            Self::Cwd(cwd) => give(Signal::Cwd(&cwd)),
            Self::Delegates(call) => give(Signal::Delegates(&call)),
            Self::Step(key) => give(Signal::Step(key.as_deref())),
            Self::ToolCall {
                call,
                name,
                input,
                detail,
            } => give(Signal::ToolCall {
                call: call.as_ref(),
                name: name.into(),
                input,
                detail,
            }),
            Self::ToolInput {
                call,
                input,
                detail,
            } => give(Signal::ToolInput {
                call: call.as_ref(),
                input,
                detail,
            }),
            Self::ToolResult {
                call,
                name,
                content,
                is_error,
                duration_ms,
            } => give(Signal::ToolResult {
                call: call.as_ref(),
                name: name.map(Into::into),
                content,
                is_error,
                duration_ms,
            }),
            Self::MessageGivenUp(retry) => give(Signal::MessageGivenUp(retry)),
            Self::PartGivenUp(retry) => give(Signal::PartGivenUp(retry)),
            Self::UnknownKey { message, key } => give(Signal::UnknownKey {
                message: &message,
                key: &key,
            }),
            Self::Other(signal) => give(signal),
        }
    }
}
