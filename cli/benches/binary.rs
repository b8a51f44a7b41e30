//! The binary as people meet it: how soon it answers on a large database, and how much memory
//! it takes however much passes through.
//!
//!     cargo bench -p runtape
//!
//! Prints each number beside what it is held against, and fails if one is not met.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement fails by panicking, and prints what it measured"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use runtape_recorder::core::{Runtime, Stream};
use runtape_recorder::normalizer::{Context, Exit};
use runtape_recorder::store::{Options, Store};
use runtape_recorder::{Clock, Recorder, RecorderOptions, StoreHandle};
use runtape_tests::synthetic::LongRun;
use serde_json::Value;

/// Records in the large database.
const RECORDS: u64 = 1_000_000;
/// Steps of a run in it.
const STEPS: usize = 1_000;
/// Bytes through a pipe.
const PIPED: usize = 1 << 30;
/// Bytes that a recorded command prints.
const PRINTED: usize = 200_000_000;
/// How often a start is timed.
const TIMES: usize = 21;

fn runtape(database: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_runtape"));
    command
        .env("RUNTAPE_DB", database)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Fills a database by the library, as the commands do; returns its runs and records.
fn fill(path: &Path, wanted: u64, steps: usize) -> (u64, u64) {
    let store = StoreHandle::from(Store::open(path, &Options::default()).unwrap());
    let (mut records, mut number) = (0, 0);
    while records < wanted {
        number += 1;
        let id = format!("run-{number}");
        let context = Context::new(id.parse().unwrap(), id.parse().unwrap());
        let output = LongRun::new("claude-code", number).unwrap().write(steps);
        let at = 1_700_000_000_000 + i64::try_from(number).unwrap();
        let options = RecorderOptions {
            clock: Clock::new(move || at),
            ..RecorderOptions::default()
        };
        let runtime = Runtime::ClaudeCode;
        let recorder = Recorder::start_with(store.clone(), runtime, &context, &options).unwrap();
        let mut recorder = recorder.without_summary();
        for chunk in output.chunks(64 * 1024) {
            recorder.push(Stream::Stdout, chunk).unwrap();
        }
        recorder.close(&Exit::with_code(0)).unwrap();
        records += store.lock().run(&context.run_id).unwrap().records;
    }
    (number, records)
}

/// Returns the median time of a command.
fn time(database: &Path, arguments: &[&str]) -> Duration {
    let mut times: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let begin = Instant::now();
            let status = runtape(database).args(arguments).status().unwrap();
            assert!(status.success(), "{arguments:?}");
            begin.elapsed()
        })
        .collect();
    times.sort();
    times.get(TIMES / 2).copied().unwrap_or_default()
}

/// Waits for a process; returns the most memory it held, in bytes, where the system tells.
fn peak_memory(mut child: Child) -> Option<u64> {
    let path = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = kilobytes.map(|kilobytes| kilobytes * 1024).max(peak);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return peak;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A server of the binary, and how soon it answers.
struct Served {
    process: Child,
    port: u64,
    token: String,
}

impl Served {
    fn start(database: &Path) -> Self {
        let mut command = runtape(database);
        command.args(["--json", "serve", "--port", "0", "--json-only"]);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let stdout = process.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let info: Value = serde_json::from_str(&line).unwrap();
        Self {
            process,
            port: info.get("port").and_then(Value::as_u64).unwrap(),
            token: info
                .get("token")
                .and_then(Value::as_str)
                .unwrap()
                .to_owned(),
        }
    }

    /// Asks, and returns how long the whole answer took.
    fn time(&self, path: &str) -> Duration {
        let begin = Instant::now();
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port)).unwrap();
        let (port, token) = (self.port, &self.token);
        let request = format!(
            "GET /api/v1/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{path}");
        begin.elapsed()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The first pages that somebody sees, on ten thousand and on a million records in many short runs. Both servers
/// are asked in turns, so that what else the machine does is in both.
fn serve(directory: &Path) -> bool {
    let made: Vec<Served> = [10_000, 1_000_000]
        .map(|wanted| {
            let database = directory.join(format!("{wanted}.db"));
            let begin = Instant::now();
            let (runs, records) = fill(&database, wanted, 4);
            println!(
                "served: {runs} runs, {records} records, made in {:.0?}",
                begin.elapsed()
            );
            Served::start(&database)
        })
        .into();
    let mut is_met = true;
    // A filter that finds nothing looks at every run there is: its time is told, and nothing is promised of it.
    for (path, is_promised) in [
        ("runs", true),
        ("runs?status=error", false),
        ("jobs", true),
        ("runs/last", true),
        ("runs/last/transcript", true),
    ] {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..TIMES {
            for (served, times) in made.iter().zip(&mut times) {
                times.push(served.time(path));
            }
        }
        let [few, many] = times.map(|mut times| {
            times.sort();
            times.get(TIMES / 2).copied().unwrap_or_default()
        });
        let ratio = many.as_secs_f64() / few.as_secs_f64();
        let promise = if is_promised { " (3 at most)" } else { "" };
        println!(
            "served: {path:<22} {few:>9.1?} on ten thousand records, {many:>9.1?} on a million: {ratio:.2}{promise}"
        );
        is_met &= !is_promised || ratio <= 3.0;
    }
    is_met
}

fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}

fn start_up(directory: &Path) -> bool {
    let database = directory.join("large.db");
    let begin = Instant::now();
    let (_, records) = fill(&database, RECORDS, STEPS);
    let size = std::fs::metadata(&database).unwrap().len();
    println!(
        "database of {records} records, {} MiB, made in {:.0?}",
        mebibytes(size),
        begin.elapsed()
    );
    let version = time(&database, &["--version"]);
    let limit = version * 3 + Duration::from_millis(20);
    println!("runtape --version   {version:>9.1?}");
    let mut is_met = true;
    for arguments in [&["runs"][..], &["show", "last"], &["usage"], &["tools"]] {
        let took = time(&database, arguments);
        // Only the list is promised to be as quick; the others add up what there is.
        let is_promised = arguments == ["runs"];
        let promise = if is_promised {
            format!("  at most {limit:.1?}")
        } else {
            String::new()
        };
        println!("runtape {:<11} {took:>9.1?}{promise}", arguments.join(" "));
        is_met &= !is_promised || took <= limit;
    }
    is_met
}

fn pipe(directory: &Path) -> bool {
    let database = directory.join("piped.db");
    let begin = Instant::now();
    let mut child = runtape(&database)
        .args(["ingest", "-", "--exit-code", "0"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // One run: its lines again and again would be known responses, so each part is another.
        let mut written = 0;
        let mut seed = 0;
        while written < PIPED {
            seed += 1;
            let output = LongRun::new("claude-code", seed).unwrap().write(STEPS);
            written += output.len();
            stdin.write_all(&output).unwrap();
        }
        written
    });
    let peak = peak_memory(child);
    let written = writer.join().unwrap() as u64;
    let took = begin.elapsed();
    println!(
        "ingest of {} MiB through a pipe in {took:.0?}: {} MiB of memory, at most 150",
        mebibytes(written),
        peak.map_or_else(|| "?".to_owned(), |peak| mebibytes(peak).to_string())
    );
    peak.is_none_or(|peak| mebibytes(peak) < 150)
}

#[cfg(unix)]
fn record(directory: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let script = directory.join("claude");
    let line = "a line of plain text that an agent prints again and again";
    let body = format!("#!/bin/sh\nyes '{line}' | head -c {PRINTED}\n");
    std::fs::write(&script, body).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let begin = Instant::now();
    let child = runtape(&directory.join("recorded.db"))
        .args(["record", "--"])
        .arg(&script)
        .spawn()
        .unwrap();
    let peak = peak_memory(child);
    println!(
        "record of a command that prints {} MiB as one message in {:.0?}: {} MiB of memory",
        PRINTED >> 20,
        begin.elapsed(),
        peak.map_or_else(|| "?".to_owned(), |peak| mebibytes(peak).to_string())
    );
    true
}

#[cfg(not(unix))]
fn record(_: &Path) -> bool {
    true
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let mut is_met = true;
    for (name, measure) in [
        ("start", start_up as fn(&Path) -> bool),
        ("pipe", pipe),
        ("record", record),
        ("serve", serve),
    ] {
        if wanted.as_ref().is_none_or(|wanted| wanted == name) {
            is_met &= measure(directory.path());
        }
    }
    assert!(is_met, "not all is met");
}
