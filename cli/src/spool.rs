//! Spool files: what a full disk or a locked database kept from being stored, until it can be.
//!
//! A line of JSON says what the run was begun with. Then for each piece of output a line that
//! says where it belongs, followed by its bytes and a line break. A last line says how the process
//! ended; without it the recorder died.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use runtape_core::{JobId, RunId, Runtime, Stream, Summarizer};
use runtape_normalizer::Exit;
use runtape_store::{BeginRun, Store, TapeChunk};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::{RunContext, exit_from_json, exit_to_json};
use crate::record_error::RecordError;
use crate::recover::{Recovered, Rest, beyond, close, reopen};

/// What a spool file's name ends with.
pub const SPOOL_EXTENSION: &str = "runtape-spool";

/// The most bytes that one piece may claim to have; a damaged length must not fill the memory.
const LONGEST_PIECE: u64 = 64 << 20;
/// The most bytes that a line of JSON may have, for the same reason.
const LONGEST_LINE: u64 = 16 << 20;

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

    /// Goes back to the first piece.
    fn rewind(&mut self) -> io::Result<()> {
        self.file.rewind()?;
        self.next_line()
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

/// A spool file as what follows a tape.
struct Spooled<'a> {
    path: &'a Path,
    reader: Reader,
}

impl Spooled<'_> {
    fn failed(&self, source: io::Error) -> RecordError {
        RecordError::Spool {
            path: self.path.into(),
            source,
        }
    }
}

impl Rest for Spooled<'_> {
    fn rewind(&mut self) -> Result<(), RecordError> {
        let rewound = self.reader.rewind();
        rewound.map_err(|error| self.failed(error))
    }

    fn next(&mut self) -> Result<Result<TapeChunk, Exit>, RecordError> {
        let next = self.reader.next();
        next.map_err(|error| self.failed(error))
    }
}

/// Takes a spool file into a run that is closed already.
///
/// Whoever closed it may have taken the file in, and died before it was removed; or it was closed as
/// one whose recorder died, by somebody who did not know of the file.
fn take_in_late(
    store: &mut Store,
    begin: &BeginRun,
    rest: &mut impl Rest,
    now: i64,
) -> Result<Recovered, RecordError> {
    let run_id = begin.run_id.clone();
    // It is not written, unless it has to be opened again.
    store.release_run(&run_id);
    let lengths = store.tape_lengths(&run_id)?;
    while let Ok(chunk) = rest.next()? {
        if beyond(chunk, lengths).is_none() {
            continue;
        }
        let exit = store.exit(&run_id)?;
        if !exit.is_some_and(|exit| exit_from_json(&exit).recorder_lost) {
            return Err(RecordError::Closed { run: run_id });
        }
        rest.rewind()?;
        return reopen(store, begin, rest, now);
    }
    let mut summarizer = Summarizer::brief();
    for run in store.tree(&run_id)? {
        store.each_record(&run.run_id, 0, |record| {
            summarizer.push(&record);
            true
        })?;
    }
    match summarizer.finish() {
        Some(summary) => Ok(Recovered { summary, run_id }),
        None => Err(RecordError::Unfinished { run: run_id }),
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
    let (reader, head) = Reader::open(path).map_err(failed)?;
    let begin = BeginRun {
        job_id: head.job_id,
        run_id: head.run_id,
        runtime: head.runtime,
        started_at: head.started_at,
        context: head.context,
    };
    let mut rest = Spooled { path, reader };
    store.begin_run(&begin)?;
    let closed = match store.run(&begin.run_id) {
        Ok(run) if run.seal.is_some() => take_in_late(store, &begin, &mut rest, now),
        _ => close(store, &begin, &mut rest, now),
    };
    // Whoever tries again, or closes it from its tape, takes it over anew.
    store.release_run(&begin.run_id);
    let closed = closed?;
    std::fs::remove_file(path).map_err(failed)?;
    Ok(closed)
}
