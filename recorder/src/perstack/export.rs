//! Stored runs to a job tree.

use std::path::{Path, PathBuf};

use runtape_core::record::CheckpointHead;
use runtape_core::report::ExportedTree;
use runtape_core::run_event::{CompleteRun, CompleteStreamingReasoning, StartStreamingReasoning};
use runtape_core::{
    Checkpoint, Event, EventId, ExpertMessage, ExpertPart, JobId, Materializer, Message, MessageId,
    PartId, Record, RecordKind, RunEvent, RunEventKind, Runtime, Step, TextPart,
};
use runtape_store::Store;
use serde::Serialize;
use serde_json::{Map, Value};

use super::error::PerstackError;
use super::extension::{ErrorExtension, EventExtension, OURS, StepExtension, StepOrigin};
use super::plan::{EventTimes, JobPlan};
use super::setting::RunSetting;
use super::tree::{EventName, SETTING_FILE};
use super::writer::{Existing, TreeWriter};
use crate::redaction::rules_applied_to;

/// Writes `perstack/jobs/<job>` below a directory.
///
/// The tree appears whole or not at all. A run that is still open is written as far as it is, and
/// its job is `running`.
pub fn export_job(
    store: &Store,
    job: &JobId,
    directory: &Path,
    existing: Existing,
) -> Result<ExportedTree, PerstackError> {
    let plan = JobPlan::read(store, job)?;
    let mut writer = TreeWriter::begin(directory, job, existing)?;
    let mut written = ExportCounts::default();
    for index in 0..plan.runs.len() {
        written.add(write_run(&plan, store, index, &mut writer)?);
    }
    // Readers take a directory for a job only if it has this file.
    let path = writer.tree().job_file();
    writer.pretty(&path, &plan.to_job(job, written.times))?;
    let bytes = writer.bytes;
    Ok(ExportedTree {
        job_id: job.clone(),
        path: writer.finish()?.display().to_string(),
        runs: u64::try_from(plan.runs.len()).unwrap_or(u64::MAX),
        checkpoints: written.checkpoints,
        events: written.events,
        bytes,
        redaction: rules_applied_to(store, plan.runs.iter().map(|run| &run.id))?,
    })
}

/// Writes the files of one run.
fn write_run(
    plan: &JobPlan,
    store: &Store,
    index: usize,
    writer: &mut TreeWriter,
) -> Result<ExportCounts, PerstackError> {
    let Some(run) = plan.runs.get(index) else {
        return Ok(ExportCounts::default());
    };
    let directory = writer.tree().run(&run.id);
    writer.directory(&directory)?;
    let setting_file = directory.join(SETTING_FILE);
    let mut state = RunExport {
        plan,
        index,
        runtime: run.opened.runtime.clone(),
        directory,
        writer,
        materializer: Materializer::new(),
        step: StepExtension::of_runtime(&run.opened.runtime),
        last_timestamp: -1,
        written: ExportCounts::default(),
    };
    let mut result = Ok(());
    store.each_record(&run.id, 0, |record| {
        if record.seq < run.records {
            result = state.push(&record);
        }
        result.is_ok() && record.seq < run.records
    })?;
    result?;
    let written = state.written;
    let times = written.times.unwrap_or(EventTimes {
        first: run.started_at,
        last: run.last_at,
    });
    let setting = RunSetting::new(
        &run.opened.job_id,
        &run.id,
        &run.opened.runtime,
        run.initialize.as_ref(),
        times,
    );
    writer.compact(&setting_file, &setting)?;
    Ok(written)
}

/// How many files were written, and the times in them.
#[derive(Clone, Copy, Debug, Default)]
struct ExportCounts {
    checkpoints: u64,
    events: u64,
    times: Option<EventTimes>,
}

impl ExportCounts {
    fn add(&mut self, other: Self) {
        self.checkpoints += other.checkpoints;
        self.events += other.events;
        self.times = match (self.times, other.times) {
            (Some(times), Some(other)) => Some(times.cover(other)),
            (times, other) => times.or(other),
        };
    }
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
    written: ExportCounts,
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
        let at = event.timestamp;
        self.written.add(ExportCounts {
            checkpoints: 0,
            events: 1,
            times: Some(EventTimes {
                first: at,
                last: at,
            }),
        });
        Ok(())
    }

    /// Numbers an event's step in the job, and makes its checkpoints as Perstack accepts them.
    /// Returns the checkpoint that has a file of its own.
    fn adapt<'e>(&self, event: &'e mut RunEvent) -> Option<&'e Checkpoint> {
        event.step_number = self.number(event.step_number);
        let begun_at = event.timestamp;
        let mut plain = StepExtension::of_runtime(&self.runtime);
        let mut extension = self.step.clone();
        let (checkpoint, step) = match &mut event.kind {
            RunEventKind::StartRun(start) => {
                let number = self.number(1);
                let opened_at = self.plan.runs.get(self.index).map(|run| run.started_at);
                plain.opened_at = opened_at.filter(|at| *at != begun_at);
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
            RunEventKind::StopRunByError(event) => {
                ErrorExtension::take(&mut event.error);
                (&mut event.checkpoint, &mut event.step)
            }
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
        extension.error = checkpoint.error.as_mut().and_then(ErrorExtension::take);
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
        extension.write(&checkpoint.id, &mut fields);
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
