//! Events of runs, and around them.
//!
//! Events restate each other: a step's event has the messages that its calls and results had, a
//! checkpoint has all messages so far, and what was streamed comes again whole. So a message is taken
//! once, by its id and content; results wait for the message that says whether they failed; and
//! streamed text is not said again.
//!
//! The first run, and each that nobody delegated, is the main run. One that was delegated is the child
//! run of the call that did.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use runtape_core::run_event::{CompleteRun, Retry, StartRun};
use runtape_core::runtime_event::{ApiRetry, Info, StreamChannel};
use runtape_core::{
    AnswerMessage, Checkpoint, Event, InputMessage, Message, RetryMessage, RunEvent, RunEventKind,
    RuntimeEvent, RuntimeEventKind, SpokenMessage, Step, TokenCounts,
};

use super::told_run::ToldRun;
use super::{failure, usage};
use crate::parser::SignalSink;
use crate::signal::{Signal, Verdict};

/// How many runs are followed at a time. One that was not heard of for that long is over, or will be
/// told as another turn.
const MOST_RUNS: usize = 1024;

/// Reads events.
pub(super) struct Events {
    limit: usize,
    runs: HashMap<Box<str>, ToldRun>,
    /// The runs that are followed, in the order they appeared.
    order: VecDeque<Box<str>>,
    known: TakenIds,
    /// What the main runs used by their last checkpoints.
    total: TokenCounts,
    has_children: bool,
}

/// What was taken already, as hashes of a few bytes each.
#[derive(Default)]
pub(super) struct TakenIds {
    seen: HashSet<u64>,
    hasher: FixedState,
}

impl TakenIds {
    /// Remembers something; `false` if it is known.
    fn remember(&mut self, what: &str, content: &[u8]) -> bool {
        self.seen.insert(self.hasher.hash_one((what, content)))
    }

    /// Remembers a message by its id and content; `false` if it is known.
    pub(super) fn remember_message(&mut self, message: &Message) -> bool {
        let content = serde_json::to_vec(message).unwrap_or_default();
        self.remember("message", &content)
    }
}

/// Tells whether an event only announces what another one says whole.
fn is_streaming(kind: &RunEventKind) -> bool {
    matches!(
        kind,
        RunEventKind::StartStreamingReasoning(_)
            | RunEventKind::StreamReasoning(_)
            | RunEventKind::CompleteStreamingReasoning(_)
            | RunEventKind::StartStreamingRunResult(_)
            | RunEventKind::StreamRunResult(_)
            | RunEventKind::CompleteStreamingRunResult(_)
    )
}

impl Events {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            runs: HashMap::new(),
            order: VecDeque::new(),
            known: TakenIds::default(),
            total: TokenCounts::default(),
            has_children: false,
        }
    }

    /// Tells whether an event was not printed before, byte for byte. The same piece of a stream may
    /// well come twice.
    pub(super) fn is_news(&mut self, event: &Event, bytes: &[u8]) -> bool {
        let may_repeat = match event {
            Event::Run(event) => is_streaming(&event.kind),
            Event::Runtime(event) => matches!(event.kind, RuntimeEventKind::StreamText(_)),
        };
        may_repeat || self.known.remember("event", bytes)
    }

    /// Takes one event.
    pub(super) fn take(&mut self, event: Event, out: &mut SignalSink<'_>) {
        let (run_id, timestamp) = match &event {
            Event::Run(event) => (event.run_id.as_str(), event.timestamp),
            Event::Runtime(event) => (event.run_id.as_str(), event.timestamp),
        };
        out.set_time(timestamp);
        let mut run = match self.runs.remove(run_id) {
            Some(run) => run,
            None => self.follow(run_id, out),
        };
        match event {
            Event::Run(event) => self.on_run_event(&mut run, event, out),
            Event::Runtime(event) => on_runtime_event(&mut run, event, out),
        }
        self.runs.insert(run.id.clone(), run);
    }

    /// Begins to follow a run, and lets go of the oldest where there are too many.
    fn follow(&mut self, run_id: &str, out: &mut SignalSink<'_>) -> ToldRun {
        if self.order.len() == MOST_RUNS
            && let Some(mut oldest) = self.order.pop_front().and_then(|id| self.runs.remove(&id))
        {
            oldest.flush(out);
        }
        self.order.push_back(run_id.into());
        ToldRun::new(run_id, self.limit)
    }

    /// Gives out what was held for an event that never came.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        for id in std::mem::take(&mut self.order) {
            if let Some(mut run) = self.runs.remove(&id) {
                run.flush(out);
            }
        }
    }

    fn on_run_event(&mut self, run: &mut ToldRun, event: RunEvent, out: &mut SignalSink<'_>) {
        if let Some(checkpoint) = checkpoint_of(&event.kind) {
            self.has_children |= checkpoint.delegated_by.is_some();
            run.set_parent(checkpoint);
        }
        if !matches!(event.kind, RunEventKind::StartRun(_)) {
            run.introduce(out);
        }
        run.at_step(event.step_number);
        if !answers_calls(&event.kind) {
            run.flush_results(out);
        }
        let tag = event.kind.tag().to_owned();
        match event.kind {
            RunEventKind::StartRun(start) => self.on_start(run, &start, out),
            RunEventKind::Retry(retry) => self.on_retry(run, retry, out),
            RunEventKind::CallTools(call) => {
                self.say(run, call.new_message, out);
                run.call(&call.tool_calls, out);
                run.count(&call.usage, out);
            }
            RunEventKind::CallDelegate(call) => {
                self.say(run, call.new_message, out);
                run.call(&call.tool_calls, out);
                run.count(&call.usage, out);
            }
            RunEventKind::CallInteractiveTool(call) => {
                self.say(run, call.new_message, out);
                run.call(&[call.tool_call], out);
                run.count(&call.usage, out);
            }
            RunEventKind::ResolveToolResults(results) => {
                run.hold_results(results.tool_results, out.place());
            }
            RunEventKind::AttemptCompletion(done) => {
                run.hold_results(vec![done.tool_result], out.place());
            }
            RunEventKind::ResumeToolCalls(resumed) => {
                run.call(&resumed.pending_tool_calls, out);
                run.hold_results(resumed.partial_tool_results, out.place());
            }
            RunEventKind::FinishToolCall(finished) => {
                self.answer(run, finished.new_messages, out);
            }
            RunEventKind::FinishAllToolCalls(finished) => {
                self.answer(run, finished.new_messages, out);
            }
            RunEventKind::ContinueToNextStep(next) => {
                self.end_step(run, &next.checkpoint, &next.step, out);
                run.at_step(next.next_checkpoint.step_number);
            }
            RunEventKind::CompleteRun(end) => self.on_complete(run, &end, out),
            RunEventKind::StopRunByError(end) => {
                let verdict = Verdict::Error(failure::of_error(end.error));
                self.end_step(run, &end.checkpoint, &end.step, out);
                self.end_run(run, &end.checkpoint, (&tag, verdict, None), out);
            }
            RunEventKind::StopRunByExceededMaxSteps(end) => {
                let error = failure::turn_limit(end.checkpoint.error.clone());
                self.end_step(run, &end.checkpoint, &end.step, out);
                self.end_run(
                    run,
                    &end.checkpoint,
                    (&tag, Verdict::TurnLimit(error), None),
                    out,
                );
            }
            RunEventKind::StopRunByInteractiveTool(end) => {
                let error =
                    failure::stopped("StoppedByInteractiveTool", "the run waits for an answer");
                self.end_step(run, &end.checkpoint, &end.step, out);
                self.wait(run, &end.checkpoint, (&tag, error), out);
            }
            RunEventKind::StopRunByDelegate(end) => {
                let error =
                    failure::stopped("StoppedByDelegate", "the run waits for another expert");
                self.end_step(run, &end.checkpoint, &end.step, out);
                self.wait(run, &end.checkpoint, (&tag, error), out);
            }
            RunEventKind::StreamReasoning(piece) => run.stream_thinking(&piece.delta, out),
            RunEventKind::CompleteStreamingReasoning(all) => run.complete_thinking(&all.text, out),
            RunEventKind::StreamRunResult(piece) => run.stream_text(&piece.delta, out),
            RunEventKind::CompleteStreamingRunResult(all) => run.complete_text(&all.text, out),
            // What the model is asked with was said before, and that something begins to be streamed
            // shows when it does.
            RunEventKind::StartGeneration(_)
            | RunEventKind::StartStreamingReasoning(_)
            | RunEventKind::StartStreamingRunResult(_) => {}
            // A type that this version does not know is told apart before it comes here.
            other => {
                debug_assert!(other.known_tag().is_none(), "{tag} is not read");
                out.unparsed(Some(&tag), format!("unknown type {tag:?}"));
            }
        }
    }

    fn on_start(&mut self, run: &mut ToldRun, start: &StartRun, out: &mut SignalSink<'_>) {
        run.turn_opened(out);
        for input in &start.input_messages {
            let message: Message = match input {
                InputMessage::InstructionMessage(message) => message.clone().into(),
                InputMessage::UserMessage(message) => message.clone().into(),
                InputMessage::ToolMessage(message) => message.clone().into(),
            };
            self.known.remember_message(&message);
            run.take(&message, out);
        }
        run.ask(out);
        // The run is opened with the model and with what was asked for, so that comes first.
        run.introduce(out);
        run.learn(&start.initial_checkpoint, out);
        // What was said in a run that this one continues is not said again.
        for message in &start.initial_checkpoint.messages {
            self.known.remember_message(message);
        }
    }

    fn on_retry(&mut self, run: &mut ToldRun, retry: Retry, out: &mut SignalSink<'_>) {
        for message in retry.new_messages {
            let message: Message = match message {
                RetryMessage::UserMessage(message) => message.into(),
                RetryMessage::ExpertMessage(message) => message.into(),
                RetryMessage::ToolMessage(message) => message.into(),
            };
            self.take_once(run, &message, out);
        }
        run.call(&retry.tool_calls.unwrap_or_default(), out);
        run.hold_results(retry.tool_results.unwrap_or_default(), out.place());
        run.flush_results(out);
        run.count(&retry.usage, out);
        let notice = ApiRetry {
            attempt: None,
            max_attempts: None,
            delay_ms: None,
            status_code: None,
            reason: Some(retry.reason),
        };
        run.emit(Signal::Event(notice.into()), out);
    }

    fn say(&mut self, run: &mut ToldRun, message: SpokenMessage, out: &mut SignalSink<'_>) {
        let SpokenMessage::ExpertMessage(message) = message;
        let message = message.into();
        self.known.remember_message(&message);
        run.take(&message, out);
    }

    fn take_once(&mut self, run: &mut ToldRun, message: &Message, out: &mut SignalSink<'_>) {
        if self.known.remember_message(message) {
            run.take(message, out);
        }
    }

    /// Takes the messages that answer calls, and then what results they did not have.
    fn answer(
        &mut self,
        run: &mut ToldRun,
        messages: Vec<AnswerMessage>,
        out: &mut SignalSink<'_>,
    ) {
        for message in messages {
            let message: Message = match message {
                AnswerMessage::UserMessage(message) => message.into(),
                AnswerMessage::ToolMessage(message) => message.into(),
            };
            self.take_once(run, &message, out);
        }
        run.flush_results(out);
    }

    /// Takes what a step's event has and no event before it had.
    fn end_step(
        &mut self,
        run: &mut ToldRun,
        checkpoint: &Checkpoint,
        step: &Step,
        out: &mut SignalSink<'_>,
    ) {
        for message in step.new_messages.iter().chain(&checkpoint.messages) {
            self.take_once(run, message, out);
        }
        run.call(step.tool_calls.as_deref().unwrap_or_default(), out);
        run.flush_results(out);
        let results = step.tool_results.clone().unwrap_or_default();
        run.hold_results(results, out.place());
        run.flush_results(out);
        run.end_thinking(out);
        run.count_step(&step.usage, out);
        run.learn(checkpoint, out);
    }

    fn on_complete(&mut self, run: &mut ToldRun, end: &CompleteRun, out: &mut SignalSink<'_>) {
        for message in end.step.new_messages.iter().chain(&end.checkpoint.messages) {
            self.take_once(run, message, out);
        }
        run.count(&end.usage, out);
        self.end_step(run, &end.checkpoint, &end.step, out);
        let verdict = failure::of_complete_run(end, |signal| out.emit(signal));
        let ending = ("completeRun", verdict, Some(end.text.as_str()));
        self.end_run(run, &end.checkpoint, ending, out);
    }

    /// A run stops until somebody answers. A child that does may go on before its parent ends.
    fn wait(
        &mut self,
        run: &mut ToldRun,
        checkpoint: &Checkpoint,
        (tag, error): (&str, runtape_core::RunError),
        out: &mut SignalSink<'_>,
    ) {
        if !run.is_child() {
            self.end_run(run, checkpoint, (tag, Verdict::Error(error), None), out);
        }
    }

    fn end_run(
        &mut self,
        run: &mut ToldRun,
        checkpoint: &Checkpoint,
        (tag, verdict, text): (&str, Verdict, Option<&str>),
        out: &mut SignalSink<'_>,
    ) {
        let metadata = checkpoint.metadata.clone().unwrap_or_default();
        if !run.is_child() {
            let used = usage::of_run(&checkpoint.usage, &metadata.usage_unknown());
            let before = std::mem::replace(&mut run.total, used.unwrap_or_default());
            self.total = self.total.beyond(before).plus(run.total);
            // What children used is theirs, and a checkpoint may have it or not.
            if !self.total.is_unknown() && !self.has_children {
                out.emit(Signal::Total(self.total));
            }
            if let Some(cost) = metadata.cost_usd() {
                out.emit(Signal::Cost(cost));
            }
        }
        let duration = metadata.duration_ms();
        let duration = duration.and_then(|ms| u64::try_from(ms).ok());
        run.end(tag, verdict, text, duration, out);
    }
}

/// Returns the checkpoint that an event has.
fn checkpoint_of(kind: &RunEventKind) -> Option<&Checkpoint> {
    Some(match kind {
        RunEventKind::StartRun(event) => &event.initial_checkpoint,
        RunEventKind::ContinueToNextStep(event) => &event.checkpoint,
        RunEventKind::StopRunByInteractiveTool(event) => &event.checkpoint,
        RunEventKind::StopRunByDelegate(event) => &event.checkpoint,
        RunEventKind::StopRunByExceededMaxSteps(event) => &event.checkpoint,
        RunEventKind::StopRunByError(event) => &event.checkpoint,
        RunEventKind::CompleteRun(event) => &event.checkpoint,
        _ => return None,
    })
}

/// Tells whether an event has the messages that say whether calls failed.
fn answers_calls(kind: &RunEventKind) -> bool {
    matches!(
        kind,
        RunEventKind::FinishToolCall(_) | RunEventKind::FinishAllToolCalls(_)
    ) || checkpoint_of(kind).is_some()
}

fn on_runtime_event(run: &mut ToldRun, event: RuntimeEvent, out: &mut SignalSink<'_>) {
    match event.kind {
        RuntimeEventKind::InitializeRuntime(initialize) => run.hold_introduction(*initialize, out),
        RuntimeEventKind::StreamText(piece) => match piece.channel {
            StreamChannel::Text => run.stream_text(&piece.delta, out),
            StreamChannel::Thinking => run.stream_thinking(&piece.delta, out),
        },
        // How this process ended and whether that fits, its recorder saw; another one's end is news.
        kind @ (RuntimeEventKind::ProcessExit(_) | RuntimeEventKind::ExitMismatch(_)) => {
            let topic = Some(kind.tag().to_owned());
            let message = serde_json::to_string(&kind).unwrap_or_default();
            run.emit(Signal::Event(Info { topic, message }.into()), out);
        }
        kind => run.emit(Signal::Event(kind), out),
    }
}
