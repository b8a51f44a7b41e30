//! Spool files: what a full disk or a locked database kept from being stored, until it can be.
//!
//! A line of JSON says what the run was begun with. Then for each piece of output a line that
//! says where it belongs, followed by its bytes and a line break. A last line says how the process
//! ended; without it the recorder died.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use runtape_core::{JobId, Record, RunId, Runtime, Stream, Summarizer};
use runtape_normalizer::{Exit, Normalizer, Output};
use runtape_store::{BeginRun, Store, TapeChunk};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::{RunContext, begin_at, exit_from_json, exit_to_json};
use crate::record_error::RecordError;
use crate::replay::Recovered;

/// What a spool file's name ends with.
pub const SPOOL_EXTENSION: &str = "runtape-spool";

/// The most bytes that one piece may claim to have; a damaged length must not fill the memory.
const LONGEST_PIECE: u64 = 64 << 20;
/// The most bytes that a line of JSON may have, for the same reason.
const LONGEST_LINE: u64 = 16 << 20;
/// What is taken in is written when it holds this many bytes of output …
const BATCH_BYTES: usize = 1 << 20;
/// … or this many records.
const BATCH_RECORDS: usize = 4096;

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
        let file = options.open(&path)?;
        // Held until the file is closed, however this process ends: a living recorder's file is
        // not taken in.
        let _ = file.try_lock();
        let mut file = BufWriter::new(file);
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

/// A spool file that is being read.
struct Reader {
    file: BufReader<File>,
    line: Vec<u8>,
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

impl Reader {
    /// Opens a spool file; one that a living recorder writes is refused.
    fn open(path: &Path) -> io::Result<(Self, Head)> {
        let file = File::open(path)?;
        if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut reader = Self {
            file: BufReader::new(file),
            line: Vec::new(),
        };
        reader.next_line()?;
        let head = serde_json::from_slice(&reader.line)?;
        Ok((reader, head))
    }

    fn next_line(&mut self) -> io::Result<()> {
        self.line.clear();
        let mut bounded = self.file.by_ref().take(LONGEST_LINE);
        bounded.read_until(b'\n', &mut self.line)?;
        Ok(())
    }

    /// Reads the next piece, or how the process ended; a last piece that was cut off counts as
    /// far as it goes.
    fn next(&mut self) -> io::Result<Result<TapeChunk, Exit>> {
        self.next_line()?;
        let Ok(entry) = serde_json::from_slice(&self.line) else {
            return Ok(Err(Exit::lost()));
        };
        match entry {
            Entry::Exit { exit } => Ok(Err(exit_from_json(&exit))),
            Entry::Piece { length, .. } if length > LONGEST_PIECE => {
                Err(bad("a piece is too long"))
            }
            Entry::Piece {
                stream,
                start,
                received_at,
                length,
            } => {
                let mut bytes = Vec::new();
                self.file.by_ref().take(length).read_to_end(&mut bytes)?;
                self.next_line()?;
                Ok(Ok(TapeChunk {
                    stream,
                    start,
                    received_at,
                    bytes,
                }))
            }
        }
    }
}

/// What is made from a tape and not yet stored.
struct Pending<'a> {
    store: &'a mut Store,
    run_id: &'a RunId,
    summarizer: Summarizer,
    records: Vec<Record>,
    chunks: Vec<TapeChunk>,
    bytes: usize,
}

impl Pending<'_> {
    fn push(&mut self, output: Output, chunk: Option<TapeChunk>) -> Result<(), RecordError> {
        output
            .records
            .iter()
            .for_each(|record| self.summarizer.push(record));
        self.records.extend(output.records);
        if let Some(chunk) = chunk {
            self.bytes += chunk.bytes.len();
            self.chunks.push(chunk);
        }
        if self.bytes >= BATCH_BYTES || self.records.len() >= BATCH_RECORDS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        self.store
            .append(self.run_id, &self.records, &self.chunks)?;
        self.records.clear();
        self.chunks.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// Takes a spool file into the store, after what of its run is stored already, and removes it.
///
/// A file that a living recorder writes is left alone: the error's
/// [`is_in_use`](RecordError::is_in_use) tells.
pub fn take_in_spool(store: &mut Store, path: &Path, now: i64) -> Result<Recovered, RecordError> {
    let failed = |source| RecordError::Spool {
        path: path.into(),
        source,
    };
    let (mut reader, head) = Reader::open(path).map_err(failed)?;
    let run_id = head.run_id.clone();
    let context = RunContext::from_json(head.job_id.clone(), head.run_id.clone(), &head.context);
    let mut normalizer = Normalizer::new(head.runtime.clone(), context.to_normalizer())?;
    begin_at(&mut normalizer, head.started_at);
    store.begin_run(&BeginRun {
        job_id: head.job_id,
        run_id: head.run_id,
        runtime: head.runtime,
        started_at: head.started_at,
        context: head.context,
    })?;
    // What is stored already comes first. Its records are stored, too: both go in one batch.
    let mut summarizer = Summarizer::brief();
    store.each_tape_chunk(&run_id, |chunk| {
        let output = normalizer.push(chunk.stream, &chunk.bytes, chunk.received_at);
        output
            .records
            .iter()
            .for_each(|record| summarizer.push(record));
        true
    })?;
    let (stdout, stderr) = store.tape_lengths(&run_id)?;
    let mut pending = Pending {
        store,
        run_id: &run_id,
        summarizer,
        records: Vec::new(),
        chunks: Vec::new(),
        bytes: 0,
    };
    let exit = loop {
        let chunk = match reader.next().map_err(failed)? {
            Ok(chunk) => chunk,
            Err(exit) => break exit,
        };
        let known = match chunk.stream {
            Stream::Stdout => stdout,
            Stream::Stderr => stderr,
        };
        if chunk.end() > known {
            let output = normalizer.push(chunk.stream, &chunk.bytes, chunk.received_at);
            pending.push(output, Some(chunk))?;
        }
    };
    pending.push(normalizer.finish(&exit), None)?;
    pending.flush()?;
    let summary = pending.summarizer.finish();
    store.finish_run(&run_id, &exit_to_json(&exit), now)?;
    std::fs::remove_file(path).map_err(failed)?;
    let summary = summary.ok_or_else(|| RecordError::Unfinished {
        run: run_id.clone(),
    })?;
    Ok(Recovered { summary, run_id })
}
