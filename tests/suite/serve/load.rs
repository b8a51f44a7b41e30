//! Many who watch many: what they see, what it costs those who record, and what who does not read costs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufRead;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::Runtape;
use crate::live::{Stream, line};
use crate::server::Server;

/// How many record, how many watch each of them, how much is said, and how often all of it is done.
struct Load {
    recorders: usize,
    watchers: usize,
    words: usize,
    rounds: usize,
}

impl Load {
    /// With `RUNTAPE_LOAD=1`, fifty watchers of twenty recorders.
    fn wanted() -> Self {
        if std::env::var_os("RUNTAPE_LOAD").is_some() {
            Self {
                recorders: 20,
                watchers: 50,
                words: 60,
                rounds: 5,
            }
        } else {
            Self {
                recorders: 4,
                watchers: 6,
                words: 12,
                rounds: 1,
            }
        }
    }
}

/// A recorder at work.
struct AtWork {
    process: Child,
    /// The file that it tells people in how it went.
    told: PathBuf,
}

impl AtWork {
    /// Waits until it has ended. Whoever only had to wait for others has stored its run: a spool file is for those who
    /// cannot.
    fn finish(mut self) {
        let status = self.process.wait().unwrap();
        let told = std::fs::read_to_string(&self.told).unwrap();
        assert!(status.success() && !told.contains("not stored"), "{told}");
    }
}

/// Starts a recorder of an agent that says so many words, twenty a second, and little else.
fn record(runtape: &Runtape, name: &str, words: usize) -> AtWork {
    let mut text = String::new();
    for number in 0..words {
        let _ = writeln!(text, "{}", line(number));
    }
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "done", "session_id": "s", "num_turns": words, "duration_ms": 1});
    let _ = writeln!(text, "{result}");
    let lines = runtape.path(&format!("{name}.lines"));
    std::fs::write(&lines, text).unwrap();
    std::fs::create_dir_all(runtape.path(name)).unwrap();
    let body = format!(
        "exec perl -e '$| = 1; while (<>) {{ print; select(undef, undef, undef, 0.05) }}' '{}'",
        lines.display()
    );
    let agent = runtape.script(&format!("{name}/claude"), &body);
    let words = format!("record --run-id {name} --runtime claude-code --");
    let mut arguments: Vec<&str> = words.split(' ').collect();
    arguments.push(&agent);
    arguments.extend("-p count --output-format stream-json --verbose".split(' '));
    let told = runtape.path(&format!("{name}.told"));
    let mut command = runtape.command(&arguments);
    command.stdout(Stdio::null());
    command.stderr(std::fs::File::create(&told).unwrap());
    AtWork {
        process: command.spawn().unwrap(),
        told,
    }
}

/// Records all of them at once; returns how long the last one took.
fn record_all(runtape: &Runtape, names: &[String], words: usize) -> Duration {
    let begun = Instant::now();
    let recorders = names.iter().map(|name| record(runtape, name, words));
    let recorders: Vec<AtWork> = recorders.collect();
    recorders.into_iter().for_each(AtWork::finish);
    begun.elapsed()
}

/// What one watcher saw of each run.
type Seen = BTreeMap<String, Vec<u64>>;

/// Collects the records of several runs by one stream until each has ended, coming back as often as it ends. A
/// record's place is in the id of its event, so that looking costs little beside what is measured.
fn follow_all(server: &Server, runs: &[String], is_broken: &AtomicBool) -> Seen {
    let mut seen: Seen = runs.iter().map(|run| (run.clone(), Vec::new())).collect();
    let mut open = runs.len();
    while open > 0 {
        let places = seen
            .iter()
            .map(|(run, seqs)| format!("{run}:{}", seqs.last().map_or(0, |seq| seq + 1)));
        let query = format!("runs={}", places.collect::<Vec<_>>().join(","));
        let mut stream = Stream::open(server, &query, "");
        let mut text = String::new();
        let _ = stream.lines.read_line(&mut text);
        if !text.contains(" 200 ") {
            // The seats of those who left a moment ago are still theirs.
            assert!(!is_broken.load(Ordering::Relaxed), "refused: {text}");
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        while open > 0 {
            text.clear();
            if stream.lines.read_line(&mut text).unwrap_or(0) == 0 {
                break;
            }
            assert!(!is_broken.load(Ordering::Relaxed), "{open} are still open");
            if let Some(id) = text.strip_prefix("id: ") {
                let (run, seq) = id.trim_end().rsplit_once('.').unwrap();
                seen.get_mut(run).unwrap().push(seq.parse().unwrap());
            } else if text.starts_with("data: ") && text.contains("\"kind\":\"result\"") {
                open -= 1;
            }
        }
    }
    seen
}

/// Tells watchers that nothing more will come, also where a recorder failed.
struct EndOfWatching<'a>(&'a AtomicBool);

impl Drop for EndOfWatching<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Has all of them recorded while all of them are watched by many; every watcher must see everything once.
fn record_watched(runtape: &Runtape, server: &Server, names: &[String], load: &Load) -> Duration {
    let is_broken = AtomicBool::new(false);
    let (took, seen) = std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            // A run can be watched once it is there.
            for name in names {
                let begun = Instant::now();
                while server.get(&format!("/api/v1/runs/{name}")).status != 200 {
                    assert!(!is_broken.load(Ordering::Relaxed), "{name} is not there");
                    assert!(begun.elapsed() < Duration::from_secs(60), "{name}");
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            let follow = || follow_all(server, names, &is_broken);
            std::thread::scope(|scope| {
                let watchers = (0..load.watchers).map(|_| scope.spawn(follow));
                let watchers: Vec<_> = watchers.collect();
                let seen = watchers.into_iter().map(|watcher| watcher.join().unwrap());
                seen.collect::<Vec<Seen>>()
            })
        });
        let end = EndOfWatching(&is_broken);
        let took = record_all(runtape, names, load.words);
        let ended = Instant::now();
        while !watching.is_finished() && ended.elapsed() < Duration::from_secs(120) {
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(end);
        (took, watching.join().unwrap())
    });
    assert_eq!(seen.len(), load.watchers);
    for name in names {
        let records = server.api(&format!("runs/{name}"))["records"].as_u64();
        let all: Vec<u64> = (0..records.unwrap()).collect();
        assert!(all.len() > load.words);
        for (watcher, seen) in seen.iter().enumerate() {
            assert_eq!(seen[name], all, "watcher {watcher} of {name}");
        }
    }
    took
}

#[test]
fn many_watchers_of_many_recorders_all_see_everything() {
    let load = Load::wanted();
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let names = |round: usize, kind: &str| -> Vec<String> {
        let numbers = 0..load.recorders;
        numbers
            .map(|number| format!("{kind}-{round}-{number}"))
            .collect()
    };
    let mut ratios = Vec::new();
    for round in 0..load.rounds {
        // One after the other, in turns: what else the machine does is in both.
        let alone = || record_all(&runtape, &names(round, "alone"), load.words);
        let watched = || record_watched(&runtape, &server, &names(round, "watched"), &load);
        let (alone, watched) = if round % 2 == 0 {
            let alone = alone();
            (alone, watched())
        } else {
            let watched = watched();
            (alone(), watched)
        };
        let ratio = watched.as_secs_f64() / alone.as_secs_f64();
        println!(
            "{} recorders: {alone:.2?} alone, {watched:.2?} watched by {}: {ratio:.3}",
            load.recorders, load.watchers
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!("recorders that are watched take {median:.3} times as long (1.1 at most)");
    // Of one round on a machine that does other things, nothing follows.
    assert!(load.rounds == 1 || median < 1.1, "{ratios:?}");
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

/// Clients that ask for a run and take nothing of it.
#[cfg(target_os = "linux")]
fn silent_clients(server: &Server, run: &str) -> Vec<Stream> {
    let open = |_| Stream::open(server, &format!("runs={run}"), "");
    (0..40).map(open).collect()
}

/// A run of thirty megabytes: forty clients do not take what is there already, and forty not what is said while
/// they watch. Its agent begins to speak when a file is there.
#[test]
#[cfg(target_os = "linux")]
fn clients_that_do_not_read_cost_little() {
    let runtape = Runtape::new();
    let init = json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "cwd": "/x", "tools": []});
    let mut text = String::new();
    for number in 0..3000 {
        let mut line = line(number);
        line["message"]["content"][0]["text"] = "many words ".repeat(1000).into();
        let _ = writeln!(text, "{line}");
    }
    let (first, lines, go) = (
        runtape.path("first"),
        runtape.path("lines"),
        runtape.path("go"),
    );
    std::fs::write(&first, format!("{init}\n{}\n", line(9999))).unwrap();
    std::fs::write(&lines, text).unwrap();
    let body = format!(
        "cat '{}'; while [ ! -e '{}' ]; do sleep 0.1; done; cat '{}'",
        first.display(),
        go.display(),
        lines.display()
    );
    let agent = runtape.script("claude", &body);
    let words = "record --run-id loud --runtime claude-code -- AGENT -p say --output-format stream-json --verbose";
    let words = words.split(' ').map(|word| match word {
        "AGENT" => agent.as_str(),
        word => word,
    });
    let mut command = runtape.command(&words.collect::<Vec<_>>());
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut recorder = command.spawn().unwrap();
    let begun = Instant::now();
    while !runtape.path("runtape.db").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
    let server = Server::start(&runtape, &[]);
    while server.get("/api/v1/runs/loud").status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
    let before = memory(server.id());
    let watching = silent_clients(&server, "loud");
    std::fs::write(&go, "").unwrap();
    assert!(recorder.wait().is_ok());
    std::thread::sleep(Duration::from_secs(1));
    let while_said = memory(server.id());
    drop(watching);
    let reading = silent_clients(&server, "loud");
    std::thread::sleep(Duration::from_secs(5));
    let afterwards = memory(server.id());
    println!(
        "{before} KiB before, {while_said} KiB with {} clients that do not read what is said, {afterwards} KiB with as many that do not read what is there",
        reading.len()
    );
    for most in [while_said, afterwards] {
        assert!(most < before + 128 * 1024, "{before} KiB, then {most} KiB");
    }
    assert_eq!(server.get("/api/v1/runs").status, 200);
    let records = server.api("runs/loud")["records"].as_u64().unwrap();
    assert!(records > 3000, "{records}");
}
