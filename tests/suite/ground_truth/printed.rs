//! What plainly stands in an output, read without the normalizer.

use serde_json::Value;

use crate::captures::Capture;

/// A tool call as it stands in a stream.
#[derive(Debug)]
pub(super) struct PrintedCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) is_error: Option<bool>,
    /// The message that made it, counted from 1.
    pub(super) step: u64,
}

/// What stands in the output of one of the JSON formats.
#[derive(Debug, Default)]
pub(super) struct Printed {
    pub(super) objects: Vec<Value>,
    /// The output ends within a line, or a line is no JSON.
    pub(super) is_cut: bool,
    pub(super) texts: Vec<String>,
    /// How many messages of the model there are.
    pub(super) messages: u64,
    pub(super) calls: Vec<PrintedCall>,
}

impl Printed {
    pub(super) fn of(capture: &Capture) -> Self {
        let mut printed = Self::default();
        if capture.format.starts_with("json") {
            match serde_json::from_slice(&capture.stdout) {
                Ok(Value::Array(objects)) => printed.objects = objects,
                Ok(object) => printed.objects.push(object),
                Err(_) => printed.is_cut = !capture.stdout.is_empty(),
            }
        } else if capture.format != "text" {
            for line in capture.stdout.split(|byte| *byte == b'\n') {
                match serde_json::from_str::<Value>(&String::from_utf8_lossy(line)) {
                    Ok(object @ Value::Object(_)) => printed.objects.push(object),
                    Ok(_) => {}
                    Err(_) => printed.is_cut |= !line.trim_ascii().is_empty(),
                }
            }
        }
        let objects = std::mem::take(&mut printed.objects);
        if capture.runtime == "gemini" {
            printed.read_gemini(&objects);
        }
        printed.objects = objects;
        printed
    }

    /// Returns the objects of a type.
    pub(super) fn of_type<'a>(&'a self, tag: &str) -> impl Iterator<Item = &'a Value> {
        let tag = tag.to_owned();
        self.objects
            .iter()
            .filter(move |object| object["type"] == tag.as_str())
    }

    /// Returns the last result, if one was printed.
    pub(super) fn result(&self) -> Option<&Value> {
        self.of_type("result").last()
    }

    fn read_gemini(&mut self, objects: &[Value]) {
        let (mut is_fresh, mut runs_on) = (true, false);
        for object in objects {
            let tag = object["type"].as_str().unwrap_or_default();
            let is_said = tag == "message" && object["role"] == "assistant";
            if (is_said || tag == "tool_use") && std::mem::take(&mut is_fresh) {
                self.messages += 1;
            }
            if is_said {
                let text = object["content"].as_str().unwrap_or_default();
                match self.texts.last_mut() {
                    Some(last) if runs_on => last.push_str(text),
                    _ => self.texts.push(text.to_owned()),
                }
            }
            runs_on = is_said;
            if tag == "tool_use" {
                self.calls.push(PrintedCall {
                    id: string(&object["tool_id"]),
                    name: string(&object["tool_name"]),
                    input: object["parameters"].clone(),
                    is_error: None,
                    step: self.messages,
                });
            }
            if tag == "tool_result" {
                is_fresh = true;
                let id = string(&object["tool_id"]);
                if let Some(call) = self.calls.iter_mut().find(|call| call.id == id) {
                    call.is_error = Some(object["status"] != "success");
                }
            }
        }
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
