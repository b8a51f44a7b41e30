//! Events of a run: what the model and its tools did, step by step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tagged::{tagged_enum, tagged_struct};
use crate::{
    AnswerMessage, Checkpoint, EventId, InputMessage, JobId, Message, RetryMessage, RunError,
    RunId, SpokenMessage, Step, ToolCall, ToolResult, Usage,
};

/// One event of a run, in Perstack's shape.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunEvent {
    /// Names the event.
    pub id: EventId,
    /// The expert that the run was given to.
    pub expert_key: String,
    /// When it happened, in milliseconds since 1970.
    pub timestamp: i64,
    /// The job.
    pub job_id: JobId,
    /// The run.
    pub run_id: RunId,
    /// The step, counted from 1.
    pub step_number: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: RunEventKind,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Base {
    id: EventId,
    expert_key: String,
    timestamp: i64,
    job_id: JobId,
    run_id: RunId,
    step_number: u64,
}

tagged_struct!(
    RunEvent,
    RunEventKind,
    Base {
        id: "id",
        expert_key: "expertKey",
        timestamp: "timestamp",
        job_id: "jobId",
        run_id: "runId",
        step_number: "stepNumber",
    }
);

tagged_enum! {
    /// What happened in a run.
    pub enum RunEventKind by "type" {
        /// The run began.
        "startRun" => StartRun(StartRun),
        /// The model was asked.
        "startGeneration" => StartGeneration(StartGeneration),
        /// The model's answer could not be used and it was asked again.
        "retry" => Retry(Retry),
        /// The model called tools.
        "callTools" => CallTools(CallTools),
        /// The model called a tool that a person has to answer.
        "callInteractiveTool" => CallInteractiveTool(CallInteractiveTool),
        /// The model handed work to other experts.
        "callDelegate" => CallDelegate(CallDelegate),
        /// The tools gave back their results.
        "resolveToolResults" => ResolveToolResults(ResolveToolResults),
        /// The model said that it is done.
        "attemptCompletion" => AttemptCompletion(AttemptCompletion),
        /// The results were put into a message.
        "finishToolCall" => FinishToolCall(FinishToolCall),
        /// Calls that were pending go on.
        "resumeToolCalls" => ResumeToolCalls(ResumeToolCalls),
        /// All pending calls have their results.
        "finishAllToolCalls" => FinishAllToolCalls(FinishAllToolCalls),
        /// The step ended and another follows.
        "continueToNextStep" => ContinueToNextStep(Box<ContinueToNextStep>),
        /// The run waits for an interactive tool.
        "stopRunByInteractiveTool" => StopRunByInteractiveTool(StopRunByInteractiveTool),
        /// The run waits for another expert.
        "stopRunByDelegate" => StopRunByDelegate(StopRunByDelegate),
        /// The run reached its turn limit.
        "stopRunByExceededMaxSteps" => StopRunByExceededMaxSteps(StopRunByExceededMaxSteps),
        /// The run failed.
        "stopRunByError" => StopRunByError(StopRunByError),
        /// The run ended with an answer.
        "completeRun" => CompleteRun(CompleteRun),
        /// Reasoning begins to arrive.
        "startStreamingReasoning" => StartStreamingReasoning(StartStreamingReasoning),
        /// A piece of reasoning arrived.
        "streamReasoning" => StreamReasoning(StreamReasoning),
        /// The reasoning is complete.
        "completeStreamingReasoning" => CompleteStreamingReasoning(CompleteStreamingReasoning),
        /// The answer begins to arrive.
        "startStreamingRunResult" => StartStreamingRunResult(StartStreamingRunResult),
        /// A piece of the answer arrived.
        "streamRunResult" => StreamRunResult(StreamRunResult),
        /// The answer is complete.
        "completeStreamingRunResult" => CompleteStreamingRunResult(CompleteStreamingRunResult),
    }
}

impl RunEventKind {
    /// Tells whether a run is over with this event.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(
            self,
            Self::CompleteRun(_)
                | Self::StopRunByError(_)
                | Self::StopRunByExceededMaxSteps(_)
                | Self::StopRunByInteractiveTool(_)
                | Self::StopRunByDelegate(_)
        )
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
    /// The run began.
    StartRun {
        /// The state before the first step.
        initial_checkpoint: Checkpoint,
        /// What the run was given: instruction, user or tool messages.
        input_messages: Vec<InputMessage>,
    }
    /// The model was asked.
    StartGeneration {
        /// What it was asked with.
        messages: Vec<Message>,
    }
    /// The model's answer could not be used and it was asked again.
    Retry {
        /// Why.
        reason: String,
        /// The messages that tell the model so.
        new_messages: Vec<RetryMessage>,
        /// The calls it had made.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_calls: Option<Vec<ToolCall>>,
        /// What they gave back.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_results: Option<Vec<ToolResult>>,
        /// What the unusable answer used.
        usage: Usage,
    }
    /// The model called tools, all calls of one turn together.
    CallTools {
        /// What the model said, calls included.
        new_message: SpokenMessage,
        /// The calls.
        tool_calls: Vec<ToolCall>,
        /// What this turn of the model used.
        usage: Usage,
    }
    /// The model called a tool that a person has to answer.
    CallInteractiveTool {
        /// What the model said, the call included.
        new_message: SpokenMessage,
        /// The call.
        tool_call: ToolCall,
        /// What this turn of the model used.
        usage: Usage,
    }
    /// The model handed work to other experts.
    CallDelegate {
        /// What the model said, calls included.
        new_message: SpokenMessage,
        /// The calls.
        tool_calls: Vec<ToolCall>,
        /// What this turn of the model used.
        usage: Usage,
    }
    /// The tools gave back their results.
    ResolveToolResults {
        /// The results.
        tool_results: Vec<ToolResult>,
    }
    /// The model said that it is done.
    AttemptCompletion {
        /// The result of the call by which it said so.
        tool_result: ToolResult,
    }
    /// The results were put into a message.
    FinishToolCall {
        /// The user or tool messages that hold them.
        new_messages: Vec<AnswerMessage>,
    }
    /// Calls that were pending go on.
    ResumeToolCalls {
        /// The calls.
        pending_tool_calls: Vec<ToolCall>,
        /// Results that were there already.
        partial_tool_results: Vec<ToolResult>,
    }
    /// All pending calls have their results.
    FinishAllToolCalls {
        /// The user or tool messages that hold them.
        new_messages: Vec<AnswerMessage>,
    }
    /// The step ended and another follows.
    ContinueToNextStep {
        /// The state at the end of the step.
        checkpoint: Checkpoint,
        /// The step.
        step: Step,
        /// The state the next step begins with; its id is that of the next step's checkpoint.
        next_checkpoint: Checkpoint,
    }
    /// The run waits for an interactive tool.
    StopRunByInteractiveTool {
        /// The state at the end.
        checkpoint: Checkpoint,
        /// The last step.
        step: Step,
    }
    /// The run waits for another expert.
    StopRunByDelegate {
        /// The state at the end.
        checkpoint: Checkpoint,
        /// The last step.
        step: Step,
    }
    /// The run reached its turn limit.
    StopRunByExceededMaxSteps {
        /// The state at the end.
        checkpoint: Checkpoint,
        /// The last step.
        step: Step,
    }
    /// The run failed.
    StopRunByError {
        /// The state at the end.
        checkpoint: Checkpoint,
        /// The last step.
        step: Step,
        /// Why.
        error: RunError,
    }
    /// The run ended with an answer.
    CompleteRun {
        /// The state at the end.
        checkpoint: Checkpoint,
        /// The last step.
        step: Step,
        /// The answer.
        text: String,
        /// What the last turn of the model used.
        usage: Usage,
    }
    /// Reasoning begins to arrive.
    StartStreamingReasoning {}
    /// A piece of reasoning arrived.
    StreamReasoning {
        /// The piece, to be appended.
        delta: String,
    }
    /// The reasoning is complete.
    CompleteStreamingReasoning {
        /// All of it.
        text: String,
    }
    /// The answer begins to arrive.
    StartStreamingRunResult {}
    /// A piece of the answer arrived.
    StreamRunResult {
        /// The piece, to be appended.
        delta: String,
    }
    /// The answer is complete.
    CompleteStreamingRunResult {
        /// All of it.
        text: String,
    }
}
