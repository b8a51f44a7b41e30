//! What happens now, with real recorders.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::Runtape;
use crate::server::Server;

/// An event as it came.
#[derive(Debug)]
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

/// A live stream, read line by line; the pieces that HTTP cuts it into end at events.
struct Stream {
    lines: BufReader<TcpStream>,
}

impl Stream {
    fn open(server: &Server, query: &str, headers: &str) -> Self {
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
    fn next(&mut self) -> Option<Event> {
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
    fn expect(&mut self, name: &str) -> Event {
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

fn line(number: usize) -> Value {
    json!({"type": "assistant", "message": {"id": format!("m{number}"), "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": format!("word {number}")}], "usage": {"input_tokens": 1, "output_tokens": 1}}, "session_id": "s"})
}

/// Starts a recorder of an agent that says so many words, one each so many seconds.
fn record(runtape: &Runtape, name: &str, words: usize, pause: &str) -> Child {
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
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Collects the records of one run until its last, coming back as often as the stream ends.
fn follow(server: &Server, run: &str, from: u64) -> Vec<u64> {
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

/// Collects the records of several runs by one stream until each has ended, coming back as often as it ends.
fn follow_all(server: &Server, runs: &[String]) -> BTreeMap<String, Vec<u64>> {
    let mut seen: BTreeMap<String, Vec<u64>> =
        runs.iter().map(|run| (run.clone(), Vec::new())).collect();
    let mut open = runs.len();
    let begun = Instant::now();
    while open > 0 {
        let places = seen
            .iter()
            .map(|(run, seqs)| format!("{run}:{}", seqs.last().map_or(0, |seq| seq + 1)));
        let mut stream = Stream::open(
            server,
            &format!("runs={}", places.collect::<Vec<_>>().join(",")),
            "",
        );
        while let Some(event) = stream.next() {
            assert!(
                begun.elapsed() < Duration::from_secs(300),
                "{open} are still open"
            );
            if event.name != "record" {
                break;
            }
            let run = event.data["runId"].as_str().unwrap();
            seen.get_mut(run)
                .unwrap()
                .push(event.data["seq"].as_u64().unwrap());
            let mut entries = event.data["entries"].as_array().unwrap().iter();
            open -= usize::from(entries.any(|entry| entry["kind"] == "result"));
            if open == 0 {
                break;
            }
        }
    }
    seen
}

/// With `RUNTAPE_LOAD=1`, fifty watchers of twenty recorders, and how long those took with and without.
#[test]
fn many_watchers_of_many_recorders_all_see_everything() {
    let is_load = std::env::var_os("RUNTAPE_LOAD").is_some();
    let (agents, watchers, words) = if is_load { (20, 50, 60) } else { (4, 6, 12) };
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let record_all = |name: &str| -> (Vec<String>, Vec<Child>) {
        let names: Vec<String> = (0..agents)
            .map(|number| format!("{name}{number}"))
            .collect();
        let recorders = names
            .iter()
            .map(|name| record(&runtape, name, words, "0.05"))
            .collect();
        (names, recorders)
    };
    let wait = |mut recorders: Vec<Child>| {
        for recorder in &mut recorders {
            assert!(recorder.wait().unwrap().success());
        }
    };
    if is_load {
        let begun = Instant::now();
        wait(record_all("alone").1);
        println!("{agents} recorders alone: {:?}", begun.elapsed());
    }
    let begun = Instant::now();
    let (names, recorders) = record_all("watched");
    for name in &names {
        wait_for(name, || {
            server.get(&format!("/api/v1/runs/{name}")).status == 200
        });
    }
    let seen: Vec<BTreeMap<String, Vec<u64>>> = std::thread::scope(|scope| {
        let watching: Vec<_> = (0..watchers)
            .map(|_| scope.spawn(|| follow_all(&server, &names)))
            .collect();
        wait(recorders);
        println!(
            "{agents} recorders watched by {watchers}: {:?}",
            begun.elapsed()
        );
        watching
            .into_iter()
            .map(|watcher| watcher.join().unwrap())
            .collect()
    });
    for name in &names {
        let records = server.api(&format!("runs/{name}"))["records"]
            .as_u64()
            .unwrap();
        for (watcher, seen) in seen.iter().enumerate() {
            assert_eq!(
                seen[name],
                (0..records).collect::<Vec<_>>(),
                "watcher {watcher} of {name}"
            );
        }
    }
}

/// Returns the memory of a process in KiB.
#[cfg(target_os = "linux")]
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn clients_that_do_not_read_cost_little() {
    let runtape = Runtape::new();
    let init = json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "cwd": "/x", "tools": []});
    let mut text = format!("{init}\n");
    for number in 0..3000 {
        let mut line = line(number);
        line["message"]["content"][0]["text"] = "many words ".repeat(1000).into();
        let _ = writeln!(text, "{line}");
    }
    let lines = runtape.path("lines");
    std::fs::write(&lines, text).unwrap();
    let agent = runtape.script("claude", &format!("cat '{}'", lines.display()));
    let command =
        "record --runtime claude-code -- AGENT -p say --output-format stream-json --verbose";
    let command = command.split(' ').map(|word| match word {
        "AGENT" => agent.as_str(),
        word => word,
    });
    runtape.run(&command.collect::<Vec<_>>());
    let server = Server::start(&runtape, &[]);
    let run = server.api("runs/last")["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    let before = memory(server.id());
    // Thirty megabytes each, and nobody takes them.
    let streams: Vec<Stream> = (0..40)
        .map(|_| Stream::open(&server, &format!("runs={run}"), ""))
        .collect();
    std::thread::sleep(Duration::from_secs(5));
    let after = memory(server.id());
    println!(
        "before {before} KiB, with {} clients that do not read {after} KiB",
        streams.len()
    );
    assert!(
        after < before + 256 * 1024,
        "{before} KiB, then {after} KiB"
    );
    assert_eq!(server.get("/api/v1/runs").status, 200);
}

#[test]
fn a_run_that_nobody_has_is_no_stream() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let answer = server.get("/api/v1/live?runs=nobody");
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json()["detail"], "no run \"nobody\"");
}
