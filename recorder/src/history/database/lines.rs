//! The lines of a session: in memory where they are few, else in a file that has no name.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// How many bytes of one session are held in memory.
const MOST_HELD: usize = 4 << 20;

/// Rows as lines, each with its line feed.
#[derive(Debug)]
pub enum RowLines {
    /// In memory.
    Held(Vec<u8>),
    /// In a private file of so many bytes, which is gone when it is closed.
    File(File, u64),
}

impl RowLines {
    /// Returns how many bytes are in memory.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Held(bytes) => bytes.len(),
            Self::File(..) => 0,
        }
    }

    /// Returns all of it.
    pub fn read(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Held(bytes) => Ok(bytes),
            Self::File(mut file, _) => {
                let mut bytes = Vec::new();
                file.seek(SeekFrom::Start(0))?;
                file.read_to_end(&mut bytes)?;
                Ok(bytes)
            }
        }
    }
}

/// Takes lines, and moves them to a file when they become many.
pub(super) struct LineWriter<'w> {
    directory: &'w Path,
    digest: &'w mut blake3::Hasher,
    /// What other sources of the session hold.
    others: usize,
    held: Vec<u8>,
    file: Option<BufWriter<File>>,
    length: u64,
}

impl<'w> LineWriter<'w> {
    pub(super) fn new(directory: &'w Path, others: usize, digest: &'w mut blake3::Hasher) -> Self {
        Self {
            directory,
            digest,
            others,
            held: Vec::new(),
            file: None,
            length: 0,
        }
    }

    pub(super) fn finish(self) -> io::Result<RowLines> {
        match self.file {
            Some(file) => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                Ok(RowLines::File(file, self.length))
            }
            None => Ok(RowLines::Held(self.held)),
        }
    }

    fn move_to_file(&mut self) -> io::Result<()> {
        let path = self.directory.join("lines");
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = options.open(&path)?;
        fs::remove_file(&path)?;
        let mut file = BufWriter::new(file);
        file.write_all(&std::mem::take(&mut self.held))?;
        self.file = Some(file);
        Ok(())
    }
}

impl Write for LineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.digest.update(bytes);
        self.length += bytes.len() as u64;
        if self.file.is_none() && self.others + self.held.len() + bytes.len() > MOST_HELD {
            self.move_to_file()?;
        }
        match &mut self.file {
            Some(file) => file.write_all(bytes)?,
            None => self.held.extend_from_slice(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}
