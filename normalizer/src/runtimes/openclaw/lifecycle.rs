//! The life cycle of a session's runs: attempts, models, and how they end.

use runtape_core::RunError;
use runtape_core::runtime_event::{ApiRetry, ModelFallback};

use super::conversation::{Conversation, retry_because};
use super::failure;
use super::runs::{EndSource, RunEnd};
use super::wire::{Data, Observation, Retry};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};
use crate::verdict::{UnclearResult, VerdictWord};

impl Conversation {
    /// Takes a frame of a run's life cycle; `false` for a phase that is not known.
    pub(super) fn on_lifecycle(
        &mut self,
        run: &str,
        time: Option<u64>,
        data: &Data<'_>,
        out: &mut SignalSink<'_>,
    ) -> bool {
        match data.phase.as_deref().unwrap_or_default() {
            "start" => self.on_start(run, data.started_at.or(time), out),
            "model" => {
                if let Some(model) = data.model.as_deref() {
                    self.end_message(out);
                    self.sees_requests = true;
                    self.emit(Signal::Model(model), out);
                }
            }
            "finishing" => self.on_finishing(run, data, out),
            "fallback_step" | "fallback" => self.on_fallback(run, data, out),
            "waiting-approval" | "approval-resolved" => {}
            "end" => {
                let (error, is_abort) = error_of_end(data, out);
                self.on_lifecycle_end(run, data, error, is_abort, out);
            }
            "error" => {
                let is_abort = data.aborted.flag() == Some(true);
                let error = if is_abort {
                    failure::aborted(data.stop_reason.as_deref())
                } else {
                    let said = data.error.word().or(data.message.as_deref());
                    let said = said.filter(|text| !text.trim().is_empty());
                    let reason = failover(data.observation.as_ref());
                    let message = said.unwrap_or("the agent failed");
                    failure::of_run(message, reason, data.error_kind.word())
                };
                self.on_lifecycle_end(run, data, Some(error), is_abort, out);
            }
            _ => return false,
        }
        true
    }

    fn on_start(&mut self, run: &str, at: Option<u64>, out: &mut SignalSink<'_>) {
        self.runs.supersede(run);
        let is_other = self.ended_run.as_deref().is_some_and(|ended| ended != run);
        if is_other {
            self.reopen(out);
        }
        self.change_run(run, out);
        self.end_message(out);
        let state = self.runs.get(run);
        state.started_at = state.started_at.or(at);
        state.is_started = true;
        // Another attempt: what was said of the one before is not the last word.
        state.end = None;
        state.is_closed = false;
        let again = std::mem::take(&mut state.has_finished);
        let retry = state.retry.take();
        if again && self.ended_run.as_deref() == Some(run) {
            self.ended_run = None;
        }
        if let Some(retry) = retry {
            self.emit(Signal::Event(retry.into()), out);
        }
    }

    /// An attempt is over; the run may make another one.
    fn on_finishing(&mut self, run: &str, data: &Data<'_>, out: &mut SignalSink<'_>) {
        self.end_part(out);
        let state = self.runs.get(run);
        state.has_finished = true;
        if let Some(error) = data.error.word() {
            state.retry = Some(retry_because(error));
        }
    }

    /// The gateway says that it will try again, with numbers.
    pub(super) fn on_retrying(&mut self, run: &str, retry: ApiRetry) {
        let state = self.runs.get(run);
        let reason = state.retry.take().and_then(|retry| retry.reason);
        let reason = match (reason, retry.reason) {
            (Some(error), Some(reason)) if !error.contains(&reason) => {
                Some(format!("{reason}: {error}"))
            }
            (error, reason) => error.or(reason),
        };
        state.retry = Some(ApiRetry { reason, ..retry });
    }

    fn on_fallback(&mut self, run: &str, data: &Data<'_>, out: &mut SignalSink<'_>) {
        let text = |text: &Option<crate::json::Str<'_>>| text.as_deref().map(str::to_owned);
        let state = self.runs.get(run);
        // The other model is asked: that says more than that there will be another attempt.
        state.retry = None;
        if data.to_model.is_none() || std::mem::replace(&mut state.has_fallback, true) {
            return;
        }
        let fallback = ModelFallback {
            from: text(&data.from_model),
            to: text(&data.to_model),
            reason: text(&data.fallback_reason),
        };
        self.emit(Signal::Event(fallback.into()), out);
    }

    fn on_lifecycle_end(
        &mut self,
        run: &str,
        data: &Data<'_>,
        error: Option<RunError>,
        is_abort: bool,
        out: &mut SignalSink<'_>,
    ) {
        if is_abort {
            self.cut_part(out);
        } else {
            self.end_part(out);
        }
        let place = out.place();
        let state = self.runs.get(run);
        state.started_at = state.started_at.or(data.started_at);
        state.ended_at = state.ended_at.or(data.ended_at);
        let reply = data.reply.as_ref().and_then(|reply| reply.text.as_deref());
        if let (false, Some(reply)) = (state.has_text, reply) {
            state.chat_text = Some((reply.to_owned(), place));
        }
        let held = state.chat_text.take();
        self.on_end(
            run,
            RunEnd {
                source: EndSource::Lifecycle,
                has_detail: data.observation.is_some(),
                reason: data.stop_reason.as_deref().map(str::to_owned),
                error,
                is_abort,
                place,
            },
            out,
        );
        // A chat frame follows and tells it; this is for output that ends here.
        self.runs.get(run).chat_text = held;
    }

    /// Takes the end of a run.
    pub(super) fn on_end(&mut self, run: &str, end: RunEnd, out: &mut SignalSink<'_>) {
        self.doubt = None;
        let is_other = self.ended_run.as_deref().is_some_and(|ended| ended != run);
        let state = self.runs.get(run);
        if state.is_closed {
            return;
        }
        state.on_end(end);
        // A sub-agent's session ends once, with its last run.
        if is_other && !self.is_child() {
            self.tell_end(out);
        }
        self.ended_run = Some(run.into());
    }

    /// Tells how the last run ended. Returns whether there was one.
    pub(super) fn tell_end(&mut self, out: &mut SignalSink<'_>) -> bool {
        let Some(run) = self.ended_run.take() else {
            return false;
        };
        let answer = self.answer().map(str::to_owned);
        let state = self.runs.get(&run);
        let duration_ms = state.duration();
        state.is_closed = true;
        let Some(end) = state.end.take() else {
            return false;
        };
        if self.is_child() {
            self.end_child(end, out);
            return true;
        }
        // The gateway aborts what takes too long, too.
        let is_stop = end.is_abort && end.reason.as_deref() != Some("timeout");
        let outcome = Outcome {
            subtype: end.reason.map(Into::into),
            answer: answer.filter(|_| end.error.is_none()).map(Into::into),
            duration_ms,
            ..Outcome::of(match end.error {
                Some(error) if is_stop => Verdict::Interrupted(error),
                Some(error) => Verdict::Error(error),
                None => Verdict::Success,
            })
        };
        self.emit_at(end.place, Signal::Result(outcome), out);
        true
    }

    fn end_child(&self, end: RunEnd, out: &mut SignalSink<'_>) {
        let Some(call) = self.child_call() else {
            return;
        };
        let ended = Signal::ChildEnd {
            call: call.to_owned().into(),
            is_error: end.error.is_some(),
            text: end.error.map(|error| error.message.into()),
        };
        self.emit_at(end.place, ended, out);
    }

    /// An end that was told is not the last word: the session goes on.
    pub(super) fn reopen(&mut self, out: &mut SignalSink<'_>) {
        // A sub-agent's session ends once, whatever it still does.
        if !self.is_child() && self.tell_end(out) {
            self.emit(Signal::TurnOpened, out);
        }
    }

    /// A frame should say how far a run is, and does not.
    pub(super) fn on_doubt(&mut self, doubt: UnclearResult, out: &mut SignalSink<'_>) {
        self.doubt = Some((out.place(), doubt));
    }

    /// The output is over.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        let place = out.place();
        let held: Vec<_> = self
            .runs
            .iter_mut()
            .filter(|run| !run.has_text)
            .filter_map(|run| Some((run.id.clone(), run.chat_text.take()?)))
            .collect();
        for (run, (text, at)) in held {
            self.end_message(out);
            self.begin_text(None, out);
            self.tell_text_at(at, &run, &text, out);
        }
        self.tell_held_rows(out);
        self.tell_preamble(out);
        self.tell_waiting_results(out);
        self.tell_usage(out);
        let retries: Vec<ApiRetry> = self
            .runs
            .iter_mut()
            .filter(|run| run.is_open())
            .filter_map(|run| run.retry.take().filter(|retry| retry.attempt.is_some()))
            .collect();
        for retry in retries {
            self.emit_at(place, Signal::Event(retry.into()), out);
        }
        self.tell_users(out);
        if let Some((place, doubt)) = self.doubt.take() {
            self.reopen(out);
            if !self.is_child() {
                let error = Verdict::Error(doubt.error(None));
                self.emit_at(place, Signal::Result(Outcome::of(error)), out);
            }
            return;
        }
        if self.runs.any_open() {
            self.reopen(out);
        } else {
            self.tell_end(out);
        }
    }
}

/// Returns why the gateway looked for another provider.
pub(super) fn failover<'v>(observation: Option<&'v Observation<'_>>) -> Option<&'v str> {
    observation?.reason.as_deref()
}

/// Returns the notice of a request that will be made again. `attempt` is the one to come.
pub(super) fn retry_of(retry: &Retry<'_>) -> ApiRetry {
    ApiRetry {
        attempt: retry
            .attempt
            .map(|attempt| attempt.saturating_sub(1).max(1)),
        max_attempts: retry.max_attempts,
        delay_ms: retry.delay,
        status_code: None,
        reason: retry.reason.as_deref().map(str::to_owned),
    }
}

/// Returns the failure that the end of a life cycle tells, and whether somebody ended it.
fn error_of_end(data: &Data<'_>, out: &mut SignalSink<'_>) -> (Option<RunError>, bool) {
    let (aborted, said) = (&data.aborted, &data.error);
    match aborted.flag() {
        Some(true) => (Some(failure::aborted(data.stop_reason.as_deref())), true),
        Some(false) if said.is_missing() => (None, false),
        None if aborted.is_missing() && said.is_missing() => (None, false),
        _ => {
            let fields: [(&str, &VerdictWord<'_>); 2] = [("aborted", aborted), ("error", said)];
            let mut doubt = UnclearResult::default();
            for (field, word) in fields {
                if !word.is_missing() {
                    doubt = doubt.with(field, word);
                }
            }
            let error = doubt.report("agent", None, |signal| out.emit(signal));
            (Some(error), false)
        }
    }
}
