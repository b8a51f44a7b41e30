//! `verify` never dies of what it checks.

use std::path::Path;

use runtape_store::{Options, Store, VerifyReport};
use rusqlite::{Connection, params};

use runtape_tests::runs::{Plan, run_id};

/// Stack that is plenty for records, and little for a nesting without end.
const STACK: usize = 1 << 20;

fn database(directory: &Path) -> std::path::PathBuf {
    let path = directory.join("db");
    Plan::new("one", 3)
        .make()
        .store(&mut Store::open(&path, &Options::default()).unwrap());
    path
}

/// Puts a block of records in the place of the first one, not compressed.
fn put_records(path: &Path, lines: &str) {
    let body = [&[0_u8], lines.as_bytes()].concat();
    let length = i64::try_from(lines.len()).unwrap();
    Connection::open(path)
        .unwrap()
        .execute(
            "UPDATE record_block SET body = ?1, length = ?2",
            params![body, length],
        )
        .unwrap();
}

fn verify(path: &Path) -> VerifyReport {
    let path = path.to_owned();
    let verify = move || {
        Store::open(&path, &Options::default())
            .unwrap()
            .verify()
            .unwrap()
    };
    let thread = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(verify)
        .unwrap();
    thread.join().unwrap()
}

#[test]
fn nesting_without_end_is_a_fault_and_not_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = database(directory.path());
    let store = Store::open(&path, &Options::default()).unwrap();
    let records = store.records(&run_id("one"), 0, usize::MAX).unwrap();
    let lines: Vec<String> = records
        .iter()
        .map(|record| serde_json::to_string(record).unwrap())
        .collect();
    drop(store);
    let call = lines
        .iter()
        .position(|line| line.contains("\"ratio\""))
        .unwrap();
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[", "")] {
        for deep in [300, 3_000_000] {
            let nested = format!("{}0{}", open.repeat(deep), close.repeat(deep));
            // Alone, and where a record may hold anything: in the arguments of a call.
            for line in [nested.clone(), lines[call].replace("0.1", &nested)] {
                let mut changed = lines.clone();
                changed[call] = line;
                put_records(&path, &(changed.join("\n") + "\n"));
                let report = verify(&path);
                let fault = report.faults[0].to_string();
                assert!(fault.contains(&format!("record {call}")), "{fault}");
                // Whoever reads it is told, too.
                let store = Store::open(&path, &Options::default()).unwrap();
                assert!(store.records(&run_id("one"), 0, usize::MAX).is_err());
            }
        }
    }
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    let mut made = Plan::new("one", 3).make();
    let deep =
        |levels| (0..levels).fold(serde_json::json!(0), |inner, _| serde_json::json!([inner]));
    let put = |records: &mut Vec<runtape_core::Record>, value| {
        for record in records {
            if let runtape_core::RecordKind::Message(message) = &mut record.kind
                && let runtape_core::Message::ExpertMessage(expert) = &mut message.message
            {
                for part in &mut std::sync::Arc::make_mut(expert).contents {
                    if let runtape_core::ExpertPart::ToolCallPart(call) = part {
                        call.args = serde_json::Value::clone(&value);
                    }
                }
            }
        }
    };
    put(&mut made.records, deep(300));
    store.begin_run(&made.begin).unwrap();
    let error = store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap_err();
    assert!(error.to_string().contains("nested too deep"), "{error}");
    // Twice as deep as any runtime's output is read.
    put(&mut made.records, deep(240));
    store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    store
        .finish_run(made.id(), &serde_json::json!(0), 0)
        .unwrap();
    assert_eq!(verify(&path).faults, []);
    assert_eq!(
        store.records(made.id(), 0, usize::MAX).unwrap(),
        made.records
    );
}

#[test]
fn a_short_block_does_not_become_a_long_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = database(directory.path());
    // Sixty-four million zeros in a few thousand bytes.
    let zeros = vec![0_u8; 64 << 20];
    let body = [&[1_u8], zstd::bulk::compress(&zeros, 1).unwrap().as_slice()].concat();
    assert!(body.len() < 10_000);
    for table in ["record_block", "tape_block"] {
        for length in [0, 100, (1 << 28) + 1, 1 << 40, i64::MAX] {
            let connection = Connection::open(&path).unwrap();
            let sql = format!("UPDATE {table} SET body = ?1, length = ?2");
            connection.execute(&sql, params![body, length]).unwrap();
            let faults = verify(&path).faults;
            let told = faults.iter().map(ToString::to_string).collect::<String>();
            assert!(
                told.contains("cannot be decompressed") || told.contains("claims to have"),
                "{table} {length}: {told}"
            );
        }
    }
}

#[test]
fn a_table_of_receive_times_without_end_is_a_fault() {
    let directory = tempfile::tempdir().unwrap();
    let path = database(directory.path());
    // Says that it has many chunks, all of them empty.
    let mut raw: Vec<u8> = vec![0xff, 0xff, 0xff, 0xff, 0x0f];
    raw.resize(4 << 20, 0);
    let body = [&[0_u8], raw.as_slice()].concat();
    let length = i64::try_from(raw.len()).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute(
            "UPDATE tape_block SET body = ?1, length = ?2",
            params![body, length],
        )
        .unwrap();
    assert!(!verify(&path).is_intact());
    let store = Store::open(&path, &Options::default()).unwrap();
    assert!(store.tape(&run_id("one")).is_err());
}
