//! Secrets in what is stored: found, told, and taken out.
//!
//! What was kept before there was a filter, or by fewer rules, is changed only when somebody asks for it. The tape is
//! filtered as it would have been when it was recorded, and the records are made from it anew. A run without
//! a tape has its records filtered instead.

use std::collections::BTreeMap;
use std::sync::Arc;

use runtape_core::report::{
    FoundMarker, FoundSecret, RedactedRun, RedactionCounts, RemovalReason, SecretPlace,
};
use runtape_core::{RunId, Stream};
use runtape_normalizer::redact::{Found, RuleSet};
use runtape_normalizer::{Exit, Redactor};
use runtape_store::{BeginRun, Import, LeftOut, Store, StoreError, Trust};

use crate::context_and_exit::{exit_from_json, exit_to_json};
use crate::error::RecordError;
use crate::kept_tape::KeptTape;
use crate::likeness::is_same_execution;
use crate::redaction::{filter_begin, markers, redact_record};
use crate::replay;

/// How many bytes of a filtered tape are written at once.
const PIECE: usize = 256 << 10;

/// Finds what looks like a secret in a stored root run, and changes nothing.
///
/// What is on the tape is told by the first record that was made from it.
pub fn find_secrets(
    store: &Store,
    root: &RunId,
    rules: &Arc<RuleSet>,
) -> Result<Vec<FoundSecret>, RecordError> {
    let begin = begin_of_root(store, root)?;
    let found = |run: &RunId, place: SecretPlace, secret: Found| FoundSecret {
        run_id: run.clone(),
        place,
        rule: secret.rule,
        masked: secret.masked,
    };
    let mut secrets = Vec::new();
    let mut lines = LineFinder::new(rules, &begin);
    if !begin.context.is_null() {
        let context = lines.find_in(begin.context.to_string().as_bytes());
        secrets.extend(
            context
                .into_iter()
                .map(|secret| found(root, SecretPlace::Context, secret)),
        );
    }
    if store.tape_lengths(root)?.total() == 0 {
        each_record(store, root, |run, seq, line| {
            let secrets_here = lines.find_in(line);
            let place = SecretPlace::Record { seq };
            secrets.extend(
                secrets_here
                    .into_iter()
                    .map(|secret| found(run, place.clone(), secret)),
            );
        })?;
        return Ok(secrets);
    }
    let mut redactor = Redactor::new(rules, &begin.runtime).with_finds();
    let mut on_tape = Vec::new();
    store.each_tape_chunk(root, |chunk| {
        redactor.push(chunk.stream, &chunk.bytes, chunk.received_at, |_, _, _| {});
        on_tape.extend(redactor.take_finds());
        true
    })?;
    redactor.finish(|_, _, _| {});
    on_tape.extend(redactor.take_finds());
    let mut places = RecordPlaces::of(on_tape.iter().map(|found| (found.stream, found.line_start)));
    places.look(store, root)?;
    for secret in on_tape {
        let (run, place) = places.place(root, secret.stream, secret.line_start);
        secrets.push(found(&run, place, secret));
    }
    Ok(secrets)
}

/// Finds the places of a stored root run that have the marker of a secret, by what stands for it there.
pub fn find_markers(
    store: &Store,
    root: &RunId,
    commitment: &str,
) -> Result<Vec<FoundMarker>, RecordError> {
    let begin = begin_of_root(store, root)?;
    let mut found = Vec::new();
    let mut look = |run: &RunId, place: SecretPlace, bytes: &[u8]| {
        let here = markers(bytes).filter(|marker| marker.commitment == commitment);
        let texts = here.filter_map(|marker| {
            let text = bytes.get(marker.place)?;
            Some(String::from_utf8_lossy(text).into_owned())
        });
        // A record that has it many times is one place.
        let Some(marker) = texts.into_iter().next() else {
            return false;
        };
        let run_id = run.clone();
        found.push(FoundMarker {
            run_id,
            place,
            marker,
        });
        true
    };
    let context = begin.context.to_string();
    look(root, SecretPlace::Context, context.as_bytes());
    let mut is_in_record = false;
    each_record(store, root, |run, seq, line| {
        is_in_record |= look(run, SecretPlace::Record { seq }, line);
    })?;
    if !is_in_record {
        store.each_tape_chunk(root, |chunk| {
            let (stream, start) = (chunk.stream, chunk.start);
            look(root, SecretPlace::Tape { stream, start }, &chunk.bytes);
            true
        })?;
    }
    Ok(found)
}

/// Takes the secrets out of a finished root run: its tape is filtered, its records are made from it anew, and both are
/// replaced in one transaction. Where nothing is found, nothing is written.
///
/// The old seal stays as a tombstone that says why. The bytes of the secrets stay in the file until
/// [`Store::compact`] has written it anew. `source` is the same database, opened once more: what is replaced is
/// read from there. Without one, this only tells what would be taken out.
pub fn redact_run(
    store: &mut Store,
    source: Option<&Store>,
    root: &RunId,
    rules: &Arc<RuleSet>,
    now: i64,
) -> Result<RedactedRun, RecordError> {
    let begin = begin_of_root(store, root)?;
    if store.run(root)?.seal.is_none() {
        return Err(StoreError::NotEnded { run: root.clone() }.into());
    }
    let mut counts = RedactionCounts::default();
    let context = filter_begin(rules, &begin, &mut counts);
    counts.add(&count(store, &begin, rules)?);
    let mut redacted = RedactedRun {
        run_id: root.clone(),
        counts,
        seal: None,
    };
    let Some(source) = source.filter(|_| redacted.counts.total() > 0) else {
        return Ok(redacted);
    };
    let filtered = BeginRun { context, ..begin };
    in_batch(store, |store| {
        store.delete_as(root, RemovalReason::Redacted, now)?;
        write_filtered(source, store, &filtered, &redacted.counts, rules, now)
    })?;
    redacted.seal = store.run(root)?.seal_name();
    Ok(redacted)
}

/// Takes in the runs of a bundle, as [`Store::import_bundle`] does, but without the secrets that the rules find. Runs in
/// which there are none are taken in as they are, with what proves them.
pub fn import_bundle(
    store: &mut Store,
    bundle: &Store,
    trust: Trust,
    rules: &Arc<RuleSet>,
    now: i64,
) -> Result<Vec<(RunId, Import)>, RecordError> {
    let mut imports = Vec::new();
    in_batch(store, |store| {
        let mut with_secrets = BTreeMap::new();
        let imported = store.import_bundle_but(bundle, trust, now, |store, bundle| {
            let mut left_out = LeftOut::default();
            for root in bundle.root_runs()? {
                let is_exact = store.has_copy(bundle, &root)? || store.has_same(bundle, &root)?;
                if !is_exact && is_same_execution(bundle, store, &root)? {
                    left_out.known.push(root);
                    continue;
                }
                let counts = secrets_in(bundle, &root, rules)?;
                if counts.total() > 0 {
                    left_out.rewritten.push(root.clone());
                    with_secrets.insert(root, counts);
                }
            }
            Ok(left_out)
        })?;
        imports = imported.runs;
        for begin in imported.left_out {
            let root = begin.run_id.clone();
            let mut counts = RedactionCounts::default();
            let context = filter_begin(rules, &begin, &mut counts);
            let filtered = BeginRun { context, ..begin };
            let counts = with_secrets.get(&root).unwrap_or(&counts);
            write_filtered(bundle, store, &filtered, counts, rules, now)?;
            imports.push((root, Import::Stored));
        }
        Ok(())
    })?;
    Ok(imports)
}

/// Counts what would be taken out of a root run: of what was known before it began, and of its output or records.
pub(crate) fn secrets_in(
    store: &Store,
    root: &RunId,
    rules: &Arc<RuleSet>,
) -> Result<RedactionCounts, StoreError> {
    let begin = store.begin_of(root)?;
    let mut counts = RedactionCounts::default();
    filter_begin(rules, &begin, &mut counts);
    counts.add(&count(store, &begin, rules)?);
    Ok(counts)
}

/// Does some work in one transaction, whatever kind of error it ends with.
pub(crate) fn in_batch<T>(
    store: &mut Store,
    work: impl FnOnce(&mut Store) -> Result<T, RecordError>,
) -> Result<T, RecordError> {
    let mut failed = None;
    let done = store.batch(|store| match work(store) {
        Ok(value) => Ok(value),
        Err(RecordError::Store(error)) => Err(error),
        Err(error) => {
            failed = Some(error);
            Err(StoreError::Spoiled)
        }
    });
    done.map_err(|error| failed.unwrap_or(RecordError::Store(error)))
}

fn begin_of_root(store: &Store, root: &RunId) -> Result<BeginRun, RecordError> {
    if let Some(parent) = store.run(root)?.root_run_id {
        let fault = format!("it is a child: name its root run {parent}");
        let run = root.clone();
        return Err(StoreError::Invalid { run, fault }.into());
    }
    Ok(store.begin_of(root)?)
}

/// Calls `each` with the records of a root run and its children, as lines.
fn each_record(
    store: &Store,
    root: &RunId,
    mut each: impl FnMut(&RunId, u64, &[u8]),
) -> Result<(), StoreError> {
    for run in store.tree(root)? {
        let mut failed = None;
        store.each_record(&run.run_id, 0, |record| match serde_json::to_vec(&record) {
            Ok(line) => {
                each(&run.run_id, record.seq, &line);
                true
            }
            Err(source) => {
                let run = run.run_id.clone();
                failed = Some(StoreError::Json { run, source });
                false
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
    }
    Ok(())
}

/// Counts what would be taken out of the output of a run, or out of its records if there is no output.
fn count(
    store: &Store,
    begin: &BeginRun,
    rules: &Arc<RuleSet>,
) -> Result<RedactionCounts, StoreError> {
    let root = &begin.run_id;
    let mut redactor = Redactor::new(rules, &begin.runtime);
    if store.tape_lengths(root)?.total() > 0 {
        store.each_tape_chunk(root, |chunk| {
            redactor.push(chunk.stream, &chunk.bytes, chunk.received_at, |_, _, _| {});
            true
        })?;
        redactor.finish(|_, _, _| {});
        return Ok(redactor.counts().clone());
    }
    let mut counts = RedactionCounts::default();
    each_record(store, root, |_, _, line| {
        let _ = rules.redact_line(line, &mut counts);
    })?;
    Ok(counts)
}

/// Writes a run of one store to another without its secrets, which are `counts`, and seals it.
pub(crate) fn write_filtered(
    source: &Store,
    target: &mut Store,
    begin: &BeginRun,
    counts: &RedactionCounts,
    rules: &Arc<RuleSet>,
    now: i64,
) -> Result<(), RecordError> {
    let root = &begin.run_id;
    let exit = source.exit(root)?;
    let mut exit = exit.map_or_else(Exit::unknown, |exit| exit_from_json(&exit));
    exit.redacted.add(counts);
    target.begin_run(begin)?;
    if source.tape_lengths(root)?.total() == 0 {
        // What is not on a tape cannot be shown, unless the chain here says that it was dropped.
        let keeps_spans = target.was_tape_dropped(root)?;
        for run in source.tree(root)? {
            let mut result = Ok(());
            source.each_record(&run.run_id, 0, |mut record| {
                if !keeps_spans {
                    record.span = None;
                }
                result = redact_record(record, rules, &mut RedactionCounts::default())
                    .and_then(|record| target.append(root, &[record], &[]));
                result.is_ok()
            })?;
            result?;
        }
        target.finish_run(root, &exit_to_json(&exit), now)?;
        return Ok(());
    }
    let mut redactor = Redactor::new(rules, &begin.runtime);
    let mut tape = KeptTape::default();
    let mut written = Ok(());
    source.each_tape_chunk(root, |chunk| {
        let (stream, at) = (chunk.stream, chunk.received_at);
        redactor.push(stream, &chunk.bytes, at, |stream, kept, at| {
            tape.push(stream, kept, at);
        });
        if tape.waiting() >= PIECE {
            written = target.append(root, &[], &tape.take());
        }
        written.is_ok()
    })?;
    written?;
    redactor.finish(|stream, kept, at| tape.push(stream, kept, at));
    target.append(root, &[], &tape.take())?;
    let mut normalizer = replay::normalizer(begin)?;
    replay::read_tape(target, root, &mut normalizer, |store, records, _| {
        store.append(root, &records, &[])
    })?;
    let records = normalizer.finish(&exit).records;
    target.append_and_finish(root, &records, &[], &exit_to_json(&exit), now)?;
    Ok(())
}

/// Finds secrets in lines that are by themselves.
struct LineFinder {
    redactor: Redactor,
}

impl LineFinder {
    fn new(rules: &Arc<RuleSet>, begin: &BeginRun) -> Self {
        let redactor = Redactor::new(rules, &begin.runtime).with_finds();
        Self { redactor }
    }

    fn find_in(&mut self, line: &[u8]) -> Vec<Found> {
        // No runtime's deltas are on this stream.
        self.redactor.push(Stream::Stdin, line, 0, |_, _, _| {});
        self.redactor.finish(|_, _, _| {});
        self.redactor.take_finds()
    }
}

/// The records that were made from some places on a tape.
#[derive(Debug)]
struct RecordPlaces(BTreeMap<(Stream, u64), Option<(RunId, u64)>>);

impl RecordPlaces {
    fn of(places: impl Iterator<Item = (Stream, u64)>) -> Self {
        Self(places.map(|place| (place, None)).collect())
    }

    /// Looks for the first record that was made from each.
    fn look(&mut self, store: &Store, root: &RunId) -> Result<(), RecordError> {
        if self.0.is_empty() {
            return Ok(());
        }
        for run in store.tree(root)? {
            store.each_record(&run.run_id, 0, |record| {
                if let Some(span) = record.span {
                    let places = (span.stream, span.start)..(span.stream, span.end);
                    for (_, place) in self.0.range_mut(places) {
                        place.get_or_insert_with(|| (run.run_id.clone(), record.seq));
                    }
                }
                true
            })?;
        }
        Ok(())
    }

    fn place(&self, root: &RunId, stream: Stream, start: u64) -> (RunId, SecretPlace) {
        match self.0.get(&(stream, start)) {
            Some(Some((run, seq))) => (run.clone(), SecretPlace::Record { seq: *seq }),
            _ => (root.clone(), SecretPlace::Tape { stream, start }),
        }
    }
}
