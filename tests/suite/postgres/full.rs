//! The server's disk is full: nothing that was acknowledged is lost, and the writer is told what to do.

use runtape_store::{DatabaseFault, StoreError};
use runtape_tests::postgres::{Care, Layout, Server};
use runtape_tests::runs::Plan;
use serde_json::json;

use crate::writers::{check_exactly, open};

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    if !runtape_tests::postgres::is_there() {
        return;
    }
    let Some(server) = Server::start_with_volume(Care::AsByDefault, &[], 40 << 10) else {
        eprintln!("skipped: no volume can be mounted here, so none can be full");
        return;
    };
    let sql = server.sql("postgres");
    let volume = server.volume().unwrap().display();
    sql.run(&format!("CREATE TABLESPACE small LOCATION '{volume}'"));
    sql.run("CREATE DATABASE history TABLESPACE small");
    let address = server.address("history");
    Layout::Whole.migrate(&address);
    // Something else takes the room, so that there is a little left and some to be freed.
    let ballast = server.sql("history");
    ballast.run("CREATE SCHEMA other");
    let fill = |number: u32| {
        let table = format!("other.ballast{number}");
        ballast.ask(&format!(
            "CREATE TABLE {table} (a text); ALTER TABLE {table} ALTER a SET STORAGE EXTERNAL;
             INSERT INTO {table} SELECT repeat('x', 500000)"
        ))
    };
    let tables = (0..1000).take_while(|number| fill(*number).is_ok()).count();
    assert!(tables > 5, "there was room for {tables} tables only");
    let mut store = open(&address);
    let made = Plan::new("long", 3000).make();
    let begun = store.begin_run(&made.begin);
    if begun.is_err() {
        // So full that not even a page was left.
        ballast.run("DROP TABLE other.ballast0");
        store.begin_run(&made.begin).unwrap();
    }
    let mut chunks = made.chunks.chunks(100);
    let (mut acknowledged, mut printed, mut refusal) = (0, 0, None);
    for records in made.records.chunks(100) {
        let chunks = chunks.next().unwrap_or_default();
        match store.append(made.id(), records, chunks) {
            Ok(()) => {
                acknowledged += records.len();
                printed += chunks.len();
            }
            Err(error) => {
                refusal = Some(error);
                break;
            }
        }
    }
    let refusal = refusal.expect("the disk was not full");
    let is_full = matches!(
        refusal,
        StoreError::Database {
            fault: DatabaseFault::Full,
            ..
        }
    );
    assert!(is_full, "{refusal}");
    println!("after {acknowledged} records: {refusal}");
    assert!(refusal.to_string().contains("no space left"), "{refusal}");
    // All that was acknowledged is there, and nothing else.
    let stored = store.records(made.id(), 0, usize::MAX).unwrap();
    assert_eq!(stored, made.records[..acknowledged]);
    assert_eq!(store.tape(made.id()).unwrap(), made.chunks[..printed]);
    assert_eq!(store.verify().unwrap().faults, []);
    // Somebody frees some room, and the writer goes on where it was.
    ballast.run("DROP SCHEMA other CASCADE");
    store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    store.finish_run(made.id(), &json!({"code": 0}), 1).unwrap();
    drop(store);
    check_exactly(&address, &[made]);
}
