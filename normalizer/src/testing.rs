//! For tests: outputs given to a parser or a normalizer, and what came of them.

use runtape_core::{JobId, Record, RunId, RunSummary, Runtime, Stream, summarize};

use crate::framing::lines::{DEFAULT_LIMIT, Framed, LineSplitter};
use crate::history::{Session, SessionSource, read_session, segment_bytes};
use crate::parser::{RuntimeParser, SignalSink};
use crate::runtimes::entry_for;
use crate::signal::{Emitted, TapePlace};
use crate::{Context, Exit, Kept, Normalizer, RunSource};

/// The place of what came from the exit.
pub(crate) const NOWHERE: TapePlace = TapePlace {
    span: None,
    line: 0,
    at: 0,
};

/// Returns a context that knows its ids, and the command line if one is given.
pub(crate) fn context(argv: &[&str]) -> Context {
    let job = JobId::parse("job-1").unwrap();
    let mut context = Context::new(job, RunId::parse("run-1").unwrap());
    if !argv.is_empty() {
        context.argv = Some(argv.iter().map(|&word| word.to_owned()).collect());
    }
    context
}

/// Returns a context that knows a command line, written with a blank between words.
pub(crate) fn command_line(line: &str) -> Context {
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    context(&words)
}

/// Returns the records of the lines of a segment.
pub(crate) fn history_records(runtime: Runtime, tape: &[u8]) -> Vec<Record> {
    let mut context = context(&[]);
    context.source = RunSource::History;
    let mut normalizer = Normalizer::new(runtime, context).unwrap();
    let mut records = normalizer
        .push(Stream::History, Kept::as_given(tape), 1)
        .records;
    records.extend(normalizer.finish(&Exit::unknown()).records);
    records
}

/// Returns the summary of the lines of a segment.
pub(crate) fn history_summary(runtime: Runtime, tape: &[u8]) -> RunSummary {
    summarize(&history_records(runtime, tape)).unwrap()
}

/// Reads a session, and what its runs amount to.
pub(crate) fn history_runs(
    runtime: &Runtime,
    sources: &[SessionSource],
) -> (Session, Vec<RunSummary>) {
    let history = entry_for(runtime).and_then(|entry| entry.history).unwrap();
    let session = read_session(history, sources);
    let tapes = session
        .segments
        .iter()
        .map(|segment| segment_bytes(segment, sources));
    let runs = tapes
        .map(|tape| history_summary(runtime.clone(), &tape))
        .collect();
    (session, runs)
}

/// Gives a stream to a parser, line by line.
pub(crate) fn feed(
    parser: &mut dyn RuntimeParser,
    stream: Stream,
    bytes: &[u8],
    apply: &mut dyn FnMut(Emitted<'_>),
) {
    let mut each = |framed: Framed<'_>| {
        let Framed::Line(line) = framed else {
            panic!("no line is too long")
        };
        let mut out = SignalSink::new(line.place(stream), apply);
        parser.push_line(stream, &line, &mut out);
    };
    let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
    splitter.push(bytes, 7, &mut each);
    splitter.finish(&mut each);
}

/// Collects what a part of a parser emits.
pub(crate) fn collect(work: impl FnOnce(&mut SignalSink<'_>)) -> Vec<String> {
    let mut seen = Vec::new();
    let mut apply = |emitted: Emitted<'_>| seen.push(format!("{:?}", emitted.signal));
    work(&mut SignalSink::new(NOWHERE, &mut apply));
    seen
}

/// What a process printed, and how it ended.
#[derive(Clone)]
pub(crate) struct PrintedRun<'a> {
    pub(crate) runtime: Runtime,
    pub(crate) context: Context,
    pub(crate) stdout: &'a str,
    pub(crate) stderr: &'a str,
    pub(crate) exit: Exit,
}

impl PrintedRun<'_> {
    /// Returns its records.
    pub(crate) fn records(&self) -> Vec<Record> {
        let mut normalizer = Normalizer::new(self.runtime.clone(), self.context.clone()).unwrap();
        let mut records = Vec::new();
        for (stream, text) in [(Stream::Stdout, self.stdout), (Stream::Stderr, self.stderr)] {
            records.extend(normalizer.push(stream, Kept::as_given(text), 1).records);
        }
        records.extend(normalizer.finish(&self.exit).records);
        records
    }

    /// Returns its summary.
    pub(crate) fn summary(&self) -> RunSummary {
        summarize(&self.records()).unwrap()
    }
}
