//! gemini's histories.

use runtape_core::{Runtime, TokenCounts};
use serde_json::{Map, Value};

use crate::home::{Home, histories};
use crate::truth::{self, Rules, list};

/// A message's text is kept in one piece, without white space around it. 0.61.0 also leaves out what
/// joins characters or turns their direction.
fn texts(response: &Value) -> Vec<Value> {
    let texts = list(&response["texts"]).iter().filter_map(Value::as_str);
    let whole: String = texts
        .flat_map(str::chars)
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}'))
        .collect();
    match whole.trim() {
        "" => Vec::new(),
        text => vec![text.into()],
    }
}

/// A thought is kept as its heading and the rest, whatever was between them.
fn thinking(response: &Value) -> Vec<Value> {
    let thoughts = list(&response["thinking"]).iter().filter_map(Value::as_str);
    let whole = |thought: &str| {
        let parts = thought
            .strip_prefix("**")
            .and_then(|it| it.split_once("**"));
        match parts {
            Some((subject, rest)) => format!("**{subject}**\n\n{}", rest.trim()),
            None => thought.to_owned(),
        }
    };
    thoughts.map(|thought| whole(thought).into()).collect()
}

fn usage(response: &Value) -> TokenCounts {
    let number = |key: &str| response["usage"][key].as_i64().unwrap_or(0);
    let cached = number("cachedContentTokenCount");
    TokenCounts {
        input_tokens: Some(number("promptTokenCount") - cached),
        cached_input_tokens: Some(cached),
        output_tokens: Some(number("candidatesTokenCount") + number("thoughtsTokenCount")),
        reasoning_tokens: None,
    }
}

/// What a tool gave back is said to the model as an output or as an error.
fn result(result: &Value) -> (Option<bool>, String) {
    let response = &result["response"];
    if let Some(error) = response["error"].as_str() {
        return (Some(true), error.to_owned());
    }
    let text = response["output"].as_str().unwrap_or_default();
    let has_failed = result["name"] == "run_shell_command" && text.contains("\nExit Code: ");
    (Some(has_failed), text.to_owned())
}

const RULES: Rules = Rules {
    texts,
    thinking,
    usage,
    result,
};

/// Names calls and their results as the CLI does since 0.37: by the tool, too.
fn name_calls(truth: &mut Value) {
    for run in truth["runs"].as_array_mut().unwrap() {
        for response in run["responses"].as_array_mut().unwrap() {
            let calls = response.get_mut("tool_calls").and_then(Value::as_array_mut);
            for call in calls.into_iter().flatten() {
                if let (Some(name), Some(id)) = (call["name"].as_str(), call["id"].as_str()) {
                    call["id"] = format!("{name}__{id}").into();
                }
            }
        }
        let Some(results) = run["tool_results"].as_object_mut() else {
            continue;
        };
        let named: Map<String, Value> = results
            .iter()
            .map(|(id, result)| {
                let name = result["name"].as_str().unwrap();
                (format!("{name}__{id}"), result.clone())
            })
            .collect();
        results.extend(named);
    }
}

/// Compares all histories below the home, whose files may be changed before they are read.
fn compare(change: fn(&mut Home)) -> Vec<(String, Vec<String>)> {
    let mut compared = Vec::new();
    for path in histories("gemini") {
        let Some(mut truth) = truth::beside(&path) else {
            continue;
        };
        name_calls(&mut truth);
        let mut home = Home::read(Runtime::Gemini, &path);
        change(&mut home);
        let mut faults = truth::compare(&RULES, &truth, &home, &home.runs());
        // Documents do not say where the CLI worked.
        let is_old = truth["runs"]
            .as_array()
            .is_some_and(|runs| runs.iter().any(|run| run["cli_version"] == "0.27.0"));
        faults.retain(|fault| !(is_old && fault.contains("cwd: ") && fault.ends_with("got None")));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        compared.push((name, faults));
    }
    compared
}

#[test]
fn every_history_has_what_really_happened() {
    truth::report("gemini", &compare(|_| {}));
}
