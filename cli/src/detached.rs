//! A run without its store: normalized as it goes, its output handed back to be kept elsewhere.

use runtape_core::{RunSummary, Runtime, Stream, Summarizer};
use runtape_normalizer::{Exit, LiveItem, Normalizer, Output};
use runtape_store::TapeChunk;

use crate::context::RunContext;
use crate::record_error::RecordError;

/// A run whose store failed, or that never had one.
///
/// [`Recorder::detach`](crate::Recorder::detach) makes one in the middle of a run, so that the
/// process and those who watch it need not suffer from a full disk.
pub struct Detached {
    normalizer: Normalizer,
    summarizer: Summarizer,
    /// Bytes seen of standard output.
    stdout: u64,
    /// Bytes seen of standard error.
    stderr: u64,
}

impl Detached {
    /// Starts a run without a store. Its summary is a brief one.
    pub fn start(runtime: Runtime, context: &RunContext) -> Result<Self, RecordError> {
        let normalizer = Normalizer::with_live(runtime, context.to_normalizer())?;
        Ok(Self::new(normalizer, Summarizer::brief(), 0, 0))
    }

    pub(crate) fn new(
        normalizer: Normalizer,
        summarizer: Summarizer,
        stdout: u64,
        stderr: u64,
    ) -> Self {
        Self {
            normalizer,
            summarizer,
            stdout,
            stderr,
        }
    }

    /// Takes the next bytes of a stream. Returns their place on the tape, and what can be shown.
    pub fn push(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        received_at: i64,
    ) -> (TapeChunk, Vec<LiveItem>) {
        let length = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let chunk = TapeChunk {
            stream,
            start: *length,
            received_at,
            bytes: bytes.to_vec(),
        };
        *length = chunk.end();
        let output = self.normalizer.push(stream, bytes, received_at);
        (chunk, self.keep(output))
    }

    fn keep(&mut self, output: Output) -> Vec<LiveItem> {
        output
            .records
            .iter()
            .for_each(|record| self.summarizer.push(record));
        output.live
    }

    /// Ends the run. Returns it in one object, and what can be shown of its end.
    #[must_use]
    pub fn finish(self, exit: &Exit) -> (Option<RunSummary>, Vec<LiveItem>) {
        let Self {
            normalizer,
            mut summarizer,
            ..
        } = self;
        let output = normalizer.finish(exit);
        output
            .records
            .iter()
            .for_each(|record| summarizer.push(record));
        (summarizer.finish(), output.live)
    }
}
