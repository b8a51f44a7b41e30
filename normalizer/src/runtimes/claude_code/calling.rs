//! How an adapter calls `claude`, as Paperclip's own adapter does.

use runtape_core::report::{CheckLevel, DoctorCheck, PromptPlace};

use crate::paperclip::Billing;
use crate::paperclip::calling::{
    CallRequest, Calling, CredentialPlaces, SkillsPlace, Variables, Words, check, first_set, is_set,
};

/// What Claude Code may use as root, where it refuses to skip its permissions: all tools of its own.
const ALLOWED_TOOLS: &str = "Task AskUserQuestion Bash CronCreate CronDelete CronList Edit EnterPlanMode \
    EnterWorktree ExitPlanMode ExitWorktree Glob Grep Monitor NotebookEdit PushNotification Read RemoteTrigger \
    ScheduleWakeup Skill TaskOutput TaskStop TodoWrite ToolSearch WebFetch WebSearch Write";

const BEDROCK: [&str; 2] = ["CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL"];

pub(super) const CALLING: Calling = Calling {
    program: "claude",
    prompt: PromptPlace::Stdin,
    fault: |_| None,
    arguments,
    prepare: |_, _| {},
    credentials: &["ANTHROPIC_", "CLAUDE_CODE_", "AWS_", "GOOGLE_", "CLOUD_ML_"],
    nesting: &[
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION",
        "CLAUDE_CODE_PARENT_SESSION",
    ],
    skills: SkillsPlace::Argument,
    check: credentials,
    billing,
};

fn arguments(call: &CallRequest<'_>) -> Vec<String> {
    let config = call.config;
    let mut words = Words::new(&["--print", "--output-format", "stream-json", "--verbose"]);
    words.option("--resume", call.resume);
    if config.skips_permissions() {
        if call.is_superuser {
            words.add(&["--allowedTools", ALLOWED_TOOLS]);
        } else {
            words.add(&["--dangerously-skip-permissions"]);
        }
    }
    words.flag("--chrome", config.flag(&["chrome"], false));
    let model = config.model();
    let is_on_bedrock = first_set(call.variables, &BEDROCK).is_some();
    words.option(
        "--model",
        model.filter(|model| !is_on_bedrock || is_of_bedrock(model)),
    );
    words.option("--effort", config.effort(&[]));
    let turns = config
        .count("maxTurnsPerRun")
        .map(|turns| turns.to_string());
    words.option("--max-turns", turns.as_deref());
    // A resumed session has its instructions already.
    let instructions = call.instructions_file.filter(|_| call.resume.is_none());
    words.option("--append-system-prompt-file", instructions);
    if let Some(file) = call.tool_servers_file {
        words.add(&["--mcp-config", file, "--strict-mcp-config"]);
    }
    words.option("--add-dir", call.skills_directory);
    words.extra(config);
    words.into_words()
}

/// Tells whether a model's name is one that Amazon's service knows.
fn is_of_bedrock(model: &str) -> bool {
    model.starts_with("arn:") || model.contains("anthropic.")
}

fn credentials(places: &CredentialPlaces<'_>) -> Vec<DoctorCheck> {
    let key = ["ANTHROPIC_API_KEY"];
    let mut found = if let Some(name) = places.any(&BEDROCK) {
        let message = format!("{name} is set: Claude uses Amazon Bedrock");
        check("claude_bedrock_auth", CheckLevel::Info, message)
    } else if places.configured(&key).is_some() {
        let message = "ANTHROPIC_API_KEY is set for this agent: runs are billed by use";
        let code = "claude_anthropic_api_key_overrides_subscription";
        check(code, CheckLevel::Info, message)
    } else if places.inherited(&key).is_some() {
        let message = "the agent inherits ANTHROPIC_API_KEY from the server, and uses it instead of a subscription";
        let code = "claude_anthropic_api_key_overrides_subscription";
        let mut found = check(code, CheckLevel::Warn, message);
        found.hint = Some(
            "unset it where the server is started to use a subscription; set it in the agent's environment to mean it"
                .to_owned(),
        );
        found
    } else if let Some(name) = places.any(&["CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"]) {
        let message = format!("{name} is set: no stored login is needed");
        check("claude_oauth_token_configured", CheckLevel::Info, message)
    } else {
        let message = "no key is set: Claude uses the subscription that its CLI is logged in with";
        check(
            "claude_subscription_mode_possible",
            CheckLevel::Info,
            message,
        )
    };
    let file = places.file(&[".claude/.credentials.json", ".claude.json"]);
    if let Some(file) = file.filter(|_| found.code == "claude_subscription_mode_possible") {
        found.detail = Some(format!("found ~/{file}"));
    }
    vec![found]
}

fn billing(variables: &Variables, _: Option<&str>) -> Billing {
    if first_set(variables, &BEDROCK).is_some() {
        return Billing {
            provider: Some("anthropic".to_owned()),
            biller: Some("aws_bedrock".to_owned()),
            billing_type: Some("metered_api"),
        };
    }
    let mut billing = Billing::by_key("anthropic", variables, &["ANTHROPIC_API_KEY"]);
    if is_set(variables, "CLAUDE_CODE_USE_VERTEX") {
        billing.biller = Some("google".to_owned());
        billing.billing_type = Some("metered_api");
    }
    billing
}
