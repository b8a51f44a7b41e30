//! Full events back to records: the way back from what [`materialize`](crate::materialize()) made.
//!
//! Events do not say everything that records do. Places on the tape, what is known of calls beyond
//! their arguments, and which response used how many tokens are lost.

use serde_json::{Map, Value};

use crate::record::{
    CheckpointHead, EventRecord, Initialize, MessageRecord, MetadataPatch, RunOpened, Start,
    UsageEntry, UsageSource,
};
use crate::runtime_event::InitializeRuntime;
use crate::{
    Checkpoint, CoreError, Event, InputMessage, Message, Metadata, Record, RecordKind, RunEvent,
    RunEventKind, RunId, Runtime, RuntimeEvent, RuntimeEventKind, Step, TokenCounts, Usage,
};

/// Makes records from the events of one run, in order.
#[derive(Debug, Default)]
pub struct Restorer {
    run: Option<RunId>,
    next_seq: u64,
    /// What came before the run was opened.
    early: Vec<RuntimeEvent>,
    metadata: Metadata,
    /// Messages that are records already.
    messages: usize,
    /// What steps used so far.
    counted: TokenCounts,
    step: u64,
    has_ended: bool,
}

impl Restorer {
    /// Creates a restorer for one run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells whether the last event of the run was seen.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Takes the next event and returns the records that it stands for.
    pub fn push(&mut self, event: Event) -> Result<Vec<Record>, CoreError> {
        if self.has_ended {
            return Err(self.broken(event.run_id(), "the run has ended already"));
        }
        match event {
            Event::Run(event) => self.run_event(event),
            Event::Runtime(event) if self.run.is_none() => {
                self.early.push(event);
                Ok(Vec::new())
            }
            Event::Runtime(event) => {
                let mut records = Vec::new();
                self.around(event, &mut records);
                Ok(records)
            }
        }
    }

    fn broken(&self, run: &RunId, fault: &str) -> CoreError {
        CoreError::BrokenRun {
            run: run.to_string(),
            seq: self.next_seq,
            fault: fault.to_owned(),
        }
    }

    fn run_event(&mut self, event: RunEvent) -> Result<Vec<Record>, CoreError> {
        let (at, run_id) = (event.timestamp, event.run_id);
        let mut records = Vec::new();
        let (checkpoint, step, text) = match event.kind {
            RunEventKind::StartRun(_) if self.run.is_some() => {
                return Err(self.broken(&run_id, "the run is open already"));
            }
            RunEventKind::StartRun(start) => {
                let inputs = start.input_messages;
                let inputs = inputs.into_iter().map(input).collect();
                self.open(&run_id, at, &start.initial_checkpoint, inputs, &mut records);
                return Ok(records);
            }
            RunEventKind::ContinueToNextStep(next) => (next.checkpoint, next.step, None),
            RunEventKind::CompleteRun(end) => (end.checkpoint, end.step, Some(end.text)),
            RunEventKind::StopRunByError(end) => {
                let mut checkpoint = end.checkpoint;
                checkpoint.error.get_or_insert(end.error);
                (checkpoint, end.step, None)
            }
            RunEventKind::StopRunByExceededMaxSteps(end) => (end.checkpoint, end.step, None),
            RunEventKind::StopRunByInteractiveTool(end) => (end.checkpoint, end.step, None),
            RunEventKind::StopRunByDelegate(end) => (end.checkpoint, end.step, None),
            // Everything else follows from the checkpoint at the end of its step.
            _ => return Ok(records),
        };
        if self.run.is_none() {
            self.open(&run_id, at, &checkpoint, Vec::new(), &mut records);
        }
        self.end_step(at, checkpoint, &step, text, &mut records);
        Ok(records)
    }

    fn record(&mut self, at: i64, kind: impl Into<RecordKind>, records: &mut Vec<Record>) {
        if let Some(run_id) = self.run.clone() {
            records.push(Record {
                run_id,
                seq: self.next_seq,
                at,
                span: None,
                kind: kind.into(),
            });
            self.next_seq += 1;
        }
    }

    fn open(
        &mut self,
        run_id: &RunId,
        at: i64,
        first: &Checkpoint,
        inputs: Vec<Message>,
        records: &mut Vec<Record>,
    ) {
        self.run = Some(run_id.clone());
        let metadata = first.metadata.clone().unwrap_or_default();
        let early = std::mem::take(&mut self.early);
        let initialized = early.iter().find_map(|event| match &event.kind {
            RuntimeEventKind::InitializeRuntime(initialize) => Some(initialize),
            _ => None,
        });
        let named = initialized.and_then(|event| event.runtime.as_deref());
        let runtime = metadata.runtime().or(named.map(Runtime::from_name));
        let runtime = runtime.unwrap_or(Runtime::Local);
        let begun = early.first().map_or(at, |event| event.timestamp);
        let opened = RunOpened {
            job_id: first.job_id.clone(),
            runtime: runtime.clone(),
            delegated_by: first.delegated_by.clone().map(Box::new),
        };
        self.record(begun, opened, records);
        self.metadata = Metadata::for_runtime(&runtime);
        self.learn(begun, &metadata, records);
        let initialize = Initialize {
            expert: first.expert.clone(),
            model: initialized.and_then(|event| model(event, &runtime)),
            query: initialized.and_then(|event| event.query.clone()),
        };
        self.record(begun, initialize, records);
        for event in early {
            self.around(event, records);
        }
        self.step = 1;
        for message in inputs {
            self.say(at, 1, message, records);
        }
        self.record(at, Start {}, records);
    }

    /// Adds what the metadata says now and did not say before.
    fn learn(&mut self, at: i64, metadata: &Metadata, records: &mut Vec<Record>) {
        let news = metadata.beyond(&self.metadata);
        // The names of unknown counters follow from the checkpoint.
        let news = news.filter(|(key, _)| *key != "usageUnknown");
        let news = news.map(|(key, value)| (key.to_owned(), value.clone()));
        let set = Metadata::from(news.collect::<Map<String, Value>>());
        if !set.is_empty() {
            self.metadata.merge(&set);
            self.record(at, MetadataPatch { set }, records);
        }
    }

    fn around(&mut self, event: RuntimeEvent, records: &mut Vec<Record>) {
        if matches!(event.kind, RuntimeEventKind::InitializeRuntime(_)) {
            return;
        }
        let kept = EventRecord {
            step: self.step,
            event: event.kind,
        };
        self.record(event.timestamp, kept, records);
    }

    fn say(&mut self, at: i64, step: u64, message: Message, records: &mut Vec<Record>) {
        let said = message.timestamp();
        let record = MessageRecord::new(step, message);
        self.messages += 1;
        self.record(said.unwrap_or(at), record, records);
    }

    /// Adds what the run used beyond its steps.
    fn remainder(&mut self, at: i64, usage: TokenCounts, records: &mut Vec<Record>) {
        let rest = usage.beyond(self.counted);
        if self.counted.plus(rest) != self.counted {
            let entry = UsageEntry {
                key: "remainder".to_owned(),
                source: UsageSource::Remainder,
                step: None,
                model: None,
                of_session: false,
                counts: rest,
            };
            self.record(at, entry, records);
        }
    }

    fn end_step(
        &mut self,
        at: i64,
        checkpoint: Checkpoint,
        step: &Step,
        text: Option<String>,
        records: &mut Vec<Record>,
    ) {
        let number = checkpoint.step_number;
        let metadata = checkpoint.metadata.unwrap_or_default();
        let unknown = metadata.usage_unknown();
        let usage = known(&checkpoint.usage, &unknown);
        let step_usage = stated(&step.usage);
        if !step_usage.is_unknown() {
            let entry = UsageEntry {
                key: format!("step-{number}"),
                source: UsageSource::Total,
                step: Some(number),
                model: self.metadata.model().map(str::to_owned),
                of_session: false,
                counts: step_usage,
            };
            self.counted = self.counted.plus(step_usage);
            self.record(at, entry, records);
        }
        if checkpoint.status.is_terminal() {
            self.remainder(at, usage, records);
        }
        let spoken = checkpoint
            .messages
            .iter()
            .rev()
            .find_map(Message::as_expert);
        let spoken = spoken.map(|message| message.text());
        let text = text.filter(|text| Some(text) != spoken.as_ref() && !text.is_empty());
        let count = checkpoint.messages.len();
        for message in checkpoint.messages.into_iter().skip(self.messages) {
            self.say(at, number, message, records);
        }
        self.learn(at, &metadata, records);
        let pending = checkpoint.pending_tool_calls.into_iter().flatten();
        let head = CheckpointHead {
            step: number,
            status: checkpoint.status,
            messages: count as u64,
            usage,
            step_usage,
            started_at: step.started_at,
            pending: pending.map(|call| call.id).collect(),
            text,
            error: checkpoint.error,
        };
        self.has_ended = checkpoint.status.is_terminal();
        self.step = number + 1;
        self.record(at, Box::new(head), records);
    }
}

fn input(message: InputMessage) -> Message {
    match message {
        InputMessage::InstructionMessage(message) => Message::InstructionMessage(message),
        InputMessage::UserMessage(message) => Message::UserMessage(message),
        InputMessage::ToolMessage(message) => Message::ToolMessage(message),
    }
}

/// Returns the model, unless the name only says that it is not known.
fn model(event: &InitializeRuntime, runtime: &Runtime) -> Option<String> {
    let default = format!("{}:default", runtime.as_str());
    (event.model != default).then(|| event.model.clone())
}

/// Returns the counters of a step that are not zero: there, zero also stands for what nobody knows.
fn stated(usage: &Usage) -> TokenCounts {
    let counter = |count: u64| i64::try_from(count).ok().filter(|count| *count > 0);
    TokenCounts {
        input_tokens: counter(usage.input_tokens),
        output_tokens: counter(usage.output_tokens),
        reasoning_tokens: counter(usage.reasoning_tokens),
        cached_input_tokens: counter(usage.cached_input_tokens),
        ..TokenCounts::default()
    }
}

/// Returns the counters that somebody reported.
fn known(usage: &Usage, unknown: &[&str]) -> TokenCounts {
    let counter = |name: &str, count: u64| {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        (!unknown.contains(&name)).then_some(count)
    };
    TokenCounts {
        input_tokens: counter("inputTokens", usage.input_tokens),
        output_tokens: counter("outputTokens", usage.output_tokens),
        reasoning_tokens: counter("reasoningTokens", usage.reasoning_tokens),
        cached_input_tokens: counter("cachedInputTokens", usage.cached_input_tokens),
        ..TokenCounts::default()
    }
}
