//! The model of runtape.
mod checkpoint;
mod create;
mod error;
mod id;
mod job;
mod materialize;
mod media_url;
mod message;
mod metadata;
mod notice;
mod omit;
pub mod record;
pub mod run_event;
mod runtime;
pub mod runtime_event;
mod span;
mod step;
mod summary;
mod tagged;
mod tool;
pub mod transcript;
mod usage;

pub use checkpoint::{
    Checkpoint, CheckpointStatus, DelegatedBy, DelegationTarget, ErrorFamily, Expert, RunError,
};
pub use create::{
    CreateCheckpointParams, Stamp, create_call_tools_event, create_complete_run_event,
    create_empty_usage, create_normalized_checkpoint, create_resolve_tool_results_event,
    create_runtime_init_event, create_start_run_event, create_stop_run_by_error_event,
    spoken_messages,
};
pub use error::CoreError;
pub use id::{
    CheckpointId, CountingIds, EventId, IdSource, JobId, MessageId, PartId, RandomIds, RunId,
    ToolCallId, ToolName,
};
pub use job::{Job, JobStatus};
pub use materialize::{Event, Materializer, materialize};
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
pub use summary::{
    RunSummary, SummaryError, SummaryNotice, SummaryRun, SummaryToolCall, SummaryUnparsed,
    SummaryUsage, summarize,
};
pub use tagged::UnknownKind;
pub use tool::{ToolCall, ToolResult};
pub use transcript::{TranscriptBuilder, TranscriptEntry, TranscriptKind};
pub use usage::{TokenCounts, Usage};
