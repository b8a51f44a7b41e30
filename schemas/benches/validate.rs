//! How fast a checkpoint is validated, next to reading it.
//!
//! `cargo bench -p runtape-schemas` prints numbers a second and their ratios: ratios hold on any
//! machine.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use runtape_core::Checkpoint;
use runtape_schemas::{SchemaKind, Validator};
use serde_json::{Value, json};

/// How long each way is measured, several times; the best counts.
const SLICE: Duration = Duration::from_millis(250);
const SLICES: usize = 4;

fn main() -> io::Result<()> {
    let mut out = io::stdout();
    let compiling = Instant::now();
    let validator = Validator::for_kind(SchemaKind::Checkpoint);
    writeln!(
        out,
        "compile once: {:.1} ms",
        compiling.elapsed().as_secs_f64() * 1e3
    )?;
    for steps in [1, 20, 200] {
        let value = checkpoint(steps);
        let text = value.to_string();
        assert!(
            validator.validate(&value).is_valid(),
            "the checkpoint is valid"
        );
        let validate = rate(|| validator.validate(black_box(&value)).is_valid());
        let parse = rate(|| serde_json::from_str::<Value>(black_box(&text)).is_ok());
        let both = rate(|| {
            let value: Result<Value, _> = serde_json::from_str(black_box(&text));
            value.is_ok_and(|value| validator.validate(&value).is_valid())
        });
        let read = rate(|| serde_json::from_str::<Checkpoint>(black_box(&text)).is_ok());
        writeln!(out, "checkpoint of {steps} steps, {} bytes:", text.len())?;
        writeln!(out, "  validate a parsed value        {validate:>12.0}/s")?;
        writeln!(out, "  parse to a value               {parse:>12.0}/s")?;
        writeln!(out, "  parse and validate             {both:>12.0}/s")?;
        writeln!(out, "  deserialize                    {read:>12.0}/s")?;
        writeln!(
            out,
            "  ratio validate / deserialize   {:>12.2}",
            validate / read
        )?;
        writeln!(
            out,
            "  ratio parse and validate / deserialize {:>4.2}",
            both / read
        )?;
    }
    Ok(())
}

/// Returns how often a second `work` can be done.
#[expect(
    clippy::cast_precision_loss,
    reason = "a count of a quarter second is small"
)]
fn rate(mut work: impl FnMut() -> bool) -> f64 {
    let mut best = 0.0_f64;
    for _ in 0..SLICES {
        let began = Instant::now();
        let mut times = 0_u64;
        while began.elapsed() < SLICE {
            assert!(work(), "the checkpoint is valid");
            times += 1;
        }
        best = best.max(times as f64 / began.elapsed().as_secs_f64());
    }
    best
}

/// Makes a checkpoint like that of an agent that works: thinking, text, a call and its result.
fn checkpoint(steps: usize) -> Value {
    let words = "the quick brown fox jumps over the lazy dog and reads the next file. ".repeat(6);
    let mut messages = vec![json!({
        "type": "userMessage", "id": "m0",
        "contents": [{"type": "textPart", "id": "p0", "text": words}],
    })];
    for step in 1..=steps {
        let call = format!("toolu_{step:024}");
        messages.push(json!({
            "type": "expertMessage", "id": format!("e{step}"), "timestamp": 1_700_000_000_000_i64,
            "contents": [
                {"type": "thinkingPart", "id": format!("a{step}"), "thinking": words, "signature": "c2ln"},
                {"type": "textPart", "id": format!("b{step}"), "text": words},
                {
                    "type": "toolCallPart", "id": format!("c{step}"), "toolCallId": call,
                    "toolName": "Read", "args": {"file_path": "src/main.rs", "limit": 200},
                },
            ],
        }));
        messages.push(json!({
            "type": "toolMessage", "id": format!("t{step}"),
            "contents": [{
                "type": "toolResultPart", "id": format!("r{step}"), "toolCallId": call,
                "toolName": "Read", "isError": false,
                "contents": [{"type": "textPart", "id": format!("x{step}"), "text": words}],
            }],
        }));
    }
    json!({
        "id": "checkpoint1", "jobId": "job-123", "runId": "run-456", "status": "completed",
        "stepNumber": steps, "messages": messages,
        "expert": {"key": "claude-code", "name": "claude-code", "version": "2.0.0"},
        "usage": {
            "inputTokens": 1200, "outputTokens": 800, "reasoningTokens": 100, "totalTokens": 9000,
            "cachedInputTokens": 7000,
        },
        "metadata": {
            "runtime": "claude-code", "externalExecution": true, "sessionId": "s", "costUsd": 0.25,
        },
    })
}
