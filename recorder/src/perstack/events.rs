//! What the event files of a run tell beyond its checkpoints.

use std::collections::HashMap;

use runtape_core::{
    AnswerMessage, Checkpoint, CheckpointId, InputMessage, Message, MessageId, RunError, RunEvent,
    RunEventKind, Step, Usage,
};

/// How a run began.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    pub(super) at: i64,
    /// The state before the first step; a run that continues another has messages here.
    pub(super) initial: Checkpoint,
    /// What the run was given.
    pub(super) inputs: Vec<Message>,
}

/// How a step ended.
#[derive(Clone, Debug)]
pub(super) struct ToldStepEnd {
    pub(super) at: i64,
    pub(super) started_at: i64,
    pub(super) usage: Usage,
    pub(super) text: Option<String>,
    pub(super) error: Option<RunError>,
}

/// A try of the model that could not be used.
#[derive(Clone, Debug)]
pub(super) struct FailedTry {
    pub(super) at: i64,
    /// The step's number in the job.
    pub(super) number: u64,
    pub(super) reason: String,
}

/// What the events of a run tell beyond its checkpoints: times, mostly.
#[derive(Clone, Debug, Default)]
pub(super) struct EventFacts {
    pub(super) beginning: Option<Beginning>,
    /// When a message was complete.
    said: HashMap<MessageId, i64>,
    /// When the model was asked, by the step's number in the job.
    asked: HashMap<u64, i64>,
    ends: HashMap<CheckpointId, ToldStepEnd>,
    pub(super) retries: Vec<FailedTry>,
}

impl EventFacts {
    /// Takes the next event; only what is not in the checkpoints stays. Returns the checkpoint that
    /// the event holds.
    pub(super) fn push(&mut self, event: RunEvent, at: i64) -> Option<CheckpointId> {
        let number = event.step_number;
        let ended = match event.kind {
            RunEventKind::ContinueToNextStep(end) => {
                self.end(&end.checkpoint, &end.step, at, None, None)
            }
            RunEventKind::CompleteRun(end) => {
                self.end(&end.checkpoint, &end.step, at, Some(end.text), None)
            }
            RunEventKind::StopRunByError(end) => {
                self.end(&end.checkpoint, &end.step, at, None, Some(end.error))
            }
            RunEventKind::StopRunByExceededMaxSteps(end) => {
                self.end(&end.checkpoint, &end.step, at, None, None)
            }
            RunEventKind::StopRunByInteractiveTool(end) => {
                self.end(&end.checkpoint, &end.step, at, None, None)
            }
            RunEventKind::StopRunByDelegate(end) => {
                self.end(&end.checkpoint, &end.step, at, None, None)
            }
            kind => {
                self.happened(kind, number, at);
                return None;
            }
        };
        Some(ended)
    }

    fn happened(&mut self, kind: RunEventKind, number: u64, at: i64) {
        match kind {
            RunEventKind::StartRun(start) if self.beginning.is_none() => {
                let inputs = start.input_messages.into_iter().map(given).collect();
                self.beginning = Some(Beginning {
                    at,
                    initial: start.initial_checkpoint,
                    inputs,
                });
            }
            RunEventKind::StartGeneration(_) => {
                self.asked.entry(number).or_insert(at);
            }
            RunEventKind::CallTools(call) => self.note(call.new_message.id(), at),
            RunEventKind::CallInteractiveTool(call) => self.note(call.new_message.id(), at),
            RunEventKind::CallDelegate(call) => self.note(call.new_message.id(), at),
            RunEventKind::FinishToolCall(answer) => self.answered(&answer.new_messages, at),
            RunEventKind::FinishAllToolCalls(answer) => self.answered(&answer.new_messages, at),
            RunEventKind::Retry(retry) => self.retries.push(FailedTry {
                at,
                number,
                reason: retry.reason,
            }),
            // The rest follows from messages by rule, or is live only.
            _ => {}
        }
    }

    fn note(&mut self, message: &MessageId, at: i64) {
        self.said.insert(message.clone(), at);
    }

    fn answered(&mut self, messages: &[AnswerMessage], at: i64) {
        for message in messages {
            self.note(message.id(), at);
        }
    }

    fn end(
        &mut self,
        checkpoint: &Checkpoint,
        step: &Step,
        at: i64,
        text: Option<String>,
        error: Option<RunError>,
    ) -> CheckpointId {
        let end = ToldStepEnd {
            at,
            started_at: step.started_at,
            usage: step.usage,
            text,
            error,
        };
        self.ends.insert(checkpoint.id.clone(), end);
        checkpoint.id.clone()
    }

    /// Returns how the step of a checkpoint ended.
    pub(super) fn end_of(&self, checkpoint: &CheckpointId) -> Option<&ToldStepEnd> {
        self.ends.get(checkpoint)
    }

    /// Returns when a message was complete: of the first one of a step's, when the model was asked.
    pub(super) fn time_of(&self, message: &MessageId, first_of: Option<u64>) -> Option<i64> {
        let asked = || self.asked.get(&first_of?);
        self.said.get(message).or_else(asked).copied()
    }
}

fn given(message: InputMessage) -> Message {
    match message {
        InputMessage::InstructionMessage(message) => message.into(),
        InputMessage::UserMessage(message) => message.into(),
        InputMessage::ToolMessage(message) => message.into(),
    }
}
