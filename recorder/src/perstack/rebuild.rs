//! The checkpoints and events of one run to records.

use std::collections::{HashMap, HashSet};

use runtape_core::record::{
    CheckpointHead, EventRecord, Initialize, MessageRecord, MetadataPatch, ResultNote, RunOpened,
    Start, UsageEntry, UsageSource,
};
use runtape_core::runtime_event::ApiRetry;
use runtape_core::{
    Checkpoint, CheckpointId, CheckpointStatus, ErrorFamily, JobId, Message, Metadata, Record,
    RecordKind, RunError, RunId, Runtime, TokenCounts, ToolCallId, UNFINISHED, Usage,
};
use serde_json::{Map, Value};

use super::checkpoint::{
    counts, error_of, fields_of, leading, messages_after, nothing, renamed, without_answer,
};
use super::events::EventFacts;
use super::extension::{StepExtension, StepOrigin, THEIRS};
use super::failed_result::mark_failures;
use super::setting::KnownSetting;
use super::times::{FileTimes, JobTimes, StepTime};

/// What the files of one run say, besides its checkpoints.
#[derive(Clone, Debug, Default)]
pub(super) struct RunNotes {
    pub(super) setting: KnownSetting,
    pub(super) facts: EventFacts,
    pub(super) job: JobTimes,
}

/// Where the checkpoints of a tree ended up: their ids to those that we derive.
pub(super) type NewIds = HashMap<CheckpointId, CheckpointId>;

/// Makes the records of one run from its checkpoints, given one at a time in order.
pub(super) struct Rebuilder<'a> {
    run_id: RunId,
    source: &'a RunNotes,
    records: Vec<Record>,
    runtime: Runtime,
    metadata: Metadata,
    messages: Vec<Message>,
    /// The calls that were made.
    called: HashSet<ToolCallId>,
    /// What the run has used.
    used: TokenCounts,
    /// What the job had used when the run began.
    base: TokenCounts,
    step: u64,
    /// The last time that was seen.
    at: i64,
    is_over: bool,
}

impl<'a> Rebuilder<'a> {
    /// Opens a run, of which `first` is the first checkpoint and `file` what its file tells of time.
    ///
    /// A run may have none: then its settings, and the event it began with, are all there is.
    pub(super) fn open(
        (job, run): (&JobId, &RunId),
        source: &'a RunNotes,
        first: Option<&Checkpoint>,
        file: FileTimes,
        ids: &NewIds,
    ) -> Result<Self, String> {
        let initial = source.facts.beginning.as_ref().map(|begun| &begun.initial);
        let nothing = nothing(job, run);
        let is_there = first.is_some();
        let first = first.or(initial).unwrap_or(&nothing);
        let extension = StepExtension::of(first)?.unwrap_or_default();
        let dates = StepExtension {
            times: extension.times,
            ..StepExtension::default()
        };
        let named = || first.metadata.as_ref().and_then(Metadata::runtime);
        let runtime = extension.runtime.or_else(named).unwrap_or(Runtime::Local);
        let beginning = source.facts.beginning.as_ref();
        let begun = beginning.map(|beginning| StepExtension::of(&beginning.initial));
        let begun = begun.transpose()?.flatten();
        let told = begun.and_then(|extension| extension.opened_at);
        let told = told.or(source.setting.started_at);
        let told = told.or(beginning.map(|beginning| beginning.at));
        let found = StepTime::of_beginning(first, file, source.job);
        let is_of_file = told.is_none() && found.is_of_file;
        let mut rebuilder = Self {
            run_id: run.clone(),
            source,
            records: Vec::new(),
            metadata: Metadata::for_runtime(&runtime),
            runtime,
            messages: Vec::new(),
            called: HashSet::new(),
            used: TokenCounts::default(),
            base: beginning.map_or_else(TokenCounts::default, |b| counts(&b.initial.usage)),
            step: 0,
            at: told.unwrap_or(found.at),
            is_over: false,
        };
        let at = rebuilder.at;
        rebuilder.record(
            at,
            RunOpened {
                job_id: job.clone(),
                runtime: rebuilder.runtime.clone(),
                delegated_by: first
                    .delegated_by
                    .clone()
                    .map(|by| Box::new(renamed(by, ids))),
            },
        );
        if is_of_file {
            rebuilder.note_file_time();
        }
        rebuilder.begin(first, is_there, &dates)?;
        Ok(rebuilder)
    }

    fn begin(
        &mut self,
        first: &Checkpoint,
        is_there: bool,
        dates: &StepExtension,
    ) -> Result<(), String> {
        let source = self.source;
        let beginning = source.facts.beginning.as_ref();
        if let Some(beginning) = beginning {
            self.at = beginning.at;
            self.take_metadata(&beginning.initial)?;
        }
        let given: Option<Vec<Message>> = beginning.map(|beginning| {
            let inherited = beginning.initial.messages.iter();
            inherited.chain(&beginning.inputs).cloned().collect()
        });
        // Where the two differ, the checkpoint is what a run is resumed from.
        let is_first = |given: &Vec<Message>| messages_after(&first.messages, given).is_some();
        let given = given.filter(|given| !is_there || is_first(given));
        let given = given.unwrap_or_else(|| leading(&first.messages));
        let at = self.at;
        let model = source.setting.model(&self.runtime);
        self.record(
            at,
            Initialize {
                expert: first.expert.clone(),
                model,
                query: source.setting.query.clone(),
            },
        );
        for message in given {
            self.message(message, dates, at, None);
        }
        self.record(at, Start {});
        Ok(())
    }

    /// Notes that a time of the run is that of a file.
    fn note_file_time(&mut self) {
        if self.metadata.time_source().is_none() {
            let mut patch = Metadata::default();
            patch.set("timeSource", "file");
            self.learn(&patch);
        }
    }

    /// Takes the next checkpoint; `file` is what its file tells of its time. An error says why it
    /// cannot be the next one; then it is as if it were not there.
    pub(super) fn checkpoint(
        &mut self,
        checkpoint: &Checkpoint,
        file: FileTimes,
        ids: &mut NewIds,
    ) -> Result<(), String> {
        if self.is_over {
            return Err("/status: the run has ended with an earlier step".to_owned());
        }
        let extension = StepExtension::of(checkpoint)?;
        let messages = without_answer(checkpoint, extension.as_ref());
        let Some(new) = messages_after(messages, &self.messages) else {
            return Err("/messages: they do not go on from the step before".to_owned());
        };
        self.step += 1;
        let derived = CheckpointId::derive(&self.run_id, self.step);
        ids.insert(checkpoint.id.clone(), derived.clone());

        let source = self.source;
        let end = source.facts.end_of(&checkpoint.id);
        let at = if let Some(end) = end {
            end.at
        } else {
            let found = StepTime::of_end(checkpoint, file, source.job, self.at);
            if found.is_of_file {
                self.note_file_time();
            }
            found.at
        };
        self.retries(checkpoint.step_number);
        let used = self.usage(checkpoint, extension.as_ref(), at);
        let extension = extension.unwrap_or_default();
        let mut is_first = true;
        for message in new {
            let is_asked = is_first && message.as_expert().is_some();
            is_first &= !is_asked;
            let number = is_asked.then_some(checkpoint.step_number);
            self.message(message.clone(), &extension, at, number);
        }
        self.take_metadata(checkpoint)?;
        let last = self.messages.iter().rev().find_map(Message::as_expert);
        let last = last.map(|message| message.text()).unwrap_or_default();
        let text = end.and_then(|end| end.text.clone());
        let step_usage = end.map(|end| end.usage);
        let pending = checkpoint.pending_tool_calls.iter().flatten();
        // Adapters left it at `init` for as long as a run went on.
        let status = match checkpoint.status {
            CheckpointStatus::Init => CheckpointStatus::Proceeding,
            status => status,
        };
        let head = CheckpointHead {
            step: self.step,
            status,
            messages: u64::try_from(self.messages.len()).unwrap_or(u64::MAX),
            usage: self.used,
            step_usage: extension.step_usage.unwrap_or_else(|| {
                let usage = step_usage.filter(|usage| self.is_counted(usage));
                usage.as_ref().map_or(used, counts)
            }),
            started_at: end.map_or(self.at.min(at), |end| end.started_at),
            pending: pending.map(|call| call.id.clone()).collect(),
            text: text.filter(|text| *text != last),
            error: extension
                .with_details(error_of(checkpoint, end.and_then(|end| end.error.as_ref()))),
        };
        self.is_over = head.status.is_terminal();
        self.at = at;
        self.record(at, Box::new(head));
        Ok(())
    }

    /// Ends the run and returns its records. One whose end is not in the tree did not complete.
    pub(super) fn finish(mut self) -> Vec<Record> {
        if !self.is_over {
            let head = CheckpointHead {
                step: self.step + 1,
                status: CheckpointStatus::StoppedByError,
                messages: u64::try_from(self.messages.len()).unwrap_or(u64::MAX),
                usage: self.used,
                step_usage: TokenCounts::default(),
                started_at: self.at,
                pending: Vec::new(),
                text: None,
                error: Some(RunError {
                    name: UNFINISHED.to_owned(),
                    message: "the job tree does not hold the end of the run".to_owned(),
                    status_code: None,
                    is_retryable: false,
                    family: Some(ErrorFamily::Process),
                    retry_at: None,
                }),
            };
            self.record(self.at, Box::new(head));
        }
        self.records
    }

    fn record(&mut self, at: i64, kind: impl Into<RecordKind>) {
        self.records.push(Record {
            run_id: self.run_id.clone(),
            seq: u64::try_from(self.records.len()).unwrap_or(u64::MAX),
            at,
            span: None,
            kind: kind.into(),
        });
    }

    fn message(
        &mut self,
        message: Message,
        extension: &StepExtension,
        at: i64,
        first_of: Option<u64>,
    ) {
        self.messages.push(message.clone());
        let mut message = message;
        extension.date(&mut message);
        if !self.runtime.is_external() {
            mark_failures(&mut message);
        }
        let known = self.source.facts.time_of(message.id(), first_of);
        // No record is before its run began, whatever its message says.
        let begun_at = self.records.first().map_or(i64::MIN, |first| first.at);
        let told = message.timestamp().map(|told| told.max(begun_at));
        let at = known.or(told).unwrap_or(at);
        let mut record = MessageRecord::new(self.step.max(1), message);
        extension.restore(&mut record);
        self.match_results(&mut record);
        self.record(at, record);
    }

    /// Marks results whose call was never seen: adapters kept them without it.
    fn match_results(&mut self, record: &mut MessageRecord) {
        let spoken = record.message.as_expert().into_iter();
        let calls = spoken.flat_map(|message| message.tool_calls());
        self.called
            .extend(calls.map(|part| part.tool_call_id.clone()));
        let answered = record.message.as_tool().cloned();
        for part in answered.iter().flat_map(|message| message.results()) {
            let id = &part.tool_call_id;
            let is_noted = record.results.iter().any(|note| note.tool_call_id == *id);
            if !self.called.contains(id) && !is_noted {
                record.results.push(ResultNote {
                    tool_call_id: id.clone(),
                    duration_ms: None,
                    call_step: None,
                    unmatched: true,
                });
            }
        }
    }

    /// Keeps what Perstack says of tries that failed, as a notice.
    fn retries(&mut self, number: u64) {
        let retries = self.source.facts.retries.iter();
        for retry in retries.filter(|retry| retry.number == number) {
            let event = ApiRetry {
                attempt: None,
                max_attempts: None,
                delay_ms: None,
                status_code: None,
                reason: Some(retry.reason.clone()),
            };
            let step = self.step;
            let event = event.into();
            self.record(retry.at, EventRecord { step, event });
        }
    }

    /// Books what the step used, and returns it.
    fn usage(
        &mut self,
        checkpoint: &Checkpoint,
        extension: Option<&StepExtension>,
        at: i64,
    ) -> TokenCounts {
        if let Some(extension) = extension.filter(|extension| extension.usage.is_some()) {
            for entry in &extension.ledger {
                self.record(at, entry.clone());
            }
            let used = extension.usage.unwrap_or_default();
            let step = used.beyond(self.used);
            self.used = used;
            return step;
        }
        if !self.is_counted(&checkpoint.usage) {
            return TokenCounts::default();
        }
        let used = counts(&checkpoint.usage).beyond(self.base);
        let step = used.beyond(self.used);
        let entry = UsageEntry {
            key: format!("step-{}", self.step),
            source: UsageSource::Response,
            step: Some(self.step),
            model: None,
            of_session: false,
            counts: step,
        };
        self.record(at, entry);
        self.used = used;
        step
    }

    /// Tells whether somebody counted. Perstack writes zeros for agent CLIs, whose tokens it does
    /// not know; unknown is never zero.
    fn is_counted(&self, usage: &Usage) -> bool {
        !self.runtime.is_external() || *usage != Usage::default()
    }

    /// Records what is new in a checkpoint's metadata.
    fn take_metadata(&mut self, checkpoint: &Checkpoint) -> Result<(), String> {
        let mut fields = fields_of(checkpoint);
        StepExtension::take(&mut fields)?;
        // Follows from the head's usage.
        fields.shift_remove("usageUnknown");
        let is_derived = checkpoint.id == CheckpointId::derive(&self.run_id, self.step.max(1));
        let origin = StepOrigin::of(checkpoint, is_derived || self.step == 0);
        if let Value::Object(origin) = origin.to_value() {
            // What an earlier import noted stays.
            let noted = fields.entry(THEIRS).or_insert_with(|| Map::new().into());
            if let Some(noted) = noted.as_object_mut() {
                noted.extend(origin);
            }
        }
        let mut patch = Metadata::default();
        for (key, _) in self.metadata.iter() {
            // An export leaves out a name that Perstack refuses; and what was noted here stays.
            let stays = ["runtime", "externalExecution", "timeSource"];
            if !fields.contains_key(key) && !stays.contains(&key) {
                patch.set(key.to_owned(), Value::Null);
            }
        }
        for (key, value) in fields {
            if key != "runtime" && self.metadata.get(&key) != Some(&value) {
                patch.set(key, value);
            }
        }
        self.learn(&patch);
        Ok(())
    }

    fn learn(&mut self, patch: &Metadata) {
        if patch.is_empty() {
            return;
        }
        self.metadata.merge(patch);
        let set = patch.clone();
        self.record(self.at, MetadataPatch { set });
    }
}
