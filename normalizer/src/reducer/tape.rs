//! What is known of a tape as a whole, and the records that its runs append to.

use std::collections::{BTreeMap, HashMap};

use runtape_core::record::{EventRecord, Initialize, MetadataPatch, RunOpened, Start};
use runtape_core::runtime_event::UnparsedOutput;
use runtape_core::{
    DelegatedBy, Expert, LateValue, Record, RecordKind, Runtime, RuntimeEventKind, Span, Stream,
    TokenCounts, ToolName,
};

use super::end::{HeldAnswer, TurnResult};
use super::inputs::AwaitingInputs;
use super::opening::Opening;
use super::run::Run;
use crate::context::Context;
use crate::output::Output;
use crate::signal::TapePlace;

/// Longest excerpt of output that was not understood.
const EXCERPT: usize = 200;
/// Most different unknown keys that are counted.
const MOST_UNKNOWN_KEYS: usize = 256;
/// Most usage objects that are kept as they were printed.
const MOST_RAW_USAGES: usize = 16;
/// However low the limit is, a usage object of so many bytes is kept.
const LEAST_RAW_USAGE: usize = 64 * 1024;
/// How many of the last bytes on standard error explain a failure.
const STDERR_TAIL: usize = 2000;

/// What a stated total covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TotalScope {
    /// This run and its sub-agents.
    Tree,
    /// This run without its sub-agents.
    Root,
    /// All runs of the session so far.
    Session,
}

/// What is known of a tape as a whole. Its methods are handed the run that they are about.
#[derive(Debug)]
pub(super) struct TapeState {
    pub(super) runtime: Runtime,
    pub(super) context: Context,
    pub(super) with_live: bool,
    /// The number of the child run that made a call, for calls that could start another one.
    pub(super) callers: HashMap<Box<str>, usize>,
    /// Tool and step of calls that start a sub-agent, by their printed ids: such a call may be over
    /// when its sub-agent shows itself.
    pub(super) delegations: HashMap<Box<str>, (ToolName, u64)>,
    /// What the root run said that is its answer, if a result says so.
    pub(super) answer: HeldAnswer,
    /// The root run's result, unless work went on after it.
    pub(super) result: Option<TurnResult>,
    pub(super) duration_ms: Option<u64>,
    /// The last total that the runtime stated, and what it covers.
    pub(super) total: Option<(TokenCounts, TotalScope)>,
    pub(super) cost: Option<f64>,
    pub(super) raw_usage: Vec<LateValue>,
    pub(super) unparsed: u64,
    pub(super) unknown_keys: BTreeMap<String, u64>,
    pub(super) stderr_tail: String,
    pub(super) awaiting: AwaitingInputs,
    /// The times of the run are those that its session files tell, and how long it took is known by them.
    pub(super) is_measured: bool,
    /// The first records, while no time was told.
    pub(super) opening: Option<Box<Opening>>,
    pub(super) output: Output,
}

impl TapeState {
    pub(super) fn new(runtime: Runtime, context: Context, with_live: bool) -> Self {
        Self {
            runtime,
            context,
            with_live,
            callers: HashMap::new(),
            delegations: HashMap::new(),
            answer: HeldAnswer::None,
            result: None,
            duration_ms: None,
            total: None,
            cost: None,
            raw_usage: Vec::new(),
            unparsed: 0,
            unknown_keys: BTreeMap::new(),
            stderr_tail: String::new(),
            awaiting: AwaitingInputs::default(),
            is_measured: false,
            opening: None,
            output: Output::default(),
        }
    }

    /// Notes the latest place of the root run, and opens it with its first signal.
    pub(super) fn touch_root(&mut self, root: &mut Run, place: TapePlace) {
        root.last = place;
        if root.seq == 0 {
            self.open_run(root, None, place);
        }
    }

    /// Writes the record that opens a run.
    pub(super) fn open_run(
        &mut self,
        run: &mut Run,
        delegated_by: Option<DelegatedBy>,
        place: TapePlace,
    ) {
        let opened = RunOpened {
            job_id: self.context.job_id.clone(),
            runtime: self.runtime.clone(),
            delegated_by: delegated_by.map(Box::new),
        };
        // A runtime that is silent for long, or prints all at its end, began before its first line.
        let began = self.context.metadata.started_at();
        let at = began.filter(|_| run.is_root()).unwrap_or(place.at);
        self.record(run, opened, at, None);
    }

    /// Appends a record to a run's sequence.
    pub(super) fn record(
        &mut self,
        run: &mut Run,
        kind: impl Into<RecordKind>,
        at: i64,
        span: Option<Span>,
    ) {
        let is_dated = self.opening.is_none();
        let at = if is_dated { run.time(at) } else { at };
        let seq = Run::next(&mut run.seq);
        let run_id = run.id.clone();
        let record = Record {
            run_id,
            seq,
            at,
            span,
            kind: kind.into(),
        };
        match &mut self.opening {
            Some(opening) => opening.records.push(record),
            None => self.output.records.push(record),
        }
    }

    /// Writes what was learned since the last time.
    pub(super) fn flush_metadata(&mut self, run: &mut Run, at: i64) {
        if !run.patch.is_empty() {
            let set = std::mem::take(&mut run.patch);
            self.record(run, MetadataPatch { set }, at, None);
        }
    }

    pub(super) fn on_model(&mut self, run: &mut Run, model: &str, place: TapePlace) {
        if run.model.is_none() {
            run.model = Some(model.to_owned());
            run.learn("model", model);
            self.initialize(run, place);
        }
    }

    pub(super) fn on_cli_version(&mut self, run: &mut Run, version: &str) {
        run.learn("cliVersion", version);
        let given = self.context.expert.is_some();
        if !given && !run.initialized {
            run.version = Some(version.to_owned());
        }
    }

    /// Returns the expert that a run was given to; without one, the agent CLI stands for it.
    pub(super) fn expert(&self, run: &Run) -> Expert {
        self.context.expert.clone().unwrap_or_else(|| Expert {
            key: self.runtime.as_str().to_owned(),
            name: self.runtime.as_str().to_owned(),
            version: run.version.as_deref().unwrap_or("unknown").to_owned(),
        })
    }

    /// Writes that the runtime is ready, once.
    pub(super) fn initialize(&mut self, run: &mut Run, place: TapePlace) {
        if run.initialized {
            return;
        }
        run.initialized = true;
        let given = self.context.query.as_ref().filter(|_| run.is_root());
        let said = || run.inputs.held.first().map(|(text, _)| text);
        let initialize = Initialize {
            expert: self.expert(run),
            model: run.model.clone(),
            query: given.or_else(said).cloned(),
        };
        self.show_init(run, place);
        self.flush_metadata(run, place.at);
        self.record(run, initialize, place.at, place.span);
    }

    /// Writes that the work begins, with what the run was given, once.
    pub(super) fn start(&mut self, run: &mut Run, place: TapePlace) {
        if run.started {
            return;
        }
        self.initialize(run, place);
        run.started = true;
        let given = run.inputs.given;
        // Nobody asks for it after this.
        let query = self.context.query.take_if(|_| run.is_root());
        if let (true, Some(query)) = (!given, query) {
            let place = TapePlace {
                span: None,
                ..place
            };
            self.record_user(run, query, place);
        }
        self.record_inputs(run);
        self.record(run, Start {}, place.at, None);
    }

    pub(super) fn on_event(&mut self, run: &mut Run, event: RuntimeEventKind, place: TapePlace) {
        if let RuntimeEventKind::PermissionDenied(denied) = &event
            && let Some(id) = &denied.tool_call_id
            && !run.count_once("denied", id)
        {
            return;
        }
        if let RuntimeEventKind::StderrText(text) = &event {
            self.remember_stderr(&text.text);
        }
        self.show_event(run, &event, place);
        let step = run.step;
        self.record(run, EventRecord { step, event }, place.at, place.span);
    }

    fn remember_stderr(&mut self, line: &str) {
        if !self.stderr_tail.is_empty() {
            self.stderr_tail.push('\n');
        }
        self.stderr_tail.push_str(line);
        if self.stderr_tail.len() > 2 * STDERR_TAIL {
            let keep = self.stderr_tail.len() - STDERR_TAIL;
            let cut = (keep..=self.stderr_tail.len())
                .find(|at| self.stderr_tail.is_char_boundary(*at))
                .unwrap_or(self.stderr_tail.len());
            self.stderr_tail.drain(..cut);
        }
    }

    pub(super) fn on_unparsed(
        &mut self,
        run: &mut Run,
        tag: Option<&str>,
        reason: &str,
        excerpt: Option<String>,
        place: TapePlace,
    ) {
        self.unparsed += 1;
        let event = UnparsedOutput {
            stream: place.span.map_or(Stream::Stdout, |span| span.stream),
            line: place.line,
            tag: tag.map(|tag| tag.chars().take(EXCERPT).collect()),
            reason: reason.chars().take(EXCERPT).collect(),
            excerpt,
        };
        self.on_event(run, event.into(), place);
    }

    /// Keeps a usage object as it was printed: the first ones and the last, as far as there is
    /// room. A session may have any number of them.
    pub(super) fn on_raw_usage(&mut self, root: &mut Run, raw: LateValue, place: TapePlace) {
        if raw.weight() > (self.context.limit / MOST_RAW_USAGES).max(LEAST_RAW_USAGE) {
            let reason = "a usage object that is too large to be kept";
            return self.on_unparsed(root, None, reason, None, place);
        }
        if self.raw_usage.len() == MOST_RAW_USAGES {
            self.raw_usage.pop();
        }
        self.raw_usage.push(raw);
    }

    pub(super) fn on_unknown_key(&mut self, message: &str, key: &str) {
        let name = format!("{message}.{key}");
        if let Some(count) = self.unknown_keys.get_mut(&name) {
            *count += 1;
        } else if self.unknown_keys.len() < MOST_UNKNOWN_KEYS {
            self.unknown_keys.insert(name, 1);
        }
    }

    /// Leaves a record of a state that cannot be: what was said in it goes no further.
    #[cold]
    pub(super) fn impossible(&mut self, run: &mut Run, state: &'static str, place: TapePlace) {
        debug_assert!(false, "{state}");
        self.on_unparsed(run, None, state, None, place);
    }
}

/// Returns the beginning of a line.
pub(super) fn excerpt(line: &[u8]) -> String {
    let head = line.get(..line.len().min(4 * EXCERPT)).unwrap_or_default();
    String::from_utf8_lossy(head)
        .chars()
        .take(EXCERPT)
        .collect()
}
