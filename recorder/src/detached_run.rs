//! A run without its store: output goes in, and comes back as records that somebody else keeps.

use runtape_core::{Record, RunSummary, Runtime, Stream, Summarizer};
use runtape_normalizer::{Context, Exit, LiveItem, Normalizer};
use runtape_store::{StreamLengths, TapeChunk};

use crate::context_and_exit::begin_at;
use crate::error::RecordError;

/// A run that is normalized here and stored elsewhere, if at all: by a
/// [`BatchWriter`](crate::BatchWriter) on another thread, or in a [`Spool`](crate::Spool). So a full disk
/// holds up neither the process nor those who watch it.
pub struct DetachedRun {
    normalizer: Normalizer,
    /// Absent where nobody wants the summary.
    summarizer: Option<Summarizer>,
    /// Bytes seen of each stream.
    lengths: StreamLengths,
}

/// What a piece of output became.
#[derive(Debug)]
pub struct Printed {
    /// The piece, and its place on the tape.
    pub chunk: TapeChunk,
    /// Records to be kept.
    pub records: Vec<Record>,
    /// What can be shown at once, if it was asked for.
    pub live: Vec<LiveItem>,
}

/// What the end of a process became.
#[derive(Debug)]
pub struct Ended {
    /// The run in one object.
    pub summary: Option<RunSummary>,
    /// Records to be kept.
    pub records: Vec<Record>,
    /// What can be shown at once, if it was asked for.
    pub live: Vec<LiveItem>,
}

impl DetachedRun {
    /// Starts a run without a store, at a time in milliseconds since 1970. Its summary is a brief
    /// one.
    pub fn start(runtime: Runtime, context: &Context, now: i64) -> Result<Self, RecordError> {
        let normalizer = Normalizer::new(runtime, context.clone())?;
        Ok(Self::new(normalizer, Some(Summarizer::brief()), now))
    }

    /// The same, also yielding what can be shown at once.
    pub fn start_live(runtime: Runtime, context: &Context, now: i64) -> Result<Self, RecordError> {
        let normalizer = Normalizer::with_live(runtime, context.clone())?;
        Ok(Self::new(normalizer, Some(Summarizer::brief()), now))
    }

    pub(crate) fn new(
        mut normalizer: Normalizer,
        summarizer: Option<Summarizer>,
        now: i64,
    ) -> Self {
        begin_at(&mut normalizer, now);
        Self {
            normalizer,
            summarizer,
            lengths: StreamLengths::default(),
        }
    }

    pub(crate) fn without_summary(mut self) -> Self {
        self.summarizer = None;
        self
    }

    /// Takes the next bytes of a stream.
    pub fn push(&mut self, stream: Stream, bytes: Vec<u8>, received_at: i64) -> Printed {
        let chunk = TapeChunk {
            stream,
            start: self.lengths.of(stream),
            received_at,
            bytes,
        };
        self.lengths.advance(stream, chunk.end());
        let output = self.normalizer.push(stream, &chunk.bytes, received_at);
        if let Some(summarizer) = &mut self.summarizer {
            let records = output.records.iter();
            records.for_each(|record| summarizer.push(record));
        }
        Printed {
            chunk,
            records: output.records,
            live: output.live,
        }
    }

    /// Ends the run.
    #[must_use]
    pub fn finish(self, exit: &Exit) -> Ended {
        let output = self.normalizer.finish(exit);
        let summary = self.summarizer.and_then(|mut summarizer| {
            let records = output.records.iter();
            records.for_each(|record| summarizer.push(record));
            summarizer.finish()
        });
        Ended {
            summary,
            records: output.records,
            live: output.live,
        }
    }
}
