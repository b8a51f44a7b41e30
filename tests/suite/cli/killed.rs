//! A recorder that is killed at a random moment: `recover` closes its run truthfully, from its tape,
//! and leaves the runs of living recorders alone.
//!
//! `RUNTAPE_CRASH_ROUNDS=200 cargo test -p runtape --test cli killed` for more rounds.

use std::env;
use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::harness::{Runtape, fixtures, stderr};

const SOON: Duration = Duration::from_secs(60);

/// Waits until a run is in the database.
fn wait_for(runtape: &Runtape, run: &str) {
    let begin = Instant::now();
    while !runtape.run(&["show", run]).status.success() {
        assert!(begin.elapsed() < SOON, "no run {run}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Records a script that goes on until a file is there.
fn living(runtape: &Runtape) -> Child {
    let script = runtape.waiting("echo one", "echo two");
    let child = runtape
        .command(&[
            "record", "--show", "none", "--run-id", "living", "--", &script,
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(runtape, "living");
    child
}

/// Pipes lines into an ingest and kills it after a while. Returns what was written by then.
fn ingest_and_kill(runtape: &Runtape, lines: &[&[u8]], after: Duration) -> Vec<u8> {
    let mut child = runtape
        .command(&["ingest", "--runtime", "claude-code", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let begin = Instant::now();
    let mut written = Vec::new();
    for line in lines.iter().cycle() {
        if begin.elapsed() >= after || input.write_all(line).is_err() {
            break;
        }
        written.extend_from_slice(line);
        std::thread::sleep(Duration::from_millis(2));
    }
    // SIGKILL, while its end of the pipe is still open.
    child.kill().unwrap();
    child.wait().unwrap();
    drop(input);
    written
}

#[test]
fn a_killed_recorder_leaves_what_it_had_and_recover_says_so() {
    let rounds = env::var("RUNTAPE_CRASH_ROUNDS").ok();
    let rounds: u64 = rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
    let runtape = Runtape::new();
    let mut alive = living(&runtape);
    let capture = fs::read(fixtures().join("claude-code/files.stream-json.stdout")).unwrap();
    let lines: Vec<&[u8]> = capture.split_inclusive(|byte| *byte == b'\n').collect();
    // Without its last line, the result: none of these runs ended by itself.
    let (_, work) = lines.split_last().unwrap();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let mut luck = u64::from(now.unwrap().subsec_nanos());
    let mut closed = 0;
    for round in 0..10 * rounds {
        // On a busy machine a recorder may take longer than that to begin: later ones live longer.
        if round >= rounds && closed > 0 {
            break;
        }
        luck = luck
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let after = Duration::from_millis((10 + (luck >> 33) % 350) * (1 + round / rounds));
        let written = ingest_and_kill(&runtape, work, after);
        let output = runtape.run(&["recover"]);
        assert!(
            output.status.success(),
            "round {round}: {}",
            stderr(&output)
        );
        let verified = runtape.run(&["verify"]);
        assert!(
            verified.status.success(),
            "round {round}: {}",
            stderr(&verified)
        );
        let runs = runtape.json(&["runs", "--limit", "1000"]);
        let is_living = |run: &&Value| run["runId"] == "living";
        let open = runs.iter().filter(|run| run["status"] == "proceeding");
        assert!(open.clone().all(|run| is_living(&run)), "round {round}");
        assert_eq!(open.count(), 1, "round {round}: the living run was touched");
        // Killed before it could begin a run, it left none.
        let ended: Vec<&Value> = runs.iter().filter(|run| !is_living(run)).collect();
        assert!(ended.len() - closed <= 1, "round {round}");
        if ended.len() == closed {
            continue;
        }
        closed = ended.len();
        // The newest comes first.
        let run = ended[0];
        assert_eq!(run["status"], "stoppedByError", "round {round}");
        assert_eq!(run["error"]["name"], "RecorderLost", "round {round}");
        let tape = runtape.run(&["raw", run["runId"].as_str().unwrap()]).stdout;
        assert!(
            written.starts_with(&tape),
            "round {round}: the tape is not what was printed"
        );
    }
    assert!(closed > 0, "no recorder lived long enough to begin a run");
    fs::write(runtape.path("go"), "").unwrap();
    alive.wait().unwrap();
    let living = &runtape.json(&["show", "living"])[0];
    assert_eq!(living["status"], "completed", "{living}");
    println!("{closed} of {rounds} killed recorders had begun a run; all were closed");
}
