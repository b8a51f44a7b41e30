//! Stored runs to a job tree.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::record::{CheckpointHead, Initialize, RunOpened};
use runtape_core::run_event::{CompleteRun, CompleteStreamingReasoning, StartStreamingReasoning};
use runtape_core::{
    Checkpoint, CheckpointId, CheckpointStatus, Event, EventId, ExpertMessage, ExpertPart, Job,
    JobId, JobStatus, Materializer, Message, MessageId, PartId, Record, RecordKind, RunEvent,
    RunEventKind, RunId, Runtime, Step, TextPart, TokenCounts,
};
use runtape_store::{RunFilter, RunInfo, Store};
use serde::Serialize;
use serde_json::{Map, Value};

use super::error::PerstackError;
use super::extension::{EventExtension, OURS, StepExtension, StepOrigin};
use super::setting::RunSetting;
use super::steps::{Numbers, RunShape};
use super::tree::{EventName, SETTING_FILE};
pub use super::writer::Existing;
use super::writer::TreeWriter;

/// A job tree that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Where it is.
    pub path: PathBuf,
    /// How many runs it has.
    pub runs: u64,
    /// How many checkpoint files it has.
    pub checkpoints: u64,
    /// How many event files it has.
    pub events: u64,
    /// How many bytes all its files have.
    pub bytes: u64,
}

/// Writes `perstack/jobs/<job>` below a directory.
///
/// The tree appears whole or not at all. A run that is still open is written as far as it is, and
/// its job is `running`.
pub fn export_job(
    store: &Store,
    job: &JobId,
    directory: &Path,
    existing: Existing,
) -> Result<Exported, PerstackError> {
    let plan = JobPlan::read(store, job)?;
    let mut writer = TreeWriter::begin(directory, job, existing)?;
    let (mut checkpoints, mut events) = (0, 0);
    for index in 0..plan.runs.len() {
        let written = plan.write_run(store, index, &mut writer)?;
        checkpoints += written.checkpoints;
        events += written.events;
    }
    // Readers take a directory for a job only if it has this file.
    let path = writer.tree().job_file();
    writer.pretty(&path, &plan.to_job(job))?;
    let bytes = writer.bytes;
    Ok(Exported {
        path: writer.finish()?,
        runs: u64::try_from(plan.runs.len()).unwrap_or(u64::MAX),
        checkpoints,
        events,
        bytes,
    })
}

/// What must be known of a run before its first file is written.
struct RunPlan {
    id: RunId,
    opened: RunOpened,
    started_at: i64,
    initialize: Option<Initialize>,
    /// What the run had used at the end of each of its steps.
    used: Vec<TokenCounts>,
    ended: Option<(CheckpointStatus, i64)>,
    /// When its last record was made.
    last_at: i64,
    /// How many records it has; a run that is being recorded may get more meanwhile.
    records: u64,
}

impl RunPlan {
    fn read(store: &Store, info: &RunInfo) -> Result<Self, PerstackError> {
        let mut plan = Self {
            id: info.run_id.clone(),
            opened: RunOpened {
                job_id: info.job_id.clone(),
                runtime: info.runtime.clone(),
                delegated_by: None,
            },
            started_at: info.started_at,
            initialize: None,
            used: Vec::new(),
            ended: None,
            last_at: info.started_at,
            records: 0,
        };
        store.each_record(&info.run_id, 0, |record| {
            plan.records += 1;
            plan.last_at = plan.last_at.max(record.at);
            match record.kind {
                RecordKind::Run(opened) => plan.opened = opened,
                RecordKind::Initialize(initialize) => plan.initialize = Some(initialize),
                RecordKind::Checkpoint(head) => {
                    if head.status.is_terminal() {
                        plan.ended = Some((head.status, record.at));
                    }
                    plan.used.push(head.usage);
                }
                _ => {}
            }
            true
        })?;
        Ok(plan)
    }

    fn ended_steps(&self) -> u64 {
        u64::try_from(self.used.len()).unwrap_or(u64::MAX)
    }

    /// Counts the steps, the one that is under way included.
    fn steps(&self) -> u64 {
        self.ended_steps() + u64::from(self.ended.is_none())
    }

    fn expert_key(&self) -> &str {
        let given = self.initialize.as_ref();
        given.map_or(self.opened.runtime.as_str(), |given| &given.expert.key)
    }
}

/// What must be known of a job before its first file is written.
struct JobPlan {
    runs: Vec<RunPlan>,
    numbers: Numbers,
    /// What the job had used at the end of each of its steps, by number.
    used: Vec<TokenCounts>,
}

impl JobPlan {
    fn read(store: &Store, job: &JobId) -> Result<Self, PerstackError> {
        let mut filter = RunFilter::default();
        filter.job = Some(job.clone());
        filter.roots_only = true;
        let mut roots = store.runs(&filter, None, u32::MAX as usize)?.items;
        // The store lists the latest first.
        roots.reverse();
        let mut runs = Vec::new();
        for root in roots {
            for info in store.tree(&root.run_id)? {
                runs.push(RunPlan::read(store, &info)?);
            }
        }
        if runs.is_empty() {
            return Err(PerstackError::UnknownJob { job: job.clone() });
        }
        let numbers = Numbers::of(&shapes(&runs));
        let used: Vec<_> = runs.iter().map(|run| run.used.clone()).collect();
        let used = numbers.cumulate(&used);
        Ok(Self {
            runs,
            numbers,
            used,
        })
    }

    /// Returns what the job had used at the end of the step with a number.
    fn used_at(&self, number: u64) -> TokenCounts {
        let index = usize::try_from(number).unwrap_or(usize::MAX).checked_sub(1);
        let used = index.and_then(|index| self.used.get(index));
        used.copied().unwrap_or_default()
    }

    fn to_job(&self, id: &JobId) -> Job {
        let is_root = |run: &&RunPlan| run.opened.delegated_by.is_none();
        let first = self.runs.iter().find(is_root);
        let last = self.runs.iter().rfind(is_root);
        let is_over = self.runs.iter().all(|run| run.ended.is_some());
        let status = last.and_then(|run| run.ended).filter(|_| is_over);
        let finished_at = self.runs.iter().filter_map(|run| Some(run.ended?.1)).max();
        let started_at = self.runs.iter().map(|run| run.started_at).min();
        Job {
            id: id.clone(),
            status: status.map_or(JobStatus::Running, |(status, _)| status.into()),
            coordinator_expert_key: first.map_or("", RunPlan::expert_key).to_owned(),
            total_steps: self.runs.iter().map(RunPlan::ended_steps).sum(),
            max_steps: None,
            usage: self.used_at(self.numbers.last()).to_usage(),
            started_at: started_at.unwrap_or_default(),
            finished_at: finished_at.filter(|_| is_over),
        }
    }

    fn write_run(
        &self,
        store: &Store,
        index: usize,
        writer: &mut TreeWriter,
    ) -> Result<Written, PerstackError> {
        let Some(run) = self.runs.get(index) else {
            return Ok(Written::default());
        };
        let directory = writer.tree().run(&run.id);
        fs::create_dir(&directory).map_err(PerstackError::write(&directory))?;
        let setting = RunSetting::new(
            &run.opened.job_id,
            &run.id,
            &run.opened.runtime,
            run.initialize.as_ref(),
            (run.started_at, run.last_at),
        );
        writer.compact(&directory.join(SETTING_FILE), &setting)?;
        let mut state = RunExport {
            plan: self,
            index,
            runtime: run.opened.runtime.clone(),
            directory,
            writer,
            materializer: Materializer::new(),
            step: StepExtension::of_runtime(&run.opened.runtime),
            last_timestamp: -1,
            written: Written::default(),
        };
        let mut result = Ok(());
        store.each_record(&run.id, 0, |record| {
            if record.seq < run.records {
                result = state.push(&record);
            }
            result.is_ok() && record.seq < run.records
        })?;
        result.map(|()| state.written)
    }
}

/// Finds out which run called which, and in which step.
fn shapes(runs: &[RunPlan]) -> Vec<RunShape> {
    let mut steps: HashMap<CheckpointId, (usize, u64)> = HashMap::new();
    let mut positions: HashMap<&RunId, usize> = HashMap::new();
    let mut shapes = Vec::new();
    for (position, run) in runs.iter().enumerate() {
        let called_by = run.opened.delegated_by.as_ref().and_then(|by| {
            let parent = || Some((*positions.get(&by.run_id)?, u64::MAX));
            steps.get(&by.checkpoint_id).copied().or_else(parent)
        });
        shapes.push(RunShape {
            steps: run.steps(),
            called_by,
        });
        positions.insert(&run.id, position);
        for step in 1..=run.steps() {
            steps.insert(CheckpointId::derive(&run.id, step), (position, step));
        }
    }
    shapes
}

/// How many files were written.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    checkpoints: u64,
    events: u64,
}

/// An event as it is stored.
#[derive(Serialize)]
struct StoredEvent<'a> {
    #[serde(flatten)]
    event: &'a RunEvent,
    #[serde(rename = "runtape", skip_serializing_if = "Option::is_none")]
    ours: Option<EventExtension>,
}

/// Writes one run, a record at a time.
struct RunExport<'a> {
    plan: &'a JobPlan,
    index: usize,
    runtime: Runtime,
    directory: PathBuf,
    writer: &'a mut TreeWriter,
    materializer: Materializer,
    /// What is known of the step that is being read.
    step: StepExtension,
    last_timestamp: i64,
    written: Written,
}

impl RunExport<'_> {
    fn push(&mut self, record: &Record) -> Result<(), PerstackError> {
        match &record.kind {
            RecordKind::Usage(entry) => self.step.ledger.push(entry.clone()),
            RecordKind::Message(message) => self.step.note(message),
            RecordKind::Checkpoint(head) => self.end_step(head),
            _ => {}
        }
        let events = self.materializer.push(record)?;
        for event in one_reasoning(events) {
            self.event(event)?;
        }
        if matches!(record.kind, RecordKind::Checkpoint(_)) {
            self.step = StepExtension::of_runtime(&self.runtime);
        }
        Ok(())
    }

    fn end_step(&mut self, head: &CheckpointHead) {
        self.step.usage = Some(head.usage);
        self.step.step_usage = Some(head.step_usage);
    }

    fn event(&mut self, mut event: RunEvent) -> Result<(), PerstackError> {
        if let Some(checkpoint) = self.adapt(&mut event) {
            let path = self.writer.tree().checkpoint_file(&checkpoint.id);
            self.writer.compact(&path, checkpoint)?;
            self.written.checkpoints += 1;
        }
        // Perstack orders events by the time in the file's name and knows no other order; two of
        // one name would be one file.
        let at = event.timestamp;
        event.timestamp = at.max(self.last_timestamp + 1);
        self.last_timestamp = event.timestamp;
        // As Perstack's own emitter does. Ours count records, of which a tree does not hold all.
        event.id = EventId::derive(&event.run_id, "perstack", self.written.events);
        let name = EventName {
            timestamp: event.timestamp,
            step: event.step_number,
            tag: event.kind.tag().to_owned(),
        };
        let path = self.directory.join(name.to_file_name());
        let stored = StoredEvent {
            ours: (at != event.timestamp).then_some(EventExtension { at }),
            event: &event,
        };
        self.writer.compact(&path, &stored)?;
        self.written.events += 1;
        Ok(())
    }

    /// Numbers an event's step in the job, and makes its checkpoints as Perstack accepts them.
    /// Returns the checkpoint that has a file of its own.
    fn adapt<'e>(&self, event: &'e mut RunEvent) -> Option<&'e Checkpoint> {
        event.step_number = self.number(event.step_number);
        let plain = StepExtension::of_runtime(&self.runtime);
        let mut extension = self.step.clone();
        let (checkpoint, step) = match &mut event.kind {
            RunEventKind::StartRun(start) => {
                let number = self.number(1);
                let initial = &mut start.initial_checkpoint;
                self.checkpoint(initial, &plain, number.saturating_sub(1));
                return None;
            }
            RunEventKind::ContinueToNextStep(event) => {
                let used_at = self.number(event.checkpoint.step_number);
                self.checkpoint(&mut event.next_checkpoint, &plain, used_at);
                let event = event.as_mut();
                (&mut event.checkpoint, &mut event.step)
            }
            RunEventKind::CompleteRun(event) => {
                extension.answer = answer(event);
                (&mut event.checkpoint, &mut event.step)
            }
            RunEventKind::StopRunByError(event) => (&mut event.checkpoint, &mut event.step),
            RunEventKind::StopRunByExceededMaxSteps(event) => {
                (&mut event.checkpoint, &mut event.step)
            }
            RunEventKind::StopRunByInteractiveTool(event) => {
                (&mut event.checkpoint, &mut event.step)
            }
            RunEventKind::StopRunByDelegate(event) => (&mut event.checkpoint, &mut event.step),
            _ => return None,
        };
        self.renumber(step);
        let used_at = self.number(checkpoint.step_number);
        self.checkpoint(checkpoint, &extension, used_at);
        Some(checkpoint)
    }

    fn number(&self, step: u64) -> u64 {
        self.plan.numbers.number(self.index, step)
    }

    fn renumber(&self, step: &mut Step) {
        step.step_number = self.number(step.step_number);
    }

    /// Makes a checkpoint as Perstack wants it, with what the job had used at the end of a step.
    fn checkpoint(&self, checkpoint: &mut Checkpoint, extension: &StepExtension, used_at: u64) {
        checkpoint.step_number = self.number(checkpoint.step_number);
        let used = self.plan.used_at(used_at);
        checkpoint.usage = used.to_usage();
        StepOrigin::restore(checkpoint);
        let metadata = checkpoint.metadata.take().unwrap_or_default();
        let mut fields: Map<String, Value> = metadata.into();
        // Whatever a run calls its own metadata, this key is ours here.
        fields.shift_remove(OURS);
        if fields.shift_remove("usageUnknown").is_some() {
            let unknown = used.unknown_counters();
            if !unknown.is_empty() {
                fields.insert("usageUnknown".to_owned(), unknown.into());
            }
        }
        extension.write(&mut fields);
        checkpoint.metadata = Some(fields.into());
    }
}

/// Adds the answer as a message, unless it is one: a parent takes it from there. Returns its id.
fn answer(event: &mut CompleteRun) -> Option<MessageId> {
    let last = event
        .checkpoint
        .messages
        .last()
        .and_then(Message::as_expert);
    let is_text = |part: &ExpertPart| matches!(part, ExpertPart::TextPart(_));
    if last.is_some_and(|message| message.contents.iter().any(is_text)) {
        return None;
    }
    let run = &event.checkpoint.run_id;
    let part = TextPart {
        id: PartId::derive(run, u64::MAX),
        text: event.text.clone(),
    };
    let id = MessageId::derive(run, u64::MAX);
    let message = Message::from(ExpertMessage::new(id.clone(), vec![part.into()]));
    event.step.new_messages.push(message.clone());
    event.checkpoint.messages.push(message);
    Some(id)
}

/// Keeps the events of a run, and makes one piece of the reasoning of one message: Perstack shows
/// with a line the last piece before it, and only that.
fn one_reasoning(events: Vec<Event>) -> Vec<RunEvent> {
    let mut kept: Vec<RunEvent> = Vec::new();
    let mut reasoning: Option<usize> = None;
    for event in events {
        let Event::Run(event) = event else { continue };
        match &event.kind {
            RunEventKind::StartStreamingReasoning(StartStreamingReasoning {})
                if reasoning.is_some() => {}
            RunEventKind::CompleteStreamingReasoning(CompleteStreamingReasoning { text }) => {
                let first = reasoning.and_then(|at| kept.get_mut(at));
                if let Some(RunEventKind::CompleteStreamingReasoning(first)) =
                    first.map(|first| &mut first.kind)
                {
                    first.text.push_str("\n\n");
                    first.text.push_str(text);
                } else {
                    reasoning = Some(kept.len());
                    kept.push(event);
                }
            }
            _ => kept.push(event),
        }
    }
    kept
}
