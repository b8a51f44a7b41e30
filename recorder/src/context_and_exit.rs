//! What the store keeps of a run besides its records and its tape: what was known of it before it
//! began, so that its records can be made again from the tape, and how its process ended.

use runtape_core::report::{AppliedRules, ExitInfo, RedactionCounts, RunRedaction};
use runtape_core::{Expert, JobId, Metadata, RunId, Runtime, Stream};
use runtape_normalizer::{Context, Exit, Kept, MissingOutput, Normalizer, RunSource, RuntimeFrom};
use runtape_store::BeginRun;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The key in a run's context that says by which rules secrets were taken out of it.
pub(crate) const REDACTION_KEY: &str = "redaction";
/// The key in a run's exit that says how many were taken out.
pub(crate) const REDACTED_KEY: &str = "redacted";
/// The key in a run's exit that says when its process ended.
const FINISHED_AT_KEY: &str = "finishedAt";
/// The key in a run's exit that says how much of its input was not kept.
const UNKEPT_INPUT_KEY: &str = "unkeptInput";
/// The key in the context of a run that came as records, which have no tape.
const CAME_AS_KEY: &str = "cameAs";

/// The part of a context that the store keeps as it is.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KeptContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    expert: Option<Expert>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    argv: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata,
    /// Through what the run was seen; absent where its process was watched and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// How its runtime became known; absent where the caller named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime_from: Option<String>,
    /// The stream that the runtime's messages are on; absent if it is standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_on: Option<Stream>,
    /// How many lines of a wrapper come before the first one of the runtime; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_before: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_joined: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redaction: Option<AppliedRules>,
}

/// Returns what the store is told of a run before it begins.
pub(crate) fn begin_run(context: &Context, runtime: Runtime, started_at: i64) -> BeginRun {
    BeginRun {
        job_id: context.job_id.clone(),
        run_id: context.run_id.clone(),
        runtime,
        started_at,
        context: context_to_json(context),
    }
}

pub(crate) fn context_to_json(context: &Context) -> Value {
    let kept = KeptContext {
        expert: context.expert.clone(),
        query: context.query.clone(),
        argv: context.argv.clone(),
        metadata: context.metadata.clone(),
        source: Some(context.source)
            .filter(|source| *source != RunSource::Live)
            .map(|source| source.as_str().to_owned()),
        runtime_from: Some(context.runtime_from)
            .filter(|from| *from != RuntimeFrom::Caller)
            .map(|from| from.as_str().to_owned()),
        output_on: Some(context.output_on).filter(|stream| *stream != Stream::Stdout),
        lines_before: Some(context.lines_before).filter(|lines| *lines > 0),
        not_joined: context.not_joined.clone(),
        redaction: context.redaction.clone(),
    };
    serde_json::to_value(kept).unwrap_or(Value::Null)
}

/// Reads a context back; what cannot be read is as if it had not been known.
pub(crate) fn context_from_json(job_id: JobId, run_id: RunId, kept: &Value) -> Context {
    let kept = KeptContext::deserialize(kept).unwrap_or_default();
    let mut context = Context::new(job_id, run_id);
    context.expert = kept.expert;
    context.query = kept.query;
    context.argv = kept.argv;
    context.metadata = kept.metadata;
    context.source = source_named(kept.source.as_deref());
    context.runtime_from = [RuntimeFrom::FirstLines, RuntimeFrom::Undecided]
        .into_iter()
        .find(|from| Some(from.as_str()) == kept.runtime_from.as_deref())
        .unwrap_or_default();
    context.output_on = kept.output_on.unwrap_or(Stream::Stdout);
    context.lines_before = kept.lines_before.unwrap_or_default();
    context.not_joined = kept.not_joined;
    context.redaction = kept.redaction;
    context
}

/// Returns through what a run was seen, by its word.
fn source_named(word: Option<&str>) -> RunSource {
    [RunSource::History, RunSource::Both]
        .into_iter()
        .find(|source| Some(source.as_str()) == word)
        .unwrap_or_default()
}

/// Returns the context of a run that comes as records, without a tape.
pub(crate) fn context_of_records(applied: &AppliedRules) -> Value {
    serde_json::json!({ CAME_AS_KEY: "records", REDACTION_KEY: applied })
}

/// Tells whether a run came as records: one that was begun here has a context of its own, if only an empty one.
pub(crate) fn came_as_records(context: &Value) -> bool {
    context.is_null() || context.get(CAME_AS_KEY).is_some()
}

/// Tells whether a run is known from a CLI's session files alone.
pub(crate) fn is_history_only(context: &Value) -> bool {
    let word = context.get("source").and_then(Value::as_str);
    source_named(word) == RunSource::History
}

/// Notes when a process began that the recorder runs: no record says it as well as its clock.
pub(crate) fn note_start(context: &mut Context, started_at: i64) {
    context.metadata.set("startedAt", started_at);
}

/// Tells a normalizer when its run began: if nothing is ever printed, the run still has a time.
pub(crate) fn begin_at(normalizer: &mut Normalizer, started_at: i64) {
    let _ = normalizer.push(Stream::Stdout, Kept::as_given(&[]), started_at);
}

pub(crate) fn exit_to_json(exit: &Exit) -> Value {
    let mut kept = Map::new();
    if let Some(code) = exit.code {
        kept.insert("code".to_owned(), code.into());
    }
    if let Some(signal) = &exit.signal {
        kept.insert("signal".to_owned(), signal.as_str().into());
    }
    for (key, flag) in [
        ("timedOut", exit.timed_out),
        ("stopped", exit.stopped),
        ("recorderLost", exit.recorder_lost),
    ] {
        if flag {
            kept.insert(key.to_owned(), true.into());
        }
    }
    if let Some(at) = exit.finished_at {
        kept.insert(FINISHED_AT_KEY.to_owned(), at.into());
    }
    if exit.unkept_input > 0 {
        kept.insert(UNKEPT_INPUT_KEY.to_owned(), exit.unkept_input.into());
    }
    if let Some(missing) = &exit.missing {
        let mut fields = Map::new();
        fields.insert("bytes".to_owned(), missing.bytes.into());
        for (key, from) in [
            ("stdoutFrom", missing.stdout_from),
            ("stderrFrom", missing.stderr_from),
        ] {
            if let Some(from) = from {
                fields.insert(key.to_owned(), from.into());
            }
        }
        kept.insert("missing".to_owned(), fields.into());
    }
    if !exit.redacted.is_empty()
        && let Ok(counts) = serde_json::to_value(&exit.redacted)
    {
        kept.insert(REDACTED_KEY.to_owned(), counts);
    }
    Value::Object(kept)
}

fn missing_from_json(value: &Value) -> MissingOutput {
    let number = |key: &str| value.get(key).and_then(Value::as_u64);
    MissingOutput {
        bytes: number("bytes").unwrap_or_default(),
        stdout_from: number("stdoutFrom"),
        stderr_from: number("stderrFrom"),
    }
}

pub(crate) fn exit_from_json(value: &Value) -> Exit {
    let flag = |key: &str| value.get(key) == Some(&Value::Bool(true));
    let code = value.get("code").and_then(Value::as_i64);
    let signal = value.get("signal").and_then(Value::as_str);
    Exit {
        code: code.and_then(|code| i32::try_from(code).ok()),
        signal: signal.map(str::to_owned),
        timed_out: flag("timedOut"),
        stopped: flag("stopped"),
        recorder_lost: flag("recorderLost"),
        missing: value.get("missing").map(missing_from_json),
        redacted: counts_from_json(value),
        finished_at: value.get(FINISHED_AT_KEY).and_then(Value::as_i64),
        unkept_input: value
            .get(UNKEPT_INPUT_KEY)
            .and_then(Value::as_u64)
            .unwrap_or_default(),
    }
}

fn counts_from_json(exit: &Value) -> RedactionCounts {
    let counts = exit.get(REDACTED_KEY);
    counts
        .and_then(|counts| RedactionCounts::deserialize(counts).ok())
        .unwrap_or_default()
}

/// Returns by which rules secrets were taken out of a run, and how many, from what the store kept of its
/// beginning and its end.
#[must_use]
pub fn redaction_info(context: &Value, exit: Option<&Value>) -> Option<RunRedaction> {
    Some(RunRedaction {
        applied: applied_rules(context)?,
        counts: exit.map(counts_from_json).unwrap_or_default(),
    })
}

/// Returns by which rules secrets were taken out of a run, if its context says so.
#[must_use]
pub fn applied_rules(context: &Value) -> Option<AppliedRules> {
    AppliedRules::deserialize(context.get(REDACTION_KEY)?).ok()
}

/// The key in the context of a recorded run that says by which rules the history that it was joined with was filtered.
pub(crate) const HISTORY_REDACTION_KEY: &str = "historyRedaction";

/// Returns by which rules secrets were taken out of the history that a recorded run was joined with.
pub(crate) fn history_rules(context: &Value) -> Option<AppliedRules> {
    AppliedRules::deserialize(context.get(HISTORY_REDACTION_KEY)?).ok()
}

/// Says by which rules secrets were taken out of the history of a recorded run, apart from what was recorded.
pub(crate) fn set_history_rules(context: &mut Value, rules: Option<&AppliedRules>) {
    let Value::Object(kept) = context else {
        return;
    };
    match rules.and_then(|rules| serde_json::to_value(rules).ok()) {
        Some(rules) => kept.insert(HISTORY_REDACTION_KEY.to_owned(), rules),
        None => kept.remove(HISTORY_REDACTION_KEY),
    };
}

/// Returns how a process ended, from what the store kept of it.
#[must_use]
pub fn exit_info(kept: &Value) -> ExitInfo {
    let exit = exit_from_json(kept);
    ExitInfo {
        code: exit.code,
        signal: exit.signal,
        timed_out: exit.timed_out,
        recorder_lost: exit.recorder_lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_survives_being_kept() {
        for exit in [
            Exit::unknown(),
            Exit::with_code(3),
            Exit {
                stopped: true,
                ..Exit::with_signal("SIGKILL")
            },
            Exit::with_signal("SIGKILL"),
            Exit::lost(),
            Exit {
                timed_out: true,
                ..Exit::with_code(143)
            },
            Exit {
                missing: Some(MissingOutput {
                    bytes: 9,
                    stdout_from: None,
                    stderr_from: Some(4),
                }),
                ..Exit::with_code(0)
            },
            Exit {
                redacted: RedactionCounts {
                    by_rule: [("jwt".to_owned(), 2)].into(),
                    unfinished: 1,
                },
                ..Exit::with_code(0)
            },
        ] {
            assert_eq!(exit_from_json(&exit_to_json(&exit)), exit);
        }
    }

    #[test]
    fn a_context_survives_being_kept() {
        let mut context = Context::new("j".parse().unwrap(), "r".parse().unwrap());
        context.argv = Some(vec!["claude".to_owned()]);
        context.query = Some("what".to_owned());
        context.metadata.set("host", "h");
        context.runtime_from = RuntimeFrom::FirstLines;
        context.output_on = Stream::Stderr;
        context.lines_before = 3;
        context.not_joined = Some("two runs fit".to_owned());
        context.redaction = Some(AppliedRules {
            tier: "definite".to_owned(),
            rules: Some("runtape 1".to_owned()),
            digest: None,
            key_id: None,
        });
        let kept = context_to_json(&context);
        let read = context_from_json("j".parse().unwrap(), "r".parse().unwrap(), &kept);
        assert_eq!(read, context);
    }
}
