//! What a consumer can show before a record is there: transcript entries and streaming events.

use runtape_core::run_event::{
    CompleteStreamingReasoning, StartStreamingReasoning, StreamReasoning,
};
use runtape_core::runtime_event::{StreamChannel, StreamText, StreamToolCall, StreamToolResult};
use runtape_core::{
    Event, EventId, ExpertPart, RunEvent, RunEventKind, RuntimeEvent, RuntimeEventKind, ToolCallId,
    ToolName, TranscriptEntry, TranscriptKind, transcript,
};
use serde_json::Value;

use super::calls::ToolAnswer;
use super::run::{Run, TextChannel};
use super::step::OpenPart;
use super::steps::StepEnd;
use super::tape::TapeState;
use crate::output::LiveItem;
use crate::signal::{Block, TapePlace};

impl TapeState {
    fn show(&mut self, run: &Run, kind: impl Into<TranscriptKind>, place: TapePlace) {
        if !self.with_live {
            return;
        }
        let entry = TranscriptEntry::new(place.at, kind);
        self.output.live.push(LiveItem::Transcript {
            run_id: run.id.clone(),
            entry,
        });
    }

    fn stream(&mut self, run: &mut Run, kind: impl Into<RunEventKind>, place: TapePlace) {
        let given = self.context.expert.as_ref();
        let expert_key = given.map_or(self.runtime.as_str(), |expert| expert.key.as_str());
        let expert_key = expert_key.to_owned();
        let event = RunEvent {
            id: EventId::derive_live(&run.id, Run::next(&mut run.live_events)),
            expert_key,
            timestamp: place.at,
            job_id: self.context.job_id.clone(),
            run_id: run.id.clone(),
            step_number: run.step,
            kind: kind.into(),
        };
        self.output
            .live
            .push(LiveItem::Event(Box::new(Event::Run(event))));
    }

    /// Streams text of which nobody knows yet whether it is the answer.
    fn stream_text(&mut self, run: &mut Run, delta: &str, place: TapePlace) {
        let kind = StreamText {
            channel: StreamChannel::Text,
            delta: delta.to_owned(),
        };
        self.stream_around(run, kind, place);
    }

    /// Streams an event around the run.
    fn stream_around(
        &mut self,
        run: &mut Run,
        kind: impl Into<RuntimeEventKind>,
        place: TapePlace,
    ) {
        let event = RuntimeEvent {
            id: EventId::derive_live(&run.id, Run::next(&mut run.live_events)),
            timestamp: place.at,
            job_id: self.context.job_id.clone(),
            run_id: run.id.clone(),
            kind: kind.into(),
        };
        self.output
            .live
            .push(LiveItem::Event(Box::new(Event::Runtime(event))));
    }

    pub(super) fn show_init(&mut self, run: &mut Run, place: TapePlace) {
        if !self.with_live || !run.is_root() {
            return;
        }
        let model = run
            .model
            .clone()
            .unwrap_or_else(|| self.runtime.as_str().to_owned());
        let session = run.patch.session_id().unwrap_or_default().to_owned();
        self.show(
            run,
            transcript::Init {
                model,
                session_id: session,
            },
            place,
        );
    }

    pub(super) fn show_user(&mut self, run: &mut Run, text: &str, place: TapePlace) {
        if self.with_live {
            self.show(
                run,
                transcript::User {
                    text: text.to_owned(),
                },
                place,
            );
        }
    }

    pub(super) fn show_text(&mut self, run: &mut Run, text: &str, delta: bool, place: TapePlace) {
        if !self.with_live {
            return;
        }
        if delta {
            self.stream_text(run, text, place);
        }
        let mut said = transcript::Assistant::new(text, delta);
        if run.channel == TextChannel::Progress {
            said.channel = Some(transcript::PROGRESS.to_owned());
        }
        self.show(run, said, place);
    }

    pub(super) fn show_thinking(
        &mut self,
        run: &mut Run,
        text: &str,
        first: bool,
        place: TapePlace,
    ) {
        if !self.with_live {
            return;
        }
        if first {
            self.stream(run, StartStreamingReasoning {}, place);
        }
        self.stream(
            run,
            StreamReasoning {
                delta: text.to_owned(),
            },
            place,
        );
        self.show(run, transcript::Thinking::new(text, true), place);
    }

    pub(super) fn show_thinking_end(&mut self, run: &mut Run, place: TapePlace) {
        if !self.with_live {
            return;
        }
        let text = run
            .open
            .as_ref()
            .filter(|step| step.open_part() == OpenPart::Thinking)
            .and_then(|step| match step.spoken.parts.last() {
                Some(ExpertPart::ThinkingPart(part)) => Some(part.thinking.clone()),
                _ => None,
            });
        if let Some(text) = text {
            self.stream(run, CompleteStreamingReasoning { text }, place);
        }
    }

    pub(super) fn show_call(
        &mut self,
        run: &mut Run,
        id: &ToolCallId,
        name: &str,
        input: &Value,
        place: TapePlace,
    ) {
        if !self.with_live {
            return;
        }
        let begun = StreamToolCall {
            in_step: run.step,
            tool_call_id: id.clone(),
            tool_name: ToolName::from_printed(name),
            args: input.clone(),
        };
        self.stream_around(run, begun, place);
        let call = transcript::ToolCall {
            name: name.to_owned(),
            input: input.clone(),
            tool_use_id: Some(id.as_str().to_owned()),
        };
        self.show(run, call, place);
    }

    pub(super) fn show_result(
        &mut self,
        run: &mut Run,
        id: &ToolCallId,
        name: &ToolName,
        answer: &ToolAnswer<'_>,
        place: TapePlace,
    ) {
        if !self.with_live {
            return;
        }
        let answered = StreamToolResult {
            in_step: run.step,
            tool_call_id: id.clone(),
            tool_name: name.clone(),
            is_error: answer.is_error,
        };
        self.stream_around(run, answered, place);
        let texts: Vec<&str> = answer
            .content
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.as_ref()),
                _ => None,
            })
            .collect();
        let result = transcript::ToolResult {
            tool_use_id: id.as_str().to_owned(),
            tool_name: Some(name.as_str().to_owned()),
            content: texts.join("\n"),
            is_error: answer.is_error.unwrap_or(false),
            duration_ms: answer.duration_ms,
        };
        self.show(run, result, place);
    }

    pub(super) fn show_event(&mut self, run: &mut Run, event: &RuntimeEventKind, place: TapePlace) {
        if !self.with_live {
            return;
        }
        if let Some(kind) = TranscriptKind::from_event(event) {
            self.show(run, kind, place);
        }
    }

    pub(super) fn show_end(&mut self, run: &mut Run, end: &StepEnd, place: TapePlace) {
        if !self.with_live || !run.is_root() {
            return;
        }
        let open = run.open.as_ref();
        let usage = open.map_or(run.usage, |step| run.usage.plus(step.used()));
        let spoken = open.map(|step| {
            let texts = step.spoken.parts.iter().filter_map(|part| match part {
                ExpertPart::TextPart(part) => Some(part.text.as_str()),
                _ => None,
            });
            texts.collect::<String>()
        });
        let text = end.text.clone().or(spoken).unwrap_or_default();
        let cost = run.patch.cost_usd();
        let result = transcript::RunResult::new(
            text,
            end.status,
            &usage.to_usage(),
            cost,
            end.error.as_ref(),
        );
        self.show(run, result, place);
    }
}
