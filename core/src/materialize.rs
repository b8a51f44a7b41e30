//! Records to full events and checkpoints, in Perstack's shape.
//!
//! Full state per step is quadratic by nature, so it is made here, on demand and one record at a
//! time, and never stored. Messages are shared: each stands in memory once.

use std::collections::{HashMap, HashSet};

use crate::record::{CheckpointHead, Initialize, MessageRecord, RunOpened};
use crate::run_event::{
    CallTools, CompleteRun, CompleteStreamingReasoning, CompleteStreamingRunResult,
    ContinueToNextStep, FinishToolCall, ResolveToolResults, StartGeneration, StartRun,
    StartStreamingReasoning, StartStreamingRunResult, StopRunByDelegate, StopRunByError,
    StopRunByExceededMaxSteps, StopRunByInteractiveTool,
};
use crate::runtime_event::InitializeRuntime;
use crate::{
    Checkpoint, CheckpointId, CheckpointStatus, CoreError, Event, EventId, Expert, InputMessage,
    Message, Metadata, Record, RecordKind, RunEvent, RunEventKind, RunId, RuntimeEvent,
    RuntimeEventKind, Step, TokenCounts, ToolCall, ToolCallId, ToolCallPart, ToolName, ToolResult,
    Usage,
};

/// Makes events and checkpoints from the records of one run, in order.
#[derive(Debug, Default)]
pub struct Materializer {
    run: Option<(RunId, RunOpened)>,
    next_seq: u64,
    expert: Option<Expert>,
    metadata: Metadata,
    messages: Vec<Message>,
    /// Position of the first message of the step that is being read.
    step_begins: usize,
    /// Tokens of the step that is being read.
    step_usage: TokenCounts,
    /// Whether the work has begun. Messages before that are what the run was given.
    started: bool,
    generation_started: bool,
    last: Option<CheckpointHead>,
}

impl Materializer {
    /// Creates a materializer for one run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next record and returns the events that it stands for.
    pub fn push(&mut self, record: &Record) -> Result<Vec<Event>, CoreError> {
        let broken = |fault: &str| CoreError::BrokenRun {
            run: record.run_id.to_string(),
            seq: record.seq,
            fault: fault.to_owned(),
        };
        if record.seq != self.next_seq {
            return Err(broken(&format!("expected record {}", self.next_seq)));
        }
        match (&record.kind, &self.run) {
            (RecordKind::Run(opened), None) => {
                self.metadata = Metadata::for_runtime(&opened.runtime);
                self.run = Some((record.run_id.clone(), opened.clone()));
            }
            (RecordKind::Run(_), Some(_)) => return Err(broken("the run is open already")),
            (_, None) => return Err(broken("the run was never opened")),
            (_, Some((run, _))) if *run != record.run_id => {
                return Err(broken("the record belongs to another run"));
            }
            _ => {}
        }
        if self
            .last
            .as_ref()
            .is_some_and(|head| head.status.is_terminal())
        {
            return Err(broken("the run has ended already"));
        }
        self.next_seq += 1;
        Ok(match &record.kind {
            RecordKind::Metadata(patch) => {
                self.metadata.merge(&patch.set);
                Vec::new()
            }
            RecordKind::Initialize(initialize) => self.initialize(record, initialize),
            RecordKind::Start(_) => self.start(record),
            RecordKind::Message(message) => self.message(record, message),
            RecordKind::Usage(entry) => {
                if entry.step.is_some() {
                    self.step_usage = self.step_usage.plus(entry.counts);
                }
                Vec::new()
            }
            RecordKind::Checkpoint(head) => self.checkpoint_event(record, head),
            RecordKind::Event(event) => {
                let event = self.runtime_event(record, event.event.clone());
                event.into_iter().collect()
            }
            RecordKind::Run(_) | RecordKind::Unknown(_) => Vec::new(),
        })
    }

    /// Returns the checkpoint of the last step that ended.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        self.last
            .as_ref()
            .and_then(|head| self.full(head, head.status))
    }

    /// Returns the messages so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the metadata so far.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn expert(&self) -> Expert {
        self.expert.clone().unwrap_or_else(|| {
            let name = self
                .run
                .as_ref()
                .map_or("unknown", |(_, run)| run.runtime.as_str());
            Expert {
                key: name.to_owned(),
                name: name.to_owned(),
                version: "unknown".to_owned(),
            }
        })
    }

    fn skill(&self) -> ToolName {
        let name = self
            .run
            .as_ref()
            .map_or("unknown", |(_, run)| run.runtime.as_str());
        ToolName::from_printed(name)
    }

    fn run_event(
        &self,
        record: &Record,
        step: u64,
        kind: impl Into<RunEventKind>,
    ) -> Option<Event> {
        let (run_id, run) = self.run.as_ref()?;
        let kind = kind.into();
        Some(Event::Run(RunEvent {
            id: EventId::derive(run_id, kind.known_tag().unwrap_or("unknown"), record.seq),
            expert_key: self.expert().key,
            timestamp: record.at,
            job_id: run.job_id.clone(),
            run_id: run_id.clone(),
            step_number: step,
            kind,
        }))
    }

    fn runtime_event(&self, record: &Record, kind: RuntimeEventKind) -> Option<Event> {
        let (run_id, run) = self.run.as_ref()?;
        Some(Event::Runtime(RuntimeEvent {
            id: EventId::derive(run_id, kind.known_tag().unwrap_or("unknown"), record.seq),
            timestamp: record.at,
            job_id: run.job_id.clone(),
            run_id: run_id.clone(),
            kind,
        }))
    }

    fn initialize(&mut self, record: &Record, initialize: &Initialize) -> Vec<Event> {
        self.expert = Some(initialize.expert.clone());
        let Some((_, run)) = &self.run else {
            return Vec::new();
        };
        let runtime = run.runtime.as_str();
        let model = initialize
            .model
            .clone()
            .unwrap_or_else(|| format!("{runtime}:default"));
        let event = InitializeRuntime {
            runtime_version: format!("external:{runtime}"),
            runtime: Some(runtime.to_owned()),
            expert_name: initialize.expert.name.clone(),
            experts: Vec::new(),
            model,
            temperature: Some(0.0),
            max_steps: None,
            max_retries: 0,
            timeout: 0,
            query: initialize.query.clone(),
            interactive_tool_call: None,
        };
        self.runtime_event(record, event.into())
            .into_iter()
            .collect()
    }

    fn start(&mut self, record: &Record) -> Vec<Event> {
        self.started = true;
        // A run that goes on where another left off has what was said there from the beginning.
        let spoken = |message: &Message| matches!(message, Message::ExpertMessage(_));
        let inherited = self
            .messages
            .iter()
            .rposition(spoken)
            .map_or(0, |at| at + 1);
        self.step_begins = inherited;
        let head = CheckpointHead {
            step: 1,
            status: CheckpointStatus::Init,
            messages: u64::try_from(inherited).unwrap_or(u64::MAX),
            usage: TokenCounts::default(),
            step_usage: TokenCounts::default(),
            started_at: record.at,
            pending: Vec::new(),
            text: None,
            error: None,
        };
        let Some(initial_checkpoint) = self.full(&head, CheckpointStatus::Init) else {
            return Vec::new();
        };
        let given = self.messages.iter().skip(inherited);
        let input_messages = given.filter_map(Message::as_input).collect();
        let event = StartRun {
            initial_checkpoint,
            input_messages,
        };
        self.run_event(record, 1, event).into_iter().collect()
    }

    fn message(&mut self, record: &Record, message: &MessageRecord) -> Vec<Event> {
        if !self.started {
            self.messages.push(message.message.clone());
            return Vec::new();
        }
        let step = message.step;
        let mut kinds: Vec<RunEventKind> = Vec::new();
        match &message.message {
            Message::ExpertMessage(expert) => {
                if !self.generation_started {
                    self.generation_started = true;
                    kinds.push(
                        StartGeneration {
                            messages: self.messages.clone(),
                        }
                        .into(),
                    );
                }
                for thinking in expert.thinking().filter(|part| !part.thinking.is_empty()) {
                    let text = thinking.thinking.clone();
                    kinds.push(StartStreamingReasoning {}.into());
                    kinds.push(CompleteStreamingReasoning { text }.into());
                }
                let skill = self.skill();
                let tool_calls: Vec<ToolCall> = expert
                    .tool_calls()
                    .map(|part| ToolCall::from_part(part, &skill))
                    .collect();
                if !tool_calls.is_empty() {
                    let usage = self.step_usage.to_usage();
                    let new_message = expert.clone().into();
                    kinds.push(
                        CallTools {
                            new_message,
                            tool_calls,
                            usage,
                        }
                        .into(),
                    );
                }
            }
            Message::ToolMessage(tool) => {
                let skill = self.skill();
                let tool_results = tool
                    .results()
                    .map(|part| ToolResult::from_part(part, &skill))
                    .collect();
                kinds.push(ResolveToolResults { tool_results }.into());
                kinds.push(
                    FinishToolCall {
                        new_messages: vec![tool.clone().into()],
                    }
                    .into(),
                );
            }
            Message::UserMessage(_) | Message::InstructionMessage(_) => {}
        }
        self.messages.push(message.message.clone());
        // Two reasoning parts of one message would otherwise share an id.
        let mut events: Vec<Event> = kinds
            .into_iter()
            .filter_map(|kind| self.run_event(record, step, kind))
            .collect();
        renumber(&mut events, record);
        events
    }

    fn checkpoint_event(&mut self, record: &Record, head: &CheckpointHead) -> Vec<Event> {
        let Some(checkpoint) = self.full(head, head.status) else {
            return Vec::new();
        };
        let step = self.step(head, record.at);
        let number = head.step;
        let mut kinds: Vec<RunEventKind> = Vec::new();
        match head.status {
            CheckpointStatus::Init | CheckpointStatus::Proceeding => {
                let mut next_checkpoint = checkpoint.clone();
                next_checkpoint.id = CheckpointId::derive(&record.run_id, number + 1);
                next_checkpoint.step_number = number + 1;
                let event = ContinueToNextStep {
                    checkpoint,
                    step,
                    next_checkpoint,
                };
                kinds.push(Box::new(event).into());
            }
            CheckpointStatus::Completed => {
                let spoken = self.messages.iter().rev().find_map(Message::as_expert);
                let spoken = spoken.map(|message| message.text());
                let text = head.text.clone().or(spoken).unwrap_or_default();
                if !text.is_empty() {
                    kinds.push(StartStreamingRunResult {}.into());
                    kinds.push(CompleteStreamingRunResult { text: text.clone() }.into());
                }
                let usage = head.step_usage.to_usage();
                kinds.push(
                    CompleteRun {
                        checkpoint,
                        step,
                        text,
                        usage,
                    }
                    .into(),
                );
            }
            CheckpointStatus::StoppedByExceededMaxSteps => {
                kinds.push(StopRunByExceededMaxSteps { checkpoint, step }.into());
            }
            CheckpointStatus::StoppedByInteractiveTool => {
                kinds.push(StopRunByInteractiveTool { checkpoint, step }.into());
            }
            CheckpointStatus::StoppedByDelegate => {
                kinds.push(StopRunByDelegate { checkpoint, step }.into());
            }
            CheckpointStatus::StoppedByError => {
                let error = head.error.clone().unwrap_or_else(|| crate::RunError {
                    name: "Unknown".to_owned(),
                    message: "the run failed".to_owned(),
                    status_code: None,
                    is_retryable: false,
                    family: None,
                    retry_at: None,
                });
                kinds.push(
                    StopRunByError {
                        checkpoint,
                        step,
                        error,
                    }
                    .into(),
                );
            }
        }
        self.last = Some(head.clone());
        self.step_begins = self.messages.len();
        self.step_usage = TokenCounts::default();
        self.generation_started = false;
        kinds
            .into_iter()
            .filter_map(|kind| self.run_event(record, number, kind))
            .collect()
    }

    /// Rebuilds a checkpoint from its head and what came before it.
    fn full(&self, head: &CheckpointHead, status: CheckpointStatus) -> Option<Checkpoint> {
        let (run_id, run) = self.run.as_ref()?;
        let count = usize::try_from(head.messages).unwrap_or(usize::MAX);
        let messages: Vec<Message> = self.messages.iter().take(count).cloned().collect();
        let mut metadata = self.metadata.clone();
        let unknown = head.usage.unknown_counters();
        if !unknown.is_empty() && run.runtime.is_external() && status != CheckpointStatus::Init {
            metadata.set("usageUnknown", unknown);
        }
        let pending = self.pending_calls(head, &messages);
        Some(Checkpoint {
            id: CheckpointId::derive(run_id, head.step),
            job_id: run.job_id.clone(),
            run_id: run_id.clone(),
            status,
            step_number: head.step,
            messages,
            expert: self.expert(),
            delegate_to: None,
            delegated_by: run.delegated_by.as_deref().cloned(),
            usage: head.usage.to_usage(),
            context_window: None,
            context_window_usage: None,
            pending_tool_calls: (!pending.is_empty()).then_some(pending),
            partial_tool_results: None,
            metadata: Some(metadata),
            error: head.error.clone(),
            retry_count: None,
        })
    }

    /// Returns the calls without a result, in the order of the head. Where an id was used more
    /// than once, the last message that has it counts.
    fn pending_calls(&self, head: &CheckpointHead, messages: &[Message]) -> Vec<ToolCall> {
        let mut missing: HashSet<&ToolCallId> = head.pending.iter().collect();
        let mut found: HashMap<&ToolCallId, &ToolCallPart> = HashMap::with_capacity(missing.len());
        for message in messages.iter().rev().filter_map(Message::as_expert) {
            if missing.is_empty() {
                break;
            }
            for part in message.tool_calls() {
                if missing.remove(&part.tool_call_id) {
                    found.insert(&part.tool_call_id, part);
                }
            }
        }
        let skill = self.skill();
        let calls = head.pending.iter().filter_map(|id| found.get(id));
        calls
            .map(|part| ToolCall::from_part(part, &skill))
            .collect()
    }

    fn step(&self, head: &CheckpointHead, finished_at: i64) -> Step {
        let skill = self.skill();
        let new_messages: Vec<Message> = self
            .messages
            .iter()
            .skip(self.step_begins)
            .filter(|message| {
                matches!(message, Message::ExpertMessage(_) | Message::ToolMessage(_))
            })
            .cloned()
            .collect();
        let calls = new_messages.iter().filter_map(Message::as_expert);
        let calls: Vec<ToolCall> = calls
            .flat_map(|message| message.tool_calls())
            .map(|part| ToolCall::from_part(part, &skill))
            .collect();
        let results = new_messages.iter().filter_map(Message::as_tool);
        let results: Vec<ToolResult> = results
            .flat_map(|message| message.results())
            .map(|part| ToolResult::from_part(part, &skill))
            .collect();
        let inputs: Vec<InputMessage> = self.inputs().collect();
        Step {
            step_number: head.step,
            input_messages: (!inputs.is_empty()).then_some(inputs),
            new_messages,
            tool_calls: (!calls.is_empty()).then_some(calls),
            tool_results: (!results.is_empty()).then_some(results),
            pending_tool_calls: None,
            partial_tool_results: None,
            usage: head.step_usage.to_usage(),
            started_at: head.started_at,
            finished_at: Some(finished_at.max(head.started_at)),
        }
    }

    /// Returns what the step began with: the results of the step before, and what a user said.
    fn inputs(&self) -> impl Iterator<Item = InputMessage> {
        let earlier = self
            .step_begins
            .checked_sub(1)
            .and_then(|at| self.messages.get(at));
        let earlier = earlier.filter(|message| matches!(message, Message::ToolMessage(_)));
        let said = self.messages.iter().skip(self.step_begins);
        let said = said.filter(|message| {
            matches!(
                message,
                Message::UserMessage(_) | Message::InstructionMessage(_)
            )
        });
        earlier
            .into_iter()
            .chain(said)
            .filter_map(Message::as_input)
    }
}

/// Gives each event of one record an id of its own where several have the same type.
fn renumber(events: &mut [Event], record: &Record) {
    let mut seen: HashMap<&'static str, u64> = HashMap::new();
    for event in events {
        let Event::Run(event) = event else { continue };
        let Some(tag) = event.kind.known_tag() else {
            continue;
        };
        let count = seen.entry(tag).or_insert(0);
        if *count > 0 {
            event.id = EventId::derive_nth(&record.run_id, tag, record.seq, *count);
        }
        *count += 1;
    }
}

/// Makes all events from the records of any number of runs, in the order of the records.
pub fn materialize<'a>(
    records: impl IntoIterator<Item = &'a Record>,
) -> Result<Vec<Event>, CoreError> {
    let mut runs: HashMap<&'a RunId, Materializer> = HashMap::new();
    let mut events = Vec::new();
    for record in records {
        events.extend(runs.entry(&record.run_id).or_default().push(record)?);
    }
    Ok(events)
}

impl From<&TokenCounts> for Usage {
    fn from(counts: &TokenCounts) -> Self {
        counts.to_usage()
    }
}
