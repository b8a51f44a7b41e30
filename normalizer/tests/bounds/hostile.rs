//! Numbers and times that cannot be.

use runtape_core::{Record, RecordKind, Runtime, RuntimeEventKind, TokenCounts, summarize};
use runtape_normalizer::bounds::{LONGEST, MOST_DOLLARS, MOST_TOKENS, TIMES};
use serde_json::{Value, json};

use crate::stream::{Dialect, RUNTIMES, lines, openclaw_agent, opencode};

/// Where a runtime prints a number: its name, and a line that has it.
type Field = (&'static str, fn(&Dialect, Value) -> Value);

/// Sets what a pointer leads to, making the objects on the way.
fn with(mut line: Value, path: &[&str], value: Value) -> Value {
    let mut place = &mut line;
    for key in path {
        place = &mut place[*key];
    }
    *place = value;
    line
}

macro_rules! field {
    ($line:ident, $($key:literal).+) => {
        (
            concat!($("/", $key),+),
            |dialect, value| with(dialect.$line(), &[$($key),+], value),
        )
    };
}

/// Where tokens are printed.
fn counts(runtime: &Runtime) -> Vec<Field> {
    match runtime {
        Runtime::ClaudeCode => vec![
            field!(ending, "usage"."input_tokens"),
            field!(ending, "usage"."output_tokens"),
            field!(ending, "usage"."cache_read_input_tokens"),
            field!(ending, "usage"."cache_creation_input_tokens"),
            field!(ending, "modelUsage"."m"."inputTokens"),
            field!(ending, "model_usage_since_last_result"."m"."outputTokens"),
            field!(some_text, "message"."usage"."input_tokens"),
        ],
        Runtime::Cursor => vec![
            field!(ending, "usage"."inputTokens"),
            field!(ending, "usage"."outputTokens"),
            field!(ending, "usage"."cacheReadTokens"),
            ("/usage/cacheWriteTokens", |dialect, value| {
                let usage = json!({"inputTokens": 0, "cacheWriteTokens": value});
                with(dialect.ending(), &["usage"], usage)
            }),
        ],
        Runtime::Gemini => vec![
            field!(ending, "stats"."input_tokens"),
            field!(ending, "stats"."output_tokens"),
            field!(ending, "stats"."cached"),
        ],
        Runtime::Codex => vec![
            field!(ending, "usage"."input_tokens"),
            field!(ending, "usage"."output_tokens"),
            field!(ending, "usage"."cached_input_tokens"),
            field!(ending, "usage"."reasoning_output_tokens"),
        ],
        Runtime::Opencode => vec![
            field!(ending, "part"."tokens"."input"),
            field!(ending, "part"."tokens"."output"),
            field!(ending, "part"."tokens"."cache"."read"),
            // These two are a part of other counters.
            ("/part/tokens/reasoning", |dialect, value| {
                let tokens = json!({"output": 0, "reasoning": value});
                with(dialect.ending(), &["part", "tokens"], tokens)
            }),
            ("/part/tokens/cache/write", |dialect, value| {
                let tokens = json!({"input": 0, "cache": {"write": value}});
                with(dialect.ending(), &["part", "tokens"], tokens)
            }),
        ],
        _ => vec![
            field!(agent_answer, "payload"."result"."meta"."agentMeta"."usage"."input"),
            field!(agent_answer, "payload"."result"."meta"."agentMeta"."usage"."output"),
            field!(agent_answer, "payload"."result"."meta"."agentMeta"."usage"."cacheRead"),
        ],
    }
}

fn costs(runtime: &Runtime) -> Vec<Field> {
    match runtime {
        Runtime::ClaudeCode | Runtime::Cursor | Runtime::Gemini => {
            vec![field!(ending, "total_cost_usd")]
        }
        Runtime::Codex => Vec::new(),
        Runtime::Opencode => vec![field!(ending, "part"."cost")],
        _ => vec![
            field!(agent_answer, "payload"."result"."meta"."agentMeta"."usage"."cost"),
            field!(agent_answer, "payload"."result"."meta"."agentMeta"."usage"."cost"."total"),
        ],
    }
}

fn durations(runtime: &Runtime) -> Vec<Field> {
    match runtime {
        Runtime::ClaudeCode => vec![
            field!(ending, "duration_ms"),
            field!(some_notice, "retry_delay_ms"),
            field!(some_notice, "attempt"),
        ],
        Runtime::Cursor => vec![
            field!(ending, "duration_ms"),
            field!(ending, "duration_api_ms"),
            field!(some_notice, "attempt"),
        ],
        Runtime::Gemini => vec![
            field!(ending, "stats"."duration_ms"),
            field!(ending, "duration_ms"),
        ],
        Runtime::Codex => Vec::new(),
        Runtime::Opencode => vec![("/part/state/time/end", |_, value| {
            let state = json!({"status": "completed", "time": {"start": 0, "end": value}});
            opencode(
                "tool_use",
                &json!({"tool": "bash", "callID": "c", "state": state}),
            )
        })],
        _ => vec![("/details/durationMs", |_, value| {
            let result = json!({"content": "x", "details": {"durationMs": value}});
            let data =
                json!({"phase": "result", "name": "exec", "toolCallId": "c", "result": result});
            openclaw_agent("tool", &data)
        })],
    }
}

fn times(runtime: &Runtime) -> Vec<Field> {
    match runtime {
        Runtime::ClaudeCode => vec![
            field!(some_text, "timestamp"),
            field!(rate_limit, "rate_limit_info"."resetsAt"),
        ],
        Runtime::Cursor => vec![
            field!(some_text, "timestamp_ms"),
            field!(ending, "timestamp_ms"),
        ],
        Runtime::Gemini => vec![field!(some_text, "timestamp"), field!(ending, "timestamp")],
        Runtime::Codex => Vec::new(),
        Runtime::Opencode => vec![("/timestamp in milliseconds", |dialect, value| {
            with(dialect.text(1), &["timestamp"], value)
        })],
        _ => vec![("/payload/ts", |_, value| {
            let line = openclaw_agent("error", &json!({"error": "e"}));
            with(line, &["payload", "ts"], value)
        })],
    }
}

impl Dialect {
    fn some_text(&self) -> Value {
        self.text(1)
    }

    fn some_notice(&self) -> Value {
        self.notice(1)
    }

    /// The last answer to a request of a gateway's client.
    fn agent_answer(&self) -> Value {
        debug_assert_eq!(self.0, Runtime::Openclaw);
        json!({"type": "res", "id": "1", "ok": true, "payload": {"runId": "run-1", "status": "ok",
            "result": {"meta": {"agentMeta": {"usage": {}}}}}})
    }

    fn rate_limit(&self) -> Value {
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}})
    }
}

fn check_counts(counts: &TokenCounts, case: &str) {
    let counters = [
        counts.input_tokens,
        counts.output_tokens,
        counts.reasoning_tokens,
        counts.cached_input_tokens,
    ];
    for count in counters.into_iter().flatten() {
        assert!(count.abs() <= 2 * MOST_TOKENS, "{case}: {count}");
    }
}

/// Every number that records carry is within bounds.
fn check_records(records: &[Record], case: &str) {
    for record in records {
        assert!(TIMES.contains(&record.at), "{case}: at {}", record.at);
        match &record.kind {
            RecordKind::Usage(entry) => check_counts(&entry.counts, case),
            RecordKind::Checkpoint(head) => {
                check_counts(&head.usage, case);
                check_counts(&head.step_usage, case);
                assert!(TIMES.contains(&head.started_at), "{case}");
            }
            RecordKind::Message(message) => {
                for note in &message.results {
                    assert!(note.duration_ms.is_none_or(|ms| ms <= LONGEST), "{case}");
                }
                let at = message.message.timestamp();
                assert!(at.is_none_or(|at| TIMES.contains(&at)), "{case}");
            }
            RecordKind::Event(event) => match &event.event {
                RuntimeEventKind::ApiRetry(retry) => {
                    let numbers = [retry.attempt, retry.delay_ms, retry.max_attempts];
                    assert!(
                        numbers.into_iter().flatten().all(|n| n <= LONGEST),
                        "{case}"
                    );
                }
                RuntimeEventKind::RateLimit(limit) => {
                    assert!(
                        limit.resets_at.is_none_or(|at| TIMES.contains(&at)),
                        "{case}"
                    );
                }
                RuntimeEventKind::Connection(connection) => {
                    assert!(connection.attempt.is_none_or(|n| n <= LONGEST), "{case}");
                }
                _ => {}
            },
            RecordKind::Metadata(patch) => {
                let cost = patch.set.cost_usd();
                assert!(
                    cost.is_none_or(|cost| (0.0..=MOST_DOLLARS).contains(&cost)),
                    "{case}"
                );
                for key in ["durationMs", "durationApiMs"] {
                    let ms = patch.set.get(key).map(|ms| ms.as_u64().unwrap());
                    assert!(ms.is_none_or(|ms| ms <= LONGEST), "{case}");
                }
            }
            _ => {}
        }
    }
}

fn run(dialect: &Dialect, line: Value) -> Vec<Record> {
    let is_last = line.pointer("/payload/state").is_some()
        || ["result", "turn.completed", "step_finish"].contains(&line["type"].as_str().unwrap());
    let mut all = vec![dialect.opening(), dialect.text(0), line];
    all.extend((!is_last).then(|| dialect.ending()));
    dialect.normalize(&lines(all))
}

/// Tells whether a wrong field costs that field. In a published shape it costs the line.
fn is_forgiving(dialect: &Dialect) -> bool {
    dialect.0 != Runtime::Generic
}

#[test]
fn numbers_of_a_published_shape_that_cannot_be_are_clamped_or_cost_the_line() {
    let dialect = Dialect(Runtime::Generic);
    let ended = |field: &str, value: Value| {
        let ending = with(dialect.ending(), &[field], value);
        let records = dialect.normalize(&lines([dialect.opening(), dialect.text(0), ending]));
        check_records(&records, field);
        summarize(&records).unwrap()
    };
    for value in [json!(u64::MAX), json!(MOST_TOKENS + 1)] {
        let summary = ended("outputTokens", value);
        assert_eq!(summary.usage.unwrap().output_tokens, Some(MOST_TOKENS));
        assert_eq!(summary.unparsed.len(), 1);
    }
    let summary = ended("costUsd", json!(1e308));
    assert_eq!(summary.cost_usd, Some(MOST_DOLLARS));
    assert_eq!(ended("costUsd", json!(-1)).cost_usd, None);
    for value in [json!(-1), json!(0.5), json!("5"), json!(null), json!(1e308)] {
        let summary = ended("inputTokens", value);
        assert_eq!(summary.error.unwrap().name, "UnclearResult");
        assert_eq!((summary.usage, summary.unparsed.len()), (None, 1));
    }
    for ts in [
        "+300000-01-01T00:00:00.000Z",
        "1969-12-31T23:59:59.999Z",
        "NaN",
    ] {
        assert_eq!(ended("ts", json!(ts)).unparsed.len(), 1, "{ts}");
    }
    assert!(ended("inputTokens", json!(5.0)).unparsed.is_empty());
}

/// Checks one value in all fields; `hostile` tells whether somebody must be told.
fn check(fields: fn(&Runtime) -> Vec<Field>, value: &Value, hostile: bool) {
    for dialect in RUNTIMES.iter().filter(|dialect| is_forgiving(dialect)) {
        for (name, line) in fields(&dialect.0) {
            let case = format!("{} {name}: {value}", dialect.0.as_str());
            let records = run(dialect, line(dialect, value.clone()));
            check_records(&records, &case);
            let summary = summarize(&records).unwrap();
            let unparsed = &summary.unparsed;
            assert_eq!(!unparsed.is_empty(), hostile, "{case}: {unparsed:?}");
        }
    }
}

#[test]
fn counts_that_cannot_be_are_clamped_and_reported() {
    for value in [
        json!(u64::MAX),
        json!(i64::MAX),
        json!(MOST_TOKENS + 1),
        json!(1e308),
        json!(-1),
        json!(0.5),
        json!("NaN"),
        json!("5"),
        json!([1]),
        json!(true),
    ] {
        check(counts, &value, true);
    }
    for value in [
        json!(0),
        json!(5),
        json!(5.0),
        json!(MOST_TOKENS),
        json!(null),
    ] {
        check(counts, &value, false);
    }
}

#[test]
fn costs_that_cannot_be_are_clamped_and_reported() {
    for value in [
        json!(1e308),
        json!(-1),
        json!(-0.01),
        json!("NaN"),
        json!("5"),
    ] {
        check(costs, &value, true);
    }
    for value in [json!(0), json!(0.25), json!(MOST_DOLLARS), json!(null)] {
        check(costs, &value, false);
    }
}

#[test]
fn durations_that_cannot_be_are_clamped_and_reported() {
    for value in [
        json!(u64::MAX),
        json!(1e308),
        json!(-1),
        json!("NaN"),
        json!("5"),
    ] {
        check(durations, &value, true);
    }
    for value in [json!(0), json!(5), json!(LONGEST), json!(null)] {
        check(durations, &value, false);
    }
}

#[test]
fn times_that_cannot_be_are_left_out_and_reported() {
    let written = |runtime: &Runtime| {
        let mut fields = times(runtime);
        fields.retain(|(name, _)| *name == "/timestamp");
        fields
    };
    let numbers = |runtime: &Runtime| {
        let mut fields = times(runtime);
        fields.retain(|(name, _)| *name != "/timestamp");
        fields
    };
    for value in [
        json!("0000-01-01T00:00:00.000Z"),
        json!("1969-12-31T23:59:59.999Z"),
        json!("+300000-01-01T00:00:00.000Z"),
        json!("9999-12-31T23:59:59.999-12:00"),
        json!("NaN"),
        json!(5),
    ] {
        check(written, &value, true);
    }
    for value in [json!("2026-11-16T00:11:42.469Z"), json!(null), json!("")] {
        check(written, &value, false);
    }
    for value in [
        json!(u64::MAX),
        json!(i64::MAX),
        json!(1e308),
        json!(-1),
        json!("5"),
    ] {
        check(numbers, &value, true);
    }
    for value in [json!(1_800_000_000_000_u64), json!(null)] {
        check(numbers, &value, false);
    }
}

#[test]
fn what_is_clamped_is_as_large_as_can_be_believed() {
    for dialect in RUNTIMES.iter().filter(|dialect| is_forgiving(dialect)) {
        let (name, line) = counts(&dialect.0)[1];
        let records = run(dialect, line(dialect, json!(u64::MAX)));
        let usage = summarize(&records).unwrap().usage.unwrap();
        assert_eq!(
            usage.output_tokens,
            Some(MOST_TOKENS),
            "{name} of {dialect:?}"
        );
        let Some((_, line)) = costs(&dialect.0).into_iter().next() else {
            continue;
        };
        let records = run(dialect, line(dialect, json!(1e308)));
        assert_eq!(summarize(&records).unwrap().cost_usd, Some(MOST_DOLLARS));
        let records = run(dialect, line(dialect, json!(-1)));
        assert_eq!(summarize(&records).unwrap().cost_usd, None);
    }
}
