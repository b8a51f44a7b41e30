//! Sums of usage, while many write runs of the same sessions at once and in any order.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use runtape_core::TokenCounts;
use runtape_store::{Calendar, Options, PreparedRun, RunFilter, Store, UsageBy};
use runtape_tests::postgres::{Database, Layout};
use runtape_tests::runs::{Dice, Made, Plan};
use serde_json::json;

const WRITERS: u64 = 6;
const RUNS: u64 = 40;
const SESSIONS: u64 = 5;

/// The runs of a writer. Those of all writers have the sessions in common, and what counts of each follows from the
/// order of all of them: every run states the total of its session so far.
fn runs(writer: u64) -> Vec<Made> {
    let mut dice = Dice::new(writer + 7);
    let mut places: Vec<u64> = (0..RUNS).collect();
    for at in (1..places.len()).rev() {
        let other = usize::try_from(dice.roll(at as u64 + 1)).unwrap();
        places.swap(at, other);
    }
    let runs = places.into_iter().map(|place| {
        let at = i64::try_from(place * WRITERS + writer).unwrap();
        let plan = Plan {
            session: Some(format!("session {}", place % SESSIONS)),
            at: 1_790_000_000_000 + at * 60_000,
            session_total: Some(TokenCounts {
                input_tokens: Some(at * 10),
                output_tokens: Some(at),
                ..TokenCounts::default()
            }),
            ..Plan::new(&format!("run-{writer}-{place}"), 0)
        };
        plan.make()
    });
    runs.collect()
}

fn write(store: &mut Store, writer: u64, runs: &[Made]) {
    if writer % 3 == 2 {
        // Several in one transaction.
        for (turn, some) in runs.chunks(8).enumerate() {
            if turn % 2 == 0 {
                let some = some.iter().map(prepared).collect();
                for written in store.put_runs(some, 1).unwrap() {
                    written.unwrap();
                }
                continue;
            }
            store
                .batch(|store| {
                    for made in some {
                        store.put_run(prepared(made), 1)?;
                    }
                    Ok::<_, runtape_store::StoreError>(())
                })
                .unwrap();
        }
        return;
    }
    for made in runs {
        if writer % 3 == 1 {
            store.put_run(prepared(made), 1).unwrap();
        } else {
            made.store_live(store, 2);
        }
    }
}

fn prepared(made: &Made) -> PreparedRun {
    PreparedRun::new(&made.begin, &made.records, &json!({"code": 0})).unwrap()
}

#[test]
fn sums_are_right_however_many_write_at_once() {
    for layout in [Layout::Whole, Layout::Partitioned] {
        let Some(database) = Database::fresh(layout) else {
            return;
        };
        let barrier = Barrier::new(usize::try_from(WRITERS).unwrap());
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (barrier, address) = (&barrier, database.address());
                scope.spawn(move || {
                    let mut store = Store::open(address, &Options::default()).unwrap();
                    let runs = runs(writer);
                    barrier.wait();
                    write(&mut store, writer, &runs);
                });
            }
        });
        let store = Store::open(database.address(), &Options::default()).unwrap();
        assert_eq!(store.verify().unwrap().faults, []);
        let settled = database
            .sql()
            .value("SELECT count(*) FROM root WHERE summed = 1");
        assert_ne!(settled, "0");
        // The last run of each session states what all of it used.
        let expected: u64 = (0..SESSIONS)
            .map(|session| {
                (0..RUNS)
                    .filter(|place| place % SESSIONS == session)
                    .max()
                    .unwrap()
            })
            .map(|place| (place * WRITERS + WRITERS - 1) * 10)
            .sum();
        let all = RunFilter::default();
        let groups = store
            .usage_by(&all, &[UsageBy::Runtime], Calendar::Utc)
            .unwrap();
        let sum: i64 = groups
            .iter()
            .filter_map(|group| group.usage.input_tokens)
            .sum();
        assert_eq!(u64::try_from(sum).unwrap(), expected);
    }
}

#[test]
fn who_is_killed_in_mid_statement_with_the_lock_of_the_sums_holds_others_up_and_harms_nothing() {
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    let (first, second) = (runs(0), runs(1));
    let mut store = Store::open(database.address(), &Options::default()).unwrap();
    write(&mut store, 0, &first);
    // A client that has the lock for itself, and dies while the server is busy with what it asked.
    let address = database.address().to_owned();
    let client = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sums::process", "--nocapture"])
        .env("RUNTAPE_TEST_WORK", "sums")
        .env("RUNTAPE_TEST_DATABASE", &address)
        .stdout(std::process::Stdio::null())
        .spawn();
    let mut client = client.unwrap();
    let sql = database.sql();
    let is_held = || {
        let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        sql.value(held) != "0"
    };
    let begin = Instant::now();
    while !is_held() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
    client.kill().unwrap();
    client.wait().unwrap();
    assert!(
        is_held(),
        "the server does not know yet that its client is dead"
    );
    // Those who write have no error: they wait, and what they add up is right.
    let begin = Instant::now();
    write(&mut store, 1, &second);
    let took = begin.elapsed();
    assert!(!is_held());
    assert!(took < Duration::from_secs(60), "{took:?}");
    assert_eq!(store.verify().unwrap().faults, []);
}

/// Does nothing unless it is started by the test above: takes the lock of the sums, and waits until it is killed.
#[test]
fn process() {
    if std::env::var_os("RUNTAPE_TEST_WORK").is_none_or(|work| work != "sums") {
        return;
    }
    let address = std::env::var("RUNTAPE_TEST_DATABASE").unwrap();
    let sql = runtape_tests::postgres::Sql::connect(&address).unwrap();
    sql.run("BEGIN; SELECT pg_advisory_xact_lock(7245070, 0); SELECT pg_sleep(12); COMMIT");
}
