//! How a run ends: exactly one terminal event, from the best evidence there is.

use std::borrow::Cow;
use std::sync::Arc;

use runtape_core::record::{CheckpointHead, UsageEntry, UsageSource};
use runtape_core::runtime_event::{EarlierResult, ExitMismatch, ProcessExit, Warning};
use runtape_core::{
    CheckpointStatus, ErrorFamily, ExpertMessage, ExpertPart, INTERRUPTED_KEY, LateValue, RunError,
    TokenCounts, UNFINISHED,
};
use serde_json::{Map, Value};

use super::children::Children;
use super::run::Run;
use super::step::OpenStep;
use super::steps::StepEnd;
use super::tape::{TapeState, TotalScope};
use crate::exit::Exit;
use crate::failure;
use crate::signal::{Outcome, TapePlace, Verdict};

/// A session file whose times are further apart was written by a clock that jumped, in milliseconds.
const LONGEST_RUN: i64 = 366 * 24 * 60 * 60 * 1000;

/// The result of a turn, held because another one may follow.
#[derive(Debug)]
pub(super) struct TurnResult {
    verdict: Verdict,
    subtype: Option<String>,
    /// The text that was printed with it.
    text: Option<String>,
    answer: Option<String>,
    /// The answer is the text that was printed with it, too.
    text_is_answer: bool,
}

/// What was said that is the answer, if a result says so.
#[derive(Debug, Default)]
pub(super) enum HeldAnswer {
    /// Nothing.
    #[default]
    None,
    /// A part of the root run's open step. It may be long, so that it is copied as late as can be:
    /// by then the line that it came on is gone.
    InStep(usize),
    /// A part of a message that is a record already, shared with it. Most often it is not the last
    /// one, so that it is not copied here either.
    Recorded(Arc<ExpertMessage>, usize),
}

impl HeldAnswer {
    /// Takes the text, from among the parts of the open step if it is there.
    fn take(&mut self, parts: &[ExpertPart]) -> Option<String> {
        let held = std::mem::take(self);
        let part = match &held {
            Self::None => None,
            Self::InStep(part) => parts.get(*part),
            Self::Recorded(message, part) => message.contents.get(*part),
        };
        match part {
            Some(ExpertPart::TextPart(part)) => Some(part.text.clone()),
            _ => None,
        }
    }

    /// Follows the parts of the open step into the message that they have become, if any.
    pub(super) fn follow(&mut self, message: Option<Arc<ExpertMessage>>) {
        if let Self::InStep(part) = *self {
            *self = message.map_or(Self::None, |message| Self::Recorded(message, part));
        }
    }
}

impl TapeState {
    /// Takes the result of a turn. An earlier one is kept as a notice.
    pub(super) fn on_outcome(&mut self, root: &mut Run, outcome: Outcome<'_>, place: TapePlace) {
        self.reopen(root, place);
        if let Some(ms) = outcome.duration_ms {
            self.duration_ms = Some(self.duration_ms.unwrap_or(0).saturating_add(ms));
        }
        let answer = if outcome.was_answered {
            let open = root.open.as_ref();
            self.answer
                .take(open.map_or(&[], |step| &step.spoken.parts))
        } else {
            outcome.answer.map(Cow::into_owned)
        };
        self.result = Some(TurnResult {
            verdict: outcome.verdict,
            subtype: outcome.subtype.map(Cow::into_owned),
            text: outcome.text.map(Cow::into_owned),
            answer,
            text_is_answer: outcome.was_answered,
        });
    }

    /// Turns a result that is not the last word into a notice.
    pub(super) fn reopen(&mut self, root: &mut Run, place: TapePlace) {
        let Some(result) = self.result.take() else {
            return;
        };
        let notice = EarlierResult {
            is_error: !matches!(result.verdict, Verdict::Success),
            subtype: result.subtype,
            text: if result.text_is_answer {
                result.answer
            } else {
                result.text
            },
        };
        self.on_event(root, notice.into(), place);
    }

    /// Ends the root run, whose children have ended.
    pub(super) fn finish(
        &mut self,
        root: &mut Run,
        children: &Children,
        exit: &Exit,
        exit_is_signal: impl Fn(i32) -> bool,
    ) {
        let place = root.last;
        // Nobody asks for it after this.
        self.answer = HeldAnswer::None;
        if let Some(message) = self.context.not_joined.take() {
            self.on_event(root, Warning { message }.into(), place);
        }
        self.note_exit(root, exit, place);
        if self.is_interrupted(exit) {
            root.learn(INTERRUPTED_KEY, true);
        }
        let end = match self.result.take() {
            Some(outcome) => {
                self.note_mismatch(root, &outcome.verdict, exit, place);
                let (status, error) = match outcome.verdict {
                    Verdict::Success => (CheckpointStatus::Completed, None),
                    Verdict::Error(error) | Verdict::Interrupted(error) => {
                        (CheckpointStatus::StoppedByError, Some(error))
                    }
                    Verdict::TurnLimit(error) => {
                        (CheckpointStatus::StoppedByExceededMaxSteps, Some(error))
                    }
                };
                StepEnd {
                    status,
                    text: outcome.answer,
                    error,
                }
            }
            None => StepEnd {
                status: CheckpointStatus::StoppedByError,
                text: None,
                error: Some(self.error_of_exit(exit, exit_is_signal)),
            },
        };
        self.book_remainder(root, children, place);
        self.learn_totals(root);
        let ends_at = place.at.max(root.latest_held());
        match exit.finished_at {
            Some(at) => root.learn("finishedAt", at),
            None if self.is_measured
                && self.duration_ms.is_none()
                && ends_at.saturating_sub(root.earliest) <= LONGEST_RUN =>
            {
                root.learn("startedAt", root.earliest);
                root.learn("finishedAt", ends_at);
            }
            None => {}
        }
        self.end_run(root, end, place);
    }

    /// Tells whether somebody stopped the run: the runtime says so, or nothing but the end of its process says how
    /// it went, and somebody asked for that.
    pub(super) fn is_interrupted(&self, exit: &Exit) -> bool {
        let says_nothing = match self.result.as_ref().map(|result| &result.verdict) {
            None => true,
            Some(Verdict::Interrupted(_)) => return true,
            Some(Verdict::Error(error)) => error.family == Some(ErrorFamily::Process),
            Some(Verdict::Success | Verdict::TurnLimit(_)) => false,
        };
        says_nothing && exit.was_asked_for()
    }

    /// Returns why a sub-agent ended that its run did not wait for.
    pub(super) fn error_of_orphan(&self) -> RunError {
        let error = self
            .result
            .as_ref()
            .and_then(|result| result.verdict.error());
        let unfinished = error.filter(|error| error.name == UNFINISHED);
        unfinished.cloned().unwrap_or_else(|| {
            let message = "the run that started this one ended first";
            failure::error("ParentEnded", message, ErrorFamily::Process)
        })
    }

    fn note_exit(&mut self, root: &mut Run, exit: &Exit, place: TapePlace) {
        if let Some(missing) = &exit.missing {
            let message = format!("the end of the output could not be kept: {missing}");
            self.on_event(root, Warning { message }.into(), place);
        }
        if exit.unkept_input > 0 {
            let more = exit.unkept_input;
            let message = format!(
                "only the beginning of standard input is kept: {more} bytes more were passed on"
            );
            self.on_event(root, Warning { message }.into(), place);
        }
        if exit.is_unknown() || exit.recorder_lost {
            return;
        }
        if let Some(code) = exit.code {
            root.learn("exitCode", code);
        }
        if let Some(signal) = &exit.signal {
            root.learn("signal", signal.as_str());
        }
        let event = ProcessExit {
            exit_code: exit.code.map(Into::into),
            signal: exit.signal.clone(),
            timed_out: exit.timed_out,
        };
        self.on_event(root, event.into(), place);
    }

    /// Says so where the result and the exit disagree. The result wins.
    fn note_mismatch(&mut self, root: &mut Run, verdict: &Verdict, exit: &Exit, place: TapePlace) {
        let reported = match verdict.error() {
            None if exit.is_process_failure() => "success".to_owned(),
            Some(error) if exit.is_success() => format!("failure ({})", error.name),
            _ => return,
        };
        let exit = describe(exit);
        self.on_event(root, ExitMismatch { reported, exit }.into(), place);
    }

    /// Names the error of a run that did not end by itself.
    fn error_of_exit(&self, exit: &Exit, exit_is_signal: impl Fn(i32) -> bool) -> RunError {
        let (name, message) = exit.failure(exit_is_signal);
        let message = match self.stderr_tail.trim() {
            "" => message,
            tail => format!("{message}: {tail}"),
        };
        failure::error(name, message, ErrorFamily::Process)
    }

    /// Books what a stated total holds beyond the responses that were seen. A total never takes a response away: one
    /// that covers less, such as the last turn alone, is a notice.
    pub(super) fn book_remainder(&mut self, root: &mut Run, children: &Children, place: TapePlace) {
        let Some((total, scope)) = self.total else {
            return;
        };
        let open = root.open.as_ref();
        let open = open.map_or_else(TokenCounts::default, OpenStep::used);
        let of_root = open.plus(root.usage);
        let seen = match scope {
            TotalScope::Root => of_root,
            TotalScope::Tree | TotalScope::Session => children.usage(of_root),
        };
        self.note_smaller_total(root, total, seen, place);
        let rest = total.beyond(seen);
        let nothing = |n: Option<i64>| n.is_none_or(|n| n == 0);
        let empty = nothing(rest.input_tokens)
            && nothing(rest.output_tokens)
            && nothing(rest.reasoning_tokens)
            && nothing(rest.cached_input_tokens);
        if empty && !seen.is_unknown() && seen.or(total) == seen {
            return;
        }
        let source = if seen.is_unknown() {
            UsageSource::Total
        } else {
            UsageSource::Remainder
        };
        let key = if seen.is_unknown() {
            "total"
        } else {
            "remainder"
        };
        let entry = UsageEntry {
            key: key.to_owned(),
            source,
            step: None,
            model: None,
            of_session: scope == TotalScope::Session,
            counts: rest,
        };
        self.record(root, entry, place.at, None);
        root.usage = root.usage.plus(rest);
    }

    /// Says so where a stated total is smaller than the responses that were seen.
    fn note_smaller_total(
        &mut self,
        root: &mut Run,
        total: TokenCounts,
        seen: TokenCounts,
        place: TapePlace,
    ) {
        let counters = [
            ("input", total.input_tokens, seen.input_tokens),
            (
                "cached input",
                total.cached_input_tokens,
                seen.cached_input_tokens,
            ),
            ("output", total.output_tokens, seen.output_tokens),
            ("reasoning", total.reasoning_tokens, seen.reasoning_tokens),
        ];
        let smaller: Vec<String> = counters
            .into_iter()
            .filter_map(|(name, total, seen)| Some((name, total?, seen?)))
            .filter(|(_, total, seen)| total < seen)
            .map(|(name, total, seen)| format!("{name} {total} of {seen}"))
            .collect();
        if smaller.is_empty() {
            return;
        }
        let message = format!(
            "the stated total is smaller than the responses that were seen: {}; the responses count",
            smaller.join(", ")
        );
        self.on_event(root, Warning { message }.into(), place);
    }

    pub(super) fn learn_totals(&mut self, root: &mut Run) {
        if let Some(ms) = self.duration_ms {
            root.learn("durationMs", ms);
        }
        if let Some(cost) = self.cost {
            root.learn("costUsd", cost);
        }
        let mut raw = std::mem::take(&mut self.raw_usage);
        match (raw.pop(), raw.is_empty()) {
            (None, _) => {}
            (Some(only), true) => root.learn_late("rawUsage", only),
            (Some(last), false) => {
                raw.push(last);
                let raw = raw.into_iter().map(LateValue::into_value).collect();
                root.learn("rawUsage", Value::Array(raw));
            }
        }
        if self.unparsed > 0 {
            root.learn("unparsedLines", self.unparsed);
        }
        if !self.unknown_keys.is_empty() {
            let counts = std::mem::take(&mut self.unknown_keys);
            let counts: Map<String, Value> = counts
                .into_iter()
                .map(|(key, count)| (key, count.into()))
                .collect();
            root.learn("unknownKeys", Value::Object(counts));
        }
    }

    /// Writes the terminal checkpoint of a run, once.
    pub(super) fn end_run(&mut self, run: &mut Run, end: StepEnd, place: TapePlace) {
        if run.ended {
            return self.impossible(run, "a run ended twice", place);
        }
        self.start(run, place);
        let at = place.at.max(run.latest_held());
        let place = TapePlace { at, ..place };
        self.show_end(run, &end, place);
        if run.open.is_some() {
            self.close_step(run, end, place);
        } else {
            self.flush_metadata(run, place.at);
            let head = CheckpointHead {
                step: run.step + 1,
                status: end.status,
                messages: run.messages,
                usage: run.usage.without_writes(),
                step_usage: TokenCounts::default(),
                started_at: place.at,
                pending: run.pending.ids(),
                text: end.text,
                error: end.error,
            };
            self.record(run, Box::new(head), place.at, None);
        }
        run.ended = true;
        run.forget();
    }
}

fn describe(exit: &Exit) -> String {
    match (exit.timed_out, &exit.signal, exit.code) {
        (true, _, _) => "time-out".to_owned(),
        (_, Some(signal), _) => format!("signal {signal}"),
        (_, _, Some(code)) => format!("code {code}"),
        _ => "unknown".to_owned(),
    }
}
