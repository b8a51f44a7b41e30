//! Attempts that the runtime gave up: what was said is taken back and kept with the notice.

use runtape_core::ExpertPart;
use runtape_core::runtime_event::ApiRetry;

use super::run::Run;
use super::step::{OpenStep, Spoken};
use super::tape::TapeState;
use crate::signal::TapePlace;

impl TapeState {
    /// Takes back what was said in the open message. What makes it longer than the limit, and what
    /// a tool was called for, has become a fact and stays.
    pub(super) fn give_up_message(&mut self, run: &mut Run, mut retry: ApiRetry, place: TapePlace) {
        self.close_part(run);
        if let Some(text) = run.open.as_mut().and_then(OpenStep::give_up) {
            keep_text(&mut retry, &text);
        }
        self.on_event(run, retry.into(), place);
    }

    /// Takes back the last part of the open message: it was no answer, but is said again.
    pub(super) fn give_up_part(&mut self, run: &mut Run, mut retry: ApiRetry, place: TapePlace) {
        self.show_thinking_end(run, place);
        if let Some(text) = run.open.as_mut().and_then(OpenStep::take_back) {
            keep_text(&mut retry, &text);
        }
        self.on_event(run, retry.into(), place);
    }
}

impl OpenStep {
    /// Takes back what was said, and returns its text if there is any.
    fn give_up(&mut self) -> Option<String> {
        let is_said = |part: &ExpertPart| {
            matches!(part, ExpertPart::TextPart(_) | ExpertPart::ThinkingPart(_))
        };
        if !self.spoken.parts.iter().all(is_said) {
            return None;
        }
        let spoken = std::mem::take(&mut self.spoken);
        self.close_part();
        self.cut = false;
        self.held = self.held.saturating_sub(weight(&spoken));
        let texts = spoken.parts.iter().filter_map(|part| match part {
            ExpertPart::TextPart(part) => Some(part.text.as_str()),
            _ => None,
        });
        let text: String = texts.collect();
        (!text.is_empty()).then_some(text)
    }
}

/// Keeps what was said in an attempt that was given up.
pub(crate) fn keep_text(retry: &mut ApiRetry, text: &str) {
    let reason = retry.reason.as_deref();
    let reason = reason.unwrap_or("given up and tried again");
    retry.reason = Some(format!("{reason}, after: {text}"));
}

/// Returns how many bytes were counted for what was said.
fn weight(spoken: &Spoken) -> usize {
    let bytes = spoken.parts.iter().map(|part| match part {
        ExpertPart::TextPart(part) => part.text.len(),
        ExpertPart::ThinkingPart(part) => {
            part.thinking.len() + part.signature.as_ref().map_or(0, String::len)
        }
        ExpertPart::ToolCallPart(_) => 0,
    });
    bytes.sum()
}
