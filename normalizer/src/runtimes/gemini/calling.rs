//! How an adapter calls `gemini`, as Paperclip's own adapter does.

use runtape_core::report::{CheckLevel, DoctorCheck, PromptPlace};

use crate::paperclip::calling::{
    CallRequest, Calling, CredentialPlaces, SkillsPlace, Variables, Words, check,
};
use crate::paperclip::{AgentConfig, Billing};

const KEYS: [&str; 2] = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];

pub(super) const CALLING: Calling = Calling {
    program: "gemini",
    prompt: PromptPlace::Argument,
    fault: |_| None,
    arguments,
    prepare,
    credentials: &["GEMINI_", "GOOGLE_"],
    nesting: &[],
    skills: SkillsPlace::Home(".gemini/skills"),
    check: credentials,
    billing: |variables, _| Billing::by_key("google", variables, &KEYS),
};

fn arguments(call: &CallRequest<'_>) -> Vec<String> {
    let config = call.config;
    let mut words = Words::new(&["--output-format", "stream-json"]);
    words.option("--resume", call.resume);
    words.option("--model", config.model().filter(|model| *model != "auto"));
    if config.skips_permissions() {
        words.add(&["--approval-mode", "yolo"]);
    }
    let is_boxed = config.flag(&["sandbox"], false);
    words.add(&[if is_boxed {
        "--sandbox"
    } else {
        "--sandbox=none"
    }]);
    words.extra(config);
    // Last, since nothing but the prompt may follow it.
    words.add(&["--prompt", call.prompt]);
    words.into_words()
}

/// Without a terminal the CLI still looks for one, and opens a browser to log in.
fn prepare(variables: &mut Variables, _: AgentConfig<'_>) {
    let terminal = variables.get("TERM").map(String::as_str);
    if matches!(terminal, None | Some("" | "dumb")) {
        variables.insert("TERM".to_owned(), "xterm-256color".to_owned());
    }
    variables.insert("COLORTERM".to_owned(), "truecolor".to_owned());
    variables.insert("NO_BROWSER".to_owned(), "1".to_owned());
    variables.remove("NO_COLOR");
}

fn credentials(places: &CredentialPlaces<'_>) -> Vec<DoctorCheck> {
    let found = if let Some(name) = places.any(&KEYS) {
        check(
            "gemini_api_key_present",
            CheckLevel::Info,
            format!("{name} is set"),
        )
    } else {
        let message = "no key is set; its CLI may be logged in";
        let mut found = check("gemini_api_key_missing", CheckLevel::Info, message);
        let file = places.file(&[".gemini/oauth_creds.json"]);
        found.detail = file.map(|file| format!("found ~/{file}"));
        found
    };
    vec![found]
}
