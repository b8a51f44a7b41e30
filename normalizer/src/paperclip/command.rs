//! The command line of an agent CLI.

use runtape_core::Runtime;
use runtape_core::report::{AdapterCommand, AdapterFault, PromptPlace};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::agent_config::AgentConfig;
use super::calling::{CallRequest, Calling, Variables};
use super::redact::redact_arguments;
use crate::runtimes;

/// The longest argument that Linux hands to a program, in bytes, with its end.
const LONGEST_ARGUMENT: usize = 128 * 1024;

/// What the command line is made from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandRequest {
    /// The runtime.
    pub runtime: Runtime,
    /// The agent's configuration.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// The directory to work in.
    #[serde(default)]
    pub cwd: String,
    /// What the agent is told.
    #[serde(default)]
    pub prompt: String,
    /// The session to go on with.
    pub resume: Option<String>,
    /// A file with instructions for the system prompt.
    pub instructions_file: Option<String>,
    /// A directory with skills.
    pub skills_directory: Option<String>,
    /// A file that names tool servers.
    pub tool_servers_file: Option<String>,
    /// Whether the CLI runs as root.
    #[serde(default)]
    pub is_superuser: bool,
    /// Its environment.
    #[serde(default)]
    pub variables: Variables,
}

impl CommandRequest {
    /// Makes the command line.
    #[must_use]
    pub fn command(&self) -> AdapterCommand {
        let calling = runtimes::entry_for(&self.runtime).and_then(|entry| entry.paperclip.calling);
        let config = AgentConfig(&self.config);
        let program = config.text(&["command"]);
        let program = program.or(calling.map(|calling| calling.program));
        let made = self.words(calling, config);
        let (arguments, fault) = match made {
            Ok(arguments) => (arguments, None),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        AdapterCommand {
            program: program.unwrap_or_default().to_owned(),
            logged_arguments: redact_arguments(&arguments, &self.prompt),
            arguments,
            prompt: calling.map_or(PromptPlace::Stdin, |calling| calling.prompt),
            fault,
        }
    }

    fn words(
        &self,
        calling: Option<&Calling>,
        config: AgentConfig<'_>,
    ) -> Result<Vec<String>, AdapterFault> {
        let Some(calling) = calling else {
            let message = format!(
                "runtime {:?} is none of: {}",
                self.runtime.as_str(),
                called().join(", ")
            );
            return Err(fault("runtape_config_invalid", message));
        };
        if self
            .config
            .get("command")
            .is_some_and(|command| !command.is_string())
        {
            let message = "command must be a text: the CLI to start; its arguments go to extraArgs";
            return Err(fault("runtape_config_invalid", message));
        }
        let resume = self.resume.as_deref();
        if let Some(id) = resume.filter(|id| !runtimes::is_session_id(&self.runtime, id)) {
            let message = format!("{id:?} is no session of {}", self.runtime);
            return Err(fault("runtape_session_invalid", message));
        }
        let request = CallRequest {
            config,
            cwd: &self.cwd,
            resume,
            prompt: &self.prompt,
            instructions_file: self.instructions_file.as_deref(),
            skills_directory: self.skills_directory.as_deref(),
            tool_servers_file: self.tool_servers_file.as_deref(),
            is_superuser: self.is_superuser,
            variables: &self.variables,
        };
        if let Some(fault) = (calling.fault)(config) {
            return Err(fault);
        }
        let words = (calling.arguments)(&request);
        if words.iter().any(|word| word.contains('\0')) {
            let message = "an argument has a character (NUL) that no program can be given";
            return Err(fault("runtape_config_invalid", message));
        }
        if words.iter().any(|word| word.len() >= LONGEST_ARGUMENT) {
            let message = format!(
                "the prompt takes {} bytes, and {} takes it as an argument, which ends at {LONGEST_ARGUMENT}: \
                 shorten the instructions or the task, or use a runtime that reads its standard input",
                self.prompt.len(),
                self.runtime,
            );
            return Err(fault("runtape_prompt_too_long", message));
        }
        Ok(words)
    }
}

/// Returns the names of the runtimes that an adapter can start.
#[must_use]
pub fn called() -> Vec<&'static str> {
    let entries = runtimes::RUNTIMES.iter();
    entries
        .filter(|entry| entry.paperclip.calling.is_some())
        .map(|entry| entry.runtime.as_str())
        .collect()
}

/// Makes a fault.
pub(crate) fn fault(code: &str, message: impl Into<String>) -> AdapterFault {
    AdapterFault {
        code: code.to_owned(),
        message: message.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const UUID: &str = "6baba7bc-061b-4fc8-9fe0-a222e7fee90d";

    fn command(request: Value) -> AdapterCommand {
        serde_json::from_value::<CommandRequest>(request)
            .unwrap()
            .command()
    }

    /// Fresh and resumed, as little and as much as can be configured.
    #[test]
    fn every_cli_is_called_as_it_wants_to_be() {
        let hermes = "20260612_143022_a3b8f4";
        let opencode = "ses_5eb98f6cfffeAbCdEfGhIjKlMn";
        let table = [
            (
                json!({"runtime": "claude-code", "prompt": "P", "skillsDirectory": "/s", "instructionsFile": "/i"}),
                "claude --print --output-format stream-json --verbose --dangerously-skip-permissions \
                 --append-system-prompt-file /i --add-dir /s",
            ),
            (
                json!({"runtime": "claude-code", "resume": UUID, "instructionsFile": "/i", "toolServersFile": "/m",
                       "config": {"model": "opus", "thinkingEffort": "high", "maxTurnsPerRun": 5, "chrome": true,
                                  "extraArgs": ["--x"], "command": "/opt/claude"}}),
                "/opt/claude --print --output-format stream-json --verbose --resume {UUID} \
                 --dangerously-skip-permissions --chrome --model opus --effort high --max-turns 5 \
                 --mcp-config /m --strict-mcp-config --x",
            ),
            (
                json!({"runtime": "claude-code", "config": {"dangerouslySkipPermissions": false}}),
                "claude --print --output-format stream-json --verbose",
            ),
            (
                json!({"runtime": "cursor", "cwd": "/w", "prompt": "P"}),
                "agent -p --output-format stream-json --workspace /w --yolo",
            ),
            (
                json!({"runtime": "cursor", "cwd": "/w", "resume": UUID,
                       "config": {"model": "auto", "mode": "plan", "extraArgs": ["--trust"]}}),
                "agent -p --output-format stream-json --workspace /w --resume {UUID} --model auto --mode plan --trust",
            ),
            (
                json!({"runtime": "gemini", "prompt": "P"}),
                "gemini --output-format stream-json --approval-mode yolo --sandbox=none --prompt P",
            ),
            (
                json!({"runtime": "gemini", "prompt": "P", "resume": UUID,
                       "config": {"model": "gemini-2.5-pro", "sandbox": true, "dangerouslySkipPermissions": false}}),
                "gemini --output-format stream-json --resume {UUID} --model gemini-2.5-pro --sandbox --prompt P",
            ),
            (
                json!({"runtime": "hermes", "prompt": "P", "config": {"model": "auto"}}),
                "hermes chat -q P --source tool --yolo",
            ),
            (
                json!({"runtime": "hermes", "prompt": "P", "resume": hermes,
                       "config": {"model": "m", "provider": "nous", "toolsets": "a,b", "maxTurnsPerRun": 9,
                                  "quiet": true, "worktreeMode": true, "checkpoints": true, "verbose": true}}),
                "hermes chat -q P -Q -m m --provider nous -t a,b --max-turns 9 -w --checkpoints -v --source tool \
                 --yolo --resume {hermes}",
            ),
            (
                json!({"runtime": "codex", "prompt": "P"}),
                "codex exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -",
            ),
            (
                json!({"runtime": "codex", "resume": UUID, "config": {"model": "gpt-5.5", "effort": "high", "search": true,
                       "dangerouslySkipPermissions": false, "extraArgs": ["--skip-git-repo-check"]}}),
                "codex --search exec --json -c sandbox_mode=\"workspace-write\" \
                 -c sandbox_workspace_write.network_access=true --model gpt-5.5 -c model_reasoning_effort=\"high\" \
                 --skip-git-repo-check resume {UUID} -",
            ),
            (
                json!({"runtime": "opencode", "prompt": "P"}),
                "opencode run --format json --thinking",
            ),
            (
                json!({"runtime": "opencode", "resume": opencode,
                       "config": {"model": "openai/gpt-5.5", "variant": "high", "printLogs": true, "args": ["--x"]}}),
                "opencode run --format json --thinking --print-logs --session {opencode} --model openai/gpt-5.5 \
                 --variant high --x",
            ),
        ];
        for (request, expected) in table {
            let found = command(request.clone());
            assert_eq!(found.fault, None, "{request}");
            let line = format!("{} {}", found.program, found.arguments.join(" "));
            let expected = expected
                .replace("{UUID}", UUID)
                .replace("{hermes}", hermes)
                .replace("{opencode}", opencode);
            assert_eq!(line, expected, "{request}");
            // A prompt that is no argument is told on standard input.
            let is_argument = found.arguments.iter().any(|word| word == "P");
            assert_eq!(
                is_argument,
                found.prompt == PromptPlace::Argument,
                "{request}"
            );
            assert!(
                !found.logged_arguments.iter().any(|word| word == "P"),
                "{request}"
            );
        }
    }

    #[test]
    fn what_cannot_be_started_is_a_fault_and_nothing_is_guessed() {
        let long = "x".repeat(LONGEST_ARGUMENT);
        let table = [
            (json!({"runtime": "openclaw"}), "runtape_config_invalid"),
            (json!({"runtime": "nosuch"}), "runtape_config_invalid"),
            (
                json!({"runtime": "claude-code", "config": {"command": ["claude"]}}),
                "runtape_config_invalid",
            ),
            (
                json!({"runtime": "claude-code", "resume": "--dangerous"}),
                "runtape_session_invalid",
            ),
            (
                json!({"runtime": "opencode", "config": {"model": "gpt-5.5"}}),
                "opencode_model_invalid",
            ),
            (
                json!({"runtime": "gemini", "prompt": long}),
                "runtape_prompt_too_long",
            ),
            (
                json!({"runtime": "hermes", "prompt": "a\0b"}),
                "runtape_config_invalid",
            ),
        ];
        for (request, code) in table {
            let found = command(request.clone());
            let fault = found.fault.expect(code);
            assert_eq!(fault.code, code, "{request}");
            assert!(found.arguments.is_empty(), "{request}");
        }
    }

    #[test]
    fn root_gets_a_list_of_tools_since_claude_refuses_to_skip_permissions() {
        let found = command(json!({"runtime": "claude-code", "isSuperuser": true}));
        assert!(found.arguments.contains(&"--allowedTools".to_owned()));
        assert!(
            !found
                .arguments
                .contains(&"--dangerously-skip-permissions".to_owned())
        );
    }

    #[test]
    fn claude_on_bedrock_is_given_only_models_that_bedrock_has() {
        let request = |model: &str| {
            let found = command(json!({
                "runtime": "claude-code", "config": {"model": model}, "variables": {"CLAUDE_CODE_USE_BEDROCK": "1"},
            }));
            found.arguments.contains(&"--model".to_owned())
        };
        assert!(request("us.anthropic.claude-opus-5-v1:0"));
        assert!(!request("claude-opus-5"));
    }
}
