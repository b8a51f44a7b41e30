//! The protocol of `OpenClaw` clients: messages taken apart, and transcripts put together.
//!
//! A message comes as JSON of no fixed shape. [`parse_message`] makes text, thinking, tool calls
//! and tool results of it; the `extract_*` functions make one of these each. Transcripts are lists
//! of lines, marked by prefixes such as `[[tool]]`, with entries around them that carry identity
//! and time; live entries and stored ones are merged by
//! [`merge_transcript_entries_with_history`].
//!
//! Peers written in JavaScript compute the same ids and hashes, so results follow JavaScript where
//! it differs from Rust: whitespace, UTF-16, numbers as text, key order, the sort. Every function
//! is total and takes time linear in its input, sorting aside.
//!
//! ```
//! use runtape_openclaw_protocol::parse_message;
//! use serde_json::json;
//!
//! let parsed = parse_message(&json!({
//!     "role": "assistant",
//!     "content": [
//!         {"type": "text", "text": "<think>short</think>[[reply_to_current]] Hi."},
//!         {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.txt"}},
//!     ],
//! }));
//! assert_eq!(parsed.text, "Hi.");
//! assert_eq!(parsed.thinking.as_deref(), Some("short"));
//! assert_eq!(parsed.tool_calls[0].name, "read");
//! ```

mod agent_files;
mod candidates;
mod entry;
mod envelope;
mod fingerprint;
mod javascript;
mod json;
mod json_text;
mod markdown;
mod merge;
mod metadata;
mod order;
mod parse_message;
mod row;
mod tags;
mod text;
mod thinking;
mod timsort;
mod tools;
mod transcript;
mod turn_meta;

pub use agent_files::{
    AGENT_FILE_META, AGENT_FILE_NAMES, AGENT_FILE_PLACEHOLDERS, AGENT_FILES, AgentFileDef,
    AgentFileMeta, AgentFileName, AgentFileState, build_agent_instruction,
    create_agent_files_state, is_agent_file_name,
};
pub use entry::{
    TranscriptAppendMeta, TranscriptEntry, TranscriptEntryKind, TranscriptEntryRole,
    TranscriptEntrySource,
};
pub use fingerprint::fnv1a;
pub use json::{JsonError, parse as parse_json};
pub use json_text::{stringify, stringify_pretty};
pub use markdown::{
    ParsedToolMarkdown, ToolMarkdownKind, format_thinking_markdown, format_tool_call_markdown,
    format_tool_result_markdown, is_tool_markdown, is_trace_markdown, parse_tool_markdown,
    strip_trace_markdown,
};
pub use merge::{MergeTranscriptEntriesResult, merge_transcript_entries_with_history};
pub use metadata::{is_heartbeat_prompt, is_ui_metadata_prefix, strip_ui_metadata};
pub use order::{
    Ordered, are_transcript_entries_equal, build_output_lines_from_transcript_entries,
    sort_transcript_entries,
};
pub use parse_message::{MessageMeta, ParsedMessage, ToolCall, ToolResult, parse_message};
pub use row::{Likeness, TranscriptRow};
pub use text::{extract_text, raw_text};
pub use thinking::{
    extract_thinking, extract_thinking_from_tagged_stream, extract_thinking_from_tagged_text,
};
pub use tools::{
    ToolCallRecord, ToolResultRecord, extract_tool_calls, extract_tool_lines, extract_tool_result,
};
pub use transcript::{
    BuildTranscriptEntriesFromLinesParams, EntryLine, EntryLines,
    build_transcript_entries_from_lines, create_transcript_entry_from_line,
};
pub use turn_meta::{
    TurnMeta, TurnRole, format_meta_markdown, is_meta_markdown, parse_meta_markdown,
};
