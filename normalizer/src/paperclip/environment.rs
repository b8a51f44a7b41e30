//! The environment of an agent CLI: the server's without what is the server's own, and on it, layer by
//! layer, what the host tells the agent.
//!
//! The server runs with the keys to its database and to every agent's identity. An agent runs what a
//! model says, so a variable reaches it only for a reason: it holds no secret, or it is a key to the models
//! that its CLI talks to, or somebody set it for this agent.

use runtape_core::Runtime;
use runtape_core::report::AdapterEnvironment;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::agent_config::AgentConfig;
use super::calling::Variables;
use super::redact::{REDACTED, has_password, is_secret};
use crate::runtimes::{self, RUNTIMES};

/// What the host's variables begin with.
const HOST: &str = "PAPERCLIP_";
/// The host's variables that say where it listens, and nothing else.
const LISTENING: [&str; 3] = [
    "PAPERCLIP_RUNTIME_API_URL",
    "PAPERCLIP_LISTEN_HOST",
    "PAPERCLIP_LISTEN_PORT",
];
/// The server's own variables that have other names.
const SERVERS_OWN: [&str; 3] = ["PAPERCLIPAI_CMD", "DATABASE_URL", "DATABASE_MIGRATION_URL"];
/// What the names of more of them begin with.
const SERVERS_OWN_FAMILIES: [&str; 1] = ["BETTER_AUTH_"];
/// The agent's token; no configuration can set it.
const TOKEN: &str = "PAPERCLIP_API_KEY";
/// Where programs are looked for if the server does not know.
const USUAL_PATH: &str =
    "/usr/local/bin:/opt/homebrew/bin:/usr/local/sbin:/usr/bin:/bin:/usr/sbin:/sbin";
/// Values longer than this are logged by their length.
const LONGEST_LOGGED: usize = 400;

/// What the environment is made from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentRequest {
    /// The runtime.
    pub runtime: Runtime,
    /// The server's environment.
    #[serde(default)]
    pub server: Variables,
    /// The agent, with `id` and `companyId`.
    #[serde(default)]
    pub agent: Map<String, Value>,
    /// The run.
    #[serde(default)]
    pub run_id: String,
    /// The host's context of the run.
    #[serde(default)]
    pub context: Map<String, Value>,
    /// The agent's configuration.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// The wake payload as the host's own code writes it down, where that could be asked.
    pub wake_payload: Option<String>,
    /// Access to the host's connection tools.
    pub runtime_tools: Option<Value>,
    /// The agent's token.
    pub auth_token: Option<String>,
}

impl EnvironmentRequest {
    /// Makes the environment.
    #[must_use]
    pub fn environment(&self) -> AdapterEnvironment {
        let config = AgentConfig(&self.config);
        let (base, withheld) = inherited(&self.runtime, &self.server, config);
        let mut layers = Layers::default();
        self.identify(&mut layers);
        self.wake(&mut layers);
        self.place(&mut layers);
        self.connect(&mut layers);
        for (name, value) in config.variables() {
            let is_hosts = name.starts_with(HOST);
            if name != TOKEN && is_name(name) && !(is_hosts && layers.0.contains_key(name)) {
                layers.0.insert(name.to_owned(), value.to_owned());
            }
        }
        layers.set(TOKEN, self.auth_token.as_deref());
        let mut variables = base.clone();
        variables.extend(layers.0);
        if !variables.contains_key("PATH") {
            variables.insert("PATH".to_owned(), USUAL_PATH.to_owned());
        }
        let calling = calling(&self.runtime);
        if let Some(calling) = calling {
            (calling.prepare)(&mut variables, config);
        }
        let skills_home = calling.and_then(|calling| calling.skills.directory(&variables));
        let logged = variables
            .iter()
            .filter(|(name, value)| base.get(*name) != Some(value))
            .map(|(name, value)| (name.clone(), logged(name, value)))
            .collect();
        AdapterEnvironment {
            variables,
            logged,
            withheld,
            skills_home,
        }
    }

    fn identify(&self, layers: &mut Layers) {
        layers.set("PAPERCLIP_AGENT_ID", text(&self.agent, "id"));
        layers.set("PAPERCLIP_COMPANY_ID", text(&self.agent, "companyId"));
        layers.set("PAPERCLIP_API_URL", Some(&self.api_url()));
        layers.set("PAPERCLIP_RUN_ID", Some(&self.run_id));
    }

    fn wake(&self, layers: &mut Layers) {
        let context = &self.context;
        let either = |one, other| text(context, one).or_else(|| text(context, other));
        layers.set("PAPERCLIP_TASK_ID", either("taskId", "issueId"));
        layers.set("PAPERCLIP_ISSUE_WORK_MODE", work_mode(context));
        layers.set("PAPERCLIP_WAKE_REASON", text(context, "wakeReason"));
        let comment = either("wakeCommentId", "commentId");
        layers.set("PAPERCLIP_WAKE_COMMENT_ID", comment);
        layers.set("PAPERCLIP_APPROVAL_ID", text(context, "approvalId"));
        layers.set("PAPERCLIP_APPROVAL_STATUS", text(context, "approvalStatus"));
        let issues = texts(context.get("issueIds")).join(",");
        layers.set("PAPERCLIP_LINKED_ISSUE_IDS", Some(&issues));
        let own = || payload(context.get("paperclipWake")?);
        let payload = self.wake_payload.clone().or_else(own);
        layers.set("PAPERCLIP_WAKE_PAYLOAD_JSON", payload.as_deref());
    }

    fn place(&self, layers: &mut Layers) {
        let none = Map::new();
        let workspace = self.context.get("paperclipWorkspace");
        let workspace = workspace.and_then(Value::as_object).unwrap_or(&none);
        for (name, key) in [
            ("PAPERCLIP_WORKSPACE_CWD", "cwd"),
            ("PAPERCLIP_WORKSPACE_SOURCE", "source"),
            ("PAPERCLIP_WORKSPACE_STRATEGY", "strategy"),
            ("PAPERCLIP_WORKSPACE_ID", "workspaceId"),
            ("PAPERCLIP_WORKSPACE_REPO_URL", "repoUrl"),
            ("PAPERCLIP_WORKSPACE_REPO_REF", "repoRef"),
            ("PAPERCLIP_WORKSPACE_BRANCH", "branchName"),
            ("PAPERCLIP_WORKSPACE_WORKTREE_PATH", "worktreePath"),
            ("AGENT_HOME", "agentHome"),
        ] {
            layers.set(name, text(workspace, key));
        }
        for (name, key) in [
            ("PAPERCLIP_WORKSPACES_JSON", "paperclipWorkspaces"),
            (
                "PAPERCLIP_RUNTIME_SERVICES_JSON",
                "paperclipRuntimeServices",
            ),
            (
                "PAPERCLIP_RUNTIME_SERVICE_INTENTS_JSON",
                "paperclipRuntimeServiceIntents",
            ),
        ] {
            let items = self.context.get(key).and_then(Value::as_array);
            let items = items.filter(|items| !items.is_empty());
            let json = items.and_then(|items| serde_json::to_string(items).ok());
            layers.set(name, json.as_deref());
        }
        let url = text(&self.context, "paperclipRuntimePrimaryUrl");
        layers.set("PAPERCLIP_RUNTIME_PRIMARY_URL", url);
    }

    /// Hands over the access to the host's connection tools.
    fn connect(&self, layers: &mut Layers) {
        let Some(tools) = self.runtime_tools.as_ref().and_then(Value::as_object) else {
            return;
        };
        let none = Map::new();
        let rest = tools
            .get("rest")
            .and_then(Value::as_object)
            .unwrap_or(&none);
        let available = texts(tools.get("tools")).join(",");
        for (name, value) in [
            ("MCP_URL", text(tools, "mcpEndpoint")),
            ("TOKEN", text(tools, "bearerToken")),
            ("EXPIRES_AT", text(tools, "expiresAt")),
            ("CONNECTIONS_SEARCH_URL", text(rest, "connectionsSearch")),
            ("CONNECTION_REQUEST_URL", text(rest, "connectionRequest")),
            ("AVAILABLE", Some(available.as_str())),
            ("GUIDANCE", text(tools, "guidance")),
        ] {
            layers.set(&format!("PAPERCLIP_RUNTIME_TOOLS_{name}"), value);
        }
    }

    /// Returns where the agent reaches the host.
    fn api_url(&self) -> String {
        let set = |name: &str| {
            let value = self.server.get(name).map(|value| value.trim());
            value.filter(|value| !value.is_empty())
        };
        if let Some(url) = set("PAPERCLIP_API_URL").or_else(|| set("PAPERCLIP_RUNTIME_API_URL")) {
            return url.to_owned();
        }
        let host = set("PAPERCLIP_LISTEN_HOST").or_else(|| set("HOST"));
        let port = set("PAPERCLIP_LISTEN_PORT").or_else(|| set("PORT"));
        let host = match host.unwrap_or("localhost") {
            "0.0.0.0" | "::" => "localhost".to_owned(),
            host if host.contains(':') && !host.starts_with('[') => format!("[{host}]"),
            host => host.to_owned(),
        };
        format!("http://{host}:{}", port.unwrap_or("3100"))
    }
}

/// The variables that the host sets, as they are put together.
#[derive(Default)]
struct Layers(Variables);

impl Layers {
    /// Sets a variable, unless there is nothing to say.
    fn set(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// Returns what an agent inherits of the server's environment, and the names of what it does not.
#[must_use]
pub fn inherited(
    runtime: &Runtime,
    server: &Variables,
    config: AgentConfig<'_>,
) -> (Variables, Vec<String>) {
    let credentials = calling(runtime).map_or(&[][..], |calling| calling.credentials);
    let wanted = config.words("inheritEnv");
    let is_wanted = |name: &str| wanted.iter().any(|word| word.trim_end_matches(',') == name);
    let mut base = Variables::new();
    let mut withheld = Vec::new();
    for (name, value) in server {
        let is_credential = credentials.iter().any(|start| name.starts_with(start));
        let is_harmless = !is_secret(name) && (!has_password(value) || is_proxy(name));
        if is_servers_own(name) || !(is_harmless || is_credential || is_wanted(name)) {
            withheld.push(name.clone());
        } else if !is_nesting(name) {
            base.insert(name.clone(), value.clone());
        }
    }
    (base, withheld)
}

/// Tells whether a variable is the server's and no agent's, whatever anybody wants.
fn is_servers_own(name: &str) -> bool {
    let is_hosts = name.starts_with(HOST) && !LISTENING.contains(&name);
    let is_family = |start: &&str| name.starts_with(*start);
    let is_listed = SERVERS_OWN.contains(&name);
    is_hosts || is_listed || SERVERS_OWN_FAMILIES.iter().any(is_family)
}

/// Tells whether a variable says that a CLI runs inside another one, which an agent's does not.
fn is_nesting(name: &str) -> bool {
    let callings = RUNTIMES.iter().filter_map(|entry| entry.paperclip.calling);
    callings
        .flat_map(|calling| calling.nesting)
        .any(|nesting| *nesting == name)
}

/// A proxy may want a password, and without it the agent reaches nothing.
fn is_proxy(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("_proxy")
}

/// Tells whether a variable can have this name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

fn calling(runtime: &Runtime) -> Option<&'static super::Calling> {
    runtimes::entry_for(runtime)?.paperclip.calling
}

/// Returns what may be logged of a variable.
fn logged(name: &str, value: &str) -> String {
    if is_secret(name) || has_password(value) {
        REDACTED.to_owned()
    } else if value.len() > LONGEST_LOGGED {
        format!("<{} characters>", value.chars().count())
    } else {
        value.to_owned()
    }
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

fn texts(list: Option<&Value>) -> Vec<&str> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    let items = items.filter_map(|item| Some(item.as_str()?.trim()));
    items.filter(|item| !item.is_empty()).collect()
}

fn work_mode(context: &Map<String, Value>) -> Option<&str> {
    let issue = |value: &'static str| context.get(value)?.as_object();
    let wake = issue("paperclipWake").and_then(|wake| wake.get("issue")?.as_object());
    let issue = issue("paperclipIssue").and_then(|issue| text(issue, "workMode"));
    issue.or_else(|| text(wake?, "workMode"))
}

/// Writes the wake payload down. What the host says only in the prompt is left out.
fn payload(wake: &Value) -> Option<String> {
    let mut wake = wake.as_object()?.clone();
    wake.remove("connectorSkillInstructions");
    (!wake.is_empty()).then(|| Value::Object(wake).to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn environment(request: Value) -> AdapterEnvironment {
        let request: EnvironmentRequest = serde_json::from_value(request).unwrap();
        request.environment()
    }

    #[test]
    fn no_secret_of_the_server_reaches_the_agent() {
        let secrets = [
            "PAPERCLIP_AGENT_JWT_SECRET",
            "PAPERCLIP_TOOL_ACTION_SIGNING_SECRET",
            "PAPERCLIP_HOME",
            "PAPERCLIP_API_KEY",
            "PAPERCLIPAI_CMD",
            "DATABASE_URL",
            "DATABASE_MIGRATION_URL",
            "BETTER_AUTH_SECRET",
            "BETTER_AUTH_URL",
            "STRIPE_SECRET_KEY",
            "GITHUB_TOKEN",
            "SMTP_PASSWORD",
            "REDIS_URL",
        ];
        for entry in RUNTIMES
            .iter()
            .filter(|entry| entry.paperclip.calling.is_some())
        {
            let mut server: Map<String, Value> = secrets
                .iter()
                .map(|name| {
                    (
                        (*name).to_owned(),
                        json!(format!("https://u:leak-{name}@h/")),
                    )
                })
                .collect();
            server.insert("PATH".into(), json!("/bin"));
            server.insert("LANG".into(), json!("C"));
            server.insert("HTTPS_PROXY".into(), json!("http://u:pw@proxy"));
            server.insert("PAPERCLIP_LISTEN_PORT".into(), json!("3200"));
            let found = environment(json!({
                "runtime": entry.runtime, "server": server, "runId": "r",
                "agent": {"id": "a", "companyId": "c"},
            }));
            let text = serde_json::to_string(&found.variables).unwrap();
            assert!(!text.contains("leak-"), "{}: {text}", entry.runtime);
            for name in secrets {
                assert!(found.withheld.contains(&name.to_owned()), "{name}");
            }
            assert_eq!(found.variables["LANG"], "C");
            assert_eq!(found.variables["HTTPS_PROXY"], "http://u:pw@proxy");
            assert_eq!(
                found.variables["PAPERCLIP_API_URL"],
                "http://localhost:3200"
            );
            assert!(!found.logged.contains_key("LANG"), "only what was set");
        }
    }

    #[test]
    fn keys_of_the_runtimes_own_models_pass_and_others_when_asked_for() {
        let request = |runtime: &str, config: Value| {
            environment(json!({
                "runtime": runtime, "config": config,
                "server": {
                    "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GH_TOKEN": "g",
                    "DATABASE_URL": "d", "CLAUDECODE": "1",
                },
            }))
        };
        let claude = request("claude-code", json!({}));
        assert_eq!(claude.variables.get("ANTHROPIC_API_KEY").unwrap(), "a");
        assert_eq!(
            claude.withheld,
            ["DATABASE_URL", "GH_TOKEN", "OPENAI_API_KEY"]
        );
        assert!(!claude.variables.contains_key("CLAUDECODE"), "not nested");
        let codex = request("codex", json!({"inheritEnv": "GH_TOKEN, DATABASE_URL"}));
        assert_eq!(codex.variables.get("OPENAI_API_KEY").unwrap(), "o");
        assert_eq!(codex.variables.get("GH_TOKEN").unwrap(), "g");
        assert_eq!(
            codex.withheld,
            ["ANTHROPIC_API_KEY", "DATABASE_URL"],
            "the server's own is nobody's wish"
        );
        assert_eq!(codex.variables["PATH"], USUAL_PATH);
    }

    #[test]
    fn skills_are_where_each_cli_looks_for_them() {
        let home = |runtime: &str, server: Value| {
            environment(json!({"runtime": runtime, "server": server})).skills_home
        };
        let usual = json!({"HOME": "/h"});
        assert_eq!(
            home("claude-code", usual.clone()),
            None,
            "named by its command line"
        );
        assert_eq!(home("cursor", usual.clone()).unwrap(), "/h/.cursor/skills");
        assert_eq!(home("gemini", usual.clone()).unwrap(), "/h/.gemini/skills");
        assert_eq!(home("hermes", usual.clone()).unwrap(), "/h/.hermes/skills");
        assert_eq!(home("codex", usual.clone()).unwrap(), "/h/.codex/skills");
        let moved = json!({"HOME": "/h", "CODEX_HOME": "/c"});
        assert_eq!(home("codex", moved).unwrap(), "/c/skills");
        assert_eq!(home("opencode", usual).unwrap(), "/h/.claude/skills");
        assert_eq!(home("opencode", json!({})), None);
    }

    #[test]
    fn layers_come_in_order_and_the_token_is_the_hosts() {
        let found = environment(json!({
            "runtime": "claude-code", "runId": "run-1", "authToken": "jwt",
            "agent": {"id": "agent-1", "companyId": "company-1"},
            "server": {"PATH": "/bin", "PAPERCLIP_LISTEN_HOST": "::1", "FOO": "server"},
            "config": {"env": {
                "FOO": "agent", "PAPERCLIP_API_KEY": "mine", "PAPERCLIP_RUN_ID": "mine",
                "PAPERCLIP_SCRATCH_DIR": "/s", "TMPDIR": "/s/tmp", "NUMBER": 5, "A=B": "x",
            }},
            "context": {
                "issueId": "issue-1", "wakeReason": " issue_assigned ", "commentId": "c-1",
                "issueIds": ["issue-1", " ", 5, "issue-2"], "approvalId": "  ",
                "paperclipIssue": {"workMode": "standard"},
                "paperclipWake": {"reason": "x", "connectorSkillInstructions": "long"},
                "paperclipWorkspace": {"cwd": "/w", "source": "project", "agentHome": "/h", "repoRef": null},
                "paperclipWorkspaces": [{"cwd": "/w"}], "paperclipRuntimeServices": [],
            },
            "runtimeTools": {
                "mcpEndpoint": "http://h/mcp", "bearerToken": "tools", "expiresAt": "soon", "guidance": "g",
                "rest": {"connectionsSearch": "s", "connectionRequest": "r"}, "tools": ["a", "b"],
            },
        }));
        let expected = [
            ("FOO", "agent"),
            ("PATH", "/bin"),
            ("TMPDIR", "/s/tmp"),
            ("AGENT_HOME", "/h"),
            ("PAPERCLIP_AGENT_ID", "agent-1"),
            ("PAPERCLIP_API_KEY", "jwt"),
            ("PAPERCLIP_API_URL", "http://[::1]:3100"),
            ("PAPERCLIP_COMPANY_ID", "company-1"),
            ("PAPERCLIP_ISSUE_WORK_MODE", "standard"),
            ("PAPERCLIP_LINKED_ISSUE_IDS", "issue-1,issue-2"),
            ("PAPERCLIP_LISTEN_HOST", "::1"),
            ("PAPERCLIP_RUN_ID", "run-1"),
            ("PAPERCLIP_RUNTIME_TOOLS_AVAILABLE", "a,b"),
            ("PAPERCLIP_RUNTIME_TOOLS_CONNECTIONS_SEARCH_URL", "s"),
            ("PAPERCLIP_RUNTIME_TOOLS_CONNECTION_REQUEST_URL", "r"),
            ("PAPERCLIP_RUNTIME_TOOLS_EXPIRES_AT", "soon"),
            ("PAPERCLIP_RUNTIME_TOOLS_GUIDANCE", "g"),
            ("PAPERCLIP_RUNTIME_TOOLS_MCP_URL", "http://h/mcp"),
            ("PAPERCLIP_RUNTIME_TOOLS_TOKEN", "tools"),
            ("PAPERCLIP_SCRATCH_DIR", "/s"),
            ("PAPERCLIP_TASK_ID", "issue-1"),
            ("PAPERCLIP_WAKE_COMMENT_ID", "c-1"),
            ("PAPERCLIP_WAKE_PAYLOAD_JSON", r#"{"reason":"x"}"#),
            ("PAPERCLIP_WAKE_REASON", "issue_assigned"),
            ("PAPERCLIP_WORKSPACES_JSON", r#"[{"cwd":"/w"}]"#),
            ("PAPERCLIP_WORKSPACE_CWD", "/w"),
            ("PAPERCLIP_WORKSPACE_SOURCE", "project"),
        ];
        let expected: Variables = expected
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(found.variables, expected);
        assert_eq!(found.logged["PAPERCLIP_API_KEY"], REDACTED);
        assert_eq!(found.logged["PAPERCLIP_RUNTIME_TOOLS_TOKEN"], REDACTED);
        assert_eq!(found.logged["FOO"], "agent");
    }
}
