//! How an adapter calls `opencode run`. Paperclip's own adapter writes a copy of the user's
//! configuration; here the one rule that is needed goes through the environment, which the CLI reads
//! last.

use runtape_core::report::{CheckLevel, DoctorCheck, PromptPlace};

use crate::paperclip::calling::{
    CallRequest, Calling, CredentialPlaces, SkillsPlace, Variables, Words, check,
};
use crate::paperclip::{AgentConfig, Billing, fault};

/// Opencode's own inline configuration.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";
/// Otherwise opencode asks, and there is nobody to answer.
const RULES: &str = r#"{"permission":{"external_directory":"allow"}}"#;

pub(super) const CALLING: Calling = Calling {
    program: "opencode",
    prompt: PromptPlace::Stdin,
    fault: |config| {
        let model = config.model().filter(|model| !is_model(model))?;
        let message = format!("opencode wants its model as provider/model, and {model:?} is not");
        Some(fault("opencode_model_invalid", message))
    },
    arguments,
    prepare,
    credentials: &[
        "OPENCODE_",
        "ANTHROPIC_",
        "OPENAI_",
        "OPENROUTER_",
        "GEMINI_",
        "GOOGLE_",
        "AWS_",
        "AZURE_",
        "GROQ_",
        "XAI_",
        "DEEPSEEK_",
        "MISTRAL_",
    ],
    nesting: &[],
    skills: SkillsPlace::Home(".claude/skills"),
    check: credentials,
    billing,
};

fn arguments(call: &CallRequest<'_>) -> Vec<String> {
    let config = call.config;
    let mut words = Words::new(&["run", "--format", "json", "--thinking"]);
    words.flag("--print-logs", config.flag(&["printLogs"], false));
    words.option("--session", call.resume);
    words.option("--model", config.model());
    words.option("--variant", config.effort(&["variant"]));
    words.extra(config);
    words.into_words()
}

/// Tells whether a text has the form `provider/model`.
fn is_model(text: &str) -> bool {
    let parts = text.split_once('/');
    parts.is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty())
}

fn prepare(variables: &mut Variables, config: AgentConfig<'_>) {
    // What a repository brings along must not decide what an unattended agent may do.
    let project = "OPENCODE_DISABLE_PROJECT_CONFIG";
    variables.insert(project.to_owned(), "true".to_owned());
    if config.skips_permissions() && !variables.contains_key(CONFIG) {
        variables.insert(CONFIG.to_owned(), RULES.to_owned());
    }
}

fn credentials(places: &CredentialPlaces<'_>) -> Vec<DoctorCheck> {
    let empty = places.configured.get("OPENAI_API_KEY");
    let mut found = Vec::new();
    if empty.is_some_and(|key| key.trim().is_empty()) {
        let message = "OPENAI_API_KEY is set for this agent, and empty: it hides the key that opencode would find";
        let code = "opencode_openai_api_key_empty_override";
        found.push(check(code, CheckLevel::Warn, message));
    }
    let message = match places.file(&[".local/share/opencode/auth.json"]) {
        Some(file) => format!("opencode has logins: found ~/{file}"),
        None => "no login was found; keys may be in the environment or in opencode's configuration"
            .to_owned(),
    };
    found.push(check("opencode_auth", CheckLevel::Info, message));
    found
}

fn billing(_: &Variables, model: Option<&str>) -> Billing {
    let provider = model.and_then(|model| Some(model.split_once('/')?.0.to_owned()));
    Billing {
        biller: provider.clone(),
        provider,
        billing_type: Some("unknown"),
    }
}
