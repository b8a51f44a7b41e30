//! Spool files: what a full disk or a locked database kept from being stored, until it can be.
//!
//! A line of JSON says which database the run belongs to and what it was begun with. A second line
//! says how the process ended. It is blank until then: in a file that nobody writes, a blank one says
//! that the recorder died. The second line has a fixed length, so that there is room for the end on a
//! disk that became full meanwhile. After it, each piece of output has a line that says where the piece
//! belongs, followed by its bytes and a line break.
//!
//! The former format named no database and had the end as its last line.

mod directory;
pub(crate) mod file;
mod owner;

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use runtape_core::{JobId, RunId, Runtime, Stream, Summarizer};
use runtape_normalizer::{Context, Exit};
use runtape_store::{BeginRun, Store, StoreError, TapeChunk};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::directory::SpoolDirectories;
pub use self::file::make_private_directory;
pub use self::owner::SpoolOwner;
use crate::context_and_exit::{context_to_json, exit_from_json, exit_to_json};
use crate::error::RecordError;
use crate::recover::{OutputAfterTape, Recovered, beyond, close, left_exit, reopen};
use crate::undecided::differ_by_decision;

/// What a spool file's name ends with.
pub const SPOOL_EXTENSION: &str = "runtape-spool";

/// The most bytes that one piece may claim to have; a damaged length must not fill the memory.
const LONGEST_PIECE: u64 = 64 << 20;
/// The most bytes that a line of JSON may have, for the same reason.
const LONGEST_LINE: u64 = 16 << 20;

/// Bytes of the line that says how the process ended.
const END_LENGTH: usize = 1024;
/// The name under which the counts of several rules stand where there is no room for all of them.
const OTHER_RULES: &str = "other";
/// The format that this version writes.
const FORMAT: u32 = 2;
/// How many names are tried for a file: somebody may have taken the first one.
const NAMES: u32 = 8;

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpoolHead {
    /// Absent in the former format.
    #[serde(default)]
    format: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    database_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    database_path: Option<String>,
    job_id: JobId,
    run_id: RunId,
    runtime: Runtime,
    started_at: i64,
    context: Value,
}

impl SpoolHead {
    fn owner(&self) -> SpoolOwner {
        SpoolOwner {
            id: self.database_id.clone(),
            path: self.database_path.as_deref().map(PathBuf::from),
        }
    }

    fn begin(self) -> BeginRun {
        BeginRun {
            job_id: self.job_id,
            run_id: self.run_id,
            runtime: self.runtime,
            started_at: self.started_at,
            context: self.context,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", untagged)]
enum SpoolEntry {
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
    head: SpoolHead,
    file: File,
    /// Where the line about the end is.
    end: u64,
    /// How long the file is after the last whole piece.
    length: u64,
}

/// Makes a file for a run in a directory, and returns its path.
fn create(directory: &Path, run: &RunId) -> io::Result<(PathBuf, File)> {
    let mut number = 1;
    loop {
        let name = match number {
            1 => format!("{run}.{SPOOL_EXTENSION}"),
            _ => format!("{run}-{number}.{SPOOL_EXTENSION}"),
        };
        let path = directory.join(name);
        match file::create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES => {
                number += 1;
            }
            made => return made.map(|file| (path, file)),
        }
    }
}

impl Spool {
    /// Makes a spool file for a run in a directory, readable by its owner only.
    pub fn create(
        directory: &Path,
        owner: &SpoolOwner,
        runtime: &Runtime,
        context: &Context,
        started_at: i64,
    ) -> io::Result<Self> {
        let path = owner.path.as_deref().map(Path::to_string_lossy);
        let head = SpoolHead {
            format: FORMAT,
            database_id: owner.id.clone(),
            database_path: path.map(std::borrow::Cow::into_owned),
            job_id: context.job_id.clone(),
            run_id: context.run_id.clone(),
            runtime: runtime.clone(),
            started_at,
            context: context_to_json(context),
        };
        Self::begin(directory, head)
    }

    fn begin(directory: &Path, head: SpoolHead) -> io::Result<Self> {
        let mut first = serde_json::to_vec(&head)?;
        first.push(b'\n');
        let (path, file) = create(directory, &head.run_id)?;
        // Held until the file is closed, however this process ends: a living recorder's file is
        // not taken in.
        let _ = file.try_lock();
        let mut spool = Self {
            path,
            head,
            file,
            end: first.len() as u64,
            length: (first.len() + END_LENGTH) as u64,
        };
        let written = spool.write_first(&first);
        if let Err(error) = written {
            // A file without its first lines could not be told from any other.
            let _ = std::fs::remove_file(&spool.path);
            return Err(error);
        }
        Ok(spool)
    }

    fn write_first(&mut self, first: &[u8]) -> io::Result<()> {
        self.file.write_all(first)?;
        self.file.write_all(end_line("").as_bytes())
    }

    /// Returns where the spool file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Goes on in another directory, with all that the file has so far: where it is, the disk may be
    /// full.
    pub fn move_to(&mut self, directory: &Path) -> io::Result<()> {
        let mut other = Self::begin(directory, self.head.clone())?;
        let copied = self.copy_to(&mut other);
        let (gone, copied) = match copied {
            Ok(()) => {
                std::mem::swap(self, &mut other);
                (other.path, Ok(()))
            }
            failed => (other.path, failed),
        };
        let _ = std::fs::remove_file(gone);
        copied
    }

    fn copy_to(&mut self, other: &mut Self) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(other.length))?;
        let pieces = self.length.saturating_sub(other.length);
        let copied = io::copy(&mut file.take(pieces), &mut other.file)?;
        other.length += copied;
        // Copying moved the place at which this file is written: back to its end.
        file.seek(SeekFrom::Start(self.length)).map(drop)
    }

    /// Adds a piece of output, which is with the operating system when `push` returns. After an error
    /// the file is as it was before.
    pub fn push(&mut self, chunk: &TapeChunk) -> io::Result<()> {
        let entry = SpoolEntry::Piece {
            stream: chunk.stream,
            start: chunk.start,
            received_at: chunk.received_at,
            length: chunk.bytes.len() as u64,
        };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        let length = self.length + (line.len() + chunk.bytes.len() + 1) as u64;
        let mut file = &self.file;
        let written = file
            .write_all(&line)
            .and_then(|()| file.write_all(&chunk.bytes))
            .and_then(|()| file.write_all(b"\n"));
        if written.is_ok() {
            self.length = length;
        } else {
            let _ = file.set_len(self.length);
            let _ = file.seek(SeekFrom::Start(self.length));
        }
        written
    }

    /// Says how the process ended, in the room that was kept for it.
    pub fn finish(self, exit: &Exit) -> io::Result<()> {
        let line = end_line(&end_text(exit)?);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(line.as_bytes())?;
        file.sync_all()
    }
}

/// Returns what the line about the end says. The counts of what was taken out may be too many for it: those of
/// some rules are counted together then.
fn end_text(exit: &Exit) -> io::Result<String> {
    let mut exit = exit.clone();
    loop {
        let text = serde_json::to_string(&SpoolEntry::Exit {
            exit: exit_to_json(&exit),
        })?;
        let counts = &mut exit.redacted.by_rule;
        let last = counts.keys().rfind(|rule| *rule != OTHER_RULES).cloned();
        let (true, Some(rule)) = (text.len() >= END_LENGTH, last) else {
            return Ok(text);
        };
        let count = counts.remove(&rule).unwrap_or_default();
        *counts.entry(OTHER_RULES.to_owned()).or_default() += count;
    }
}

/// Returns a line of fixed length.
fn end_line(text: &str) -> String {
    let width = END_LENGTH - 1;
    format!("{text:width$}\n")
}

/// A spool file that is being read.
struct SpoolReader {
    file: BufReader<File>,
    line: Vec<u8>,
    head: SpoolHead,
    /// How the process ended, if the file says so before its pieces.
    exit: Option<Exit>,
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

fn failed(path: &Path) -> impl Fn(io::Error) -> RecordError {
    move |source| RecordError::Spool {
        path: path.into(),
        source,
    }
}

/// Reads a line, unless it is too long to be one.
fn read_line(file: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<()> {
    line.clear();
    file.take(LONGEST_LINE).read_until(b'\n', line)?;
    Ok(())
}

impl SpoolReader {
    /// Opens a spool file; one that a living recorder writes is refused.
    fn open(path: &Path) -> Result<Self, RecordError> {
        let failed = failed(path);
        let file = file::open(path).map_err(&failed)?;
        let file = file.map_err(|reason| RecordError::Misfit {
            path: path.into(),
            reason: reason.to_owned(),
        })?;
        if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
            return Err(failed(io::ErrorKind::WouldBlock.into()));
        }
        Self::read(file).map_err(failed)
    }

    fn read(file: File) -> io::Result<Self> {
        let (mut file, mut line) = (BufReader::new(file), Vec::new());
        read_line(&mut file, &mut line)?;
        let head: SpoolHead = serde_json::from_slice(&line)?;
        if head.format > FORMAT {
            return Err(bad("a newer version wrote it"));
        }
        let mut reader = Self {
            file,
            line,
            head,
            exit: None,
        };
        reader.read_end()?;
        Ok(reader)
    }

    /// Reads what stands before the pieces.
    fn read_end(&mut self) -> io::Result<()> {
        if self.head.format < FORMAT {
            return Ok(());
        }
        read_line(&mut self.file, &mut self.line)?;
        if let Ok(SpoolEntry::Exit { exit }) = serde_json::from_slice(&self.line) {
            self.exit = Some(exit_from_json(&exit));
        }
        Ok(())
    }

    /// Goes back to the first piece.
    fn rewind(&mut self) -> io::Result<()> {
        self.file.rewind()?;
        read_line(&mut self.file, &mut self.line)?;
        self.read_end()
    }

    /// Reads the next piece, or how the process ended; a last piece that was cut off counts as
    /// far as it goes.
    fn next(&mut self) -> io::Result<Result<TapeChunk, Exit>> {
        read_line(&mut self.file, &mut self.line)?;
        let Ok(entry) = serde_json::from_slice(&self.line) else {
            return Ok(Err(self.exit.clone().unwrap_or_else(Exit::lost)));
        };
        match entry {
            SpoolEntry::Exit { exit } => Ok(Err(exit_from_json(&exit))),
            SpoolEntry::Piece { length, .. } if length > LONGEST_PIECE => {
                Err(bad("a piece is too long"))
            }
            SpoolEntry::Piece {
                stream,
                start,
                received_at,
                length,
            } => {
                let mut bytes = Vec::new();
                self.file.by_ref().take(length).read_to_end(&mut bytes)?;
                read_line(&mut self.file, &mut self.line)?;
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
    reader: SpoolReader,
    /// How the process ended, if the file does not say so and somebody else does.
    exit: Option<Exit>,
}

impl OutputAfterTape for Spooled<'_> {
    fn rewind(&mut self) -> Result<(), RecordError> {
        let rewound = self.reader.rewind();
        rewound.map_err(failed(self.path))
    }

    fn next(&mut self) -> Result<Result<TapeChunk, Exit>, RecordError> {
        match self.reader.next().map_err(failed(self.path))? {
            Err(exit) if exit.recorder_lost => Ok(Err(self.exit.clone().unwrap_or(exit))),
            next => Ok(next),
        }
    }
}

/// Takes a spool file into a run that is closed already.
///
/// Whoever closed the run may have taken the file in, and died before the file was removed. Or the run
/// was closed as one whose output is cut, by somebody who did not know of the file.
fn take_in_late(
    store: &mut Store,
    begin: &BeginRun,
    rest: &mut impl OutputAfterTape,
    now: i64,
) -> Result<Recovered, RecordError> {
    let run_id = begin.run_id.clone();
    // The run is written only if it has to be opened again.
    store.release_run(&run_id);
    let lengths = store.tape_lengths(&run_id)?;
    while let Ok(chunk) = rest.next()? {
        if beyond(chunk, lengths).is_none() {
            continue;
        }
        let exit = store.exit(&run_id)?;
        if !exit.is_some_and(|exit| exit_from_json(&exit).is_output_cut()) {
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

/// Takes a spool file into the store that it belongs to, after what of its run is stored already,
/// and removes it.
///
/// A file that a living recorder writes is left alone: the error's
/// [`is_in_use`](RecordError::is_in_use) tells. So is one of another database, and what may not be
/// a spool file of this user's: the error is [`RecordError::Misfit`].
pub fn take_in_spool(store: &mut Store, path: &Path, now: i64) -> Result<Recovered, RecordError> {
    let reader = SpoolReader::open(path)?;
    if let Some(reason) = misfit(store, &reader.head)? {
        let path = path.into();
        return Err(RecordError::Misfit { path, reason });
    }
    take_in(store, path, reader, now)
}

/// Does what [`take_in_spool`] does for a file that somebody wants in this store, whichever database
/// the file belongs to.
pub fn adopt_spool(store: &mut Store, path: &Path, now: i64) -> Result<Recovered, RecordError> {
    take_in(store, path, SpoolReader::open(path)?, now)
}

/// Returns the run of a spool file: what it says, else what its name says.
#[must_use]
pub fn run_of_spool(path: &Path) -> Option<RunId> {
    let named = || path.file_stem()?.to_str()?.parse().ok();
    let read = SpoolReader::open(path)
        .ok()
        .map(|reader| reader.head.run_id);
    read.or_else(named)
}

/// A spool file that nobody writes any more: its run waits to be taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingSpool {
    /// The run.
    pub run_id: RunId,
    /// When it began, in milliseconds since 1970.
    pub started_at: i64,
}

/// Returns what waits in a spool file, if it is one of a database, and no living recorder writes it. A database that
/// could not be asked is known by its place alone.
#[must_use]
pub fn waiting_spool(path: &Path, database: &SpoolOwner) -> Option<WaitingSpool> {
    let head = SpoolReader::open(path).ok()?.head;
    let mut owner = head.owner();
    if database.id.is_none() {
        owner.id = None;
    }
    owner.misfit(database).is_none().then_some(WaitingSpool {
        run_id: head.run_id,
        started_at: head.started_at,
    })
}

/// Tells why a spool file must not be taken into a store.
fn misfit(store: &Store, head: &SpoolHead) -> Result<Option<String>, RecordError> {
    if head.format >= FORMAT {
        return Ok(head.owner().misfit(&SpoolOwner::of(store)?));
    }
    // The former format names no database; but a run that was begun just so is in no other.
    let is_known = match store.begin_of(&head.run_id) {
        Ok(begin) => {
            let same = begin.job_id == head.job_id && begin.runtime == head.runtime;
            same && begin.context == head.context && begin.started_at == head.started_at
        }
        Err(StoreError::UnknownRun { .. }) => false,
        Err(error) => return Err(error.into()),
    };
    Ok((!is_known).then(|| "it does not say which database it belongs to".to_owned()))
}

fn take_in(
    store: &mut Store,
    path: &Path,
    reader: SpoolReader,
    now: i64,
) -> Result<Recovered, RecordError> {
    let begin = reader.head.clone().begin();
    match store.begin_of(&begin.run_id) {
        // The file or the run was begun before the first lines decided the runtime.
        Ok(stored) if differ_by_decision(&stored, &begin) => {
            store.resume_run(&begin.run_id)?;
        }
        _ => store.begin_run(&begin)?,
    }
    let taken = Spooled {
        path,
        reader,
        exit: left_exit(store, &begin.run_id),
    }
    .take_into(store, &begin, now);
    // Whoever tries again, or closes it from its tape, takes it over anew.
    store.release_run(&begin.run_id);
    let taken = taken?;
    std::fs::remove_file(path).map_err(failed(path))?;
    Ok(taken)
}

impl Spooled<'_> {
    fn take_into(
        mut self,
        store: &mut Store,
        begin: &BeginRun,
        now: i64,
    ) -> Result<Recovered, RecordError> {
        match store.run(&begin.run_id) {
            Ok(run) if run.seal.is_some() => take_in_late(store, begin, &mut self, now),
            _ => close(store, begin, &mut self, now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_fits_its_line_however_many_rules_found_something() {
        for rules in [0, 3, 500] {
            let mut exit = Exit::with_code(0);
            for number in 0..rules {
                exit.redacted.count(&format!("a-rule-{number}"), 1);
            }
            let line = end_line(&end_text(&exit).unwrap());
            assert_eq!(line.len(), END_LENGTH);
            let SpoolEntry::Exit { exit: read } = serde_json::from_str(&line).unwrap() else {
                panic!("{line}");
            };
            let read = exit_from_json(&read);
            assert_eq!(read.redacted.total(), rules);
            assert_eq!(read.code, Some(0));
            assert_eq!(read == exit, rules < 500);
        }
    }
}
