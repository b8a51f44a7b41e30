//! A writer is killed at a random moment, again and again: what it was told is stored, is.
//!
//! `RUNTAPE_CRASH_ROUNDS=200 cargo test -p runtape-tests --test postgres killed` for more rounds.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use runtape_tests::postgres::{Database, Layout};
use runtape_tests::runs::{Dice, Made, Plan};
use serde_json::json;

use crate::writers::{open, start, work};

fn made(round: u64) -> Made {
    Plan::new(&format!("round{round}"), 60).make()
}

/// Writes a run, telling on stdout what was acknowledged.
fn write(address: &str, round: u64) {
    let made = made(round);
    let mut store = open(address);
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
    store.finish_run(made.id(), &json!({"code": 0}), 1).unwrap();
    writeln!(out, "finished").unwrap();
    out.flush().unwrap();
}

/// Does nothing unless it is started by the test below.
#[test]
fn process() {
    if let Some((work, address)) = work() {
        write(address.to_str().unwrap(), work.parse().unwrap());
    }
}

#[test]
fn what_was_acknowledged_survives_kill() {
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    let rounds = env::var("RUNTAPE_CRASH_ROUNDS");
    let rounds: u64 = rounds.map_or(20, |rounds| rounds.parse().unwrap());
    let sql = database.sql();
    let mut store = open(database.address());
    // A living writer's run, which nobody may touch.
    let living = Plan::new("living", 3).make();
    store.begin_run(&living.begin).unwrap();
    let mut dice =
        Dice::new(env::var("RUNTAPE_CRASH_SEED").map_or(7, |seed| seed.parse().unwrap()));
    let (mut killed, mut finished, mut sealed) = (0, 0, Vec::new());
    for round in 0..10 * rounds {
        // The dice and the scheduler decide who is killed while writing: more are started until one was.
        if round >= rounds && killed > 0 {
            break;
        }
        let mut child = start("killed::process", &round.to_string(), database.address());
        let lines = BufReader::new(child.stdout.take().unwrap());
        let patience = Duration::from_micros(dice.roll(500_000));
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
        let _ = receiver.recv_timeout(Duration::from_secs(60));
        std::thread::sleep(patience);
        child.kill().unwrap();
        child.wait().unwrap();
        let (records, bytes, is_finished) = reader.join().unwrap();

        let made = made(round);
        // What the killed writer's connection was still doing is over when the server has noticed.
        let ours = "datname = current_database() AND application_name = 'runtape'";
        let begin = std::time::Instant::now();
        while sql.value(&format!(
            "SELECT count(*) FROM pg_stat_activity WHERE {ours}"
        )) != "1"
        {
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "a killed writer is still connected"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        let report = store.verify().unwrap();
        assert_eq!(report.faults, [], "round {round}");
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
        assert!(
            run.seal.is_some() || !is_finished,
            "round {round}: lost the end"
        );
        sealed.push(made.id().to_string());
        if run.seal.is_some() {
            finished += 1;
            continue;
        }
        killed += 1;
        // It is seen when its lease is over, and not before: the server's clock is put forward for it.
        assert!(store.open_runs().unwrap().is_empty(), "round {round}");
        let refused = store.resume_run(made.id());
        assert!(matches!(
            refused,
            Err(runtape_store::StoreError::Locked { .. })
        ));
        sql.run(&format!(
            "UPDATE lease SET until = clock_timestamp() - interval '1 s' WHERE root_id = '{}'",
            made.id()
        ));
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
    assert!(killed > 0, "nobody was killed while writing");
    assert!(store.open_runs().unwrap().is_empty());
    store
        .append(living.id(), &living.records, &living.chunks)
        .unwrap();
    store
        .finish_run(living.id(), &json!({"code": 0}), 1)
        .unwrap();
    assert!(store.verify().unwrap().is_intact());
    let seals = sql.value("SELECT count(*) FROM seal");
    assert_eq!(seals, (sealed.len() + 1).to_string());
}
