//! What one side knows and the other's format has no place for.

use std::collections::BTreeMap;

use runtape_core::record::{CallNote, MessageRecord, ResultNote, UsageEntry};
use runtape_core::{
    Checkpoint, CheckpointId, DelegationTarget, ErrorFamily, Message, MessageId, Metadata,
    RunError, Runtime, TokenCounts, ToolResult,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The key in a checkpoint's metadata, and in an event, under which an export keeps what only our
/// records know. Perstack lets the first pass and strips the second.
pub(super) const OURS: &str = "runtape";
/// The key in metadata under which an import keeps what only Perstack's checkpoints know.
pub(super) const THEIRS: &str = "perstack";

/// The runtimes that Perstack's checkpoints may name; any other is refused.
const ACCEPTED: [Runtime; 5] = [
    Runtime::Local,
    Runtime::Cursor,
    Runtime::ClaudeCode,
    Runtime::Gemini,
    Runtime::Docker,
];

/// What our records know of a step and Perstack's checkpoint has no field for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct StepExtension {
    /// The checkpoint that this is about. Perstack hands metadata on to the checkpoints of a run that
    /// it continues, and nothing here is true of those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) checkpoint: Option<CheckpointId>,
    /// The runtime, where Perstack refuses its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) runtime: Option<Runtime>,
    /// What the run used so far by itself; Perstack's number is that of the whole job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<TokenCounts>,
    /// What the step used, where a counter may be unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) step_usage: Option<TokenCounts>,
    /// The tokens that were counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) ledger: Vec<UsageEntry>,
    /// What is known of the step's calls beyond their arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<CallNote>,
    /// What is known of the step's results beyond their contents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) results: Vec<ResultNote>,
    /// Messages that go on where the one before broke off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) continued: Vec<MessageId>,
    /// Messages that were cut off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cut: Vec<MessageId>,
    /// The last message, where an export added it: Perstack wants an answer to be a message, and
    /// some runtimes print it only as the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<MessageId>,
    /// When the step's messages were said. They say so themselves, too, but Perstack drops that
    /// when it writes a checkpoint again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) times: BTreeMap<MessageId, i64>,
    /// What is known of the run's failure beyond Perstack's fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ErrorExtension>,
    /// When the run was opened, where its first event tells another time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) opened_at: Option<i64>,
}

/// What our records know of a failure and Perstack's `error` has no field for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ErrorExtension {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) family: Option<ErrorFamily>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_at: Option<i64>,
}

impl ErrorExtension {
    /// Takes out of an error what Perstack has no field for.
    pub(super) fn take(error: &mut RunError) -> Option<Self> {
        let taken = Self {
            family: error.family.take(),
            retry_at: error.retry_at.take(),
        };
        (taken != Self::default()).then_some(taken)
    }
}

impl StepExtension {
    /// Creates an extension that keeps no more than the runtime's name, if Perstack refuses it.
    pub(super) fn of_runtime(runtime: &Runtime) -> Self {
        Self {
            runtime: (!ACCEPTED.contains(runtime)).then(|| runtime.clone()),
            ..Self::default()
        }
    }

    /// Takes over what a message's record knows beyond the message.
    pub(super) fn note(&mut self, record: &MessageRecord) {
        self.calls.extend(record.calls.iter().cloned());
        self.results.extend(record.results.iter().cloned());
        let id = record.message.id();
        if let Some(at) = record.message.timestamp() {
            self.times.insert(id.clone(), at);
        }
        if record.continued {
            self.continued.push(id.clone());
        }
        if record.cut {
            self.cut.push(id.clone());
        }
    }

    /// Gives back to a message's record what [`note`](Self::note) took.
    pub(super) fn restore(&self, record: &mut MessageRecord) {
        if let Some(spoken) = record.message.as_expert() {
            let is_here = |note: &&CallNote| {
                let mut calls = spoken.tool_calls();
                calls.any(|part| part.tool_call_id == note.tool_call_id)
            };
            record.calls = self.calls.iter().filter(is_here).cloned().collect();
        }
        if let Some(answered) = record.message.as_tool() {
            let is_here = |note: &&ResultNote| {
                let mut results = answered.results();
                results.any(|part| part.tool_call_id == note.tool_call_id)
            };
            record.results = self.results.iter().filter(is_here).cloned().collect();
        }
        record.continued = self.continued.contains(record.message.id());
        record.cut = self.cut.contains(record.message.id());
    }

    /// Gives a message back its time, if it has lost it.
    pub(super) fn date(&self, message: &mut Message) {
        if message.timestamp().is_none()
            && let Some(at) = self.times.get(message.id())
        {
            message.set_timestamp(*at);
        }
    }

    /// Gives an error back what [`ErrorExtension::take`] took.
    pub(super) fn with_details(&self, error: Option<RunError>) -> Option<RunError> {
        let mut error = error?;
        if let Some(details) = &self.error {
            error.family = error.family.or(details.family);
            error.retry_at = error.retry_at.or(details.retry_at);
        }
        Some(error)
    }

    /// Puts the extension into metadata as Perstack accepts it: a name that it refuses goes.
    pub(super) fn write(&self, checkpoint: &CheckpointId, fields: &mut Map<String, Value>) {
        if self.runtime.is_some() {
            fields.shift_remove("runtime");
        }
        if *self == Self::default() {
            return;
        }
        let stamped = Self {
            checkpoint: Some(checkpoint.clone()),
            ..self.clone()
        };
        if let Ok(value) = serde_json::to_value(stamped) {
            fields.insert(OURS.to_owned(), value);
        }
    }

    /// Returns the extension of a checkpoint, unless it is about another one.
    pub(super) fn of(checkpoint: &Checkpoint) -> Result<Option<Self>, String> {
        let metadata = checkpoint.metadata.clone().unwrap_or_default();
        let extension = Self::take(&mut metadata.into())?;
        Ok(extension.filter(|extension| {
            let about = extension.checkpoint.as_ref();
            about.is_none_or(|about| *about == checkpoint.id)
        }))
    }

    /// Takes the extension out of metadata; an error says what is wrong with it.
    pub(super) fn take(fields: &mut Map<String, Value>) -> Result<Option<Self>, String> {
        let Some(value) = fields.shift_remove(OURS) else {
            return Ok(None);
        };
        Self::deserialize(value)
            .map(Some)
            .map_err(|error| format!("/metadata/{OURS}: {error}"))
    }
}

/// What Perstack's checkpoints know and our records have no field for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct StepOrigin {
    /// The checkpoint's id; ours derives from run and step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) checkpoint_id: Option<String>,
    /// The step's number in its job; ours counts in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) step_number: Option<u64>,
    /// The total of the tokens, where it is not the sum of its parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_window_usage: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delegate_to: Option<Vec<DelegationTarget>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) partial_tool_results: Option<Vec<ToolResult>>,
}

impl StepOrigin {
    /// Returns what a checkpoint says that a record cannot; `is_derived` tells whether its id is
    /// the one that we give to this step.
    pub(super) fn of(checkpoint: &Checkpoint, is_derived: bool) -> Self {
        let usage = &checkpoint.usage;
        let parts = [usage.cached_input_tokens, usage.output_tokens];
        let sum = parts
            .iter()
            .fold(usage.input_tokens, |sum, part| sum.saturating_add(*part));
        Self {
            checkpoint_id: (!is_derived).then(|| checkpoint.id.to_string()),
            step_number: (!is_derived).then_some(checkpoint.step_number),
            total_tokens: (usage.total_tokens != sum).then_some(usage.total_tokens),
            context_window: checkpoint.context_window,
            context_window_usage: checkpoint.context_window_usage,
            retry_count: checkpoint.retry_count,
            delegate_to: checkpoint.delegate_to.clone(),
            partial_tool_results: checkpoint.partial_tool_results.clone(),
        }
    }

    /// Returns the origin as a value of metadata; null if there is nothing to keep.
    pub(super) fn to_value(&self) -> Value {
        if *self == Self::default() {
            return Value::Null;
        }
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Gives a checkpoint back what it had before it was imported, and leaves in its metadata only
    /// where it came from.
    pub(super) fn restore(checkpoint: &mut Checkpoint) {
        let Some(metadata) = &mut checkpoint.metadata else {
            return;
        };
        let Some(Ok(mut origin)) = metadata.get(THEIRS).map(Self::deserialize) else {
            return;
        };
        checkpoint.context_window = origin.context_window.take();
        checkpoint.context_window_usage = origin.context_window_usage.take();
        checkpoint.retry_count = origin.retry_count.take();
        checkpoint.delegate_to = origin.delegate_to.take();
        checkpoint.partial_tool_results = origin.partial_tool_results.take();
        let mut patch = Metadata::default();
        patch.set(THEIRS, origin.to_value());
        metadata.merge(&patch);
    }
}

/// What our records know of an event and Perstack's file has no field for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EventExtension {
    /// When it really happened, where its file had to be moved to keep events in order.
    pub(super) at: i64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_names_that_perstack_refuses_are_moved() {
        for runtime in Runtime::KNOWN {
            let mut fields = Map::from_iter([("runtime".to_owned(), json!(runtime.as_str()))]);
            let checkpoint = CheckpointId::parse("c").unwrap();
            StepExtension::of_runtime(runtime).write(&checkpoint, &mut fields);
            let kept = fields.get("runtime").and_then(Value::as_str);
            let accepted = ["local", "cursor", "claude-code", "gemini", "docker"];
            let moved = fields.get(OURS).map(|ours| ours["runtime"].clone());
            if accepted.contains(&runtime.as_str()) {
                assert_eq!((kept, moved), (Some(runtime.as_str()), None));
            } else {
                assert_eq!((kept, moved), (None, Some(json!(runtime.as_str()))));
            }
        }
    }

    #[test]
    fn an_extension_that_is_none_is_named() {
        let mut fields = Map::from_iter([(OURS.to_owned(), json!({"usage": 5}))]);
        let fault = StepExtension::take(&mut fields).unwrap_err();
        assert!(fault.starts_with("/metadata/runtape: "), "{fault}");
    }
}
