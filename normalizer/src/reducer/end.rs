//! How a run ends: exactly one terminal event, from the best evidence there is.

use runtape_core::record::{CheckpointHead, UsageEntry, UsageSource};
use runtape_core::runtime_event::{EarlierResult, ExitMismatch, ProcessExit, Warning};
use runtape_core::{CheckpointStatus, ErrorFamily, LateValue, RunError, TokenCounts};
use serde_json::{Map, Value};

use super::Reducer;
use super::steps::Ending;
use crate::exit::{Exit, signal_name};
use crate::failure;
use crate::signal::{Outcome, Place, Verdict};

impl Reducer {
    /// Takes the result of a turn. An earlier one is kept as a notice.
    pub(super) fn on_outcome(&mut self, outcome: Outcome<'_>, place: Place) {
        self.reopen(place);
        if let Some(ms) = outcome.duration_ms {
            self.duration_ms = Some(self.duration_ms.unwrap_or(0).saturating_add(ms));
        }
        self.result = Some(Outcome {
            verdict: outcome.verdict,
            subtype: outcome.subtype.map(|text| text.into_owned().into()),
            text: outcome.text.map(|text| text.into_owned().into()),
            answer: outcome.answer.map(|text| text.into_owned().into()),
            duration_ms: outcome.duration_ms,
        });
    }

    /// Turns a result that is not the last word into a notice.
    pub(super) fn reopen(&mut self, place: Place) {
        let Some(result) = self.result.take() else {
            return;
        };
        let notice = EarlierResult {
            is_error: !matches!(result.verdict, Verdict::Success),
            subtype: result.subtype.map(Into::into),
            text: result.text.map(Into::into),
        };
        self.on_event(0, notice.into(), place);
    }

    /// Ends the root run and all its children. Nothing may be applied after this.
    ///
    /// `exit_is_signal` tells whether an exit code of this runtime stands for a signal.
    pub fn finish(&mut self, exit: &Exit, at: i64, exit_is_signal: impl Fn(i32) -> bool) {
        let last = self.runs.first().map_or(at, |root| root.last.at);
        let place = Place {
            span: None,
            line: 0,
            at: at.max(last),
        };
        self.touch(0, place);
        self.close_part_at_end();
        self.end_children(place);
        self.note_exit(exit, place);

        let result = self.result.take();
        let ending = match result {
            Some(outcome) => {
                self.note_mismatch(&outcome.verdict, exit, place);
                let answer = outcome.answer.map(Into::into);
                match outcome.verdict {
                    Verdict::Success => Ending {
                        status: CheckpointStatus::Completed,
                        text: answer,
                        error: None,
                    },
                    Verdict::Error(error) => Ending {
                        status: CheckpointStatus::StoppedByError,
                        text: answer,
                        error: Some(error),
                    },
                    Verdict::TurnLimit(error) => Ending {
                        status: CheckpointStatus::StoppedByExceededMaxSteps,
                        text: answer,
                        error: Some(error),
                    },
                }
            }
            None => Ending {
                status: CheckpointStatus::StoppedByError,
                text: None,
                error: Some(self.error_of_exit(exit, exit_is_signal)),
            },
        };
        self.book_remainder(place);
        self.learn_totals();
        self.end_run(0, ending, place);
    }

    /// A reasoning part that is open at the end was cut like any other.
    fn close_part_at_end(&mut self) {
        for run in 1..self.runs.len() {
            self.close_part(run);
        }
    }

    fn note_exit(&mut self, exit: &Exit, place: Place) {
        if let Some(missing) = &exit.missing {
            let message = format!("the end of the output could not be kept: {missing}");
            self.on_event(0, Warning { message }.into(), place);
        }
        if exit.is_unknown() || exit.recorder_lost {
            return;
        }
        if let Some(code) = exit.code {
            self.learn(0, "exitCode", code.into());
        }
        if let Some(signal) = &exit.signal {
            self.learn(0, "signal", signal.as_str().into());
        }
        let event = ProcessExit {
            exit_code: exit.code.map(Into::into),
            signal: exit.signal.clone(),
            timed_out: exit.timed_out,
        };
        self.on_event(0, event.into(), place);
    }

    /// Says so where the result and the exit disagree. The result wins.
    fn note_mismatch(&mut self, verdict: &Verdict, exit: &Exit, place: Place) {
        let reported = match verdict {
            Verdict::Success if exit.is_process_failure() => "success".to_owned(),
            Verdict::Error(error) | Verdict::TurnLimit(error) if exit.is_success() => {
                format!("failure ({})", error.name)
            }
            _ => return,
        };
        let exit = describe(exit);
        self.on_event(0, ExitMismatch { reported, exit }.into(), place);
    }

    /// Names the error of a run that did not end by itself.
    fn error_of_exit(&self, exit: &Exit, exit_is_signal: impl Fn(i32) -> bool) -> RunError {
        let family = ErrorFamily::Process;
        let by_code = exit
            .code
            .filter(|code| exit_is_signal(*code))
            .map(|code| signal_name(code - 128));
        let (name, message) = if exit.recorder_lost {
            (
                "RecorderLost",
                "the recorder died before the process ended".to_owned(),
            )
        } else if exit.timed_out {
            ("TimedOut", "the time limit was reached".to_owned())
        } else if let Some(signal) = exit.signal.clone().or(by_code) {
            (
                "KilledBySignal",
                format!("the process was ended by {signal}"),
            )
        } else if let Some(code) = exit.code.filter(|code| *code != 0) {
            (
                "NonZeroExit",
                format!("the process ended with exit code {code}"),
            )
        } else if let Some(missing) = &exit.missing {
            let how = match exit.code {
                Some(code) => format!("; the process ended with exit code {code}"),
                None => String::new(),
            };
            (
                "TruncatedOutput",
                format!("the end of the output could not be kept: {missing}{how}"),
            )
        } else {
            (
                "TruncatedOutput",
                "the output ended without a result".to_owned(),
            )
        };
        let message = match self.stderr_tail.trim() {
            "" => message,
            tail => format!("{message}: {tail}"),
        };
        failure::error(name, message, family)
    }

    /// Books what a stated total holds beyond the responses that were seen.
    fn book_remainder(&mut self, place: Place) {
        let Some(total) = self.total else { return };
        let open = self.runs.first().and_then(|root| root.open.as_ref());
        let seen = self.runs.iter().fold(
            open.map_or_else(TokenCounts::default, super::step::OpenStep::used),
            |sum, run| sum.plus(run.usage),
        );
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
            of_session: self.total_is_of_session,
            counts: rest,
        };
        self.record(0, entry, place.at, None);
        if let Some(root) = self.runs.first_mut() {
            root.usage = root.usage.plus(rest);
        }
    }

    fn learn_totals(&mut self) {
        if let Some(ms) = self.duration_ms {
            self.learn(0, "durationMs", ms.into());
        }
        if let Some(cost) = self.cost {
            self.learn(0, "costUsd", cost.into());
        }
        let mut raw = std::mem::take(&mut self.raw_usage);
        match (raw.pop(), raw.is_empty()) {
            (None, _) => {}
            (Some(only), true) => self.learn_late(0, "rawUsage", only),
            (Some(last), false) => {
                raw.push(last);
                let raw = raw.into_iter().map(LateValue::into_value).collect();
                self.learn(0, "rawUsage", Value::Array(raw));
            }
        }
        if self.unparsed > 0 {
            self.learn(0, "unparsedLines", self.unparsed.into());
        }
        if !self.unknown_keys.is_empty() {
            let counts = std::mem::take(&mut self.unknown_keys);
            let counts: Map<String, Value> = counts
                .into_iter()
                .map(|(key, count)| (key, count.into()))
                .collect();
            self.learn(0, "unknownKeys", Value::Object(counts));
        }
    }

    /// Writes the terminal checkpoint of a run, once.
    pub(super) fn end_run(&mut self, run: usize, ending: Ending, place: Place) {
        if self.runs.get(run).is_none_or(|state| state.ended) {
            return;
        }
        self.start(run, place);
        self.show_end(run, &ending, place);
        if self.runs.get(run).is_some_and(|state| state.open.is_some()) {
            self.close_step(run, &ending, place);
        } else {
            self.flush_metadata(run, place.at);
            let Some(state) = self.runs.get(run) else {
                return;
            };
            let head = CheckpointHead {
                step: state.step + 1,
                status: ending.status,
                messages: state.messages,
                usage: state.usage,
                step_usage: TokenCounts::default(),
                started_at: place.at,
                pending: state.pending.ids(),
                text: ending.text,
                error: ending.error,
            };
            self.record(run, Box::new(head), place.at, None);
        }
        if let Some(state) = self.runs.get_mut(run) {
            state.ended = true;
            state.forget();
        }
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
