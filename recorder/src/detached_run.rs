//! A run without its store: output goes in, and comes back as records that somebody else keeps.

use std::sync::Arc;

use runtape_core::{Record, RunSummary, Runtime, Stream, Summarizer};
use runtape_normalizer::redact::RuleSet;
use runtape_normalizer::{Context, Exit, Kept, LiveItem, Normalizer, Output, Redactor};
use runtape_store::TapeChunk;

use crate::context_and_exit::begin_at;
use crate::error::RecordError;
use crate::kept_tape::KeptTape;
use crate::redaction::begin_redaction;

/// A run that is normalized here and stored elsewhere, if at all: by a
/// [`BatchWriter`](crate::BatchWriter) on another thread, or in a [`Spool`](crate::Spool). So a full disk
/// holds up neither the process nor those who watch it.
///
/// What comes out of it has no secrets: it is filtered before it goes to the tape and the normalizer.
pub struct DetachedRun {
    context: Context,
    redactor: Redactor,
    normalizer: Normalizer,
    /// Absent where nobody wants the summary.
    summarizer: Option<Summarizer>,
    tape: KeptTape,
}

/// What a piece of output became. Of a line that is not whole yet, nothing comes out.
#[derive(Debug)]
pub struct Printed {
    /// What is kept of the output so far, and its places on the tape.
    pub chunks: Vec<TapeChunk>,
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
    /// How the process ended, and how many secrets were taken out of what it printed.
    pub exit: Exit,
    /// The rest of the output, and its places on the tape.
    pub chunks: Vec<TapeChunk>,
    /// Records to be kept.
    pub records: Vec<Record>,
    /// What can be shown at once, if it was asked for.
    pub live: Vec<LiveItem>,
}

impl DetachedRun {
    /// Starts a run without a store, at a time in milliseconds since 1970. Its summary is a brief
    /// one.
    pub fn start(
        runtime: Runtime,
        context: &Context,
        rules: &Arc<RuleSet>,
        now: i64,
    ) -> Result<Self, RecordError> {
        let brief = Summarizer::brief();
        Self::begin(Normalizer::new, runtime, context, rules, brief, now)
    }

    /// The same, also yielding what can be shown at once.
    pub fn start_live(
        runtime: Runtime,
        context: &Context,
        rules: &Arc<RuleSet>,
        now: i64,
    ) -> Result<Self, RecordError> {
        let brief = Summarizer::brief();
        Self::begin(Normalizer::with_live, runtime, context, rules, brief, now)
    }

    pub(crate) fn begin(
        make: fn(Runtime, Context) -> Result<Normalizer, runtape_normalizer::NormalizeError>,
        runtime: Runtime,
        context: &Context,
        rules: &Arc<RuleSet>,
        summarizer: Summarizer,
        now: i64,
    ) -> Result<Self, RecordError> {
        let (redactor, context) = begin_redaction(rules, &runtime, context);
        let mut normalizer = make(runtime, context.clone())?;
        begin_at(&mut normalizer, now);
        Ok(Self {
            context,
            redactor,
            normalizer,
            summarizer: Some(summarizer),
            tape: KeptTape::default(),
        })
    }

    pub(crate) fn without_summary(mut self) -> Self {
        self.summarizer = None;
        self
    }

    /// Returns what is kept of what the caller knows of the run: without its secrets.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Takes the next bytes of a stream.
    pub fn push(&mut self, stream: Stream, bytes: &[u8], received_at: i64) -> Printed {
        self.filter(|redactor, each| redactor.push(stream, bytes, received_at, each))
    }

    /// Ends a stream before the others: a last line that is not whole is all there is of it.
    pub fn end(&mut self, stream: Stream) -> Printed {
        self.filter(|redactor, each| redactor.end(stream, each))
    }

    /// Returns when [`expire`](Self::expire) has something to do, unless more arrives before.
    #[must_use]
    pub fn expires_at(&self) -> Option<i64> {
        self.redactor.expires_at()
    }

    /// Gives out what was held since it may be the beginning of a secret, if the rest of it did not come in
    /// time. To be called now and then while nothing arrives.
    pub fn expire(&mut self, now: i64) -> Printed {
        self.filter(|redactor, each| redactor.expire(now, each))
    }

    /// Keeps and normalizes what the filter lets through.
    fn filter(
        &mut self,
        work: impl FnOnce(&mut Redactor, &mut dyn FnMut(Stream, Kept<'_>, i64)),
    ) -> Printed {
        let mut output = Output::default();
        let (normalizer, tape) = (&mut self.normalizer, &mut self.tape);
        work(&mut self.redactor, &mut |stream, kept, at| {
            normalizer.push_into(stream, kept, at, &mut output);
            tape.push(stream, kept, at);
        });
        self.summarize(&output.records);
        Printed {
            chunks: self.tape.take(),
            records: output.records,
            live: output.live,
        }
    }

    fn summarize(&mut self, records: &[Record]) {
        if let Some(summarizer) = &mut self.summarizer {
            for record in records {
                summarizer.push(record);
            }
        }
    }

    /// Ends the run.
    #[must_use]
    pub fn finish(mut self, exit: &Exit) -> Ended {
        let mut rest = self.filter(|redactor, each| redactor.finish(each));
        let mut exit = exit.clone();
        exit.redacted.add(self.redactor.counts());
        let output = self.normalizer.finish(&exit);
        let summary = self.summarizer.and_then(|mut summarizer| {
            let records = output.records.iter();
            records.for_each(|record| summarizer.push(record));
            summarizer.finish()
        });
        rest.records.extend(output.records);
        rest.live.extend(output.live);
        Ended {
            summary,
            exit,
            chunks: rest.chunks,
            records: rest.records,
            live: rest.live,
        }
    }
}
