//! A prompt that comes on standard input.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long the whole prompt may take to come. A program that leaves its end of the pipe open gives
/// no prompt, and must not keep the command from starting.
const PATIENCE: Duration = Duration::from_secs(3);
/// The most bytes that are kept with a run.
const LONGEST: usize = 4 << 20;
/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// What came on standard input, and what is still to come.
pub(super) struct Prompt {
    begun: Vec<u8>,
    rest: Receiver<Vec<u8>>,
    is_whole: bool,
}

impl Prompt {
    /// Reads standard input up to its end, for as long as a prompt may take.
    pub(super) fn read() -> Self {
        let (sender, rest) = channel();
        // A person who types is no prompt: the command asks them itself.
        if !io::stdin().is_terminal() {
            thread::spawn(move || {
                let mut buffer = vec![0; CHUNK];
                let mut stdin = io::stdin();
                loop {
                    let read = match stdin.read(&mut buffer) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                        Ok(0) | Err(_) => return,
                        Ok(read) => read,
                    };
                    let bytes = buffer.get(..read).unwrap_or_default().to_vec();
                    if sender.send(bytes).is_err() {
                        return;
                    }
                }
            });
        }
        let deadline = Instant::now() + PATIENCE;
        let mut begun = Vec::new();
        let is_whole = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match rest.recv_timeout(left) {
                Ok(bytes) => begun.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => break true,
                Err(RecvTimeoutError::Timeout) => break false,
            }
            if begun.len() > LONGEST {
                break false;
            }
        };
        Self {
            begun,
            rest,
            is_whole,
        }
    }

    /// Returns the prompt; `None` if there is none, or not all of it.
    pub(super) fn text(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.begun);
        let is_prompt = self.is_whole && !text.trim().is_empty();
        is_prompt.then(|| text.into_owned())
    }

    /// Returns all of it, as it comes.
    pub(super) fn into_reader(self) -> impl Read + Send {
        io::Cursor::new(self.begun).chain(PromptPieces {
            pieces: self.rest,
            piece: io::Cursor::default(),
        })
    }
}

/// Reads pieces as they come.
struct PromptPieces {
    pieces: Receiver<Vec<u8>>,
    piece: io::Cursor<Vec<u8>>,
}

impl Read for PromptPieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            match self.pieces.recv() {
                Ok(piece) => self.piece = io::Cursor::new(piece),
                Err(_) => return Ok(0),
            }
        }
    }
}
