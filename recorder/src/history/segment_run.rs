//! A segment as a run: its ids, what is known of it, its records.

use std::io;

use runtape_core::report::AppliedRules;
use runtape_core::{JobId, RunId, Runtime, Stream};
use runtape_normalizer::history::{Segment, Session};
use runtape_normalizer::redact::RuleSet;
use runtape_normalizer::{Context, Exit, Output, RunSource};
use runtape_store::{BeginRun, PreparedRun};
use serde_json::{Map, Value};

use super::content::{SourceContent, each_piece};
use crate::context_and_exit::{begin_run, exit_to_json};
use crate::error::RecordError;
use crate::redaction::count_markers;
use crate::replay::normalizer_in;

/// The key in a run's context that names the segment of its history.
pub(super) const HISTORY_KEY: &str = "historyKey";

/// The key in a run's context that says why it is not joined with a recorded run.
pub(super) const NOT_JOINED_KEY: &str = "notJoined";

/// A session that is quiet for so long is over, in milliseconds.
const QUIET: i64 = 60 * 60 * 1000;

/// A segment on its way into the store.
#[derive(Debug)]
pub(super) struct SegmentRun {
    pub(super) run_id: RunId,
    pub(super) segment: Segment,
    /// It may still be going on.
    pub(super) is_open: bool,
    /// Its sources are those that were read before, and have only grown since.
    pub(super) only_grew: bool,
    /// What the store needs besides writing; none where it is too large to be held, or may go on.
    pub(super) prepared: Option<PreparedRun>,
    pub(super) begin: BeginRun,
}

impl SegmentRun {
    /// Says which session its session was forked from. What was prepared did not know it.
    pub(super) fn set_forked_from(&mut self, parent: &str) {
        self.prepared = None;
        if let Value::Object(kept) = &mut self.begin.context {
            let metadata = kept
                .entry("metadata")
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(metadata) = metadata {
                metadata.insert("forkedFrom".to_owned(), parent.into());
            }
        }
    }

    /// Says why it is not joined with a recorded run. What was prepared did not know it.
    pub(super) fn set_not_joined(&mut self, reason: &str) {
        self.prepared = None;
        if let Value::Object(kept) = &mut self.begin.context {
            kept.insert(NOT_JOINED_KEY.to_owned(), reason.into());
        }
    }
}

/// What is told of the session that a segment is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentOrigin<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) session: &'a Session,
    /// By what its lines were filtered.
    pub(super) rules: &'a AppliedRules,
}

impl SegmentOrigin<'_> {
    /// Returns what is known of a segment's run before its lines are read.
    fn context(&self, segment: &Segment) -> Context {
        let runtime = self.runtime.as_str();
        let session = self.session.id.as_str();
        let job = JobId::of_history(runtime, session);
        let run = RunId::of_history(runtime, session, &segment.key);
        let mut context = Context::new(job, run);
        context.source = RunSource::History;
        context.redaction = Some(self.rules.clone());
        context.query.clone_from(&segment.prompt);
        if let Some(title) = &self.session.title {
            context.metadata.set("title", title.as_str());
        }
        if segment.is_resumed {
            context.metadata.set("resumedFrom", session);
        }
        context
    }

    /// Tells what a segment's run begins with.
    pub(super) fn begin(&self, segment: &Segment) -> (Context, BeginRun) {
        let context = self.context(segment);
        let started_at = segment.started_at.unwrap_or_default();
        let mut begin = begin_run(&context, self.runtime.clone(), started_at);
        if let Value::Object(kept) = &mut begin.context {
            kept.insert(HISTORY_KEY.to_owned(), segment.key.as_str().into());
        }
        (context, begin)
    }
}

/// Tells whether a segment may still be written: the last of its session, quiet for less than an hour.
pub(super) fn may_go_on(segment: &Segment, is_last: bool, now: i64) -> bool {
    let quiet = segment.last_at.map(|at| now.saturating_sub(at));
    is_last && !segment.is_over && quiet.is_some_and(|quiet| quiet < QUIET)
}

/// Normalizes a segment and does all that storing it takes besides writing.
pub(super) fn prepare(
    begin: &BeginRun,
    context: Context,
    segment: &Segment,
    contents: &[SourceContent],
    rules: &RuleSet,
) -> Result<PreparedRun, RecordError> {
    let mut normalizer = normalizer_in(begin, context)?;
    let mut output = Output::default();
    let mut pieces = Vec::new();
    let mut exit = Exit::unknown();
    let at = written_until(segment, begin);
    each_piece(&segment.lines, contents, rules, |piece| {
        let kept = piece.kept();
        count_markers(kept.bytes(), &mut exit.redacted);
        normalizer.push_into(Stream::History, kept, at, &mut output);
        pieces.push(piece);
        Ok::<(), io::Error>(())
    })
    .map_err(|source| RecordError::History { source })?;
    normalizer.finish_into(&exit, &mut output);
    let run = PreparedRun::new(begin, &output.records, &exit_to_json(&exit))?;
    let pieces = pieces.iter().map(|piece| piece.kept().bytes());
    Ok(run.with_output(pieces.map(|piece| (Stream::History, at, piece))))
}

/// Returns when the last line of a segment was written: its lines stand on the tape as of then, so that the end of its run
/// follows from the tape.
pub(super) fn written_until(segment: &Segment, begin: &BeginRun) -> i64 {
    segment.last_at.unwrap_or(begin.started_at)
}
