//! Calls and what tools gave back, as the history has them.

use std::borrow::Cow;

use serde_json::Value;

use super::wire::{Call, Content, FunctionResponse, Part};
use crate::runtimes::gemini::tools;
use crate::signal::Block;

/// What a tool gave back.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) content: Vec<Block<'a>>,
    pub(super) is_error: Option<bool>,
    /// The CLI's words for a call that was refused.
    pub(super) denial: Option<String>,
}

impl<'a> Answer<'a> {
    /// Returns what a call gave back, if it did.
    pub(super) fn of_call(call: &mut Call<'a>) -> Option<Self> {
        let result = std::mem::take(&mut call.result);
        if result.is_absent() {
            return None;
        }
        let name = call.name.as_deref().unwrap_or_default();
        let id = call.id.as_deref();
        let mut parts = result.into_parts();
        // Masked outputs bring the results of the calls beside it.
        let is_other = |part: &Part<'_>| {
            let other = part.response.as_ref().and_then(|it| it.id.as_deref());
            other.is_some() && other != id
        };
        if parts
            .iter()
            .any(|part| part.response.is_some() && !is_other(part))
        {
            parts.retain(|part| !is_other(part));
        }
        Some(Self::of_parts(parts, name, call.status.as_deref()))
    }

    /// Returns what a tool gave back as a part of a user's record.
    pub(super) fn of_response(response: FunctionResponse<'a>) -> Self {
        let name = response.name.as_deref().unwrap_or_default().to_owned();
        let part = Part {
            response: Some(response),
            ..Part::default()
        };
        Self::of_parts(vec![part], &name, None)
    }

    fn of_parts(parts: Vec<Part<'a>>, name: &str, status: Option<&str>) -> Self {
        let mut content = Vec::new();
        let mut has_error = false;
        for part in parts {
            has_error |= push_part(part, &mut content);
        }
        let text = content.iter().find_map(|block| match block {
            Block::Text(text) => Some(&**text),
            _ => None,
        });
        let text = text.unwrap_or_default();
        let has_failed = tools::is_shell(name) && has_failed(text);
        let is_error = match status {
            Some("error" | "cancelled") => Some(true),
            Some("success") => Some(has_failed),
            _ => (has_error || has_failed).then_some(true),
        };
        let is_denied = is_error == Some(true) && tools::says_denied(text, name);
        let denial = is_denied.then(|| text.to_owned());
        Self {
            content,
            is_error,
            denial,
        }
    }

    /// Returns the text of what was given back.
    pub(super) fn text(&self) -> Option<String> {
        let texts = self.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(&**text),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}

/// Adds a part to what was given back; tells whether it is an error.
fn push_part<'a>(part: Part<'a>, content: &mut Vec<Block<'a>>) -> bool {
    let mut is_error = false;
    if let Some(text) = part.text {
        content.push(Block::Text(text.into_cow()));
    }
    if let Some(response) = part.response {
        is_error = push_response(response.response, content);
        for part in response.parts.into_parts() {
            is_error |= push_part(part, content);
        }
    }
    if let Some(data) = part.data {
        let mime_type = data.mime_type.unwrap_or_default().into_cow();
        let data = data.data.unwrap_or_default().into_cow();
        content.push(if mime_type.starts_with("image/") {
            Block::Image { mime_type, data }
        } else {
            Block::File { mime_type, data }
        });
    }
    is_error
}

/// Adds what the model got: a text under `output` or `error`, or whatever else it is.
fn push_response(response: Value, content: &mut Vec<Block<'_>>) -> bool {
    let mut push = |value: Value| {
        let text = match value {
            Value::Null => return,
            Value::String(text) => text,
            value => value.to_string(),
        };
        content.push(Block::Text(Cow::Owned(text)));
    };
    match response {
        Value::Object(mut object)
            if object.contains_key("output") || object.contains_key("error") =>
        {
            push(object.shift_remove("output").unwrap_or_default());
            let error = object.shift_remove("error").unwrap_or_default();
            let is_error = !error.is_null();
            push(error);
            if !object.is_empty() {
                push(Value::Object(object));
            }
            is_error
        }
        response => {
            push(response);
            false
        }
    }
}

/// Tells whether a command failed, from the lines that the CLI puts behind its output.
///
/// Only those count: what the command itself printed may say anything.
fn has_failed(text: &str) -> bool {
    let text = text.trim_end();
    let text = text.strip_suffix("</untrusted_context>").unwrap_or(text);
    for line in text.trim_end().rsplit('\n') {
        let Some((name, value)) = line.split_once(": ") else {
            return false;
        };
        match name {
            "Process Group PGID" | "Background PIDs" => {}
            "Signal" => {
                if !matches!(value, "(none)" | "0") {
                    return true;
                }
            }
            "Exit Code" => return !matches!(value, "0" | "(none)"),
            _ => return false,
        }
    }
    false
}

/// Returns the calls that a message's parts have, where it has no list of calls.
pub(super) fn written_calls<'a>(content: &mut Content<'a>) -> Vec<Call<'a>> {
    let mut calls = Vec::new();
    take_calls(content, &mut calls);
    calls
}

fn take_calls<'a>(content: &mut Content<'a>, calls: &mut Vec<Call<'a>>) {
    match content {
        Content::Absent | Content::Text(_) => {}
        Content::List(list) => list
            .iter_mut()
            .for_each(|content| take_calls(content, calls)),
        Content::Part(part) => {
            let call = part.call.take();
            calls.extend(call.map(|call| Call {
                id: call.id,
                name: call.name,
                input: call.input,
                ..Call::default()
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_failed_if_the_cli_says_so_behind_its_output() {
        let table = [
            ("Output: 1\nProcess Group PGID: 5", false),
            (
                "Output: (empty)\nExit Code: 4\nProcess Group PGID: 6023",
                true,
            ),
            (
                "<untrusted_context>\nOutput: (empty)\nExit Code: 2\nProcess Group PGID: 2\n</untrusted_context>",
                true,
            ),
            ("Output: x\nExit Code: 1", true),
            (
                "Output: x\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 1",
                false,
            ),
            ("Output: x\nSignal: 15\nProcess Group PGID: 1", true),
            (
                "Output: Exit Code: 3\nall is well\nProcess Group PGID: 5",
                false,
            ),
            ("Exit Code: 3\nis what it said", false),
            ("", false),
        ];
        for (text, expected) in table {
            assert_eq!(has_failed(text), expected, "{text}");
        }
    }
}
