//! Bundles of a few kilobytes that stand for gigabytes: refused, in a memory that is bounded.
#![cfg(target_os = "linux")]

use std::io::Read;
use std::path::Path;

use runtape_store::{Options, Store, Trust};
use rusqlite::{Connection, params};

use crate::writers::{start, work};
use runtape_tests::runs::{Plan, run_id};

/// The most memory that importing may take, in MiB: a block, and what is made of it.
const MOST: u64 = 768;

/// Compresses as a block is.
fn body(data: &[u8]) -> Vec<u8> {
    [vec![1], zstd::bulk::compress(data, 3).unwrap()].concat()
}

/// Puts a block in the place of the run's first.
fn plant(path: &Path, table: &str, length: usize, body: &[u8]) {
    let connection = Connection::open(path).unwrap();
    let sql = format!(
        "UPDATE {table} SET length = ?1, body = ?2
         WHERE place = (SELECT min(place) FROM {table})"
    );
    let length = i64::try_from(length).unwrap();
    connection.execute(&sql, params![length, body]).unwrap();
}

fn record(value: &[u8]) -> Vec<u8> {
    let head = br#"{"runId":"bomb","seq":0,"at":1,"type":"metadata","set":{"a":"#;
    [head, value, b"}}\n"].concat()
}

/// Imports a file, and tells what became of it and the most memory it took.
fn import(path: &Path) {
    let mut store = Store::open_in_memory().unwrap();
    let bundle = Store::open_bundle(path);
    let said = bundle.and_then(|bundle| store.import_bundle(&bundle, Trust::Unverified, 1));
    let said = said.map(|_| ()).map_err(|error| error.to_string());
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("said {said:?}\npeak {}", peak.unwrap().trim());
}

/// Does nothing unless it is started by the test below.
#[test]
fn process() {
    if let Some((_, path)) = work() {
        import(&path);
    }
}

#[test]
fn what_unfolds_to_gigabytes_is_refused_in_bounded_memory() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path().join("db"), &Options::default()).unwrap();
    Plan::new("bomb", 2).make().store(&mut store);
    let original = directory.path().join("original");
    store.write_bundle(&[run_id("bomb")], &original).unwrap();
    let many = b"1,".repeat(40 << 20);
    let numbers = record(&[b"[", many.as_slice(), b"1]"].concat());
    let deep = record(&[b"[".repeat(3 << 20), b"]".repeat(3 << 20)].concat());
    let text = record(&[b"\"".to_vec(), b"x".repeat(190 << 20), b"\"".to_vec()].concat());
    // Ten million pieces of no bytes, and how many there are.
    let pieces = [&[0x80, 0xad, 0xe2, 0x04][..], &[0, 0].repeat(10_000_000)].concat();
    let lines = b"{}\n".repeat(20 << 20);
    let cases: [(&str, &str, &[u8], &str); 7] = [
        ("a block of 900 MiB", "record_block", &[], "claims to have"),
        ("a tape of 900 MiB", "tape_block", &[], "claims to have"),
        ("a list of numbers", "record_block", &numbers, "values"),
        ("deep nesting", "record_block", &deep, "deeper"),
        ("records without end", "record_block", &lines, "hashes for"),
        ("a long text", "record_block", &text, ""),
        ("many pieces", "tape_block", &pieces, "pieces"),
    ];
    for (name, table, data, expected) in cases {
        let path = directory.path().join("planted");
        std::fs::copy(&original, &path).unwrap();
        let length = if data.is_empty() {
            900 << 20
        } else {
            data.len()
        };
        plant(&path, table, length, &body(data));
        let size = std::fs::metadata(&path).unwrap().len();
        let mut child = start("bombs::process", "import", &path);
        let mut said = String::new();
        let mut out = child.stdout.take().unwrap();
        out.read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{name}: {said}");
        assert!(
            said.contains("said Err") && said.contains(expected),
            "{name}: {said}"
        );
        let peak = said.lines().find_map(|line| line.strip_prefix("peak "));
        let peak: u64 = peak
            .unwrap()
            .trim_end_matches(" kB")
            .trim()
            .parse()
            .unwrap();
        println!("{name}: {} KiB, {} MiB of memory", size >> 10, peak >> 10);
        assert!(peak >> 10 < MOST, "{name}: {} MiB", peak >> 10);
    }
}
