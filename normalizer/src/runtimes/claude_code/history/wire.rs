//! Lines of a segment, as the parser reads them.

use serde::de::{Deserialize, IgnoredAny};
use serde_json::Value;

use super::super::content::TextOrOther;
use super::super::wire::{AgentResult, ApiMessage, ByModel, Compaction};
use crate::json::{Str, number, wire_shapes, wire_struct};

wire_struct! {
    /// A line of a segment.
    pub(super) struct HistoryLine<'a> {
        "type" => kind: Option<Str<'a>>,
        "subtype" => subtype: Option<Str<'a>>,
        "uuid" => uuid: Option<Str<'a>>,
        "sessionId" => session: Option<Str<'a>>,
        "timestamp" => timestamp: Option<Str<'a>>,
        "cwd" => cwd: Option<Str<'a>>,
        "version" => version: Option<Str<'a>>,
        "message" => message: ApiMessage<'a>,
        // assistant
        "requestId" => request_id: Option<Str<'a>>,
        "isAbortedMidStream" => is_aborted: Option<bool>,
        "isApiErrorMessage" => is_api_error: Option<bool>,
        "error" => error: TextOrOther<'a>,
        "apiErrorStatus" => api_error_status: Option<u64> as number::opt_u64,
        "apiErrorType" => api_error_type: TextOrOther<'a>,
        "apiError" => api_error: TextOrOther<'a>,
        "apiErrorParams" => api_error_params: Value,
        // user
        "isMeta" => is_meta: Option<bool>,
        "isCompactSummary" => is_summary: Option<bool>,
        "permissionMode" => permission_mode: Option<Str<'a>>,
        "origin" => origin: PromptOrigin<'a>,
        "toolUseResult" => result: AgentResult<'a>,
        "toolDenialKind" => denial: Option<Str<'a>>,
        // system
        "content" => content: TextOrOther<'a>,
        "level" => level: Option<Str<'a>>,
        "compactMetadata" => compaction: Compaction<'a>,
        "originalModel" => original_model: Option<Str<'a>>,
        "fallbackModel" => fallback_model: Option<Str<'a>>,
        "trigger" => trigger: Option<Str<'a>>,
        "retryInMs" => retry_in_ms: Option<f64> as number::opt_amount,
        "retryAttempt" => retry_attempt: Option<u64> as number::opt_u64,
        "maxRetries" => max_retries: Option<u64> as number::opt_u64,
        // attachment
        "attachment" => attachment: Attachment<'a>,
        // queue-operation
        "operation" => operation: Option<Str<'a>>,
        // cost-state
        "totalCostUSD" => dollars: Option<f64> as number::opt_amount,
        "modelUsage" => model_usage: ByModel<'a>,
        "hasUnknownModelCost" => has_unknown_cost: Option<bool>,
        // notes of the reader's
        "call" => call: Option<Str<'a>>,
        "ended" => ended: Option<Str<'a>>,
        "finished" => is_finished: Option<bool>,
        ; known "parentUuid", "logicalParentUuid", "isSidechain", "userType", "entrypoint",
        "gitBranch", "slug", "session_id", "agentId", "agent", "teamName", "sessionKind",
        "forkedFrom", "promptId", "promptSource", "turnOrigin", "turnPosition", "turnCompanion",
        "sourceToolAssistantUUID", "sourceToolUseID", "permissionDecision", "sandboxed", "mcpMeta",
        "mcpCallNotReadOnly", "toolEndsTurn", "interruptedMessageId", "queueSkipAttachments",
        "isVisibleInTranscriptOnly", "thinkingMetadata", "todos", "imagePasteIds",
        "refusedMessageId", "refusingModel", "apiBlockIndex", "requestRef", "requestedModel",
        "promptCacheRequested", "perTurnEffort", "effort", "madeBy", "toolInputStreamMs",
        "thinkingDurationMs", "thinkingDisplay", "failedResponseHadNoToolCall", "errorDetails",
        "attributionAgent", "attributionSkill", "attributionPlugin", "attributionMcpServer",
        "attributionMcpTool", "source", "cause", "durationMs", "messageCount",
        "pendingBackgroundAgentCount", "commandRun", "contextUsage", "apiRefusalCategory",
        "apiRefusalExplanation", "refusedUserMessageUuid", "hookCount", "hookInfos", "hookErrors",
        "preventedContinuation", "stopReason", "hasOutput", "toolUseID", "rendered",
        "renderedRole", "renderedBesideToolResult", "renderedInHumanTurn", "reason", "commandUuid",
        "deliveryId", "totalAPIDuration", "totalAPIDurationWithoutRetries", "totalToolDuration",
        "totalLinesAdded", "totalLinesRemoved", "totalDuration", "startTime"
    }

    /// Where a prompt comes from.
    pub(super) struct OriginFields<'a> {
        "kind" => kind: Option<Str<'a>>,
        ; rest skipped
    }

    /// What the CLI added to the prompt.
    pub(super) struct Attachment<'a> {
        "type" => kind: Option<Str<'a>>,
        "prompt" => prompt: TextOrOther<'a>,
        "maxTurns" => max_turns: Option<u64> as number::opt_u64,
        "data" => data: Value,
        "hookName" => hook_name: Option<Str<'a>>,
        "hookEvent" => hook_event: Option<Str<'a>>,
        "exitCode" => exit_code: Option<i64>,
        "content" => content: TextOrOther<'a>,
        "stdout" => stdout: TextOrOther<'a>,
        "stderr" => stderr: TextOrOther<'a>,
        ; rest skipped
    }
}

/// Where a prompt comes from; nowhere, if it is no object.
#[derive(Clone, Debug, Default)]
pub(super) struct PromptOrigin<'a>(pub(super) OriginFields<'a>);

wire_shapes! {
    PromptOrigin: "an object";
    string _text => PromptOrigin::default();
    null => PromptOrigin::default();
    flag _flag => PromptOrigin::default();
    number _number => PromptOrigin::default();
    list list => IgnoredAny.visit_seq(list).map(|_| PromptOrigin::default());
    object object => OriginFields::deserialize(object).map(PromptOrigin);
}
