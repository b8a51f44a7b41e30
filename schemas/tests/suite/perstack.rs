//! Perstack's rules, checked on raw JSON without help from our types or schemas.
//!
//! The words are those of Perstack's model: null is refused for every optional field, every
//! message and part has an id, ids and names of tools have 1 to 255 characters (of JavaScript,
//! which are UTF-16 units), arguments are an object without empty keys.

use runtape_schemas::SchemaKind;
use serde_json::{Map, Value};

use crate::samples::samplers;

const USAGE: [&str; 5] = [
    "inputTokens",
    "outputTokens",
    "reasoningTokens",
    "totalTokens",
    "cachedInputTokens",
];

const STATUSES: [&str; 7] = [
    "init",
    "proceeding",
    "completed",
    "stoppedByInteractiveTool",
    "stoppedByDelegate",
    "stoppedByExceededMaxSteps",
    "stoppedByError",
];

/// The parts that each message may hold.
const PARTS: [(&str, &[&str]); 4] = [
    ("instructionMessage", &["textPart"]),
    (
        "userMessage",
        &[
            "textPart",
            "imageUrlPart",
            "imageInlinePart",
            "imageBinaryPart",
            "fileUrlPart",
            "fileInlinePart",
            "fileBinaryPart",
        ],
    ),
    (
        "expertMessage",
        &["textPart", "toolCallPart", "thinkingPart"],
    ),
    ("toolMessage", &["toolResultPart"]),
];

/// The fields of each part, besides its id, that are text.
const TEXTS: [(&str, &[&str]); 10] = [
    ("textPart", &["text"]),
    ("imageUrlPart", &["url", "mimeType"]),
    ("imageInlinePart", &["encodedData", "mimeType"]),
    ("imageBinaryPart", &["data", "mimeType"]),
    ("fileUrlPart", &["url", "mimeType"]),
    ("fileInlinePart", &["encodedData", "mimeType"]),
    ("fileBinaryPart", &["data", "mimeType"]),
    ("toolCallPart", &["toolCallId", "toolName"]),
    ("toolResultPart", &["toolCallId", "toolName"]),
    ("thinkingPart", &["thinking"]),
];

#[derive(Default)]
struct Checked {
    messages: usize,
    parts: usize,
    calls: usize,
    results: usize,
    checkpoints: usize,
    usages: usize,
}

impl Checked {
    fn value(&mut self, path: &str, value: &Value) {
        match value {
            Value::Null => panic!("{path} is null"),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.value(&format!("{path}/{at}"), item);
                }
            }
            Value::Object(object) => self.object(path, object),
            _ => {}
        }
    }

    fn object(&mut self, path: &str, object: &Map<String, Value>) {
        match object.get("type").and_then(Value::as_str) {
            Some(tag) if tag.ends_with("Message") => self.message(path, tag, object),
            Some(tag) if tag.ends_with("Part") => self.part(path, tag, object),
            _ => {}
        }
        for (key, value) in object {
            let path = format!("{path}/{key}");
            match key.as_str() {
                "toolCalls" | "pendingToolCalls" => {
                    self.each(&path, value, Self::call);
                }
                "toolCall" => self.call(&path, value),
                "toolResults" | "partialToolResults" => {
                    self.each(&path, value, Self::result);
                }
                "toolResult" => self.result(&path, value),
                "checkpoint" | "nextCheckpoint" | "initialCheckpoint" => {
                    self.checkpoint(&path, value);
                }
                "usage" => self.usage(&path, value),
                "step" => step(&path, value),
                _ => {}
            }
            // What tools were given and what others know is theirs, nulls included.
            if !matches!(key.as_str(), "args" | "metadata" | "payload") {
                self.value(&path, value);
            }
        }
    }

    fn each(&mut self, path: &str, value: &Value, check: fn(&mut Self, &str, &Value)) {
        for (at, item) in value
            .as_array()
            .unwrap_or_else(|| panic!("{path}"))
            .iter()
            .enumerate()
        {
            check(self, &format!("{path}/{at}"), item);
        }
    }

    fn message(&mut self, path: &str, tag: &str, message: &Map<String, Value>) {
        self.messages += 1;
        assert!(message["id"].is_string(), "{path}");
        let (_, allowed) = PARTS.iter().find(|(name, _)| *name == tag).unwrap();
        for part in message["contents"].as_array().unwrap() {
            assert!(allowed.contains(&part["type"].as_str().unwrap()), "{path}");
        }
        assert!(message.get("cache").is_none_or(Value::is_boolean), "{path}");
    }

    fn part(&mut self, path: &str, tag: &str, part: &Map<String, Value>) {
        self.parts += 1;
        assert!(part["id"].is_string(), "{path}");
        let (_, texts) = TEXTS.iter().find(|(name, _)| *name == tag).unwrap();
        for text in *texts {
            assert!(part[*text].is_string(), "{path}/{text}");
        }
        match tag {
            "toolCallPart" => assert!(part.contains_key("args"), "{path}"),
            "toolResultPart" => {
                for content in part["contents"].as_array().unwrap() {
                    let tag = content["type"].as_str().unwrap();
                    assert!(
                        ["textPart", "imageInlinePart", "fileInlinePart"].contains(&tag),
                        "{path}"
                    );
                }
                assert!(part.get("isError").is_none_or(Value::is_boolean), "{path}");
            }
            "thinkingPart" => {
                assert!(part.get("signature").is_none_or(Value::is_string), "{path}");
            }
            _ => {}
        }
    }

    fn call(&mut self, path: &str, call: &Value) {
        self.calls += 1;
        tool_names(path, call);
        let args = call["args"]
            .as_object()
            .unwrap_or_else(|| panic!("{path}/args"));
        assert!(!args.contains_key(""), "{path}/args");
    }

    fn result(&mut self, path: &str, result: &Value) {
        self.results += 1;
        tool_names(path, result);
        for part in result["result"].as_array().unwrap() {
            assert!(part["type"].as_str().unwrap().ends_with("Part"), "{path}");
        }
    }

    fn checkpoint(&mut self, path: &str, checkpoint: &Value) {
        self.checkpoints += 1;
        for key in ["id", "jobId", "runId"] {
            assert!(checkpoint[key].is_string(), "{path}/{key}");
        }
        assert!(
            STATUSES.contains(&checkpoint["status"].as_str().unwrap()),
            "{path}"
        );
        assert!(checkpoint["stepNumber"].is_number(), "{path}");
        expert(path, &checkpoint["expert"]);
        for message in checkpoint["messages"].as_array().unwrap() {
            assert!(
                PARTS.iter().any(|(tag, _)| message["type"] == *tag),
                "{path}"
            );
        }
        for target in checkpoint["delegateTo"].as_array().into_iter().flatten() {
            expert(path, &target["expert"]);
            strings(path, target, &["toolCallId", "toolName", "query"]);
        }
        if let Some(by) = checkpoint.get("delegatedBy") {
            expert(path, &by["expert"]);
            strings(
                path,
                by,
                &["toolCallId", "toolName", "checkpointId", "runId"],
            );
        }
        for number in ["contextWindow", "contextWindowUsage", "retryCount"] {
            assert!(
                checkpoint.get(number).is_none_or(Value::is_number),
                "{path}/{number}"
            );
        }
        if let Some(error) = checkpoint.get("error") {
            run_error(path, error);
        }
        if let Some(metadata) = checkpoint.get("metadata") {
            assert!(metadata.is_object(), "{path}");
            assert!(
                metadata.get("runtime").is_none_or(Value::is_string),
                "{path}"
            );
        }
    }

    fn usage(&mut self, path: &str, usage: &Value) {
        self.usages += 1;
        for counter in USAGE {
            assert!(usage[counter].is_number(), "{path}/{counter}");
        }
    }
}

fn strings(path: &str, object: &Value, keys: &[&str]) {
    for key in keys {
        assert!(object[*key].is_string(), "{path}/{key}");
    }
}

fn expert(path: &str, expert: &Value) {
    strings(path, expert, &["key", "name", "version"]);
}

fn run_error(path: &str, error: &Value) {
    strings(path, error, &["name", "message"]);
    assert!(error["isRetryable"].is_boolean(), "{path}");
    assert!(
        error.get("statusCode").is_none_or(Value::is_number),
        "{path}"
    );
}

fn tool_names(path: &str, value: &Value) {
    for key in ["id", "skillName", "toolName"] {
        let text = value[key]
            .as_str()
            .unwrap_or_else(|| panic!("{path}/{key}"));
        let units = text.encode_utf16().count();
        assert!(
            (1..=255).contains(&units),
            "{path}/{key} has {units} characters"
        );
    }
}

fn step(path: &str, step: &Value) {
    for number in ["stepNumber", "startedAt"] {
        assert!(step[number].is_number(), "{path}/{number}");
    }
    assert!(
        step.get("finishedAt").is_none_or(Value::is_number),
        "{path}"
    );
    assert!(step["newMessages"].is_array(), "{path}");
    for message in step["inputMessages"].as_array().into_iter().flatten() {
        assert_ne!(message["type"], "expertMessage", "{path}");
    }
}

/// Values of each type that are looked at.
const EACH: usize = 12;

#[test]
fn every_event_follows_perstacks_rules() {
    let mut checked = Checked::default();
    for sampler in samplers(SchemaKind::RunEvent) {
        for event in sampler.draw().take(EACH) {
            strings("", &event, &["id", "expertKey", "jobId", "runId", "type"]);
            assert!(event["timestamp"].is_number() && event["stepNumber"].is_number());
            if sampler.tag == Some(runtape_tests::strategies::UNKNOWN) {
                continue;
            }
            checked.value("", &event);
            if event["type"] == "stopRunByError" {
                run_error("/error", &event["error"]);
            }
        }
    }
    // What was not met was not checked.
    assert!(
        checked.messages > 200 && checked.parts > 200,
        "{} {}",
        checked.messages,
        checked.parts
    );
    assert!(
        checked.calls > 50 && checked.results > 50,
        "{} {}",
        checked.calls,
        checked.results
    );
    assert!(checked.checkpoints > 90 && checked.usages > 150);
}

#[test]
fn every_event_around_a_run_follows_perstacks_rules() {
    let mut checked = Checked::default();
    for sampler in samplers(SchemaKind::RuntimeEvent) {
        for event in sampler.draw().take(EACH) {
            strings("", &event, &["id", "jobId", "runId", "type"]);
            assert!(event["timestamp"].is_number());
            for absent in ["expertKey", "stepNumber"] {
                assert!(event.get(absent).is_none(), "{absent} makes it a run event");
            }
            if sampler.tag == Some(runtape_tests::strategies::UNKNOWN) {
                continue;
            }
            if event["type"] == "initializeRuntime" {
                strings("", &event, &["runtimeVersion", "expertName", "model"]);
                assert!(event["experts"].is_array());
                assert!(event["maxRetries"].is_number() && event["timeout"].is_number());
            }
            checked.value("", &event);
        }
    }
}

#[test]
fn every_checkpoint_follows_perstacks_rules() {
    let mut checked = Checked::default();
    for checkpoint in samplers(SchemaKind::Checkpoint)[0].draw().take(10 * EACH) {
        checked.checkpoint("", &checkpoint);
        checked.value("", &checkpoint);
    }
    assert!(checked.messages > 50 && checked.parts > 50 && checked.calls > 20);
}
