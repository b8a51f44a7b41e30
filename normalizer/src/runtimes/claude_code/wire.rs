//! The messages as they stand on a line.
//!
//! Keys that are only `known` are skipped unread, the largest of them with everything in it:
//! `tool_use_result` repeats a tool's result in a shape of the tool's own.

use serde::de::{Deserialize, IgnoredAny};
use serde_json::Value;

use super::content::{Content, ContentBlock, TextOrOther};
use crate::json::{Str, number, wire_shapes, wire_struct};
use crate::session_id::is_uuid;

wire_struct! {
    /// A first look at a message.
    pub(super) struct Head<'a> {
        "type" => kind: Option<Str<'a>>,
        "session_id" => session: Option<Str<'a>>,
        "uuid" => uuid: Option<IgnoredAny>,
        "duration_ms" => duration: Option<IgnoredAny>,
        ; rest skipped
    }
}

impl Head<'_> {
    /// Tells whether this is a message of the CLI, not just any object with a `type`: the answer
    /// in the text format may be JSON of any kind.
    ///
    /// Every message has the session's id. A result has an id of its own as well; of the versions
    /// before that, it has the time it took.
    pub(super) fn is_message(&self) -> bool {
        let has_session = self.session.as_ref().is_some_and(|id| is_uuid(id));
        match self.kind.as_deref() {
            Some("result") => has_session && (self.uuid.is_some() || self.duration.is_some()),
            Some(_) => has_session,
            None => false,
        }
    }
}

wire_struct! {
    /// What the model said, or the CLI in its place: one content block a line.
    pub(super) struct Assistant<'a> {
        "message" => message: ApiMessage<'a>,
        "parent_tool_use_id" => parent: Option<Str<'a>>,
        "session_id" => session: Option<Str<'a>>,
        "uuid" => uuid: Option<Str<'a>>,
        "timestamp" => timestamp: Option<Str<'a>>,
        "request_id" => request_id: Option<Str<'a>>,
        "aborted" => aborted: Option<bool>,
        "is_api_error_message" | "isApiErrorMessage" => is_api_error: Option<bool>,
        "error" => error: TextOrOther<'a>,
        "api_error_status" => api_error_status: Option<u64> as number::opt_u64,
        "api_error_type" => api_error_type: TextOrOther<'a>,
        "api_error" => api_error: TextOrOther<'a>,
        "api_error_params" => api_error_params: Value,
        "local_command_source" => local_command: TextOrOther<'a>,
        ; known "type", "tool_use_meta", "thinking_duration_ms", "thinking_display", "agent_id",
        "subagent_type", "task_description", "local_command_run", "context_usage",
        "refused_message_id", "error_details", "isSidechain"
    }

    /// A message of the model's API.
    pub(super) struct ApiMessage<'a> {
        "id" => id: Option<Str<'a>>,
        "model" => model: Option<Str<'a>>,
        "content" => content: Content<'a>,
        "usage" => usage: Option<Usage>,
        "stop_reason" => stop_reason: Option<Str<'a>>,
        ; known "type", "role", "stop_sequence", "stop_details",
        "context_management", "diagnostics", "container"
    }

    /// The tokens of one response, or of one result's main loop.
    pub(super) struct Usage {
        "input_tokens" => input: Option<u64> as number::opt_u64,
        "cache_creation_input_tokens" => cache_creation: Option<u64> as number::opt_u64,
        "cache_read_input_tokens" => cache_read: Option<u64> as number::opt_u64,
        "output_tokens" => output: Option<u64> as number::opt_u64,
        "output_tokens_details" => details: OutputDetails,
        "cache_creation" => writes: CacheWrites,
        ; known "service_tier", "server_tool_use", "inference_geo",
        "iterations", "speed", "fallback_credit"
    }

    /// What was written to the cache, by how long it stays there.
    pub(super) struct CacheWrites {
        "ephemeral_1h_input_tokens" => for_an_hour: Option<u64> as number::opt_u64,
        ; known "ephemeral_5m_input_tokens"
    }

    /// What the generated tokens were.
    pub(super) struct OutputDetails {
        "thinking_tokens" => thinking: Option<u64> as number::opt_u64,
    }

    /// The tokens of one model, in the CLI's own names.
    pub(super) struct ModelUsage {
        "inputTokens" => input: Option<u64> as number::opt_u64,
        "outputTokens" => output: Option<u64> as number::opt_u64,
        "cacheReadInputTokens" => cache_read: Option<u64> as number::opt_u64,
        "cacheCreationInputTokens" => cache_creation: Option<u64> as number::opt_u64,
        "thinkingTokens" => thinking: Option<u64> as number::opt_u64,
        "costUSD" => cost: Option<f64> as number::opt_amount,
        "cacheCreationEphemeral1hInputTokens" => for_an_hour: Option<u64> as number::opt_u64,
        ; known "webSearchRequests", "contextWindow", "maxOutputTokens", "canonicalModel",
        "provider", "costBasis", "cacheCreationEphemeral5mInputTokens"
    }
}

/// The tokens of each model, in the order they were printed.
#[derive(Clone, Debug, Default)]
pub(super) struct ByModel<'a>(pub(super) Vec<(Str<'a>, ModelUsage)>);

wire_shapes! {
    ByModel: "an object";
    object_map map => {
        let mut map = map;
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(ByModel(entries))
    };
}

wire_struct! {
    /// Results of tools, a sub-agent's prompt, or what the CLI itself told the model.
    pub(super) struct User<'a> {
        "message" => message: UserMessage<'a>,
        "parent_tool_use_id" => parent: Option<Str<'a>>,
        "session_id" => session: Option<Str<'a>>,
        "timestamp" => timestamp: Option<Str<'a>>,
        "isSynthetic" | "isMeta" => is_synthetic: Option<bool>,
        "isReplay" => is_replay: Option<bool>,
        "isCompactSummary" => is_summary: Option<bool>,
        ; known "type", "uuid", "tool_use_result", "tool_result_meta", "agent_id",
        "subagent_type", "task_description", "refused_message_id", "isSidechain",
        "isVisibleInTranscriptOnly", "priority", "file_attachments", "origin"
    }

    /// What was said to the model.
    pub(super) struct UserMessage<'a> {
        "content" => content: Content<'a>,
        ; known "role", "type", "id"
    }

    /// A second look at the result of a call that started a sub-agent.
    pub(super) struct AgentLine<'a> {
        "tool_use_result" => result: AgentResult<'a>,
        ; rest skipped
    }

    /// How a sub-agent ended, or that it goes on behind its call's back.
    pub(super) struct AgentFields<'a> {
        "status" => status: TextOrOther<'a>,
        "content" => content: Content<'a>,
        "harnessNoteCount" => notes: Option<u64> as number::opt_u64,
        "harnessTailCount" => tails: Option<u64> as number::opt_u64,
        ; rest skipped
    }
}

/// The fields of a sub-agent's result, none where it is a string or a list.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentResult<'a>(pub(super) AgentFields<'a>);

wire_shapes! {
    AgentResult: "a result";
    string _text => AgentResult::default();
    flag _flag => AgentResult::default();
    number _number => AgentResult::default();
    list list => IgnoredAny.visit_seq(list).map(|_| AgentResult::default());
    object object => AgentFields::deserialize(object).map(AgentResult);
}

wire_struct! {
    /// An event of the model's API while a message is being written.
    pub(super) struct StreamEvent<'a> {
        "event" => event: ApiEvent<'a>,
        "parent_tool_use_id" => parent: Option<Str<'a>>,
        "session_id" => session: Option<Str<'a>>,
        ; known "type", "uuid", "api_message_id", "ttft_ms", "thinking_display", "agent_id",
        "subagent_type", "task_description", "timestamp", "request_id"
    }

    /// The event itself.
    pub(super) struct ApiEvent<'a> {
        "type" => kind: Str<'a>,
        "message" => message: Option<Box<ApiMessage<'a>>>,
        "content_block" => block: Option<Box<ContentBlock<'a>>>,
        "delta" => delta: Delta<'a>,
        "usage" => usage: Option<Usage>,
        "error" => error: TextOrOther<'a>,
        ; known "index", "context_management", "diagnostics"
    }

    /// A piece of a content block, or how a message ended.
    pub(super) struct Delta<'a> {
        "type" => kind: Str<'a>,
        "text" => text: Option<Str<'a>>,
        "thinking" => thinking: Option<Str<'a>>,
        "signature" => signature: Option<Str<'a>>,
        "partial_json" => partial_json: Option<Str<'a>>,
        ; known "stop_reason", "stop_sequence", "stop_details", "citation", "container",
        "estimated_tokens"
    }

    /// Everything the CLI says of itself, by `subtype`.
    pub(super) struct System<'a> {
        "subtype" => subtype: Str<'a>,
        "session_id" => session: Option<Str<'a>>,
        "timestamp" => timestamp: Option<Str<'a>>,
        // init
        "cwd" => cwd: Option<Str<'a>>,
        "model" => model: Option<Str<'a>>,
        "claude_code_version" => version: Option<Str<'a>>,
        "permissionMode" => permission_mode: Option<Str<'a>>,
        "mcp_servers" => mcp_servers: Vec<McpServer<'a>>,
        // api_retry
        "attempt" => attempt: Option<u64> as number::opt_u64,
        "max_retries" => max_retries: Option<u64> as number::opt_u64,
        "retry_delay_ms" => retry_delay_ms: Option<f64> as number::opt_amount,
        "error_status" => error_status: Option<u64> as number::opt_u64,
        "error" => error: TextOrOther<'a>,
        // permission_denied
        "tool_name" => tool_name: Option<Str<'a>>,
        "tool_use_id" => tool_use_id: Option<Str<'a>>,
        "message" => message: TextOrOther<'a>,
        // task_*
        "task_id" => task_id: Option<Str<'a>>,
        "description" => description: Option<Str<'a>>,
        "task_type" => task_type: Option<Str<'a>>,
        "is_backgrounded" => is_backgrounded: Option<bool>,
        "status" => status: Option<Str<'a>>,
        "summary" => summary: TextOrOther<'a>,
        "patch" => patch: TaskPatch<'a>,
        // hook_*
        "hook_name" => hook_name: Option<Str<'a>>,
        "hook_event" => hook_event: Option<Str<'a>>,
        "output" => output: TextOrOther<'a>,
        "exit_code" => exit_code: Option<i64>,
        "outcome" => outcome: Option<Str<'a>>,
        // model_fallback, model_refusal_no_fallback
        "trigger" => trigger: Option<Str<'a>>,
        "original_model" => original_model: Option<Str<'a>>,
        "fallback_model" => fallback_model: Option<Str<'a>>,
        // informational and others with a text
        "content" => content: TextOrOther<'a>,
        "level" => level: Option<Str<'a>>,
        // compact_boundary, status
        "compact_metadata" | "compactMetadata" => compact_metadata: Compaction<'a>,
        "compact_result" => compact_result: TextOrOther<'a>,
        "compact_error" => compact_error: TextOrOther<'a>,
        "state" => state: TextOrOther<'a>,
        // notification, plugin_install, worker_shutting_down
        "text" => text: TextOrOther<'a>,
        "name" => name: TextOrOther<'a>,
        "reason" => reason: TextOrOther<'a>,
        ; known "type", "uuid", "tools", "slash_commands", "terminal_slash_commands",
        "apiKeySource", "output_style", "agents", "skills", "plugins", "capabilities",
        "analytics_disabled", "product_feedback_disabled", "memory_paths", "original_cwd",
        "additional_directories", "messaging_socket_path", "fast_mode_state",
        "fast_mode_disabled_reason", "per_turn_effort_active", "ultrathink_available",
        "ultrathink_typed_raises", "view_mode", "betas", "plugin_errors",
        "estimated_tokens", "estimated_tokens_delta", "decision_reason_type", "decision_reason",
        "agent_id", "run_id", "subagent_type", "spawn_depth", "prompt", "usage", "output_file",
        "last_tool_name", "tasks", "hook_id", "stdout", "stderr", "request_id",
        "refused_user_message_uuid", "refused_message_id", "api_refusal_category",
        "api_refusal_explanation", "logical_parent_uuid", "logicalParentUuid", "workflow_name",
        "parent_tool_use_id", "files", "failed", "processed_at", "key", "priority", "color",
        "timeout_ms", "commands", "memories", "mode", "direction", "scope",
        "retracted_message_uuids", "prevent_continuation", "mcp_server_name", "elicitation_id",
        "user_message_uuid"
    }

    /// A server of tools, and whether it answers.
    pub(super) struct McpServer<'a> {
        "name" => name: Str<'a>,
        "status" => status: Str<'a>,
        "error" => error: TextOrOther<'a>,
        ; known "source", "scope", "tools", "type"
    }

    /// What changed of a task.
    pub(super) struct TaskPatch<'a> {
        "status" => status: Option<Str<'a>>,
        "description" => description: Option<Str<'a>>,
        ; rest skipped
    }

    /// What a compaction did.
    pub(super) struct Compaction<'a> {
        "trigger" => trigger: Option<Str<'a>>,
        "pre_tokens" | "preTokens" => pre_tokens: Option<u64> as number::opt_u64,
        "post_tokens" | "postTokens" => post_tokens: Option<u64> as number::opt_u64,
        "duration_ms" | "durationMs" => duration_ms: Option<u64> as number::opt_u64,
        ; rest skipped
    }

    /// How a subscription's limits stand.
    pub(super) struct RateLimitEvent<'a> {
        "rate_limit_info" => info: RateLimitInfo<'a>,
        "session_id" => session: Option<Str<'a>>,
        ; known "type", "uuid", "timestamp"
    }

    /// The limits themselves.
    pub(super) struct RateLimitInfo<'a> {
        "status" => status: Str<'a>,
        "resetsAt" => resets_at: Option<f64> as number::opt_amount,
        "rateLimitType" => limit_type: Option<Str<'a>>,
        "utilization" => utilization: Option<f64> as number::opt_f64,
        ; known "isUsingOverage", "surpassedThreshold", "overageStatus", "overageResetsAt",
        "overageDisabledReason", "unifiedRateLimitFallbackAvailable"
    }

    /// How the run, or one turn of it, ended.
    pub(super) struct RunResult<'a> {
        "subtype" => subtype: TextOrOther<'a>,
        "is_error" => is_error: Value,
        "result" => result: TextOrOther<'a>,
        // What the customer's own writers have in place of `result`.
        "content" | "text" => content: TextOrOther<'a>,
        "errors" => errors: Vec<Value>,
        "session_id" => session: Option<Str<'a>>,
        "duration_ms" => duration_ms: Option<f64> as number::opt_amount,
        "total_cost_usd" => total_cost_usd: Option<f64> as number::opt_amount,
        "usage" => usage: Option<Usage>,
        "modelUsage" => model_usage: Option<ByModel<'a>>,
        "model_usage_since_last_result" => since_last: Option<ByModel<'a>>,
        "permission_denials" => denials: Vec<Denial<'a>>,
        "structured_output" => structured_output: Value,
        "local_command" => local_command: TextOrOther<'a>,
        "stop_reason" => stop_reason: Option<Str<'a>>,
        "terminal_reason" => terminal_reason: Option<Str<'a>>,
        "api_error_status" => api_error_status: Option<u64> as number::opt_u64,
        "api_error_type" => api_error_type: TextOrOther<'a>,
        "api_error" => api_error: TextOrOther<'a>,
        "api_error_params" => api_error_params: Value,
        "uuid" => uuid: Option<IgnoredAny>,
        "result_index" => index: Option<IgnoredAny>,
        ; known "type", "num_turns", "duration_api_ms", "fast_mode_state",
        "fast_mode_disabled_reason", "subagent_stats", "safety_stops", "ttft_ms",
        "ttft_stream_ms", "time_to_request_ms", "first_content_frame_ms", "queued_turn_count",
        "origin", "timestamp"
    }

    /// The usage in a result as it was printed.
    pub(super) struct RawUsage {
        "usage" => usage: Value,
        "modelUsage" => model_usage: Value,
        "model_usage_since_last_result" => since_last: Value,
        "total_cost_usd" => total_cost_usd: Value,
        ; rest skipped
    }

    /// A call that was not allowed.
    pub(super) struct Denial<'a> {
        "tool_name" => tool_name: Str<'a>,
        "tool_use_id" => tool_use_id: Option<Str<'a>>,
        ; known "tool_input"
    }

    /// Messages around the conversation that few runs have: progress, summaries, questions to
    /// whoever drives the CLI over its standard input.
    pub(super) struct Aside<'a> {
        "session_id" => session: Option<Str<'a>>,
        "summary" => summary: TextOrOther<'a>,
        "suggestion" => suggestion: TextOrOther<'a>,
        "error" => error: TextOrOther<'a>,
        "message" => message: TextOrOther<'a>,
        "output" => output: TextOrOther<'a>,
        "request_id" => request_id: Option<Str<'a>>,
        "request" => request: Value,
        "response" => response: Value,
        ; rest skipped
    }
}
