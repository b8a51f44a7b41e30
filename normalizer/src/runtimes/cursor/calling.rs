//! How an adapter calls Cursor's agent, as Paperclip's own adapter does.

use runtape_core::report::{CheckLevel, DoctorCheck, PromptPlace};

use crate::paperclip::calling::{
    CallRequest, Calling, CredentialPlaces, SkillsPlace, Variables, Words, check, first_set,
};
use crate::paperclip::{Billing, maker};

const KEYS: [&str; 2] = ["CURSOR_API_KEY", "OPENAI_API_KEY"];

pub(super) const CALLING: Calling = Calling {
    program: "agent",
    prompt: PromptPlace::Stdin,
    fault: |_| None,
    arguments,
    prepare: |_, _| {},
    credentials: &["CURSOR_", "OPENAI_API_KEY"],
    nesting: &[],
    skills: SkillsPlace::Home(".cursor/skills"),
    check: credentials,
    billing,
};

fn arguments(call: &CallRequest<'_>) -> Vec<String> {
    let config = call.config;
    let mut words = Words::new(&[
        "-p",
        "--output-format",
        "stream-json",
        "--workspace",
        call.cwd,
    ]);
    words.option("--resume", call.resume);
    words.option("--model", config.model());
    // The other modes are the CLI's usual one.
    let mode = config.text(&["mode"]);
    words.option("--mode", mode.filter(|mode| ["plan", "ask"].contains(mode)));
    let trusts = |word: &String| ["--trust", "--yolo", "-f", "--force"].contains(&word.as_str());
    let is_told = config.extra_arguments().iter().any(trusts);
    words.flag("--yolo", config.skips_permissions() && !is_told);
    words.extra(config);
    words.into_words()
}

fn credentials(places: &CredentialPlaces<'_>) -> Vec<DoctorCheck> {
    let found = if let Some(name) = places.any(&["CURSOR_API_KEY"]) {
        check(
            "cursor_api_key_present",
            CheckLevel::Info,
            format!("{name} is set"),
        )
    } else if let Some(file) = places.file(&[
        ".config/cursor/auth.json",
        ".cursor/cli-config.json",
        ".cursor/auth.json",
    ]) {
        let message = format!("no key is set; its CLI may be logged in: found ~/{file}");
        check("cursor_native_auth_present", CheckLevel::Info, message)
    } else {
        let message = "neither CURSOR_API_KEY nor a login was found";
        let mut found = check("cursor_api_key_missing", CheckLevel::Warn, message);
        found.hint = Some(
            "set CURSOR_API_KEY for the agent, or run `agent login` as the server's user"
                .to_owned(),
        );
        found
    };
    vec![found]
}

fn billing(variables: &Variables, model: Option<&str>) -> Billing {
    let provider = model.and_then(maker).unwrap_or("cursor");
    let key = first_set(variables, &KEYS);
    let biller = if key == Some("OPENAI_API_KEY") {
        "openai"
    } else {
        "cursor"
    };
    Billing {
        provider: Some(provider.to_owned()),
        biller: Some(biller.to_owned()),
        billing_type: Some(if key.is_some() { "api" } else { "subscription" }),
    }
}
