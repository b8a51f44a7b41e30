//! The model of runtape.
mod checkpoint;
mod error;
mod id;
mod job;
mod media_url;
mod message;
mod metadata;
mod notice;
pub mod record;
pub mod run_event;
mod runtime;
pub mod runtime_event;
mod span;
mod step;
mod tagged;
mod tool;
mod usage;

pub use checkpoint::{
    Checkpoint, CheckpointStatus, DelegatedBy, DelegationTarget, ErrorFamily, Expert, RunError,
};
pub use error::CoreError;
pub use id::{
    CheckpointId, CountingIds, EventId, IdSource, JobId, MessageId, PartId, RandomIds, RunId,
    ToolCallId, ToolName,
};
pub use job::{Job, JobStatus};
pub use media_url::MediaUrl;
pub use message::{
    AnswerMessage, ExpertMessage, ExpertPart, FileBinaryPart, FileInlinePart, FileUrlPart,
    ImageBinaryPart, ImageInlinePart, ImageUrlPart, InputMessage, InstructionMessage,
    InstructionPart, Message, MessagePart, RetryMessage, SpokenMessage, TextPart, ThinkingPart,
    ToolCallPart, ToolMessage, ToolMessagePart, ToolResultContent, ToolResultPart, UserMessage,
    UserPart,
};
pub use metadata::Metadata;
pub use record::{Record, RecordKind};
pub use run_event::{RunEvent, RunEventKind};
pub use runtime::Runtime;
pub use runtime_event::{RuntimeEvent, RuntimeEventKind};
pub use span::{Span, Stream};
pub use step::Step;
pub use tagged::UnknownKind;
pub use tool::{ToolCall, ToolResult};
pub use usage::{TokenCounts, Usage};
