//! What happens now, with real recorders.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::Runtape;
use crate::server::Server;

/// An event as it came.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

/// A live stream, read line by line; the pieces that HTTP cuts it into end at events.
pub(crate) struct Stream {
    pub(crate) lines: BufReader<TcpStream>,
}

impl Stream {
    pub(crate) fn open(server: &Server, query: &str, headers: &str) -> Self {
        let mut stream = server.connect();
        let request = format!(
            "GET /api/v1/live?{query} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n{headers}\r\n",
            server.port, server.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        Self {
            lines: BufReader::new(stream),
        }
    }

    /// Returns the next event, `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let (mut name, mut id) = (String::new(), None);
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut name);
            } else if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.to_owned());
            } else if let Some(text) = line.strip_prefix("data: ") {
                let data = serde_json::from_str(text).unwrap();
                return Some(Event { name, id, data });
            }
        }
    }

    /// Returns the next event of a name.
    pub(crate) fn expect(&mut self, name: &str) -> Event {
        loop {
            let event = self
                .next()
                .unwrap_or_else(|| panic!("the stream ended before {name}"));
            if event.name == name {
                return event;
            }
        }
    }
}

pub(crate) fn line(number: usize) -> Value {
    json!({"type": "assistant", "message": {"id": format!("m{number}"), "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": format!("word {number}")}], "usage": {"input_tokens": 1, "output_tokens": 1}}, "session_id": "s"})
}

/// Starts a recorder of an agent that says so many words, one each so many seconds.
fn record(runtape: &Runtape, name: &str, words: usize, pause: &str) -> Child {
    recorder(runtape, name, words, pause).spawn().unwrap()
}

/// Returns what records an agent that says so many words, one each so many seconds.
pub(crate) fn recorder(runtape: &Runtape, name: &str, words: usize, pause: &str) -> Command {
    let mut text = String::new();
    for number in 0..words {
        let _ = writeln!(text, "{}", line(number));
    }
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "done", "session_id": "s", "num_turns": words, "duration_ms": 1});
    let _ = writeln!(text, "{result}");
    let lines = runtape.path(&format!("{name}.lines"));
    std::fs::write(&lines, text).unwrap();
    let body = format!(
        "while IFS= read -r line; do printf '%s\\n' \"$line\"; sleep {pause}; done < '{}'",
        lines.display()
    );
    // By this name its command line is understood.
    std::fs::create_dir_all(runtape.path(name)).unwrap();
    let agent = runtape.script(&format!("{name}/claude"), &body);
    let mut command = runtape.command(&[
        "record",
        "--run-id",
        name,
        "--runtime",
        "claude-code",
        "--",
        &agent,
        "-p",
        "count",
        "--output-format",
        "stream-json",
        "--verbose",
    ]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Collects the records of one run until its last, coming back as often as the stream ends.
pub(crate) fn follow(server: &Server, run: &str, from: u64) -> Vec<u64> {
    let mut seen = Vec::new();
    let mut next = from;
    let begun = Instant::now();
    loop {
        let mut stream = Stream::open(server, &format!("runs={run}:{next}"), "");
        while let Some(event) = stream.next() {
            if event.name != "record" {
                break;
            }
            let seq = event.data["seq"].as_u64().unwrap();
            assert_eq!(event.id.unwrap(), format!("{run}.{seq}"));
            seen.push(seq);
            next = seq + 1;
            let mut entries = event.data["entries"].as_array().unwrap().iter();
            if entries.any(|entry| entry["kind"] == "result") {
                return seen;
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{seen:?}");
    }
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{what} did not come"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_run_is_seen_while_it_goes_on_without_gap_or_repeat() {
    let runtape = Runtape::with_fixtures();
    let token = runtape.path("token");
    let token = token.to_str().unwrap();
    let server = Server::start(&runtape, &["--token-file", token]);
    let mut list = Stream::open(&server, "list=1", "");
    list.expect("listed");
    let mut recorder = record(&runtape, "counting", 30, "0.1");
    let card = loop {
        let card = list.expect("run").data;
        if card["runId"] == "counting"
            && card["now"]["text"]
                .as_str()
                .is_some_and(|text| text.contains("word"))
        {
            break card;
        }
    };
    assert_eq!(
        (&card["status"], &card["prompt"]),
        (&json!("proceeding"), &json!("count"))
    );
    // The first half from one server, which is killed; the rest from the next one.
    let mut stream = Stream::open(&server, "runs=counting", "");
    let mut seen = Vec::new();
    while seen.len() < 8 {
        seen.push(stream.expect("record").data["seq"].as_u64().unwrap());
    }
    server.kill();
    assert!(stream.next().is_none_or(|event| event.name == "record"));
    let server = Server::start(&runtape, &["--token-file", token]);
    let next = seen.last().unwrap() + 1;
    seen.extend(follow(&server, "counting", next));
    assert!(recorder.wait().unwrap().success());
    let records = server.api("runs/counting")["records"].as_u64().unwrap();
    assert_eq!(seen, (0..records).collect::<Vec<_>>());
    assert!(records > 60, "{records}");
    // The same by the header that browsers send by themselves.
    let mut stream = Stream::open(&server, "runs=counting", "Last-Event-ID: counting.40\r\n");
    assert_eq!(stream.expect("record").data["seq"], 41);
    // When it is over, the list says so.
    let mut list = Stream::open(&server, "list=1", "");
    loop {
        let event = list.next().unwrap();
        assert_ne!(event.data["runId"], "counting", "it is not open any more");
        if event.name == "listed" {
            break;
        }
    }
}

#[test]
fn the_end_of_a_run_is_told_to_who_watches_the_list() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let mut list = Stream::open(&server, "list=1", "");
    list.expect("listed");
    let mut recorder = record(&runtape, "short", 3, "0.3");
    let mut newest = Value::Null;
    while newest["status"] != "completed" {
        let card = list.expect("run").data;
        if card["runId"] == "short" {
            newest = card;
        }
    }
    assert!(recorder.wait().unwrap().success());
}

#[test]
fn a_run_that_nobody_has_is_no_stream() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let answer = server.get("/api/v1/live?runs=nobody");
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json()["detail"], "no run \"nobody\"");
}
