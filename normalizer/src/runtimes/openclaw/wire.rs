//! What frames look like.

use serde_json::Value;

use crate::json::{Str, number, wire_struct};
use crate::verdict::VerdictWord;

wire_struct! {
    /// What a frame is.
    pub(super) struct Head<'a> {
        "type" => tag: Option<Str<'a>>,
        "event" => event: Option<Str<'a>>,
        ; rest skipped
    }
}

wire_struct! {
    pub(super) struct ChatFrame<'a> {
        "payload" => payload: Option<Chat<'a>>,
        ; known "type", "event", "seq", "stateVersion"
    }
}

wire_struct! {
    /// How far an answer is.
    pub(super) struct Chat<'a> {
        "runId" => run: Option<Str<'a>>,
        "sessionKey" => session: Option<Str<'a>>,
        "spawnedBy" => spawned_by: Option<Str<'a>>,
        "state" => state: VerdictWord<'a>,
        "message" => message: Value,
        "deltaText" => piece: Option<Str<'a>>,
        "replace" => replace: Option<bool>,
        "errorMessage" => error: VerdictWord<'a>,
        "errorKind" => error_kind: Option<Str<'a>>,
        "stopReason" => stop_reason: Option<Str<'a>>,
        "usage" => usage: Value,
        ; known "seq", "agentId", "ts"
    }
}

wire_struct! {
    pub(super) struct AgentFrame<'a> {
        "payload" => payload: Option<Agent<'a>>,
        ; known "type", "event", "seq", "stateVersion"
    }
}

wire_struct! {
    /// One event of a run.
    pub(super) struct Agent<'a> {
        "runId" => run: Option<Str<'a>>,
        "sessionKey" => session: Option<Str<'a>>,
        "spawnedBy" => spawned_by: Option<Str<'a>>,
        "stream" => stream: Option<Str<'a>>,
        "ts" => time: Option<u64> as number::opt_u64,
        "data" => data: Value,
        "model" => model: Option<Str<'a>>,
        // The rest of the session's row, which tool events carry along.
        ; known "seq", "agentId", "sessionId", "session", "updatedAt", "kind", "channel", "subject",
            "groupChannel", "space", "chatType", "origin", "spawnedWorkspaceDir", "forkedFromParent",
            "spawnDepth", "subagentRole", "subagentControlScope", "label", "displayName",
            "deliveryContext", "parentSessionKey", "childSessions", "thinkingLevel", "fastMode",
            "verboseLevel", "traceLevel", "reasoningLevel", "elevatedLevel", "sendPolicy",
            "systemSent", "inputTokens", "outputTokens", "lastChannel", "lastTo", "lastAccountId",
            "lastThreadId", "totalTokens", "totalTokensFresh", "contextTokens", "estimatedCostUsd",
            "responseUsage", "modelProvider", "status", "startedAt", "endedAt", "runtimeMs",
            "abortedLastRun",
    }
}

wire_struct! {
    pub(super) struct RowFrame<'a> {
        "payload" => payload: Option<Row<'a>>,
        ; known "type", "event", "seq", "stateVersion"
    }
}

wire_struct! {
    /// A message that was written into a session's history.
    pub(super) struct Row<'a> {
        "runId" => run: Option<Str<'a>>,
        "sessionKey" => session: Option<Str<'a>>,
        "spawnedBy" => spawned_by: Option<Str<'a>>,
        "message" => message: Value,
        ; rest skipped
    }
}

wire_struct! {
    pub(super) struct Request<'a> {
        "method" => method: Option<Str<'a>>,
        "params" => params: Value,
        ; known "type", "id"
    }
}

wire_struct! {
    pub(super) struct Response<'a> {
        "ok" => ok: VerdictWord<'a>,
        "payload" => payload: Value,
        "error" => error: Option<Refusal<'a>>,
        ; known "type", "id"
    }
}

wire_struct! {
    pub(super) struct Refusal<'a> {
        "code" => code: Option<Str<'a>>,
        "message" => message: Option<Str<'a>>,
        "retryAfterMs" => retry_after: Option<u64> as number::opt_u64,
        ; known "details", "retryable"
    }
}
