//! Paperclip's contract against every capture.

use runtape_core::{CheckpointStatus, RunSummary, Runtime};
use runtape_normalizer::paperclip::{
    Detection, ExecutionResult, FailureKind, ProcessOutput, ResumeDecision, SessionCodec,
    Surroundings,
};
use runtape_normalizer::runtimes::{RUNTIMES, entry_for};
use serde_json::Value;

use crate::captures::{self, Capture};

/// The fields of the contract's execution result.
const FIELDS: &[&str] = &[
    "exitCode",
    "signal",
    "timedOut",
    "errorMessage",
    "errorCode",
    "errorFamily",
    "retryNotBefore",
    "usage",
    "usageBasis",
    "sessionId",
    "sessionParams",
    "sessionDisplayId",
    "provider",
    "model",
    "costUsd",
    "resultJson",
    "summary",
    "clearSession",
];

/// What an adapter must find out, by capture: auth, quota, session or transient. All other
/// captures are none of these, whatever the model or a tool said in them.
#[rustfmt::skip]
const DETECTED: &[(&str, &str)] = &[
    ("claude-code/error-401.",      "auth"),
    ("claude-code/error-429.",      "transient"),
    ("claude-code/error-500.",      "transient"),
    ("claude-code/old-2.0-error.",  "auth"),
    ("claude-code/credit-low.",     "quota"),
    ("claude-code/resume-unknown.", "session"),
    ("cursor/no_login.",            "auth"),
    ("cursor/not_logged_in.",       "auth"),
    ("cursor/exhausted.",           "quota"),
    ("cursor/error_cut_answer.",    "quota"),
    ("gemini/error-401.",           "auth"),
    ("gemini/no-auth.",             "auth"),
    ("gemini/error-429.",           "quota"),
    ("gemini/error-500.",           "transient"),
    ("gemini/resume-unknown.",      "session"),
    ("hermes/api_401.",             "auth"),
    ("hermes/api_429.",             "transient"),
    ("hermes/api_500.",             "transient"),
    ("hermes/continue_none.",       "session"),
    ("hermes/resume_unknown.",      "session"),
    ("codex/api_401.",              "auth"),
    ("codex/api_429.",              "transient"),
    ("codex/api_500.",              "transient"),
    ("codex/api_503_midway.",       "transient"),
    ("codex/resp_quota.",           "quota"),
    ("codex/usage_limit.",          "quota"),
    ("codex/resume_unknown.",       "session"),
    ("opencode/api_401.",           "auth"),
    ("opencode/api_429.",           "quota"),
    ("opencode/api_500.",           "transient"),
    ("opencode/resume_unknown.",    "session"),
    ("openclaw/err401.",            "auth"),
    ("openclaw/rate_limit.",        "transient"),
    ("generic/failed.events",       "transient"),
];

/// Captures whose format does not print the failure as one, with the reason.
#[rustfmt::skip]
const NOT_TOLD: &[(&str, &str)] = &[
    ("claude-code/credit-low.text",    "the text format prints it like an answer"),
    ("claude-code/error-401.text",     "the text format prints it like an answer"),
    ("claude-code/error-429.text",     "the text format prints it like an answer"),
    ("claude-code/error-500.text",     "the text format prints it like an answer"),
    ("claude-code/old-2.0-error.text", "the text format prints it like an answer"),
    ("gemini/error-401.text",          "a stack trace on stderr, which tools may print as well"),
    ("gemini/error-429.text",          "a stack trace on stderr, which tools may print as well"),
    ("opencode/api_401.text",          "the API's words on stderr, without a status"),
    ("hermes/api_401.oneshot",         "printed as the answer, with exit 0"),
    ("hermes/api_500.oneshot",         "printed as the answer, with exit 0"),
];

fn word(detection: Detection) -> &'static str {
    match detection.kind {
        None => "none",
        Some(FailureKind::UnknownSession) => "session",
        Some(FailureKind::AuthRequired) => "auth",
        Some(FailureKind::QuotaExhausted) => "quota",
        Some(FailureKind::Transient) => "transient",
    }
}

fn result_of(capture: &Capture) -> (RunSummary, ExecutionResult) {
    let summary = capture.summary();
    let result = ExecutionResult::new(&summary, &capture.exit());
    (summary, result)
}

#[test]
fn failures_are_detected_from_error_channels_only() {
    let mut wrong = Vec::new();
    for capture in captures::all() {
        let name = capture.name();
        let listed = DETECTED.iter().find(|(start, _)| name.starts_with(start));
        let is_told = !NOT_TOLD.iter().any(|(untold, _)| *untold == name);
        let expected = listed.filter(|_| is_told).map_or("none", |(_, word)| word);
        let argv: Vec<String> =
            serde_json::from_value(capture.meta["argv"].clone()).unwrap_or_default();
        let output = ProcessOutput {
            argv: &argv,
            stdout: &capture.stdout,
            stderr: &capture.stderr,
            exit: &capture.exit(),
        };
        let found = word(Detection::of_output(&capture.runtime(), &output));
        if found != expected {
            wrong.push(format!("{name}: expected {expected}, got {found}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn execution_results_have_the_contracts_fields_and_are_true() {
    for capture in captures::all() {
        let name = capture.name();
        let (summary, result) = result_of(&capture);
        let json = serde_json::to_value(&result).unwrap();
        let fields = json.as_object().unwrap();
        for field in fields.keys() {
            assert!(FIELDS.contains(&field.as_str()), "{name}: {field}");
        }
        for field in ["exitCode", "signal", "timedOut"] {
            assert!(fields.contains_key(field), "{name}: {field}");
        }
        let completed = summary.status == CheckpointStatus::Completed;
        assert_eq!(result.error_message.is_none(), completed, "{name}");
        assert_eq!(result.error_code.is_none(), completed, "{name}");
        if let Some(code) = &result.error_code {
            let prefix = entry_for(&summary.runtime).unwrap().paperclip.code_prefix;
            let is_plain = ["max_turns_exhausted", "model_not_found"].contains(&code.as_str());
            let is_named = is_plain || code.starts_with(prefix);
            assert!(is_named, "{name}: {code}");
        }
        assert_eq!(
            result.usage_basis.is_some(),
            result.usage.is_some(),
            "{name}"
        );
        assert_eq!(result.session_id, result.session_display_id, "{name}");
        let saved = result
            .session_params
            .as_ref()
            .map(|params| &params.session_id);
        assert_eq!(saved, result.session_id.as_ref(), "{name}");
        if result.clear_session == Some(true) {
            assert!(!completed, "{name}");
        }
        let again: ExecutionResult = serde_json::from_value(json).unwrap();
        assert_eq!(again, result, "{name}");
    }
}

#[test]
fn a_session_survives_storing_and_is_resumed_in_its_directory() {
    let mut resumed = 0;
    for capture in captures::all() {
        let (summary, result) = result_of(&capture);
        let Some(params) = &result.session_params else {
            continue;
        };
        let codec = SessionCodec::new(summary.runtime.clone());
        let stored = serde_json::to_value(params).unwrap();
        let session = codec
            .deserialize(&stored)
            .expect("a session that was just stored");
        assert_eq!(codec.serialize(&session), stored, "{}", capture.name());
        let cwd = params.cwd.as_deref().unwrap_or("/anywhere");
        let here = Surroundings {
            cwd,
            ..Surroundings::default()
        };
        let decision = codec.resume(&stored, &here);
        assert_eq!(decision, ResumeDecision::Resume(params.session_id.clone()));
        resumed += 1;
    }
    assert!(resumed > 0 || std::env::var_os("RUNTAPE_ONLY").is_some());
}

#[test]
fn every_runtime_declares_what_the_host_asks_for() {
    let mut types = std::collections::HashSet::new();
    for entry in RUNTIMES {
        let adapter = &entry.paperclip;
        assert!(
            types.insert(adapter.adapter_type),
            "{}",
            adapter.adapter_type
        );
        let snake = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        assert!(snake(adapter.adapter_type) && snake(adapter.code_prefix));
        let json: Value = serde_json::to_value(&adapter.capabilities).unwrap();
        let has_key = json["instructionsPathKey"].is_string();
        assert_eq!(json["supportsInstructionsBundle"], has_key, "{json}");
        let has_command = !entry.commands.is_empty() || entry.runtime == Runtime::Generic;
        assert!(!entry.formats.is_empty() && has_command);
    }
    let capabilities = |name: &str| {
        let entry = RUNTIMES
            .iter()
            .find(|entry| entry.runtime.as_str() == name)
            .unwrap();
        serde_json::to_string(&entry.paperclip.capabilities).unwrap()
    };
    assert_eq!(
        capabilities("claude-code"),
        r#"{"supportsLocalAgentJwt":true,"supportsInstructionsBundle":true,"instructionsPathKey":"instructionsFilePath","requiresMaterializedRuntimeSkills":false}"#
    );
    assert_eq!(capabilities("codex"), capabilities("claude-code"));
    assert_eq!(capabilities("opencode"), capabilities("gemini"));
    assert_eq!(
        capabilities("gemini"),
        r#"{"supportsLocalAgentJwt":true,"supportsInstructionsBundle":true,"instructionsPathKey":"instructionsFilePath","requiresMaterializedRuntimeSkills":true}"#
    );
}
