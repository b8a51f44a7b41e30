//! What runs leave in the store, whatever they printed.

use runtape_core::{JobId, Record, RecordKind, RunId, Runtime, Stream, TokenCounts};
use runtape_normalizer::{Context, Exit, Kept, Normalizer};
use runtape_store::{BeginRun, Calendar, CallFilter, RunFilter, Store, UsageBy, UsageSum};
use serde_json::{Value, json};

const AT: i64 = 1_800_000_000_000;

fn normalize(run: &str, runtime: Runtime, lines: &[Value]) -> Vec<Record> {
    let mut context = Context::new(JobId::parse("job").unwrap(), RunId::parse(run).unwrap());
    // The lines have nothing but what matters here: the command line says what they are.
    let argv = ["claude", "-p", "x", "--output-format", "stream-json"];
    context.argv = Some(argv.map(str::to_owned).to_vec());
    let mut normalizer = Normalizer::new(runtime, context).unwrap();
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let text = lines.join("\n") + "\n";
    let mut records = normalizer
        .push(Stream::Stdout, Kept::as_given(&text), AT)
        .records;
    records.extend(normalizer.finish(&Exit::with_code(0)).records);
    // The tape is not what this is about.
    for record in &mut records {
        record.span = None;
    }
    records
}

fn keep(store: &mut Store, run: &str, runtime: Runtime, records: &[Record]) {
    let run_id = RunId::parse(run).unwrap();
    let begin = BeginRun {
        job_id: JobId::parse("job").unwrap(),
        run_id: run_id.clone(),
        runtime,
        started_at: AT,
        context: json!({}),
    };
    store.begin_run(&begin).unwrap();
    store.append(&run_id, records, &[]).unwrap();
    store.finish_run(&run_id, &json!({"code": 0}), AT).unwrap();
}

fn by_job(store: &Store) -> Vec<UsageSum> {
    let all = RunFilter::default();
    store
        .usage_by(&all, &[UsageBy::Job], Calendar::Utc)
        .unwrap()
}

/// Asks everything that adds up.
fn check_sums(store: &Store) {
    let filter = RunFilter::default();
    for by in UsageBy::ALL {
        let groups = store
            .usage_by(&filter, std::slice::from_ref(&by), Calendar::Utc)
            .unwrap();
        assert!(!groups.is_empty(), "{by:?}");
        for group in groups {
            assert!(group.usage.input_tokens.unwrap() > 1 << 53, "{group:?}");
        }
    }
    assert_eq!(store.usage_daily().unwrap().len(), 1);
    for view in ["v_jobs", "v_usage_daily"] {
        let mut rows = 0;
        let sql = format!("SELECT * FROM {view}");
        store
            .query(&sql, |_| {
                rows += 1;
                true
            })
            .unwrap();
        assert_eq!(rows, 1, "{view}");
    }
    let jobs = store.jobs(&RunFilter::default(), None, 10).unwrap().items;
    assert!(jobs[0].usage.input_tokens.unwrap() > 1 << 53);
}

fn said(id: &str, blocks: &Value) -> Value {
    json!({"type": "assistant", "message": {"id": id, "model": "m", "content": blocks}})
}

#[test]
fn two_runs_with_hostile_counts_leave_the_sums_of_the_database_working() {
    let mut store = Store::open_in_memory().unwrap();
    let usage = json!({"input_tokens": u64::MAX, "output_tokens": i64::MAX, "cache_read_input_tokens": 1e308});
    let lines = [
        said("m1", &json!([{"type": "text", "text": "hi"}])),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "hi",
            "usage": usage, "total_cost_usd": 1e308, "duration_ms": 1e308}),
    ];
    for run in ["one", "two"] {
        let records = normalize(run, Runtime::ClaudeCode, &lines);
        keep(&mut store, run, Runtime::ClaudeCode, &records);
    }
    check_sums(&store);
    let groups = by_job(&store);
    assert_eq!(groups[0].usage.input_tokens, Some(2 << 53));
    assert!(groups[0].cost_usd().unwrap().is_finite());
    // Views for any client of the database, too.
    for view in ["v_usage_daily", "v_jobs", "v_runs"] {
        let sql = format!("SELECT * FROM {view}");
        store.query(&sql, |_| true).unwrap();
    }
}

#[test]
fn a_database_that_already_holds_hostile_counts_can_be_asked() {
    let mut store = Store::open_in_memory().unwrap();
    let lines = [
        said("m1", &json!([{"type": "text", "text": "hi"}])),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "hi",
            "usage": {"input_tokens": 5, "output_tokens": 5}}),
    ];
    for run in ["one", "two"] {
        let mut records = normalize(run, Runtime::ClaudeCode, &lines);
        let full = TokenCounts {
            input_tokens: Some(i64::MAX),
            output_tokens: Some(i64::MAX),
            reasoning_tokens: None,
            cached_input_tokens: Some(i64::MIN),
            ..TokenCounts::default()
        };
        for record in &mut records {
            match &mut record.kind {
                RecordKind::Usage(entry) => entry.counts = full,
                RecordKind::Checkpoint(head) => head.usage = full,
                _ => {}
            }
        }
        keep(&mut store, run, Runtime::ClaudeCode, &records);
    }
    check_sums(&store);
    let groups = by_job(&store);
    assert_eq!(
        groups[0].usage.reasoning_tokens, None,
        "unknown is not zero"
    );
}

/// A call in pieces, as `--include-partial-messages` prints it.
fn streamed(message: &str, call: &str, command: &str) -> Vec<Value> {
    let event = |event: Value| json!({"type": "stream_event", "event": event});
    let block = json!({"type": "tool_use", "id": call, "name": "Bash", "input": {}});
    let piece = json!({"type": "input_json_delta", "partial_json": json!({"command": command}).to_string()});
    vec![
        event(json!({"type": "message_start", "message": {"id": message, "model": "m"}})),
        event(json!({"type": "content_block_start", "index": 0, "content_block": block})),
        event(json!({"type": "content_block_delta", "index": 0, "delta": piece})),
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "message_stop"})),
    ]
}

#[test]
fn every_call_has_its_command_in_the_audit_however_its_id_and_input_came() {
    let result = |id: &str| {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        json!({"type": "user", "message": {"role": "user", "content": [block]}})
    };
    let long = "x".repeat(300);
    let mut lines = Vec::new();
    // The same id again and again, an id that is too long to be one, and none at all.
    for (message, id, command) in [
        ("m1", "call_0", "first"),
        ("m2", "call_0", "second"),
        ("m3", "call_0", "third"),
        ("m4", &long, "fourth"),
        ("m5", "", "fifth"),
        ("m6", "", "sixth"),
    ] {
        lines.extend(streamed(message, id, command));
        lines.push(result(id));
    }
    lines
        .push(json!({"type": "result", "subtype": "success", "is_error": false, "result": "done"}));
    let records = normalize("audit", Runtime::ClaudeCode, &lines);
    let mut store = Store::open_in_memory().unwrap();
    keep(&mut store, "audit", Runtime::ClaudeCode, &records);
    let calls = store.tool_calls(&CallFilter::default(), 100).unwrap();
    let mut commands: Vec<Option<&str>> =
        calls.iter().map(|call| call.command.as_deref()).collect();
    commands.reverse();
    let expected = ["first", "second", "third", "fourth", "fifth", "sixth"];
    assert_eq!(commands, expected.map(Some));
    assert!(calls.iter().all(|call| call.result_seq.is_some()));
}
