//! Events around a run: the runtime's start, its notices, and what it printed besides.
//!
//! Eight types are Perstack's; the others are ours, for what agent CLIs report of themselves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tagged::{tagged_enum, tagged_struct};
use crate::{EventId, JobId, RunId, Stream, ToolCallId, ToolName};

/// One event around a run, in Perstack's shape.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeEvent {
    /// Names the event.
    pub id: EventId,
    /// When it happened, in milliseconds since 1970.
    pub timestamp: i64,
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// What happened.
    #[serde(flatten)]
    pub kind: RuntimeEventKind,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Base {
    id: EventId,
    timestamp: i64,
    job_id: JobId,
    run_id: RunId,
}

tagged_struct!(
    RuntimeEvent,
    RuntimeEventKind,
    Base {
        id: "id",
        timestamp: "timestamp",
        job_id: "jobId",
        run_id: "runId",
    }
);

tagged_enum! {
    /// What happened around a run.
    pub enum RuntimeEventKind by "type" {
        /// The runtime is ready.
        "initializeRuntime" => InitializeRuntime(Box<InitializeRuntime>),
        /// A skill is being started.
        "skillStarting" => SkillStarting(SkillStarting),
        /// A skill is connected.
        "skillConnected" => SkillConnected(Box<SkillConnected>),
        /// A skill wrote to its error output.
        "skillStderr" => SkillStderr(SkillStderr),
        /// A skill is gone.
        "skillDisconnected" => SkillDisconnected(SkillDisconnected),
        /// A container is being built.
        "dockerBuildProgress" => DockerBuildProgress(DockerBuildProgress),
        /// A container changed its state.
        "dockerContainerStatus" => DockerContainerStatus(DockerContainerStatus),
        /// A container asked for a host.
        "proxyAccess" => ProxyAccess(ProxyAccess),
        /// The runtime tries a model request again.
        "apiRetry" => ApiRetry(ApiRetry),
        /// The runtime reported a rate limit.
        "rateLimit" => RateLimit(RateLimit),
        /// A tool call was denied.
        "permissionDenied" => PermissionDenied(PermissionDenied),
        /// The conversation was compacted.
        "compaction" => Compaction(Compaction),
        /// A hook ran.
        "hook" => Hook(Hook),
        /// Another model took over.
        "modelFallback" => ModelFallback(ModelFallback),
        /// A sub-agent or background task began, went on or ended.
        "task" => Task(Task),
        /// The connection to the model's service changed.
        "connection" => Connection(Connection),
        /// The runtime asked its user something, or was answered.
        "interaction" => Interaction(Interaction),
        /// The runtime warned.
        "warning" => Warning(Warning),
        /// A result that was not the run's last.
        "earlierResult" => EarlierResult(EarlierResult),
        /// The exit of the process does not fit the result it printed.
        "exitMismatch" => ExitMismatch(ExitMismatch),
        /// What was printed does not fit what the runtime's session files say.
        "historyMismatch" => HistoryMismatch(HistoryMismatch),
        /// The process ended.
        "processExit" => ProcessExit(ProcessExit),
        /// Text on the error output.
        "stderrText" => StderrText(StderrText),
        /// Text on the output that is no event of the runtime.
        "stdoutText" => StdoutText(StdoutText),
        /// A notice of the runtime without further meaning.
        "info" => Info(Info),
        /// Output that no parser understood.
        "unparsedOutput" => UnparsedOutput(UnparsedOutput),
        /// A piece of text or reasoning arrived. Live only.
        "streamText" => StreamText(StreamText),
        /// The model called a tool, whose step goes on. Live only: `callTools` follows when the step is over.
        "streamToolCall" => StreamToolCall(StreamToolCall),
        /// A tool gave back its result, and the step goes on. Live only: `resolveToolResults` follows when the step
        /// is over.
        "streamToolResult" => StreamToolResult(StreamToolResult),
    }
}

// The two that are far larger than the others are boxed: every record has room for any event, and
// most records are none.
impl From<InitializeRuntime> for RuntimeEventKind {
    fn from(payload: InitializeRuntime) -> Self {
        Box::new(payload).into()
    }
}

impl From<SkillConnected> for RuntimeEventKind {
    fn from(payload: SkillConnected) -> Self {
        Box::new(payload).into()
    }
}

macro_rules! payload {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "camelCase")]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $type,)*
            }
        )*
    };
}

payload! {
    /// The runtime is ready.
    InitializeRuntime {
        /// The runtime's version; `external:` and the runtime's name for an agent CLI.
        runtime_version: String,
        /// The runtime's name.
        #[serde(skip_serializing_if = "Option::is_none")]
        runtime: Option<String>,
        /// The expert's name for people.
        expert_name: String,
        /// The experts at hand.
        experts: Vec<String>,
        /// The model; the runtime's name and `:default` where it is not known.
        model: String,
        /// The model's temperature. Perstack dropped the field in 2025-12; 0 here.
        #[serde(skip_serializing_if = "crate::omission::unless_finite")]
        temperature: Option<f64>,
        /// The most steps allowed.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_steps: Option<u64>,
        /// How often a request is tried again.
        max_retries: u64,
        /// The time limit in milliseconds, 0 for none known.
        timeout: u64,
        /// What was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// The answer to an interactive tool that the run goes on with.
        #[serde(skip_serializing_if = "Option::is_none")]
        interactive_tool_call: Option<InteractiveToolCall>,
    }
    /// The answer to an interactive tool.
    InteractiveToolCall {
        /// The tool's name.
        tool_name: String,
        /// The call.
        tool_call_id: String,
        /// The answer.
        text: String,
    }
    /// A skill is being started.
    SkillStarting {
        /// The skill.
        skill_name: String,
        /// The command that runs it.
        command: String,
        /// The command's arguments.
        args: Vec<String>,
    }
    /// A skill is connected.
    SkillConnected {
        /// The skill.
        skill_name: String,
        /// What the skill's server says of itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        server_info: Option<ServerInfo>,
        /// Milliseconds to connect.
        #[serde(skip_serializing_if = "crate::omission::unless_finite")]
        connect_duration_ms: Option<f64>,
        /// Milliseconds in all.
        #[serde(skip_serializing_if = "crate::omission::unless_finite")]
        total_duration_ms: Option<f64>,
        /// Milliseconds to start the process.
        #[serde(skip_serializing_if = "crate::omission::unless_finite")]
        spawn_duration_ms: Option<f64>,
        /// Milliseconds for the handshake.
        #[serde(skip_serializing_if = "crate::omission::unless_finite")]
        handshake_duration_ms: Option<f64>,
        /// Milliseconds to list the tools.
        #[serde(skip_serializing_if = "crate::omission::unless_finite")]
        tool_discovery_duration_ms: Option<f64>,
    }
    /// What a skill's server says of itself.
    ServerInfo {
        /// The server's name.
        name: String,
        /// The server's version.
        version: String,
    }
    /// A skill wrote to its error output.
    SkillStderr {
        /// The skill.
        skill_name: String,
        /// What it wrote.
        message: String,
    }
    /// A skill is gone.
    SkillDisconnected {
        /// The skill.
        skill_name: String,
    }
    /// A container is being built.
    DockerBuildProgress {
        /// How far it is.
        stage: BuildStage,
        /// The container's service.
        service: String,
        /// What is being done.
        message: String,
        /// How much is done.
        #[serde(skip_serializing_if = "crate::omission::unless_finite")]
        progress: Option<f64>,
    }
    /// A container changed its state.
    DockerContainerStatus {
        /// The new state.
        status: ContainerStatus,
        /// The container's service.
        service: String,
        /// More on it.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    }
    /// A container asked for a host.
    ProxyAccess {
        /// Whether it was let through.
        action: ProxyAction,
        /// The host.
        domain: String,
        /// The port.
        port: u16,
        /// Why it was blocked.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// The runtime tries a model request again.
    ApiRetry {
        /// Which try failed, counted from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u64>,
        /// How many tries there will be at the most.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_attempts: Option<u64>,
        /// Milliseconds until the next try.
        #[serde(skip_serializing_if = "Option::is_none")]
        delay_ms: Option<u64>,
        /// The HTTP status that made it necessary.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_code: Option<u16>,
        /// What the runtime said about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// The runtime reported a rate limit.
    RateLimit {
        /// Whether the request went through: `allowed`, `allowed_warning`, `rejected` or other words of the runtime.
        status: String,
        /// Which limit.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit_type: Option<String>,
        /// When it ends, in milliseconds since 1970.
        #[serde(skip_serializing_if = "Option::is_none")]
        resets_at: Option<i64>,
        /// How much of it is used, from 0 to 1.
        #[serde(skip_serializing_if = "crate::omission::unless_finite")]
        utilization: Option<f64>,
    }
    /// A tool call was denied.
    PermissionDenied {
        /// The tool's name.
        tool_name: String,
        /// The call.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    }
    /// The conversation was compacted.
    Compaction {
        /// What set it off.
        #[serde(skip_serializing_if = "Option::is_none")]
        trigger: Option<String>,
        /// Tokens before.
        #[serde(skip_serializing_if = "Option::is_none")]
        pre_tokens: Option<u64>,
        /// Tokens after.
        #[serde(skip_serializing_if = "Option::is_none")]
        post_tokens: Option<u64>,
        /// How long it took.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// What the runtime said about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    }
    /// A hook ran.
    Hook {
        /// The hook's name.
        name: String,
        /// What it was run for.
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<String>,
        /// How far it is: `started`, or how it ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<String>,
        /// Its exit code.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        /// What it printed.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<String>,
    }
    /// Another model took over.
    ModelFallback {
        /// The model that was to answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// The model that does.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<String>,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// A sub-agent or background task began, went on or ended.
    Task {
        /// Names the task, in the runtime's words.
        #[serde(skip_serializing_if = "Option::is_none")]
        task_id: Option<String>,
        /// The call that started it.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
        /// How far it is: `started`, `progress`, `completed`, `failed` or other words of the runtime.
        status: String,
        /// What it does, or what came of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    }
    /// The connection to the model's service changed.
    Connection {
        /// The new state, in the runtime's words.
        state: String,
        /// Which try.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u64>,
        /// The other side.
        #[serde(skip_serializing_if = "Option::is_none")]
        endpoint: Option<String>,
    }
    /// The runtime asked its user something, or was answered.
    Interaction {
        /// `request` or `response`.
        phase: String,
        /// What kind of question.
        query_type: String,
        /// Names the question.
        #[serde(skip_serializing_if = "Option::is_none")]
        query_id: Option<String>,
        /// The question or the answer, as it was printed.
        #[serde(skip_serializing_if = "crate::omission::unless_present")]
        #[schemars(schema_with = "crate::omission::present_schema")]
        payload: Option<Value>,
    }
    /// The runtime warned.
    Warning {
        /// What it said.
        message: String,
    }
    /// A result that was not the run's last.
    EarlierResult {
        /// Whether it reports a failure.
        is_error: bool,
        /// The runtime's word for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        subtype: Option<String>,
        /// Its text.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    }
    /// The exit of the process does not fit the result it printed.
    ExitMismatch {
        /// What the printed result says.
        reported: String,
        /// What the exit says.
        exit: String,
    }
    /// What was printed does not fit what the runtime's session files say.
    HistoryMismatch {
        /// The field that they tell in two ways.
        field: String,
        /// What was printed.
        printed: String,
        /// What the session files say.
        history: String,
    }
    /// The process ended.
    ProcessExit {
        /// The exit code.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        /// The signal that ended it.
        #[serde(skip_serializing_if = "Option::is_none")]
        signal: Option<String>,
        /// Whether a time limit was reached.
        timed_out: bool,
    }
    /// Text on the error output.
    StderrText {
        /// The text.
        text: String,
    }
    /// Text on the output that is no event of the runtime.
    StdoutText {
        /// The text.
        text: String,
    }
    /// A notice of the runtime without further meaning.
    Info {
        /// What kind of notice, in the runtime's words.
        #[serde(skip_serializing_if = "Option::is_none")]
        topic: Option<String>,
        /// What it said.
        message: String,
    }
    /// Output that no parser understood. The recorded raw output has all of it.
    UnparsedOutput {
        /// On which stream.
        stream: Stream,
        /// The line, counted from 1.
        line: u64,
        /// The type that the line names, where it does.
        #[serde(skip_serializing_if = "Option::is_none")]
        tag: Option<String>,
        /// Why it was not understood.
        reason: String,
        /// The beginning of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        excerpt: Option<String>,
    }
    /// A piece of text or reasoning arrived. Live only.
    StreamText {
        /// What it is a piece of.
        channel: StreamChannel,
        /// The piece, to be appended.
        delta: String,
    }
    /// The model called a tool, whose step goes on. Live only.
    StreamToolCall {
        /// The step.
        in_step: u64,
        /// Names the call.
        tool_call_id: ToolCallId,
        /// The tool.
        tool_name: ToolName,
        /// What it was given, as far as it is known, any JSON.
        args: Value,
    }
    /// A tool gave back its result, and the step goes on. Live only.
    StreamToolResult {
        /// The step.
        in_step: u64,
        /// The call that it answers.
        tool_call_id: ToolCallId,
        /// The tool.
        tool_name: ToolName,
        /// Whether the call failed; absent where the runtime did not tell.
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    }
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "camelCase")]
            pub enum $name {
                $($(#[$variant_doc])* $variant,)*
            }
        )*
    };
}

words! {
    /// How far the build of a container is.
    BuildStage {
        /// The image is being fetched.
        Pulling,
        /// The image is being built.
        Building,
        /// Done.
        Complete,
        /// Failed.
        Error,
    }
    /// The state of a container.
    ContainerStatus {
        /// It is being started.
        Starting,
        /// It runs.
        Running,
        /// It runs and answers.
        Healthy,
        /// It runs and does not answer.
        Unhealthy,
        /// It has ended.
        Stopped,
        /// It failed.
        Error,
    }
    /// What a proxy did with a request.
    ProxyAction {
        /// Let it through.
        Allowed,
        /// Refused it.
        Blocked,
    }
    /// What a streamed piece belongs to.
    StreamChannel {
        /// Text of the model. Whether it is the answer is not known yet.
        Text,
        /// Reasoning of the model.
        Thinking,
    }
}
