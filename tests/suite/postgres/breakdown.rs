//! The server breaks down while a transaction is about to be committed: what was not done is not taken for done.

use std::thread;
use std::time::{Duration, Instant};

use runtape_store::{PreparedRun, Store, StoreError};
use runtape_tests::postgres::{Care, Layout, Proxy, Server, own_server};
use runtape_tests::runs::{Made, Plan};
use serde_json::json;

use crate::writers::{check_exactly, is_away, open};

/// What a writer does when the server breaks down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Append,
    Finish,
    Put,
    Delete,
}

impl Act {
    fn perform(self, store: &mut Store, made: &Made) -> Result<(), StoreError> {
        match self {
            Self::Append => store.append(made.id(), &made.records, &made.chunks),
            Self::Finish => store
                .finish_run(made.id(), &json!({"code": 0}), 1)
                .map(drop),
            Self::Put => {
                let chunks = made.chunks.iter();
                let output =
                    chunks.map(|chunk| (chunk.stream, chunk.received_at, chunk.bytes.as_slice()));
                let run = PreparedRun::new(&made.begin, &made.records, &json!({"code": 0}))?;
                store.put_run(run.with_output(output), 1).map(drop)
            }
            Self::Delete => store.delete_run(made.id(), 2),
        }
    }

    /// Does what comes before.
    fn prepare(self, store: &mut Store, made: &Made) {
        if matches!(self, Self::Append | Self::Finish) {
            store.begin_run(&made.begin).unwrap();
        }
        if self == Self::Finish {
            Self::Append.perform(store, made).unwrap();
        }
        if self == Self::Delete {
            Self::Put.perform(store, made).unwrap();
        }
    }
}

/// Breaks the server down while the writer commits, and lets others write before the writer is there again; returns whether
/// one of them was given the number of the writer's transaction.
fn break_down(server: &Server, what: Act, round: u32) -> bool {
    let name = format!("history_{what:?}_{round}").to_lowercase();
    server
        .sql("postgres")
        .run(&format!("CREATE DATABASE {name}"));
    Layout::Whole.migrate(&server.address(&name));
    let proxy = Proxy::to(server.port());
    let address = server.tcp_address(&name);
    let address = address.replace(
        &format!(":{}/", server.port()),
        &format!(":{}/", proxy.port()),
    );
    let made = Plan::new("r", 1).make();
    let mut store = open(&address);
    what.prepare(&mut store, &made);
    proxy.hang_before(b"COMMIT\0");
    let (done, is_given_again) = thread::scope(|scope| {
        let writer = scope.spawn(|| what.perform(&mut store, &made));
        let begin = Instant::now();
        while !proxy.is_hanging() {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "{what:?}: no commit"
            );
            thread::sleep(Duration::from_millis(5));
        }
        let number = server.sql("postgres").value(&format!(
            "SELECT max(backend_xid::text::bigint) FROM pg_stat_activity WHERE datname = '{name}'"
        ));
        server.stop_at_once();
        server.start_again();
        let others = server.sql("postgres");
        for _ in 0..100 {
            others.run("SELECT pg_current_xact_id()");
        }
        let status = others.value(&format!("SELECT pg_xact_status('{number}'::xid8)"));
        proxy.cut();
        (writer.join().unwrap(), status == "committed")
    });
    if what == Act::Delete {
        match done {
            Ok(()) => assert!(store.run(made.id()).is_err(), "it is said to be deleted"),
            Err(error) => {
                assert!(is_away(&error), "{error}");
                drop(store);
                check_exactly(&server.address(&name), &[made]);
            }
        }
        return is_given_again;
    }
    done.unwrap_or_else(|error| panic!("{what:?}: {error}"));
    let records = store.records(made.id(), 0, usize::MAX).unwrap();
    assert!(
        records == made.records,
        "{what:?} was acknowledged, and is not there"
    );
    if what == Act::Append {
        Act::Finish.perform(&mut store, &made).unwrap();
    }
    drop(store);
    check_exactly(&server.address(&name), &[made]);
    is_given_again
}

#[test]
fn what_was_not_committed_when_the_server_broke_down_is_not_taken_for_done() {
    // Whatever else writes would write down, too, which number the transaction has.
    let quiet = [
        "autovacuum=off",
        "wal_writer_delay=10s",
        "checkpoint_timeout=1h",
    ];
    let Some(server) = own_server(Care::AsByDefault, &quiet) else {
        return;
    };
    for what in [Act::Append, Act::Finish, Act::Put, Act::Delete] {
        let rounds = (0..5).find(|round| break_down(&server, what, *round));
        assert!(
            rounds.is_some(),
            "{what:?}: no number was given again: nothing was tried"
        );
    }
}
