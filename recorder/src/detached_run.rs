//! A run without its store: output goes in, and comes back as records that somebody else keeps.

use std::sync::Arc;

use runtape_core::{Record, RunSummary, Runtime, Stream, Summarizer, TranscriptKind};
use runtape_normalizer::redact::RuleSet;
use runtape_normalizer::{
    Context, Exit, FoundRuntime, Kept, LiveItem, NormalizeError, Normalizer, Output, Redactor,
    RuntimeFrom,
};
use runtape_store::TapeChunk;

use crate::context_and_exit::begin_at;
use crate::error::RecordError;
use crate::kept_tape::KeptTape;
use crate::redaction::begin_redaction;
use crate::undecided::{DecidedRuntime, Undecided};

/// A run that is normalized here and stored elsewhere, if at all: by a
/// [`BatchWriter`](crate::BatchWriter) on another thread, or in a [`Spool`](crate::Spool). So a full disk
/// holds up neither the process nor those who watch it.
///
/// What comes out of it has no secrets: it is filtered before it goes to the tape and the normalizer.
///
/// Where the caller does not name the runtime, the first lines decide it. Until then the run is a generic one that
/// gives its tape as it comes, and no records.
pub struct DetachedRun {
    context: Context,
    redactor: Redactor,
    normalizer: Normalizer,
    make: MakeNormalizer,
    started_at: i64,
    /// Present until the first lines have decided the runtime.
    undecided: Option<Box<Undecided>>,
    /// What the caller was not told yet.
    decided: Option<Box<DecidedRuntime>>,
    /// Absent where nobody wants the summary.
    summarizer: Option<Summarizer>,
    tape: KeptTape,
}

type MakeNormalizer = fn(Runtime, Context) -> Result<Normalizer, NormalizeError>;

/// What a piece of output became. Of a line that is not whole yet, nothing comes out.
#[derive(Debug)]
pub struct Printed {
    /// What the first lines told, once, before the records that follow from it.
    pub decided: Option<Box<DecidedRuntime>>,
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
    /// What the first lines told, if nothing did before.
    pub decided: Option<Box<DecidedRuntime>>,
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
    /// one. Where no runtime is named, the first lines decide it.
    pub fn start(
        runtime: impl Into<Option<Runtime>>,
        context: &Context,
        rules: &Arc<RuleSet>,
        now: i64,
    ) -> Result<Self, RecordError> {
        let brief = Summarizer::brief();
        Self::begin(Normalizer::new, runtime.into(), context, rules, brief, now)
    }

    /// The same, also yielding what can be shown at once.
    pub fn start_live(
        runtime: impl Into<Option<Runtime>>,
        context: &Context,
        rules: &Arc<RuleSet>,
        now: i64,
    ) -> Result<Self, RecordError> {
        let brief = Summarizer::brief();
        Self::begin(
            Normalizer::with_live,
            runtime.into(),
            context,
            rules,
            brief,
            now,
        )
    }

    pub(crate) fn begin(
        make: MakeNormalizer,
        runtime: Option<Runtime>,
        context: &Context,
        rules: &Arc<RuleSet>,
        summarizer: Summarizer,
        now: i64,
    ) -> Result<Self, RecordError> {
        let mut undecided = None;
        let runtime = runtime.unwrap_or_else(|| {
            undecided = Some(Box::default());
            Runtime::Generic
        });
        let (redactor, mut context) = begin_redaction(rules, &runtime, context);
        if undecided.is_some() {
            context.runtime_from = RuntimeFrom::Undecided;
        }
        let mut normalizer = make(runtime, context.clone())?;
        begin_at(&mut normalizer, now);
        Ok(Self {
            context,
            redactor,
            normalizer,
            make,
            started_at: now,
            undecided,
            decided: None,
            summarizer: Some(summarizer),
            tape: KeptTape::default(),
        })
    }

    pub(crate) fn without_summary(mut self) -> Self {
        self.summarizer = None;
        self
    }

    /// Returns the runtime that a run begins as: generic where the first lines decide it.
    pub(crate) fn runtime_at_start(runtime: Option<&Runtime>) -> Runtime {
        runtime.cloned().unwrap_or(Runtime::Generic)
    }

    /// Returns what is kept of what the caller knows of the run: without its secrets.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Tells whether what comes is text of which nobody knows yet whose it is: the lines of a wrapper, or the answer of
    /// a generic run whose format has not shown.
    pub(crate) fn is_unread(&self) -> bool {
        let is_generic = *self.normalizer.runtime() == Runtime::Generic;
        self.context.runtime_from != RuntimeFrom::Caller && is_generic
    }

    /// Takes the next bytes of a stream.
    pub fn push(&mut self, stream: Stream, bytes: &[u8], received_at: i64) -> Printed {
        let before = match &mut self.undecided {
            Some(undecided) => {
                let found = undecided.lines.push(stream, bytes, received_at);
                found.map(|found| self.decide(found))
            }
            None => None,
        };
        let printed = self.filter(|redactor, each| redactor.push(stream, bytes, received_at, each));
        self.printed(before, printed)
    }

    /// Ends a stream before the others: a last line that is not whole is all there is of it.
    pub fn end(&mut self, stream: Stream) -> Printed {
        let printed = self.filter(|redactor, each| redactor.end(stream, each));
        self.printed(None, printed)
    }

    /// Returns when [`expire`](Self::expire) has something to do, unless more arrives before.
    #[must_use]
    pub fn expires_at(&self) -> Option<i64> {
        let undecided = self.undecided.as_ref();
        let decides_at = undecided.and_then(|undecided| undecided.lines.ends_at());
        self.redactor
            .expires_at()
            .into_iter()
            .chain(decides_at)
            .min()
    }

    /// Gives out what was held since it may be the beginning of a secret, if the rest of it did not come in
    /// time, and the records of a run whose first lines tell no runtime. To be called now and then while nothing
    /// arrives.
    pub fn expire(&mut self, now: i64) -> Printed {
        let undecided = self.undecided.as_ref();
        let decides_at = undecided.and_then(|undecided| undecided.lines.ends_at());
        let is_over = decides_at.is_some_and(|at| at <= now);
        let before = is_over.then(|| self.decide(None));
        let printed = self.filter(|redactor, each| redactor.expire(now, each));
        self.printed(before, printed)
    }

    /// Goes on as the runtime that the first lines told, or as a generic run if they told none. Returns what the
    /// output before became.
    fn decide(&mut self, found: Option<FoundRuntime>) -> Output {
        let Some(undecided) = self.undecided.take() else {
            return Output::default();
        };
        self.context.runtime_from = RuntimeFrom::FirstLines;
        let mut runtime = Runtime::Generic;
        let mut output = Output {
            records: undecided.records,
            live: Vec::new(),
        };
        if let Some(found) = found {
            let mut context = self.context.clone();
            context.output_on = found.output_on;
            context.lines_before = found.lines_before;
            // A runtime that can be found can be read.
            if let Ok(mut normalizer) = (self.make)(found.runtime.clone(), context.clone()) {
                begin_at(&mut normalizer, self.started_at);
                output = Output::default();
                for (stream, bytes, at) in &undecided.kept {
                    normalizer.push_into(*stream, Kept::as_given(bytes), *at, &mut output);
                }
                output.live.retain(|item| !is_shown_already(item));
                self.redactor.set_runtime(&found.runtime);
                (self.normalizer, self.context, runtime) = (normalizer, context, found.runtime);
            }
        }
        self.summarize(&output.records);
        self.decided = Some(Box::new(DecidedRuntime {
            runtime,
            context: self.context.clone(),
        }));
        output
    }

    /// Keeps and normalizes what the filter lets through.
    fn filter(
        &mut self,
        work: impl FnOnce(&mut Redactor, &mut dyn FnMut(Stream, Kept<'_>, i64)),
    ) -> Output {
        let mut output = Output::default();
        let (normalizer, tape) = (&mut self.normalizer, &mut self.tape);
        let undecided = &mut self.undecided;
        work(&mut self.redactor, &mut |stream, kept, at| {
            normalizer.push_into(stream, kept, at, &mut output);
            tape.push(stream, kept, at);
            if let Some(undecided) = undecided {
                undecided.kept.push((stream, kept.bytes().to_vec(), at));
            }
        });
        match &mut self.undecided {
            Some(undecided) => undecided.records.append(&mut output.records),
            None => self.summarize(&output.records),
        }
        output
    }

    /// Puts together what output became, and what was decided before it.
    fn printed(&mut self, before: Option<Output>, output: Output) -> Printed {
        let Output {
            mut records,
            mut live,
        } = before.unwrap_or_default();
        records.extend(output.records);
        live.extend(output.live);
        Printed {
            decided: self.decided.take(),
            chunks: self.tape.take(),
            records,
            live,
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
        let held = self.filter(|redactor, each| redactor.finish(each));
        let undecided = self.undecided.as_ref();
        let found = undecided.map(|undecided| undecided.lines.finish());
        let before = found.map(|found| self.decide(found));
        let mut rest = self.printed(before, held);
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
            decided: rest.decided,
            exit,
            chunks: rest.chunks,
            records: rest.records,
            live: rest.live,
        }
    }
}

/// Tells whether an item was shown when its line came: on standard error nothing waits for the runtime.
fn is_shown_already(item: &LiveItem) -> bool {
    match item {
        LiveItem::Transcript { entry, .. } => matches!(entry.kind, TranscriptKind::Stderr(_)),
        LiveItem::Event(_) => false,
    }
}
