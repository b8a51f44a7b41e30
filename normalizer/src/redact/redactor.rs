//! Bytes in, bytes without secrets out.

use std::borrow::Cow;
use std::sync::Arc;

use runtape_core::{Runtime, Stream};

use super::counts::RedactionCounts;
use super::kept::Kept;
use super::line::LineReader;
use super::marker::Markers;
use super::needles::Needles;
use super::report::FilterReport;
use super::rule_set::RuleSet;
use super::stream::StreamFilter;
use super::tier::Tier;
use crate::lines::DEFAULT_LIMIT;
use crate::runtimes::entry_for;

/// A secret that was found, told without the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// In which stream.
    pub stream: Stream,
    /// Where the line begins in which it begins, in bytes of the stream as it was given.
    pub line_start: u64,
    /// The rule that found it.
    pub rule: String,
    /// Its first characters, and how many there are in all: enough to recognise it.
    pub masked: String,
    /// What stands for it in its marker, where there is a key.
    pub commitment: Option<String>,
}

/// Filters all streams of one root run before they are kept and read.
///
/// Lines without a finding pass byte for byte. A last line without its line feed is held until it
/// is whole, or the stream ends.
#[derive(Debug)]
pub struct Redactor {
    /// Nothing, if everything passes as it is.
    on: Option<Box<On>>,
    report: FilterReport,
}

#[derive(Debug)]
struct On {
    rules: Arc<RuleSet>,
    runtime: Runtime,
    needles: Option<Arc<Needles>>,
    streams: Vec<(Stream, StreamFilter)>,
    markers: Markers,
    limit: usize,
}

impl On {
    /// Returns the reader of lines, and the filter of a stream.
    fn parts(&mut self, stream: Stream) -> (LineReader<'_>, Option<&mut StreamFilter>) {
        let known = self.streams.iter().position(|(known, _)| *known == stream);
        let index = known.unwrap_or_else(|| {
            let filter = StreamFilter::new(stream, self.limit);
            self.streams.push((stream, filter));
            self.streams.len() - 1
        });
        let needles = self
            .needles
            .get_or_insert_with(|| self.rules.needles_of(&self.runtime));
        let entry = entry_for(&self.runtime);
        let reader = LineReader {
            rules: &self.rules,
            needles,
            deltas: entry.map_or(&[], |entry| entry.deltas),
            wraps_words: stream == Stream::Stdout && entry.is_some_and(|entry| entry.wraps_words),
            markers: &self.markers,
        };
        (
            reader,
            self.streams.get_mut(index).map(|(_, filter)| filter),
        )
    }
}

impl Redactor {
    /// Creates a filter for one run of a runtime.
    #[must_use]
    pub fn new(rules: &Arc<RuleSet>, runtime: &Runtime) -> Self {
        let on = || {
            Box::new(On {
                rules: Arc::clone(rules),
                runtime: runtime.clone(),
                needles: None,
                streams: Vec::new(),
                markers: Markers::default(),
                limit: DEFAULT_LIMIT,
            })
        };
        Self {
            on: (rules.tier() != Tier::Off).then(on),
            report: FilterReport::default(),
        }
    }

    /// Creates a filter that lets every chunk through untouched, at once.
    #[must_use]
    pub fn off() -> Self {
        Self {
            on: None,
            report: FilterReport::default(),
        }
    }

    /// Sets the longest line that is held whole; longer ones are filtered as text, piece by piece.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        if let Some(on) = &mut self.on {
            on.limit = limit;
        }
        self
    }

    /// Goes on with the lines of another runtime, where the first lines told which one it is.
    pub fn set_runtime(&mut self, runtime: &Runtime) {
        if let Some(on) = &mut self.on {
            on.runtime = runtime.clone();
            on.needles = None;
        }
    }

    /// Keeps a list of what was found.
    #[must_use]
    pub fn with_finds(mut self) -> Self {
        self.report.finds = Some(Vec::new());
        self
    }

    /// Tells whether chunks pass untouched.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.on.is_none()
    }

    /// Takes the next bytes of a stream, received at a time in milliseconds since 1970, and calls
    /// `each` with what may be kept: of which stream, and when the last byte of it was received.
    pub fn push(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        received_at: i64,
        mut each: impl FnMut(Stream, Kept<'_>, i64),
    ) {
        match &mut self.on {
            None => each(stream, Kept::filtered(bytes), received_at),
            Some(on) => {
                if let (reader, Some(filter)) = on.parts(stream) {
                    filter.push(bytes, received_at, reader, &mut self.report, &mut each);
                }
            }
        }
    }

    /// Returns when [`expire`](Self::expire) has something to do, unless more arrives before.
    #[must_use]
    pub fn expires_at(&self) -> Option<i64> {
        let streams = self.on.iter().flat_map(|on| &on.streams);
        streams.filter_map(|(_, filter)| filter.expires_at()).min()
    }

    /// Gives out what was held for its rest, if nothing came for two seconds.
    pub fn expire(&mut self, now: i64, mut each: impl FnMut(Stream, Kept<'_>, i64)) {
        if self.expires_at().is_none_or(|at| at > now) {
            return;
        }
        if let Some(on) = &mut self.on {
            for stream in Stream::ALL {
                if let (reader, Some(filter)) = on.parts(stream) {
                    filter.expire(now, reader, &mut self.report, &mut each);
                }
            }
        }
    }

    /// Ends one stream: gives out what is still held of it.
    pub fn end(&mut self, stream: Stream, mut each: impl FnMut(Stream, Kept<'_>, i64)) {
        if let Some(on) = &mut self.on
            && on.streams.iter().any(|(known, _)| *known == stream)
            && let (reader, Some(filter)) = on.parts(stream)
        {
            filter.finish(reader, &mut self.report, &mut each);
        }
    }

    /// Ends all streams: gives out whatever is still held.
    pub fn finish(&mut self, mut each: impl FnMut(Stream, Kept<'_>, i64)) {
        for stream in Stream::ALL {
            self.end(stream, &mut each);
        }
    }

    /// Returns a text that the caller gave without its secrets, and counts them.
    pub fn redact_text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        match &self.on {
            Some(on) => on.rules.redact_text(text, &mut self.report.counts),
            None => Cow::Borrowed(text),
        }
    }

    /// Returns how many bytes are held.
    #[must_use]
    pub fn held(&self) -> usize {
        let streams = self.on.iter().flat_map(|on| &on.streams);
        streams.map(|(_, filter)| filter.held()).sum()
    }

    /// Returns what was done so far.
    #[must_use]
    pub fn counts(&self) -> &RedactionCounts {
        &self.report.counts
    }

    /// Returns what was found since the last time, for a filter [with finds](Self::with_finds).
    pub fn take_finds(&mut self) -> Vec<Found> {
        let finds = self.report.finds.as_mut();
        finds.map(std::mem::take).unwrap_or_default()
    }
}
