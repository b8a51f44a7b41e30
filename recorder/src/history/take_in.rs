//! Segments into the store: new ones, grown ones, ones that were recorded, too.

use std::borrow::Cow;
use std::collections::HashSet;

use runtape_core::report::{AppliedRules, RedactionCounts};
use runtape_core::{RunId, Stream};
use runtape_normalizer::history::SegmentLine;
use runtape_normalizer::redact::{KeptLines, RuleSet};
use runtape_normalizer::{Exit, Kept, RunSource};
use runtape_store::{RemovalReason, Replaced, Store, StoreError, TapeChunk};
use serde_json::Value;

use super::content::{SourceContent, each_piece};
use super::segment_run::{HISTORY_KEY, NOT_JOINED_KEY, SegmentRun, written_until};
use super::stored_runs::{Account, RecordedToo, StoredRuns};
use crate::context_and_exit::{
    came_as_records, context_from_json, exit_from_json, exit_to_json, is_history_only,
    set_history_rules,
};
use crate::error::RecordError;
use crate::redaction::{count_markers, rules_in_force, without_commitments};
use crate::replay;

/// The most bytes of history that a recorded run is joined with: both halves are held to be joined.
const MOST_JOINED: u64 = 64 << 20;
/// How many bytes of history are added to a tape at once.
const PIECE: usize = 256 << 10;

/// What became of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SegmentOutcome {
    /// It is a run now.
    New(RunId),
    /// Its run has more now.
    Grown(RunId),
    /// It is a part of a recorded run now.
    Joined(RunId),
    /// It is as it was.
    Unchanged,
    /// It is neither, for a reason.
    Left(String),
}

/// Takes in one segment of a session.
pub(super) fn take_in(
    store: &mut Store,
    stored: &mut StoredRuns,
    mut run: SegmentRun,
    contents: &[SourceContent],
    account: Account<'_>,
    rules: &RuleSet,
    now: i64,
) -> Result<SegmentOutcome, RecordError> {
    if let Some(holder) = stored.holder_of(&run.segment.key).cloned() {
        return grow(store, &holder, run, contents, rules, now);
    }
    if store.has_run(&run.run_id)? {
        let id = run.run_id.clone();
        return grow(store, &id, run, contents, rules, now);
    }
    match stored.recorded_as(account) {
        RecordedToo::Nowhere => {}
        RecordedToo::Unclear(reason) => run.set_not_joined(&reason),
        RecordedToo::As(recorded) => {
            let lines = lines_of(&run, contents, rules)?;
            let history = JoinedHistory {
                key: &run.segment.key,
                lines: lines.kept(),
                written_until: written_until(&run.segment, &run.begin),
                rules: Some(rules_in_force(rules)),
            };
            return match join(store, &recorded, &history, now)? {
                None => Ok(SegmentOutcome::Joined(recorded)),
                Some(reason) => Ok(SegmentOutcome::Left(reason)),
            };
        }
    }
    let id = run.run_id.clone();
    match put(store, run, contents, rules, now) {
        // Somebody else took it in meanwhile.
        Err(RecordError::Store(StoreError::Conflict { .. } | StoreError::Locked { .. })) => {
            Ok(SegmentOutcome::Unchanged)
        }
        stored => stored.map(|()| SegmentOutcome::New(id)),
    }
}

/// Returns the lines of a segment as they may be kept.
fn lines_of(
    run: &SegmentRun,
    contents: &[SourceContent],
    rules: &RuleSet,
) -> Result<KeptLines, RecordError> {
    let mut lines = KeptLines::default();
    each_piece(&run.segment.lines, contents, rules, |piece| {
        lines.append(&piece);
        Ok::<(), std::io::Error>(())
    })
    .map_err(|source| RecordError::History { source })?;
    Ok(lines)
}

/// Stores a segment as a run of its own.
fn put(
    store: &mut Store,
    run: SegmentRun,
    contents: &[SourceContent],
    rules: &RuleSet,
    now: i64,
) -> Result<(), RecordError> {
    if let Some(prepared) = run.prepared {
        store.put_run(prepared, now)?;
        return Ok(());
    }
    let id = run.run_id.clone();
    store.batch(|store| {
        store.begin_run(&run.begin)?;
        let context = context_from_json(run.begin.job_id.clone(), id.clone(), &run.begin.context);
        let mut normalizer = match replay::normalizer_in(&run.begin, context) {
            Ok(normalizer) => normalizer,
            Err(error) => return Err(as_store_error(&id, &error)),
        };
        let mut start = 0;
        let mut refused = None;
        let mut exit = Exit::unknown();
        let at = written_until(&run.segment, &run.begin);
        let read = each_piece(&run.segment.lines, contents, rules, |piece| {
            let kept = piece.kept();
            count_markers(kept.bytes(), &mut exit.redacted);
            let records = normalizer.push(Stream::History, kept, at).records;
            let chunk = chunk(&mut start, at, kept.bytes());
            store.append(&id, &records, &[chunk]).map_err(|error| {
                refused = Some(error);
                std::io::Error::other("the store refused it")
            })
        });
        match (refused, read) {
            (Some(error), _) => return Err(error),
            (None, Err(error)) => {
                return Err(StoreError::Invalid {
                    run: id.clone(),
                    fault: error.to_string(),
                });
            }
            (None, Ok(())) => {}
        }
        if run.is_open {
            store.append(&id, &normalizer.finish_so_far().records, &[])?;
        } else {
            let records = normalizer.finish(&exit).records;
            store.append_and_finish(&id, &records, &[], &exit_to_json(&exit), now)?;
        }
        Ok(())
    })?;
    store.release_run(&id);
    Ok(())
}

fn as_store_error(run: &RunId, error: &RecordError) -> StoreError {
    StoreError::Invalid {
        run: run.clone(),
        fault: error.to_string(),
    }
}

fn chunk(start: &mut u64, received_at: i64, kept: &[u8]) -> TapeChunk {
    let chunk = TapeChunk {
        stream: Stream::History,
        start: *start,
        received_at,
        bytes: kept.to_vec(),
    };
    *start = chunk.end();
    chunk
}

/// Calls `each` with the history lines on the tape of a run; returns when the last one was written.
fn each_known_line(
    store: &Store,
    id: &RunId,
    mut each: impl FnMut(&[u8]),
) -> Result<i64, StoreError> {
    let (mut rest, mut written_until) = (Vec::new(), i64::MIN);
    store.each_tape_chunk(id, |chunk| {
        if chunk.stream == Stream::History {
            written_until = written_until.max(chunk.received_at);
            rest.extend_from_slice(&chunk.bytes);
            let mut start = 0;
            while let Some(end) = rest.iter().skip(start).position(|byte| *byte == b'\n') {
                each(rest.get(start..start + end).unwrap_or_default());
                start += end + 1;
            }
            rest.drain(..start);
        }
        true
    })?;
    Ok(written_until)
}

/// Gives a run what its history has more by now. Lines that are gone from it stay, unless the sources are known
/// to have only grown: then the reader has put the same lines in another form or order.
fn grow(
    store: &mut Store,
    id: &RunId,
    mut run: SegmentRun,
    contents: &[SourceContent],
    rules: &RuleSet,
    now: i64,
) -> Result<SegmentOutcome, RecordError> {
    let (mut known, mut new) = (HashSet::new(), HashSet::new());
    let (mut old_digest, mut digest) = (blake3::Hasher::new(), blake3::Hasher::new());
    let known_until = each_known_line(store, id, |line| {
        let line = filtered(rules, line);
        old_digest.update(&without_commitments(&line)).update(b"\n");
        known.insert(hash(&line));
    })?;
    each_piece(&run.segment.lines, contents, rules, |piece| {
        let piece = piece.kept().bytes();
        digest.update(&without_commitments(piece));
        let lines = piece.strip_suffix(b"\n").unwrap_or(piece);
        new.extend(lines.split(|byte| *byte == b'\n').map(hash));
        Ok::<(), std::io::Error>(())
    })
    .map_err(|source| RecordError::History { source })?;
    let is_sealed = store.run(id)?.seal.is_some();
    let is_same = if run.only_grew {
        old_digest.finalize() == digest.finalize()
    } else {
        new.is_subset(&known)
    };
    // Not every line goes on the tape: some say no more than that the session was still there.
    let is_later = known_until < written_until(&run.segment, &run.begin);
    if is_same && !is_later && (is_sealed || run.is_open) {
        return Ok(SegmentOutcome::Unchanged);
    }
    if !run.only_grew && !known.is_subset(&new) {
        let mut lines = Vec::new();
        each_known_line(store, id, |line| {
            let line = filtered(rules, line);
            if !new.contains(&hash(&line)) {
                lines.push(SegmentLine::Made(line.into_owned()));
            }
        })?;
        lines.append(&mut run.segment.lines);
        run.segment.lines = lines;
        run.prepared = None;
    }
    let context = store.begin_of(id)?.context;
    if let Some(reason) = context.get(NOT_JOINED_KEY).and_then(Value::as_str) {
        run.set_not_joined(reason);
    }
    let is_alone = is_history_only(&context);
    let result = if is_alone {
        again(store, id, run, contents, rules, now)
    } else {
        rewrite(store, id, &run, contents, rules, now)
    };
    store.release_run(id);
    match result {
        Err(error) if error.is_in_use() => Ok(SegmentOutcome::Unchanged),
        result => result.map(|()| SegmentOutcome::Grown(id.clone())),
    }
}

/// Puts a run that is known from its history alone in the place of what it was: all of it or nothing.
fn again(
    store: &mut Store,
    id: &RunId,
    run: SegmentRun,
    contents: &[SourceContent],
    rules: &RuleSet,
    now: i64,
) -> Result<(), RecordError> {
    let mut failed = None;
    store
        .batch(|store| {
            store.delete_as(id, RemovalReason::Replaced, now)?;
            match put(store, run, contents, rules, now) {
                Ok(()) => Ok(()),
                Err(RecordError::Store(error)) => Err(error),
                Err(error) => {
                    let refusal = as_store_error(id, &error);
                    failed = Some(error);
                    Err(refusal)
                }
            }
        })
        .map_err(|error| failed.unwrap_or(RecordError::Store(error)))
}

/// The same for a run that was recorded, too: what was printed stays.
fn rewrite(
    store: &mut Store,
    id: &RunId,
    run: &SegmentRun,
    contents: &[SourceContent],
    rules: &RuleSet,
    now: i64,
) -> Result<(), RecordError> {
    let mut begin = store.begin_of(id)?;
    set_history_rules(&mut begin.context, Some(&rules_in_force(rules)));
    let exit = store.exit(id)?;
    let mut exit = exit.map_or_else(Exit::unknown, |exit| exit_from_json(&exit));
    let mut printed = Vec::new();
    store.each_tape_chunk(id, |chunk| {
        if chunk.stream != Stream::History {
            printed.push(chunk);
        }
        true
    })?;
    let history = lines_of(run, contents, rules)?;
    // Of what was found it is not known what was printed: all of it is counted anew.
    let unfinished = exit.redacted.unfinished;
    exit.redacted = RedactionCounts {
        unfinished,
        ..RedactionCounts::default()
    };
    count_markers(begin.context.to_string().as_bytes(), &mut exit.redacted);
    for chunk in &printed {
        count_markers(&chunk.bytes, &mut exit.redacted);
    }
    count_markers(history.kept().bytes(), &mut exit.redacted);
    let mut normalizer = replay::normalizer(&begin)?;
    store.batch(|store| {
        store.delete_as(id, RemovalReason::Replaced, now)?;
        store.begin_run(&begin)?;
        store.append(id, &[], &printed)?;
        let at = written_until(&run.segment, &run.begin);
        append_history(store, id, 0, at, history.kept())?;
        replay::read_tape(store, id, &mut normalizer, |store, records, _| {
            store.append(id, &records, &[])
        })?;
        let records = normalizer.finish(&exit).records;
        store.append_and_finish(id, &records, &[], &exit_to_json(&exit), now)?;
        Ok(())
    })?;
    Ok(())
}

/// Returns a line of a tape without its secrets: it may be from before they were taken out, or from when fewer
/// rules were known, and is compared with one that has none.
fn filtered<'a>(rules: &RuleSet, line: &'a [u8]) -> Cow<'a, [u8]> {
    rules.redact_line(line, &mut RedactionCounts::default())
}

/// Tells lines apart. Markers of the same rule are alike: the key may be another one by now.
fn hash(line: &[u8]) -> u128 {
    let hash = blake3::hash(&without_commitments(line));
    let mut head = [0; 16];
    head.copy_from_slice(hash.as_bytes().get(..16).unwrap_or(&[0; 16]));
    u128::from_le_bytes(head)
}

/// Writes the records of a run anew, in whatever way the caller has them replaced.
type Rewrite<'a> = &'a mut dyn FnMut(&mut Store) -> Result<Option<Value>, StoreError>;

/// Puts more history on the tape of a finished run, and makes its records anew.
fn add(
    store: &mut Store,
    id: &RunId,
    context: &Value,
    (new, written_until): (Kept<'_>, i64),
    replace: impl FnOnce(&mut Store, Rewrite<'_>) -> Result<Replaced, StoreError>,
) -> Result<(), RecordError> {
    let begin = store.begin_of(id)?;
    let exit = store.exit(id)?;
    let mut exit = exit.map_or_else(Exit::unknown, |exit| exit_from_json(&exit));
    count_markers(new.bytes(), &mut exit.redacted);
    let kept_exit = exit_to_json(&exit);
    let parsed = context_from_json(begin.job_id.clone(), id.clone(), context);
    let mut normalizer = Some(replay::normalizer_in(&begin, parsed)?);
    let start = store.tape_lengths(id)?.of(Stream::History);
    replace(store, &mut |store| {
        append_history(store, id, start, written_until, new)?;
        let Some(mut normalizer) = normalizer.take() else {
            return Ok(None);
        };
        replay::read_tape(store, id, &mut normalizer, |store, records, _| {
            store.append(id, &records, &[])
        })?;
        store.append(id, &normalizer.finish(&exit).records, &[])?;
        Ok(Some(kept_exit.clone()))
    })?;
    Ok(())
}

/// Says in a run that is known from its history why it is not joined with a recorded one, unless it says so already.
pub(super) fn mark_not_joined(
    store: &mut Store,
    history: &RunId,
    reason: &str,
    now: i64,
) -> Result<(), RecordError> {
    let mut context = store.begin_of(history)?.context;
    let Value::Object(kept) = &mut context else {
        return Ok(());
    };
    if kept.get(NOT_JOINED_KEY).is_some() {
        return Ok(());
    }
    kept.insert(NOT_JOINED_KEY.to_owned(), reason.into());
    let marked = add(
        store,
        history,
        &context,
        (Kept::as_given(&[]), 0),
        |store, write| store.retell_run(history, RemovalReason::Replaced, &context, now, write),
    );
    match marked {
        Err(error) if error.is_in_use() => Ok(()),
        marked => marked,
    }
}

fn append_history(
    store: &mut Store,
    id: &RunId,
    mut start: u64,
    received_at: i64,
    kept: Kept<'_>,
) -> Result<(), StoreError> {
    for piece in kept.bytes().chunks(PIECE) {
        let chunk = chunk(&mut start, received_at, piece);
        store.append(id, &[], &[chunk])?;
    }
    Ok(())
}

/// The history of an execution that was recorded, too.
#[derive(Debug)]
pub(super) struct JoinedHistory<'a> {
    /// Names it among those of its session.
    pub(super) key: &'a str,
    pub(super) lines: Kept<'a>,
    /// When the last of them was written.
    pub(super) written_until: i64,
    /// By what its lines were filtered, which need not be what the recorded run was filtered by.
    pub(super) rules: Option<AppliedRules>,
}

/// Joins a finished recorded run with the history of the same execution; returns why it is left alone, if it is.
pub(super) fn join(
    store: &mut Store,
    recorded: &RunId,
    history: &JoinedHistory<'_>,
    now: i64,
) -> Result<Option<String>, RecordError> {
    let lines = history.lines;
    let length = store.tape_lengths(recorded)?;
    if (lines.bytes().len() as u64).saturating_add(length.total()) > MOST_JOINED {
        return Ok(Some(format!(
            "run {recorded} and its history are too large to be joined"
        )));
    }
    if length.total() == length.of(Stream::History) && length.total() > 0 {
        return Ok(Some(format!("run {recorded} has a history already")));
    }
    match store.check_tape(recorded) {
        Err(StoreError::NoTape { fault, .. }) => {
            return Ok(Some(format!("run {recorded} cannot be joined: {fault}")));
        }
        checked => checked?,
    }
    let mut context = store.begin_of(recorded)?.context;
    if came_as_records(&context) {
        return Ok(Some(format!(
            "run {recorded} came as records, without a tape"
        )));
    }
    if let Value::Object(kept) = &mut context {
        kept.insert(HISTORY_KEY.to_owned(), history.key.into());
        kept.insert("source".to_owned(), RunSource::Both.as_str().into());
    }
    set_history_rules(&mut context, history.rules.as_ref());
    let new = (lines, history.written_until);
    let joined = add(store, recorded, &context, new, |store, write| {
        store.retell_run(recorded, RemovalReason::Joined, &context, now, write)
    });
    match joined {
        Err(error) if error.is_in_use() => Ok(Some(error.to_string())),
        done => done.map(|()| None),
    }
}
