//! Four times as much takes four times as long, whatever there is much of.

use std::hint::black_box;
use std::time::Duration;

use runtape_core::{Record, Runtime, TranscriptBuilder, materialize, summarize};
use runtape_tests::stopwatch::Stopwatch;
use serde_json::{Map, Value, json};

use crate::stream::{Dialect, RUNTIMES, lines, openclaw_agent};

/// How many there are of a thing: enough for what grows with the square to stand out.
const MANY: usize = 1_000;

/// Four times as much may take this much longer; what grows with the square takes up to 16 times.
const MOST: f64 = 6.5;

/// How often a measurement is repeated before it counts: a busy machine slows down one or the
/// other, never all of them.
const ROUNDS: usize = 6;

/// How long a measurement takes at least: less is lost in noise.
const LEAST: Duration = Duration::from_millis(30);

/// How often a thing is done in one measurement at most.
const MOST_TIMES: u32 = 1_024;

fn measure(times: u32, work: impl Fn()) -> Duration {
    let stopwatch = Stopwatch::start();
    for _ in 0..times {
        work();
    }
    stopwatch.elapsed()
}

/// Makes everything of an output that does not grow with the square by its nature.
fn read(dialect: &Dialect, output: &str, is_one_step: bool) {
    let records: Vec<Record> = dialect.normalize(output);
    black_box(summarize(&records));
    let mut transcript = TranscriptBuilder::new();
    for record in &records {
        black_box(transcript.push(record));
    }
    // Full events hold all messages so far.
    if is_one_step {
        black_box(materialize(&records).unwrap());
    }
}

/// Checks that four times as much takes about four times as long.
fn check(name: &str, dialect: &Dialect, is_one_step: bool, output: impl Fn(usize) -> String) {
    let name = format!("{name} of {}", dialect.0.as_str());
    check_growth(&name, output, |output| read(dialect, output, is_one_step));
}

/// Checks that four times as much of anything takes about four times as long.
pub(crate) fn check_growth(name: &str, output: impl Fn(usize) -> String, work: impl Fn(&str)) {
    let (some, more) = (output(MANY), output(4 * MANY));
    let (mut least, mut least_of_more) = (Duration::MAX, Duration::MAX);
    let mut ratio = f64::MAX;
    // Found out by doing: what is measured of a single time may be one step of the clock, or none.
    let mut times = 1;
    while times < MOST_TIMES && measure(times, || work(&some)) < LEAST {
        times *= 2;
    }
    for _ in 0..ROUNDS {
        least = least.min(measure(times, || work(&some)));
        least_of_more = least_of_more.min(measure(times, || work(&more)));
        ratio = least_of_more.as_secs_f64() / least.as_secs_f64();
        if ratio < MOST {
            println!("{name}: {least:?}, {ratio:.2}");
            return;
        }
    }
    panic!("{name}: {least:?} and then {ratio:.2} times that");
}

fn whole(dialect: &Dialect, body: impl IntoIterator<Item = Value>) -> String {
    let body = [dialect.opening()].into_iter().chain(body);
    lines(body.chain([dialect.ending()]))
}

fn id(number: usize) -> String {
    format!("call_{number}")
}

#[test]
fn calls_of_one_step_and_their_results() {
    for dialect in &RUNTIMES {
        for reversed in [false, true] {
            check("calls", dialect, true, |many| {
                let calls = (0..many).map(|n| dialect.call(Some(&id(n)), "ls"));
                let results = (0..many).map(|n| if reversed { many - 1 - n } else { n });
                let results = results.map(|n| dialect.result(Some(&id(n)), "done"));
                whole(dialect, calls.chain(results))
            });
        }
    }
}

#[test]
fn calls_that_start_a_sub_agent() {
    let dialect = &Dialect(Runtime::Openclaw);
    let frame = |n: usize, phase: &str| {
        let data = json!({"phase": phase, "name": "sessions_spawn", "toolCallId": id(n),
            "args": {"task": "look"}, "result": {"status": "accepted"}});
        openclaw_agent("tool", &data)
    };
    for reversed in [false, true] {
        check("calls that start a sub-agent", dialect, true, |many| {
            let results = (0..many).map(|n| if reversed { many - 1 - n } else { n });
            let calls = (0..many).map(|n| frame(n, "start"));
            whole(dialect, calls.chain(results.map(|n| frame(n, "result"))))
        });
    }
}

#[test]
fn calls_without_an_id() {
    for dialect in &RUNTIMES {
        check("calls without an id", dialect, true, |many| {
            let commands: Vec<String> = (0..many).map(|n| format!("ls {n}")).collect();
            let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
            let calls: Vec<Value> = match dialect.0 {
                Runtime::ClaudeCode | Runtime::Openclaw => vec![dialect.calls(&commands)],
                _ => commands
                    .iter()
                    .map(|command| dialect.call(None, command))
                    .collect(),
            };
            let results = (0..many).map(|_| dialect.result(None, "done"));
            whole(dialect, calls.into_iter().chain(results))
        });
    }
}

#[test]
fn calls_that_are_printed_again_and_again() {
    for dialect in &RUNTIMES {
        check("calls used again", dialect, true, |many| {
            let twice = (0..many).chain(0..many);
            let calls = twice.map(|n| dialect.call(Some(&id(n)), "ls"));
            whole(dialect, calls)
        });
    }
}

#[test]
fn calls_that_are_open_at_the_end() {
    for dialect in &RUNTIMES {
        check("open calls", dialect, true, |many| {
            lines((0..many).map(|n| dialect.call(Some(&id(n)), "ls")))
        });
    }
}

#[test]
fn results_that_come_before_their_calls_or_without_one() {
    for dialect in &RUNTIMES {
        for has_calls in [false, true] {
            check("results without a call", dialect, true, |many| {
                let results = (0..many).map(|n| dialect.result(Some(&id(n)), "done"));
                let calls = (0..many).filter(|_| has_calls);
                let calls = calls.map(|n| dialect.call(Some(&id(n)), "ls"));
                whole(dialect, results.chain(calls))
            });
        }
    }
}

#[test]
fn steps() {
    for dialect in &RUNTIMES {
        check("steps", dialect, false, |many| {
            let step = |n: usize| {
                let call = dialect.call(Some(&id(n)), "ls");
                [dialect.text(n), call, dialect.result(Some(&id(n)), "done")]
            };
            whole(dialect, (0..many / 2).flat_map(step))
        });
    }
}

#[test]
fn what_the_user_says_before_the_first_step() {
    for dialect in &RUNTIMES {
        check("user lines", dialect, true, |many| {
            whole(
                dialect,
                (0..many).map(|n| dialect.user(&format!("line {n}"))),
            )
        });
    }
}

#[test]
fn notices() {
    for dialect in &RUNTIMES {
        check("notices", dialect, true, |many| {
            whole(dialect, (0..many).map(|n| dialect.notice(n)))
        });
        check("lines that nobody knows", dialect, true, |many| {
            whole(
                dialect,
                (0..many).map(|n| json!({"type": format!("new_{n}")})),
            )
        });
    }
}

#[test]
fn sessions_runs_items_and_rows_of_a_gateway() {
    let dialect = &Dialect(Runtime::Openclaw);
    let agent = |session: &str, run: &str, stream: &str, data: Value| {
        json!({"type": "event", "event": "agent", "payload": {"runId": run, "sessionKey": session,
            "stream": stream, "data": data}})
    };
    let main = "agent:main:main";
    check("sessions", dialect, true, |many| {
        let frame = |n: usize| {
            let text = json!({"text": "x", "itemId": "i"});
            agent(&format!("agent:main:{n}"), "r", "assistant", text)
        };
        whole(dialect, (0..many).map(frame))
    });
    check("sub-agents", dialect, false, |many| {
        let frame = |n: usize| {
            let text = json!({"text": "x", "itemId": "i"});
            agent(&format!("agent:main:subagent:{n}"), "r", "assistant", text)
        };
        whole(dialect, (0..many / 8).map(frame))
    });
    check("runs", dialect, false, |many| {
        let run = |n: usize| {
            let run = format!("run-{n}");
            ["start", "end"].map(|phase| agent(main, &run, "lifecycle", json!({"phase": phase})))
        };
        whole(dialect, (0..many).flat_map(run))
    });
    check("items", dialect, true, |many| {
        let item = |n: usize| {
            ["start", "end"].map(|phase| {
                let data = json!({"kind": "tool", "phase": phase, "toolCallId": id(n), "name": "exec",
                    "status": "completed", "commandBearing": true, "meta": "m"});
                agent(main, "run-1", "item", data)
            })
        };
        whole(dialect, (0..many).flat_map(item))
    });
    check("rows of a transcript", dialect, false, |many| {
        let row = |n: usize| {
            json!({"role": "assistant", "content": [{"type": "text", "text": format!("text {n}")}],
                "__openclaw": {"id": n.to_string(), "runId": "run-1"}})
        };
        let rows: Vec<Value> = (0..many).map(row).collect();
        let answer = json!({"type": "res", "id": "1", "ok": true,
            "payload": {"sessionKey": main, "messages": rows}});
        let request = json!({"type": "req", "id": "0", "method": "chat.send",
            "params": {"sessionKey": main, "message": "x"}});
        lines([request, answer])
    });
}

/// Adds to the input of a call, which holds a command.
fn with_input(mut call: Value, input: &Value) -> Value {
    fn find(value: &mut Value) -> Option<&mut Map<String, Value>> {
        match value {
            Value::Object(fields) => {
                if fields.contains_key("command") {
                    return Some(fields);
                }
                fields.values_mut().find_map(find)
            }
            Value::Array(items) => items.iter_mut().find_map(find),
            _ => None,
        }
    }
    find(&mut call)
        .unwrap()
        .extend(input.as_object().unwrap().clone());
    call
}

#[test]
fn keys_of_an_object_and_values_of_a_list() {
    let keys = |many: usize| -> Map<String, Value> {
        (0..many).map(|n| (format!("key_{n}"), json!(n))).collect()
    };
    for dialect in &RUNTIMES {
        check("keys of an input", dialect, true, |many| {
            let input = Value::Object(keys(10 * many));
            whole(dialect, [with_input(dialect.call(Some("c"), "ls"), &input)])
        });
        check("values of a list", dialect, true, |many| {
            let input = json!({"list": vec![1; 40 * many]});
            whole(dialect, [with_input(dialect.call(Some("c"), "ls"), &input)])
        });
        check("keys of a message", dialect, true, |many| {
            let mut line = dialect.text(1);
            line.as_object_mut().unwrap().extend(keys(10 * many));
            whole(dialect, [line])
        });
        check("keys of a faulty message", dialect, true, |many| {
            let mut line = dialect.text(1);
            let fields = line.as_object_mut().unwrap();
            fields.extend(keys(10 * many));
            fields.insert("session_id".to_owned(), json!(5));
            fields.insert("timestamp".to_owned(), json!([5]));
            whole(dialect, [line])
        });
    }
}

#[test]
fn children_at_the_same_time() {
    let dialect = &RUNTIMES[0];
    check("children", dialect, true, |many| {
        let many = many / 3;
        let task = |n: usize| json!({"type": "tool_use", "id": id(n), "name": "Task", "input": {"prompt": "p"}});
        let calls = (0..many).map(|n| dialect.said("m1", &[task(n)]));
        let work = (0..2 * many).map(|n| {
            let call = json!({"type": "tool_use", "id": format!("inner_{n}"), "name": "Bash", "input": {"command": "ls"}});
            let mut line = dialect.said(&format!("c{n}"), &[call]);
            line["parent_tool_use_id"] = json!(id(n % many));
            line
        });
        let results = (0..many).map(|n| dialect.result(Some(&id(n)), "done"));
        whole(dialect, calls.chain(work).chain(results))
    });
}

#[test]
fn children_that_write_at_the_same_time() {
    let dialect = &RUNTIMES[0];
    check("streams", dialect, true, |many| {
        let event = |n: usize, event: Value| json!({"type": "stream_event", "event": event, "parent_tool_use_id": id(n)});
        let starts = (0..many).map(|n| {
            event(
                n,
                json!({"type": "message_start", "message": {"id": format!("m{n}")}}),
            )
        });
        let blocks = (0..many).map(|n| event(n, json!({"type": "content_block_start", "content_block": {"type": "text", "text": ""}})));
        let deltas = (0..2 * many).map(|n| event(n % many, json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}})));
        whole(dialect, starts.chain(blocks).chain(deltas))
    });
}

#[test]
fn blocks_of_a_message_in_pieces() {
    let dialect = &RUNTIMES[0];
    check("blocks in pieces", dialect, true, |many| {
        let event = |event: Value| json!({"type": "stream_event", "event": event});
        let start = event(json!({"type": "message_start", "message": {"id": "m1"}}));
        let pieces = (0..many).flat_map(|n| {
            let block = json!({"type": "tool_use", "id": id(n), "name": "Bash", "input": {}});
            let delta = json!({"type": "input_json_delta", "partial_json": "{\"command\":\"ls\"}"});
            [
                event(json!({"type": "content_block_start", "content_block": block})),
                event(json!({"type": "content_block_delta", "delta": delta})),
                event(json!({"type": "content_block_stop"})),
            ]
        });
        let wholes = (0..many).map(|n| {
            let block = json!({"type": "tool_use", "id": id(n), "name": "Bash", "input": {"command": "ls"}});
            dialect.said("m1", &[block])
        });
        whole(dialect, [start].into_iter().chain(pieces).chain(wholes))
    });
}

#[test]
fn results_of_a_run_and_responses_after_them() {
    let dialect = &RUNTIMES[0];
    check("responses", dialect, false, |many| {
        let mut first = dialect.ending();
        first["usage"] = json!({"input_tokens": 1, "output_tokens": 1});
        let response = |n: usize| {
            let mut line = dialect.text(n);
            line["message"]["usage"] = json!({"input_tokens": 1, "output_tokens": 1});
            line
        };
        whole(
            dialect,
            [first].into_iter().chain((0..2 * many).map(response)),
        )
    });
    for dialect in &RUNTIMES {
        check("results", dialect, false, |many| {
            let turn = |n: usize| [dialect.user("more"), dialect.text(n), dialect.ending()];
            whole(dialect, (0..many / 3).flat_map(turn))
        });
    }
}
