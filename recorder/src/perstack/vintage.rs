//! Trees of earlier Perstack versions, brought into the shape of the latest.

use std::collections::HashMap;

use runtape_core::report::TreeVintage as Vintage;
use runtape_core::{MessageId, RunId};
use serde_json::{Map, Value};

use super::extension::OURS;

/// Event types that only earlier versions wrote. What they say is in the messages, too.
const RETIRED: [&str; 1] = ["resolveThought"];

/// Tells whether an event is of a type that was given up.
pub(super) fn is_retired(event: &Value) -> bool {
    let tag = event.get("type").and_then(Value::as_str);
    tag.is_some_and(|tag| RETIRED.contains(&tag))
}

/// Brings the files of one job into the latest shape, and notes what tells their age.
#[derive(Debug, Default)]
pub(super) struct Upgrade {
    /// The run of each checkpoint.
    pub(super) owners: HashMap<String, RunId>,
    latest: Option<Vintage>,
}

impl Upgrade {
    /// Returns the vintage of what was seen: the latest that anything in it proves.
    pub(super) fn vintage(&self) -> Vintage {
        self.latest.unwrap_or(Vintage::Head)
    }

    fn proves(&mut self, vintage: Vintage) {
        self.latest = self.latest.max(Some(vintage));
    }

    /// Brings a checkpoint of a run into the latest shape. An error is a fault of the file.
    pub(super) fn checkpoint(&mut self, checkpoint: &mut Value, run: &RunId) -> Result<(), String> {
        let Some(fields) = checkpoint.as_object_mut() else {
            return Ok(());
        };
        if ["error", "retryCount"]
            .iter()
            .any(|key| fields.contains_key(*key))
        {
            self.proves(Vintage::Head);
        }
        let messages = fields.get_mut("messages").and_then(Value::as_array_mut);
        for (position, message) in (0..).zip(messages.into_iter().flatten()) {
            self.message(message, run, position);
        }
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            self.runtime(metadata);
        }
        let by = fields.get_mut("delegatedBy").and_then(Value::as_object_mut);
        by.map_or(Ok(()), |by| self.delegation(by))
    }

    /// The first messages had no id; one that counts is the same in every checkpoint of the run.
    fn message(&mut self, message: &mut Value, run: &RunId, position: u64) {
        let Some(fields) = message.as_object_mut() else {
            return;
        };
        if !fields.contains_key("id") {
            let id = MessageId::derive(run, position);
            fields.insert("id".to_owned(), id.as_str().into());
            self.proves(Vintage::Seed);
        }
        let parts = fields.get("contents").and_then(Value::as_array);
        let is_thinking = |part: &Value| part.get("type").is_some_and(|tag| tag == "thinkingPart");
        if parts.is_some_and(|parts| parts.iter().any(is_thinking)) {
            self.proves(Vintage::Head);
        }
    }

    fn runtime(&mut self, metadata: &mut Map<String, Value>) {
        if metadata.contains_key(OURS) {
            self.proves(Vintage::Head);
        }
        let Some(runtime) = metadata.get_mut("runtime") else {
            return;
        };
        match runtime.as_str() {
            Some("perstack") => {
                *runtime = "local".into();
                self.proves(Vintage::Epic);
            }
            Some("local" | "docker") => self.proves(Vintage::Head),
            // The others had their names from the beginning.
            _ => {}
        }
    }

    /// Until 2025-12-26 a delegation named the parent's checkpoint and not its run.
    fn delegation(&mut self, by: &mut Map<String, Value>) -> Result<(), String> {
        if by.contains_key("runId") {
            self.proves(Vintage::Head);
            return Ok(());
        }
        self.proves(Vintage::Seed);
        let checkpoint = by.get("checkpointId").and_then(Value::as_str);
        let checkpoint = checkpoint.unwrap_or_default();
        let Some(run) = self.owners.get(checkpoint) else {
            return Err(format!(
                "/delegatedBy: no runId, and checkpoint {checkpoint:?} is not in this job"
            ));
        };
        by.insert("runId".to_owned(), run.as_str().into());
        Ok(())
    }

    /// Brings an event of a run into the latest shape. An error is a fault of the file.
    pub(super) fn event(&mut self, event: &mut Value, run: &RunId) -> Result<(), String> {
        let tag = event
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if tag.contains("Streaming") || tag.starts_with("stream") || tag == "stopRunByError" {
            self.proves(Vintage::Head);
        } else if is_retired(event) {
            self.proves(Vintage::Seed);
        }
        let Some(fields) = event.as_object_mut() else {
            return Ok(());
        };
        let mut result = Ok(());
        let mut inherited = 0;
        for key in ["initialCheckpoint", "checkpoint", "nextCheckpoint"] {
            if let Some(checkpoint) = fields.get_mut(key) {
                let before = checkpoint.get("messages").and_then(Value::as_array);
                inherited = before.map_or(0, |messages| messages.len() as u64);
                let upgraded = self.checkpoint(checkpoint, run);
                result = result.and(upgraded.map_err(|fault| format!("/{key}{fault}")));
            }
        }
        // A checkpoint's messages and then the inputs: so they stand in the first step's.
        self.messages(fields.get_mut("inputMessages"), run, inherited);
        for key in ["messages", "newMessages"] {
            self.messages(fields.get_mut(key), run, 0);
        }
        if let Some(message) = fields.get_mut("newMessage") {
            self.message(message, run, u64::MAX);
        }
        for key in ["inputMessages", "newMessages"] {
            let messages = fields.get_mut("step").and_then(|step| step.get_mut(key));
            self.messages(messages, run, 0);
        }
        result
    }

    fn messages(&mut self, messages: Option<&mut Value>, run: &RunId, first: u64) {
        let messages = messages.and_then(Value::as_array_mut);
        for (position, message) in (first..).zip(messages.into_iter().flatten()) {
            self.message(message, run, position);
        }
    }

    /// Notes what a run's settings tell of their age.
    pub(super) fn setting(&mut self, setting: &Value) {
        if setting.get("reasoningBudget").is_some() {
            self.proves(Vintage::Head);
        } else if setting.get("temperature").is_some() {
            self.proves(Vintage::Seed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run() -> RunId {
        RunId::parse("run-1").unwrap()
    }

    #[test]
    fn messages_without_an_id_get_one_that_stays() {
        let mut upgrade = Upgrade::default();
        let mut one = json!({"messages": [{"type": "userMessage", "contents": []}]});
        let mut two = json!({"messages": [
            {"type": "userMessage", "contents": []}, {"type": "expertMessage", "contents": []}
        ]});
        upgrade.checkpoint(&mut one, &run()).unwrap();
        upgrade.checkpoint(&mut two, &run()).unwrap();
        assert_eq!(one["messages"][0]["id"], two["messages"][0]["id"]);
        assert_ne!(two["messages"][1]["id"], two["messages"][0]["id"]);
        assert_eq!(upgrade.vintage(), Vintage::Seed);
    }

    #[test]
    fn the_runtime_that_was_renamed_has_its_new_name() {
        let mut upgrade = Upgrade::default();
        let mut checkpoint = json!({"messages": [], "metadata": {"runtime": "perstack"}});
        upgrade.checkpoint(&mut checkpoint, &run()).unwrap();
        assert_eq!(checkpoint["metadata"]["runtime"], "local");
        assert_eq!(upgrade.vintage(), Vintage::Epic);
    }

    #[test]
    fn a_delegation_finds_its_parent_by_the_checkpoint() {
        let mut upgrade = Upgrade::default();
        upgrade.owners.insert("cp".to_owned(), run());
        let mut checkpoint = json!({"messages": [], "delegatedBy": {"checkpointId": "cp"}});
        upgrade.checkpoint(&mut checkpoint, &run()).unwrap();
        assert_eq!(checkpoint["delegatedBy"]["runId"], "run-1");
        let mut checkpoint = json!({"messages": [], "delegatedBy": {"checkpointId": "gone"}});
        let fault = upgrade.checkpoint(&mut checkpoint, &run()).unwrap_err();
        assert!(fault.contains("\"gone\" is not in this job"), "{fault}");
    }
}
