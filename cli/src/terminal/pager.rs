//! What is longer than the screen goes to a pager; what fits is written as it is.

use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

/// How many lines and columns a person sees at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScreenSize {
    lines: usize,
    columns: usize,
}

impl ScreenSize {
    /// Finds the screen, if a person looks at the output and can leave a pager.
    pub(crate) fn find() -> Option<Self> {
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return None;
        }
        let (terminal_size::Width(columns), terminal_size::Height(lines)) =
            terminal_size::terminal_size()?;
        Some(Self {
            lines: usize::from(lines),
            columns: usize::from(columns).max(1),
        })
    }
}

/// Returns the words of the pager's command: the one that is set, else `$PAGER`, else `less`; none where it is empty.
pub(crate) fn command(set: Option<&str>) -> Vec<String> {
    let asked = set
        .map(str::to_owned)
        .or_else(|| std::env::var("PAGER").ok());
    let command = asked.unwrap_or_else(|| "less".to_owned());
    command.split_whitespace().map(str::to_owned).collect()
}

/// Holds output until there is more of it than the screen shows, and hands it to a pager then.
pub(crate) struct PagedOutput<'a> {
    out: &'a mut dyn Write,
    held: Vec<u8>,
    lines: usize,
    column: usize,
    screen: ScreenSize,
    command: Vec<String>,
    pager: Option<Child>,
    /// Nothing is held any more: there is no pager, or it cannot be started.
    is_open: bool,
}

impl<'a> PagedOutput<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, screen: ScreenSize, command: Vec<String>) -> Self {
        Self {
            out,
            held: Vec::new(),
            lines: 0,
            column: 0,
            screen,
            is_open: command.is_empty(),
            command,
            pager: None,
        }
    }

    /// Counts lines as the screen shows them: a long one takes several.
    fn count(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => {
                    self.lines += 1;
                    self.column = 0;
                }
                // The later bytes of a character take no column of their own.
                0x80..=0xbf => {}
                _ => {
                    self.column += 1;
                    if self.column > self.screen.columns {
                        self.lines += 1;
                        self.column = 1;
                    }
                }
            }
        }
    }

    /// Starts the pager; without one everything is written as it is.
    fn start(&mut self) -> io::Result<()> {
        self.is_open = true;
        if let Some((program, arguments)) = self.command.split_first() {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::piped());
            if std::env::var_os("LESS").is_none() {
                // Colours as they are, and the screen is left as it was.
                command.env("LESS", "FRX");
            }
            self.pager = command.spawn().ok();
        }
        let held = std::mem::take(&mut self.held);
        self.pass_on(&held)
    }

    fn pass_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.pager.as_mut().and_then(|pager| pager.stdin.as_mut()) {
            Some(stdin) => stdin.write_all(bytes),
            None => self.out.write_all(bytes),
        }
    }

    /// Writes what is held, and waits until the person has left the pager.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.pass_on(&held)?;
        self.out.flush()?;
        if let Some(mut pager) = self.pager.take() {
            drop(pager.stdin.take());
            pager.wait()?;
        }
        Ok(())
    }
}

impl Write for PagedOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_open {
            self.pass_on(bytes)?;
            return Ok(bytes.len());
        }
        self.count(bytes);
        self.held.extend_from_slice(bytes);
        // The last line is the shell's.
        if self.lines >= self.screen.lines {
            self.start()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // What is held goes out when it is known where to.
        Ok(())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    const SCREEN: ScreenSize = ScreenSize {
        lines: 4,
        columns: 10,
    };

    /// Returns what was written to the terminal, and what a pager was given.
    fn paged(text: &str) -> (String, Option<String>) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("paged");
        let pager = vec!["tee".to_owned(), file.to_str().unwrap().to_owned()];
        let mut out = Vec::new();
        let mut output = PagedOutput::new(&mut out, SCREEN, pager);
        for piece in text.split_inclusive(' ') {
            output.write_all(piece.as_bytes()).unwrap();
        }
        output.finish().unwrap();
        let given = std::fs::read_to_string(file).ok();
        (String::from_utf8(out).unwrap(), given)
    }

    #[test]
    fn what_fits_is_written_and_what_does_not_goes_to_the_pager() {
        for text in ["", "one\ntwo\nthree\n", "é é é é é\ntwo\nthree\n"] {
            assert_eq!(paged(text), (text.to_owned(), None));
        }
        for text in [
            "one\ntwo\nthree\nfour\n",
            "one\ntwo\nthree\nfour\nfive \nsix",
            "a line that takes more than one\n2\n",
        ] {
            assert_eq!(paged(text), (String::new(), Some(text.to_owned())));
        }
    }

    #[test]
    fn without_a_pager_everything_is_written() {
        for command in [Vec::new(), vec!["/no/such/pager".to_owned()]] {
            let mut out = Vec::new();
            let mut output = PagedOutput::new(&mut out, SCREEN, command);
            output.write_all(b"1\n2\n3\n4\n5\n").unwrap();
            output.finish().unwrap();
            assert_eq!(out, b"1\n2\n3\n4\n5\n");
        }
    }
}
