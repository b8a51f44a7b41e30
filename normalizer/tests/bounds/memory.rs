//! What is held is bounded, whether it is long or there is much of it.

use std::process::Command;

use peak_alloc::PeakAlloc;
use runtape_core::{Runtime, Stream};
use runtape_normalizer::json::MOST_VALUES;
use runtape_normalizer::lines::DEFAULT_LIMIT;
use runtape_normalizer::{Exit, Kept, Normalizer};
use serde_json::{Value, json};

use crate::stream::{Dialect, RUNTIMES, context, openclaw_agent, opencode};

/// Names the case that a process of its own measures.
const CASE: &str = "RUNTAPE_BOUNDS_CASE";

const MIB: usize = 1024 * 1024;

/// What a run may take: so many times the limit, however much it prints.
const TIMES: usize = 8;

/// The limit of the cases that print many lines: a debug build reads a few megabytes a second.
const LOW: usize = MIB / 4;

/// What a run takes whatever its limit is.
const SLACK: usize = MIB;

/// What may be remembered of each call, to count it once and to tie its result to it: hashes and
/// places, in tables that are up to twice as large as they need to be. Holding a line takes more.
const REMEMBERED: usize = 192;

/// Counts what is held. The size of a process holds the code and the allocator's own reserves,
/// too, which differ between machines.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Takes the output of a run, piece by piece, and keeps no records.
struct Run(Normalizer);

impl Run {
    fn new(runtime: Runtime, limit: usize) -> Self {
        let mut context = context();
        context.limit = limit;
        Self(Normalizer::new(runtime, context).unwrap())
    }

    fn print(&mut self, text: &[u8]) {
        for chunk in text.chunks(64 * 1024) {
            let kept = Kept::as_given(chunk);
            self.0.push(Stream::Stdout, kept, 1_800_000_000_000);
        }
    }

    fn line(&mut self, line: &Value) {
        self.print(format!("{line}\n").as_bytes());
    }

    /// Prints a line in the middle of which a piece stands, thousands of times a batch.
    fn repeat(&mut self, head: &str, piece: &str, batches: usize, tail: &str) {
        self.print(head.as_bytes());
        let batch = piece.repeat(MANY_PIECES);
        for _ in 0..batches {
            self.print(batch.as_bytes());
        }
        self.print(format!("{tail}\n").as_bytes());
    }

    fn end(self) {
        let _ = self.0.finish(&Exit::with_code(0));
    }
}

/// Stands where something is put in.
const MARK: &str = "mark";

/// How often a piece stands in a batch.
const MANY_PIECES: usize = 8 * 1024;

/// A call whose input is the mark.
fn marked_call(dialect: &Dialect) -> Value {
    let text = dialect.call(Some("c"), "ls").to_string();
    let marked = text.replace(
        "{\"command\":\"ls\"}",
        &json!({ "list": [MARK] }).to_string(),
    );
    serde_json::from_str(&marked).unwrap()
}

/// A message of blocks, or of whatever the runtime has instead.
fn marked_message(dialect: &Dialect) -> Value {
    match dialect.0 {
        Runtime::Gemini => json!({"type": "message", "role": "assistant", "content": [MARK]}),
        Runtime::Codex => {
            json!({"type": "item.completed", "item": {"type": "agent_message", "text": [MARK]}})
        }
        Runtime::Opencode => opencode("text", &json!({"text": [MARK]})),
        Runtime::Generic => {
            let mut ending = dialect.ending();
            ending["errors"] = json!([MARK]);
            ending
        }
        _ => {
            let text = dialect.text(1).to_string();
            let block = json!([{"type": "text", "text": "text 1"}]).to_string();
            assert!(text.contains(&block), "{text}");
            serde_json::from_str(&text.replace(&block, &json!([MARK]).to_string())).unwrap()
        }
    }
}

fn faulty(mut line: Value) -> Value {
    line["session_id"] = json!(5);
    line["timestamp"] = json!([5]);
    line["timestamp_ms"] = json!("5");
    line["runId"] = json!(5);
    line
}

/// Values on one line: more than can be held, or as many as just can.
fn values(dialect: &Dialect, is_too_much: bool) {
    for (line, piece) in [
        (marked_call(dialect), "1,"),
        (faulty(marked_call(dialect)), "{\"a\":1},"),
        (faulty(marked_message(dialect)), "\"\","),
    ] {
        let units = piece.bytes().filter(|byte| b",:[{".contains(byte)).count();
        let times = if is_too_much {
            16 * MIB / piece.len()
        } else {
            MOST_VALUES / units - MANY_PIECES
        };
        let mut run = Run::new(dialect.0.clone(), DEFAULT_LIMIT);
        run.line(&dialect.opening());
        let line = line.to_string();
        let (head, tail) = line.split_once(&format!("\"{MARK}\"")).unwrap();
        run.repeat(head, piece, times / MANY_PIECES, &format!("1{tail}"));
        run.end();
    }
}

/// One long text with many escapes, which is copied when it is read.
fn long_text(dialect: &Dialect) {
    let mut run = Run::new(dialect.0.clone(), DEFAULT_LIMIT);
    run.line(&dialect.opening());
    let line = dialect.call(Some("c"), MARK).to_string();
    let (head, tail) = line.split_once(MARK).unwrap();
    let piece = "\\u00e9\\n";
    run.repeat(head, piece, 28 * MIB / (MANY_PIECES * piece.len()), tail);
    run.end();
}

/// A frame of a session of its own, as a gateway sends those of all its sessions.
fn of_session(session: &str) -> Value {
    let mut frame = openclaw_agent("lifecycle", &json!({"phase": "start"}));
    frame["payload"]["sessionKey"] = session.into();
    frame["payload"]["runId"] = session.into();
    frame
}

/// Prints many things in one step, or before the first one, and returns how many.
fn many(dialect: &Dialect, what: &str) -> usize {
    let mut run = Run::new(dialect.0.clone(), LOW);
    if what != "blank lines" {
        run.line(&dialect.opening());
    }
    let line = |n: usize| match what {
        "user lines" => dialect.user("x").to_string(),
        "texts" => match dialect.0 {
            Runtime::ClaudeCode => dialect
                .said("m1", &[json!({"type": "text", "text": ""})])
                .to_string(),
            _ => dialect.text(1).to_string(),
        },
        "results" => dialect.result(Some(&n.to_string()), "").to_string(),
        "endings" => dialect.ending().to_string(),
        "blank lines" => String::new(),
        "sessions" => of_session(&format!("agent:main:{n}")).to_string(),
        "sub-agents" => of_session(&format!("agent:main:subagent:{n}")).to_string(),
        what => panic!("no such case: {what}"),
    };
    let (mut batch, mut printed, mut n) = (String::new(), 0, 0);
    let most = if what == "blank lines" {
        MIB / 2
    } else {
        4 * MIB
    };
    while printed < most {
        batch.push_str(&line(n));
        batch.push('\n');
        n += 1;
        if batch.len() >= 64 * 1024 {
            printed += batch.len();
            run.print(batch.as_bytes());
            batch.clear();
        }
    }
    run.end();
    n
}

const MANY: [&str; 5] = ["user lines", "texts", "results", "endings", "blank lines"];

/// Does what a case names, and returns how many things there were of which some may be remembered.
fn work(case: &str) -> usize {
    let (runtime, what) = case.split_once(' ').unwrap();
    let dialect = Dialect(Runtime::from_name(runtime));
    match what {
        "values" => values(&dialect, false),
        "too many values" => values(&dialect, true),
        "long text" => long_text(&dialect),
        "results" | "sub-agents" => return many(&dialect, what),
        what => {
            many(&dialect, what);
        }
    }
    0
}

#[test]
#[ignore = "what the other tests of this module start in a process of its own"]
fn in_a_process_of_its_own() {
    let Ok(case) = std::env::var(CASE) else {
        return;
    };
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let things = work(&case);
    let held = HEAP.peak_usage().saturating_sub(before);
    println!("held {held} for {things}");
}

/// Measures how much a process holds at most that does this and nothing else, and of how many
/// things.
fn measure(case: &str) -> (usize, usize) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "memory::in_a_process_of_its_own",
            "--ignored",
            "--nocapture",
        ])
        .env(CASE, case)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let held = text.lines().find_map(|line| line.split_once("held "));
    let Some((held, things)) = held.and_then(|(_, numbers)| numbers.split_once(" for ")) else {
        panic!("{case}: {text}{}", String::from_utf8_lossy(&output.stderr))
    };
    (held.parse().unwrap(), things.trim().parse().unwrap())
}

fn check(whats: &[&str], limit: usize) {
    check_in(&RUNTIMES, whats, limit);
}

fn check_in(dialects: &[Dialect], whats: &[&str], limit: usize) {
    for dialect in dialects {
        for what in whats {
            let case = format!("{} {what}", dialect.0.as_str());
            let (held, things) = measure(&case);
            let most = TIMES * limit + SLACK + REMEMBERED * things;
            println!("{case}: {held} bytes, at most {most}");
            assert!(held <= most, "{case}: {held} bytes, more than {most}");
        }
    }
}

#[test]
fn a_line_takes_a_few_times_the_limit_whatever_is_on_it() {
    check(&["values", "long text"], DEFAULT_LIMIT);
}

#[test]
fn a_line_with_more_values_than_can_be_held_is_not_read() {
    check(&["too many values"], DEFAULT_LIMIT);
}

#[test]
fn many_small_things_take_no_more_than_few_large_ones() {
    check(&MANY, LOW);
}

#[test]
fn sessions_that_a_gateway_tells_of_are_not_kept() {
    let gateway = [Dialect(Runtime::Openclaw)];
    check_in(&gateway, &["sessions", "sub-agents"], LOW);
}
