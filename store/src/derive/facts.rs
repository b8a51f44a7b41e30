//! What queries need to know of a run, computed from its records and nothing else.
//!
//! Writing folds records into facts as they come; `verify` folds the stored records again and
//! compares. So whatever stands in a derived table can be proved.

use std::collections::HashMap;

use runtape_core::record::{
    CheckpointHead, EventRecord, MessageRecord, RunOpened, UsageEntry, UsageSource,
};
use runtape_core::{
    CheckpointId, CheckpointStatus, ExpertPart, Message, Metadata, Outcome, Record, RecordKind,
    RunError, RunId, RuntimeEventKind, Stream, TokenCounts, ToolCallId, UserPart,
};

use crate::format::chain;

/// Most characters of a notice or excerpt in a derived table; the record has all of it. Notices
/// are most of what some runtimes print, and they are kept twice already.
const EXCERPT: usize = 80;

/// Most characters of what was asked that stand in the row of a run.
const PROMPT: usize = 200;

/// What is known of a run as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunFacts {
    pub(crate) opened: Option<RunOpened>,
    pub(crate) expert: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) cli_version: Option<String>,
    /// Set once the run has ended.
    pub(crate) status: Option<CheckpointStatus>,
    /// Set with it.
    pub(crate) outcome: Option<Outcome>,
    pub(crate) started_at: Option<i64>,
    pub(crate) finished_at: Option<i64>,
    pub(crate) steps: u64,
    pub(crate) messages: u64,
    pub(crate) unparsed: u64,
    pub(crate) records: u64,
    pub(crate) usage: TokenCounts,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) duration_ms: Option<i64>,
    pub(crate) reported_duration_ms: Option<i64>,
    /// What was asked, cut to what a table needs.
    pub(crate) prompt: Option<String>,
    /// The command line, as JSON.
    pub(crate) argv: Option<String>,
    pub(crate) permission_mode: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) signal: Option<String>,
    pub(crate) git_commit: Option<String>,
    pub(crate) git_branch: Option<String>,
    /// The labels, as JSON; none where there are none.
    pub(crate) labels: Option<String>,
    /// What the agent CLI calls the session.
    pub(crate) session_title: Option<String>,
    pub(crate) error: Option<RunError>,
}

/// A row of a derived table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fact {
    Step(StepFact),
    Call(CallFact),
    /// Belongs to an earlier call.
    Result(ResultFact),
    Notice(NoticeFact),
    Unparsed(UnparsedFact),
    Usage(UsageFact),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StepFact {
    pub(crate) step: u64,
    pub(crate) seq: u64,
    pub(crate) checkpoint_id: String,
    pub(crate) status: String,
    pub(crate) started_at: i64,
    pub(crate) finished_at: i64,
    pub(crate) messages: u64,
    pub(crate) tool_calls: u64,
    pub(crate) pending: u64,
    pub(crate) usage: TokenCounts,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallFact {
    pub(crate) seq: u64,
    pub(crate) part: u64,
    pub(crate) step: u64,
    pub(crate) at: i64,
    pub(crate) tool: String,
    /// What the tool is for; none where the record does not say.
    pub(crate) class: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) paths: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) result: Option<ResultFact>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResultFact {
    /// The call's place.
    pub(crate) call: (u64, u64),
    pub(crate) seq: u64,
    pub(crate) is_error: Option<bool>,
    pub(crate) duration_ms: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NoticeFact {
    pub(crate) seq: u64,
    pub(crate) step: u64,
    pub(crate) at: i64,
    pub(crate) kind: String,
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnparsedFact {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) stream: Stream,
    pub(crate) line: u64,
    pub(crate) tag: Option<String>,
    pub(crate) reason: String,
    pub(crate) excerpt: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UsageFact {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) key: String,
    pub(crate) source: String,
    pub(crate) step: Option<u64>,
    pub(crate) model: Option<String>,
    pub(crate) counts: TokenCounts,
    pub(crate) session_key: Option<i64>,
    /// The numbers are the total of the session so far.
    pub(crate) of_session: bool,
}

/// Folds the records of one run.
#[derive(Debug, Default)]
pub(crate) struct FactFolder {
    pub(crate) run: RunFacts,
    metadata: Metadata,
    /// Calls that have no result yet: what is kept must not grow with the run.
    calls: HashMap<ToolCallId, (u64, u64)>,
    step_calls: u64,
    /// Whether the work has begun: calls before that belong to the run that this one continues.
    started: bool,
    /// The last total of the whole session that the run stated.
    session_total: Option<TokenCounts>,
}

impl FactFolder {
    /// Takes the next record and adds the rows that follow from it.
    pub(crate) fn push(&mut self, record: &Record, facts: &mut Vec<Fact>) {
        self.run.records = record.seq + 1;
        if record.seq == 0 {
            self.run.started_at = Some(record.at);
        }
        match &record.kind {
            RecordKind::Run(opened) => self.run.opened = Some(opened.clone()),
            RecordKind::Metadata(patch) => self.learn(&patch.set),
            RecordKind::Initialize(initialize) => {
                self.run.expert = Some(initialize.expert.key.clone());
                if self.run.model.is_none() {
                    self.run.model.clone_from(&initialize.model);
                }
                self.asked(initialize.query.as_deref());
            }
            RecordKind::Start(_) => self.started = true,
            RecordKind::Message(message) => self.message(record, message, facts),
            RecordKind::Usage(entry) => self.usage(record, entry, facts),
            RecordKind::Checkpoint(head) => self.checkpoint(record, head, facts),
            RecordKind::Event(event) => self.event(record, event, facts),
            // A kind added to the model later says nothing here until it is given a row.
            _ => {}
        }
    }

    fn learn(&mut self, patch: &Metadata) {
        self.metadata.merge(patch);
        let text = |value: Option<&str>| value.map(str::to_owned);
        if let Some(model) = self.metadata.model() {
            self.run.model = Some(model.to_owned());
        }
        self.run.session = text(self.metadata.session_id());
        self.run.cwd = text(self.metadata.cwd());
        self.run.cli_version = text(self.metadata.cli_version());
        self.run.cost_usd = self.metadata.cost_usd();
        self.run.duration_ms = self.metadata.took_ms();
        self.run.reported_duration_ms = self.metadata.duration_ms();
        let argv = self.metadata.argv();
        self.run.argv = argv.and_then(|argv| serde_json::to_string(&argv).ok());
        self.run.permission_mode = text(self.metadata.permission_mode());
        self.run.host = text(self.metadata.host());
        self.run.user = text(self.metadata.user());
        self.run.exit_code = self.metadata.exit_code();
        self.run.signal = text(self.metadata.signal());
        self.run.git_commit = text(self.metadata.git_commit());
        self.run.git_branch = text(self.metadata.git_branch());
        let title = self.metadata.title().map(str::trim);
        self.run.session_title = text(title.filter(|title| !title.is_empty()));
        let labels = Some(self.metadata.labels()).filter(|labels| !labels.is_empty());
        self.run.labels = labels.and_then(|labels| serde_json::to_string(&labels).ok());
    }

    fn message(&mut self, record: &Record, message: &MessageRecord, facts: &mut Vec<Fact>) {
        self.run.messages += 1;
        if let Message::UserMessage(user) = &message.message {
            let text = user.contents.iter().find_map(|part| match part {
                UserPart::TextPart(part) => Some(part.text.as_str()),
                _ => None,
            });
            self.asked(text);
        }
        if !self.started {
            return;
        }
        match &message.message {
            Message::ExpertMessage(expert) => {
                let notes = message.calls.iter();
                let notes = first_of_each(notes.map(|note| (&note.tool_call_id, note)));
                for (part, content) in (0_u64..).zip(&expert.contents) {
                    let ExpertPart::ToolCallPart(call) = content else {
                        continue;
                    };
                    let note = notes.get(&call.tool_call_id);
                    self.step_calls += 1;
                    self.calls
                        .insert(call.tool_call_id.clone(), (record.seq, part));
                    facts.push(Fact::Call(CallFact {
                        seq: record.seq,
                        part,
                        step: message.step,
                        at: record.at,
                        tool: call.tool_name.as_str().to_owned(),
                        class: note
                            .and_then(|note| note.class)
                            .map(|class| class.as_str().to_owned()),
                        command: note.and_then(|note| note.command.clone()),
                        paths: note
                            .filter(|note| !note.paths.is_empty())
                            .and_then(|note| serde_json::to_string(&note.paths).ok()),
                        url: note.and_then(|note| note.url.clone()),
                        result: None,
                    }));
                }
            }
            Message::ToolMessage(tool) => {
                let notes = message.results.iter();
                let notes = first_of_each(notes.map(|note| (&note.tool_call_id, note)));
                for part in tool.results() {
                    let Some(call) = self.calls.remove(&part.tool_call_id) else {
                        continue;
                    };
                    let note = notes.get(&part.tool_call_id);
                    facts.push(Fact::Result(ResultFact {
                        call,
                        seq: record.seq,
                        is_error: part.is_error,
                        duration_ms: note.and_then(|note| note.duration_ms),
                    }));
                }
            }
            Message::UserMessage(_) | Message::InstructionMessage(_) => {}
        }
    }

    /// Learns what was asked, unless that is known.
    fn asked(&mut self, text: Option<&str>) {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        if let (None, Some(text)) = (&self.run.prompt, text) {
            self.run.prompt = Some(text.chars().take(PROMPT).collect());
        }
    }

    fn usage(&mut self, record: &Record, entry: &UsageEntry, facts: &mut Vec<Fact>) {
        let used = if entry.of_session {
            let before = self.session_total.replace(entry.counts);
            before.map_or(entry.counts, |before| above(entry.counts, before))
        } else {
            entry.counts
        };
        self.run.usage = self.run.usage.plus(used);
        // Only a response can be reported again by a run that resumes the session.
        let session = self.run.session.as_ref();
        let session = session.filter(|_| entry.source == UsageSource::Response);
        facts.push(Fact::Usage(UsageFact {
            seq: record.seq,
            at: record.at,
            key: entry.key.clone(),
            source: source(entry.source).to_owned(),
            step: entry.step,
            model: entry.model.clone(),
            counts: entry.counts,
            session_key: session.map(|session| session_key(session, &entry.key)),
            of_session: entry.of_session,
        }));
    }

    fn checkpoint(&mut self, record: &Record, head: &CheckpointHead, facts: &mut Vec<Fact>) {
        self.run.steps = self.run.steps.max(head.step);
        facts.push(Fact::Step(StepFact {
            step: head.step,
            seq: record.seq,
            checkpoint_id: CheckpointId::derive(&record.run_id, head.step).to_string(),
            status: head.status.as_str().to_owned(),
            started_at: head.started_at,
            finished_at: record.at,
            messages: head.messages,
            tool_calls: std::mem::take(&mut self.step_calls),
            pending: u64::try_from(head.pending.len()).unwrap_or(u64::MAX),
            usage: head.step_usage,
        }));
        if head.status.is_terminal() {
            self.run.status = Some(head.status);
            let outcome = Outcome::of(head.status, head.error.as_ref(), &self.metadata);
            self.run.outcome = Some(outcome);
            self.run.finished_at = Some(record.at);
            self.run.error.clone_from(&head.error);
        }
    }

    fn event(&mut self, record: &Record, event: &EventRecord, facts: &mut Vec<Fact>) {
        if let RuntimeEventKind::UnparsedOutput(output) = &event.event {
            self.run.unparsed += 1;
            facts.push(Fact::Unparsed(UnparsedFact {
                seq: record.seq,
                at: record.at,
                stream: output.stream,
                line: output.line,
                tag: output.tag.clone(),
                reason: cut(output.reason.clone()),
                excerpt: output.excerpt.clone().map(cut),
            }));
        } else if let Some(kind) = event.event.notice_kind() {
            facts.push(Fact::Notice(NoticeFact {
                seq: record.seq,
                step: event.step,
                at: record.at,
                kind: kind.to_owned(),
                text: cut(event.event.notice_text()),
            }));
        }
    }

    /// Returns the run that started this one.
    pub(crate) fn parent(&self) -> Option<&RunId> {
        let opened = self.run.opened.as_ref()?;
        Some(&opened.delegated_by.as_ref()?.run_id)
    }
}

/// Puts notes under the calls they are of. Should a call have several, the first one counts.
fn first_of_each<'a, T>(
    notes: impl DoubleEndedIterator<Item = (&'a ToolCallId, T)>,
) -> HashMap<&'a ToolCallId, T> {
    notes.rev().collect()
}

/// Returns what a total holds beyond an earlier one: never less than nothing, for a session that was
/// begun anew counts from zero again.
fn above(total: TokenCounts, before: TokenCounts) -> TokenCounts {
    total.beyond(before).without_writes()
}

/// Cuts a text to what a derived table holds.
fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(EXCERPT) {
        text.truncate(at);
    }
    text
}

/// Returns a source's name as in JSON.
fn source(source: UsageSource) -> &'static str {
    match source {
        UsageSource::Response => "response",
        UsageSource::Total => "total",
        UsageSource::Remainder => "remainder",
    }
}

/// Names a response within its session by a number that an index can hold.
fn session_key(session: &str, key: &str) -> i64 {
    let pieces = [session.as_bytes(), key.as_bytes()];
    let hash = chain::keyed("runtape response of a session", &pieces);
    let first = hash.first_chunk().copied().unwrap_or_default();
    i64::from_le_bytes(first)
}
