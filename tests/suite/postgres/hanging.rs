//! The way to the server hangs, loses answers, or breaks: the writer hears of it in time, and nothing is written twice.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use runtape_store::{Store, StoreError};
use runtape_tests::postgres::{Database, Layout, Proxy};
use runtape_tests::runs::{Made, Plan};
use serde_json::json;

use crate::writers::{check_exactly, is_away, open_hurried};

/// How long a writer may be left without an answer that waits for ten seconds: for a lost answer, and to connect again.
const LONGEST: Duration = Duration::from_secs(45);

/// A database behind a proxy.
fn behind_proxy() -> Option<(Database, Proxy, String)> {
    let database = Database::fresh(Layout::Whole)?;
    // A server that somebody named cannot be gone to another way.
    let proxy = Proxy::to(database.port()?);
    let address = database.tcp_address(Some(proxy.port()))?;
    Some((database, proxy, address))
}

/// What a writer does while the way hangs.
#[derive(Clone, Copy, Debug)]
enum Act {
    Begin,
    Append,
    Finish,
    Resume,
}

fn act(store: &mut Store, made: &Made, act: Act) -> Result<(), StoreError> {
    match act {
        Act::Begin => store.begin_run(&made.begin).map(drop),
        Act::Append => store
            .append(made.id(), &made.records, &made.chunks)
            .map(drop),
        Act::Finish => store
            .finish_run(made.id(), &json!({"code": 0}), 1)
            .map(drop),
        Act::Resume => store.resume_run(made.id()).map(drop),
    }
}

#[test]
fn a_way_that_hangs_is_told_in_time() {
    thread::scope(|scope| {
        for what in [Act::Begin, Act::Append, Act::Finish] {
            for is_deaf in [false, true] {
                scope.spawn(move || hang(what, is_deaf));
            }
        }
    });
}

fn hang(what: Act, is_deaf: bool) {
    let Some((database, proxy, address)) = behind_proxy() else {
        return;
    };
    let made = Plan::new("r", 4).make();
    let (sender, receiver) = mpsc::channel();
    let writer = thread::spawn({
        let made = made.clone();
        let go_on = std::sync::Arc::new(proxy);
        let proxy = std::sync::Arc::clone(&go_on);
        move || {
            let mut store = open_hurried(&address);
            for before in [Act::Begin, Act::Append] {
                if (what as u8) > (before as u8) {
                    act(&mut store, &made, before).unwrap();
                }
            }
            if is_deaf {
                proxy.hold_answers();
            } else {
                proxy.hang();
            }
            let begin = Instant::now();
            let failed = act(&mut store, &made, what);
            sender.send((failed, begin.elapsed())).unwrap();
            // What was in the way is gone for good, and the rest of the run is written as if nothing had been.
            proxy.cut();
            let mut rest = vec![Act::Begin, Act::Append, Act::Finish];
            rest.retain(|act| (*act as u8) >= (what as u8));
            for next in rest {
                let mut done = act(&mut store, &made, next);
                if let Err(error) = &done
                    && is_away(error)
                {
                    done = act(&mut store, &made, next);
                }
                if let Err(StoreError::Conflict { .. } | StoreError::Locked { .. }) = &done {
                    // It was begun, and only the answer was lost.
                    done = act(&mut store, &made, Act::Resume);
                }
                done.unwrap_or_else(|error| panic!("{what:?}, {next:?}: {error}"));
            }
        }
    });
    let told = receiver.recv_timeout(LONGEST);
    let (failed, time) =
        told.unwrap_or_else(|_| panic!("{what:?}, deaf: {is_deaf}: no answer within {LONGEST:?}"));
    let error = failed.expect_err("an answer through a way that hangs");
    assert!(is_away(&error), "{what:?}: {error}");
    println!("{what:?}, deaf: {is_deaf}: after {time:.1?}: {error}");
    writer.join().unwrap();
    check_exactly(database.address(), &[made]);
}

#[test]
fn an_answer_that_was_lost_is_asked_for_again() {
    let Some((database, proxy, address)) = behind_proxy() else {
        return;
    };
    let sql = database.sql();
    let made = Plan::new("r", 30).make();
    let mut store = open_hurried(&address);
    store.begin_run(&made.begin).unwrap();
    let (mut batches, mut chunks) = (0, made.chunks.chunks(3));
    for records in made.records.chunks(10) {
        let chunks = chunks.next().unwrap_or_default();
        let before = sql.value("SELECT sum(writes) FROM lease");
        proxy.hold_answers();
        thread::scope(|scope| {
            scope.spawn(|| {
                // The server has done it; then the connection breaks, before anybody heard. What takes several questions is
                // not done while the first answer is held.
                let begin = Instant::now();
                while sql_writes(&database) == before && begin.elapsed() < Duration::from_secs(1) {
                    thread::sleep(Duration::from_millis(5));
                }
                proxy.cut();
            });
            store.append(made.id(), records, chunks).unwrap();
        });
        batches += 1;
    }
    let rest: Vec<_> = chunks.flatten().cloned().collect();
    store.append(made.id(), &[], &rest).unwrap();
    store.finish_run(made.id(), &json!({"code": 0}), 1).unwrap();
    drop(store);
    assert!(batches > 10);
    check_exactly(database.address(), &[made]);
}

fn sql_writes(database: &Database) -> String {
    database.sql().value("SELECT sum(writes) FROM lease")
}
