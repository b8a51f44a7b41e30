//! Reads the lines of a segment, with what reads the CLI's output.

use std::borrow::Cow;
use std::collections::HashMap;

use runtape_core::ToolCallId;
use runtape_core::runtime_event::{Hook, PermissionDenied, Task};

use super::super::content::{Content, TextOrOther};
use super::super::conversation::Conversation;
use super::super::message::{SYNTHETIC, is_cli_text, is_interruption, plain_text};
use super::super::tools;
use super::super::wire::{Assistant, System, User, UserMessage};
use super::cost::Costs;
use super::last_word::LastLine;
use super::message_parts::{
    api_retry, beginning, calls_of, first_result, last_of, results_of, tagged,
};
use super::reader::is_bookkeeping;
use super::wire::{Attachment, HistoryLine};
use super::word::NOTIFICATION;
use crate::context::RunSource;
use crate::json::{Str, decode};
use crate::parser::SignalSink;
use crate::signal::{Scope, Signal};

/// The state of a segment between two lines.
#[derive(Debug)]
pub(in super::super) struct HistoryLines {
    source: RunSource,
    /// A line of the conversation was read.
    has_begun: bool,
    version: String,
    knows_cwd: bool,
    /// The call that started the sub-agent whose lines are read.
    scope: Option<String>,
    /// The prompt as it was queued, until it is stored.
    queued: Option<String>,
    last: LastLine,
    /// The CLI ended the last turn itself.
    is_proven: bool,
    costs: Costs,
    /// The names of the tools that were called and have not given back a result.
    open_calls: HashMap<Box<str>, Box<str>>,
    /// Tasks that ended, by the call that started them, and whether they failed.
    ended_tasks: HashMap<Box<str>, bool>,
}

impl HistoryLines {
    pub(in super::super) fn new(source: RunSource) -> Self {
        Self {
            source,
            has_begun: false,
            version: String::new(),
            knows_cwd: false,
            scope: None,
            queued: None,
            last: LastLine::default(),
            is_proven: false,
            costs: Costs::default(),
            open_calls: HashMap::new(),
            ended_tasks: HashMap::new(),
        }
    }

    /// Reads one line.
    pub(in super::super) fn push_line(
        &mut self,
        json: &[u8],
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        if json.trim_ascii().is_empty() {
            return;
        }
        set_reading(true, conversation);
        self.read_line(json, conversation, out);
        set_reading(false, conversation);
    }

    fn read_line(
        &mut self,
        json: &[u8],
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        let line = match decode::<HistoryLine<'_>>(json) {
            Ok(line) => {
                let kind = line.value.kind.as_deref();
                out.faulty_fields(kind, &line.faults);
                line.value
            }
            Err(error) => return out.unparsed(None, error.to_string()),
        };
        let Some(kind) = line.kind.clone() else {
            return out.unparsed(None, "an object without a type");
        };
        if !line.unknown.is_empty() {
            out.unknown_keys(&format!("history/{kind}"), &line.unknown);
        }
        match kind.as_str() {
            "user" | "assistant" | "system" | "attachment" => {
                let heard = conversation.heard.as_mut();
                let is_new = line
                    .uuid
                    .as_ref()
                    .zip(heard)
                    .is_none_or(|(uuid, heard)| heard.note_line(uuid));
                if is_new {
                    self.on_chain(line, json, conversation, out);
                }
            }
            "cost-state" => {
                let is_unknown = line.has_unknown_cost == Some(true);
                let is_before = !self.has_begun;
                self.costs
                    .push(&line.model_usage, line.dollars, is_unknown, is_before);
                self.is_proven |= !is_before;
            }
            "queue-operation" => {
                out.set_written_time(line.timestamp.as_deref());
                conversation.on_session(line.session.as_ref(), out);
                if let TextOrOther::Text(prompt) = line.content {
                    self.queued = Some(prompt.into_owned());
                }
            }
            "subagent" => self.on_subagent(line, conversation, out),
            kind if is_bookkeeping(kind) => {}
            kind => out.unparsed(Some(kind), "unknown type"),
        }
    }

    /// Reads a line of a conversation.
    fn on_chain(
        &mut self,
        line: HistoryLine<'_>,
        json: &[u8],
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        if !std::mem::replace(&mut self.has_begun, true) {
            out.emit(Signal::Format("history"));
        }
        out.set_written_time(line.timestamp.as_deref());
        conversation.on_session(line.session.as_ref(), out);
        if let Some(version) = line.version.as_deref()
            && self.version != version
        {
            version.clone_into(&mut self.version);
            out.emit(Signal::CliVersion(version));
        }
        if let Some(cwd) = line.cwd.as_deref()
            && !std::mem::replace(&mut self.knows_cwd, true)
        {
            out.emit(Signal::Cwd(cwd));
        }
        match line.kind.as_deref() {
            Some("user") => self.on_user(line, conversation, out),
            Some("assistant") => self.on_assistant(line, conversation, out),
            Some("system") => self.on_system(line, json, conversation, out),
            _ => self.on_attachment(line.attachment, out),
        }
    }

    fn parent(&self) -> Option<Str<'static>> {
        self.scope.clone().map(Str::from)
    }

    fn set_last(&mut self, last: LastLine) {
        if self.scope.is_none() {
            self.last = last;
            self.is_proven = false;
        }
    }

    fn on_assistant(
        &mut self,
        line: HistoryLine<'_>,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        let message = line.message;
        let is_synthetic = message.model.as_deref() == Some(SYNTHETIC);
        let calls = calls_of(&message);
        if !is_synthetic {
            let last = last_of(&message, line.is_aborted == Some(true));
            self.set_last(last);
            if let (Some(heard), Some(id)) = (&mut conversation.heard, &message.id) {
                heard.note_response(id);
            }
        }
        let said = (is_synthetic && line.is_api_error == Some(true))
            .then(|| plain_text(message.content.clone()));
        let parent = self.parent();
        conversation.hear_assistant(
            Assistant {
                message,
                parent: parent.clone(),
                uuid: line.uuid,
                request_id: line.request_id,
                aborted: line.is_aborted,
                is_api_error: line.is_api_error.filter(|_| is_synthetic),
                error: line.error,
                api_error_status: line.api_error_status,
                api_error_type: line.api_error_type,
                api_error: line.api_error,
                api_error_params: line.api_error_params,
                ..Assistant::default()
            },
            out,
        );
        if let Some(said) = said {
            let failure = conversation.api_failure.clone().unwrap_or_default();
            let error = failure.into_error(said, None);
            self.set_last(LastLine::Failure(Box::new(error)));
        }
        let scope = parent.as_deref().map_or(Scope::Main, Scope::Child);
        for (id, name) in calls {
            if tools::is_agent(&name) {
                out.emit_in(scope, Signal::Delegates(&id));
            }
            self.open_calls.insert(id, name);
        }
    }

    fn on_user(
        &mut self,
        line: HistoryLine<'_>,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        let results = results_of(&line.message.content);
        let is_told = line.is_meta == Some(true) || line.is_summary == Some(true);
        if results.is_empty() {
            let text = beginning(&line.message.content);
            let is_notification = text.starts_with(NOTIFICATION)
                || line.origin.0.kind.as_deref() == Some("task-notification");
            if is_notification {
                let text = plain_text(line.message.content);
                self.on_notification(&text, conversation, out);
                self.set_last(LastLine::Open);
                return;
            }
            if is_interruption(text) {
                self.set_last(LastLine::Interrupted);
            } else if is_told || is_cli_text(text) {
                if matches!(self.last, LastLine::Nothing) && is_cli_text(text) {
                    self.set_last(LastLine::Command);
                }
            } else {
                self.queued = None;
                self.set_last(LastLine::Open);
            }
            if let Some(mode) = line
                .permission_mode
                .as_deref()
                .filter(|_| self.scope.is_none())
            {
                out.emit(Signal::Metadata("permissionMode", mode.into()));
            }
        } else {
            if !matches!(self.last, LastLine::Structured(_)) {
                self.set_last(LastLine::Open);
            }
            if let Some(kind) = line.denial.as_deref()
                && kind != "interrupted"
            {
                self.on_denied(&results, &line.message.content, out);
            }
        }
        for id in &results {
            self.open_calls.remove(id.as_str());
        }
        let user = User {
            message: UserMessage {
                content: line.message.content,
                ..UserMessage::default()
            },
            parent: self.parent(),
            is_synthetic: line.is_meta,
            is_summary: line.is_summary,
            ..User::default()
        };
        let result = line.result.0;
        conversation.hear_user(user, || result.clone(), out);
    }

    /// Reports calls that were not allowed.
    fn on_denied(&self, results: &[String], content: &Content<'_>, out: &mut SignalSink<'_>) {
        let message = first_result(content);
        for id in results {
            let name = self.open_calls.get(id.as_str());
            out.event(PermissionDenied {
                tool_name: name.map(ToString::to_string).unwrap_or_default(),
                tool_call_id: ToolCallId::from_printed(id),
                message: message.clone(),
            });
        }
    }

    /// The CLI tells the model that a task in the background has ended.
    fn on_notification(
        &mut self,
        text: &str,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        let call = tagged(text, "tool-use-id");
        let status = tagged(text, "status").unwrap_or("updated");
        if let Some(call) = call {
            let is_error = status != "completed";
            self.ended_tasks.insert(call.into(), is_error);
            end_child(call, is_error, conversation, out);
        }
        out.event(Task {
            task_id: tagged(text, "task-id").map(str::to_owned),
            tool_call_id: call.and_then(ToolCallId::from_printed),
            status: status.to_owned(),
            description: tagged(text, "summary").map(str::to_owned),
        });
    }

    fn on_system(
        &mut self,
        line: HistoryLine<'_>,
        json: &[u8],
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        match line.subtype.as_deref() {
            Some("api_error") => {
                if let Some(heard) = &mut conversation.heard {
                    heard.retries = true;
                }
                let retry = api_retry(line);
                return conversation.open_messages.on_retry(retry, out);
            }
            Some("turn_duration") => {
                self.is_proven |= self.scope.is_none();
                return;
            }
            Some("stop_hook_summary") => return,
            Some("local_command") if matches!(self.last, LastLine::Nothing) => {
                self.set_last(LastLine::Command);
            }
            Some("compact_boundary") => {
                if let Some(heard) = &mut conversation.heard {
                    heard.compactions = true;
                }
            }
            _ => {}
        }
        let system = System {
            subtype: line.subtype.unwrap_or_default(),
            content: line.content,
            level: line.level,
            compact_metadata: line.compaction,
            original_model: line.original_model,
            fallback_model: line.fallback_model,
            trigger: line.trigger,
            error: line.error,
            ..System::default()
        };
        conversation.hear_system(system, json, out);
    }

    fn on_attachment(&mut self, attachment: Attachment<'_>, out: &mut SignalSink<'_>) {
        match attachment.kind.as_deref() {
            // Typed while the model worked.
            Some("queued_command") => {
                if let TextOrOther::Text(prompt) = attachment.prompt
                    && !prompt.starts_with(NOTIFICATION)
                    && !is_cli_text(&prompt)
                    && self.scope.is_none()
                {
                    out.emit(Signal::User(prompt.into_cow()));
                    self.set_last(LastLine::Open);
                }
            }
            Some("max_turns_reached") => {
                self.set_last(LastLine::TurnLimit(
                    attachment.max_turns.unwrap_or_default(),
                ));
            }
            Some("structured_output") => self.set_last(LastLine::Structured(attachment.data)),
            Some(kind) => {
                if let Some(outcome) = kind.strip_prefix("hook_") {
                    let outcome = Some(outcome.to_owned());
                    let texts = [attachment.content, attachment.stdout, attachment.stderr];
                    let mut texts = texts.into_iter().filter_map(TextOrOther::into_text);
                    let output = texts.find(|text| !text.is_empty());
                    out.event(Hook {
                        name: attachment
                            .hook_name
                            .map(Str::into_owned)
                            .unwrap_or_default(),
                        event: attachment.hook_event.map(Str::into_owned),
                        outcome,
                        exit_code: attachment.exit_code,
                        output: output.map(Cow::into_owned),
                    });
                }
            }
            None => {}
        }
    }

    /// A note of the reader's: the lines of a sub-agent begin or end here.
    fn on_subagent(
        &mut self,
        line: HistoryLine<'_>,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        if let Some(ended) = line.ended.as_deref() {
            let known = self.ended_tasks.get(ended).copied();
            let has_result = !self.open_calls.contains_key(ended);
            let child = conversation.children.get(ended);
            let is_answered = child.is_some_and(|child| child.answered);
            let is_over = known.is_some() || line.is_finished == Some(true) || is_answered;
            if has_result && is_over {
                end_child(ended, known.unwrap_or(false), conversation, out);
            }
        }
        self.scope = line.call.map(Str::into_owned);
    }

    /// Ends the segment. Returns whether it is all there is of the run.
    pub(in super::super) fn finish(
        &mut self,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) -> bool {
        if let Some(prompt) = self.queued.take_if(|_| !self.has_begun) {
            out.emit(Signal::Format("history"));
            out.emit(Signal::User(Cow::Owned(prompt)));
        }
        if conversation.totals.is_empty()
            && let Some(mut total) = self.costs.counts()
        {
            if conversation.thought {
                total.reasoning_tokens = total.reasoning_tokens.filter(|tokens| *tokens > 0);
            }
            out.emit(Signal::Total(total));
        }
        if let Some(dollars) = self.costs.dollars() {
            out.emit(Signal::Cost(dollars));
        }
        if self.source != RunSource::History {
            return false;
        }
        std::mem::take(&mut self.last).judge(self.is_proven, out);
        true
    }
}

/// Ends a sub-agent that has shown itself, unless it has ended before.
fn end_child(
    call: &str,
    is_error: bool,
    conversation: &mut Conversation,
    out: &mut SignalSink<'_>,
) {
    if let Some(child) = conversation.children.get_mut(call)
        && child.seen
        && !std::mem::replace(&mut child.ended, true)
    {
        out.emit(Signal::ChildEnd {
            call: Cow::Borrowed(call),
            is_error,
            text: None,
        });
    }
}

fn set_reading(is_reading: bool, conversation: &mut Conversation) {
    if let Some(heard) = &mut conversation.heard {
        heard.is_reading = is_reading;
    }
}
