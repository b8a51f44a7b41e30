//! The step that a run is in, for those who ask once.

use std::collections::{BTreeMap, HashMap};

use runtape_core::record::MessageRecord;
use runtape_core::report::{OpenStep, RunInfo, ToolCallInfo};
use runtape_core::{
    CheckpointStatus, Event, ExpertPart, Message, Outcome, Record, RecordKind, RunId,
    RuntimeEventKind, ToolCallId, ToolClass,
};
use runtape_normalizer::{LiveItem, Output};
use runtape_store::{CallFilter, CallSubject, NamePattern, Store, resolved_paths, tell};

use super::follower::{Follower, is_recorded};
use crate::error::RecordError;

/// When calls began that are in no record yet, by run and id.
type Begun = HashMap<(RunId, ToolCallId), i64>;

/// What an open tree's tape gives beyond the records that are stored.
#[derive(Default)]
struct Tail {
    /// Messages that are in no record yet.
    messages: Vec<Record>,
    begun: Begun,
}

impl Tail {
    fn add(&mut self, output: Output, known: &BTreeMap<RunId, u64>) {
        for item in output.live {
            if let LiveItem::Event(event) = item
                && let Event::Runtime(event) = *event
                && let RuntimeEventKind::StreamToolCall(call) = event.kind
            {
                // An input that is completed later shows the call again: it began the first time.
                let key = (event.run_id, call.tool_call_id);
                self.begun.entry(key).or_insert(event.timestamp);
            }
        }
        for record in output.records {
            let RecordKind::Message(message) = &record.kind else {
                continue;
            };
            let is_stored = known
                .get(&record.run_id)
                .is_some_and(|count| record.seq < *count);
            if !is_stored {
                self.messages.push(record);
                continue;
            }
            // What is kept must not grow with the run.
            for part in calls_of(message) {
                let key = (record.run_id.clone(), part.tool_call_id.clone());
                self.begun.remove(&key);
            }
        }
    }
}

fn calls_of(message: &MessageRecord) -> impl Iterator<Item = &runtape_core::ToolCallPart> {
    let parts = match &message.message {
        Message::ExpertMessage(expert) => expert.contents.as_slice(),
        _ => &[],
    };
    parts.iter().filter_map(|part| match part {
        ExpertPart::ToolCallPart(call) => Some(call),
        _ => None,
    })
}

/// Reads the tape of a run's tree; `known` says how many records of each run are known already.
fn tail(store: &Store, run: &RunId, known: &BTreeMap<RunId, u64>) -> Result<Tail, RecordError> {
    let mut tail = Tail::default();
    let Some(mut follower) = Follower::new(store, run)? else {
        return Ok(tail);
    };
    follower.poll(store, |output| {
        tail.add(output, known);
        Ok::<(), RecordError>(())
    })?;
    tail.add(follower.finish(store)?, known);
    Ok(tail)
}

/// Returns the step that a run is in, if it goes on and something of that step was printed.
pub fn open_step(store: &Store, info: &RunInfo) -> Result<Option<OpenStep>, RecordError> {
    if info.status != CheckpointStatus::Proceeding {
        return Ok(None);
    }
    let run = &info.run_id;
    let known = BTreeMap::from([(run.clone(), info.records)]);
    let mut tail = tail(store, run, &known)?;
    tail.messages.retain(|record| record.run_id == *run);
    let step = |record: &Record| match &record.kind {
        RecordKind::Message(message) => Some(message.step),
        _ => None,
    };
    let Some(last) = tail.messages.iter().filter_map(step).max() else {
        return Ok(None);
    };
    tail.messages.retain(|record| step(record) == Some(last));
    let mut text = String::new();
    let mut started_at = i64::MAX;
    for record in &tail.messages {
        if let RecordKind::Message(message) = &record.kind {
            let timestamp = match &message.message {
                Message::ExpertMessage(expert) => {
                    text.push_str(&expert.text());
                    expert.timestamp
                }
                Message::ToolMessage(tool) => tool.timestamp,
                Message::UserMessage(user) => user.timestamp,
                Message::InstructionMessage(_) => None,
            };
            started_at = started_at.min(timestamp.unwrap_or(record.at));
        }
    }
    Ok(Some(OpenStep {
        step: last,
        started_at,
        text: (!text.is_empty()).then_some(text),
        calls: calls_in(&tail, is_recorded(store, run)?, info, |_| Some(info)),
    }))
}

/// Calls that are in no record yet, and which stored ones they take the place of.
#[derive(Debug, Default)]
pub struct OpenCalls {
    /// How many records of each open run are known.
    known: BTreeMap<RunId, u64>,
    /// The calls, the latest first.
    pub calls: Vec<ToolCallInfo>,
}

impl OpenCalls {
    /// Puts these calls before the stored ones, which were asked for meanwhile: a call that was stored in
    /// between is there once.
    #[must_use]
    pub fn with_stored(self, stored: Vec<ToolCallInfo>) -> Vec<ToolCallInfo> {
        let is_new = |call: &ToolCallInfo| {
            let known = self.known.get(&call.run_id);
            known.is_some_and(|count| call.seq >= *count)
        };
        let stored = stored.into_iter().filter(|call| !is_new(call));
        let mut calls: Vec<ToolCallInfo> = stored.chain(self.calls).collect();
        calls.sort_by_key(|call| std::cmp::Reverse(call.at));
        calls
    }
}

/// Returns the calls that a filter lets through and that are in no record yet, since the step that they were made
/// in goes on. To be asked for before the stored ones are.
pub fn open_calls(store: &Store, filter: &CallFilter) -> Result<OpenCalls, RecordError> {
    let mut open = OpenCalls::default();
    // A run need not have called the tool before.
    let mut runs = filter.runs.clone();
    let tool = runs.tool.take().map(|name| NamePattern::new(&name));
    if runs
        .outcome
        .is_some_and(|outcome| outcome != Outcome::Running)
    {
        return Ok(open);
    }
    runs.outcome = Some(Outcome::Running);
    // The time of the call decides.
    (runs.since, runs.until) = (None, None);
    runs.roots_only = true;
    for root in store.runs(&runs, None, usize::MAX - 1)?.items {
        let tree = store.tree(&root.run_id)?;
        let counts = tree.iter().map(|run| (run.run_id.clone(), run.records));
        let known: BTreeMap<RunId, u64> = counts.collect();
        let tail = tail(store, &root.run_id, &known)?;
        // A child that has no record yet is known by its parent.
        let info = |run: &RunId| {
            let own = tree.iter().find(|info| info.run_id == *run);
            own.or(Some(&root))
        };
        let goes_on = is_recorded(store, &root.run_id)?;
        open.calls.extend(calls_in(&tail, goes_on, &root, info));
        open.known.extend(known);
    }
    open.calls.retain(|call| {
        let is_of_tool = tool.as_ref().is_none_or(|tool| tool.matches(&call.tool));
        let is_of_class = filter.class.is_none_or(|class| call.class == Some(class));
        let is_wanted = !filter.failed_only || call.is_error == Some(true);
        let may_run = call.class.is_none_or(|class| {
            matches!(class, ToolClass::Shell | ToolClass::Mcp | ToolClass::Other)
        });
        let is_about = match filter.subject {
            Some(CallSubject::Command) => call.command.is_some() && may_run,
            _ => true,
        };
        let is_then = filter.runs.is_in_period(call.at);
        is_of_tool && is_of_class && is_wanted && is_about && is_then
    });
    Ok(open)
}

/// Returns the calls of messages that are in no record yet. Those without a result go on if their run does.
fn calls_in<'a>(
    tail: &Tail,
    goes_on: bool,
    root: &RunInfo,
    info: impl Fn(&RunId) -> Option<&'a RunInfo>,
) -> Vec<ToolCallInfo> {
    let mut calls: Vec<ToolCallInfo> = Vec::new();
    let mut places: HashMap<(&RunId, &ToolCallId), usize> = HashMap::new();
    for record in &tail.messages {
        let RecordKind::Message(message) = &record.kind else {
            continue;
        };
        for part in calls_of(message) {
            let Some(info) = info(&record.run_id) else {
                continue;
            };
            let mut notes = message.calls.iter();
            let note = notes.find(|note| note.tool_call_id == part.tool_call_id);
            let named = note.map_or(&[][..], |note| &note.paths);
            // A child works where its root run does, as the same user, unless it says otherwise.
            let cwd = info.cwd.clone().or_else(|| root.cwd.clone());
            let user = info.user.as_deref().or(root.user.as_deref());
            let paths = resolved_paths(named, cwd.as_deref(), user);
            let key = (record.run_id.clone(), part.tool_call_id.clone());
            places.insert((&record.run_id, &part.tool_call_id), calls.len());
            calls.push(ToolCallInfo {
                job_id: info.job_id.clone(),
                run_id: record.run_id.clone(),
                runtime: info.runtime.clone(),
                step: message.step,
                seq: record.seq,
                at: tail.begun.get(&key).copied().unwrap_or(record.at),
                tool: part.tool_name.as_str().to_owned(),
                class: note.and_then(|note| note.class),
                cwd,
                command: note.and_then(|note| note.command.clone()),
                path: paths.first().cloned(),
                paths,
                url: note.and_then(|note| note.url.clone()),
                is_error: None,
                duration_ms: None,
                result_seq: None,
                is_running: goes_on,
                known_by: None,
                shell: None,
            });
        }
        if let Message::ToolMessage(tool) = &message.message {
            for part in tool.results() {
                let place = places.get(&(&record.run_id, &part.tool_call_id));
                if let Some(call) = place.and_then(|place| calls.get_mut(*place)) {
                    let mut notes = message.results.iter();
                    let note = notes.find(|note| note.tool_call_id == part.tool_call_id);
                    let took = note.and_then(|note| note.duration_ms);
                    call.is_error = part.is_error;
                    call.duration_ms = took.and_then(|took| i64::try_from(took).ok());
                    call.result_seq = Some(record.seq);
                    call.is_running = false;
                }
            }
        }
    }
    calls.iter_mut().for_each(tell);
    calls
}
