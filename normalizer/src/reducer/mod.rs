//! Signals to records: steps, messages, checkpoints, and exactly one terminal event per run.
//!
//! Shared by all runtimes; nothing here knows what any of them prints. A step is held until the
//! next one opens, because results may arrive between two parts of one message and the numbers
//! of a response are final only when it is over. Everything else is a record at once.

mod calls;
mod children;
mod end;
pub(crate) mod given_up;
mod live;
mod pending;
mod run;
mod step;
mod step_index;
mod steps;

use std::collections::{BTreeMap, HashMap};

use runtape_core::record::{EventRecord, Initialize, MetadataPatch, RunOpened, Start};
use runtape_core::runtime_event::UnparsedOutput;
use runtape_core::{
    DelegatedBy, Expert, LateValue, Record, RecordKind, Runtime, RuntimeEventKind, Span, Stream,
    TokenCounts,
};
use serde_json::Value;

use self::run::Run;
use self::step::ResponseUsage;
use crate::bounds;
use crate::context::Context;
use crate::output::Output;
use crate::signal::{Emitted, Outcome, Place, Scope, Signal};

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

/// Folds the signals of one tape into the records of its runs.
#[derive(Debug)]
pub struct Reducer {
    runtime: Runtime,
    context: Context,
    with_live: bool,
    /// The root run first, then its children in the order they appeared.
    runs: Vec<Run>,
    /// The child run that a call started, by the call's id as printed.
    children: HashMap<Box<str>, usize>,
    /// The child run that made a call, for calls that could start another one.
    callers: HashMap<Box<str>, usize>,
    result: Option<Outcome<'static>>,
    duration_ms: Option<u64>,
    total: Option<TokenCounts>,
    total_is_of_session: bool,
    cost: Option<f64>,
    raw_usage: Vec<LateValue>,
    unparsed: u64,
    unknown_keys: BTreeMap<String, u64>,
    stderr_tail: String,
    output: Output,
}

impl Reducer {
    /// Creates a reducer for one tape; `with_live` asks for what can be shown at once, too.
    #[must_use]
    pub fn new(runtime: Runtime, mut context: Context, with_live: bool) -> Self {
        let place = Place {
            span: None,
            line: 0,
            at: 0,
        };
        let mut root = Run::new(context.run_id.clone(), None, place);
        if let Some(argv) = context.argv.take() {
            root.patch.set("argv", argv);
        }
        root.patch.merge(&context.metadata);
        root.patch.set("parserVersion", env!("CARGO_PKG_VERSION"));
        Self {
            runtime,
            context,
            with_live,
            runs: vec![root],
            children: HashMap::new(),
            callers: HashMap::new(),
            result: None,
            duration_ms: None,
            total: None,
            total_is_of_session: false,
            cost: None,
            raw_usage: Vec::new(),
            unparsed: 0,
            unknown_keys: BTreeMap::new(),
            stderr_tail: String::new(),
            output: Output::default(),
        }
    }

    /// Gives out what became known, and takes what is appended to from now on.
    pub fn swap_output(&mut self, output: &mut Output) {
        std::mem::swap(&mut self.output, output);
    }

    /// Takes one signal of a line. What was not understood is kept with the line's beginning.
    pub fn apply_from(&mut self, mut emitted: Emitted<'_>, span: Span, line: &[u8]) {
        // Lines that were held back belong to another place.
        let is_here = emitted.place.span == Some(span);
        let checked = bounds::check(&mut emitted.signal);
        if !checked.faults.is_empty() {
            let excerpt = is_here.then(|| excerpt(line));
            self.on_faults(checked.faults, excerpt.as_deref(), emitted.place);
        }
        match emitted.signal {
            _ if checked.is_void => {}
            Signal::Unparsed { tag, reason } if is_here => {
                self.touch(0, emitted.place);
                let excerpt = Some(excerpt(line));
                self.on_unparsed(tag.as_deref(), &reason, excerpt, emitted.place);
            }
            _ => self.apply_checked(emitted),
        }
    }

    /// Takes one signal.
    pub fn apply(&mut self, mut emitted: Emitted<'_>) {
        let checked = bounds::check(&mut emitted.signal);
        if !checked.faults.is_empty() {
            self.on_faults(checked.faults, None, emitted.place);
        }
        if !checked.is_void {
            self.apply_checked(emitted);
        }
    }

    #[cold]
    fn on_faults(&mut self, faults: Vec<String>, excerpt: Option<&str>, place: Place) {
        self.touch(0, place);
        for reason in faults {
            self.on_unparsed(None, &reason, excerpt.map(str::to_owned), place);
        }
    }

    fn apply_checked(&mut self, emitted: Emitted<'_>) {
        let Emitted {
            scope,
            place,
            signal,
        } = emitted;
        let run = match scope {
            Scope::Main => 0,
            Scope::Child(call) => self.child_of(call, place),
        };
        self.touch(run, place);
        match signal {
            Signal::Session(id) => self.learn(run, "sessionId", id.into()),
            Signal::Model(model) => self.on_model(run, model, place),
            Signal::CliVersion(version) => self.on_cli_version(run, version),
            Signal::Cwd(cwd) => self.learn(run, "cwd", cwd.into()),
            Signal::Format(format) => self.learn(0, "outputFormat", format.into()),
            Signal::Metadata(key, value) => self.learn(run, key, value),
            Signal::TurnOpened => self.reopen(place),
            Signal::User(text) => self.on_user(run, text.into_owned(), place),
            Signal::Step(key) => self.open_step(run, key, place),
            Signal::TextDelta(text) => self.on_text_delta(run, &text, place),
            Signal::TextEnd => self.close_text(run),
            Signal::Text(text) => {
                self.close_part(run);
                self.on_text(run, &text, place);
            }
            Signal::ThinkingDelta(text) => self.on_thinking_delta(run, &text, place),
            Signal::ThinkingEnd { signature } => {
                self.close_thinking(run, signature.map(Into::into), place);
            }
            Signal::Thinking { text, signature } => {
                self.close_part(run);
                self.on_thinking_delta(run, &text, place);
                self.close_thinking(run, signature.map(Into::into), place);
            }
            Signal::ToolCall {
                call,
                name,
                input,
                detail,
            } => {
                self.on_call(run, call, &name, input, detail, place);
            }
            Signal::ToolInput {
                call,
                input,
                detail,
            } => {
                self.on_input(run, call, input, detail, place);
            }
            Signal::ToolResult {
                call,
                name,
                content,
                is_error,
                duration_ms,
            } => {
                let result = calls::Answer {
                    name: name.as_deref(),
                    content,
                    is_error,
                    duration_ms,
                };
                self.on_result(run, call, result, place);
            }
            Signal::MessagePrinted => self.on_message_printed(run, place),
            Signal::MessageCut => self.cut(run),
            Signal::MessageGivenUp(retry) => self.give_up_message(run, retry, place),
            Signal::PartGivenUp(retry) => self.give_up_part(run, retry, place),
            Signal::ChildEnd {
                call,
                is_error,
                text,
            } => {
                self.end_child(&call, is_error, text.as_deref(), place);
            }
            Signal::Usage { key, counts, model } => {
                let usage = ResponseUsage {
                    key: key.into(),
                    counts,
                    model: model.map(Into::into),
                    place,
                };
                self.on_usage(run, usage);
            }
            Signal::Total(counts) => self.total = Some(counts),
            Signal::SessionTotal(counts) => {
                self.total = Some(counts);
                self.total_is_of_session = true;
            }
            Signal::RawUsage(raw) => self.on_raw_usage(raw, place),
            Signal::Cost(cost) => self.cost = Some(cost),
            Signal::Result(outcome) => self.on_outcome(outcome, place),
            Signal::Event(event) => self.on_event(run, event, place),
            Signal::Unparsed { tag, reason } => {
                self.on_unparsed(tag.as_deref(), &reason, None, place);
            }
            Signal::UnknownKey { message, key } => self.on_unknown_key(message, key),
        }
    }

    /// Records a line that was too long to be held.
    pub fn too_long(&mut self, head: &[u8], place: Place) {
        self.touch(0, place);
        let excerpt = excerpt(head);
        self.on_unparsed(
            None,
            "the line is longer than the limit",
            Some(excerpt),
            place,
        );
    }

    /// Notes the latest place of a run; opens the run with its first signal.
    fn touch(&mut self, run: usize, place: Place) {
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        state.last = place;
        if state.seq == 0 && run == 0 {
            self.open_run(run, None, place);
        }
    }

    /// Writes the record that opens a run.
    fn open_run(&mut self, run: usize, delegated_by: Option<DelegatedBy>, place: Place) {
        let opened = RunOpened {
            job_id: self.context.job_id.clone(),
            runtime: self.runtime.clone(),
            delegated_by,
        };
        self.record(run, opened, place.at, None);
    }

    /// Appends a record to a run's sequence.
    fn record(&mut self, run: usize, kind: impl Into<RecordKind>, at: i64, span: Option<Span>) {
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        let seq = Run::next(&mut state.seq);
        let run_id = state.id.clone();
        self.output.records.push(Record {
            run_id,
            seq,
            at,
            span,
            kind: kind.into(),
        });
    }

    /// Learns something for the metadata; it is written with the next checkpoint.
    fn learn(&mut self, run: usize, key: &'static str, value: Value) {
        self.learn_late(run, key, value.into());
    }

    fn learn_late(&mut self, run: usize, key: &'static str, value: LateValue) {
        if let Some(state) = self.runs.get_mut(run) {
            state.patch.set_late(key.into(), value);
        }
    }

    /// Writes what was learned since the last time.
    fn flush_metadata(&mut self, run: usize, at: i64) {
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        if !state.patch.is_empty() {
            let set = std::mem::take(&mut state.patch);
            self.record(run, MetadataPatch { set }, at, None);
        }
    }

    fn on_model(&mut self, run: usize, model: &str, place: Place) {
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        if state.model.is_none() {
            state.model = Some(model.to_owned());
            self.learn(run, "model", model.into());
            self.initialize(run, place);
        }
    }

    fn on_cli_version(&mut self, run: usize, version: &str) {
        self.learn(run, "cliVersion", version.into());
        let given = self.context.expert.is_some();
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        if !given && !state.initialized {
            state.version = Some(version.to_owned());
        }
    }

    /// Returns the expert that a run was given to; without one, the agent CLI stands for it.
    fn expert(&self, run: &Run) -> Expert {
        self.context.expert.clone().unwrap_or_else(|| Expert {
            key: self.runtime.as_str().to_owned(),
            name: self.runtime.as_str().to_owned(),
            version: run.version.as_deref().unwrap_or("unknown").to_owned(),
        })
    }

    /// Writes that the runtime is ready, once.
    fn initialize(&mut self, run: usize, place: Place) {
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        if state.initialized {
            return;
        }
        state.initialized = true;
        let Some(state) = self.runs.get(run) else {
            return;
        };
        let given = self.context.query.as_ref().filter(|_| run == 0);
        let said = || state.inputs.held.first().map(|(text, _)| text);
        let initialize = Initialize {
            expert: self.expert(state),
            model: state.model.clone(),
            query: given.or_else(said).cloned(),
        };
        self.show_init(run, place);
        self.flush_metadata(run, place.at);
        self.record(run, initialize, place.at, place.span);
    }

    /// Writes that the work begins, with what the run was given, once.
    fn start(&mut self, run: usize, place: Place) {
        if self.runs.get(run).is_none_or(|state| state.started) {
            return;
        }
        self.initialize(run, place);
        let Some(state) = self.runs.get_mut(run) else {
            return;
        };
        state.started = true;
        let given = state.inputs.given;
        // Nobody asks for it after this.
        let query = self.context.query.take_if(|_| run == 0);
        if let (true, Some(query)) = (!given, query) {
            let place = Place {
                span: None,
                ..place
            };
            self.record_user(run, query, place);
        }
        self.record_inputs(run);
        self.record(run, Start {}, place.at, None);
    }

    fn on_event(&mut self, run: usize, event: RuntimeEventKind, place: Place) {
        if let RuntimeEventKind::PermissionDenied(denied) = &event
            && let Some(id) = &denied.tool_call_id
            && let Some(state) = self.runs.get_mut(run)
            && !state.count_once("denied", id.as_str())
        {
            return;
        }
        if let RuntimeEventKind::StderrText(text) = &event {
            self.remember_stderr(&text.text);
        }
        self.show_event(run, &event, place);
        let step = self.runs.get(run).map_or(0, |state| state.step);
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

    fn on_unparsed(
        &mut self,
        tag: Option<&str>,
        reason: &str,
        excerpt: Option<String>,
        place: Place,
    ) {
        self.unparsed += 1;
        let event = UnparsedOutput {
            stream: place.span.map_or(Stream::Stdout, |span| span.stream),
            line: place.line,
            tag: tag.map(|tag| tag.chars().take(EXCERPT).collect()),
            reason: reason.chars().take(EXCERPT).collect(),
            excerpt,
        };
        self.on_event(0, event.into(), place);
    }

    /// Keeps a usage object as it was printed: the first ones and the last, as far as there is
    /// room. A session may have any number of them.
    fn on_raw_usage(&mut self, raw: LateValue, place: Place) {
        if raw.weight() > (self.context.limit / MOST_RAW_USAGES).max(LEAST_RAW_USAGE) {
            let reason = "a usage object that is too large to be kept";
            return self.on_unparsed(None, reason, None, place);
        }
        if self.raw_usage.len() == MOST_RAW_USAGES {
            self.raw_usage.pop();
        }
        self.raw_usage.push(raw);
    }

    fn on_unknown_key(&mut self, message: &str, key: &str) {
        let name = format!("{message}.{key}");
        if let Some(count) = self.unknown_keys.get_mut(&name) {
            *count += 1;
        } else if self.unknown_keys.len() < MOST_UNKNOWN_KEYS {
            self.unknown_keys.insert(name, 1);
        }
    }
}

/// Returns the beginning of a line.
fn excerpt(line: &[u8]) -> String {
    let head = line.get(..line.len().min(4 * EXCERPT)).unwrap_or_default();
    String::from_utf8_lossy(head)
        .chars()
        .take(EXCERPT)
        .collect()
}
