//! A server against what it could do at best: `cargo bench -p runtape-store --bench postgres`.
//!
//! - ingest of the mix against plain `COPY` of the same raw lines, in transactions of the same size;
//! - an append of a live run against an `INSERT` of one row with commit;
//! - 32 writers that seal at once against the same with one chain;
//! - lists, checkpoints and searches at a million records against ten thousand.
//!
//! Both sides on one server, in one process, in turn; ratios of medians. The server is one of its own, set as it comes,
//! or that of `RUNTAPE_TEST_PG_URL`; where there is none, it says so. Ends with failure if a requirement is missed.
//! `-- --only WORD` measures what has the word in its name; `--bytes N --rounds N --records N` say how much.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "a bench prints, and may fail in any way"
)]

mod mix;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use runtape_core::CheckpointId;
use runtape_store::{Options, PreparedRun, RunFilter, Store};
use runtape_tests::postgres::{Care, Proxy, Server, own_server};
use runtape_tests::runs::{Made, Plan, run_id};
use runtape_tests::synthetic::Replicator;
use tokio::runtime::Runtime;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, Statement};

use self::mix::{BATCH, Run, SEED, argument, lines, number, some_runs, store_all};

/// The one the binary has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const MIX_BYTES: usize = 16_000_000;
const ROUNDS: usize = 7;
const WRITERS: usize = 32;
/// How long it takes to a standby and back: one that does not burn down with the server.
const STANDBY_AWAY: Duration = Duration::from_millis(4);
const LEAST_INGEST: f64 = 0.5;
const MOST_APPEND: f64 = 3.0;
const LEAST_SEALING: f64 = 5.0;
const MOST_QUERY: f64 = 3.0;

/// The plain way: a connection of the driver's own.
struct Plain {
    client: Client,
    runtime: Runtime,
}

impl Plain {
    fn connect(address: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let client = runtime.block_on(async {
            let (client, driver) = tokio_postgres::connect(address, NoTls).await.unwrap();
            tokio::spawn(driver);
            client
        });
        Self { client, runtime }
    }

    fn batch(&self, sql: &str) {
        self.runtime
            .block_on(self.client.batch_execute(sql))
            .unwrap();
    }

    /// Copies the lines one row a line.
    fn copy(&self, runs: &[Run]) -> Duration {
        self.batch(
            "DROP TABLE IF EXISTS line;
             CREATE TABLE line (run bigint NOT NULL, number bigint NOT NULL, body bytea NOT NULL)",
        );
        let begin = Instant::now();
        let mut lines = lines(runs).peekable();
        self.runtime.block_on(async {
            while lines.peek().is_some() {
                self.client.batch_execute("BEGIN").await.unwrap();
                let sink = self.client.copy_in("COPY line FROM STDIN BINARY");
                let types = [Type::INT8, Type::INT8, Type::BYTEA];
                let mut writer = pin!(BinaryCopyInWriter::new(sink.await.unwrap(), &types));
                let mut size = 0;
                while size < BATCH {
                    let Some((run, number, line)) = lines.next() else {
                        break;
                    };
                    size += line.len();
                    let (run, number) = (run as i64, number as i64);
                    writer
                        .as_mut()
                        .write(&[&run, &number, &line])
                        .await
                        .unwrap();
                }
                writer.as_mut().finish().await.unwrap();
                self.client.batch_execute("COMMIT").await.unwrap();
            }
        });
        begin.elapsed()
    }

    /// Gets ready to insert single rows.
    fn prepare_insert(&self) -> Statement {
        self.batch(
            "DROP TABLE IF EXISTS line;
             CREATE TABLE line (run bigint NOT NULL, number bigint NOT NULL, body bytea NOT NULL,
                PRIMARY KEY (run, number))",
        );
        let sql = "INSERT INTO line VALUES (1, $1, $2)";
        self.runtime.block_on(self.client.prepare(sql)).unwrap()
    }

    /// Inserts a single row; returns how long that took.
    fn insert(&self, insert: &Statement, number: usize, body: &[u8]) -> Duration {
        let begin = Instant::now();
        let number = number as i64;
        let values: [&(dyn ToSql + Sync); 2] = [&number, &body];
        let inserted = self.client.execute(insert, &values);
        self.runtime.block_on(inserted).unwrap();
        begin.elapsed()
    }
}

/// A server, and how many databases were made on it.
struct Databases {
    server: Server,
    count: Cell<u32>,
    /// Takes part in each commit, if there is one.
    standby: Option<Server>,
}

impl Databases {
    fn on(server: Server) -> Self {
        Self {
            server,
            count: Cell::new(0),
            standby: None,
        }
    }

    /// Starts another server, with a standby that is as far away.
    fn with_standby(away: Duration) -> Option<Self> {
        let server = own_server(Care::AsByDefault, &[])?;
        let port = match away {
            Duration::ZERO => server.port(),
            away => Proxy::far_from(server.port(), away / 2),
        };
        let standby = server.start_standby(port)?;
        Some(Self {
            standby: Some(standby),
            ..Self::on(server)
        })
    }

    /// Makes a database with some number of chains; returns its address.
    fn fresh_with(&self, chains: u32) -> String {
        let number = self.count.get() + 1;
        self.count.set(number);
        let name = format!("bench_{number}");
        let sql = format!("CREATE DATABASE {name}");
        self.server.sql("postgres").run(&sql);
        let address = self.server.address(&name);
        Store::migrate_with_chains(&address, chains).unwrap();
        address
    }

    fn fresh(&self) -> String {
        self.fresh_with(64)
    }
}

fn open(address: &str) -> Store {
    Store::open(address, &Options::default()).unwrap()
}

/// Writes a run at once.
fn put(store: &mut Store, made: &Made) {
    let exit = serde_json::json!({"code": 0});
    let run = PreparedRun::new(&made.begin, &made.records, &exit).unwrap();
    let chunks = made.chunks.iter();
    let run = run.with_output(chunks.map(|chunk| (chunk.stream, chunk.received_at, &*chunk.bytes)));
    store.put_run(run, 1).unwrap();
}

fn middle(mut times: Vec<Duration>, part: f64) -> Duration {
    times.sort_unstable();
    let last = times.len() - 1;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a place in a list"
    )]
    let place = (last as f64 * part).round() as usize;
    times[place]
}

/// Ingests the mix; returns how quick that is against copying its lines.
fn ingest(databases: &Databases, what: &str, runs: &[Run]) -> f64 {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..number("--rounds", ROUNDS) {
        let database = databases.fresh();
        theirs.push(Plain::connect(&database).copy(runs));
        let mut store = open(&database);
        let captures = runs.iter().map(Run::capture).collect();
        let begin = Instant::now();
        store_all(&mut store, captures, &Arc::default());
        ours.push(begin.elapsed());
    }
    let bytes: usize = runs.iter().map(Run::len).sum();
    let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    let (ours, theirs) = (middle(ours, 0.5), middle(theirs, 0.5));
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    println!(
        "{what:28} {:5} runs {:6.1} MB/s, COPY of raw lines {:6.1} MB/s, ratio {ratio:.2}",
        runs.len(),
        speed(ours),
        speed(theirs),
    );
    ratio
}

/// Appends the records of a long run a few at a time, and inserts a row after each append; returns the ratios of the
/// middle and of the slow ones. The statements of both are prepared before, on the connections that are measured.
fn append(databases: &Databases) -> (f64, f64) {
    let database = databases.fresh();
    let mut store = open(&database);
    let direct = Plain::connect(&database);
    let insert = direct.prepare_insert();
    let body = vec![7; 1000];
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (name, steps) in [("warm", 50), ("live", number("--steps", 1000))] {
        let plan = Plan::new(name, steps as u64).make();
        store.begin_run(&plan.begin).unwrap();
        ours.clear();
        let first = theirs.len();
        theirs.clear();
        for (number, records) in plan.records.chunks(5).enumerate() {
            let begin = Instant::now();
            store.append(plan.id(), records, &[]).unwrap();
            ours.push(begin.elapsed());
            theirs.push(direct.insert(&insert, first + number, &body));
        }
    }
    let ratio = |part: f64| {
        let (ours, theirs) = (middle(ours.clone(), part), middle(theirs.clone(), part));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!(
            "live append, p{:<2.0} ratio {ratio:.2} ({ours:.2?} against {theirs:.2?} for an INSERT with commit)",
            part * 100.0,
        );
        ratio
    };
    println!("live append, {} of 5 records each:", ours.len());
    (ratio(0.5), ratio(0.99))
}

/// What some seals took.
struct Sealing {
    seals: usize,
    time: Duration,
    /// Processor time of the writers, and of the servers; nothing where nobody tells.
    writers: Duration,
    servers: Duration,
}

impl Sealing {
    fn rate(&self) -> f64 {
        self.seals as f64 / self.time.as_secs_f64()
    }

    /// Tells what one of them took of the processors, in microseconds, and how many of them were busy.
    fn cost(&self) -> String {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / self.seals as f64;
        let busy = (self.writers + self.servers).as_secs_f64() / self.time.as_secs_f64();
        format!(
            "{:.0} + {:.0} us each, {busy:.2} cores",
            each(self.writers),
            each(self.servers)
        )
    }
}

/// Returns how long the threads of a process have run.
fn run_time(process: &Path) -> Duration {
    let Ok(threads) = fs::read_dir(process.join("task")) else {
        return Duration::ZERO;
    };
    let of_thread = |thread: PathBuf| -> Option<u64> {
        let text = fs::read_to_string(thread.join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    let times = threads
        .flatten()
        .filter_map(|thread| of_thread(thread.path()));
    Duration::from_nanos(times.sum())
}

/// Returns how long the processes of a server have run that are there now.
fn run_time_of_server(server: &Server) -> Duration {
    let Ok(known) = fs::read_to_string(server.data().join("postmaster.pid")) else {
        return Duration::ZERO;
    };
    let first = known.lines().next().unwrap_or_default();
    let children = Path::new("/proc").join(first).join("task").join(first);
    let children = fs::read_to_string(children.join("children")).unwrap_or_default();
    let children = children.split_whitespace();
    let each = children.map(|child| run_time(&Path::new("/proc").join(child)));
    each.sum()
}

/// Seals runs with many writers at once. Each writer has sealed one before, so that what it asks is prepared.
fn seal(databases: &Databases, database: &str, each: usize) -> Sealing {
    let ready = Barrier::new(WRITERS + 1);
    let run_times = || {
        let servers = [Some(&databases.server), databases.standby.as_ref()];
        let servers = servers.into_iter().flatten().map(run_time_of_server).sum();
        (run_time(Path::new("/proc/self")), servers)
    };
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let ready = &ready;
            scope.spawn(move || {
                let mut store = open(database);
                let exit = serde_json::json!({"code": 0});
                let runs: Vec<_> = (0..=each)
                    .map(|run| Plan::new(&format!("w{writer}-{run}"), 1).make())
                    .collect();
                for run in &runs {
                    store.begin_run(&run.begin).unwrap();
                    store.append(run.id(), &run.records, &[]).unwrap();
                }
                let (warm, runs) = runs.split_first().unwrap();
                store.finish_run(warm.id(), &exit, 1).unwrap();
                ready.wait();
                ready.wait();
                for run in runs {
                    store.finish_run(run.id(), &exit, 1).unwrap();
                }
                ready.wait();
                // All are still connected while somebody looks how long they have run.
                ready.wait();
            });
        }
        ready.wait();
        let (writers, servers): (Duration, Duration) = run_times();
        let begin = Instant::now();
        ready.wait();
        ready.wait();
        let time = begin.elapsed();
        let after = run_times();
        ready.wait();
        Sealing {
            seals: WRITERS * each,
            time,
            writers: after.0.saturating_sub(writers),
            servers: after.1.saturating_sub(servers),
        }
    })
}

/// Seals with many chains and with one, the same runs by the same writers, in turn; returns the ratio.
fn sealing(databases: &Databases, what: &str) -> f64 {
    let each = number("--runs", 40);
    let mut rounds: Vec<(f64, Sealing, Sealing)> = (0..number("--rounds", 3))
        .map(|_| {
            let (many, one) = (databases.fresh(), databases.fresh_with(1));
            let (many, one) = (seal(databases, &many, each), seal(databases, &one, each));
            (many.rate() / one.rate(), many, one)
        })
        .collect();
    rounds.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (ratio, many, one) = rounds.swap_remove(rounds.len() / 2);
    println!(
        "sealing, {WRITERS} writers, {what}: ratio {ratio:.2} ({:.0} a second against {:.0} with one chain)",
        many.rate(),
        one.rate()
    );
    println!(
        "    writers and server: {}, with one chain {}",
        many.cost(),
        one.cost()
    );
    ratio
}

fn best(times: usize, mut work: impl FnMut()) -> Duration {
    let time = |work: &mut dyn FnMut()| {
        let begin = Instant::now();
        work();
        begin.elapsed()
    };
    (0..times)
        .map(|_| time(&mut work))
        .min()
        .unwrap_or_default()
}

/// Times queries on a database of about so many records: the first page of runs, a checkpoint, a search.
fn queries(databases: &Databases, records: usize) -> [Duration; 4] {
    let database = databases.fresh();
    let mut store = open(&database);
    let count = records / 110;
    for first in (0..count).step_by(100) {
        store
            .batch(|store| {
                for number in first..(first + 100).min(count) {
                    let mut plan = Plan::new(&format!("r{number}"), 20);
                    plan.at += i64::try_from(number).unwrap() * 60_000;
                    put(store, &plan.make());
                }
                Ok(())
            })
            .unwrap();
    }
    store.complete_search().unwrap();
    // As a server is that has been running for a while: what it does by itself after so much is done.
    let plain = Plain::connect(&database);
    plain.batch("VACUUM ANALYZE");
    plain.batch("CHECKPOINT");
    let middle = run_id(&format!("r{}", count / 2));
    let id = CheckpointId::derive(&middle, 10);
    let filter = RunFilter::default();
    [
        best(20, || drop(store.runs(&filter, None, 50).unwrap())),
        best(20, || drop(store.checkpoint_head(&middle, None).unwrap())),
        best(20, || drop(store.checkpoint(&id).unwrap())),
        best(9, || {
            drop(store.search("file42", &filter, None, 20).unwrap());
        }),
    ]
}

fn main() -> ExitCode {
    let Some(server) = own_server(Care::AsByDefault, &[]) else {
        return ExitCode::SUCCESS;
    };
    let databases = Databases::on(server);
    let only = argument("--only").unwrap_or_default();
    let mut missed = false;
    let all = Replicator::with_long_lines(SEED);
    let usual = Replicator::new(SEED);
    if "the whole mix".contains(&only) {
        let runs = some_runs(all.mix(), MIX_BYTES);
        missed |= ingest(&databases, "the whole mix", &runs) < LEAST_INGEST;
    }
    if "the mix, no long lines".contains(&only) {
        ingest(
            &databases,
            "the mix, no long lines",
            &some_runs(usual.mix(), MIX_BYTES),
        );
    }
    if "live append".contains(&only) {
        let (middle, slow) = append(&databases);
        missed |= middle > MOST_APPEND || slow > MOST_APPEND;
    }
    if "sealing".contains(&only) {
        sealing(&databases, "no standby");
        // A commit waits for the standby, and who seals holds a chain meanwhile: this is what many chains are for.
        for away in [Duration::ZERO, STANDBY_AWAY] {
            let Some(databases) = Databases::with_standby(away) else {
                println!("sealing with a standby: not measured, there is no pg_basebackup");
                break;
            };
            let ratio = sealing(&databases, &format!("a standby {away:?} away"));
            missed |= away == STANDBY_AWAY && ratio < LEAST_SEALING;
        }
    }
    if "queries".contains(&only) {
        let (few, many) = (10_000, number("--records", 1_000_000));
        let (small, large) = (queries(&databases, few), queries(&databases, many));
        println!("at {many} records against {few}:");
        let names = [
            "list 50 runs",
            "head of the last checkpoint",
            "checkpoint by id",
            "search",
        ];
        for (name, (large, small)) in names.iter().zip(large.iter().zip(&small)) {
            let ratio = large.as_secs_f64() / small.as_secs_f64().max(1e-9);
            println!("{name}: ratio {ratio:.2} ({large:.2?} against {small:.2?})");
            missed |= ratio > MOST_QUERY;
        }
    }
    ExitCode::from(u8::from(missed))
}
