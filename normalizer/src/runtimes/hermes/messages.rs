//! What the model says and calls, in the order that steps need it.
//!
//! hermes prints a call while its message is still being printed, and what became of it after the
//! next message began. Here each is put where it belongs.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};

use runtape_core::{RunId, ToolCallId};
use serde_json::{Value, json};

use super::call_result::CallResult;
use super::late_results::{LateResults, own};
use super::notices;
use super::step_progress::StepProgress;
use super::tool_line::{CallOpening, Completion};
use super::tools::{self, Key};
use crate::parser::SignalSink;
use crate::signal::{CallDetail, CallRef, Signal, TapePlace};

/// How many results are held for what may follow: results of calls, and no lines.
const MOST_RESULTS: usize = 64;

/// How many signals wait for the end of a box.
const MOST_AFTER: usize = 1024;

/// A call without a completion line.
#[derive(Debug)]
struct OpenCall {
    ordinal: u64,
    name: Box<str>,
}

/// The model's messages: steps, text, calls.
#[derive(Debug)]
pub(super) struct Messages {
    run: RunId,
    progress: StepProgress,
    next: u64,
    open: HashMap<Key, VecDeque<OpenCall>>,
    /// How many calls of the open step have no completion line.
    open_calls: usize,
    /// A call was completed since the last one was prepared.
    has_completed: bool,
    /// The open step has text.
    has_text: bool,
    held: BTreeMap<u64, CallResult>,
    /// A box is open: its text is one part, whatever is printed between its lines.
    in_box: bool,
    /// What waits until the box is closed.
    after: Vec<(TapePlace, Signal<'static>)>,
    /// Arguments and results are printed too, late.
    late: Option<Box<LateResults>>,
}

impl Messages {
    /// Creates the messages of a run.
    pub(super) fn new(run: RunId) -> Self {
        Self {
            run,
            progress: StepProgress::None,
            next: 0,
            open: HashMap::new(),
            open_calls: 0,
            has_completed: false,
            has_text: false,
            held: BTreeMap::new(),
            in_box: false,
            after: Vec::new(),
            late: None,
        }
    }

    /// Expects arguments and results to be printed apart.
    pub(super) fn expect_results(&mut self) {
        self.late.get_or_insert_default();
    }

    /// Tells whether the model said or called anything.
    pub(super) fn has_spoken(&self) -> bool {
        self.progress != StepProgress::None
    }

    /// Tells whether the last thing that the model did was to say something.
    pub(super) fn has_answer(&self) -> bool {
        self.progress == StepProgress::Speaking && self.has_text
    }

    /// The model speaks: after a call that is the next step.
    pub(super) fn speak(&mut self, out: &mut SignalSink<'_>) {
        if !self.progress.speak() {
            return;
        }
        // A call of an earlier message will not be completed any more.
        self.open.clear();
        self.open_calls = 0;
        self.has_text = false;
        self.release(out);
        match &mut self.late {
            Some(late) => late.wait_for(std::mem::take(&mut self.held)),
            None => self.flush_held(out),
        }
        self.emit(Signal::Step(None), out);
    }

    /// A box opens.
    pub(super) fn open_box(&mut self, out: &mut SignalSink<'_>) {
        self.speak(out);
        self.in_box = true;
    }

    /// A box opens whose text is marked as said beside the work.
    pub(super) fn open_remark(&mut self, out: &mut SignalSink<'_>) {
        self.open_box(out);
        self.emit(Signal::Remark, out);
    }

    /// The box is closed, or its text is over for another reason.
    pub(super) fn close_box(&mut self, out: &mut SignalSink<'_>) {
        if !self.in_box {
            return;
        }
        self.in_box = false;
        self.emit(Signal::TextEnd, out);
        self.release(out);
        for (place, signal) in std::mem::take(&mut self.after) {
            self.send(place, signal, out);
        }
    }

    /// A piece of the text.
    pub(super) fn text(&mut self, text: &str, out: &mut SignalSink<'_>) {
        self.has_text = true;
        self.emit(Signal::TextDelta(Cow::Borrowed(text)), out);
    }

    /// A piece of the reasoning.
    pub(super) fn thinking(&mut self, text: &str, out: &mut SignalSink<'_>) {
        self.emit(Signal::ThinkingDelta(Cow::Borrowed(text)), out);
    }

    /// The reasoning is complete.
    pub(super) fn end_thinking(&mut self, out: &mut SignalSink<'_>) {
        self.emit(Signal::ThinkingEnd { signature: None }, out);
    }

    /// The model begins to write a call. Returns its ordinal.
    ///
    /// All calls of a message are prepared before the first of them is done: when none is open, the
    /// next message has begun.
    pub(super) fn prepare(&mut self, name: &str, out: &mut SignalSink<'_>) -> u64 {
        if self.progress == StepProgress::Calling && self.open_calls == 0 {
            let in_box = self.in_box;
            self.close_box(out);
            self.speak(out);
            self.in_box = in_box;
        }
        // What shows no completion by now, though another call of the message has, never will.
        if std::mem::take(&mut self.has_completed) {
            self.open.clear();
        }
        self.prepare_further(name, out)
    }

    /// A message was cut off, and the calls in it with it.
    pub(super) fn abandon_calls(&mut self) {
        self.open.clear();
        self.open_calls = 0;
    }

    /// The model writes a call in the message that is open. Returns its ordinal.
    pub(super) fn prepare_further(&mut self, name: &str, out: &mut SignalSink<'_>) -> u64 {
        if self.late.is_none() {
            self.flush_held(out);
        }
        let detail = CallDetail::of(tools::class(name));
        self.call(name, Value::Null, detail, true, out)
    }

    /// A call begins whose input is shown at once.
    pub(super) fn begin(&mut self, begun: &CallOpening<'_>, out: &mut SignalSink<'_>) {
        let detail = tools::detail_of_summary(begun.tool, begun.detail);
        let input = json!({ "summary": begun.detail });
        self.call(begun.tool, input, detail, true, out);
    }

    fn call(
        &mut self,
        name: &str,
        input: Value,
        detail: CallDetail,
        open: bool,
        out: &mut SignalSink<'_>,
    ) -> u64 {
        let ordinal = self.next;
        self.next += 1;
        self.progress = StepProgress::Calling;
        if open {
            self.open_calls += 1;
            let call = OpenCall {
                ordinal,
                name: name.into(),
            };
            self.open
                .entry(Key::of_name(name))
                .or_default()
                .push_back(call);
        }
        if let Some(late) = &mut self.late {
            late.expect(ordinal, name);
        }
        let signal = Signal::ToolCall {
            call: CallRef::Local(ordinal),
            name: Cow::Owned(name.to_owned()),
            input,
            detail,
        };
        self.send(out.place(), signal, out);
        ordinal
    }

    /// Takes the oldest open call that a completion line can be of.
    fn take_open(&mut self, done: &Completion<'_>) -> Option<OpenCall> {
        let key = match done.tool {
            Some(tool) => Key::of_name(tool),
            None => Key::of_shown(done.verb),
        };
        // `vision` stands for two tools.
        let other = match done.tool {
            Some("browser_vision") => Some(Key::of_name("vision_analyze")),
            Some("vision_analyze") => Some(Key::of_name("browser_vision")),
            _ => None,
        };
        let keys = [Some(key), other];
        let mut keys = keys.into_iter().flatten();
        let call = keys.find_map(|key| self.open.get_mut(&key)?.pop_front())?;
        self.open_calls = self.open_calls.saturating_sub(1);
        Some(call)
    }

    /// A call is over. Returns its ordinal.
    pub(super) fn done(&mut self, done: &Completion<'_>, out: &mut SignalSink<'_>) -> u64 {
        self.has_completed = true;
        let known = self.take_open(done);
        let prepared = known.is_some();
        let name = match &known {
            Some(call) => call.name.clone(),
            None => done.tool.unwrap_or(done.verb).into(),
        };
        let held = CallResult {
            place: out.place(),
            name,
            summary: done.detail.into(),
            output: done.output.map(str::to_owned),
            failure: done.failure.map(str::to_owned),
            is_error: Some(done.failure.is_some()),
            duration_ms: done.duration_ms,
        };
        let ordinal = match known {
            Some(call) => call.ordinal,
            None if self.late.is_some() => {
                let detail = CallDetail::of(tools::class(&held.name));
                self.call(&held.name, Value::Null, detail, false, out)
            }
            None => {
                let (input, detail) = held.input();
                self.call(&held.name, input, detail, false, out)
            }
        };
        if let Some(message) = done.failure.filter(|text| text.starts_with("BLOCKED")) {
            self.deny(&held.name, Some(ordinal), message, out);
        }
        if let Some(late) = &mut self.late {
            let Some(early) = late.take_early(ordinal) else {
                self.hold(ordinal, held, out);
                return ordinal;
            };
            self.end_call(
                ordinal,
                CallResult {
                    output: early.output,
                    ..held
                },
                false,
                out,
            );
        } else if prepared {
            let (input, detail) = held.input();
            let call = CallRef::Local(ordinal);
            self.send(
                held.place,
                Signal::ToolInput {
                    call,
                    input,
                    detail,
                },
                out,
            );
            self.hold_or_end(ordinal, held, out);
        } else {
            self.hold_or_end(ordinal, held, out);
        }
        ordinal
    }

    fn hold_or_end(&mut self, ordinal: u64, held: CallResult, out: &mut SignalSink<'_>) {
        if tools::prints_diff(&held.name) && held.failure.is_none() && held.output.is_none() {
            self.hold(ordinal, held, out);
        } else {
            self.end_call(ordinal, held, false, out);
        }
    }

    fn hold(&mut self, ordinal: u64, held: CallResult, out: &mut SignalSink<'_>) {
        self.held.insert(ordinal, held);
        if self.held.len() > MOST_RESULTS
            && let Some((ordinal, held)) = self.held.pop_first()
        {
            self.end_call(ordinal, held, false, out);
        }
    }

    /// A command was not approved.
    pub(super) fn deny(
        &mut self,
        name: &str,
        ordinal: Option<u64>,
        message: &str,
        out: &mut SignalSink<'_>,
    ) {
        let ordinal = ordinal.or_else(|| {
            let calls = self.open.get(&Key::of_name(name))?;
            calls.front().map(|call| call.ordinal)
        });
        let mut denied = tools::denied(name, message);
        denied.tool_call_id = ordinal.map(|ordinal| ToolCallId::derive(&self.run, ordinal));
        out.event(denied);
    }

    /// A diff was printed for a file that a call wrote.
    pub(super) fn diff(&mut self, diff: super::diff::Diff, out: &mut SignalSink<'_>) {
        let of_file = |(_, held): &(&u64, &CallResult)| diff.is_of(&held.summary);
        let writes = self
            .held
            .iter()
            .filter(|(_, held)| tools::prints_diff(&held.name));
        let mut writes = writes.filter(|(_, held)| held.output.is_none());
        let found = writes.clone().find(of_file).or_else(|| writes.next_back());
        let Some(ordinal) = found.map(|(ordinal, _)| *ordinal) else {
            return self.diff_without_line(diff.into_text(), out);
        };
        let Some(held) = self.held.get_mut(&ordinal) else {
            return;
        };
        held.output = Some(diff.into_text());
        if self.late.is_none()
            && let Some(held) = self.held.remove(&ordinal)
        {
            self.end_call(ordinal, held, false, out);
        }
    }

    /// A diff was printed, but no completion line (`display.tool_progress: off` or `new`): it is
    /// that of the oldest open call that writes, and shows that the call went well.
    fn diff_without_line(&mut self, text: String, out: &mut SignalSink<'_>) {
        let writes = ["write_file", "patch", "skill_manage"].map(Key::of_name);
        let oldest = writes
            .iter()
            .filter_map(|key| Some((self.open.get(key)?.front()?.ordinal, key)))
            .min_by_key(|(ordinal, _)| *ordinal);
        let call = oldest.and_then(|(_, key)| self.open.get_mut(key)?.pop_front());
        let Some(call) = call else {
            return notices::stray(text, out);
        };
        self.open_calls = self.open_calls.saturating_sub(1);
        let held = CallResult {
            place: out.place(),
            name: call.name,
            summary: "".into(),
            output: Some(text),
            failure: None,
            is_error: Some(false),
            duration_ms: None,
        };
        let (place, signal) = held.into_signal(call.ordinal);
        self.send(place, signal, out);
    }

    /// A call was announced with its number in the turn.
    pub(super) fn announce(&mut self, number: u64, name: &str, out: &mut SignalSink<'_>) {
        self.expect_results();
        let known = self
            .late
            .as_mut()
            .and_then(|late| late.announce(number, name));
        if known.is_none() {
            self.prepare_further(name, out);
            if let Some(late) = &mut self.late {
                late.announce(number, name);
            }
        }
    }

    /// The arguments of the call that was announced last.
    pub(super) fn arguments(&mut self, arguments: Value, out: &mut SignalSink<'_>) {
        let Some((ordinal, name)) = self.late.as_mut().and_then(|late| late.argue()) else {
            return;
        };
        let detail = tools::detail_of_arguments(&name, &arguments);
        let call = CallRef::Local(ordinal);
        let signal = Signal::ToolInput {
            call,
            input: arguments,
            detail,
        };
        if self
            .late
            .as_ref()
            .is_some_and(|late| late.waits_for(ordinal))
        {
            out.emit(signal);
        } else {
            self.send(out.place(), signal, out);
        }
    }

    /// What the call with this number gave back.
    pub(super) fn output(
        &mut self,
        number: u64,
        output: Option<String>,
        duration_ms: Option<u64>,
        out: &mut SignalSink<'_>,
    ) {
        let Some(late) = &mut self.late else { return };
        let Some((ordinal, name)) = late.numbered(number) else {
            return;
        };
        let found = late.take_previous(ordinal);
        let is_previous = found.is_some();
        if let Some(mut held) = found.or_else(|| self.held.remove(&ordinal)) {
            held.output = output.or(held.output);
            self.end_call(ordinal, held, is_previous, out);
        } else {
            let held = CallResult {
                place: out.place(),
                name: name.into(),
                summary: "".into(),
                output,
                failure: None,
                is_error: None,
                duration_ms,
            };
            late.put_early(ordinal, held);
        }
        if self.late.as_ref().is_some_and(|late| late.is_satisfied()) {
            self.release(out);
        }
    }

    /// Ends a call: its input if nothing better is known, and its result.
    fn end_call(
        &mut self,
        ordinal: u64,
        held: CallResult,
        at_once: bool,
        out: &mut SignalSink<'_>,
    ) {
        let known = self
            .late
            .as_mut()
            .is_none_or(|late| late.is_argued(ordinal));
        let input = (!known).then(|| held.input());
        let (place, signal) = held.into_signal(ordinal);
        let call = CallRef::Local(ordinal);
        let input = input.map(|(input, detail)| Signal::ToolInput {
            call,
            input,
            detail,
        });
        for signal in input.into_iter().chain([signal]) {
            if at_once {
                out.at(place).emit(signal);
            } else {
                self.send(place, signal, out);
            }
        }
    }

    fn flush_held(&mut self, out: &mut SignalSink<'_>) {
        for (ordinal, held) in std::mem::take(&mut self.held) {
            self.end_call(ordinal, held, false, out);
        }
        let early = self.late.as_mut().map(|late| late.take_all_early());
        for (ordinal, held) in early.unwrap_or_default() {
            let (place, signal) = held.into_signal(ordinal);
            self.send(place, signal, out);
        }
    }

    /// Waits no longer for results of the step before.
    fn release(&mut self, out: &mut SignalSink<'_>) {
        let Some(late) = &mut self.late else { return };
        if !late.is_waiting() {
            return;
        }
        for (ordinal, held) in late.take_all_previous() {
            self.end_call(ordinal, held, true, out);
        }
        let queue = self.late.as_mut().map(|late| late.take_queue());
        for (place, signal) in queue.unwrap_or_default() {
            out.at(place).emit(signal);
        }
    }

    /// The output is over; `cut` leaves a box open whose end was never printed.
    pub(super) fn finish(&mut self, cut: bool, out: &mut SignalSink<'_>) {
        self.release(out);
        if self.in_box && cut && self.after.is_empty() {
            // What is held belongs to calls that came before the box.
            for (ordinal, held) in std::mem::take(&mut self.held) {
                self.end_call(ordinal, held, true, out);
            }
            return;
        }
        if self.in_box && cut {
            self.in_box = false;
            out.emit(Signal::MessageCut);
            for (place, signal) in std::mem::take(&mut self.after) {
                self.send(place, signal, out);
            }
        }
        self.close_box(out);
        self.flush_held(out);
    }

    /// Emits what may borrow.
    fn emit(&mut self, signal: Signal<'_>, out: &mut SignalSink<'_>) {
        match &mut self.late {
            Some(late) if late.is_waiting() => {
                if late.queue(out.place(), own(signal)) {
                    self.release(out);
                }
            }
            _ => out.emit(signal),
        }
    }

    /// Emits what must not come between the lines of a box.
    fn send(&mut self, place: TapePlace, signal: Signal<'static>, out: &mut SignalSink<'_>) {
        if self.in_box {
            self.after.push((place, signal));
            if self.after.len() > MOST_AFTER {
                self.close_box(out);
                self.in_box = true;
            }
            return;
        }
        match &mut self.late {
            Some(late) if late.is_waiting() => {
                if late.queue(place, signal) {
                    self.release(out);
                }
            }
            _ => out.at(place).emit(signal),
        }
    }
}
