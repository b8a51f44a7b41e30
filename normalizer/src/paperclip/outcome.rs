//! What an adapter tells the host about an execution: the recorded run, and what became of the process.
//!
//! The host starts nothing more for a task after an execution that failed without a word about what it
//! left behind. So every failure says one of three things: the CLI never ran; it was stopped, and is
//! gone; or the conversation may go on.

use runtape_core::Runtime;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::calling::Variables;
use super::execution_result::ExecutionResult;
use super::session::SessionParams;
use crate::runtimes;

/// The host's own mark for a conversation that may go on after a failure.
const CONTINUATION: &str = "continue_conversation_v1";

/// Why the adapter ended an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stop {
    /// It did not: the CLI ended by itself.
    #[default]
    None,
    /// The user wanted it.
    Cancelled,
    /// Its time was up.
    TimedOut,
}

/// What is known of an execution once it is over.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeRequest {
    /// The runtime.
    pub runtime: Runtime,
    /// What `record --report-as paperclip` wrote; null if it wrote nothing.
    pub report: Option<ExecutionResult>,
    /// The recorder's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the recorder.
    pub signal: Option<String>,
    /// The last of what the recorder said on standard error.
    #[serde(default)]
    pub said: String,
    /// Whether the CLI was started at all.
    #[serde(default)]
    pub is_started: bool,
    /// Whether all of the CLI's processes are gone.
    #[serde(default)]
    pub is_gone: bool,
    /// Why the adapter ended it.
    #[serde(default)]
    pub stop: Stop,
    /// The time limit in seconds.
    pub timeout_sec: Option<f64>,
    /// Whether this was the second try, after a session that is not known any more.
    #[serde(default)]
    pub is_second_try: bool,
    /// The directory that the run worked in.
    #[serde(default)]
    pub cwd: String,
    /// The host's workspace.
    #[serde(default)]
    pub workspace: Map<String, Value>,
    /// The CLI's environment.
    #[serde(default)]
    pub variables: Variables,
    /// The model that was configured.
    pub model: Option<String>,
}

impl OutcomeRequest {
    /// Makes the host's result; `now` is the time as ISO 8601.
    #[must_use]
    pub fn result(&self, now: &str) -> ExecutionResult {
        let mut result = match &self.report {
            Some(report) => report.clone(),
            None => self.unreported(),
        };
        let report_timed_out = std::mem::take(&mut result.timed_out);
        result.timed_out = report_timed_out || self.stop == Stop::TimedOut;
        self.name_session(&mut result);
        self.bill(&mut result);
        let mut json = match result.result_json.take() {
            Some(Value::Object(json)) => json,
            _ => Map::new(),
        };
        if self.stop == Stop::Cancelled {
            result.error_message = Some("stopped on request".to_owned());
            result.error_code = Some("runtape_cancelled".to_owned());
            result.error_family = None;
            result.timed_out = false;
            // What was stopped may be gone on with.
            result.clear_session = None;
        } else if result.timed_out {
            let limit = self.timeout_sec.unwrap_or_default();
            result.error_message = Some(format!("Timed out after {limit}s"));
            result.error_code = Some("timeout".to_owned());
            result.error_family = None;
            // Nobody knows what the session is like that was cut off: the host keeps what it has.
            result.session_id = None;
            result.session_params = None;
            result.session_display_id = None;
            result.clear_session = None;
        }
        if is_failed(&result) {
            self.explain(&mut result, &mut json, now);
        }
        result.result_json = (!json.is_empty()).then_some(Value::Object(json));
        result
    }

    /// Says what a failed execution leaves behind.
    fn explain(&self, result: &mut ExecutionResult, json: &mut Map<String, Value>, now: &str) {
        if !self.is_started {
            let evidence = json!({ "kind": "bootstrap", "providerWorkStarted": false });
            result.execution_recovery = Some(evidence);
        }
        if self.stop == Stop::Cancelled {
            // Only what is seen to be gone is said to be.
            if self.is_gone || !self.is_started {
                let acknowledged = json!({ "state": "acknowledged", "acknowledgedAt": now });
                json.insert("executionCancellation".to_owned(), acknowledged);
            }
            if self.is_gone && self.is_started {
                result.execution_recovery = Some(json!({
                    "kind": "interrupted", "providerStopped": true, "sessionPreserved": true,
                    "actionOutcomes": "settled",
                }));
            }
            return;
        }
        if self.is_started {
            json.insert("conversationContinuation".to_owned(), CONTINUATION.into());
        }
    }

    /// Makes a result of an execution that the recorder wrote no report about.
    fn unreported(&self) -> ExecutionResult {
        let how = match (&self.signal, self.exit_code) {
            (Some(signal), _) => format!("was ended by {signal}"),
            (None, Some(code)) => format!("ended with exit code {code}"),
            (None, None) => "did not start".to_owned(),
        };
        let said = self.said.trim();
        let separator = if said.is_empty() { "" } else { ": " };
        let code = if self.is_started {
            "runtape_no_report"
        } else {
            "runtape_not_started"
        };
        ExecutionResult {
            exit_code: self.exit_code,
            signal: self.signal.clone(),
            error_message: Some(format!(
                "the recorder {how} and wrote no report{separator}{said}"
            )),
            error_code: Some(code.to_owned()),
            ..ExecutionResult::default()
        }
    }

    /// Completes the session with what the codec keeps, and decides whether the saved one is forgotten.
    fn name_session(&self, result: &mut ExecutionResult) {
        let text = |key: &str| {
            let value = self.workspace.get(key)?.as_str()?.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        if let Some(params) = &mut result.session_params {
            // The directory that the CLI was started in, which is what the next run compares.
            if !self.cwd.is_empty() {
                params.cwd = Some(self.cwd.clone());
            }
            params.runtime = Some(self.runtime.clone());
            params.workspace_id = text("workspaceId");
            params.repo_url = text("repoUrl");
            params.repo_ref = text("repoRef");
        }
        if self.is_second_try {
            result.clear_session = result.session_params.is_none().then_some(true);
        } else if is_unknown_session(result) {
            // An id that is not known any more is none to be saved.
            result.session_id = None;
            result.session_params = None::<SessionParams>;
            result.session_display_id = None;
        }
    }

    fn bill(&self, result: &mut ExecutionResult) {
        if result.model.is_none() {
            result.model.clone_from(&self.model);
        }
        let Some(calling) = runtimes::entry_for(&self.runtime).and_then(|e| e.paperclip.calling)
        else {
            return;
        };
        // The configured name has the provider in front where a CLI's own does not.
        let model = self.model.as_deref().or(result.model.as_deref());
        let billing = (calling.billing)(&self.variables, model);
        result.provider = billing.provider.or(result.provider.take());
        result.biller = billing.biller;
        result.billing_type = billing.billing_type.map(str::to_owned);
    }
}

/// Tells whether the host takes a result for a failure.
fn is_failed(result: &ExecutionResult) -> bool {
    result.timed_out
        || result.error_message.is_some()
        || result.signal.is_some()
        || result.exit_code.is_some_and(|code| code != 0)
}

/// Tells whether a run failed because its session is not known any more.
#[must_use]
pub fn is_unknown_session(result: &ExecutionResult) -> bool {
    let code = result.error_code.as_deref();
    code.is_some_and(|code| code.ends_with("_unknown_session"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "6baba7bc-061b-4fc8-9fe0-a222e7fee90d";
    const NOW: &str = "2026-11-17T08:00:00.000Z";

    fn result(request: Value) -> Value {
        let request: OutcomeRequest = serde_json::from_value(request).unwrap();
        serde_json::to_value(request.result(NOW)).unwrap()
    }

    fn report(more: &Value) -> Value {
        let mut report = json!({
            "exitCode": 0, "signal": null, "timedOut": false, "sessionId": UUID, "sessionDisplayId": UUID,
            "sessionParams": {"sessionId": UUID, "cwd": "/elsewhere"}, "resultJson": {"status": "x"},
        });
        let fields = report.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        report
    }

    #[test]
    fn a_success_carries_session_and_bill_and_no_evidence() {
        let found = result(json!({
            "runtime": "claude-code", "isStarted": true, "isGone": true, "cwd": "/w", "exitCode": 0,
            "report": report(&json!({"model": "opus"})), "variables": {"ANTHROPIC_API_KEY": "k"},
            "workspace": {"workspaceId": "ws", "repoUrl": "u", "repoRef": null},
        }));
        let params = json!({
            "sessionId": UUID, "cwd": "/w", "runtime": "claude-code", "workspaceId": "ws", "repoUrl": "u",
        });
        assert_eq!(found["sessionParams"], params);
        assert_eq!(found["billingType"], "api");
        assert_eq!(found["biller"], "anthropic");
        assert_eq!(found["resultJson"], json!({"status": "x"}));
        assert!(found.get("executionRecovery").is_none());
    }

    /// Without evidence the host blocks the task until a person looks at it.
    #[test]
    fn every_failure_says_what_it_leaves_behind() {
        let bootstrap = json!({"kind": "bootstrap", "providerWorkStarted": false});
        let failed = json!({"exitCode": 1, "errorMessage": "m", "errorCode": "claude_failed"});
        let base = json!({"runtime": "claude-code", "exitCode": 1});
        let with = |more: Value| {
            let mut request = base.clone();
            let fields = request.as_object_mut().unwrap();
            fields.extend(more.as_object().unwrap().clone());
            result(request)
        };
        let never = with(json!({"said": "cannot start \"x\"\n"}));
        assert_eq!(never["executionRecovery"], bootstrap);
        assert_eq!(never["errorCode"], "runtape_not_started");
        assert!(
            never["errorMessage"]
                .as_str()
                .unwrap()
                .contains("cannot start")
        );

        let lost = with(json!({"isStarted": true, "signal": "SIGKILL", "exitCode": null}));
        assert_eq!(lost["errorCode"], "runtape_no_report");
        assert_eq!(lost["resultJson"]["conversationContinuation"], CONTINUATION);

        let failure = with(json!({"isStarted": true, "report": report(&failed)}));
        assert_eq!(
            failure["resultJson"]["conversationContinuation"],
            CONTINUATION
        );
        assert_eq!(failure["resultJson"]["status"], "x", "what was there stays");
        assert_eq!(failure["sessionParams"]["sessionId"], UUID);

        let late = with(json!({
            "isStarted": true, "report": report(&json!({"timedOut": true})), "timeoutSec": 3,
        }));
        assert_eq!(late["errorMessage"], "Timed out after 3s");
        assert_eq!(late["timedOut"], true);
        assert!(
            late.get("sessionParams").is_none(),
            "the host keeps its own"
        );
        assert_eq!(late["resultJson"]["conversationContinuation"], CONTINUATION);
    }

    #[test]
    fn a_cancel_is_acknowledged_only_when_the_agent_is_gone() {
        let cancelled = |is_started: bool, is_gone: bool| {
            result(json!({
                "runtime": "claude-code", "stop": "cancelled", "isStarted": is_started, "isGone": is_gone,
                "report": report(&json!({"signal": "SIGTERM", "exitCode": null, "timedOut": false})),
            }))
        };
        let stopped = cancelled(true, true);
        assert_eq!(
            stopped["resultJson"]["executionCancellation"],
            json!({"state": "acknowledged", "acknowledgedAt": NOW})
        );
        assert_eq!(
            stopped["executionRecovery"],
            json!({"kind": "interrupted", "providerStopped": true, "sessionPreserved": true,
                   "actionOutcomes": "settled"})
        );
        assert_eq!(
            stopped["sessionParams"]["sessionId"], UUID,
            "and may be gone on with"
        );
        let alive = cancelled(true, false);
        assert!(alive["resultJson"].get("executionCancellation").is_none());
        assert!(alive.get("executionRecovery").is_none());
        let never = cancelled(false, true);
        assert_eq!(never["executionRecovery"]["kind"], "bootstrap");
        assert_eq!(
            never["resultJson"]["executionCancellation"]["state"],
            "acknowledged"
        );
    }

    #[test]
    fn a_session_that_is_not_known_is_forgotten_unless_the_second_try_brought_another() {
        let unknown = json!({
            "exitCode": 1, "errorMessage": "m", "errorCode": "claude_unknown_session", "clearSession": true,
        });
        let first = result(
            json!({"runtime": "claude-code", "isStarted": true, "report": report(&unknown)}),
        );
        assert_eq!(first["clearSession"], true);
        assert!(first.get("sessionParams").is_none());
        let second = result(json!({
            "runtime": "claude-code", "isStarted": true, "isSecondTry": true, "report": report(&json!({})),
        }));
        assert!(second.get("clearSession").is_none());
        let nothing = json!({"exitCode": 0, "signal": null, "timedOut": false});
        let without = result(json!({
            "runtime": "claude-code", "isStarted": true, "isSecondTry": true, "report": nothing,
        }));
        assert_eq!(without["clearSession"], true);
    }
}
