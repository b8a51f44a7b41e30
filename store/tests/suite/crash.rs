//! A writer is killed at a random moment, again and again: what it was told is stored, is.
//!
//! `RUNTAPE_CRASH_ROUNDS=200 cargo test -p runtape-store --test suite crash` for more rounds.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::Duration;

use runtape_store::{Options, Store};
use serde_json::json;

use crate::writers::{start, work};
use runtape_tests::runs::{Dice, Made, Plan};

fn made(round: u64) -> Made {
    Plan::new(&format!("round{round}"), 400).make()
}

/// Writes a run without end, telling on stdout what was acknowledged.
fn write(path: &Path, round: u64) {
    let made = made(round);
    let mut store = Store::open(path, &Options::default()).unwrap();
    store.begin_run(&made.begin).unwrap();
    let mut out = std::io::stdout();
    let mut chunks = made.chunks.chunks(4);
    for (batch, records) in made.records.chunks(7).enumerate() {
        let chunks = chunks.next().unwrap_or_default();
        store.append(made.id(), records, chunks).unwrap();
        let bytes: usize = chunks.iter().map(|chunk| chunk.bytes.len()).sum();
        writeln!(out, "acknowledged {} {bytes}", batch * 7 + records.len()).unwrap();
        out.flush().unwrap();
    }
    // Sealing merges blocks: the kill may come there, too.
    store.finish_run(made.id(), &json!({"code": 0}), 1).unwrap();
    writeln!(out, "finished").unwrap();
    out.flush().unwrap();
}

/// Does nothing unless it is started by the test below.
#[test]
fn process() {
    if let Some((work, path)) = work() {
        write(&path, work.parse().unwrap());
    }
}

#[test]
fn what_was_acknowledged_survives_kill() {
    let rounds: u64 = env::var("RUNTAPE_CRASH_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(20);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    // A living writer's run, which nobody may touch.
    let living = Plan::new("living", 3).make();
    store.begin_run(&living.begin).unwrap();
    let mut dice =
        Dice::new(env::var("RUNTAPE_CRASH_SEED").map_or(7, |seed| seed.parse().unwrap()));
    let (mut killed, mut finished) = (0, 0);
    for round in 0..rounds {
        let mut child = start("crash::process", &round.to_string(), &path);
        let lines = BufReader::new(child.stdout.take().unwrap());
        let patience = Duration::from_micros(dice.roll(400_000));
        let (sender, receiver) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            let (mut records, mut bytes, mut is_finished) = (0, 0, false);
            for line in lines.lines() {
                let Ok(line) = line else { break };
                // libtest's own output may stand before it on the line.
                if let Some((_, rest)) = line.split_once("acknowledged ") {
                    // The clock starts when the writer has begun.
                    let _ = sender.send(());
                    let (count, length) = rest.split_once(' ').unwrap();
                    records = count.parse::<usize>().unwrap();
                    bytes += length.parse::<usize>().unwrap();
                }
                is_finished |= line.contains("finished");
            }
            (records, bytes, is_finished)
        });
        let _ = receiver.recv_timeout(Duration::from_secs(20));
        std::thread::sleep(patience);
        child.kill().unwrap();
        child.wait().unwrap();
        let (records, bytes, is_finished) = reader.join().unwrap();

        let made = made(round);
        // Verifying reads all rounds so far.
        if round % 10 == 9 || rounds <= 20 {
            let report = store.verify().unwrap();
            assert_eq!(report.faults, [], "round {round}");
        }
        let Ok(run) = store.run(made.id()) else {
            assert_eq!(records, 0);
            continue;
        };
        let stored = store.records(made.id(), 0, usize::MAX).unwrap();
        assert!(stored.len() >= records, "round {round}: lost records");
        assert_eq!(stored, made.records[..stored.len()]);
        let tape = store.tape(made.id()).unwrap();
        assert_eq!(tape, made.chunks[..tape.len()]);
        let kept: usize = tape.iter().map(|chunk| chunk.bytes.len()).sum();
        assert!(kept >= bytes, "round {round}: lost output");
        if run.seal.is_some() {
            finished += 1;
            continue;
        }
        assert!(!is_finished);
        killed += 1;
        // The run's lock is free, the living one's is not.
        let open = store.open_runs().unwrap();
        let names: Vec<String> = open
            .iter()
            .map(|run| run.begin.run_id.to_string())
            .collect();
        assert_eq!(names, [made.id().to_string()]);
        let begin = store.resume_run(made.id()).unwrap();
        assert_eq!(begin.context, made.begin.context);
        store
            .append(made.id(), &made.records, &made.chunks)
            .unwrap();
        store
            .finish_run(made.id(), &json!({"lost": true}), 1)
            .unwrap();
    }
    println!("{rounds} rounds: {killed} killed while writing, {finished} after the end");
    assert!(store.verify().unwrap().is_intact());
    assert!(store.open_runs().unwrap().is_empty());
    store
        .append(living.id(), &living.records, &living.chunks)
        .unwrap();
    store
        .finish_run(living.id(), &json!({"code": 0}), 1)
        .unwrap();
}
