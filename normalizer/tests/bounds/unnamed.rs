//! Calls that are printed without an id.

use proptest::prelude::*;
use runtape_core::Runtime;
use runtape_core::SummaryToolCall;
use runtape_core::summarize;
use serde_json::{Value, json};

use crate::stream::{Dialect, RUNTIMES, lines};

fn calls(dialect: &Dialect, body: Vec<Value>) -> Vec<SummaryToolCall> {
    let all = [dialect.opening()].into_iter().chain(body);
    let records = dialect.normalize(&lines(all.chain([dialect.ending()])));
    summarize(&records).unwrap().tool_calls
}

/// Tells each call's command and output.
fn told(calls: &[SummaryToolCall]) -> Vec<(&str, Option<&str>)> {
    let told = calls.iter().map(|call| {
        let command = call.input.get("command").and_then(Value::as_str);
        (command.unwrap_or_default(), call.output.as_deref())
    });
    told.collect()
}

/// Prints calls without ids, all of one message.
fn print_calls(dialect: &Dialect, commands: &[String]) -> Vec<Value> {
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    match dialect.0 {
        Runtime::ClaudeCode | Runtime::Openclaw => vec![dialect.calls(&commands)],
        _ => commands
            .iter()
            .map(|command| dialect.call(None, command))
            .collect(),
    }
}

#[test]
fn two_calls_without_an_id_are_two_calls_with_a_result_each() {
    for dialect in &RUNTIMES {
        let mut body = print_calls(dialect, &["one".to_owned(), "two".to_owned()]);
        body.push(dialect.result(None, "first"));
        body.push(dialect.result(None, "second"));
        let calls = calls(dialect, body);
        let expected = [("one", Some("first")), ("two", Some("second"))];
        assert_eq!(told(&calls), expected, "{dialect:?}");
        assert_ne!(calls[0].id, calls[1].id, "{dialect:?}");
    }
}

#[test]
fn calls_with_and_without_an_id_do_not_take_each_other_s_results() {
    for dialect in &RUNTIMES {
        let mut body = vec![dialect.call(Some("c1"), "named")];
        body.extend(print_calls(dialect, &["unnamed".to_owned()]));
        body.push(dialect.result(None, "of the unnamed"));
        body.push(dialect.result(Some("c1"), "of the named"));
        let calls = calls(dialect, body);
        let expected = [
            ("named", Some("of the named")),
            ("unnamed", Some("of the unnamed")),
        ];
        assert_eq!(told(&calls), expected, "{dialect:?}");
    }
}

#[test]
fn a_call_without_an_id_that_is_streamed_is_one_call() {
    let dialect = &RUNTIMES[0];
    let event = |event: Value| json!({"type": "stream_event", "event": event});
    let block = |n: usize| json!({"type": "tool_use", "name": "Bash", "input": {"command": format!("c{n}")}});
    let mut body = vec![event(
        json!({"type": "message_start", "message": {"id": "m1", "model": "m"}}),
    )];
    for n in 0..3 {
        let start = json!({"type": "tool_use", "name": "Bash", "input": {}});
        body.push(event(
            json!({"type": "content_block_start", "index": n, "content_block": start}),
        ));
        let delta = json!({"type": "input_json_delta", "partial_json": format!("{{\"command\":\"c{n}\"}}")});
        body.push(event(
            json!({"type": "content_block_delta", "index": n, "delta": delta}),
        ));
        // The whole block comes before its end, after it, or never.
        if n == 0 {
            body.push(dialect.said("m1", &[block(n)]));
        }
        body.push(event(json!({"type": "content_block_stop", "index": n})));
        if n == 1 {
            body.push(dialect.said("m1", &[block(n)]));
        }
    }
    body.push(event(json!({"type": "message_stop"})));
    body.extend((0..3).map(|n| dialect.result(None, &format!("r{n}"))));
    let expected = [("c0", Some("r0")), ("c1", Some("r1")), ("c2", Some("r2"))];
    assert_eq!(told(&calls(dialect, body)), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn as_many_results_as_calls_without_ids_are_tied_in_order(
        commands in proptest::collection::vec("[a-c]", 1..12),
        runtime in 0..RUNTIMES.len(),
    ) {
        let dialect = &RUNTIMES[runtime];
        let mut body = print_calls(dialect, &commands);
        body.extend((0..commands.len()).map(|n| dialect.result(None, &format!("r{n}"))));
        let calls = calls(dialect, body);
        let outputs: Vec<String> = (0..commands.len()).map(|n| format!("r{n}")).collect();
        let expected: Vec<(&str, Option<&str>)> = commands
            .iter()
            .map(String::as_str)
            .zip(outputs.iter().map(|output| Some(output.as_str())))
            .collect();
        prop_assert_eq!(told(&calls), expected);
    }
}
