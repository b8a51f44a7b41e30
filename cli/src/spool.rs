//! Spool files: what a full disk or a locked database kept from being stored, until it can be.
//!
//! A line of JSON says what the run was begun with. Then for each piece of output a line that
//! says where it belongs, followed by its bytes and a line break. A last line says how the process
//! ended; without it the recorder died.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use runtape_core::{JobId, Record, RunId, Runtime, Stream, summarize};
use runtape_normalizer::{Exit, Normalizer};
use runtape_store::{BeginRun, Store, TapeChunk};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::{RunContext, exit_from_json, exit_to_json};
use crate::record_error::RecordError;
use crate::replay::Recovered;

/// What a spool file's name ends with.
pub const SPOOL_EXTENSION: &str = "runtape-spool";

/// The most bytes that one piece may claim to have; a damaged length must not fill the memory.
const LONGEST_PIECE: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    job_id: JobId,
    run_id: RunId,
    runtime: Runtime,
    started_at: i64,
    context: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", untagged)]
enum Entry {
    #[serde(rename_all = "camelCase")]
    Piece {
        stream: Stream,
        start: u64,
        received_at: i64,
        length: u64,
    },
    Exit {
        exit: Value,
    },
}

/// A spool file that is being written.
pub struct Spool {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Spool {
    /// Makes a spool file for a run in a directory, readable by its owner only.
    pub fn create(
        directory: &Path,
        runtime: &Runtime,
        context: &RunContext,
        started_at: i64,
    ) -> io::Result<Self> {
        let path = directory.join(format!("{}.{SPOOL_EXTENSION}", context.run_id));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = BufWriter::new(options.open(&path)?);
        let head = Head {
            job_id: context.job_id.clone(),
            run_id: context.run_id.clone(),
            runtime: runtime.clone(),
            started_at,
            context: context.to_json(),
        };
        serde_json::to_writer(&mut file, &head)?;
        file.write_all(b"\n")?;
        file.flush()?;
        Ok(Self { path, file })
    }

    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a piece of output; when this returns it is with the operating system.
    pub fn push(&mut self, chunk: &TapeChunk) -> io::Result<()> {
        let entry = Entry::Piece {
            stream: chunk.stream,
            start: chunk.start,
            received_at: chunk.received_at,
            length: chunk.bytes.len() as u64,
        };
        serde_json::to_writer(&mut self.file, &entry)?;
        self.file.write_all(b"\n")?;
        self.file.write_all(&chunk.bytes)?;
        self.file.write_all(b"\n")?;
        self.file.flush()
    }

    /// Adds how the process ended.
    pub fn finish(mut self, exit: &Exit) -> io::Result<()> {
        let exit = exit_to_json(exit);
        serde_json::to_writer(&mut self.file, &Entry::Exit { exit })?;
        self.file.write_all(b"\n")?;
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }
}

/// A spool file that was read.
struct Spooled {
    head: Head,
    chunks: Vec<TapeChunk>,
    exit: Exit,
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Reads a spool file; a last piece that was cut off counts as far as it goes.
fn read(path: &Path) -> io::Result<Spooled> {
    let mut file = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    file.read_until(b'\n', &mut line)?;
    let head: Head = serde_json::from_slice(&line)?;
    let mut spooled = Spooled {
        head,
        chunks: Vec::new(),
        exit: Exit::lost(),
    };
    loop {
        line.clear();
        file.read_until(b'\n', &mut line)?;
        let Ok(entry) = serde_json::from_slice(&line) else {
            return Ok(spooled);
        };
        match entry {
            Entry::Exit { exit } => {
                spooled.exit = exit_from_json(&exit);
                return Ok(spooled);
            }
            Entry::Piece { length, .. } if length > LONGEST_PIECE => {
                return Err(bad("a piece is too long"));
            }
            Entry::Piece {
                stream,
                start,
                received_at,
                length,
            } => {
                let mut bytes = Vec::new();
                file.by_ref().take(length).read_to_end(&mut bytes)?;
                spooled.chunks.push(TapeChunk {
                    stream,
                    start,
                    received_at,
                    bytes,
                });
                line.clear();
                file.read_until(b'\n', &mut line)?;
            }
        }
    }
}

/// Takes a spool file into the store, after what of its run is stored already, and removes it.
pub fn take_in_spool(store: &mut Store, path: &Path, now: i64) -> Result<Recovered, RecordError> {
    let failed = |source| RecordError::Spool {
        path: path.into(),
        source,
    };
    let Spooled { head, chunks, exit } = read(path).map_err(failed)?;
    let run_id = head.run_id.clone();
    let context = RunContext::from_json(head.job_id.clone(), head.run_id.clone(), &head.context);
    let mut normalizer = Normalizer::new(head.runtime.clone(), context.to_normalizer())?;
    // As the recorder began: nothing was printed yet.
    let _ = normalizer.push(Stream::Stdout, &[], head.started_at);
    store.begin_run(&BeginRun {
        job_id: head.job_id,
        run_id: head.run_id,
        runtime: head.runtime,
        started_at: head.started_at,
        context: head.context,
    })?;
    let mut records: Vec<Record> = Vec::new();
    store.each_tape_chunk(&run_id, |chunk| {
        let output = normalizer.push(chunk.stream, &chunk.bytes, chunk.received_at);
        records.extend(output.records);
        true
    })?;
    let (stdout, stderr) = store.tape_lengths(&run_id)?;
    let is_new = |chunk: &TapeChunk| match chunk.stream {
        Stream::Stdout => chunk.start >= stdout,
        Stream::Stderr => chunk.start >= stderr,
    };
    let chunks: Vec<TapeChunk> = chunks.into_iter().filter(is_new).collect();
    for chunk in &chunks {
        let output = normalizer.push(chunk.stream, &chunk.bytes, chunk.received_at);
        records.extend(output.records);
    }
    records.extend(normalizer.finish(&exit).records);
    store.append(&run_id, &records, &chunks)?;
    store.finish_run(&run_id, &exit_to_json(&exit), now)?;
    std::fs::remove_file(path).map_err(failed)?;
    let summary = summarize(&records).ok_or_else(|| RecordError::Unfinished {
        run: run_id.clone(),
    })?;
    Ok(Recovered { summary, run_id })
}
