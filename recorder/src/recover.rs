//! Closing runs whose recorder died: from their tape, and from what was spooled after it.

use runtape_core::{Record, RunId, RunSummary, Summarizer};
use runtape_normalizer::{Exit, Kept};
use runtape_store::{BeginRun, Store, StoreError, StreamLengths, TapeChunk};

use crate::context_and_exit::{exit_from_json, exit_to_json, is_history_only};
use crate::error::RecordError;
use crate::replay::{StoredCounts, normalizer, read_tape};
use crate::undecided::{decide_by_tape, is_undecided, write_decision};

/// Records that were made again are written once they come from this many bytes of output …
const BATCH_BYTES: usize = 1 << 20;
/// … or once there are this many of them.
const BATCH_RECORDS: usize = 4096;

/// A run that was closed because its recorder died.
#[derive(Debug)]
pub struct Recovered {
    /// The run in one object, a [brief](Summarizer::brief) one; its status is what the tape proves,
    /// else the error `RecorderLost`.
    pub summary: RunSummary,
    /// The run.
    pub run_id: RunId,
}

/// A run that could not be closed. What is stored of it stays.
#[derive(Debug)]
pub struct Unrecovered {
    /// The run.
    pub run_id: RunId,
    /// Why.
    pub error: RecordError,
}

/// What became of the runs whose recorder died.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Those that were closed.
    pub closed: Vec<Recovered>,
    /// Those that could not be closed.
    pub failed: Vec<Unrecovered>,
}

/// Closes the runs whose recorder died: from their tape, with what it proves.
///
/// Runs that a living process writes are left alone. One that cannot be closed does not keep the
/// others from it. `now` is in milliseconds since 1970.
pub fn recover(store: &mut Store, now: i64) -> Result<Recovery, RecordError> {
    recover_where(store, now, |_| true)
}

/// Closes those runs whose recorder died and that a condition lets through: a run whose
/// [spool file](crate::Spool) is still to be taken in is better left open.
pub fn recover_where(
    store: &mut Store,
    now: i64,
    is_wanted: impl Fn(&RunId) -> bool,
) -> Result<Recovery, RecordError> {
    let mut recovery = Recovery::default();
    for run_id in store.unsealed_runs()?.into_iter().filter(is_wanted) {
        match recover_one(store, &run_id, now) {
            Ok(closed) => recovery.closed.extend(closed),
            Err(error) if error.is_in_use() => {}
            Err(error) => recovery.failed.push(Unrecovered {
                run_id: run_id.clone(),
                error,
            }),
        }
        store.release_run(&run_id);
    }
    Ok(recovery)
}

/// Closes a run; `None` if it ended meanwhile.
fn recover_one(
    store: &mut Store,
    run_id: &RunId,
    now: i64,
) -> Result<Option<Recovered>, RecordError> {
    let begin = store.resume_run(run_id)?;
    // A session that may go on has no recorder that could have died: the next sync goes on with it.
    if is_history_only(&begin.context) || store.run(run_id)?.seal.is_some() {
        return Ok(None);
    }
    let exit = left_exit(store, run_id).unwrap_or_else(Exit::lost);
    close(store, &begin, &mut NothingMore { exit }, now).map(Some)
}

/// Returns how the process of a run ended, if the recorder left that in a note: a recorder does so that
/// had no room for the output, but lived to see the end.
pub(crate) fn left_exit(store: &Store, run_id: &RunId) -> Option<Exit> {
    // A note that cannot be read is as good as none.
    let note = store.left_note(run_id).ok().flatten()?;
    note.get("exit").map(exit_from_json)
}

/// Returns what a recorder leaves in a note for `left_exit`.
#[must_use]
pub fn exit_note(exit: &Exit) -> serde_json::Value {
    serde_json::json!({ "exit": exit_to_json(exit) })
}

/// What a process printed after what is on the tape.
pub(crate) trait OutputAfterTape {
    /// Goes back to the beginning.
    fn rewind(&mut self) -> Result<(), RecordError>;

    /// Returns the next piece, or how the process ended.
    fn next(&mut self) -> Result<Result<TapeChunk, Exit>, RecordError>;
}

/// Nothing is known of what the process printed after its tape.
struct NothingMore {
    exit: Exit,
}

impl OutputAfterTape for NothingMore {
    fn rewind(&mut self) -> Result<(), RecordError> {
        Ok(())
    }

    fn next(&mut self) -> Result<Result<TapeChunk, Exit>, RecordError> {
        Ok(Err(self.exit.clone()))
    }
}

/// Writes what is missing of a run that this store has open, and ends it.
pub(crate) fn close(
    store: &mut Store,
    begin: &BeginRun,
    rest: &mut impl OutputAfterTape,
    now: i64,
) -> Result<Recovered, RecordError> {
    let run_id = begin.run_id.clone();
    let begin = &decide(store, begin, rest)?;
    write_decision(store, begin)?;
    let (summary, exit) = match complete(store, begin, rest) {
        // Another version of the parser began it, and read the same output in another way.
        Err(RecordError::Store(StoreError::Conflict { .. } | StoreError::Ended { .. })) => {
            store.discard_records(&run_id)?;
            rest.rewind()?;
            complete(store, begin, rest)?
        }
        completed => completed?,
    };
    store.finish_run(&run_id, &exit_to_json(&exit), now)?;
    let summary = summary.ok_or_else(|| RecordError::Unfinished {
        run: run_id.clone(),
    })?;
    Ok(Recovered { summary, run_id })
}

/// Returns what a run begins with once its first lines have decided its runtime.
fn decide(
    store: &Store,
    begin: &BeginRun,
    rest: &mut impl OutputAfterTape,
) -> Result<BeginRun, RecordError> {
    if !is_undecided(begin) {
        return Ok(begin.clone());
    }
    rest.rewind()?;
    let decided = decide_by_tape(store, begin, || Ok::<_, RecordError>(rest.next()?.ok()))?;
    rest.rewind()?;
    Ok(decided)
}

/// Writes the rest of a run that was closed when nobody knew of that rest.
pub(crate) fn reopen(
    store: &mut Store,
    begin: &BeginRun,
    rest: &mut impl OutputAfterTape,
    now: i64,
) -> Result<Recovered, RecordError> {
    let run_id = begin.run_id.clone();
    let begin = &decide(store, begin, rest)?;
    let (mut summary, mut failure) = (None, None);
    let write = |store: &mut Store| match complete(store, begin, rest) {
        Ok((made, exit)) => {
            summary = made;
            Ok(Some(exit_to_json(&exit)))
        }
        Err(RecordError::Store(error)) => Err(error),
        Err(error) => {
            failure = Some(error);
            Err(StoreError::Spoiled)
        }
    };
    let stored = store.begin_of(&run_id)?;
    let replaced = if stored.runtime == begin.runtime {
        store.replace_run(&run_id, now, write)
    } else {
        store.replace_runtime(&run_id, &begin.runtime, &begin.context, now, write)
    };
    if let Some(error) = failure {
        return Err(error);
    }
    replaced?;
    match summary {
        Some(summary) => Ok(Recovered { summary, run_id }),
        None => Err(RecordError::Unfinished { run: run_id }),
    }
}

/// Writes all of a run's records, and its tape to the end, in batches. What is stored already must
/// be what its tape gives.
fn complete(
    store: &mut Store,
    begin: &BeginRun,
    rest: &mut impl OutputAfterTape,
) -> Result<(Option<RunSummary>, Exit), RecordError> {
    let run_id = &begin.run_id;
    let mut normalizer = normalizer(begin)?;
    let mut batch = Batch::new(store, run_id)?;
    read_tape(store, run_id, &mut normalizer, |store, records, bytes| {
        batch.add(records, bytes);
        batch.write_if_due(store)
    })?;
    let lengths = store.tape_lengths(run_id)?;
    let exit = loop {
        let chunk = match rest.next()? {
            Ok(chunk) => chunk,
            Err(exit) => break exit,
        };
        if let Some(chunk) = beyond(chunk, lengths) {
            let output = normalizer.push(
                chunk.stream,
                Kept::as_given(&chunk.bytes),
                chunk.received_at,
            );
            batch.add(output.records, chunk.bytes.len());
            batch.chunks.push(chunk);
            batch.write_if_due(store)?;
        }
    };
    batch.add(normalizer.finish(&exit).records, 0);
    batch.write(store)?;
    if batch.known.missing() > 0 {
        return Err(conflict(run_id, "its last records").into());
    }
    Ok((batch.summarizer.finish(), exit))
}

fn conflict(run: &RunId, what: &str) -> StoreError {
    StoreError::Conflict {
        run: run.clone(),
        what: what.to_owned(),
    }
}

/// Returns the part of a chunk that is not on the tape yet.
pub(crate) fn beyond(mut chunk: TapeChunk, stored: StreamLengths) -> Option<TapeChunk> {
    let end = stored.of(chunk.stream);
    let known = usize::try_from(end.saturating_sub(chunk.start)).unwrap_or(usize::MAX);
    if known >= chunk.bytes.len() {
        return None;
    }
    chunk.bytes.drain(..known);
    chunk.start += known as u64;
    Some(chunk)
}

/// Records that were made and are not stored yet.
struct Batch<'a> {
    run_id: &'a RunId,
    known: StoredCounts,
    summarizer: Summarizer,
    records: Vec<Record>,
    chunks: Vec<TapeChunk>,
    bytes: usize,
}

impl<'a> Batch<'a> {
    fn new(store: &Store, run_id: &'a RunId) -> Result<Self, StoreError> {
        Ok(Self {
            run_id,
            known: StoredCounts::new(store, run_id)?,
            summarizer: Summarizer::brief(),
            records: Vec::new(),
            chunks: Vec::new(),
            bytes: 0,
        })
    }

    /// Takes over records, and how many bytes of output they were made from.
    fn add(&mut self, records: Vec<Record>, bytes: usize) {
        let each = records.iter();
        each.for_each(|record| self.summarizer.push(record));
        self.records.extend(records);
        self.bytes += bytes;
    }

    fn write_if_due(&mut self, store: &mut Store) -> Result<(), StoreError> {
        if self.bytes >= BATCH_BYTES || self.records.len() >= BATCH_RECORDS {
            self.write(store)?;
        }
        Ok(())
    }

    /// Writes what is not stored; what is stored must be the same.
    fn write(&mut self, store: &mut Store) -> Result<(), StoreError> {
        let (_, other) = self.known.compare(store, &self.records)?;
        if other > 0 {
            return Err(conflict(self.run_id, "one of its records"));
        }
        self.records.retain(|record| !self.known.has(record));
        if !self.records.is_empty() || !self.chunks.is_empty() {
            store.append(self.run_id, &self.records, &self.chunks)?;
        }
        self.records.clear();
        self.chunks.clear();
        self.bytes = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use runtape_core::{CheckpointStatus, Runtime, Stream};

    use super::*;
    use crate::context_and_exit::begin_run;
    use crate::spool::{Spool, SpoolOwner, take_in_spool};
    use runtape_normalizer::Context;

    /// A run whose recorder died after it had stored some output.
    fn dead_run(store: &mut Store, name: &str, runtime: &Runtime, output: &[u8]) -> BeginRun {
        let context = Context::new("job".parse().unwrap(), name.parse().unwrap());
        let begin = begin_run(&context, runtime.clone(), 1);
        store.begin_run(&begin).unwrap();
        let tape = chunk(0, output);
        store.append(&begin.run_id, &[], &[tape]).unwrap();
        begin
    }

    /// A spool file for a database in memory.
    fn new_spool(directory: &std::path::Path, context: &Context) -> Spool {
        let owner = SpoolOwner::default();
        Spool::create(directory, &owner, &Runtime::Hermes, context, 1).unwrap()
    }

    fn chunk(start: u64, bytes: &[u8]) -> TapeChunk {
        TapeChunk {
            stream: Stream::Stdout,
            start,
            received_at: 2,
            bytes: bytes.to_vec(),
        }
    }

    /// The records that this version makes of an output.
    fn records(begin: &BeginRun, output: &[u8], exit: &Exit) -> Vec<Record> {
        let mut normalizer = normalizer(begin).unwrap();
        let mut records = normalizer
            .push(Stream::Stdout, Kept::as_given(output), 2)
            .records;
        records.extend(normalizer.finish(exit).records);
        records
    }

    /// As if an earlier parser had made other records of the same output.
    fn of_another_version(mut records: Vec<Record>) -> Vec<Record> {
        records.pop();
        for record in &mut records {
            record.at += 5;
        }
        records
    }

    fn stored(store: &Store, begin: &BeginRun) -> Vec<Record> {
        assert!(store.verify().unwrap().is_intact());
        let run = store.run(&begin.run_id).unwrap();
        assert_ne!(run.status, CheckpointStatus::Proceeding);
        store.records(&begin.run_id, 0, usize::MAX).unwrap()
    }

    #[test]
    fn a_run_whose_recorder_died_undecided_is_closed_as_what_its_first_lines_tell() {
        const CODEX: &str =
            r#"{"type":"thread.started","thread_id":"01a1e40f-3839-7462-8ba4-4636a26c3aa5"}"#;
        for (after, expected) in [
            (CODEX, Runtime::Codex),
            ("more of a script", Runtime::Generic),
        ] {
            let mut store = Store::open_in_memory().unwrap();
            let mut context = Context::new("job".parse().unwrap(), "run".parse().unwrap());
            context.runtime_from = runtape_normalizer::RuntimeFrom::Undecided;
            let begin = begin_run(&context, Runtime::Generic, 1);
            store.begin_run(&begin).unwrap();
            let tape = chunk(0, format!("banner\n{after}\n").as_bytes());
            store.append(&begin.run_id, &[], &[tape]).unwrap();
            store.release_run(&begin.run_id);
            let recovery = recover(&mut store, 9).unwrap();
            assert_eq!(recovery.closed.len(), 1, "{:?}", recovery.failed);
            let run = store.run(&begin.run_id).unwrap();
            assert_eq!(run.runtime, expected);
            assert_eq!(run.error.unwrap().name, "RecorderLost");
            assert!(store.verify().unwrap().is_intact());
            let same = crate::renormalize(&mut store, &begin.run_id, 10).unwrap();
            assert!(!same.is_changed(), "{same:?}");
        }
    }

    #[test]
    fn a_run_that_another_version_began_is_closed_with_this_ones_records() {
        let mut store = Store::open_in_memory().unwrap();
        let begin = dead_run(&mut store, "run", &Runtime::Hermes, b"Hello.\n");
        let ours = records(&begin, b"Hello.\n", &Exit::lost());
        let theirs = of_another_version(ours.clone());
        store.append(&begin.run_id, &theirs, &[]).unwrap();
        store.release_run(&begin.run_id);
        assert_eq!(recover(&mut store, 9).unwrap().closed.len(), 1);
        assert_eq!(stored(&store, &begin), ours);
        assert_eq!(store.tape(&begin.run_id).unwrap(), [chunk(0, b"Hello.\n")]);
    }

    #[test]
    fn a_run_that_another_version_made_more_records_of_is_closed_with_this_ones() {
        let mut store = Store::open_in_memory().unwrap();
        let begin = dead_run(&mut store, "run", &Runtime::Hermes, b"Hello.\n");
        let ours = records(&begin, b"Hello.\n", &Exit::lost());
        // Before the end, an event that this version does not see: the end is one number later.
        let mut theirs = ours.clone();
        let event = theirs.iter().find(|record| record.seq == 1).unwrap();
        let mut more = event.clone();
        let end = theirs.pop().unwrap();
        more.seq = end.seq;
        theirs.push(more);
        store.append(&begin.run_id, &theirs, &[]).unwrap();
        store.release_run(&begin.run_id);
        assert_eq!(recover(&mut store, 9).unwrap().closed.len(), 1);
        assert_eq!(stored(&store, &begin), ours);
    }

    #[test]
    fn a_text_whose_end_is_not_known_is_no_answer() {
        let missing = Exit {
            missing: Some(runtape_normalizer::MissingOutput {
                bytes: 3,
                stdout_from: Some(7),
                stderr_from: None,
            }),
            ..Exit::with_code(0)
        };
        for runtime in ["claude-code", "cursor", "gemini", "hermes", "openclaw"] {
            for (exit, name) in [
                (&Exit::lost(), "RecorderLost"),
                (&missing, "TruncatedOutput"),
            ] {
                let mut store = Store::open_in_memory().unwrap();
                let runtime = Runtime::from_name(runtime);
                let begin = dead_run(&mut store, "run", &runtime, b"Hello.\n");
                let mut rest = NothingMore { exit: exit.clone() };
                let closed = close(&mut store, &begin, &mut rest, 9).unwrap();
                let case = format!("{runtime} {name}: {:?}", closed.summary);
                assert_eq!(
                    closed.summary.status,
                    CheckpointStatus::StoppedByError,
                    "{case}"
                );
                let error = closed.summary.error.as_ref().unwrap();
                assert_eq!(error.name, name, "{case}");
                assert!(store.verify().unwrap().is_intact(), "{case}");
                let kept = store.exit(&begin.run_id).unwrap().unwrap();
                assert_eq!(&exit_from_json(&kept), exit, "{case}");
            }
        }
    }

    #[test]
    fn one_run_that_cannot_be_closed_does_not_keep_the_others_from_it() {
        let mut store = Store::open_in_memory().unwrap();
        let unreadable = Runtime::from_name("nobody-knows");
        let broken = dead_run(&mut store, "broken", &unreadable, b"?\n");
        let sound = dead_run(&mut store, "sound", &Runtime::Hermes, b"Hello.\n");
        for begin in [&broken, &sound] {
            store.release_run(&begin.run_id);
        }
        let recovery = recover(&mut store, 9).unwrap();
        let failed: Vec<&RunId> = recovery.failed.iter().map(|run| &run.run_id).collect();
        assert_eq!(failed, [&broken.run_id]);
        assert_eq!(recovery.closed.len(), 1);
        assert_eq!(recovery.closed[0].run_id, sound.run_id);
        let ours = records(&sound, b"Hello.\n", &Exit::lost());
        assert_eq!(stored(&store, &sound), ours);
        // It is as it was, and nobody holds it: the next one may try again.
        assert_eq!(store.unsealed_runs().unwrap(), [broken.run_id]);
    }

    #[test]
    fn a_spool_file_of_a_run_that_another_version_began_is_taken_in() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open_in_memory().unwrap();
        let begin = dead_run(&mut store, "run", &Runtime::Hermes, b"Hello.\n");
        let context = Context::new(begin.job_id.clone(), begin.run_id.clone());
        let mut spool = new_spool(directory.path(), &context);
        let path = spool.path().to_owned();
        // A piece that is stored already, one that is stored in part, and a new one.
        for (start, bytes) in [(0, &b"Hello.\n"[..]), (5, b".\nMore"), (11, b" text.\n")] {
            spool.push(&chunk(start, bytes)).unwrap();
        }
        let exit = Exit::with_code(0);
        spool.finish(&exit).unwrap();
        let whole = b"Hello.\nMore text.\n";
        let ours = records(&begin, whole, &exit);
        let theirs = of_another_version(ours.clone());
        store.append(&begin.run_id, &theirs, &[]).unwrap();
        store.release_run(&begin.run_id);

        let closed = take_in_spool(&mut store, &path, 9).unwrap();
        assert_eq!(closed.summary.status, CheckpointStatus::Completed);
        assert_eq!(stored(&store, &begin), ours);
        let tape = store.tape(&begin.run_id).unwrap();
        let bytes: Vec<u8> = tape.into_iter().flat_map(|chunk| chunk.bytes).collect();
        assert_eq!(bytes, whole);
        assert!(!path.exists());
    }

    #[test]
    fn a_spool_file_that_was_taken_in_is_only_removed_and_one_that_came_late_is_taken_in() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open_in_memory().unwrap();
        let begin = dead_run(&mut store, "run", &Runtime::Hermes, b"Hello.\n");
        store.release_run(&begin.run_id);
        assert_eq!(recover(&mut store, 9).unwrap().closed.len(), 1);
        let before = stored(&store, &begin);
        let context = Context::new(begin.job_id.clone(), begin.run_id.clone());
        let mut spooled = |bytes: &[u8], exit: &Exit| {
            let mut spool = new_spool(directory.path(), &context);
            let path = spool.path().to_owned();
            spool.push(&chunk(0, bytes)).unwrap();
            spool.finish(exit).unwrap();
            let taken = take_in_spool(&mut store, &path, 10);
            assert_eq!(taken.is_ok(), !path.exists());
            let _ = std::fs::remove_file(&path);
            (taken, stored(&store, &begin))
        };
        let (taken, after) = spooled(b"Hello.\n", &Exit::lost());
        assert_eq!((taken.is_ok(), &after), (true, &before));
        let exit = Exit::with_code(0);
        let whole = records(&begin, b"Hello.\nMore.\n", &exit);
        let (taken, after) = spooled(b"Hello.\nMore.\n", &exit);
        assert_eq!(taken.unwrap().summary.status, CheckpointStatus::Completed);
        assert_eq!(after, whole);
        // A run that ended by itself is over.
        let (taken, after) = spooled(b"Hello.\nMore.\nAnd more.\n", &exit);
        assert!(
            matches!(taken, Err(RecordError::Closed { .. })),
            "{taken:?}"
        );
        assert_eq!(after, whole);
        let kept = store.exit(&begin.run_id).unwrap();
        assert_eq!(kept, Some(exit_to_json(&exit)));
        let report = store.verify().unwrap();
        assert!(report.is_intact());
        assert_eq!(report.removals.len(), 1, "the first seal is a tombstone");
    }
}
