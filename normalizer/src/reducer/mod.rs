//! Signals to records: steps, messages, checkpoints, and exactly one terminal event per run.
//!
//! Shared by all runtimes; nothing here knows what any of them prints. A step is held until the
//! next one opens, because results may arrive between two parts of one message and the numbers
//! of a response are final only when it is over. Everything else is a record at once.

mod calls;
mod children;
mod end;
pub(crate) mod given_up;
mod inputs;
mod live;
mod opening;
mod pending;
mod run;
mod step;
mod step_index;
mod steps;
mod tape;

use runtape_core::{PARSER_VERSION, Runtime};

use self::children::Children;
use self::run::{Run, TextChannel};
use self::step::ResponseUsage;
use self::steps::StepEnd;
use self::tape::{TapeState, TotalScope, excerpt};
use crate::bounds;
use crate::context::Context;
use crate::exit::Exit;
use crate::framing::lines::Line;
use crate::output::Output;
use crate::signal::{Emitted, Scope, Signal, TapePlace};

/// Folds the signals of one tape into the records of its runs.
#[derive(Debug)]
pub struct Reducer {
    // Boxed, because a reducer is handed on a few times while it is made, and copying these takes
    // longer than reading a short line.
    tape: Box<TapeState>,
    /// The run that the tape is of.
    root: Box<Run>,
    children: Children,
}

impl Reducer {
    /// Creates a reducer for one tape; `with_live` asks for what can be shown at once, too.
    #[must_use]
    pub fn new(runtime: Runtime, mut context: Context, with_live: bool) -> Self {
        let place = TapePlace {
            span: None,
            line: 0,
            at: 0,
        };
        let mut root = Box::new(Run::new(context.run_id.clone(), 0, None, place));
        if let Some(argv) = context.argv.take() {
            root.patch.set("argv", argv);
        }
        root.patch.merge(&context.metadata);
        root.patch.set("parserVersion", PARSER_VERSION);
        Self {
            tape: Box::new(TapeState::new(runtime, context, with_live)),
            root,
            children: Children::default(),
        }
    }

    /// Returns the runtime.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.tape.runtime
    }

    /// Says whether the times of the run are those of its session files, and tell how long it took.
    pub fn set_measured(&mut self, is_measured: bool) {
        self.tape.is_measured = is_measured;
    }

    /// Gives out what became known, and takes what is appended to from now on.
    pub fn swap_output(&mut self, output: &mut Output) {
        std::mem::swap(&mut self.tape.output, output);
    }

    #[cold]
    fn on_faults(&mut self, faults: Vec<String>, line: Option<&Line<'_>>, place: TapePlace) {
        let (tape, root) = (&mut self.tape, &mut self.root);
        tape.touch_root(root, place);
        for reason in faults {
            let excerpt = line.map(|line| excerpt(line.bytes));
            tape.on_unparsed(root, None, &reason, excerpt, place);
        }
    }

    /// Records a line that was too long to be held.
    pub fn too_long(&mut self, head: &[u8], place: TapePlace) {
        let (tape, root) = (&mut self.tape, &mut self.root);
        tape.touch_root(root, place);
        let reason = "the line is longer than the limit";
        tape.on_unparsed(root, None, reason, Some(excerpt(head)), place);
    }

    /// Takes one signal, and the line that is read with its place; none if it came from the exit.
    /// What was not understood is kept with the line's beginning.
    #[expect(clippy::too_many_lines, reason = "one arm a signal")]
    pub fn apply(&mut self, mut emitted: Emitted<'_>, read: Option<(&Line<'_>, TapePlace)>) {
        let Emitted { scope, place, .. } = emitted;
        // The signals of a line that was held back come with that line's span: its beginning is
        // not at hand.
        let line = read.filter(|(_, read)| read.span == place.span);
        let line = line.map(|(line, _)| line);
        let checked = bounds::check(&mut emitted.signal);
        if !checked.faults.is_empty() {
            self.on_faults(checked.faults, line, place);
        }
        if checked.is_void {
            return;
        }
        if let (Some(line), Signal::Unparsed { tag, reason }) = (line, &emitted.signal) {
            let (tape, root) = (&mut self.tape, &mut self.root);
            tape.touch_root(root, place);
            let excerpt = Some(excerpt(line.bytes));
            return tape.on_unparsed(root, tag.as_deref(), reason, excerpt, place);
        }
        let (tape, root) = (&mut *self.tape, &mut *self.root);
        let children = &mut self.children;
        let run = match scope {
            Scope::Main => {
                tape.touch_root(root, place);
                &mut *root
            }
            Scope::Child(call) => children.run_of(call, root, tape, place),
        };
        if run.ended {
            return tape.impossible(run, "a signal came after the end of its run", place);
        }
        match emitted.signal {
            Signal::Session(id) => run.learn("sessionId", id),
            Signal::Model(model) => tape.on_model(run, model, place),
            Signal::CliVersion(version) => tape.on_cli_version(run, version),
            Signal::Cwd(cwd) => run.learn("cwd", cwd),
            Signal::Format(format) => root.learn("outputFormat", format),
            Signal::Metadata(key, value) => run.learn(key, value),
            Signal::Delegates(call) => tape.on_delegates(run, call),
            Signal::TurnOpened => tape.reopen(root, place),
            Signal::User(text) => tape.on_user(run, text.into_owned(), place),
            Signal::Step(key) => tape.open_step(run, key, place),
            Signal::Remark => run.channel = TextChannel::Progress,
            Signal::TextDelta(text) => tape.on_text_delta(run, &text, place),
            Signal::TextEnd => {
                run.close_text();
                run.channel = TextChannel::Answer;
            }
            Signal::Text(text) => {
                tape.close_part(run);
                tape.on_text(run, text, place);
            }
            Signal::Answer(text) => {
                tape.close_part(root);
                tape.on_answer(root, text, place);
            }
            Signal::ThinkingDelta(text) => tape.on_thinking_delta(run, &text, place),
            Signal::ThinkingEnd { signature } => {
                tape.close_thinking(run, signature.map(Into::into), place);
            }
            Signal::Thinking { text, signature } => {
                tape.close_part(run);
                tape.on_thinking_delta(run, &text, place);
                tape.close_thinking(run, signature.map(Into::into), place);
            }
            Signal::ToolCall {
                call,
                name,
                input,
                detail,
            } => {
                tape.on_call(run, call, &name, input, detail, place);
            }
            Signal::ToolInput {
                call,
                input,
                detail,
            } => {
                tape.on_input(run, call, input, detail, place);
            }
            Signal::ToolResult {
                call,
                name,
                content,
                is_error,
                duration_ms,
            } => {
                let result = calls::ToolAnswer {
                    name: name.as_deref(),
                    content,
                    is_error,
                    duration_ms,
                };
                tape.on_result(run, call, result, place);
            }
            Signal::MessagePrinted => tape.on_message_printed(run, place),
            Signal::MessageCut => run.cut(),
            Signal::MessageGivenUp(retry) => tape.give_up_message(run, retry, place),
            Signal::PartGivenUp(retry) => tape.give_up_part(run, retry, place),
            Signal::ChildEnd {
                call,
                is_error,
                text,
            } => {
                children.end(tape, &call, is_error, text.as_deref(), place);
            }
            Signal::Usage { key, counts, model } => {
                let usage = ResponseUsage {
                    key: key.into(),
                    counts,
                    model: model.map(Into::into),
                    place,
                };
                tape.on_usage(run, usage);
            }
            Signal::Total(counts) => tape.total = Some((counts, TotalScope::Tree)),
            Signal::RootTotal(counts) => tape.total = Some((counts, TotalScope::Root)),
            Signal::SessionTotal(counts) => tape.total = Some((counts, TotalScope::Session)),
            Signal::RawUsage(raw) => tape.on_raw_usage(root, raw, place),
            Signal::Cost(cost) => tape.cost = Some(cost),
            Signal::Result(outcome) => tape.on_outcome(root, outcome, place),
            Signal::Event(event) => tape.on_event(run, event, place),
            Signal::Unparsed { tag, reason } => {
                tape.on_unparsed(root, tag.as_deref(), &reason, None, place);
            }
            Signal::UnknownKey { message, key } => tape.on_unknown_key(message, key),
        }
    }

    /// Writes all that is held of a run that may go on, and does not end it. Nothing may be applied after this: whatever goes
    /// on is read anew.
    pub fn flush(&mut self, at: i64) {
        let (tape, root) = (&mut *self.tape, &mut *self.root);
        let place = TapePlace {
            span: None,
            line: 0,
            at: at.max(root.last.at),
        };
        tape.touch_root(root, place);
        self.children.flush_all(tape, place);
        tape.start(root, place);
        tape.close_part(root);
        tape.book_remainder(root, &self.children, place);
        tape.learn_totals(root);
        tape.close_step(root, StepEnd::PROCEEDING, place);
        tape.flush_metadata(root, place.at);
    }

    /// Ends the root run and all its children. Nothing may be applied after this.
    ///
    /// `exit_is_signal` tells whether an exit code of this runtime stands for a signal.
    pub fn finish(&mut self, exit: &Exit, at: i64, exit_is_signal: impl Fn(i32) -> bool) {
        self.release_opening(None);
        let seen = exit.finished_at.unwrap_or(i64::MIN);
        let place = TapePlace {
            span: None,
            line: 0,
            at: at.max(self.root.last.at).max(seen),
        };
        self.record_inputs_left();
        self.tape.touch_root(&mut self.root, place);
        self.children.end_all(&mut self.tape, exit, place);
        let (tape, root) = (&mut self.tape, &mut self.root);
        root.latest = root.latest.max(self.children.latest());
        tape.finish(root, &self.children, exit, exit_is_signal);
    }
}
