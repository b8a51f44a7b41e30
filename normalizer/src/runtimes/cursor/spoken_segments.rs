//! What the model says: which events are new, and which message of the model they belong to.
//!
//! | `timestamp_ms` | `model_call_id` | with `--stream-partial-output` | without |
//! |---|---|---|---|
//! | yes | no | a delta | not seen |
//! | yes | yes | the whole segment again, before a tool call | the segment itself |
//! | no | no | the whole last segment again | the last segment |
//!
//! So a whole segment repeats what was said exactly when deltas came since the last segment ended.
//! Texts are never compared: two segments may be equal, and deltas win over a whole that differs. A
//! segment ends at its whole text, at a tool call or at the result, and nowhere else.

use std::borrow::Cow;

use runtape_core::runtime_event::ApiRetry;

use super::open_step::{ModelCallStep, StepChoice};
use crate::parser::SignalSink;
use crate::reducer::given_up::keep_text;
use crate::signal::{Signal, TapePlace};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpokenKind {
    Text,
    Thinking,
    ThinkingEnd,
}

/// Something said that waits.
#[derive(Debug)]
struct Waiting {
    kind: SpokenKind,
    text: String,
    place: TapePlace,
}

/// The message that the model is writing.
#[derive(Debug)]
pub(super) struct SpokenSegments {
    limit: usize,
    step: ModelCallStep,
    /// Deltas came since the last segment ended.
    text: bool,
    /// A thinking part is open.
    thinking: bool,
    /// Waits until it is known which step it belongs to.
    unplaced: Vec<Waiting>,
    /// Thinking that came within a segment, which it does not end.
    late: Vec<Waiting>,
    waiting: usize,
}

impl SpokenSegments {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            step: ModelCallStep::default(),
            text: false,
            thinking: false,
            unplaced: Vec::new(),
            late: Vec::new(),
            waiting: 0,
        }
    }

    /// Tells whether thinking was streamed in the open step, so that a thinking block repeats it.
    pub(super) fn thought(&self) -> bool {
        self.step.thought
    }

    /// Tells whether a segment of thinking has begun and not ended.
    pub(super) fn is_thinking(&self) -> bool {
        let waiting = self.unplaced.last().or(self.late.last());
        waiting.map_or(self.thinking, |last| last.kind == SpokenKind::Thinking)
    }

    /// Takes a delta of text.
    pub(super) fn say(&mut self, text: Cow<'_, str>, out: &mut SignalSink<'_>) {
        if text.is_empty() {
            return;
        }
        if self.must_wait(out) {
            self.text = true;
            self.wait(SpokenKind::Text, &text, out);
        } else {
            self.say_now(text, out.place(), out);
        }
    }

    /// Takes a delta of thinking.
    pub(super) fn think(&mut self, text: Cow<'_, str>, out: &mut SignalSink<'_>) {
        if !self.unplaced.is_empty() || self.text || (!self.thinking && self.must_wait(out)) {
            self.wait(SpokenKind::Thinking, &text, out);
        } else {
            self.think_now(text, out.place(), out);
        }
    }

    /// Ends a segment of thinking.
    pub(super) fn end_thinking(&mut self, out: &mut SignalSink<'_>) {
        if !self.unplaced.is_empty() || !self.late.is_empty() {
            self.wait(SpokenKind::ThinkingEnd, "", out);
        } else {
            self.stop_thinking(out.place(), out);
        }
    }

    /// Makes ready for a whole segment. Returns whether it was said already, in deltas.
    pub(super) fn begin_whole(&mut self, key: Option<&str>, out: &mut SignalSink<'_>) -> bool {
        self.settle(key.is_some() && self.step.is_named(key), out);
        if self.text {
            self.step.adopt(key);
            self.end_text(out);
            return true;
        }
        self.stop_thinking(out.place(), out);
        if self.step.has_room_for_text(key) {
            self.step.adopt(key);
        } else {
            self.open_step(key, out.place(), out);
        }
        false
    }

    /// Notes that a whole segment was emitted.
    pub(super) fn end_whole(&mut self) {
        self.step.ended = true;
    }

    /// Makes ready for a tool call; returns the number of the step it belongs to.
    pub(super) fn begin_call(&mut self, key: Option<&str>, out: &mut SignalSink<'_>) -> u32 {
        self.settle(key.is_none() || self.step.is_named(key), out);
        self.end_text(out);
        self.stop_thinking(out.place(), out);
        if self.step.has_room_for_call(key) {
            self.step.adopt(key);
        } else {
            self.open_step(key, out.place(), out);
        }
        self.step.begin_call()
    }

    /// Notes that a call of a step is over.
    pub(super) fn end_call(&mut self, step: u32) {
        self.step.end_call(step);
    }

    /// Ends the message: the user speaks, or a turn begins or ends.
    pub(super) fn end_turn(&mut self, out: &mut SignalSink<'_>) {
        self.settle(false, out);
        self.end_text(out);
        self.stop_thinking(out.place(), out);
        self.step.is_open = false;
    }

    /// Ends the message because the run failed: text that was still being written is cut.
    pub(super) fn break_off(&mut self, out: &mut SignalSink<'_>) {
        self.settle(false, out);
        if self.text {
            self.text = false;
            self.release_late(out);
            out.emit(Signal::MessageCut);
        }
        self.stop_thinking(out.place(), out);
        self.step.is_open = false;
    }

    /// Emits what waits. What was still being written stays open: it is cut, and so is a message
    /// of which nothing but thinking came.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        self.settle(false, out);
        let is_late = self.text && !self.late.is_empty();
        if is_late {
            self.release_late(out);
        }
        if is_late || self.step.has_only_thought() && !self.text {
            out.emit(Signal::MessageCut);
        }
    }

    /// Takes back what was said of the open message: the runtime gave it up and asks again.
    pub(super) fn give_up(&mut self, mut retry: ApiRetry, out: &mut SignalSink<'_>) {
        if !self.step.is_open || self.step.has_calls() || self.step.ended {
            // What was said since waits for its step, and was told to nobody.
            let waiting = std::mem::take(&mut self.unplaced);
            let texts = waiting
                .iter()
                .filter(|waiting| waiting.kind == SpokenKind::Text);
            let text: String = texts.map(|waiting| waiting.text.as_str()).collect();
            if !text.is_empty() {
                keep_text(&mut retry, &text);
            }
            self.waiting = 0;
            self.text = false;
            out.event(retry);
        } else {
            self.late.clear();
            self.waiting = 0;
            (self.text, self.thinking) = (false, false);
            self.step.thought = false;
            out.emit(Signal::MessageGivenUp(retry));
        }
    }

    /// Tells whether something said has to wait; opens the next step if it belongs there.
    fn must_wait(&mut self, out: &mut SignalSink<'_>) -> bool {
        if !self.unplaced.is_empty() {
            return true;
        }
        if self.text {
            return false;
        }
        match self.step.room() {
            StepChoice::Here => false,
            StepChoice::Next => {
                self.open_step(None, out.place(), out);
                false
            }
            StepChoice::Unknown => true,
        }
    }

    fn wait(&mut self, kind: SpokenKind, text: &str, out: &mut SignalSink<'_>) {
        let is_late = self.text && self.unplaced.is_empty() && kind != SpokenKind::Text;
        let queue = if is_late {
            &mut self.late
        } else {
            &mut self.unplaced
        };
        self.waiting += text.len();
        match queue.last_mut() {
            Some(last) if last.kind == kind => {
                last.text.push_str(text);
                last.place = last.place.through(out.place());
            }
            _ => {
                self.waiting += size_of::<Waiting>();
                queue.push(Waiting {
                    kind,
                    text: text.to_owned(),
                    place: out.place(),
                });
            }
        }
        if self.waiting > self.limit {
            self.settle(false, out);
            if !self.late.is_empty() {
                // The segment goes on in a further part; its whole text is still a repetition.
                out.emit(Signal::TextEnd);
                self.release_late(out);
            }
        }
    }

    /// Emits what waited for its step: the open one, or the next.
    fn settle(&mut self, here: bool, out: &mut SignalSink<'_>) {
        let Some(first) = self.unplaced.first() else {
            return;
        };
        if !here {
            self.open_step(None, first.place, out);
        }
        self.text = false;
        self.waiting = 0;
        for Waiting { kind, text, place } in std::mem::take(&mut self.unplaced) {
            match kind {
                SpokenKind::Text => self.say_now(text.into(), place, out),
                SpokenKind::Thinking if !self.text => self.think_now(text.into(), place, out),
                SpokenKind::ThinkingEnd if !self.text => self.stop_thinking(place, out),
                kind => self.late.push(Waiting { kind, text, place }),
            }
        }
    }

    fn release_late(&mut self, out: &mut SignalSink<'_>) {
        self.waiting = 0;
        for Waiting { kind, text, place } in std::mem::take(&mut self.late) {
            match kind {
                SpokenKind::ThinkingEnd => self.stop_thinking(place, out),
                _ => self.think_now(text.into(), place, out),
            }
        }
    }

    fn open_step(&mut self, key: Option<&str>, place: TapePlace, out: &mut SignalSink<'_>) {
        out.at(place).emit(Signal::Step(key));
        self.step.open(key);
    }

    fn say_now(&mut self, text: Cow<'_, str>, place: TapePlace, out: &mut SignalSink<'_>) {
        self.stop_thinking(place, out);
        self.text = true;
        out.at(place).emit(Signal::TextDelta(text));
    }

    fn think_now(&mut self, text: Cow<'_, str>, place: TapePlace, out: &mut SignalSink<'_>) {
        self.thinking = true;
        self.step.thought = true;
        out.at(place).emit(Signal::ThinkingDelta(text));
    }

    fn end_text(&mut self, out: &mut SignalSink<'_>) {
        if self.text {
            self.text = false;
            self.step.ended = true;
            out.emit(Signal::TextEnd);
            self.release_late(out);
        }
    }

    fn stop_thinking(&mut self, place: TapePlace, out: &mut SignalSink<'_>) {
        if self.thinking {
            self.thinking = false;
            out.at(place).emit(Signal::ThinkingEnd { signature: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::line::{
        completed, delta, flush, init, last, other, result, started, thinking, thought, user,
    };
    use super::super::tests::{Told, parse, parse_with_limit};
    use crate::exit::Exit;

    fn run(lines: &[String]) -> Told {
        let told = parse(&lines.concat(), "", &Exit::with_code(0));
        assert!(told.unparsed.is_empty(), "{:?}", told.unparsed);
        told
    }

    #[test]
    fn without_deltas_every_whole_text_is_a_segment() {
        let told = run(&[
            init(),
            user("go"),
            flush("First.", "r-0-a"),
            started("c1", "r-0-a"),
            completed("c1", "r-0-a"),
            flush("First.", "r-1-b"),
            started("c2", "r-1-b"),
            completed("c2", "r-1-b"),
            last("Done."),
            result("First.First.Done."),
        ]);
        assert_eq!(told.texts, ["First.", "First.", "Done."]);
        assert_eq!(told.text_steps, [1, 2, 3]);
        assert_eq!((told.last_text().as_str(), told.cut), ("Done.", false));
        assert_eq!(told.format, Some("stream-json"));
    }

    #[test]
    fn after_deltas_the_whole_text_is_a_repetition() {
        let told = run(&[
            user("go"),
            delta("ha"),
            delta("ha"),
            flush("haha", "r-0-a"),
            started("c1", "r-0-a"),
            completed("c1", "r-0-a"),
            delta("**"),
            delta("Done"),
            delta("**"),
            last("**Done**"),
            result("haha**Done**"),
        ]);
        assert_eq!(told.texts, ["haha", "**Done**"]);
        assert_eq!(told.steps, 2);
        assert_eq!(told.format, Some("stream-json-partial"));
    }

    #[test]
    fn equal_segments_are_two_and_deltas_win_over_a_whole_that_differs() {
        let told = run(&[
            delta("ok"),
            flush("ok", "r-0-a"),
            started("c1", "r-0-a"),
            completed("c1", "r-0-a"),
            delta("ok"),
            last("something else"),
            result("okok"),
        ]);
        assert_eq!(told.texts, ["ok", "ok"]);
    }

    #[test]
    fn a_segment_ends_at_a_call_and_at_the_result_too() {
        let told = run(&[
            delta("Look"),
            delta("ing."),
            started("c1", "r-0-a"),
            completed("c1", "r-0-a"),
            delta("Found."),
            result("Looking.Found."),
        ]);
        assert_eq!(told.texts, ["Looking.", "Found."]);
        assert_eq!((told.steps, told.cut), (2, false));
        assert_eq!(told.verdict(), "success");
    }

    #[test]
    fn notices_and_thinking_do_not_end_a_segment() {
        let connection = |state| {
            other(serde_json::json!({"type": "connection", "subtype": state, "attempt": 1}))
        };
        let told = run(&[
            delta("a"),
            connection("reconnecting"),
            connection("reconnected"),
            delta("b"),
            thinking("hm"),
            thought(),
            delta("c"),
            last("abc"),
            result("abc"),
        ]);
        assert_eq!(told.texts, ["abc"]);
        assert_eq!(told.thinking, ["hm"]);
        assert_eq!((told.steps, told.cut), (1, false));
    }

    #[test]
    fn each_completed_ends_one_segment_of_thinking() {
        let told = run(&[
            thinking("**Plan"),
            thinking("ning**"),
            thought(),
            thinking("More"),
            thought(),
            flush("Now.", "r-0-a"),
            started("c1", "r-0-a"),
            completed("c1", "r-0-a"),
            thinking("after"),
            thought(),
            last("Done."),
            result("Now.Done."),
        ]);
        assert_eq!(told.thinking, ["**Planning**", "More", "after"]);
        assert_eq!(told.steps, 2);
        let whole = other(serde_json::json!(
            {"type": "thinking", "subtype": "completed", "text": "all"}));
        let told = run(&[
            thinking("all"),
            whole.clone(),
            whole,
            last("x"),
            result("x"),
        ]);
        assert_eq!(told.thinking, ["all", "all"]);
    }

    #[test]
    fn parallel_calls_and_text_of_one_turn_share_a_step() {
        let told = run(&[
            thinking("hm"),
            thought(),
            flush("Both.", "r-0-a"),
            started("c1", "r-0-a"),
            started("c2", "r-0-a"),
            completed("c2", "r-0-a"),
            completed("c1", "r-0-a"),
            started("c3", "r-1-b"),
            completed("c3", "r-1-b"),
            last("Done."),
            result("Both.Done."),
        ]);
        let steps: Vec<usize> = told.calls.iter().map(|call| call.step).collect();
        assert_eq!((steps, told.steps), (vec![1, 1, 2], 3));
    }

    #[test]
    fn text_between_calls_of_one_turn_waits_for_its_name() {
        let told = run(&[
            delta("One."),
            flush("One.", "r-0-a"),
            started("c1", "r-0-a"),
            thinking("hm"),
            thought(),
            delta("Two."),
            flush("Two.", "r-0-a"),
            started("c2", "r-0-a"),
            completed("c1", "r-0-a"),
            completed("c2", "r-0-a"),
            delta("Done."),
            last("Done."),
            result("One.Two.Done."),
        ]);
        assert_eq!(told.texts, ["One.", "Two.", "Done."]);
        assert_eq!(told.text_steps, [1, 1, 2]);
        assert_eq!(told.calls[1].step, 1);
        assert_eq!(told.thinking, ["hm"]);
    }

    #[test]
    fn text_after_a_call_that_never_ended_is_a_message_of_its_own() {
        for whole in [
            vec![last("Done.")],
            vec![delta("Do"), delta("ne."), last("Done.")],
            vec![delta("Done.")],
        ] {
            let mut lines = vec![flush("Start.", "r-0-a"), started("c1", "r-0-a")];
            lines.extend(whole);
            lines.push(result("Start.Done."));
            let told = run(&lines);
            assert_eq!((told.texts.len(), told.last_text().as_str()), (2, "Done."));
        }
    }

    #[test]
    fn without_any_names_a_call_after_all_results_is_a_new_turn() {
        let told = run(&[
            last("Start."),
            started("c1", ""),
            started("c2", ""),
            completed("c1", ""),
            completed("c2", ""),
            started("c3", ""),
            completed("c3", ""),
            last("Done."),
            result("Start.Done."),
        ]);
        let steps: Vec<usize> = told.calls.iter().map(|call| call.step).collect();
        assert_eq!((steps, told.steps), (vec![1, 1, 2], 3));
        assert_eq!(told.text_steps, [1, 3]);
    }

    #[test]
    fn two_last_texts_are_two_messages() {
        let told = run(&[last("One."), last("Two."), result("One.Two.")]);
        assert_eq!((told.texts.len(), told.last_text().as_str()), (2, "Two."));
        let told = run(&[
            delta("One."),
            last("One."),
            delta("Two."),
            last("Two."),
            result("…"),
        ]);
        assert_eq!((told.texts.len(), told.last_text().as_str()), (2, "Two."));
    }

    #[test]
    fn text_that_was_being_written_when_the_run_died_is_cut() {
        let lines = [delta("All is "), delta("we")].concat();
        let told = parse(&lines, "", &Exit::with_signal("SIGKILL"));
        assert_eq!(
            (told.texts.as_slice(), told.cut),
            (["All is we".to_owned()].as_slice(), true)
        );
        let lines = [delta("All is "), thinking("hm")].concat();
        assert!(parse(&lines, "", &Exit::with_code(1)).cut);
        let lines = [flush("a", "k"), started("c1", "k"), delta("half")].concat();
        let told = parse(&lines, "", &Exit::with_code(1));
        assert_eq!((told.last_text().as_str(), told.cut), ("half", true));
        assert!(!parse(&started("c1", "k"), "", &Exit::with_code(0)).cut);
        let failed =
            other(serde_json::json!({"type": "result", "subtype": "error", "is_error": true}));
        assert!(parse(&[delta("half"), failed].concat(), "", &Exit::with_code(1)).cut);
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut lines = vec![init(), delta("a")];
        lines.extend((0..100).map(|_| thinking(&"x".repeat(100))));
        lines.extend([thought(), delta("b"), last("ab"), result("ab")]);
        let told = parse_with_limit(2000, &lines.concat(), &Exit::with_code(0));
        assert_eq!(told.texts.concat(), "ab");
        assert_eq!(told.thinking.concat().len(), 10_000);
        assert_eq!(told.verdict(), "success");
    }

    #[test]
    fn a_further_user_message_opens_the_next_step() {
        let told = run(&[
            user("a"),
            delta("One."),
            user("b"),
            delta("Two."),
            last("Two."),
            result("…"),
        ]);
        assert_eq!((told.users.len(), told.text_steps), (2, vec![1, 2]));
        assert_eq!(told.texts, ["One.", "Two."]);
    }
}
