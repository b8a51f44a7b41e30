//! What every target does: normalize the input and hold the records to what is always true.

use std::collections::HashMap;
use std::sync::Arc;

use runtape_core::{JobId, Record, RunId, Runtime, Stream};
use runtape_normalizer::redact::{RedactionKey, RuleSet, Tier, examples};
use runtape_normalizer::{Context, Exit, Kept, Normalizer, Redactor};
use serde_json::Value;

/// Normalizes `data`. Its first two bytes choose the exit and the size of the chunks; what comes
/// after a zero byte, which no runtime prints, is standard error.
pub fn check(runtime: Runtime, data: &[u8]) {
    let [exit, chunk, output @ ..] = data else {
        return;
    };
    let exit = match exit % 5 {
        0 => Exit::unknown(),
        1 => Exit::with_code(0),
        2 => Exit::with_code(i32::from(*exit)),
        3 => Exit::with_signal("SIGKILL"),
        _ => Exit::lost(),
    };
    let records = normalize(&runtime, output, usize::from(*chunk) * 16 + 1, &exit);
    check_numbers(&records);
    // Every other time, since it costs as much again.
    if chunk % 2 == 0 {
        let whole = normalize(&runtime, output, usize::MAX, &exit);
        assert!(records == whole, "chunks change the records");
    }
}

/// Normalizes both streams, a chunk at a time.
fn normalize(runtime: &Runtime, output: &[u8], chunk: usize, exit: &Exit) -> Vec<Record> {
    let job = JobId::parse("fuzz").expect("a valid id");
    let run = RunId::parse("fuzz").expect("a valid id");
    let mut context = Context::new(job, run);
    // Small enough that the fuzzer reaches it.
    context.limit = 4096;
    let mut normalizer =
        Normalizer::new(runtime.clone(), context).expect("a runtime that can be read");
    let mut records = Vec::new();
    let streams = output.splitn(2, |byte| *byte == 0);
    for (bytes, stream) in streams.zip([Stream::Stdout, Stream::Stderr]) {
        for bytes in bytes.chunks(chunk) {
            records.extend(normalizer.push(stream, Kept::as_given(bytes), 1).records);
        }
    }
    records.extend(normalizer.finish(exit).records);
    records
}

/// Holds records to their numbering: no gaps, and one terminal record, the last, in every run.
fn check_numbers(records: &[Record]) {
    let mut runs: HashMap<&RunId, (u64, bool)> = HashMap::new();
    for record in records {
        let (next, ended) = runs.entry(&record.run_id).or_default();
        assert_eq!(record.seq, *next, "a gap in the sequence");
        assert!(!*ended, "a record after the terminal one");
        *next += 1;
        *ended = record.terminal().is_some();
    }
    let ended = runs.values().all(|(_, ended)| *ended);
    assert!(!runs.is_empty() && ended, "a run without an end");
}

/// Filters `data`. Its first byte chooses the runtime, the second the size of the chunks; a byte above 0xF0 stands for
/// the made-up secret of a rule, named by the next byte. A line is JSON afterwards if and only if it was
/// before, filtering again changes nothing, and chunks do not show.
pub fn check_redaction(data: &[u8]) {
    let [runtime, chunk, output @ ..] = data else {
        return;
    };
    let runtimes = runtape_normalizer::runtimes::RUNTIMES;
    let runtime = &runtimes[usize::from(*runtime) % runtimes.len()].runtime;
    let examples = examples(1);
    let mut bytes = Vec::new();
    let mut rest = output.iter();
    while let Some(&byte) = rest.next() {
        match rest.as_slice().first() {
            Some(&rule) if byte > 0xF0 => {
                rest.next();
                let example = &examples[usize::from(rule) % examples.len()];
                bytes.extend_from_slice(example.text.as_bytes());
            }
            _ => bytes.push(byte),
        }
    }
    let rules = RuleSet::new(Tier::Broad).with_key(RedactionKey::new([1; 32]));
    let rules = Arc::new(rules);
    let (once, unfinished) = filter(&rules, runtime, &bytes, usize::from(*chunk) * 16 + 1);
    assert!(once == filter(&rules, runtime, &bytes, usize::MAX).0, "chunks change what is kept");
    // Of more than is held at once, something was let go that is found when there is less.
    if unfinished == 0 {
        assert!(once == filter(&rules, runtime, &once, usize::MAX).0, "filtering again changes what is kept");
    }
    let lines = |bytes: &[u8]| -> Vec<bool> {
        let lines = bytes.split(|byte| *byte == b'\n');
        lines.map(|line| serde_json::from_slice::<Value>(line).is_ok()).collect()
    };
    assert_eq!(lines(&bytes), lines(&once), "JSON is no JSON any more, or is now");
}

/// Returns what is kept, and how often something was let go that may be the beginning of a secret.
fn filter(rules: &Arc<RuleSet>, runtime: &Runtime, bytes: &[u8], chunk: usize) -> (Vec<u8>, u64) {
    let mut redactor = Redactor::new(rules, runtime);
    let mut kept = Vec::new();
    for chunk in bytes.chunks(chunk) {
        redactor.push(Stream::Stdout, chunk, 1, |_, bytes, _| kept.extend_from_slice(bytes.bytes()));
    }
    redactor.finish(|_, bytes, _| kept.extend_from_slice(bytes.bytes()));
    (kept, redactor.counts().unfinished)
}
