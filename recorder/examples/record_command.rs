//! Runs a command, shows what it says as it comes, and keeps it. Ends as the command did.
//!
//!     cargo run -p runtape-recorder --example record_command -- runs.db hermes hermes chat -q hello

use std::error::Error;
use std::io::Write;
use std::process::{Command, ExitCode};

use runtape_recorder::core::{IdSource, JobId, RandomIds};
use runtape_recorder::normalizer::{Context, Exit, LiveItem};
use runtape_recorder::process::{Shown, Watch};
use runtape_recorder::store::{Options, Store};
use runtape_recorder::{Recording, RecordingOptions};

fn record() -> Result<Exit, Box<dyn Error>> {
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
    let recording = Recording::spawn(
        command,
        store,
        runtime.parse::<runtape_recorder::core::Runtime>()?,
        context,
        options,
    )?;
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
    if let Some(summary) = recorded.summary {
        writeln!(out, "run {run_id}: {}", summary.status.as_str())?;
        if let Some(error) = summary.error {
            writeln!(out, "{}: {}", error.name, error.message)?;
        }
    }
    // The command was not held up by a store that failed: what it printed is in a spool file.
    match (recorded.kept.fault, recorded.kept.spool) {
        (None, _) => writeln!(out, "read it with: runtape --db {database} show {run_id}")?,
        (Some(fault), None) => writeln!(out, "not kept: {fault}")?,
        (Some(fault), Some(spool)) => writeln!(out, "kept in {}: {fault}", spool.display())?,
    }
    Ok(recorded.exit)
}

fn main() -> ExitCode {
    match record() {
        Ok(exit) => {
            let code = exit.code.and_then(|code| u8::try_from(code).ok());
            code.map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            let reason = error.source().map(|reason| format!(": {reason}"));
            // Nobody is left to be told if this fails, too.
            writeln!(std::io::stderr(), "{error}{}", reason.unwrap_or_default()).ok();
            ExitCode::FAILURE
        }
    }
}
