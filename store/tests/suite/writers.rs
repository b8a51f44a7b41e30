//! Many processes write one file, others read it: nothing is lost, nothing is out of order.
//!
//! The processes are this test binary, started again with a variable that names their work.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use runtape_core::Record;
use runtape_core::record::EventRecord;
use runtape_core::runtime_event::Warning;
use runtape_store::{Options, RunFilter, Store};

use runtape_tests::runs::{Dice, Plan, run_id};

const WRITERS: u64 = 16;
const READERS: u64 = 4;
const RECORDS: usize = 1000;
/// Records in each batch; a reader must never see a part of one.
const BATCH: usize = 10;

/// Starts this test binary again to do some work.
pub(crate) fn start(test: &str, work: &str, path: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("RUNTAPE_TEST_WORK", work)
        .env("RUNTAPE_TEST_DATABASE", path)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// Returns the work this process was started for.
pub(crate) fn work() -> Option<(String, PathBuf)> {
    let work = env::var("RUNTAPE_TEST_WORK").ok()?;
    let path = env::var_os("RUNTAPE_TEST_DATABASE")?;
    Some((work, path.into()))
}

fn write(path: &Path, number: u64) {
    let mut store = Store::open(path, &Options::default()).unwrap();
    let made = Plan::new(&format!("writer{number}"), 220).make();
    store.begin_run(&made.begin).unwrap();
    let mut longest = Duration::ZERO;
    for records in made.records[..RECORDS].chunks(BATCH) {
        let begin = Instant::now();
        store.append(made.id(), records, &[]).unwrap();
        longest = longest.max(begin.elapsed());
    }
    println!("longest wait {} ms", longest.as_millis());
}

fn read(path: &Path) {
    let store = Store::open(path, &Options::read_only()).unwrap();
    let begin = Instant::now();
    loop {
        let page = store.runs(&RunFilter::default(), None, 100).unwrap();
        for run in &page.items {
            assert_eq!(run.records % BATCH as u64, 0, "half a batch");
            let records = store.records(&run.run_id, 0, usize::MAX).unwrap();
            assert_eq!(records.len() % BATCH, 0, "half a batch");
            assert!(records.len() as u64 >= run.records);
            for (seq, record) in (0..).zip(&records) {
                assert_eq!(record.seq, seq);
            }
        }
        let written: u64 = page.items.iter().map(|run| run.records).sum();
        if written == WRITERS * RECORDS as u64 {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(300));
    }
}

/// Does nothing unless it is started by the test below.
#[test]
fn process() {
    match work() {
        Some((work, path)) if work == "read" => read(&path),
        Some((work, path)) => write(&path, work.parse().unwrap()),
        None => {}
    }
}

#[test]
fn sixteen_writers_and_four_readers_get_along() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    drop(Store::open(&path, &Options::default()).unwrap());
    let begin = Instant::now();
    let mut children: Vec<Child> = (0..WRITERS)
        .map(|number| start("writers::process", &number.to_string(), &path))
        .collect();
    children.extend((0..READERS).map(|_| start("writers::process", "read", &path)));
    let mut longest = 0_u64;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let waited = text.lines().find_map(|line| {
            let (_, wait) = line.split_once("longest wait ")?;
            wait.split(' ').next()?.parse::<u64>().ok()
        });
        longest = longest.max(waited.unwrap_or(0));
    }
    println!(
        "{WRITERS} writers, {READERS} readers: {} ms, longest wait of an append {longest} ms",
        begin.elapsed().as_millis()
    );
    let store = Store::open(&path, &Options::default()).unwrap();
    for number in 0..WRITERS {
        let made = Plan::new(&format!("writer{number}"), 220).make();
        let stored = store
            .records(&run_id(&format!("writer{number}")), 0, usize::MAX)
            .unwrap();
        assert_eq!(stored, made.records[..RECORDS]);
    }
    assert!(store.verify().unwrap().is_intact());
}

/// Writes a run with megabytes of words that the search index does not know.
fn write_many_words(path: &Path, megabytes: usize) {
    let mut store = Store::open(path, &Options::default()).unwrap();
    let made = Plan::new("wordy", 1).make();
    store.begin_run(&made.begin).unwrap();
    store.append(made.id(), &made.records[..5], &[]).unwrap();
    let mut dice = Dice::new(7);
    for seq in 5..5 + 16 * megabytes as u64 {
        let mut message = dice.words(15_000);
        message.truncate(64 << 10);
        let event = Warning { message }.into();
        let record = Record {
            run_id: made.id().clone(),
            seq,
            at: made.begin.started_at,
            span: None,
            kind: EventRecord { step: 1, event }.into(),
        };
        store.append(made.id(), &[record], &[]).unwrap();
    }
}

/// A recorder that waits for ten seconds goes to a spool file. Completing the index of a large database takes minutes.
#[test]
fn who_completes_the_index_holds_up_no_writer_for_long() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    write_many_words(&path, 24);
    let (indexed, longest) = std::thread::scope(|scope| {
        let indexing = scope.spawn(|| {
            let store = Store::open(&path, &Options::default()).unwrap();
            let begin = Instant::now();
            store.complete_search().unwrap();
            begin.elapsed()
        });
        let mut store = Store::open(&path, &Options::default()).unwrap();
        let made = Plan::new("waiting", 220).make();
        store.begin_run(&made.begin).unwrap();
        let mut longest = Duration::ZERO;
        for records in made.records.chunks(4) {
            if indexing.is_finished() {
                break;
            }
            let begin = Instant::now();
            store.append(made.id(), records, &[]).unwrap();
            longest = longest.max(begin.elapsed());
            std::thread::sleep(Duration::from_millis(20));
        }
        (indexing.join().unwrap(), longest)
    });
    println!("{indexed:?} to complete the index, longest wait of an append {longest:?}");
    assert!(
        longest < Duration::from_secs(2) || longest < indexed / 4,
        "an append waited {longest:?} of {indexed:?}"
    );
}
