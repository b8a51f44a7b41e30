//! How an adapter calls `codex exec`, as Paperclip's own adapter does.

use runtape_core::report::{CheckLevel, DoctorCheck, PromptPlace};

use crate::paperclip::Billing;
use crate::paperclip::calling::{
    CallRequest, Calling, CredentialPlaces, SkillsPlace, Variables, Words, check, first_set,
};

const KEYS: [&str; 2] = ["OPENAI_API_KEY", "CODEX_API_KEY"];
/// Given twice, codex refuses it.
const NO_GIT: &str = "--skip-git-repo-check";

pub(super) const CALLING: Calling = Calling {
    program: "codex",
    prompt: PromptPlace::Stdin,
    fault: |_| None,
    arguments,
    prepare: |_, _| {},
    credentials: &["OPENAI_", "CODEX_"],
    nesting: &[],
    skills: SkillsPlace::Variable("CODEX_HOME", ".codex/skills"),
    check: credentials,
    billing,
};

fn arguments(call: &CallRequest<'_>) -> Vec<String> {
    let config = call.config;
    let extra = config.extra_arguments();
    let mut words = Words::default();
    words.flag("--search", config.flag(&["search"], false));
    words.add(&["exec", "--json"]);
    // An agent's own directory is no repository.
    words.flag(NO_GIT, !extra.iter().any(|word| word == NO_GIT));
    if config.skips_permissions() {
        words.add(&["--dangerously-bypass-approvals-and-sandbox"]);
    } else if !extra.iter().any(|word| names_sandbox(word)) {
        // What `codex exec` does unasked is to read only, and no work is done so.
        words.add(&["-c", "sandbox_mode=\"workspace-write\""]);
        words.add(&["-c", "sandbox_workspace_write.network_access=true"]);
    }
    words.option("--model", config.model());
    if let Some(effort) = config.effort(&["modelReasoningEffort", "reasoningEffort"]) {
        let quoted = serde_json::Value::from(effort);
        words.add(&["-c", &format!("model_reasoning_effort={quoted}")]);
    }
    words.extra(config);
    if let Some(thread) = call.resume {
        words.add(&["resume", thread]);
    }
    // The prompt comes on standard input.
    words.add(&["-"]);
    words.into_words()
}

/// Tells whether an argument says by itself what codex may do.
fn names_sandbox(word: &str) -> bool {
    [
        "--sandbox",
        "-s",
        "--profile",
        "-p",
        "--full-auto",
        "--yolo",
    ]
    .iter()
    .any(|flag| word == *flag || word.starts_with(&format!("{flag}=")))
        || word.starts_with("sandbox_mode")
        || word.starts_with("profile=")
}

fn credentials(places: &CredentialPlaces<'_>) -> Vec<DoctorCheck> {
    let found = if let Some(name) = places.any(&KEYS) {
        check(
            "codex_openai_api_key_present",
            CheckLevel::Info,
            format!("{name} is set"),
        )
    } else if let Some(file) = places.file(&[".codex/auth.json"]) {
        let message = format!("codex is logged in: found ~/{file}");
        check("codex_native_auth_present", CheckLevel::Info, message)
    } else {
        let message = "neither OPENAI_API_KEY nor a login was found";
        let mut found = check("codex_openai_api_key_missing", CheckLevel::Warn, message);
        found.hint = Some(
            "set OPENAI_API_KEY for the agent, or run `codex login` as the server's user"
                .to_owned(),
        );
        found
    };
    vec![found]
}

fn billing(variables: &Variables, _: Option<&str>) -> Billing {
    let mut billing = Billing::by_key("openai", variables, &KEYS);
    if first_set(variables, &KEYS).is_none() {
        billing.biller = Some("chatgpt".to_owned());
    }
    billing
}
