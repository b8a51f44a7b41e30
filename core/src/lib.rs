//! The model of runtape: what agent runtimes did, in one shape.
//!
//! Agent CLIs each print their work in another form. Here is the form they are all turned into:
//! Perstack's events and checkpoints, and the slim [`Record`]s that they are made from.
//!
//! - [`RunEvent`] and [`RuntimeEvent`]: what happened in a run and around it;
//! - [`Checkpoint`]: the state at the end of a step, with [`Metadata`] that says which runtime
//!   did the work;
//! - [`Record`]: what is kept. Each thing is said once, and [`materialize()`] makes events and
//!   checkpoints from it;
//! - [`TranscriptEntry`] and [`RunSummary`]: a run to display, and a run in one object;
//! - [`report`]: what commands answer to programs.
//!
//! This crate knows no runtime's wire format, no file, no database and no clock.
//!
//! ```
//! use runtape_core::{
//!     CountingIds, CreateCheckpointParams, Expert, JobId, RunId, Runtime, Stamp,
//!     create_complete_run_event, create_normalized_checkpoint,
//! };
//!
//! # fn main() -> Result<(), runtape_core::CoreError> {
//! let run_id = RunId::parse("run-456")?;
//! let mut ids = CountingIds::new(run_id.clone());
//! let mut stamp = Stamp { ids: &mut ids, now: 1_700_000_000_000 };
//! let checkpoint = create_normalized_checkpoint(
//!     &mut stamp,
//!     CreateCheckpointParams {
//!         job_id: JobId::parse("job-123")?,
//!         run_id,
//!         expert: Expert { key: "e".into(), name: "E".into(), version: "1.0.0".into() },
//!         output: "Done".into(),
//!         runtime: Runtime::Cursor,
//!     },
//! );
//! let event = create_complete_run_event(&mut stamp, "e", checkpoint, "Done");
//! assert_eq!(event.kind.tag(), "completeRun");
//! # Ok(())
//! # }
//! ```

mod calendar;
mod checkpoint;
mod create;
mod error;
mod event;
mod id;
mod id_path;
mod id_text;
mod iso;
mod job;
mod late_value;
mod materialize;
mod media_url;
mod message;
mod metadata;
mod notice;
mod omission;
mod outcome;
pub mod prices;
pub mod published;
pub mod record;
pub mod report;
mod restore;
pub mod run_event;
mod runtime;
pub mod runtime_event;
mod span;
mod step;
mod summary;
mod tagged;
mod tool;
mod tool_class;
pub mod transcript;
mod usage;

pub use calendar::{day_name, month_name, week_name};
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
pub use event::Event;
pub use id::{
    CheckpointId, CountingIds, DerivedIds, EventId, IdSource, JobId, MessageId, PartId, RandomIds,
    RunId, ToolCallId, ToolName,
};
pub use iso::iso_time;
pub use job::{Job, JobStatus};
pub use late_value::{LateValue, weight};
pub use materialize::{Materializer, materialize};
pub use media_url::MediaUrl;
pub use message::{
    AnswerMessage, ExpertMessage, ExpertPart, FileBinaryPart, FileInlinePart, FileUrlPart,
    ImageBinaryPart, ImageInlinePart, ImageUrlPart, InputMessage, InstructionMessage,
    InstructionPart, Message, MessagePart, RetryMessage, SpokenMessage, TextPart, ThinkingPart,
    ToolCallPart, ToolMessage, ToolMessagePart, ToolResultContent, ToolResultPart, UserMessage,
    UserPart,
};
pub use metadata::{Metadata, PARSER_VERSION};
pub use outcome::{INTERRUPTED_KEY, Outcome, UNFINISHED};
pub use record::{Record, RecordKind};
pub use restore::Restorer;
pub use run_event::{RunEvent, RunEventKind};
pub use runtime::Runtime;
pub use runtime_event::{RuntimeEvent, RuntimeEventKind};
pub use span::{Span, Stream};
pub use step::Step;
pub use summary::{
    RunSummary, Summarizer, SummaryError, SummaryNotice, SummaryRun, SummaryToolCall,
    SummaryUnparsed, SummaryUsage, summarize,
};
pub use tagged::UnknownKind;
pub use tool::{ToolCall, ToolResult};
pub use tool_class::ToolClass;
pub use transcript::{TranscriptBuilder, TranscriptEntry, TranscriptKind};
pub use usage::{TokenCounts, Usage};
