//! What frames look like.
//!
//! The data of an agent frame is one struct for all streams: it has the fields that any of them is
//! read for, and `stream` says which of them mean something.

use serde_json::Value;

use crate::json::{Raw, Str, number, wire_struct};
use crate::verdict::VerdictWord;

wire_struct! {
    /// What a frame is.
    pub(super) struct Head<'a> {
        "type" => tag: Option<Str<'a>>,
        "event" => event: Option<Str<'a>>,
        ; rest skipped
    }

    /// Whose frame it is, for frames that come before the session is known.
    pub(super) struct OwnerFrame<'a> {
        "payload" => payload: Option<FrameOwner<'a>>,
        ; rest skipped
    }

    pub(super) struct FrameOwner<'a> {
        "runId" => run: Option<Str<'a>>,
        "sessionKey" => session: Option<Str<'a>>,
        "spawnedBy" => spawned_by: Option<Str<'a>>,
        "request" => request: Option<ApprovalRequest<'a>>,
        ; rest skipped
    }

    pub(super) struct ChatFrame<'a> {
        "payload" => payload: Option<ChatPayload<'a>>,
        ; known "type", "event", "seq", "stateVersion"
    }

    /// How far an answer is.
    pub(super) struct ChatPayload<'a> {
        "runId" => run: Option<Str<'a>>,
        "sessionKey" => session: Option<Str<'a>>,
        "spawnedBy" => spawned_by: Option<Str<'a>>,
        "state" => state: VerdictWord<'a>,
        "message" => message: Raw<'a>,
        "replace" => replace: Option<bool>,
        "retry" => retry: Option<Retry<'a>>,
        "errorMessage" => error: VerdictWord<'a>,
        "errorKind" => error_kind: VerdictWord<'a>,
        "errorDetail" => error_detail: Option<Observation<'a>>,
        "stopReason" => stop_reason: Option<Str<'a>>,
        ; known "seq", "agentId", "ts", "deltaText", "phase", "usage"
    }

    /// Why a request is made again.
    pub(super) struct Retry<'a> {
        "attempt" => attempt: Option<u64> as number::opt_u64,
        "maxAttempts" => max_attempts: Option<u64> as number::opt_u64,
        "delayMs" => delay: Option<u64> as number::opt_u64,
        "reason" => reason: Option<Str<'a>>,
        ; rest skipped
    }

    /// What the gateway makes of a provider's error.
    pub(super) struct Observation<'a> {
        "failoverReason" => reason: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct AgentFrame<'a> {
        "payload" => payload: Option<AgentPayload<'a>>,
        ; known "type", "event", "seq", "stateVersion"
    }

    /// One step of a run. Tool frames carry the whole row of the session along, which tells of
    /// the run before.
    pub(super) struct AgentPayload<'a> {
        "runId" => run: Option<Str<'a>>,
        "sessionKey" => session: Option<Str<'a>>,
        "spawnedBy" => spawned_by: Option<Str<'a>>,
        "session" => row: Option<SessionRow<'a>>,
        "stream" => stream: Option<Str<'a>>,
        "seq" => seq: Option<u64> as number::opt_u64,
        "ts" => time: Option<u64> as number::opt_u64,
        "data" => data: Data<'a>,
        ; rest skipped
    }

    pub(super) struct SessionRow<'a> {
        "spawnedBy" => spawned_by: Option<Str<'a>>,
        ; rest skipped
    }

    /// What an agent frame says, in whichever stream.
    pub(super) struct Data<'a> {
        "phase" => phase: Option<Str<'a>>,
        // assistant, thinking
        "text" => text: Option<Str<'a>>,
        "delta" => piece: Option<Str<'a>>,
        "itemId" => item: Option<Str<'a>>,
        "replace" => replace: Option<bool>,
        // item
        "kind" => kind: Option<Str<'a>>,
        "progressText" => progress: Option<Str<'a>>,
        "status" => status: Option<Str<'a>>,
        "meta" => meta: Option<Str<'a>>,
        "commandBearing" => runs_command: Option<bool>,
        // tool
        "toolCallId" => call: Option<Str<'a>>,
        "name" => name: Option<Str<'a>>,
        "args" => args: Value,
        "result" => result: Value,
        "isError" => is_error: Option<bool>,
        // command_output
        "output" => output: Option<Str<'a>>,
        "exitCode" => exit_code: Option<i64>,
        "durationMs" => duration: Option<u64> as number::opt_u64,
        // usage
        "outputTokens" => output_tokens: Option<u64> as number::opt_u64,
        // run_status
        "retryAttempt" => retry_attempt: Option<u64> as number::opt_u64,
        "attempt" => attempt: Option<u64> as number::opt_u64,
        "maxAttempts" => max_attempts: Option<u64> as number::opt_u64,
        "delayMs" => delay: Option<u64> as number::opt_u64,
        "reason" => reason: Option<Str<'a>>,
        "message" => message: Option<Str<'a>>,
        // lifecycle
        "model" => model: Option<Str<'a>>,
        "startedAt" => started_at: Option<u64> as number::opt_u64,
        "endedAt" => ended_at: Option<u64> as number::opt_u64,
        "stopReason" => stop_reason: Option<Str<'a>>,
        "aborted" => aborted: VerdictWord<'a>,
        "error" => error: VerdictWord<'a>,
        "errorKind" => error_kind: VerdictWord<'a>,
        "errorObservation" => observation: Option<Observation<'a>>,
        "terminalReply" => reply: Option<Reply<'a>>,
        "fallbackStepFromModel" | "selectedModel" => from_model: Option<Str<'a>>,
        "fallbackStepToModel" | "activeModel" => to_model: Option<Str<'a>>,
        "fallbackStepFromFailureReason" | "reasonSummary" => fallback_reason: Option<Str<'a>>,
        // compaction
        "tokensBefore" => tokens_before: Option<u64> as number::opt_u64,
        "tokensAfter" => tokens_after: Option<u64> as number::opt_u64,
        ; rest skipped
    }

    /// What a run answered in the end, where the model did not.
    pub(super) struct Reply<'a> {
        "text" => text: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct RowFrame<'a> {
        "payload" => payload: Option<TranscriptMessage<'a>>,
        ; rest skipped
    }

    /// A message that was written into a session's transcript.
    pub(super) struct TranscriptMessage<'a> {
        "sessionKey" => session: Option<Str<'a>>,
        "spawnedBy" => spawned_by: Option<Str<'a>>,
        "messageId" => id: Option<Str<'a>>,
        "message" => message: Value,
        ; rest skipped
    }

    pub(super) struct ApprovalFrame<'a> {
        "payload" => payload: Option<Approval<'a>>,
        ; rest skipped
    }

    /// Somebody is asked whether a call may be made, or has answered.
    pub(super) struct Approval<'a> {
        "id" => id: Option<Str<'a>>,
        "decision" => decision: Option<Str<'a>>,
        "request" => request: Option<ApprovalRequest<'a>>,
        ; rest skipped
    }

    pub(super) struct ApprovalRequest<'a> {
        "sessionKey" => session: Option<Str<'a>>,
        "toolCallId" => call: Option<Str<'a>>,
        "command" => command: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct Request<'a> {
        "id" => id: Option<Str<'a>>,
        "method" => method: Option<Str<'a>>,
        "params" => params: Option<Params<'a>>,
        ; known "type"
    }

    pub(super) struct Params<'a> {
        "sessionKey" | "key" => session: Option<Str<'a>>,
        "message" => message: Option<Str<'a>>,
        "idempotencyKey" => run: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct Response<'a> {
        "id" => id: Option<Str<'a>>,
        "ok" => ok: VerdictWord<'a>,
        "payload" => payload: Option<ResponsePayload<'a>>,
        "error" => error: Option<Refusal<'a>>,
        ; known "type"
    }

    /// What a response says, whatever was asked for.
    pub(super) struct ResponsePayload<'a> {
        "server" => server: Option<GatewayServer<'a>>,
        "runId" => run: Option<Str<'a>>,
        "sessionKey" => session: Option<Str<'a>>,
        "status" => status: VerdictWord<'a>,
        "summary" => summary: Option<Str<'a>>,
        "error" => error: VerdictWord<'a>,
        "result" => result: Option<AgentReply<'a>>,
        "messages" => messages: Option<Vec<Value>>,
        "inFlightRun" => in_flight: Value,
        "sessionInfo" => session_info: Option<SessionActivity<'a>>,
        ; rest skipped
    }

    pub(super) struct GatewayServer<'a> {
        "version" => version: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct AgentReply<'a> {
        "payloads" => payloads: Vec<Reply<'a>>,
        "meta" => meta: Option<ResultMeta<'a>>,
        ; rest skipped
    }

    pub(super) struct ResultMeta<'a> {
        "agentMeta" => agent: Option<AgentMeta<'a>>,
        ; rest skipped
    }

    pub(super) struct AgentMeta<'a> {
        "model" => model: Option<Str<'a>>,
        "usage" => usage: Value,
        ; rest skipped
    }

    /// The run that was at work when a client connected again.
    pub(super) struct InFlight<'a> {
        "runId" => run: Option<Str<'a>>,
        "text" => text: Option<Str<'a>>,
        "events" => events: Vec<AgentPayload<'a>>,
        ; rest skipped
    }

    pub(super) struct SessionActivity<'a> {
        "hasActiveRun" => has_active_run: VerdictWord<'a>,
        "lastRunId" => last_run: Option<Str<'a>>,
        "startedAt" => started_at: Option<u64> as number::opt_u64,
        "endedAt" => ended_at: Option<u64> as number::opt_u64,
        ; rest skipped
    }

    pub(super) struct Refusal<'a> {
        "code" => code: Option<Str<'a>>,
        "message" => message: Option<Str<'a>>,
        "retryAfterMs" => retry_after: Option<u64> as number::opt_u64,
        ; known "details", "retryable"
    }
}
