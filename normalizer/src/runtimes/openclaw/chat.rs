//! Chat frames: how far an answer is.
//!
//! They restate the whole run joined into one text, and protocol 3 damages that. What they say is
//! told only where no other frame told the run's text: the answer to a command, the gateway's own
//! words, or a client that saw nothing else.

use runtape_core::RunError;
use runtape_core::runtime_event::Info;
use serde_json::Value;

use super::conversation::Conversation;
use super::failure;
use super::lifecycle::{failover, retry_of};
use super::message;
use super::runs::{EndSource, RunEnd};
use super::wire::ChatPayload;
use crate::parser::SignalSink;
use crate::signal::Signal;
use crate::verdict::{UnclearResult, VerdictWord};

impl Conversation {
    /// Takes a chat frame; `false` for a state that is not known.
    pub(super) fn on_chat(
        &mut self,
        run: &str,
        chat: &ChatPayload<'_>,
        message: &Value,
        out: &mut SignalSink<'_>,
    ) -> bool {
        match chat.state.word().unwrap_or_default() {
            "status" => {
                self.runs.get(run);
                if let Some(retry) = &chat.retry {
                    self.on_retrying(run, retry_of(retry));
                }
            }
            "delta" => {
                self.doubt = None;
                let place = out.place();
                let state = self.runs.get(run);
                if !state.has_text {
                    let text = message::text(message).filter(|text| !text.is_empty());
                    state.chat_text = text.map(|text| (text, place));
                }
            }
            "final" => {
                let error = contradiction(chat, out);
                self.on_chat_end(run, chat, message, error, false, out);
            }
            "aborted" => {
                let error = failure::aborted(chat.stop_reason.as_deref());
                self.on_chat_end(run, chat, message, Some(error), true, out);
            }
            "error" => {
                let said = chat.error.word().filter(|text| !text.trim().is_empty());
                let said = said.unwrap_or("the gateway reported an error");
                let reason = failover(chat.error_detail.as_ref());
                let error = failure::of_run(said, reason, chat.error_kind.word());
                self.on_chat_end(run, chat, message, Some(error), false, out);
            }
            _ => {
                self.runs.get(run);
                return false;
            }
        }
        true
    }

    fn on_chat_end(
        &mut self,
        run: &str,
        chat: &ChatPayload<'_>,
        message: &Value,
        error: Option<RunError>,
        is_abort: bool,
        out: &mut SignalSink<'_>,
    ) {
        let held = self.runs.get(run).chat_text.take();
        if message::is_status_notice(message) {
            self.on_notice(run, message, out);
        } else {
            let text = message::text(message).filter(|text| !text.is_empty());
            let text = text.or(held.map(|(text, _)| text));
            self.tell_answer(run, text, message.get("text").is_some(), out);
        }
        if is_abort {
            self.cut_part(out);
        } else {
            self.end_part(out);
        }
        // A message that was steered into another run is over at once, and says nothing of it.
        let state = self.runs.get(run);
        let is_hollow = error.is_none() && !state.is_started && message.is_null();
        if is_hollow {
            state.is_closed = true;
            let has_others = self.runs.any_open() || self.ended_run.is_some();
            if has_others {
                return;
            }
            self.runs.get(run).is_closed = false;
        }
        let end = RunEnd {
            source: EndSource::Chat,
            error,
            is_abort,
            has_detail: chat.error_detail.is_some(),
            reason: chat.stop_reason.as_deref().map(str::to_owned),
            place: out.place(),
        };
        self.on_end(run, end, out);
    }

    /// Tells an answer that no other frame told.
    fn tell_answer(
        &mut self,
        run: &str,
        text: Option<String>,
        is_own: bool,
        out: &mut SignalSink<'_>,
    ) {
        let Some(text) = text else { return };
        let has_text = self.runs.get(run).has_text;
        // The gateway's own words have a field for themselves.
        if has_text && (!is_own || self.has_told(&text)) {
            return;
        }
        self.change_run(run, out);
        self.end_message(out);
        self.begin_text(None, out);
        self.tell_text(run, &text, out);
    }

    /// The gateway speaks: of a fallback that was told, or of a command that it obeyed.
    fn on_notice(&mut self, run: &str, message: &Value, out: &mut SignalSink<'_>) {
        let text = message::text(message).unwrap_or_default();
        if !self.runs.get(run).has_fallback {
            let notice = Info {
                topic: Some("status".to_owned()),
                message: text,
            };
            self.emit(Signal::Event(notice.into()), out);
        }
    }
}

/// Returns the failure of an answer that is final and has an error beside it.
fn contradiction(chat: &ChatPayload<'_>, out: &mut SignalSink<'_>) -> Option<RunError> {
    let is_silent = |word: &VerdictWord<'_>| word.is_missing() || word.is("");
    let has_detail = failover(chat.error_detail.as_ref()).is_some();
    if is_silent(&chat.error) && is_silent(&chat.error_kind) && !has_detail {
        return None;
    }
    let doubt = UnclearResult::default()
        .with("state", &chat.state)
        .with("errorMessage", &chat.error)
        .with("errorKind", &chat.error_kind);
    Some(doubt.report("chat", None, |signal| out.emit(signal)))
}
