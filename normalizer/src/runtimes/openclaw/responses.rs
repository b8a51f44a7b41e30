//! What the client asked for, and what the gateway answered.

use serde::Deserialize;
use serde_json::Value;

use super::frames::Frames;
use super::requests::Method;
use super::runs::{EndSource, RunEnd};
use super::wire::{AgentPayload, InFlight, Refusal, Request, Response, ResponsePayload};
use super::{failure, message};
use crate::bounds::{self, Numbers};
use crate::parser::SignalSink;
use crate::signal::Signal;
use crate::verdict::{UnclearResult, VerdictWord};
use runtape_core::RunError;
use runtape_core::runtime_event::Warning;

impl Frames {
    pub(super) fn on_request(&mut self, request: &Request<'_>, out: &mut SignalSink<'_>) {
        out.unknown_keys("req", &request.unknown);
        self.has_requests = true;
        let params = request.params.as_ref();
        let session = params.and_then(|params| params.session.as_deref());
        let method = match request.method.as_deref().unwrap_or_default() {
            "chat.send" | "agent" => Method::Run,
            "connect" => Method::Connect,
            other => Method::Other(other.into()),
        };
        let run = params.and_then(|params| params.run.as_deref());
        let id = request.id.as_deref().unwrap_or_default();
        self.requests.push(id, method.clone(), run, session);
        if method != Method::Run {
            if self.hint.is_none() {
                self.hint = session.map(Into::into);
            }
            return;
        }
        if let Some(session) = session {
            self.ask(session, out);
        }
        let is_own = session.is_none_or(|session| self.sessions.is_asked(session));
        let text = params.and_then(|params| params.message.as_deref());
        if let Some(text) = text.filter(|_| is_own) {
            let main = &mut self.sessions.main;
            main.rows.on_user(text);
            main.on_user(text.to_owned(), out);
        }
    }

    pub(super) fn on_response(&mut self, response: &Response<'_>, out: &mut SignalSink<'_>) {
        out.unknown_keys("res", &response.unknown);
        let id = response.id.as_deref().unwrap_or_default();
        let request = self.requests.find(id);
        let is_run = request
            .as_ref()
            .is_none_or(|request| request.method != Method::Connect && is_of_run(&request.method));
        let is_granted = response.ok.flag() == Some(true);
        let is_refused = response.ok.flag() == Some(false);
        if is_refused || (response.error.is_some() && !is_granted) {
            let run = request.as_ref().and_then(|request| request.run.clone());
            let other = request.and_then(|request| match request.method {
                Method::Other(method) => Some(method),
                Method::Run | Method::Connect => None,
            });
            return self.on_refusal(
                response.error.as_ref(),
                other.as_deref(),
                run.as_deref(),
                out,
            );
        }
        let Some(answer) = &response.payload else {
            return;
        };
        if let Some(server) = &answer.server {
            self.connections += 1;
            if let Some(version) = server.version.as_deref() {
                out.emit(Signal::CliVersion(version));
            }
        }
        if answer.messages.is_some() {
            self.on_transcript(answer, out);
        }
        let session = request.and_then(|request| request.session);
        if let Some(run) = answer.run.as_deref().filter(|_| is_run) {
            let session = answer.session.as_deref().or(session.as_deref());
            self.on_run_answer(run, session, response, answer, out);
        }
    }

    /// A request was refused: the end, if it asked for a run.
    fn on_refusal(
        &mut self,
        error: Option<&Refusal<'_>>,
        other: Option<&str>,
        run: Option<&str>,
        out: &mut SignalSink<'_>,
    ) {
        let code = error.and_then(|error| error.code.as_deref());
        let message = error.and_then(|error| error.message.as_deref());
        let code = code.unwrap_or_default();
        let message = message.unwrap_or("the gateway refused a request");
        if let Some(method) = other {
            let message = format!("{method} was refused: {code} {message}");
            out.emit(Signal::Event(Warning { message }.into()));
            return;
        }
        let wait = error.and_then(|error| error.retry_after).map(bounds::count);
        let retry_at = wait.map(|wait| out.place().at.saturating_add(wait));
        let error = failure::of_request(code, message, retry_at);
        let run = run.unwrap_or("refused");
        self.end_run(run, Some(error), out);
    }

    /// The answer to a request for a run: it is taken on, or it is over.
    fn on_run_answer(
        &mut self,
        run: &str,
        session: Option<&str>,
        response: &Response<'_>,
        answer: &ResponsePayload<'_>,
        out: &mut SignalSink<'_>,
    ) {
        match session {
            Some(session) => {
                self.ask(session, out);
                let is_short = self.sessions.main.runs.known(run).is_none();
                if !self.sessions.is_asked(session) && is_short {
                    return;
                }
            }
            None => self.ask_for_run(run, out),
        }
        let status = &answer.status;
        let is_granted = response.ok.flag() == Some(true) && response.error.is_none();
        match status.word() {
            // The run was taken on, and goes on.
            Some("accepted" | "started" | "in_flight") => {
                self.sessions.main.runs.get(run);
            }
            Some("ok") if is_granted && answer.error.is_missing() => {
                self.on_result(run, answer, out);
                self.end_run(run, None, out);
            }
            Some("ok") => {
                let mut doubt = UnclearResult::default()
                    .with("status", status)
                    .with("ok", &response.ok);
                if let Some(error) = &response.error {
                    let message = error.message.as_deref().unwrap_or_default();
                    doubt = doubt.with("error", &VerdictWord::Word(message.into()));
                }
                if !answer.error.is_missing() {
                    doubt = doubt.with("payload.error", &answer.error);
                }
                let error = doubt.report("res", None, |signal| out.emit(signal));
                self.end_run(run, Some(error), out);
            }
            Some("error" | "timeout") => {
                self.on_result(run, answer, out);
                let said = answer.error.word().or(answer.summary.as_deref());
                let said = said.unwrap_or("the gateway reported an error");
                self.end_run(run, Some(failure::of_run(said, None, None)), out);
            }
            _ => {
                out.unparsed(Some("res"), format!("of unknown status: {status}"));
                let doubt = UnclearResult::default().with("status", status);
                let main = &mut self.sessions.main;
                main.on_doubt(doubt, out);
            }
        }
    }

    /// Takes what the last answer to `agent` says of its run.
    fn on_result(&mut self, run: &str, answer: &ResponsePayload<'_>, out: &mut SignalSink<'_>) {
        let Some(result) = &answer.result else {
            return;
        };
        let main = &mut self.sessions.main;
        if let Some(meta) = result.meta.as_ref().and_then(|meta| meta.agent.as_ref()) {
            if let Some(model) = meta.model.as_deref() {
                main.emit(Signal::Model(model), out);
            }
            if meta.usage.is_object() {
                main.emit(Signal::RawUsage(meta.usage.clone().into()), out);
                let mut numbers = Numbers::default();
                main.usage.on_answer(&meta.usage, &mut numbers);
                out.faulty_numbers(Some("usage"), numbers.faults);
            }
        }
        if main.runs.get(run).has_text {
            return;
        }
        for reply in &result.payloads {
            if let Some(text) = reply.text.as_deref().filter(|text| !text.is_empty()) {
                main.end_message(out);
                main.begin_text(None, out);
                main.tell_text(run, text, out);
                main.end_part(out);
            }
        }
    }

    fn end_run(&mut self, run: &str, error: Option<RunError>, out: &mut SignalSink<'_>) {
        let end = RunEnd {
            source: EndSource::Answer,
            is_abort: false,
            has_detail: false,
            reason: None,
            place: out.place(),
            error,
        };
        self.sessions.main.on_end(run, end, out);
    }

    /// Takes a transcript: what was missed, and the frames of the run that is at work.
    fn on_transcript(&mut self, answer: &ResponsePayload<'_>, out: &mut SignalSink<'_>) {
        let session = answer.session.as_deref().unwrap_or_default();
        if self.sessions.asked().is_none() || !self.sessions.is_asked(session) {
            return;
        }
        let was_away = self.connections > 1;
        self.sessions.main.on_history(answer, was_away, out);
        self.learn_children(answer.messages.as_deref().unwrap_or_default());
        if answer.in_flight.is_null() {
            return;
        }
        let in_flight = match InFlight::deserialize(&answer.in_flight) {
            Ok(in_flight) => in_flight,
            Err(error) => return out.unparsed(Some("inFlightRun"), error.to_string()),
        };
        for event in in_flight.events.iter().filter(|event| is_told_by_id(event)) {
            self.on_agent(event, out);
        }
        let run = in_flight.run.as_deref().unwrap_or_default();
        let place = out.place();
        let state = self.sessions.main.runs.get(run);
        if let (false, Some(text)) = (state.has_text, in_flight.text.as_deref()) {
            state.chat_text = Some((text.to_owned(), place)).filter(|(text, _)| !text.is_empty());
        }
    }

    /// Learns which calls started sessions.
    fn learn_children(&mut self, rows: &[Value]) {
        for row in rows {
            let call = message::field(row, "toolCallId");
            if let (Some(call), Some(session)) = (call, super::tools::spawned(row)) {
                self.sessions.on_spawned(session, call);
            }
        }
    }
}

fn is_of_run(method: &Method) -> bool {
    *method == Method::Run
}

/// Tells whether an agent frame can be told again at any time: what it says has an id.
fn is_told_by_id(agent: &AgentPayload<'_>) -> bool {
    let stream = agent.stream.as_deref().unwrap_or_default();
    matches!(stream, "tool" | "item" | "usage" | "command_output")
}
