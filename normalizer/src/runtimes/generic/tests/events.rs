use runtape_core::{CheckpointStatus, Event, Materializer, summarize};
use serde_json::{Value, json};

use super::{error_name, notices, records, told};
use crate::Exit;

fn event(tag: &str, step: u64, fields: Value) -> Value {
    let mut event = json!({"id": format!("e-{tag}-{step}"), "expertKey": "x", "timestamp": 1_767_225_601_000_i64,
        "jobId": "theirs", "runId": "r1", "stepNumber": step, "type": tag});
    let Value::Object(fields) = fields else {
        panic!("an object")
    };
    event.as_object_mut().unwrap().extend(fields);
    event
}

fn usage(input: u64, output: u64) -> Value {
    json!({"inputTokens": input, "outputTokens": output, "reasoningTokens": 0,
        "totalTokens": input + output, "cachedInputTokens": 0})
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "metadata is written where it is needed"
)]
fn checkpoint(status: &str, step: u64, used: (u64, u64), metadata: Value) -> Value {
    json!({"id": format!("c{step}"), "jobId": "theirs", "runId": "r1", "status": status,
        "stepNumber": step, "messages": [], "usage": usage(used.0, used.1), "metadata": metadata,
        "expert": {"key": "x", "name": "x", "version": "1"}})
}

fn step(number: u64, messages: &[Value], used: (u64, u64)) -> Value {
    json!({"stepNumber": number, "newMessages": messages, "usage": usage(used.0, used.1), "startedAt": 1})
}

fn text(id: &str, text: &str) -> Value {
    json!({"type": "expertMessage", "id": id, "contents": [{"type": "textPart", "id": "p", "text": text}]})
}

fn run() -> Vec<Value> {
    let call = json!({"type": "toolCallPart", "id": "p2", "toolCallId": "k1", "toolName": "shell", "args": {"command": "ls"}});
    let thinking =
        json!({"type": "thinkingPart", "id": "p0", "thinking": "Hmm.", "signature": "sig"});
    let said = json!({"type": "expertMessage", "id": "m1", "contents": [thinking,
        {"type": "textPart", "id": "p1", "text": "I look."}, call]});
    let answered = json!({"type": "toolMessage", "id": "m2", "contents": [{"type": "toolResultPart", "id": "p3",
        "toolCallId": "k1", "toolName": "shell", "isError": true,
        "contents": [{"type": "textPart", "id": "p4", "text": "no"}]}]});
    let tool_call =
        json!({"id": "k1", "skillName": "s", "toolName": "shell", "args": {"command": "ls"}});
    let tool_result = json!({"id": "k1", "skillName": "s", "toolName": "shell",
        "result": [{"type": "textPart", "id": "p4", "text": "no"}]});
    let user = json!({"type": "userMessage", "id": "m0", "contents": [{"type": "textPart", "id": "p", "text": "Look."}]});
    let around = |tag: &str, fields: Value| {
        let mut event = event(tag, 1, fields);
        event
            .as_object_mut()
            .unwrap()
            .retain(|key, _| key != "expertKey" && key != "stepNumber");
        event
    };
    let last = text("m3", "Done.");
    vec![
        around(
            "initializeRuntime",
            json!({"runtimeVersion": "2.0", "expertName": "x", "experts": [],
            "model": "m-1", "maxRetries": 0, "timeout": 0, "query": "Look."}),
        ),
        event(
            "startRun",
            1,
            json!({"initialCheckpoint": checkpoint("init", 1, (0, 0), json!({"sessionId": "s-1"})),
            "inputMessages": [user]}),
        ),
        event("startStreamingReasoning", 1, json!({})),
        event("streamReasoning", 1, json!({"delta": "Hm"})),
        event("streamReasoning", 1, json!({"delta": "m."})),
        event("completeStreamingReasoning", 1, json!({"text": "Hmm."})),
        event(
            "callTools",
            1,
            json!({"newMessage": said, "toolCalls": [tool_call], "usage": usage(10, 4)}),
        ),
        event(
            "resolveToolResults",
            1,
            json!({"toolResults": [tool_result]}),
        ),
        event("finishToolCall", 1, json!({"newMessages": [answered]})),
        event(
            "continueToNextStep",
            1,
            json!({
            "checkpoint": checkpoint("proceeding", 1, (10, 4), json!({})),
            "step": step(1, &[said, answered], (10, 4)),
            "nextCheckpoint": checkpoint("proceeding", 2, (10, 4), json!({}))}),
        ),
        around("warning", json!({"message": "slow"})),
        event("streamRunResult", 2, json!({"delta": "Done"})),
        event("streamRunResult", 2, json!({"delta": "."})),
        event("completeStreamingRunResult", 2, json!({"text": "Done."})),
        event(
            "completeRun",
            2,
            json!({
            "checkpoint": checkpoint("completed", 2, (30, 9), json!({"sessionId": "s-1", "costUsd": 0.25,
                "usageUnknown": ["reasoningTokens"]})),
            "step": step(2, &[last], (20, 5)), "text": "Done.", "usage": usage(20, 5)}),
        ),
    ]
}

#[test]
fn a_run_in_events_is_the_run_that_they_tell() {
    let told = told(&run());
    assert!(told.unparsed.is_empty(), "{:?}", told.unparsed);
    assert_eq!(told.status, CheckpointStatus::Completed);
    assert_eq!(told.output_format.as_deref(), Some("events"));
    assert_eq!(told.model.as_deref(), Some("m-1"));
    assert_eq!(told.cli_version.as_deref(), Some("2.0"));
    assert_eq!(told.session_id.as_deref(), Some("s-1"));
    assert_eq!(told.thinking, ["Hmm."]);
    assert_eq!(told.texts, ["I look.", "Done."]);
    assert_eq!(told.final_text.as_deref(), Some("Done."));
    assert_eq!((told.steps, told.cost_usd), (2, Some(0.25)));
    let usage = told.usage.as_ref().unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(30), Some(9))
    );
    assert_eq!(
        (usage.cached_input_tokens, usage.reasoning_tokens),
        (Some(0), None)
    );
    let [call] = told.tool_calls.as_slice() else {
        panic!("{:?}", told.tool_calls)
    };
    assert_eq!(
        (call.id.as_str(), call.is_error, call.step),
        ("k1", Some(true), 1)
    );
    assert_eq!(call.output.as_deref(), Some("no"));
    assert_eq!(notices(&told, "warning"), ["slow"]);
}

#[test]
fn what_is_printed_twice_is_counted_once() {
    let twice: Vec<Value> = run()
        .into_iter()
        .flat_map(|event| {
            let times = if event["type"].as_str().unwrap().starts_with("stream") {
                1
            } else {
                2
            };
            std::iter::repeat_n(event, times)
        })
        .collect();
    let told = told(&twice);
    assert_eq!(told.texts, ["I look.", "Done."]);
    assert_eq!(told.usage.as_ref().unwrap().output_tokens, Some(9));
    assert_eq!(told.tool_calls.len(), 1);
    assert!(
        notices(&told, "info")
            .iter()
            .all(|text| text.ends_with("the same event again"))
    );
}

#[test]
fn our_own_events_of_a_run_give_that_run_again() {
    let first = records(&super::printed(&run()), "", &Exit::with_code(0));
    let mut materializer = Materializer::default();
    let events: Vec<Event> = first
        .iter()
        .flat_map(|record| materializer.push(record).unwrap())
        .collect();
    let events: Vec<Value> = events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap())
        .collect();
    let again = told(&events);
    let first = summarize(&first).unwrap();
    assert!(again.unparsed.is_empty(), "{:?}", again.unparsed);
    assert_eq!(again.status, first.status);
    assert_eq!(
        (&again.texts, &again.thinking),
        (&first.texts, &first.thinking)
    );
    assert_eq!((again.steps, &again.usage), (first.steps, &first.usage));
    assert_eq!(
        (&again.session_id, &again.model),
        (&first.session_id, &first.model)
    );
    let outputs = |summary: &runtape_core::RunSummary| -> Vec<_> {
        let calls = summary.tool_calls.iter();
        calls
            .map(|call| {
                (
                    call.id.clone(),
                    call.input.clone(),
                    call.output.clone(),
                    call.is_error,
                )
            })
            .collect()
    };
    assert_eq!(outputs(&again), outputs(&first));
}

#[test]
fn a_failure_is_told_in_its_own_words_and_a_contradiction_is_unclear() {
    let error = json!({"name": "QuotaError", "message": "too much", "statusCode": 429, "isRetryable": true});
    let stopped = event(
        "stopRunByError",
        1,
        json!({"checkpoint": checkpoint("stoppedByError", 1, (1, 1), json!({})),
        "step": step(1, &[], (1, 1)), "error": error}),
    );
    let told_error = told(&[stopped]).error.unwrap();
    assert_eq!(
        (told_error.name.as_str(), told_error.message.as_str()),
        ("QuotaError", "too much")
    );
    assert_eq!(told_error.status_code, Some(429));
    let limit = event(
        "stopRunByExceededMaxSteps",
        1,
        json!({
        "checkpoint": checkpoint("stoppedByExceededMaxSteps", 1, (1, 1), json!({})), "step": step(1, &[], (1, 1))}),
    );
    assert_eq!(
        told(&[limit]).status,
        CheckpointStatus::StoppedByExceededMaxSteps
    );
    let waits = event(
        "stopRunByInteractiveTool",
        1,
        json!({
        "checkpoint": checkpoint("stoppedByInteractiveTool", 1, (1, 1), json!({})), "step": step(1, &[], (1, 1))}),
    );
    assert_eq!(
        error_name(&told(&[waits])),
        Some("StoppedByInteractiveTool")
    );
    let unclear = event(
        "completeRun",
        1,
        json!({"checkpoint": checkpoint("proceeding", 1, (1, 1), json!({})),
        "step": step(1, &[], (1, 1)), "text": "x", "usage": usage(1, 1)}),
    );
    assert_eq!(error_name(&told(&[unclear])), Some("UnclearResult"));
    let misfit = event("completeRun", 1, json!({"text": "x"}));
    let misfit = told(&[misfit]);
    assert_eq!(error_name(&misfit), Some("UnclearResult"));
    assert!(
        misfit.unparsed[0]
            .reason
            .contains("missing field `checkpoint`"),
        "{:?}",
        misfit.unparsed
    );
}

#[test]
fn a_delegated_run_is_a_child_of_the_call_that_delegated_it() {
    let mut lines = run();
    let last = lines.pop().unwrap();
    let mut start = checkpoint("init", 1, (0, 0), json!({}));
    start["runId"] = json!("r2");
    start["delegatedBy"] = json!({"expert": {"key": "x", "name": "x", "version": "1"}, "toolCallId": "k1",
        "toolName": "shell", "checkpointId": "c1", "runId": "r1"});
    let mut end = start.clone();
    end["status"] = json!("completed");
    let child = [
        event(
            "startRun",
            1,
            json!({"runId": "r2", "initialCheckpoint": start, "inputMessages": []}),
        ),
        event(
            "completeRun",
            1,
            json!({"runId": "r2", "checkpoint": end, "text": "Found.", "usage": usage(2, 2),
            "step": step(1, &[text("n1", "Found.")], (2, 2))}),
        ),
    ];
    lines.extend(child);
    lines.push(last);
    let told = told(&lines);
    assert!(told.unparsed.is_empty(), "{:?}", told.unparsed);
    assert_eq!(told.runs.len(), 2);
    assert_eq!(
        told.runs[1].parent_tool_call_id.as_ref().unwrap().as_str(),
        "k1"
    );
    assert_eq!(told.final_text.as_deref(), Some("Done."));
    assert_eq!(told.usage.unwrap().output_tokens, Some(11));
}

#[test]
fn runs_that_are_never_heard_of_again_are_let_go() {
    let stopped = |run: usize| {
        let mut end = checkpoint("stoppedByError", 1, (1, 1), json!({}));
        end["runId"] = json!(format!("r{run}"));
        let error = json!({"name": "E", "message": "m", "isRetryable": false});
        let fields = json!({"runId": format!("r{run}"), "checkpoint": end, "error": error,
            "step": step(1, &[], (1, 1))});
        event("stopRunByError", 1, fields)
    };
    let lines: Vec<Value> = (0..3000).map(stopped).collect();
    let told = told(&lines);
    assert!(told.unparsed.is_empty(), "{:?}", told.unparsed.first());
    assert_eq!(told.usage.unwrap().output_tokens, Some(3000));
}
