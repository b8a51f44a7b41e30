//! Connections are ended by the server, and the server itself is, while eight writers write.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use runtape_store::{Options, Store};
use runtape_tests::postgres::{Care, Database, Layout, own_server};
use runtape_tests::runs::{Dice, Made, Plan};

use crate::writers::{check_exactly, is_away, write_all};

const WRITERS: u64 = 8;

/// Opens a database; whoever is cut off then tries again.
fn open_at_last(address: &str) -> Store {
    for _ in 0..100 {
        match Store::open(address, &Options::default()) {
            Err(error) if is_away(&error) => thread::sleep(Duration::from_millis(50)),
            result => return result.unwrap(),
        }
    }
    panic!("the server is away for too long")
}

/// Lets eight writers write runs one after the other, until `work` is done; then all of it must be there.
fn write_during(address: &str, work: impl FnOnce()) -> (usize, u32) {
    let is_over = AtomicBool::new(false);
    let failures = AtomicU32::new(0);
    let runs: Vec<Made> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (is_over, failures) = (&is_over, &failures);
                scope.spawn(move || {
                    let mut store = open_at_last(address);
                    let mut written = Vec::new();
                    while !is_over.load(Ordering::Relaxed) {
                        let made = Plan::new(&format!("w{writer}-{}", written.len()), 20).make();
                        let failed = write_all(&mut store, &made);
                        failures.fetch_add(failed, Ordering::Relaxed);
                        written.push(made);
                    }
                    written
                })
            })
            .collect();
        work();
        is_over.store(true, Ordering::Relaxed);
        writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap())
            .collect()
    });
    check_exactly(address, &runs);
    (runs.len(), failures.into_inner())
}

#[test]
fn connections_that_the_server_ends_lose_nothing() {
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    let sql = database.sql();
    let mut dice = Dice::new(3);
    let mut ended = 0;
    let (runs, failures) = write_during(database.address(), || {
        while ended < 100 {
            thread::sleep(Duration::from_millis(dice.roll(80)));
            // Those that are in the middle of something first.
            let answer = sql.run(
                "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'runtape'
                    ORDER BY state = 'idle', random() LIMIT 1) AS one",
            );
            ended += answer.rows.len();
        }
    });
    println!("{ended} connections ended, {runs} runs written, {failures} failures were told");
}

#[test]
fn a_server_that_is_started_again_lost_nothing() {
    let Some(server) = own_server(Care::AsByDefault, &[]) else {
        return;
    };
    server.sql("postgres").run("CREATE DATABASE history");
    let address = server.address("history");
    Layout::Whole.migrate(&address);
    let mut dice = Dice::new(4);
    let (runs, failures) = write_during(&address, || {
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(700 + dice.roll(1000)));
            server.stop_at_once();
            thread::sleep(Duration::from_millis(dice.roll(1500)));
            server.start_again();
        }
        thread::sleep(Duration::from_millis(500));
    });
    println!("5 restarts, {runs} runs written, {failures} failures were told");
}
