//! The first lines of a process whose runtime nobody told: a script, `make`, `ssh`.
//!
//! A wrapper prints lines of its own before the agent's: a banner, a warning, the progress of a download. So every
//! line may be the first one of a runtime. The search ends with the first line that a runtime is sure of, or at a
//! bound; it does not depend on how the bytes of a stream were cut into chunks.

use runtape_core::{Runtime, Stream};

use crate::detect::{detect_beginning, detect_line};

/// The most lines that are looked at, of both streams together.
pub(crate) const MAX_LINES: usize = 64;
/// The most bytes that are looked at, of both streams together.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// The most bytes of a message that the output begins with: some formats are one line, however long the answer.
const MAX_FIRST_MESSAGE_BYTES: usize = 1 << 20;
/// How long the search goes on after the first byte came, in milliseconds.
pub(crate) const MAX_MILLIS: i64 = 2_000;

/// How many lines before the last one may belong to the same first message.
const LINES_TOGETHER: usize = 8;

/// A runtime that showed itself, and the stream on which it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRuntime {
    /// The runtime.
    pub runtime: Runtime,
    /// The stream that its messages are on: standard error where a wrapper redirects them there.
    pub output_on: Stream,
    /// How many lines came on that stream before the runtime's own.
    pub lines_before: u64,
}

/// Looks for a runtime in the first lines of an output.
#[derive(Debug)]
pub struct FirstLines {
    stdout: StreamBeginning,
    stderr: StreamBeginning,
    lines: usize,
    bytes: usize,
    /// When the first byte came, in milliseconds since 1970.
    since: Option<i64>,
    is_bounded: bool,
    /// The runtime that is looked for; any if none is named.
    wanted: Option<Runtime>,
}

impl Default for FirstLines {
    fn default() -> Self {
        Self {
            stdout: StreamBeginning::default(),
            stderr: StreamBeginning::default(),
            lines: 0,
            bytes: 0,
            since: None,
            is_bounded: true,
            wanted: None,
        }
    }
}

impl FirstLines {
    /// Creates a search that ends where a runtime shows, however late: for an output that is whole. Where one is named,
    /// others are passed over.
    #[must_use]
    pub fn unbounded(wanted: Option<Runtime>) -> Self {
        Self {
            is_bounded: false,
            wanted,
            ..Self::default()
        }
    }

    /// Returns when the search ends at the latest, in milliseconds since 1970; `None` before the first byte.
    #[must_use]
    pub fn ends_at(&self) -> Option<i64> {
        let since = self.since.filter(|_| self.is_bounded);
        since.map(|since| since.saturating_add(MAX_MILLIS))
    }

    /// Takes the next bytes of a stream. Returns `None` while the search goes on, and at its end the runtime that was
    /// found, if any.
    #[allow(
        clippy::option_option,
        reason = "whether the search is over, and what it found"
    )]
    pub fn push(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        received_at: i64,
    ) -> Option<Option<FoundRuntime>> {
        if bytes.is_empty() || !matches!(stream, Stream::Stdout | Stream::Stderr) {
            return None;
        }
        if self.ends_at().is_some_and(|end| received_at >= end) {
            return Some(None);
        }
        self.since.get_or_insert(received_at);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let most = self.most_bytes(stream, piece);
            let room = most.saturating_sub(if self.is_bounded { self.bytes } else { 0 });
            let taken = piece.get(..room).unwrap_or(piece);
            let beginning = match stream {
                Stream::Stderr => &mut self.stderr,
                _ => &mut self.stdout,
            };
            beginning.text.extend_from_slice(taken);
            self.bytes = self.bytes.saturating_add(taken.len());
            let is_full = self.is_bounded && self.bytes >= most;
            let is_line = taken.ends_with(b"\n");
            let is_late = self.lines >= MAX_LINES || self.bytes >= MAX_BYTES;
            if (is_line || is_full)
                && let Some(found) = beginning.find(stream, is_late && !self.is_bounded)
                && self
                    .wanted
                    .as_ref()
                    .is_none_or(|wanted| *wanted == found.runtime)
            {
                return Some(Some(found));
            }
            if is_line {
                self.lines += 1;
                beginning.end_line(self.is_bounded);
            }
            if is_full || (self.is_bounded && self.lines >= MAX_LINES) {
                return Some(None);
            }
        }
        None
    }

    /// Returns how many bytes are looked at at the most. Nothing stands before a message that the output begins with, so
    /// its end is waited for.
    fn most_bytes(&self, stream: Stream, piece: &[u8]) -> usize {
        let beginning = match stream {
            Stream::Stderr => &self.stderr,
            _ => &self.stdout,
        };
        let text = [&beginning.text, piece]
            .into_iter()
            .find(|text| !text.is_empty());
        let is_message = matches!(text.and_then(|text| text.first()), Some(b'{' | b'['));
        if self.lines == 0 && is_message {
            MAX_FIRST_MESSAGE_BYTES
        } else {
            MAX_BYTES
        }
    }

    /// Ends the search: a last line without a newline is all there is of it.
    #[must_use]
    pub fn finish(&self) -> Option<FoundRuntime> {
        let is_wanted = |found: &FoundRuntime| {
            let mut wanted = self.wanted.iter();
            wanted.all(|wanted| *wanted == found.runtime)
        };
        let found = self.stdout.find(Stream::Stdout, false).filter(is_wanted);
        found.or_else(|| self.stderr.find(Stream::Stderr, false).filter(is_wanted))
    }
}

/// The beginning of one stream.
#[derive(Debug, Default)]
struct StreamBeginning {
    text: Vec<u8>,
    /// Where its last lines begin, the unfinished one excepted.
    starts: Vec<usize>,
    /// Where the unfinished line begins.
    line: usize,
    /// How many lines are finished.
    finished: u64,
    /// Where a line begins that opens a JSON value over several lines.
    opened: Option<usize>,
}

impl StreamBeginning {
    /// Returns the runtime whose output begins with one of the last lines. Late in an output only the last line and the
    /// value that it belongs to are looked at, since the rest is long.
    fn find(&self, stream: Stream, is_late: bool) -> Option<FoundRuntime> {
        let line = self.text.get(self.line..)?;
        if line.trim_ascii().is_empty() {
            return None;
        }
        let (earlier, nearest) = if is_late {
            (&[][..], self.starts.first().copied().unwrap_or(self.line))
        } else {
            (self.starts.as_slice(), 0)
        };
        let opened = self.opened.iter().filter(|at| **at >= nearest);
        if is_late && opened.clone().next().is_none() && detect_line(line).is_none() {
            return None;
        }
        let starts = opened.chain(earlier).chain([&self.line]);
        starts.copied().find_map(|start| {
            let output = self.text.get(start..)?;
            let runtime = detect_beginning(output)?;
            // Text on standard error is where some runtimes print it; messages never are.
            let is_message = matches!(output.trim_ascii_start().first(), Some(b'{' | b'['));
            let output_on = if is_message { stream } else { Stream::Stdout };
            let since = self.text.get(start..self.line).unwrap_or_default();
            let since = memchr::memchr_iter(b'\n', since).count() as u64;
            let lines_before = if output_on == stream {
                self.finished.saturating_sub(since)
            } else {
                0
            };
            Some(FoundRuntime {
                runtime,
                output_on,
                lines_before,
            })
        })
    }

    /// Goes on with the next line.
    fn end_line(&mut self, is_bounded: bool) {
        let line = self.text.get(self.line..).unwrap_or_default();
        match line.trim_ascii_end() {
            [b'{' | b'['] | [b'{' | b'[', .., b',' | b'{' | b'['] => {
                self.opened = Some(self.line);
            }
            [b'}' | b']', ..] => self.opened = None,
            _ => {}
        }
        self.starts.push(self.line);
        if self.starts.len() > LINES_TOGETHER {
            self.starts.remove(0);
        }
        self.line = self.text.len();
        self.finished += 1;
        if !is_bounded {
            self.forget();
        }
    }

    /// Forgets the lines that are not looked at again.
    fn forget(&mut self) {
        let first = self.starts.first().copied().unwrap_or(self.line);
        let opened = self.opened.filter(|at| self.line - at <= MAX_BYTES);
        self.opened = opened;
        let gone = opened.map_or(first, |at| at.min(first));
        // Not with every line: moving the rest costs as much as the rest is long.
        if gone < MAX_BYTES {
            return;
        }
        self.text.drain(..gone);
        self.starts.iter_mut().for_each(|start| *start -= gone);
        self.line -= gone;
        self.opened = opened.map(|at| at - gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODEX: &str =
        r#"{"type":"thread.started","thread_id":"01a1e40f-3839-7462-8ba4-4636a26c3aa5"}"#;
    const CLAUDE: &str = r#"{"type":"system","subtype":"init","mcp_servers":[],"cwd":"/"}"#;

    fn found(text: &str, size: usize) -> (Option<FoundRuntime>, usize) {
        let mut lines = FirstLines::default();
        let mut taken = 0;
        for chunk in text.as_bytes().chunks(size) {
            taken += chunk.len();
            if let Some(end) = lines.push(Stream::Stdout, chunk, 5) {
                return (end, taken);
            }
        }
        (lines.finish(), taken)
    }

    fn runtime(text: &str) -> Option<Runtime> {
        let whole = found(text, text.len().max(1)).0;
        for size in [1, 7, 4096] {
            assert_eq!(
                found(text, size).0,
                whole,
                "in pieces of {size}: {text:.200}"
            );
        }
        whole.map(|found| found.runtime)
    }

    #[test]
    fn lines_of_a_wrapper_are_passed_over_up_to_the_bounds() {
        let noise = |count: usize| "npm warn old lockfile [1/2] {x}\n".repeat(count);
        let long = "x".repeat(MAX_BYTES - 10);
        let table = [
            (format!("{CODEX}\n"), Some(Runtime::Codex)),
            (CODEX.to_owned(), Some(Runtime::Codex)),
            (format!("{}{CLAUDE}\n", noise(1)), Some(Runtime::ClaudeCode)),
            (format!("{}{CODEX}\n", noise(63)), Some(Runtime::Codex)),
            (format!("{}{CODEX}\n", noise(64)), None),
            (format!("{}{CODEX}\n", noise(65)), None),
            (format!("{long}\n{CODEX}\n"), None),
            ("[INFO] a\n{\"level\":\"info\"}\n".repeat(20), None),
            (
                format!("{{\"level\":\"info\"}}\n[INFO] b\n\n{CLAUDE}\n{CODEX}\n"),
                Some(Runtime::ClaudeCode),
            ),
            (
                "> agent\n{\n  \"session_id\": \"s\",\n  \"response\": \"x\"\n}\n".to_owned(),
                Some(Runtime::Gemini),
            ),
            (String::new(), None),
        ];
        for (text, expected) in table {
            assert_eq!(runtime(&text), expected, "{text:.300}");
        }
    }

    #[test]
    fn lines_before_the_runtimes_own_are_counted() {
        for (text, expected) in [
            (format!("{CODEX}\n"), 0),
            (format!("a\n\n{{}}\n{CODEX}\n"), 3),
            (format!("{}{CODEX}", "{\"a\":1}\n".repeat(30)), 30),
            ("x\n{\n  \"session_id\": \"s\",\n".to_owned(), 1),
        ] {
            let found = found(&text, text.len()).0.unwrap();
            assert_eq!(found.lines_before, expected, "{text}");
        }
    }

    #[test]
    fn the_search_ends_two_seconds_after_the_first_byte() {
        for (later, expected) in [(MAX_MILLIS - 1, Some(Runtime::Codex)), (MAX_MILLIS, None)] {
            let mut lines = FirstLines::default();
            assert_eq!(lines.ends_at(), None);
            assert_eq!(lines.push(Stream::Stderr, b"pulling\n", 1_000), None);
            assert_eq!(lines.ends_at(), Some(1_000 + MAX_MILLIS));
            let line = format!("{CODEX}\n");
            let end = lines.push(Stream::Stdout, line.as_bytes(), 1_000 + later);
            let end = end.expect("it is over");
            assert_eq!(end.map(|found| found.runtime), expected);
        }
    }

    #[test]
    fn messages_on_standard_error_are_the_output() {
        let mut lines = FirstLines::default();
        assert_eq!(lines.push(Stream::Stdout, b"a script\n", 0), None);
        let line = format!("{CODEX}\n");
        let end = lines.push(Stream::Stderr, line.as_bytes(), 0);
        let expected = FoundRuntime {
            runtime: Runtime::Codex,
            output_on: Stream::Stderr,
            lines_before: 0,
        };
        assert_eq!(end, Some(Some(expected)));
    }

    #[test]
    fn a_search_without_bounds_finds_what_shows_late() {
        let mut lines = FirstLines::unbounded(None);
        for number in 0..20_000 {
            let line = format!("{{\"n\":{number}}}\n");
            assert_eq!(lines.push(Stream::Stdout, line.as_bytes(), number), None);
        }
        assert!(lines.stdout.text.len() < 4 * MAX_BYTES);
        let line = format!("{CODEX}\n");
        let end = lines.push(Stream::Stdout, line.as_bytes(), 0);
        assert_eq!(
            end.flatten().map(|found| found.runtime),
            Some(Runtime::Codex)
        );
    }
}
