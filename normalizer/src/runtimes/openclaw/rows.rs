//! Rows of a session's transcript: pushed one by one, or read after connecting again.
//!
//! They have every counter of a response, and the input of a call. Their text is told only where
//! frames did not tell it, because a client was not connected.

use serde_json::Value;

use super::conversation::Conversation;
use super::failure;
use super::message;
use super::runs::{EndSource, RunEnd};
use super::told::key_hash;
use super::wire::{ResponsePayload, SessionActivity};
use crate::bounds::Numbers;
use crate::parser::SignalSink;
use crate::signal::{Signal, TapePlace};

/// Rows that were pushed while no frame told anything.
#[derive(Debug, Default)]
pub(super) struct HeldRows {
    rows: Vec<(Value, TapePlace)>,
    weight: usize,
    /// Users' messages that were told.
    users: Vec<String>,
}

/// How many of the users' messages are remembered, and how much of each.
const MOST_USERS: usize = 64;
const LONGEST_USER: usize = 4096;

impl HeldRows {
    /// Remembers what a user said, so that its row does not say it again.
    pub(super) fn on_user(&mut self, text: &str) {
        if self.users.len() == MOST_USERS {
            self.users.remove(0);
        }
        let end = (0..=LONGEST_USER.min(text.len())).rev();
        let end = end.into_iter().find(|end| text.is_char_boundary(*end));
        let head = text.get(..end.unwrap_or_default()).unwrap_or_default();
        self.users.push(head.to_owned());
    }

    /// Tells whether a row says what a user was told to have said, in whatever envelope.
    fn knows(&self, text: &str) -> bool {
        let mut users = self.users.iter().filter(|user| !user.is_empty());
        users.any(|user| text.contains(&**user))
    }
}

/// Returns what names a row: two rows of the same name are of one message.
fn row_name(row: &Value) -> Option<&str> {
    message::field(row.get("__openclaw")?, "id")
}

/// Returns the run that a row is of.
fn row_run(row: &Value) -> Option<&str> {
    if let Some(run) = row
        .get("__openclaw")
        .and_then(|own| message::field(own, "runId"))
    {
        return Some(run);
    }
    let key = message::field(row, "idempotencyKey")?;
    Some(key.strip_suffix(":user").unwrap_or(key))
}

impl Conversation {
    /// Takes a row that was pushed.
    pub(super) fn on_row(&mut self, row: Value, id: Option<&str>, out: &mut SignalSink<'_>) {
        match message::field(&row, "role") {
            Some("assistant") => {
                self.tell_held_rows(out);
                self.on_row_usage(&row, id, out);
                if self.hears_frames {
                    self.on_row_calls(&row, out);
                } else {
                    self.hold_row(row, out);
                }
            }
            Some("user") => {
                self.tell_held_rows(out);
                self.on_row_user(&row, out);
            }
            Some("toolResult" | "tool") if self.rows.rows.is_empty() => {
                self.on_row_result(&row, out);
            }
            Some("toolResult" | "tool") => self.hold_row(row, out),
            _ => {}
        }
    }

    /// Counts what a row's response used, and learns the model.
    fn on_row_usage(&mut self, row: &Value, id: Option<&str>, out: &mut SignalSink<'_>) {
        let Some(usage) = row.get("usage").filter(|usage| usage.is_object()) else {
            return;
        };
        if let Some(model) = message::field(row, "model") {
            self.emit(Signal::Model(model), out);
        }
        let time = row.get("timestamp").map(Value::to_string);
        let name = row_name(row).or(id).or(time.as_deref());
        let mut numbers = Numbers::default();
        let key = key_hash(&["row", name.unwrap_or_default()]);
        self.usage.on_row(key, usage, &mut numbers);
        out.faulty_numbers(Some("usage"), numbers.faults);
    }

    fn on_row_calls(&mut self, row: &Value, out: &mut SignalSink<'_>) {
        let blocks = row.get("content").and_then(Value::as_array);
        for block in blocks.into_iter().flatten() {
            if message::field(block, "type") != Some("toolCall") {
                continue;
            }
            let name = message::field(block, "name").unwrap_or("tool");
            let input = block.get("arguments").cloned();
            match message::field(block, "id").filter(|id| !id.is_empty()) {
                Some(id) => self.on_call(id, name, input, out),
                None => self.on_unnamed_call(name, input.unwrap_or_default(), out),
            }
        }
    }

    fn on_row_user(&mut self, row: &Value, out: &mut SignalSink<'_>) {
        let text = message::text(row).unwrap_or_default();
        if !text.is_empty() && !self.rows.knows(&text) {
            self.rows.on_user(&text);
            self.on_user(text, out);
        }
    }

    fn on_row_result(&mut self, row: &Value, out: &mut SignalSink<'_>) {
        let name = message::field(row, "toolName").unwrap_or("tool");
        let is_error = row.get("isError").and_then(Value::as_bool);
        match message::field(row, "toolCallId").filter(|id| !id.is_empty()) {
            Some(id) => {
                self.on_result(id, name, row, is_error, out);
            }
            None => self.on_unnamed_result(name, row, is_error, out),
        }
    }

    /// Holds a row until the next one: frames tell what it says before that, or not at all.
    fn hold_row(&mut self, row: Value, out: &mut SignalSink<'_>) {
        let weight = runtape_core::weight(&row);
        if self.rows.weight.saturating_add(weight) > self.limit {
            self.tell_held_rows(out);
        }
        self.rows.weight += weight;
        self.rows.rows.push((row, out.place()));
    }

    /// Tells rows whose messages no frame told.
    pub(super) fn tell_held_rows(&mut self, out: &mut SignalSink<'_>) {
        self.rows.weight = 0;
        for (row, place) in std::mem::take(&mut self.rows.rows) {
            if message::field(&row, "role") != Some("assistant") {
                self.on_row_result(&row, out);
            } else if self.hears_frames {
                self.on_row_calls(&row, out);
            } else {
                self.end_message(out);
                self.tell_row(&row, place, out);
            }
        }
    }

    /// Tells what a row says and nothing else told.
    fn tell_row(&mut self, row: &Value, place: TapePlace, out: &mut SignalSink<'_>) {
        let run = row_run(row).unwrap_or_default().to_owned();
        let blocks = match row.get("content") {
            Some(Value::Array(blocks)) => blocks.as_slice(),
            Some(text @ Value::String(_)) => std::slice::from_ref(text),
            _ => &[],
        };
        for block in blocks {
            let Some(text) = block.as_str().or_else(|| message::block_text(block)) else {
                continue;
            };
            // A text that is open may go on in frames: only what a row ends is ended.
            if let Some(rest) = self.rest_of_open(text) {
                if !rest.is_empty() {
                    self.tell_text_at(place, &run, rest, out);
                    self.end_part(out);
                }
            } else if !text.is_empty() && !self.has_told_text(text) {
                self.begin_text(None, out);
                self.tell_text_at(place, &run, text, out);
                self.end_part(out);
            }
        }
        self.on_row_calls(row, out);
    }

    /// Takes the transcript, which a client reads after it connected again. `was_away` tells that
    /// frames may be missing.
    pub(super) fn on_history(
        &mut self,
        answer: &ResponsePayload<'_>,
        was_away: bool,
        out: &mut SignalSink<'_>,
    ) {
        let rows = answer.messages.as_deref().unwrap_or_default();
        let fills = was_away || !self.has_spoken();
        let first = self.first_own_row(rows);
        let mut last_name = None;
        for row in rows.get(first..).unwrap_or_default() {
            match message::field(row, "role") {
                Some("assistant") => {
                    self.on_row_usage(row, None, out);
                    if fills {
                        let name = row_name(row);
                        if name.is_none() || name != last_name {
                            self.begin_row(row, out);
                        }
                        last_name = name;
                        self.tell_row(row, out.place(), out);
                    }
                }
                Some("toolResult" | "tool") => self.on_row_result(row, out),
                Some("user") => self.on_row_user(row, out),
                _ => {}
            }
        }
        self.end_by_history(answer, rows, out);
    }

    /// Returns where the rows of this output's runs begin: a session may have had others before.
    fn first_own_row(&self, rows: &[Value]) -> usize {
        let is_own = |row: &Value| row_run(row).is_some_and(|run| self.runs.known(run).is_some());
        rows.iter().position(is_own).unwrap_or(0)
    }

    /// Another message begins with a row, unless it goes on with the one that is open.
    fn begin_row(&mut self, row: &Value, out: &mut SignalSink<'_>) {
        let text = message::text(row);
        let goes_on = text.is_some_and(|text| self.rest_of_open(&text).is_some());
        let blocks = row.get("content").and_then(Value::as_array);
        let is_known = blocks.into_iter().flatten().all(|block| {
            let id = message::field(block, "id").filter(|_| block.get("arguments").is_some());
            match (id, message::block_text(block)) {
                (Some(id), _) => self.calls.contains(id),
                (None, Some(text)) => self.has_told_text(text),
                (None, None) => true,
            }
        });
        if !goes_on && !is_known {
            self.end_message(out);
        }
    }

    /// Ends runs that came to their end while nobody listened.
    fn end_by_history(
        &mut self,
        answer: &ResponsePayload<'_>,
        rows: &[Value],
        out: &mut SignalSink<'_>,
    ) {
        let info = answer.session_info.as_ref();
        let is_idle = info.is_none_or(|info| {
            let active = &info.has_active_run;
            active.is_missing() || active.flag() == Some(false)
        });
        if !answer.in_flight.is_null() || !is_idle {
            return;
        }
        let open: Vec<Box<str>> = self
            .runs
            .iter_mut()
            .filter(|run| run.is_open())
            .map(|run| run.id.clone())
            .collect();
        for run in open {
            let mut rows = rows.iter().rev();
            let last = rows.find(|row| {
                let is_own = row_run(row).is_none_or(|of| of == &*run);
                is_own && message::field(row, "role") == Some("assistant")
            });
            let Some(last) = last else { continue };
            let error = match message::field(last, "stopReason") {
                Some("stop" | "length") => None,
                Some("aborted") => Some(failure::aborted(None)),
                Some("error") => {
                    let said = message::field(last, "errorMessage");
                    Some(failure::of_run(
                        said.unwrap_or("the agent failed"),
                        None,
                        None,
                    ))
                }
                _ => continue,
            };
            self.learn_times(&run, info);
            let end = RunEnd {
                source: EndSource::Answer,
                is_abort: message::field(last, "stopReason") == Some("aborted"),
                has_detail: false,
                reason: message::field(last, "stopReason").map(str::to_owned),
                error,
                place: out.place(),
            };
            self.end_part(out);
            self.on_end(&run, end, out);
        }
    }

    fn learn_times(&mut self, run: &str, info: Option<&SessionActivity<'_>>) {
        let Some(info) = info.filter(|info| info.last_run.as_deref() == Some(run)) else {
            return;
        };
        let state = self.runs.get(run);
        state.started_at = state.started_at.or(info.started_at);
        state.ended_at = state.ended_at.or(info.ended_at);
    }
}
