//! The bytes of a session's sources: in memory where they are few, else in their files.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use runtape_core::report::RedactionCounts;
use runtape_normalizer::history::{Framing, SegmentLine, SessionReader};
use runtape_normalizer::redact::{KeptLines, RuleSet};

/// Longest line, and largest document, that is read; what is longer is left out and named.
pub(super) const LONGEST: u64 = 32 << 20;
/// How much of a file is read to tell what it is.
const HEAD: u64 = 64 << 10;
/// How much of the sources of one session is held at once.
const MOST_HELD: u64 = 8 << 20;
/// How many bytes of a segment go on the tape in one piece.
const PIECE: usize = 256 << 10;

/// A source of a session.
#[derive(Debug)]
pub(super) struct SourceContent {
    pub(super) name: String,
    pub(super) framing: Framing,
    pub(super) bytes: Bytes,
    /// Lines of it without their secrets, one after the other. Their places are counted on from its end, so that a
    /// part of one can be named like a part of any other line.
    filtered: Vec<u8>,
}

/// Where the bytes of a source are.
#[derive(Debug)]
pub(super) enum Bytes {
    /// In memory.
    Held(Vec<u8>),
    /// In their file, of which so much was there when it was opened.
    File(File, u64),
}

impl SourceContent {
    pub(super) fn new(name: String, framing: Framing, bytes: Bytes) -> Self {
        Self {
            name,
            framing,
            bytes,
            filtered: Vec::new(),
        }
    }

    /// Returns how many bytes it has.
    pub(super) fn length(&self) -> u64 {
        match &self.bytes {
            Bytes::Held(bytes) => bytes.len() as u64,
            Bytes::File(_, length) => *length,
        }
    }
}

/// What was left out of a source.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Lines that are longer than what is read.
    pub(super) long_lines: u64,
    /// Bytes of a last line that is not whole.
    pub(super) waiting: u64,
}

/// Opens the files of a session; holds them in memory if they are small together.
pub(super) fn open(
    files: &[(String, PathBuf, Framing)],
) -> Result<Vec<SourceContent>, (PathBuf, io::Error)> {
    let mut opened = Vec::with_capacity(files.len());
    let mut total = 0_u64;
    for (name, path, framing) in files {
        let file = open_file(path).map_err(|error| (path.clone(), error))?;
        total = total.saturating_add(file.1);
        opened.push((name, path, *framing, file));
    }
    let is_held = total <= MOST_HELD;
    let mut contents = Vec::with_capacity(opened.len());
    for (name, path, framing, (file, length)) in opened {
        let bytes = if is_held || framing == Framing::Document {
            if length > LONGEST {
                let error =
                    io::Error::other(format!("the document is larger than {LONGEST} bytes"));
                return Err((path.clone(), error));
            }
            let mut bytes = Vec::new();
            // What is appended meanwhile is read the next time.
            let read = (&file).take(length).read_to_end(&mut bytes);
            read.map_err(|error| (path.clone(), error))?;
            Bytes::Held(bytes)
        } else {
            Bytes::File(file, length)
        };
        contents.push(SourceContent::new(name.clone(), framing, bytes));
    }
    Ok(contents)
}

/// Opens a regular file without waiting for anybody: in its place a pipe may stand by now.
pub(super) fn open_file(path: &Path) -> io::Result<(File, u64)> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(nix::libc::O_NONBLOCK);
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok((file, metadata.len()))
}

/// Gives all lines of a session to its reader, without their secrets.
pub(super) fn read_lines(
    contents: &mut [SourceContent],
    reader: &mut dyn SessionReader,
    rules: &RuleSet,
) -> io::Result<LeftOut> {
    let mut left_out = LeftOut::default();
    for content in contents {
        reader.begin_source(&content.name);
        let mut lines = FilteredLines {
            rules,
            reader: &mut *reader,
            end: content.length(),
            filtered: &mut content.filtered,
        };
        match (&content.bytes, content.framing) {
            (Bytes::Held(bytes), Framing::Document) => {
                lines.line(0..bytes.len() as u64, bytes);
            }
            (Bytes::Held(bytes), _) => {
                lines_of(
                    &mut bytes.as_slice(),
                    bytes.len() as u64,
                    &mut lines,
                    &mut left_out,
                )?;
            }
            (Bytes::File(file, length), _) => {
                let mut file = file;
                file.seek(SeekFrom::Start(0))?;
                let mut file = BufReader::with_capacity(PIECE, file);
                lines_of(&mut file, *length, &mut lines, &mut left_out)?;
            }
        }
    }
    Ok(left_out)
}

/// Takes secrets out of lines on their way to a reader.
struct FilteredLines<'a> {
    rules: &'a RuleSet,
    reader: &'a mut dyn SessionReader,
    /// How many bytes the source has.
    end: u64,
    filtered: &'a mut Vec<u8>,
}

impl FilteredLines<'_> {
    fn line(&mut self, place: Range<u64>, line: &[u8]) {
        // What was found is counted where the lines go on a tape: not all of them do.
        let mut uncounted = RedactionCounts::default();
        let line = self.rules.keep_line(line, &mut uncounted);
        if !line.is_changed() {
            return self.reader.line(place, line.kept());
        }
        let bytes = line.kept().bytes();
        let start = self.end + self.filtered.len() as u64;
        self.filtered.extend_from_slice(bytes);
        let end = start + bytes.len() as u64;
        self.reader.line(start..end, line.kept());
    }
}

fn lines_of(
    input: &mut dyn BufRead,
    length: u64,
    lines: &mut FilteredLines<'_>,
    left_out: &mut LeftOut,
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut start = 0;
    while start < length {
        line.clear();
        let most = LONGEST.min(length - start);
        let read = Read::take(&mut *input, most).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            break;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            lines.line(start..start + line.len() as u64, &line);
            start += read;
            continue;
        }
        if read < LONGEST {
            // The end, without the end of its line: whole, or being written.
            if serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_ok() {
                lines.line(start..start + read, &line);
            } else {
                left_out.waiting += read;
            }
            break;
        }
        left_out.long_lines += 1;
        start += read + skip_line(input, length - start - read)?;
    }
    Ok(())
}

/// Passes over the rest of a line; returns how long it was.
fn skip_line(input: &mut dyn BufRead, most: u64) -> io::Result<u64> {
    let mut skipped = 0;
    while skipped < most {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        skipped += used as u64;
        if end.is_some() {
            break;
        }
    }
    Ok(skipped)
}

/// Gives the lines of a segment out, as they stand on the tape, in pieces of whole lines.
///
/// Each passes the filter on its way: between the reader, which saw none that had not, and the tape a file may have been
/// written anew, and a line may be one that the reader made.
pub(super) fn each_piece<E: From<io::Error>>(
    lines: &[SegmentLine],
    contents: &[SourceContent],
    rules: &RuleSet,
    mut each: impl FnMut(KeptLines) -> Result<(), E>,
) -> Result<(), E> {
    let mut piece = KeptLines::default();
    let mut read = Vec::new();
    for line in lines {
        let bytes = match line {
            SegmentLine::Made(bytes) => bytes.as_slice(),
            SegmentLine::Kept { source, place } => match contents.get(*source) {
                Some(content) => line_at(content, place, &mut read)?,
                None => &[],
            },
        };
        // What is found is counted by its markers.
        let mut uncounted = RedactionCounts::default();
        piece.push(rules.keep_line(bytes, &mut uncounted).kept());
        if piece.len() >= PIECE {
            each(std::mem::take(&mut piece))?;
        }
    }
    if piece.is_empty() {
        return Ok(());
    }
    each(piece)
}

/// Returns a line of a source, or what was kept of it. One that lies in a file is read into a buffer.
fn line_at<'a>(
    content: &'a SourceContent,
    place: &Range<u64>,
    buffer: &'a mut Vec<u8>,
) -> io::Result<&'a [u8]> {
    let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let end = content.length();
    if place.start >= end && !content.filtered.is_empty() {
        let line = index(place.start - end)..index(place.end - end);
        return Ok(content.filtered.get(line).unwrap_or_default());
    }
    match &content.bytes {
        Bytes::Held(bytes) => {
            let line = bytes.get(index(place.start)..index(place.end));
            Ok(line.unwrap_or_default())
        }
        Bytes::File(file, _) => {
            let mut file = file;
            file.seek(SeekFrom::Start(place.start))?;
            let length = place.end.saturating_sub(place.start);
            buffer.clear();
            let read = file.take(length).read_to_end(buffer)?;
            if read as u64 != length {
                return Err(io::Error::other(
                    "the file became shorter while it was read",
                ));
            }
            Ok(buffer)
        }
    }
}

/// Reads the beginning of a file: its first line, or as much of it as is needed to tell what it is.
pub(super) fn read_head(path: &Path) -> io::Result<Vec<u8>> {
    let (file, _) = open_file(path)?;
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use runtape_normalizer::Kept;
    use runtape_normalizer::history::Session;
    use runtape_normalizer::redact::Tier;

    use super::*;

    /// Keeps all lines where they are.
    #[derive(Default)]
    struct Places(Vec<Range<u64>>);

    impl SessionReader for Places {
        fn begin_source(&mut self, _: &str) {}

        fn line(&mut self, place: Range<u64>, _: Kept<'_>) {
            self.0.push(place);
        }

        fn finish(self: Box<Self>) -> Session {
            Session::default()
        }
    }

    #[test]
    fn whatever_becomes_of_a_file_meanwhile_no_secret_of_it_goes_on_a_tape() {
        const SECRET: &str = "kleptomaniac-zeppelin-42";
        let rules = RuleSet::new(Tier::Definite);
        let rules = rules.with_value("DEPLOY", SECRET).expect("a long value");
        let line = |text: &str| format!("{{\"text\":\"{text:30}\"}}\n");
        let before = [line("nothing"), line(SECRET), line("last")].concat();
        let after = [line(SECRET), line("nothing"), line(SECRET)].concat();
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(before.as_bytes()).expect("written");
        let own = file.try_clone().expect("the same file");
        let bytes = Bytes::File(own, before.len() as u64);
        let name = "session.jsonl".to_owned();
        let mut contents = [SourceContent::new(name, Framing::Lines, bytes)];
        let mut reader = Places::default();
        read_lines(&mut contents, &mut reader, &rules).expect("readable");
        assert_eq!(reader.0.len(), 3);
        file.seek(SeekFrom::Start(0)).expect("the beginning");
        file.write_all(after.as_bytes()).expect("written");
        let places = reader.0.into_iter();
        let mut lines: Vec<SegmentLine> = places
            .map(|place| SegmentLine::Kept { source: 0, place })
            .collect();
        lines.push(SegmentLine::Made(line(SECRET).trim_end().into()));
        let mut kept = Vec::new();
        each_piece(&lines, &contents, &rules, |piece| {
            kept.extend_from_slice(piece.kept().bytes());
            Ok::<(), io::Error>(())
        })
        .expect("readable");
        let kept = String::from_utf8(kept).expect("text");
        assert!(!kept.contains(SECRET), "{kept}");
        assert_eq!(kept.matches("[REDACTED:env.DEPLOY]").count(), 4, "{kept}");
        assert_eq!(kept.lines().count(), 4, "{kept}");
    }
}
