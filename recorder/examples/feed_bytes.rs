//! Keeps output that comes from somewhere else: here from standard input.
//!
//!     claude -p hello --output-format stream-json --verbose | cargo run -p runtape-recorder --example feed_bytes -- runs.db claude-code

use std::error::Error;
use std::io::{Read, Write};
use std::process::ExitCode;

use runtape_recorder::Recorder;
use runtape_recorder::core::{IdSource, JobId, RandomIds, Stream};
use runtape_recorder::normalizer::{Context, Exit};
use runtape_recorder::store::{Options, Store};

fn feed() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(database), Some(runtime)) = (words.next(), words.next()) else {
        return Err("usage: feed_bytes DATABASE RUNTIME < OUTPUT".into());
    };
    let store = Store::open(&database, &Options::default())?;
    let run_id = RandomIds.run_id();
    let context = Context::new(JobId::parse(run_id.as_str())?, run_id.clone());
    let mut recorder = Recorder::start(
        store,
        runtime.parse::<runtape_recorder::core::Runtime>()?,
        &context,
    )?;
    let mut buffer = vec![0; 64 * 1024];
    let mut input = std::io::stdin().lock();
    loop {
        let length = input.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        recorder.push(Stream::Stdout, buffer.get(..length).unwrap_or_default())?;
    }
    // Only the one who ran the process knows how it ended.
    let summary = recorder.finish(&Exit::unknown())?.summary;
    let mut out = std::io::stdout().lock();
    writeln!(out, "run {run_id}: {}", summary.status.as_str())?;
    if let Some(error) = summary.error {
        writeln!(out, "{}: {}", error.name, error.message)?;
    }
    writeln!(out, "read it with: runtape --db {database} show {run_id}")?;
    Ok(())
}

fn main() -> ExitCode {
    let Err(error) = feed() else {
        return ExitCode::SUCCESS;
    };
    // Nobody is left to be told if this fails, too.
    writeln!(std::io::stderr(), "{error}").ok();
    ExitCode::FAILURE
}
