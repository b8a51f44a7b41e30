//! Tool calls and their results.

use runtape_core::record::{CallNote, ResultNote};
use runtape_core::{
    ExpertPart, FileInlinePart, ImageInlinePart, TextPart, ToolCallPart, ToolName,
    ToolResultContent, ToolResultPart, weight,
};
use serde_json::Value;

use super::pending::PendingCall;
use super::run::Run;
use super::step::OpenStep;
use super::step_index::{CallPlace, ResultPlace};
use super::tape::TapeState;
use crate::by_hash::hash_of;
use crate::signal::{Block, CallDetail, CallRef, TapePlace};

/// What a tool gave back.
pub(super) struct ToolAnswer<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) content: Vec<Block<'a>>,
    pub(super) is_error: Option<bool>,
    pub(super) duration_ms: Option<u64>,
}

/// Puts what the parser learned of a call into its note. The class stays: the tool is the same.
fn annotate(note: &mut CallNote, detail: CallDetail) {
    note.command = detail.command.or(note.command.take());
    note.url = detail.url.or(note.url.take());
    if !detail.paths.is_empty() {
        note.paths = detail.paths;
    }
}

impl TapeState {
    pub(super) fn on_call(
        &mut self,
        run: &mut Run,
        call: CallRef<'_>,
        name: &str,
        input: Value,
        detail: CallDetail,
        place: TapePlace,
    ) {
        let mut id = run.call_id(call);
        if !run.count_once("call", &id) {
            let Some(other) = run.reuse(call, &id) else {
                self.on_input(run, call, input, detail, place);
                return;
            };
            id = other;
        }
        let bytes = weight(&input);
        self.make_room(run, bytes);
        self.close_part(run);
        // Calls of the root need no entry: it is the parent of whatever is not known.
        if let (CallRef::Printed(text), false) = (call, run.is_root()) {
            self.callers.insert(text.into(), run.number);
        }
        let part_id = run.next_part_id();
        self.step(run, place);
        let tool_name = ToolName::from_printed(name);
        self.show_call(run, &id, name, &input, place);
        let hash = hash_of(&id);
        let Run {
            open,
            index,
            pending,
            step: number,
            ..
        } = run;
        let step = open.get_or_insert_with(|| OpenStep::new(None, place.at));
        if let Some(place) = index.untied.remove(hash) {
            step.tie_result(place, &tool_name);
        } else {
            pending.push(PendingCall {
                id: id.clone(),
                name: tool_name.clone(),
                step: *number,
                at: place.at,
            });
        }
        let printed_id = match call {
            CallRef::Printed(text) if id != *text => Some(text.to_owned()),
            _ => None,
        };
        let call_place = CallPlace {
            part: step.spoken.parts.len(),
            note: step.spoken.notes.len(),
            batch: index.batch,
        };
        step.spoken.notes.push(CallNote {
            tool_call_id: id.clone(),
            printed_id,
            class: Some(detail.class),
            command: detail.command,
            paths: detail.paths,
            url: detail.url,
        });
        index.calls.insert(hash, call_place);
        let part = ToolCallPart {
            id: part_id,
            tool_call_id: id,
            tool_name,
            args: input,
        };
        step.push_part(part.into(), place, bytes);
    }

    /// Fills in the input of a call of the open step, where it was not known.
    pub(super) fn on_input(
        &mut self,
        run: &mut Run,
        call: CallRef<'_>,
        input: Value,
        detail: CallDetail,
        place: TapePlace,
    ) {
        let id = run.call_id(call);
        let hash = hash_of(&id);
        let (Some(step), Some(known)) = (run.open.as_mut(), run.index.held_call(hash)) else {
            return;
        };
        let Some(ExpertPart::ToolCallPart(part)) = step.spoken.parts.get_mut(known.part) else {
            return self.impossible(run, "a call is not where its step has it", place);
        };
        if !part.args.is_null() || input.is_null() {
            return;
        }
        step.held += weight(&input);
        part.args = input;
        let name = part.tool_name.clone();
        let args = if self.with_live {
            part.args.clone()
        } else {
            Value::Null
        };
        if let Some(note) = step.spoken.notes.get_mut(known.note) {
            annotate(note, detail);
        }
        self.show_call(run, &id, name.as_str(), &args, place);
    }

    pub(super) fn on_result(
        &mut self,
        run: &mut Run,
        call: CallRef<'_>,
        answer: ToolAnswer<'_>,
        place: TapePlace,
    ) {
        let id = run.call_id(call);
        if !run.count_once("result", &id) {
            return;
        }
        let hash = hash_of(&id);
        let pending = run.pending.take(&id);
        let unmatched = pending.is_none();
        let (tool_name, call_step, called_at) = match pending {
            Some(call) => (call.name, Some(call.step), Some(call.at)),
            None => (
                ToolName::from_printed(answer.name.unwrap_or_default()),
                None,
                None,
            ),
        };
        self.show_result(run, &id, &tool_name, &answer, place);
        let mut bytes = 0;
        let mut contents = Vec::with_capacity(answer.content.len());
        for block in answer.content {
            let id = run.next_part_id();
            bytes += size_of::<ToolResultContent>();
            contents.push(match block {
                Block::Text(text) => {
                    bytes += text.len();
                    ToolResultContent::from(TextPart {
                        id,
                        text: text.into_owned(),
                    })
                }
                Block::Image { mime_type, data } => {
                    bytes += data.len();
                    let (encoded_data, mime_type) = (data.into_owned(), mime_type.into_owned());
                    ImageInlinePart {
                        id,
                        encoded_data,
                        mime_type,
                    }
                    .into()
                }
                Block::File { mime_type, data } => {
                    bytes += data.len();
                    let (encoded_data, mime_type) = (data.into_owned(), mime_type.into_owned());
                    FileInlinePart {
                        id,
                        encoded_data,
                        mime_type,
                    }
                    .into()
                }
            });
        }
        self.make_room(run, bytes);
        // Times from a file's modification date say nothing of how long a call took.
        let measured = self.context.metadata.time_source() != Some("file");
        let waited = called_at
            .filter(|_| measured)
            .and_then(|at| u64::try_from(place.at.saturating_sub(at)).ok());
        let duration_ms = answer.duration_ms.or(waited);
        let part_id = run.next_part_id();
        let is_error = answer.is_error;
        // A result does not reopen a turn that has its result: it may come from a task that went on
        // in the background.
        if run.open.is_none() {
            self.open_step(run, None, place);
        }
        let number = run.step;
        let open = run.open_step(place.at);
        let part = ToolResultPart {
            id: part_id,
            tool_call_id: id.clone(),
            tool_name,
            contents,
            is_error,
        };
        let untied = unmatched.then_some(ResultPlace {
            part: open.answered.parts.len(),
            note: open.answered.notes.len(),
        });
        let call_step = call_step.filter(|step| *step != number);
        let note =
            (duration_ms.is_some() || unmatched || call_step.is_some()).then_some(ResultNote {
                tool_call_id: id,
                duration_ms,
                call_step,
                unmatched,
            });
        open.push_result(part, note, place, bytes);
        if let Some(untied) = untied {
            run.index.untied.insert(hash, untied);
        }
    }
}
