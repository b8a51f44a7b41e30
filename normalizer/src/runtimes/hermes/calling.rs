//! How an adapter calls `hermes`, as Paperclip's own adapter does, but for the environment: that one
//! hands on all of the server's.

use runtape_core::report::{CheckLevel, DoctorCheck, PromptPlace};

use crate::paperclip::calling::{
    CallRequest, Calling, CredentialPlaces, SkillsPlace, Variables, Words, check,
};
use crate::paperclip::{Billing, maker};

/// Keys to the services that hermes talks to.
const KEYS: [&str; 14] = [
    "OPENROUTER_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_TOKEN",
    "NOUS_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "DEEPSEEK_API_KEY",
    "GLM_API_KEY",
    "ZAI_API_KEY",
    "KIMI_API_KEY",
    "MINIMAX_API_KEY",
    "XAI_API_KEY",
    "HF_TOKEN",
];

pub(super) const CALLING: Calling = Calling {
    program: "hermes",
    prompt: PromptPlace::Argument,
    fault: |_| None,
    arguments,
    prepare: |_, _| {},
    credentials: &[
        "HERMES_",
        "OPENROUTER_",
        "OPENAI_",
        "ANTHROPIC_",
        "NOUS_",
        "GOOGLE_",
        "GEMINI_",
        "DEEPSEEK_",
        "GLM_",
        "ZAI_",
        "KIMI_",
        "MINIMAX_",
        "XAI_",
        "HF_",
    ],
    nesting: &[],
    skills: SkillsPlace::Variable("HERMES_HOME", ".hermes/skills"),
    check: credentials,
    billing,
};

fn arguments(call: &CallRequest<'_>) -> Vec<String> {
    let config = call.config;
    let mut words = Words::new(&["chat", "-q", call.prompt]);
    words.flag("-Q", config.flag(&["quiet"], false));
    words.option("-m", config.model().filter(|model| *model != "auto"));
    let provider = config.text(&["provider"]);
    words.option("--provider", provider.filter(|name| *name != "auto"));
    words.option("-t", config.text(&["toolsets"]));
    let turns = config
        .count("maxTurnsPerRun")
        .map(|turns| turns.to_string());
    words.option("--max-turns", turns.as_deref());
    words.flag("-w", config.flag(&["worktreeMode"], false));
    words.flag("--checkpoints", config.flag(&["checkpoints"], false));
    words.flag("-v", config.flag(&["verbose"], false));
    words.add(&["--source", "tool"]);
    words.flag("--yolo", config.skips_permissions());
    words.option("--resume", call.resume);
    words.extra(config);
    words.into_words()
}

fn credentials(places: &CredentialPlaces<'_>) -> Vec<DoctorCheck> {
    let found = if let Some(name) = places.any(&KEYS) {
        check(
            "hermes_api_keys_present",
            CheckLevel::Info,
            format!("{name} is set"),
        )
    } else if let Some(file) = places.file(&[".hermes/.env", ".hermes/auth.json"]) {
        let message = format!("no key is set; hermes has its own: found ~/{file}");
        check("hermes_config_present", CheckLevel::Info, message)
    } else {
        let message = "no key was found, neither in the environment nor in ~/.hermes";
        let mut found = check("hermes_no_api_keys", CheckLevel::Warn, message);
        found.hint =
            Some("run `hermes setup` as the server's user, or set a key for the agent".to_owned());
        found
    };
    vec![found]
}

/// Whose key hermes uses is written in its own configuration: only the model's maker can be told.
fn billing(_: &Variables, model: Option<&str>) -> Billing {
    let provider = model.and_then(maker).map(str::to_owned);
    Billing {
        provider,
        biller: None,
        billing_type: None,
    }
}
