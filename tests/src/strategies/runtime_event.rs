//! Events around a run.

use proptest::prelude::*;
use runtape_core::runtime_event::{
    ApiRetry, BuildStage, Compaction, Connection, ContainerStatus, DockerBuildProgress,
    DockerContainerStatus, EarlierResult, ExitMismatch, HistoryMismatch, Hook, Info,
    InitializeRuntime, Interaction, InteractiveToolCall, ModelFallback, PermissionDenied,
    ProcessExit, ProxyAccess, ProxyAction, RateLimit, ServerInfo, SkillConnected,
    SkillDisconnected, SkillStarting, SkillStderr, StderrText, StdoutText, StreamChannel,
    StreamText, StreamToolCall, StreamToolResult, Task, UnparsedOutput, Warning,
};
use runtape_core::{RuntimeEvent, RuntimeEventKind, Stream};
use serde_json::{Value, json};

use super::leaf::{
    count, event_id, finite, job_id, json, named_object, run_id, signed, text, tool_call_id,
    tool_name,
};
use super::{add, any_tag, build, maybe, payloads, some, word};

/// Any event around a run, now and then of an unknown type.
pub fn runtime_event() -> BoxedStrategy<RuntimeEvent> {
    any_tag(RuntimeEventKind::TAGS)
        .prop_flat_map(runtime_event_of)
        .boxed()
}

/// Events around a run of one type.
pub fn runtime_event_of(tag: &'static str) -> BoxedStrategy<RuntimeEvent> {
    build!(RuntimeEvent {
        id: event_id(),
        timestamp: signed(),
        job_id: job_id(),
        run_id: run_id(),
        kind: runtime_event_kind(tag),
    })
}

/// Events around a run of one type, without the fields that every event has.
#[expect(clippy::too_many_lines, reason = "one entry for each type")]
pub fn runtime_event_kind(tag: &'static str) -> BoxedStrategy<RuntimeEventKind> {
    payloads!(tag, RuntimeEventKind {
        "initializeRuntime" => build!(InitializeRuntime {
            runtime_version: text(),
            runtime: maybe(text()),
            expert_name: text(),
            experts: some(text()),
            model: text(),
            temperature: maybe(finite()),
            max_steps: maybe(count()),
            max_retries: count(),
            timeout: count(),
            query: maybe(text()),
            interactive_tool_call: maybe(build!(InteractiveToolCall {
                tool_name: text(),
                tool_call_id: text(),
                text: text(),
            })),
        }),
        "skillStarting" => build!(SkillStarting {
            skill_name: text(),
            command: text(),
            args: some(text()),
        }),
        "skillConnected" => build!(SkillConnected {
            skill_name: text(),
            server_info: maybe(build!(ServerInfo { name: text(), version: text() })),
            connect_duration_ms: maybe(finite()),
            total_duration_ms: maybe(finite()),
            spawn_duration_ms: maybe(finite()),
            handshake_duration_ms: maybe(finite()),
            tool_discovery_duration_ms: maybe(finite()),
        }),
        "skillStderr" => build!(SkillStderr { skill_name: text(), message: text() }),
        "skillDisconnected" => build!(SkillDisconnected { skill_name: text() }),
        "dockerBuildProgress" => build!(DockerBuildProgress {
            stage: word(&[
                BuildStage::Pulling,
                BuildStage::Building,
                BuildStage::Complete,
                BuildStage::Error,
            ]),
            service: text(),
            message: text(),
            progress: maybe(finite()),
        }),
        "dockerContainerStatus" => build!(DockerContainerStatus {
            status: word(&[
                ContainerStatus::Starting,
                ContainerStatus::Running,
                ContainerStatus::Healthy,
                ContainerStatus::Unhealthy,
                ContainerStatus::Stopped,
                ContainerStatus::Error,
            ]),
            service: text(),
            message: maybe(text()),
        }),
        "proxyAccess" => build!(ProxyAccess {
            action: word(&[ProxyAction::Allowed, ProxyAction::Blocked]),
            domain: text(),
            port: any::<u16>(),
            reason: maybe(text()),
        }),
        "apiRetry" => build!(ApiRetry {
            attempt: maybe(count()),
            max_attempts: maybe(count()),
            delay_ms: maybe(count()),
            status_code: maybe(any::<u16>()),
            reason: maybe(text()),
        }),
        "rateLimit" => build!(RateLimit {
            status: text(),
            limit_type: maybe(text()),
            resets_at: maybe(signed()),
            utilization: maybe(finite()),
        }),
        "permissionDenied" => build!(PermissionDenied {
            tool_name: text(),
            tool_call_id: maybe(tool_call_id()),
            message: maybe(text()),
        }),
        "compaction" => build!(Compaction {
            trigger: maybe(text()),
            pre_tokens: maybe(count()),
            post_tokens: maybe(count()),
            duration_ms: maybe(count()),
            message: maybe(text()),
        }),
        "hook" => build!(Hook {
            name: text(),
            event: maybe(text()),
            outcome: maybe(text()),
            exit_code: maybe(signed()),
            output: maybe(text()),
        }),
        "modelFallback" => build!(ModelFallback {
            from: maybe(text()),
            to: maybe(text()),
            reason: maybe(text()),
        }),
        "task" => build!(Task {
            task_id: maybe(text()),
            tool_call_id: maybe(tool_call_id()),
            status: text(),
            description: maybe(text()),
        }),
        "connection" => build!(Connection {
            state: text(),
            attempt: maybe(count()),
            endpoint: maybe(text()),
        }),
        "interaction" => build!(Interaction {
            phase: text(),
            query_type: text(),
            query_id: maybe(text()),
            // A null is left out, so it does not read back as itself.
            payload: maybe(named_object().prop_map(Value::from)),
        }),
        "warning" => build!(Warning { message: text() }),
        "earlierResult" => build!(EarlierResult {
            is_error: any::<bool>(),
            subtype: maybe(text()),
            text: maybe(text()),
        }),
        "historyMismatch" => build!(HistoryMismatch { field: text(), printed: text(), history: text() }),
        "exitMismatch" => build!(ExitMismatch { reported: text(), exit: text() }),
        "processExit" => build!(ProcessExit {
            exit_code: maybe(signed()),
            signal: maybe(text()),
            timed_out: any::<bool>(),
        }),
        "stderrText" => build!(StderrText { text: text() }),
        "stdoutText" => build!(StdoutText { text: text() }),
        "info" => build!(Info { topic: maybe(text()), message: text() }),
        "unparsedOutput" => build!(UnparsedOutput {
            stream: word(&[Stream::Stdout, Stream::Stderr]),
            line: count(),
            tag: maybe(text()),
            reason: text(),
            excerpt: maybe(text()),
        }),
        "streamText" => build!(StreamText {
            channel: word(&[StreamChannel::Text, StreamChannel::Thinking]),
            delta: text(),
        }),
        "streamToolCall" => build!(StreamToolCall {
            in_step: count(),
            tool_call_id: tool_call_id(),
            tool_name: tool_name(),
            args: json(),
        }),
        "streamToolResult" => build!(StreamToolResult {
            in_step: count(),
            tool_call_id: tool_call_id(),
            tool_name: tool_name(),
            is_error: maybe(any::<bool>()),
        }),
    } else unknown_runtime_event_kind)
}

fn unknown_runtime_event_kind(tag: &'static str) -> BoxedStrategy<RuntimeEventKind> {
    named_object()
        .prop_map(move |fields| {
            let mut event = json!({
                "id": "e", "timestamp": 0, "jobId": "j", "runId": "r", "type": tag,
            });
            add(&mut event, fields);
            let event: RuntimeEvent =
                serde_json::from_value(event).expect("an unknown type is read");
            event.kind
        })
        .boxed()
}
