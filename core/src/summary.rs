//! A run, with all its children, in one object.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::{CheckpointHead, MessageRecord};
use crate::{
    CheckpointStatus, ErrorFamily, ExpertMessage, ExpertPart, Message, Metadata, Outcome, Record,
    RecordKind, RunError, RunId, Runtime, RuntimeEventKind, TokenCounts, ToolCallId,
    ToolMessagePart,
};

/// A run, with all its children, in one object. Unknown is null, never absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// The runtime.
    pub runtime: Runtime,
    /// The output format that was read.
    pub output_format: Option<String>,
    /// The session to resume.
    pub session_id: Option<String>,
    /// The model's name as the runtime gave it.
    pub model: Option<String>,
    /// The agent CLI's version.
    pub cli_version: Option<String>,
    /// The directory it worked in.
    pub cwd: Option<String>,
    /// How the run ended.
    pub status: CheckpointStatus,
    /// How it went, in one word. It is not written: the shape of a summary has neither more nor fewer fields.
    #[serde(skip)]
    pub outcome: Outcome,
    /// How many messages of the model the main run has.
    pub steps: u64,
    /// How long the run took in milliseconds: by the recorder's clock where it ran the process, else as
    /// the runtime reported it.
    pub duration_ms: Option<i64>,
    /// Tokens of the main run and its children together; null if none are known.
    pub usage: Option<SummaryUsage>,
    /// What the run cost in US dollars, as the runtime reported it.
    pub cost_usd: Option<f64>,
    /// The text of the main run's last model message; null if it was cut off or there was none.
    pub final_text: Option<String>,
    /// Everything the model said, child runs included, in the order it was printed.
    pub texts: Vec<String>,
    /// Everything the model thought, child runs included, in the order it was printed.
    pub thinking: Vec<String>,
    /// Every tool call, child runs included, in the order it was printed.
    pub tool_calls: Vec<SummaryToolCall>,
    /// Why the run failed.
    pub error: Option<SummaryError>,
    /// The main run and its children.
    pub runs: Vec<SummaryRun>,
    /// What the runtime reported besides.
    pub notices: Vec<SummaryNotice>,
    /// Output that no parser understood.
    pub unparsed: Vec<SummaryUnparsed>,
}

/// Tokens; a counter nobody reported is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryUsage {
    /// Prompt tokens that were not read from a cache; cache writes are included.
    pub input_tokens: Option<i64>,
    /// All generated tokens, reasoning included.
    pub output_tokens: Option<i64>,
    /// The part of the generated tokens that was reasoning.
    pub reasoning_tokens: Option<i64>,
    /// Input, cached input and output tokens together.
    pub total_tokens: Option<i64>,
    /// Prompt tokens that were read from a cache.
    pub cached_input_tokens: Option<i64>,
}

impl SummaryUsage {
    /// Returns the counters with their total, `None` if no counter is known.
    #[must_use]
    pub fn known(counts: TokenCounts) -> Option<Self> {
        (!counts.is_unknown()).then_some(Self {
            input_tokens: counts.input_tokens,
            output_tokens: counts.output_tokens,
            reasoning_tokens: counts.reasoning_tokens,
            total_tokens: counts.total(),
            cached_input_tokens: counts.cached_input_tokens,
        })
    }
}

/// A tool call and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryToolCall {
    /// The id as it was printed, or a derived one.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Its input; null if none was printed.
    pub input: Value,
    /// Whether it failed; null if no result came or it did not tell.
    pub is_error: Option<bool>,
    /// What it gave back; null if nothing was printed.
    pub output: Option<String>,
    /// The step within its run.
    pub step: u64,
    /// Its run.
    pub run_id: RunId,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryError {
    /// The error's name.
    pub name: String,
    /// What went wrong, for people.
    pub message: String,
    /// The HTTP status of the model's API.
    pub status_code: Option<u16>,
    /// Whether the same run may succeed later.
    pub is_retryable: bool,
    /// What kind of failure it was.
    pub family: Option<crate::ErrorFamily>,
    /// Not before this time, in milliseconds since 1970.
    pub retry_at: Option<i64>,
}

impl From<&RunError> for SummaryError {
    fn from(error: &RunError) -> Self {
        Self {
            name: error.name.clone(),
            message: error.message.clone(),
            status_code: error.status_code,
            is_retryable: error.is_retryable,
            family: error.family,
            retry_at: error.retry_at,
        }
    }
}

/// One run of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryRun {
    /// The run.
    pub run_id: RunId,
    /// The call that started it; null for the main run.
    pub parent_tool_call_id: Option<ToolCallId>,
}

/// Something the runtime reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryNotice {
    /// The kind of notice.
    pub kind: String,
    /// What it said.
    pub text: String,
}

/// Output that no parser understood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryUnparsed {
    /// The type that the line names.
    pub r#type: Option<String>,
    /// The line, counted from 1.
    pub line: u64,
    /// Why it was not understood.
    pub reason: String,
}

/// The last message of the model in a run, over all records that it fills.
#[derive(Default)]
struct LastMessage {
    step: u64,
    text: String,
    cut: bool,
    is_too_long: bool,
}

/// The longest final text, in bytes, that a brief summary holds.
const BRIEF_TEXT: usize = 16 << 20;

/// Gathers what the records of one tape say, one at a time, holding only what the summary needs.
#[derive(Default)]
pub struct Summarizer {
    is_brief: bool,
    root: Option<(RunId, Runtime)>,
    metadata: Metadata,
    head: Option<CheckpointHead>,
    steps: u64,
    last: Option<LastMessage>,
    usage: TokenCounts,
    texts: Vec<(u64, String)>,
    thinking: Vec<(u64, String)>,
    calls: Vec<(u64, SummaryToolCall)>,
    places: HashMap<(RunId, ToolCallId), usize>,
    runs: Vec<SummaryRun>,
    /// Runs whose work has begun: what was said before belongs to the runs that they continue.
    begun: HashSet<RunId>,
    notices: Vec<SummaryNotice>,
    unparsed: Vec<SummaryUnparsed>,
    /// What runs that have not ended used so far.
    open_usage: HashMap<RunId, TokenCounts>,
    /// How far the parts of each run went, where offsets are of several streams.
    furthest: HashMap<RunId, u64>,
}

/// Puts a run with all its children into one object; `None` if the main run has not ended.
#[must_use]
pub fn summarize<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<RunSummary> {
    let mut summarizer = Summarizer::new();
    for record in records {
        summarizer.push(record);
    }
    summarizer.finish()
}

impl Summarizer {
    /// Creates a summarizer for one tape.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a summarizer that leaves all lists but `runs` empty, so that its memory does not
    /// grow with the run. A final text of more than 16 MiB is left out, too.
    #[must_use]
    pub fn brief() -> Self {
        Self {
            is_brief: true,
            ..Self::default()
        }
    }

    /// Takes the next record of any run of the tape.
    pub fn push(&mut self, record: &Record) {
        let is_root = self
            .root
            .as_ref()
            .is_none_or(|(root, _)| *root == record.run_id);
        match &record.kind {
            RecordKind::Run(opened) => {
                let parent = opened
                    .delegated_by
                    .as_ref()
                    .map(|by| by.tool_call_id.clone());
                if parent.is_none() && self.root.is_none() {
                    self.root = Some((record.run_id.clone(), opened.runtime.clone()));
                }
                self.runs.push(SummaryRun {
                    run_id: record.run_id.clone(),
                    parent_tool_call_id: parent,
                });
            }
            RecordKind::Metadata(patch) if is_root => self.metadata.merge(&patch.set),
            RecordKind::Start(_) => {
                self.begun.insert(record.run_id.clone());
            }
            RecordKind::Message(message) if self.begun.contains(&record.run_id) => {
                self.take_message(record, message, is_root);
            }
            RecordKind::Checkpoint(head) if head.status.is_terminal() => {
                self.usage = self.usage.plus(head.usage);
                self.open_usage.remove(&record.run_id);
                if is_root {
                    self.head = Some(head.as_ref().clone());
                }
            }
            RecordKind::Checkpoint(head) => {
                self.open_usage.insert(record.run_id.clone(), head.usage);
            }
            RecordKind::Event(event) if !self.is_brief => self.take_event(&event.event),
            _ => {}
        }
    }

    fn take_message(&mut self, record: &Record, message: &MessageRecord, is_root: bool) {
        let offsets = self.places_of(record, message);
        let offsets = offsets.iter().copied().chain(std::iter::repeat(u64::MAX));
        match &message.message {
            Message::ExpertMessage(expert) => {
                if is_root {
                    self.take_last(message, expert);
                }
                if self.is_brief {
                    return;
                }
                // Few calls have an id that is not the printed one.
                let printed: HashMap<&ToolCallId, &String> = message
                    .calls
                    .iter()
                    .rev()
                    .filter_map(|note| Some((&note.tool_call_id, note.printed_id.as_ref()?)))
                    .collect();
                for (index, (part, offset)) in expert.contents.iter().zip(offsets).enumerate() {
                    let goes_on = message.continued && index == 0;
                    match part {
                        ExpertPart::TextPart(part) => {
                            append(&mut self.texts, offset, &part.text, goes_on);
                        }
                        ExpertPart::ThinkingPart(part) if !part.thinking.is_empty() => {
                            append(&mut self.thinking, offset, &part.thinking, goes_on);
                        }
                        ExpertPart::ThinkingPart(_) => {}
                        ExpertPart::ToolCallPart(part) => {
                            let printed = printed.get(&part.tool_call_id);
                            let id = printed.map_or(part.tool_call_id.as_str(), |id| id.as_str());
                            let call = SummaryToolCall {
                                id: id.to_owned(),
                                name: part.tool_name.as_str().to_owned(),
                                input: part.args.clone(),
                                is_error: None,
                                output: None,
                                step: message.step,
                                run_id: record.run_id.clone(),
                            };
                            self.add_call(record, &part.tool_call_id, offset, call);
                        }
                    }
                }
            }
            Message::ToolMessage(_) if self.is_brief => {}
            Message::ToolMessage(tool) => {
                for (ToolMessagePart::ToolResultPart(part), offset) in
                    tool.contents.iter().zip(offsets)
                {
                    let key = (record.run_id.clone(), part.tool_call_id.clone());
                    if !self.places.contains_key(&key) {
                        let call = SummaryToolCall {
                            id: part.tool_call_id.as_str().to_owned(),
                            name: part.tool_name.as_str().to_owned(),
                            input: Value::Null,
                            is_error: None,
                            output: None,
                            step: message.step,
                            run_id: record.run_id.clone(),
                        };
                        self.add_call(record, &part.tool_call_id, offset, call);
                    }
                    let place = self.places.get(&key).copied();
                    if let Some((_, call)) = place.and_then(|place| self.calls.get_mut(place)) {
                        call.is_error = part.is_error;
                        call.output = part.text();
                    }
                }
            }
            Message::UserMessage(_) | Message::InstructionMessage(_) => {}
        }
    }

    /// Returns what the parts of a message are sorted by: where they begin in the output. Offsets of a
    /// run that was seen through several streams say nothing of each other; there, the order of the
    /// records is kept.
    fn places_of<'a>(&mut self, record: &Record, message: &'a MessageRecord) -> Cow<'a, [u64]> {
        if self.metadata.source() != Some("both") {
            return Cow::Borrowed(&message.offsets);
        }
        let furthest = self.furthest.entry(record.run_id.clone()).or_default();
        let places = message.offsets.iter().map(|offset| {
            *furthest = (*furthest).max(*offset);
            *furthest
        });
        Cow::Owned(places.collect())
    }

    fn add_call(&mut self, record: &Record, id: &ToolCallId, offset: u64, call: SummaryToolCall) {
        self.places
            .insert((record.run_id.clone(), id.clone()), self.calls.len());
        self.calls.push((offset, call));
    }

    fn take_last(&mut self, message: &MessageRecord, expert: &ExpertMessage) {
        let is_new = self
            .last
            .as_ref()
            .is_none_or(|last| last.step != message.step);
        self.steps += u64::from(is_new);
        if is_new {
            self.last = Some(LastMessage {
                step: message.step,
                ..LastMessage::default()
            });
        }
        let Some(last) = &mut self.last else {
            return;
        };
        last.cut |= message.cut;
        for text in expert.texts() {
            if self.is_brief && last.text.len().saturating_add(text.len()) > BRIEF_TEXT {
                last.text = String::new();
                last.is_too_long = true;
            }
            if !last.is_too_long {
                last.text.push_str(text);
            }
        }
    }

    fn take_event(&mut self, event: &RuntimeEventKind) {
        if let RuntimeEventKind::UnparsedOutput(unparsed) = event {
            self.unparsed.push(SummaryUnparsed {
                r#type: unparsed.tag.clone(),
                line: unparsed.line,
                reason: unparsed.reason.clone(),
            });
        } else if let Some(kind) = event.notice_kind() {
            self.notices.push(SummaryNotice {
                kind: kind.to_owned(),
                text: event.notice_text(),
            });
        }
    }

    /// Returns the summary; `None` if the main run has not ended.
    #[must_use]
    pub fn finish(self) -> Option<RunSummary> {
        self.head.as_ref()?;
        self.so_far()
    }

    /// Returns the summary of a run that may still be going on; `None` if there is no run yet.
    #[must_use]
    pub fn so_far(mut self) -> Option<RunSummary> {
        let (_, runtime) = self.root?;
        // A process that died in a tool whose call came without a text gave no answer, rather than an empty one.
        let died_in_tool = self.head.as_ref().is_some_and(|head| {
            let family = head.error.as_ref().and_then(|error| error.family);
            family == Some(ErrorFamily::Process) && !head.pending.is_empty()
        });
        let (status, answer, error) = match self.head {
            Some(head) => (head.status, head.text, head.error),
            None => (CheckpointStatus::Proceeding, None, None),
        };
        let usage = self
            .open_usage
            .into_values()
            .fold(self.usage, TokenCounts::plus);
        self.texts.sort_by_key(|(offset, _)| *offset);
        self.thinking.sort_by_key(|(offset, _)| *offset);
        self.calls.sort_by_key(|(offset, _)| *offset);
        let text = |get: Option<&str>| get.map(str::to_owned);
        let whole = self.last.filter(|last| !last.cut && !last.is_too_long);
        let spoken = whole.map(|last| last.text);
        let spoken = spoken.filter(|text| !died_in_tool || !text.is_empty());
        Some(RunSummary {
            runtime,
            output_format: text(self.metadata.output_format()),
            session_id: text(self.metadata.session_id()),
            model: text(self.metadata.model()),
            cli_version: text(self.metadata.cli_version()),
            cwd: text(self.metadata.cwd()),
            status,
            outcome: Outcome::of(status, error.as_ref(), &self.metadata),
            steps: self.steps,
            duration_ms: self.metadata.took_ms(),
            usage: SummaryUsage::known(usage),
            cost_usd: self.metadata.cost_usd(),
            final_text: answer.or(spoken),
            texts: self.texts.into_iter().map(|(_, text)| text).collect(),
            thinking: self.thinking.into_iter().map(|(_, text)| text).collect(),
            tool_calls: self.calls.into_iter().map(|(_, call)| call).collect(),
            error: error.as_ref().map(SummaryError::from),
            runs: self.runs,
            notices: self.notices,
            unparsed: self.unparsed,
        })
    }
}

/// Adds a text, or lets it go on with the last one.
fn append(texts: &mut Vec<(u64, String)>, offset: u64, text: &str, goes_on: bool) {
    match texts.last_mut() {
        Some((_, last)) if goes_on => last.push_str(text),
        _ => texts.push((offset, text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{MetadataPatch, RunOpened, Start};
    use crate::{JobId, MessageId, PartId, TextPart};

    fn record(seq: u64, kind: impl Into<RecordKind>) -> Record {
        Record {
            run_id: RunId::parse("r").unwrap(),
            seq,
            at: 0,
            span: None,
            kind: kind.into(),
        }
    }

    /// A run that says one word a step, each at an offset, and has not ended.
    fn run(source: Option<&str>, words: &[(&str, u64)]) -> Vec<Record> {
        let run = RunId::parse("r").unwrap();
        let opened = RunOpened {
            job_id: JobId::parse("j").unwrap(),
            runtime: Runtime::ClaudeCode,
            delegated_by: None,
        };
        let mut set = Metadata::default();
        if let Some(source) = source {
            set.set("source", source);
        }
        let mut records = vec![
            record(0, opened),
            record(1, MetadataPatch { set }),
            record(2, Start {}),
        ];
        for (step, (word, offset)) in (1..).zip(words) {
            let part = TextPart {
                id: PartId::derive(&run, step),
                text: (*word).to_owned(),
            };
            let id = MessageId::derive(&run, step);
            let message = ExpertMessage::new(id, vec![part.into()]);
            let mut message = MessageRecord::new(step, message.into());
            message.offsets.push(*offset);
            records.push(record(step * 2 + 1, message));
            let head = CheckpointHead {
                step,
                status: CheckpointStatus::Proceeding,
                messages: step,
                usage: TokenCounts {
                    output_tokens: i64::try_from(step).ok(),
                    ..TokenCounts::default()
                },
                step_usage: TokenCounts::default(),
                started_at: 0,
                pending: Vec::new(),
                text: None,
                error: None,
            };
            records.push(record(step * 2 + 2, Box::new(head)));
        }
        records
    }

    fn so_far(records: &[Record]) -> RunSummary {
        let mut summarizer = Summarizer::new();
        for record in records {
            summarizer.push(record);
        }
        summarizer.so_far().unwrap()
    }

    #[test]
    fn offsets_of_two_streams_do_not_change_the_order_of_a_run() {
        let words = [("one", 5000), ("two", 10), ("three", 6000), ("four", 20)];
        let both = so_far(&run(Some("both"), &words));
        assert_eq!(both.texts, ["one", "two", "three", "four"]);
        let live = so_far(&run(None, &words));
        assert_eq!(live.texts, ["two", "four", "one", "three"]);
    }

    #[test]
    fn a_run_that_goes_on_has_a_summary_so_far_and_no_other() {
        let records = run(None, &[("one", 1), ("two", 2)]);
        assert_eq!(summarize(&records), None);
        let summary = so_far(&records);
        assert_eq!(summary.status, CheckpointStatus::Proceeding);
        assert_eq!(summary.final_text.as_deref(), Some("two"));
        // What the last step says is all that was used.
        assert_eq!(summary.usage.unwrap().output_tokens, Some(2));
        assert_eq!(Summarizer::new().so_far(), None);
    }
}
