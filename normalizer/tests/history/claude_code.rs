//! claude-code's histories.

use runtape_core::{Runtime, TokenCounts};
use serde_json::Value;

use crate::home::{Home, histories};
use crate::truth::{self, Rules, list};

fn usage(response: &Value) -> TokenCounts {
    let usage = &response["usage"];
    let number = |key: &str| usage[key].as_i64();
    TokenCounts {
        input_tokens: Some(
            number("input_tokens").unwrap_or(0)
                + number("cache_creation_input_tokens").unwrap_or(0),
        ),
        cached_input_tokens: Some(number("cache_read_input_tokens").unwrap_or(0)),
        output_tokens: number("output_tokens"),
        reasoning_tokens: None,
    }
}

const RULES: Rules = Rules {
    texts: |response| list(&response["texts"]).to_vec(),
    thinking: |response| list(&response["thinking"]).to_vec(),
    usage,
    result: |result| {
        let text = result["text"].as_str().unwrap_or_default();
        // What the CLI adds to a result when it sends it is no part of it.
        let text = text.split("\n<system-reminder>").next().unwrap_or_default();
        (result["is_error"].as_bool(), text.to_owned())
    },
};

#[test]
fn every_history_has_what_really_happened() {
    let mut compared = Vec::new();
    for path in histories("claude-code") {
        let Some(truth) = truth::beside(&path) else {
            continue;
        };
        let home = Home::read(Runtime::ClaudeCode, &path);
        let faults = truth::compare(&RULES, &truth, &home, &home.runs());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        compared.push((name, faults));
    }
    truth::report("claude-code", &compared);
}
