//! Sessions as Paperclip's host keeps them between runs, and when to resume them.

use runtape_core::Runtime;
use runtape_core::report::AdapterSession;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::runtimes::is_session_id;

/// What is needed to resume a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionParams {
    /// The session.
    pub session_id: String,
    /// The directory it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The runtime whose session it is: one adapter may start several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// Names the instructions that it was started with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_bundle_key: Option<String>,
    /// The workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// The workspace's repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_url: Option<String>,
    /// The branch or commit of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_ref: Option<String>,
    /// The tool servers that it was started with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_server_identity: Option<Value>,
    /// Where it runs, if not on the host itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_execution: Option<Value>,
}

/// A session of the agent client protocol, which Paperclip runs some CLIs through.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct AcpxSession(Map<String, Value>);

/// A stored session of either kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StoredSession {
    /// One of the runtime's own.
    Own(Box<SessionParams>),
    /// One of the agent client protocol.
    Acpx(AcpxSession),
}

/// What is kept of an agent client protocol's session; one of the first three names it.
const ACPX_KEYS: [&str; 14] = [
    "runtimeSessionName",
    "acpSessionId",
    "agentSessionId",
    "sessionKey",
    "acpxRecordId",
    "agent",
    "mode",
    "stateDir",
    "configFingerprint",
    "cwd",
    "workspaceId",
    "repoUrl",
    "repoRef",
    "remoteExecution",
];
const ACPX_IDS: usize = 3;

/// The next run's surroundings, which a session must fit to be resumed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// The directory that the next run works in.
    pub cwd: &'a str,
    /// Where it runs, if not on the host itself.
    pub remote_execution: Option<&'a Value>,
    /// The instructions that it gets; compared only where the session has some.
    pub prompt_bundle_key: Option<&'a str>,
    /// The tool servers that it gets; compared only where the session has some.
    pub mcp_server_identity: Option<&'a Value>,
}

/// Whether to resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeDecision {
    /// Resume this session.
    Resume(String),
    /// Start a new one.
    Fresh(FreshReason),
}

/// Why a session is not resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FreshReason {
    /// There is none, or its id has not the form of this runtime's ids.
    NoSession,
    /// It is another runtime's.
    OtherRuntime,
    /// It belongs to another directory.
    OtherDirectory,
    /// It ran somewhere else.
    OtherPlace,
    /// It was started with other instructions.
    OtherInstructions,
    /// It was started with other tool servers.
    OtherToolServers,
}

impl FreshReason {
    /// Returns the name as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSession => "no_session",
            Self::OtherRuntime => "other_runtime",
            Self::OtherDirectory => "other_directory",
            Self::OtherPlace => "other_place",
            Self::OtherInstructions => "other_instructions",
            Self::OtherToolServers => "other_tool_servers",
        }
    }

    /// Returns what to tell a person.
    #[must_use]
    pub fn as_text(self) -> &'static str {
        match self {
            Self::NoSession => "its id has not the form of this runtime's sessions",
            Self::OtherRuntime => "it is a session of another runtime",
            Self::OtherDirectory => "it belongs to another directory",
            Self::OtherPlace => "it ran on another machine",
            Self::OtherInstructions => "it was started with other instructions",
            Self::OtherToolServers => "it was started with other tool servers",
        }
    }
}

/// What the host keeps of the last run, and where the next one runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRequest {
    /// The runtime.
    pub runtime: Runtime,
    /// The stored session.
    #[serde(default)]
    pub session_params: Value,
    /// Its id alone, as hosts kept it before.
    pub session_id: Option<String>,
    /// The directory that the next run works in.
    #[serde(default)]
    pub cwd: String,
}

impl SessionRequest {
    /// Decides whether the next run resumes the session.
    #[must_use]
    pub fn decide(&self) -> AdapterSession {
        let id = self.session_id.as_deref().map(str::trim);
        let id = id.filter(|id| !id.is_empty());
        let stored = match (&self.session_params, id) {
            (params, _) if params.as_object().is_some_and(|params| !params.is_empty()) => {
                params.clone()
            }
            (_, Some(id)) => serde_json::json!({ "sessionId": id }),
            _ => Value::Null,
        };
        let next = Surroundings {
            cwd: &self.cwd,
            ..Surroundings::default()
        };
        match SessionCodec::new(self.runtime.clone()).resume(&stored, &next) {
            ResumeDecision::Resume(id) => AdapterSession {
                resume: Some(id),
                reason: None,
                message: None,
            },
            ResumeDecision::Fresh(reason) => AdapterSession {
                resume: None,
                reason: Some(reason.as_str().to_owned()),
                // Where nothing was saved, there is nothing to explain.
                message: (!stored.is_null())
                    .then(|| format!("the saved session is not resumed: {}", reason.as_text())),
            },
        }
    }
}

/// Reads and writes the sessions of one runtime.
#[derive(Clone, Debug)]
pub struct SessionCodec {
    runtime: Runtime,
}

impl SessionCodec {
    /// Creates the codec of a runtime.
    #[must_use]
    pub fn new(runtime: Runtime) -> Self {
        Self { runtime }
    }

    /// Reads a stored session, in any spelling of its keys. `None` for anything that is not an
    /// object with a session id of this runtime's form.
    #[must_use]
    pub fn deserialize(&self, raw: &Value) -> Option<StoredSession> {
        let fields = raw.as_object()?;
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| {
                let text = fields.get(*name)?.as_str()?.trim();
                (!text.is_empty()).then_some(text)
            });
            found.map(str::to_owned)
        };
        let present = |name: &str| fields.get(name).filter(|value| !value.is_null()).cloned();
        let Some(session_id) = text(&["sessionId", "session_id", "sessionID"]) else {
            return acpx(fields).map(StoredSession::Acpx);
        };
        if !is_session_id(&self.runtime, &session_id) {
            return None;
        }
        Some(StoredSession::Own(Box::new(SessionParams {
            session_id,
            cwd: text(&["cwd", "workdir", "folder"]),
            runtime: text(&["runtime"]).map(|name| Runtime::from_name(&name)),
            prompt_bundle_key: text(&["promptBundleKey", "prompt_bundle_key"]),
            workspace_id: text(&["workspaceId", "workspace_id"]),
            repo_url: text(&["repoUrl", "repo_url"]),
            repo_ref: text(&["repoRef", "repo_ref"]),
            mcp_server_identity: present("mcpServerIdentity"),
            remote_execution: present("remoteExecution"),
        })))
    }

    /// Writes a session as the host stores it.
    #[must_use]
    pub fn serialize(&self, session: &StoredSession) -> Value {
        serde_json::to_value(session).unwrap_or_default()
    }

    /// Returns the session's id for people: the whole id, so that it can be resumed.
    #[must_use]
    pub fn display_id<'s>(&self, session: &'s StoredSession) -> Option<&'s str> {
        match session {
            StoredSession::Own(params) => Some(&params.session_id),
            StoredSession::Acpx(AcpxSession(fields)) => ACPX_KEYS
                .iter()
                .take(ACPX_IDS)
                .find_map(|key| fields.get(*key)?.as_str()),
        }
    }

    /// Decides whether the next run resumes a stored session.
    #[must_use]
    pub fn resume(&self, stored: &Value, next: &Surroundings<'_>) -> ResumeDecision {
        let runtime = stored.get("runtime").and_then(Value::as_str);
        if runtime.is_some_and(|name| Runtime::from_name(name.trim()) != self.runtime) {
            return ResumeDecision::Fresh(FreshReason::OtherRuntime);
        }
        let Some(StoredSession::Own(session)) = self.deserialize(stored) else {
            return ResumeDecision::Fresh(FreshReason::NoSession);
        };
        let fits = |saved: Option<&Value>, next: Option<&Value>| saved.is_none() || saved == next;
        let reason = if session
            .cwd
            .as_deref()
            .is_some_and(|cwd| !same_directory(cwd, next.cwd))
        {
            FreshReason::OtherDirectory
        } else if session.remote_execution.as_ref() != next.remote_execution {
            FreshReason::OtherPlace
        } else if session.prompt_bundle_key.is_some()
            && session.prompt_bundle_key.as_deref() != next.prompt_bundle_key
        {
            FreshReason::OtherInstructions
        } else if !fits(
            session.mcp_server_identity.as_ref(),
            next.mcp_server_identity,
        ) {
            FreshReason::OtherToolServers
        } else {
            return ResumeDecision::Resume(session.session_id);
        };
        ResumeDecision::Fresh(reason)
    }
}

fn acpx(fields: &Map<String, Value>) -> Option<AcpxSession> {
    let kept: Map<String, Value> = ACPX_KEYS
        .iter()
        .filter_map(|key| {
            let value = match fields.get(*key)? {
                Value::String(text) => Value::from(text.trim()),
                Value::Object(object) if *key == "remoteExecution" => Value::Object(object.clone()),
                _ => return None,
            };
            (value != "").then(|| ((*key).to_owned(), value))
        })
        .collect();
    let is_named = ACPX_KEYS
        .iter()
        .take(ACPX_IDS)
        .any(|key| kept.contains_key(*key));
    is_named.then_some(AcpxSession(kept))
}

/// Tells whether two paths are the same, without looking at any disk.
fn same_directory(one: &str, other: &str) -> bool {
    resolved(one) == resolved(other)
}

fn resolved(path: &str) -> (bool, Vec<&str>) {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    (is_absolute, parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const UUID: &str = "6baba7bc-061b-4fc8-9fe0-a222e7fee90d";

    fn codec(runtime: Runtime) -> SessionCodec {
        SessionCodec::new(runtime)
    }

    #[test]
    fn every_spelling_is_read_and_one_is_written() {
        let codec = codec(Runtime::ClaudeCode);
        let expected = json!({
            "sessionId": UUID, "cwd": "/a", "promptBundleKey": "p", "workspaceId": "w",
            "repoUrl": "u", "repoRef": "r", "mcpServerIdentity": "m",
            "remoteExecution": {"host": "h"},
        });
        let spellings = [
            expected.clone(),
            json!({
                "session_id": format!(" {UUID} "), "workdir": "/a", "prompt_bundle_key": "p",
                "workspace_id": "w", "repo_url": "u", "repo_ref": "r", "mcpServerIdentity": "m",
                "remoteExecution": {"host": "h"}, "other": 1,
            }),
            json!({
                "sessionID": UUID, "sessionId": " ", "folder": "/a", "promptBundleKey": "p",
                "workspaceId": "w", "repoUrl": "u", "repoRef": "r", "mcpServerIdentity": "m",
                "remoteExecution": {"host": "h"},
            }),
        ];
        for raw in spellings {
            let session = codec.deserialize(&raw).unwrap();
            let written = codec.serialize(&session);
            assert_eq!(written, expected);
            assert_eq!(
                codec.deserialize(&written),
                Some(session.clone()),
                "round trip"
            );
            assert_eq!(codec.display_id(&session), Some(UUID));
        }
    }

    #[test]
    fn what_is_no_session_is_none() {
        let codec = codec(Runtime::ClaudeCode);
        for raw in [
            json!(null),
            json!("x"),
            json!([UUID]),
            json!({}),
            json!({"sessionId": ""}),
            json!({"sessionId": 5}),
            json!({"cwd": "/a"}),
        ] {
            assert_eq!(codec.deserialize(&raw), None, "{raw}");
        }
    }

    #[test]
    fn prose_is_never_an_id_of_any_runtime() {
        let words = [
            "from",
            "from a previous run",
            "--resume",
            "latest",
            "../x",
            "a b",
            "fake;",
        ];
        for entry in crate::runtimes::RUNTIMES {
            for word in words {
                let raw = json!({"sessionId": word});
                let codec = codec(entry.runtime.clone());
                assert_eq!(codec.deserialize(&raw), None, "{} {word}", entry.runtime);
            }
        }
        let ids = [
            (Runtime::ClaudeCode, UUID),
            (Runtime::Cursor, UUID),
            (Runtime::Gemini, UUID),
            (Runtime::Hermes, "20260612_143022_a3b8f4"),
            (Runtime::Openclaw, "agent:main:main"),
        ];
        for (runtime, id) in ids {
            let codec = codec(runtime);
            let session = codec.deserialize(&json!({"sessionId": id})).unwrap();
            assert_eq!(codec.display_id(&session), Some(id), "the whole id");
        }
        let dated = json!({"sessionId": "20260612_143022_a3b8f4"});
        assert_eq!(codec(Runtime::ClaudeCode).deserialize(&dated), None);
    }

    #[test]
    fn a_protocol_session_is_kept_with_what_belongs_to_it() {
        let codec = codec(Runtime::Gemini);
        let raw = json!({
            "acpSessionId": " a1 ", "agent": "gemini", "cwd": "/a", "mode": 3, "other": "x",
            "remoteExecution": {"host": "h"},
        });
        let session = codec.deserialize(&raw).unwrap();
        assert_eq!(codec.display_id(&session), Some("a1"));
        let expected = json!({
            "acpSessionId": "a1", "agent": "gemini", "cwd": "/a", "remoteExecution": {"host": "h"},
        });
        assert_eq!(codec.serialize(&session), expected);
        assert_eq!(codec.deserialize(&json!({"agent": "gemini"})), None);
    }

    #[test]
    fn a_session_is_resumed_only_where_it_belongs() {
        let codec = codec(Runtime::ClaudeCode);
        let remote = json!({"host": "h"});
        let stored = |more: Value| {
            let mut stored = json!({"sessionId": UUID, "cwd": "/home/dev/proj"});
            let fields = stored.as_object_mut().unwrap();
            fields.extend(more.as_object().unwrap().clone());
            stored
        };
        let here = Surroundings {
            cwd: "/home/dev/proj",
            ..Surroundings::default()
        };
        let resumed = ResumeDecision::Resume(UUID.to_owned());
        let fresh = ResumeDecision::Fresh;
        let there = Surroundings {
            cwd: "/home/dev/other",
            ..here
        };
        let crooked = Surroundings {
            cwd: "/home/./dev//x/../proj/",
            ..here
        };
        let remotely = Surroundings {
            remote_execution: Some(&remote),
            ..here
        };
        let instructed = Surroundings {
            prompt_bundle_key: Some("p"),
            ..here
        };
        let remote_too = json!({"remoteExecution": remote.clone()});
        let table = [
            (stored(json!({})), here, resumed.clone()),
            (stored(json!({})), crooked, resumed.clone()),
            (stored(json!({"cwd": null})), there, resumed.clone()),
            (stored(json!({})), there, fresh(FreshReason::OtherDirectory)),
            (stored(json!({})), remotely, fresh(FreshReason::OtherPlace)),
            (
                stored(remote_too.clone()),
                here,
                fresh(FreshReason::OtherPlace),
            ),
            (stored(remote_too), remotely, resumed.clone()),
            (
                stored(json!({"promptBundleKey": "p"})),
                instructed,
                resumed.clone(),
            ),
            (
                stored(json!({"promptBundleKey": "q"})),
                instructed,
                fresh(FreshReason::OtherInstructions),
            ),
            (stored(json!({})), instructed, resumed.clone()),
            (
                stored(json!({"mcpServerIdentity": "m"})),
                here,
                fresh(FreshReason::OtherToolServers),
            ),
            (
                json!({"sessionId": "from"}),
                here,
                fresh(FreshReason::NoSession),
            ),
            (json!(null), here, fresh(FreshReason::NoSession)),
            (stored(json!({"runtime": "claude-code"})), here, resumed),
            (
                stored(json!({"runtime": "cursor"})),
                here,
                fresh(FreshReason::OtherRuntime),
            ),
        ];
        for (stored, next, expected) in table {
            assert_eq!(codec.resume(&stored, &next), expected, "{stored} {next:?}");
        }
    }

    #[test]
    fn a_saved_session_that_is_not_resumed_is_explained() {
        let decide = |request: Value| {
            let request: SessionRequest = serde_json::from_value(request).unwrap();
            request.decide()
        };
        let found = decide(json!({"runtime": "claude-code", "cwd": "/a", "sessionId": UUID}));
        assert_eq!(
            found.resume.as_deref(),
            Some(UUID),
            "the id alone is enough"
        );
        let found = decide(json!({
            "runtime": "claude-code", "cwd": "/a", "sessionId": null,
            "sessionParams": {"sessionId": UUID, "cwd": "/b", "__paperclipConfig": "x"},
        }));
        assert_eq!(found.reason.as_deref(), Some("other_directory"));
        assert!(found.message.unwrap().contains("another directory"));
        let found = decide(json!({"runtime": "claude-code", "cwd": "/a", "sessionParams": {}}));
        assert_eq!(
            (found.resume, found.message),
            (None, None),
            "there never was one"
        );
    }
}
