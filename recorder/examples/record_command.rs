//! Runs a command, shows what it says as it comes, and keeps it.
//!
//!     cargo run -p runtape-recorder --example record_command -- runs.db hermes hermes chat -q hello

use std::error::Error;
use std::io::Write;
use std::process::Command;

use runtape_recorder::core::{IdSource, JobId, RandomIds};
use runtape_recorder::normalizer::{Context, LiveItem};
use runtape_recorder::process::{Shown, Watch};
use runtape_recorder::store::{Options, Store};
use runtape_recorder::{Recording, RecordingOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(database), Some(runtime), Some(program)) = (words.next(), words.next(), words.next())
    else {
        return Err("usage: record_command DATABASE RUNTIME COMMAND…".into());
    };
    let mut command = Command::new(program);
    command.args(words);
    let store = Store::open(&database, &Options::default())?;
    let run_id = RandomIds.run_id();
    let context = Context::new(JobId::parse(run_id.as_str())?, run_id.clone());
    let options = RecordingOptions {
        watch: Watch::Items,
        ..RecordingOptions::default()
    };
    let recording = Recording::spawn(command, store, runtime.parse()?, context, options)?;
    let mut out = std::io::stdout().lock();
    for shown in recording.shown() {
        let Shown::Items { items, .. } = shown else {
            continue;
        };
        for item in items {
            if let LiveItem::Transcript { entry, .. } = item {
                writeln!(out, "{}", serde_json::to_string(&entry)?)?;
            }
        }
    }
    let recorded = recording.wait();
    let status = recorded.summary.map(|summary| summary.status);
    writeln!(out, "run {run_id}: {status:?}, {:?}", recorded.exit)?;
    Ok(())
}
