//! Output of an agent CLI in a file or on standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::terminal::times;

/// Bytes read at a time, and looked at to detect the runtime.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Bytes looked at to detect the runtime from a first line that is longer than a chunk: a whole run
/// may be one line of JSON.
pub(crate) const LONGEST_LOOK: usize = 8 << 20;

/// A file or standard input.
pub(crate) struct Input {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    /// When a file was written last; nothing for a pipe, from which comes what is written now.
    modified: Option<i64>,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self, CliError> {
        if path.as_os_str() == "-" {
            return Ok(Self {
                path: path.into(),
                reader: Box::new(io::stdin()),
                modified: None,
            });
        }
        let failed = |error| CliError::Read {
            path: path.into(),
            error,
        };
        let file = File::open(path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if meta.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let modified = || meta.modified().ok().map_or(0, times::millis);
        Ok(Self {
            path: path.into(),
            reader: Box::new(file),
            modified: meta.is_file().then(modified),
        })
    }

    /// Tells whether it is a file rather than standard input or another pipe.
    pub(crate) fn is_file(&self) -> bool {
        self.modified.is_some()
    }

    /// Returns what to call it.
    pub(crate) fn name(&self) -> String {
        if self.path.as_os_str() == "-" {
            "standard input".to_owned()
        } else {
            self.path.display().to_string()
        }
    }

    /// Returns when what was just read arrived: now, or the file's modification time.
    pub(crate) fn received_at(&self) -> i64 {
        self.modified.unwrap_or_else(times::now)
    }

    fn failed(&self, error: io::Error) -> CliError {
        CliError::Read {
            path: self.path.clone(),
            error,
        }
    }

    /// Reads until a chunk is full and has a whole line, so that detection sees as much as there
    /// is.
    pub(crate) fn first_chunk(&mut self) -> Result<Vec<u8>, CliError> {
        let mut first = Vec::with_capacity(CHUNK);
        loop {
            let before = first.len();
            let mut chunk = self.reader.by_ref().take(CHUNK as u64);
            let read = chunk.read_to_end(&mut first);
            let read = read.map_err(|error| self.failed(error))?;
            let has_line = first.get(before..).is_some_and(|new| new.contains(&b'\n'));
            if read == 0 || has_line || first.len() >= LONGEST_LOOK {
                return Ok(first);
            }
        }
    }

    /// Reads what is there, at most a chunk; nothing at the end.
    pub(crate) fn read_some(&mut self, buffer: &mut Vec<u8>) -> Result<usize, CliError> {
        buffer.resize(CHUNK, 0);
        loop {
            match self.reader.read(buffer) {
                Ok(read) => {
                    buffer.truncate(read);
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// Reads all there is, calling `each` with every piece and when it arrived.
    pub(crate) fn read_all(
        &mut self,
        mut each: impl FnMut(&[u8], i64) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let mut buffer = Vec::new();
        while self.read_some(&mut buffer)? > 0 {
            each(&buffer, self.received_at())?;
        }
        Ok(())
    }
}
