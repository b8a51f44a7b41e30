//! What the rows look like. The objects are columns of JSON text.

use serde_json::Value;

use crate::json::{Str, number, wire_struct};
use crate::verdict::VerdictWord;

wire_struct! {
    pub(super) struct SessionLine<'a> {
        "row" => row: SessionRow<'a>,
        ; rest skipped
    }

    pub(super) struct SessionRow<'a> {
        "id" => id: Option<Str<'a>>,
        "parent_id" => parent: Option<Str<'a>>,
        "directory" => directory: Option<Str<'a>>,
        "title" => title: Option<Str<'a>>,
        "version" => version: Option<Str<'a>>,
        "time_created" => created: Option<u64> as number::opt_u64,
        ; rest skipped
    }

    pub(super) struct RowLine<'a> {
        "row" => row: DataRow<'a>,
        ; rest skipped
    }

    /// A message or a part of one.
    pub(super) struct DataRow<'a> {
        "id" => id: Option<Str<'a>>,
        "message_id" => message: Option<Str<'a>>,
        "session_id" => session: Option<Str<'a>>,
        "time_created" => created: Option<u64> as number::opt_u64,
        "time_updated" => updated: Option<u64> as number::opt_u64,
        "data" => data: Option<Str<'a>>,
    }

    /// What cutting a session into runs takes of a message.
    pub(super) struct MessageHead<'a> {
        "role" => role: Option<Str<'a>>,
        "time" => time: MessageTime,
        "path" => path: MessagePaths<'a>,
        ; rest skipped
    }

    pub(super) struct MessageTime {
        "created" => created: Option<u64> as number::opt_u64,
        "completed" => completed: Option<u64> as number::opt_u64,
        ; rest skipped
    }

    pub(super) struct MessagePaths<'a> {
        "cwd" => cwd: Option<Str<'a>>,
        ; rest skipped
    }

    /// What cutting a session into runs takes of a part.
    pub(super) struct PartHead<'a> {
        "type" => kind: Option<Str<'a>>,
        "text" => text: Option<Str<'a>>,
        "synthetic" => is_synthetic: Option<bool>,
        "callID" => call: Option<Str<'a>>,
        "state" => state: StateHead<'a>,
        ; rest skipped
    }

    pub(super) struct StateHead<'a> {
        "metadata" => metadata: StateMetadata<'a>,
        ; rest skipped
    }

    pub(super) struct StateMetadata<'a> {
        "sessionId" | "sessionID" => session: Option<Str<'a>>,
        ; rest skipped
    }

    /// A message: the model's, or the user's.
    pub(super) struct Message<'a> {
        "role" => role: Option<Str<'a>>,
        "modelID" => model: Option<Str<'a>>,
        "path" => path: MessagePaths<'a>,
        "finish" => finish: VerdictWord<'a>,
        "error" => error: Value,
        "time" => time: MessageTime,
        ; known "parentID", "mode", "agent", "cost", "tokens", "providerID", "summary", "system",
            "model", "tools", "variant", "structured", "format"
    }

    /// An attempt that the API refused.
    pub(super) struct RetryPart {
        "attempt" => attempt: Option<u64> as number::opt_u64,
        "error" => error: Value,
        ; rest skipped
    }
}
